//! What a Python world consists of.

use crate::error::{Error, IntoPyErr};
use crate::object::Definition;
use crate::sensor::is_quick;
use crate::shared_sensor::SharedSensor;
use dermis::geometry::{Pose, Twist};
use dermis::run::SkinWarnings;
use dermis::scene::{Built, Hand, SceneError, SceneSpec};
use dermis::world::{self, Body, BodyId, BodyKind, PickAndPlace, SensorId, WorldParameters};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// Default duration (s) of a run of a world without a scene file.
const DEFAULT_DURATION_S: f64 = 1.0;

/// A world with the names of its parts, and from what it was built.
pub struct WorldState {
    pub built: Built,
    /// Its sensors, in the order of those of `built`.
    pub shared: Vec<Arc<SharedSensor>>,
    /// Warnings of the skins, and the number of those of the world that were issued.
    warnings: (SkinWarnings, usize),
    /// From what it was built, for pickles.
    origin: Origin,
    additions: Vec<Addition>,
}

/// The beginning of a world.
#[derive(Serialize, Deserialize)]
enum Origin {
    Empty(WorldParameters),
    Scene { text: String, file: String, folder: Option<PathBuf> },
}

/// What was added to a world.
#[derive(Serialize, Deserialize)]
enum Addition {
    Body { name: String, kind: BodyKind, pose: Pose, twist: Twist, solid: bool, object: Option<Definition> },
    Sensor { name: String, toml: String, folder: Option<PathBuf>, body: String, pose: Pose },
}

/// A world in a pickle.
type Saved = (Origin, Vec<Addition>, world::WorldState, Option<Hand>, Option<PickAndPlace>, (SkinWarnings, usize));

impl WorldState {
    /// An empty world.
    pub fn empty(parameters: WorldParameters) -> Result<Self, world::WorldError> {
        let built = Built {
            name: "world".into(),
            description: String::new(),
            world: world::World::new(parameters)?,
            bodies: Vec::new(),
            sensors: Vec::new(),
            hand: None,
            task: None,
            duration_s: DEFAULT_DURATION_S,
            record_every: (0.01 / parameters.step_s).round().max(1.0) as u64,
        };
        Ok(Self::new(built, Vec::new(), Origin::Empty(parameters)))
    }

    /// Builds a scene.
    pub fn of_scene(text: String, file: String, folder: Option<PathBuf>) -> Result<Self, SceneError> {
        let scene = SceneSpec::parse(&file, &text)?;
        let built = scene.build(&file, folder.as_deref())?;
        let mut shared = Vec::new();
        for (name, id) in &built.sensors {
            let entry = scene.sensors.iter().find(|entry| entry.name == *name);
            let of_gripper = || scene.gripper.as_ref().map(|gripper| gripper.sensor.clone()).unwrap_or_default();
            let source = entry.map_or_else(of_gripper, |entry| entry.sensor.clone());
            let (spec, folder) = source.resolve(name, folder.as_deref()).map_err(SceneError::sensor(&file))?;
            shared.push(Arc::new(SharedSensor::of_sensor(spec, folder, built.world.sensor(*id).clone())));
        }
        let folder = folder.map(|folder| std::path::absolute(&folder).unwrap_or(folder));
        Ok(Self::new(built, shared, Origin::Scene { text, file, folder }))
    }

    fn new(mut built: Built, shared: Vec<Arc<SharedSensor>>, origin: Origin) -> Self {
        built.world.track_energy();
        Self { built, shared, warnings: Default::default(), origin, additions: Vec::new() }
    }

    /// Adds a body; `object` is the definition of its object.
    pub fn add_body(&mut self, body: Body, object: Option<Definition>) -> Result<(), world::WorldError> {
        let Body { name, kind, world_from_body: pose, velocity: twist, solid, .. } = body.clone();
        let id = self.built.world.add_body(body)?;
        self.built.bodies.push((name.clone(), id));
        self.additions.push(Addition::Body { name, kind, pose, twist, solid, object });
        Ok(())
    }

