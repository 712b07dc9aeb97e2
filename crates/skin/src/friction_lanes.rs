//! Friction of many texels in vector lanes.

use crate::Friction;
use dermis_geometry::Vec3;

/// Number of texels per batch: several vector registers, within the first-level cache.
pub(crate) const LANES: usize = 32;

/// One number per texel, contiguous, so that one instruction handles several texels.
pub(crate) type Lanes = [f64; LANES];
/// One vector per texel, axis by axis.
pub(crate) type Lanes3 = [Lanes; 3];

/// The vector of one texel.
#[inline(always)]
pub(crate) fn get(lanes: &Lanes3, lane: usize) -> Vec3 {
    Vec3::new(lanes[0][lane], lanes[1][lane], lanes[2][lane])
}

/// Sets the vector of one texel.
#[inline(always)]
pub(crate) fn set(lanes: &mut Lanes3, lane: usize, vector: Vec3) {
    lanes[0][lane] = vector.x;
    lanes[1][lane] = vector.y;
    lanes[2][lane] = vector.z;
}

/// Friction state and load of [`LANES`] texels.
#[derive(Clone, Debug)]
pub(crate) struct FrictionLanes {
    /// Deflection of the bristles (m), updated by the step.
    pub deflection_m: Lanes3,
    /// Velocity (m/s) of the object relative to the sensor, in the contact plane.
    pub velocity: Lanes3,
    /// Normal force (N).
    pub normal_newton: Lanes,
    /// Fraction of a texel that each lane represents.
    pub share: Lanes,
    /// Friction force on the sensor (N), after the step.
    pub force: Lanes3,
}

impl FrictionLanes {
    /// Lanes without deflection, velocity or load.
    pub fn new() -> Self {
        let zero = [0.0; LANES];
        Self { deflection_m: [zero; 3], velocity: [zero; 3], normal_newton: zero, share: zero, force: [zero; 3] }
    }

    /// Advances all lanes by one step; equals [`Friction::step`] of each up to rounding.
    #[inline(always)]
    pub fn step(&mut self, friction: &Friction, dt_s: f64) {
        if let Friction::Lugre(lugre) = friction {
            return lugre.step_all(self, dt_s);
        }
        for lane in 0..LANES {
            let (held, slip) = (get(&self.deflection_m, lane), get(&self.velocity, lane));
            let (z, force) = friction.step(held, slip, self.normal_newton[lane], self.share[lane], dt_s);
            set(&mut self.deflection_m, lane, z);
            set(&mut self.force, lane, force);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Coulomb, Lugre};
    use dermis_geometry::Random;

    /// Lanes equal single steps, from rest to fast sliding and from zero to high load.
    #[test]
    fn lanes_equal_single_steps() {
        let mut random = Random::new(3);
        let lugre = |mu_dynamic| Lugre {
            stiffness_newton_per_m: 50.0,
            damping_newton_s_per_m: 0.05,
            viscous_newton_s_per_m: 0.01,
            mu_static: 0.5,
            mu_dynamic,
            stribeck_m_per_s: 0.1,
        };
        let coulomb = Friction::Coulomb(Coulomb { mu: 0.4, regularisation_m_per_s: 1e-3 });
        for friction in [Friction::Lugre(lugre(0.4)), Friction::Lugre(lugre(0.0)), coulomb, Friction::None] {
            for count in [1, 7, LANES] {
                let mut slides = FrictionLanes::new();
                let mut expected = Vec::new();
                for lane in 0..count {
                    let speed = [0.0, 1e-6, 1e-3, 0.03, 2.0, 100.0][lane % 6];
                    let load = [0.0, 1e-9, 1e-3, 0.1, 20.0][lane % 5];
                    let (z, v) = (random.direction() * 1e-4, random.direction() * speed);
                    set(&mut slides.deflection_m, lane, z);
                    set(&mut slides.velocity, lane, v);
                    (slides.normal_newton[lane], slides.share[lane]) = (load, 0.25);
                    expected.push(friction.step(z, v, load, 0.25, 1e-3));
                }
                slides.step(&friction, 1e-3);
                for (lane, (z, force)) in expected.into_iter().enumerate() {
                    let got = (get(&slides.deflection_m, lane), get(&slides.force, lane));
                    assert!((got.0 - z).length() <= 1e-13 * z.length(), "{lane}: {} {z}", got.0);
                    assert!((got.1 - force).length() <= 1e-13 * force.length().max(1e-3), "{lane}: {} {force}", got.1);
                }
            }
        }
    }
}
