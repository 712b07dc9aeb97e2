//! Slope of contact points that stick.
#![allow(clippy::needless_range_loop, reason = "a lane indexes many arrays")]

use super::{ImplicitContact, Matrix6, StickingSlope};
use crate::friction_lanes::LANES;
use crate::lane_sums::{WIDTH, add_all, add_products, total};
use crate::simd::{Kernel, Vectors};

/// [`ImplicitContact::sticking`]: sums of k jjᵀ with j = (n, r × n), and of the slopes of friction.
pub(super) struct Sticking<'a> {
    pub contact: &'a ImplicitContact,
    pub dt_s: f64,
}

impl Kernel for Sticking<'_> {
    type Output = Vec<StickingSlope>;
    #[inline(always)]
    fn run<V: Vectors>(self) -> Self::Output {
        let Self { contact, dt_s } = self;
        let mut slopes = vec![StickingSlope::default(); contact.static_loads.len()];
        // The slope of friction is linear in the share of a point and in its normal force.
        let slope = |(k, d): (f64, f64)| dt_s * k + d;
        let by_share = slope(contact.points.friction.tangent(0.0, 1.0));
        let by_newton = slope(contact.points.friction.tangent(1.0, 0.0));
        for (object, _, blocks) in contact.groups() {
            let mut normal = [[0.0; WIDTH]; 21];
            let mut excess = [[0.0; WIDTH]; 21];
            // Σ L, Σ L r, Σ L r rᵀ of the slope L of friction.
            let mut moments = [[0.0; WIDTH]; 10];
            for block in blocks {
                let (n, r) = (&block.normal, &block.arm);
                let (mut excess_damping, mut friction) = ([0.0; LANES], [0.0; LANES]);
                let mut j = [[0.0; LANES]; 6];
                for lane in 0..LANES {
                    let slope = by_share * block.share[lane] + by_newton * block.newton[lane];
                    friction[lane] = if block.newton[lane] > 0.0 { slope } else { 0.0 };
                    excess_damping[lane] = block.damping[lane] - friction[lane];
                    (j[0][lane], j[1][lane], j[2][lane]) = (n[0][lane], n[1][lane], n[2][lane]);
                    j[3][lane] = r[1][lane] * n[2][lane] - r[2][lane] * n[1][lane];
                    j[4][lane] = r[2][lane] * n[0][lane] - r[0][lane] * n[2][lane];
                    j[5][lane] = r[0][lane] * n[1][lane] - r[1][lane] * n[0][lane];
                }
                let mut entry = 0;
                for a in 0..6 {
                    for b in 0..=a {
                        let mut product = [0.0; LANES];
                        for lane in 0..LANES {
                            product[lane] = j[a][lane] * j[b][lane];
                        }
                        add_products(&mut normal[entry], &block.stiffness, &product);
                        add_products(&mut excess[entry], &excess_damping, &product);
                        entry += 1;
                    }
                }
                add_all(&mut moments[0], &friction);
                let mut entry = 4;
                for a in 0..3 {
                    let mut moment = [0.0; LANES];
                    for lane in 0..LANES {
                        moment[lane] = friction[lane] * r[a][lane];
                    }
                    add_all(&mut moments[a + 1], &moment);
                    for b in 0..=a {
                        add_products(&mut moments[entry], &moment, &r[b]);
                        entry += 1;
                    }
                }
            }
            let slope = &mut slopes[object];
            let mut entry = 0;
            for a in 0..6 {
                for b in 0..=a {
                    for (target, sums) in [(&mut slope.normal_stiffness, &normal), (&mut slope.by_velocity, &excess)] {
                        (target[a][b], target[b][a]) = (total(&sums[entry]), total(&sums[entry]));
                    }
                    entry += 1;
                }
            }
            isotropic(&mut slope.by_velocity, moments.each_ref().map(total));
        }
        slopes
    }
}

/// Adds Σ L PᵀP for P = (1, −[r]×), from the moments of L.
fn isotropic(sum: &mut Matrix6, [l, x, y, z, xx, xy, yy, xz, yz, zz]: [f64; 10]) {
    let cross = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]];
    let corner = [[yy + zz, -xy, -xz], [-xy, xx + zz, -yz], [-xz, -yz, xx + yy]];
    for i in 0..3 {
        sum[i][i] += l;
        for j in 0..3 {
            sum[i][j + 3] -= cross[i][j];
            sum[i + 3][j] += cross[i][j];
            sum[i + 3][j + 3] += corner[i][j];
        }
    }
}
