//! Batches of presses on an 84-taxel array on a GPU.

use dermis::geometry::{Pose, Primitive, Quat, Random, Twist, Vec3, shapes};
use dermis::gpu::array::{Arrays, Twists};
use dermis::gpu::environments::GpuOptions;
use dermis::gpu::{Environments, Gpu, GpuError, GpuObject, Precision};
use dermis::sensor::{SensorSpec, SkinKind, presets};
use dermis::skin::Object;
use std::collections::BTreeMap;
use std::slice::from_ref;
use std::sync::Arc;
use std::time::Instant;

/// Presses per batch.
const PRESSES: usize = 1 << 18;
/// Number of runs; the median counts.
const RUNS: usize = 9;
const RADIUS: f64 = 0.010;
/// Edge length (m) that gives the ball about 2,000 triangles.
const EDGE: f64 = 1.45e-3;

/// Double-precision operations of the kernel per spring under a ball, in contact and without contact; a root or a
/// division counts as eight.
const TOUCHED_OPERATIONS: f64 = 116.0;
const MISSED_OPERATIONS: f64 = 33.0;
/// Double-precision operations per multiprocessor and clock cycle.
const OPERATIONS_PER_CLOCK: f64 = 64.0;

/// Random poses of a ball on the array: any orientation, 0.5 to 3 mm deep.
fn places(random: &mut Random) -> Vec<Pose> {
    let place = |_| {
        let mut side = || random.uniform() * 2.0 - 1.0;
        let rotation = Quat::from_xyzw(side(), side(), side(), side()).normalize();
        let depth = 1.75e-3 + 1.25e-3 * side();
        Pose::new(rotation, Vec3::new(side() * 10e-3, side() * 25e-3, RADIUS - depth))
    };
    (0..PRESSES).map(place).collect()
}

/// GPU time (s): the median of several runs after a warm-up.
fn seconds(gpu: &Arc<Gpu>, mut work: impl FnMut() -> Result<(), GpuError>) -> Result<f64, GpuError> {
    work()?;
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let timer = gpu.timer()?;
        work()?;
        times.push(timer.stop()?);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[RUNS / 2])
}

