//! Strain energy, internal forces and tangent stiffness of the gel (total Lagrangian).

use super::bspline::{D, Gradients, Row, W};
use super::parameters::{Coefficients, Constitution};
use super::reference_grid::{LANES, ReferenceGrid};
use crate::simd::{F64x8, Kernel, Simd, Vectors};
use rayon::prelude::*;

/// Numbers stored for the tangent stiffness of a particle: F⁻ᵀ, V μ, V α, V β.
const TANGENT_VALUES: usize = 12;

/// Elastic body on the reference grid.
#[derive(Clone, Debug)]
pub(crate) struct Elastic {
    pub grid: ReferenceGrid,
    constitution: Constitution,
    lambda: f64,
    mu: f64,
    simd: Simd,
}

impl Elastic {
    pub fn new(grid: ReferenceGrid, constitution: Constitution, coefficients: &Coefficients, simd: Simd) -> Self {
        let &Coefficients { lambda_pa: lambda, mu_pa: mu, .. } = coefficients;
        Self { grid, constitution, lambda, mu, simd }
    }

    /// The same body with other Lamé parameters (Pa). Forces are linear in them.
    pub fn with_lame(&self, (lambda, mu): (f64, f64)) -> Self {
        Self { lambda, mu, ..self.clone() }
    }

    /// Length of the tangent array of all particles.
    pub fn tangent_len(&self) -> usize {
        self.grid.fill.len() * TANGENT_VALUES
    }

    fn row_kernel(&self) -> RowKernel {
        RowKernel {
            constitution: self.constitution,
            lambda: self.lambda,
            mu: self.mu,
            volume: self.grid.particle_m3(),
            row: Row::new(&self.grid),
            padded: self.grid.padded,
            layers: self.grid.cells[2],
        }
    }

    /// Strain energy (J) of displacements `u` (m), infinite if a particle is inverted. Adds the internal forces (N) to
    /// `force` and stores the tangent stiffness in `tangent`.
    pub fn stress(&self, u: &[f64], force: &mut [f64], tangent: &mut [f32]) -> f64 {
        let kernel = self.row_kernel();
        let (plane, rows) = (self.grid.plane(), self.grid.cells[1]);
        let fill_row = self.grid.fill.len() / rows;
        let mut energies = vec![0.0; rows];
        for colour in 0..3 {
            let work: Vec<_> = force[colour * plane..]
                .chunks_mut(3 * plane)
                .zip(tangent.chunks_mut(fill_row * TANGENT_VALUES).skip(colour).step_by(3))
                .zip(energies.iter_mut().skip(colour).step_by(3))
                .enumerate()
                .collect();
            work.into_par_iter().for_each(|(index, ((force, tangent), energy))| {
                let y = 3 * index + colour;
                let fill = &self.grid.fill[y * fill_row..(y + 1) * fill_row];
                let u = &u[y * plane..(y + 3) * plane];
                *energy = self.simd.run(StressRow { kernel: &kernel, u, fill, force, tangent });
            });
        }
        energies.iter().sum()
    }

    /// Adds the tangent stiffness times `u` to `out`.
    pub fn product(&self, tangent: &[f32], u: &[f64], out: &mut [f64]) {
        let kernel = self.row_kernel();
        let (plane, rows) = (self.grid.plane(), self.grid.cells[1]);
        let fill_row = self.grid.fill.len() / rows;
        for colour in 0..3 {
            out[colour * plane..].par_chunks_mut(3 * plane).enumerate().for_each(|(index, out)| {
                let y = 3 * index + colour;
                if y < rows {
                    let tangent = &tangent[y * fill_row * TANGENT_VALUES..(y + 1) * fill_row * TANGENT_VALUES];
                    let u = &u[y * plane..(y + 3) * plane];
                    self.simd.run(ProductRow { kernel: &kernel, u, tangent, out });
                }
            });
        }
    }

