//! What is doubtful about the fit of a material, and about its measurements.

use super::history::{is_in_time, largest_m};
use super::model::Bench;
use super::search::MEASURE_MORE;
use super::{Estimate, MODEL_ERROR, MaterialError, MaterialPoint, MaterialUnknown, Solution, search};
use nalgebra::{DMatrix, DVector};

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

/// Relative half-width of an interval up to which a quantity is known, whatever replaces it.
const KNOWN: f64 = 0.1;

/// Quantities that the others replace: the variance of their estimates is larger by 1/(1 − R²) than if the others were known.
fn hardly_told_apart(bench: &Bench<'_>, solution: &Solution, values: &[(MaterialUnknown, Estimate)]) -> Option<String> {
    let unknowns = bench.material.unknowns;
    let covariance = &solution.homogeneous;
    let normal = covariance.clone().try_inverse()?;
    let is_replaced = |k: usize| covariance[(k, k)] * normal[(k, k)] > 1.0 / (1.0 - SAME * SAME);
    let members: Vec<usize> = (0..unknowns.len()).filter(|&k| is_replaced(k)).collect();
    let is_known = |k: &usize| {
        let (unknown, estimate) = &values[*k];
        let scale = match unknown {
            MaterialUnknown::Zero => bench.largest_m(),
            MaterialUnknown::Poisson => 1.0,
            _ => estimate.value,
        };
        estimate.ci95 < KNOWN * scale
    };
    if members.len() < 2 || members.iter().all(is_known) {
        return None;
    }
    let names = listed(&members.iter().map(|&k| unknowns[k]).collect::<Vec<_>>());
    let correlation = match members[..] {
        [i, j] => {
            format!(" (correlation {:.3})", covariance[(i, j)] / (covariance[(i, i)] * covariance[(j, j)]).sqrt())
        }
        _ => String::new(),
    };
    let remedy = match members.iter().any(|&k| unknowns[k].is_in_time()) {
        true => "record a faster press that is held for longer",
        false => "measure with another indenter",
    };
    Some(format!("{names} are hardly told apart by these measurements{correlation}: fit fewer of them, or {remedy}"))
}

/// Reasons to doubt a fit.
pub fn of_fit(
    bench: &Bench<'_>,
    solution: &Solution,
    values: &[(MaterialUnknown, Estimate)],
    explained: f64,
) -> Result<Vec<String>, MaterialError> {
    let unknowns = bench.material.unknowns;
    let mut doubts: Vec<String> = hardly_told_apart(bench, solution, values).into_iter().collect();
    doubts.extend(values.iter().filter_map(wide));
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
    doubts.extend(unexplained_shear(bench, solution));
    doubts.extend(reversed(bench.points));
    doubts.extend(implausible(bench, solution)?);
    let offset = offset(bench.points, unknowns);
    let measured = bench.measured();
    let rms = (measured.iter().map(|force| force * force).sum::<f64>() / measured.len() as f64).sqrt();
    if offset.is_none() && solution.converged && solution.rms() > MODEL_ERROR * rms {
        doubts.extend(if unknowns.iter().any(|unknown| GEOMETRY.contains(unknown)) {
            zero_instead(bench, solution, &measured)?
        } else if is_best {
            shifted_zero(bench, solution)?
        } else {
            None
        });
    }
    doubts.extend(offset);
    doubts.extend(unknown_beginning(bench.points, unknowns));
    doubts.extend(long_steps(bench, solution)?);
    doubts.extend(unloading(bench.points));
    Ok(doubts)
}

/// A doubt about the forces along x, which larger ones against the normal would hide.
fn unexplained_shear(bench: &Bench<'_>, solution: &Solution) -> Option<String> {
    let along: Vec<f64> = bench.points.iter().filter_map(|point| point.shear_force_newton).collect();
    let left = &solution.residuals[solution.residuals.len() - along.len()..];
    let squares = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>();
    let explained = 1.0 - squares(left) / squares(&along).max(f64::MIN_POSITIVE);
    (squares(&along) > 0.0 && explained < WELL_EXPLAINED).then(|| {
        format!(
            "the fit explains only {:.0} % of the forces along x: check their unit, and the displacements",
            100.0 * explained.max(0.0)
        )
    })
}

/// Correlation of depth and force below which the depths are reversed.
const REVERSED: f64 = -0.5;

