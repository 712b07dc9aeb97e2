//! The centre of a ball in an image, without light and label: the point about which the change of the image is odd.
//!
//! The slopes of the surface under a ball on opposite sides of its centre are opposite, and so is the change of a level that is
//! nearly linear in the slope. A change that is not linear, or differs from place to place, moves the point.

use dermis::sensor::calibration::optics::Label;
use dermis::sensor::optics::FloatImage;

/// Radius of the compared disc, by that of the contact.
const DISC: f64 = 0.4;
/// Largest distance of the point from the label, by the radius of the contact.
const SEARCHED: f64 = 0.9;

/// Column and row of the point near a label; `None` if the disc fits nowhere into the image.
pub fn odd_point(background: &FloatImage, image: &FloatImage, label: &Label) -> Option<[f64; 2]> {
    let (width, height) = (image.width as i64, image.height as i64);
    let changes: Vec<Vec<f64>> =
        image.channels.iter().zip(&background.channels).map(|(a, b)| smoothed_change(a, b, image.width)).collect();
    let disc = (DISC * label.radius).round().max(2.0) as i64;
    let offsets: Vec<i64> = (-disc..=disc)
        .flat_map(|y| (-disc..=disc).map(move |x| (x, y)))
        .filter(|(x, y)| x * x + y * y <= disc * disc)
        .map(|(x, y)| y * width + x)
        .collect();
    let far = (SEARCHED * label.radius) as i64;
    let (column, row) = (label.column.round() as i64, label.row.round() as i64);
    let mut best: Option<(f64, [f64; 2])> = None;
    for row in (row - far).max(disc + 1)..=(row + far).min(height - disc - 2) {
        for column in (column - far).max(disc + 1)..=(column + far).min(width - disc - 2) {
            let middle = row * width + column;
            let mut score = 0.0;
            for change in &changes {
                for offset in &offsets {
                    let (here, opposite) = (change[(middle + offset) as usize], change[(middle - offset) as usize]);
                    // −1 times the square if it is odd, 3 times if it is even.
                    score += here * (here + 2.0 * opposite);
                }
            }
            if best.is_none_or(|(least, _)| score < least) {
                best = Some((score, [column as f64, row as f64]));
            }
        }
    }
    best.map(|(_, at)| at)
}

/// Mean change over 3 × 3 pixels; that of the image's edge is zero.
fn smoothed_change(image: &[f32], background: &[f32], width: usize) -> Vec<f64> {
    let height = image.len() / width.max(1);
    let mut smoothed = vec![0.0; image.len()];
    for row in 1..height.saturating_sub(1) {
        for column in 1..width.saturating_sub(1) {
            let near = (row - 1..=row + 1).flat_map(|r| (column - 1..=column + 1).map(move |c| r * width + c));
            smoothed[row * width + column] = near.map(|i| f64::from(image[i] - background[i])).sum::<f64>() / 9.0;
        }
    }
    smoothed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paraboloid of a ball under three lamps, with a label that is off by a fifth of its radius.
    #[test]
    fn the_centre_of_a_ball_is_found_beside_its_label() {
        let (width, height, centre, radius) = (120_usize, 90_usize, [66.0, 41.0], 20.0);
        let flat = vec![100.0_f32; width * height];
        let lit = |azimuth: f64| -> Vec<f32> {
            (0..width * height)
                .map(|i| {
                    let [x, y] = [(i % width) as f64 - centre[0], (i / width) as f64 - centre[1]];
                    let slope =
                        if x.hypot(y) < radius { (x * azimuth.cos() + y * azimuth.sin()) / radius } else { 0.0 };
                    100.0 + 40.0 * slope as f32 + 3.0 * ((i * 7919) % 13) as f32 / 13.0
                })
                .collect()
        };
        let image = FloatImage { width, height, channels: [lit(0.0), lit(2.1), lit(4.2)] };
        let background = FloatImage { width, height, channels: [flat.clone(), flat.clone(), flat] };
        let label = Label { column: 63.0, row: 44.0, radius };
        let [column, row] = odd_point(&background, &image, &label).unwrap();
        assert!((column - centre[0]).hypot(row - centre[1]) <= 1.0, "{column} {row}");
    }
}
