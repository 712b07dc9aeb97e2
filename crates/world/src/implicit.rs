//! Solves for the contact forces at the end of a step.
//!
//! For every pair of a sensor and an object in contact, u is the velocity of the object relative to the sensor and w the
//! load on the sensor (six components each, in the sensor's frame and about its origin). With the inverse inertia
//! A = J M⁻¹ Jᵀ of all pairs together, the velocity u₀ at the start of the step and the acceleration a without contact,
//! ```text
//! u = u₀ + h (a − A w)        w = W(Θu, u)
//! ```
//! where W is the law of the held contact points ([`dermis_skin::ImplicitContact`]). Newton's method solves for w with
//! the derivative G of W: (1 + h G A) δ = W − w, starting from the solution in which every point sticks, with G of
//! sticking points. While the residual falls fast, Broyden's method updates the derivative, which needs no further
//! evaluation; otherwise G is computed. If the residual does not fall with it, the step is halved, and then G is
//! replaced by its value for sticking points, which bounds it.
//!
//! Θ = B (1 + B)⁻¹ with B = h² A K and the normal stiffness K is the part of the displacement within the step that acts
//! on the springs. For a mode with λ = h² ω² it is θ = λ/(1 + λ): slow modes (λ ≪ 1) are integrated as by the explicit
//! method, which does not damp them, and stiff ones (λ ≫ 1) by backward Euler. The step
//! v′ = (v − λ x/h)/(1 + θλ), x′ = x + h v′ is stable if 4 + (2θ − 1) λ > 0, which holds for every λ, and a bounce off a
//! spring without damping returns no more than the speed of the approach (to 1e-4). At rest u = 0, so w is the static
//! load.

use dermis_geometry::{Twist, Vec3, Wrench};
use dermis_skin::{ImplicitContact, ImplicitMotion, PointLoads};
use nalgebra::{DMatrix, DVector, Dyn, LU};
use std::rc::Rc;

/// A derivative, updated by Broyden's method: after every step it maps the step to the change of the residual. Products
/// of vectors are those of the mobility A, so that forces and torques have the same unit.
struct Broyden<'a> {
    derivative: Rc<LU<f64, Dyn, Dyn>>,
    mobility: &'a DMatrix<f64>,
    /// The steps so far, each with A s and sᵀAs.
    steps: Vec<(DVector<f64>, DVector<f64>, f64)>,
}

impl<'a> Broyden<'a> {
    fn new(derivative: Rc<LU<f64, Dyn, Dyn>>, mobility: &'a DMatrix<f64>) -> Self {
        Self { derivative, mobility, steps: Vec::new() }
    }

    /// The next step (Kelley 1995, section 7.3). Every residual but the first is that after the last step.
    fn step(&mut self, residual: &DVector<f64>) -> Option<DVector<f64>> {
        let mut step = self.derivative.solve(residual)?;
        for pair in self.steps.windows(2) {
            step += &pair[1].0 * (pair[0].1.dot(&step) / pair[0].2);
        }
        if let Some((_, moved, square)) = self.steps.last() {
            let rest = 1.0 - moved.dot(&step) / square;
            // A derivative that vanishes along the step is not updated.
            if rest.abs() > MIN_REST {
                step /= rest;
            }
        }
        let moved = self.mobility * &step;
        let square = moved.dot(&step).max(f64::MIN_POSITIVE);
        self.steps.push((step.clone(), moved, square));
        Some(step)
    }
}

/// 1 + M.
fn plus_one(mut matrix: DMatrix<f64>) -> DMatrix<f64> {
    (0..matrix.nrows()).for_each(|i| matrix[(i, i)] += 1.0);
    matrix
}

/// The product of two small matrices; nalgebra's copies both into blocks, which takes longer than the product.
fn product(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    let (rows, inner) = a.shape();
    let mut result = DMatrix::zeros(rows, b.ncols());
    // Columns are contiguous.
    for (to, from) in result.as_mut_slice().chunks_exact_mut(rows).zip(b.as_slice().chunks_exact(inner)) {
        // Many are zero: stiffness has a block for each pair.
        for (column, &factor) in a.as_slice().chunks_exact(rows).zip(from).filter(|(_, factor)| **factor != 0.0) {
            to.iter_mut().zip(column).for_each(|(to, value)| *to += value * factor);
        }
    }
    result
}

