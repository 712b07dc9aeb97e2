//! Contact of surface points with objects: augmented Lagrangian and Coulomb friction.

use super::fixed_faces::FixedFaces;
use super::indenter::{Gap, Indenter};
use super::parameters::Coefficients;
use super::reference_grid::{ReferenceGrid, Stencil};
use dermis_geometry::{Mat3, Vec3};
use serde::{Deserialize, Serialize};

/// A point of the gel's surface at which contact is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct SurfacePoint {
    /// Undeformed position (m).
    pub rest: Vec3,
    /// Outward normal of the undeformed surface.
    pub normal: Vec3,
    /// Undeformed area represented by the point (m²).
    pub area_m2: f64,
    /// Interpolation from the nodes.
    pub stencil: Stencil,
}

/// Contact history of a surface point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactState {
    /// Index of the surface point.
    pub point: u32,
    /// Index of the object in contact.
    pub object: u32,
    /// Pressure (Pa).
    pub pressure_pa: f64,
    /// Anchor of the friction spring, in the object's frame (m).
    pub anchor: Vec3,
}

/// Gap and contact forces of a surface point near an object.
#[derive(Clone, Copy, Debug)]
pub struct ContactPoint {
    /// Index of the surface point.
    pub point: u32,
    /// Index of the object.
    pub object: u32,
    /// Distance to the object and its normal.
    pub gap: Gap,
    /// Deformed position (m).
    pub at: Vec3,
    /// Normal force (N).
    pub normal_newton: f64,
    /// Friction force on the gel (N).
    pub friction_newton: Vec3,
    /// Friction stiffness (N/m) in the tangent plane, and along the direction of slip.
    pub friction_stiffness: [f64; 2],
    /// Unit direction of slip; zero while the point sticks.
    pub slip: Vec3,
}

/// A tangent plane of an object that a point must not cross, even if another face of the object is nearer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactPlane {
    object: u32,
    foot: Vec3,
    normal: Vec3,
}

/// Cosine above which two normals belong to the same face (45°).
const SAME_FACE: f64 = 0.7;
/// Distance, in units of the contact reach, within which the foot point of a plane is on the object.
const ON_FACE: f64 = 0.05;

impl ContactPlane {
    /// The tangent plane of `object` at a point `at` with the given gap.
    pub fn new(object: u32, at: Vec3, gap: Gap) -> Self {
        Self { object, foot: at - gap.normal * gap.distance_m, normal: gap.normal }
    }

    /// The object and the gap of a point to the plane.
    pub fn object_gap(&self, at: Vec3) -> (u32, Gap) {
        (self.object, self.gap(at))
    }

    fn gap(&self, at: Vec3) -> Gap {
        Gap { distance_m: self.normal.dot(at - self.foot), normal: self.normal }
    }

    /// The plane after its object has moved.
    pub fn moved(&self, before: &[Indenter<'_>], after: &[Indenter<'_>]) -> Self {
        let (old, new) = (&before[self.object as usize], &after[self.object as usize]);
        let carry = |point: Vec3| new.in_sensor(old.in_object(point));
        let foot = carry(self.foot);
        Self { object: self.object, foot, normal: (carry(self.foot + self.normal) - foot).normalize() }
    }

