//! The stability limit of the time step.
//!
//! Shinya (2004) bounds the time step of a spring–mass system by the greatest eigenvalue of M⁻¹K. Here K holds the
//! tangent stiffness of all contacts on a body and M its mass and inertia; damping is included.

use crate::inertia::Principal;
use dermis_geometry::{MassProperties, Pose, Vec3};
use dermis_skin::Support;
use nalgebra::{Matrix6, Vector6};

/// The largest stable step (s) of symplectic Euler for x″ = −ω²x − γx′, with the force at the start of the step.
///
/// The step maps (x, v) with characteristic polynomial λ² − (2 − γΔ − ω²Δ²)λ + 1 − γΔ; both roots stay in the unit
/// circle while ω²Δ² + 2γΔ < 4.
pub fn largest_stable_step_s(omega_squared: f64, gamma: f64) -> f64 {
    if omega_squared <= 0.0 {
        return if gamma > 0.0 { 2.0 / gamma } else { f64::INFINITY };
    }
    // The conjugate form of (−γ + √(γ² + 4ω²))/ω², which avoids cancellation.
    4.0 / (gamma + (gamma * gamma + 4.0 * omega_squared).sqrt())
}

/// The largest stable step (s) for an object of this size that lies centred on a skin and presses all of the skin under
/// it (see [`dermis_skin::Skin::fully_pressed`]). A body without mass is fixed; if both bodies are fixed, every step is
/// stable.
pub fn limit_when_pressed_s(
    pressed: &[Support],
    object_size_m: Vec3,
    object: Option<&MassProperties>,
    sensor: Option<&MassProperties>,
) -> f64 {
    let middle = pressed.iter().map(|support| support.at).sum::<Vec3>() / pressed.len().max(1) as f64;
    let upward = pressed.iter().map(|support| support.normal).sum::<Vec3>().normalize_or(Vec3::Z);
    let (reach, height) = (0.5 * object_size_m.length(), 0.5 * object_size_m.min_element());
    let (mut omega_squared, mut gamma) = (0.0, 0.0);
    for (mass, lift) in [(object, height), (sensor, 0.0)] {
        let Some(mass) = mass else { continue };
        let centred = MassProperties { center_m: Vec3::ZERO, ..*mass };
        let mut loaded = BodyStiffness::new(&centred, &Pose::from_translation(middle + upward * lift));
        for support in pressed.iter().filter(|support| (support.at - middle).length() <= reach) {
            loaded.add(support, &Pose::IDENTITY);
        }
        let (w, g) = loaded.greatest();
        omega_squared += w;
        gamma += g;
    }
    largest_stable_step_s(omega_squared, gamma)
}

/// The stability limit of a world.
#[derive(Clone, Debug, PartialEq)]
pub struct Stability {
    /// The largest stable step (s).
    pub limit_s: f64,
    /// The body that determines the limit.
    pub body: String,
    /// The sensor that determines the limit.
    pub sensor: String,
}

/// Stiffness and damping of the contacts on one body, scaled by its mass: M^(−½) K M^(−½).
#[derive(Clone, Debug)]
pub struct BodyStiffness {
    frame: MassFrame,
    stiffness: Matrix6<f64>,
    damping: Matrix6<f64>,
}

/// Mass and inertia of a body in its principal axes.
#[derive(Clone, Debug)]
struct MassFrame {
    center: Vec3,
    /// Principal axes in the world frame.
    axes: [Vec3; 3],
    /// 1/√m three times, then 1/√I of each principal axis.
    scale: Vector6<f64>,
}

