//! Displacements of markers in an image, how the camera sees them, and linear models fitted to them.

use super::free_functions::{Source, free_functions};
use super::neighbours::from_neighbours;
use super::row::{Measure, NULL};
use super::score::Sample;
use super::split::Split;
use nalgebra::{DMatrix, DVector};

/// A position or displacement in the image: right and down (pixels).
pub type Pixels = [f64; 2];

/// Name of the prediction of each marker from the others.
const NEIGHBOURS: &str = "each marker from the others";
/// Nearest pinhole (1/m): 4 mm.
const MAX_PER_M: u32 = 250;
/// Shift of all markers, to the right and down.
pub const SHIFT: [Pixels; 2] = [[1.0, 0.0], [0.0, 1.0]];

/// How the camera sees the gel.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Position of the contact relative to the optical axis; `None` for an orthographic camera.
    pub from_axis: Option<Pixels>,
    /// Size of a pixel by the distance of the pinhole.
    pub pixel_per_distance: f64,
    /// Dilation of the image (%): a mount that yields along the axis.
    pub dilation: f64,
}

impl View {
    /// Magnification of a point that is closer to the camera by some pixels.
    pub fn magnification(&self, closer: f64) -> f64 {
        1.0 / (1.0 - closer * self.pixel_per_distance)
    }

    /// Displacement in the image of a point of the gel, at a position relative to the contact, that moves right, down and closer.
    pub fn moved(&self, at: Pixels, [right, down, closer]: [f64; 3]) -> Pixels {
        let magnification = self.magnification(closer);
        let offset = self.from_axis.unwrap_or_default();
        [(0, right), (1, down)].map(|(c, along)| {
            along * magnification + (at[c] + offset[c]) * (magnification - 1.0) + 0.01 * self.dilation * at[c]
        })
    }
}

/// Sum of `own` and columns times numbers.
pub fn sum(own: Pixels, columns: &[Pixels], numbers: &[f64]) -> Pixels {
    [0, 1].map(|c| own[c] + columns.iter().zip(numbers).map(|(column, number)| column[c] * number).sum::<f64>())
}

/// Displacements of markers.
#[derive(Clone, Debug)]
pub struct MarkerField {
    /// Positions relative to the contact.
    pub at: Vec<Pixels>,
    /// Displacements.
    pub moved: Vec<Pixels>,
    /// Markers to fit, and those that are scored.
    pub split: Split,
}

impl MarkerField {
    /// Coefficients of the columns of each marker for what `own` leaves of the fitted ones, and the sum of the squares that remain.
    pub fn fit(&self, columns: &dyn Fn(usize) -> Vec<Pixels>, own: &dyn Fn(usize) -> Pixels) -> (Vec<f64>, f64) {
        let rows = self.split.fitted.iter().flat_map(|&i| {
            let (columns, own) = (columns(i), own(i));
            [0, 1].map(|c| (columns.iter().map(|column| column[c]).collect(), self.moved[i][c] - own[c]))
        });
        let rows: Vec<(Vec<f64>, f64)> = rows.collect();
        let numbers = least_squares(&rows);
        let dot = |row: &[f64]| row.iter().zip(&numbers).map(|(column, number)| column * number).sum::<f64>();
        let error = rows.iter().map(|(row, target)| (dot(row) - target).powi(2)).sum();
        (numbers, error)
    }