    /// True if a point whose nearest face has changed remains in front of this plane: deep in a narrow object it has
    /// not moved around the edge.
    pub fn stays(&self, at: Vec3, nearest: &Self, indenters: &[Indenter<'_>], reach_m: f64) -> bool {
        if nearest.object == self.object && nearest.normal.dot(self.normal) >= SAME_FACE {
            return false;
        }
        let foot = at - self.normal * self.gap(at).distance_m;
        let gap = indenters[self.object as usize].gap(foot, reach_m);
        gap.is_some_and(|gap| gap.distance_m.abs() < ON_FACE * reach_m)
    }
}

impl ContactPoint {
    /// Contact forces and energy (J) of a surface point at `at` with a gap to `object`. `contact` is the state of the
    /// point, if any.
    ///
    /// Augmented Lagrangian: with the known pressure p̄ and the gap g, pressure p = max(p̄ − k_n g, 0), energy A (p² −
    /// p̄²)/2k_n. Friction is a spring of stiffness k_t A between the point and its anchor, bounded by μ p̄ A.
    pub(super) fn evaluate(
        (point, area_m2): (u32, f64),
        at: Vec3,
        (object, gap): (u32, Gap),
        indenters: &[Indenter<'_>],
        contact: Option<&ContactState>,
        coefficients: &Coefficients,
    ) -> (Self, f64) {
        let &Coefficients { contact_normal, contact_tangential, friction, .. } = coefficients;
        let contact = contact.filter(|contact| contact.object == object);
        let known = contact.map_or(0.0, |contact| contact.pressure_pa);
        let pressure = known - contact_normal * gap.distance_m;
        let mut found = Self {
            point,
            object,
            gap,
            at,
            normal_newton: pressure.max(0.0) * area_m2,
            friction_newton: Vec3::ZERO,
            friction_stiffness: [0.0; 2],
            slip: Vec3::ZERO,
        };
        let mut energy = if pressure > 0.0 { 0.5 * area_m2 * pressure * pressure / contact_normal } else { 0.0 };
        energy -= 0.5 * area_m2 * known * known / contact_normal;
        if let Some(contact) = contact
            && known > 0.0
            && friction > 0.0
        {
            let arm = at - indenters[object as usize].in_sensor(contact.anchor);
            let slip = arm - gap.normal * arm.dot(gap.normal);
            let distance = slip.length();
            let k = contact_tangential * area_m2;
            let limit = friction * known * area_m2;
            if k * distance <= limit {
                energy += 0.5 * k * distance * distance;
                found.friction_newton = -slip * k;
                found.friction_stiffness = [k, k];
            } else {
                energy += limit * (distance - 0.5 * limit / k);
                found.friction_newton = -slip * (limit / distance);
                found.friction_stiffness = [limit / distance, 0.0];
                found.slip = slip / distance;
            }
        }
        (found, energy)
    }

    /// Force on the gel (N).
    pub fn force(&self) -> Vec3 {
        self.gap.normal * self.normal_newton + self.friction_newton
    }

    /// Contact stiffness (N/m): minus the derivative of the force by the position of the point, at a constant normal.
    pub(super) fn stiffness(&self, area_m2: f64, coefficients: &Coefficients) -> Mat3 {
        let n = self.gap.normal;
        let normal = outer(n, n);
        let mut stiffness = Mat3::ZERO;
        if self.normal_newton > 0.0 {
            stiffness += normal * (coefficients.contact_normal * area_m2);
        }
        let [plane, slipping] = self.friction_stiffness;
        if plane > 0.0 {
            stiffness += (Mat3::IDENTITY - normal) * plane - outer(self.slip, self.slip) * (plane - slipping);
        }
        stiffness
    }

    /// The part of the derivative of the normal force by the position (N/m) that is due to the curvature of the object:
    /// the normal of a point that moves along the object changes.
    pub(super) fn geometric_stiffness(&self, indenter: &Indenter<'_>) -> Mat3 {
        indenter.curvature(self.at, self.gap) * self.normal_newton
    }

    /// The next contact state of the point if its pressure is positive. `move_anchor` lets the anchor of a slipping
    /// point follow.
    pub(super) fn next_state(
        &self,
        area_m2: f64,
        before: Option<&ContactState>,
        indenters: &[Indenter<'_>],
        coefficients: &Coefficients,
        move_anchor: bool,
    ) -> Option<ContactState> {
        if self.normal_newton <= 0.0 {
            return None;
        }
        let indenter = &indenters[self.object as usize];
        let before = before.filter(|contact| contact.object == self.object);
        let mut anchor = before.map_or_else(|| indenter.in_object(self.at), |contact| contact.anchor);
        if move_anchor && self.slip != Vec3::ZERO {
            // Leaves the friction spring at its limit.
            let stretch = self.friction_newton.length() / (coefficients.contact_tangential * area_m2);
            anchor = indenter.in_object(self.at - self.slip * stretch);
        }
        Some(ContactState { point: self.point, object: self.object, pressure_pa: self.normal_newton / area_m2, anchor })
    }
}

/// a bᵀ.
fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The nearest object within reach of a point, and the gap to it.
pub(super) fn nearest(at: Vec3, indenters: &[Indenter<'_>], reach_m: f64) -> Option<(u32, Gap)> {
    let mut nearest: Option<(u32, Gap)> = None;
    for (object, indenter) in indenters.iter().enumerate() {
        if let Some(gap) = indenter.gap(at, reach_m)
            && nearest.is_none_or(|(_, best)| gap.distance_m < best.distance_m)
        {
            nearest = Some((object as u32, gap));
        }
    }
    nearest
}

/// Samples (position, normal, area) at ± a quarter of the cells' faces on the top of a block and its free sides.
pub(crate) fn block_points(grid: &ReferenceGrid, faces: FixedFaces) -> Vec<(Vec3, Vec3, f64)> {
    let mut points = Vec::new();
    let edges = grid.cell_m;
    let mut face = |axis: usize, high: bool| {
        let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
        let level = if high { grid.cells[axis] as f64 } else { 0.0 };
        let mut normal = Vec3::ZERO;
        normal[axis] = if high { 1.0 } else { -1.0 };
        for j in 0..2 * grid.cells[b] {
            for i in 0..2 * grid.cells[a] {
                let mut at = Vec3::ZERO;
                at[axis] = level;
                at[a] = 0.25 + 0.5 * i as f64;
                at[b] = 0.25 + 0.5 * j as f64;
                points.push((grid.origin + at * edges, normal, 0.25 * edges[a] * edges[b]));
            }
        }
    };
    face(2, true);
    for (axis, high) in [(0, false), (0, true), (1, false), (1, true)] {
        if !faces.has_side(axis, high) {
            face(axis, high);
        }
    }
    points
}
