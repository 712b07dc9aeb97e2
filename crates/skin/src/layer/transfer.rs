//! Response of a laminate on a rigid base to waves of traction.

use super::Ply;
use crate::SkinError;

/// Plies bonded to each other and to a rigid base, the uppermost first.
#[derive(Clone, Debug, PartialEq)]
pub struct Laminate {
    plies: Vec<Ply>,
}

/// Response to waves of wave number k along x, per unit of traction on the surface.
///
/// Under pressure p cos kx and shear q_x sin kx the surface moves downwards by w cos kx and along x by u sin kx;
/// pressure and shear at the requested depth have the same forms. Shear q_y cos kx (the transverse wave) is uncoupled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WaveResponse {
    /// Downward displacement by pressure, w/p (m/Pa).
    pub normal_by_pressure: f64,
    /// Displacement along x by pressure, u/p (m/Pa).
    pub tangential_by_pressure: f64,
    /// Downward displacement by shear along x, w/q_x (m/Pa). By reciprocity equal to `tangential_by_pressure`.
    pub normal_by_shear: f64,
    /// Displacement along x by shear along x (m/Pa).
    pub tangential_by_shear: f64,
    /// Displacement along y by shear along y (m/Pa).
    pub transverse_by_shear: f64,
    /// Pressure below, by pressure.
    pub below_pressure_by_pressure: f64,
    /// Shear along x below, by pressure.
    pub below_shear_by_pressure: f64,
    /// Pressure below, by shear along x.
    pub below_pressure_by_shear: f64,
    /// Shear along x below, by shear along x.
    pub below_shear_by_shear: f64,
    /// Shear along y below, by shear along y.
    pub below_transverse: f64,
}

/// Displacement and rotation inside a laminate under the waves of [`WaveResponse`], per unit of traction on the surface.
///
/// Rotation is half the curl of the displacement: under pressure p cos kx and shear q_x sin kx it is r sin kx about y.
/// With u_x = U sin kx, u_z = W cos kx and σ_xz = S sin kx, S = μ(U′ − kW), so r = ½(U′ + kW) = S/2μ + kW: no derivative
/// of the solutions is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InnerResponse {
    /// Downward displacement by pressure (m/Pa).
    pub normal_by_pressure: f64,
    /// Displacement along x by pressure (m/Pa).
    pub tangential_by_pressure: f64,
    /// Rotation about y by pressure (rad/Pa).
    pub rotation_by_pressure: f64,
    /// Downward displacement by shear along x (m/Pa).
    pub normal_by_shear: f64,
    /// Displacement along x by shear along x (m/Pa).
    pub tangential_by_shear: f64,
    /// Rotation about y by shear along x (rad/Pa).
    pub rotation_by_shear: f64,
    /// Displacement along y by shear along y (m/Pa).
    pub transverse_by_shear: f64,
    /// Derivative of `transverse_by_shear` with respect to height (1/Pa).
    pub transverse_slope: f64,
}

/// Displacement u_x = U sin kx, u_z = W cos kx and stress σ_zz = N cos kx, σ_xz = S sin kx of one of the four basic
/// solutions.
#[derive(Clone, Copy, Default)]
struct Basic {
    u: f64,
    w: f64,
    n: f64,
    s: f64,
}

/// The four solutions in a ply at a height over its bottom, from ∇φ and κφẑ − z∇φ with φ = exp(±kz) (Papkovich and
/// Neuber), κ = 3 − 4ν. They are not singular at ν = ½. For short waves the growing pair is 1 at the top and the
/// decaying pair at the bottom; for long waves, where all exponentials are nearly equal, they are combined to be
/// independent.
fn basics(ply: &Ply, k: f64, height_m: f64) -> [Basic; 4] {
    if k * ply.thickness_m < 1.0 { long_wave_basics(ply, k, height_m) } else { short_wave_basics(ply, k, height_m) }
}

