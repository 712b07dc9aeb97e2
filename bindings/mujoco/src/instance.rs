//! A sensor in one mjData: its history and its current contact.

use crate::channel::{self, Channel, Source};
use crate::setup::Setup;
use crate::{PluginError, memory};
use dermis::geometry::Wrench;
use dermis::sensor::ResponseState;
use dermis::skin::{MissedObjects, Motion, State, Touch, WarningLog};
use dermis_mujoco_coupling::{
    CHATTERS, Chatter, CoupledSensor, Coupling, Data, HeldContacts, Kinematics, Lag, Mode, Model, StepLimit, solve,
};
use std::sync::Arc;

/// What a step changes.
#[derive(Clone)]
struct Pending {
    /// Time (s) at its start.
    time_s: f64,
    /// State after it.
    next: State,
    /// [`memory::stamp`] of that state.
    stamp: f64,
    /// Contact forces of all sensors (generalized).
    forces: Vec<f64>,
}

/// Steps between two comparisons with MuJoCo's contact.
const STEPS_BETWEEN_COMPARISONS: u64 = 16;

/// A warning that is issued once.
#[derive(Clone, Debug, Default, PartialEq)]
enum Told {
    #[default]
    No,
    /// Issued at the end of the step.
    Pending(String),
    Yes,
}

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
    /// The last evaluation: kinematics and contact.
    current: Option<(Kinematics, Touch)>,
    /// The contact at the last step, which the camera sees until the next evaluation.
    seen: Option<Touch>,
    /// The first evaluation of the step.
    pending: Option<Pending>,
    /// The response's state after the step.
    next_response: Option<ResponseState>,
    limit: StepLimit,
    /// MuJoCo's contacts at the last evaluation, in mode `contacts`.
    held: HeldContacts,
    /// False from a step that could not be made until the next evaluation.
    valid: bool,
    /// True after the first warning.
    warned: bool,
    /// Warnings of the skin.
    log: WarningLog,
    missed: MissedObjects,
    /// The disagreement with MuJoCo's contact, in mode `sense`.
    disagreement: Told,
    /// Other warnings, to be issued at the end of the step.
    notes: Vec<String>,
    chatter: Chatter,
    /// Contact that chatters, in mode `couple`.
    chattering: Told,
    /// Number of steps since the start.
    steps: u64,
}

impl Instance {
    /// Makes an untouched sensor.
    pub fn new(setup: Arc<Setup>) -> Self {
        Self {
            state: setup.rest.clone(),
            stamp: 0.0,
            response: setup.sensor.chain().rest(),
            current: None,
            seen: None,
            pending: None,
            next_response: None,
            limit: StepLimit::default(),
            held: HeldContacts::default(),
            valid: true,
            warned: false,
            log: WarningLog::default(),
            missed: MissedObjects::default(),
            disagreement: Told::default(),
            notes: setup.notes.clone(),
            chatter: Chatter::default(),
            chattering: Told::default(),
            steps: 0,
            setup,
        }
    }

    /// The part that all mjData of the model share.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Resets the history. Warnings that were issued are not issued again.
    pub fn reset(&mut self) {
        let (log, disagreement) = (std::mem::take(&mut self.log), std::mem::take(&mut self.disagreement));
        let (chattering, notes) = (std::mem::take(&mut self.chattering), std::mem::take(&mut self.notes));
        let setup = Arc::clone(&self.setup);
        *self = Self { log, disagreement, chattering, notes, warned: self.warned, ..Self::new(setup) };
    }

    /// True if the forces act on the bodies and are taken at the end of the step.
    pub fn is_implicit(&self) -> bool {
        self.setup.mode == Mode::Couple && self.setup.coupling == Coupling::Implicit
    }

