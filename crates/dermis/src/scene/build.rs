//! Builds a world from a scene.

use super::{BodySpec, CouplingSpec, Hand, SceneError, SceneSpec};
use dermis_geometry::Pose;
use dermis_geometry::limits::{MAX_BODIES, MAX_RECORDED_VALUES, MAX_SENSORS, MAX_STEPS};
use dermis_geometry::quantity::{Frequency, Length, Time};
use dermis_sensor::{Sensor, SensorSource};
use dermis_world::{Body, BodyId, PickAndPlace, SensorId, World, WorldError, WorldParameters};
use std::collections::HashMap;
use std::path::Path;

/// A scene that is ready to run.
///
/// ```
/// use dermis::scene::SceneSpec;
/// let text = r#"
/// world.duration = "20 ms"
/// sensor = [{ name = "pad", preset = "uji-foam-14x6" }]
/// [[body]]
/// name = "ball"
/// motion = "driven"
/// shape.sphere.radius = "10 mm"
/// at = ["0 mm", "0 mm", "9 mm"]
/// "#;
///
/// let mut built = SceneSpec::parse("press.toml", text)?.build("press.toml", None)?;
/// built.step()?;
/// let (pad, ball) = (built.sensor("pad").unwrap(), built.body("ball").unwrap());
/// assert!(built.world.reading(pad).sum_newton > 0.0);
/// assert!((built.world.pose(ball).translation.z - 9e-3).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Built {
    /// Name of the scene.
    pub name: String,
    /// Description of the scene.
    pub description: String,
    /// The bodies, sensors and joints.
    pub world: World,
    /// The bodies that the scene names.
    pub bodies: Vec<(String, BodyId)>,
    /// All sensors, those on a gripper last.
    pub sensors: Vec<(String, SensorId)>,
    /// The gripper.
    pub hand: Option<Hand>,
    /// The task of the gripper.
    pub task: Option<PickAndPlace>,
    /// Duration (s).
    pub duration_s: f64,
    /// Steps between two rows of the record.
    pub record_every: u64,
}

impl Built {
    /// A sensor by name.
    pub fn sensor(&self, name: &str) -> Option<SensorId> {
        self.sensors.iter().find(|(known, _)| known == name).map(|(_, id)| *id)
    }

    /// A body by name.
    pub fn body(&self, name: &str) -> Option<BodyId> {
        self.bodies.iter().find(|(known, _)| known == name).map(|(_, id)| *id)
    }
}

/// A name as used in file names: lower case, with `-` for characters other than letters, digits and `_`.
pub fn slug(name: &str) -> String {
    name.to_lowercase().chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect()
}

pub fn validate(scene: &SceneSpec, file: &str) -> Result<(), SceneError> {
    let bad = |owner: &str, key, rule, got: String| Err(SceneError::bad_value(file, owner, key, rule, got));
    let (duration, step) = (scene.world.duration.si(), scene.world.time_step.si());
    if step <= 0.0 {
        return bad("world", "time_step", "a positive time", format!("{step} s"));
    }
    if !(duration >= step && duration / step <= MAX_STEPS) {
        return bad("world", "duration", "at least one time step and at most 1e9", format!("{duration} s"));
    }
    let frictions = [("ground_friction", scene.world.ground_friction), ("solid_friction", scene.world.solid_friction)];
    for (key, friction) in frictions {
        if let Some(friction) = friction.filter(|friction| !(0.0..1e3).contains(friction)) {
            return bad("world", key, "zero or a positive number", friction.to_string());
        }
    }
    if let Some(frequency) = scene.world.solid_frequency.filter(|frequency| !(1.0..=1e6).contains(&frequency.si())) {
        return bad("world", "solid_frequency", "a frequency from 1 Hz to 1 MHz", format!("{} Hz", frequency.si()));
    }
    let lists = [("body", scene.bodies.len(), MAX_BODIES), ("sensor", scene.sensors.len(), MAX_SENSORS)];
    if let Some((key, count, max)) = lists.into_iter().find(|(_, count, max)| count > max) {
        let got = format!("{count} entries, and at most {max} are allowed; make several scenes");
        return bad("scene", key, "a shorter list", got);
    }
    scene.bodies.iter().try_for_each(|body| body.validate(file))?;
    unique(file, "bodies", scene.bodies.iter().map(|body| body.name.as_str()))?;
    let on_gripper = scene.gripper.iter().flat_map(|gripper| gripper.sensor_names().iter().copied());
    unique(file, "sensors", scene.sensors.iter().map(|sensor| sensor.name.as_str()).chain(on_gripper))?;
    for sensor in &scene.sensors {
        let owner = format!("sensor {:?}", sensor.name);
        sensor.at.pose(&sensor.rotate, file, &owner)?;
        find_body(&sensor.name, sensor.body.as_deref(), &scene.bodies, file)?;
    }
    if let Some(gripper) = &scene.gripper {
        gripper.validate(file)?;
    }
    match (&scene.task, &scene.gripper) {
        (Some(_), None) => Err(SceneError::rule(file, "task", "a `[task]` needs a `[gripper]`")),
        (Some(task), Some(_)) => task.validate(file),
        (None, _) if scene.sensors.is_empty() && scene.gripper.is_none() => {
            Err(SceneError::rule(file, "scene", "there is no `[[sensor]]` and no `[gripper]`: add at least one"))
        }
        (None, _) => Ok(()),
    }
}