/// Numbers by name; names carry their units.
pub(super) fn run(gpu: &Arc<Gpu>) -> Result<BTreeMap<String, f64>, GpuError> {
    let mut numbers = BTreeMap::new();
    let bad = |error: &dyn std::fmt::Display| GpuError::BadInput { reason: error.to_string() };
    let preset = presets::find("uji-foam-14x6").map_err(|error| bad(&error))?;
    let spec = SensorSpec { contact_points: Some(1), ..preset };
    let foam = spec.build(None).map_err(|error| bad(&error))?;
    let pad = spec.with_skin(SkinKind::Hydroelastic).and_then(|spec| spec.build(None)).map_err(|error| bad(&error))?;
    let ball = Object::of_primitive(Primitive::Sphere { radius_m: RADIUS }, EDGE).map_err(|error| bad(&error))?;
    let mesh = Object::new(shapes::sphere(RADIUS, EDGE).map_err(|error| bad(&error))?);
    let places = places(&mut Random::new(1));
    let count = PRESSES as f64;
    numbers.insert("presses_at_once".into(), count);
    numbers.insert("taxels".into(), foam.taxels().len() as f64);
    numbers.insert("triangles".into(), mesh.surface.mesh().triangles().len() as f64);

    // Memory bandwidth: a device-to-device copy, read and written.
    let block = gpu.zeros::<u8>(1 << 30)?;
    let mut other = gpu.zeros::<u8>(1 << 30)?;
    let copy_s = seconds(gpu, || other.copy_from(&block))?;
    let bandwidth = 2.0 * f64::from(1 << 30) / copy_s;
    numbers.insert("memory_copy_bytes_per_s".into(), bandwidth);
    drop((block, other));

    let taxels = foam.taxels().len();
    let press_bytes = (56 + dermis::gpu::array::Presses::bytes_of_one(taxels)) as f64;
    let figures = |numbers: &mut BTreeMap<String, f64>, label: &str, time_s: f64, bytes: f64| {
        numbers.insert(format!("{label}_per_s"), count / time_s);
        numbers.insert(format!("{label}_ns_each"), time_s / count * 1e9);
        numbers.insert(format!("{label}_part_of_memory_floor"), bytes * count / bandwidth / time_s);
    };
    for (label, sensor, object) in [
        ("spring_presses_of_a_ball", &foam, &ball),
        ("spring_presses_of_a_mesh", &foam, &mesh),
        ("pad_presses_of_a_mesh", &pad, &mesh),
    ] {
        let arrays = Arrays::new(gpu, sensor)?;
        let (object, poses) = (GpuObject::new(gpu, object)?, arrays.poses(&places)?);
        figures(&mut numbers, label, seconds(gpu, || arrays.settle(&object, &poses).map(drop))?, press_bytes);
    }
    // The work is known for a ball; for a mesh it depends on the rays.
    let operations_per_s = OPERATIONS_PER_CLOCK * gpu.multiprocessors() as f64 * gpu.clock_hz()?;
    let arrays = Arrays::new(gpu, &foam)?;
    let presses = arrays.settle(&GpuObject::new(gpu, &ball)?, &arrays.poses(&places)?)?;
    let touched = presses.values_newton.download()?.iter().filter(|value| **value > 0.0).count() as f64 / count;
    let operations = touched * TOUCHED_OPERATIONS + (taxels as f64 - touched) * MISSED_OPERATIONS;
    numbers.insert("taxels_that_a_ball_touches".into(), touched);
    if let Some(&ns) = numbers.get("spring_presses_of_a_ball_ns_each") {
        numbers.insert(
            "spring_presses_of_a_ball_part_of_arithmetic_floor".into(),
            operations / operations_per_s * 1e9 / ns,
        );
    }
    // Each spring reads its last triangle; bristles in contact, of six numbers, are read and written.
    let step_bytes = |number_bytes: f64| press_bytes + (48 + 4 * taxels) as f64 + 12.0 * number_bytes * touched;
    let twists = vec![Twist::new(Vec3::new(0.01, -0.02, 0.001), Vec3::new(0.1, 0.2, 0.3)); PRESSES];
    for (label, object, precision, number_bytes) in [
        ("spring_steps_of_a_ball", &ball, Precision::Double, 8.0),
        ("spring_steps_of_a_mesh", &mesh, Precision::Double, 8.0),
        ("spring_steps_of_a_ball_in_single_precision", &ball, Precision::Single, 4.0),
        ("spring_steps_of_a_mesh_in_single_precision", &mesh, Precision::Single, 4.0),
    ] {
        let arrays = Arc::new(Arrays::new(gpu, &foam)?);
        let (object, poses) = (Arc::new(GpuObject::new(gpu, object)?), arrays.poses(&places)?);
        let options = GpuOptions { precision, ..GpuOptions::default() };
        let mut environments = Environments::on_gpu_with(&arrays, from_ref(&object), PRESSES, options)?;
        let twists = Twists::of_host(gpu, &twists)?;
        let time_s = seconds(gpu, || environments.step(&poses, &twists, 1e-3).map(drop))?;
        figures(&mut numbers, label, time_s, step_bytes(number_bytes));
    }
    // From poses on the host to all results on the host.
    let object = GpuObject::new(gpu, &ball)?;
    let mut times = Vec::new();
    for _ in 0..3 {
        let start = Instant::now();
        let presses = arrays.settle(&object, &arrays.poses(&places)?)?;
        let fetched =
            (presses.forces_newton.download()?, presses.values_newton.download()?, presses.wrench.download()?);
        std::hint::black_box(fetched);
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    numbers.insert("spring_presses_of_a_ball_from_host_to_host_per_s".into(), count / times[0]);
    Ok(numbers)
}