/// A doubt about the sign of depths that fall as the force grows.
fn reversed(points: &[MaterialPoint]) -> Option<String> {
    let mean = |of: fn(&MaterialPoint) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (depth_m, force) = (mean(|point| point.depth_m), mean(|point| point.force_newton));
    let parts = points.iter().map(|point| [point.depth_m - depth_m, point.force_newton - force]);
    let [xx, xy, yy] = parts.fold([0.0; 3], |[xx, xy, yy], [x, y]| [xx + x * x, xy + x * y, yy + y * y]);
    (spans_depths(points) && xy < REVERSED * (xx * yy).sqrt()).then(|| {
        "the force falls where the depth grows: depths are positive into the skin, and these look reversed".to_owned()
    })
}

/// A doubt about a quantity whose interval is larger than its value.
fn wide((unknown, estimate): &(MaterialUnknown, Estimate)) -> Option<String> {
    (*unknown != MaterialUnknown::Zero && estimate.ci95 > estimate.value).then(|| {
        format!(
            "the interval of {} is larger than its value, so the measurements do not determine it: {MEASURE_MORE}",
            unknown.name()
        )
    })
}

/// Young's moduli (Pa) of skins, from the softest gels to hard plastics.
const PLAUSIBLE_PA: [f64; 2] = [1e3, 1e9];
/// Factor between the moduli of description and fit from which one of them is doubtful.
const FAR: f64 = 20.0;

/// A doubt about the units of the measurements, if only an unusual modulus fits.
fn implausible(bench: &Bench<'_>, solution: &Solution) -> Result<Option<String>, MaterialError> {
    let Some(young_pa) = bench.material.value(&solution.values, MaterialUnknown::Young) else { return Ok(None) };
    let start_pa = bench.material.start(MaterialUnknown::Young)?;
    let rule = if young_pa < PLAUSIBLE_PA[0] {
        "softer than any skin".to_owned()
    } else if young_pa > PLAUSIBLE_PA[1] {
        "stiffer than any skin".to_owned()
    } else if !(1.0 / FAR..=FAR).contains(&(young_pa / start_pa)) {
        format!("far from the {:.3} kPa of the description", 1e-3 * start_pa)
    } else {
        return Ok(None);
    };
    let force_n = bench.points.iter().map(|point| point.force_newton).fold(f64::NEG_INFINITY, f64::max);
    let depth_mm = 1e3 * bench.largest_m();
    Ok(Some(format!(
        "young is {:.3} kPa, {rule}: with depths up to {depth_mm:.3} mm and forces up to {force_n:.4} N, check the units of depth and force",
        1e-3 * young_pa
    )))
}

/// Part of the largest depth that the depths must span to tell a first contact from another.
const SPAN: f64 = 0.2;

/// False if the depths are those of one press that is held, or repeated.
fn spans_depths(points: &[MaterialPoint]) -> bool {
    let least_m = points.iter().map(|point| point.depth_m).fold(f64::INFINITY, f64::min);
    largest_m(points) - least_m > SPAN * largest_m(points)
}

/// Part of the largest force from which a force without contact is no noise.
const OFFSET: f64 = 0.02;
/// Part of the range of depths over which a constant force has no contact, and its slope relative to that of all
/// measurements.
const FLAT_PART: f64 = 0.1;
const FLAT_SLOPE: f64 = 0.05;

