//! Fits the size of a pixel to presses at known positions.

use crate::calibration::FitError;

/// Mapping from positions on the sensor to pixels.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct ScaleFit {
    /// Size of a pixel (m).
    pub pixel_m: f64,
    /// True if +x is to the left of the image.
    pub mirror: bool,
    /// Rotation of the camera about its axis (°, clockwise in the image), which is neglected.
    pub rotation_deg: f64,
    /// Column and row of the sensor's origin.
    pub origin_px: [f64; 2],
    /// Root mean square distance (pixels) between measured and fitted centres.
    pub rms_px: f64,
}

/// Largest rotation (°) of the camera about its axis that is neglected.
const MAX_ROTATION_DEG: f64 = 2.0;

/// Fits one scale for both axes to positions (x and y in m, in the sensor's frame) and contact centres (column and
/// row): the similarity, mirrored or not, with the smaller residual. Returns an error for a rotated camera.
pub fn fit_scale(places_m: &[[f64; 2]], middles_px: &[[f64; 2]]) -> Result<ScaleFit, FitError> {
    let count = places_m.len().min(middles_px.len());
    if count < 3 {
        return Err(FitError::TooFew { what: "what a pixel spans", got: count, needed: 3 });
    }
    let mean = |points: &[[f64; 2]]| {
        [0, 1].map(|axis| points[..count].iter().map(|point| point[axis]).sum::<f64>() / count as f64)
    };
    let (place, middle) = (mean(places_m), mean(middles_px));
    // Positions as vectors to the right and down in the image: rows increase downwards, y upwards.
    let similarity = |mirror: bool| {
        let sign = if mirror { -1.0 } else { 1.0 };
        let (mut along, mut across, mut squares, mut seen) = (0.0, 0.0, 0.0, 0.0);
        for (p, m) in places_m.iter().zip(middles_px) {
            let (right, down) = (sign * (p[0] - place[0]), -(p[1] - place[1]));
            let (column, row) = (m[0] - middle[0], m[1] - middle[1]);
            along += right * column + down * row;
            across += right * row - down * column;
            squares += right * right + down * down;
            seen += column * column + row * row;
        }
        let per_m = along.hypot(across) / squares;
        (seen - per_m * per_m * squares, per_m, across.atan2(along).to_degrees(), squares)
    };
    let (direct, mirrored) = (similarity(false), similarity(true));
    let mirror = mirrored.0 < direct.0;
    let (left_over, per_m, rotation_deg, squares) = if mirror { mirrored } else { direct };
    let line = |points: &[[f64; 2]], mean: [f64; 2]| {
        let sum = |a: usize, b: usize| points.iter().map(|p| (p[a] - mean[a]) * (p[b] - mean[b])).sum::<f64>();
        let (xx, yy, xy) = (sum(0, 0), sum(1, 1), sum(0, 1));
        xx * yy - xy * xy <= 1e-9 * (xx + yy).powi(2)
    };
    // On one line, a mirrored and a rotated camera look the same.
    if squares <= 0.0 || per_m <= 0.0 || line(places_m, place) {
        return Err(FitError::NoSpread { what: "place (or lie on one line)" });
    }
    if rotation_deg.abs() > MAX_ROTATION_DEG {
        return Err(FitError::Rotated { rotation_deg });
    }
    let sign = if mirror { -1.0 } else { 1.0 };
    let origin_px = [middle[0] - sign * per_m * place[0], middle[1] + per_m * place[1]];
    let rms_px = (left_over.max(0.0) / count as f64).sqrt();
    Ok(ScaleFit { pixel_m: 1.0 / per_m, mirror, rotation_deg, origin_px, rms_px })
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
        // A rotated camera is refused with its angle, also where rows and columns are exchanged.
        for degrees in [-10.0f64, 10.0, 45.0, 90.0, 180.0] {
            let (sin, cos) = degrees.to_radians().sin_cos();
            let rotated: Vec<[f64; 2]> = places
                .iter()
                .map(|p| [p[0] / 3e-5, -p[1] / 3e-5])
                .map(|[right, down]| [300.0 + cos * right - sin * down, 200.0 + sin * right + cos * down])
                .collect();
            let error = fit_scale(&places, &rotated).unwrap_err();
            let FitError::Rotated { rotation_deg } = error else { panic!("{error}") };
            let off = (rotation_deg - degrees).to_radians();
            assert!(off.sin().abs() < 1e-6 && off.cos() > 0.0, "{rotation_deg}, not {degrees}");
        }
        assert!(fit_scale(&places[..2], &[[0.0; 2]; 2]).is_err());
        assert!(fit_scale(&[[1e-3, 1e-3]; 5], &[[0.0; 2]; 5]).is_err());
    }
}
