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
//! replaced by its value for sticking points, which bounds it. The loads that act are W: the solution is found if it
//! differs little from w + δ, the one that the derivative predicts. For soft contacts (h G A ≪ 1) it does so long before the
//! residual vanishes.
//!
//! Θ = B (1 + B)⁻¹ with B = h² A K and the normal stiffness K is the part of the displacement within the step that acts
//! on the springs. For a mode with λ = h² ω² it is θ = λ/(1 + λ): slow modes (λ ≪ 1) are integrated as by the explicit
//! method, which does not damp them, and stiff ones (λ ≫ 1) by backward Euler. The step
//! v′ = (v − λ x/h)/(1 + θλ), x′ = x + h v′ is stable if 4 + (2θ − 1) λ > 0, which holds for every λ, and a bounce off a
//! spring without damping returns no more than the speed of the approach (to 1e-4). At rest u = 0, so w is the static
//! load.

use dermis_geometry::{Twist, Vec3, Wrench};
use dermis_skin::{ImplicitContact, ImplicitMotion, PointLoads};
use nalgebra::allocator::Allocator;
use nalgebra::{Const, DMatrix, DVector, DefaultAllocator, Dim, DimMin, Dyn, LU, OMatrix, OVector};
use std::rc::Rc;

/// A vector of the loads or velocities of all pairs.
type Vector<D> = OVector<f64, D>;
/// A matrix of them.
type Square<D> = OMatrix<f64, D, D>;

/// A derivative, updated by Broyden's method: after every step it maps the step to the change of the residual. Products
/// of vectors are those of the mobility A, so that forces and torques have the same unit.
struct Broyden<'a, D: DimMin<D, Output = D>>
where
    DefaultAllocator: Allocator<D> + Allocator<D, D>,
{
    derivative: Rc<LU<f64, D, D>>,
    mobility: &'a Square<D>,
    /// The steps so far, each with A s and sᵀAs.
    steps: Vec<(Vector<D>, Vector<D>, f64)>,
}

