//! Fits the motion of magnets in a lattice or foam to a recording of a probe and of the flux densities.

use super::{Estimate, FitError};
use crate::magnetic::{
    Freedoms, MagneticInverse, Magnetics, MagnetsSpec, MotionHysteresisSpec, MotionResidualSpec, MotionTable,
    MotionTableSpec, TableGrid, follow_play, motion_of,
};
use crate::{Sensor, SensorSpec};
use dermis_geometry::{Vec2, Vec3};
use dermis_skin::layer::MaterialMotion;
use nalgebra::{DMatrix, DVector, SymmetricEigen};
use std::ops::AddAssign;
use std::path::Path;

/// One sample of a recording, in the order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct MagneticSample {
    /// Place of the probe (m) in the sensor frame.
    pub at_m: Vec2,
    /// Travel of the probe (m) past first contact; zero or negative without contact.
    pub travel_m: f64,
    /// Load (N), if it was measured.
    pub load_newton: Option<f64>,
    /// Flux density (T) at each chip, in its frame.
    pub field_tesla: Vec<Vec3>,
}

/// Settings of the fit.
#[derive(Clone, Debug, PartialEq)]
pub struct MagneticFitSettings {
    /// Nodes of the table.
    pub grid: TableGrid,
    /// Direction of the travel.
    pub along: [f64; 3],
    /// Radius (m) of the play between loading and unloading; `None`: no hysteresis.
    pub play_m: Option<f64>,
    /// Weight of the smoothness of the table over x and y.
    pub smoothness: f64,
}

/// Error of a prediction on part of a recording.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct MagneticScore {
    /// Number of samples.
    pub samples: usize,
    /// Root mean square error over the standard deviation of the change, over all channels.
    pub nrmse: f64,
    /// The same of the null model, the mean of each channel: 1.
    pub null: f64,
    /// Standard deviation of the change (T).
    pub sd_tesla: f64,
    /// Root mean square error (N) of the load that the inverse finds from the field; `None` without loads.
    pub load_rmse_newton: Option<f64>,
    /// Standard deviation of the load (N): the error of the null model.
    pub load_sd_newton: Option<f64>,
}

/// The result of a fit.
#[derive(Clone, Debug)]
pub struct MagneticFit {
    /// The sensor with the table of motions.
    pub spec: SensorSpec,
    /// Error on the samples of the fit.
    pub fitted: MagneticScore,
    /// Error on the samples that were kept out.
    pub kept_out: Option<MagneticScore>,
    /// Largest displacement (m) in the table and its 95 % interval.
    pub largest_m: Estimate,
    /// Load (N) at the deepest node and its 95 % interval, if loads were measured.
    pub load_newton: Option<Estimate>,
}

/// Iterations of the fit; each evaluates the field with the nonlinear model.
const ITERATIONS: usize = 60;
/// Number of modes of the residual.
const MODES: usize = 6;
/// A rotation of 1 rad counts as this displacement (m) in the smallest motion that explains a field.
const ARM_M: f64 = 5e-3;
/// Part of the largest singular value below which a direction of the field is not explained by a motion in one step: the
/// first one, which grows after a step that fails and shrinks after one that succeeds, to the least.
const DAMPING: f64 = 0.03;
const MIN_DAMPING: f64 = 1e-3;

/// Columns of a sample and their weights.
type Weights = Vec<(usize, f64)>;

/// The state of an iteration.
#[derive(Clone)]
struct Progress {
    /// Motions of the magnets at each node, then half their differences.
    table: Vec<Vec<Freedoms>>,
    /// Offset of each channel (T), if rest was not measured.
    extra: Vec<f64>,
    /// Fields (T) of the nodes to first order.
    fields: DMatrix<f64>,
}

