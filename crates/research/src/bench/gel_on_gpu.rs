//! The gel on a GPU: MPM steps, and presses to equilibrium with their difference from the CPU.

use super::gel::{CELL_M, PAPER, block};
use dermis::geometry::shapes::{indenters, sphere};
use dermis::geometry::{Pose, Primitive, Vec3};
use dermis::gpu::{Gpu, GpuError, GpuGel, GpuMpm, GpuTacchiGel};
use dermis::skin::gel::{FixedFaces, TacchiGel, TacchiParameters};
use dermis::skin::{Gel, GelParameters, Motion, Object, Skin, SurfaceField, Target};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// Steps per run, and number of runs; the best run counts.
const STEPS: usize = 100;
const RUNS: usize = 5;
/// Presses of a batch.
const BATCH: usize = 64;
/// Memory bandwidth (byte/s) and arithmetic throughput (operations/s) of an H200 in single precision.
const BYTES_PER_S: f64 = 4.3e12;
const SINGLES_PER_S: f64 = 67e12;
/// Bytes and operations of one particle step: position and deformation are read and written; cell, index and material
/// are read.
const STEP_BYTES: f64 = (2 * 12 + 3) as f64 * 4.0;
const STEP_OPERATIONS: f64 = 1700.0;
/// Bytes and operations of one cell in an iteration of conjugate gradients: twelve numbers for each of eight particles, and
/// ten nodal vectors; interpolation axis by axis, the tangent of eight particles, and the transpose.
const CELL_BYTES: f64 = (8 * 12 * 4 + 10 * 3 * 4) as f64;
const CELL_OPERATIONS: f64 = 1100.0 + 8.0 * 150.0 + 1200.0;

/// The error when a gel or an object cannot be built or does not reach equilibrium.
fn not_done(why: impl std::fmt::Display) -> GpuError {
    GpuError::Unsupported { what: "the benchmark of the gel".to_owned(), why: why.to_string() }
}

/// The largest difference between two surfaces, relative to the largest displacement.
fn apart(a: &SurfaceField, b: &SurfaceField) -> f64 {
    let deepest = a.values.iter().map(|u| u.length()).fold(0.0, f64::max);
    a.values.iter().zip(&b.values).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max) / deepest
}

fn steps(gpu: &Arc<Gpu>, numbers: &mut BTreeMap<String, f64>) -> Result<(), GpuError> {
    let block = block(PAPER).ok_or_else(|| not_done("no particles"))?;
    let mut mpm = GpuMpm::new(gpu, &block.steps(STEPS))?;
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let run = mpm.run(STEPS)?;
        best = best.min(run.gpu_s / STEPS as f64);
    }
    let count = block.len() as f64;
    let floors = [count * STEP_BYTES / BYTES_PER_S, count * STEP_OPERATIONS / SINGLES_PER_S];
    numbers.insert("particles".into(), count);
    numbers.insert("step_ms".into(), best * 1e3);
    numbers.insert("step_memory_floor_ms".into(), floors[0] * 1e3);
    numbers.insert("step_arithmetic_floor_ms".into(), floors[1] * 1e3);
    numbers.insert("step_part_of_floor".into(), floors[0].max(floors[1]) / best);
    Ok(())
}

/// Presses per second of a batch at poses within 0.35 mm of the given one; the best of three batches.
fn batch(gel: &GpuGel, object: &Object, pose: Pose) -> Result<f64, GpuError> {
    let aside = |i: usize| Vec3::new(0.05e-3 * (i % 8) as f64, 0.05e-3 * (i / 8) as f64, 0.0);
    let beside = |i: usize| Pose { translation: pose.translation + aside(i), ..pose };
    let targets: Vec<_> = (0..BATCH).map(|i| [Target::at_rest(object, beside(i))]).collect();
    let motions: Vec<_> = targets.iter().map(|targets| Motion { targets }).collect();
    let rest = gel.rest();
    let presses: Vec<_> = motions.iter().map(|motion| (&rest, motion)).collect();
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        gel.settle_all(&presses).into_iter().collect::<Result<Vec<_>, _>>().map_err(not_done)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(BATCH as f64 / best)
}

