//! Bristle friction.

use crate::{SkinError, require_not_negative, require_positive};
use dermis_geometry::{Quat, Vec3};
use serde::{Deserialize, Serialize};

/// LuGre bristle friction at one contact point, in its tangent plane.
///
/// Canudas de Wit et al. 1995, as used by Moisio et al. 2013, eqs (9)–(13):
/// ```text
/// ż = v − σ₀|v|/g(v) z        F_on_sensor = σ₀z + σ₁ż + c_t v        v: object minus sensor
/// g(v) = f_n (μ_d + (μ_s − μ_d) exp(−(|v|/v_s)²))
/// ```
/// `v` and `f_n` are held over a step and `z` integrated exactly, so any `dt_s` is stable by itself.
/// The paper's eq. (10) lost its exponential in print; this is the model that it cites.
/// Friction is gone with the normal force, the viscous part too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lugre {
    /// σ₀, stiffness of the bristles (N/m).
    pub stiffness_newton_per_m: f64,
    /// σ₁, damping of the bristles (N s/m).
    pub damping_newton_s_per_m: f64,
    /// c_t, viscous friction (N s/m).
    pub viscous_newton_s_per_m: f64,
    /// μ_s.
    pub mu_static: f64,
    /// μ_d.
    pub mu_dynamic: f64,
    /// v_s, Stribeck speed (m/s); the paper's x₀.
    pub stribeck_m_per_s: f64,
}

impl Lugre {
    /// Refuses parameters that mean nothing.
    pub fn validate(&self) -> Result<(), SkinError> {
        require_positive("sigma0", "N/m", self.stiffness_newton_per_m)?;
        require_not_negative("sigma1", "N s/m", self.damping_newton_s_per_m)?;
        require_not_negative("viscous", "N s/m", self.viscous_newton_s_per_m)?;
        require_not_negative("mu_dynamic", "1", self.mu_dynamic)?;
        require_not_negative("mu_static", "1", self.mu_static)?;
        require_positive("stribeck_speed", "m/s", self.stribeck_m_per_s)?;
        if self.mu_static < self.mu_dynamic {
            return Err(SkinError::FrictionOrder { mu_static: self.mu_static, mu_dynamic: self.mu_dynamic });
        }
        Ok(())
    }

    /// g(v): the friction force (N) of steady sliding without its viscous part.
    #[inline]
    pub fn steady_newton(&self, speed_m_per_s: f64, normal_newton: f64) -> f64 {
        let (decay, _) = decay((speed_m_per_s / self.stribeck_m_per_s).powi(2));
        normal_newton * (self.mu_dynamic + (self.mu_static - self.mu_dynamic) * decay)
    }

    /// True when the model can never create energy: c_t ≥ σ₁(μ_s − μ_d)/μ_d (Olsson 1996). The set in the
    /// paper is not.
    pub fn is_provably_passive(&self) -> bool {
        self.viscous_newton_s_per_m * self.mu_dynamic
            >= self.damping_newton_s_per_m * (self.mu_static - self.mu_dynamic)
    }

    /// One step: the deflection (m) after `dt_s`, and the friction force on the sensor (N) there.
    #[inline]
    pub fn step(&self, deflection_m: Vec3, velocity: Vec3, normal_newton: f64, dt_s: f64) -> (Vec3, Vec3) {
        if normal_newton <= 0.0 {
            return (Vec3::ZERO, Vec3::ZERO);
        }
        let speed = velocity.length();
        let g = self.steady_newton(speed, normal_newton);
        if g <= 0.0 {
            return (Vec3::ZERO, velocity * self.viscous_newton_s_per_m);
        }
        // ż = v − a z  ⇒  z(dt) = z e^(−a dt) + v dt φ(a dt),  φ(x) = (1 − e^(−x))/x.
        let a = self.stiffness_newton_per_m * speed / g;
        let x = a * dt_s;
        let (decay, phi) = decay(x);
        let z = deflection_m * decay + velocity * (dt_s * phi);
        let rate = velocity - z * a;
        let force = z * self.stiffness_newton_per_m
            + rate * self.damping_newton_s_per_m
            + velocity * self.viscous_newton_s_per_m;
        (z, force)
    }

    /// The same friction for a fraction of a texel: forces, and so stiffness and damping, scale; μ does not.
    #[inline]
    pub fn scaled(&self, share: f64) -> Self {
        Self {
            stiffness_newton_per_m: self.stiffness_newton_per_m * share,
            damping_newton_s_per_m: self.damping_newton_s_per_m * share,
            viscous_newton_s_per_m: self.viscous_newton_s_per_m * share,
            ..*self
        }
    }
}

/// e^(−x) and φ(x) = (1 − e^(−x))/x for x ≥ 0. What sticks is slow, so that x is small: there a few terms of
/// φ = Σ (−x)ⁿ/(n + 1)! are exact to rounding and cost a tenth of the exponential. They are added in pairs, which do not wait for
/// each other.
#[inline]
fn decay(x: f64) -> (f64, f64) {
    let xx = x * x;
    let low = (1.0 - x * (1.0 / 2.0)) + xx * ((1.0 / 6.0 - x * (1.0 / 24.0)) + xx * (1.0 / 120.0));
    let phi = if x < 2e-3 {
        low
    } else if x < 0.05 {
        let high = (1.0 / 720.0 - x * (1.0 / 5040.0)) + xx * (1.0 / 40320.0 - x * (1.0 / 362_880.0));
        low - xx * xx * x * high
    } else {
        let lost = (-x).exp_m1();
        return (1.0 + lost, -lost / x);
    };
    (1.0 - x * phi, phi)
}

/// Turns a deflection with the contact plane, by the shortest rotation between the normals.
#[inline]
pub(crate) fn carried(deflection_m: Vec3, from: Vec3, to: Vec3) -> Vec3 {
    if from == to {
        return deflection_m;
    }
    let turned = Quat::from_rotation_arc(from, to) * deflection_m;
    // What rounding left along the normal would grow over millions of steps.
    turned - to * turned.dot(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every branch of the series against the library's functions, to a few units in the last place of one: 1 + expm1 and exp differ
    /// by that much, and by how much depends on the processor that the mathematics library finds.
    #[test]
    fn decay_is_exact_on_both_sides_of_its_switch() {
        for i in 0..4000 {
            let x = 1e-12 * 1.0085f64.powi(i);
            let (e, phi) = decay(x);
            assert!((e - (-x).exp()).abs() <= 6e-16, "{x}: {e}");
            let truth = -(-x).exp_m1() / x;
            assert!((phi - truth).abs() <= 1e-15 * truth, "{x}: {phi}");
        }
        assert_eq!(decay(0.0), (1.0, 1.0));
    }
}