/// Maximum number of evaluations of the contact law.
const MAX_EVALUATIONS: usize = 30;
/// Relative tolerance of the loads, in the norm √(wᵀAw).
const TOLERANCE: f64 = 1e-6;
/// Ratio of two residuals, or of the first one and the loads, up to which no new derivative is computed.
const FAST: f64 = 0.25;
/// Lower bound of the part of a step that Broyden's update leaves.
const MIN_REST: f64 = 0.05;

/// A sensor and an object in contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Index of the sensor.
    pub sensor: usize,
    /// Index of the object in the sensor's motion.
    pub object: usize,
}

/// The contacts of a step and the dynamics of the bodies. Vectors and matrices have six rows per pair.
#[derive(Debug)]
pub struct ImplicitStep<'a> {
    /// Contact points of each sensor.
    pub contacts: &'a [ImplicitContact],
    /// The pairs.
    pub pairs: &'a [Pair],
    /// Relative velocity at the start of the step (m/s, rad/s).
    pub velocity: DVector<f64>,
    /// Relative acceleration without contact (m/s², rad/s²).
    pub acceleration: DVector<f64>,
    /// A: inverse inertia (1/kg, 1/(kg m), 1/(kg m²)).
    pub mobility: DMatrix<f64>,
    /// Time step (s).
    pub step_s: f64,
}

/// The solution of an [`ImplicitStep`].
#[derive(Debug)]
pub struct ImplicitSolution {
    /// Loads on the sensors: six components per pair.
    pub loads: DVector<f64>,
    /// Loads of the contact points of each sensor.
    pub points: Vec<PointLoads>,
    /// Residual of the loads, relative to them.
    pub residual: f64,
}

/// The twist of six components.
fn twist_of(c: &[f64]) -> Twist {
    Twist::new(Vec3::from_slice(&c[..3]), Vec3::from_slice(&c[3..6]))
}

/// The six components of a twist.
pub fn components(twist: &Twist) -> [f64; 6] {
    let (v, w) = (twist.linear, twist.angular);
    [v.x, v.y, v.z, w.x, w.y, w.z]
}

/// The last accepted load.
struct Accepted {
    load: DVector<f64>,
    residual: DVector<f64>,
    /// rᵀAr of the residual.
    error: f64,
}

