//! Contact whose force acts at the end of a step.
//!
//! An explicit step holds the force of its start over the step; it gains energy if the step is long for the stiffness
//! of the skin and the mass of the bodies. Here the force at the end of the step is a function of the velocity with
//! which the bodies end it, and whoever moves the bodies solves for that velocity.
//!
//! [`crate::Skin::touch`] with the objects at rest gives the contact points, their static load N₀ and their bristles
//! z₀. The points are then held, and during a step h with the relative velocity v at its end a point has the load
//! ```text
//! N = max(N₀ − (h k w + d v)·n, 0)        T = friction of z₀, v, N over h        F_on_sensor = T − N n
//! ```
//! with its stiffness k, damping d and normal n. `w` is the part of `v` that the caller lets act on the springs within
//! the step; `w = v` is the backward Euler method. Friction advances its bristles with `v`. The load of bodies at rest
//! (v = 0) is the static one, and unilateral contact and friction cone hold for any velocity.

mod loads;
mod respond;
mod sticking;

pub use loads::PointLoads;

use crate::friction_lanes::{LANES, Lanes, Lanes3, get, set};
use crate::frictions::Frictions;
use crate::point_block::PointBlock;
use crate::simd::Simd;
use crate::{ContactPoints, Friction};
use dermis_geometry::{Twist, Vec3, Wrench};
use std::ops::Range;
use std::sync::Arc;

/// A 6 × 6 matrix, by rows; forces and velocities before torques and angular velocities.
pub type Matrix6 = [[f64; 6]; 6];

/// A contact point that is held during a step, in the sensor's frame.
#[derive(Clone, Copy, Debug)]
pub struct ImplicitPoint {
    /// Index of the object.
    pub object: u32,
    /// Position (m) whose velocity counts.
    pub at: Vec3,
    /// Position (m) where the force acts.
    pub arm: Vec3,
    /// Contact normal: unit, out of the sensor into the object.
    pub normal: Vec3,
    /// Static normal force (N).
    pub newton: f64,
    /// Normal stiffness (N/m).
    pub stiffness: f64,
    /// Normal damping (N s/m).
    pub damping: f64,
    /// Deflection (m) of the bristles before the step.
    pub deflection_m: Vec3,
    /// Scale of the friction: fraction of a texel, or area (m²).
    pub share: f64,
}

/// The load of a point at the end of a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct PointLoad {
    /// Normal force (N), positive in compression.
    pub normal_newton: f64,
    /// Friction force on the sensor (N).
    pub friction: Vec3,
    /// Deflection (m) of the bristles after the step.
    pub deflection_m: Vec3,
    /// Scale of the friction of the point.
    pub share: f64,
}

/// Velocity of an object relative to the sensor, at the sensor's origin.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImplicitMotion {
    /// Velocity at the end of the step.
    pub velocity: Twist,
    /// Velocity whose displacement over the step acts on the springs.
    pub spring_velocity: Twist,
}

/// Load of an object on the sensor, about the sensor's origin, and its derivatives.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImplicitLoad {
    /// Load on the sensor.
    pub on_sensor: Wrench,
    /// Derivative with respect to the velocity.
    pub by_velocity: Matrix6,
    /// Derivative with respect to the spring velocity.
    pub by_spring_velocity: Matrix6,
}

/// Stiffness and slope of an object's contact points while all of them stick.
#[derive(Clone, Copy, Debug, Default)]
pub struct StickingSlope {
    /// Normal stiffness (N/m, N, N m).
    pub normal_stiffness: Matrix6,
    /// Derivative of the load with respect to the velocity, without the springs.
    pub by_velocity: Matrix6,
}

/// The contact points of a touch, held during a step.
#[derive(Clone, Debug)]
pub struct ImplicitContact {
    points: Arc<ContactPoints>,
    /// Positions (m) where the forces of each block act; empty for springs, whose forces act at the points.
    arms: Vec<Lanes3>,
    /// The blocks of each object, in the order of the objects.
    groups: Vec<(usize, Range<usize>)>,
    /// Static load of each object on the sensor, about its origin.
    static_loads: Vec<Wrench>,
}

impl ImplicitContact {
    /// The contact of points in the order of the facets, with the friction of a point of share 1 and the static load of
    /// each object on the sensor, about its origin.
    pub fn new(points: impl IntoIterator<Item = ImplicitPoint>, friction: Friction, static_loads: Vec<Wrench>) -> Self {
        Self::with_frictions(points, friction.into(), static_loads)
    }

