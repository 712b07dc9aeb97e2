//! Robust nonlinear least squares with a few unknowns (Levenberg–Marquardt, differences of the predictions).

use nalgebra::{DMatrix, DVector};

/// Predictions for values of the unknowns; `None` where the model has none, such as outside the sensor.
pub type Predict<'a, E> = &'a dyn Fn(&[f64]) -> Result<Option<Vec<f64>>, E>;

/// A problem: predictions that should equal measurements.
pub struct LeastSquares<'a, E> {
    /// The predictions.
    pub predict: Predict<'a, E>,
    /// Predictions whose differences are the slopes: the same, or those of a similar model that is faster.
    pub slopes_of: Predict<'a, E>,
    /// The measurements.
    pub measured: &'a [f64],
    /// Group of each measurement. Errors within a group are correlated, those of different groups are not.
    pub groups: &'a [usize],
    /// Step of the differences for each unknown.
    pub steps: &'a [f64],
    /// Relative decrease of the cost at which the search ends.
    pub min_decrease: f64,
    /// True if a step that needs strong damping never ends the search: slower, but the start may be far from the solution.
    pub is_thorough: bool,
    /// True if residuals beyond [`LINEAR_BEYOND`] times their scale count linearly.
    pub robust: bool,
    /// Least and largest value of each unknown, which are equal for one that is given; empty without bounds.
    pub bounds: &'a [[f64; 2]],
    /// The unknown whose exponential all predictions are proportional to: its best value has a closed form for any values of the others.
    pub factor: Option<usize>,
}

/// The solution of a problem.
#[derive(Clone, Debug)]
pub struct Solution {
    /// Values of the unknowns.
    pub values: Vec<f64>,
    /// Covariance of the values, from their changes when one group is left out after the other (jackknife); infinite if one group
    /// alone determines a value.
    pub covariance: DMatrix<f64>,
    /// Covariance of the values for independent errors of variance 1.
    pub homogeneous: DMatrix<f64>,
    /// Measurements minus predictions.
    pub residuals: Vec<f64>,
    /// Differences of the predictions, one list per unknown; empty where the model has none.
    pub slopes: Vec<Vec<f64>>,
    /// True if no step is expected to improve the fit noticeably, within the bounds.
    pub converged: bool,
    /// Unknowns that would leave their bounds.
    pub held: Vec<bool>,
}

impl Solution {
    /// Root mean square residual.
    pub fn rms(&self) -> f64 {
        (self.residuals.iter().map(|r| r * r).sum::<f64>() / self.residuals.len().max(1) as f64).sqrt()
    }
}

/// Differences of the predictions, one list per unknown, and the values at which they were found.
struct Slopes {
    at: Vec<f64>,
    slopes: Vec<Vec<f64>>,
}

/// The end of a search.
struct Minimum {
    values: Vec<f64>,
    residuals: Vec<f64>,
    kept: Option<Slopes>,
    converged: bool,
}

/// Values of the unknowns and the residuals there.
type Place = (Vec<f64>, Vec<f64>);

/// Maximum number of iterations, and of trials within one.
const MAX_ITERATIONS: usize = 40;
const MAX_TRIALS: usize = 6;
const MAX_TRIALS_THOROUGH: usize = 8;
/// Residuals beyond this multiple of their scale count linearly (Huber).
const LINEAR_BEYOND: f64 = 2.0;
/// Longest step of an iteration, in steps of the differences.
const MAX_STEP: f64 = 25.0;
/// Ratio of the eigenvalues of the normal matrix, in steps of the differences, below which an unknown is not determined.
const MIN_RATIO: f64 = 1e-10;
/// Length of a step, in steps of the differences, at which the search has converged.
const CONVERGED: f64 = 0.05;
/// Motion of the values, in steps of the differences, beyond which the slopes are found anew.
const RENEWED: f64 = 0.5;
/// Relative decrease of the cost at which the search has converged, unless [`LeastSquares::min_decrease`] is another.
const MIN_DECREASE: f64 = 1e-5;
/// Damping beyond which a short step or a small decrease does not end a thorough search.
const MAX_DAMPING: f64 = 1.0;
/// Expected decrease of the cost, relative to it, at which the values are those of a minimum.
const NEGLIGIBLE: f64 = 0.01;
/// Root mean square residual, relative to that of the measurements, at which nothing is left to improve.
const EXACT: f64 = 1e-5;

