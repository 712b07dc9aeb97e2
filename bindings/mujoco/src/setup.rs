//! A plugin instance of a model: the part that all mjData of the model share.

use crate::PluginError;
use crate::channel::{self, Channel};
use crate::config::{Config, frame};
use crate::memory;
use dermis::geometry::Pose;
use dermis::sensor::Sensor;
use dermis::skin::State;
use dermis_mujoco_coupling::layout::table;
use dermis_mujoco_coupling::{Coupling, Mode, Model, Mount, geoms_named};

/// A sensor on a model, with its configuration and its addresses in mjData.
#[derive(Debug)]
pub struct Setup {
    /// The sensor.
    pub sensor: Sensor,
    /// State of the untouched skin.
    pub rest: State,
    /// Use of the forces.
    pub mode: Mode,
    /// The instant of the forces.
    pub coupling: Coupling,
    /// Output channels, in order.
    pub channels: Vec<Channel>,
    /// Address and length in `sensordata`, for each `<sensor>` element.
    pub outputs: Vec<(usize, usize)>,
    /// Address and length in `plugin_state`.
    pub memory: (usize, usize),
    /// Address and length of the forces of the last step in `plugin_state`, after the bristles.
    pub lag: (usize, usize),
    /// Warnings of the model.
    pub notes: Vec<String>,
    /// The mount of the sensor on the model.
    pub mount: Mount,
    /// The taxel of each contact point of springs, or [`channel::OUTSIDE`]; empty for other skins.
    pub taxel_of_site: Vec<u32>,
}

/// Number of values in `plugin_state` for the bristles. The contacts of MuJoCo have no history.
pub fn memory_len(config: &Config, rest: &State) -> usize {
    if config.mode == Mode::Contacts { 0 } else { memory::len(rest) }
}

/// Number of values in `plugin_state` for the forces of the last step.
pub fn lag_len(model: &Model<'_>, config: &Config, sensor: &Sensor) -> usize {
    let implicit = config.mode == Mode::Couple && config.coupling.supported(sensor) == Coupling::Implicit;
    if implicit { 2 * model.dofs() } else { 0 }
}

/// The name of an instance in messages.
pub fn name(model: &Model<'_>, instance: i32) -> String {
    let named = model.sensors(instance).next().and_then(|sensor| model.name(table::OBJ_SENSOR, sensor));
    named.map_or_else(|| format!("instance {instance}"), |name| format!("{name:?}"))
}

impl Setup {
    /// Reads the configuration of an instance and looks up all names in the model. In mode `couple`, refuses geoms
    /// whose contact MuJoCo would also compute, and time steps that are too long for explicit coupling.
    pub fn new(model: &Model<'_>, instance: i32) -> Result<Self, PluginError> {
        let config = Config::read(model, instance)?;
        let sensor = config.sensor()?;
        let named = config.objects.iter().map(|name| geoms_named(model, name)).collect::<Result<Vec<_>, _>>()?;
        let objects = (!named.is_empty()).then(|| named.concat());
        let mount = Mount::new(model, &sensor, frame(model, instance)?, Pose::IDENTITY, objects)?;
        if config.mode == Mode::Couple {
            if let Some(&(own, object)) = mount.colliding_own_geoms(model, &sensor)?.first() {
                let (own, object) = (model.geom_name(own), model.geom_name(object));
                return Err(PluginError::TouchesTwice { own, object });
            }
            if config.coupling.supported(&sensor) == Coupling::Explicit {
                mount.check_step(model, &sensor)?;
            }
        }
        let rest = sensor.skin().rest();
        let memory = (model.state_address(instance), memory_len(&config, &rest));
        let without = mount.without_engine_contact(model).filter(|_| config.mode == Mode::Contacts);
        Ok(Self {
            notes: without.into_iter().map(str::to_owned).collect(),
            memory,
            lag: (memory.0 + memory.1, lag_len(model, &config, &sensor)),
            rest,
            mode: config.mode,
            coupling: config.coupling.supported(&sensor),
            outputs: model.sensors(instance).map(|sensor| model.sensor_output(sensor)).collect(),
            channels: config.channels,
            taxel_of_site: channel::taxel_of_site(&sensor),
            mount,
            sensor,
        })
    }
}
