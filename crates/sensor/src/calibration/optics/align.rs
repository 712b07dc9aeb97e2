//! Estimates the position of a round object from its image, because labels made by hand are inaccurate.

use super::ball::depth_at;
use super::samples::weight;
use super::{BallPress, Dent, Label, fit_calibrated};
use crate::calibration::{FitError, least_squares};
use crate::optics::{
    BackgroundSpec, CalibratedSpec, Camera, FloatImage, Horizon, ImageCoordinates, SideLamp, features,
};

/// Iterations of light fit and search for the balls: for each start, then from the best start.
const FIRST_ROUNDS: usize = 2;
const ROUNDS: usize = 3;
/// Iterations of the search for one ball.
const STEPS: usize = 3;
/// Constant depths to start from, as fractions of the deepest; the depths of the labels are tried, too.
const STARTS: [f64; 1] = [0.5];

/// Where a ball is: column, row and depth (mm).
type Pose = [f64; 3];

/// Moves each press to its position in the image and finds the depth that fits its image best. Replaces the relief and
/// the centre of the label; keeps the radius. The light used to find the balls is fitted to the presses with indices
/// `fitted`, alternating with the search. The shape of the ball within the contact determines the steepness. Returns the
/// depths (m).
pub fn align(
    background: &FloatImage,
    presses: &mut [BallPress],
    camera: &Camera,
    dents: &[Dent],
    fitted: &[usize],
) -> Result<Vec<f64>, FitError> {
    let Some(deepest) = dents.last() else {
        return Err(FitError::TooFew { what: "the depth of a press", got: 0, needed: 1 });
    };
    let deepest_mm = 1e3 * deepest.depth_m;
    let windows: Vec<Window> = presses.iter().map(|press| Window::of(press, background)).collect();
    let middles: Vec<[f64; 2]> = presses.iter().map(|press| middle(background, &press.image, press.label)).collect();
    let with_depth = |depth_mm: &dyn Fn(&BallPress) -> f64| -> Vec<Pose> {
        presses.iter().zip(&middles).map(|(press, middle)| [middle[0], middle[1], depth_mm(press)]).collect()
    };
    let mut starts = vec![with_depth(&|press| 1e3 * depth_at(dents, press.label.radius))];
    starts.extend(STARTS.map(|part| with_depth(&|_| part * deepest_mm)));
    let mut search = Search { background, camera, dents, windows, fitted, presses: presses.to_vec() };
    let mut best: Option<(f64, Vec<Pose>)> = None;
    for mut poses in starts {
        let mut left = f64::INFINITY;
        for _ in 0..FIRST_ROUNDS {
            left = search.round(&mut poses, 1)?;
        }
        if best.as_ref().is_none_or(|(least, _)| left < *least) {
            best = Some((left, poses));
        }
    }
    let mut poses = best.map_or_else(Vec::new, |(_, poses)| poses);
    for _ in 0..ROUNDS {
        search.round(&mut poses, super::MAX_PLACE_DEGREE)?;
    }
    search.place(&poses);
    presses.clone_from_slice(&search.presses);
    Ok(poses.into_iter().map(|[_, _, depth_mm]| 1e-3 * depth_mm).collect())
}

struct Search<'a> {
    background: &'a FloatImage,
    camera: &'a Camera,
    dents: &'a [Dent],
    windows: Vec<Window>,
    fitted: &'a [usize],
    presses: Vec<BallPress>,
}