impl<'a, E> LeastSquares<'a, E> {
    /// A problem whose slopes are those of its predictions.
    pub fn new(predict: Predict<'a, E>, measured: &'a [f64], groups: &'a [usize], steps: &'a [f64]) -> Self {
        let (min_decrease, bounds, factor) = (MIN_DECREASE, [].as_slice(), None);
        let (is_thorough, robust) = (false, true);
        Self { predict, slopes_of: predict, measured, groups, steps, min_decrease, is_thorough, robust, bounds, factor }
    }

    /// Minimises from a start. `None` if the start has no prediction.
    pub fn solve(&self, start: &[f64]) -> Result<Option<Solution>, E> {
        let Some(Minimum { values, residuals, kept, converged }) = self.minimise(start)? else { return Ok(None) };
        let slopes = self.renewed(kept, &values)?.map(|slopes| slopes.slopes).unwrap_or_default();
        let (covariance, homogeneous) = self.covariance(&slopes, &residuals);
        let (normal, gradient) = normal_equations(&slopes, &residuals, &self.weights(&residuals));
        let held = self.held(&values, &gradient);
        let converged = converged || (!slopes.is_empty() && self.is_minimum(normal, gradient, &residuals, &held));
        Ok(Some(Solution { values, covariance, homogeneous, residuals, slopes, converged, held }))
    }

    /// Like [`LeastSquares::solve`], but only the values and their cost.
    pub fn values(&self, start: &[f64]) -> Result<Option<(Vec<f64>, f64)>, E> {
        let minimum = self.minimise(start)?;
        Ok(minimum.map(|minimum| (minimum.values, self.cost(&minimum.residuals, &minimum.residuals))))
    }

    fn minimise(&self, start: &[f64]) -> Result<Option<Minimum>, E> {
        let first = self.scaled(start.to_vec(), &vec![1.0; self.measured.len()])?;
        let Some((mut values, mut residuals)) = first else { return Ok(None) };
        let (mut damping, mut converged) = (1e-3, false);
        let mut kept: Option<Slopes> = None;
        for _ in 0..MAX_ITERATIONS {
            let weights = self.weights(&residuals);
            let Some(slopes) = self.renewed(kept.take(), &values)? else { break };
            let (normal, gradient) = normal_equations(&slopes.slopes, &residuals, &weights);
            let held = self.held(&values, &gradient);
            let cost = self.cost(&residuals, &residuals);
            let mut moved = None;
            for _ in 0..if self.is_thorough { MAX_TRIALS_THOROUGH } else { MAX_TRIALS } {
                let Some(step) = damped_step(&normal, &gradient, &held, damping) else { break };
                let trial = self.within(&values, self.limited(step));
                let better = self.scaled(trial, &weights)?.filter(|(_, new)| self.cost(new, &residuals) < cost);
                if better.is_some() {
                    damping = (damping * 0.2).max(1e-9);
                    moved = better;
                    break;
                }
                damping *= 8.0;
            }
            let is_here = slopes.at == values;
            kept = Some(slopes).filter(|_| moved.is_some() || is_here);
            let Some((trial, new)) = moved else {
                if is_here {
                    converged = self.is_minimum(normal, gradient, &residuals, &held);
                    break;
                }
                // The slopes of a place nearby do not lead further, those of this one may.
                continue;
            };
            let new_cost = self.cost(&new, &residuals);
            let is_short =
                trial.iter().zip(&values).zip(self.steps).all(|((a, b), step)| (a - b).abs() < CONVERGED * step);
            (values, residuals) = (trial, new);
            let is_far = self.is_thorough && damping >= MAX_DAMPING;
            let is_settled = !is_far && (new_cost > (1.0 - self.min_decrease) * cost || is_short);
            if is_settled || (self.is_thorough && self.is_exact(self.cost(&residuals, &residuals))) {
                converged = true;
                break;
            }
        }
        Ok(Some(Minimum { values, residuals, kept, converged }))
    }

