//! Loads of contact points.
#![allow(clippy::needless_range_loop, reason = "a lane indexes many arrays")]

use super::{ImplicitContact, ImplicitMotion, PointLoad};
use crate::contact_points::add_loads;
use crate::friction_lanes::{FrictionLanes, LANES, Lanes, Lanes3, get};
use crate::lane_sums::{WIDTH, total};
use crate::simd::{Kernel, Vectors};
use dermis_geometry::{Vec3, Wrench};

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
    const ZERO: Self =
        Self { normal_newton: [0.0; LANES], friction: [[0.0; LANES]; 3], deflection_m: [[0.0; LANES]; 3] };

    pub fn get(&self, lane: usize, share: f64) -> PointLoad {
        PointLoad {
            normal_newton: self.normal_newton[lane],
            friction: get(&self.friction, lane),
            deflection_m: get(&self.deflection_m, lane),
            share,
        }
    }
}

/// [`ImplicitContact::load`].
pub(super) struct Loads<'a> {
    pub contact: &'a ImplicitContact,
    pub motion: &'a [ImplicitMotion],
    pub dt_s: f64,
    pub points: &'a mut PointLoads,
}

impl Kernel for Loads<'_> {
    type Output = ();
    #[inline(always)]
    fn run<V: Vectors>(self) -> Self::Output {
        let Self { contact, motion, dt_s, points } = self;
        points.blocks.resize(contact.points.blocks.len(), LoadBlock::ZERO);
        points.on_sensor.clear();
        points.on_sensor.resize(motion.len(), Wrench::ZERO);
        let mut slides = FrictionLanes::new();
        for (object, range, blocks) in contact.groups() {
            let mut sum = [[0.0; WIDTH]; 6];
            for (block, to) in blocks.iter().zip(&mut points.blocks[range]) {
                block.press(&motion[object], dt_s, &mut slides);
                slides.step(&contact.points.friction, dt_s);
                let mut force = slides.force;
                for axis in 0..3 {
                    for lane in 0..LANES {
                        force[axis][lane] -= block.normal[axis][lane] * slides.normal_newton[lane];
                    }
                }
                add_loads(&mut sum, &force, &block.arm);
                to.normal_newton = slides.normal_newton;
                (to.friction, to.deflection_m) = (slides.force, slides.deflection_m);
            }
            let [fx, fy, fz, tx, ty, tz] = sum.each_ref().map(total);
            points.on_sensor[object] = Wrench { force: Vec3::new(fx, fy, fz), torque: Vec3::new(tx, ty, tz) };
        }
    }
}
