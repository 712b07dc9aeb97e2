//! Contact forces at the end of the step ([`crate::implicit`]) for the sensors of a world.
//!
//! Rapier computes the forces of its own contacts after those of the skins; they are taken from the last step, as the
//! difference between the acceleration of each body and the one that the known forces give. At rest they are the same,
//! so the static forces are exact.

use super::mobility::Mobility;
use super::{BodyId, World};
use crate::implicit::{ImplicitStep, Pair, components};
use crate::{Coupling, WorldError};
use dermis_geometry::{Pose, Twist, Vec3, Wrench};
use dermis_skin::{State, Touch};
use nalgebra::{DMatrix, DVector, Matrix6, Vector6};

/// A sensor whose objects are at rest.
struct Still {
    sensor: usize,
    world_from_sensor: Pose,
    /// Body and velocity relative to the sensor of each object.
    objects: Vec<(BodyId, Twist)>,
    contact: (Touch, State),
}

/// A pair of a sensor and an object, with the maps from the motion of both bodies to the relative motion.
struct Ends {
    pair: Pair,
    bodies: [(BodyId, Matrix6<f64>); 2],
}

/// Expected motion of a step.
pub(super) struct Expected {
    velocities: Vec<Vector6<f64>>,
    accelerations: Vec<Vector6<f64>>,
}

impl World {
    /// True if the forces of a sensor are taken at the end of the step.
    pub(super) fn is_implicit(&self, sensor: usize) -> bool {
        self.coupling == Coupling::Implicit && self.sensors[sensor].coupling == Coupling::Implicit
    }

    /// Computes the contact loads of the implicit sensors together and applies them. Returns the expected motion, if
    /// there are such sensors.
    pub(super) fn feel_at_the_end(&mut self) -> Result<Option<Expected>, WorldError> {
        let sensors: Vec<usize> = (0..self.sensors.len()).filter(|&index| self.is_implicit(index)).collect();
        if sensors.is_empty() {
            return Ok(None);
        }
        let stills = sensors.into_iter().map(|index| self.still(index)).collect::<Result<Vec<_>, _>>()?;
        let hold = |still: &Still| self.sensors[still.sensor].sensor.skin().hold(&still.contact);
        let contacts: Vec<_> = stills.iter().filter_map(hold).collect();
        let diverged = |world: &Self| {
            let body = stills.first().map_or(BodyId(0), |still| world.sensors[still.sensor].body);
            WorldError::Diverged { body: world.body(body).name.clone(), time_s: world.time_s() }
        };
        let mobility = Mobility::new(self).ok_or_else(|| diverged(self))?;
        let mut ends = Vec::new();
        let mut velocity = Vec::new();
        for (index, (still, contact)) in stills.iter().zip(&contacts).enumerate() {
            let carrier = self.sensors[still.sensor].body;
            let carried = self.sensor_from_center(carrier, &still.world_from_sensor);
            for (object, (body, relative)) in still.objects.iter().enumerate() {
                if contact.touches(object) {
                    let moved = self.sensor_from_center(*body, &still.world_from_sensor);
                    ends.push(Ends {
                        pair: Pair { sensor: index, object },
                        bodies: [(*body, moved), (carrier, -carried)],
                    });
                    velocity.extend(components(relative));
                }
            }
        }
        let pairs: Vec<Pair> = ends.iter().map(|ends| ends.pair).collect();
        let step = ImplicitStep {
            contacts: &contacts,
            pairs: &pairs,
            velocity: DVector::from_vec(velocity),
            acceleration: self.relative_accelerations(&mobility, &ends),
            mobility: relative_mobility(&mobility, &ends),
            step_s: self.parameters.step_s,
        };
        // The skins of contact points compute their energy.
        let unknown = |(still, _): &(&Still, _)| still.contact.0.facets.points().is_none();
        let held = stills.iter().zip(&contacts).filter(unknown).map(|(still, contact)| (still.sensor, contact.clone()));
        if self.energy.is_some() {
            self.note_held(held.collect());
        }
        let solution = step.solve().ok_or_else(|| diverged(self))?;
        for (ends, load) in ends.iter().zip(solution.loads.as_slice().chunks_exact(6)) {
            let load = Wrench { force: Vec3::from_slice(&load[..3]), torque: Vec3::from_slice(&load[3..]) };
            let world_from_sensor = stills[ends.pair.sensor].world_from_sensor;
            self.apply(ends.bodies[0].0, &-load, &world_from_sensor);
            self.apply(ends.bodies[1].0, &load, &world_from_sensor);
        }
        for ((still, contact), loads) in stills.into_iter().zip(contacts).zip(&solution.points) {
            let skin = self.sensors[still.sensor].sensor.skin();
            let (touch, state) = skin.release(still.contact, contact, loads);
            self.sense(still.sensor, touch, state)?;
        }
        let accelerations = mobility.accelerations(&self.loads());
        Ok(Some(Expected { velocities: self.velocities(), accelerations }))
    }

    /// Keeps the acceleration of each body that the known forces do not explain.
    pub(super) fn keep_lag(&mut self, expected: Option<Expected>) {
        let Some(Expected { velocities, accelerations }) = expected else { return };
        let change = self.velocities().into_iter().zip(velocities).map(|(after, before)| after - before);
        let step_s = self.parameters.step_s;
        self.lag = change.zip(accelerations).map(|(change, known)| change / step_s - known).collect();
    }

    /// The contact of a sensor with its objects at rest.
    fn still(&self, index: usize) -> Result<Still, WorldError> {
        let (world_from_sensor, mut targets) = self.targets(index, |id| self.present_velocity(id));
        let bodies = self.touchable(self.sensors[index].body).into_iter().map(|(id, _)| id);
        let objects = bodies.zip(targets.iter().map(|target| target.velocity)).collect();
        targets.iter_mut().for_each(|target| target.velocity = Twist::ZERO);
        Ok(Still { sensor: index, world_from_sensor, objects, contact: self.contact(index, &targets)? })
    }

    fn relative_accelerations(&self, mobility: &Mobility, ends: &[Ends]) -> DVector<f64> {
        let mut known = mobility.accelerations(&self.loads());
        known.iter_mut().zip(&self.lag).for_each(|(known, lag)| *known += lag);
        let relative = |ends: &Ends| ends.bodies.iter().map(|(body, map)| map * known[body.0]).sum::<Vector6<f64>>();
        DVector::from_iterator(6 * ends.len(), ends.iter().flat_map(|ends| relative(ends).data.0[0]))
    }
}

/// Change of the relative acceleration of each pair per load of each pair.
fn relative_mobility(mobility: &Mobility, ends: &[Ends]) -> DMatrix<f64> {
    let mut matrix = DMatrix::zeros(6 * ends.len(), 6 * ends.len());
    for (row, a) in ends.iter().enumerate() {
        for (column, b) in ends.iter().enumerate() {
            let mut block = matrix.fixed_view_mut::<6, 6>(6 * row, 6 * column);
            for (body, map) in &a.bodies {
                for (loaded, other) in &b.bodies {
                    if let Some(between) = mobility.between(*body, *loaded) {
                        block += map * between * other.transpose();
                    }
                }
            }
        }
    }
    matrix
}
