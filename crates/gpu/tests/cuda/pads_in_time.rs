//! Hydroelastic pads of many environments on the GPU, with their history, against those on the CPU.

use crate::{gpu, motion};
use dermis_geometry::{Primitive, Quat, Vec3, shapes};
use dermis_gpu::array::Arrays;
use dermis_gpu::environments::{
    BRISTLES_FULL, Bindings, Element, Environments, GpuOptions, ObjectArrays, Randomisation, View,
};
use dermis_gpu::{DeviceBuffer, Gpu, GpuObject};
use dermis_sensor::{Sensor, SkinKind, presets};
use dermis_skin::hydroelastic::Hydroelastic;
use dermis_skin::{Coulomb, Friction, HydroelasticParameters, Lugre, Object};
use std::slice::from_ref;
use std::sync::Arc;

const DT_S: f64 = 1e-3;
const COUNT: usize = 20;
/// Bound on every difference, relative to the largest value of the output.
const CLOSE: f64 = 1e-9;

const LUGRE: Lugre = Lugre {
    stiffness_newton_per_m: 3e8,
    damping_newton_s_per_m: 1e4,
    viscous_newton_s_per_m: 2e3,
    mu_static: 0.9,
    mu_dynamic: 0.6,
    stribeck_m_per_s: 5e-3,
};

/// A hydroelastic sensor with a friction per area and Hunt–Crossley dissipation (s/m).
fn with_friction(sensor: &Sensor, friction: Friction, dissipation_s_per_m: f64) -> Sensor {
    let skin = sensor.skin_as::<Hydroelastic>().unwrap();
    let body = skin.compliance().unwrap();
    let body = body.with_material(body.material().clone().with_dissipation(dissipation_s_per_m)).unwrap();
    let parameters = HydroelasticParameters { friction, ..*skin.parameters() };
    sensor.clone().with_skin(Hydroelastic::with_surface(body, None, parameters).unwrap())
}

/// The pad of the WTS 0614.
fn pad(friction: Friction, dissipation_s_per_m: f64) -> Sensor {
    let pad = presets::find("wts0614").unwrap().with_skin(SkinKind::Hydroelastic).unwrap();
    with_friction(&pad.build(None).unwrap(), friction, dissipation_s_per_m)
}

fn cuboid() -> Arc<Object> {
    let half_m = Vec3::new(6e-3, 5e-3, 4e-3);
    Arc::new(Object::of_primitive(Primitive::Cuboid { half_m }, 2e-3).unwrap())
}

fn mesh() -> Arc<Object> {
    Arc::new(Object::new(shapes::sphere(8e-3, 1.2e-3).unwrap()))
}

/// Pose (w first) and velocity of each object at the end of a step: presses, slides, twists, tilts, leaves and returns.
fn rows(step: usize, height_m: f64) -> Vec<f64> {
    motion::rows(COUNT, step, DT_S, |i, t| {
        let i = i as f64;
        let depth = 0.6e-3 + 0.03e-3 * i - 1e-3 * (0.11 * t + 0.3 * i).sin();
        let (x, y) = (3e-3 * (0.05 * t + i).sin() + 1e-3 * i.cos(), 4e-3 * (0.04 * t + 2.0 * i).cos());
        let tilt =
            Quat::from_rotation_x(0.06 * (0.1 * t + i).sin()) * Quat::from_rotation_y(0.05 * (0.13 * t + i).cos());
        (Vec3::new(x, y, height_m - depth), Quat::from_rotation_z(0.05 * t * (1.0 + 0.1 * i)) * tilt)
    })
}

/// Numbers per environment of the outputs: taxels, their forces, wrench, force outside, loads on the object and on the sensor.
fn sizes(sensor: &Sensor) -> [usize; 6] {
    let taxels = sensor.taxels().len();
    [taxels, 3 * taxels, 6, 3, 6, 6]
}