impl BodyStiffness {
    /// Creates the matrices of a body without contacts.
    pub fn new(mass: &MassProperties, world_from_body: &Pose) -> Self {
        let Principal { moments_kg_m2, body_from_axes } = Principal::of(mass);
        let axes = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| world_from_body.transform_vector(body_from_axes * axis));
        let linear = 1.0 / mass.mass_kg.sqrt();
        let angular = moments_kg_m2.max(Vec3::splat(f64::MIN_POSITIVE)).map(|moment| 1.0 / moment.sqrt());
        Self {
            frame: MassFrame {
                center: world_from_body.transform_point(mass.center_m),
                axes,
                scale: Vector6::new(linear, linear, linear, angular.x, angular.y, angular.z),
            },
            stiffness: Matrix6::zeros(),
            damping: Matrix6::zeros(),
        }
    }

    /// Adds a contact; its position and normal are in the frame of `world_from_frame`.
    pub fn add(&mut self, support: &Support, world_from_frame: &Pose) {
        let arm = world_from_frame.transform_point(support.at) - self.frame.center;
        let normal = world_from_frame.transform_vector(support.normal);
        let tangent = &support.tangent;
        let (first, second) = normal.any_orthonormal_pair();
        for (direction, k, c) in [
            (normal, tangent.stiffness_normal, tangent.damping_normal),
            (first, tangent.stiffness_tangential, tangent.damping_tangential),
            (second, tangent.stiffness_tangential, tangent.damping_tangential),
        ] {
            let moment_arm = arm.cross(direction);
            let [a, b, c3] = self.frame.axes;
            let j = Vector6::new(
                direction.x,
                direction.y,
                direction.z,
                moment_arm.dot(a),
                moment_arm.dot(b),
                moment_arm.dot(c3),
            )
            .component_mul(&self.frame.scale);
            self.stiffness.ger(k, &j, &j, 1.0);
            self.damping.ger(c, &j, &j, 1.0);
        }
    }

    /// Largest ω² (1/s²) and γ (1/s).
    pub fn greatest(&self) -> (f64, f64) {
        (greatest_eigenvalue(&self.stiffness), greatest_eigenvalue(&self.damping))
    }
}

fn greatest_eigenvalue(matrix: &Matrix6<f64>) -> f64 {
    matrix.symmetric_eigenvalues().iter().copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::Mat3;
    use dermis_skin::Tangent;

    /// Iterating the integrator becomes unstable at the computed limit.
    #[test]
    fn the_limit_is_where_the_rule_explodes() {
        for (omega_squared, gamma) in [(1e4, 0.0), (1e4, 50.0), (1e4, 1e3), (0.0, 300.0), (1.0, 1e4)] {
            let limit = largest_stable_step_s(omega_squared, gamma);
            let grows = |dt: f64| {
                let (mut x, mut v) = (1.0f64, 0.0f64);
                if omega_squared == 0.0 {
                    (x, v) = (0.0, 1.0);
                }
                for _ in 0..200_000 {
                    v -= dt * (omega_squared * x + gamma * v);
                    x += dt * v;
                    if !v.is_finite() || v.abs() > 1e12 {
                        return true;
                    }
                }
                false
            };
            assert!(!grows(limit * 0.999), "{omega_squared} {gamma}: stable below {limit}");
            assert!(grows(limit * 1.01), "{omega_squared} {gamma}: unstable above {limit}");
        }
    }

    /// A spring k under the middle of a body of mass m gives ω² = k/m; at offset r it also rotates the body: + k r²/I.
    #[test]
    fn one_spring_has_its_closed_form() {
        let mass = MassProperties {
            mass_kg: 2.0,
            center_m: Vec3::ZERO,
            inertia_kg_m2: Mat3::from_diagonal(Vec3::new(0.1, 0.2, 0.3)),
        };
        let mut loaded = BodyStiffness::new(&mass, &Pose::IDENTITY);
        let tangent = Tangent { stiffness_normal: 10.0, ..Tangent::default() };
        loaded.add(&Support { at: Vec3::X * 0.5, normal: Vec3::Z, tangent }, &Pose::IDENTITY);
        let truth = 10.0 / 2.0 + 10.0 * 0.25 / 0.2;
        assert!((loaded.greatest().0 - truth).abs() < 1e-12 * truth);
    }
}
