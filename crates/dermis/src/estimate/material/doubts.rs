//! What is doubtful about the fit of a material, and about its measurements.

use super::model::Bench;
use super::{MaterialError, MaterialPoint, MaterialUnknown, Solution};
use nalgebra::{DMatrix, DVector};

/// What to do about a quantity that is not determined.
pub const MEASURE_MORE: &str =
    "measure more depths, or displacements along the surface for friction and times for relaxation";
/// Two quantities with a correlation beyond this are not told apart.
const SAME: f64 = 0.98;
/// Part of the forces below which a fit is doubtful.
const WELL_EXPLAINED: f64 = 0.95;

/// Names in a sentence: "a, b and c".
fn listed(unknowns: &[MaterialUnknown]) -> String {
    let names: Vec<&str> = unknowns.iter().map(|unknown| unknown.name()).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// The error of a fit whose normal matrix is singular: names the quantities of the direction that does not change the forces.
pub fn undetermined(unknowns: &[MaterialUnknown], solution: &Solution) -> MaterialError {
    let undetermined =
        |unknown: MaterialUnknown| MaterialError::Undetermined { unknown: unknown.name(), remedy: MEASURE_MORE };
    let slopes: Vec<DVector<f64>> = solution.slopes.iter().map(|slopes| DVector::from_column_slice(slopes)).collect();
    let without = slopes.iter().position(|slopes| slopes.norm() == 0.0);
    if let Some(k) = without.or(slopes.is_empty().then_some(0)) {
        return undetermined(unknowns[k]);
    }
    let unit: Vec<DVector<f64>> = slopes.iter().map(|slopes| slopes.normalize()).collect();
    let cosines = DMatrix::from_fn(unit.len(), unit.len(), |i, j| unit[i].dot(&unit[j])).symmetric_eigen();
    let direction = cosines.eigenvectors.column(cosines.eigenvalues.imin());
    let members: Vec<MaterialUnknown> =
        unknowns.iter().zip(&direction).filter(|(_, part)| part.abs() > 0.1).map(|(unknown, _)| *unknown).collect();
    match members.as_slice() {
        [one] => undetermined(*one),
        members => MaterialError::Indistinguishable { unknowns: listed(members) },
    }
}

/// Quantities that the others replace: the variance of their estimates is larger by 1/(1 − R²) than if the others were known.
fn hardly_told_apart(unknowns: &[MaterialUnknown], solution: &Solution) -> Option<String> {
    let covariance = &solution.homogeneous;
    let normal = covariance.clone().try_inverse()?;
    let is_replaced = |k: usize| covariance[(k, k)] * normal[(k, k)] > 1.0 / (1.0 - SAME * SAME);
    let members: Vec<usize> = (0..unknowns.len()).filter(|&k| is_replaced(k)).collect();
    if members.len() < 2 {
        return None;
    }
    let names = listed(&members.iter().map(|&k| unknowns[k]).collect::<Vec<_>>());
    let correlation = match members[..] {
        [i, j] => {
            format!(" (correlation {:.3})", covariance[(i, j)] / (covariance[(i, i)] * covariance[(j, j)]).sqrt())
        }
        _ => String::new(),
    };
    Some(format!(
        "{names} are hardly told apart by these measurements{correlation}: fit fewer of them, or measure with another indenter"
    ))
}

/// Reasons to doubt a fit.
pub fn of_fit(bench: &Bench<'_>, solution: &Solution, explained: f64) -> Result<Vec<String>, MaterialError> {
    let unknowns = bench.material.unknowns;
    let mut doubts: Vec<String> = hardly_told_apart(unknowns, solution).into_iter().collect();
    for (&unknown, _) in unknowns.iter().zip(&solution.held).filter(|(_, held)| **held) {
        let value = bench.material.value(&solution.values, unknown).unwrap_or(0.0);
        let rounded = format!("{} {}", (value * 1e6).round() / 1e6, unknown.unit());
        doubts.push(format!(
            "{} ended at the bound of its range ({}): the measurements do not determine it, or another value of the description is wrong",
            unknown.name(),
            rounded.trim_end()
        ));
    }
    let is_best = solution.converged && !solution.held.contains(&true);
    let part = 100.0 * explained.max(0.0);
    if !solution.converged {
        doubts.push(format!(
            "the fit did not converge and explains {part:.0} % of the forces: its values are not the best; start from other values, or fit fewer quantities"
        ));
    } else if explained < WELL_EXPLAINED {
        let wrong = if is_best { ": object, sensor or unknowns may be wrong" } else { "" };
        doubts.push(format!("the fit explains only {part:.0} % of the forces{wrong}"));
    }
    doubts.extend(implausible(bench, solution));
    if is_best {
        doubts.extend(shifted_zero(bench, solution)?);
    }
    doubts.extend(unknown_beginning(bench.points, unknowns));
    doubts.extend(unloading(bench.points));
    Ok(doubts)
}

/// Young's moduli (Pa) of skins, from the softest gels to hard plastics.
const PLAUSIBLE_PA: [f64; 2] = [300.0, 500e6];

/// A doubt about the units of the measurements, if only an unusual modulus fits.
fn implausible(bench: &Bench<'_>, solution: &Solution) -> Option<String> {
    let young_pa = bench.material.value(&solution.values, MaterialUnknown::Young)?;
    let largest_m = bench.largest_m();
    let rule = if young_pa < PLAUSIBLE_PA[0] { "softer than any skin" } else { "stiffer than any skin" };
    (!(PLAUSIBLE_PA[0]..=PLAUSIBLE_PA[1]).contains(&young_pa)).then(|| {
        format!(
            "young is {rule} ({young_pa:.1e} Pa) with depths up to {:.3e} mm: check the units of depth and force",
            1e3 * largest_m
        )
    })
}

/// Part of the largest depth from which the first contact is off.
const SHIFTED: f64 = 0.02;
/// Standard errors from which the first contact is off.
const SIGNIFICANT: f64 = 4.0;

/// A doubt about the depth of first contact, if another one fits much better: one step of Gauss and Newton with it as an unknown.
fn shifted_zero(bench: &Bench<'_>, solution: &Solution) -> Result<Option<String>, MaterialError> {
    let (count, freedom) = (bench.material.unknowns.len() + 1, solution.residuals.len());
    if bench.material.unknowns.contains(&MaterialUnknown::Zero) || freedom < count + 2 {
        return Ok(None);
    }
    let largest_m = bench.largest_m();
    let step_m = 0.5 * SHIFTED * largest_m;
    let (Some(above), Some(below)) =
        (bench.shifted(&solution.values, step_m)?, bench.shifted(&solution.values, -step_m)?)
    else {
        return Ok(None);
    };
    let by_zero = above.iter().zip(&below).map(|(above, below)| (above - below) / (2.0 * step_m)).collect();
    let columns: Vec<DVector<f64>> = solution.slopes.iter().cloned().chain([by_zero]).map(DVector::from_vec).collect();
    // Unit columns, because those of a length and of a logarithm differ by orders of magnitude.
    let sizes: Vec<f64> = columns.iter().map(|column| column.norm().max(f64::MIN_POSITIVE)).collect();
    let matrix =
        DMatrix::from_columns(&columns.iter().zip(&sizes).map(|(column, size)| column / *size).collect::<Vec<_>>());
    let residuals = DVector::from_column_slice(&solution.residuals);
    let Some(inverse) = (matrix.transpose() * &matrix).try_inverse() else { return Ok(None) };
    let numbers = &inverse * (matrix.transpose() * &residuals);
    let left = (&residuals - &matrix * &numbers).norm_squared();
    let (zero_m, variance) = (numbers[count - 1] / sizes[count - 1], left / (freedom - count) as f64);
    let error_m = (inverse[(count - 1, count - 1)] * variance).sqrt() / sizes[count - 1];
    let is_shifted =
        zero_m.abs() > (SIGNIFICANT * error_m).max(SHIFTED * largest_m) && left < 0.5 * residuals.norm_squared();
    Ok(is_shifted.then(|| {
        format!("the forces fit much better with a first contact at a depth of about {:.3} mm instead of 0: fit zero too, or correct the depths, unless another value of the description is wrong", 1e3 * zero_m)
    }))
}

/// Part of the largest force from which a first measurement is in the middle of a press.
const BEGUN: f64 = 0.1;

/// A doubt about relaxation if the measurements may begin after the press did.
fn unknown_beginning(points: &[MaterialPoint], unknowns: &[MaterialUnknown]) -> Option<String> {
    let relaxes = unknowns
        .iter()
        .any(|unknown| matches!(unknown, MaterialUnknown::RelaxationRatio | MaterialUnknown::RelaxationTime));
    let largest = points.iter().map(|point| point.force_newton).fold(f64::MIN_POSITIVE, f64::max);
    let part = points.first().map_or(0.0, |point| point.force_newton / largest);
    (relaxes && part > BEGUN).then(|| {
        format!(
            "the press is taken to begin at the time of the first measurement, which has {:.0} % of the largest force already: if it began before, add its beginning",
            100.0 * part
        )
    })
}

/// Part of the largest depth by which a depth that is held may vary.
const HELD: f64 = 0.01;

/// A doubt about measurements of unloading, whose forces are lower in a real skin. Without times, one smaller depth begins
/// another press, and two in succession unload.
fn unloading(points: &[MaterialPoint]) -> Option<String> {
    let in_time = points.iter().any(|point| point.time_s != points[0].time_s);
    let falls = |i: usize| i > 0 && points[i].depth_m < points[i - 1].depth_m;
    let mut largest_m = 0.0_f64;
    let first = (0..points.len()).find(|&i| {
        largest_m = largest_m.max(points[i].depth_m);
        points[i].depth_m < (1.0 - HELD) * largest_m && (in_time || (falls(i) && i + 1 < points.len() && falls(i + 1)))
    })?;
    Some(format!(
        "the depth decreases at measurement {}, and the fit is that of presses whose depth is held or grows: leave out the measurements of unloading",
        first + 1
    ))
}