/// Fits a table of motions to the samples with `used`, and scores the others.
///
/// At each node the field is a linear function of the weights of the nodes to first order, so a smooth table of fields is
/// fitted by least squares to the part that is not explained yet, and converted into the smallest motion of the magnets
/// that changes the field by it, with the Jacobian at the node; this is repeated with the nonlinear field. More motions than
/// channels are undetermined: the table holds the smallest.
pub fn fit_magnetic(
    start: &SensorSpec,
    folder: Option<&Path>,
    samples: &[MagneticSample],
    used: &[bool],
    settings: &MagneticFitSettings,
) -> Result<MagneticFit, FitError> {
    let unusable = |reason: String| FitError::Unusable { reason };
    let MagneticFitSettings { grid, along, play_m, smoothness } = settings;
    let magnets_spec = start.magnets.as_ref().ok_or_else(|| unusable("the sensor has no `[magnets]`".to_owned()))?;
    let with = |motion: &MotionTableSpec| {
        let magnets = MagnetsSpec { motion: Some(motion.clone()), ..magnets_spec.clone() };
        SensorSpec { magnets: Some(magnets), ..start.clone() }
    };
    if magnets_spec.elastomer.is_some() {
        let reason = "a table of motions needs magnets with `positions` or a `lattice`: the cells of an `elastomer` move with the skin";
        return Err(unusable(reason.to_owned()));
    }
    let count = magnets_spec.positions.len().max(magnets_spec.lattice.map_or(0, |l| l.rows * l.cols));
    let still = MotionTable::spec(grid, *along, &vec![[0.0; 5]; count * grid.nodes()], None);
    let sensor = built(&with(&still), folder)?;
    let magnetics = sensor.magnetics().ok_or_else(|| unusable("the sensor has no magnetometers".to_owned()))?;
    let channels = 3 * magnetics.chips().len();
    check_samples(samples, channels / 3)?;
    let sides = sides(samples, play_m.unwrap_or(0.0));
    let parts = if play_m.is_some() { 2 } else { 1 };
    let (nodes, rest) = (grid.nodes(), rest_of(samples));
    // Without samples at rest, the offset of each channel is one more unknown.
    let columns = nodes * parts + usize::from(rest.is_none());
    let row_of = |sample: &MagneticSample, side: f64| {
        let mut row: Vec<(usize, f64)> = Vec::with_capacity(17);
        for (node, weight) in grid.weights(sample.at_m, sample.travel_m) {
            row.push((node, weight));
            if parts == 2 {
                row.push((nodes + node, weight * side));
            }
        }
        if rest.is_none() {
            row.push((columns - 1, 1.0));
        }
        row
    };
    let fit_rows: Vec<usize> = (0..samples.len()).filter(|&i| used[i]).collect();
    if fit_rows.len() < columns {
        return Err(FitError::TooFew { what: "the nodes of the table", got: fit_rows.len(), needed: columns });
    }
    let design: Vec<Vec<(usize, f64)>> = fit_rows.iter().map(|&i| row_of(&samples[i], sides[i])).collect();
    let penalty = roughness(grid, parts, columns) * *smoothness;
    let mut normal = penalty.clone() + DMatrix::identity(columns, columns) * 1e-6;
    for row in &design {
        for &(i, a) in row {
            row.iter().for_each(|&(j, b)| normal[(i, j)] += a * b);
        }
    }
    let factor = normal.cholesky().ok_or(FitError::NoSpread { what: "place and depth" })?;
    let offset = rest.clone().unwrap_or_else(|| mean_field(samples, &fit_rows));
    let still = magnetics.field_of(&vec![MaterialMotion::default(); count]);
    let mut now = Progress {
        table: vec![vec![[0.0; 5]; count]; nodes * parts],
        extra: vec![0.0; channels],
        fields: DMatrix::zeros(columns, channels),
    };
    let mut best: Option<(f64, DMatrix<f64>, Progress)> = None;
    let mut damping = DAMPING;
    for _ in 0..ITERATIONS {
        let mut right = -(&penalty * &now.fields);
        let mut squares = (now.fields.transpose() * &penalty * &now.fields).trace();
        for (&i, row) in fit_rows.iter().zip(&design) {
            let predicted = magnetics.field_of(&motions(&now.table, row, count));
            for (chip, field) in predicted.iter().enumerate() {
                let left = samples[i].field_tesla[chip] - offset[chip] - (*field - still[chip]);
                for (axis, left) in left.to_array().into_iter().enumerate() {
                    let left = left - now.extra[3 * chip + axis];
                    squares += left * left;
                    row.iter().for_each(|&(column, weight)| right[(column, 3 * chip + axis)] += weight * left);
                }
            }
        }
        let better = best.as_ref().is_none_or(|(before, ..)| squares < *before);
        damping = if better { (0.6 * damping).max(MIN_DAMPING) } else { 3.0 * damping };
        if better {
            best = Some((squares, factor.solve(&right), now.clone()));
        }
        let Some((_, step, start)) = &best else { break };
        now = start.clone();
        for (node, moved) in now.table.iter_mut().enumerate() {
            let around: Vec<Freedoms> = if node < nodes { moved.clone() } else { vec![[0.0; 5]; count] };
            let wanted = step.row(node).transpose();
            let (change, reached) = smallest_motion(magnetics, &around, &wanted, damping);
            now.fields.row_mut(node).add_assign(&reached.transpose());
            for (moved, change) in moved.iter_mut().zip(change.chunks_exact(5)) {
                moved.iter_mut().zip(change).for_each(|(moved, change)| *moved += change);
            }
        }
        if rest.is_none() {
            now.extra.iter_mut().enumerate().for_each(|(k, extra)| *extra += step[(columns - 1, k)]);
        }
    }
    let table = best.map_or(now, |(_, _, best)| best).table;
    let flat: Vec<Freedoms> = table.iter().flatten().copied().collect();
    let (mean, half) = flat.split_at(nodes * count);
    let mut motion = MotionTable::spec(grid, *along, mean, play_m.map(|play_m| (play_m, half)));
    let load_newton = add_loads(&mut motion, samples, used, &row_of, &sides, nodes);
    let first = built(&with(&motion), folder)?;
    if let Some(first) = first.magnetics() {
        motion.residual = Some(residual(first, samples, used, channels));
    }
    let spec = with(&motion);
    let sensor = built(&spec, folder)?;
    let magnetics = sensor.magnetics().ok_or_else(|| unusable("the sensor has no magnetometers".to_owned()))?;
    let unknown = || unusable("no samples to score".to_owned());
    let fitted = score_magnetic(magnetics, samples, |i| used[i]).ok_or_else(unknown)?;
    let kept_out = score_magnetic(magnetics, samples, |i| !used[i]);
    let displacement = |m: &Freedoms| Vec3::new(m[0], m[1], m[2]).length();
    let largest = mean.iter().map(displacement).fold(0.0, f64::max);
    // The error of the field over its slope: that of a motion along the smallest change.
    let per_node = (fit_rows.len() as f64 / columns as f64).max(1.0);
    let slope = fitted.sd_tesla
        / (mean.iter().map(|m| displacement(m).powi(2)).sum::<f64>() / mean.len() as f64).sqrt().max(1e-9);
    let ci95 = 1.96 * fitted.nrmse * fitted.sd_tesla / slope / per_node.sqrt();
    Ok(MagneticFit { spec, fitted, kept_out, largest_m: Estimate { value: largest, ci95 }, load_newton })
}

