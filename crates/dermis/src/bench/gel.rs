//! The gel: particles a second, and presses.

use dermis_geometry::shapes::sphere;
use dermis_geometry::{Mat3, Pose, Vec3};
use dermis_skin::gel::{Bonds, Cloud, PaperGel, PaperParameters, Simd};
use dermis_skin::{Gel, GelParameters, Motion, Object, Skin, Target};
use std::collections::BTreeMap;
use std::time::Instant;

/// The particles of Chen et al. 2023.
const PAPER: [usize; 3] = [101, 101, 21];
/// Blocks of about 2e4 … 2e6 particles.
const SIZES: [(&str, [usize; 3]); 5] = [
    ("20k", [44, 44, 10]),
    ("60k", [64, 64, 15]),
    ("200k", [100, 100, 20]),
    ("600k", [144, 144, 29]),
    ("2M", [216, 216, 43]),
];

/// A free block that flies, spins and swings.
fn cloud(counts: [usize; 3]) -> Option<Cloud> {
    let motion = |rest: Vec3| {
        let velocity = Vec3::new(0.1, 0.05, 0.02) + Vec3::Z.cross(rest) * 10.0;
        (velocity, Mat3::from_diagonal(Vec3::new(1.02, 0.99, 1.0)))
    };
    Cloud::new(counts, GelParameters::default(), false, 0.3, Simd::detect(), motion).ok()
}

/// Time (ns) that this thread has been running, where the system tells.
fn thread_ns() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Nanoseconds of a step by particles, the best of several runs: by the clock, and by the time that the thread ran.
fn step_ns(cloud: &mut Cloud, threads: usize) -> Option<(f64, Option<f64>)> {
    let steps = (4_000_000 / cloud.len()).clamp(3, 40);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()?;
    let mut best = (f64::INFINITY, None::<f64>);
    for _ in 0..6 {
        let once = pool.install(|| {
            let (start, ran) = (Instant::now(), thread_ns());
            cloud.run(steps).ok()?;
            let ran = thread_ns().zip(ran).map(|(after, before)| after - before);
            Some((start.elapsed().as_secs_f64() * 1e9, ran))
        })?;
        let scale = 1.0 / (steps * cloud.len()) as f64;
        best.0 = best.0.min(once.0 * scale);
        best.1 = match (best.1, once.1) {
            (Some(a), Some(b)) => Some(a.min(b * scale)),
            (a, b) => a.or(b.map(|b| b * scale)),
        };
    }
    Some(best)
}

/// Seconds of a press of 1 mm with a ball of 4 mm on a gel of 20 × 20 × 4 mm: at rest with particles every 0.2 mm, and the paper's way.
fn presses(numbers: &mut BTreeMap<String, f64>) -> Option<()> {
    let ball = Object::new(sphere(4e-3, 0.2e-3).ok()?);
    let pose = Pose::from_translation(Vec3::Z * 3e-3);
    let gel = Gel::block(Vec3::new(20e-3, 20e-3, 4e-3), Bonds::default(), GelParameters::default()).ok()?;
    let start = Instant::now();
    let motion = Motion { targets: &[Target::at_rest(&ball, pose)] };
    let (touch, _, work) = gel.equilibrium(&gel.rest(), &motion).ok()?;
    numbers.insert("rest_press_s".into(), start.elapsed().as_secs_f64());
    numbers.insert("rest_press_particles".into(), gel.particles() as f64);
    numbers.insert("rest_press_newton".into(), -touch.on_sensor.force.z);
    numbers.insert("rest_press_residual".into(), work.residual);
    let paper = PaperGel::new(PaperParameters::default()).ok()?;
    let start = Instant::now();
    let (_, steps) = paper.pressed(&ball, pose).ok()?;
    numbers.insert("paper_press_s".into(), start.elapsed().as_secs_f64());
    numbers.insert("paper_press_steps".into(), steps as f64);
    Some(())
}

pub(super) fn run() -> BTreeMap<String, f64> {
    let mut numbers = BTreeMap::new();
    if let Some(mut cloud) = cloud(PAPER) {
        numbers.insert("particles".into(), cloud.len() as f64);
        numbers.insert("memory_mb".into(), cloud.bytes() as f64 / 1e6);
        if let Some((clock, ran)) = step_ns(&mut cloud, 1) {
            numbers.insert("ns_per_particle_step".into(), clock);
            if let Some(ran) = ran {
                numbers.insert("thread_ns_per_particle_step".into(), ran);
            }
        }
        if let Some((clock, _)) = step_ns(&mut cloud, 2) {
            numbers.insert("ns_per_particle_step_two_cores".into(), clock);
        }
    }
    for (name, counts) in SIZES {
        if let Some((clock, ran)) = cloud(counts).and_then(|mut cloud| step_ns(&mut cloud, 1)) {
            numbers.insert(format!("ns_per_particle_step_{name}_particles"), ran.unwrap_or(clock));
        }
    }
    // What is missing says that a press failed.
    let _ = presses(&mut numbers);
    numbers
}
