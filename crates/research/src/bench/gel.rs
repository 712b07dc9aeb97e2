//! The gel: time per particle and step, and a press with its errors at the same cell size.

mod golden;

use super::cpu_clock::{cpu_nanoseconds, program_s};
use crate::validate::{ValidateError, feats};
use dermis::geometry::shapes::sphere;
use dermis::geometry::{Mat3, Pose, Primitive, Vec3};
use dermis::skin::gel::{FixedFaces, ParticleBlock, TacchiGel, TacchiParameters};
use dermis::skin::{Gel, GelParameters, Motion, Object, Simd, Skin, Target};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// The particles of Chen et al. 2023.
pub(super) const PAPER: [usize; 3] = [101, 101, 21];
/// Blocks of about 2e4 … 2e6 particles.
const SIZES: [(&str, [usize; 3]); 5] = [
    ("20k", [44, 44, 10]),
    ("60k", [64, 64, 15]),
    ("200k", [100, 100, 20]),
    ("600k", [144, 144, 29]),
    ("2M", [216, 216, 43]),
];
/// Cells of the presses: particles every 0.2 mm, as in Chen et al. 2023.
pub(super) const CELL_M: f64 = 0.4e-3;
/// Time of a 1 mm press (s) in the code of Chen et al. 2023 on two similar cores: 96 steps of 0.28 s.
const TACCHI_S: f64 = 27.0;

/// A free block that translates, rotates and vibrates.
pub(super) fn block(counts: [usize; 3]) -> Option<ParticleBlock> {
    let motion = |rest: Vec3| {
        let velocity = Vec3::new(0.1, 0.05, 0.02) + Vec3::Z.cross(rest) * 10.0;
        (velocity, Mat3::from_diagonal(Vec3::new(1.02, 0.99, 1.0)))
    };
    ParticleBlock::new(counts, GelParameters::default(), false, 0.3, Simd::detect(), motion).ok()
}

/// Time per particle and step (ns), the best of several runs: wall-clock time, and CPU time of one thread of the pool.
fn step_ns(block: &mut ParticleBlock, threads: usize, runs: usize) -> Option<(f64, f64)> {
    let steps = (4_000_000 / block.len()).clamp(3, 40);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()?;
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..runs {
        let (wall, ran) = pool.install(|| {
            let (start, ran) = (Instant::now(), cpu_nanoseconds());
            block.run(steps).ok()?;
            let wall = start.elapsed().as_secs_f64() * 1e9;
            Some((wall, cpu_nanoseconds().zip(ran).map_or(wall, |(after, before)| after - before)))
        })?;
        let scale = 1.0 / (steps * block.len()) as f64;
        best = (best.0.min(wall * scale), best.1.min(ran * scale));
    }
    Some(best)
}

fn steps(numbers: &mut BTreeMap<String, f64>) -> Option<()> {
    let mut paper = block(PAPER)?;
    numbers.insert("particles".into(), paper.len() as f64);
    numbers.insert("memory_mb".into(), paper.bytes() as f64 / 1e6);
    let (wall, ran) = step_ns(&mut paper, 1, 10)?;
    numbers.insert("ns_per_particle_step".into(), wall);
    numbers.insert("thread_ns_per_particle_step".into(), ran);
    // More runs: both cores must be idle at the same time, also on a shared machine.
    let (wall, ran) = step_ns(&mut paper, 2, 30)?;
    numbers.insert("ns_per_particle_step_two_cores".into(), wall);
    numbers.insert("thread_ns_per_particle_step_two_cores".into(), ran);
    for (name, counts) in SIZES {
        let (_, ran) = step_ns(&mut block(counts)?, 1, 6)?;
        numbers.insert(format!("thread_ns_per_particle_step_{name}_particles"), ran);
    }
    Some(())
}

/// Runs a call; returns wall-clock and CPU time (s).
fn timed<T>(call: impl FnOnce() -> T) -> (T, f64, f64) {
    let (start, ran) = (Instant::now(), program_s());
    let out = call();
    let wall = start.elapsed().as_secs_f64();
    (out, wall, program_s().zip(ran).map_or(wall, |(after, before)| after - before))
}

