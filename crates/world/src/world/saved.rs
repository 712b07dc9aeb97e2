//! The state of a world, to save and restore it.

use super::{Mounted, World};
use crate::{Coupling, Drive, WorldError, WorldWarning};
use dermis_geometry::Vec3;
use dermis_sensor::{Reading, ResponseState};
use dermis_skin::{MissedObjects, State, Touch};
use nalgebra::Vector6;
use rapier3d_f64::parry::shape::ShapeType;
use rapier3d_f64::prelude::PhysicsWorld;
use serde::{Deserialize, Serialize};

/// What steps change in a world: bodies and their contacts, sensors, drives, time, warnings. [`World::state`] borrows it to be
/// saved, [`World::set_state`] restores it in a world that was built alike, which then continues with the same bytes.
///
/// ```
/// use dermis_geometry::{Pose, Twist, Vec3};
/// use dermis_world::{Body, World, WorldParameters, WorldState};
/// let build = || {
///     let mut world = World::new(WorldParameters::default())?;
///     let mut cart = Body::driven("cart", Pose::IDENTITY);
///     cart.velocity = Twist::new(Vec3::X, Vec3::ZERO);
///     let cart = world.add_body(cart)?;
///     Ok::<_, Box<dyn std::error::Error>>((world, cart))
/// };
/// let (mut world, cart) = build()?;
/// world.step()?;
/// let saved = serde_json::to_string(&world.state())?;
/// let (mut other, _) = build()?;
/// other.set_state(serde_json::from_str::<WorldState>(&saved)?)?;
/// assert_eq!((other.time_s(), other.pose(cart)), (world.time_s(), world.pose(cart)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Serialize, Deserialize)]
pub struct WorldState<Physics = PhysicsWorld> {
    physics: Physics,
    sensors: Vec<SensorState>,
    drives: Vec<Drive>,
    steps: u64,
    checked: bool,
    coupling: Coupling,
    lag: Vec<Vector6<f64>>,
    warnings: Vec<WorldWarning>,
    sunk: Vec<((String, String), f64)>,
}

#[derive(Serialize, Deserialize)]
struct SensorState {
    state: State,
    touch: Touch,
    response: ResponseState,
    reading: Reading,
    missed: MissedObjects,
    centers: Vec<Vec3>,
    contact_steps: Vec<u64>,
}

impl SensorState {
    fn of(mounted: &Mounted) -> Self {
        Self {
            state: mounted.state.clone(),
            touch: mounted.touch.clone(),
            response: mounted.response.clone(),
            reading: mounted.reading.clone(),
            missed: mounted.missed.clone(),
            centers: mounted.centers.clone(),
            contact_steps: mounted.contact_steps.clone(),
        }
    }

    fn put_into(self, mounted: &mut Mounted) {
        let Self { state, touch, response, reading, missed, centers, contact_steps } = self;
        (mounted.state, mounted.touch, mounted.response) = (state, touch, response);
        (mounted.reading, mounted.missed) = (reading, missed);
        (mounted.centers, mounted.contact_steps) = (centers, contact_steps);
    }
}

/// Numbers of what a world is built from.
fn parts(physics: &PhysicsWorld, sensors: usize, joints: usize) -> String {
    let (bodies, colliders) = (physics.bodies.len(), physics.colliders.len());
    format!("{bodies} bodies, {colliders} shapes, {sensors} sensors and {joints} joints")
}

impl World {
    /// The state, to be saved.
    pub fn state(&self) -> WorldState<&PhysicsWorld> {
        WorldState {
            physics: &self.physics,
            sensors: self.sensors.iter().map(SensorState::of).collect(),
            drives: self.joints.iter().map(|joined| joined.drive).collect(),
            steps: self.steps,
            checked: self.checked,
            coupling: self.coupling,
            lag: self.lag.clone(),
            warnings: self.warnings.clone(),
            sunk: self.sunk.clone(),
        }
    }

    /// Restores a state in a world to which the same bodies, sensors and joints were added in the same order. Fails if
    /// their numbers differ. An energy balance begins anew, after the next step.
    pub fn set_state(&mut self, state: WorldState) -> Result<(), WorldError> {
        let WorldState { mut physics, sensors, drives, steps, checked, coupling, lag, warnings, sunk } = state;
        let saved = parts(&physics, sensors.len(), drives.len());
        let world = parts(&self.physics, self.sensors.len(), self.joints.len());
        if saved != world {
            return Err(WorldError::OtherWorld { saved, world });
        }
        // The pairs of these shapes keep their contacts: Rapier drops only workspaces, which they do not have, and the hooks
        // on all colliders let it compute every contact anew in each step.
        for (handle, built) in self.physics.colliders.iter() {
            if built.shape().shape_type() == ShapeType::Custom
                && let Some(collider) = physics.colliders.get_mut(handle)
            {
                collider.set_shape(built.shared_shape().clone());
            }
        }
        // Rapier does not save that joints are new, which its first step uses.
        if steps == 0 {
            std::mem::swap(&mut physics.multibody_joints, &mut self.physics.multibody_joints);
        }
        self.physics = physics;
        self.sensors.iter_mut().zip(sensors).for_each(|(mounted, state)| state.put_into(mounted));
        self.joints.iter_mut().zip(drives).for_each(|(joined, drive)| joined.drive = drive);
        (self.steps, self.checked, self.coupling) = (steps, checked, coupling);
        (self.lag, self.warnings, self.sunk) = (lag, warnings, sunk);
        // What skins hold is known again after a step: their saved contacts do not tell it.
        if self.energy.is_some() {
            self.track_energy();
        }
        self.restored = true;
        Ok(())
    }
}
