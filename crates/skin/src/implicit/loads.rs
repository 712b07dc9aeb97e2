//! Loads of contact points.

use super::{ImplicitContact, ImplicitMotion, PointLoad};
use crate::contact_points::add_loads;
use crate::friction_lanes::{FrictionLanes, get};
use crate::lane_sums::{WIDTH, total};
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
pub(super) fn load_of(slides: &FrictionLanes, lane: usize) -> PointLoad {
    PointLoad {
        normal_newton: slides.normal_newton[lane],
        friction: get(&slides.force, lane),
        deflection_m: get(&slides.deflection_m, lane),
        share: slides.share[lane],
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
        points.blocks.resize_with(contact.points.blocks.len(), FrictionLanes::new);
        points.on_sensor.clear();
        points.on_sensor.resize(motion.len(), Wrench::ZERO);
        for (object, range, blocks) in contact.groups() {
            let mut sum = [[0.0; WIDTH]; 6];
            for (block, slides) in blocks.iter().zip(&mut points.blocks[range]) {
                block.press(&motion[object], dt_s, slides);
                slides.step(&contact.points.friction, dt_s);
                let force = |lane: usize| {
                    let newton = slides.normal_newton[lane];
                    [0, 1, 2].map(|axis| slides.force[axis][lane] - block.normal[axis][lane] * newton)
                };
                add_loads(&mut sum, force, &block.arm);
            }
            let [fx, fy, fz, tx, ty, tz] = sum.each_ref().map(total);
            points.on_sensor[object] = Wrench { force: Vec3::new(fx, fy, fz), torque: Vec3::new(tx, ty, tz) };
        }
    }
}
