//! Complete elliptic integrals.

/// Bulirsch's complete elliptic integral (Numer. Math. 13, 305, 1969), by the arithmetic-geometric mean:
/// ```text
/// cel(k_c, p, a, b) = ∫₀^{π/2} (a cos²φ + b sin²φ) / ((cos²φ + p sin²φ) √(cos²φ + k_c² sin²φ)) dφ,   p > 0, k_c ≠ 0
/// ```
/// K, E and Π are the cases (1, 1, 1), (1, 1, k_c²) and (1 − n, 1, 1).
pub(super) fn cel(kc: f64, p: f64, a: f64, b: f64) -> f64 {
    const TOLERANCE: f64 = 1e-8;
    let mut k = kc.abs();
    let mut e = k;
    let mut m = 1.0;
    let (mut p, mut a, mut b) = (p.sqrt(), a, b / p.sqrt());
    // Converges quadratically: a relative change of 1e-8 leaves an error of 1e-16.
    for _ in 0..40 {
        let f = a;
        a += b / p;
        let g = e / p;
        b = 2.0 * (b + f * g);
        p += g;
        let last = m;
        m += k;
        if (last - k).abs() <= last * TOLERANCE {
            break;
        }
        k = 2.0 * e.sqrt();
        e = k * m;
    }
    std::f64::consts::FRAC_PI_2 * (b + a * m) / (m * (m + p))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K(½) and E(½) of Abramowitz and Stegun, tables 17.1 and 17.2; Π(n, 0) = π/(2√(1 − n)).
    #[test]
    fn elliptic_integrals_have_their_tabulated_values() {
        let kc = 0.5f64.sqrt();
        assert!((cel(kc, 1.0, 1.0, 1.0) - 1.854_074_677_301_372).abs() < 1e-15);
        assert!((cel(kc, 1.0, 1.0, kc * kc) - 1.350_643_881_047_675_5).abs() < 1e-15);
        assert!((cel(1.0, 1.0 - 0.36, 1.0, 1.0) - std::f64::consts::FRAC_PI_2 / 0.8).abs() < 1e-15);
    }
}
