//! Fits the width of the loop between loading and unloading.

use super::least_squares::{solve, student_975};
use super::{Estimate, FitError, check_points};

/// A loop whose width is proportional to the load.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct HysteresisFit {
    /// η: width of the loop as a fraction of the load.
    pub fraction: Estimate,
    /// Root mean square residual of the widths, in the unit of the data.
    pub rms: f64,
    /// Number of loads.
    pub points: usize,
}

/// Fits width = η · load to readings at the same load during loading and unloading, both in the unit of the load.
/// Exclude the reversal, where the hysteresis still holds the reading.
pub fn fit_hysteresis(loops: &[(f64, f64, f64)]) -> Result<HysteresisFit, FitError> {
    let widths: Vec<(f64, f64)> = loops.iter().map(|&(load, up, down)| (load, down - up)).collect();
    check_points("the width of a loop", &widths, 3)?;
    let first = widths[0].0;
    if widths.iter().all(|(load, _)| *load == first) {
        return Err(FitError::NoSpread { what: "load" });
    }
    let rows: Vec<Vec<f64>> = widths.iter().map(|(load, _)| vec![*load]).collect();
    let targets: Vec<f64> = widths.iter().map(|(_, width)| *width).collect();
    let line = solve(&rows, &targets).ok_or(FitError::NoSpread { what: "load" })?;
    let freedom = widths.len() - 1;
    let ci95 = student_975(freedom) * (line.squares / freedom as f64 * line.inverse[(0, 0)]).sqrt();
    let fraction = Estimate { value: line.coefficients[0], ci95 };
    if fraction.value < -ci95 || !ci95.is_finite() {
        return Err(FitError::Undetermined {
            parameter: "fraction",
            value: fraction.value,
            ci95,
            remedy: "unloading must not read less than loading; check which branch is which",
        });
    }
    Ok(HysteresisFit { fraction, rms: (line.squares / widths.len() as f64).sqrt(), points: widths.len() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::Hysteresis;
    use dermis_geometry::quantity::Force;

    #[test]
    fn the_models_own_loop_is_recovered() {
        let model = Hysteresis { fraction: 0.07, width: Force::new(0.0) };
        let mut held = [0.0];
        let mut read = |load: f64| {
            let mut value = [load];
            model.apply(&mut held, &mut value);
            value[0]
        };
        let loads: Vec<f64> = (1..=20).map(|i| f64::from(i) * 0.1).collect();
        let up: Vec<f64> = loads.iter().map(|&load| read(load)).collect();
        let mut down: Vec<f64> = loads.iter().rev().map(|&load| read(load)).collect();
        down.reverse();
        let loops: Vec<_> = (0..18).map(|i| (loads[i], up[i], down[i])).collect();
        assert!((fit_hysteresis(&loops).unwrap().fraction.value - 0.07).abs() < 1e-12);
        assert!(matches!(fit_hysteresis(&loops[..2]), Err(FitError::TooFew { .. })));
        assert!(matches!(fit_hysteresis(&[loops[3]; 5]), Err(FitError::NoSpread { .. })));
        let crossed: Vec<_> = loops.iter().map(|&(load, up, down)| (load, down, up)).collect();
        assert!(matches!(fit_hysteresis(&crossed), Err(FitError::Undetermined { .. })));
    }
}