/// Returns an error for samples that are not finite or of other chips.
pub(super) fn check_samples(samples: &[MagneticSample], chips: usize) -> Result<(), FitError> {
    for (row, sample) in samples.iter().enumerate() {
        let found = sample.field_tesla.len();
        if found != chips {
            let reason = format!("row {} has {found} chips and the sensor has {chips}", row + 1);
            return Err(FitError::Unusable { reason });
        }
        let finite = sample.field_tesla.iter().all(|field| field.is_finite())
            && sample.at_m.is_finite()
            && sample.travel_m.is_finite();
        if !finite {
            return Err(FitError::NotFinite { row: row + 1, x: sample.travel_m, y: sample.field_tesla[0].x });
        }
    }
    Ok(())
}

pub(super) fn built(spec: &SensorSpec, folder: Option<&Path>) -> Result<Sensor, FitError> {
    spec.build(folder).map_err(|error| FitError::Unusable { reason: error.to_string() })
}

/// The motions of the magnets for a row of weights.
fn motions(table: &[Vec<Freedoms>], row: &[(usize, f64)], count: usize) -> Vec<MaterialMotion> {
    let mut sums = vec![[0.0; 5]; count];
    for (node, weight) in row {
        let Some(moved) = table.get(*node) else { continue };
        for (sum, moved) in sums.iter_mut().zip(moved) {
            sum.iter_mut().zip(moved).for_each(|(sum, moved)| *sum += weight * moved);
        }
    }
    sums.into_iter().map(motion_of).collect()
}