/// Bindings of inputs and outputs at addresses in host or GPU memory.
fn bindings(sensor: &Sensor, inputs: u64, outputs: [u64; 6]) -> Bindings {
    let taxels = sensor.taxels().len() as i64;
    let mut bindings = Bindings::new(DT_S);
    motion::bind_rows(&mut bindings.object, inputs);
    let rows = |output: usize, width: i64| View::new(outputs[output], &[width, 1], Element::F64);
    bindings.taxels = rows(0, taxels);
    bindings.forces = View::new(outputs[1], &[3 * taxels, 3, 1], Element::F64);
    bindings.wrench = rows(2, 6);
    bindings.outside = rows(3, 3);
    bindings.object.load = rows(4, 6);
    bindings.sensor.load = rows(5, 6);
    bindings
}

/// Binds one object per list of rows; the second has only inputs. With `indices`, shapes are those with these indices.
///
/// # Safety
/// As for [`Environments::bind`].
#[allow(unsafe_code)]
unsafe fn bind(to: &mut Environments, bindings: Bindings, indices: Option<u64>, second: Option<u64>) {
    let shape = indices.map_or(View::default(), |address| View::new(address, &[1], Element::I32));
    let mut objects = vec![ObjectArrays { body: bindings.object, shape, ..ObjectArrays::default() }];
    if let Some(address) = second {
        let mut body = bindings.object;
        motion::bind_rows(&mut body, address);
        // Both are parts of one body.
        objects.push(ObjectArrays { body, add: 1, fixed_shape: 1, ..ObjectArrays::default() });
    }
    // SAFETY: the caller guarantees the arrays.
    unsafe { to.bind_objects(bindings, &objects) }.unwrap();
}

/// Environments on the GPU with their outputs.
struct Run {
    environments: Environments,
    outputs: [DeviceBuffer<f64>; 6],
}

impl Run {
    fn new(gpu: &Arc<Gpu>, sensor: &Sensor, shapes: &[Arc<Object>]) -> Self {
        let uploaded: Vec<_> = shapes.iter().map(|shape| Arc::new(GpuObject::new(gpu, shape).unwrap())).collect();
        let arrays = Arc::new(Arrays::new(gpu, sensor).unwrap());
        Self {
            environments: Environments::on_gpu(&arrays, &uploaded, COUNT).unwrap(),
            outputs: sizes(sensor).map(|size| gpu.zeros(size * COUNT).unwrap()),
        }
    }

    fn launch(&mut self, gpu: &Arc<Gpu>, sensor: &Sensor, rows: &[f64]) {
        self.launch_with(gpu, sensor, rows, None, None);
    }

    fn launch_with(
        &mut self,
        gpu: &Arc<Gpu>,
        sensor: &Sensor,
        rows: &[f64],
        indices: Option<&[i32]>,
        second: Option<&[f64]>,
    ) {
        let inputs = gpu.upload(rows).unwrap();
        let second = second.map(|rows| gpu.upload(rows).unwrap());
        let indices = indices.map(|indices| gpu.upload(indices).unwrap());
        gpu.finish().unwrap();
        let bindings = bindings(sensor, inputs.address(), self.outputs.each_ref().map(|buffer| buffer.address()));
        // SAFETY: the arrays have a row per environment and live until the end of the step.
        #[allow(unsafe_code)]
        unsafe {
            let (indices, second) = (indices.as_ref().map(|b| b.address()), second.as_ref().map(|b| b.address()));
            bind(&mut self.environments, bindings, indices, second);
        }
        self.environments.launch(0).unwrap();
        gpu.finish_all_streams().unwrap();
    }

    fn download(&self) -> [Vec<f64>; 6] {
        self.outputs.each_ref().map(|buffer| buffer.download().unwrap())
    }
}

/// What a comparison varies beside skin and shapes.
#[derive(Clone, Copy, Default)]
struct Case {
    is_random: bool,
    /// Shapes differ from environment to environment, and change in the middle.
    has_indices: bool,
    /// A second object beside the first, of the second shape.
    has_second: bool,
    /// Steps that are left out at the start.
    skipped: usize,
}