fn short_wave_basics(ply: &Ply, k: f64, height_m: f64) -> [Basic; 4] {
    let (nu, mu) = (ply.poisson.ratio(), ply.shear_pa());
    let kappa = 3.0 - 4.0 * nu;
    let mut all = [Basic::default(); 4];
    for (pair, (sign, z)) in [(1.0, height_m - ply.thickness_m), (-1.0, height_m)].into_iter().enumerate() {
        let phi = (sign * k * z).exp();
        let kz = k * z;
        all[2 * pair] = Basic { u: -phi, w: sign * phi, n: 2.0 * mu * k * phi, s: -2.0 * mu * k * sign * phi };
        all[2 * pair + 1] = Basic {
            u: kz * phi,
            w: (kappa - sign * kz) * phi,
            n: 2.0 * mu * k * phi * (2.0 * (1.0 - nu) * sign - kz),
            s: -2.0 * mu * k * phi * ((1.0 - 2.0 * nu) - sign * kz),
        };
    }
    all
}

/// The solutions with φ = cosh kz and φ = sinh kz; κ times the second is subtracted from the third.
fn long_wave_basics(ply: &Ply, k: f64, height_m: f64) -> [Basic; 4] {
    let nu = ply.poisson.ratio();
    let (kappa, unit) = (3.0 - 4.0 * nu, 2.0 * ply.shear_pa() * k);
    let kz = k * height_m;
    let (c, s) = (kz.cosh(), kz.sinh());
    [
        Basic { u: -c, w: s, n: unit * c, s: -unit * s },
        Basic { u: -s, w: c, n: unit * s, s: -unit * c },
        Basic {
            u: kz * c + kappa * s,
            w: -kz * s,
            n: unit * ((2.0 * nu - 1.0) * s - kz * c),
            s: unit * (2.0 * (1.0 - nu) * c + kz * s),
        },
        Basic {
            u: kz * s,
            w: kappa * s - kz * c,
            n: unit * (2.0 * (1.0 - nu) * c - kz * s),
            s: -unit * ((1.0 - 2.0 * nu) * s - kz * c),
        },
    ]
}

impl Laminate {
    /// Checks the plies.
    pub fn new(plies: Vec<Ply>) -> Result<Self, SkinError> {
        if plies.is_empty() {
            return Err(SkinError::NoPlies);
        }
        plies.iter().try_for_each(Ply::validate)?;
        Ok(Self { plies })
    }

    /// The plies, the uppermost first.
    pub fn plies(&self) -> &[Ply] {
        &self.plies
    }

    /// The uppermost ply.
    pub fn top(&self) -> &Ply {
        &self.plies[0]
    }

    /// Total thickness (m).
    pub fn thickness_m(&self) -> f64 {
        self.plies.iter().map(|ply| ply.thickness_m).sum()
    }

    /// Response at wave number k > 0 (1/m), with the stress at `depth_m` below the surface.
    pub fn response(&self, k: f64, depth_m: f64) -> WaveResponse {
        let (mut plane, mut across) = (self.plane_system(k), self.across_system(k));
        let [by_pressure, by_shear] = plane.solve();
        let [by_across] = across.solve();
        let (index, height_m) = self.locate(depth_m);
        let ply = &self.plies[index];
        let below = basics(ply, k, height_m);
        let surface = basics(self.top(), k, self.top().thickness_m);
        let sum = |basics: &[Basic; 4], first: usize, by: &[f64], part: fn(&Basic) -> f64| -> f64 {
            basics.iter().zip(&by[first..first + 4]).map(|(basic, c)| part(basic) * c).sum()
        };
        // Transverse wave: a e^{k(ζ − h)} + b e^{−kζ}.
        let rising = (k * (height_m - ply.thickness_m)).exp();
        let falling = (-k * height_m).exp();
        let (a, b) = (by_across[2 * index], by_across[2 * index + 1]);
        let top_falling = (-k * self.top().thickness_m).exp();
        WaveResponse {
            normal_by_pressure: -sum(&surface, 0, &by_pressure, |basic| basic.w),
            tangential_by_pressure: sum(&surface, 0, &by_pressure, |basic| basic.u),
            normal_by_shear: -sum(&surface, 0, &by_shear, |basic| basic.w),
            tangential_by_shear: sum(&surface, 0, &by_shear, |basic| basic.u),
            transverse_by_shear: by_across[0] + by_across[1] * top_falling,
            below_pressure_by_pressure: -sum(&below, 4 * index, &by_pressure, |basic| basic.n),
            below_shear_by_pressure: sum(&below, 4 * index, &by_pressure, |basic| basic.s),
            below_pressure_by_shear: -sum(&below, 4 * index, &by_shear, |basic| basic.n),
            below_shear_by_shear: sum(&below, 4 * index, &by_shear, |basic| basic.s),
            below_transverse: ply.shear_pa() * k * (a * rising - b * falling),
        }
    }

