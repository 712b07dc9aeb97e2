//! Loads of contact points.
#![allow(clippy::needless_range_loop, reason = "a lane indexes many arrays")]

use super::point_block::LoadBlock;
use super::{ImplicitContact, ImplicitMotion, PointLoads, WIDTH, add_all, total};
use crate::friction_lanes::{FrictionLanes, LANES};
use crate::simd::{Kernel, Vectors};
use dermis_geometry::{Vec3, Wrench};

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
        points.blocks.resize(contact.blocks.len(), LoadBlock::ZERO);
        let mut targets = points.blocks.iter_mut();
        points.on_sensor.clear();
        points.on_sensor.resize(motion.len(), Wrench::ZERO);
        let mut slides = FrictionLanes::new();
        for blocks in contact.blocks.chunk_by(|a, b| a.object == b.object) {
            let object = blocks[0].object as usize;
            let mut sum = [[0.0; WIDTH]; 6];
            for block in blocks {
                block.press(&motion[object], dt_s, &mut slides);
                slides.step(&contact.friction, dt_s);
                let mut load = [[0.0; LANES]; 6];
                for lane in 0..LANES {
                    let newton = slides.normal_newton[lane];
                    let f: [f64; 3] =
                        std::array::from_fn(|axis| slides.force[axis][lane] - block.normal[axis][lane] * newton);
                    let [x, y, z] = [block.arm[0][lane], block.arm[1][lane], block.arm[2][lane]];
                    (load[0][lane], load[1][lane], load[2][lane]) = (f[0], f[1], f[2]);
                    load[3][lane] = y * f[2] - z * f[1];
                    load[4][lane] = z * f[0] - x * f[2];
                    load[5][lane] = x * f[1] - y * f[0];
                }
                sum.iter_mut().zip(&load).for_each(|(sum, load)| add_all(sum, load));
                if let Some(to) = targets.next() {
                    to.normal_newton = slides.normal_newton;
                    (to.friction, to.deflection_m) = (slides.force, slides.deflection_m);
                }
            }
            let [fx, fy, fz, tx, ty, tz] = sum.each_ref().map(total);
            points.on_sensor[object] = Wrench { force: Vec3::new(fx, fy, fz), torque: Vec3::new(tx, ty, tz) };
        }
    }
}
