//! Derivatives of a scalar through one step of friction at a contact point.

use crate::lugre::{decay, decay_slope};
use crate::{Coulomb, Friction, Lugre};
use dermis_geometry::Vec3;

/// A step of friction at a contact point.
#[derive(Clone, Copy)]
pub(crate) struct FrictionStep {
    /// Deflection (m) of the bristles before the step, in the contact plane.
    pub deflection_m: Vec3,
    /// Velocity (m/s) of the object relative to the sensor, in the contact plane.
    pub velocity: Vec3,
    pub normal_newton: f64,
    /// Fraction of a texel.
    pub share: f64,
    pub dt_s: f64,
}

/// Derivatives of a scalar by the result of a step.
#[derive(Clone, Copy)]
pub(crate) struct FrictionCotangent {
    /// By the deflection after the step (1/m).
    pub deflection: Vec3,
    /// By the force on the sensor (1/N).
    pub force: Vec3,
}

/// Derivatives of a scalar by the input of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FrictionAdjoint {
    /// By the deflection before the step (1/m).
    pub deflection: Vec3,
    /// By the velocity (s/m).
    pub velocity: Vec3,
    /// By the normal force (1/N).
    pub normal_newton: f64,
}

/// Derivatives by the parameters of a friction law, in the order of [`Friction::parameter_names`].
pub(crate) type ByParameters = [f64; 6];

impl Friction {
    /// Names of the parameters in a description.
    pub(crate) fn parameter_names(&self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::Lugre(_) => &["sigma0", "sigma1", "viscous", "mu_static", "mu_dynamic", "stribeck_speed"],
            Self::Coulomb(_) => &["mu", "regularisation_speed"],
        }
    }

    /// Derivatives by the input of [`Friction::step`] from those by its result; those by the parameters are added to
    /// `parameters`. A point without normal force has none, and at zero velocity |**v**| counts as constant.
    pub(crate) fn pull_back(
        &self,
        step: &FrictionStep,
        by: &FrictionCotangent,
        parameters: &mut ByParameters,
    ) -> FrictionAdjoint {
        match self {
            _ if step.normal_newton <= 0.0 => FrictionAdjoint::default(),
            Self::None => FrictionAdjoint::default(),
            Self::Lugre(lugre) => lugre.pull_back(step, by, parameters),
            Self::Coulomb(coulomb) => coulomb.pull_back(step, by, parameters),
        }
    }
}

impl Coulomb {
    /// **F** = μ N **v**/s with s = max(|**v**|, v₀).
    fn pull_back(&self, step: &FrictionStep, by: &FrictionCotangent, parameters: &mut ByParameters) -> FrictionAdjoint {
        let (v, newton) = (step.velocity, step.normal_newton);
        let speed = v.length();
        let slips = speed > self.regularisation_m_per_s;
        let s = if slips { speed } else { self.regularisation_m_per_s };
        let along = v.dot(by.force) / s;
        let (gain, by_s) = (self.mu * newton / s, -self.mu * newton * along / s);
        parameters[0] += newton * along;
        parameters[1] += if slips { 0.0 } else { by_s };
        let velocity = by.force * gain + if slips { v * (by_s / s) } else { Vec3::ZERO };
        FrictionAdjoint { deflection: Vec3::ZERO, velocity, normal_newton: self.mu * along }
    }
}