    /// Displacement and rotation at `depth_m` below the surface, at wave number k > 0 (1/m).
    pub fn inner_response(&self, k: f64, depth_m: f64) -> InnerResponse {
        let [by_pressure, by_shear] = self.plane_system(k).solve();
        let [by_across] = self.across_system(k).solve();
        let (index, height_m) = self.locate(depth_m);
        let ply = &self.plies[index];
        let inside = basics(ply, k, height_m);
        let sum = |by: &[f64], part: fn(&Basic) -> f64| -> f64 {
            inside.iter().zip(&by[4 * index..4 * index + 4]).map(|(basic, c)| part(basic) * c).sum()
        };
        let rotation = |by: &[f64]| sum(by, |basic| basic.s) / (2.0 * ply.shear_pa()) + k * sum(by, |basic| basic.w);
        let rising = by_across[2 * index] * (k * (height_m - ply.thickness_m)).exp();
        let falling = by_across[2 * index + 1] * (-k * height_m).exp();
        InnerResponse {
            normal_by_pressure: -sum(&by_pressure, |basic| basic.w),
            tangential_by_pressure: sum(&by_pressure, |basic| basic.u),
            rotation_by_pressure: rotation(&by_pressure),
            normal_by_shear: -sum(&by_shear, |basic| basic.w),
            tangential_by_shear: sum(&by_shear, |basic| basic.u),
            rotation_by_shear: rotation(&by_shear),
            transverse_by_shear: rising + falling,
            transverse_slope: k * (rising - falling),
        }
    }

    /// The ply at a depth, and the height (m) over its bottom.
    fn locate(&self, depth_m: f64) -> (usize, f64) {
        let mut bottom_m = 0.0;
        for (index, ply) in self.plies.iter().enumerate() {
            bottom_m += ply.thickness_m;
            if depth_m <= bottom_m || index + 1 == self.plies.len() {
                return (index, (bottom_m - depth_m).max(0.0));
            }
        }
        (0, 0.0)
    }

    /// Four unknowns per ply: tractions at the top, continuity between plies, zero displacement at the base.
    fn plane_system(&self, k: f64) -> System<2> {
        let size = 4 * self.plies.len();
        let mut system = System::new(size);
        let parts: [fn(&Basic) -> f64; 4] = [|b| b.u, |b| b.w, |b| b.n, |b| b.s];
        // Stress is in units of 2μk of the top ply, because displacement is in units of the coefficients.
        let scale = 1.0 / (2.0 * self.top().shear_pa() * k);
        let weight = |part: usize| if part < 2 { 1.0 } else { scale };
        let top = basics(self.top(), k, self.top().thickness_m);
        for (row, part) in [2, 3].into_iter().enumerate() {
            for (col, basic) in top.iter().enumerate() {
                system.matrix[row * size + col] = parts[part](basic) * scale;
            }
        }
        system.right[0][0] = -scale;
        system.right[1][1] = scale;
        let mut row = 2;
        for (index, ply) in self.plies.iter().enumerate() {
            let bottom = basics(ply, k, 0.0);
            let next = self.plies.get(index + 1).map(|next| basics(next, k, next.thickness_m));
            for (part, value) in parts.iter().enumerate().take(if next.is_some() { 4 } else { 2 }) {
                for col in 0..4 {
                    system.matrix[row * size + 4 * index + col] = value(&bottom[col]) * weight(part);
                    if let Some(next) = &next {
                        system.matrix[row * size + 4 * (index + 1) + col] = -value(&next[col]) * weight(part);
                    }
                }
                row += 1;
            }
        }
        system
    }