impl Search<'_> {
    /// Gives each press the relief and the label of its pose.
    fn place(&mut self, poses: &[Pose]) {
        for (press, &[column, row, depth_mm]) in self.presses.iter_mut().zip(poses) {
            press.relief = Dent::at_depth(self.dents, 1e-3 * depth_mm).relief(self.camera, [column, row]);
            press.label = Label { column, row, ..press.label };
        }
    }

    /// Fits the light, then searches for all balls. Returns the mean squared residual of the fitted presses.
    fn round(&mut self, poses: &mut [Pose], max_position_degree: usize) -> Result<f64, FitError> {
        self.place(poses);
        let some: Vec<&BallPress> = self.fitted.iter().filter_map(|&i| self.presses.get(i)).collect();
        let degree = if spread(&some) { max_position_degree } else { 0 };
        let light = fit_calibrated(self.background, &some, BackgroundSpec::Colour([0.0; 3]), degree)?.spec;
        let Some(shown) = Shown::new(&light, self.background) else { return Ok(f64::INFINITY) };
        let lefts: Vec<f64> =
            poses.iter_mut().zip(&self.windows).map(|(pose, at)| self.find(&shown, at, pose)).collect();
        Ok(self.fitted.iter().filter_map(|&i| lefts.get(i)).sum())
    }

    /// Minimises the squared residual in a window by Gauss–Newton steps. Returns it, by the weight of the window.
    fn find(&self, shown: &Shown<'_>, window: &Window, pose: &mut Pose) -> f64 {
        const DIFFERENCE: Pose = [1.0, 1.0, 0.03];
        const LARGEST: Pose = [8.0, 8.0, 0.2];
        let deepest_mm = self.dents.last().map_or(0.0, |dent| 1e3 * dent.depth_m);
        let off = |pose: &Pose| window.residuals(shown, self.dents, self.camera.pixel_m, pose);
        let square = |off: &[f64]| off.iter().map(|off| off * off).sum::<f64>();
        let mut here = off(pose);
        for _ in 0..STEPS {
            let columns = [0, 1, 2].map(|k| {
                let mut moved = *pose;
                moved[k] += DIFFERENCE[k];
                off(&moved)
            });
            let rows: Vec<Vec<f64>> = (0..here.len())
                .map(|i| [0, 1, 2].map(|k| (columns[k][i] - here[i]) / DIFFERENCE[k]).to_vec())
                .collect();
            let targets: Vec<f64> = here.iter().map(|off| -off).collect();
            let Some(step) = least_squares::solve(&rows, &targets) else { break };
            let far = (0..3).map(|k| step.coefficients[k].abs() / LARGEST[k]).fold(1.0, f64::max);
            let mut next = *pose;
            (0..3).for_each(|k| next[k] += step.coefficients[k] / far);
            next[2] = next[2].clamp(0.02 * deepest_mm, deepest_mm);
            let there = off(&next);
            if square(&there) >= square(&here) {
                break;
            }
            (*pose, here) = (next, there);
        }
        square(&here)
    }
}

/// True if the presses lie farther apart than one contact radius.
fn spread(presses: &[&BallPress]) -> bool {
    let span = |of: fn(&Label) -> f64| {
        let at = || presses.iter().map(|press| of(&press.label));
        at().fold(f64::NEG_INFINITY, f64::max) - at().fold(f64::INFINITY, f64::min)
    };
    let widest = presses.iter().map(|press| press.label.radius).fold(0.0, f64::max);
    span(|label| label.column).max(span(|label| label.row)) > widest
}

/// A light on single pixels.
struct Shown<'a> {
    light: &'a CalibratedSpec,
    lamps: [SideLamp; 3],
    frame: ImageCoordinates,
    middle: [f64; 2],
}

impl<'a> Shown<'a> {
    fn new(light: &'a CalibratedSpec, image: &FloatImage) -> Option<Self> {
        let [red, green, blue] = light.shadow.as_ref()?.lamps.map(|lamp| lamp.build().ok());
        Some(Self {
            light,
            lamps: [red?, green?, blue?],
            frame: ImageCoordinates::new(image.width, image.height, light.area),
            middle: [0.5 * (image.width as f64 - 1.0), 0.5 * (image.height as f64 - 1.0)],
        })
    }
}

/// Pixels around a label, at a distance of several pixels.
struct Window {
    first: [usize; 2],
    size: [usize; 2],
    stride: usize,
    /// Index in the window, background, difference from it, and root of the weight.
    pixels: Vec<(usize, [f32; 3], [f64; 3], f64)>,
}

impl Window {
    /// Radii of the label to each side, and pixels across.
    const REACH: f64 = 2.2;
    const ACROSS: f64 = 44.0;

    fn of(press: &BallPress, background: &FloatImage) -> Self {
        let Label { column, row, radius } = press.label;
        let stride = (2.0 * Self::REACH * radius / Self::ACROSS).round().max(1.0) as usize;
        let span = |at: f64, count: usize| {
            let first = (at - Self::REACH * radius).max(0.0) as usize;
            let last = ((at + Self::REACH * radius).max(0.0) as usize).min(count - 1);
            (first, (last.saturating_sub(first) / stride + 1).max(2))
        };
        let (left, width) = span(column, background.width - stride);
        let (top, height) = span(row, background.height - stride);
        let pixel = |i: usize| {
            let (x, y) = (left + i % width * stride, top + i / width * stride);
            let at = y * background.width + x;
            let distance = (x as f64 - column).hypot(y as f64 - row) / radius;
            let added = [0, 1, 2].map(|c| f64::from(press.image.channels[c][at] - background.channels[c][at]));
            let levels = [0, 1, 2].map(|c| background.channels[c][at]);
            (distance < Self::REACH).then(|| (i, levels, added, weight(distance).sqrt() / radius))
        };
        Self {
            first: [left, top],
            size: [width, height],
            stride,
            pixels: (0..width * height).filter_map(pixel).collect(),
        }
    }

