//! Contact points in vector lanes.
#![allow(clippy::needless_range_loop, reason = "a lane indexes many arrays")]

use crate::friction_lanes::{FrictionLanes, LANES, Lanes, Lanes3, get, set};
use crate::{Bristle, Facet, Friction, ImplicitMotion, ImplicitPoint, Load, Site, Support, Tangent};
use dermis_geometry::Vec3;

const ZERO: Lanes = Lanes::ZERO;

/// Up to [`LANES`] contact points as a structure of arrays, in the sensor's frame. Lanes beyond `count` are zero: they
/// carry no load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointBlock {
    pub count: usize,
    /// Index of the contact point of the skin; of implicit points, the index among them.
    pub site: [u32; LANES],
    pub object: [u32; LANES],
    /// Triangle of the object that the ray of a point hit.
    pub triangle: [u32; LANES],
    pub saturated: [bool; LANES],
    /// Position (m) whose velocity counts; of springs, also where the force acts.
    pub at: Lanes3,
    /// Contact normal, out of the sensor.
    pub normal: Lanes3,
    /// Fraction of a texel, or area (m²).
    pub share: Lanes,
    pub depth_m: Lanes,
    /// Normal stiffness (N/m).
    pub stiffness: Lanes,
    /// Normal damping (N s/m).
    pub damping: Lanes,
    /// Bristles, normal force and friction.
    pub load: FrictionLanes,
}

/// The numbers of a ray that hit an object.
#[derive(Clone, Copy)]
pub(crate) struct RayNumbers {
    numbers: [u32; 3],
    saturated: bool,
    normal: Vec3,
    share: f64,
    depth_m: f64,
}

impl PointBlock {
    pub const EMPTY: Self = Self {
        count: 0,
        site: [0; LANES],
        object: [0; LANES],
        triangle: [0; LANES],
        saturated: [false; LANES],
        at: [ZERO; 3],
        normal: [ZERO; 3],
        share: ZERO,
        depth_m: ZERO,
        stiffness: ZERO,
        damping: ZERO,
        load: FrictionLanes::NONE,
    };

    /// The object of all points, if there is only one.
    #[inline(always)]
    pub fn only_object(&self) -> Option<u32> {
        let first = self.object[0];
        let mut other = 0;
        for &object in &self.object[..self.count] {
            other |= object ^ first;
        }
        (self.count > 0 && other == 0).then_some(first)
    }

    /// The normal of all lanes, if they have the same.
    #[inline(always)]
    pub fn only_normal(&self) -> Option<Vec3> {
        let first = get(&self.normal, 0).to_array();
        let mut other = false;
        for axis in 0..3 {
            for lane in 0..LANES {
                other |= self.normal[axis][lane] != first[axis];
            }
        }
        (!other).then(|| Vec3::from_array(first))
    }

    /// The ray of a lane.
    #[inline(always)]
    pub fn ray(&self, lane: usize) -> RayNumbers {
        RayNumbers {
            numbers: [self.site[lane], self.object[lane], self.triangle[lane]],
            saturated: self.saturated[lane],
            normal: get(&self.normal, lane),
            share: self.share[lane],
            depth_m: self.depth_m[lane],
        }
    }

    /// Sets the ray of a lane.
    #[inline(always)]
    pub fn set_ray(&mut self, lane: usize, ray: RayNumbers) {
        [self.site[lane], self.object[lane], self.triangle[lane]] = ray.numbers;
        self.saturated[lane] = ray.saturated;
        set(&mut self.normal, lane, ray.normal);
        (self.share[lane], self.depth_m[lane]) = (ray.share, ray.depth_m);
    }

    /// Sets the numbers of the rays in the lanes beyond the points to zero.
    pub fn clear_rest(&mut self) {
        let none = RayNumbers { numbers: [0; 3], saturated: false, normal: Vec3::ZERO, share: 0.0, depth_m: 0.0 };
        for lane in self.count..LANES {
            self.set_ray(lane, none);
        }
    }

    /// Appends a point of index `index`.
    #[inline(always)]
    pub fn push_implicit(&mut self, index: u32, point: &ImplicitPoint) {
        let lane = self.count;
        self.count += 1;
        (self.site[lane], self.object[lane]) = (index, point.object);
        set(&mut self.at, lane, point.at);
        set(&mut self.normal, lane, point.normal);
        set(&mut self.load.deflection_m, lane, point.deflection_m);
        (self.load.normal_newton[lane], self.share[lane]) = (point.newton, point.share);
        (self.stiffness[lane], self.damping[lane]) = (point.stiffness, point.damping);
    }

    /// The point of a lane of springs.
    pub fn implicit(&self, lane: usize) -> ImplicitPoint {
        ImplicitPoint {
            object: self.object[lane],
            at: get(&self.at, lane),
            arm: get(&self.at, lane),
            normal: get(&self.normal, lane),
            newton: self.load.normal_newton[lane],
            stiffness: self.stiffness[lane],
            damping: self.damping[lane],
            deflection_m: get(&self.load.deflection_m, lane),
            share: self.share[lane],
        }
    }

    /// The bristles of a lane.
    #[inline(always)]
    pub fn bristle(&self, lane: usize) -> Bristle {
        Bristle {
            site: self.site[lane],
            object: self.object[lane],
            deflection_m: get(&self.load.deflection_m, lane),
            normal: get(&self.normal, lane),
            triangle: self.triangle[lane],
        }
    }