    /// Unknowns at a bound that the next step would leave.
    fn held(&self, values: &[f64], gradient: &DVector<f64>) -> Vec<bool> {
        let is_held = |k: usize| {
            let [least, largest] = self.bounds.get(k).copied().unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
            (values[k] <= least && gradient[k] < 0.0) || (values[k] >= largest && gradient[k] > 0.0)
        };
        (0..gradient.len()).map(is_held).collect()
    }

    /// The values after a step, moved to the bounds that it would leave.
    fn within(&self, values: &[f64], step: Vec<f64>) -> Vec<f64> {
        let mut moved: Vec<f64> = values.iter().zip(&step).map(|(value, step)| value + step).collect();
        moved.iter_mut().zip(self.bounds).for_each(|(value, [least, largest])| *value = value.clamp(*least, *largest));
        moved
    }

    /// True if the undamped step is expected to improve the fit by less than [`NEGLIGIBLE`], or nothing is left to improve.
    fn is_minimum(&self, normal: DMatrix<f64>, gradient: DVector<f64>, residuals: &[f64], held: &[bool]) -> bool {
        let Some(step) = damped_step(&normal, &gradient, held, 1e-9) else { return false };
        let expected: f64 =
            step.iter().zip(&gradient).zip(held).map(|((a, b), held)| if *held { 0.0 } else { a * b }).sum();
        let cost = self.cost(residuals, residuals);
        expected < NEGLIGIBLE * cost || self.is_exact(cost)
    }

    /// True if nothing is left to improve about residuals of a cost.
    pub fn is_exact(&self, cost: f64) -> bool {
        cost < EXACT * EXACT * self.measured.iter().map(|one| one * one).sum::<f64>()
    }

    fn weights(&self, residuals: &[f64]) -> Vec<f64> {
        let limit = if self.robust { LINEAR_BEYOND * scale(residuals) } else { f64::MAX };
        residuals.iter().map(|residual| limit / residual.abs().max(limit)).collect()
    }

    /// Cost of residuals, with the scale of some of them.
    fn cost(&self, residuals: &[f64], scaled_by: &[f64]) -> f64 {
        let limit = if self.robust { LINEAR_BEYOND * scale(scaled_by) } else { f64::MAX };
        let one = |size: f64| if size <= limit { size * size } else { limit * (2.0 * size - limit) };
        residuals.iter().map(|residual| one(residual.abs())).sum()
    }

    /// The slopes, or new ones if the values have moved by more than [`RENEWED`] since.
    fn renewed(&self, kept: Option<Slopes>, values: &[f64]) -> Result<Option<Slopes>, E> {
        let is_near = |slopes: &Slopes| {
            slopes.at.iter().zip(values).zip(self.steps).all(|((at, value), step)| (value - at).abs() <= RENEWED * step)
        };
        match kept.filter(is_near) {
            Some(slopes) => Ok(Some(slopes)),
            None => Ok(self.slopes(values)?.map(|slopes| Slopes { at: values.to_vec(), slopes })),
        }
    }

    /// The step, shortened to [`MAX_STEP`] steps of the differences of every unknown.
    fn limited(&self, step: Vec<f64>) -> Vec<f64> {
        let longest = step.iter().zip(self.steps).map(|(step, scale)| (step / scale).abs()).fold(0.0, f64::max);
        let part = if longest > MAX_STEP { MAX_STEP / longest } else { 1.0 };
        step.into_iter().map(|step| step * part).collect()
    }

    /// The values, with the best [`LeastSquares::factor`] for measurements of some weights, and the residuals there.
    fn scaled(&self, mut values: Vec<f64>, weights: &[f64]) -> Result<Option<Place>, E> {
        let Some(mut predicted) = (self.predict)(&values)? else { return Ok(None) };
        if let Some(k) = self.factor {
            let (normal, product) = normal_equations(std::slice::from_ref(&predicted), self.measured, weights);
            let best = (product[0] / normal[(0, 0)]).ln();
            if best.is_finite() {
                values[k] += best;
                predicted.iter_mut().for_each(|value| *value *= best.exp());
            }
        }
        let residuals = predicted.iter().zip(self.measured).map(|(predicted, measured)| measured - predicted).collect();
        Ok(Some((values, residuals)))
    }

