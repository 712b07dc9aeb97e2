//! The motion of bodies under forces, joints included.
//!
//! Joined bodies form one system with coordinates q: with the Jacobian J of a body (velocity of its centre of mass and
//! angular velocity, in the world frame), M = Σ Jᵀ diag(m, I) J over its bodies. A free body is a system of its own with
//! J = 1. A force on body b accelerates body c by J_c M⁻¹ J_bᵀ.

use super::{BodyId, BodyKind, World};
use dermis_geometry::{Mat3, Twist, Vec3, Wrench};
use nalgebra::{DMatrix, Matrix6, Matrix6xX, Vector6};

/// Inverse inertia of the bodies of a world in their current poses.
pub(super) struct Mobility {
    /// System and Jacobian of each body; `None` if forces do not move it.
    members: Vec<Option<(usize, Matrix6xX<f64>)>>,
    /// M⁻¹ of each system.
    inverses: Vec<DMatrix<f64>>,
}

/// Six components of a load or a velocity: force or velocity of the centre of mass, torque or angular velocity.
pub(super) fn six(first: Vec3, second: Vec3) -> Vector6<f64> {
    Vector6::new(first.x, first.y, first.z, second.x, second.y, second.z)
}

impl Mobility {
    pub fn new(world: &mut World) -> Option<Self> {
        let mut systems: Vec<(Option<usize>, DMatrix<f64>)> = Vec::new();
        let mut members = Vec::with_capacity(world.bodies.len());
        for index in 0..world.bodies.len() {
            let placed = &world.bodies[index];
            let BodyKind::Free(mass) = &placed.body.kind else {
                members.push(None);
                continue;
            };
            let rotation = Mat3::from_quat(world.pose(BodyId(index)).rotation);
            let inertia = rotation * mass.inertia_kg_m2 * rotation.transpose();
            let mut matrix = Matrix6::from_diagonal_element(mass.mass_kg);
            for column in 0..3 {
                for row in 0..3 {
                    matrix[(row + 3, column + 3)] = inertia.col(column)[row];
                }
            }
            let physics = &mut world.physics;
            let link = physics.multibody_joints.rigid_body_link(placed.handle).copied();
            let joined = link.and_then(|link| {
                // The Jacobians do not exist before the first step.
                let multibody = physics.multibody_joints.get_multibody(link.multibody)?;
                if multibody.body_jacobian(link.id).ncols() != multibody.ndofs() {
                    physics
                        .multibody_joints
                        .get_multibody_mut(link.multibody)?
                        .forward_kinematics(&physics.bodies, true);
                }
                let multibody = physics.multibody_joints.get_multibody(link.multibody)?;
                let root = multibody.root().rigid_body_handle();
                let first = world.bodies.iter().position(|other| other.handle == root)?;
                Some((first, multibody.body_jacobian(link.id).clone()))
            });
            let (root, jacobian) = match joined {
                Some((root, jacobian)) => (Some(root), jacobian),
                None => (None, Matrix6xX::identity(6)),
            };
            let known = systems.iter().position(|(other, _)| root.is_some() && *other == root);
            let system = known.unwrap_or_else(|| {
                systems.push((root, DMatrix::zeros(jacobian.ncols(), jacobian.ncols())));
                systems.len() - 1
            });
            systems[system].1 += jacobian.transpose() * matrix * &jacobian;
            members.push(Some((system, jacobian)));
        }
        let inverses = systems.into_iter().map(|(_, mass)| mass.try_inverse()).collect::<Option<_>>()?;
        Some(Self { members, inverses })
    }

    /// Acceleration of `body` per load on `loaded`; `None` if there is none.
    pub fn between(&self, body: BodyId, loaded: BodyId) -> Option<Matrix6<f64>> {
        let ((system, jacobian), (other, loaded)) = (self.members[body.0].as_ref()?, self.members[loaded.0].as_ref()?);
        (system == other).then(|| {
            let product = jacobian * &self.inverses[*system] * loaded.transpose();
            product.fixed_view::<6, 6>(0, 0).into_owned()
        })
    }

    /// Accelerations of all bodies under loads on all of them.
    pub fn accelerations(&self, loads: &[Vector6<f64>]) -> Vec<Vector6<f64>> {
        let mut forces: Vec<_> = self.inverses.iter().map(|m| nalgebra::DVector::zeros(m.nrows())).collect();
        for (member, load) in self.members.iter().zip(loads) {
            if let Some((system, jacobian)) = member {
                forces[*system] += jacobian.transpose() * load;
            }
        }
        let motion: Vec<_> = self.inverses.iter().zip(&forces).map(|(inverse, force)| inverse * force).collect();
        let acceleration = |member: &Option<(usize, Matrix6xX<f64>)>| match member {
            Some((system, jacobian)) => jacobian * &motion[*system],
            None => Vector6::zeros(),
        };
        self.members.iter().map(acceleration).collect()
    }
}

