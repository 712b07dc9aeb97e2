//! LuGre bristle friction.
#![allow(clippy::needless_range_loop, reason = "a lane indexes many arrays")]

use crate::friction_lanes::{FrictionLanes, LANES, Lanes, Lanes3, Slip};
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
/// `v` and `f_n` are constant over a step and `z` is integrated exactly, so the step is stable for any `dt_s`. The
/// paper's eq. (10) omits the exponential; this is the model that it cites.
///
/// Differs from the model at varying load: |σ₀z| and |F| are at most μ_s f_n, the viscous part included. The model
/// lets bristles shorten only by sliding, so a contact that is sheared and lifted would keep its shear at any load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lugre {
    /// σ₀, stiffness of the bristles (N/m).
    pub stiffness_newton_per_m: f64,
    /// σ₁, damping of the bristles (N s/m).
    pub damping_newton_s_per_m: f64,
    /// c_t, viscous friction (N s/m).
    pub viscous_newton_s_per_m: f64,
    /// Static friction coefficient μ_s.
    pub mu_static: f64,
    /// Dynamic friction coefficient μ_d.
    pub mu_dynamic: f64,
    /// v_s, Stribeck speed (m/s); the paper's x₀.
    pub stribeck_m_per_s: f64,
}

impl Lugre {
    /// Checks the ranges of the parameters.
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

    /// g(v): friction force (N) of steady sliding without the viscous part.
    #[inline(always)]
    pub fn steady_newton(&self, speed_m_per_s: f64, normal_newton: f64) -> f64 {
        let (decay, _) = decay((speed_m_per_s / self.stribeck_m_per_s).powi(2));
        normal_newton * (self.mu_dynamic + (self.mu_static - self.mu_dynamic) * decay)
    }

    /// True if the model is provably passive: c_t ≥ σ₁(μ_s − μ_d)/μ_d (Olsson 1996). The paper's parameters do not
    /// satisfy it.
    pub fn is_provably_passive(&self) -> bool {
        self.viscous_newton_s_per_m * self.mu_dynamic
            >= self.damping_newton_s_per_m * (self.mu_static - self.mu_dynamic)
    }

    /// Advances by one step: the deflection (m) and the friction force on the sensor (N) after `dt_s`.
    #[inline(always)]
    pub fn step(&self, deflection_m: Vec3, velocity: Vec3, normal_newton: f64, dt_s: f64) -> (Vec3, Vec3) {
        if normal_newton <= 0.0 {
            return (Vec3::ZERO, Vec3::ZERO);
        }
        let limit = self.mu_static * normal_newton;
        let speed = velocity.length();
        let g = self.steady_newton(speed, normal_newton);
        if g <= 0.0 {
            return (Vec3::ZERO, bounded(velocity * self.viscous_newton_s_per_m, limit));
        }
        let deflection_m = bounded(deflection_m, limit / self.stiffness_newton_per_m);
        // ż = v − a z  ⇒  z(dt) = z e^(−a dt) + v dt φ(a dt),  φ(x) = (1 − e^(−x))/x.
        let a = self.stiffness_newton_per_m * speed / g;
        let x = a * dt_s;
        let (decay, phi) = decay(x);
        let z = deflection_m * decay + velocity * (dt_s * phi);
        let rate = velocity - z * a;
        let force = z * self.stiffness_newton_per_m
            + rate * self.damping_newton_s_per_m
            + velocity * self.viscous_newton_s_per_m;
        (z, bounded(force, limit))
    }

    /// [`Lugre::step`] for many texels.
    #[inline(always)]
    pub(crate) fn step_all(&self, slides: &mut FrictionLanes, slip: Slip<'_>, dt_s: f64) {
        self.bound_bristles(slides, slip.share);
        // No early exit, so that the loop vectorises.
        let mut moves = false;
        for axis in 0..3 {
            for lane in 0..LANES {
                moves |= slip.velocity[axis][lane] != 0.0;
            }
        }
        if !moves {
            return self.rest(slides, slip.share);
        }
        let relaxation = self.relax(&slides.normal_newton, slip, dt_s);
        self.pull(slides, slip, &relaxation, dt_s);
        let (mu_static, mut limit) = (self.mu_static, Lanes::ZERO);
        for lane in 0..LANES {
            limit[lane] = mu_static * slides.normal_newton[lane];
        }
        bound_lanes(&mut slides.force, &Lanes::all(1.0), &limit);
    }

