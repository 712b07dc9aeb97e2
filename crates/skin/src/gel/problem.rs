//! The equilibrium of a pressed gel: the problem for CPU and GPU solvers, and their solution.

use super::contact::{ContactPoint, ContactState, SurfacePoint};
use super::equilibrium::{MAX_RESIDUAL, base_forces, no_equilibrium};
use super::fixed_faces::FixedInterface;
use super::indenter::{Indenter, interpolate};
use super::parameters::Coefficients;
use super::reference_grid::ReferenceGrid;
use super::{Constitution, Energy, Gel, GelState};
use crate::threads::parallel;
use crate::{Motion, SkinError, State, Touch};
use dermis_geometry::Pose;
use rayon::prelude::*;

/// The discretised gel: find nodal displacements that minimise strain energy plus contact energy. Nodal vectors are in
/// the order of [`ReferenceGrid::node`].
#[derive(Clone, Copy, Debug)]
pub struct EquilibriumProblem<'a> {
    /// Stress–strain law.
    pub constitution: Constitution,
    /// Elastic and contact coefficients.
    pub coefficients: Coefficients,
    /// Cells, particles and nodes.
    pub grid: &'a ReferenceGrid,
    /// Points of the surface at which contact is evaluated.
    pub points: &'a [SurfacePoint],
    /// Springs between the gel and its fixed parts.
    pub interfaces: &'a [FixedInterface],
    /// Diagonal of the undeformed stiffness matrix (N/m), for preconditioning.
    pub diagonal: &'a [f64],
}

/// Convergence bounds of an equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Norm of the residual forces divided by that of the contact forces.
    pub residual: f64,
    /// Load-weighted mean penetration (m).
    pub gap_m: f64,
}

/// Successive poses of the objects, and the state of the gel at the first pose.
#[derive(Clone, Debug)]
pub struct LoadPath<'a> {
    /// Poses (sensor from object) of all objects: initial, then after each load step.
    pub poses: Vec<Vec<Pose>>,
    /// Precision of all load steps except the last, and of the last.
    pub precision: [Precision; 2],
    /// Initial nodal displacements (m).
    pub displacement_m: &'a [f64],
    /// Initial contacts, sorted by point.
    pub contacts: &'a [ContactState],
}

/// Statistics of a solver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolverStats {
    /// Number of load steps.
    pub loads: usize,
    /// Number of Newton steps.
    pub newton: usize,
    /// Number of conjugate-gradient steps.
    pub conjugate: usize,
    /// Number of updates of the contact pressures (augmented Lagrangian).
    pub updates: usize,
    /// Final norm of the residual forces divided by that of the contact forces.
    pub residual: f64,
}

/// The equilibrium at the end of a load path.
#[derive(Clone, Debug)]
pub struct EquilibriumSolution {
    /// Nodal displacements (m).
    pub displacement_m: Vec<f64>,
    /// Elastic forces (N) on the nodes, including ghost nodes outside fixed faces.
    pub elastic_newton: Vec<f64>,
    /// Strain energy (J).
    pub strain_j: f64,
    /// All surface points near an object, sorted by point.
    pub points: Vec<ContactPoint>,
    /// Contacts with positive pressure, sorted by point.
    pub contacts: Vec<ContactState>,
    /// Statistics of the solver.
    pub stats: SolverStats,
}

