//! Measures the time per contact surface.

use super::GoldenPair;
use dermis::geometry::{Pose, Quat, Vec3};
use std::hint::black_box;
use std::time::Instant;

/// Length of a batch (s): short, so that some batches are not interrupted by other programs.
const BATCH_S: f64 = 4e-3;
const BATCHES: usize = 40;

/// Displacement of the second body at call `i`; `validation/drake` uses the same motion.
fn nudge(i: usize) -> Pose {
    let step = (i % 97) as f64 * 1e-6;
    Pose::new(Quat::from_rotation_x(step), Vec3::X * step)
}

/// The best average time (s) of a batch of calls on one thread; the second body moves at every call.
pub fn seconds_per_call(pair: &GoldenPair) -> f64 {
    let start = Instant::now();
    let call = |i: usize| drop(black_box(pair.contact_moved(&nudge(i))));
    call(0);
    let count = (BATCH_S / start.elapsed().as_secs_f64().max(1e-7)).max(1.0) as usize;
    let (mut best, mut i) = (f64::INFINITY, 0);
    for _ in 0..BATCHES {
        let start = Instant::now();
        for _ in 0..count {
            i += 1;
            call(i);
        }
        best = best.min(start.elapsed().as_secs_f64() / count as f64);
    }
    best
}
