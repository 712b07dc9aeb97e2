//! Contact at the points of the gel's surface.

use super::bonds::Bonds;
use super::indenter::{Gap, Indenter};
use super::lattice::{Lattice, Spot};
use dermis_geometry::Vec3;
use serde::{Deserialize, Serialize};

/// A point of the gel's surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Where it rests (m).
    pub rest: Vec3,
    /// The area it stands for (m²).
    pub area_m2: f64,
    /// How the nodes move it.
    pub spot: Spot,
}

/// What a point of the surface remembers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    /// The point, by its place among those of the gel.
    pub point: u32,
    /// The object that presses on it.
    pub object: u32,
    /// Pressure (Pa).
    pub pressure_pa: f64,
    /// Where on the object it sticks, in the object's frame (m).
    pub anchor: Vec3,
}

/// A point near an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    pub point: u32,
    pub object: u32,
    pub gap: Gap,
    /// Where the point is (m).
    pub at: Vec3,
    /// Normal force (N).
    pub press_newton: f64,
    /// Tangential force on the gel (N).
    pub rub_newton: Vec3,
    /// Tangential stiffness (N/m) in the plane and against the direction of slip.
    pub rub_stiffness: (f64, f64),
    /// Direction of slip.
    pub slip: Vec3,
}

/// A plane of an object that a point may not cross, whatever else of the object is near.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    object: u32,
    foot: Vec3,
    normal: Vec3,
}

/// Directions of more than 45° between them belong to different faces.
const SAME_FACE: f64 = 0.7;
/// How near (in reaches) its foot must be to an object for a plane to be a part of it.
const ON_FACE: f64 = 0.05;

impl Plane {
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

    /// Whether a point that now is nearer to another face is still before this one: deep in a narrow thing it has not gone round the edge.
    pub fn stays(&self, at: Vec3, nearest: &Self, indenters: &[Indenter<'_>], reach_m: f64) -> bool {
        if nearest.object == self.object && nearest.normal.dot(self.normal) >= SAME_FACE {
            return false;
        }
        let foot = at - self.normal * self.gap(at).distance_m;
        let gap = indenters[self.object as usize].gap(foot, reach_m);
        gap.is_some_and(|gap| gap.distance_m.abs() < ON_FACE * reach_m)
    }
}

/// How hard points are kept out of objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stiffness {
    /// Against penetration (Pa/m), besides the pressure already known.
    pub normal: f64,
    /// Against sliding (Pa/m).
    pub tangential: f64,
    /// μ.
    pub mu: f64,
    /// How near a point must be to be looked at (m).
    pub reach_m: f64,
}

impl Near {
    /// The plane of the object here.
    pub fn plane(&self) -> Plane {
        let Gap { distance_m, normal } = self.gap;
        Plane { object: self.object, foot: self.at - normal * distance_m, normal }
    }