/// A doubt about the zero of the load cell: a force at depths of 0 or less, or one that is constant while the depth grows
/// from its smallest value. The force of a contact that begins there has as small a slope only below [`OFFSET`].
fn offset(points: &[MaterialPoint], unknowns: &[MaterialUnknown]) -> Option<String> {
    let mut sorted: Vec<[f64; 2]> = points.iter().map(|point| [point.depth_m, point.force_newton]).collect();
    sorted.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    let largest = points.iter().map(|point| point.force_newton).fold(f64::MIN_POSITIVE, f64::max);
    let slope = FLAT_SLOPE * (largest - first[1]) / (last[0] - first[0]);
    let is_flat = |rows: &&[[f64; 2]]| {
        let count = rows.len() as f64;
        let mean = |axis: usize| rows.iter().map(|row| row[axis]).sum::<f64>() / count;
        let (depth_m, force) = (mean(0), mean(1));
        let product: f64 = rows.iter().map(|row| (row[0] - depth_m) * (row[1] - force)).sum();
        let square: f64 = rows.iter().map(|row| (row[0] - depth_m).powi(2)).sum();
        rows[rows.len() - 1][0] - first[0] >= FLAT_PART * (last[0] - first[0]) && product.abs() < slope * square
    };
    let outside = sorted.partition_point(|row| row[0] <= 0.0);
    // A force that is constant up to the largest depths is held, not before contact.
    let is_early = |rows: &&[[f64; 2]]| rows[rows.len() - 1][0] < 0.5 * last[0];
    let lists = (3..sorted.len()).map(|count| &sorted[..count]).filter(|_| spans_depths(points));
    let flat = lists.filter(is_early).find(is_flat);
    let rows = flat.or((!unknowns.contains(&MaterialUnknown::Zero)).then_some(&sorted[..outside]))?;
    let force = rows.iter().map(|row| row[1]).sum::<f64>() / rows.len().max(1) as f64;
    (force.abs() > OFFSET * largest).then(|| {
        format!(
            "the force is about {force:.3} N at depths up to {:.3} mm, before contact: subtract this offset of the load cell from all forces, or correct the depths if that is a contact",
            1e3 * rows[rows.len() - 1][0]
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
    if bench.material.unknowns.contains(&MaterialUnknown::Zero) || freedom < count + 2 || !spans_depths(bench.points) {
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

/// Quantities whose effect on the forces is like that of another first contact.
const GEOMETRY: [MaterialUnknown; 2] = [MaterialUnknown::Poisson, MaterialUnknown::Thickness];

/// A doubt about fitted [`GEOMETRY`], if the values of the description and another first contact fit as well.
fn zero_instead(bench: &Bench<'_>, solution: &Solution, measured: &[f64]) -> Result<Option<String>, MaterialError> {
    let (fitted, mut others): (Vec<_>, Vec<_>) = bench.material.unknowns.iter().partition(|it| GEOMETRY.contains(it));
    if others.contains(&MaterialUnknown::Zero) {
        return Ok(None);
    }
    others.push(MaterialUnknown::Zero);
    let other = bench.with_unknowns(&others)?;
    let Ok(shifted) = search::solve(&other, measured) else { return Ok(None) };
    let zero_m = shifted.values[others.len() - 1];
    let is_shifted = zero_m.abs() > SHIFTED * bench.largest_m() && shifted.rms() <= solution.rms();
    Ok(is_shifted.then(|| {
        format!(
            "the forces fit as well with {} as in the description and a first contact at a depth of about {:.3} mm instead of 0: fit zero instead, or correct the depths",
            listed(&fitted), 1e3 * zero_m
        )
    }))
}

/// Part of the largest depth, and of the time constant, from which the motion between two measurements matters.
const LONG_DEPTH: f64 = 0.3;
const LONG_TIME: f64 = 0.3;

/// A doubt about relaxation if most of a press lies between two measurements.
fn long_steps(bench: &Bench<'_>, solution: &Solution) -> Result<Option<String>, MaterialError> {
    let spectrum = bench.material.spectrum(&solution.values)?;
    let shortest_s = spectrum.iter().map(|branch| branch[1]).fold(f64::INFINITY, f64::min);
    let is_long = |pair: &[MaterialPoint]| {
        (pair[1].depth_m - pair[0].depth_m.max(0.0)).abs() > LONG_DEPTH * bench.largest_m()
            && pair[1].time_s - pair[0].time_s > LONG_TIME * shortest_s
    };
    Ok(bench.points.windows(2).position(is_long).filter(|_| bench.material.fits_relaxation()).map(|i| {
        let [before, after] = [bench.points[i], bench.points[i + 1]];
        format!(
            "the depth changes by {:.3} mm in {:.3} s between measurements {} and {}, evenly in the fit: if it did not, add measurements between them",
            1e3 * (after.depth_m - before.depth_m), after.time_s - before.time_s, i + 1, i + 2
        )
    }))
}

/// Part of the largest force from which a first measurement is in the middle of a press.
const BEGUN: f64 = 0.1;

/// A doubt about relaxation if the measurements may begin after the press did.
fn unknown_beginning(points: &[MaterialPoint], unknowns: &[MaterialUnknown]) -> Option<String> {
    let relaxes = unknowns.iter().any(|unknown| unknown.is_in_time());
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
    let in_time = is_in_time(points);
    let falls = |i: usize| i > 0 && points[i].depth_m < points[i - 1].depth_m;
    let mut largest_m = 0.0_f64;
    let first = (0..points.len()).find(|&i| {
        largest_m = largest_m.max(points[i].depth_m);
        largest_m > 0.0
            && points[i].depth_m < (1.0 - HELD) * largest_m
            && (in_time || (falls(i) && i + 1 < points.len() && falls(i + 1)))
    })?;
    Some(format!(
        "the depth decreases at measurement {}, and the fit is that of presses whose depth is held or grows: leave out the measurements of unloading",
        first + 1
    ))
}