/// Side of the hysteresis of each sample: 1 when loading, -1 when unloading.
fn sides(samples: &[MagneticSample], play_m: f64) -> Vec<f64> {
    let mut held_m = 0.0;
    let side = |sample: &MagneticSample| follow_play(play_m, &mut held_m, sample.travel_m.max(0.0));
    samples.iter().map(side).collect()
}

/// Mean field (T) of the samples before the first contact, if there are at least three.
fn rest_of(samples: &[MagneticSample]) -> Option<Vec<Vec3>> {
    let leading: Vec<usize> = (0..samples.len()).take_while(|&i| samples[i].travel_m < 1e-5).collect();
    (leading.len() >= 3).then(|| mean_field(samples, &leading))
}

fn mean_field(samples: &[MagneticSample], rows: &[usize]) -> Vec<Vec3> {
    let chips = samples.first().map_or(0, |sample| sample.field_tesla.len());
    let mean =
        |chip: usize| rows.iter().map(|&i| samples[i].field_tesla[chip]).sum::<Vec3>() / rows.len().max(1) as f64;
    (0..chips).map(mean).collect()
}

/// Sum of squared second differences of the nodes along x and y, as a quadratic form.
fn roughness(grid: &TableGrid, parts: usize, columns: usize) -> DMatrix<f64> {
    let (width, height) = (grid.x.len(), grid.y.len());
    let mut form = DMatrix::zeros(columns, columns);
    let mut add = |a: usize, b: usize, c: usize| {
        for (i, u) in [(a, 1.0), (b, -2.0), (c, 1.0)] {
            for (j, v) in [(a, 1.0), (b, -2.0), (c, 1.0)] {
                form[(i, j)] += u * v;
            }
        }
    };
    for level in 0..(grid.depth.len() - 1) * parts {
        let node = |row: usize, column: usize| (level * height + row) * width + column;
        for row in 0..height {
            for column in 0..width {
                if column + 2 < width {
                    add(node(row, column), node(row, column + 1), node(row, column + 2));
                }
                if row + 2 < height {
                    add(node(row, column), node(row + 1, column), node(row + 2, column));
                }
            }
        }
    }
    form
}

/// The smallest change of the magnets' freedoms that changes the field by about `wanted` (T), to first order around a
/// motion, and the change of the field (T) to first order.
fn smallest_motion(
    magnetics: &Magnetics,
    around: &[Freedoms],
    wanted: &DVector<f64>,
    damping: f64,
) -> (Vec<f64>, DVector<f64>) {
    let channels = wanted.len();
    let field = |moved: &[Freedoms]| {
        let motions: Vec<MaterialMotion> = moved.iter().copied().map(motion_of).collect();
        let flat: Vec<f64> = magnetics.field_of(&motions).iter().flat_map(|field| field.to_array()).collect();
        DVector::from_vec(flat)
    };
    let scale = |freedom: usize| if freedom % 5 < 3 { 1.0 } else { 1.0 / ARM_M };
    let mut jacobian = DMatrix::zeros(channels, 5 * around.len());
    for freedom in 0..5 * around.len() {
        let step = 1e-5 * scale(freedom);
        let [mut low, mut high] = [around.to_vec(), around.to_vec()];
        low[freedom / 5][freedom % 5] -= step;
        high[freedom / 5][freedom % 5] += step;
        jacobian.set_column(freedom, &((field(&high) - field(&low)) * (scale(freedom) / (2.0 * step))));
    }
    let gram = &jacobian * jacobian.transpose();
    let damping = damping * damping * gram.trace();
    let damped = gram + DMatrix::identity(channels, channels) * damping.max(f64::MIN_POSITIVE);
    let Some(factor) = damped.cholesky() else {
        return (vec![0.0; 5 * around.len()], DVector::zeros(channels));
    };
    let moved = jacobian.tr_mul(&factor.solve(wanted));
    let reached = &jacobian * &moved;
    (moved.iter().enumerate().map(|(freedom, moved)| moved * scale(freedom)).collect(), reached)
}