/// The largest differences of normal and lateral forces and of all outputs, relative to the largest value of each output.
fn compare(
    gpu: &Arc<Gpu>,
    label: &str,
    sensor: &Sensor,
    shapes: &[Arc<Object>],
    height_m: f64,
    case: Case,
) -> [f64; 6] {
    let mut there = Run::new(gpu, sensor, shapes);
    let mut here = Environments::on_cpu(sensor, shapes, COUNT).unwrap();
    if case.is_random {
        let mut ranges = Randomisation::new(8);
        for (name, range) in [("stiffness", [0.5, 1.5]), ("position", [-2e-5, 2e-5]), ("rotation", [-1e-3, 1e-3])] {
            ranges.set(name, range).unwrap();
        }
        here.randomise(ranges).unwrap();
        there.environments.randomise(ranges).unwrap();
    }
    let mut own = sizes(sensor).map(|size| vec![7.0f64; size * COUNT]);
    let (mut worst, mut largest, mut sheared, mut free) = ([0.0f64; 6], [0.0f64; 6], 0.0f64, 0);
    for step in case.skipped + 1..=40 {
        let inputs = rows(step, height_m);
        let mut second = inputs.clone();
        second.chunks_mut(13).for_each(|row| (row[0], row[1]) = (row[0] + 7e-3, row[1] - 9e-3));
        let second = case.has_second.then_some(second);
        let indices: Vec<i32> = (0..COUNT).map(|i| ((i + step / 15) % shapes.len()) as i32).collect();
        let indices = case.has_indices.then_some(indices);
        let bound = bindings(sensor, inputs.as_ptr() as u64, own.each_mut().map(|numbers| numbers.as_mut_ptr() as u64));
        // SAFETY: the arrays have a row per environment and live until the end of the step.
        #[allow(unsafe_code)]
        unsafe {
            let addresses =
                (indices.as_ref().map(|i| i.as_ptr() as u64), second.as_ref().map(|rows| rows.as_ptr() as u64));
            bind(&mut here, bound, addresses.0, addresses.1);
        }
        here.launch(0).unwrap();
        there.launch_with(gpu, sensor, &inputs, indices.as_deref(), second.as_deref());
        for (k, (expected, got)) in own.iter().zip(there.download()).enumerate() {
            for (expected, got) in expected.iter().zip(&got) {
                assert!(got.is_finite(), "{label}, step {step}");
                worst[k] = worst[k].max((expected - got).abs());
                largest[k] = largest[k].max(expected.abs());
            }
        }
        for load in own[2].chunks(6) {
            sheared = sheared.max(load[0].hypot(load[1]));
            free += usize::from(load[2] == 0.0);
        }
    }
    let scale = largest[0].max(1e-3);
    let relative = std::array::from_fn(|k| worst[k] / largest[k].max(scale));
    println!(
        "{label}: largest {largest:.3?}, relative difference {relative:?}, shear {sheared:.2} N, {free} without contact"
    );
    assert_eq!(there.environments.status().unwrap(), here.status().unwrap(), "{label}");
    assert!(
        case.has_second || case.skipped > 0 || free > 0 && free < 40 * COUNT / 2,
        "{label}: {free} without contact"
    );
    let has_friction = sensor.skin_as::<Hydroelastic>().unwrap().parameters().friction != Friction::None;
    assert!(!has_friction || sheared > 0.1 * largest[2], "{label}: {sheared} N");
    relative
}

/// A cuboid and a mesh that press, slide, twist, leave and return, with every kind of friction; then shapes that differ from
/// environment to environment and change during contact, with random parameters; then two objects.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn pads_in_time_match_the_cpu() {
    let gpu = gpu();
    let coulomb = Friction::Coulomb(Coulomb { mu: 0.7, regularisation_m_per_s: 1e-3 });
    for (name, friction) in [("none", Friction::None), ("coulomb", coulomb), ("lugre", Friction::Lugre(LUGRE))] {
        let sensor = pad(friction, 3.0);
        let exact = |what: &str, shapes: &[Arc<Object>], height_m: f64, case: Case| {
            let label = format!("pad, {name}, {what}");
            let worst = compare(&gpu, &label, &sensor, shapes, height_m, case);
            assert!(worst.iter().all(|worst| *worst <= CLOSE), "{label}: {worst:?}");
        };
        let plain = Case::default();
        exact("cuboid", from_ref(&cuboid()), 4e-3, plain);
        exact("mesh", from_ref(&mesh()), 8e-3, plain);
        let tall = Arc::new(Object::new(shapes::cuboid(Vec3::new(9e-3, 8e-3, 16e-3)).unwrap()));
        let both = [mesh(), tall];
        exact("shapes", &both, 8e-3, Case { has_indices: true, is_random: true, ..plain });
        exact("two objects", &both, 8e-3, Case { has_second: true, ..plain });
    }
}