    /// Writes the bristles to the columns of [`crate::PointBristles::write_columns`].
    pub fn write_columns(&self, columns: &mut [&mut [f64]; 8]) {
        let (object, triangle) = (self.object.map(|object| f64::from(object) + 1.0), self.triangle.map(f64::from));
        let ([x, y, z], [nx, ny, nz]) = (&self.load.deflection_m, &self.normal);
        let numbers: [&[f64; LANES]; 8] = [&object, &triangle, x, y, z, nx, ny, nz];
        let mut lane = 0;
        for run in self.site[..self.count].chunk_by(|site, next| site + 1 == *next) {
            let (first, end) = (run[0] as usize, lane + run.len());
            for (to, from) in columns.iter_mut().zip(numbers) {
                to[first..first + run.len()].copy_from_slice(&from[lane..end]);
            }
            lane = end;
        }
    }

    /// True if the numbers are those of bristles.
    #[inline(always)]
    pub fn are_bristles(&self) -> bool {
        let mut sound = true;
        for lane in 0..LANES {
            let n = [self.normal[0][lane], self.normal[1][lane], self.normal[2][lane]];
            let z = [0, 1, 2].map(|axis: usize| self.load.deflection_m[axis][lane]);
            let unit = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1.0).abs() < 1e-6;
            let bounded = (z[0].abs() <= 1e6) & (z[1].abs() <= 1e6) & (z[2].abs() <= 1e6);
            sound &= (unit & bounded) | (lane >= self.count);
        }
        sound
    }

    /// Appends bristles, without a load.
    pub fn push_bristle(&mut self, bristle: &Bristle) {
        let lane = self.count;
        self.count += 1;
        (self.site[lane], self.object[lane], self.triangle[lane]) = (bristle.site, bristle.object, bristle.triangle);
        set(&mut self.load.deflection_m, lane, bristle.deflection_m);
        set(&mut self.normal, lane, bristle.normal);
    }

    /// Stiffness and damping of a lane with this friction.
    #[inline(always)]
    pub fn support(&self, lane: usize, friction: &Friction) -> Support {
        let (stiffness_tangential, damping_tangential) =
            friction.tangent(self.load.normal_newton[lane], self.share[lane]);
        let tangent = Tangent {
            stiffness_normal: self.stiffness[lane],
            stiffness_tangential,
            damping_normal: self.damping[lane],
            damping_tangential,
        };
        Support { at: get(&self.at, lane), normal: get(&self.normal, lane), tangent }
    }

    /// The facet of a lane with this friction on a skin with these contact points.
    pub fn facet(&self, lane: usize, friction: &Friction, sites: &[Site]) -> Facet {
        let Site { point, area_m2, .. } = sites[self.site[lane] as usize];
        let Support { at, normal, tangent } = self.support(lane, friction);
        Facet {
            object: self.object[lane],
            normal,
            depth_m: self.depth_m[lane],
            saturated: self.saturated[lane],
            load: Load::Point { at, anchor: point, area_m2, force: Vec3::from_array(self.force(&self.load, lane)) },
            tangent,
        }
    }

    /// Index of the contact point of the skin and force on the sensor (N) of each lane.
    #[inline(always)]
    pub fn loads(&self) -> impl Iterator<Item = (usize, Vec3)> + '_ {
        let force = |lane| Vec3::from_array(self.force(&self.load, lane));
        (0..self.count.min(LANES)).map(move |lane| (self.site[lane] as usize, force(lane)))
    }

    /// Force on the sensor (N) of a lane with a load: friction and normal force.
    #[inline(always)]
    pub fn force(&self, load: &FrictionLanes, lane: usize) -> [f64; 3] {
        let (friction, n, newton) = (&load.force, &self.normal, load.normal_newton[lane]);
        // Not `map`, which is a call of its own in crates that do not inline it.
        [
            friction[0][lane] - n[0][lane] * newton,
            friction[1][lane] - n[1][lane] * newton,
            friction[2][lane] - n[2][lane] * newton,
        ]
    }

    /// Sets the normal force (N) and the velocity (m/s) in the contact plane of each point, with the bristles before the
    /// step.
    #[inline(always)]
    pub fn press(&self, motion: &ImplicitMotion, dt_s: f64, slides: &mut FrictionLanes, velocity: &mut Lanes3) {
        let (linear, angular) = (motion.velocity.linear, motion.velocity.angular);
        let (spring_linear, spring_angular) = (motion.spring_velocity.linear, motion.spring_velocity.angular);
        for lane in 0..LANES {
            let [x, y, z] = [self.at[0][lane], self.at[1][lane], self.at[2][lane]];
            let n = [self.normal[0][lane], self.normal[1][lane], self.normal[2][lane]];
            let v = [
                linear.x + (angular.y * z - angular.z * y),
                linear.y + (angular.z * x - angular.x * z),
                linear.z + (angular.x * y - angular.y * x),
            ];
            let w = [
                spring_linear.x + (spring_angular.y * z - spring_angular.z * y),
                spring_linear.y + (spring_angular.z * x - spring_angular.x * z),
                spring_linear.z + (spring_angular.x * y - spring_angular.y * x),
            ];
            let along = v[0] * n[0] + v[1] * n[1] + v[2] * n[2];
            let spring = w[0] * n[0] + w[1] * n[1] + w[2] * n[2];
            let newton =
                self.load.normal_newton[lane] - (dt_s * self.stiffness[lane] * spring + self.damping[lane] * along);
            slides.normal_newton[lane] = if newton > 0.0 { newton } else { 0.0 };
            for axis in 0..3 {
                velocity[axis][lane] = v[axis] - n[axis] * along;
                slides.deflection_m[axis][lane] = self.load.deflection_m[axis][lane];
            }
        }
    }
}
