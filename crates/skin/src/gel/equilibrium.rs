//! Equilibrium on the CPU: Newton's method with conjugate gradients on the energy, contact as an augmented Lagrangian.

use super::contact::{ContactPlane, ContactPoint, ContactState, SurfacePoint, nearest};
use super::elasticity::Elastic;
use super::indenter::Indenter;
use super::problem::{EquilibriumProblem, EquilibriumSolution, LoadPath, Precision, SolverStats};
use super::reference_grid::ReferenceGrid;
use super::stiffness::{LinearSolution, Stiffness, Workspace, dot, norm};
use crate::{Motion, SkinError};
use dermis_geometry::Vec3;
use rayon::prelude::*;

/// The CPU solver of an [`EquilibriumProblem`].
pub(crate) struct Equilibrium<'a> {
    elastic: &'a Elastic,
    problem: EquilibriumProblem<'a>,
    /// Planes that points must not cross: see [`Self::solve_load`].
    planes: Vec<Option<ContactPlane>>,
    /// Elastic forces (N), including those on ghost nodes.
    force: Vec<f64>,
    tangent: Vec<f32>,
    work: Workspace,
    /// True if the stiffness of contact includes the curvature of the objects.
    exact: bool,
    stats: SolverStats,
}

/// Maximum number of Newton steps between two updates of the contact pressures.
const MAX_NEWTON: usize = 15;
/// Maximum number of updates of the contact pressures in a load step.
const MAX_UPDATES: usize = 8;
/// Maximum number of conjugate-gradient steps in a Newton step.
const MAX_CONJUGATE: usize = 600;

/// Maximum number of Newton and conjugate-gradient steps on a load path, plus those for each of its load steps. Usual
/// presses need a tenth; an object whose nearest face changes at every step, such as a mesh that intersects itself, may
/// never converge.
const MAX_TOTAL: [usize; 2] = [400, 20_000];
const MAX_PER_LOAD: [usize; 2] = [30, 200];

/// Residual divided by load above which the solver reports no equilibrium.
pub(crate) const MAX_RESIDUAL: f64 = 0.05;

/// An equilibrium with rigid contact, and its tangent.
pub(super) struct LinearisedEquilibrium {
    /// Nodal displacements (m).
    pub u: Vec<f64>,
    /// Points in contact, sorted.
    pub points: Vec<ContactPoint>,
    /// Elastic tangent of all particles.
    pub tangent: Vec<f32>,
    pub work: Workspace,
}

/// Energy, contacts and residual forces at given displacements.
struct Evaluation {
    energy: f64,
    points: Vec<ContactPoint>,
    residual: Vec<f64>,
    /// Norm of the contact forces on the nodes.
    load: f64,
}

impl<'a> Equilibrium<'a> {
    pub fn new(elastic: &'a Elastic, problem: EquilibriumProblem<'a>) -> Self {
        let len = problem.grid.len();
        Self {
            elastic,
            planes: vec![None; problem.points.len()],
            force: vec![0.0; len],
            tangent: vec![0.0; elastic.tangent_len()],
            work: std::array::from_fn(|_| vec![0.0; len]),
            exact: false,
            stats: SolverStats::default(),
            problem,
        }
    }

    /// Follows a load path to its end. With `exact`, a residual, the last equilibrium is solved to it as in
    /// `Gel::solved_to`.
    pub fn solve(
        mut self,
        path: &LoadPath<'_>,
        motion: &Motion<'_>,
        exact: Option<f64>,
    ) -> Result<EquilibriumSolution, SkinError> {
        let mut u = path.displacement_m.to_vec();
        let mut contacts = path.contacts.to_vec();
        let mut points = Vec::new();
        let mut before = Indenter::all(motion, &path.poses[0]);
        self.stats.loads = path.poses.len() - 1;
        for (load, poses) in (1..).zip(&path.poses[1..]) {
            let indenters = Indenter::all(motion, poses);
            let last = load == self.stats.loads;
            points = self.solve_load(
                &mut u,
                &mut contacts,
                [&before, &indenters],
                (&path.precision[usize::from(last)], last),
            )?;
            before = indenters;
        }
        if let Some(residual) = exact {
            self = self.with_rigid_contact();
            points = self.newton(&mut u, &[], &before, residual)?;
            contacts = self.next_contacts(&points, &[], &before, true);
        }
        self.force.fill(0.0);
        let strain_j = self.elastic.stress(&u, &mut self.force, &mut self.tangent);
        let (displacement_m, elastic_newton, stats) = (u, self.force, self.stats);
        Ok(EquilibriumSolution { displacement_m, elastic_newton, strain_j, points, contacts, stats })
    }