    /// Differences of the predictions, one list per unknown: central ones, or one-sided ones beside the end of a range, such as that of
    /// Poisson's ratio. `None` if there is a prediction on neither side.
    fn slopes(&self, values: &[f64]) -> Result<Option<Vec<Vec<f64>>>, E> {
        let mut slopes = Vec::new();
        for (k, step) in self.steps.iter().enumerate() {
            if self.bounds.get(k).is_some_and(|[least, largest]| least == largest) {
                slopes.push(vec![0.0; self.measured.len()]);
                continue;
            }
            let beside = |sign: f64| {
                let mut moved = values.to_vec();
                moved[k] += sign * step;
                (self.slopes_of)(&moved)
            };
            let (above, below, distance) = match (beside(1.0)?, beside(-1.0)?) {
                (Some(above), Some(below)) => (Some(above), Some(below), 2.0 * step),
                (Some(above), None) => (Some(above), (self.slopes_of)(values)?, *step),
                (None, Some(below)) => ((self.slopes_of)(values)?, Some(below), *step),
                (None, None) => return Ok(None),
            };
            let (Some(above), Some(below)) = (above, below) else { return Ok(None) };
            slopes.push(above.iter().zip(&below).map(|(above, below)| (above - below) / distance).collect());
        }
        Ok(Some(slopes))
    }

    /// (G − 1)/G Σ dᵢ dᵢᵀ with the changes dᵢ = (H − Hᵢ)⁻¹ gᵢ of the values without group i, by the gradients gᵢ and normal matrices
    /// Hᵢ of the G groups, and H⁻¹ without weights. Infinite where the measurements do not determine the values.
    fn covariance(&self, slopes: &[Vec<f64>], residuals: &[f64]) -> (DMatrix<f64>, DMatrix<f64>) {
        let count = self.steps.len();
        let unknown = DMatrix::from_element(count, count, f64::INFINITY);
        if slopes.is_empty() {
            return (unknown.clone(), unknown);
        }
        // In steps of the differences, so that eigenvalues of different unknowns compare.
        let slopes: Vec<Vec<f64>> = slopes
            .iter()
            .zip(self.steps)
            .map(|(slopes, step)| slopes.iter().map(|slope| slope * step).collect())
            .collect();
        let in_units = |covariance: DMatrix<f64>| {
            DMatrix::from_fn(count, count, |i, j| covariance[(i, j)] * self.steps[i] * self.steps[j])
        };
        let weights = self.weights(residuals);
        let (normal, _) = normal_equations(&slopes, residuals, &weights);
        let (plain, _) = normal_equations(&slopes, residuals, &vec![1.0; residuals.len()]);
        let eigenvalues = normal.symmetric_eigenvalues();
        let largest = eigenvalues.max();
        let Some(plain) = plain.try_inverse().filter(|_| eigenvalues.min() > MIN_RATIO * largest) else {
            return (unknown.clone(), unknown);
        };
        let groups = self.groups.iter().max().map_or(0, |last| last + 1);
        let mut gradients = vec![DVector::<f64>::zeros(count); groups];
        let mut normals = vec![DMatrix::<f64>::zeros(count, count); groups];
        for (i, &group) in self.groups.iter().enumerate() {
            let slope = DVector::from_fn(count, |k, _| slopes[k][i]);
            gradients[group] += &slope * (weights[i] * residuals[i]);
            normals[group].ger(weights[i], &slope, &slope, 1.0);
        }
        let used = normals.iter().filter(|own| own.norm() > 0.0).count();
        let mut scatter = DMatrix::zeros(count, count);
        for (gradient, own) in gradients.iter().zip(&normals) {
            let others = &normal - own;
            let is_determined = others.symmetric_eigenvalues().min() > MIN_RATIO * largest;
            let Some(change) = others.cholesky().filter(|_| is_determined).map(|others| others.solve(gradient)) else {
                return (unknown, in_units(plain));
            };
            scatter += &change * change.transpose();
        }
        let part = used.saturating_sub(1) as f64 / used.max(1) as f64;
        (in_units(scatter * part), in_units(plain))
    }
}

