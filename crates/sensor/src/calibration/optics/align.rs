//! Estimates the position of a round object from its image, because labels made by hand are inaccurate.

use super::{BallPress, Dent, Label, fit_calibrated};
use crate::calibration::FitError;
use crate::optics::{BackgroundSpec, Camera, FloatImage};

/// Maximum number of iterations of light fit and depth selection.
const ROUNDS: usize = 6;
/// Stride of the evaluated pixels, down and across.
const STRIDE: usize = 3;

/// Moves each press to its position in the image and selects the depth that fits its image best. Replaces the relief
/// and the centre of the label; keeps the radius. The light used to select depths is fitted to the presses with indices
/// `fitted`, alternating with the selection.
///
/// The images do not determine the overall steepness of the dents: a brighter light on flatter dents looks the same.
/// The given depths fix it; the selection starts in the middle of them.
pub fn align(
    background: &FloatImage,
    presses: &mut [BallPress],
    camera: &Camera,
    dents: &[Dent],
    fitted: &[usize],
) -> Result<Vec<f64>, FitError> {
    if dents.is_empty() {
        return Err(FitError::TooFew { what: "the depth of a press", got: 0, needed: 1 });
    }
    for press in &mut *presses {
        let [column, row] = middle(background, &press.image, press.label);
        press.label = Label { column, row, ..press.label };
    }
    let mut chosen = vec![dents.len() / 2; presses.len()];
    let place = |press: &BallPress, dent: usize| dents[dent].relief(camera, [press.label.column, press.label.row]);
    for _ in 0..ROUNDS {
        for (press, &dent) in presses.iter_mut().zip(&chosen) {
            press.relief = place(press, dent);
        }
        let some: Vec<&BallPress> = fitted.iter().filter_map(|&i| presses.get(i)).collect();
        let fit = fit_calibrated(background, &some, BackgroundSpec::Colour([0.0; 3]), 0)?;
        let Ok(light) = fit.spec.build(background.width, background.height, None) else { break };
        let best = |press: &BallPress| {
            let scores = (0..dents.len()).map(|dent| {
                let relief = place(press, dent);
                (misses(background, press, &light.shade(&relief, None)), dent)
            });
            scores.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, dent)| dent)
        };
        let better: Vec<usize> = presses.iter().map(best).collect();
        if better == chosen {
            break;
        }
        chosen = better;
    }
    for (press, &dent) in presses.iter_mut().zip(&chosen) {
        press.relief = place(press, dent);
    }
    Ok(chosen.into_iter().map(|dent| dents[dent].depth_m).collect())
}

/// Sum of squared residuals of the light of a dent on the background, within two radii of the label.
fn misses(background: &FloatImage, press: &BallPress, added: &FloatImage) -> f64 {
    let near = super::Region { from: 0.0, to: super::AROUND.to };
    let width = background.width;
    let kept = |i: &usize| (i % width).is_multiple_of(STRIDE) && (i / width).is_multiple_of(STRIDE);
    let square = |i: usize| -> f64 {
        let of = |c: usize| press.image.channels[c][i] - background.channels[c][i] - added.channels[c][i];
        (0..3).map(|c| f64::from(of(c)).powi(2)).sum()
    };
    press.pixels(near).filter(kept).map(square).sum()
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
