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

/// The image without contact at the time of the presses: [`quiet_background`], then [`drifted_background`].
pub fn background_of_presses(measured: &FloatImage, presses: &[&BallPress]) -> Result<FloatImage, FitError> {
    drifted_background(&quiet_background(measured, presses), presses)
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

/// Mean of the measured image without contact and of the parts of the presses that are far from their contact. The noise of
/// one image would otherwise be part of every rendered one.
pub fn quiet_background(measured: &FloatImage, presses: &[&BallPress]) -> FloatImage {
    let mut image = measured.clone();
    let mut counts = vec![1.0f32; measured.width * measured.height];
    for press in presses {
        for (i, count) in counts.iter_mut().enumerate().filter(|(i, _)| distance(press, *i) > UNTOUCHED) {
            *count += 1.0;
            for (sum, own) in image.channels.iter_mut().zip(&press.image.channels) {
                sum[i] += own[i];
            }
        }
    }
    for channel in &mut image.channels {
        channel.iter_mut().zip(&counts).for_each(|(sum, count)| *sum /= count);
    }
    image
}