/// Adds the loads to a table, and returns the load at its deepest node.
fn add_loads(
    motion: &mut MotionTableSpec,
    samples: &[MagneticSample],
    used: &[bool],
    row_of: &dyn Fn(&MagneticSample, f64) -> Weights,
    sides: &[f64],
    nodes: usize,
) -> Option<Estimate> {
    let columns = nodes * if motion.hysteresis.is_some() { 2 } else { 1 };
    let mut normal = DMatrix::<f64>::identity(columns, columns) * 1e-6;
    let mut right = DVector::<f64>::zeros(columns);
    let (mut count, mut squares) = (0usize, 0.0);
    let loaded =
        || samples.iter().enumerate().filter(|(i, _)| used[*i]).filter_map(|(i, s)| Some((i, s, s.load_newton?)));
    for (i, sample, load) in loaded() {
        let row = row_of(sample, sides[i]);
        for &(a, u) in row.iter().filter(|(column, _)| *column < columns) {
            right[a] += u * load;
            row.iter().filter(|(column, _)| *column < columns).for_each(|&(b, v)| normal[(a, b)] += u * v);
        }
        count += 1;
    }
    if count < columns + 3 {
        return None;
    }
    let factor = normal.cholesky()?;
    let loads = factor.solve(&right);
    for (i, sample, load) in loaded() {
        let row = row_of(sample, sides[i]);
        let found: f64 = row.iter().filter(|(column, _)| *column < columns).map(|&(a, u)| u * loads[a]).sum();
        squares += (found - load).powi(2);
    }
    let sd = (squares / (count - columns) as f64).sqrt();
    let round = |load: &f64| (load * 1e3).round() / 1e3 + 0.0;
    motion.loads_n = loads.iter().take(nodes).map(round).collect();
    if let Some(MotionHysteresisSpec { loads_n, .. }) = &mut motion.hysteresis {
        *loads_n = loads.iter().skip(nodes).map(round).collect();
    }
    let variance = factor.inverse()[(nodes - 1, nodes - 1)];
    Some(Estimate { value: loads[nodes - 1], ci95: 1.96 * sd * variance.max(0.0).sqrt() })
}

/// Measured less predicted change (T) of each sample, without the offset of the run.
fn residuals(
    magnetics: &Magnetics,
    samples: &[MagneticSample],
    used: impl Fn(usize) -> bool,
) -> Option<Vec<Vec<Vec3>>> {
    let table = magnetics.motion_table()?;
    let mut held_m = 0.0;
    let still = magnetics.field_of(&table.motions(Vec2::ZERO, 0.0, 1.0));
    let mut all: Vec<Vec<Vec3>> = Vec::with_capacity(samples.len());
    for sample in samples {
        let travel_m = sample.travel_m.max(0.0);
        let side = table.follow(&mut held_m, travel_m);
        let field = magnetics.field_of(&table.motions(sample.at_m, travel_m, side));
        all.push((0..still.len()).map(|chip| sample.field_tesla[chip] - (field[chip] - still[chip])).collect());
    }
    let scored: Vec<usize> = (0..samples.len()).filter(|&i| used(i)).collect();
    let offset = rest_of(samples).unwrap_or_else(|| {
        let mean = |chip: usize| scored.iter().map(|&i| all[i][chip]).sum::<Vec3>() / scored.len().max(1) as f64;
        (0..still.len()).map(mean).collect()
    });
    Some(all.into_iter().map(|row| row.iter().zip(&offset).map(|(left, offset)| *left - *offset).collect()).collect())
}