impl Lugre {
    /// The step of [`Lugre::step`] in reverse. With a bar for the derivative of the scalar, s = |**v**|, E = exp(−(s/v_s)²),
    /// m = μ_d + (μ_s − μ_d) E, g = N m, a = σ₀ s/g, x = a h and the bound L = μ_s N of both σ₀|**z**₀| and |**P**|:
    /// ```text
    /// P = σ₀z + σ₁(v − a z) + c_t v        z̄ += (σ₀ − σ₁a) P̄,   v̄ += (σ₁ + c_t) P̄,   ā = −σ₁ z·P̄
    /// z = z₀ e^(−x) + v h φ(x)             z̄₀ = e^(−x) z̄,        v̄ += h φ z̄,           x̄ = h φ′ v·z̄ − e^(−x) z₀·z̄
    /// a = σ₀ s/g                           s̄ = (ā + h x̄) σ₀/g,   ḡ = −(ā + h x̄) a/g
    /// ```
    /// A vector that is shortened to its bound, b **û**, has the adjoint (b/|**P**|)(1 − **ûû**ᵀ), and b̄ = **û**·.
    fn pull_back(&self, step: &FrictionStep, by: &FrictionCotangent, parameters: &mut ByParameters) -> FrictionAdjoint {
        let FrictionStep { velocity: v, normal_newton: newton, share, dt_s, .. } = *step;
        let scaled = self.scaled(share);
        let [s0, s1, viscous] =
            [scaled.stiffness_newton_per_m, scaled.damping_newton_s_per_m, scaled.viscous_newton_s_per_m];
        let (limit, speed, mu_range) = (self.mu_static * newton, v.length(), self.mu_static - self.mu_dynamic);
        let (fall, _) = decay((speed / self.stribeck_m_per_s).powi(2));
        let mu = self.mu_dynamic + mu_range * fall;
        let g = newton * mu;
        if g <= 0.0 {
            let (by_force, by_limit) = Bounded::new(v * viscous, limit).pull_back(by.force);
            parameters[2] += share * v.dot(by_force);
            parameters[3] += newton * by_limit;
            let normal_newton = self.mu_static * by_limit;
            return FrictionAdjoint { deflection: Vec3::ZERO, velocity: by_force * viscous, normal_newton };
        }
        let held = Bounded::new(step.deflection_m, limit / s0);
        let z0 = held.value();
        let a = s0 * speed / g;
        let x = a * dt_s;
        let (left, phi) = decay(x);
        let z = z0 * left + v * (dt_s * phi);
        let rate = v - z * a;
        let (by_force, mut by_limit) = Bounded::new(z * s0 + rate * s1 + v * viscous, limit).pull_back(by.force);
        let by_z = by.deflection + by_force * (s0 - s1 * a);
        let by_x = dt_s * decay_slope(x, left, phi) * v.dot(by_z) - left * z0.dot(by_z);
        let by_a = dt_s * by_x - s1 * z.dot(by_force);
        let (by_held, by_radius) = held.pull_back(by_z * left);
        by_limit += by_radius / s0;
        let by_s0 = z.dot(by_force) + by_a * speed / g - by_radius * limit / (s0 * s0);
        let by_g = -by_a * a / g;
        let by_mu = by_g * newton;
        let by_fall = by_mu * mu_range * fall * 2.0 * speed / (self.stribeck_m_per_s * self.stribeck_m_per_s);
        let by_speed = by_a * s0 / g - by_fall;
        let sums = [
            share * by_s0,
            share * rate.dot(by_force),
            share * v.dot(by_force),
            by_mu * fall + by_limit * newton,
            by_mu * (1.0 - fall),
            by_fall * speed / self.stribeck_m_per_s,
        ];
        parameters.iter_mut().zip(sums).for_each(|(sum, by)| *sum += by);
        let along = if speed > 0.0 { v * (by_speed / speed) } else { Vec3::ZERO };
        FrictionAdjoint {
            deflection: by_held,
            velocity: by_force * (s1 + viscous) + by_z * (dt_s * phi) + along,
            normal_newton: by_g * mu + by_limit * self.mu_static,
        }
    }
}

/// A vector that is shortened to at most a bound.
struct Bounded {
    vector: Vec3,
    /// The bound by the length of the vector, if the vector is longer.
    factor: Option<f64>,
}

impl Bounded {
    fn new(vector: Vec3, bound: f64) -> Self {
        let length = vector.length();
        Self { vector, factor: (length > bound).then(|| bound / length) }
    }

    fn value(&self) -> Vec3 {
        self.vector * self.factor.unwrap_or(1.0)
    }