/// Scale of the residuals, from their median.
fn scale(residuals: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = residuals.iter().map(|residual| residual.abs()).collect();
    let middle = sizes.len() / 2;
    if sizes.is_empty() {
        return 1.0;
    }
    let (_, median, _) = sizes.select_nth_unstable_by(middle, f64::total_cmp);
    let rms = (residuals.iter().map(|r| r * r).sum::<f64>() / residuals.len() as f64).sqrt();
    // Where most measurements are exact, such as taxels without load, the median says nothing.
    (1.4826 * *median).max(0.3 * rms).max(f64::MIN_POSITIVE)
}

fn normal_equations(slopes: &[Vec<f64>], residuals: &[f64], weights: &[f64]) -> (DMatrix<f64>, DVector<f64>) {
    let sum = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).zip(weights).map(|((a, b), w)| a * b * w).sum() };
    let normal = DMatrix::from_fn(slopes.len(), slopes.len(), |i, j| sum(&slopes[i], &slopes[j]));
    (normal, DVector::from_fn(slopes.len(), |i, _| sum(&slopes[i], residuals)))
}

/// A step of the unknowns. One that is held, or that has no effect on the predictions, such as the rotation of a ball, stays.
fn damped_step(normal: &DMatrix<f64>, gradient: &DVector<f64>, held: &[bool], damping: f64) -> Option<Vec<f64>> {
    let (mut damped, mut gradient) = (normal.clone(), gradient.clone());
    for i in 0..damped.nrows() {
        if held[i] {
            damped.row_mut(i).fill(0.0);
            damped.column_mut(i).fill(0.0);
            gradient[i] = 0.0;
        }
        let own = damped[(i, i)];
        damped[(i, i)] = if own > 0.0 { own * (1.0 + damping) } else { 1.0 };
    }
    Some(damped.cholesky()?.solve(&gradient).iter().copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// y = a exp(−b x) with noise and outliers: both values return within their errors.
    #[test]
    fn a_decay_returns_despite_outliers() {
        let noise = |i: usize| 0.01 * ((i * 7919 % 101) as f64 / 50.0 - 1.0);
        let predict =
            |v: &[f64]| -> Vec<f64> { (0..200).map(|i| v[0] * (-v[1] * f64::from(i) * 0.02).exp()).collect() };
        let mut measured = predict(&[2.0, 1.5]);
        measured.iter_mut().enumerate().for_each(|(i, y)| *y += noise(i) + if i % 40 == 3 { 0.5 } else { 0.0 });
        let groups: Vec<usize> = (0..200).map(|i| i / 4).collect();
        let predict = |v: &[f64]| Ok::<_, Infallible>(Some(predict(v)));
        let problem = LeastSquares::new(&predict, &measured, &groups, &[0.02, 0.02]);
        let solution = problem.solve(&[1.0, 0.5]).unwrap().unwrap();
        assert!(solution.converged);
        for (k, truth) in [2.0, 1.5].into_iter().enumerate() {
            let sigma = solution.covariance[(k, k)].sqrt();
            assert!((solution.values[k] - truth).abs() < 3.0 * sigma && sigma < 0.03, "{solution:?}");
        }
    }

    /// Values next to the end of what the model allows are found from one side.
    #[test]
    fn a_value_at_the_end_of_its_range_returns() {
        let truth = 0.495;
        let model = |v: f64| -> Vec<f64> { (1..20).map(|i| f64::from(i) / (0.6 - v)).collect() };
        let mut measured = model(truth);
        measured.iter_mut().enumerate().for_each(|(i, y)| *y *= 1.0 + 1e-3 * (i as f64 * 2.4).sin());
        let groups: Vec<usize> = (0..19).collect();
        let predict = |v: &[f64]| Ok::<_, Infallible>((v[0] < 0.5).then(|| model(v[0])));
        let problem = LeastSquares::new(&predict, &measured, &groups, &[0.01]);
        let solution = problem.solve(&[0.3]).unwrap().unwrap();
        assert!((solution.values[0] - truth).abs() < 1e-3 && solution.covariance[(0, 0)].sqrt() < 1e-3, "{solution:?}");
    }

    #[test]
    fn a_start_without_prediction_has_no_solution() {
        let predict = |_: &[f64]| Ok::<_, Infallible>(None);
        let problem = LeastSquares::new(&predict, &[1.0], &[0], &[0.1]);
        assert!(problem.solve(&[0.0]).unwrap().is_none());
    }
}
