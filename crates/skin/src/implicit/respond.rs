//! Derivatives of the loads of contact points.

use super::{ImplicitContact, ImplicitLoad, ImplicitMotion};
use crate::friction_lanes::{FrictionLanes, LANES, Lanes, Lanes3, Slip};
use crate::friction_slope::FrictionSlope;
use crate::lane_sums::{WIDTH, add_all, add_products, total};
use crate::simd::{Kernel, Vectors};
use dermis_geometry::{Vec3, Wrench};

/// [`ImplicitContact::respond`]. With p = n − ∂T/∂N, the normal force has the derivative −(h k w + d v)·n p and friction
/// that of its slip, which has no component along the normal. A slope C at the point r is PᵀCP about the origin, with
/// P = (1, −[r]×): its first three rows are (c, r × c) for each row c of C, and the other three are their moments.
pub(super) struct Respond<'a> {
    pub contact: &'a ImplicitContact,
    pub motion: &'a [ImplicitMotion],
    pub dt_s: f64,
}

impl Kernel for Respond<'_> {
    type Output = Vec<ImplicitLoad>;
    #[inline(always)]
    fn run<V: Vectors>(self) -> Self::Output {
        let Self { contact, motion, dt_s } = self;
        let mut answers = vec![ImplicitLoad::default(); motion.len()];
        let (mut slides, mut velocity) = (FrictionLanes::NONE, [Lanes::ZERO; 3]);
        let mut slope = FrictionSlope::new();
        for (object, group) in &contact.groups {
            let mut load = [[0.0; WIDTH]; 6];
            let mut by_velocity = [[[0.0; WIDTH]; 6]; 6];
            let mut by_spring = [[[0.0; WIDTH]; 6]; 6];
            let friction = contact.points.frictions.of(*object as u32);
            for (block, arm) in contact.blocks(group) {
                block.press(&motion[*object], dt_s, &mut slides, &mut velocity);
                let slip = Slip { velocity: &velocity, share: &block.share };
                slope.compute(friction, &mut slides, slip, dt_s);
                let [x, y, z] = arm;
                // p and n with their moments, and the force with its.
                let (mut p, mut n, mut f) = ([Lanes::ZERO; 6], [Lanes::ZERO; 6], [Lanes::ZERO; 6]);
                let mut stiffness = Lanes::ZERO;
                // Rows of (C, r × C).
                let mut c = [[Lanes::ZERO; 6]; 3];
                let mut damping = Lanes::ZERO;
                for lane in 0..LANES {
                    let pressed = slides.normal_newton[lane] > 0.0;
                    let slope = dt_s * block.stiffness[lane];
                    damping[lane] = if pressed { block.damping[lane] } else { 0.0 };
                    stiffness[lane] = if pressed { slope } else { 0.0 };
                }
                for i in 0..3 {
                    for lane in 0..LANES {
                        let normal = block.normal[i][lane];
                        n[i][lane] = normal;
                        p[i][lane] = normal - slope.by_normal[i][lane];
                        f[i][lane] = slides.force[i][lane] - normal * slides.normal_newton[lane];
                    }
                }
                for i in 0..3 {
                    let mut along = Lanes::ZERO;
                    for lane in 0..LANES {
                        along[lane] = damping[lane] * p[i][lane] - slope.isotropic[lane] * n[i][lane];
                    }
                    for j in 0..3 {
                        let one = if i == j { 1.0 } else { 0.0 };
                        for lane in 0..LANES {
                            let lengthwise = slope.across[lane] * slope.unit[i][lane] * slope.unit[j][lane];
                            c[i][j][lane] = slope.pull[i][lane] * slope.direction[j][lane] - lengthwise
                                + along[lane] * n[j][lane]
                                + one * slope.isotropic[lane];
                        }
                    }
                }
                for six in [&mut p, &mut n, &mut f].into_iter().chain(&mut c) {
                    add_moment(six, arm);
                }
                for i in 0..6 {
                    add_all(&mut load[i], &f[i]);
                    let mut pressed = Lanes::ZERO;
                    for lane in 0..LANES {
                        pressed[lane] = p[i][lane] * stiffness[lane];
                    }
                    for j in 0..6 {
                        add_products(&mut by_spring[i][j], &pressed, &n[j]);
                    }
                }
                for j in 0..6 {
                    let [c0, c1, c2] = [&c[0][j], &c[1][j], &c[2][j]];
                    let mut moment = [Lanes::ZERO; 3];
                    for lane in 0..LANES {
                        moment[0][lane] = y[lane] * c2[lane] - z[lane] * c1[lane];
                        moment[1][lane] = z[lane] * c0[lane] - x[lane] * c2[lane];
                        moment[2][lane] = x[lane] * c1[lane] - y[lane] * c0[lane];
                    }
                    for i in 0..3 {
                        add_all(&mut by_velocity[i][j], &c[i][j]);
                        add_all(&mut by_velocity[i + 3][j], &moment[i]);
                    }
                }
            }
            let [fx, fy, fz, tx, ty, tz] = load.each_ref().map(total);
            answers[*object] = ImplicitLoad {
                on_sensor: Wrench { force: Vec3::new(fx, fy, fz), torque: Vec3::new(tx, ty, tz) },
                by_velocity: by_velocity.each_ref().map(|row| row.each_ref().map(total)),
                by_spring_velocity: by_spring.each_ref().map(|row| row.each_ref().map(total)),
            };
        }
        answers
    }
}

/// Sets the last three rows to r × the first three.
#[inline(always)]
fn add_moment(six: &mut [Lanes; 6], [x, y, z]: &Lanes3) {
    for lane in 0..LANES {
        let v = [six[0][lane], six[1][lane], six[2][lane]];
        six[3][lane] = y[lane] * v[2] - z[lane] * v[1];
        six[4][lane] = z[lane] * v[0] - x[lane] * v[2];
        six[5][lane] = x[lane] * v[1] - y[lane] * v[0];
    }
}