/// Presses of 1 mm on a gel of 20 × 20 × 4 mm.
fn presses(gpu: &Arc<Gpu>, numbers: &mut BTreeMap<String, f64>) -> Result<(), GpuError> {
    let parameters = GelParameters { cell_m: CELL_M, ..GelParameters::default() };
    let gel = Gel::block(Vec3::new(20e-3, 20e-3, 4e-3), FixedFaces::default(), parameters).map_err(not_done)?;
    let gpu_gel = GpuGel::new(gpu, gel)?;
    let ball = Pose::from_translation(Vec3::Z * 3e-3);
    let objects = [
        ("ball", Object::new(sphere(4e-3, 0.2e-3).map_err(not_done)?), ball),
        ("primitive", Object::of_primitive(Primitive::Sphere { radius_m: 4e-3 }, 0.2e-3).map_err(not_done)?, ball),
        ("moon", Object::new(indenters::find("moon").map_err(not_done)?), Pose::from_translation(Vec3::Z * -1e-3)),
    ];
    numbers.insert("press_particles".into(), gpu_gel.gel().particles() as f64);
    for (name, object, pose) in &objects {
        let targets = [Target::at_rest(object, *pose)];
        let motion = Motion { targets: &targets };
        let (mut wall, mut on_gpu) = (f64::INFINITY, f64::INFINITY);
        let mut found = None;
        for _ in 0..RUNS {
            let start = Instant::now();
            let (touch, _, work, gpu_s) = gpu_gel.equilibrium(&gpu_gel.rest(), &motion).map_err(not_done)?;
            (wall, on_gpu) = (wall.min(start.elapsed().as_secs_f64()), on_gpu.min(gpu_s));
            found = Some((touch, work));
        }
        let (touch, work) = found.ok_or_else(|| not_done("no press"))?;
        let cpu = gpu_gel.gel().equilibrium(&gpu_gel.rest(), &motion).map_err(not_done)?.0;
        let off = cpu.surface.zip(touch.surface).map_or(f64::NAN, |(cpu, on_gpu)| apart(&cpu, &on_gpu));
        let cells = gpu_gel.gel().particles() as f64 / 8.0 * work.conjugate as f64;
        let floors = [cells * CELL_BYTES / BYTES_PER_S, cells * CELL_OPERATIONS / SINGLES_PER_S];
        numbers.insert(format!("press_{name}_ms"), wall * 1e3);
        numbers.insert(format!("press_{name}_on_gpu_ms"), on_gpu * 1e3);
        numbers.insert(format!("press_{name}_products"), work.conjugate as f64);
        numbers.insert(format!("press_{name}_memory_floor_ms"), floors[0] * 1e3);
        numbers.insert(format!("press_{name}_arithmetic_floor_ms"), floors[1] * 1e3);
        numbers.insert(format!("press_{name}_part_of_floor"), floors[0].max(floors[1]) / on_gpu);
        numbers.insert(format!("press_{name}_surface_off_by_depth"), off);
        numbers.insert(format!("press_{name}_of_{BATCH}_per_s"), batch(&gpu_gel, object, *pose)?);
    }
    let paper = TacchiGel::new(TacchiParameters::default()).map_err(not_done)?;
    let (name, object, pose) = &objects[0];
    let (touch, run) = GpuTacchiGel::new(gpu, paper.clone()).press(object, *pose).map_err(not_done)?;
    let (cpu, steps) = paper.press(object, *pose).map_err(not_done)?;
    let off = cpu.surface.zip(touch.surface).map_or(f64::NAN, |(cpu, on_gpu)| apart(&cpu, &on_gpu));
    numbers.insert(format!("paper_{name}_step_ms"), run.gpu_s * 1e3 / steps as f64);
    numbers.insert(format!("paper_{name}_surface_off_by_depth"), off);
    Ok(())
}

pub(super) fn run(gpu: &Arc<Gpu>) -> Result<BTreeMap<String, f64>, GpuError> {
    let mut numbers = BTreeMap::new();
    steps(gpu, &mut numbers)?;
    presses(gpu, &mut numbers)?;
    Ok(numbers)
}
