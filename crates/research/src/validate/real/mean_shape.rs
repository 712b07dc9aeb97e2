//! A table of mean colour around the centre of a contact: what images alone predict, without mechanics or light.

use dermis::sensor::calibration::optics::{BallPress, Label};
use dermis::sensor::optics::FloatImage;

/// Mean difference from the background over positions in radii of the contact.
pub struct MeanShape {
    added: [Vec<f32>; 3],
}

/// Cells along a side of the table.
const SIDE: usize = 97;
/// Half of the side of the table, in radii.
const REACH: f64 = 2.0;

impl MeanShape {
    /// The mean of presses.
    pub fn fit(background: &FloatImage, presses: &[&BallPress]) -> Self {
        let mut added = [0, 1, 2].map(|_| vec![0.0; SIDE * SIDE]);
        for cell in 0..SIDE * SIDE {
            let at = |index: usize| REACH * (2.0 * index as f64 / (SIDE - 1) as f64 - 1.0);
            let (x, y) = (at(cell % SIDE), at(cell / SIDE));
            let mut count = 0;
            for press in presses {
                let Label { column, row, radius } = press.label;
                let (column, row) = ((column + x * radius).round(), (row + y * radius).round());
                let inside = |at: f64, size: usize| (0.0..size as f64).contains(&at);
                if inside(column, background.width) && inside(row, background.height) {
                    let pixel = row as usize * background.width + column as usize;
                    for (c, added) in added.iter_mut().enumerate() {
                        added[cell] += press.image.channels[c][pixel] - background.channels[c][pixel];
                    }
                    count += 1;
                }
            }
            added.iter_mut().for_each(|added| added[cell] /= count.max(1) as f32);
        }
        Self { added }
    }

    /// The background with the mean shape at a label.
    pub fn show(&self, background: &FloatImage, label: Label) -> FloatImage {
        let mut image = background.clone();
        for row in 0..image.height {
            for column in 0..image.width {
                let to_cell = |at: f64| 0.5 * (at / REACH + 1.0) * (SIDE - 1) as f64;
                let x = to_cell((column as f64 - label.column) / label.radius);
                let y = to_cell((row as f64 - label.row) / label.radius);
                let end = (SIDE - 1) as f64;
                if !(x >= 0.0 && y >= 0.0 && x < end && y < end) {
                    continue;
                }
                let (i, j, fx, fy) = (x as usize, y as usize, x.fract() as f32, y.fract() as f32);
                for (channel, added) in image.channels.iter_mut().zip(&self.added) {
                    let at = |j: usize, i: usize| added[j * SIDE + i];
                    channel[row * background.width + column] += (1.0 - fy)
                        * ((1.0 - fx) * at(j, i) + fx * at(j, i + 1))
                        + fy * ((1.0 - fx) * at(j + 1, i) + fx * at(j + 1, i + 1));
                }
            }
        }
        image
    }
}
