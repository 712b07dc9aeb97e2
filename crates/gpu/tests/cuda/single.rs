//! Environments of springs in single precision, against those in double precision, on the GPU.

use crate::environments::bodies;
use crate::gpu;
use dermis_geometry::{Primitive, Random, Vec3, shapes};
use dermis_gpu::array::Arrays;
use dermis_gpu::environments::{
    Bindings, Element, Environments, GpuOptions, NOT_FINITE, ObjectArrays, RotationFormat, View,
};
use dermis_gpu::{DeviceBuffer, Gpu, GpuObject, Precision};
use dermis_sensor::{Sensor, SensorSpec};
use dermis_skin::Object;
use std::slice::from_ref;
use std::sync::Arc;

const DT_S: f64 = 1e-3;
/// Numbers of a body: position, quaternion w first, velocity.
const EACH: usize = 13;
const STIFFNESS_NEWTON_PER_M: f64 = 100.0;
const RANGE_M: f64 = 6e-3;

/// A flat array with friction, and damping (N s/m) along and across the normals; `more` is added to its text.
fn sensor([rows, cols]: [usize; 2], pitch_mm: f64, points: usize, damping: f64, more: &str) -> Sensor {
    let text = format!(
        "name = \"t\"\ncontact_points = {points}\n[surface.grid]\nrows = {rows}\ncols = {cols}\npitch = \"{pitch_mm} mm\"\n[skin]\n\
         kind = \"springs\"\nstiffness = \"100 N/m\"\ndamping = \"{damping} N s/m\"\nmax_penetration = \"6 mm\"\n[skin.friction]\nkind = \"lugre\"\n\
         sigma0 = \"100 N/m\"\nsigma1 = \"{damping} N s/m\"\nviscous = \"{damping} N s/m\"\nmu_static = 0.6\nmu_dynamic = 0.5\n\
         stribeck_speed = \"0.01 m/s\"\n{more}"
    );
    SensorSpec::parse("the test", &text).unwrap().build(None).unwrap()
}