    /// Two unknowns per ply for shear along the crests.
    fn across_system(&self, k: f64) -> System<1> {
        let size = 2 * self.plies.len();
        let mut system = System::new(size);
        let fall = |ply: &Ply| (-k * ply.thickness_m).exp();
        let unit = self.top().shear_pa();
        system.matrix[0] = 1.0;
        system.matrix[1] = -fall(self.top());
        system.right[0][0] = 1.0 / (unit * k);
        let mut row = 1;
        for (index, ply) in self.plies.iter().enumerate() {
            let col = 2 * index;
            system.matrix[row * size + col] = fall(ply);
            system.matrix[row * size + col + 1] = 1.0;
            if let Some(next) = self.plies.get(index + 1) {
                system.matrix[row * size + col + 2] = -1.0;
                system.matrix[row * size + col + 3] = -fall(next);
                row += 1;
                let (here, there) = (ply.shear_pa() / unit, next.shear_pa() / unit);
                system.matrix[row * size + col] = here * fall(ply);
                system.matrix[row * size + col + 1] = -here;
                system.matrix[row * size + col + 2] = -there;
                system.matrix[row * size + col + 3] = there * fall(next);
            }
            row += 1;
        }
        system
    }
}

/// A few linear equations with `R` right-hand sides.
struct System<const R: usize> {
    size: usize,
    matrix: Vec<f64>,
    right: Vec<[f64; R]>,
}

impl<const R: usize> System<R> {
    fn new(size: usize) -> Self {
        Self { size, matrix: vec![0.0; size * size], right: vec![[0.0; R]; size] }
    }

