//! Derivatives through a gel at rest.

use super::equilibrium::{Equilibrium, LinearisedEquilibrium};
use super::indenter::{Gap, Indenter};
use super::stiffness::Stiffness;
use super::{Constitution, ContactPoint, Gel, GelState};
use crate::{SkinError, SkinGradient, Target, TouchCotangent};
use dermis_geometry::{Mat3, PlacedShape, RayHit, Vec3};

/// Residual, by the load, to which the equilibrium with rigid contact is solved before it is linearised.
const RESIDUAL: f64 = 1e-3;
/// Factor by which conjugate gradients reduce the preconditioned residual of the adjoint equations.
const TOLERANCE: f64 = 1e-8;
/// Maximum number of conjugate-gradient steps.
const MAX_STEPS: usize = 5000;

/// A point in contact, with the derivatives of a scalar by its force.
struct Contact {
    found: ContactPoint,
    /// Derivative of the normal by the position (1/m).
    curvature: Mat3,
    /// Derivative of the force by the position (N/m).
    slope: Mat3,
    /// By the force (1/N), at constant displacements.
    by_force: Vec3,
}

impl Gel {
    /// Derivatives of a scalar through a press in equilibrium without friction.
    ///
    /// The displacements u balance the elastic forces F and the contact forces **f** = A p **n** at the points **x** of the
    /// surface, with a pressure p = −k g in proportion to the small penetration −g, the undeformed area A and the outward
    /// normal **n** of the object. With the derivatives ū and **v** of the scalar by displacements and contact forces, the
    /// tangent stiffness K = ∂F/∂u − ∂**f**/∂u with ∂**f**/∂**x** = A (p C − k **n** **n**ᵀ), C = ∂**n**/∂**x** of the object,
    /// ```text
    /// K λ = ū + (∂f/∂u)ᵀ v,     ∂L/∂θ = (v + λ)·∂f/∂θ − λ·∂F/∂θ
    /// ```
    /// K is symmetric. The stress on the base depends on the forces at its nodes, F and **f** again. Points that begin to
    /// touch change the derivative; this is the one at constant contact.
    pub(super) fn gradient(
        &self,
        state: &GelState,
        target: &Target<'_>,
        cotangent: &TouchCotangent,
    ) -> Result<SkinGradient, SkinError> {
        let refused = |reason| Err(SkinError::NoGradient { reason });
        if state.moving.is_some() {
            return refused("a gel has them at rest, not while it moves");
        }
        if self.coefficients.friction > 0.0 {
            return refused("a gel has them without friction, which depends on the path of the press");
        }
        if self.parameters.constitution == Constitution::FixedCorotated {
            return refused("a gel has them with the constitution `neo-hookean` or `linear`");
        }
        if target.object.surface.balls().is_some() {
            return refused("a gel has them under primitives and meshes, not under a cloud of points");
        }
        let mut gradient = SkinGradient::default();
        if state.contacts.is_empty() {
            gradient.parameters = vec![("young", 0.0), ("poisson", 0.0)];
            return Ok(gradient);
        }
        let (grid, problem) = (&self.elastic.grid, self.problem());
        let indenters = [Indenter::new(target.object, target.sensor_from_object)];
        let rigid = Equilibrium::linearised(&self.elastic, problem, state.nodes.to_vec(), &indenters, RESIDUAL)?;
        let LinearisedEquilibrium { u, points, mut elastic_newton, mut tangent, mut work } = rigid;
        let by_base = self.by_base_forces(cotangent);
        let contacts = self.contacts_of(state, &points, &indenters[0], cotangent, &by_base);
        // The right side: ū, then the part through the contact forces.
        let mut right = vec![0.0; grid.len()];
        if let Some(by_base) = &by_base {
            self.elastic.product(&tangent, by_base, &mut right);
            right.iter_mut().for_each(|value| *value = -*value);
        }
        self.surface_grid.spread(grid, &cotangent.surface, &mut right);
        for contact in &contacts {
            let found = &contact.found;
            let by_place = found.force().cross(cotangent.on_sensor.torque) + contact.slope * contact.by_force;
            grid.spread(&mut right, &self.points[found.point as usize].stencil, by_place);
        }
        grid.fold_ghosts(&mut right);
        let blocks = contacts.iter().map(|contact| (contact.found.point, -contact.slope)).collect();
        let stiffness = Stiffness { elastic: &self.elastic, problem, tangent: &tangent, contacts: blocks };
        let adjoint = stiffness.solve(&right, TOLERANCE, MAX_STEPS, &mut work).values;
        // Through the contact forces: by the gap, by the normal, and by the moduli, to which their stiffness is
        // proportional.
        let shape = PlacedShape::new(target.object.surface.primitive(), &target.sensor_from_object);
        let mut by_pressures = 0.0;
        for contact in &contacts {
            let ContactPoint { at, gap: Gap { distance_m, normal }, normal_newton, .. } = contact.found;
            let point = &self.points[contact.found.point as usize];
            let by_force = contact.by_force + grid.at(&adjoint, &point.stencil);
            let by_gap = -problem.coefficients.rigid().contact_normal * point.area_m2 * normal.dot(by_force);
            // The derivative of the normal at a point beside the surface is that on it times I − g C.
            let by_normal = (by_force - contact.curvature * by_force * distance_m) * normal_newton;
            let hit = RayHit { point: at - normal * distance_m, direction: -normal, normal };
            gradient.shape.add(&shape, &hit, by_gap, by_normal);
            by_pressures += normal_newton * normal.dot(by_force);
        }
        // Through the elastic forces, also those on the base, and the springs of the interfaces.
        let by_interfaces: f64 = self
            .interfaces
            .iter()
            .map(|at| at.stiffness_newton_per_m * grid.at(&u, &at.stencil).dot(grid.at(&adjoint, &at.stencil)))
            .sum();
        let by_elastic = |forces: &[f64]| -> f64 {
            let base = by_base.iter().flatten();
            let both = adjoint.iter().zip(base.copied().chain(std::iter::repeat(0.0)));
            -both.zip(forces).map(|((adjoint, base), force)| (adjoint + base) * force).sum::<f64>()
        };
        let (young, by_young) = (self.parameters.young_pa, by_pressures - by_interfaces + by_elastic(&elastic_newton));
        let by_poisson = self.parameters.lame_by_poisson_pa();
        let confined = (by_poisson.0 + 2.0 * by_poisson.1) / self.parameters.confined_pa();
        elastic_newton.fill(0.0);
        self.elastic.with_lame(by_poisson).stress(&u, &mut elastic_newton, &mut tangent);
        let by_poisson = (by_pressures - by_interfaces) * confined + by_elastic(&elastic_newton);
        gradient.parameters = vec![("young", by_young / young), ("poisson", by_poisson)];
        Ok(gradient)
    }