/// The error of the table of a sensor on some samples of a recording. The offset at rest is that of the first samples
/// without contact, or, where there are none, the mean error.
pub fn score_magnetic(
    magnetics: &Magnetics,
    samples: &[MagneticSample],
    used: impl Fn(usize) -> bool,
) -> Option<MagneticScore> {
    let left = residuals(magnetics, samples, &used)?;
    let scored: Vec<usize> = (0..samples.len()).filter(|&i| used(i)).collect();
    let score = score_of(&left, samples, &scored)?;
    let (load_rmse_newton, load_sd_newton) = load_errors(magnetics, samples, &scored).unzip();
    Some(MagneticScore { load_rmse_newton, load_sd_newton, ..score })
}

/// The score of what predictions leave (T) of each sample, without loads.
pub(super) fn score_of(left: &[Vec<Vec3>], samples: &[MagneticSample], scored: &[usize]) -> Option<MagneticScore> {
    if scored.is_empty() {
        return None;
    }
    let mean = mean_field(samples, scored);
    let (mut error, mut spread) = (0.0, 0.0);
    for &i in scored {
        for (chip, mean) in mean.iter().enumerate() {
            error += left[i][chip].length_squared();
            spread += (samples[i].field_tesla[chip] - *mean).length_squared();
        }
    }
    let channels = (3 * mean.len() * scored.len()) as f64;
    Some(MagneticScore {
        samples: scored.len(),
        nrmse: (error / spread).sqrt(),
        null: 1.0,
        sd_tesla: (spread / channels).sqrt(),
        load_rmse_newton: None,
        load_sd_newton: None,
    })
}

/// Error of the load that the inverse finds from the field, and the standard deviation of the load (N).
fn load_errors(magnetics: &Magnetics, samples: &[MagneticSample], scored: &[usize]) -> Option<(f64, f64)> {
    let rest = rest_of(samples)?;
    let inverse = MagneticInverse::new(magnetics)?;
    let (mut squares, mut loads) = (0.0, Vec::new());
    for sample in scored.iter().map(|&i| &samples[i]) {
        let Some(load) = sample.load_newton else { continue };
        let change: Vec<Vec3> = sample.field_tesla.iter().zip(&rest).map(|(field, rest)| *field - *rest).collect();
        squares += (inverse.estimate(&change)?.load_newton?.value - load).powi(2);
        loads.push(load);
    }
    let count = loads.len() as f64;
    let mean = loads.iter().sum::<f64>() / count;
    let variance = loads.iter().map(|load| (load - mean).powi(2)).sum::<f64>() / count;
    (count > 0.0).then_some(((squares / count).sqrt(), variance.sqrt()))
}

/// The residual of a table: its largest modes, and the standard deviation of the rest.
fn residual(magnetics: &Magnetics, samples: &[MagneticSample], used: &[bool], channels: usize) -> MotionResidualSpec {
    let left = residuals(magnetics, samples, |i| used[i]).unwrap_or_default();
    let mut covariance = DMatrix::<f64>::zeros(channels, channels);
    let mut count = 0.0;
    for row in left.iter().zip(used).filter(|(_, used)| **used).map(|(row, _)| row) {
        let flat: Vec<f64> = row.iter().flat_map(|left| (*left * 1e6).to_array()).collect();
        let flat = DVector::from_vec(flat);
        covariance += &flat * flat.transpose();
        count += 1.0;
    }
    let eigen = SymmetricEigen::new(covariance / f64::max(count, 1.0));
    let mut order: Vec<usize> = (0..channels).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let modes = MODES.min(channels / 2);
    let rest: f64 = order[modes..].iter().map(|&i| eigen.eigenvalues[i].max(0.0)).sum();
    let sd_ut = ((rest / (channels - modes) as f64).sqrt()).max(1.0);
    let mode = |&i: &usize| {
        let size = (eigen.eigenvalues[i] - sd_ut * sd_ut).max(0.0).sqrt();
        eigen.eigenvectors.column(i).iter().map(|part| (part * size * 100.0).round() / 100.0 + 0.0).collect()
    };
    MotionResidualSpec { sd_ut: (sd_ut * 100.0).round() / 100.0, modes_ut: order[..modes].iter().map(mode).collect() }
}
