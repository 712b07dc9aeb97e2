//! A smooth field predicts each marker from all the others: what the neighbours of a marker say about it, without any skin.

use nalgebra::{DMatrix, DVector};

/// The prediction of each marker from the others by a Gaussian process (kriging).
#[derive(Clone, Debug, PartialEq)]
pub struct FromNeighbours {
    /// Displacement of each marker, predicted from the others.
    pub predicted: Vec<[f64; 2]>,
    /// Length (standard deviation of the Gaussian covariance) over which the field changes, in the unit of the places.
    pub length: f64,
    /// Variance of the noise by that of the field.
    pub noise: f64,
}

/// Variance of the uniform part of the field by that of the rest.
const UNIFORM: f64 = 10.0;

/// Predicts the displacement of each marker from those of all others. Length and noise are those of the smallest error, so
/// that they count as two fitted numbers. Returns `None` for fewer than three markers, or all at one place.
///
/// With the covariance K of all markers, noise included, and their displacements **d**, the prediction of one marker from the
/// others differs from its measurement by (K⁻¹ **d**)ᵢ / (K⁻¹)ᵢᵢ (Rasmussen and Williams 2006, eq. 5.12).
pub fn from_neighbours(places: &[[f64; 2]], measured: &[[f64; 2]]) -> Option<FromNeighbours> {
    let n = places.len();
    let squared = |i: usize, j: usize| (0..2).map(|c| (places[i][c] - places[j][c]).powi(2)).sum::<f64>();
    let spread = |c: usize| {
        let along = places.iter().map(|place| place[c]);
        along.clone().fold(f64::MIN, f64::max) - along.fold(f64::MAX, f64::min)
    };
    let spacing = spread(0).hypot(spread(1)) / (n as f64).sqrt();
    if n < 3 || !(spacing > 0.0 && spacing.is_finite()) {
        return None;
    }
    let displacements = DMatrix::from_fn(n, 2, |i, c| measured[i][c]);
    let lengths = (-3..=8).map(|k| spacing * 2f64.powf(0.5 * f64::from(k)));
    let mut best: Option<(f64, FromNeighbours)> = None;
    for length in lengths {
        let covariance =
            DMatrix::from_fn(n, n, |i, j| (-0.5 * squared(i, j) / (length * length)).exp() + UNIFORM).symmetric_eigen();
        let (vectors, variances) = (covariance.eigenvectors, covariance.eigenvalues);
        let (modes, squares) = (vectors.tr_mul(&displacements), vectors.map(|part| part * part));
        for noise in (-2..=10).map(|k| 2f64.powi(-k)) {
            // Noise adds to every eigenvalue of the covariance.
            let weights = DVector::from_fn(n, |mode, _| 1.0 / (variances[mode] + noise));
            let weighted = &vectors * DMatrix::from_fn(n, 2, |mode, c| weights[mode] * modes[(mode, c)]);
            let own = &squares * weights;
            let off = |i: usize| [0, 1].map(|c| weighted[(i, c)] / own[i]);
            let error = (0..n).flat_map(off).map(|off| off * off).sum::<f64>();
            if best.as_ref().is_none_or(|(least, _)| error < *least) {
                let predicted = (0..n).map(|i| [0, 1].map(|c| measured[i][c] - off(i)[c])).collect();
                best = Some((error, FromNeighbours { predicted, length, noise }));
            }
        }
    }
    best.map(|(_, best)| best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis::geometry::Random;

    fn grid() -> Vec<[f64; 2]> {
        (0..120).map(|i| [25.0 * f64::from(i % 12), 25.0 * f64::from(i / 12)]).collect()
    }

    fn smooth([x, y]: [f64; 2]) -> [f64; 2] {
        [4.0 + 3.0 * (x / 90.0).sin() * (y / 110.0).cos(), 2.0 * ((x + y) / 100.0).cos() - 1.0]
    }

    fn rms(a: &[[f64; 2]], b: &[[f64; 2]]) -> f64 {
        let squares = a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).powi(2));
        (squares.sum::<f64>() / (2 * a.len()) as f64).sqrt()
    }

    /// The error is the noise, and a little more: the neighbours have noise too.
    #[test]
    fn the_error_of_a_smooth_field_is_its_noise() {
        let places = grid();
        for (seed, noise) in [(1, 0.1), (2, 0.3), (3, 1.0)] {
            let mut random = Random::new(seed);
            let mut any = || noise * random.normal();
            let measured: Vec<[f64; 2]> = places.iter().map(|&at| smooth(at).map(|part| part + any())).collect();
            let truth: Vec<[f64; 2]> = places.iter().map(|&at| smooth(at)).collect();
            let found = from_neighbours(&places, &measured).unwrap();
            let (error, own) = (rms(&found.predicted, &measured), rms(&truth, &measured));
            assert!((1.0..1.3).contains(&(error / own)), "noise {own}: {error}");
        }
    }

    #[test]
    fn without_noise_a_smooth_field_is_found_and_noise_alone_is_not() {
        let places = grid();
        let measured: Vec<[f64; 2]> = places.iter().map(|&at| smooth(at)).collect();
        let found = from_neighbours(&places, &measured).unwrap();
        assert!(rms(&found.predicted, &measured) < 0.02, "{}", rms(&found.predicted, &measured));
        let mut random = Random::new(4);
        let noise: Vec<[f64; 2]> = places.iter().map(|_| [random.normal(), random.normal()]).collect();
        let error = rms(&from_neighbours(&places, &noise).unwrap().predicted, &noise);
        assert!((0.95..1.1).contains(&(error / rms(&noise, &vec![[0.0; 2]; 120]))), "{error}");
    }

    /// The closed form is that of leaving the marker out.
    #[test]
    fn a_marker_does_not_predict_itself() {
        let places = grid();
        let mut measured: Vec<[f64; 2]> = places.iter().map(|&at| smooth(at)).collect();
        let before = from_neighbours(&places, &measured).unwrap();
        measured[40][0] += 1e-3;
        let after = from_neighbours(&places, &measured).unwrap();
        assert_eq!((before.length, before.noise), (after.length, after.noise));
        let moved = |i: usize| (after.predicted[i][0] - before.predicted[i][0]).abs();
        assert!(moved(40) < 1e-8 && moved(41) > 1e-5, "{} {}", moved(40), moved(41));
    }

    #[test]
    fn too_few_markers_predict_nothing() {
        assert_eq!(from_neighbours(&[[0.0, 0.0], [1.0, 0.0]], &[[1.0, 1.0]; 2]), None);
        assert_eq!(from_neighbours(&[[3.0, 2.0]; 5], &[[1.0, 1.0]; 5]), None);
    }
}
