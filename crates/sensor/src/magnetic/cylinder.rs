//! Flux density of cylindrical magnets.
#![allow(clippy::needless_range_loop, reason = "an index runs over the lanes of several arrays at once")]

use super::elliptic::cel;
use dermis_geometry::Vec3;
use std::f64::consts::PI;

/// A cylinder along z, centred at the origin.
///
/// Near places have the closed forms. Far ones have the multipoles of the cylinder: with N the Newtonian potential of a
/// uniform body, J the polarisation and n = 2, 4, …,
/// ```text
/// B = ∇(J·∇N)/4π,   N = Σ c_l P_l(cos θ)/r^(l+1),   c_l = 4π R^(l+1) P′_(l+2)(c₀) / ((l+1)(l+2)(l+3))
/// N_zz/4π = cos θ A − E,   N_ρz/4π = sin θ A,   N_ρ/(4πρ) = −F
/// A, E, F = Σ q_n s^(n+1) (P′_n, P′_(n−1), P′_(n−1)/(n−1))(cos θ),   q_n = P′_n(c₀)/(n(n+1)R²),   s = R/r
/// ```
/// in units of the radius, with R and c₀ the distance and the cosine of the rims. c_l follows from the integral of a solid
/// harmonic over the volume by ∂_z(r^l P_l) = l r^(l−1) P_(l−1) and Laplace's equation. Each term has at most |J q_n| n s^(n+1)
/// (a derivative of order n of 1/r along unit vectors has at most n!/r^(n+1)) and the first at least |J q_2| s³, which bounds the
/// relative error of a sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Cylinder {
    radius_m: f64,
    /// Half the height by the radius.
    half: f64,
    /// Distance of the rims from the centre (m).
    rim_m: f64,
    /// q_n and q_n/(n − 1), n = 2, 4, ….
    terms: [[f64; 2]; TERMS],
    /// Largest s at which the terms up to this one have a relative error of at most [`ERROR`].
    reach: [f64; TERMS],
}

/// Number of multipoles.
const TERMS: usize = 20;
/// Relative error of a sum of multipoles.
const ERROR: f64 = 1e-12;

impl Cylinder {
    /// Prepares a cylinder of given diameter and height (m).
    pub fn new(diameter_m: f64, height_m: f64) -> Self {
        let radius_m = 0.5 * diameter_m;
        let half = 0.5 * height_m / radius_m;
        let rim = half.hypot(1.0);
        // Terms beyond these are below 1e-26 at the largest s.
        let mut all = [0.0; 3 * TERMS];
        let (mut before, mut odd) = (0.0, 1.0);
        for (k, term) in all.iter_mut().enumerate() {
            let n = 2.0 * (k + 1) as f64;
            let [first, second, third, fourth] = recurrence(n);
            let even = first * (half / rim) * odd - second * before;
            *term = even / (n * (n + 1.0) * rim * rim);
            (before, odd) = (even, third * (half / rim) * even - fourth * odd);
        }
        let sound = |last: usize, s: f64| {
            let (mut beyond, mut others, mut power) = (0.0, 0.0, 1.0);
            for (k, term) in all.iter().enumerate().skip(1) {
                power *= s * s;
                let size = term.abs() * (2 * (k + 1)) as f64 * power;
                others += size;
                beyond += if k > last { size } else { 0.0 };
            }
            beyond <= ERROR * (all[0].abs() - others)
        };
        let reach = |last: usize| {
            let (mut low, mut high) = (0.0, 0.6);
            for _ in 0..30 {
                let middle = 0.5 * (low + high);
                *(if sound(last, middle) { &mut low } else { &mut high }) = middle;
            }
            low
        };
        Self {
            radius_m,
            half,
            rim_m: rim * radius_m,
            terms: std::array::from_fn(|k| [all[k], all[k] / (2 * k + 1) as f64]),
            reach: std::array::from_fn(reach),
        }
    }

    /// Half the extent along each axis (m).
    pub fn half_m(&self) -> Vec3 {
        Vec3::new(1.0, 1.0, self.half) * self.radius_m
    }

    /// Flux density (T) outside the cylinder, magnetised uniformly with `polarisation` (T), at `r` (m).
    pub fn field(&self, polarisation: Vec3, r: Vec3) -> Vec3 {
        self.fields(polarisation, &[r])[0]
    }

