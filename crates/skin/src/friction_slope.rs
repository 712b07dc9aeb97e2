//! Derivatives of one step of friction.
#![allow(clippy::needless_range_loop, reason = "a lane indexes many arrays")]

use crate::friction_lanes::{FrictionLanes, LANES, Lanes, Lanes3, Slip};
use crate::{Coulomb, Friction, Lugre};

/// Derivatives of the friction force of many points over one step. They leave out the change of the steady force with
/// speed.
///
/// The derivative with respect to the velocity in the contact plane (N s/m) is
/// ```text
/// ∂T/∂v = β 1 − γ û ûᵀ + b v̂ᵀ
/// ```
pub(crate) struct FrictionSlope {
    /// β.
    pub isotropic: Lanes,
    /// γ.
    pub across: Lanes,
    /// û, direction of the force.
    pub unit: Lanes3,
    /// b.
    pub pull: Lanes3,
    /// v̂, direction of the velocity.
    pub direction: Lanes3,
    /// Derivative with respect to the normal force.
    pub by_normal: Lanes3,
}

impl FrictionSlope {
    /// Derivatives of no friction.
    pub fn new() -> Self {
        let (one, three) = (Lanes::ZERO, [Lanes::ZERO; 3]);
        Self { isotropic: one, across: one, unit: three, pull: three, direction: three, by_normal: three }
    }

    /// Advances the lanes by one step, as [`FrictionLanes::step`], and computes the derivatives.
    #[inline(always)]
    pub fn compute(&mut self, friction: &Friction, slides: &mut FrictionLanes, slip: Slip<'_>, dt_s: f64) {
        match friction {
            Friction::None => {
                slides.step(friction, slip, dt_s);
                *self = Self::new();
            }
            Friction::Lugre(lugre) => self.of_lugre(lugre, slides, slip, dt_s),
            Friction::Coulomb(coulomb) => {
                slides.step(friction, slip, dt_s);
                self.of_coulomb(coulomb, &slides.normal_newton, slip.velocity);
            }
        }
    }

    #[inline(always)]
    fn of_coulomb(&mut self, coulomb: &Coulomb, normal_newton: &Lanes, velocity: &Lanes3) {
        *self = Self::new();
        for lane in 0..LANES {
            let v = [velocity[0][lane], velocity[1][lane], velocity[2][lane]];
            let speed = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
            let by_speed = coulomb.mu / speed.max(coulomb.regularisation_m_per_s);
            let slides_newton = normal_newton[lane];
            self.isotropic[lane] = by_speed * slides_newton;
            let slipping = speed > coulomb.regularisation_m_per_s;
            self.across[lane] = if slipping { by_speed * slides_newton } else { 0.0 };
            for axis in 0..3 {
                self.unit[axis][lane] = if slipping { v[axis] / speed } else { 0.0 };
                self.by_normal[axis][lane] = if slides_newton > 0.0 { v[axis] * by_speed } else { 0.0 };
            }
        }
    }