    /// Reads the state from mjData if other code has changed it.
    fn recall(&mut self, data: &mut Data<'_>) {
        let (first, len) = self.setup.memory;
        let Some((&stamp, _)) = data.state(first, len).split_first() else { return };
        if stamp != self.stamp {
            self.state = memory::read(&self.setup.rest, data.state(first, len));
            self.stamp = stamp;
            (self.current, self.pending) = (None, None);
        }
    }

    /// Keeps the evaluation. The first of a step determines the next state; later Runge–Kutta stages do not.
    fn keep(&mut self, time_s: f64, kinematics: Kinematics, (mut touch, next): (Touch, State), forces: Vec<f64>) {
        let step_s = kinematics.step_s;
        let later_stage = |known_s: f64| time_s > known_s && time_s < known_s + 1.5 * step_s;
        if let Some(known) = self.pending.as_mut().filter(|known| later_stage(known.time_s)) {
            // The forces of constraints after a step are those of its last stage.
            known.forces = forces;
        } else {
            let stamp = memory::stamp(self.stamp, &next, &kinematics, &touch);
            self.pending = Some(Pending { time_s, next, stamp, forces });
            let touches = touch.on_objects.iter().any(|load| *load != Wrench::ZERO);
            if self.setup.mode == Mode::Couple && self.chatter.add(touches) && self.chattering == Told::No {
                self.chattering = Told::Pending(CHATTERS.to_owned());
            }
            let targets = self.setup.mount.targets(&kinematics);
            let (skin, motion) = (self.setup.sensor.skin(), Motion { targets: &targets });
            self.missed.add_warnings(&mut touch, skin, &motion, self.steps);
            self.log.add(&touch, time_s);
        }
        self.current = Some((kinematics, touch));
        self.valid = true;
    }

    /// The poses and velocities of an evaluation of the skin.
    fn kinematics(&mut self, model: &Model<'_>, data: &Data<'_>) -> Result<Kinematics, PluginError> {
        self.notes.extend(self.setup.mount.ignored_edits(model));
        Ok(self.setup.mount.kinematics(model, data)?)
    }

    /// Evaluates the skin unless the kinematics equal those of the last evaluation.
    fn evaluate(&mut self, model: &Model<'_>, data: &mut Data<'_>, time_s: f64) -> Result<(), PluginError> {
        self.recall(data);
        let kinematics = self.kinematics(model, data)?;
        if self.current.as_ref().is_some_and(|(known, ..)| *known == kinematics) {
            return Ok(());
        }
        self.current = None;
        let targets = self.setup.mount.targets(&kinematics);
        let motion = Motion { targets: &targets };
        let evaluated = self
            .setup
            .sensor
            .touch(&self.state, &motion, kinematics.step_s)
            .map_err(|error| PluginError::Skin { time_s, error })?;
        self.keep(time_s, kinematics, evaluated, Vec::new());
        Ok(())
    }

    /// Evaluates the contact forces that MuJoCo has computed.
    fn evaluate_contacts(&mut self, model: &Model<'_>, data: &Data<'_>, time_s: f64) -> Result<(), PluginError> {
        let kinematics = self.setup.mount.kinematics(model, data)?;
        let carried = self.setup.mount.carry(model, data, &self.setup.sensor, &mut self.held);
        let touch = carried.map_err(|error| PluginError::Skin { time_s, error })?;
        self.log.add(&touch, time_s);
        (self.current, self.valid) = (Some((kinematics, touch)), true);
        Ok(())
    }

    /// Evaluates the skin with the objects at rest.
    fn evaluate_still(
        &mut self,
        model: &Model<'_>,
        data: &mut Data<'_>,
        time_s: f64,
    ) -> Result<(Kinematics, (Touch, State)), PluginError> {
        self.recall(data);
        self.current = None;
        let kinematics = self.kinematics(model, data)?;
        let targets = self.setup.mount.targets(&kinematics);
        let targets = Motion { targets: &targets }.targets_at_rest();
        let still = self.setup.sensor.touch(&self.state, &Motion { targets: &targets }, kinematics.step_s);
        Ok((kinematics, still.map_err(|error| PluginError::Skin { time_s, error })?))
    }