    /// [`Lugre::step_all`] at rest, with bounded deflections: F = σ₀z.
    #[inline(always)]
    fn rest(&self, slides: &mut FrictionLanes, share: &Lanes) {
        let Self { stiffness_newton_per_m: s0, mu_static, .. } = *self;
        for axis in 0..3 {
            for lane in 0..LANES {
                let sticks = mu_static * slides.normal_newton[lane] > 0.0;
                let z = if sticks { slides.deflection_m[axis][lane] } else { 0.0 };
                slides.deflection_m[axis][lane] = z;
                slides.force[axis][lane] = z * s0 * share[lane];
            }
        }
    }

    /// Bounds the deflections: |σ₀z| ≤ μ_s f_n.
    #[inline(always)]
    pub(crate) fn bound_bristles(&self, slides: &mut FrictionLanes, share: &Lanes) {
        // Copies of the parameters: the compiler cannot rule out that the lanes overwrite `self`.
        let Self { stiffness_newton_per_m: s0, mu_static, .. } = *self;
        let (mut stiffness, mut limit) = (Lanes::ZERO, Lanes::ZERO);
        for lane in 0..LANES {
            stiffness[lane] = s0 * share[lane];
            limit[lane] = mu_static * slides.normal_newton[lane];
        }
        bound_lanes(&mut slides.deflection_m, &stiffness, &limit);
    }

    /// The relaxation of the bristles. The loops have no branches and no calls, so that they vectorise; lanes with a
    /// large argument of the exponential use the scalar function afterwards.
    #[inline(always)]
    pub(crate) fn relax(&self, normal_newton: &Lanes, slip: Slip<'_>, dt_s: f64) -> Relaxation {
        let Self { stiffness_newton_per_m: s0, mu_static, mu_dynamic, stribeck_m_per_s, .. } = *self;
        let Slip { velocity: v, share } = slip;
        let zero = Lanes::ZERO;
        let mut all = Relaxation { speed: zero, steady_newton: zero, rate: zero, left: zero, phi: zero };
        let mut fall = zero;
        let by_square = (stribeck_m_per_s * stribeck_m_per_s).recip();
        let mut far = false;
        for lane in 0..LANES {
            let squared = v[0][lane] * v[0][lane] + v[1][lane] * v[1][lane] + v[2][lane] * v[2][lane];
            all.speed[lane] = squared.sqrt();
            let x = squared * by_square;
            far |= x >= NEAR;
            fall[lane] = decay_near(x).0;
        }
        if far {
            for lane in 0..LANES {
                let x = (all.speed[lane] / stribeck_m_per_s).powi(2);
                if x >= NEAR {
                    fall[lane] = decay(x).0;
                }
            }
        }
        far = false;
        for lane in 0..LANES {
            let g = normal_newton[lane] * (mu_dynamic + (mu_static - mu_dynamic) * fall[lane]);
            let slides = s0 * share[lane] * all.speed[lane] / g;
            all.steady_newton[lane] = g;
            all.rate[lane] = if g > 0.0 { slides } else { 0.0 };
            let x = all.rate[lane] * dt_s;
            far |= x >= NEAR;
            (all.left[lane], all.phi[lane]) = decay_near(x);
        }
        if far {
            for lane in 0..LANES {
                let x = all.rate[lane] * dt_s;
                if x >= NEAR {
                    (all.left[lane], all.phi[lane]) = decay(x);
                }
            }
        }
        all
    }

