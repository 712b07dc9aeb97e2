//! The contact that explains the readings of magnetometers.

use super::array::Magnetics;
use super::motion_table::MotionTable;
use crate::calibration::Estimate;
use dermis_geometry::{Vec2, Vec3};
use nalgebra::{DMatrix, DVector};

/// A contact found from the change of the flux densities.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MagneticEstimate {
    /// Place along x (m); of a table without dependence on it, its only node.
    pub x_m: Estimate,
    /// Place along y (m).
    pub y_m: Estimate,
    /// Travel of the probe (m).
    pub travel_m: Estimate,
    /// Side of the hysteresis: 1 when loading, -1 when unloading.
    pub side: Estimate,
    /// Load (N), if the table has loads.
    pub load_newton: Option<Estimate>,
    /// Root mean square of the difference that remains, in standard deviations of the residual of the table.
    pub misfit: f64,
}

/// Inverts the table of motions of a sensor: a catalogue of contacts, and Gauss–Newton steps from the nearest one. Channels
/// are weighted by the residual of the table.
#[derive(Clone, Debug)]
pub struct MagneticInverse<'a> {
    magnetics: &'a Magnetics,
    table: &'a MotionTable,
    rest: Vec<Vec3>,
    /// Lower triangle that makes the residual white.
    whiten: DMatrix<f64>,
    low: [f64; 4],
    high: [f64; 4],
    catalogue: Vec<([f64; 4], DVector<f64>)>,
}

/// Residual of a channel (µT) of a table that does not have one.
const DEFAULT_SD_UT: f64 = 10.0;
/// Gauss–Newton steps.
const STEPS: usize = 6;

impl<'a> MagneticInverse<'a> {
    /// Prepares the inverse; `None` for magnets that do not move by a table.
    pub fn new(magnetics: &'a Magnetics) -> Option<Self> {
        let table = magnetics.motion_table()?;
        let channels = 3 * magnetics.chips().len();
        let residual = table.residual();
        let sd = residual.map_or(DEFAULT_SD_UT, |residual| residual.sd_ut) * 1e-6;
        let mut covariance = DMatrix::identity(channels, channels) * (sd * sd);
        for mode in residual.iter().flat_map(|residual| &residual.modes_ut).filter(|mode| mode.len() == channels) {
            let mode = DVector::from_iterator(channels, mode.iter().map(|value| value * 1e-6));
            covariance += &mode * mode.transpose();
        }
        let whiten = covariance.cholesky()?.l().try_inverse()?;
        let grid = table.grid();
        let ends = |nodes: &[f64]| (nodes[0], nodes[nodes.len() - 1]);
        let ((x0, x1), (y0, y1), (d0, d1)) = (ends(&grid.x), ends(&grid.y), ends(&grid.depth));
        let side = if table.play_m() > 0.0 { 1.0 } else { 0.0 };
        let (low, high) = ([x0, y0, d0, 1.0 - 2.0 * side], [x1, y1, d1, 1.0]);
        let rest = magnetics.field_of(&table.motions(Vec2::ZERO, 0.0, 1.0));
        let mut inverse = Self { magnetics, table, rest, whiten, low, high, catalogue: Vec::new() };
        let counts = [2 * grid.x.len() - 1, 2 * grid.y.len() - 1, 4 * grid.depth.len(), if side > 0.0 { 5 } else { 1 }];
        let total: usize = counts.iter().product();
        for index in 0..total {
            let mut rest = index;
            let contact = std::array::from_fn(|axis| {
                let step = rest % counts[axis];
                rest /= counts[axis];
                let part = if counts[axis] > 1 { step as f64 / (counts[axis] - 1) as f64 } else { 1.0 };
                low[axis] + part * (high[axis] - low[axis])
            });
            let change = inverse.change(&contact);
            inverse.catalogue.push((contact, change));
        }
        Some(inverse)
    }

    /// Whitened change of the flux densities from rest at a contact: x (m), y (m), travel (m), side.
    fn change(&self, [x, y, travel, side]: &[f64; 4]) -> DVector<f64> {
        let fields = self.magnetics.field_of(&self.table.motions(Vec2::new(*x, *y), *travel, *side));
        self.white(fields.iter().zip(&self.rest).map(|(field, rest)| *field - *rest))
    }