    /// With x = a h, a = σ₀|v|/g and v̂ = v/|v|, z = z₀ e^(−x) + v h φ(x) has the derivatives
    /// ```text
    /// ∂z/∂v = h e^(−x) (v̂ − σ₀z₀/g) v̂ᵀ + h φ (1 − v̂v̂ᵀ)        ∂z/∂g = ((1 − e^(−x)) v̂ + x e^(−x) (σ₀z₀/g − v̂))/σ₀
    /// ```
    /// and F = σ₀z + σ₁(v − a z) + c_t v. Beyond its limit L the force is L û with û = F/|F|, so its derivative is
    /// (L/|F|)(1 − ûûᵀ) that of F.
    #[inline(always)]
    fn of_lugre(&mut self, lugre: &Lugre, slides: &mut FrictionLanes, slip: Slip<'_>, dt_s: f64) {
        lugre.bound_bristles(slides, slip.share);
        let held = slides.deflection_m;
        let relaxation = lugre.relax(&slides.normal_newton, slip, dt_s);
        lugre.pull(slides, slip, &relaxation, dt_s);
        let lugre = *lugre;
        let zero = Lanes::ZERO;
        // Factors of v̂, σ₀z₀/g and z, and that of the derivative with respect to g.
        let (mut by_speed, mut held_part, mut gain, mut bristles) = (zero, zero, zero, zero);
        let (mut kept, mut z_pull, mut z_press, mut by_newton) = (zero, zero, zero, zero);
        for lane in 0..LANES {
            let (speed, g, a) = (relaxation.speed[lane], relaxation.steady_newton[lane], relaxation.rate[lane]);
            let s0 = lugre.stiffness_newton_per_m * slip.share[lane];
            let s1 = lugre.damping_newton_s_per_m * slip.share[lane];
            let (one_by_g, one_by_speed, part) = (1.0 / g, 1.0 / speed, g / slides.normal_newton[lane]);
            let by_g = if g > 0.0 { one_by_g } else { 0.0 };
            by_newton[lane] = if g > 0.0 { part } else { 0.0 };
            by_speed[lane] = if speed > 0.0 { one_by_speed } else { 0.0 };
            held_part[lane] = s0 * by_g;
            let slope = dt_s * (s0 - s1 * a);
            let isotropic = relaxation.phi[lane] * slope + (s1 + lugre.viscous_newton_s_per_m * slip.share[lane]);
            gain[lane] = if g > 0.0 { slope } else { 0.0 };
            self.isotropic[lane] = if g > 0.0 { isotropic } else { 0.0 };
            bristles[lane] = 1.0 - a * (lugre.damping_newton_s_per_m / lugre.stiffness_newton_per_m);
            kept[lane] = a * dt_s * relaxation.left[lane];
            z_pull[lane] = s1 * s0 * by_g;
            z_press[lane] = s1 * a * by_g;
        }
        for axis in 0..3 {
            for lane in 0..LANES {
                let (left, phi) = (relaxation.left[lane], relaxation.phi[lane]);
                let (z, along) = (slides.deflection_m[axis][lane], slip.velocity[axis][lane] * by_speed[lane]);
                let lag = along - held[axis][lane] * held_part[lane];
                self.direction[axis][lane] = along;
                self.pull[axis][lane] = gain[lane] * (left * lag - phi * along) - z * z_pull[lane];
                let z_by_g = along * (1.0 - left) - lag * kept[lane];
                self.by_normal[axis][lane] = (z_by_g * bristles[lane] + z * z_press[lane]) * by_newton[lane];
            }
        }
        let (mut part, mut by_size) = (zero, zero);
        let mut beyond_any = false;
        for lane in 0..LANES {
            let f = [slides.force[0][lane], slides.force[1][lane], slides.force[2][lane]];
            let limit = lugre.mu_static * slides.normal_newton[lane];
            let size = (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]).sqrt();
            let one_by_size = 1.0 / size;
            let beyond = size > limit;
            beyond_any |= beyond;
            by_size[lane] = if beyond { one_by_size } else { 0.0 };
            part[lane] = if beyond { limit * one_by_size } else { 1.0 };
        }
        if beyond_any {
            self.bound(slides, &part, &by_size, lugre.mu_static);
        } else {
            (self.across, self.unit) = (zero, [zero; 3]);
        }
    }

    /// Bounds the forces to a part of their size, from 1/|F| where they are beyond their limit, else 0.
    #[inline(always)]
    fn bound(&mut self, slides: &mut FrictionLanes, part: &Lanes, by_size: &Lanes, mu_static: f64) {
        let (mut pulled, mut pressed) = (Lanes::ZERO, Lanes::ZERO);
        for axis in 0..3 {
            for lane in 0..LANES {
                let unit = slides.force[axis][lane] * by_size[lane];
                self.unit[axis][lane] = unit;
                pulled[lane] += unit * self.pull[axis][lane];
                pressed[lane] += unit * self.by_normal[axis][lane];
            }
        }
        for axis in 0..3 {
            for lane in 0..LANES {
                let unit = self.unit[axis][lane];
                slides.force[axis][lane] *= part[lane];
                self.pull[axis][lane] = (self.pull[axis][lane] - unit * pulled[lane]) * part[lane];
                self.by_normal[axis][lane] =
                    unit * mu_static + (self.by_normal[axis][lane] - unit * pressed[lane]) * part[lane];
            }
        }
        for lane in 0..LANES {
            self.isotropic[lane] *= part[lane];
            self.across[lane] = self.isotropic[lane];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction_lanes::{get, set};
    use dermis_geometry::{Mat3, Random, Vec3};

    fn outer(a: Vec3, b: Vec3) -> Mat3 {
        Mat3::from_cols(a * b.x, a * b.y, a * b.z)
    }

    /// The derivative with respect to the velocity of one lane.
    fn by_slip(slope: &FrictionSlope, lane: usize) -> Mat3 {
        let unit = get(&slope.unit, lane);
        Mat3::IDENTITY * slope.isotropic[lane] - outer(unit, unit) * slope.across[lane]
            + outer(get(&slope.pull, lane), get(&slope.direction, lane))
    }

    /// Compares the force with single steps and the derivatives with differences, for frictions without Stribeck
    /// effect, from sticking to sliding.
    #[test]
    fn derivatives_are_those_of_the_step() {
        let lugre = Friction::Lugre(Lugre {
            stiffness_newton_per_m: 200.0,
            damping_newton_s_per_m: 0.2,
            viscous_newton_s_per_m: 0.04,
            mu_static: 0.5,
            mu_dynamic: 0.5,
            stribeck_m_per_s: 0.1,
        });
        let coulomb = Friction::Coulomb(Coulomb { mu: 0.4, regularisation_m_per_s: 1e-3 });
        let mut random = Random::new(5);
        let plane = |v: Vec3| Vec3::new(v.x, v.y, 0.0);
        let (share, newton, dt_s) = (0.25, 0.3, 2e-3);
        for friction in [lugre, coulomb, Friction::None] {
            for batch in 0..8 {
                let (mut slides, mut velocity) = (FrictionLanes::NONE, [Lanes::ZERO; 3]);
                let mut points = Vec::new();
                for lane in 0..LANES {
                    let speed = 1e-4 * 1.05f64.powi((batch * LANES + lane) as i32);
                    let (slip, held) = (plane(random.direction()) * speed, plane(random.direction()) * 4e-3);
                    set(&mut velocity, lane, slip);
                    set(&mut slides.deflection_m, lane, held);
                    // The last lane carries no load.
                    slides.normal_newton[lane] = if lane + 1 < LANES { newton } else { 0.0 };
                    points.push((slip, held));
                }
                let mut slope = FrictionSlope::new();
                let slip = Slip { velocity: &velocity, share: &Lanes::all(share) };
                slope.compute(&friction, &mut slides, slip, dt_s);
                for (lane, (slip, held)) in points.into_iter().enumerate() {
                    let newton = slides.normal_newton[lane];
                    let force = |slip: Vec3, newton: f64| friction.step(held, slip, newton, share, dt_s).1;
                    assert!((get(&slides.force, lane) - force(slip, newton)).length() < 1e-12);
                    // The held deflection is cut at the static limit, which the derivative by the normal force leaves out.
                    let tolerance: f64 = 1e-4 * (50.0 * 2e-3 + 0.06);
                    for axis in [Vec3::X, Vec3::Y] {
                        let e = 1e-7 * slip.length().max(1e-3);
                        let truth = (force(slip + axis * e, newton) - force(slip - axis * e, newton)) / (2.0 * e);
                        let found = by_slip(&slope, lane) * axis;
                        assert!((found - truth).length() < tolerance.max(1e-4 * truth.length()), "{lane}: {found}");
                    }
                }
            }
        }
    }
}