    /// Advances the deflections and sets the forces, without their bound.
    #[inline(always)]
    pub(crate) fn pull(&self, slides: &mut FrictionLanes, slip: Slip<'_>, relaxation: &Relaxation, dt_s: f64) {
        let Self { stiffness_newton_per_m: s0, damping_newton_s_per_m: s1, viscous_newton_s_per_m: viscous, .. } =
            *self;
        let FrictionLanes { deflection_m: z, normal_newton, force } = slides;
        let Slip { velocity: v, share } = slip;
        let Relaxation { steady_newton, rate: a, left, phi, .. } = relaxation;
        for axis in 0..3 {
            for lane in 0..LANES {
                let velocity = v[axis][lane];
                let next = z[axis][lane] * left[lane] + velocity * (dt_s * phi[lane]);
                let next = if steady_newton[lane] > 0.0 { next } else { 0.0 };
                let rate = velocity - next * a[lane];
                let bristles = next * s0 + rate * s1;
                let bristles = if steady_newton[lane] > 0.0 { bristles } else { 0.0 };
                let all = (bristles + velocity * viscous) * share[lane];
                z[axis][lane] = next;
                force[axis][lane] = if normal_newton[lane] > 0.0 { all } else { 0.0 };
            }
        }
    }

    /// The same friction for a fraction of a texel: forces, and so stiffness and damping, scale; μ does not.
    #[inline(always)]
    pub fn scaled(&self, share: f64) -> Self {
        Self {
            stiffness_newton_per_m: self.stiffness_newton_per_m * share,
            damping_newton_s_per_m: self.damping_newton_s_per_m * share,
            viscous_newton_s_per_m: self.viscous_newton_s_per_m * share,
            ..*self
        }
    }
}

/// Bristles of many texels over a step: ż = v − a z.
pub(crate) struct Relaxation {
    /// |v| (m/s).
    pub speed: Lanes,
    /// g(v) (N).
    pub steady_newton: Lanes,
    /// a (1/s).
    pub rate: Lanes,
    /// e^(−a dt).
    pub left: Lanes,
    /// φ(a dt).
    pub phi: Lanes,
}

/// The vector, shortened to at most `limit`.
#[inline(always)]
fn bounded(vector: Vec3, limit: f64) -> Vec3 {
    let length = vector.length();
    if length > limit { vector * (limit / length) } else { vector }
}

/// [`bounded`] for many vectors times a scale each.
#[inline(always)]
fn bound_lanes(vectors: &mut Lanes3, scale: &Lanes, limit: &Lanes) {
    let mut squared = Lanes::ZERO;
    let mut over = false;
    for lane in 0..LANES {
        let [x, y, z] = [vectors[0][lane], vectors[1][lane], vectors[2][lane]];
        squared[lane] = (x * x + y * y + z * z) * (scale[lane] * scale[lane]);
        over |= squared[lane] > limit[lane] * limit[lane];
    }
    if !over {
        return;
    }
    let mut factor = Lanes::all(1.0);
    for lane in 0..LANES {
        let length = squared[lane].sqrt();
        let part = limit[lane] / length;
        factor[lane] = if length > limit[lane] { part } else { 1.0 };
    }
    for vector in vectors.iter_mut() {
        for lane in 0..LANES {
            vector[lane] *= factor[lane];
        }
    }
}

/// Limit below which the series of [`decay_near`] is exact to rounding.
const NEAR: f64 = 0.05;

/// e^(−x) and φ(x) = (1 − e^(−x))/x for x ≥ 0. Sticking contacts are slow, so x is usually small.
#[inline(always)]
pub(crate) fn decay(x: f64) -> (f64, f64) {
    if x < NEAR {
        return decay_near(x);
    }
    let lost = (-x).exp_m1();
    (1.0 + lost, -lost / x)
}

/// The same for x < [`NEAR`], where a few terms of φ = Σ (−x)ⁿ/(n + 1)! cost a tenth of the exponential. Terms are
/// added in independent pairs.
#[inline(always)]
fn decay_near(x: f64) -> (f64, f64) {
    let xx = x * x;
    let low = (1.0 - x * (1.0 / 2.0)) + xx * ((1.0 / 6.0 - x * (1.0 / 24.0)) + xx * (1.0 / 120.0));
    let high = (1.0 / 720.0 - x * (1.0 / 5040.0)) + xx * (1.0 / 40320.0 - x * (1.0 / 362_880.0));
    let phi = low - xx * xx * x * high;
    (1.0 - x * phi, phi)
}

