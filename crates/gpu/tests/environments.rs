//! Environments on the CPU, in arrays of the caller.
#![allow(unsafe_code, reason = "arrays are bound by their addresses")]

use dermis_geometry::{Pose, Quat, Random, Twist, Vec3};
use dermis_gpu::environments::{
    Bindings, Element, Environments, NOT_A_ROTATION, NOT_FINITE, OUT_OF_RANGE, PARAMETERS, Randomisation,
    RotationFormat, View, cpu_only,
};
use dermis_sensor::response::Scales;
use dermis_sensor::{ResponseState, Sensor, SensorSpec, SkinKind, presets};
use dermis_skin::hydroelastic::{Compliance, Material};
use dermis_skin::{Motion, Object, Skin, State, Target};
use std::slice::from_ref;
use std::sync::Arc;

/// The arrays of some environments: world poses and velocities of both bodies, and outputs.
struct Arrays {
    bodies: [Vec<[f64; 13]>; 2],
    taxels: Vec<f32>,
    reported: Vec<f64>,
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
        Self { bodies, taxels: vec![9.0; taxels * N], reported: Vec::new(), wrench: vec![9.0; 6 * N], loads }
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
        if !self.reported.is_empty() {
            bindings.reported = View::new(self.reported.as_mut_ptr() as u64, &[taxels as i64, 1], Element::F64);
        }
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
    let mut environments = Environments::on_cpu(&sensor, from_ref(&object), N).unwrap();
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
    let mut both = [
        Environments::on_cpu(&sensor, from_ref(&object), N).unwrap(),
        Environments::on_cpu(&sensor, from_ref(&object), N).unwrap(),
    ];
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

fn all_stages() -> Sensor {
    SensorSpec::parse("all-stages.toml", include_str!("all-stages.toml")).unwrap().build(None).unwrap()
}

/// Bodies move by their own velocity, in and out of contact.
fn advance(arrays: &mut Arrays) {
    for row in arrays.bodies.iter_mut().flatten() {
        (0..3).for_each(|axis| row[axis] += DT_S * row[7 + axis]);
    }
}

/// The readings of each environment are those of a sensor of its own, whose noise differs from the others'.
#[test]
fn readings_go_through_the_response() {
    let (sensor, object) = (all_stages(), ball());
    let taxels = sensor.taxels().len();
    let mut arrays = Arrays::new(taxels, 6);
    arrays.reported = vec![9.0; taxels * N];
    let mut environments = Environments::on_cpu(&sensor, from_ref(&object), N).unwrap();
    let rest = |i: usize| ResponseState { step: (i as u64) << 40, ..sensor.chain().rest() };
    let mut states: Vec<(State, ResponseState)> = (0..N).map(|i| (sensor.skin().rest(), rest(i))).collect();
    for step in 0..12 {
        if step == 8 {
            let mask = [0, 1, 0, 0, 0, 0];
            // SAFETY: the mask has a number per environment.
            unsafe { environments.reset(&View::new(mask.as_ptr() as u64, &[1], Element::I32), 0) }.unwrap();
            let number = states[1].1.step;
            states[1] = (sensor.skin().rest(), ResponseState { step: number, ..sensor.chain().rest() });
        }
        arrays.bind(&mut environments, taxels, false);
        environments.launch(0).unwrap();
        for (i, (skin, response)) in states.iter_mut().enumerate() {
            let ((other, v), (on, u)) = (arrays.pose(0, i), arrays.pose(1, i));
            let target = Target::from_world(&object, &other, &v, &on, &u);
            let (touch, next) = sensor.touch(skin, &Motion { targets: &[target] }, DT_S).unwrap();
            let (reading, responded) = sensor.sense(response, &touch, DT_S).unwrap();
            (*skin, *response) = (next, responded);
            assert_eq!(arrays.reported[taxels * i..][..taxels], reading.reported_newton[..], "{step} {i}");
        }
        advance(&mut arrays);
    }
    let spread = arrays.reported.iter().copied().fold(0.0, f64::max);
    assert!(spread > 0.3, "{spread}");
}

/// Each environment is a sensor with the parameters that it reports: stiffer, with other friction, response and place.
#[test]
fn randomised_environments_are_sensors_with_their_parameters() {
    let (sensor, object) = (all_stages(), ball());
    let taxels = sensor.taxels().len();
    let mut arrays = Arrays::new(taxels, 7);
    arrays.reported = vec![9.0; taxels * N];
    let mut ranges = Randomisation::new(11);
    for name in ["stiffness", "friction", "gain", "threshold", "noise", "spread"] {
        ranges.set(name, [0.5, 1.75]).unwrap();
    }
    ranges.set("position", [-0.5e-3, 0.5e-3]).unwrap();
    ranges.set("rotation", [-0.05, 0.05]).unwrap();
    let mut environments = Environments::on_cpu(&sensor, from_ref(&object), N).unwrap();
    assert!(environments.parameters().unwrap().is_empty());
    environments.randomise(ranges).unwrap();
    let parameters = environments.parameters().unwrap();
    arrays.bind(&mut environments, taxels, false);
    environments.launch(0).unwrap();
    let mut pressed = 0;
    for (i, p) in parameters.chunks(PARAMETERS).enumerate() {
        let ((other, v), (on, u)) = (arrays.pose(0, i), arrays.pose(1, i));
        let moved = on * Pose::new(Quat::from_scaled_axis(Vec3::new(p[9], p[10], p[11])), Vec3::new(p[6], p[7], p[8]));
        let u = u.moved(moved.translation - on.translation);
        let target = Target::from_world(&object, &other, &v, &moved, &u);
        let springs = sensor.skin_as::<dermis_skin::Springs>().unwrap();
        let mut own = springs.parameters().clone();
        own.friction = own.friction.scaled(p[1]);
        let springs = springs.with_parameters(own).unwrap();
        let (touch, _) = springs.touch(&springs.rest(), &Motion { targets: &[target] }, DT_S).unwrap();
        let values: Vec<f64> = sensor.taxel_loads(&touch).values_newton.iter().map(|value| value * p[0]).collect();
        let scales = Scales { gain: p[2], threshold: p[3], noise: p[4], spread: p[5] };
        let state = ResponseState { step: (i as u64) << 40, ..sensor.chain().rest() };
        let (report, _) = sensor.chain().respond_scaled(&state, &values, DT_S, scales).unwrap();
        assert_eq!(arrays.reported[taxels * i..][..taxels], report.newton[..], "{i}");
        let force = touch.on_sensor.force * p[0];
        assert!((arrays.wrench[6 * i + 2] - force.z).abs() <= 1e-12 * force.length());
        pressed += usize::from(force.length() > 0.01);
    }
    assert!(pressed >= 3, "{pressed}");
    let mask = [1u8, 0, 0, 0, 0, 0];
    // SAFETY: the mask has a byte per environment.
    unsafe { environments.reset(&View::new(mask.as_ptr() as u64, &[1], Element::U8), 0) }.unwrap();
    let again = environments.parameters().unwrap();
    assert_ne!(again[..PARAMETERS], parameters[..PARAMETERS], "drawn anew");
    assert_eq!(again[PARAMETERS..], parameters[PARAMETERS..], "the others keep theirs");
}

/// A spring that is twice as stiff, damped and viscous has twice the force; twice the friction coefficient, twice the
/// sliding friction: the factors mean what they say.
#[test]
fn factors_are_those_of_a_sensor_file() {
    let object = ball();
    let text = include_str!("all-stages.toml");
    let stiff = text
        .replace("\"600 N/m\"", "\"1200 N/m\"")
        .replace("\"2000 N/m\"", "\"4000 N/m\"")
        .replace("\"1 N s/m\"", "\"2 N s/m\"")
        .replace("\"0.2 N s/m\"", "\"0.4 N s/m\"");
    let rough = text.replace("mu_static = 0.8", "mu_static = 1.2").replace("mu_dynamic = 0.7", "mu_dynamic = 1.05");
    for (name, factor, text) in [("stiffness", 2.0, stiff), ("friction", 1.5, rough)] {
        let sensor = all_stages();
        let other = SensorSpec::parse("other.toml", &text).unwrap().build(None).unwrap();
        let taxels = sensor.taxels().len();
        let mut both = [
            Environments::on_cpu(&sensor, from_ref(&object), N).unwrap(),
            Environments::on_cpu(&other, from_ref(&object), N).unwrap(),
        ];
        let mut ranges = Randomisation::new(0);
        ranges.set(name, [factor; 2]).unwrap();
        both[0].randomise(ranges).unwrap();
        let mut arrays = [Arrays::new(taxels, 8), Arrays::new(taxels, 8)];
        for _ in 0..5 {
            for (arrays, environments) in arrays.iter_mut().zip(&mut both) {
                arrays.bind(environments, taxels, false);
                environments.launch(0).unwrap();
                advance(arrays);
            }
            for (a, b) in arrays[0].wrench.iter().zip(&arrays[1].wrench) {
                assert!((a - b).abs() < 1e-9, "{name}: {a} {b}");
            }
        }
        let mut plain = Environments::on_cpu(&sensor, from_ref(&object), N).unwrap();
        let mut first = Arrays::new(taxels, 8);
        first.bind(&mut plain, taxels, false);
        plain.launch(0).unwrap();
        assert!(first.wrench.iter().zip(&arrays[0].wrench).any(|(a, b)| (a - b).abs() > 1e-3), "{name}");
    }
}

#[test]
fn parameters_that_the_sensor_does_not_have_are_refused() {
    let mut environments = Environments::on_cpu(&sensor(), from_ref(&ball()), N).unwrap();
    for name in ["gain", "noise"] {
        let mut ranges = Randomisation::new(0);
        ranges.set(name, [0.5, 1.0]).unwrap();
        let refusal = environments.randomise(ranges).unwrap_err().to_string();
        assert!(
            refusal.contains(&format!("{name:?} cannot be randomised: the sensor has no [response.{name}]")),
            "{refusal}"
        );
    }
}

/// A gel with a camera: markers and images are those of single sensors, an environment with a fault sees the gel without contact,
/// and `check` has the warning of the skin.
#[test]
fn environments_see_like_single_sensors() {
    let text = "name = \"gel\"\n[surface.grid]\nrows = 4\ncols = 4\npitch = \"4 mm\"\n[skin]\nkind = \"layer\"\nthickness = \"4 mm\"\n\
                young = \"200 kPa\"\npoisson = 0.4\ncell = \"0.5 mm\"\nmu = 0.5\n[camera]\nwidth = 40\nheight = 30\npixel = \"0.4 mm\"\nmount_stiffness = \"3 N/mm\"\n\
                [light]\nkind = \"phong\"\nshininess = 5\nbackground = { colour = [76.0, 76.0, 76.0] }\n[[light.sources]]\n\
                azimuth = \"90 deg\"\nelevation = \"14 deg\"\ndiffuse = [153.0, 100.0, 50.0]\nspecular = [12.0, 12.0, 12.0]\n[markers]\n\
                radius = \"0.3 mm\"\ncolour = [25.0, 25.0, 28.0]\n[markers.pattern.grid]\nrows = 3\ncols = 2\npitch = \"3 mm\"\n";
    let sensor = SensorSpec::parse("the test", text).unwrap().build(None).unwrap();
    let object = ball();
    let mut environments = Environments::on_cpu(&sensor, from_ref(&object), 2).unwrap();
    let (mut markers, mut images) = (vec![0.0f32; 2 * 12], vec![0u8; 2 * 3600]);
    let mut state = sensor.skin().rest();
    for step in 0..3 {
        let x = 1e-4 * f64::from(step);
        let fault = if step == 1 { f64::NAN } else { 0.0 };
        let rows = [[x, 0.0, 9.6e-3, 0.05, 0.0, 0.0, 0.0, 0.0, 0.0], [x, fault, 9.6e-3, 0.05, 0.0, 0.0, 0.0, 0.0, 0.0]];
        let mut bindings = Bindings::new(DT_S);
        bindings.object.position = View::new(rows.as_ptr() as u64, &[9, 1], Element::F64);
        bindings.object.twist = View::new(rows.as_ptr() as u64 + 24, &[9, 1], Element::F64);
        bindings.markers = View::new(markers.as_mut_ptr() as u64, &[12, 2, 1], Element::F32);
        bindings.image = View::new(images.as_mut_ptr() as u64, &[3600, 120, 1], Element::U8);
        // SAFETY: the arrays have a row per environment and outlive the launch.
        unsafe { environments.bind(bindings) }.unwrap();
        environments.launch(0).unwrap();
        let velocity = Twist::new(Vec3::X * 0.05, Vec3::ZERO);
        let pose = Pose::from_translation(Vec3::new(x, 0.0, 9.6e-3));
        let target = Target::from_world(&object, &pose, &velocity, &Pose::IDENTITY, &Twist::ZERO);
        let (touch, next) = sensor.touch(&state, &Motion { targets: &[target] }, DT_S).unwrap();
        state = next;
        let frame = sensor.render(&touch, 0).unwrap();
        assert_eq!(images[..3600], *frame.image.to_rgb8().pixels().as_flattened());
        for (got, [_, _, column, row]) in markers.chunks(2).zip(&frame.markers) {
            assert_eq!([got[0], got[1]], [*column as f32, *row as f32]);
        }
        assert!(
            frame
                .markers
                .iter()
                .any(|[column, row, to_column, to_row]| { (to_column - column).abs() + (to_row - row).abs() > 1e-3 })
        );
        if step == 1 {
            let (touch, _) = sensor.touch(&sensor.skin().rest(), &Motion { targets: &[] }, DT_S).unwrap();
            let flat = sensor.render(&touch, 0).unwrap();
            assert_eq!(images[3600..], *flat.image.to_rgb8().pixels().as_flattened());
            assert_ne!(images[3600..], images[..3600]);
            assert!(environments.check().unwrap_err().to_string().contains("environment 1"));
            let mask = [0u8, 1];
            // SAFETY: the mask has an element per environment.
            unsafe { environments.reset(&View::new(mask.as_ptr() as u64, &[1], Element::U8), 0) }.unwrap();
        }
    }
    let warning = environments.check().unwrap().unwrap();
    assert!(
        warning.contains("(1 others") && warning.contains("in the last step") && warning.contains("rim"),
        "{warning}"
    );
}

/// Which sensors and objects advance in time on a GPU, and why others do not.
#[test]
fn skins_that_run_on_the_cpu_only_say_why() {
    let build = |name: &str| presets::find(name).unwrap().build(None).unwrap();
    let pad = presets::find("wts0614").unwrap().with_skin(SkinKind::Hydroelastic).unwrap().build(None).unwrap();
    let tip = build("shadow-fingertip");
    for sensor in [build("uji-foam-14x6"), build("wts0614-layer"), build("gelsight"), pad.clone(), tip] {
        assert_eq!(cpu_only(&sensor, &[ball()]), None, "{}", sensor.name());
    }
    assert!(cpu_only(&build("tacchi"), &[ball()]).unwrap().contains("springs, hydroelastic skins, and layers"));
    let soft = Compliance::half_space(1e-2, Material::linear(1e5)).unwrap();
    let soft = Arc::new(Object::clone(&ball()).with_compliance(soft));
    assert!(cpu_only(&pad, &[ball(), Arc::clone(&soft)]).unwrap().contains("rigid objects"));
    assert_eq!(cpu_only(&build("uji-foam-14x6"), &[soft]), None, "springs touch the surface");
}
