//! Fits friction parameters to a curve of force against sliding velocity (Moisio 2013, section 3.3.4 and Fig. 7).

use super::least_squares::{minimum, solve, student_975};
use super::{Estimate, FitError, check_points, require_positive};

/// Friction parameters from a steady sliding curve. σ₀ and σ₁ act only in transients, so they are not determined.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FrictionFit {
    /// Static friction coefficient μ_s.
    pub mu_static: Estimate,
    /// Dynamic friction coefficient μ_d.
    pub mu_dynamic: Estimate,
    /// Stribeck velocity v_s (m/s).
    pub stribeck_m_per_s: Estimate,
    /// Viscous coefficient c_t (N s/m).
    pub viscous_newton_s_per_m: Estimate,
    /// Root mean square of the residuals (N).
    pub rms_newton: f64,
    /// Number of points.
    pub points: usize,
}

impl FrictionFit {
    /// The fitted curve (N) at a sliding velocity (m/s) under the normal force of the fit (N).
    pub fn force_newton(&self, velocity_m_per_s: f64, normal_newton: f64) -> f64 {
        let speed = velocity_m_per_s.abs();
        let decay = (-(speed / self.stribeck_m_per_s.value).powi(2)).exp();
        let mu = self.mu_dynamic.value + (self.mu_static.value - self.mu_dynamic.value) * decay;
        velocity_m_per_s.signum() * (normal_newton * mu + self.viscous_newton_s_per_m.value * speed)
    }
}

/// Least-squares fit of F = f_n(μ_d + (μ_s − μ_d) exp(−(v/v_s)²)) + c_t v to points (m/s, N) under `normal_newton`.
///
/// For a given v_s the model is linear in the other three parameters, so only v_s is searched (variable projection) and
/// no starting guess is needed. The intervals come from the Jacobian at the optimum.
pub fn fit_friction(points: &[(f64, f64)], normal_newton: f64) -> Result<FrictionFit, FitError> {
    require_positive("the normal force (N)", normal_newton)?;
    check_points("four friction parameters", points, 6)?;
    let folded: Vec<(f64, f64)> =
        points.iter().filter(|p| p.0 != 0.0).map(|&(v, f)| (v.abs(), f * v.signum())).collect();
    if folded.len() < 6 {
        return Err(FitError::TooFew { what: "four friction parameters", got: folded.len(), needed: 6 });
    }
    let slowest = folded.iter().map(|p| p.0).fold(f64::INFINITY, f64::min);
    let fastest = folded.iter().map(|p| p.0).fold(0.0, f64::max);
    if slowest >= fastest {
        return Err(FitError::NoSpread { what: "velocity" });
    }
    let targets: Vec<f64> = folded.iter().map(|p| p.1).collect();
    let rows = |stribeck: f64| -> Vec<Vec<f64>> {
        folded.iter().map(|(v, _)| vec![1.0, (-(v / stribeck).powi(2)).exp(), *v]).collect()
    };
    let cost = |log_stribeck: f64| solve(&rows(log_stribeck.exp()), &targets).map_or(f64::INFINITY, |s| s.squares);
    let stribeck = minimum(cost, (slowest * 0.3).ln(), (fastest * 3.0).ln()).exp();
    let undetermined = |parameter, value, ci95, remedy| FitError::Undetermined { parameter, value, ci95, remedy };
    const SPAN: &str = "measure from well below to well above the speed where friction falls";
    let linear = solve(&rows(stribeck), &targets)
        .ok_or_else(|| undetermined("stribeck_speed", stribeck, f64::INFINITY, SPAN))?;
    let [coulomb, bump, viscous] = [linear.coefficients[0], linear.coefficients[1], linear.coefficients[2]];

    // Jacobian in (coulomb, bump, viscous, v_s).
    let jacobian: Vec<Vec<f64>> = folded
        .iter()
        .map(|(v, _)| {
            let decay = (-(v / stribeck).powi(2)).exp();
            vec![1.0, decay, *v, bump * decay * 2.0 * v * v / stribeck.powi(3)]
        })
        .collect();
    let full =
        solve(&jacobian, &targets).ok_or_else(|| undetermined("stribeck_speed", stribeck, f64::INFINITY, SPAN))?;
    let freedom = folded.len() - 4;
    let variance = linear.squares / freedom as f64;
    let half = |weight: f64| student_975(freedom) * (variance * weight).sqrt();
    let c = &full.inverse;
    let fit = FrictionFit {
        mu_static: Estimate {
            value: (coulomb + bump) / normal_newton,
            ci95: half(c[(0, 0)] + c[(1, 1)] + 2.0 * c[(0, 1)]) / normal_newton,
        },
        mu_dynamic: Estimate { value: coulomb / normal_newton, ci95: half(c[(0, 0)]) / normal_newton },
        stribeck_m_per_s: Estimate { value: stribeck, ci95: half(c[(3, 3)]) },
        viscous_newton_s_per_m: Estimate { value: viscous, ci95: half(c[(2, 2)]) },
        rms_newton: (linear.squares / folded.len() as f64).sqrt(),
        points: folded.len(),
    };
    for (name, estimate) in
        [("mu_static", fit.mu_static), ("mu_dynamic", fit.mu_dynamic), ("stribeck_speed", fit.stribeck_m_per_s)]
    {
        if !(estimate.value > 0.0 && estimate.ci95 < 0.5 * estimate.value) {
            return Err(undetermined(name, estimate.value, estimate.ci95, SPAN));
        }
    }
    Ok(fit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::Random;

    fn curve(v: f64) -> f64 {
        0.08 * (0.23 + (0.435 - 0.23) * (-(v / 0.3f64).powi(2)).exp()) + 0.01 * v
    }

    #[test]
    fn a_clean_curve_is_recovered() {
        let points: Vec<(f64, f64)> = (1..60).map(|i| (f64::from(i) * 0.02, curve(f64::from(i) * 0.02))).collect();
        let fit = fit_friction(&points, 0.08).unwrap();
        assert!((fit.mu_static.value - 0.435).abs() < 1e-6);
        assert!((fit.mu_dynamic.value - 0.23).abs() < 1e-6);
        assert!((fit.stribeck_m_per_s.value - 0.3).abs() < 1e-6);
        assert!((fit.viscous_newton_s_per_m.value - 0.01).abs() < 1e-6);
    }

    #[test]
    fn both_directions_of_sliding_count() {
        let points: Vec<(f64, f64)> = (-60..60)
            .filter(|&i| i != 0)
            .map(|i| f64::from(i) * 0.02)
            .map(|v| (v, v.signum() * curve(v.abs())))
            .collect();
        let fit = fit_friction(&points, 0.08).unwrap();
        assert!((fit.stribeck_m_per_s.value - 0.3).abs() < 1e-6);
    }

    /// Fast sliding alone does not determine static friction: the fit returns an error.
    #[test]
    fn a_range_without_the_stribeck_fall_is_refused() {
        let mut random = Random::new(5);
        let points: Vec<(f64, f64)> =
            (0..50).map(|i| 1.5 + 0.02 * f64::from(i)).map(|v| (v, curve(v) + 1e-4 * random.normal())).collect();
        assert!(matches!(fit_friction(&points, 0.08), Err(FitError::Undetermined { .. })));
        assert!(matches!(fit_friction(&points[..3], 0.08), Err(FitError::TooFew { .. })));
        assert!(matches!(fit_friction(&points, 0.0), Err(FitError::NotPositive { .. })));
    }
}
