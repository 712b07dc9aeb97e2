//! Slope of contact points that stick.
#![allow(clippy::needless_range_loop, reason = "a lane indexes many arrays")]

use super::{ImplicitContact, Matrix6, StickingSlope};
use crate::friction_lanes::{LANES, Lanes, Lanes3};
use crate::lane_sums::{WIDTH, add_products, total};
use crate::point_block::PointBlock;
use crate::simd::{Kernel, Vectors};
use dermis_geometry::Vec3;

/// [`ImplicitContact::sticking`]: sums of k jjᵀ with j = (n, r × n), and of the slopes of friction. Points with the same
/// normal n have Σ k jjᵀ = N Σ k ppᵀ Nᵀ with p = (1, r) and j = N p: ten sums instead of 21.
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
        for (object, group) in &contact.groups {
            let friction = contact.points.frictions.of(*object as u32);
            let (by_share, by_newton) = (slope(friction.tangent(0.0, 1.0)), slope(friction.tangent(1.0, 0.0)));
            let slope = &mut slopes[*object];
            let mut normal = [[0.0; WIDTH]; 21];
            let mut excess = [[0.0; WIDTH]; 21];
            // Of the slope of friction, then of the stiffness and the excess damping of points with one normal.
            let mut moments = [[0.0; WIDTH]; 10];
            let mut flat: Option<(Vec3, [[[f64; WIDTH]; 10]; 2])> = None;
            for (block, arm) in contact.blocks(group) {
                let (mut excess_damping, mut friction) = (Lanes::ZERO, Lanes::ZERO);
                for lane in 0..LANES {
                    let newton = block.load.normal_newton[lane];
                    let slope = by_share * block.share[lane] + by_newton * newton;
                    friction[lane] = if newton > 0.0 { slope } else { 0.0 };
                    excess_damping[lane] = block.damping[lane] - friction[lane];
                }
                add_moments(&mut moments, &friction, arm);
                let Some(one) = block.only_normal() else {
                    add_tensors(&mut normal, &mut excess, &excess_damping, block, arm);
                    continue;
                };
                if flat.as_ref().is_none_or(|(known, _)| *known != one) {
                    add_flat(slope, flat.replace((one, [[[0.0; WIDTH]; 10]; 2])));
                }
                if let Some((_, [stiff, damp])) = &mut flat {
                    add_moments(stiff, &block.stiffness, arm);
                    add_moments(damp, &excess_damping, arm);
                }
            }
            add_flat(slope, flat);
            let mut entry = 0;
            for a in 0..6 {
                for b in 0..=a {
                    for (target, sums) in [(&mut slope.normal_stiffness, &normal), (&mut slope.by_velocity, &excess)] {
                        let sum = total(&sums[entry]);
                        target[a][b] += sum;
                        target[b][a] += if a == b { 0.0 } else { sum };
                    }
                    entry += 1;
                }
            }
            isotropic(&mut slope.by_velocity, moments.each_ref().map(total));
        }
        slopes
    }
}

/// Adds Σ w, Σ w r and Σ w r rᵀ of weights at points.
#[inline(always)]
fn add_moments(moments: &mut [[f64; WIDTH]; 10], weight: &Lanes, r: &Lanes3) {
    for first in (0..LANES).step_by(WIDTH) {
        for part in 0..WIDTH {
            let lane = first + part;
            let (w, x, y, z) = (weight[lane], r[0][lane], r[1][lane], r[2][lane]);
            let (wx, wy, wz) = (w * x, w * y, w * z);
            moments[0][part] += w;
            moments[1][part] += wx;
            moments[2][part] += wy;
            moments[3][part] += wz;
            moments[4][part] += wx * x;
            moments[5][part] += wy * x;
            moments[6][part] += wy * y;
            moments[7][part] += wz * x;
            moments[8][part] += wz * y;
            moments[9][part] += wz * z;
        }
    }
}

/// Adds k jjᵀ and d jjᵀ of each point.
#[inline(always)]
fn add_tensors(
    normal: &mut [[f64; WIDTH]; 21],
    excess: &mut [[f64; WIDTH]; 21],
    excess_damping: &Lanes,
    block: &PointBlock,
    r: &Lanes3,
) {
    let n = &block.normal;
    let mut j = [Lanes::ZERO; 6];
    for lane in 0..LANES {
        (j[0][lane], j[1][lane], j[2][lane]) = (n[0][lane], n[1][lane], n[2][lane]);
        j[3][lane] = r[1][lane] * n[2][lane] - r[2][lane] * n[1][lane];
        j[4][lane] = r[2][lane] * n[0][lane] - r[0][lane] * n[2][lane];
        j[5][lane] = r[0][lane] * n[1][lane] - r[1][lane] * n[0][lane];
    }
    let mut entry = 0;
    for a in 0..6 {
        for b in 0..=a {
            let mut product = Lanes::ZERO;
            for lane in 0..LANES {
                product[lane] = j[a][lane] * j[b][lane];
            }
            add_products(&mut normal[entry], &block.stiffness, &product);
            add_products(&mut excess[entry], excess_damping, &product);
            entry += 1;
        }
    }
}

/// Adds the stiffness and the excess damping of points with one normal, from their moments.
fn add_flat(slope: &mut StickingSlope, flat: Option<(Vec3, [[[f64; WIDTH]; 10]; 2])>) {
    let Some((n, moments)) = flat else { return };
    for (target, moments) in [&mut slope.normal_stiffness, &mut slope.by_velocity].into_iter().zip(&moments) {
        let [w, x, y, z, xx, xy, yy, xz, yz, zz] = moments.each_ref().map(total);
        // Σ w (r × n), and the columns of [n]× R with R = Σ w r rᵀ: Σ w (r × n)(r × n)ᵀ = [n]× R [n]×ᵀ.
        let moment = Vec3::new(x, y, z).cross(n);
        let crossed =
            [Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz)].map(|column| n.cross(column));
        for i in 0..3 {
            let row = n.cross(Vec3::new(crossed[0][i], crossed[1][i], crossed[2][i]));
            for j in 0..3 {
                target[i][j] += w * n[i] * n[j];
                target[i + 3][j] += moment[i] * n[j];
                target[j][i + 3] += moment[i] * n[j];
                target[i + 3][j + 3] += row[j];
            }
        }
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
