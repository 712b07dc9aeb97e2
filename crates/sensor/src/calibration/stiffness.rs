//! Fits the stiffness of a foam to the compression under weights (Moisio 2013, section 3.4.1 and Fig. 6).

use super::least_squares::{solve, student_975};
use super::{Estimate, FitError, check_points, require_positive};
use crate::Sensor;
use crate::characterise::Indenter;

/// Straight lines fitted to force against compression.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct StiffnessFit {
    /// The stiffness (N/m): the slope of the free line if [`StiffnessFit::has_offset`], else of the line through the origin.
    pub newton_per_m: Estimate,
    /// True if the free line is significantly off the origin: the load cell has an offset, or the indenter a play.
    pub has_offset: bool,
    /// Slope of the line through the origin (N/m).
    pub through_zero_newton_per_m: Estimate,
    /// Slope of the free line (N/m).
    pub free_newton_per_m: Estimate,
    /// Force of the free line without compression (N).
    pub offset_newton: Estimate,
    /// Compression at which the free line reaches zero force (m).
    pub free_offset_m: f64,
    /// Root mean square of the residuals (N) of the line with the slope `newton_per_m`.
    pub rms_newton: f64,
    /// Number of points.
    pub points: usize,
}

/// Part of the largest force up to which an offset changes nothing, however significant.
const MIN_OFFSET: f64 = 1e-3;

/// Fits force (N) against compression (m). An offset is significant if its 95 % interval excludes zero.
pub fn fit_stiffness(points: &[(f64, f64)]) -> Result<StiffnessFit, FitError> {
    check_points("a stiffness", points, 3)?;
    let first = points[0].0;
    if points.iter().all(|(x, _)| *x == first) {
        return Err(FitError::NoSpread { what: "compression" });
    }
    let targets: Vec<f64> = points.iter().map(|p| p.1).collect();
    let no_spread = || FitError::NoSpread { what: "compression" };
    let line = solve(&points.iter().map(|p| vec![p.0]).collect::<Vec<_>>(), &targets).ok_or_else(no_spread)?;
    let free = solve(&points.iter().map(|p| vec![p.0, 1.0]).collect::<Vec<_>>(), &targets).ok_or_else(no_spread)?;
    let n = points.len();
    let slope = |value: f64, inverse: f64, squares: f64, freedom: usize| Estimate {
        value,
        ci95: student_975(freedom) * (squares / freedom as f64 * inverse).sqrt(),
    };
    let through_zero = slope(line.coefficients[0], line.inverse[(0, 0)], line.squares, n - 1);
    let free_slope = slope(free.coefficients[0], free.inverse[(0, 0)], free.squares, n - 2);
    let offset = slope(free.coefficients[1], free.inverse[(1, 1)], free.squares, n - 2);
    let largest = targets.iter().fold(0.0, |largest: f64, force| largest.max(force.abs()));
    let has_offset = offset.value.abs() > offset.ci95.max(MIN_OFFSET * largest);
    let (used, squares) = if has_offset { (free_slope, free.squares) } else { (through_zero, line.squares) };
    if used.value <= 0.0 || used.ci95 > used.value {
        return Err(FitError::Undetermined {
            parameter: "stiffness",
            value: used.value,
            ci95: used.ci95,
            remedy: "check the signs of force and compression, and measure more points",
        });
    }
    Ok(StiffnessFit {
        newton_per_m: used,
        has_offset,
        through_zero_newton_per_m: through_zero,
        free_newton_per_m: free_slope,
        offset_newton: offset,
        free_offset_m: -offset.value / free_slope.value,
        rms_newton: (squares / n as f64).sqrt(),
        points: n,
    })
}

/// Fits the force that a sensor gives under a flat, round indenter of this diameter (m) on its middle taxel, at the
/// depths (m) of a measurement.
pub fn simulated_stiffness(sensor: &Sensor, indenter_m: f64, depths_m: &[f64]) -> Result<StiffnessFit, FitError> {
    let indenter = Indenter::new(sensor, indenter_m)?;
    let taxel = sensor.taxels().len() / 2;
    let mut depths_m: Vec<f64> = depths_m.iter().copied().filter(|depth| *depth > 0.0).collect();
    depths_m.sort_by(f64::total_cmp);
    depths_m.dedup();
    let point = |&depth_m: &f64| Ok((depth_m, indenter.load(taxel, depth_m)?.force_newton));
    fit_stiffness(&depths_m.iter().map(point).collect::<Result<Vec<_>, FitError>>()?)
}