/// A 1 mm press with a ball of 4 mm radius on a gel of 20 × 20 × 4 mm, on two threads: equilibrium, and the paper's
/// method.
fn press(numbers: &mut BTreeMap<String, f64>) -> Option<()> {
    const DEPTH_M: f64 = 1e-3;
    let mesh = Object::new(sphere(4e-3, 0.2e-3).ok()?);
    let exact = Object::of_primitive(Primitive::Sphere { radius_m: 4e-3 }, 0.2e-3).ok()?;
    let pose = Pose::from_translation(Vec3::Z * (4e-3 - DEPTH_M));
    let parameters = GelParameters { cell_m: CELL_M, ..GelParameters::default() };
    let gel = Gel::block(Vec3::new(20e-3, 20e-3, 4e-3), FixedFaces::default(), parameters).ok()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().ok()?;
    for (name, ball) in [("press", &mesh), ("press_of_primitive", &exact)] {
        let motion = Motion { targets: &[Target::at_rest(ball, pose)] };
        let (pressed, wall, ran) = timed(|| pool.install(|| gel.equilibrium(&gel.rest(), &motion)));
        let (touch, _, work) = pressed.ok()?;
        numbers.insert(format!("{name}_wall_s"), wall);
        numbers.insert(format!("{name}_cpu_s"), ran);
        numbers.insert(format!("{name}_force_n"), -touch.on_sensor.force.z);
        if name == "press" {
            let deepest = touch.surface?.values.iter().map(|u| -u.z).fold(0.0, f64::max);
            numbers.insert("press_cell_mm".into(), CELL_M * 1e3);
            numbers.insert("press_particles".into(), gel.particles() as f64);
            numbers.insert("press_residual_by_load".into(), work.residual);
            numbers.insert("press_tip_error_by_depth".into(), (deepest / DEPTH_M - 1.0).abs());
            numbers.insert("press_kinetic_by_strain_energy".into(), touch.energy?.ratio());
            numbers.insert("press_tacchi_s".into(), TACCHI_S);
        }
    }
    let paper = TacchiGel::new(TacchiParameters::default()).ok()?;
    let (pressed, wall, ran) = timed(|| pool.install(|| paper.press(&mesh, pose)));
    let (touch, steps) = pressed.ok()?;
    numbers.insert("paper_press_wall_s".into(), wall);
    numbers.insert("paper_press_cpu_s".into(), ran);
    numbers.insert("paper_press_steps".into(), steps as f64);
    numbers.insert("paper_press_kinetic_by_strain_energy".into(), touch.energy?.ratio());
    Some(())
}

pub(super) fn run() -> BTreeMap<String, f64> {
    let mut numbers = BTreeMap::new();
    // A failed measurement leaves its numbers out.
    let _ = steps(&mut numbers);
    let _ = press(&mut numbers);
    if let Some(errors) = golden::errors(CELL_M) {
        numbers.insert("golden_force_error".into(), errors.force_rel);
        numbers.insert("golden_surface_error_by_depth".into(), errors.surface_rel);
        numbers.insert("golden_base_error_by_peak".into(), errors.base_rel);
    }
    numbers
}

pub(super) fn run_with_feats(folder: &Path) -> Result<BTreeMap<String, f64>, ValidateError> {
    let report = feats::run(folder, CELL_M)?;
    let mut numbers = run();
    let ratios = || report.forces.iter().map(|force| force.ratio);
    numbers.insert("feats_particles".into(), report.particles as f64);
    numbers.insert("feats_force_ratio_least".into(), ratios().fold(f64::INFINITY, f64::min));
    numbers.insert("feats_force_ratio_most".into(), ratios().fold(0.0, f64::max));
    let worst = report.surfaces.iter().map(|surface| surface.rms_of_depth).fold(0.0, f64::max);
    numbers.insert("feats_surface_rms_by_depth".into(), worst);
    Ok(numbers)
}
