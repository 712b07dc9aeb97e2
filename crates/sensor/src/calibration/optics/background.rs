//! The image without contact at the time of the presses.

use super::calibrated::MIN_PRESSES;
use super::{BallPress, fit_calibrated, position_degree};
use crate::calibration::FitError;
use crate::optics::{BackgroundSpec, FloatImage, LightSpec};
use dermis_skin::Blur;

/// Distance from the centre of a contact (radii) from which a pixel shows the gel without contact.
const UNTOUCHED: f64 = 2.2;
/// The same of the border of a contact.
const BORDER: f64 = 1.1;
/// Weight of a pixel inside a contact, relative to one outside, where the light changes less.
const WEIGHT_INSIDE: f64 = 0.3;
/// Weight of the measured image without contact.
const WEIGHT_MEASURED: f64 = 0.3;
/// Standard deviation of the Gaussian that smooths the drift (parts of the height of the image).
const SMOOTHED: f64 = 0.025;

/// Standard deviation of the Gaussian (pixels) that separates what may be noise of a pixel from the rest of the image.
const FINE_PX: f64 = 3.0;

/// Standard deviations of the noise from which a detail is no noise.
const SPECK: f64 = 4.0;

/// The image without contact at the time of the presses: [`quiet_background`], then [`drifted_background`].
pub fn background_of_presses(measured: &FloatImage, presses: &[&BallPress]) -> Result<FloatImage, FitError> {
    drifted_background(&quiet_background(measured, presses), presses)
}

/// Change at rest (levels) beyond which images do not belong together: lamps and gels drift by less.
const MAX_CHANGE_AT_REST: f64 = 10.0;

/// A doubt about presses that differ from the image without contact where nothing touches, by the median over the presses
/// of the mean change of a colour.
pub fn doubt_at_rest(background: &FloatImage, presses: &[&BallPress]) -> Option<String> {
    let of_press = |press: &&BallPress| -> Option<[f64; 3]> {
        let far: Vec<usize> =
            (0..background.width * background.height).filter(|&i| distance(press, i) > UNTOUCHED).collect();
        let mean = |c: usize| {
            let changes = far.iter().map(|&i| f64::from(press.image.channels[c][i] - background.channels[c][i]));
            changes.sum::<f64>() / far.len() as f64
        };
        (!far.is_empty()).then(|| [0, 1, 2].map(mean))
    };
    let means: Vec<[f64; 3]> = presses.iter().filter_map(of_press).collect();
    let median = |c: usize| {
        let mut values: Vec<f64> = means.iter().map(|mean| mean[c]).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(0.0)
    };
    let change = [0, 1, 2].map(median);
    change.iter().any(|change| change.abs() > MAX_CHANGE_AT_REST).then(|| {
        let [red, green, blue] = change.map(|change| format!("{change:+.0}"));
        format!(
            "where nothing touches, the presses differ by {red}, {green} and {blue} levels (red, green, blue) from the image without contact: is it of another exposure, or are its colours in another order?"
        )
    })
}

/// An image without contact with what changed until the presses were taken, since lamps and gels drift: the mean difference
/// between the presses and a light fitted to them, smoothed.
pub fn drifted_background(background: &FloatImage, presses: &[&BallPress]) -> Result<FloatImage, FitError> {
    let mut image = background.clone();
    if presses.len() < MIN_PRESSES {
        return Ok(image);
    }
    let black = BackgroundSpec::Colour([0.0; 3]);
    let spec = LightSpec::Calibrated(fit_calibrated(&image, presses, black, position_degree(presses))?.spec);
    let light = spec.build(image.width, image.height, presses[0].relief.pixel_m, None);
    let Ok(light) = light else { return Ok(image) };
    let light = light.on_background(image.clone());
    let mut weights = vec![WEIGHT_MEASURED; image.width * image.height];
    let mut sums = [0, 1, 2].map(|_| vec![0.0; weights.len()]);
    for press in presses {
        let shown = light.shade(&press.relief, || None);
        for i in 0..weights.len() {
            let weight = if distance(press, i) > BORDER { 1.0 } else { WEIGHT_INSIDE };
            weights[i] += weight;
            for (c, sum) in sums.iter_mut().enumerate() {
                sum[i] += weight * f64::from(press.image.channels[c][i] - shown.channels[c][i]);
            }
        }
    }
    let blur = Blur::new(SMOOTHED * image.height as f64);
    let weights = blur.apply(&weights, image.width);
    for (channel, sum) in image.channels.iter_mut().zip(&sums) {
        let drift = blur.apply(sum, background.width);
        channel.iter_mut().zip(drift.iter().zip(&weights)).for_each(|(level, (sum, weight))| {
            *level = (*level + (sum / weight) as f32).clamp(0.0, 255.0);
        });
    }
    Ok(image)
}

/// Distance of a pixel from the centre of a contact (radii).
fn distance(press: &BallPress, pixel: usize) -> f64 {
    let (column, row) = ((pixel % press.image.width) as f64, (pixel / press.image.width) as f64);
    (column - press.label.column).hypot(row - press.label.row) / press.label.radius
}