    /// [`Self::new`] with the friction of each object.
    pub(crate) fn with_frictions(
        points: impl IntoIterator<Item = ImplicitPoint>,
        frictions: Frictions,
        static_loads: Vec<Wrench>,
    ) -> Self {
        const NONE: usize = usize::MAX;
        let mut blocks: Vec<(PointBlock, Lanes3)> = Vec::new();
        // The block of each object that is not full.
        let mut open = vec![NONE; static_loads.len()];
        for (index, point) in points.into_iter().enumerate() {
            let place = &mut open[point.object as usize];
            if *place == NONE || blocks[*place].0.count == LANES {
                *place = blocks.len();
                blocks.push((PointBlock::EMPTY, [Lanes::ZERO; 3]));
            }
            let (block, arms) = &mut blocks[*place];
            set(arms, block.count, point.arm);
            block.push_implicit(index as u32, &point);
        }
        if !blocks.is_sorted_by_key(|(block, _)| block.object[0]) {
            blocks.sort_by_key(|(block, _)| block.object[0]);
        }
        let (blocks, arms): (Vec<_>, _) = blocks.into_iter().unzip();
        let mut groups: Vec<(usize, Range<usize>)> = Vec::new();
        for blocks in blocks.chunk_by(|a, b| a.object[0] == b.object[0]) {
            let first = groups.last().map_or(0, |(_, range)| range.end);
            groups.push((blocks[0].object[0] as usize, first..first + blocks.len()));
        }
        let points = Arc::new(ContactPoints { blocks, frictions, sites: Arc::default() });
        Self { points, arms, groups, static_loads }
    }

    /// The contact of points of springs; shares them if all touch the same object.
    pub(crate) fn of_springs(points: &Arc<ContactPoints>, static_loads: Vec<Wrench>) -> Self {
        if let Some(only) = points.only_object() {
            let groups = vec![(only as usize, 0..points.blocks.len())];
            return Self { points: Arc::clone(points), arms: Vec::new(), groups, static_loads };
        }
        let lanes = points.blocks.iter().flat_map(|block| (0..block.count).map(move |lane| block.implicit(lane)));
        Self::with_frictions(lanes, points.frictions.clone(), static_loads)
    }

    /// True if an object has contact points.
    pub fn touches(&self, object: usize) -> bool {
        self.groups.iter().any(|(touched, _)| *touched == object)
    }

    /// The blocks of points of a group, each with the positions (m) where its forces act.
    #[inline(always)]
    fn blocks(&self, group: &Range<usize>) -> impl Iterator<Item = (&PointBlock, &Lanes3)> {
        let arms = self.arms.get(group.clone()).unwrap_or_default();
        let blocks = self.points.blocks[group.clone()].iter().enumerate();
        blocks.map(move |(index, block)| (block, arms.get(index).unwrap_or(&block.at)))
    }

    /// Static load of each object on the sensor, about its origin.
    pub fn static_loads(&self) -> &[Wrench] {
        &self.static_loads
    }

    /// Load of each object on the sensor, about its origin, by the static normal forces and by the damping at these
    /// velocities: without friction, and without the change of the springs within the step.
    pub fn normal_loads(&self, velocities: &[Twist]) -> Vec<Wrench> {
        let mut loads = vec![Wrench::ZERO; velocities.len()];
        for (object, group) in &self.groups {
            for (block, arms) in self.blocks(group) {
                for lane in 0..block.count {
                    let (at, normal) = (get(&block.at, lane), get(&block.normal, lane));
                    let damped = block.damping[lane] * velocities[*object].at(at).dot(normal);
                    let newton = (block.load.normal_newton[lane] - damped).max(0.0);
                    loads[*object] += Wrench::from_force_at(normal * -newton, get(arms, lane));
                }
            }
        }
        loads
    }

    /// Stiffness and slope of the points of each object, with bodies at rest.
    pub fn sticking(&self, dt_s: f64) -> Vec<StickingSlope> {
        Simd::detect().run(sticking::Sticking { contact: self, dt_s })
    }

    /// Loads of the objects, whose motion is in the order of the targets, and their derivatives.
    pub fn respond(&self, motion: &[ImplicitMotion], dt_s: f64) -> Vec<ImplicitLoad> {
        Simd::detect().run(respond::Respond { contact: self, motion, dt_s })
    }

    /// Sets `loads` to those of the points and of the objects.
    pub fn load(&self, motion: &[ImplicitMotion], dt_s: f64, loads: &mut PointLoads) {
        Simd::detect().run(loads::Loads { contact: self, motion, dt_s, points: loads });
    }

    /// The loads in the order of the points.
    pub fn in_order(&self, loads: &PointLoads) -> Vec<PointLoad> {
        let mut ordered = vec![PointLoad::default(); self.points.len()];
        let mut next = 0;
        for (block, loads) in self.points.blocks.iter().zip(&loads.blocks) {
            for (lane, &index) in block.site[..block.count].iter().enumerate() {
                // The points of a skin are in order.
                let index = if self.points.sites.is_empty() { index as usize } else { next };
                ordered[index] = loads::load_of(block, loads, lane);
                next += 1;
            }
        }
        ordered
    }