    /// Gaussian elimination with row pivoting, after scaling all columns to the same size; one vector of unknowns per
    /// right-hand side.
    fn solve(&mut self) -> [Vec<f64>; R] {
        let n = self.size;
        let largest = |col: usize| (0..n).fold(0.0f64, |max, row| max.max(self.matrix[row * n + col].abs()));
        let sizes: Vec<f64> = (0..n).map(largest).collect();
        self.matrix
            .chunks_exact_mut(n)
            .for_each(|row| row.iter_mut().zip(&sizes).for_each(|(value, size)| *value /= size));
        for col in 0..n {
            let pivot = (col..n)
                .max_by(|&a, &b| self.matrix[a * n + col].abs().total_cmp(&self.matrix[b * n + col].abs()))
                .unwrap_or(col);
            if pivot != col {
                (0..n).for_each(|c| self.matrix.swap(pivot * n + c, col * n + c));
                self.right.swap(pivot, col);
            }
            for row in col + 1..n {
                let factor = self.matrix[row * n + col] / self.matrix[col * n + col];
                for c in col..n {
                    self.matrix[row * n + c] -= factor * self.matrix[col * n + c];
                }
                for r in 0..R {
                    self.right[row][r] -= factor * self.right[col][r];
                }
            }
        }
        std::array::from_fn(|r| {
            let mut x = vec![0.0; n];
            for row in (0..n).rev() {
                let known: f64 = (row + 1..n).map(|c| self.matrix[row * n + c] * x[c]).sum();
                x[row] = (self.right[row][r] - known) / self.matrix[row * n + row];
            }
            x.iter_mut().zip(&sizes).for_each(|(x, size)| *x /= size);
            x
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Poisson;
    use super::*;

    fn ply(nu: f64) -> Ply {
        let poisson = if nu == 0.5 { Poisson::Incompressible } else { Poisson::Ratio(nu) };
        Ply { thickness_m: 0.004, young_pa: 1.45e5, poisson }
    }

    /// L(ξ) = (2κ sinh 2ξ − 4ξ)/(2κ cosh 2ξ + 4ξ² + 1 + κ²), with w = 2(1 − ν²)/(E k) L p.
    #[test]
    fn one_ply_has_its_closed_form() {
        for nu in [-0.3, 0.0, 0.3, 0.45, 0.49, 0.5] {
            let ply = ply(nu);
            let laminate = Laminate::new(vec![ply]).unwrap();
            let kappa = 3.0 - 4.0 * nu;
            for xi in [0.001f64, 0.02, 0.1, 0.99, 1.0, 3.0, 9.0] {
                let k = xi / ply.thickness_m;
                let l = (2.0 * kappa * (2.0 * xi).sinh() - 4.0 * xi)
                    / (2.0 * kappa * (2.0 * xi).cosh() + 4.0 * xi * xi + 1.0 + kappa * kappa);
                let response = laminate.response(k, ply.thickness_m);
                let found = response.normal_by_pressure * ply.plane_strain_pa() * k / 2.0;
                assert!((found - l).abs() < 1e-10, "nu {nu}, xi {xi}: {found} for {l}");
                let across = response.transverse_by_shear * ply.shear_pa() * k;
                assert!((across - xi.tanh()).abs() < 1e-13);
                assert!((response.below_transverse * xi.cosh() - 1.0).abs() < 1e-12);
            }
        }
    }

    /// For ν = 0.45 the base carries fractions 0.9960, 0.8171 and 0.3463 of the pressure at kh = 0.1, 1 and 3.
    #[test]
    fn the_base_carries_known_fractions_of_the_pressure() {
        let ply = ply(0.45);
        let laminate = Laminate::new(vec![ply]).unwrap();
        for (xi, share) in [(0.1, 0.9960), (1.0, 0.8171), (3.0, 0.3463)] {
            let response = laminate.response(xi / ply.thickness_m, ply.thickness_m);
            assert!((response.below_pressure_by_pressure - share).abs() < 5e-5, "{response:?}");
        }
    }

    /// Reciprocity: tangential by pressure equals normal by shear.
    #[test]
    fn reciprocal() {
        let soft = ply(0.48);
        let coat = Ply { thickness_m: 3e-4, young_pa: 2e6, poisson: Poisson::Ratio(0.4) };
        for laminate in [vec![soft], vec![coat, soft], vec![ply(0.5)]] {
            let laminate = Laminate::new(laminate).unwrap();
            for k in [10.0, 300.0, 2000.0, 3e4] {
                let a = laminate.response(k, 0.0);
                let scale = a.normal_by_pressure.abs().max(a.tangential_by_shear.abs());
                assert!((a.tangential_by_pressure - a.normal_by_shear).abs() < 1e-9 * scale, "{a:?}");
                // At the surface, the response equals the traction.
                assert!((a.below_pressure_by_pressure - 1.0).abs() < 1e-9 && a.below_shear_by_pressure.abs() < 1e-9);
                assert!((a.below_shear_by_shear - 1.0).abs() < 1e-9 && a.below_pressure_by_shear.abs() < 1e-9);
            }
        }
    }

    /// Two plies of one material equal one ply; far above its thickness it is a half-space.
    #[test]
    fn a_ply_equals_two_plies_of_its_material() {
        let whole = ply(0.45);
        let cut = |h: f64| Ply { thickness_m: h, ..whole };
        let (one, two) = (Laminate::new(vec![whole]).unwrap(), Laminate::new(vec![cut(0.001), cut(0.003)]).unwrap());
        for k in [0.3, 3.0, 30.0, 250.0, 300.0, 500.0, 1000.0, 4e3] {
            let (a, b) = (one.response(k, 0.0025), two.response(k, 0.0025));
            for (a, b) in [
                (a.normal_by_pressure, b.normal_by_pressure),
                (a.tangential_by_pressure, b.tangential_by_pressure),
                (a.tangential_by_shear, b.tangential_by_shear),
                (a.transverse_by_shear, b.transverse_by_shear),
                (a.below_pressure_by_pressure, b.below_pressure_by_pressure),
                (a.below_shear_by_pressure, b.below_shear_by_pressure),
                (a.below_pressure_by_shear, b.below_pressure_by_shear),
                (a.below_shear_by_shear, b.below_shear_by_shear),
                (a.below_transverse, b.below_transverse),
            ] {
                assert!((a - b).abs() <= 1e-8 * a.abs() + 1e-16, "k {k}: {a} {b}");
            }
        }
        let k = 1e5;
        let (mu, nu) = (whole.shear_pa(), 0.45);
        let a = one.response(k, 0.0);
        assert!((a.normal_by_pressure * mu * k - (1.0 - nu)).abs() < 1e-12);
        assert!((a.tangential_by_shear * mu * k - (1.0 - nu)).abs() < 1e-12);
        assert!((a.transverse_by_shear * mu * k - 1.0).abs() < 1e-12);
        assert!((a.tangential_by_pressure.abs() * mu * k - 0.5 * (1.0 - 2.0 * nu)).abs() < 1e-12);
    }
}
