//! Batches of presses on a GelSight's layer and their images on a GPU.

use dermis::geometry::shapes::sphere;
use dermis::geometry::{Pose, Quat, Random, Vec3};
use dermis::gpu::{
    Gpu, GpuError, LayerBatch, PinnedBuffer, Timer,
    array::Poses,
    goals::{PressRequest, final_poses},
    layer::{LayerCotangents, Outputs},
};
use dermis::sensor::{Aim, Goal, Sensor, SensorSource};
use dermis::skin::Object;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

const RADIUS_M: f64 = 4e-3;
const PRESSES: usize = 8192;
/// Presses in a batch that is differentiated.
const GRADIENTS: usize = 4096;

/// The preset `gelsight` at half the resolution: 320 × 240 pixels of twice the size.
fn small_gelsight() -> Option<Sensor> {
    let source = SensorSource { preset: Some("gelsight".to_owned()), resolution: Some(0.5), ..SensorSource::default() };
    source.resolve("gelsight", None).ok()?.0.build(None).ok()
}

/// Random poses of a ball of 4 mm radius: any orientation, 0.3 to 1.2 mm deep, within the central 8 mm.
fn ball_poses(count: usize, seed: u64) -> Vec<Pose> {
    let mut random = Random::new(seed);
    let mut pose = || {
        let rotation =
            Quat::from_rotation_z(random.between(-3.0, 3.0)) * Quat::from_rotation_x(random.between(-3.0, 3.0));
        let [x, y] = [random.between(-4e-3, 4e-3), random.between(-4e-3, 4e-3)];
        Pose::new(rotation, Vec3::new(x, y, RADIUS_M - random.between(0.3e-3, 1.2e-3)))
    };
    (0..count).map(|_| pose()).collect()
}

/// Memory bandwidth (byte/s, copy) and single-precision throughput (operations/s, data sheet) of an H200, for lower
/// bounds on the time.
const BYTES_PER_S: f64 = 4.3e12;
const OPERATIONS_PER_S: f64 = 67e12;

/// Time (s, best of three) from poses on the GPU to results on the GPU, with iterations and operations.
fn seconds(batch: &LayerBatch, poses: &Poses, outputs: Outputs) -> Result<(f64, usize, f64), GpuError> {
    let mut best = (f64::INFINITY, 0, 0.0);
    for _ in 0..3 {
        let timer = Timer::start(batch.gpu())?;
        let touches = batch.press_on_device(poses, outputs)?;
        let taken = timer.stop()?;
        best = (best.0.min(taken), touches.iterations(), touches.operations);
    }
    Ok(best)
}

/// Times (s, best of four) of a step of an optimiser: from poses to the levels of images, all on the GPU, and from the derivatives by these levels
/// to gradients on the host, which presses again.
fn gradient_seconds(batch: &LayerBatch, poses: &Poses) -> Result<[f64; 2], GpuError> {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..4 {
        let timer = Timer::start(batch.gpu())?;
        let pressed = batch.press_on_device(poses, Outputs { levels: true, ..Outputs::NONE })?;
        let forward_s = timer.stop()?;
        // Those of half the sum of squared levels.
        let by = LayerCotangents { levels: pressed.levels, ..LayerCotangents::none(batch.gpu())? };
        let timer = Timer::start(batch.gpu())?;
        batch.vjp(poses, &by)?;
        best = [best[0].min(forward_s), best[1].min(timer.stop()?)];
    }
    Ok(best)
}

/// Time (s, best of three) from forces of 0.2 to 2 N to the poses of the ball that press with them, from host to host.
fn force_seconds(batch: &LayerBatch, sensor: &Sensor, ball: &Object) -> Result<f64, GpuError> {
    let mut random = Random::new(11);
    let mut request = || {
        let aim = Aim { at_m: [random.between(-4e-3, 4e-3), random.between(-4e-3, 4e-3)], ..Aim::default() };
        PressRequest::Press(aim, Goal::Force(random.between(0.2, 2.0)))
    };
    let requests: Vec<PressRequest> = (0..PRESSES).map(|_| request()).collect();
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        let mut forces_at = |poses: &[Pose]| batch.normal_forces(poses);
        final_poses(sensor, ball, &requests, batch.force_precision(), &mut forces_at, &|_| true)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn batch_bytes(batch: &LayerBatch) -> usize {
    batch.image_size().map_or(0, |[height, width]| 3 * height * width * PRESSES)
}

/// Numbers by name; names carry their units.
pub fn run(gpu: &Arc<Gpu>) -> Result<BTreeMap<String, f64>, GpuError> {
    let mut numbers = BTreeMap::new();
    let (Some(sensor), Ok(mesh)) = (small_gelsight(), sphere(RADIUS_M, 0.1e-3)) else { return Ok(numbers) };
    for (friction, mu) in [("", None), ("_frictionless", Some(0.0))] {
        let ball = Object { mu, ..Object::new(mesh.clone()) };
        let batch = LayerBatch::new(gpu, &sensor, &ball)?;
        let places = ball_poses(PRESSES, 7);
        batch.press_on_device(&Poses::of_host(gpu, &places[..512])?, Outputs::IMAGES)?;
        let poses = Poses::of_host(gpu, &places)?;
        let mut keep = |name: &str, value: f64| numbers.insert(format!("{name}{friction}"), value);
        let (images_s, iterations, operations) = seconds(&batch, &poses, Outputs::IMAGES)?;
        let presses = PRESSES as f64;
        keep("images_320x240_per_second", presses / images_s);
        keep("iterations_per_press", iterations as f64 / presses);
        // Lower bounds: a pose is read and an image written; the Fourier transforms are computed.
        let memory_s = (batch_bytes(&batch) as f64 / presses + 7.0 * 8.0) / BYTES_PER_S;
        let arithmetic_s = operations / presses / OPERATIONS_PER_S;
        keep("floor_of_memory_us_per_image", memory_s * 1e6);
        keep("floor_of_arithmetic_us_per_image", arithmetic_s * 1e6);
        keep("part_of_the_floor_reached_ratio", memory_s.max(arithmetic_s) * presses / images_s);
        let (presses_s, ..) = seconds(&batch, &poses, Outputs::NONE)?;
        keep("presses_without_images_per_second", PRESSES as f64 / presses_s);
        let (all_s, ..) = seconds(&batch, &poses, Outputs::ALL)?;
        keep("presses_with_everything_per_second", PRESSES as f64 / all_s);
        let some = Poses::of_host(gpu, &places[..GRADIENTS])?;
        let [forward_s, backward_s] = gradient_seconds(&batch, &some)?;
        keep("images_320x240_and_their_gradients_per_second", GRADIENTS as f64 / (forward_s + backward_s));
        keep("gradient_of_4096_images_ms", backward_s * 1e3);
        keep("presses_to_forces_per_second", PRESSES as f64 / force_seconds(&batch, &sensor, &ball)?);
        // To pinned host memory, as a training loop would use.
        let mut host = PinnedBuffer::<u8>::new(gpu, batch_bytes(&batch))?;
        let timer = Timer::start(gpu)?;
        let touches = batch.press_on_device(&poses, Outputs::IMAGES)?;
        touches.images.copy_to_pinned(&mut host)?;
        keep("images_320x240_copied_to_host_per_second", PRESSES as f64 / timer.stop()?);
    }
    Ok(numbers)
}
