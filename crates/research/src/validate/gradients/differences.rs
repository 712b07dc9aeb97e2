//! Derivatives by central differences with Richardson's extrapolation.

use super::super::ValidateError;
use super::{Terms, Touched};

/// Steps of the differences, by the first.
pub(super) const PARTS: [f64; 4] = [1.0, 0.7, 0.4, 0.25];

/// Richardson's extrapolation of two central differences, whose error is in proportion to the square of the step, to step zero.
pub(super) fn without_square(steps: [f64; 2], slopes: [f64; 2]) -> f64 {
    let [coarse, fine] = steps.map(|step| step * step);
    (coarse * slopes[1] - fine * slopes[0]) / (coarse - fine)
}

/// The derivative at zero of a sum of terms by differences with four steps, and the sum of the sizes of the derivatives of the
/// terms; `None` if the contact changes, or if the extrapolations from neighbouring steps differ by more than `smooth` of it: a
/// smooth function's agree. Two extrapolations may agree by chance across a kink; three hardly do. Differences of all terms below
/// their relative rounding `noise` are those of a constant.
pub(super) fn extrapolated(
    contact: &[Touched],
    step: f64,
    (smooth, noise): (f64, f64),
    at: impl Fn(f64) -> Result<Terms, ValidateError>,
) -> Result<Option<(f64, f64)>, ValidateError> {
    let (mut slopes, mut size, mut constant, mut rounding) = (Vec::new(), 0.0, true, 0.0);
    for part in PARTS {
        let (above, below) = (at(part * step)?, at(-part * step)?);
        if above.contact != contact || below.contact != contact {
            return Ok(None);
        }
        let differences = above.values.iter().zip(&below.values).map(|(a, b)| (a - b) / (2.0 * part * step));
        let terms: Vec<f64> = differences.collect();
        size = terms.iter().map(|term| term.abs()).sum();
        rounding = noise * above.values.iter().map(|value| value.abs()).sum::<f64>();
        constant &= 2.0 * part * step * size <= rounding;
        slopes.push(terms.iter().sum::<f64>());
    }
    if constant {
        return Ok(Some((0.0, rounding / (2.0 * step))));
    }
    let once = |k: usize| without_square([PARTS[k], PARTS[k + 1]], [slopes[k], slopes[k + 1]]);
    let [first, second, last] = [once(0), once(1), once(2)];
    let differ = |a: f64, b: f64| (a - b).abs() > smooth * last.abs().max(0.1 * size);
    Ok((!differ(first, second) && !differ(second, last)).then_some((last, size)))
}