impl<'a, D: DimMin<D, Output = D>> Broyden<'a, D>
where
    DefaultAllocator: Allocator<D> + Allocator<D, D>,
{
    fn new(derivative: Rc<LU<f64, D, D>>, mobility: &'a Square<D>) -> Self {
        Self { derivative, mobility, steps: Vec::new() }
    }

    /// The next step (Kelley 1995, section 7.3). Every residual but the first is that after the last step.
    fn step(&mut self, residual: &Vector<D>) -> Option<Vector<D>> {
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
fn plus_one<D: Dim>(mut matrix: Square<D>) -> Square<D>
where
    DefaultAllocator: Allocator<D, D>,
{
    (0..matrix.nrows()).for_each(|i| matrix[(i, i)] += 1.0);
    matrix
}

/// The product of two small matrices; nalgebra's copies both into blocks, which takes longer than the product.
fn product<D: Dim>(a: &Square<D>, b: &Square<D>) -> Square<D>
where
    DefaultAllocator: Allocator<D, D>,
{
    let (rows, columns) = a.shape_generic();
    let mut result = OMatrix::zeros_generic(rows, columns);
    let size = rows.value();
    // Columns are contiguous.
    for (to, from) in result.as_mut_slice().chunks_exact_mut(size).zip(b.as_slice().chunks_exact(size)) {
        // Many are zero: stiffness has a block for each pair.
        for (column, &factor) in a.as_slice().chunks_exact(size).zip(from).filter(|(_, factor)| **factor != 0.0) {
            to.iter_mut().zip(column).for_each(|(to, value)| *to += value * factor);
        }
    }
    result
}

/// Maximum number of evaluations of the contact law.
const MAX_EVALUATIONS: usize = 30;
/// Tolerance of the loads w at rest, relative to them, in the norm √(wᵀAw).
const TOLERANCE: f64 = 1e-6;
/// Tolerance relative to the part of the loads that accelerates the bodies, √|wᵀ(a − Aw)|, which vanishes at rest: far
/// below the error of the step itself.
const MOVING_TOLERANCE: f64 = 1e-4;
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

impl ImplicitStep<'_> {
    /// Solves the step. `None` if the velocities are not finite.
    pub fn solve(&self) -> Option<ImplicitSolution> {
        // Matrices of a size that the compiler knows need no allocation; most steps have one or two pairs.
        match self.pairs.len() {
            0 => {
                let points = vec![PointLoads::default(); self.contacts.len()];
                Some(ImplicitSolution { loads: DVector::zeros(0), points, residual: 0.0 })
            }
            1 => Solver::new(self, Const::<6>).solve(),
            2 => Solver::new(self, Const::<12>).solve(),
            pairs => Solver::new(self, Dyn(6 * pairs)).solve(),
        }
    }
}

/// An [`ImplicitStep`] with vectors and matrices of size `D`.
struct Solver<'a, D: DimMin<D, Output = D>>
where
    DefaultAllocator: Allocator<D> + Allocator<D, D>,
{
    step: &'a ImplicitStep<'a>,
    size: D,
    mobility: Square<D>,
    /// Acceleration, and velocity at the end of the step, without contact.
    acceleration: Vector<D>,
    free: Vector<D>,
    /// Motion of the objects of each sensor at the last evaluation.
    motion: Vec<Vec<ImplicitMotion>>,
}

/// The last accepted load.
struct Accepted<D: Dim>
where
    DefaultAllocator: Allocator<D>,
{
    load: Vector<D>,
    residual: Vector<D>,
    /// rᵀAr of the residual.
    error: f64,
}

impl<'a, D: DimMin<D, Output = D>> Solver<'a, D>
where
    DefaultAllocator: Allocator<D> + Allocator<D, D>,
{
    fn new(step: &'a ImplicitStep<'a>, size: D) -> Self {
        let vector = |from: &DVector<f64>| OVector::from_column_slice_generic(size, Const::<1>, from.as_slice());
        let mobility = OMatrix::from_column_slice_generic(size, size, step.mobility.as_slice());
        let acceleration = vector(&step.acceleration);
        let free = vector(&step.velocity) + &acceleration * step.step_s;
        let objects = |contact: &ImplicitContact| vec![ImplicitMotion::default(); contact.static_loads().len()];
        Self { step, size, mobility, acceleration, free, motion: step.contacts.iter().map(objects).collect() }
    }

    fn solve(mut self) -> Option<ImplicitSolution> {
        let mobility = self.mobility.clone();
        let reach = &mobility * self.step.step_s;
        let (filter, static_load, sticking) = self.sticking()?;
        let bound = Rc::new(plus_one(product(&sticking, &reach)).lu());
        let mut load = bound.solve(&(static_load + &sticking * &self.free))?;
        let mut quasi = Broyden::new(Rc::clone(&bound), &mobility);
        let mut best: Option<Accepted<D>> = None;
        // The last step with the derivative at its start, and the part of it that was taken.
        let mut newton: Option<(Vector<D>, f64)> = None;
        let mut points = vec![PointLoads::default(); self.step.contacts.len()];
        for evaluation in 0..MAX_EVALUATIONS {
            self.set_motion(&(&self.free - &reach * &load), &filter);
            let law = self.loads(&mut points);
            let residual = &law - &load;
            let (moved_by_law, moved) = (&mobility * &law, &mobility * &residual);
            let error = residual.dot(&moved);
            let scale = law.dot(&moved_by_law).max(load.dot(&(&moved_by_law - &moved)));
            if !error.is_finite() {
                return None;
            }
            let net = law.dot(&(&self.acceleration - &moved_by_law)).abs().min(scale);
            let tolerance = TOLERANCE * TOLERANCE * scale + MOVING_TOLERANCE * MOVING_TOLERANCE * net;
            let solution = |loads: &Vector<D>, error: f64, points| ImplicitSolution {
                loads: DVector::from_column_slice(loads.as_slice()),
                points,
                residual: if error > 0.0 { (error / scale).sqrt() } else { 0.0 },
            };
            if error <= tolerance {
                // Equal up to the tolerance; with the law, the loads that are reported are those that act.
                return Some(solution(&law, error, points));
            }
            if evaluation + 1 == MAX_EVALUATIONS {
                // Only `load` belongs to the velocity.
                return Some(solution(&load, error, points));
            }
            if let (Some((step, part)), Some(last)) = (&mut newton, &best)
                && error > 0.99 * last.error
            {
                *part *= 0.5;
                if *part < 0.1 {
                    // Always descends; taken whatever the residual.
                    load = &last.load + bound.solve(&last.residual)?;
                    (best, newton) = (None, None);
                    quasi = Broyden::new(Rc::clone(&bound), &mobility);
                } else {
                    load = &last.load + &*step * *part;
                }
                continue;
            }
            let fast = error <= FAST * FAST * best.as_ref().map_or(scale, |last| last.error);
            let step = if fast {
                newton = None;
                let step = quasi.step(&residual)?;
                // The distance of the law from the solution that the derivative predicts.
                let rest = &residual - &step;
                let error = rest.dot(&(&mobility * &rest));
                if error <= tolerance {
                    return Some(solution(&law, error, points));
                }
                step
            } else {
                let slope = product(&self.slope(&filter), &reach);
                quasi = Broyden::new(Rc::new(plus_one(slope).lu()), &mobility);
                let step = quasi.step(&residual)?;
                newton = Some((step.clone(), 1.0));
                step
            };
            let next = &load + step;
            best = Some(Accepted { load: std::mem::replace(&mut load, next), residual, error });
        }
        None
    }

    fn zeros(&self) -> Square<D> {
        OMatrix::zeros_generic(self.size, self.size)
    }

    /// Calls `add` with the index and the object of each pair of a sensor.
    fn each_pair(&self, sensor: usize, mut add: impl FnMut(usize, usize)) {
        for (index, pair) in self.step.pairs.iter().enumerate().filter(|(_, pair)| pair.sensor == sensor) {
            add(index, pair.object);
        }
    }

    /// Θ, the static load, and the slope of sticking points.
    fn sticking(&self) -> Option<(Square<D>, Vector<D>, Square<D>)> {
        let step_s = self.step.step_s;
        let mut load = OVector::zeros_generic(self.size, Const::<1>);
        let (mut stiffness, mut slope) = (self.zeros(), self.zeros());
        for (sensor, contact) in self.step.contacts.iter().enumerate() {
            let slopes = contact.sticking(step_s);
            self.each_pair(sensor, |index, object| {
                write(&mut stiffness, index, &slopes[object].normal_stiffness);
                write(&mut slope, index, &slopes[object].by_velocity);
                write_wrench(load.as_mut_slice(), index, &contact.static_loads()[object]);
            });
        }
        let modes = product(&self.mobility, &stiffness) * (step_s * step_s);
        let filter = plus_one(modes.clone()).lu().solve(&modes)?;
        let slope = slope + product(&stiffness, &filter) * step_s;
        Some((filter, load, slope))
    }

    /// Sets the motion of the objects from the velocity at the end of the step.
    fn set_motion(&mut self, velocity: &Vector<D>, filter: &Square<D>) {
        let spring = filter * velocity;
        for (index, pair) in self.step.pairs.iter().enumerate() {
            let six = 6 * index..6 * index + 6;
            self.motion[pair.sensor][pair.object] = ImplicitMotion {
                velocity: twist_of(&velocity.as_slice()[six.clone()]),
                spring_velocity: twist_of(&spring.as_slice()[six]),
            };
        }
    }

    /// Loads of all points, and their sum for each pair.
    fn loads(&self, points: &mut [PointLoads]) -> Vector<D> {
        let mut sum = OVector::zeros_generic(self.size, Const::<1>);
        for (sensor, contact) in self.step.contacts.iter().enumerate() {
            contact.load(&self.motion[sensor], self.step.step_s, &mut points[sensor]);
            self.each_pair(sensor, |index, object| {
                write_wrench(sum.as_mut_slice(), index, &points[sensor].on_sensor[object]);
            });
        }
        sum
    }

    /// Derivative of the loads.
    fn slope(&self, filter: &Square<D>) -> Square<D> {
        let (mut slope, mut spring_slope) = (self.zeros(), self.zeros());
        for (sensor, contact) in self.step.contacts.iter().enumerate() {
            let answers = contact.respond(&self.motion[sensor], self.step.step_s);
            self.each_pair(sensor, |index, object| {
                write(&mut slope, index, &answers[object].by_velocity);
                write(&mut spring_slope, index, &answers[object].by_spring_velocity);
            });
        }
        slope + product(&spring_slope, filter)
    }
}

fn write_wrench(vector: &mut [f64], index: usize, wrench: &Wrench) {
    let (f, t) = (wrench.force, wrench.torque);
    vector[6 * index..6 * index + 6].copy_from_slice(&[f.x, f.y, f.z, t.x, t.y, t.z]);
}

/// Writes the diagonal block of a pair.
fn write<D: Dim>(matrix: &mut Square<D>, index: usize, block: &dermis_skin::Matrix6)
where
    DefaultAllocator: Allocator<D, D>,
{
    for (i, row) in block.iter().enumerate() {
        for (j, &value) in row.iter().enumerate() {
            matrix[(6 * index + i, 6 * index + j)] = value;
        }
    }
}