    /// Derivatives by the vector and by the bound from that by the shortened vector.
    fn pull_back(&self, by: Vec3) -> (Vec3, f64) {
        let Some(factor) = self.factor else { return (by, 0.0) };
        let unit = self.vector.normalize();
        let along = unit.dot(by);
        ((by - unit * along) * factor, along)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::Random;

    /// Friction laws with one parameter changed.
    fn with(friction: &Friction, index: usize, change: f64) -> Friction {
        let mut friction = *friction;
        match &mut friction {
            Friction::None => {}
            Friction::Lugre(l) => {
                *[
                    &mut l.stiffness_newton_per_m,
                    &mut l.damping_newton_s_per_m,
                    &mut l.viscous_newton_s_per_m,
                    &mut l.mu_static,
                    &mut l.mu_dynamic,
                    &mut l.stribeck_m_per_s,
                ][index] *= 1.0 + change;
            }
            Friction::Coulomb(c) => *[&mut c.mu, &mut c.regularisation_m_per_s][index] *= 1.0 + change,
        }
        friction
    }

    /// Central differences of a function at zero, extrapolated to step zero.
    fn slope(step: f64, at: impl Fn(f64) -> f64) -> f64 {
        let [coarse, fine] = [step, 0.5 * step].map(|e| (at(e) - at(-e)) / (2.0 * e));
        (4.0 * fine - coarse) / 3.0
    }

    /// From sticking to sliding, with bristles and forces within and beyond their bounds.
    #[test]
    fn derivatives_are_those_of_differences() {
        let lugre = |mu_dynamic, damping_newton_s_per_m| {
            Friction::Lugre(Lugre {
                stiffness_newton_per_m: 200.0,
                damping_newton_s_per_m,
                viscous_newton_s_per_m: 0.04,
                mu_static: 0.5,
                mu_dynamic,
                stribeck_m_per_s: 0.02,
            })
        };
        let coulomb = Friction::Coulomb(Coulomb { mu: 0.4, regularisation_m_per_s: 3e-3 });
        let mut random = Random::new(8);
        let mut bounded = [0; 2];
        for friction in [lugre(0.3, 0.2), lugre(0.3, 20.0), lugre(0.5, 0.0), coulomb, Friction::None] {
            for i in 0..200 {
                let speed = 1e-4 * 1.04f64.powi(i);
                let newton = random.between(0.05, 1.0);
                let deflection_m = random.direction() * random.between(0.0, 2.0) * 0.5 * newton / 50.0;
                let velocity = random.direction() * speed;
                let step = FrictionStep { deflection_m, velocity, normal_newton: newton, share: 0.25, dt_s: 2e-3 };
                let by = FrictionCotangent { deflection: random.direction() * 100.0, force: random.direction() };
                let value = |friction: &Friction, s: &FrictionStep| {
                    let (z, force) = friction.step(s.deflection_m, s.velocity, s.normal_newton, s.share, s.dt_s);
                    by.deflection.dot(z) + by.force.dot(force)
                };
                if let Friction::Lugre(l) = &friction {
                    let force = friction.step(deflection_m, velocity, newton, 0.25, 2e-3).1.length();
                    bounded[0] += usize::from(deflection_m.length() * 50.0 > 0.5 * newton);
                    bounded[1] += usize::from((force - l.mu_static * newton).abs() < 1e-12);
                }
                let mut parameters = [0.0; 6];
                let found = friction.pull_back(&step, &by, &mut parameters);
                let check = |got: f64, truth: f64, size: f64, what: &str| {
                    assert!(
                        (got - truth).abs() <= 1e-6 * (truth.abs() + size),
                        "{friction:?} {i} {what}: {got} {truth}"
                    );
                };
                let size = found.velocity.length().max(1e-3);
                for axis in Vec3::AXES {
                    let moved = |e: f64| FrictionStep { velocity: velocity + axis * e, ..step };
                    let truth = slope(1e-4 * speed, |e| value(&friction, &moved(e)));
                    check(found.velocity.dot(axis), truth, size, "velocity");
                    let bent = |e: f64| FrictionStep { deflection_m: deflection_m + axis * e, ..step };
                    let truth = slope(1e-7, |e| value(&friction, &bent(e)));
                    check(found.deflection.dot(axis), truth, found.deflection.length() + 1e-3, "deflection");
                }
                let pressed = |e: f64| FrictionStep { normal_newton: newton + e, ..step };
                let truth = slope(1e-4 * newton, |e| value(&friction, &pressed(e)));
                check(found.normal_newton, truth, 1e-2, "normal force");
                for (index, name) in friction.parameter_names().iter().enumerate() {
                    let original = match &friction {
                        Friction::Lugre(l) => [
                            l.stiffness_newton_per_m,
                            l.damping_newton_s_per_m,
                            l.viscous_newton_s_per_m,
                            l.mu_static,
                            l.mu_dynamic,
                            l.stribeck_m_per_s,
                        ][index],
                        Friction::Coulomb(c) => [c.mu, c.regularisation_m_per_s][index],
                        Friction::None => 0.0,
                    };
                    let truth = slope(1e-4, |e| value(&with(&friction, index, e), &step));
                    check(parameters[index] * original, truth, 1e-2, name);
                }
            }
        }
        assert!(bounded.iter().all(|count| *count > 30), "both bounds act in some steps: {bounded:?}");
    }
}
