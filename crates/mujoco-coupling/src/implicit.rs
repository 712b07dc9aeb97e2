//! Coupling with the contact forces at the end of the step.
//!
//! All sensors of an mjData are solved together ([`dermis_world::implicit`]). MuJoCo computes passive forces before
//! those of its own constraints, such as other contacts: these are taken from the last step ([`Lag`]). At rest they are
//! the same, so the static forces are exact.

use crate::dynamics::Dynamics;
use crate::{CouplingError, Data, Kinematics, Model, Mount};
use dermis_sensor::Sensor;
use dermis_skin::{State, Touch};
use dermis_world::implicit::{ImplicitStep, Pair, components};
use nalgebra::DVector;

/// A sensor in one evaluation.
pub struct CoupledSensor<'a> {
    /// The mount.
    pub mount: &'a Mount,
    /// The sensor.
    pub sensor: &'a Sensor,
    /// Poses and velocities.
    pub kinematics: &'a Kinematics,
    /// Contact with the objects at rest ([`dermis_skin::Motion::targets_at_rest`]).
    pub still: (Touch, State),
}

/// Generalized forces of the last step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lag {
    /// Forces of MuJoCo's own constraints.
    pub constraint: Vec<f64>,
    /// Contact forces of the skins.
    pub skin: Vec<f64>,
}

impl Lag {
    /// No forces.
    pub fn none(model: &Model<'_>) -> Self {
        Self { constraint: vec![0.0; model.dofs()], skin: vec![0.0; model.dofs()] }
    }
}

/// The touch and the next state of each sensor, and the contact forces (generalized).
pub type Solved = (Vec<(Touch, State)>, Vec<f64>);

/// Solves for the contact forces of all sensors and adds them to the passive forces.
pub fn solve(
    model: &Model<'_>,
    data: &mut Data<'_>,
    sensors: Vec<CoupledSensor<'_>>,
    lag: &Lag,
) -> Result<Solved, CouplingError> {
    let dofs = model.dofs();
    sensors.iter().for_each(|coupled| coupled.mount.wake(data, &coupled.still.0));
    let mut contacts = Vec::with_capacity(sensors.len());
    let (mut pairs, mut jacobian, mut velocity) = (Vec::new(), Vec::new(), Vec::new());
    for (index, coupled) in sensors.iter().enumerate() {
        let contact = coupled.sensor.skin().hold(&coupled.still).ok_or(CouplingError::NotSolved)?;
        for object in (0..coupled.mount.objects.len()).filter(|&object| contact.touches(object)) {
            pairs.push(Pair { sensor: index, object });
            velocity.extend(components(&coupled.kinematics.objects[object].1));
            let first = jacobian.len();
            jacobian.resize(first + 6 * dofs, 0.0);
            coupled.mount.add_jacobian(data, coupled.kinematics, object, &mut jacobian[first..]);
        }
        contacts.push(contact);
    }
    if pairs.is_empty() || dofs == 0 {
        return Ok((sensors.into_iter().map(|coupled| coupled.still).collect(), vec![0.0; dofs]));
    }
    let dynamics = Dynamics::new(model, data, &jacobian, lag).ok_or(CouplingError::NotSolved)?;
    let step = ImplicitStep {
        contacts: &contacts,
        pairs: &pairs,
        velocity: DVector::from_vec(velocity),
        acceleration: dynamics.acceleration,
        mobility: dynamics.mobility,
        step_s: model.step_s(),
    };
    let solution = step.solve().ok_or(CouplingError::NotSolved)?;
    let mut forces = vec![0.0; dofs];
    for (row, load) in jacobian.chunks_exact(dofs).zip(solution.loads.iter()) {
        forces.iter_mut().zip(row).for_each(|(force, j)| *force -= j * load);
    }
    data.add_passive(&forces);
    let finished = sensors
        .into_iter()
        .zip(contacts)
        .zip(&solution.points)
        .map(|((coupled, contact), loads)| coupled.sensor.skin().release(coupled.still, contact, loads));
    Ok((finished.collect(), forces))
}