/// φ′(x) = (e^(−x) − φ)/x from [`decay`]; near zero by the terms of φ′ = −Σ n (−x)ⁿ⁻¹/(n + 1)!.
pub(crate) fn decay_slope(x: f64, left: f64, phi: f64) -> f64 {
    if x >= NEAR {
        return (left - phi) / x;
    }
    let xx = x * x;
    let low = (1.0 / 2.0 - x * (1.0 / 3.0)) + xx * (1.0 / 8.0 - x * (1.0 / 30.0));
    let high = (1.0 / 144.0 - x * (1.0 / 840.0)) + xx * (1.0 / 5760.0 - x * (1.0 / 45360.0));
    -(low + xx * xx * high)
}

/// Rotates a deflection with the contact plane, by the shortest rotation between the normals.
///
/// For unit normals f and t the rotation is R = 1 − (f + t)(f + t)ᵀ/(1 + f·t) + 2 t fᵀ. The component along t is
/// removed, because its rounding errors would grow over millions of steps; the terms of R along t are therefore not
/// computed.
#[inline(always)]
pub(crate) fn rotate_into_plane(deflection_m: Vec3, from: Vec3, to: Vec3) -> Vec3 {
    if from == to {
        return deflection_m;
    }
    let one_and_cosine = 1.0 + from.dot(to);
    let rotated = if one_and_cosine > NEARLY_OPPOSITE {
        deflection_m - from * ((from + to).dot(deflection_m) / one_and_cosine)
    } else {
        // Opposite normals: any rotation by π.
        Quat::from_rotation_arc(from, to) * deflection_m
    };
    rotated - to * rotated.dot(to)
}

/// [`rotate_into_plane`] for many deflections. Returns false, without a valid result, for nearly opposite normals.
#[inline(always)]
pub(crate) fn rotate_lanes_into_plane(deflection_m: &Lanes3, from: &Lanes3, to: &Lanes3, out_m: &mut Lanes3) -> bool {
    let mut opposite = false;
    for lane in 0..LANES {
        let f = [from[0][lane], from[1][lane], from[2][lane]];
        let t = [to[0][lane], to[1][lane], to[2][lane]];
        let z = [deflection_m[0][lane], deflection_m[1][lane], deflection_m[2][lane]];
        let one_and_cosine = 1.0 + (f[0] * t[0] + f[1] * t[1] + f[2] * t[2]);
        opposite |= one_and_cosine <= NEARLY_OPPOSITE;
        let along = (f[0] + t[0]) * z[0] + (f[1] + t[1]) * z[1] + (f[2] + t[2]) * z[2];
        let along = along / one_and_cosine;
        let rotated: [f64; 3] = std::array::from_fn(|axis| z[axis] - f[axis] * along);
        let out = rotated[0] * t[0] + rotated[1] * t[1] + rotated[2] * t[2];
        let still = (f[0] == t[0]) & (f[1] == t[1]) & (f[2] == t[2]);
        for axis in 0..3 {
            out_m[axis][lane] = if still { z[axis] } else { rotated[axis] - t[axis] * out };
        }
    }
    !opposite
}

/// Derivatives by the deflection and by the normals `from` and `to` from that by the result of [`rotate_into_plane`]. Zero for
/// nearly opposite normals, whose rotation is not unique.
///
/// With q = 1 + **f**·**t**, k = (**f** + **t**)·**z**/q and **w** = **z** − k **f** the result is **w** − **t** (**t**·**w**). It
/// depends on the normals where they are equal too.
pub(crate) fn rotate_into_plane_adjoint(deflection_m: Vec3, from: Vec3, to: Vec3, by: Vec3) -> [Vec3; 3] {
    let q = 1.0 + from.dot(to);
    if q <= NEARLY_OPPOSITE {
        return [Vec3::ZERO; 3];
    }
    let k = (from + to).dot(deflection_m) / q;
    let rotated = deflection_m - from * k;
    let along = to.dot(by);
    let by_rotated = by - to * along;
    let by_k = -from.dot(by_rotated) / q;
    [
        by_rotated + (from + to) * by_k,
        (deflection_m - to * k) * by_k - by_rotated * k,
        (deflection_m - from * k) * by_k - by * rotated.dot(to) - rotated * along,
    ]
}