    /// Weighted difference between the light on a ball at a pose and the image, for each pixel and colour.
    fn residuals(&self, shown: &Shown<'_>, dents: &[Dent], pixel_m: f64, &[column, row, depth_mm]: &Pose) -> Vec<f64> {
        let dent = Dent::at_depth(dents, 1e-3 * depth_mm);
        let relief = dent.relief_in(self.first, self.size, self.stride, pixel_m, [column, row]);
        let center = [0, 1].map(|k| {
            let middle = self.first[k] as f64 + 0.5 * ((self.size[k] - 1) * self.stride) as f64;
            ((middle - shown.middle[k]) * pixel_m) as f32
        });
        let lamps = shown.lamps.map(|lamp| lamp.seen_from(center));
        let horizons = Horizon::of(&relief, &lamps);
        let CalibratedSpec { degree, position_degree, levels, shadow, .. } = shown.light;
        let composition = shown.light.composition();
        let steepest = shown.light.steepest.unwrap_or(1.0);
        let mut off = Vec::with_capacity(3 * self.pixels.len());
        for &(i, background, added, weight) in &self.pixels {
            let (x, y) = (i % self.size[0], i / self.size[0]);
            let (right, down) = (f64::from(relief.slope_right[i]), f64::from(relief.slope_down[i]));
            let scale = (1.0 + right * right + down * down).sqrt().max(right.hypot(down) / steepest);
            let [u, v] = [x, y].map(|at| (at * self.stride) as f64);
            let place = shown.frame.at(self.first[0] as f64 + u, self.first[1] as f64 + v);
            let row = features([right / scale, down / scale], place, *degree, *position_degree, 1.0);
            for c in 0..3 {
                let mut tangent = [0.0];
                horizons[c].row(y, x, &mut tangent);
                let hidden = lamps[c].hidden(tangent[0]);
                let [of_lit, of_dark] = composition.factors(background[c], hidden).map(f64::from);
                let dot = |row: &[f64], levels: &[f64]| row.iter().zip(levels).map(|(a, b)| a * b).sum::<f64>();
                let (lit, dark) = row.split_at(levels[c].len());
                let shadowed = shadow.as_ref().map_or(0.0, |shadow| dot(dark, &shadow.levels[c]));
                off.push(weight * (of_lit * dot(lit, &levels[c]) + of_dark * shadowed - added[c]));
            }
        }
        off
    }
}

/// Centre of a dent within one radius of its label. The difference from the background is nearly odd about the centre,
/// because a lamp that brightens one flank darkens the other. Differences at opposite points therefore have
/// opposite signs; the centre minimises the sum of their products.
fn middle(background: &FloatImage, image: &FloatImage, label: Label) -> [f64; 2] {
    let (width, height) = (background.width as isize, background.height as isize);
    let inside = |x: isize, y: isize| (0..width).contains(&x) && (0..height).contains(&y);
    let added = |c: usize, x: isize, y: isize| {
        let i = (y * width + x) as usize;
        f64::from(image.channels[c][i] - background.channels[c][i])
    };
    let reach = label.radius.max(2.0) as isize;
    let score = |[column, row]: [isize; 2]| {
        let mut sum = 0.0;
        // Half a disc is enough: each pair is visited once.
        for down in (0..=reach).step_by(2) {
            for right in (-reach..=reach).step_by(2).filter(|right| right * right + down * down <= reach * reach) {
                let (a, b) = ([column + right, row + down], [column - right, row - down]);
                if inside(a[0], a[1]) && inside(b[0], b[1]) {
                    sum += (0..3).map(|c| added(c, a[0], a[1]) * added(c, b[0], b[1])).sum::<f64>();
                }
            }
        }
        sum
    };
    let mut best = [label.column.round() as isize, label.row.round() as isize];
    for (span, step) in [(reach, 4), (4, 1)] {
        let from = best;
        let offsets = || (-span..=span).step_by(step);
        let places = offsets().flat_map(|down| offsets().map(move |right| [from[0] + right, from[1] + down]));
        let scored = places.filter(|at| inside(at[0], at[1])).map(|at| (score(at), at));
        best = scored.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(best, |(_, at)| at);
    }
    best.map(|at| at as f64)
}
