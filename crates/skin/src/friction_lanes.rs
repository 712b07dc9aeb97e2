//! Friction of many texels in vector lanes.

use crate::Friction;
use dermis_geometry::Vec3;
use std::ops::{Deref, DerefMut};

/// Number of texels per batch: several vector registers, within the first-level cache.
pub(crate) const LANES: usize = 32;

/// One number per texel, contiguous, so that one instruction handles several texels, and in whole cache lines: a vector
/// across two lines takes twice the time to load or store.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Lanes([f64; LANES]);

impl Lanes {
    pub const ZERO: Self = Self::all(0.0);

    /// The same number for every texel.
    #[inline(always)]
    pub const fn all(number: f64) -> Self {
        Self([number; LANES])
    }
}

impl Deref for Lanes {
    type Target = [f64; LANES];
    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Lanes {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

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
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrictionLanes {
    /// Deflection of the bristles (m), updated by the step.
    pub deflection_m: Lanes3,
    /// Normal force (N).
    pub normal_newton: Lanes,
    /// Friction force on the sensor (N), after the step.
    pub force: Lanes3,
}

/// The motion of [`LANES`] texels in a step.
#[derive(Clone, Copy)]
pub(crate) struct Slip<'a> {
    /// Velocity (m/s) of the object relative to the sensor, in the contact plane.
    pub velocity: &'a Lanes3,
    /// Fraction of a texel that each lane represents.
    pub share: &'a Lanes,
}

impl FrictionLanes {
    /// Lanes without deflection or load.
    pub const NONE: Self = Self { deflection_m: [Lanes::ZERO; 3], normal_newton: Lanes::ZERO, force: [Lanes::ZERO; 3] };

    /// Advances all lanes by one step; equals [`Friction::step`] of each up to rounding.
    #[inline(always)]
    pub fn step(&mut self, friction: &Friction, slip: Slip<'_>, dt_s: f64) {
        if let Friction::Lugre(lugre) = friction {
            return lugre.step_all(self, slip, dt_s);
        }
        self.step_each(|_| friction, slip, dt_s);
    }

    /// [`Self::step`] with a friction for each lane.
    #[inline(always)]
    pub fn step_each<'a>(&mut self, friction: impl Fn(usize) -> &'a Friction, slip: Slip<'_>, dt_s: f64) {
        for lane in 0..LANES {
            let (held, velocity) = (get(&self.deflection_m, lane), get(slip.velocity, lane));
            let (z, force) = friction(lane).step(held, velocity, self.normal_newton[lane], slip.share[lane], dt_s);
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
                let mut slides = FrictionLanes::NONE;
                let (mut velocity, mut share) = ([Lanes::ZERO; 3], Lanes::ZERO);
                let mut expected = Vec::new();
                for lane in 0..count {
                    let speed = [0.0, 1e-6, 1e-3, 0.03, 2.0, 100.0][lane % 6];
                    let load = [0.0, 1e-9, 1e-3, 0.1, 20.0][lane % 5];
                    let (z, v) = (random.direction() * 1e-4, random.direction() * speed);
                    set(&mut slides.deflection_m, lane, z);
                    set(&mut velocity, lane, v);
                    (slides.normal_newton[lane], share[lane]) = (load, 0.25);
                    expected.push(friction.step(z, v, load, 0.25, 1e-3));
                }
                slides.step(&friction, Slip { velocity: &velocity, share: &share }, 1e-3);
                for (lane, (z, force)) in expected.into_iter().enumerate() {
                    let got = (get(&slides.deflection_m, lane), get(&slides.force, lane));
                    assert!((got.0 - z).length() <= 1e-13 * z.length(), "{lane}: {} {z}", got.0);
                    assert!((got.1 - force).length() <= 1e-13 * force.length().max(1e-3), "{lane}: {} {force}", got.1);
                }
            }
        }
    }
}
