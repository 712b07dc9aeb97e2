//! Finds the lamps that cast the shadows of each colour.

use super::BallPress;
use super::normal_equations::NormalEquations;
use super::samples::{Sample, horizons};
use crate::optics::{
    Composition, FloatImage, SideLamp, SideLampSpec, coefficients, features, place_in, shadow_coefficients,
};
use dermis_geometry::quantity::{Angle, Length};

/// Trial distances of a lamp, in widths of the image; parallel light is tried, too.
const DISTANCES: [f64; 6] = [0.7, 0.85, 1.0, 1.3, 1.8, 3.0];
/// Trial directions.
const DIRECTIONS: usize = 120;
/// Trial tangents of the elevation of a lamp's lower edge, and of the angle from there to its upper edge.
const LOWER: [f64; 6] = [0.1, 0.15, 0.2, 0.3, 0.45, 0.6];
const WIDTH: [f64; 4] = [0.1, 0.2, 0.4, 0.8];
/// How the lamps of a composition are tried.
struct Trials {
    /// Degree of the light.
    degree: usize,
    /// Largest length of (n_r, n_d) of a sample.
    steepest: f64,
    /// Maximum number of samples.
    samples: usize,
    /// Azimuths (°) from the direction of the slope that brightens the image most.
    azimuths_deg: &'static [f64],
}

/// Shadows that add to the light are tried on nearly flat gel.
const ADDING: Trials = Trials { degree: 1, steepest: 0.35, samples: 4000, azimuths_deg: &[0.0] };
/// Shadows that replace the light bend the direction of the brightest slope towards the other lamps, so that azimuths
/// beside it are tried, on all of the gel.
const REPLACING: Trials = Trials {
    degree: 2,
    steepest: 1.0,
    samples: 2000,
    azimuths_deg: &[0.0, -40.0, -30.0, -20.0, -10.0, 10.0, 20.0, 30.0, 40.0],
};
const RIDGE: f64 = 1e-4;

/// The lamps of red, green and blue. The direction of each is that of the slope which brightens the image most, at
/// several positions, or one beside it; its elevation is the one whose shadows leave the smallest residual, among those
/// whose full shadow the presses show.
pub(super) fn side_lamps(
    background: &FloatImage,
    presses: &[&BallPress],
    samples: &[Vec<Sample>],
    max_position_degree: usize,
    replaces: bool,
) -> [SideLampSpec; 3] {
    let position_degree = max_position_degree.min(1);
    let pixel_m = presses.first().map_or(1.0, |press| press.relief.pixel_m);
    let width_m = background.width as f64 * pixel_m;
    let place = |pixel: [f64; 2]| place_in(background.width, background.height, pixel);
    let towards = [0, 1, 2].map(|c| {
        let slopes = brightest(samples, c, position_degree, &place);
        let at: Vec<([f64; 2], [f64; 2])> = presses
            .iter()
            .map(|press| {
                let row = features([1.0, 0.0], place([press.label.column, press.label.row]), 1, position_degree, 0.0);
                let places = &row[..slopes.len() / 2];
                let part = |half: &[f64]| half.iter().zip(places).map(|(a, b)| a * b).sum::<f64>();
                let (right, down) = slopes.split_at(slopes.len() / 2);
                let from = [
                    (press.label.column - 0.5 * (background.width as f64 - 1.0)) * pixel_m,
                    (press.label.row - 0.5 * (background.height as f64 - 1.0)) * pixel_m,
                ];
                (from, [part(right), part(down)])
            })
            .collect();
        direction(&at, if position_degree > 0 { &DISTANCES } else { &[] }, width_m)
    });
    let trials = if replaces { REPLACING } else { ADDING };
    let mut best = [0, 1, 2].map(|c| (f64::INFINITY, spec(&towards[c], [LOWER[0], 1.0])));
    for azimuth_deg in trials.azimuths_deg {
        let turned = towards.map(|lamp| rotated(&lamp, *azimuth_deg));
        let probes = turned.map(|lamp| SideLamp { lower: LOWER[0] as f32, ..lamp });
        let seen: Vec<Vec<[f32; 3]>> =
            presses.iter().zip(samples).map(|(press, samples)| horizons(press, samples, &probes)).collect();
        for c in 0..3 {
            let pairs = || samples.iter().flatten().zip(seen.iter().flatten().map(move |tangents| tangents[c]));
            let composition = Composition { proportional: false, replaces };
            let found = elevation(background, c, &turned[c], pairs, &trials, composition, position_degree);
            if found.0 < best[c].0 {
                best[c] = found;
            }
        }
    }
    best.map(|(_, lamp)| lamp)
}