impl Gel {
    /// The discretised gel, for a solver.
    pub fn problem(&self) -> EquilibriumProblem<'_> {
        EquilibriumProblem {
            constitution: self.parameters.constitution,
            coefficients: self.coefficients,
            grid: &self.elastic.grid,
            points: &self.points,
            interfaces: &self.interfaces,
            diagonal: &self.diagonal,
        }
    }

    /// The load path to the poses of `motion`: straight from the poses of the last call or, for a new object, from
    /// above.
    pub fn load_path<'s>(&self, state: &'s State, motion: &Motion<'_>) -> Result<LoadPath<'s>, SkinError> {
        let state = self.gel_state(state)?;
        motion.check()?;
        if self.elastic.grid.fixed_faces.is_none() && self.interfaces.is_empty() {
            return Err(SkinError::BadGel { key: "bonded", rule: "must name a face, or the gel flies away".into() });
        }
        let ends: Vec<Pose> = motion.targets.iter().map(|target| target.sensor_from_object).collect();
        let raised = |i: usize| self.raised_until_clear(Indenter::new(motion.targets[i].object, ends[i]), ends[i]);
        let starts: Vec<Pose> =
            (0..ends.len()).map(|i| state.poses.get(i).copied().unwrap_or_else(|| raised(i))).collect();
        let edge = self.elastic.grid.cell_m.min_element();
        // Short steps, so that a point pressed by a sharp edge is not assigned to the neighbouring face.
        let max_step_m = 0.5 * edge;
        let sizes = motion.targets.iter().map(|target| target.object.surface.bounds().size().length());
        let travel_m = sizes
            .zip(starts.iter().zip(&ends))
            .map(|(size, (start, end))| travel_m(size, start, end))
            .fold(0.0, f64::max);
        let loads = ((travel_m / max_step_m).ceil() as usize).clamp(1, 200);
        let mut poses = vec![starts.clone()];
        poses.extend((1..loads).map(|load| {
            let fraction = load as f64 / loads as f64;
            starts.iter().zip(&ends).map(|(start, end)| interpolate(start, end, fraction)).collect()
        }));
        poses.push(ends);
        let precision = [
            Precision { residual: 1e-2, gap_m: 2e-2 * edge },
            // Two solvers with different iterates then agree to a thousandth of the depth.
            Precision { residual: 3e-4, gap_m: (1e-4 * edge).min(2e-4 * travel_m).max(1e-9) },
        ];
        Ok(LoadPath { poses, precision, displacement_m: &state.nodes, contacts: &state.contacts })
    }

    /// Contact loads, surface and new state at an equilibrium. `motion` is that of its load path.
    pub fn touch_at(
        &self,
        motion: &Motion<'_>,
        solution: EquilibriumSolution,
    ) -> Result<(Touch, State, SolverStats), SkinError> {
        let grid = &self.elastic.grid;
        let EquilibriumSolution { displacement_m, elastic_newton, strain_j, points, contacts, stats } = solution;
        if displacement_m.len() != grid.len() || elastic_newton.len() != grid.len() {
            return Err(SkinError::StateMismatch { got: displacement_m.len(), expected: grid.len() });
        }
        if stats.residual > MAX_RESIDUAL {
            return Err(no_equilibrium(stats.residual));
        }
        let mut touch = self.touch_of(&displacement_m, &points, motion);
        touch.energy = Some(Energy { kinetic_j: 0.0, strain_j });
        touch.base = self.base.as_ref().map(|base| {
            let forces = base_forces(grid, &self.points, &elastic_newton, &points, base.columns);
            base.field(&self.surface_grid, &forces)
        });
        let poses = motion.targets.iter().map(|target| target.sensor_from_object).collect();
        Ok((touch, State::Gel(GelState { nodes: displacement_m.into(), contacts, poses, moving: None }), stats))
    }

    /// The pose with the object raised along z until it touches no point of the undeformed surface.
    fn raised_until_clear(&self, mut indenter: Indenter<'_>, mut pose: Pose) -> Pose {
        for _ in 0..100 {
            let depths = self.points.par_iter().filter_map(|point| indenter.gap(point.rest, 0.0));
            let deepest = parallel(|| depths.map(|gap| gap.distance_m).reduce(|| 0.0, f64::min));
            if deepest > -1e-3 * self.parameters.cell_m {
                break;
            }
            pose.translation.z -= deepest;
            indenter = indenter.placed(pose);
        }
        pose
    }
}

/// Maximum distance (m) that a point of an object of size `size_m` travels between two poses, to first order.
fn travel_m(size_m: f64, from: &Pose, to: &Pose) -> f64 {
    (to.translation - from.translation).length() + 0.5 * size_m * from.rotation.angle_between(to.rotation)
}
