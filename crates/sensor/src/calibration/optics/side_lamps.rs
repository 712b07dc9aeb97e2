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
/// Smallest tangent of the elevation of a lamp's lower edge.
const MIN_LOWER: f64 = 0.02;
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
/// Such lamps are refined with a light of a higher degree.
const REFINED: Trials = Trials { degree: 3, samples: 4000, ..REPLACING };
const RIDGE: f64 = 1e-4;

/// The lamps of red, green and blue. The direction of each is that of the slope which brightens the image most, at
/// several positions, or one beside it; its elevation is the one whose shadows leave the smallest residual, among those
/// whose full shadow the presses show. Lamps whose light is replaced are refined from there.
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
    let composition = Composition { proportional: false, replaces };
    let tangents = |towards: &SideLamp| -> Tangents {
        let probe = [SideLamp { lower: MIN_LOWER as f32, ..*towards }];
        let seen = |(press, samples): (&&BallPress, &Vec<Sample>)| horizons(press, samples, &probe).concat();
        presses.iter().zip(samples).map(seen).collect()
    };
    [0, 1, 2].map(|c| {
        let equations = Equations::new(background, c, samples, &trials, composition, position_degree);
        let turned = trials.azimuths_deg.iter().map(|azimuth_deg| rotated(&towards[c], *azimuth_deg));
        let found = turned.map(|towards| elevation(&equations, &towards, &tangents(&towards)));
        let first = Aim { towards: towards[c], edges: [LOWER[0], 1.0] };
        let best = found.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(first, |(_, aim)| aim);
        if !replaces {
            return best.spec();
        }
        let equations = Equations::new(background, c, samples, &REFINED, composition, position_degree);
        refined(&equations, best, [width_m, background.height as f64 * pixel_m], tangents).spec()
    })
}

/// Horizons towards a lamp: for each press those of its samples.
type Tangents = Vec<Vec<f32>>;

/// A lamp and the tangents of the elevations of its lower and upper edge.
#[derive(Clone, Copy)]
struct Aim {
    towards: SideLamp,
    edges: [f64; 2],
}

impl Aim {
    fn spec(&self) -> SideLampSpec {
        let azimuth = f64::from(-self.towards.direction[1]).atan2(f64::from(self.towards.direction[0]));
        SideLampSpec {
            azimuth: Angle::new(azimuth.rem_euclid(std::f64::consts::TAU)),
            distance: (self.towards.per_distance > 0.0)
                .then(|| Length::new(1.0 / f64::from(self.towards.per_distance))),
            elevation: self.edges.map(|tangent| Angle::new(tangent.atan())),
        }
    }
}

/// The equations of the light of one colour, for a lamp that is hidden completely.
struct Equations {
    composition: Composition,
    /// Number of coefficients of the light; the others are those of the shadow.
    lit: usize,
    rows: Vec<Row>,
}

/// The equation of a sample: features, level of the image without contact, change and weight, and the numbers of its
/// press and sample.
struct Row {
    features: Vec<f64>,
    level: f32,
    added: f64,
    weight: f64,
    at: [usize; 2],
}

impl Equations {
    fn new(
        background: &FloatImage,
        c: usize,
        samples: &[Vec<Sample>],
        trials: &Trials,
        composition: Composition,
        position_degree: usize,
    ) -> Self {
        let all =
            || samples.iter().enumerate().flat_map(|(i, own)| own.iter().enumerate().map(move |(j, s)| ([i, j], s)));
        let is_tried = |(_, sample): &([usize; 2], &Sample)| sample.seen[0].hypot(sample.seen[1]) < trials.steepest;
        let stride = all().filter(is_tried).count().div_ceil(trials.samples).max(1);
        let row = |(at, sample): ([usize; 2], &Sample)| {
            let place = place_in(background.width, background.height, sample.pixel.map(|at| at as f64));
            Row {
                features: features(sample.seen, place, trials.degree, position_degree, 1.0),
                level: background.channels[c][sample.pixel[1] * background.width + sample.pixel[0]],
                added: sample.added[c],
                weight: sample.weight,
                at,
            }
        };
        let rows = all().filter(is_tried).step_by(stride).map(row).collect();
        Self { composition, lit: coefficients(trials.degree, position_degree), rows }
    }

    /// Mean square residual of the best light with a lamp, for given horizons of all samples towards it.
    fn residual(&self, lamp: &SideLamp, seen: &Tangents) -> f64 {
        let mut all = NormalEquations::new(self.lit + shadow_coefficients());
        for Row { features, level, added, weight, at: [press, sample] } in &self.rows {
            let hidden = lamp.hidden(seen[*press][*sample]);
            let [of_lit, of_dark] = self.composition.factors(*level, hidden).map(f64::from);
            let mut row = features.clone();
            row[..self.lit].iter_mut().for_each(|entry| *entry *= of_lit);
            row[self.lit..].iter_mut().for_each(|entry| *entry *= of_dark);
            all.add(&row, *added, *weight);
        }
        all.left_over(&all.solve(|_| RIDGE))
    }
}

