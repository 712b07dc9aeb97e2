//! Tabulated Hankel transforms.

use dermis_geometry::gauss_legendre;
use std::ops::Range;

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

/// Nodes and weights of Gauss rules over wave numbers. Small distances have rules of their own with fewer nodes, because
/// J(kρ) oscillates less.
#[derive(Clone, Debug)]
pub struct Waves {
    /// Wave numbers (1/m) of all rules.
    pub k: Vec<f64>,
    weight: Vec<f64>,
    /// Maximum distance (m) that a rule resolves, and its nodes; the largest distance first.
    rules: Vec<(f64, Range<usize>)>,
}

/// Ratio of the maximum distances of successive rules.
const RULES: f64 = 4.0;

impl Waves {
    /// Nodes for spectra that vary over 1/`coarse_m` and vanish above `max_per_m`, for distances up to `reach_m`.
    pub fn new(coarse_m: f64, max_per_m: f64, reach_m: f64) -> Self {
        let points = gauss_legendre(16);
        let mut waves = Self { k: Vec::new(), weight: Vec::new(), rules: Vec::new() };
        let mut far_m = reach_m;
        // The widest part is half of the spectrum.
        while waves.rules.is_empty() || far_m * max_per_m > 16.0 {
            let first = waves.k.len();
            let mut from = 0.0;
            while from < max_per_m {
                let width = (0.5 * from).max(0.5 / coarse_m).min(8.0 / far_m);
                let width = width.min(max_per_m - from).max(1e-3 / coarse_m);
                for (x, w) in &points {
                    waves.k.push(from + 0.5 * width * (1.0 + x));
                    waves.weight.push(0.5 * width * w);
                }
                from += width;
            }
            waves.rules.push((far_m, first..waves.k.len()));
            far_m /= RULES;
        }
        waves
    }

    /// (1/2π) ∫ F(k) J(kρ) dk for spectra F sampled at [`Waves::k`], each of its order; zero beyond the reach.
    pub fn transform<const N: usize>(&self, spectra: [(Order, &[f64]); N], length_m: f64) -> [Radial; N] {
        let reach_m = self.rules.first().map_or(0.0, |rule| rule.0);
        let count = ((reach_m / length_m).asinh() * STEPS).ceil() as usize + 5;
        let mut tables = spectra.map(|(order, _)| {
            let parity = if order == Order::One { -1.0 } else { 1.0 };
            Radial { length_m, parity, values: vec![0.0; count] }
        });
        for index in 0..count {
            let rho = length_m * (index as f64 / STEPS).sinh();
            for i in self.nodes(rho) {
                let waves = bessel(self.k[i] * rho).map(|value| self.weight[i] / std::f64::consts::TAU * value);
                for (table, (order, spectrum)) in tables.iter_mut().zip(&spectra) {
                    table.values[index] += spectrum[i] * waves[*order as usize];
                }
            }
        }
        tables
    }

    /// The nodes of the last rule that resolves a distance (m).
    fn nodes(&self, rho_m: f64) -> Range<usize> {
        let resolves = |rule: &&(f64, Range<usize>)| rho_m <= rule.0;
        let rule = self.rules.iter().rev().find(resolves).or(self.rules.first());
        rule.map_or(0..0, |(_, nodes)| nodes.clone())
    }
}

/// J₀, J₁ and J₂.
fn bessel(x: f64) -> [f64; 3] {
    let (j0, j1) = (libm::j0(x), libm::j1(x));
    // The recurrence cancels near zero, where a short series suffices.
    let j2 = if x < 1e-2 { x * x / 8.0 * (1.0 - x * x / 12.0 * (1.0 - x * x / 32.0)) } else { 2.0 * j1 / x - j0 };
    [j0, j1, j2]
}

/// A distance between the samples of a table, for all functions that were transformed together.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Index of the sample before it.
    base: i64,
    weights: [f64; 8],
}

impl Radial {
    /// The place of a distance (m); `None` beyond the reach.
    pub fn place(&self, rho_m: f64) -> Option<Place> {
        let x = rho_m / self.length_m;
        // asinh, whose relative error near zero does not matter here.
        let t = (x + (x * x + 1.0).sqrt()).ln() * STEPS;
        let base = t.floor();
        let last = self.values.len() as i64 - 1;
        (base as i64 + 4 <= last).then(|| Place { base: base as i64, weights: lagrange_8(t - base) })
    }

    /// The value at a place of this function or of one that was transformed with it; zero beyond the reach.
    pub fn at(&self, place: Option<Place>) -> f64 {
        let Some(Place { base, weights }) = place else { return 0.0 };
        let mut sum = 0.0;
        for (offset, weight) in weights.into_iter().enumerate() {
            let index = base + offset as i64 - 3;
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
        let [zero, one, two] =
            waves.transform([(Order::Zero, &spectrum), (Order::One, &spectrum), (Order::Two, &spectrum)], a);
        for rho in [0.0f64, 1e-5, 0.3e-3, 1e-3, 5e-3, 17e-3, 29e-3] {
            let root = a.hypot(rho);
            let tau = std::f64::consts::TAU;
            let truth = 1.0 / root / tau;
            let place = zero.place(rho);
            assert!((zero.at(place) - truth).abs() < 1e-10 / a, "{rho}: {} {truth}", zero.at(place));
            if rho > 0.0 {
                let truth = (1.0 - a / root) / rho / tau;
                assert!((one.at(place) - truth).abs() < 1e-10 / a, "{rho}: {} {truth}", one.at(place));
                let truth = (root - a).powi(2) / (rho * rho * root) / tau;
                assert!((two.at(place) - truth).abs() < 1e-10 / a, "{rho}: {} {truth}", two.at(place));
            }
        }
    }

    /// The rules of small distances give what the rule of the largest gives, for spectra like those of a thin layer.
    #[test]
    fn fewer_nodes_suffice_for_small_distances() {
        let (depth_m, thickness_m) = (0.14e-3, 2e-3);
        let waves = Waves::new(thickness_m, 45.0 / depth_m, 28e-3);
        let spectrum: Vec<f64> = waves.k.iter().map(|k| (k * thickness_m).tanh() * (-k * depth_m).exp()).collect();
        let one_rule = Waves { rules: waves.rules[..1].to_vec(), ..waves.clone() };
        assert!(waves.rules.len() >= 4, "{:?}", waves.rules);
        let spectra = [(Order::Zero, &spectrum[..]), (Order::One, &spectrum), (Order::Two, &spectrum)];
        for (some, all) in waves.transform(spectra, depth_m).iter().zip(&one_rule.transform(spectra, depth_m)) {
            let largest = all.values.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
            for (i, (some, all)) in some.values.iter().zip(&all.values).enumerate() {
                assert!((some - all).abs() < 1e-12 * largest, "{i}: {some:e} for {all:e}");
            }
        }
    }
}