/// The image without contact of which the measured one, and the parts of the presses that are far from their contact, are
/// noisy images. The noise of one image would otherwise be part of every rendered one. What is finer than 3 pixels is
/// their mean d times S/(S + N/n) (Wiener's filter): n is the number of images of a pixel, N the variance of one image
/// about d, S that of d without its noise. Specks that noise does not explain are kept.
pub fn quiet_background(measured: &FloatImage, presses: &[&BallPress]) -> FloatImage {
    let (width, pixels) = (measured.width, measured.width * measured.height);
    let untouched = |press: &&BallPress| (0..pixels).map(|i| distance(press, i) > UNTOUCHED).collect();
    let seen: Vec<Vec<bool>> = presses.iter().map(untouched).chain([vec![true; pixels]]).collect();
    let counts: Vec<f64> = (0..pixels).map(|i| seen.iter().filter(|seen| seen[i]).count() as f64).collect();
    let blur = Blur::new(FINE_PX);
    let borders = blur.apply(&vec![1.0; pixels], width);
    let mut image = measured.clone();
    for (c, channel) in image.channels.iter_mut().enumerate() {
        let (mut levels, mut fine, mut squares) = (vec![0.0; pixels], vec![0.0; pixels], vec![0.0; pixels]);
        let images = presses.iter().map(|press| &press.image).chain([measured]);
        for (own, seen) in images.zip(&seen) {
            let own: Vec<f64> = own.channels[c].iter().map(|&level| level.into()).collect();
            let smooth = blur.apply(&own, width);
            for i in (0..pixels).filter(|&i| seen[i]) {
                let detail = own[i] - smooth[i] / borders[i];
                levels[i] += own[i] / counts[i];
                fine[i] += detail / counts[i];
                squares[i] += detail.powi(2) / counts[i];
            }
        }
        let often: Vec<usize> = (0..pixels).filter(|&i| counts[i] > 1.0).collect();
        let mean = |of: &dyn Fn(usize) -> f64| often.iter().map(|&i| of(i)).sum::<f64>() / often.len().max(1) as f64;
        let noise = mean(&|i| (squares[i] - fine[i].powi(2)) * counts[i] / (counts[i] - 1.0));
        let signal = mean(&|i| fine[i].powi(2) - noise / counts[i]).max(0.0);
        for (i, level) in channel.iter_mut().enumerate() {
            let of_noise = noise / counts[i];
            let is_noise = fine[i].powi(2) < SPECK * SPECK * of_noise;
            let kept = if is_noise { signal / (signal + of_noise) } else { 1.0 };
            *level = (levels[i] - (1.0 - kept) * fine[i]) as f32;
        }
    }
    image
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::optics::Label;
    use crate::optics::Relief;
    use dermis_geometry::Random;

    /// An image without contact and nine presses, with noise of 3 levels, of a gel with dust of some levels: where only the
    /// first shows the gel, nearly all of the noise is removed if there is no dust, and nothing is made worse if there is.
    #[test]
    fn noise_is_removed_and_dust_is_kept() {
        let (width, height, sigma) = (96, 64, 3.0);
        let mut random = Random::new(1);
        for (dust, most) in [(0.0, 0.35), (3.0, 0.85), (20.0, 1.01)] {
            let mut truth = FloatImage::new(width, height, [0.0; 3]);
            for channel in &mut truth.channels {
                for (i, level) in channel.iter_mut().enumerate() {
                    *level = (100.0 + 0.2 * (i % width) as f64 + dust * random.normal()) as f32;
                }
            }
            let mut noisy = || {
                let mut image = truth.clone();
                for level in image.channels.iter_mut().flatten() {
                    *level += (sigma * random.normal()) as f32;
                }
                image
            };
            let zero = vec![0.0; width * height];
            let [z_m, slope_right, slope_down] = [0; 3].map(|_| zero.clone());
            let relief = Relief { width, height, pixel_m: 1e-4, z_m, slope_right, slope_down, seen: None };
            let label = Label { column: 48.0, row: 32.0, radius: 12.0 };
            let presses: Vec<BallPress> =
                (0..9).map(|_| BallPress { image: noisy(), relief: relief.clone(), label }).collect();
            let measured = noisy();
            let found = quiet_background(&measured, &presses.iter().collect::<Vec<_>>());
            let touched: Vec<usize> = (0..width * height).filter(|&i| distance(&presses[0], i) < 2.0).collect();
            let error = |image: &FloatImage| {
                let channels = || image.channels.iter().zip(&truth.channels);
                let squares = channels().flat_map(|(a, b)| touched.iter().map(|&i| f64::from(a[i] - b[i]).powi(2)));
                (squares.sum::<f64>() / (3 * touched.len()) as f64).sqrt()
            };
            let (before, after) = (error(&measured), error(&found));
            assert!((before / sigma - 1.0).abs() < 0.05 && after < most * before, "{dust}: {before} to {after}");
        }
    }
}
