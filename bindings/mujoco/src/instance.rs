//! A sensor in one mjData: its history, and what it feels now.

use crate::PluginError;
use crate::channel::{self, Channel, Felt};
use crate::config::Mode;
use crate::data::Data;
use crate::limit::Limit;
use crate::memory;
use crate::model::Model;
use crate::mount::{Moment, Mount};
use dermis::sensor::ResponseState;
use dermis::skin::{Motion, State, Touch};
use std::sync::Arc;

/// What belongs to one mjData.
///
/// Nothing changes while MuJoCo evaluates: a step reads the state it started from and holds the next one back until time
/// advances. mj_forward may be called any number of times, and Runge–Kutta stages all start from the same state.
#[derive(Clone)]
pub struct Instance {
    mount: Arc<Mount>,
    state: State,
    /// [`memory::stamp`] of `state`.
    stamp: f64,
    response: ResponseState,
    /// What is felt at a moment, and the state after it.
    now: Option<(Moment, Touch, State)>,
    /// The response's state after the step.
    next_response: Option<ResponseState>,
    limit: Limit,
}

impl Instance {
    /// Untouched.
    pub fn new(mount: Arc<Mount>) -> Self {
        Self {
            state: mount.rest.clone(),
            stamp: 0.0,
            response: mount.sensor.chain().rest(),
            now: None,
            next_response: None,
            limit: Limit::default(),
            mount,
        }
    }

    /// What holds for all mjData of the model.
    pub fn mount(&self) -> &Mount {
        &self.mount
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = Self::new(Arc::clone(&self.mount));
    }

    /// Takes over a state that was put into mjData from outside.
    fn recall(&mut self, data: &mut Data<'_>) {
        let (first, len) = self.mount.memory;
        let Some((&stamp, _)) = data.state(first, len).split_first() else { return };
        if stamp != self.stamp {
            self.state = memory::read(&self.mount.rest, data.state(first, len));
            self.stamp = stamp;
            self.now = None;
        }
    }

    /// Evaluates the skin, unless that is done for this moment.
    fn feel(&mut self, model: &Model<'_>, data: &mut Data<'_>, time_s: f64) -> Result<(), PluginError> {
        self.recall(data);
        let moment = self.mount.moment(model, data);
        if self.now.as_ref().is_some_and(|(known, ..)| *known == moment) {
            return Ok(());
        }
        self.now = None;
        let targets = self.mount.targets(&moment);
        let motion = Motion { targets: &targets };
        let (touch, next) = self
            .mount
            .sensor
            .touch(&self.state, &motion, moment.step_s)
            .map_err(|error| PluginError::Skin { time_s, error })?;
        self.now = Some((moment, touch, next));
        Ok(())
    }

    /// Gives the forces to both bodies.
    pub fn push(&mut self, model: &Model<'_>, data: &mut Data<'_>, time_s: f64) -> Result<(), PluginError> {
        if self.mount.mode != Mode::Couple {
            return Ok(());
        }
        self.feel(model, data, time_s)?;
        let Some((moment, touch, _)) = &self.now else { return Ok(()) };
        if touch.facets.is_empty() {
            return Ok(());
        }
        self.limit.check(&self.mount, model, data, moment, touch)?;
        let origin = moment.world_from_sensor.translation;
        if self.mount.mass.is_some() {
            data.push(self.mount.body, &touch.on_sensor.rotated(&moment.world_from_sensor), origin);
        }
        for (touchable, load) in self.mount.touchables.iter().zip(&touch.on_objects) {
            if touchable.mass.is_some() && *load != Default::default() {
                data.push(touchable.body, &load.rotated(&moment.world_from_sensor), origin);
            }
        }
        Ok(())
    }

    /// Fills `sensordata`.
    pub fn report(&mut self, model: &Model<'_>, data: &mut Data<'_>, time_s: f64) -> Result<(), PluginError> {
        self.feel(model, data, time_s)?;
        let Some((moment, touch, _)) = &self.now else { return Ok(()) };
        let sensor = &self.mount.sensor;
        let mut reading = None;
        if self.mount.channels.iter().any(|channel: &Channel| channel.needs_response()) {
            let sensed = sensor.sense(&self.response, touch, moment.step_s);
            let (read, next) = sensed.map_err(|error| PluginError::Response { time_s, error })?;
            self.next_response = Some(next);
            reading = Some(read);
        } else if !channel::is_plain(sensor, touch) {
            reading = Some(sensor.read(touch));
        }
        let felt = Felt { touch, taxels: sensor.taxels(), reading: reading.as_ref() };
        for &output in &self.mount.outputs {
            channel::write(&self.mount.channels, &felt, data.sensor(output));
        }
        Ok(())
    }

    /// Time goes on: what was held back holds now.
    pub fn advance(&mut self, data: &mut Data<'_>) {
        if let Some(next) = self.next_response.take() {
            self.response = next;
        }
        let Some((_, _, next)) = self.now.take() else { return };
        let (first, len) = self.mount.memory;
        self.stamp = memory::stamp(&next);
        memory::write(&self.state, &next, self.stamp, data.state(first, len));
        self.state = next;
    }
}