fn all_shapes() -> [(&'static str, Arc<Object>); 6] {
    let primitive = |primitive| Object::of_primitive(primitive, 1e-3).unwrap();
    [
        ("sphere", primitive(Primitive::Sphere { radius_m: 8e-3 })),
        ("box", primitive(Primitive::Cuboid { half_m: Vec3::new(8e-3, 6e-3, 9e-3) })),
        ("cylinder", primitive(Primitive::Cylinder { radius_m: 7e-3, half_length_m: 9e-3 })),
        ("capsule", primitive(Primitive::Capsule { radius_m: 6e-3, half_length_m: 5e-3 })),
        ("ellipsoid", primitive(Primitive::Ellipsoid { semi_axes_m: Vec3::new(8e-3, 6e-3, 10e-3) })),
        ("mesh", Object::new(shapes::sphere(8e-3, 0.8e-3).unwrap())),
    ]
    .map(|(name, object)| (name, Arc::new(object)))
}

/// Environments with their outputs in `f64`: forces of taxels, wrench, and load on the object.
struct Batch {
    gpu: Arc<Gpu>,
    environments: Environments,
    forces: DeviceBuffer<f64>,
    taxels: DeviceBuffer<f64>,
    wrench: DeviceBuffer<f64>,
    loads: DeviceBuffer<f64>,
    columns: usize,
}

impl Batch {
    fn new(gpu: &Arc<Gpu>, sensor: &Sensor, shapes: &[Arc<Object>], count: usize, precision: Precision) -> Self {
        let arrays = Arc::new(Arrays::new(gpu, sensor).unwrap());
        let uploaded: Vec<_> = shapes.iter().map(|shape| Arc::new(GpuObject::new(gpu, shape).unwrap())).collect();
        let options = GpuOptions { precision, ..GpuOptions::default() };
        let environments = Environments::on_gpu_with(&arrays, &uploaded, count, options).unwrap();
        let columns = sensor.taxels().len();
        let [forces, taxels, wrench, loads] =
            [3 * columns, columns, 6, 6].map(|width| gpu.upload(&vec![7.0; width * count]).unwrap());
        Self { gpu: Arc::clone(gpu), environments, forces, taxels, wrench, loads, columns }
    }

    /// Steps with the object and the sensor, and, with several shapes, the shape of each environment.
    fn step(&mut self, inputs: &[Vec<f64>; 2], shape_of: Option<&[i32]>) {
        let uploaded = inputs.each_ref().map(|body| self.gpu.upload(body).unwrap());
        let indices = self.gpu.upload(shape_of.unwrap_or(&[])).unwrap();
        let mut bindings = Bindings::new(DT_S);
        for (k, buffer) in uploaded.iter().enumerate() {
            let view = |first: u64| View::new(buffer.address() + 8 * first, &[EACH as i64, 1], Element::F64);
            let body = if k == 0 { &mut bindings.object } else { &mut bindings.sensor };
            (body.position, body.rotation, body.twist) = (view(0), view(3), view(7));
            body.rotation_format = RotationFormat::QuaternionWFirst as i32;
        }
        let columns = self.columns as i64;
        bindings.forces = View::new(self.forces.address(), &[3 * columns, 3, 1], Element::F64);
        bindings.taxels = View::new(self.taxels.address(), &[columns, 1], Element::F64);
        bindings.wrench = View::new(self.wrench.address(), &[6, 1], Element::F64);
        bindings.object.load = View::new(self.loads.address(), &[6, 1], Element::F64);
        let shape = shape_of.map_or(View::default(), |_| View::new(indices.address(), &[1], Element::I32));
        let objects = [ObjectArrays { body: bindings.object, shape, ..ObjectArrays::default() }];
        self.gpu.finish().unwrap();
        // SAFETY: the arrays have a row per environment and live until the end of the step.
        #[allow(unsafe_code)]
        unsafe { self.environments.bind_objects(bindings, &objects) }.unwrap();
        self.environments.launch(0).unwrap();
        self.gpu.finish_all_streams().unwrap();
    }

    /// Forces of taxels, then the wrench.
    fn outputs(&self) -> [Vec<f64>; 2] {
        [self.forces.download().unwrap(), self.wrench.download().unwrap()]
    }

    fn reset(&mut self, mask: &[u8]) {
        let mask = self.gpu.upload(mask).unwrap();
        self.gpu.finish().unwrap();
        // SAFETY: the mask has an element per environment and lives until the work is done.
        #[allow(unsafe_code)]
        unsafe { self.environments.reset(&View::new(mask.address(), &[1], Element::U8), 0) }.unwrap();
        self.gpu.finish_all_streams().unwrap();
    }
}

/// The bodies move by their own velocity.
fn advance(inputs: &mut [Vec<f64>; 2]) {
    for row in inputs.iter_mut().flat_map(|body| body.chunks_mut(EACH)) {
        (0..3).for_each(|axis| row[axis] += DT_S * row[7 + axis]);
    }
}

fn length(vector: &[f64]) -> f64 {
    vector[..3].iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Steps of random contacts in both precisions. Errors are relative to the largest force on a taxel, and to the largest net force, of the environment in
/// these steps. Counts environments that are pressed at least 1 % of the range deep.
fn compare(gpu: &Arc<Gpu>, label: &str, sensor: &Sensor, shapes: &[Arc<Object>], count: usize) {
    const STEPS: usize = 12;
    let columns = sensor.taxels().len();
    let mut pair =
        [Precision::Double, Precision::Single].map(|precision| Batch::new(gpu, sensor, shapes, count, precision));
    let shape_of: Vec<i32> = (0..count).map(|i| (i % shapes.len()) as i32).collect();
    let several = (shapes.len() > 1).then_some(&shape_of[..]);
    let mut inputs = bodies(&mut Random::new(23), count);
    let mut seen = Vec::with_capacity(STEPS);
    for _ in 0..STEPS {
        pair.iter_mut().for_each(|batch| batch.step(&inputs, several));
        seen.push(pair.each_ref().map(Batch::outputs));
        advance(&mut inputs);
    }
    assert_eq!(pair[0].environments.status().unwrap(), pair[1].environments.status().unwrap(), "{label}");
    let (mut pressed, mut touched, mut far) = (0, 0, [0, 0]);
    let mut worst = [0.0f64; 2];
    for i in 0..count {
        for (k, width) in [3 * columns, 6].into_iter().enumerate() {
            let row = |values: &[f64]| values[width * i..][..width].to_vec();
            let parts = if k == 0 { columns } else { 1 };
            let largest = seen.iter().fold(0.0, |most: f64, [double, _]| {
                row(&double[k]).chunks(if k == 0 { 3 } else { 6 }).fold(most, |most, part| most.max(length(part)))
            });
            if largest < 0.01 * RANGE_M * STIFFNESS_NEWTON_PER_M {
                break;
            }
            pressed += 1 - k;
            for [double, single] in &seen {
                let (double, single) = (row(&double[k]), row(&single[k]));
                for part in 0..parts {
                    let differ: Vec<f64> =
                        (0..3).map(|axis| single[3 * part + axis] - double[3 * part + axis]).collect();
                    assert!(length(&differ).is_finite());
                    let error = length(&differ) / largest;
                    touched += usize::from(k == 0 && length(&double[3 * part..]) > 0.0);
                    far[k] += usize::from(error > 1e-4);
                    worst[k] = worst[k].max(error);
                }
            }
        }
    }
    println!(
        "{label}: {pressed} contacts, {touched} taxels; largest error of a taxel {:.1e} ({} above 1e-4), of the net force {:.1e} ({} above 1e-4)",
        worst[0], far[0], worst[1], far[1]
    );
    // A ray along an edge, or that grazes a face, may hit another point of the object.
    assert!(pressed >= 1000 && far[0] * 50_000 <= touched && far[1] <= 2, "{label}: {far:?} of {touched}");
    assert!(worst[0] > 0.0, "{label}: both are in one precision");
}

/// Every kind of shape, with friction in time; sums over springs; shapes that differ from environment to environment.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn single_precision_matches_double() {
    let (gpu, plain) = (gpu(), sensor([14, 6], 3.4, 1, 0.05, ""));
    let shapes = all_shapes();
    for (name, shape) in &shapes {
        compare(&gpu, name, &plain, from_ref(shape), 2048);
    }
    let cover = sensor([10, 7], 3.0, 4, 0.05, "[reading]\nkind = \"gaussian\"\nsigma = \"2 mm\"\n");
    compare(&gpu, "sums over springs", &cover, from_ref(&shapes[0].1), 2048);
    compare(&gpu, "all shapes", &plain, &shapes.map(|(_, shape)| shape), 2048);
}

/// A cylinder that stands on its end, rotated by an angle whose square is zero in single precision.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_tiny_rotation_loses_no_contact() {
    let (gpu, plain) = (gpu(), sensor([14, 6], 3.4, 1, 0.05, ""));
    let [_, _, (_, cylinder), ..] = all_shapes();
    let angles = [0.0, 1e-30, 1e-25, 1e-20, 1e-15, 1e-10];
    let mut inputs = [Vec::new(), Vec::new()];
    for angle in angles {
        inputs[0].extend([0.0, 0.0, 8e-3, 1.0, angle, angle, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        inputs[1].extend([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
    let mut batch = Batch::new(&gpu, &plain, from_ref(&cylinder), angles.len(), Precision::Single);
    batch.step(&inputs, None);
    let wrench = batch.outputs()[1].clone();
    for row in wrench.chunks(6) {
        assert!(wrench[2] < -1.0 && (row[2] / wrench[2] - 1.0).abs() < 1e-5, "{} {}", row[2], wrench[2]);
    }
}

/// Two runs have the same bytes; a reset environment begins anew; a pose that is not finite sets the status of its environment and changes no other.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn single_precision_is_reproducible_and_resets() {
    const COUNT: usize = 70;
    const RESET_AT: usize = 5;
    let (gpu, plain) = (gpu(), sensor([14, 6], 3.4, 1, 0.05, ""));
    for (name, shape) in [0, 5].map(|k| all_shapes()[k].clone()) {
        let make = || Batch::new(&gpu, &plain, from_ref(&shape), COUNT, Precision::Single);
        let (mut first, mut second, mut fresh) = (make(), make(), make());
        let mask: Vec<u8> = (0..COUNT).map(|i| u8::from(i % 3 == 0)).collect();
        let mut inputs = bodies(&mut Random::new(5), COUNT);
        let mut differs_by_history = false;
        for step in 0..10 {
            if step == RESET_AT {
                first.reset(&mask);
            }
            first.step(&inputs, None);
            let mut broken = inputs.clone();
            if step == RESET_AT - 1 {
                broken[0][EACH + 2] = f64::NAN;
            }
            if step == RESET_AT {
                second.reset(&mask);
            }
            second.step(&broken, None);
            let (one, two) = (first.outputs(), second.outputs());
            if step >= RESET_AT {
                fresh.step(&inputs, None);
            }
            let new = fresh.outputs();
            for (k, width) in [3 * first.columns, 6].into_iter().enumerate() {
                for i in 0..COUNT {
                    let row = |values: &[Vec<f64>; 2]| values[k][width * i..][..width].to_vec();
                    // Environment 1 has lost its history with its contact.
                    if i != 1 {
                        assert_eq!(row(&one), row(&two), "{name}, step {step}, environment {i}");
                    } else if step == RESET_AT - 1 {
                        assert!(row(&two).iter().all(|x| *x == 0.0), "{name}");
                    }
                    if step >= RESET_AT && mask[i] == 1 {
                        assert_eq!(row(&one), row(&new), "{name}, step {step}, environment {i}");
                    } else if step >= RESET_AT {
                        differs_by_history |= row(&one) != row(&new);
                    }
                }
            }
            let status = second.environments.status().unwrap();
            let faults = status.iter().filter(|bits| *bits & NOT_FINITE != 0).count();
            assert_eq!(faults, usize::from(step >= RESET_AT - 1), "{name}, step {step}");
            advance(&mut inputs);
        }
        assert!(differs_by_history, "{name}: no environment had a history");
    }
}

/// Balls of 50 g fall onto the skin and rest: the taxels, and the load on the ball, are its weight.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn weight_in_single_precision() {
    const COUNT: usize = 32;
    const MASS_KG: f64 = 0.05;
    const RADIUS_M: f64 = 10e-3;
    const GRAVITY_M_PER_S2: f64 = 9.81;
    let (gpu, plain) = (gpu(), sensor([20, 20], 2.0, 1, 0.5, ""));
    let ball = Arc::new(Object::of_primitive(Primitive::Sphere { radius_m: RADIUS_M }, 1e-3).unwrap());
    let mut batch = Batch::new(&gpu, &plain, from_ref(&ball), COUNT, Precision::Single);
    let mut random = Random::new(3);
    let mut inputs = [Vec::new(), Vec::new()];
    for _ in 0..COUNT {
        let [x, y] = [0, 1].map(|_| (random.uniform() - 0.5) * 10e-3);
        inputs[0].extend([x, y, RADIUS_M - 1e-4, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        inputs[1].extend([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
    let inertia = 0.4 * MASS_KG * RADIUS_M * RADIUS_M;
    for _ in 0..4000 {
        batch.step(&inputs, None);
        // Semi-implicit Euler; the orientation of a ball does not matter.
        for (row, load) in inputs[0].chunks_mut(EACH).zip(batch.loads.download().unwrap().chunks(6)) {
            for axis in 0..3 {
                row[7 + axis] += DT_S * (load[axis] / MASS_KG - if axis == 2 { GRAVITY_M_PER_S2 } else { 0.0 });
                row[10 + axis] += DT_S * load[3 + axis] / inertia;
                row[axis] += DT_S * row[7 + axis];
            }
        }
    }
    let weight = MASS_KG * GRAVITY_M_PER_S2;
    let (taxels, loads) = (batch.taxels.download().unwrap(), batch.loads.download().unwrap());
    let read = taxels.chunks(batch.columns).map(|row| row.iter().sum::<f64>());
    let worst = |values: &mut dyn Iterator<Item = f64>| values.map(|x| (x / weight - 1.0).abs()).fold(0.0, f64::max);
    let errors = [worst(&mut read.into_iter()), worst(&mut loads.chunks(6).map(|row| row[2]))];
    let speed = inputs[0].chunks(EACH).map(|row| length(&row[7..])).fold(0.0, f64::max);
    println!("weight of a ball at rest: taxels to {:.1e}, load to {:.1e}; speed {speed:.1e} m/s", errors[0], errors[1]);
    assert!(errors.iter().all(|error| *error < 1e-4), "{errors:?}");
}
