//! Derivatives of one step of friction.

use crate::implicit::ImplicitPoint;
use crate::lugre::decay;
use crate::{Friction, Lugre};
use dermis_geometry::{Mat3, Vec3};

/// The friction force of one step and its derivatives. They leave out the change of the steady force with speed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrictionSlope {
    /// Friction force on the sensor (N).
    pub force: Vec3,
    /// Derivative with respect to the velocity in the contact plane (N s/m).
    pub by_slip: Mat3,
    /// Derivative with respect to the normal force.
    pub by_normal: Vec3,
}

#[inline(always)]
fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

impl FrictionSlope {
    /// The force of [`Friction::step`] and its derivatives.
    #[inline(always)]
    pub fn of(friction: &Friction, point: &ImplicitPoint, slip: Vec3, newton: f64, dt_s: f64) -> Self {
        if newton <= 0.0 {
            return Self::default();
        }
        match friction {
            Friction::None => Self::default(),
            Friction::Lugre(lugre) => {
                Self::of_lugre(&lugre.scaled(point.share), point.deflection_m, slip, newton, dt_s)
            }
            Friction::Coulomb(c) => {
                let speed = slip.length();
                let factor = c.mu * newton / speed.max(c.regularisation_m_per_s);
                let direction = if speed > c.regularisation_m_per_s { slip / speed } else { Vec3::ZERO };
                Self {
                    force: slip * factor,
                    by_slip: (Mat3::IDENTITY - outer(direction, direction)) * factor,
                    by_normal: slip * (factor / newton),
                }
            }
        }
    }

    /// With x = σ₀|v|h/g and v̂ = v/|v|, z = z₀ e^(−x) + v h φ(x) has the derivatives
    /// ```text
    /// ∂z/∂v = h e^(−x) (v̂ − σ₀z₀/g) v̂ᵀ + h φ (1 − v̂v̂ᵀ)        ∂z/∂g = ((1 − e^(−x)) v̂ + x e^(−x) (σ₀z₀/g − v̂))/σ₀
    /// ```
    #[inline(always)]
    fn of_lugre(lugre: &Lugre, held: Vec3, slip: Vec3, newton: f64, dt_s: f64) -> Self {
        let (s0, s1, c) = (lugre.stiffness_newton_per_m, lugre.damping_newton_s_per_m, lugre.viscous_newton_s_per_m);
        let limit = lugre.mu_static * newton;
        let speed = slip.length();
        let g = lugre.steady_newton(speed, newton);
        if g <= 0.0 {
            return Self::default();
        }
        let length = held.length();
        let held = if length * s0 > limit { held * (limit / (s0 * length)) } else { held };
        let a = s0 * speed / g;
        let x = a * dt_s;
        let (left, phi) = decay(x);
        let direction = if speed > 0.0 { slip / speed } else { Vec3::ZERO };
        let z = held * left + slip * (dt_s * phi);
        let lag = direction - held * (s0 / g);
        let along = if speed > 0.0 { outer(lag, direction) * left } else { Mat3::ZERO };
        let across = Mat3::IDENTITY - outer(direction, direction);
        let z_by_slip = (along + across * phi) * dt_s;
        let rate_by_slip = Mat3::IDENTITY - outer(z * (s0 / g), direction) - z_by_slip * a;
        let z_by_g = (direction * (1.0 - left) - lag * (x * left)) / s0;
        // Part of the rate's derivative: a ∝ 1/g.
        let rate_by_g = z * (a / g) - z_by_g * a;
        let force = z * s0 + (slip - z * a) * s1 + slip * c;
        let by_slip = z_by_slip * s0 + rate_by_slip * s1 + Mat3::IDENTITY * c;
        let by_normal = (z_by_g * s0 + rate_by_g * s1) * (g / newton);
        let size = force.length();
        if size <= limit {
            return Self { force, by_slip, by_normal };
        }
        let unit = force / size;
        let sideways = (Mat3::IDENTITY - outer(unit, unit)) * (limit / size);
        Self {
            force: unit * limit,
            by_slip: sideways * by_slip,
            by_normal: unit * lugre.mu_static + sideways * by_normal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::Random;

    /// Compares the force with [`Lugre::step`] and the derivatives with differences, for a friction without Stribeck
    /// effect, from sticking to sliding.
    #[test]
    fn derivatives_are_those_of_the_step() {
        let lugre = Lugre {
            stiffness_newton_per_m: 50.0,
            damping_newton_s_per_m: 0.05,
            viscous_newton_s_per_m: 0.01,
            mu_static: 0.5,
            mu_dynamic: 0.5,
            stribeck_m_per_s: 0.1,
        };
        let mut random = Random::new(5);
        let plane = |v: Vec3| Vec3::new(v.x, v.y, 0.0);
        for i in 0..200 {
            let speed = 1e-4 * 1.05f64.powi(i);
            let (slip, held) = (plane(random.direction()) * speed, plane(random.direction()) * 4e-3);
            let slope = FrictionSlope::of_lugre(&lugre, held, slip, 0.3, 2e-3);
            let force = |slip: Vec3, newton: f64| lugre.step(held, slip, newton, 2e-3).1;
            assert!((slope.force - force(slip, 0.3)).length() < 1e-12);
            // The held deflection is cut at the static limit, which the derivative by the normal force leaves out.
            let tolerance = 1e-4 * (50.0 * 2e-3 + 0.06);
            for axis in [Vec3::X, Vec3::Y] {
                let e = 1e-7 * speed.max(1e-3);
                let truth = (force(slip + axis * e, 0.3) - force(slip - axis * e, 0.3)) / (2.0 * e);
                assert!((slope.by_slip * axis - truth).length() < tolerance, "{i}: {} {truth}", slope.by_slip * axis);
            }
        }
    }
}