    /// Diagonal of the stiffness matrix of the undeformed gel (N/m), with ghost nodes folded into their mirror nodes.
    pub fn diagonal(&self) -> Vec<f64> {
        let grid = &self.grid;
        let mut diagonal = vec![0.0; grid.len()];
        let edges = grid.cell_m.to_array();
        for (cell, particle) in grid.all_particles() {
            let fill = f64::from(grid.fill(cell, particle));
            if fill == 0.0 {
                continue;
            }
            let volume = fill * grid.particle_m3();
            let side = [particle & 1, (particle >> 1) & 1, (particle >> 2) & 1];
            for node in 0..27 {
                let n = [node % 3, node / 3 % 3, node / 9];
                let w: [f64; 3] = std::array::from_fn(|axis| W[side[axis]][n[axis]]);
                let d: [f64; 3] = std::array::from_fn(|axis| D[side[axis]][n[axis]] / edges[axis]);
                let gradient = [d[0] * w[1] * w[2], w[0] * d[1] * w[2], w[0] * w[1] * d[2]];
                let squared: f64 = gradient.iter().map(|g| g * g).sum();
                let at = grid.node(std::array::from_fn(|axis| cell[axis] + n[axis]));
                for c in 0..3 {
                    diagonal[at + c * grid.component()] +=
                        volume * (self.mu * squared + (self.lambda + self.mu) * gradient[c] * gradient[c]);
                }
            }
        }
        grid.fold_diagonal(&mut diagonal);
        diagonal
    }
}

/// Material and layout of a row of cells.
#[derive(Clone, Copy)]
struct RowKernel {
    constitution: Constitution,
    lambda: f64,
    mu: f64,
    volume: f64,
    row: Row,
    padded: usize,
    layers: usize,
}

/// Stress and tangent of a row of cells.
struct StressRow<'a> {
    kernel: &'a RowKernel,
    u: &'a [f64],
    fill: &'a [f32],
    force: &'a mut [f64],
    tangent: &'a mut [f32],
}

impl Kernel for StressRow<'_> {
    type Output = f64;
    #[inline(always)]
    fn run<V: Vectors>(self) -> f64 {
        self.kernel.stress_row::<V::F64>(self.u, self.fill, self.force, self.tangent)
    }
}

/// Tangent of a row of cells times displacements.
struct ProductRow<'a> {
    kernel: &'a RowKernel,
    u: &'a [f64],
    tangent: &'a [f32],
    out: &'a mut [f64],
}

impl Kernel for ProductRow<'_> {
    type Output = ();
    #[inline(always)]
    fn run<V: Vectors>(self) {
        self.kernel.product_row::<V::F64>(self.u, self.tangent, self.out);
    }
}

impl RowKernel {
    #[inline(always)]
    fn stress_row<T: F64x8>(&self, u: &[f64], fill: &[f32], force: &mut [f64], tangent: &mut [f32]) -> f64 {
        let mut gradients: Gradients<T> = [[[T::splat(0.0); 3]; 3]; 8];
        let vectors = self.padded / LANES;
        let mut energy = [0.0; LANES];
        for z in 0..self.layers {
            for vector in 0..vectors {
                let cell = (z * vectors + vector) * 8 * LANES;
                let fill = &fill[cell..cell + 8 * LANES];
                if fill.iter().all(|&f| f == 0.0) {
                    continue;
                }
                self.row.gradients::<T>(u, z, vector * LANES, &mut gradients);
                for (particle, gradient) in gradients.iter_mut().enumerate() {
                    let fill = &fill[particle * LANES..(particle + 1) * LANES];
                    let at = (cell + particle * LANES) * TANGENT_VALUES;
                    self.particles(gradient, fill, &mut tangent[at..at + LANES * TANGENT_VALUES], &mut energy);
                }
                self.row.spread::<T>(&gradients, z, vector * LANES, force);
            }
        }
        energy.iter().sum()
    }

    /// Replaces ∂u/∂X by first Piola–Kirchhoff stress times volume.
    #[inline(always)]
    fn particles<T: F64x8>(
        &self,
        gradients: &mut [[T; 3]; 3],
        fill: &[f32],
        tangent: &mut [f32],
        energy: &mut [f64; LANES],
    ) {
        let mut gradient = [[[0.0; LANES]; 3]; 3];
        for (here, wide) in gradient.iter_mut().flatten().zip(gradients.iter().flatten()) {
            wide.store(here);
        }
        for l in 0..LANES {
            let full = fill[l] > 0.0;
            let volume = f64::from(fill[l]) * self.volume;
            let mut h = [[0.0; 3]; 3];
            for c in 0..3 {
                for d in 0..3 {
                    h[c][d] = if full { gradient[c][d][l] } else { 0.0 };
                }
            }
            let response = match self.constitution {
                Constitution::NeoHookean => self.neo_hookean(&h),
                Constitution::FixedCorotated => self.fixed_corotated(&h),
                Constitution::Linear => self.linear(&h),
            };
            for c in 0..3 {
                for d in 0..3 {
                    gradient[c][d][l] = volume * response.stress[c][d];
                    tangent[(3 * c + d) * LANES + l] = response.inverse[c][d] as f32;
                }
            }
            tangent[9 * LANES + l] = (volume * self.mu) as f32;
            tangent[10 * LANES + l] = (volume * response.alpha) as f32;
            tangent[11 * LANES + l] = (volume * response.beta) as f32;
            energy[l] += if full { volume * response.energy } else { 0.0 };
        }
        for (here, wide) in gradient.iter().flatten().zip(gradients.iter_mut().flatten()) {
            *wide = T::load(here);
        }
    }

