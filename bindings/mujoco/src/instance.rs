//! A sensor in one mjData: its history and its current contact.

use crate::channel::{self, Channel, Source};
use crate::setup::Setup;
use crate::{PluginError, memory};
use dermis::sensor::ResponseState;
use dermis::skin::{Motion, State, Touch};
use dermis_mujoco_coupling::{Data, Kinematics, Mode, Model, StepLimit};
use std::sync::Arc;

/// A sensor in one mjData.
///
/// Evaluations do not change the history: each starts from the state of the last step, and the next state is kept until
/// MuJoCo advances time. mj_forward may be called any number of times, and all Runge–Kutta stages start from the same
/// state.
#[derive(Clone)]
pub struct Instance {
    setup: Arc<Setup>,
    state: State,
    /// [`memory::stamp`] of `state`.
    stamp: f64,
    response: ResponseState,
    /// The last evaluation: kinematics, contact, and the state after the step.
    current: Option<(Kinematics, Touch, State)>,
    /// The response's state after the step.
    next_response: Option<ResponseState>,
    limit: StepLimit,
}

impl Instance {
    /// Makes an untouched sensor.
    pub fn new(setup: Arc<Setup>) -> Self {
        Self {
            state: setup.rest.clone(),
            stamp: 0.0,
            response: setup.sensor.chain().rest(),
            current: None,
            next_response: None,
            limit: StepLimit::default(),
            setup,
        }
    }

    /// The part that all mjData of the model share.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Resets the history.
    pub fn reset(&mut self) {
        *self = Self::new(Arc::clone(&self.setup));
    }

    /// Reads the state from mjData if other code has changed it.
    fn recall(&mut self, data: &mut Data<'_>) {
        let (first, len) = self.setup.memory;
        let Some((&stamp, _)) = data.state(first, len).split_first() else { return };
        if stamp != self.stamp {
            self.state = memory::read(&self.setup.rest, data.state(first, len));
            self.stamp = stamp;
            self.current = None;
        }
    }

    /// Evaluates the skin unless the kinematics equal those of the last evaluation.
    fn evaluate(&mut self, model: &Model<'_>, data: &mut Data<'_>, time_s: f64) -> Result<(), PluginError> {
        self.recall(data);
        let kinematics = self.setup.mount.kinematics(model, data)?;
        if self.current.as_ref().is_some_and(|(known, ..)| *known == kinematics) {
            return Ok(());
        }
        self.current = None;
        let targets = self.setup.mount.targets(&kinematics);
        let motion = Motion { targets: &targets };
        let (touch, next) = self
            .setup
            .sensor
            .touch(&self.state, &motion, kinematics.step_s)
            .map_err(|error| PluginError::Skin { time_s, error })?;
        self.current = Some((kinematics, touch, next));
        Ok(())
    }

    /// Applies the contact loads (N, N m) to the bodies.
    pub fn push(&mut self, model: &Model<'_>, data: &mut Data<'_>, time_s: f64) -> Result<(), PluginError> {
        if self.setup.mode != Mode::Couple {
            return Ok(());
        }
        self.evaluate(model, data, time_s)?;
        let Some((kinematics, touch, _)) = &self.current else { return Ok(()) };
        if touch.facets.is_empty() {
            return Ok(());
        }
        self.limit.check(&self.setup.mount, model, data, kinematics, touch)?;
        self.setup.mount.apply(data, kinematics, touch);
        Ok(())
    }

    /// Fills `sensordata`.
    pub fn report(&mut self, model: &Model<'_>, data: &mut Data<'_>, time_s: f64) -> Result<(), PluginError> {
        self.evaluate(model, data, time_s)?;
        let Some((kinematics, touch, _)) = &self.current else { return Ok(()) };
        let sensor = &self.setup.sensor;
        let mut reading = None;
        if self.setup.channels.iter().any(|channel: &Channel| channel.needs_response()) {
            let sensed = sensor.sense(&self.response, touch, kinematics.step_s);
            let (read, next) = sensed.map_err(|error| PluginError::Response { time_s, error })?;
            self.next_response = Some(next);
            reading = Some(read);
        } else if !channel::is_plain(sensor, touch) {
            reading = Some(sensor.read(touch));
        }
        let source = Source { touch, taxels: sensor.taxels(), reading: reading.as_ref() };
        for &output in &self.setup.outputs {
            channel::write(&self.setup.channels, &source, data.sensor(output));
        }
        Ok(())
    }

    /// Makes the state after the step the current one.
    pub fn advance(&mut self, data: &mut Data<'_>) {
        if let Some(next) = self.next_response.take() {
            self.response = next;
        }
        let Some((_, _, next)) = self.current.take() else { return };
        let (first, len) = self.setup.memory;
        self.stamp = memory::stamp(&next);
        memory::write(&self.state, &next, self.stamp, data.state(first, len));
        self.state = next;
    }
}