    /// [`Cylinder::field`] at several places. The number of multipoles is that of the nearest place that has them.
    pub fn fields<const N: usize>(&self, polarisation: Vec3, places: &[Vec3; N]) -> [Vec3; N] {
        let distances = places.map(|r| r.length());
        let near = distances.map(|distance| self.rim_m > self.reach[TERMS - 1] * distance);
        let s: [f64; N] = std::array::from_fn(|i| if near[i] { 0.0 } else { self.rim_m / distances[i] });
        let cos: [f64; N] = std::array::from_fn(|i| places[i].z / distances[i]);
        let largest = s.iter().copied().fold(0.0, f64::max);
        let count = TERMS.min(self.reach.partition_point(|reach| *reach < largest) + 1);
        let (x, s2): ([f64; N], [f64; N]) = (std::array::from_fn(|i| s[i] * cos[i]), s.map(|s| s * s));
        // sⁿ P′_n by the recurrence of the derivatives of Legendre polynomials.
        let (mut before, mut odd) = ([0.0; N], s);
        let (mut a, mut e, mut f) = ([0.0; N], [0.0; N], [0.0; N]);
        for ([term, part], [first, second, third, fourth]) in self.terms[..count].iter().zip(&RECURRENCE) {
            for i in 0..N {
                let even = first * x[i] * odd[i] - second * s2[i] * before[i];
                a[i] += term * even;
                e[i] += term * odd[i];
                f[i] += part * odd[i];
                odd[i] = third * x[i] * even - fourth * s2[i] * odd[i];
                before[i] = even;
            }
        }
        std::array::from_fn(|i| {
            if near[i] {
                return self.near_field(polarisation, places[i]);
            }
            let (a, e, f) = (a[i] * s[i], e[i] * s2[i], f[i] * s2[i]);
            let (r, axial) = (places[i] / distances[i], cos[i] * a - e);
            let Vec3 { x, y, z } = polarisation;
            let along = Vec3::new(a * r.x, a * r.y, axial) * z;
            if x == 0.0 && y == 0.0 {
                return along;
            }
            let rho = r.x.hypot(r.y);
            let (cos, sin) = if rho > 0.0 { (r.x / rho, r.y / rho) } else { (1.0, 0.0) };
            let outwards = (cos * x + sin * y) * (2.0 * f - axial);
            let across = Vec3::new(outwards * cos - f * x, outwards * sin - f * y, a * (r.x * x + r.y * y));
            along + across
        })
    }

    /// The closed forms.
    fn near_field(&self, polarisation: Vec3, r: Vec3) -> Vec3 {
        let Vec3 { x, y, z } = r / self.radius_m;
        let rho = x.hypot(y);
        let (cos, sin) = if rho > 0.0 { (x / rho, y / rho) } else { (1.0, 0.0) };
        let mut field = Vec3::ZERO;
        if polarisation.z != 0.0 {
            let [radial, axial] = axial_cylinder(self.half, rho, z);
            field += Vec3::new(radial * cos, radial * sin, axial) * polarisation.z;
        }
        let across = polarisation.x.hypot(polarisation.y);
        if across > 0.0 {
            let (px, py) = (polarisation.x / across, polarisation.y / across);
            // Cosine and sine of the angle from the magnetisation to the place.
            let (cos_phi, sin_phi) = (cos * px + sin * py, sin * px - cos * py);
            let [radial, around, axial] = diametral_cylinder(self.half, rho, z);
            let (radial, around) = (radial * cos_phi, around * sin_phi);
            field += Vec3::new(radial * cos - around * sin, radial * sin + around * cos, axial * cos_phi) * across;
        }
        field
    }
}

/// The factors of x P′_(n−1), P′_(n−2) in P′_n and of x P′_n, P′_(n−1) in P′_(n+1): n P′_(n+1) = (2n + 1) x P′_n − (n + 1) P′_(n−1).
const fn recurrence(n: f64) -> [f64; 4] {
    [(2.0 * n - 1.0) / (n - 1.0), n / (n - 1.0), (2.0 * n + 1.0) / n, (n + 1.0) / n]
}

/// [`recurrence`] for n = 2, 4, ….
const RECURRENCE: [[f64; 4]; TERMS] = {
    let mut all = [[0.0; 4]; TERMS];
    let mut k = 0;
    while k < TERMS {
        all[k] = recurrence(2.0 * (k + 1) as f64);
        k += 1;
    }
    all
};

/// Radial and axial flux density of a cylinder of unit radius and unit polarisation along its axis (Derby and Olbert
/// 2010, Am. J. Phys. 78, 229, eqs 5 and 6).
fn axial_cylinder(half: f64, rho: f64, z: f64) -> [f64; 2] {
    let gamma = (1.0 - rho) / (1.0 + rho);
    let [upper, lower] = [z + half, z - half].map(|along| {
        let outer2 = along * along + (1.0 + rho).powi(2);
        let kc = ((along * along + (1.0 - rho).powi(2)) / outer2).sqrt();
        let outer = outer2.sqrt();
        let [radial, axial] = cel(kc, [[1.0, 1.0, -1.0], [(gamma * gamma).max(f64::MIN_POSITIVE), 1.0, gamma]]);
        [radial / outer, along * axial / outer]
    });
    [(upper[0] - lower[0]) / PI, (upper[1] - lower[1]) / (PI * (1.0 + rho))]
}