    #[inline(always)]
    fn neo_hookean(&self, h: &[[f64; 3]; 3]) -> MaterialResponse {
        let f = plus_identity(h);
        let (j, g) = inverse_transposed(&f);
        let squared: f64 = f.iter().flatten().map(|f| f * f).sum();
        let energy =
            0.5 * self.mu * (squared - 3.0) - self.mu * logarithm(j) + 0.5 * self.lambda * (j - 1.0) * (j - 1.0);
        let pressure = self.lambda * (j - 1.0) * j - self.mu;
        let mut stress = [[0.0; 3]; 3];
        for c in 0..3 {
            for d in 0..3 {
                stress[c][d] = self.mu * f[c][d] + pressure * g[c][d];
            }
        }
        MaterialResponse { energy, stress, inverse: g, alpha: self.lambda * (2.0 * j - 1.0) * j, beta: -pressure }
    }

    /// The tangent approximates ∂R/∂F by F⁻ᵀ: exact at small strain; the solution does not depend on it.
    #[inline(always)]
    fn fixed_corotated(&self, h: &[[f64; 3]; 3]) -> MaterialResponse {
        let f = plus_identity(h);
        let (j, g) = inverse_transposed(&f);
        let r = rotation(&f);
        let pressure = self.lambda * (j - 1.0) * j;
        let mut stress = [[0.0; 3]; 3];
        let mut deviation = 0.0;
        for c in 0..3 {
            for d in 0..3 {
                let difference = f[c][d] - r[c][d];
                deviation += difference * difference;
                stress[c][d] = 2.0 * self.mu * difference + pressure * g[c][d];
            }
        }
        let bulk = 0.5 * self.lambda * (j - 1.0) * (j - 1.0);
        let energy = if j > 0.0 { self.mu * deviation + bulk } else { f64::INFINITY };
        MaterialResponse {
            energy,
            stress,
            inverse: g,
            alpha: self.lambda * (2.0 * j - 1.0) * j,
            beta: self.mu - pressure,
        }
    }

    #[inline(always)]
    fn linear(&self, h: &[[f64; 3]; 3]) -> MaterialResponse {
        let trace = h[0][0] + h[1][1] + h[2][2];
        let mut stress = [[0.0; 3]; 3];
        let mut energy = 0.5 * self.lambda * trace * trace;
        for c in 0..3 {
            for d in 0..3 {
                let strain = 0.5 * (h[c][d] + h[d][c]);
                energy += self.mu * strain * strain;
                stress[c][d] = 2.0 * self.mu * strain + if c == d { self.lambda * trace } else { 0.0 };
            }
        }
        MaterialResponse { energy, stress, inverse: plus_identity(&[[0.0; 3]; 3]), alpha: self.lambda, beta: self.mu }
    }

    #[inline(always)]
    fn product_row<T: F64x8>(&self, u: &[f64], tangent: &[f32], out: &mut [f64]) {
        let mut gradients: Gradients<T> = [[[T::splat(0.0); 3]; 3]; 8];
        let vectors = self.padded / LANES;
        for z in 0..self.layers {
            for vector in 0..vectors {
                let cell = (z * vectors + vector) * 8 * LANES;
                let tangent = &tangent[cell * TANGENT_VALUES..(cell + 8 * LANES) * TANGENT_VALUES];
                self.row.gradients::<T>(u, z, vector * LANES, &mut gradients);
                for (particle, gradient) in gradients.iter_mut().enumerate() {
                    let tangent = &tangent[particle * LANES * TANGENT_VALUES..(particle + 1) * LANES * TANGENT_VALUES];
                    tangent_product::<T>(gradient, tangent);
                }
                self.row.spread::<T>(&gradients, z, vector * LANES, out);
            }
        }
    }
}

#[inline(always)]
fn tangent_at<T: F64x8>(tangent: &[f32], index: usize) -> T {
    let mut narrow = [0f32; LANES];
    narrow.copy_from_slice(&tangent[index * LANES..(index + 1) * LANES]);
    T::widen(&narrow)
}

