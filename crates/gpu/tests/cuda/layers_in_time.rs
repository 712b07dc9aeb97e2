//! Layers of many environments on the GPU, with their history, against those on the CPU.

use crate::{gpu, motion};
use dermis_geometry::{Primitive, Quat, Vec3, shapes};
use dermis_gpu::environments::{Bindings, Element, Environments, ObjectArrays, Randomisation, View};
use dermis_gpu::{DeviceBuffer, Gpu};
use dermis_sensor::{Sensor, SensorSpec};
use dermis_skin::{Layer, LayerParameters, Object};
use std::slice::from_ref;
use std::sync::Arc;

pub const DT_S: f64 = 2e-3;
pub const COUNT: usize = 24;
pub const RADIUS_M: f64 = 5e-3;

/// 64 x 64 cells, 8 x 8 taxels, 9 x 7 markers and an image of 160 x 120 pixels.
pub const TEXT: &str = r#"
name = "gel"
[surface.grid]
rows = 8
cols = 8
pitch = "2 mm"
[skin]
kind = "layer"
thickness = "4 mm"
young = "200 kPa"
poisson = 0.47
cell = "0.25 mm"
mu = 0.5
[camera]
width = 160
height = 120
pixel = "0.1 mm"
[light]
kind = "phong"
shininess = 5
background = { colour = [76.0, 76.0, 76.0] }
[[light.sources]]
azimuth = "90 deg"
elevation = "14 deg"
diffuse = [153.0, 100.0, 50.0]
specular = [12.0, 12.0, 12.0]
[markers]
radius = "0.2 mm"
colour = [25.0, 25.0, 28.0]
[markers.pattern.grid]
rows = 9
cols = 7
pitch = "1.5 mm"
"#;

/// A sensor with a contact tolerance, in one increment a step, as on the GPU.
pub fn sensor(text: &str, tolerance: f64) -> Sensor {
    let sensor = SensorSpec::parse("the test", text).unwrap().build(None).unwrap();
    let mut parameters: LayerParameters = sensor.skin_as::<Layer>().unwrap().parameters().clone();
    (parameters.contact.tolerance, parameters.max_increments) = (tolerance, 1);
    sensor.with_skin(Layer::new(parameters).unwrap())
}

/// Pose (w first) and velocity of each object at the end of a step: presses, slides in a circle of its own, twists and leaves.
fn rows(step: usize) -> Vec<f64> {
    rows_of(step, |i, step| {
        let (time, way) = (step / 20.0, 0.6 + 0.02 * i as f64);
        let angle = std::f64::consts::TAU * (way * time + 0.04 * i as f64);
        let depth = (3e-4 + 1e-5 * i as f64) * (1.0 - (2.0 * time - 1.2).powi(2));
        let (x, y) = (1e-3 * angle.cos() + 1e-4 * i as f64, 1e-3 * angle.sin());
        ([x, y, RADIUS_M - depth], 0.8 * time)
    })
}

/// Pose (w first) and velocity of each object at the end of a step, from the position (m) and the angle about z (rad) of object `i`
/// after a number of steps.
pub fn rows_of(step: usize, phase: impl Fn(usize, f64) -> ([f64; 3], f64)) -> Vec<f64> {
    motion::rows(COUNT, step, DT_S, |i, step| {
        let (position, angle_rad) = phase(i, step);
        (Vec3::from_array(position), Quat::from_rotation_z(angle_rad))
    })
}

/// Numbers and images of all environments.
struct Outputs<T> {
    taxels: T,
    forces: T,
    wrench: T,
    markers: T,
}

/// Bindings of inputs and outputs at addresses in host or GPU memory.
fn bindings(sensor: &Sensor, inputs: u64, numbers: &Outputs<u64>, image: u64) -> Bindings {
    let taxels = sensor.taxels().len() as i64;
    let mut bindings = Bindings::new(DT_S);
    motion::bind_rows(&mut bindings.object, inputs);
    bindings.taxels = View::new(numbers.taxels, &[taxels, 1], Element::F64);
    bindings.forces = View::new(numbers.forces, &[3 * taxels, 3, 1], Element::F64);
    bindings.wrench = View::new(numbers.wrench, &[6, 1], Element::F64);
    bindings.markers = View::new(numbers.markers, &[2 * 63, 2, 1], Element::F64);
    bindings.image = View::new(image, &[3 * 160 * 120, 3 * 160, 1], Element::U8);
    bindings
}

/// Binds one object, of the first shape or of that with the index at an address.
///
/// # Safety
/// As for [`Environments::bind`].
#[allow(unsafe_code)]
unsafe fn bind(to: &mut Environments, bindings: Bindings, indices: Option<u64>) {
    let shape = indices.map_or(View::default(), |address| View::new(address, &[1], Element::I32));
    let object = ObjectArrays { body: bindings.object, shape, ..ObjectArrays::default() };
    // SAFETY: the caller guarantees the arrays.
    unsafe { to.bind_objects(bindings, &[object]) }.unwrap();
}

