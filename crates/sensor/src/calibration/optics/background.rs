//! The image without contact, with less noise.

use super::BallPress;
use crate::optics::FloatImage;

/// Distance from the centre of a contact (radii) from which a pixel shows the gel without contact.
const UNTOUCHED: f64 = 2.2;

/// Mean of the image without contact and of the parts of the presses that are far from their contact. The noise of one
/// image would otherwise be part of every rendered one.
pub fn quiet_background(background: &FloatImage, presses: &[&BallPress]) -> FloatImage {
    let mut image = background.clone();
    let mut counts = vec![1.0f32; background.width * background.height];
    for press in presses {
        for (i, count) in counts.iter_mut().enumerate() {
            let (column, row) = ((i % background.width) as f64, (i / background.width) as f64);
            if (column - press.label.column).hypot(row - press.label.row) > UNTOUCHED * press.label.radius {
                *count += 1.0;
                for (sum, own) in image.channels.iter_mut().zip(&press.image.channels) {
                    sum[i] += own[i];
                }
            }
        }
    }
    for channel in &mut image.channels {
        channel.iter_mut().zip(&counts).for_each(|(sum, count)| *sum /= count);
    }
    image
}
