//! The linear equations of derivatives through a contact with friction.

use super::complementarity::{Complementarity, largest};
use super::partial_slip::PartialSlip;
use super::product::Region;
use super::relaxation::Tractions;
use super::response::{Output, SurfaceResponse};

pub(super) type Plane = [Vec<f64>; 2];

/// A cell that slips.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slip {
    /// Direction of its shear.
    pub along: [f64; 2],
    /// Distance by which it lags behind the object, divided by its limit of shear (m/Pa).
    pub lag_per_pa: f64,
    /// Its pressure (Pa).
    pub pressure_pa: f64,
}

/// A contact with friction, linearised at constant sets of free, sticking and slipping cells.
///
/// With the compliances K between normal (n) and tangential (t) components, the depths g, the displacement c with which sticking
/// cells are carried and the relative displacement e = c − K_tt q − K_tn p,
/// ```text
/// K_nn p + K_nt q = g in contact,     e = 0 where it sticks,     q = μ p e/|e| where it slips.
/// ```
/// The adjoint variables λ (of g) and ζ (of c) of a scalar with the derivatives p̄ and **q̄** follow from the transpose: with
/// **r** = **q̄** − K_tn λ − K_tt ζ and the direction **t** of slip,
/// ```text
/// K_nn λ + K_nt ζ = p̄ + μ t·r,     r = 0 where it sticks,     r − t (t·r) = ζ |e|/(μ p), ζ·t = 0 where it slips.
/// ```
/// The derivative by μ is Σ p t·r over the slipping cells. For given λ the equations of ζ are symmetric and positive definite,
/// as are those of λ for given ζ: both are solved in turn by conjugate gradients.
pub(super) struct Linearised<'a> {
    pub response: SurfaceResponse<'a>,
    pub region: Region,
    pub normal: Complementarity<'a>,
    pub tangential: PartialSlip<'a>,
    /// 1 for cells in contact, 0 otherwise.
    pub active: Vec<f64>,
    pub slips: Vec<Option<Slip>>,
    pub mu: f64,
    /// Tangential compliance (m/Pa) of a cell that deforms alone.
    pub own_compliance: f64,
}

/// Derivatives of a scalar by the inputs of a contact.
pub(super) struct AdjointSolution {
    /// By the depth (1/m) of each cell.
    pub by_depth: Vec<f64>,
    /// By the displacement (1/m) with which a sticking cell is carried.
    pub by_carried: Plane,
    /// By the coefficient of friction.
    pub by_mu: f64,
}

/// Maximum number of alternating solutions.
const MAX_ALTERNATIONS: usize = 60;
/// Maximum number of iterations of conjugate gradients.
const MAX_ITERATIONS: usize = 400;
/// Tolerance of the solutions in turn, by that of the whole.
const PART: f64 = 0.2;