/// Field of a cylinder of unit radius and unit polarisation across its axis, without the factors cos φ, sin φ and cos φ
/// of its radial, azimuthal and axial components (Caciagli et al. 2018, J. Magn. Magn. Mater. 456, 423; near the axis
/// the series of Ortner's magpylib). Outside the magnet; inside, the polarisation is missing.
fn diametral_cylinder(half: f64, rho: f64, z: f64) -> [f64; 3] {
    let (upper, lower) = (diametral_end(rho, z + half), diametral_end(rho, z - half));
    std::array::from_fn(|i| upper[i] - lower[i])
}

/// The part of one end face at a distance `t` along the axis.
fn diametral_end(rho: f64, t: f64) -> [f64; 3] {
    let (t2, rho2) = (t * t, rho * rho);
    if rho < 0.05 {
        let q = t2 + 1.0;
        let f = t / q.sqrt();
        let first = f / (q * q) * rho2 / 8.0;
        let second = (3.0 - 4.0 * t2) * f / q.powi(4) / 64.0 * rho2 * rho2;
        let axial = rho / (q * q.sqrt())
            + 3.0 / 8.0 * rho * rho2 * (1.0 - 4.0 * t2) / (q.powi(3) * q.sqrt())
            + 15.0 / 64.0 * rho * rho2 * rho2 * (1.0 - 12.0 * t2 + 8.0 * t2 * t2) / (q.powi(5) * q.sqrt());
        return [-(f + 9.0 * first + 25.0 * second) / 4.0, (f + 3.0 * first + 5.0 * second) / 4.0, -axial / 4.0];
    }
    let (plus, minus) = (rho + 1.0, rho - 1.0);
    let a2 = t2 + minus * minus;
    let a = a2.sqrt();
    let m = -4.0 * rho / a2;
    let kc = (1.0 - m).sqrt();
    let (n, by_minus) = if minus == 0.0 { (1e16, 0.0) } else { (-4.0 * rho / (minus * minus), 1.0 / minus) };
    let p = 1.0 - if minus == 0.0 { -n } else { n };
    let [first, second, third] = cel(kc, [[1.0, 1.0, 1.0], [1.0, 1.0, kc * kc], [p, 1.0, 1.0]]);
    let radial = t * a * second - t / a * (2.0 + t2) * first - t / a * third * plus * (rho2 + 1.0) * by_minus;
    let around = -t * a * second + t / a * (2.0 + t2 + 2.0 * rho2) * first - t / a * plus * plus * third;
    let axial = -a * second + (1.0 + t2 + rho2) / a * first;
    [-radial / (4.0 * PI * rho2), around / (4.0 * PI * rho2), -axial / (2.0 * PI * rho)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The multipoles meet the closed forms where they replace them, flat and long, on and off the axis, to the digits that
    /// the closed forms keep there; with more terms than needed nothing changes beyond the bound.
    #[test]
    fn multipoles_are_the_closed_forms_far_away() {
        let polarisation = Vec3::new(0.3, -0.5, 1.1);
        for (diameter_m, height_m) in [(9.525e-3, 3.175e-3), (2e-3, 7e-3), (10e-3, 0.2e-3), (1.6e-3, 0.5e-3)] {
            let cylinder = Cylinder::new(diameter_m, height_m);
            assert!(cylinder.reach[TERMS - 1] > 0.3, "{:?}", cylinder.reach);
            for reach in [cylinder.reach[TERMS - 1], cylinder.reach[9], cylinder.reach[5]] {
                for cos in [1.0, 0.999_999f64, 0.8, 0.3, 0.0, -0.5] {
                    let sin = (1.0 - cos * cos).sqrt();
                    let r = Vec3::new(0.6 * sin, -0.8 * sin, cos) * (1.000_001 * cylinder.rim_m / reach);
                    let (far, near) = (cylinder.field(polarisation, r), cylinder.near_field(polarisation, r));
                    let error = (far - near).length() / near.length();
                    assert!(error < 2e-10, "{diameter_m} × {height_m} at {r}: {far} for {near}, {error:e}");
                    let four = cylinder.fields(polarisation, &[r, r * 40.0, r * 2.0, r * 0.5]);
                    assert!((four[0] - far).length() <= 2.0 * ERROR * far.length());
                }
            }
        }
    }
}