    /// Writes the loads to the points of springs that this contact holds.
    pub(crate) fn finish_springs(self, points: &mut Arc<ContactPoints>, loads: &PointLoads) {
        let shared = Arc::ptr_eq(&self.points, points);
        let ordered = if shared { Vec::new() } else { self.in_order(loads) };
        drop(self);
        // No copy: the touch is the only owner now.
        let points = Arc::make_mut(points);
        if shared {
            points.blocks.iter_mut().zip(&loads.blocks).for_each(|(block, load)| block.load = *load);
            return;
        }
        let mut ordered = ordered.into_iter();
        for block in &mut points.blocks {
            for (lane, load) in (0..block.count).zip(&mut ordered) {
                block.load.normal_newton[lane] = load.normal_newton;
                set(&mut block.load.deflection_m, lane, load.deflection_m);
                set(&mut block.load.force, lane, load.friction);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lugre;
    use dermis_geometry::Random;

    /// Points with any normals, or 64 of each object with one normal and the others with another.
    fn contact(flat: bool) -> (ImplicitContact, Vec<ImplicitPoint>) {
        let mut random = Random::new(11);
        let faces = [random.direction(), random.direction()];
        let friction = Friction::Lugre(Lugre {
            stiffness_newton_per_m: 50.0,
            damping_newton_s_per_m: 0.05,
            viscous_newton_s_per_m: 0.01,
            mu_static: 0.5,
            mu_dynamic: 0.4,
            stribeck_m_per_s: 0.1,
        });
        let point = |i: u32| {
            let (at, normal) = (random.direction() * 0.02, random.direction());
            let normal = if flat { faces[i as usize / 128] } else { normal };
            let deflection_m = normal.cross(random.direction()) * 1e-3;
            let newton = 0.2 + 0.01 * f64::from(i);
            ImplicitPoint {
                object: i % 2,
                at,
                arm: at,
                normal,
                newton,
                stiffness: 100.0,
                damping: 0.2,
                deflection_m,
                share: 1.0,
            }
        };
        let points: Vec<_> = (0..if flat { 250 } else { 90 }).map(point).collect();
        (ImplicitContact::new(points.clone(), friction, vec![Wrench::ZERO; 2]), points)
    }

    fn matrix(m: &Matrix6, twist: &Twist) -> [f64; 6] {
        let (v, w) = (twist.linear, twist.angular);
        let x = [v.x, v.y, v.z, w.x, w.y, w.z];
        m.map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum())
    }

    /// At rest the loads are static, and the sums of sticking points are the derivatives there.
    #[test]
    fn sticking_points_have_the_slope_at_rest() {
        for flat in [false, true] {
            let ((contact, points), dt_s) = (contact(flat), 2e-3);
            let still = [ImplicitMotion::default(); 2];
            let (slopes, answers) = (contact.sticking(dt_s), contact.respond(&still, dt_s));
            let mut loads = PointLoads::default();
            contact.load(&still, dt_s, &mut loads);
            for (point, load) in points.iter().zip(contact.in_order(&loads)) {
                assert_eq!((load.normal_newton, load.deflection_m), (point.newton, point.deflection_m));
            }
            for object in 0..2 {
                assert!((loads.on_sensor[object].force - answers[object].on_sensor.force).length() < 1e-12);
                for i in 0..6 {
                    for j in 0..6 {
                        let spring = dt_s * slopes[object].normal_stiffness[i][j];
                        assert!((spring - answers[object].by_spring_velocity[i][j]).abs() < 1e-12);
                        let (a, b) = (slopes[object].by_velocity[i][j], answers[object].by_velocity[i][j]);
                        assert!((a - b).abs() < 1e-12, "{i} {j}: {a} {b}");
                    }
                }
            }
        }
    }

    /// The derivatives predict the change of the loads of moving points.
    #[test]
    fn derivatives_are_those_of_the_loads() {
        let ((contact, _), dt_s, e) = (contact(false), 2e-3, 1e-6);
        let mut random = Random::new(2);
        let base = Twist::new(random.direction() * 1e-3, random.direction() * 0.05);
        let change = Twist::new(random.direction(), random.direction() * 50.0);
        let motion = |s: f64| {
            let twist = Twist::new(base.linear + change.linear * s, base.angular + change.angular * s);
            [ImplicitMotion { velocity: twist, spring_velocity: twist }; 2]
        };
        let answers = contact.respond(&motion(0.0), dt_s);
        let at = |s: f64| {
            let mut loads = PointLoads::default();
            contact.load(&motion(s), dt_s, &mut loads);
            std::mem::take(&mut loads.on_sensor)
        };
        let (low, high) = (at(-e), at(e));
        for object in 0..2 {
            let a = matrix(&answers[object].by_velocity, &change);
            let b = matrix(&answers[object].by_spring_velocity, &change);
            let predicted = Vec3::new(a[0] + b[0], a[1] + b[1], a[2] + b[2]);
            let found = (high[object].force - low[object].force) / (2.0 * e);
            // The derivatives leave out the Stribeck effect.
            assert!((found - predicted).length() < 0.02 * found.length(), "{found} {predicted}");
        }
    }
}
