//! The rotation of free bodies: Euler's equations.
//!
//! Rapier integrates the angular velocity ω of a body as if it were constant without torque, but the angular momentum
//! L = I(R) ω is. Before Rapier's step, ω is replaced by that of the implicit midpoint rule for free rotation,
//! ```text
//! ω = I(R½)⁻¹ L        R½ = exp(h ω / 2) R
//! ```
//! with which Rapier turns the body and finds the forces of its own contacts. After the step, the change of ω is one of L:
//! L′ = L + I(R) Δω, and ω′ = I(R′)⁻¹ L′ at the new orientation R′. Without torque, L is kept to rounding and the energy
//! to second order. Joined bodies are Rapier's, whose joints have these terms.

use super::{BodyKind, World};
use dermis_geometry::{Mat3, Quat, Vec3};

/// Fixed-point iterations of the midpoint rule; each one multiplies the error by hω.
const ITERATIONS: usize = 4;

/// A free body that turns.
pub(super) struct Turning {
    body: usize,
    /// Angular momentum (kg m²/s) before Rapier's step.
    momentum: Vec3,
    /// Angular velocity (rad/s) of the midpoint.
    free: Vec3,
    /// World frame: I before the step.
    inertia: Mat3,
}

/// I in the world frame.
fn inertia(rotation: Quat, in_body: &Mat3) -> Mat3 {
    let turn = Mat3::from_quat(rotation);
    turn * *in_body * turn.transpose()
}

impl World {
    /// Sets the angular velocities for Rapier's step.
    pub(super) fn turn_freely(&mut self) -> Vec<Turning> {
        let step_s = self.parameters.step_s;
        let mut turning = Vec::new();
        for (body, placed) in self.bodies.iter().enumerate() {
            let BodyKind::Free(mass) = &placed.body.kind else { continue };
            if self.physics.multibody_joints.rigid_body_link(placed.handle).is_some() {
                continue;
            }
            let rigid = &mut self.physics.bodies[placed.handle];
            let rotation = rigid.position().rotation;
            let inertia_now = inertia(rotation, &mass.inertia_kg_m2);
            let momentum = inertia_now * rigid.angvel();
            let mut free = rigid.angvel();
            for _ in 0..ITERATIONS {
                let half = Quat::from_scaled_axis(free * (0.5 * step_s)) * rotation;
                free = inertia(half, &mass.inertia_kg_m2).inverse() * momentum;
            }
            rigid.set_angvel(free, false);
            turning.push(Turning { body, momentum, free, inertia: inertia_now });
        }
        turning
    }

    /// Sets the angular velocities after Rapier's step.
    pub(super) fn keep_angular_momentum(&mut self, turning: Vec<Turning>) {
        for Turning { body, momentum, free, inertia: before } in turning {
            let placed = &self.bodies[body];
            let BodyKind::Free(mass) = &placed.body.kind else { continue };
            let rigid = &mut self.physics.bodies[placed.handle];
            let after = momentum + before * (rigid.angvel() - free);
            let spin = inertia(rigid.position().rotation, &mass.inertia_kg_m2).inverse() * after;
            rigid.set_angvel(spin, false);
        }
    }
}