impl World {
    /// Gravity and the forces that have been added in this step, about the centre of mass of each body.
    pub(super) fn loads(&self) -> Vec<Vector6<f64>> {
        let load = |placed: &super::Placed| {
            let rigid = &self.physics.bodies[placed.handle];
            let weight = match &placed.body.kind {
                BodyKind::Free(mass) => self.parameters.gravity * mass.mass_kg,
                _ => Vec3::ZERO,
            };
            six(rigid.user_force() + weight, rigid.user_torque())
        };
        self.bodies.iter().map(load).collect()
    }

    /// Velocities of the centre of mass of each body, and angular velocities.
    pub(super) fn velocities(&self) -> Vec<Vector6<f64>> {
        let velocity = |id: BodyId| {
            let twist = self.velocity_at_center(id);
            six(twist.linear, twist.angular)
        };
        self.bodies().map(velocity).collect()
    }

    /// Velocity of a body's origin. Unlike [`World::velocity`], which Rapier updates one step late for joined bodies, it
    /// belongs to the current pose.
    pub(super) fn present_velocity(&self, body: BodyId) -> Twist {
        let rigid = &self.physics.bodies[self.bodies[body.0].handle];
        self.velocity_at_center(body).moved(rigid.position().translation - rigid.center_of_mass())
    }

    /// Velocity of a body's centre of mass. For a joined body, that of its coordinates, and of the root of its joints.
    fn velocity_at_center(&self, body: BodyId) -> Twist {
        let handle = self.bodies[body.0].handle;
        let rigid = &self.physics.bodies[handle];
        let link = self.physics.multibody_joints.rigid_body_link(handle);
        let multibody = link.and_then(|link| self.physics.multibody_joints.get_multibody(link.multibody));
        let known = Twist::new(rigid.linvel(), rigid.angvel());
        let (Some(link), Some(multibody)) = (link, multibody) else { return known };
        let jacobian = multibody.body_jacobian(link.id);
        if jacobian.ncols() != multibody.ndofs() {
            return known;
        }
        let six = jacobian * multibody.generalized_velocity();
        let relative = Twist::new(Vec3::new(six[0], six[1], six[2]), Vec3::new(six[3], six[4], six[5]));
        // A free root is one of the coordinates.
        let root = &self.physics.bodies[multibody.root().rigid_body_handle()];
        if root.is_dynamic() {
            return relative;
        }
        let carried = Twist::new(root.linvel(), root.angvel()).moved(rigid.center_of_mass() - root.center_of_mass());
        Twist::new(carried.linear + relative.linear, carried.angular + relative.angular)
    }

    /// Maps the motion of a body's centre of mass to that at the origin of a sensor, in its frame.
    pub(super) fn sensor_from_center(&self, body: BodyId, world_from_sensor: &dermis_geometry::Pose) -> Matrix6<f64> {
        let center = self.physics.bodies[self.bodies[body.0].handle].center_of_mass();
        let arm = world_from_sensor.translation - center;
        let sensor_from_world = world_from_sensor.inverse();
        let mut matrix = Matrix6::zeros();
        for axis in 0..6 {
            let unit = [Vec3::X, Vec3::Y, Vec3::Z][axis % 3];
            let twist = if axis < 3 { Twist::new(unit, Vec3::ZERO) } else { Twist::new(Vec3::ZERO, unit) };
            let moved = twist.moved(arm).rotated(&sensor_from_world);
            matrix.set_column(axis, &six(moved.linear, moved.angular));
        }
        matrix
    }

    /// Adds a load about the origin of a sensor, in its frame, to the forces on a body.
    pub(super) fn apply(&mut self, body: BodyId, load: &Wrench, world_from_sensor: &dermis_geometry::Pose) {
        if *load == Wrench::ZERO {
            return;
        }
        let rigid = &mut self.physics.bodies[self.bodies[body.0].handle];
        let in_world = load.rotated(world_from_sensor);
        let about_center = in_world.moved(rigid.center_of_mass() - world_from_sensor.translation);
        rigid.add_force(about_center.force, false);
        rigid.add_torque(about_center.torque, false);
    }
}