/// Eq. (18): k of one texel (N/m) from a pressure (Pa) that compresses the foam by `compression_m`.
pub fn texel_stiffness_newton_per_m(
    pressure_pa: f64,
    sensor_area_m2: f64,
    texels: usize,
    compression_m: f64,
) -> Result<f64, FitError> {
    require_positive("the pressure (Pa)", pressure_pa)?;
    require_positive("the sensor's area (m^2)", sensor_area_m2)?;
    require_positive("the number of texels", texels as f64)?;
    require_positive("the compression (m)", compression_m)?;
    Ok(pressure_pa * sensor_area_m2 / (texels as f64 * compression_m))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::Random;

    /// The paper's numbers in its formula: 9810 Pa · 1.25e-3 m² / (84 · 2.5 mm) = 58.39 N/m, not 58.5.
    #[test]
    fn eq_18_with_the_papers_numbers() {
        let k = texel_stiffness_newton_per_m(9810.0, 1.25e-3, 84, 2.5e-3).unwrap();
        assert!((k - 58.393).abs() < 1e-3, "{k}");
    }

    /// The 95 % intervals contain the true value about 95 times in 100.
    #[test]
    fn intervals_hold_what_they_promise() {
        let mut random = Random::new(11);
        let held = (0..1000)
            .filter(|_| {
                let points: Vec<(f64, f64)> = (1..=8)
                    .map(|i| (f64::from(i) * 5e-4, 3000.0 * f64::from(i) * 5e-4 + 0.1 * random.normal()))
                    .collect();
                let k = fit_stiffness(&points).unwrap().through_zero_newton_per_m;
                (k.value - 3000.0).abs() <= k.ci95
            })
            .count();
        assert!((930..=970).contains(&held), "{held} of 1000");
    }

    /// A load cell that shows 0.3 N without load: the intervals of the line through the origin, printed first, held none of the
    /// truths. Those of the stiffness do, and without an offset they still do.
    #[test]
    fn an_offset_of_the_load_cell_was_part_of_the_stiffness() {
        let mut random = Random::new(12);
        for (offset, seen_from, through_zero_to) in [(0.0, 0, 400), (0.3, 395, 0), (-0.3, 395, 0)] {
            let (mut held, mut seen, mut through_zero) = (0, 0, 0);
            for _ in 0..400 {
                let point = |i: i32| f64::from(i) * 1e-4;
                let points: Vec<(f64, f64)> =
                    (1..=20).map(|i| (point(i), offset + 3000.0 * point(i) + 0.05 * random.normal())).collect();
                let fit = fit_stiffness(&points).unwrap();
                let holds = |k: Estimate| i32::from((k.value - 3000.0).abs() <= k.ci95);
                held += holds(fit.newton_per_m);
                through_zero += holds(fit.through_zero_newton_per_m);
                seen += i32::from(fit.has_offset);
            }
            assert!(held >= 360, "offset {offset}: {held} of 400");
            assert!(seen >= seen_from && through_zero <= through_zero_to, "offset {offset}: {seen} {through_zero}");
        }
    }

    #[test]
    fn poor_data_are_refused() {
        assert!(matches!(fit_stiffness(&[(1e-3, 1.0)]), Err(FitError::TooFew { .. })));
        assert!(matches!(fit_stiffness(&[(1e-3, 1.0); 5]), Err(FitError::NoSpread { .. })));
        let nan = [(1e-3, 1.0), (2e-3, f64::NAN), (3e-3, 3.0)];
        assert!(matches!(fit_stiffness(&nan), Err(FitError::NotFinite { row: 2, .. })));
        let falling = [(1e-3, -1.0), (2e-3, -2.0), (3e-3, -3.0)];
        assert!(matches!(fit_stiffness(&falling), Err(FitError::Undetermined { .. })));
    }
}
