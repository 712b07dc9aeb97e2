//! Environments on the CPU, in arrays of the caller.
#![allow(unsafe_code, reason = "arrays are bound by their addresses")]

use dermis_geometry::{Pose, Quat, Random, Twist, Vec3};
use dermis_gpu::environments::{
    Bindings, Element, Environments, NOT_A_ROTATION, NOT_FINITE, OUT_OF_RANGE, RotationFormat, View,
};
use dermis_sensor::{Sensor, presets};
use dermis_skin::{Motion, Object, State, Target};
use std::sync::Arc;

/// The arrays of some environments: world poses and velocities of both bodies, and outputs.
struct Arrays {
    bodies: [Vec<[f64; 13]>; 2],
    taxels: Vec<f32>,
    wrench: Vec<f64>,
    loads: [Vec<f64>; 2],
}

const N: usize = 6;
const DT_S: f64 = 1e-3;

fn sensor() -> Sensor {
    presets::find("uji-foam-14x6").unwrap().build(None).unwrap()
}

fn ball() -> Arc<Object> {
    let ball = dermis_geometry::Primitive::Sphere { radius_m: 10e-3 };
    Arc::new(Object::of_primitive(ball, 2e-3).unwrap())
}

impl Arrays {
    fn new(taxels: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut side = || random.uniform() * 2.0 - 1.0;
        let mut vector = |scale: f64| Vec3::new(side(), side(), side()) * scale;
        let mut bodies = [Vec::new(), Vec::new()];
        for _ in 0..N {
            let on = Pose::new(Quat::from_scaled_axis(vector(2.0)), vector(1.0));
            let other = on * Pose::new(Quat::from_scaled_axis(vector(2.0)), Vec3::Z * 8e-3 + vector(3e-3));
            for (body, pose) in [other, on].iter().enumerate() {
                let (p, q, v, w) = (pose.translation, pose.rotation, vector(0.1), vector(1.0));
                bodies[body].push([p.x, p.y, p.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z]);
            }
        }
        let loads = [vec![1.0; 6 * N], vec![1.0; 6 * N]];
        Self { bodies, taxels: vec![9.0; taxels * N], wrench: vec![9.0; 6 * N], loads }
    }

    fn pose(&self, body: usize, i: usize) -> (Pose, Twist) {
        let v = &self.bodies[body][i];
        let at = |k: usize| Vec3::new(v[k], v[k + 1], v[k + 2]);
        (Pose::new(Quat::from_xyzw(v[4], v[5], v[6], v[3]).normalize(), at(0)), Twist::new(at(7), at(10)))
    }

    fn bind(&mut self, to: &mut Environments, taxels: usize, add: bool) {
        let mut bindings = Bindings::new(DT_S);
        for body in 0..2 {
            let address = self.bodies[body].as_ptr() as u64;
            let view = |first: u64| View::new(address + 8 * first, &[13, 1], Element::F64);
            let arrays = if body == 0 { &mut bindings.object } else { &mut bindings.sensor };
            (arrays.position, arrays.rotation, arrays.twist) = (view(0), view(3), view(7));
            arrays.rotation_format = RotationFormat::QuaternionWFirst as i32;
            arrays.load = View::new(self.loads[body].as_mut_ptr() as u64, &[6, 1], Element::F64);
        }
        bindings.taxels = View::new(self.taxels.as_mut_ptr() as u64, &[taxels as i64, 1], Element::F32);
        bindings.wrench = View::new(self.wrench.as_mut_ptr() as u64, &[6, 1], Element::F64);
        (bindings.add_to_object, bindings.add_to_sensor) = (i32::from(add), i32::from(add));
        // SAFETY: the arrays have a row per environment and outlive the launches.
        unsafe { to.bind(bindings) }.unwrap();
    }
}