impl ImplicitStep<'_> {
    /// Solves the step. `None` if the velocities are not finite.
    pub fn solve(&self) -> Option<ImplicitSolution> {
        let h = self.step_s;
        let size = 6 * self.pairs.len();
        if size == 0 {
            let points = vec![PointLoads::default(); self.contacts.len()];
            return Some(ImplicitSolution { loads: DVector::zeros(0), points, residual: 0.0 });
        }
        let free = &self.velocity + &self.acceleration * h;
        let reach = &self.mobility * h;
        let (filter, static_load, sticking) = self.sticking()?;
        let bound = Rc::new(plus_one(product(&sticking, &reach)).lu());
        let mut load = bound.solve(&(static_load + &sticking * &free))?;
        let mut quasi = Broyden::new(Rc::clone(&bound), &self.mobility);
        let mut best: Option<Accepted> = None;
        // The last step with the derivative at its start, and the part of it that was taken.
        let mut newton: Option<(DVector<f64>, f64)> = None;
        let mut points = vec![PointLoads::default(); self.contacts.len()];
        for evaluation in 0..MAX_EVALUATIONS {
            let motion = self.motion(&(&free - &reach * &load), &filter);
            let law = self.loads(&motion, &mut points);
            let residual = &law - &load;
            let (moved_by_law, moved) = (&self.mobility * &law, &self.mobility * &residual);
            let error = residual.dot(&moved);
            let scale = law.dot(&moved_by_law).max(load.dot(&(&moved_by_law - &moved)));
            if !error.is_finite() {
                return None;
            }
            let converged = error <= TOLERANCE * TOLERANCE * scale;
            if converged || evaluation + 1 == MAX_EVALUATIONS {
                let residual = if error > 0.0 { (error / scale).sqrt() } else { 0.0 };
                // Equal up to the tolerance; with the law, the loads that are reported are those that act. Without
                // convergence only `load` belongs to the velocity.
                return Some(ImplicitSolution { loads: if converged { law } else { load }, points, residual });
            }
            if let (Some((step, part)), Some(last)) = (&mut newton, &best)
                && error > 0.99 * last.error
            {
                *part *= 0.5;
                if *part < 0.1 {
                    // Always descends; taken whatever the residual.
                    load = &last.load + bound.solve(&last.residual)?;
                    (best, newton) = (None, None);
                    quasi = Broyden::new(Rc::clone(&bound), &self.mobility);
                } else {
                    load = &last.load + &*step * *part;
                }
                continue;
            }
            let fast = error <= FAST * FAST * best.as_ref().map_or(scale, |last| last.error);
            let step = if fast {
                newton = None;
                quasi.step(&residual)?
            } else {
                let slope = product(&self.slope(&motion, &filter), &reach);
                quasi = Broyden::new(Rc::new(plus_one(slope).lu()), &self.mobility);
                let step = quasi.step(&residual)?;
                newton = Some((step.clone(), 1.0));
                step
            };
            let next = &load + step;
            best = Some(Accepted { load: std::mem::replace(&mut load, next), residual, error });
        }
        None
    }

    /// Θ, the static load, and the slope of sticking points.
    fn sticking(&self) -> Option<(DMatrix<f64>, DVector<f64>, DMatrix<f64>)> {
        let size = 6 * self.pairs.len();
        let mut load = DVector::zeros(size);
        let (mut stiffness, mut slope) = (DMatrix::<f64>::zeros(size, size), DMatrix::<f64>::zeros(size, size));
        for (sensor, contact) in self.contacts.iter().enumerate() {
            let slopes = contact.sticking(self.step_s);
            for (index, pair) in self.pairs.iter().enumerate().filter(|(_, pair)| pair.sensor == sensor) {
                write(&mut stiffness, index, &slopes[pair.object].normal_stiffness);
                write(&mut slope, index, &slopes[pair.object].by_velocity);
                write_wrench(&mut load, index, &contact.static_loads()[pair.object]);
            }
        }
        let modes = product(&self.mobility, &stiffness) * (self.step_s * self.step_s);
        let filter = plus_one(modes.clone()).lu().solve(&modes)?;
        let slope = slope + product(&stiffness, &filter) * self.step_s;
        Some((filter, load, slope))
    }

    fn motion(&self, velocity: &DVector<f64>, filter: &DMatrix<f64>) -> Vec<Vec<ImplicitMotion>> {
        let spring = filter * velocity;
        let mut motion: Vec<Vec<ImplicitMotion>> =
            self.contacts.iter().map(|c| vec![ImplicitMotion::default(); c.static_loads().len()]).collect();
        for (index, pair) in self.pairs.iter().enumerate() {
            let six = 6 * index..6 * index + 6;
            motion[pair.sensor][pair.object] = ImplicitMotion {
                velocity: twist_of(&velocity.as_slice()[six.clone()]),
                spring_velocity: twist_of(&spring.as_slice()[six]),
            };
        }
        motion
    }

    /// Loads of all points, and their sum for each pair.
    fn loads(&self, motion: &[Vec<ImplicitMotion>], points: &mut [PointLoads]) -> DVector<f64> {
        let mut sum = DVector::zeros(6 * self.pairs.len());
        for (sensor, contact) in self.contacts.iter().enumerate() {
            contact.load(&motion[sensor], self.step_s, &mut points[sensor]);
            for (index, pair) in self.pairs.iter().enumerate().filter(|(_, pair)| pair.sensor == sensor) {
                write_wrench(&mut sum, index, &points[sensor].on_sensor[pair.object]);
            }
        }
        sum
    }

    /// Derivative of the loads.
    fn slope(&self, motion: &[Vec<ImplicitMotion>], filter: &DMatrix<f64>) -> DMatrix<f64> {
        let size = 6 * self.pairs.len();
        let (mut slope, mut spring_slope) = (DMatrix::zeros(size, size), DMatrix::zeros(size, size));
        for (sensor, contact) in self.contacts.iter().enumerate() {
            let answers = contact.respond(&motion[sensor], self.step_s);
            for (index, pair) in self.pairs.iter().enumerate().filter(|(_, pair)| pair.sensor == sensor) {
                write(&mut slope, index, &answers[pair.object].by_velocity);
                write(&mut spring_slope, index, &answers[pair.object].by_spring_velocity);
            }
        }
        slope + product(&spring_slope, filter)
    }
}

fn write_wrench(vector: &mut DVector<f64>, index: usize, wrench: &Wrench) {
    let (f, t) = (wrench.force, wrench.torque);
    vector.rows_mut(6 * index, 6).copy_from_slice(&[f.x, f.y, f.z, t.x, t.y, t.z]);
}

/// Writes the diagonal block of a pair.
fn write(matrix: &mut DMatrix<f64>, index: usize, block: &dermis_skin::Matrix6) {
    for (i, row) in block.iter().enumerate() {
        for (j, &value) in row.iter().enumerate() {
            matrix[(6 * index + i, 6 * index + j)] = value;
        }
    }
}
