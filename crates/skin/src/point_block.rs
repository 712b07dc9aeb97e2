//! Contact points in vector lanes.

use super::{ImplicitMotion, ImplicitPoint, PointLoad};
use crate::friction_lanes::{FrictionLanes, LANES, Lanes, Lanes3, get, set};
use dermis_geometry::Wrench;

const ZERO: Lanes = [0.0; LANES];

/// Up to [`LANES`] contact points of one object as a structure of arrays. Lanes beyond `count` carry no load.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointBlock {
    pub object: u32,
    pub count: usize,
    /// Index of each point among all points of the contact.
    pub index: [u32; LANES],
    pub at: Lanes3,
    pub arm: Lanes3,
    pub normal: Lanes3,
    pub newton: Lanes,
    pub stiffness: Lanes,
    pub damping: Lanes,
    pub deflection_m: Lanes3,
    pub share: Lanes,
}

impl PointBlock {
    const EMPTY: Self = Self {
        object: 0,
        count: 0,
        index: [0; LANES],
        at: [ZERO; 3],
        arm: [ZERO; 3],
        normal: [ZERO; 3],
        newton: ZERO,
        stiffness: ZERO,
        damping: ZERO,
        deflection_m: [ZERO; 3],
        share: [1.0; LANES],
    };

    /// The blocks of points, object by object, and the number of points.
    #[inline(always)]
    pub fn collect(points: impl IntoIterator<Item = ImplicitPoint>, objects: usize) -> (Vec<Self>, usize) {
        const NONE: usize = usize::MAX;
        let points = points.into_iter();
        let mut blocks: Vec<Self> = Vec::with_capacity(points.size_hint().0 / LANES + 1);
        // The block of each object that is not full.
        let mut open = vec![NONE; objects];
        let mut count = 0;
        for point in points {
            let place = &mut open[point.object as usize];
            if *place == NONE || blocks[*place].count == LANES {
                *place = blocks.len();
                blocks.extend_from_slice(&[Self::EMPTY]);
                blocks[*place].object = point.object;
            }
            blocks[*place].push(count as u32, &point);
            count += 1;
        }
        if !blocks.is_sorted_by_key(|block| block.object) {
            blocks.sort_by_key(|block| block.object);
        }
        (blocks, count)
    }

    #[inline(always)]
    fn push(&mut self, index: u32, point: &ImplicitPoint) {
        let lane = self.count;
        self.count += 1;
        self.index[lane] = index;
        set(&mut self.at, lane, point.at);
        set(&mut self.arm, lane, point.arm);
        set(&mut self.normal, lane, point.normal);
        set(&mut self.deflection_m, lane, point.deflection_m);
        (self.newton[lane], self.stiffness[lane]) = (point.newton, point.stiffness);
        (self.damping[lane], self.share[lane]) = (point.damping, point.share);
    }

    /// Sets the normal force (N) and the velocity (m/s) in the contact plane of each point, with the bristles before the
    /// step.
    #[inline(always)]
    pub fn press(&self, motion: &ImplicitMotion, dt_s: f64, slides: &mut FrictionLanes) {
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
            let newton = self.newton[lane] - (dt_s * self.stiffness[lane] * spring + self.damping[lane] * along);
            slides.normal_newton[lane] = if newton > 0.0 { newton } else { 0.0 };
            for axis in 0..3 {
                slides.velocity[axis][lane] = v[axis] - n[axis] * along;
            }
        }
        (slides.deflection_m, slides.share) = (self.deflection_m, self.share);
    }
}

/// The loads of all points of a contact.
#[derive(Clone, Debug, Default)]
pub struct PointLoads {
    pub(super) blocks: Vec<LoadBlock>,
    /// Load of each object on the sensor, about its origin.
    pub on_sensor: Vec<Wrench>,
}

/// The loads of a block of points.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadBlock {
    pub normal_newton: Lanes,
    pub friction: Lanes3,
    pub deflection_m: Lanes3,
}

impl LoadBlock {
    pub const ZERO: Self = Self { normal_newton: ZERO, friction: [ZERO; 3], deflection_m: [ZERO; 3] };

    #[inline(always)]
    pub fn get(&self, lane: usize, share: f64) -> PointLoad {
        PointLoad {
            normal_newton: self.normal_newton[lane],
            friction: get(&self.friction, lane),
            deflection_m: get(&self.deflection_m, lane),
            share,
        }
    }
}