    /// Shift and view that fit a press best, from the displacement of each marker to the right, down and towards the camera: the dilation,
    /// and the distance if the optical axis is known.
    pub fn fit_press(&self, press: &[[f64; 3]], from_axis: Option<Pixels>, pixel_m: f64) -> ([f64; 2], View) {
        let columns = |i: usize| vec![SHIFT[0], SHIFT[1], self.at[i].map(|part| 0.01 * part)];
        let trials = (0..=from_axis.map_or(0, |_| MAX_PER_M)).map(|per_m| {
            let view = View { from_axis, pixel_per_distance: pixel_m * f64::from(per_m), dilation: 0.0 };
            let (numbers, error) = self.fit(&columns, &|i| view.moved(self.at[i], press[i]));
            (error, [numbers[0], numbers[1]], View { dilation: numbers[2], ..view })
        });
        trials.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, shift, view)| (shift, view)).unwrap_or_default()
    }

    /// The displacements since those of another field of the same markers.
    pub fn since(&self, before: &Self) -> Self {
        let since = |(after, before): (&Pixels, &Pixels)| [0, 1].map(|c| after[c] - before[c]);
        Self { moved: self.moved.iter().zip(&before.moved).map(since).collect(), ..self.clone() }
    }

    /// Squared errors of a model on the scored markers, by the mean square of the displacements.
    pub fn samples(&self, model: &dyn Fn(usize) -> Pixels) -> Vec<Sample> {
        let weight = self.moved.iter().flatten().map(|part| part * part).sum::<f64>() / self.moved.len() as f64;
        let error = |i: usize| [0, 1].iter().map(|&c| (model(i)[c] - self.moved[i][c]).powi(2)).sum();
        self.split.kept_out.iter().map(|&i| Sample { error: error(i), weight }).collect()
    }

    /// Adds the scores of models without a skin. Returns a note about them.
    pub fn add_references(&self, measure: &mut Measure, source: Source, contact_px: f64) -> Option<String> {
        let mut add = |name: &str, columns: &dyn Fn(Pixels) -> Vec<Pixels>| {
            let columns = |i: usize| columns(self.at[i]);
            let (numbers, _) = self.fit(&columns, &|_| [0.0; 2]);
            let name = name.replace("{}", &numbers.len().to_string());
            measure.add(name, &self.samples(&|i| sum([0.0; 2], &columns(i), &numbers)));
        };
        add("uniform shift", &|_| SHIFT.to_vec());
        if source == Source::Press {
            add("shift and dilation, no skin", &|at| vec![SHIFT[0], SHIFT[1], at]);
        }
        add("any isotropic skin ({} free numbers)", &|at| free_functions(source, at, contact_px));
        measure.add(NULL, &self.samples(&|_| [0.0; 2]));
        let smooth = from_neighbours(&self.at, &self.moved);
        if let Some(smooth) = &smooth {
            measure.add(NEIGHBOURS, &self.samples(&|i| smooth.predicted[i]));
        }
        // Both positions of a marker, before and after, are whole pixels: two errors with a variance of 1/12 each.
        let off = (1.0f64 / 6.0).sqrt();
        measure.add("rounding of positions to pixels", &self.samples(&|i| self.moved[i].map(|part| part + off)));
        smooth.map(|smooth| {
            format!(
                "{NEIGHBOURS}: a smooth field (leave-one-out Gaussian process; length {:.0} px and noise {:.3} of its variance \
                 have the least error); markers that it does not predict do not move as their neighbours do",
                smooth.length, smooth.noise
            )
        })
    }
}

/// Coefficients that minimise Σ (row · c − target)²; 0 for columns without effect.
pub fn least_squares(rows: &[(Vec<f64>, f64)]) -> Vec<f64> {
    let n = rows.first().map_or(0, |row| row.0.len());
    let matrix = DMatrix::from_fn(rows.len(), n, |i, j| rows[i].0[j]);
    let targets = DVector::from_iterator(rows.len(), rows.iter().map(|row| row.1));
    let normal = matrix.tr_mul(&matrix);
    let smallest = 1e-12 * normal.amax();
    let solved = normal.svd(true, true).solve(&matrix.tr_mul(&targets), smallest);
    solved.map_or_else(|_| vec![0.0; n], |numbers| numbers.as_slice().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point a tenth of the distance closer appears a ninth farther from the axis, wherever the contact is.
    #[test]
    fn a_closer_point_moves_away_from_the_axis() {
        let view = View { from_axis: Some([20.0, -10.0]), pixel_per_distance: 0.005, dilation: 0.0 };
        let [right, down] = view.moved([70.0, 100.0], [0.0, 0.0, 20.0]);
        assert!((right - 10.0).abs() < 1e-12 && (down - 10.0).abs() < 1e-12, "{right} {down}");
        let [right, _] = view.moved([70.0, 100.0], [9.0, 0.0, 20.0]);
        assert!((right - 20.0).abs() < 1e-12, "{right}");
    }
}
