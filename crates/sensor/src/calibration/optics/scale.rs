//! Fits the size of a pixel to presses at known positions.

use crate::calibration::FitError;

/// Mapping from positions on the sensor to pixels.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct ScaleFit {
    /// Size of a pixel (m).
    pub pixel_m: f64,
    /// True if +x is to the left of the image.
    pub mirror: bool,
    /// Column and row of the sensor's origin.
    pub origin_px: [f64; 2],
    /// Root mean square distance (pixels) between measured and fitted centres.
    pub rms_px: f64,
}

/// Fits one scale for both axes to positions (x and y in m, in the sensor's frame) and contact centres (column and
/// row).
pub fn fit_scale(places_m: &[[f64; 2]], middles_px: &[[f64; 2]]) -> Result<ScaleFit, FitError> {
    let count = places_m.len().min(middles_px.len());
    if count < 3 {
        return Err(FitError::TooFew { what: "what a pixel spans", got: count, needed: 3 });
    }
    let mean = |points: &[[f64; 2]]| {
        [0, 1].map(|axis| points[..count].iter().map(|point| point[axis]).sum::<f64>() / count as f64)
    };
    let (place, middle) = (mean(places_m), mean(middles_px));
    let pairs = places_m.iter().zip(middles_px);
    let about = |axis: usize| {
        let pairs = pairs.clone().map(move |(p, m)| (p[axis] - place[axis], m[axis] - middle[axis]));
        (pairs.clone().map(|(p, m)| p * m).sum::<f64>(), pairs.map(|(p, _)| p * p).sum::<f64>())
    };
    let ((right, square_x), (down, square_y)) = (about(0), about(1));
    if square_x <= 0.0 || square_y <= 0.0 {
        return Err(FitError::NoSpread { what: "place" });
    }
    // Rows increase downwards, y upwards.
    let mirror = right < 0.0;
    let per_m = (right.abs() - down) / (square_x + square_y);
    if per_m <= 0.0 {
        return Err(FitError::NoSpread { what: "direction of rows (+y must be up in the image)" });
    }
    let sign = if mirror { -1.0 } else { 1.0 };
    let origin_px = [middle[0] - sign * per_m * place[0], middle[1] + per_m * place[1]];
    let off = |(p, m): (&[f64; 2], &[f64; 2])| {
        (origin_px[0] + sign * per_m * p[0] - m[0]).powi(2) + (origin_px[1] - per_m * p[1] - m[1]).powi(2)
    };
    let rms_px = (pairs.map(off).sum::<f64>() / count as f64).sqrt();
    Ok(ScaleFit { pixel_m: 1.0 / per_m, mirror, origin_px, rms_px })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_comes_back_mirrored_or_not() {
        let places: Vec<[f64; 2]> = (0..9).map(|i| [f64::from(i % 3) * 3e-3, f64::from(i / 3) * 2e-3 - 1e-3]).collect();
        for sign in [1.0, -1.0] {
            let middles: Vec<[f64; 2]> =
                places.iter().map(|p| [300.0 + sign * p[0] / 3e-5, 200.0 - p[1] / 3e-5]).collect();
            let fit = fit_scale(&places, &middles).unwrap();
            assert!((fit.pixel_m / 3e-5 - 1.0).abs() < 1e-12 && fit.mirror == (sign < 0.0));
            assert!((fit.origin_px[0] - 300.0).abs() < 1e-9 && (fit.origin_px[1] - 200.0).abs() < 1e-9);
            assert!(fit.rms_px < 1e-9);
        }
        assert!(fit_scale(&places[..2], &[[0.0; 2]; 2]).is_err());
        assert!(fit_scale(&[[1e-3, 1e-3]; 5], &[[0.0; 2]; 5]).is_err());
    }
}
