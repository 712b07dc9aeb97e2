//! Tabulated Hankel transforms.

use dermis_geometry::gauss_legendre;

/// A smooth even or odd function of the distance ρ from a source, tabulated over t with ρ = ℓ sinh t.
#[derive(Clone, Debug)]
pub struct Radial {
    length_m: f64,
    parity: f64,
    values: Vec<f64>,
}

/// Samples per unit of t: interpolation with eight points has an error of 1e-12 of the largest value.
const STEPS: f64 = 32.0;

/// Order of a Hankel transform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// J₀: isotropic.
    Zero,
    /// J₁: proportional to the cosine of the angle.
    One,
    /// J₂: proportional to the cosine of twice the angle.
    Two,
}

/// Nodes and weights of a Gauss rule over wave numbers.
#[derive(Clone, Debug)]
pub struct Waves {
    /// Wave numbers (1/m).
    pub k: Vec<f64>,
    weight: Vec<f64>,
    /// Maximum distance (m) that the nodes resolve.
    reach_m: f64,
}

impl Waves {
    /// Nodes for spectra that vary over 1/`coarse_m` and vanish above `max_per_m`, for distances up to `reach_m`.
    pub fn new(coarse_m: f64, max_per_m: f64, reach_m: f64) -> Self {
        let points = gauss_legendre(16);
        let (mut k, mut weight) = (Vec::new(), Vec::new());
        let mut from = 0.0;
        while from < max_per_m {
            let width = (0.5 * from).max(0.5 / coarse_m).min(8.0 / reach_m);
            let width = width.min(max_per_m - from).max(1e-3 / coarse_m);
            for (x, w) in &points {
                k.push(from + 0.5 * width * (1.0 + x));
                weight.push(0.5 * width * w);
            }
            from += width;
        }
        Self { k, weight, reach_m }
    }

    /// (1/2π) ∫ F(k) J(kρ) dk for spectra F sampled at [`Waves::k`], all of one order; zero beyond the reach.
    pub fn transform<const N: usize>(&self, spectra: [&[f64]; N], order: Order, length_m: f64) -> [Radial; N] {
        let count = ((self.reach_m / length_m).asinh() * STEPS).ceil() as usize + 5;
        let parity = if order == Order::One { -1.0 } else { 1.0 };
        let mut tables = spectra.map(|_| Radial { length_m, parity, values: vec![0.0; count] });
        for index in 0..count {
            let rho = length_m * (index as f64 / STEPS).sinh();
            for ((i, &k), &weight) in self.k.iter().enumerate().zip(&self.weight) {
                let wave = weight / std::f64::consts::TAU * bessel(order, k * rho);
                for (table, spectrum) in tables.iter_mut().zip(spectra) {
                    table.values[index] += spectrum[i] * wave;
                }
            }
        }
        tables
    }
}

fn bessel(order: Order, x: f64) -> f64 {
    match order {
        Order::Zero => libm::j0(x),
        Order::One => libm::j1(x),
        // The recurrence cancels near zero, where a short series suffices.
        Order::Two if x < 1e-2 => x * x / 8.0 * (1.0 - x * x / 12.0 * (1.0 - x * x / 32.0)),
        Order::Two => 2.0 * libm::j1(x) / x - libm::j0(x),
    }
}

impl Radial {
    /// The value at a distance (m).
    pub fn at(&self, rho_m: f64) -> f64 {
        let t = (rho_m / self.length_m).asinh() * STEPS;
        let base = t.floor();
        let last = self.values.len() as i64 - 1;
        let base_index = base as i64;
        if base_index + 4 > last {
            return 0.0;
        }
        let x = t - base;
        let mut sum = 0.0;
        for (offset, weight) in lagrange_8(x).into_iter().enumerate() {
            let index = base_index + offset as i64 - 3;
            let (place, sign) = if index < 0 { (-index, self.parity) } else { (index, 1.0) };
            sum += sign * weight * self.values[place as usize];
        }
        sum
    }
}

/// Lagrange weights of the points −3 … 4 at 0 ≤ x < 1.
fn lagrange_8(x: f64) -> [f64; 8] {
    /// Π over the other points m of (j − m), for j = −3 … 4.
    const DIVISORS: [f64; 8] = [-5040.0, 720.0, -240.0, 144.0, -144.0, 240.0, -720.0, 5040.0];
    let d: [f64; 8] = std::array::from_fn(|j| x - (j as f64 - 3.0));
    let mut before = [1.0; 9];
    let mut after = [1.0; 9];
    for j in 0..8 {
        before[j + 1] = before[j] * d[j];
        after[7 - j] = after[8 - j] * d[7 - j];
    }
    std::array::from_fn(|j| before[j] * after[j + 1] / DIVISORS[j])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ∫ e^{−ak} J₀(kρ) dk = 1/√(a² + ρ²), ∫ e^{−ak} J₁ dk = (1 − a/√·)/ρ, ∫ k e^{−ak} J₂ dk by the same table.
    #[test]
    fn known_transforms() {
        let a = 0.5e-3;
        let waves = Waves::new(1e-3, 45.0 / a, 30e-3);
        let spectrum: Vec<f64> = waves.k.iter().map(|k| (-a * k).exp()).collect();
        let zero = &waves.transform([&spectrum], Order::Zero, a)[0];
        let one = &waves.transform([&spectrum], Order::One, a)[0];
        let two = &waves.transform([&spectrum], Order::Two, a)[0];
        for rho in [0.0f64, 1e-5, 0.3e-3, 1e-3, 5e-3, 17e-3, 29e-3] {
            let root = a.hypot(rho);
            let tau = std::f64::consts::TAU;
            let truth = 1.0 / root / tau;
            assert!((zero.at(rho) - truth).abs() < 1e-10 / a, "{rho}: {} {truth}", zero.at(rho));
            if rho > 0.0 {
                let truth = (1.0 - a / root) / rho / tau;
                assert!((one.at(rho) - truth).abs() < 1e-10 / a, "{rho}: {} {truth}", one.at(rho));
                let truth = (root - a).powi(2) / (rho * rho * root) / tau;
                assert!((two.at(rho) - truth).abs() < 1e-10 / a, "{rho}: {} {truth}", two.at(rho));
            }
        }
    }
}