/// Readings are those of single sensors, and the loads on both bodies are opposite, with the torques that act on them.
#[test]
fn environments_read_like_single_sensors() {
    let (sensor, object) = (sensor(), ball());
    let taxels = sensor.taxels().len();
    let mut arrays = Arrays::new(taxels, 4);
    let mut environments = Environments::on_cpu(&sensor, &object, N);
    let mut states: Vec<State> = vec![sensor.skin().rest(); N];
    let mut pressed = 0;
    for _ in 0..3 {
        arrays.loads.iter_mut().for_each(|load| load.fill(1.0));
        arrays.bind(&mut environments, taxels, true);
        environments.launch(0).unwrap();
        for (i, state) in states.iter_mut().enumerate() {
            let ((other, v), (on, u)) = (arrays.pose(0, i), arrays.pose(1, i));
            let target = Target::from_world(&object, &other, &v, &on, &u);
            let (touch, next) = sensor.touch(state, &Motion { targets: &[target] }, DT_S).unwrap();
            *state = next;
            let expected = sensor.taxel_loads(&touch).values_newton;
            for (got, expected) in arrays.taxels[taxels * i..].iter().zip(&expected) {
                assert!((f64::from(*got) - expected).abs() <= 1e-6 * expected.abs().max(1e-3), "{got} {expected}");
            }
            let force = on.transform_vector(touch.on_sensor.force);
            let torque_on_object =
                -on.transform_vector(touch.on_sensor.torque) - (on.translation - other.translation).cross(force);
            for axis in 0..3 {
                // One newton was there before.
                assert!((arrays.loads[0][6 * i + axis] - (1.0 - force[axis])).abs() < 1e-12);
                assert!((arrays.loads[1][6 * i + axis] - (1.0 + force[axis])).abs() < 1e-12);
                assert!((arrays.loads[0][6 * i + 3 + axis] - (1.0 + torque_on_object[axis])).abs() < 1e-12);
                assert!((arrays.wrench[6 * i + axis] - touch.on_sensor.force[axis]).abs() < 1e-12);
            }
            pressed += usize::from(force.length() > 0.01);
        }
    }
    assert!(pressed >= N, "{pressed}");
    assert_eq!(environments.check().unwrap(), None);
}

/// A broken environment is named, has no load, and harms no other; a reset by mask leaves the others untouched.
#[test]
fn a_broken_environment_harms_no_other() {
    let (sensor, object) = (sensor(), ball());
    let taxels = sensor.taxels().len();
    let mut fine = Arrays::new(taxels, 5);
    let mut broken = Arrays::new(taxels, 5);
    let mut both = [Environments::on_cpu(&sensor, &object, N), Environments::on_cpu(&sensor, &object, N)];
    for step in 0..4 {
        if step == 1 {
            broken.bodies[0][1][2] = f64::NAN;
            broken.bodies[0][2][0] = 1e9;
            broken.bodies[0][3][3] = 2.0;
            broken.bodies[0][4][7] = 1e300;
        }
        for (arrays, environments) in [&mut fine, &mut broken].into_iter().zip(&mut both) {
            arrays.bind(environments, taxels, false);
            environments.launch(0).unwrap();
        }
        for i in [0, 5] {
            assert_eq!(fine.taxels[taxels * i..taxels * (i + 1)], broken.taxels[taxels * i..taxels * (i + 1)]);
            assert_eq!(fine.wrench[6 * i..6 * i + 6], broken.wrench[6 * i..6 * i + 6]);
        }
    }
    assert!(
        broken.taxels[taxels..taxels * 5].iter().all(|value| *value == 0.0),
        "no contact where the pose is invalid"
    );
    assert!(broken.loads[0].iter().all(|number| number.is_finite()));
    let bits = [0, NOT_FINITE, OUT_OF_RANGE, NOT_A_ROTATION, OUT_OF_RANGE, 0];
    assert_eq!(both[1].status().unwrap(), bits);
    let text = both[1].check().unwrap_err().to_string();
    assert!(text.contains("environment 1 (3 others have faults too): a pose or a velocity is not finite"), "{text}");
    let mask = [0u8, 1, 1, 1, 1, 0];
    // SAFETY: the mask has a byte per environment.
    unsafe { both[1].reset(&View::new(mask.as_ptr() as u64, &[1], Element::U8), 0) }.unwrap();
    assert_eq!(both[1].check().unwrap(), None);
    let before = broken.wrench.clone();
    broken.bodies = fine.bodies.clone();
    for (arrays, environments) in [&mut fine, &mut broken].into_iter().zip(&mut both) {
        arrays.bind(environments, taxels, false);
        environments.launch(0).unwrap();
    }
    assert_eq!(fine.wrench[..6], broken.wrench[..6], "the history of the others is untouched");
    assert_ne!(fine.wrench[6..30], broken.wrench[6..30], "that of the others starts anew");
    assert!(before.iter().all(|number| number.is_finite()));
}