    /// The same solver with a contact pressure in proportion to a small penetration, and with the exact stiffness.
    fn with_rigid_contact(mut self) -> Self {
        self.exact = true;
        self.problem.coefficients = self.problem.coefficients.rigid();
        self.planes.fill(None);
        self
    }

    /// The equilibrium with rigid contact near displacements `u` (m), linearised.
    pub fn linearised(
        elastic: &'a Elastic,
        problem: EquilibriumProblem<'a>,
        mut u: Vec<f64>,
        indenters: &[Indenter<'_>],
        residual: f64,
    ) -> Result<LinearisedEquilibrium, SkinError> {
        let mut solver = Self::new(elastic, problem).with_rigid_contact();
        let points = solver.newton(&mut u, &[], indenters, residual)?;
        if solver.stats.residual > MAX_RESIDUAL {
            return Err(no_equilibrium(solver.stats.residual));
        }
        let Self { tangent, work, .. } = solver;
        let points = points.into_iter().filter(|point| point.normal_newton > 0.0).collect();
        Ok(LinearisedEquilibrium { u, points, tangent, work })
    }

    /// Moves the nodes (`u`) and the contacts to equilibrium as objects move from their previous to their present
    /// poses.
    ///
    /// A point pressed by a face stays in front of that face: a narrow object must not pass between two points, each of
    /// which is nearer to one of its sides. The first equilibrium is therefore computed with the tangent planes from
    /// before the load step, and planes are kept as long as they are needed. At a sharp edge the nearest face, and with
    /// it the direction of the force, changes discontinuously, and Newton's method can stall. From then on every point
    /// keeps the tangent plane at its position of the last update.
    ///
    /// The last load step has at least two updates, of which the first is coarse.
    fn solve_load(
        &mut self,
        u: &mut [f64],
        contacts: &mut Vec<ContactState>,
        [before, indenters]: [&[Indenter<'_>]; 2],
        (precision, last): (&Precision, bool),
    ) -> Result<Vec<ContactPoint>, SkinError> {
        self.planes = self.nearest_planes(u, before);
        self.planes.par_iter_mut().flatten().for_each(|plane| *plane = plane.moved(before, indenters));
        let mut max_updates = MAX_UPDATES;
        let mut stalled_before = false;
        let mut update = 0;
        loop {
            // The first pressures are guesses: solves coarsely.
            let residual = if update == 0 { precision.residual.max(1e-2) } else { precision.residual };
            let points = self.newton(u, contacts, indenters, residual)?;
            self.check_effort()?;
            self.stats.updates += 1;
            update += 1;
            let stalled = self.stats.residual > residual;
            let gap_m = mean_gap_m(&points);
            let lag = self.friction_lag(&points, contacts);
            let done = (gap_m <= precision.gap_m && lag <= 0.01 && !stalled) || update >= max_updates;
            *contacts = self.next_contacts(&points, contacts, indenters, done);
            if done && (update > 1 || !last) {
                return Ok(points);
            }
            if stalled && !stalled_before {
                stalled_before = true;
                max_updates = update + MAX_UPDATES;
            }
            self.planes = self.next_planes(u, indenters, stalled_before);
        }
    }

    /// Returns an error if the solver has taken more steps than a press may.
    fn check_effort(&self) -> Result<(), SkinError> {
        let SolverStats { loads, newton, conjugate, residual, .. } = self.stats;
        let over = |taken: usize, kind: usize| taken > MAX_TOTAL[kind] + loads * MAX_PER_LOAD[kind];
        if over(newton, 0) || over(conjugate, 1) { Err(no_equilibrium(residual)) } else { Ok(()) }
    }

    /// Deformed position (m) of a surface point.
    fn position(&self, u: &[f64], point: &SurfacePoint) -> Vec3 {
        point.rest + self.problem.grid.at(u, &point.stencil)
    }

    /// The tangent planes of the nearest objects at all points.
    fn nearest_planes(&self, u: &[f64], indenters: &[Indenter<'_>]) -> Vec<Option<ContactPlane>> {
        let plane = |point: &SurfacePoint| {
            let at = self.position(u, point);
            let (object, gap) = nearest(at, indenters, self.problem.coefficients.reach_m)?;
            Some(ContactPlane::new(object, at, gap))
        };
        self.problem.points.par_iter().map(plane).collect()
    }

    /// The planes for the next update: the retained ones and, if `all`, the nearest planes of the other points.
    fn next_planes(&self, u: &[f64], indenters: &[Indenter<'_>], all: bool) -> Vec<Option<ContactPlane>> {
        let next = |(index, nearest): (usize, Option<ContactPlane>)| {
            let nearest = nearest?;
            let at = self.position(u, &self.problem.points[index]);
            match self.planes[index] {
                Some(plane) if plane.stays(at, &nearest, indenters, self.problem.coefficients.reach_m) => Some(plane),
                _ => all.then_some(nearest),
            }
        };
        self.nearest_planes(u, indenters).into_par_iter().enumerate().map(next).collect()
    }

    /// Sum of the differences between current and known normal forces, divided by the load: the known forces bound
    /// friction.
    fn friction_lag(&self, points: &[ContactPoint], contacts: &[ContactState]) -> f64 {
        if self.problem.coefficients.friction == 0.0 || points.is_empty() {
            return 0.0;
        }
        let (mut lag, mut load) = (0.0, 0.0);
        for found in points {
            let area = self.problem.points[found.point as usize].area_m2;
            let known = find(contacts, found.point).map_or(0.0, |contact| contact.pressure_pa * area);
            lag += (found.normal_newton - known).abs();
            load += found.normal_newton;
        }
        if load > 0.0 { lag / load } else { 0.0 }
    }

    fn next_contacts(
        &self,
        points: &[ContactPoint],
        contacts: &[ContactState],
        indenters: &[Indenter<'_>],
        settled: bool,
    ) -> Vec<ContactState> {
        let next = |found: &ContactPoint| {
            let area = self.problem.points[found.point as usize].area_m2;
            found.next_state(area, find(contacts, found.point), indenters, &self.problem.coefficients, settled)
        };
        points.iter().filter_map(next).collect()
    }

    /// Newton's method with backtracking at fixed contact pressures, until the residual is `tolerance` of the load.
    fn newton(
        &mut self,
        u: &mut [f64],
        contacts: &[ContactState],
        indenters: &[Indenter<'_>],
        tolerance: f64,
    ) -> Result<Vec<ContactPoint>, SkinError> {
        let mut here = self.evaluate(u, contacts, indenters);
        if !here.energy.is_finite() {
            return Err(inverted_state());
        }
        let mut trial = vec![0.0; u.len()];
        for _ in 0..MAX_NEWTON {
            let norm = norm(&here.residual);
            self.stats.residual = if here.load > 0.0 { norm / here.load } else { 0.0 };
            if norm <= tolerance * here.load.max(f64::MIN_POSITIVE) || norm == 0.0 {
                return Ok(here.points);
            }
            // Rigid contact needs more conjugate-gradient steps, so that more Newton steps with fewer of them are faster.
            let least = if self.exact { 5e-2 } else { 1e-2 };
            let forcing = (0.3 * tolerance * here.load / norm).clamp(least, 0.2);
            let (step, slope) = self.step(&here, indenters, forcing);
            self.stats.newton += 1;
            let mut scale = 1.0;
            here = loop {
                for ((trial, u), step) in trial.iter_mut().zip(u.iter()).zip(&step) {
                    *trial = u + scale * step;
                }
                let there = self.evaluate(&trial, contacts, indenters);
                // Near equilibrium the change of energy is below rounding.
                let rounding = 1e-13 * here.energy.abs();
                let closer = self.exact && self::norm(&there.residual) < 0.5 * norm;
                if closer || there.energy <= here.energy - 1e-4 * scale * slope + rounding {
                    break there;
                }
                scale *= 0.5;
                if scale < 1e-4 {
                    // No descent: rounding, or an edge at which the contact direction is discontinuous.
                    return Ok(here.points);
                }
            };
            u.copy_from_slice(&trial);
        }
        Ok(here.points)
    }

    /// Energy, contact forces and residual at displacements `u`; keeps the elastic tangent.
    fn evaluate(&mut self, u: &[f64], contacts: &[ContactState], indenters: &[Indenter<'_>]) -> Evaluation {
        let EquilibriumProblem { grid, points, interfaces, coefficients, .. } = self.problem;
        let found: Vec<Option<(ContactPoint, f64)>> = points
            .par_iter()
            .enumerate()
            .map(|(index, point)| {
                let (at, number) = (self.position(u, point), index as u32);
                let gap = match &self.planes[index] {
                    None => nearest(at, indenters, coefficients.reach_m)?,
                    Some(plane) => plane.object_gap(at),
                };
                let (id, contact) = ((number, point.area_m2), find(contacts, number));
                Some(ContactPoint::evaluate(id, at, gap, indenters, contact, &coefficients))
            })
            .collect();
        let mut residual = vec![0.0; u.len()];
        let mut near = Vec::new();
        let mut energy = 0.0;
        for (found, contact_energy) in found.into_iter().flatten() {
            energy += contact_energy;
            if found.normal_newton > 0.0 || found.friction_newton != Vec3::ZERO {
                grid.spread(&mut residual, &points[found.point as usize].stencil, found.force());
            }
            near.push(found);
        }
        grid.fold_ghosts(&mut residual);
        let load = norm(&residual);
        for interface in interfaces {
            let away = grid.at(u, &interface.stencil);
            energy += 0.5 * interface.stiffness_newton_per_m * away.length_squared();
            grid.spread(&mut residual, &interface.stencil, away * -interface.stiffness_newton_per_m);
        }
        self.force.fill(0.0);
        energy += self.elastic.stress(u, &mut self.force, &mut self.tangent);
        for (residual, force) in residual.iter_mut().zip(&self.force) {
            *residual -= force;
        }
        grid.fold_ghosts(&mut residual);
        Evaluation { energy, points: near, residual, load }
    }

    /// The Newton step at `here` and its slope.
    fn step(&mut self, here: &Evaluation, indenters: &[Indenter<'_>], forcing: f64) -> (Vec<f64>, f64) {
        let contacts = here
            .points
            .iter()
            .filter(|found| found.normal_newton > 0.0 || found.friction_stiffness[0] > 0.0)
            .map(|found| {
                let area_m2 = self.problem.points[found.point as usize].area_m2;
                let mut block = found.stiffness(area_m2, &self.problem.coefficients);
                if self.exact {
                    block -= found.geometric_stiffness(&indenters[found.object as usize]);
                }
                (found.point, block)
            })
            .collect();
        let stiffness = Stiffness { elastic: self.elastic, problem: self.problem, tangent: &self.tangent, contacts };
        let LinearSolution { values, steps, .. } =
            stiffness.solve(&here.residual, forcing, MAX_CONJUGATE, &mut self.work);
        self.stats.conjugate += steps;
        let slope = dot(&values, &here.residual);
        (values, slope)
    }
}

/// Force (N) on the base by columns of nodes: the imbalance of elastic and contact forces at the nodes on both sides of
/// the bottom.
pub(super) fn base_forces(
    grid: &ReferenceGrid,
    points: &[SurfacePoint],
    elastic_newton: &[f64],
    found: &[ContactPoint],
    [along_x, along_y]: [usize; 2],
) -> Vec<Vec3> {
    let mut residual: Vec<f64> = elastic_newton.iter().map(|force| -force).collect();
    for found in found {
        grid.spread(&mut residual, &points[found.point as usize].stencil, found.force());
    }
    let mut forces = Vec::with_capacity(along_x * along_y);
    for y in 0..along_y {
        for x in 0..along_x {
            let (outer, inner) = (grid.node([x, y, 0]), grid.node([x, y, 1]));
            forces.push(Vec3::from_array(std::array::from_fn(|c| {
                residual[outer + c * grid.component()] + residual[inner + c * grid.component()]
            })));
        }
    }
    forces
}

/// Load-weighted mean penetration (m). There are more points than spline degrees of freedom, so only the mean can
/// vanish.
fn mean_gap_m(points: &[ContactPoint]) -> f64 {
    let (mut sum, mut load) = (0.0, 0.0);
    for found in points {
        sum += found.normal_newton * found.gap.distance_m;
        load += found.normal_newton;
    }
    if load > 0.0 { (sum / load).abs() } else { 0.0 }
}

/// The error for a state in which a particle is inverted.
pub fn inverted_state() -> SkinError {
    SkinError::BadGel {
        key: "state",
        rule: "has an inverted particle: the gel is pressed too far, or the state is of another gel".to_owned(),
    }
}

/// The error for a press without equilibrium.
pub(crate) fn no_equilibrium(residual: f64) -> SkinError {
    SkinError::BadGel {
        key: "cell",
        rule: format!(
            "leaves the gel without equilibrium (forces are out of balance by {residual:.1e}): make it larger, press in smaller steps, or bond more of the gel"
        ),
    }
}

fn find(contacts: &[ContactState], point: u32) -> Option<&ContactState> {
    contacts.binary_search_by_key(&point, |contact| contact.point).ok().map(|index| &contacts[index])
}