    /// The state of a point at `at`, if it is near an object; `hold` is what it remembers.
    pub fn look(
        point: u32,
        area_m2: f64,
        at: Vec3,
        indenters: &[Indenter<'_>],
        hold: Option<&Hold>,
        stiffness: &Stiffness,
    ) -> Option<(Self, f64)> {
        let (object, gap) = nearest(at, indenters, stiffness.reach_m)?;
        Some(Self::pressed(point, area_m2, at, (object, gap), indenters, hold, stiffness))
    }

    /// The same where it may not cross a plane.
    pub fn look_at_plane(
        point: u32,
        area_m2: f64,
        at: Vec3,
        plane: &Plane,
        indenters: &[Indenter<'_>],
        hold: Option<&Hold>,
        stiffness: &Stiffness,
    ) -> (Self, f64) {
        Self::pressed(point, area_m2, at, (plane.object, plane.gap(at)), indenters, hold, stiffness)
    }

    fn pressed(
        point: u32,
        area_m2: f64,
        at: Vec3,
        (object, gap): (u32, Gap),
        indenters: &[Indenter<'_>],
        hold: Option<&Hold>,
        stiffness: &Stiffness,
    ) -> (Self, f64) {
        let hold = hold.filter(|hold| hold.object == object);
        let known = hold.map_or(0.0, |hold| hold.pressure_pa);
        let pressure = known - stiffness.normal * gap.distance_m;
        let mut near = Self {
            point,
            object,
            gap,
            at,
            press_newton: pressure.max(0.0) * area_m2,
            rub_newton: Vec3::ZERO,
            rub_stiffness: (0.0, 0.0),
            slip: Vec3::ZERO,
        };
        let mut energy = if pressure > 0.0 { 0.5 * area_m2 * pressure * pressure / stiffness.normal } else { 0.0 };
        energy -= 0.5 * area_m2 * known * known / stiffness.normal;
        if let Some(hold) = hold
            && known > 0.0
            && stiffness.mu > 0.0
        {
            let arm = at - indenters[object as usize].in_sensor(hold.anchor);
            let slip = arm - gap.normal * arm.dot(gap.normal);
            let distance = slip.length();
            let k = stiffness.tangential * area_m2;
            let limit = stiffness.mu * known * area_m2;
            if k * distance <= limit {
                energy += 0.5 * k * distance * distance;
                near.rub_newton = -slip * k;
                near.rub_stiffness = (k, k);
            } else {
                energy += limit * (distance - 0.5 * limit / k);
                near.rub_newton = -slip * (limit / distance);
                near.rub_stiffness = (limit / distance, 0.0);
                near.slip = slip / distance;
            }
        }
        (near, energy)
    }

    /// Force on the gel (N).
    pub fn force(&self) -> Vec3 {
        self.gap.normal * self.press_newton + self.rub_newton
    }

    /// How the force answers to a displacement of the point: stiffness times `du`.
    pub fn resist(&self, du: Vec3, area_m2: f64, stiffness: &Stiffness) -> Vec3 {
        let along = du.dot(self.gap.normal);
        let mut force = Vec3::ZERO;
        if self.press_newton > 0.0 {
            force += self.gap.normal * (along * stiffness.normal * area_m2);
        }
        let (plane, slipping) = self.rub_stiffness;
        if plane > 0.0 {
            let flat = du - self.gap.normal * along;
            force += flat * plane;
            if self.slip != Vec3::ZERO {
                force -= self.slip * ((plane - slipping) * flat.dot(self.slip));
            }
        }
        force
    }

    /// What the point remembers from here on; nothing where nothing presses.
    pub fn hold(
        &self,
        area_m2: f64,
        before: Option<&Hold>,
        indenters: &[Indenter<'_>],
        stiffness: &Stiffness,
        move_anchor: bool,
    ) -> Option<Hold> {
        if self.press_newton <= 0.0 {
            return None;
        }
        let indenter = &indenters[self.object as usize];
        let before = before.filter(|hold| hold.object == self.object);
        let mut anchor = before.map_or_else(|| indenter.in_object(self.at), |hold| hold.anchor);
        if move_anchor && self.slip != Vec3::ZERO {
            // Where the bristle that is left would be just at the limit.
            let stretch = self.rub_newton.length() / (stiffness.tangential * area_m2);
            anchor = indenter.in_object(self.at - self.slip * stretch);
        }
        Some(Hold { point: self.point, object: self.object, pressure_pa: self.press_newton / area_m2, anchor })
    }
}

/// The nearest of the objects that are in reach of a point.
fn nearest(at: Vec3, indenters: &[Indenter<'_>], reach_m: f64) -> Option<(u32, Gap)> {
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

/// Points of a block's top and sides, or of a mesh, that can be touched.
pub(crate) fn points(lattice: &Lattice, samples: &[(Vec3, Vec3, f64)]) -> Vec<Point> {
    samples.iter().map(|&(rest, _, area_m2)| Point { rest, area_m2, spot: lattice.spot(rest) }).collect()
}

/// Points at ± a quarter of the cells' faces: the top, and the sides where they are free.
pub(crate) fn block_points(lattice: &Lattice, bonds: Bonds) -> Vec<(Vec3, Vec3, f64)> {
    let mut points = Vec::new();
    let edges = lattice.cell_m;
    let mut face = |axis: usize, high: bool| {
        let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
        let level = if high { lattice.cells[axis] as f64 } else { 0.0 };
        let mut normal = Vec3::ZERO;
        normal[axis] = if high { 1.0 } else { -1.0 };
        for j in 0..2 * lattice.cells[b] {
            for i in 0..2 * lattice.cells[a] {
                let mut at = Vec3::ZERO;
                at[axis] = level;
                at[a] = 0.25 + 0.5 * i as f64;
                at[b] = 0.25 + 0.5 * j as f64;
                points.push((lattice.origin + at * edges, normal, 0.25 * edges[a] * edges[b]));
            }
        }
    };
    face(2, true);
    for (axis, high) in [(0, false), (0, true), (1, false), (1, true)] {
        if !bonds.holds_side(axis, high) {
            face(axis, high);
        }
    }
    points
}