/// Limit of 1 + the cosine of the angle between normals, below which the short formula of their rotation is not used.
const NEARLY_OPPOSITE: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares every branch of the series with the library functions, to a few units in the last place of one: 1 +
    /// expm1 and exp differ by that much, depending on the CPU and the mathematics library.
    #[test]
    fn decay_is_exact_on_both_sides_of_its_switch() {
        for i in 0..4000 {
            let x = 1e-12 * 1.0085f64.powi(i);
            let (e, phi) = decay(x);
            assert!((e - (-x).exp()).abs() <= 6e-16, "{x}: {e}");
            let truth = -(-x).exp_m1() / x;
            assert!((phi - truth).abs() <= 1e-15 * truth, "{x}: {phi}");
            let step = 1e-4 * (1.0 + x);
            let slope = |h: f64| (decay(x + h + 2.0 * step).1 - decay(x - h + 2.0 * step).1) / (2.0 * h);
            let truth = (4.0 * slope(0.5 * step) - slope(step)) / 3.0;
            let at = x + 2.0 * step;
            let (e, phi) = decay(at);
            assert!((decay_slope(at, e, phi) - truth).abs() < 1e-10, "{x}: {truth}");
        }
        assert_eq!(decay(0.0), (1.0, 1.0));
    }

    /// Compares with the quaternion of the rotation, from nearly equal to nearly opposite normals.
    #[test]
    fn a_deflection_rotates_with_its_plane() {
        let mut random = dermis_geometry::Random::new(7);
        let mut unit = || random.direction();
        for _ in 0..1000 {
            let (from, aside) = (unit(), unit());
            let deflection = from.cross(aside);
            for to in [unit(), (from + aside * 1e-4).normalize(), (aside * 1e-2 - from).normalize()] {
                let expected = Quat::from_rotation_arc(from, to) * deflection;
                let rotated = rotate_into_plane(deflection, from, to);
                assert!((rotated - expected).length() < 1e-10, "{from} {to}: {rotated} {expected}");
                assert!(rotated.dot(to).abs() < 1e-12);
            }
        }
    }

    /// Compares with differences along rotations of either normal, which stays a unit vector, also from equal normals.
    #[test]
    fn a_rotated_deflection_has_the_derivatives_of_differences() {
        let mut random = dermis_geometry::Random::new(9);
        let mut unit = || random.direction();
        for i in 0..300 {
            let (from, aside, by, axis) = (unit(), unit(), unit(), unit());
            let to = if i % 3 == 0 { from } else { (from + aside * 0.6).normalize() };
            let z = from.cross(aside);
            let found = rotate_into_plane_adjoint(z, from, to, by);
            // The deflection is in the plane of `from` and rotates with it.
            let value = |e: f64, f: f64| {
                let (first, second) = (Quat::from_axis_angle(axis, e), Quat::from_axis_angle(axis, f));
                by.dot(rotate_into_plane(first * z, first * from, second * to))
            };
            let slope = |at: &dyn Fn(f64) -> f64| {
                let [coarse, fine] = [1e-3, 5e-4].map(|h| (at(h) - at(-h)) / (2.0 * h));
                (4.0 * fine - coarse) / 3.0
            };
            let truth = [slope(&|e| value(e, 0.0)), slope(&|f| value(0.0, f))];
            let got = [found[0].dot(axis.cross(z)) + found[1].dot(axis.cross(from)), found[2].dot(axis.cross(to))];
            for (got, truth) in got.into_iter().zip(truth) {
                assert!((got - truth).abs() < 1e-8, "{i}: {got} {truth}");
            }
        }
    }
}