    /// Derivatives by the force on the nodes of both sides of the bottom, if any.
    fn by_base_forces(&self, cotangent: &TouchCotangent) -> Option<Vec<f64>> {
        let base = self.base.as_ref().filter(|_| !cotangent.base.is_empty())?;
        let grid = &self.elastic.grid;
        let mut by_nodes = vec![0.0; grid.len()];
        let [along_x, _] = base.columns;
        for (column, by) in base.by_forces(&self.surface_grid, &cotangent.base).into_iter().enumerate() {
            for z in 0..2 {
                let node = grid.node([column % along_x, column / along_x, z]);
                for c in 0..3 {
                    by_nodes[node + c * grid.component()] = by[c];
                }
            }
        }
        Some(by_nodes)
    }

    /// The points in contact, with the derivatives by their forces.
    fn contacts_of(
        &self,
        state: &GelState,
        found: &[ContactPoint],
        indenter: &Indenter<'_>,
        cotangent: &TouchCotangent,
        by_base: &Option<Vec<f64>>,
    ) -> Vec<Contact> {
        let (grid, coefficients, on_sensor) = (&self.elastic.grid, self.coefficients.rigid(), &cotangent.on_sensor);
        let given = |point: u32| {
            let index = state.contacts.binary_search_by_key(&point, |contact| contact.point).ok()?;
            cotangent.forces.get(index).copied()
        };
        let contact = |&found: &ContactPoint| {
            let point = &self.points[found.point as usize];
            let curvature = indenter.curvature(found.at, found.gap);
            let slope = curvature * found.normal_newton - found.stiffness(point.area_m2, &coefficients);
            let by_force = on_sensor.force
                + on_sensor.torque.cross(found.at)
                + given(found.point).unwrap_or_default()
                + by_base.as_ref().map_or(Vec3::ZERO, |by| grid.at(by, &point.stencil));
            Contact { found, curvature, slope, by_force }
        };
        found.iter().map(contact).collect()
    }
}