/// One device with its outputs.
pub struct Run {
    pub environments: Environments,
    numbers: Outputs<DeviceBuffer<f64>>,
    pub images: DeviceBuffer<u8>,
}

impl Run {
    pub fn new(gpu: &Arc<Gpu>, sensor: &Sensor, shapes: &[Arc<Object>]) -> Self {
        let taxels = sensor.taxels().len();
        let zeros = |each: usize| gpu.zeros::<f64>(each * COUNT).unwrap();
        Self {
            environments: Environments::with_layer(gpu, sensor, shapes, COUNT).unwrap(),
            numbers: Outputs {
                taxels: zeros(taxels),
                forces: zeros(3 * taxels),
                wrench: zeros(6),
                markers: zeros(126),
            },
            images: gpu.zeros(3 * 160 * 120 * COUNT).unwrap(),
        }
    }

    pub fn launch(&mut self, gpu: &Arc<Gpu>, sensor: &Sensor, rows: &[f64]) {
        self.launch_with(gpu, sensor, rows, None);
    }

    fn launch_with(&mut self, gpu: &Arc<Gpu>, sensor: &Sensor, rows: &[f64], indices: Option<&[i32]>) {
        let inputs = gpu.upload(rows).unwrap();
        let indices = indices.map(|indices| gpu.upload(indices).unwrap());
        gpu.finish().unwrap();
        let Outputs { taxels, forces, wrench, markers } = &self.numbers;
        let addresses = Outputs {
            taxels: taxels.address(),
            forces: forces.address(),
            wrench: wrench.address(),
            markers: markers.address(),
        };
        let bindings = bindings(sensor, inputs.address(), &addresses, self.images.address());
        // SAFETY: the arrays have a row per environment and live until the end of the step.
        #[allow(unsafe_code)]
        unsafe {
            bind(&mut self.environments, bindings, indices.as_ref().map(|indices| indices.address()));
        }
        self.environments.launch(0).unwrap();
        gpu.finish_all_streams().unwrap();
    }

    /// Loads of the taxels, forces on them, loads on the sensor and positions of the markers.
    pub fn download(&self) -> [Vec<f64>; 4] {
        let Outputs { taxels, forces, wrench, markers } = &self.numbers;
        [taxels, forces, wrench, markers].map(|buffer| buffer.download().unwrap())
    }
}

/// Index of the shape of each environment, which changes in the middle.
fn indices(shapes: usize, step: usize) -> Vec<i32> {
    (0..COUNT).map(|i| ((i + step / 12) % shapes) as i32).collect()
}

fn compare(gpu: &Arc<Gpu>, label: &str, shapes: &[Arc<Object>], is_random: bool, tolerance: f64, bar: f64) {
    let sheared = compare_motion(gpu, label, &sensor(TEXT, tolerance), shapes, is_random, &rows, bar);
    assert!(sheared > 0.02, "{label}: {sheared} N");
}

/// Compares all outputs of 24 steps of a motion on both devices; loads may differ by `bar` of the largest. Returns the largest
/// tangential force (N).
pub fn compare_motion(
    gpu: &Arc<Gpu>,
    label: &str,
    sensor: &Sensor,
    shapes: &[Arc<Object>],
    is_random: bool,
    rows: &dyn Fn(usize) -> Vec<f64>,
    bar: f64,
) -> f64 {
    let mut there = Run::new(gpu, sensor, shapes);
    let mut here = Environments::on_cpu(sensor, shapes, COUNT).unwrap();
    if is_random {
        let mut ranges = Randomisation::new(8);
        for (name, range) in [("stiffness", [0.5, 1.5]), ("position", [-2e-5, 2e-5]), ("rotation", [-1e-3, 1e-3])] {
            ranges.set(name, range).unwrap();
        }
        here.randomise(ranges).unwrap();
        there.environments.randomise(ranges).unwrap();
    }
    let taxels = sensor.taxels().len();
    let sizes = [taxels, 3 * taxels, 6, 126];
    let mut own = sizes.map(|size| vec![7.0f64; size * COUNT]);
    let mut image = vec![0u8; 3 * 160 * 120 * COUNT];
    let (mut worst, mut largest, mut off, mut sheared) = ([0.0f64; 4], [0.0f64; 4], 0usize, 0.0f64);
    let steps = 24;
    for step in 1..=steps {
        let inputs = rows(step);
        let [a, b, c, d] = own.each_mut().map(|numbers| numbers.as_mut_ptr() as u64);
        let addresses = Outputs { taxels: a, forces: b, wrench: c, markers: d };
        let bound = bindings(sensor, inputs.as_ptr() as u64, &addresses, image.as_mut_ptr() as u64);
        let indices = (shapes.len() > 1).then(|| indices(shapes.len(), step));
        // SAFETY: the arrays have a row per environment and live until the end of the step.
        #[allow(unsafe_code)]
        unsafe {
            bind(&mut here, bound, indices.as_ref().map(|indices| indices.as_ptr() as u64));
        }
        here.launch(0).unwrap();
        there.launch_with(gpu, sensor, &inputs, indices.as_deref());
        for (k, (expected, got)) in own.iter().zip(there.download()).enumerate() {
            for (expected, got) in expected.iter().zip(&got) {
                assert!(got.is_finite());
                worst[k] = worst[k].max((expected - got).abs());
                largest[k] = largest[k].max(expected.abs());
            }
        }
        sheared = own[2].chunks(6).fold(sheared, |most, load| most.max(load[0].hypot(load[1])));
        let images = there.images.download().unwrap();
        off = off.max(images.iter().zip(&image).filter(|(a, b)| a.abs_diff(**b) > 1).count());
    }
    println!(
        "{label}: largest {largest:.3?}, difference {worst:?}, shear {sheared:.3} N, pixels off by more than 1: {off}"
    );
    assert_eq!(there.environments.status().unwrap(), here.status().unwrap(), "{label}");
    for k in 0..3 {
        assert!(worst[k] <= bar * largest[k], "{label}, output {k}: {:e} of {:e}", worst[k], largest[k]);
    }
    // Markers move by several pixels.
    assert!(worst[3] <= bar * 100.0, "{label}: markers {:e} pixels", worst[3]);
    assert!(off * 1000 <= image.len(), "{label}: {off} pixels");
    sheared
}