/// The residual and the lamp of the best elevation in a direction, for horizons of all samples towards it.
fn elevation(equations: &Equations, towards: &SideLamp, seen: &Tangents) -> (f64, Aim) {
    let mut tangents = seen.concat();
    tangents.sort_unstable_by(f32::total_cmp);
    let steepest = f64::from(tangents.get(tangents.len() * 99 / 100).copied().unwrap_or(0.0));
    let edges = LOWER.into_iter().flat_map(|lower| WIDTH.map(|width| [lower, lower + width]));
    let tried = edges.enumerate().filter(|(i, edges)| *i == 0 || edges[1] <= steepest);
    let scored = tried.map(|(_, edges)| {
        let aim = Aim { towards: *towards, edges };
        let residual = aim.spec().build().map_or(f64::INFINITY, |lamp| equations.residual(&lamp, seen));
        (residual, aim)
    });
    let first = Aim { towards: *towards, edges: [LOWER[0], 1.0] };
    scored.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, first))
}

/// Improves a lamp by steps in azimuth, distance and the elevations of its edges, each as long as the residual falls. The
/// lamp stays beside an image of the given width and height (m).
fn refined(equations: &Equations, start: Aim, size_m: [f64; 2], tangents: impl Fn(&SideLamp) -> Tangents) -> Aim {
    /// First steps: azimuth (°), logarithm of the distance, tangents of the lower edge and of the lamp's width.
    const STEPS: [f64; 4] = [8.0, 0.34, 0.05, 0.1];
    const ROUNDS: i32 = 3;
    /// Largest distance, in widths of the image, and smallest tangent of the width of a lamp.
    const MAX_DISTANCE: f64 = 6.0;
    const MIN_WIDTH: f64 = 0.05;
    /// Part of the residual below which an improvement is noise.
    const MIN_GAIN: f64 = 1e-3;
    let stepped = |aim: &Aim, key: usize, step: f64| -> Option<Aim> {
        let mut to = *aim;
        let [lower, width] = [aim.edges[0], aim.edges[1] - aim.edges[0]];
        match key {
            0 => to.towards = rotated(&aim.towards, step),
            1 => {
                let distance_m = step.exp() / f64::from(aim.towards.per_distance);
                to.towards.per_distance = (1.0 / distance_m.min(MAX_DISTANCE * size_m[0])) as f32;
                if to.towards.per_distance == aim.towards.per_distance {
                    return None;
                }
            }
            2 => to.edges = [lower + step, lower + step + width],
            _ => to.edges = [lower, lower + width + step],
        }
        let is_beside = (0..2)
            .any(|k| f64::from(to.towards.direction[k].abs()) >= 0.5 * size_m[k] * f64::from(to.towards.per_distance));
        (is_beside && to.edges[0] >= MIN_LOWER && to.edges[1] - to.edges[0] >= MIN_WIDTH).then_some(to)
    };
    let residual =
        |aim: &Aim, seen: &Tangents| aim.spec().build().map_or(f64::INFINITY, |lamp| equations.residual(&lamp, seen));
    let mut seen = tangents(&start.towards);
    let mut best = (residual(&start, &seen), start);
    for step in (0..ROUNDS).map(|round| 0.5f64.powi(round)) {
        for (key, size) in STEPS.iter().enumerate() {
            for sign in [1.0, -1.0] {
                while let Some(next) = stepped(&best.1, key, sign * step * size) {
                    // Other elevations have the same horizons.
                    let moved = (key < 2).then(|| tangents(&next.towards));
                    let found = residual(&next, moved.as_ref().unwrap_or(&seen));
                    if found >= (1.0 - MIN_GAIN) * best.0 {
                        break;
                    }
                    best = (found, next);
                    seen = moved.unwrap_or(seen);
                }
            }
        }
    }
    best.1
}

/// A lamp at the same distance, in a direction rotated counter-clockwise in the image.
fn rotated(lamp: &SideLamp, angle_deg: f64) -> SideLamp {
    let (sin, cos) = angle_deg.to_radians().sin_cos();
    let [x, y] = lamp.direction.map(f64::from);
    // The second component points down.
    SideLamp { direction: [(cos * x + sin * y) as f32, (cos * y - sin * x) as f32], ..*lamp }
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
    all.solve(|_| 1e-3)
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