    /// Mounts an untouched sensor on a body, at a pose in the body frame.
    pub fn mount(&mut self, name: &str, shared: Arc<SharedSensor>, body: &str, pose: Pose) -> PyResult<()> {
        let carrier = self.body(body)?;
        if self.built.sensors.iter().any(|(known, _)| known == name) {
            return Err(Error::new_err(format!("there are two sensors called {name:?}; names must differ")));
        }
        let id = self.built.world.mount(shared.sensor()?.clone(), carrier, pose);
        let (toml, folder) = shared.saved();
        self.built.sensors.push((name.to_owned(), id));
        self.shared.push(shared);
        self.additions.push(Addition::Sensor { name: name.to_owned(), toml, folder, body: body.to_owned(), pose });
        Ok(())
    }

    fn add(&mut self, addition: Addition) -> PyResult<()> {
        match addition {
            Addition::Body { name, kind, pose, twist, solid, object } => {
                let mut body = Body { kind, velocity: twist, solid, ..Body::fixed(name, pose) };
                body.object = object.as_ref().map(|definition| definition.build().map(Arc::new)).transpose()?;
                self.add_body(body, object).into_py_err()
            }
            Addition::Sensor { name, toml, folder, body, pose } => {
                let shared = SharedSensor::restore(&toml, folder).into_py_err()?;
                self.mount(&name, Arc::new(shared), &body, pose)
            }
        }
    }

    /// The world for a pickle: from what it was built, and its state.
    pub fn save(&self) -> serde_json::Result<Vec<u8>> {
        let Built { world, hand, task, .. } = &self.built;
        serde_json::to_vec(&(&self.origin, &self.additions, world.state(), hand, task, &self.warnings))
    }

    /// The inverse of [`WorldState::save`].
    pub fn restore(saved: &[u8]) -> PyResult<Self> {
        let bad =
            |error: serde_json::Error| Error::new_err(format!("the pickle is of another version of dermis: {error}"));
        let (origin, additions, state, hand, task, warnings): Saved = serde_json::from_slice(saved).map_err(bad)?;
        let mut world = match origin {
            Origin::Empty(parameters) => Self::empty(parameters).into_py_err()?,
            Origin::Scene { text, file, folder } => Self::of_scene(text, file, folder).into_py_err()?,
        };
        additions.into_iter().try_for_each(|addition| world.add(addition))?;
        world.built.world.set_state(state).into_py_err()?;
        (world.built.hand, world.built.task, world.warnings) = (hand, task, warnings);
        Ok(world)
    }

    /// The warnings that were not issued before, including those of the last step, each kind once per sensor.
    pub fn new_warnings(&mut self) -> Vec<String> {
        let (skins, count) = &mut self.warnings;
        skins.add(&self.built);
        let world = self.built.world.warnings();
        let new = world.iter().skip(*count).map(ToString::to_string);
        *count = world.len();
        skins.take_new().into_iter().chain(new).collect()
    }

    /// True if a step takes much less than a tenth of a second.
    pub fn is_quick(&self) -> bool {
        self.shared.iter().all(|shared| shared.sensor().is_ok_and(is_quick))
    }

    /// A body by name.
    pub fn body(&self, name: &str) -> PyResult<BodyId> {
        let world = &self.built.world;
        let known = |id: &BodyId| world.body(*id).name == name;
        world.bodies().find(known).ok_or_else(|| {
            let names: Vec<String> = world.bodies().map(|id| format!("{:?}", world.body(id).name)).collect();
            Error::new_err(format!("there is no body {name:?}; the bodies are {}", list(&names)))
        })
    }

    /// A sensor by name.
    pub fn sensor(&self, name: &str) -> PyResult<(SensorId, Arc<SharedSensor>)> {
        let index = self.built.sensors.iter().position(|(known, _)| known == name).ok_or_else(|| {
            let names: Vec<String> = self.built.sensors.iter().map(|(name, _)| format!("{name:?}")).collect();
            Error::new_err(format!("there is no sensor {name:?}; the sensors are {}", list(&names)))
        })?;
        Ok((self.built.sensors[index].1, self.shared[index].clone()))
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