/// The residual and the lamp of the best elevation in a direction, for samples with their horizon towards it.
fn elevation<'a, I: Iterator<Item = (&'a Sample, f32)>>(
    background: &FloatImage,
    c: usize,
    towards: &SideLamp,
    pairs: impl Fn() -> I,
    trials: &Trials,
    composition: Composition,
    position_degree: usize,
) -> (f64, SideLampSpec) {
    let mut tangents: Vec<f32> = pairs().map(|(_, tangent)| tangent).collect();
    tangents.sort_unstable_by(f32::total_cmp);
    let steepest = f64::from(tangents.get(tangents.len() * 99 / 100).copied().unwrap_or(0.0));
    let is_tried = |(sample, _): &(&Sample, f32)| sample.seen[0].hypot(sample.seen[1]) < trials.steepest;
    let stride = pairs().filter(is_tried).count().div_ceil(trials.samples).max(1);
    // Rows for a lamp that is hidden completely, and where their shadow begins.
    let lit = coefficients(trials.degree, position_degree);
    let rows: Vec<(Vec<f64>, f32, f64, f64, f32)> = pairs()
        .filter(is_tried)
        .step_by(stride)
        .map(|(sample, tangent)| {
            let at = place_in(background.width, background.height, sample.pixel.map(|at| at as f64));
            let row = features(sample.seen, at, trials.degree, position_degree, 1.0);
            let level = background.channels[c][sample.pixel[1] * background.width + sample.pixel[0]];
            (row, level, sample.added[c], sample.weight, tangent)
        })
        .collect();
    let edges = LOWER.into_iter().flat_map(|lower| WIDTH.map(|width| [lower, lower + width]));
    let tried = edges.enumerate().filter(|(i, edges)| *i == 0 || edges[1] <= steepest);
    let scored = tried.map(|(_, edges)| {
        let lamp = spec(towards, edges);
        let Ok(built) = lamp.build() else { return (f64::INFINITY, lamp) };
        let mut all = NormalEquations::new(lit + shadow_coefficients());
        for (row, level, added, weight, tangent) in &rows {
            let [of_lit, of_dark] = composition.factors(*level, built.hidden(*tangent)).map(f64::from);
            let mut row = row.clone();
            row[..lit].iter_mut().for_each(|entry| *entry *= of_lit);
            row[lit..].iter_mut().for_each(|entry| *entry *= of_dark);
            all.add(&row, *added, *weight);
        }
        (all.left_over(&all.solve(RIDGE)), lamp)
    });
    scored.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, spec(towards, [LOWER[0], 1.0])))
}

/// A lamp at the same distance, in a direction rotated counter-clockwise in the image.
fn rotated(lamp: &SideLamp, angle_deg: f64) -> SideLamp {
    let (sin, cos) = angle_deg.to_radians().sin_cos();
    let [x, y] = lamp.direction.map(f64::from);
    // The second component points down.
    SideLamp { direction: [(cos * x + sin * y) as f32, (cos * y - sin * x) as f32], ..*lamp }
}

fn spec(lamp: &SideLamp, edges: [f64; 2]) -> SideLampSpec {
    let azimuth = f64::from(-lamp.direction[1]).atan2(f64::from(lamp.direction[0]));
    SideLampSpec {
        azimuth: Angle::new(azimuth.rem_euclid(std::f64::consts::TAU)),
        distance: (lamp.per_distance > 0.0).then(|| Length::new(1.0 / f64::from(lamp.per_distance))),
        elevation: edges.map(|tangent| Angle::new(tangent.atan())),
    }
}

/// Change of a colour with the slope to the right and down, as polynomials of the position.
fn brightest(
    samples: &[Vec<Sample>],
    c: usize,
    position_degree: usize,
    place: &impl Fn([f64; 2]) -> [f64; 2],
) -> Vec<f64> {
    let size = (position_degree + 1) * (position_degree + 2);
    let mut all = NormalEquations::new(size);
    for sample in samples.iter().flatten() {
        let row = features(sample.seen, place(sample.pixel.map(|at| at as f64)), 1, position_degree, 0.0);
        all.add(&row[..size], sample.added[c], sample.weight);
    }
    all.solve(1e-3)
}

/// The lamp whose directions, seen from several points (m, from the image centre), are closest to given ones.
fn direction(at: &[([f64; 2], [f64; 2])], distances: &[f64], width_m: f64) -> SideLamp {
    let inverse = std::iter::once(0.0).chain(distances.iter().map(|distance| 1.0 / (distance * width_m)));
    let turn = |i: usize| std::f64::consts::TAU * i as f64 / DIRECTIONS as f64;
    let lamps = inverse.flat_map(|per_distance| {
        (0..DIRECTIONS).map(move |i| SideLamp {
            direction: [turn(i).cos() as f32, -turn(i).sin() as f32],
            per_distance: per_distance as f32,
            lower: 0.0,
            per_width: 1.0,
        })
    });
    let miss = |lamp: &SideLamp| -> f64 {
        let one = |(from, slope): &([f64; 2], [f64; 2])| {
            let towards = lamp.seen_from(from.map(|part| part as f32)).direction;
            let along = slope[0] * f64::from(towards[0]) + slope[1] * f64::from(towards[1]);
            (slope[0].hypot(slope[1]) - along).powi(2)
        };
        at.iter().map(one).sum()
    };
    let scored = lamps.map(|lamp| (miss(&lamp), lamp));
    let none = SideLamp { direction: [1.0, 0.0], per_distance: 0.0, lower: 0.0, per_width: 1.0 };
    scored.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(none, |(_, lamp)| lamp)
}