/// A fingertip with taxels at points, of thousands of tetrahedra.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_fingertip_in_time_matches_the_cpu() {
    let gpu = gpu();
    let tip = presets::find("shadow-fingertip").unwrap().build(None).unwrap();
    let coulomb = Friction::Coulomb(Coulomb { mu: 0.7, regularisation_m_per_s: 1e-3 });
    for (name, friction) in [("coulomb", coulomb), ("lugre", Friction::Lugre(LUGRE))] {
        let (sensor, label) = (with_friction(&tip, friction, 3.0), format!("fingertip, {name}, mesh"));
        let case = Case { skipped: 20, ..Case::default() };
        let worst = compare(&gpu, &label, &sensor, from_ref(&mesh()), 7e-3, case);
        assert!(worst.iter().all(|worst| *worst <= CLOSE), "{label}: {worst:?}");
    }
}

/// Round shapes have other triangles on the GPU than on the CPU, which divides them anew as the depth changes, so that bristles are inherited from
/// other corners. Measured: forces along the normals of taxels 0.5 %, net loads 1.4 %, and force vectors of single taxels 4.2 % of the largest.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_ball_on_a_pad_in_time_is_near_the_cpu() {
    let gpu = gpu();
    let ball = Arc::new(Object::of_primitive(Primitive::Sphere { radius_m: 8e-3 }, 2e-3).unwrap());
    let sensor = pad(Friction::Lugre(LUGRE), 3.0);
    let case = Case { skipped: 28, ..Case::default() };
    let worst = compare(&gpu, "pad, lugre, ball", &sensor, from_ref(&ball), 8e-3, case);
    let bounds = [0.01, 0.06, 0.025, 0.01, 0.025, 0.025];
    assert!(worst.iter().zip(bounds).all(|(worst, bound)| *worst <= bound), "{worst:?}");
}

/// Two runs have the same bytes; a reset by mask and a fault harm no other environment.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn pads_repeat_and_a_broken_one_harms_no_other() {
    let gpu = gpu();
    let (sensor, object) = (pad(Friction::Lugre(LUGRE), 3.0), mesh());
    let run = || Run::new(&gpu, &sensor, from_ref(&object));
    let (mut fine, mut again, mut broken) = (run(), run(), run());
    let mask: Vec<u8> = (0..COUNT).map(|i| u8::from(i == 3)).collect();
    let mask = gpu.upload(&mask).unwrap();
    let mut differs = false;
    for step in 20..36 {
        let inputs = rows(step, 8e-3);
        fine.launch(&gpu, &sensor, &inputs);
        again.launch(&gpu, &sensor, &inputs);
        assert_eq!(fine.download(), again.download(), "step {step}");
        let mut bad = inputs.clone();
        if step == 27 {
            (bad[13], bad[2 * 13 + 3]) = (f64::NAN, 7.0);
        }
        if step == 30 {
            // SAFETY: the mask has an element per environment and outlives the work.
            #[allow(unsafe_code)]
            unsafe { broken.environments.reset(&View::new(mask.address(), &[1], Element::U8), 0) }.unwrap();
        }
        broken.launch(&gpu, &sensor, &bad);
        let (expected, got) = (fine.download(), broken.download());
        for (k, each) in sizes(&sensor).into_iter().enumerate() {
            for i in (0..COUNT).filter(|i| !(1..4).contains(i)) {
                assert_eq!(expected[k][each * i..][..each], got[k][each * i..][..each], "step {step}, environment {i}");
            }
        }
        differs |= step >= 30 && expected[2][18..24] != got[2][18..24];
        if step == 27 {
            assert!(got[2][6..18].iter().all(|load| *load == 0.0));
            assert_eq!(broken.environments.status().unwrap()[..4], [0, 1, 2, 0]);
            let refused = broken.environments.check().unwrap_err().to_string();
            assert!(refused.contains("environment 1 (1 others"), "{refused}");
        }
    }
    assert!(differs, "the reset ended the history of environment 3");
    assert_eq!(fine.environments.check().unwrap(), None);
}