/// A ball and a mesh that press, slide, twist and leave: loads, markers and images of every step. Then shapes that differ from
/// environment to environment and change during contact, with random parameters.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn layers_in_time_match_the_cpu() {
    let gpu = gpu();
    let ball = Arc::new(Object::of_primitive(Primitive::Sphere { radius_m: RADIUS_M }, 2e-3).unwrap());
    let mesh = Arc::new(Object::new(shapes::sphere(RADIUS_M, 0.5e-3).unwrap()));
    compare(&gpu, "ball, tolerance 1e-7", from_ref(&ball), false, 1e-7, 1e-5);
    compare(&gpu, "ball, default tolerance", from_ref(&ball), false, 1e-5, 1e-4);
    compare(&gpu, "mesh, default tolerance", from_ref(&mesh), false, 1e-5, 1e-4);
    let axes = Vec3::new(RADIUS_M * 1.5, RADIUS_M * 0.9, RADIUS_M);
    let egg = Arc::new(Object::of_primitive(Primitive::Ellipsoid { semi_axes_m: axes }, 2e-3).unwrap());
    compare(&gpu, "three shapes, random, tolerance 1e-7", &[ball, mesh, egg], true, 1e-7, 1e-5);
}

/// Two runs have the same bytes; a reset by mask, a fault and an object that is too deep harm no other environment.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn layers_repeat_and_a_broken_one_harms_no_other() {
    let gpu = gpu();
    let sensor = sensor(TEXT, 1e-5);
    let ball = Arc::new(Object::of_primitive(Primitive::Sphere { radius_m: RADIUS_M }, 2e-3).unwrap());
    let (mut fine, mut again, mut broken) = (
        Run::new(&gpu, &sensor, from_ref(&ball)),
        Run::new(&gpu, &sensor, from_ref(&ball)),
        Run::new(&gpu, &sensor, from_ref(&ball)),
    );
    let mask: Vec<u8> = (0..COUNT).map(|i| u8::from(i == 3)).collect();
    let mask = gpu.upload(&mask).unwrap();
    for step in 4..16 {
        let inputs = rows(step);
        fine.launch(&gpu, &sensor, &inputs);
        again.launch(&gpu, &sensor, &inputs);
        assert_eq!(fine.download(), again.download(), "step {step}");
        assert_eq!(fine.images.download().unwrap(), again.images.download().unwrap(), "step {step}");
        let mut bad = inputs.clone();
        if step == 7 {
            (bad[13], bad[2 * 13 + 2]) = (f64::NAN, RADIUS_M - 3.9e-3);
        }
        if step == 9 {
            // SAFETY: the mask has an element per environment and outlives the work.
            #[allow(unsafe_code)]
            unsafe { broken.environments.reset(&View::new(mask.address(), &[1], Element::U8), 0) }.unwrap();
        }
        broken.launch(&gpu, &sensor, &bad);
        let (expected, got) = (fine.download(), broken.download());
        for (k, each) in [64, 192, 6, 126].into_iter().enumerate() {
            for i in (0..COUNT).filter(|i| !(1..4).contains(i)) {
                assert_eq!(expected[k][each * i..][..each], got[k][each * i..][..each], "step {step}, environment {i}");
            }
        }
        if step == 7 {
            assert!(got[2][6..18].iter().all(|load| *load == 0.0));
            assert_eq!(broken.environments.status().unwrap()[..4], [0, 1, 16, 0]);
            let refused = broken.environments.check().unwrap_err().to_string();
            assert!(refused.contains("environment 1 (1 others"), "{refused}");
        }
    }
    // The layer is small for its thickness.
    let warning = fine.environments.check().unwrap().unwrap();
    assert!(warning.starts_with("environment 0 (23 others") && warning.contains("rim"), "{warning}");
}
