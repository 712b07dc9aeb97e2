//! Complete elliptic integrals.

/// Bulirsch's complete elliptic integrals (Numer. Math. 13, 305, 1969) of one k_c, by the arithmetic-geometric mean:
/// ```text
/// cel(k_c, p, a, b) = ∫₀^{π/2} (a cos²φ + b sin²φ) / ((cos²φ + p sin²φ) √(cos²φ + k_c² sin²φ)) dφ,   p > 0, k_c ≠ 0
/// ```
/// K, E and Π are the cases (1, 1, 1), (1, 1, k_c²) and (1 − n, 1, 1) of (p, a, b).
pub(super) fn cel<const N: usize>(kc: f64, cases: [[f64; 3]; N]) -> [f64; N] {
    const TOLERANCE: f64 = 1e-8;
    let mut k = kc.abs();
    let mut e = k;
    let mut m = 1.0;
    let mut cases = cases.map(|[p, a, b]| [p.sqrt(), a, b / p.sqrt()]);
    // Converges quadratically: a relative change of 1e-8 leaves an error of 1e-16.
    for _ in 0..40 {
        for [p, a, b] in &mut cases {
            let (f, by_p) = (*a, 1.0 / *p);
            *a += *b * by_p;
            let g = e * by_p;
            *b = 2.0 * (*b + f * g);
            *p += g;
        }
        let last = m;
        m += k;
        if (last - k).abs() <= last * TOLERANCE {
            break;
        }
        k = 2.0 * e.sqrt();
        e = k * m;
    }
    cases.map(|[p, a, b]| std::f64::consts::FRAC_PI_2 * (b + a * m) / (m * (m + p)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K(½) and E(½) of Abramowitz and Stegun, tables 17.1 and 17.2; Π(n, 0) = π/(2√(1 − n)).
    #[test]
    fn elliptic_integrals_have_their_tabulated_values() {
        let kc = 0.5f64.sqrt();
        let [first, second] = cel(kc, [[1.0, 1.0, 1.0], [1.0, 1.0, kc * kc]]);
        assert!((first - 1.854_074_677_301_372).abs() < 1e-15);
        assert!((second - 1.350_643_881_047_675_5).abs() < 1e-15);
        assert!((cel(1.0, [[1.0 - 0.36, 1.0, 1.0]])[0] - std::f64::consts::FRAC_PI_2 / 0.8).abs() < 1e-15);
    }
}