    /// Applies the contact loads (N, N m) at the start of the step to the bodies.
    pub fn push(&mut self, model: &Model<'_>, data: &mut Data<'_>, time_s: f64) -> Result<(), PluginError> {
        if self.setup.mode != Mode::Couple {
            return Ok(());
        }
        self.evaluate(model, data, time_s)?;
        let Some((kinematics, touch)) = &self.current else { return Ok(()) };
        if touch.facets.is_empty() {
            return Ok(());
        }
        self.limit.check(&self.setup.mount, model, data, kinematics, touch)?;
        self.setup.mount.apply(data, kinematics, touch);
        Ok(())
    }

    /// Applies the contact loads at the end of the step of all implicit sensors of an mjData. The first of them keeps
    /// the forces of the last step. A sensor that cannot be evaluated applies no load; returns the errors with the
    /// index of their sensor.
    pub fn push_all(
        all: &mut [&mut Self],
        model: &Model<'_>,
        data: &mut Data<'_>,
        time_s: f64,
    ) -> Vec<(usize, PluginError)> {
        let mut errors = Vec::new();
        let Some(lag) = all.first().map(|leader| leader.lag(model, data)) else { return errors };
        let (mut members, mut kinematics, mut touches) = (Vec::new(), Vec::new(), Vec::new());
        for (index, instance) in all.iter_mut().enumerate() {
            match instance.evaluate_still(model, data, time_s) {
                Ok((poses, still)) => {
                    members.push(index);
                    kinematics.push(poses);
                    touches.push(still);
                }
                Err(error) => errors.push((index, error)),
            }
        }
        let coupled = members.iter().zip(&kinematics).zip(touches).map(|((&index, kinematics), still)| {
            let Setup { mount, sensor, .. } = &*all[index].setup;
            CoupledSensor { mount, sensor, kinematics, still }
        });
        match solve(model, data, coupled.collect(), &lag) {
            Ok((evaluated, mut forces)) => {
                for ((&index, kinematics), evaluated) in members.iter().zip(kinematics).zip(evaluated) {
                    let forces = if index == 0 { std::mem::take(&mut forces) } else { Vec::new() };
                    all[index].keep(time_s, kinematics, evaluated, forces);
                }
            }
            Err(error) => {
                let message = error.to_string();
                let step = |&index: &usize| (index, PluginError::Step { time_s, message: message.clone() });
                errors.extend(members.iter().map(step));
            }
        }
        errors
    }

    /// The forces of the last step.
    fn lag(&self, model: &Model<'_>, data: &mut Data<'_>) -> Lag {
        let (first, len) = self.setup.lag;
        if len == 0 {
            return Lag::none(model);
        }
        let (constraint, skin) = data.state(first, len).split_at(len / 2);
        Lag { constraint: constraint.to_vec(), skin: skin.to_vec() }
    }

    /// Makes the reading invalid: zero until the next evaluation. True the first time.
    pub fn invalidate(&mut self, data: &mut Data<'_>) -> bool {
        (self.current, self.seen, self.pending, self.valid) = (None, None, None, false);
        for &output in &self.setup.outputs {
            data.sensor(output).fill(0.0);
        }
        !std::mem::replace(&mut self.warned, true)
    }

