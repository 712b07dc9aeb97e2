//! Displacement and rotation of the material inside a layer.

use super::Laminate;
use super::radial::{Order, Waves};
use dermis_geometry::{Vec2, Vec3};
use serde::{Deserialize, Serialize};

/// Displacement and rotation of the material at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MaterialMotion {
    /// Displacement (m), in the sensor's frame.
    pub displacement_m: Vec3,
    /// Rotation vector (rad): half the curl of the displacement, to first order; of a gel, that of the polar decomposition.
    pub rotation_rad: Vec3,
}

/// Motion of the material at one depth of a laminate, as functions of the distance from a loaded cell.
///
/// The functions are Hankel transforms of [`super::InnerResponse`], as those of the surface are of the wave response.
/// For a unit force along −z, with ρ̂ the direction from the force:
/// ```text
/// u = −ẑ ∫k w J₀ + ρ̂ ∫k u J₁,   rotation = (ẑ × ρ̂) ∫k r J₁        each (1/2π) ∫ … dk
/// ```
/// and for a unit force along x, at the angle φ, with L and T the waves along and across x:
/// ```text
/// u_x = M − D cos 2φ,  u_y = −D sin 2φ,  u_z = N cos φ,   M, D = ½∫k(u_L ± u_T) J₀, J₂,   N = ∫k w_L J₁
/// r_x = d sin 2φ,  r_y = m − d cos 2φ,  r_z = q sin φ,     m, d = ½∫k(r_L ± ½u_T′) J₀, J₂,   q = ½∫k² u_T J₁
/// ```
/// A force is uniform over its cell of edge c. The factor exp(−k²c²/24) has the second moments of the cell, which leaves
/// an error of fourth order in c over the depth.
#[derive(Clone, Debug)]
pub struct Interior {
    depth_m: f64,
    step_m: f64,
    /// w J₀, u J₁, r J₁ by pressure; M, D, N, m, d, q by shear.
    table: Vec<[f64; 9]>,
}

/// Samples per depth or cell, whichever is larger: cubic interpolation has an error of 1e-5 of the largest value.
const STEPS: f64 = 8.0;

impl Interior {
    /// Tabulates the motion at a depth (m) under loads on cells of a given edge (m), up to a distance of `reach_m`.
    pub fn new(laminate: &Laminate, depth_m: f64, cell_m: f64, reach_m: f64) -> Self {
        let total_m = laminate.thickness_m();
        let depth_m = depth_m.clamp(0.0, total_m);
        let smooth_m = depth_m.max(cell_m);
        let max_per_m = (45.0 / depth_m.max(1e-9 * total_m)).min(30.0 / cell_m);
        let waves = Waves::new(total_m, max_per_m, reach_m);
        let responses: Vec<[f64; 9]> = waves
            .k
            .iter()
            .map(|&k| {
                let r = laminate.inner_response(k, depth_m);
                let half_slope = 0.5 * r.transverse_slope;
                let spectra = [
                    r.normal_by_pressure,
                    r.tangential_by_pressure,
                    r.rotation_by_pressure,
                    0.5 * (r.tangential_by_shear + r.transverse_by_shear),
                    0.5 * (r.tangential_by_shear - r.transverse_by_shear),
                    r.normal_by_shear,
                    0.5 * (r.rotation_by_shear + half_slope),
                    0.5 * (r.rotation_by_shear - half_slope),
                    0.5 * k * r.transverse_by_shear,
                ];
                let over_cell = k * (-(k * cell_m).powi(2) / 24.0).exp();
                spectra.map(|value| value * over_cell)
            })
            .collect();
        let spectrum = |i: usize| -> Vec<f64> { responses.iter().map(|response| response[i]).collect() };
        let all: [Vec<f64>; 9] = std::array::from_fn(spectrum);
        const ORDERS: [Order; 9] = [
            Order::Zero,
            Order::One,
            Order::One,
            Order::Zero,
            Order::Two,
            Order::One,
            Order::Zero,
            Order::Two,
            Order::One,
        ];
        let radial = waves.transform(std::array::from_fn::<_, 9, _>(|i| (ORDERS[i], &all[i][..])), smooth_m);
        let step_m = smooth_m / STEPS;
        let count = (reach_m / step_m).ceil() as usize + 4;
        let at = |i: usize| {
            let place = radial[0].place(i as f64 * step_m);
            radial.each_ref().map(|function| function.at(place))
        };
        Self { depth_m, step_m, table: (0..count).map(at).collect() }
    }

