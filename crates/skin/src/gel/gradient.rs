//! Derivatives through a gel at rest.

use super::equilibrium::{Equilibrium, LinearisedEquilibrium};
use super::indenter::{Gap, Indenter};
use super::stiffness::{LinearSolution, Stiffness, dot};
use super::{Constitution, ContactPoint, FixedInterface, Gel, GelState};
use crate::{SkinError, SkinGradient, Target, Touch, TouchCotangent};
use dermis_geometry::{Mat3, PlacedShape, RayHit, Vec3};

/// Residual, by the load, to which the equilibrium with rigid contact is solved before it is linearised.
const RESIDUAL: f64 = 1e-3;
/// Change of the force by that equilibrium, relative to it, above which it is another one.
const OTHER_FORCE: f64 = 0.2;
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
    /// normal **n** of the object. There are more points than degrees of freedom under them, so that rigid contact, k = ∞, has
    /// no unique pressures; the equilibrium with k is solved first, from that of the press. With the derivatives ū and **v** of the
    /// scalar by displacements and contact forces, the tangent stiffness K = ∂F/∂u − ∂**f**/∂u and ∂**f**/∂**x** = A (p C −
    /// k **n** **n**ᵀ), C = ∂**n**/∂**x** of the object,
    /// ```text
    /// K λ = ū + (∂f/∂u)ᵀ v,     ∂L/∂θ = (v + λ)·∂f/∂θ − λ·∂F/∂θ
    /// ```
    /// K is symmetric. The stress on the base depends on the forces at its nodes, F and **f** again. Points that begin to
    /// touch change the derivative; this is the one at constant contact.
    pub(super) fn gradient(
        &self,
        touch: &Touch,
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
            gradient.shape = gradient.shape.without_vertices();
            gradient.parameters = vec![("young", 0.0), ("poisson", 0.0)];
            return Ok(gradient);
        }
        let (grid, problem) = (&self.elastic.grid, self.problem());
        let indenters = [Indenter::new(target.object, target.sensor_from_object)];
        let rigid = Equilibrium::linearised(&self.elastic, problem, state.nodes.to_vec(), &indenters, RESIDUAL)?;
        let LinearisedEquilibrium { u, points, mut tangent, mut work } = rigid;
        let force: Vec3 = points.iter().map(ContactPoint::force).sum();
        if (force - touch.on_sensor.force).length() > OTHER_FORCE * touch.on_sensor.force.length() {
            return refused("the equilibrium of the gel with a stiffness of contact has another force");
        }
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
        let LinearSolution { values: adjoint, converged, .. } =
            stiffness.solve(&right, TOLERANCE, MAX_STEPS, &mut work);
        if !converged {
            return refused("the gel slips along the object in this press: its stiffness is not positive definite");
        }
        // Through the contact forces, by the gap and by the normal.
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
        let by_poisson = self.by_poisson(&u, &adjoint, &by_base, by_pressures, &mut tangent);
        let by_young = by_young(touch, cotangent) / self.parameters.young_pa;
        gradient.parameters = vec![("young", by_young), ("poisson", by_poisson)];
        // Points of the gel are nearest to edges and corners of a mesh too.
        gradient.shape = gradient.shape.without_vertices();
        Ok(gradient)
    }

    /// By Poisson's ratio: through the elastic forces, also those on the base, and through the stiffnesses of contact and
    /// interfaces, which are proportional to the confined modulus. `scratch` is a tangent to overwrite.
    fn by_poisson(
        &self,
        u: &[f64],
        adjoint: &[f64],
        by_base: &Option<Vec<f64>>,
        by_pressures: f64,
        scratch: &mut [f32],
    ) -> f64 {
        let grid = &self.elastic.grid;
        let slopes = self.parameters.lame_by_poisson_pa();
        let mut forces = vec![0.0; grid.len()];
        self.elastic.with_lame(slopes).stress(u, &mut forces, scratch);
        let by_elastic = dot(adjoint, &forces) + by_base.as_ref().map_or(0.0, |by| dot(by, &forces));
        let at_interface = |at: &FixedInterface| {
            at.stiffness_newton_per_m * grid.at(u, &at.stencil).dot(grid.at(adjoint, &at.stencil))
        };
        let by_interfaces: f64 = self.interfaces.iter().map(at_interface).sum();
        let confined = (slopes.0 + 2.0 * slopes.1) / self.parameters.confined_pa();
        (by_pressures - by_interfaces) * confined - by_elastic
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

/// Young's modulus times the derivative by it: at a given pose all forces are proportional to it, and the surface does not
/// depend on it.
fn by_young(touch: &Touch, cotangent: &TouchCotangent) -> f64 {
    let TouchCotangent { on_sensor, forces, base, .. } = cotangent;
    let stresses = touch.base.iter().flat_map(|field| &field.values);
    touch.on_sensor.force.dot(on_sensor.force)
        + touch.on_sensor.torque.dot(on_sensor.torque)
        + touch.facets.iter().zip(forces).map(|(facet, by)| facet.force_on_sensor().dot(*by)).sum::<f64>()
        + stresses.zip(base).map(|(stress, by)| stress.dot(*by)).sum::<f64>()
}