    /// Fills `sensordata`.
    pub fn report(&mut self, model: &Model<'_>, data: &mut Data<'_>, time_s: f64) -> Result<(), PluginError> {
        if !self.valid && self.setup.mode == Mode::Couple {
            return Ok(());
        }
        // `sensordata` keeps its values.
        if self.steps > 0 && self.setup.mount.sleeps(data) {
            return Ok(());
        }
        match self.setup.mode {
            Mode::Contacts => self.evaluate_contacts(model, data, time_s)?,
            Mode::Sense | Mode::Couple => self.evaluate(model, data, time_s)?,
        }
        let Some((kinematics, touch)) = &self.current else { return Ok(()) };
        let sensor = &self.setup.sensor;
        if self.setup.mode == Mode::Sense
            && self.disagreement == Told::default()
            && self.steps.is_multiple_of(STEPS_BETWEEN_COMPARISONS)
            && let Some(found) = self.setup.mount.disagreement(model, data, kinematics, sensor, touch)
        {
            self.disagreement = Told::Pending(found.to_string());
        }
        let mut reading = None;
        if self.setup.channels.iter().any(|channel: &Channel| channel.needs_response()) {
            let sensed = sensor.sense_at(&self.response, touch, kinematics.step_s, &kinematics.world_from_sensor);
            let (read, next) = sensed.map_err(|error| PluginError::Response { time_s, error })?;
            self.next_response = Some(next);
            if !read.warnings.is_empty() {
                let (on_sensor, warnings) = (touch.on_sensor, read.warnings.clone());
                self.log.add(&Touch { on_sensor, warnings, ..Touch::default() }, time_s);
            }
            reading = Some(read);
        } else if !channel::is_plain(sensor, touch) {
            reading = Some(sensor.read(touch));
        }
        let chips = sensor.magnetics().map_or(0, |magnetics| magnetics.chips().len());
        let groups = &self.setup.taxel_of_site;
        let source = Source { touch, taxels: sensor.taxels(), groups, chips, reading: reading.as_ref() };
        for &output in &self.setup.outputs {
            channel::write(&self.setup.channels, &source, data.sensor(output));
        }
        Ok(())
    }

    /// The camera image at the last evaluation: height, width, and red, green and blue of each pixel. Before the first
    /// evaluation it is that of the untouched sensor.
    pub fn image(&self) -> Result<([usize; 2], Vec<u8>), PluginError> {
        if !self.valid {
            return Err(PluginError::Invalid);
        }
        let Setup { sensor, rest, .. } = &*self.setup;
        let seen = self.current.as_ref().map(|(_, touch)| touch).or(self.seen.as_ref());
        let untouched = match seen {
            Some(_) => Touch::default(),
            None => {
                let untouched = sensor.touch(rest, &Motion { targets: &[] }, 1.0);
                untouched.map_err(|error| PluginError::Skin { time_s: 0.0, error })?.0
            }
        };
        let frame = sensor.render(seen.unwrap_or(&untouched), self.steps)?;
        let image = frame.image.to_rgb8();
        let size = [image.height(), image.width()];
        Ok((size, image.into_pixels().into_flattened()))
    }

    /// Warnings that were not issued before.
    pub fn new_warnings(&mut self) -> Vec<String> {
        let mut texts: Vec<String> = self.log.take_new().iter().map(ToString::to_string).collect();
        for told in [&mut self.disagreement, &mut self.chattering] {
            if let Told::Pending(text) = told {
                texts.push(std::mem::take(text));
                *told = Told::Yes;
            }
        }
        texts.append(&mut self.notes);
        texts
    }

    /// Makes the state after the step the current one.
    pub fn advance(&mut self, data: &mut Data<'_>) {
        self.steps += 1;
        if let Some(next) = self.next_response.take() {
            self.response = next;
        }
        if let Some((_, touch)) = self.current.take() {
            self.seen = Some(touch);
        }
        let Some(Pending { next, stamp, forces, .. }) = self.pending.take() else { return };
        let (first, len) = self.setup.memory;
        self.stamp = stamp;
        memory::write(&self.state, &next, self.stamp, data.state(first, len));
        self.state = next;
        let (first, len) = self.setup.lag;
        if len > 0 && forces.len() == len / 2 {
            let constraint = data.constraint_forces();
            let (to_constraint, to_skin) = data.state(first, len).split_at_mut(len / 2);
            to_constraint.copy_from_slice(&constraint);
            to_skin.copy_from_slice(&forces);
        }
    }
}