/// A cuboid of 0.4 kg falls on pads of different slopes and sticks: at rest the pad carries its weight, normal and lateral part.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_pad_carries_a_weight_at_rest() {
    let gpu = gpu();
    let lugre = Lugre { damping_newton_s_per_m: 5e5, ..LUGRE };
    let (sensor, object) = (pad(Friction::Lugre(lugre), 20.0), cuboid());
    let mut run = Run::new(&gpu, &sensor, from_ref(&object));
    let mass_kg = 0.4;
    let weight = |i: usize| {
        let slope = 0.03 * i as f64;
        Vec3::new(slope.sin(), 0.0, -slope.cos()) * (9.81 * mass_kg)
    };
    let (mut at, mut v) = (vec![Vec3::Z * 4.05e-3; COUNT], vec![Vec3::ZERO; COUNT]);
    let mut last = Vec::new();
    for step in 0..1000 {
        let rows: Vec<f64> = at
            .iter()
            .zip(&v)
            .flat_map(|(p, v)| [p.x, p.y, p.z, 1.0, 0.0, 0.0, 0.0, v.x, v.y, v.z, 0.0, 0.0, 0.0])
            .collect();
        run.launch(&gpu, &sensor, &rows);
        let loads = run.outputs[4].download().unwrap();
        for i in 0..COUNT {
            let force = Vec3::new(loads[6 * i], loads[6 * i + 1], loads[6 * i + 2]) + weight(i);
            v[i] += force * (DT_S / mass_kg);
            at[i] += v[i] * DT_S;
        }
        if step == 999 {
            last = loads;
        }
    }
    for i in 0..COUNT {
        let force = Vec3::new(last[6 * i], last[6 * i + 1], last[6 * i + 2]);
        let error = (force + weight(i)).length() / weight(i).length();
        assert!(error < 1e-5 && v[i].length() < 1e-6, "slope {i}: {error:e}, {} m/s", v[i].length());
    }
}

/// A surface with more polygons than the memory holds is reported, and its normal force is right.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn too_many_polygons_are_reported() {
    let gpu = gpu();
    let (sensor, object) = (pad(Friction::Lugre(LUGRE), 3.0), mesh());
    let arrays = Arc::new(Arrays::new(&gpu, &sensor).unwrap());
    let uploaded = Arc::new(GpuObject::new(&gpu, &object).unwrap());
    let mut fine = Run::new(&gpu, &sensor, from_ref(&object));
    let options = GpuOptions { max_polygons: Some(20), ..GpuOptions::default() };
    let mut short = Run {
        environments: Environments::on_gpu_with(&arrays, from_ref(&uploaded), COUNT, options).unwrap(),
        outputs: sizes(&sensor).map(|size| gpu.zeros(size * COUNT).unwrap()),
    };
    for step in 30..34 {
        let inputs = rows(step, 8e-3);
        fine.launch(&gpu, &sensor, &inputs);
        short.launch(&gpu, &sensor, &inputs);
    }
    let status = short.environments.status().unwrap();
    assert!(status.contains(&BRISTLES_FULL) && status.iter().all(|bits| bits & !BRISTLES_FULL == 0), "{status:?}");
    let refused = short.environments.check().unwrap_err().to_string();
    assert!(refused.contains("more polygons") && refused.contains("readings are wrong"), "{refused}");
    assert!(fine.environments.status().unwrap().iter().all(|bits| *bits == 0));
    for (i, (a, b)) in fine.download()[2].chunks(6).zip(short.download()[2].chunks(6)).enumerate() {
        // Friction of the sloping sides has a part along z.
        assert!((a[2] - b[2]).abs() <= 0.3 * a[2].abs(), "environment {i}: {} {}", a[2], b[2]);
    }
    let refused = Environments::on_gpu(&arrays, from_ref(&uploaded), 100_000_000).unwrap_err().to_string();
    assert!(refused.contains("polygons") && refused.contains("at most"), "{refused}");
}
