//! Time of a press and of a step of the layer.

use super::cpu_clock::cpu_nanoseconds;
use dermis::geometry::{Pose, Vec3, shapes::sphere};
use dermis::skin::layer::{Ply, Poisson};
use dermis::skin::{Layer, LayerParameters, Motion, Object, Skin, State, Target, Touch};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

const SIDE_M: f64 = 20e-3;
const RADIUS_M: f64 = 15e-3;

/// A gel of 4 mm on `cells` × `cells` cells.
fn gel(cells: usize, lateral: bool) -> Option<Layer> {
    let ply = Ply { thickness_m: 4e-3, young_pa: 1.45e5, poisson: Poisson::Ratio(0.45) };
    let parameters = LayerParameters::new(ply, [SIDE_M; 2], SIDE_M / cells as f64);
    Layer::new(LayerParameters { lateral, ..parameters }).ok()
}

fn touch(layer: &Layer, ball: &Object, state: &State, x_m: f64, depth_m: f64) -> Option<(Touch, State)> {
    let place = Pose::from_translation(Vec3::new(x_m, 0.0, RADIUS_M - depth_m));
    layer.touch(state, &Motion { targets: &[Target::at_rest(ball, place)] }, 1e-3).ok()
}

/// The depth (m) at which the contact has a given diameter (m).
fn depth_of(ball: &Object, diameter_m: f64) -> Option<f64> {
    let layer = gel(96, false)?;
    let (mut low, mut high) = (0.0, 3e-3);
    for _ in 0..16 {
        let middle = 0.5 * (low + high);
        let area_m2 = touch(&layer, ball, &layer.rest(), 0.0, middle)?.0.area_m2();
        let wide = 2.0 * (area_m2 / std::f64::consts::PI).sqrt() > diameter_m;
        if wide { high = middle } else { low = middle }
    }
    Some(0.5 * (low + high))
}

/// CPU time of this thread (ms); wall-clock time where CPU time is unavailable.
fn thread_ms(start: Instant) -> f64 {
    cpu_nanoseconds().map_or_else(|| start.elapsed().as_secs_f64() * 1e3, |ns| ns * 1e-6)
}

/// The minimum over four batches of the mean time of a call (ms), after a warm-up call. Single calls cannot be timed:
/// the kernel counts in ticks of a few milliseconds.
fn best_ms(runs: usize, mut call: impl FnMut(usize) -> Option<()>) -> Option<f64> {
    call(0)?;
    let (clock, mut best) = (Instant::now(), f64::INFINITY);
    for batch in 0..4 {
        let start = thread_ms(clock);
        for run in 0..runs {
            call(batch * runs + run)?;
        }
        best = best.min((thread_ms(clock) - start) / runs as f64);
    }
    Some(best)
}

fn cold_ms(layer: &Layer, ball: &Object, depth_m: f64, runs: usize) -> Option<f64> {
    let rest = layer.rest();
    best_ms(runs, |_| {
        black_box(touch(layer, ball, &rest, 0.0, depth_m)?);
        Some(())
    })
}

/// Steps of 1 % of the depth and a tenth of a cell, as in a press and slide at 1 kHz.
fn warm_ms(layer: &Layer, ball: &Object, depth_m: f64, runs: usize) -> Option<f64> {
    let mut state = touch(layer, ball, &layer.rest(), 0.0, depth_m)?.1;
    best_ms(runs, |run| {
        let part = f64::from(u8::from(run.is_multiple_of(2)));
        let (touched, next) =
            touch(layer, ball, &state, 0.1 * part * layer.grid().cell_m, depth_m * (1.0 - 0.01 * part))?;
        state = next;
        black_box(touched);
        Some(())
    })
}

fn measure(numbers: &mut BTreeMap<String, f64>) -> Option<()> {
    let ball = Object::new(sphere(RADIUS_M, 0.9e-3).ok()?);
    numbers.insert("ball_triangles".into(), ball.surface.mesh().triangles().len() as f64);
    let quarter = depth_of(&ball, 0.25 * SIDE_M)?;
    let half = depth_of(&ball, 0.5 * SIDE_M)?;
    // Every step computes six fields with lateral displacements, two without.
    for (fields, lateral) in [("", false), ("_with_lateral", true)] {
        let layer = gel(256, lateral)?;
        for (name, depth_m) in [("quarter", quarter), ("half", half)] {
            numbers.insert(format!("cold_ms_256_contact_{name}{fields}"), cold_ms(&layer, &ball, depth_m, 12)?);
            numbers.insert(format!("warm_ms_256_contact_{name}{fields}"), warm_ms(&layer, &ball, depth_m, 40)?);
        }
    }
    let mut unit = None;
    for cells in [128, 256, 512, 1024] {
        let layer = gel(cells, false)?;
        let runs = (3_000_000 / (cells * cells)).clamp(2, 40);
        let cold = cold_ms(&layer, &ball, quarter, runs)?;
        let n = cells as f64;
        let per = cold / (n * n * n.log2());
        let unit = *unit.get_or_insert(per);
        numbers.insert(format!("cold_ms_{cells:04}_contact_quarter"), cold);
        numbers.insert(format!("cold_over_n2_log_n_{cells:04}_by_0128_ratio"), per / unit);
    }
    Some(())
}

pub(super) fn run() -> BTreeMap<String, f64> {
    let mut numbers = BTreeMap::new();
    // A failed measurement leaves its numbers out.
    let _ = measure(&mut numbers);
    numbers
}