    /// Depth of the material (m).
    pub fn depth_m(&self) -> f64 {
        self.depth_m
    }

    /// Motion at a place (m) under forces (N) on the sensor at the centres (m) of cells.
    pub fn motion(&self, at: Vec2, loads: impl IntoIterator<Item = (Vec2, Vec3)>) -> MaterialMotion {
        let (mut displacement_m, mut rotation_rad) = (Vec3::ZERO, Vec3::ZERO);
        for (cell, force) in loads {
            for (unit, part) in self.units(at - cell).iter().zip(force.to_array()) {
                displacement_m += unit.displacement_m * part;
                rotation_rad += unit.rotation_rad * part;
            }
        }
        MaterialMotion { displacement_m, rotation_rad }
    }

    /// Derivative (1/N) of a scalar by the force on a cell (m), from those by the motion at a place (m).
    pub fn by_force(&self, at: Vec2, cell: Vec2, by: &MaterialMotion) -> Vec3 {
        let along =
            |unit: MaterialMotion| unit.displacement_m.dot(by.displacement_m) + unit.rotation_rad.dot(by.rotation_rad);
        Vec3::from_array(self.units(at - cell).map(along))
    }

    /// Motions at an offset (m) from a cell under unit forces on it along x, y and z.
    fn units(&self, offset: Vec2) -> [MaterialMotion; 3] {
        let rho = offset.length();
        let [w, out, tilt, mean, difference, down, rotation, d, spin] = self.functions(rho);
        let Vec2 { x: cos, y: sin } = if rho > 0.0 { offset / rho } else { Vec2::ZERO };
        let (double, cross) = (cos * cos - sin * sin, 2.0 * sin * cos);
        [
            MaterialMotion {
                displacement_m: Vec3::new(mean - difference * double, -difference * cross, down * cos),
                rotation_rad: Vec3::new(d * cross, rotation - d * double, spin * sin),
            },
            MaterialMotion {
                displacement_m: Vec3::new(-difference * cross, mean + difference * double, down * sin),
                rotation_rad: Vec3::new(-rotation - d * double, -d * cross, -spin * cos),
            },
            MaterialMotion {
                displacement_m: Vec3::new(-out * cos, -out * sin, w),
                rotation_rad: Vec3::new(tilt * sin, -tilt * cos, 0.0),
            },
        ]
    }

    /// The tabulated functions at a distance (m), by cubic interpolation; zero beyond the table.
    fn functions(&self, rho_m: f64) -> [f64; 9] {
        let t = rho_m / self.step_m;
        let i = t as usize;
        if i + 2 >= self.table.len() {
            return [0.0; 9];
        }
        let x = t - i as f64;
        let [b, c, d] = [self.table[i], self.table[i + 1], self.table[i + 2]];
        // The functions of J₁ are odd in the distance, the others even.
        const ODD: [bool; 9] = [false, true, true, false, false, true, false, false, true];
        let a = if i > 0 {
            self.table[i - 1]
        } else {
            std::array::from_fn(|j| if ODD[j] { -self.table[1][j] } else { self.table[1][j] })
        };
        let weights = [
            -x * (x - 1.0) * (x - 2.0) / 6.0,
            (x + 1.0) * (x - 1.0) * (x - 2.0) / 2.0,
            -(x + 1.0) * x * (x - 2.0) / 2.0,
            (x + 1.0) * x * (x - 1.0) / 6.0,
        ];
        std::array::from_fn(|j| weights[0] * a[j] + weights[1] * b[j] + weights[2] * c[j] + weights[3] * d[j])
    }
}