    fn white(&self, change: impl Iterator<Item = Vec3>) -> DVector<f64> {
        let flat: Vec<f64> = change.flat_map(|change| change.to_array()).collect();
        &self.whiten * DVector::from_vec(flat)
    }

    /// The contact that explains the change (T) of the flux densities from rest, in the frames of the chips.
    pub fn estimate(&self, change_tesla: &[Vec3]) -> Option<MagneticEstimate> {
        if change_tesla.len() != self.rest.len() || change_tesla.iter().any(|change| !change.is_finite()) {
            return None;
        }
        let target = self.white(change_tesla.iter().copied());
        let distance = |(_, change): &&([f64; 4], DVector<f64>)| (change - &target).norm_squared();
        let nearest = self.catalogue.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        let (mut at, mut change) = nearest.clone();
        let free: Vec<usize> = (0..4).filter(|&axis| self.high[axis] > self.low[axis]).collect();
        let mut inverse = DMatrix::zeros(free.len(), free.len());
        for _ in 0..STEPS {
            let columns: Vec<DVector<f64>> = free.iter().map(|&axis| self.slope(&at, axis)).collect();
            let jacobian = DMatrix::from_columns(&columns);
            let normal = jacobian.tr_mul(&jacobian);
            // A part in a million of the diagonal keeps undetermined directions where they are.
            let damped = &normal + DMatrix::from_diagonal(&(normal.diagonal() * 1e-6).add_scalar(f64::MIN_POSITIVE));
            let Some(factor) = damped.cholesky() else { break };
            inverse = factor.inverse();
            let step = factor.solve(&jacobian.tr_mul(&(&target - &change)));
            let mut next = at;
            for (&axis, step) in free.iter().zip(step.iter()) {
                next[axis] = (next[axis] + step).clamp(self.low[axis], self.high[axis]);
            }
            let there = self.change(&next);
            if (&there - &target).norm_squared() >= (&change - &target).norm_squared() {
                break;
            }
            (at, change) = (next, there);
        }
        let sd =
            |axis: usize| free.iter().position(|&known| known == axis).map_or(0.0, |i| inverse[(i, i)].max(0.0).sqrt());
        let of = |axis: usize| {
            let range = self.high[axis] - self.low[axis];
            Estimate { value: at[axis], ci95: (1.96 * sd(axis)).min(range) }
        };
        let load = |at: &[f64; 4]| self.table.load_newton(Vec2::new(at[0], at[1]), at[2], at[3]);
        let load_newton = load(&at).map(|value| {
            let slope = |axis: usize| {
                let [low, high] = self.around(&at, axis);
                (load(&high).unwrap_or(value) - load(&low).unwrap_or(value)) / (high[axis] - low[axis])
            };
            let slopes = DVector::from_iterator(free.len(), free.iter().map(|&axis| slope(axis)));
            let variance = (slopes.transpose() * &inverse * &slopes)[(0, 0)];
            Estimate { value, ci95: 1.96 * variance.max(0.0).sqrt() }
        });
        let misfit = ((&change - &target).norm_squared() / target.len() as f64).sqrt();
        Some(MagneticEstimate { x_m: of(0), y_m: of(1), travel_m: of(2), side: of(3), load_newton, misfit })
    }

    /// Two contacts on both sides of one along an axis, inside the table.
    fn around(&self, at: &[f64; 4], axis: usize) -> [[f64; 4]; 2] {
        let step = 0.01 * (self.high[axis] - self.low[axis]);
        let [mut low, mut high] = [*at, *at];
        low[axis] = (at[axis] - step).max(self.low[axis]);
        high[axis] = (at[axis] + step).min(self.high[axis]);
        [low, high]
    }

    fn slope(&self, at: &[f64; 4], axis: usize) -> DVector<f64> {
        let [low, high] = self.around(at, axis);
        (self.change(&high) - self.change(&low)) / (high[axis] - low[axis])
    }
}