/// dP = μ dF + α (F⁻ᵀ : dF) F⁻ᵀ + β F⁻ᵀ dFᵀ F⁻ᵀ, in place.
#[inline(always)]
fn tangent_product<T: F64x8>(gradient: &mut [[T; 3]; 3], tangent: &[f32]) {
    // Loops instead of closures: only inlined code is compiled to vector instructions.
    let mut inverse = [[T::splat(0.0); 3]; 3];
    for c in 0..3 {
        for d in 0..3 {
            inverse[c][d] = tangent_at(tangent, 3 * c + d);
        }
    }
    let (shear, alpha, beta): (T, T, T) = (tangent_at(tangent, 9), tangent_at(tangent, 10), tangent_at(tangent, 11));
    // dFᵀ F⁻ᵀ.
    let mut product = [[T::splat(0.0); 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            let first = gradient[0][i].mul(inverse[0][j]);
            let second = gradient[1][i].mul_add(inverse[1][j], first);
            product[i][j] = gradient[2][i].mul_add(inverse[2][j], second);
        }
    }
    let trace = product[0][0].add(product[1][1]).add(product[2][2]).mul(alpha);
    for c in 0..3 {
        for d in 0..3 {
            let first = inverse[c][0].mul(product[0][d]);
            let second = inverse[c][1].mul_add(product[1][d], first);
            let third = inverse[c][2].mul_add(product[2][d], second);
            let straight = shear.mul(gradient[c][d]);
            gradient[c][d] = beta.mul_add(third, trace.mul_add(inverse[c][d], straight));
        }
    }
}

/// Response of the material to a displacement gradient: energy density, stress P, F⁻ᵀ and tangent factors α, β.
struct MaterialResponse {
    energy: f64,
    stress: [[f64; 3]; 3],
    inverse: [[f64; 3]; 3],
    alpha: f64,
    beta: f64,
}

#[inline(always)]
fn plus_identity(h: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let mut f = *h;
    for (i, row) in f.iter_mut().enumerate() {
        row[i] += 1.0;
    }
    f
}

/// det F and F⁻ᵀ.
#[inline(always)]
fn inverse_transposed(f: &[[f64; 3]; 3]) -> (f64, [[f64; 3]; 3]) {
    let mut cofactor = [[0.0; 3]; 3];
    for i in 0..3 {
        let (a, b) = ((i + 1) % 3, (i + 2) % 3);
        for j in 0..3 {
            let (c, d) = ((j + 1) % 3, (j + 2) % 3);
            cofactor[i][j] = f[a][c] * f[b][d] - f[a][d] * f[b][c];
        }
    }
    let j = f[0][0] * cofactor[0][0] + f[0][1] * cofactor[0][1] + f[0][2] * cofactor[0][2];
    (j, cofactor.map(|row| row.map(|value| value / j)))
}

/// The rotation in F by Newton's iteration R ← (R + R⁻ᵀ)/2 (Higham 1986).
#[inline(always)]
pub(crate) fn rotation(f: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let mut r = *f;
    for _ in 0..8 {
        let (_, g) = inverse_transposed(&r);
        for i in 0..3 {
            for j in 0..3 {
                r[i][j] = 0.5 * (r[i][j] + g[i][j]);
            }
        }
    }
    r
}

/// Natural logarithm of a positive number, −∞ otherwise, in code that vectorises: from exponent and a series of the
/// mantissa.
#[inline(always)]
fn logarithm(x: f64) -> f64 {
    let bits = x.to_bits() as i64;
    let exponent = ((bits >> 52) & 0x7ff) - 1023;
    let mantissa = f64::from_bits(((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000) as u64);
    // Reduces to [√½, √2], where the series below is accurate to 1e-15.
    let high = mantissa > std::f64::consts::SQRT_2;
    let m = if high { 0.5 * mantissa } else { mantissa };
    let e = (exponent + i64::from(high)) as f64;
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    let mut sum = 1.0 / 19.0;
    for k in (0..9).rev() {
        sum = sum * s2 + 1.0 / f64::from(2 * k + 1);
    }
    let value = e * std::f64::consts::LN_2 + 2.0 * s * sum;
    if x > 0.0 { value } else { f64::NEG_INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_the_logarithm() {
        for x in [1e-3, 0.3, 0.7, 0.99, 1.0, 1.01, 1.5, 2.0, 7.3, 1e4] {
            assert!((logarithm(x) - f64::ln(x)).abs() < 4e-15 * (1.0 + f64::ln(x).abs()), "{x}");
        }
        assert_eq!(logarithm(-1.0), f64::NEG_INFINITY);
    }
}
