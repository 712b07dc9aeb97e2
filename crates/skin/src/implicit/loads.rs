//! Loads of contact points.

use super::{ImplicitContact, ImplicitMotion, PointLoad};
use crate::contact_points::add_loads;
use crate::friction_lanes::{FrictionLanes, Lanes, Slip, get};
use crate::lane_sums::{WIDTH, total};
use crate::point_block::PointBlock;
use crate::simd::{Kernel, Vectors};
use crate::spare::{Spare, keep, reuse};
use dermis_geometry::{Vec3, Wrench};
use std::cell::RefCell;

/// The loads of all points of a contact.
#[derive(Clone, Debug, Default)]
pub struct PointLoads {
    pub(super) blocks: Vec<FrictionLanes>,
    /// Load of each object on the sensor, about its origin.
    pub on_sensor: Vec<Wrench>,
}

thread_local! {
    static SPARE: Spare<FrictionLanes> = const { RefCell::new(Vec::new()) };
}

impl Drop for PointLoads {
    fn drop(&mut self) {
        keep(&SPARE, std::mem::take(&mut self.blocks));
    }
}

/// The load of a lane.
pub(super) fn load_of(block: &PointBlock, slides: &FrictionLanes, lane: usize) -> PointLoad {
    PointLoad {
        normal_newton: slides.normal_newton[lane],
        friction: get(&slides.force, lane),
        deflection_m: get(&slides.deflection_m, lane),
        share: block.share[lane],
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
        if points.blocks.is_empty() {
            points.blocks = reuse(&SPARE);
        }
        points.blocks.resize(contact.points.blocks.len(), FrictionLanes::NONE);
        points.on_sensor.clear();
        points.on_sensor.resize(motion.len(), Wrench::ZERO);
        let mut velocity = [Lanes::ZERO; 3];
        for (object, group) in &contact.groups {
            let mut sum = [[0.0; WIDTH]; 6];
            let friction = contact.points.frictions.of(*object as u32);
            for ((block, arm), slides) in contact.blocks(group).zip(&mut points.blocks[group.clone()]) {
                block.press(&motion[*object], dt_s, slides, &mut velocity);
                slides.step(friction, Slip { velocity: &velocity, share: &block.share }, dt_s);
                add_loads(&mut sum, |lane| block.force(slides, lane), arm);
            }
            let [fx, fy, fz, tx, ty, tz] = sum.each_ref().map(total);
            points.on_sensor[*object] = Wrench { force: Vec3::new(fx, fy, fz), torque: Vec3::new(tx, ty, tz) };
        }
    }
}