impl Linearised<'_> {
    /// Solves the equations for the derivatives by the tractions, until the residuals are at most `tolerance` of the largest.
    pub fn solve(&mut self, by: &Tractions, tolerance: f64) -> AdjointSolution {
        let cells = self.active.len();
        let [by_x, by_y, by_pressure] = &by.parts;
        let in_contact =
            |values: &[f64]| -> Vec<f64> { values.iter().zip(&self.active).map(|(v, on)| v * on).collect() };
        let (by_shear, by_pressure): (Plane, _) = ([in_contact(by_x), in_contact(by_y)], in_contact(by_pressure));
        let size = by_shear.iter().chain([&by_pressure]).map(|part| largest(part)).fold(0.0, f64::max);
        let limit = tolerance * size;
        let mut by_depth = vec![0.0; cells];
        let mut by_carried: Plane = [vec![0.0; cells], vec![0.0; cells]];
        let mut rest = by_shear.clone();
        for _ in 0..MAX_ALTERNATIONS {
            self.improve_shear(&mut by_carried, &mut rest, PART * limit);
            let mut residual = vec![0.0; cells];
            self.normal.displacement(&by_depth, &mut residual);
            let down = self.down(&by_carried);
            for i in 0..cells {
                let slipping = self.slips[i].map_or(0.0, |slip| self.mu * dot2(slip.along, [rest[0][i], rest[1][i]]));
                residual[i] = self.active[i] * (by_pressure[i] + slipping - down[i] - residual[i]);
            }
            if largest(&residual) <= limit {
                break;
            }
            let change = self.normal.solve_active(&self.active, &residual, PART * limit);
            by_depth.iter_mut().zip(&change).for_each(|(sum, change)| *sum += change);
            let aside = self.aside(&change);
            for (rest, aside) in rest.iter_mut().zip(aside) {
                rest.iter_mut().zip(aside).for_each(|(rest, aside)| *rest -= aside);
            }
        }
        let of_mu = |(i, slip): (usize, &Option<Slip>)| {
            slip.map_or(0.0, |slip| slip.pressure_pa * dot2(slip.along, [rest[0][i], rest[1][i]]))
        };
        let by_mu = self.slips.iter().enumerate().map(of_mu).sum();
        AdjointSolution { by_depth, by_carried, by_mu }
    }

    /// Tangential displacement (m) under a pressure (Pa).
    fn aside(&self, pressure: &[f64]) -> Plane {
        let none = || vec![0.0; pressure.len()];
        let tractions = Tractions { parts: [none(), none(), pressure.to_vec()] };
        let mut fields = self.response.of(&self.region, &tractions, &self.region, &[Output::X, Output::Y]).into_iter();
        std::array::from_fn(|_| fields.next().unwrap_or_default())
    }

    /// Downward displacement (m) under shear (Pa).
    fn down(&self, [x, y]: &Plane) -> Vec<f64> {
        let tractions = Tractions { parts: [x.clone(), y.clone(), vec![0.0; x.len()]] };
        self.response.of(&self.region, &tractions, &self.region, &[Output::Z]).pop().unwrap_or_default()
    }

    /// Changes ζ until the residual of its equations is at most `limit`; `rest` is r.
    fn improve_shear(&mut self, solution: &mut Plane, rest: &mut Plane, limit: f64) {
        let cells = self.active.len();
        let plane = || -> Plane { [vec![0.0; cells], vec![0.0; cells]] };
        let (mut direction, mut response, mut steepest) = (plane(), plane(), plane());
        let lags: Vec<f64> = self.slips.iter().map(|slip| slip.map_or(0.0, |slip| slip.lag_per_pa)).collect();
        let mut residual = rest.clone();
        for (residual, solution) in residual.iter_mut().zip(&*solution) {
            residual.iter_mut().zip(solution).zip(&lags).for_each(|((residual, value), lag)| *residual -= lag * value);
        }
        self.project(&mut residual);
        let scales: Vec<f64> = lags.iter().map(|lag| (1.0 + lag / self.own_compliance).sqrt().recip()).collect();
        let mut last_product = 0.0;
        for iteration in 0..MAX_ITERATIONS {
            if residual.iter().map(|part| largest(part)).fold(0.0, f64::max) <= limit {
                break;
            }
            for (residual, steepest) in residual.iter().zip(&mut steepest) {
                let scaled: Vec<f64> = residual.iter().zip(&scales).map(|(value, scale)| value * scale).collect();
                self.normal.precondition(&scaled, steepest);
                steepest.iter_mut().zip(&scales).for_each(|(value, scale)| *value *= scale);
            }
            self.project(&mut steepest);
            let product = dot(&residual, &steepest);
            let beta = if iteration == 0 { 0.0 } else { product / last_product };
            for (direction, steepest) in direction.iter_mut().zip(&steepest) {
                direction
                    .iter_mut()
                    .zip(steepest)
                    .for_each(|(direction, steepest)| *direction = steepest + beta * *direction);
            }
            self.tangential.displacement(&direction, &mut response);
            let mut lagging = response.clone();
            for (lagging, direction) in lagging.iter_mut().zip(&direction) {
                lagging.iter_mut().zip(direction).zip(&lags).for_each(|((sum, value), lag)| *sum += lag * value);
            }
            self.project(&mut lagging);
            let curvature = dot(&direction, &lagging);
            // Only rounding errors remain.
            if curvature <= 0.0 {
                break;
            }
            let step = product / curvature;
            for axis in 0..2 {
                for i in 0..cells {
                    solution[axis][i] += step * direction[axis][i];
                    rest[axis][i] -= step * response[axis][i];
                    residual[axis][i] -= step * lagging[axis][i];
                }
            }
            last_product = product;
        }
    }

    /// Removes what the equations of ζ leave out: cells without contact, and the direction of slip.
    fn project(&self, [x, y]: &mut Plane) {
        for (i, slip) in self.slips.iter().enumerate() {
            if let Some(Slip { along, .. }) = slip {
                let part = dot2(*along, [x[i], y[i]]);
                x[i] -= along[0] * part;
                y[i] -= along[1] * part;
            }
            x[i] *= self.active[i];
            y[i] *= self.active[i];
        }
    }
}

fn dot2(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn dot(a: &Plane, b: &Plane) -> f64 {
    a.iter().zip(b).map(|(a, b)| super::complementarity::dot(a, b)).sum()
}