/// Bodies that a message lists.
const MAX_LISTED: usize = 20;

/// Checks that names differ, also as file names.
fn unique<'a>(file: &str, what: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), SceneError> {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for name in names {
        if seen.insert(slug(name), name).is_some() {
            return Err(SceneError::Duplicate { file: file.to_owned(), what, name: name.to_owned() });
        }
    }
    Ok(())
}

fn find_body(sensor: &str, body: Option<&str>, bodies: &[BodySpec], file: &str) -> Result<Option<usize>, SceneError> {
    let Some(name) = body else { return Ok(None) };
    bodies.iter().position(|body| body.name == name).map(Some).ok_or_else(|| SceneError::NoBody {
        file: file.to_owned(),
        sensor: sensor.to_owned(),
        name: name.to_owned(),
        known: match bodies {
            [] => "none".to_owned(),
            _ => bodies.iter().take(MAX_LISTED).map(|body| format!("{:?}", body.name)).collect::<Vec<_>>().join(", "),
        },
    })
}

pub fn build(scene: &SceneSpec, file: &str, folder: Option<&Path>) -> Result<Built, SceneError> {
    validate(scene, file)?;
    let refused = |error: WorldError| SceneError::World { file: file.to_owned(), error: Box::new(error) };
    let step_s = scene.world.time_step.si();
    let default = WorldParameters::default();
    let mut world = World::new(WorldParameters {
        gravity: scene.world.gravity.vector(),
        step_s,
        ground_z_m: scene.world.ground.map(Length::si),
        ground_friction: scene.world.ground_friction.unwrap_or(default.ground_friction),
        solid_friction: scene.world.solid_friction.unwrap_or(default.solid_friction),
        solid_frequency_hz: scene.world.solid_frequency.map_or(default.solid_frequency_hz, Frequency::si),
        coupling: scene.world.coupling.map(CouplingSpec::coupling),
    })
    .map_err(refused)?;
    let mut bodies = Vec::new();
    for body in &scene.bodies {
        let id = world.add_body(body.build(file, folder)?).map_err(refused)?;
        bodies.push((body.name.clone(), id));
    }
    let mut sensors = Vec::new();
    for entry in &scene.sensors {
        let sensor = build_sensor(&entry.sensor, &entry.name, file, folder)?;
        let place = entry.at.pose(&entry.rotate, file, &format!("sensor {:?}", entry.name))?;
        let (carrier, carrier_from_sensor) = match find_body(&entry.name, entry.body.as_deref(), &scene.bodies, file)? {
            Some(index) => (bodies[index].1, place),
            None => {
                let mount = Body::fixed(format!("mount of {}", entry.name), place);
                (world.add_body(mount).map_err(refused)?, Pose::IDENTITY)
            }
        };
        sensors.push((entry.name.clone(), world.mount(sensor, carrier, carrier_from_sensor)));
    }
    let hand = scene.gripper.as_ref().map(|gripper| gripper.build(&mut world, file, folder)).transpose()?;
    sensors.extend(hand.iter().flat_map(Hand::sensors));
    world.check_step().map_err(refused)?;
    // The time step is checked first, because it is the more likely input error.
    let every_s = scene.record.every.map_or(step_s.max(0.01), Time::si);
    if every_s < step_s {
        let got = format!("{every_s} s, with steps of {step_s} s");
        return Err(SceneError::bad_value(file, "record", "every", "at least one time step", got));
    }
    let record_every = (every_s / step_s).round().max(1.0) as u64;
    let rows = scene.world.duration.si() / step_s / record_every as f64;
    let taxels: usize = sensors.iter().map(|(_, id)| world.sensor(*id).taxels().len()).sum();
    if rows * taxels as f64 > MAX_RECORDED_VALUES {
        let (rule, got) = ("long enough that at most 2e8 values are kept", format!("{every_s} s for {taxels} taxels"));
        return Err(SceneError::bad_value(file, "record", "every", rule, got));
    }
    Ok(Built {
        name: Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned(),
        description: scene.description.trim().to_owned(),
        world,
        bodies,
        sensors,
        hand,
        task: scene.task.as_ref().map(super::TaskSpec::build),
        duration_s: scene.world.duration.si(),
        record_every,
    })
}

/// Builds the sensor `name` of a scene. `file` is the name of the scene in error messages, `folder` the folder of its
/// files.
pub(super) fn build_sensor(
    source: &SensorSource,
    name: &str,
    file: &str,
    folder: Option<&Path>,
) -> Result<Sensor, SceneError> {
    let (spec, folder) = source.resolve(name, folder).map_err(SceneError::sensor(file))?;
    spec.build(folder.as_deref()).map_err(SceneError::sensor(file))
}
