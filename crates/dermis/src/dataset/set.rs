//! A resolved data set: makes any episode from its index alone.

use super::axis::GridAxis;
use super::cache::Cache;
use super::episode::Episode;
use super::error::{DatasetError, EpisodeError};
use super::objects::{self, DatasetObject};
use super::randomise::RandomiseSpec;
use super::scenario::{Draw, Played, play};
use super::sensor::{DatasetSensor, Material};
use super::spec::{DatasetSpec, FormatSpec, ScenarioSpec};
use super::warnings;
use dermis_geometry::limits::MAX_MESH_BYTES;
use dermis_geometry::regular_file;
use dermis_geometry::{Random, mixed};
use dermis_record::atomic_folder::sha256;
use dermis_sensor::{Aim, Goal, Sensor, SkinSpec};
use dermis_skin::Object;
use std::path::{Path, PathBuf};

/// Number of sensors kept in memory; a fine layer takes tens of megabytes.
const CACHED_MATERIALS: usize = 8;
/// Number of objects kept in memory.
const CACHED_OBJECTS: usize = 64;
/// Default maximum number of episodes per shard.
const MAX_SHARD_EPISODES: usize = 500;
/// Default approximate maximum size of a shard (bytes).
const MAX_SHARD_BYTES: usize = 32 << 20;
/// Default minimum number of shards.
const MIN_SHARDS: usize = 16;

/// A data set that is ready to be made. Episode `k` depends only on the description, its seed and `k`.
///
/// ```
/// use dermis::dataset::Dataset;
/// let text = r#"
/// name = "taps"
/// format = "parquet"
/// count = 3
/// sensor = [{ preset = "wts0614" }]
/// object = [{ shape.sphere.radius = "8 mm" }]
/// pose.depth = { uniform = ["0.2 mm", "0.6 mm"] }
/// scenario.kind = "press"
/// "#;
///
/// let set = Dataset::parse("taps.toml", text, None)?;
/// assert_eq!((set.count(), set.taxels(), set.frames()), (3, 84, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Dataset {
    /// The description.
    pub spec: DatasetSpec,
    /// The text of the description.
    pub text: String,
    /// The name of the description in error messages.
    pub file: String,
    /// Its sensors.
    pub sensors: Vec<DatasetSensor>,
    /// Its objects.
    pub objects: Vec<DatasetObject>,
    /// Their labels.
    pub labels: Vec<String>,
    folder: Option<PathBuf>,
    fingerprint: String,
    material_cache: Cache<Material>,
    object_cache: Cache<Object>,
    taxels: usize,
    /// Number of magnetometers.
    chips: usize,
    /// Rows and columns of the taxels, if they form a grid.
    grid: Option<(usize, usize)>,
    pixels: Option<(usize, usize)>,
}

/// What an episode draws.
pub(crate) struct Planned {
    object: usize,
    sensor: usize,
    seed: u64,
    /// Its press.
    pub draw: Draw,
    mu: Option<f64>,
    material: usize,
}

/// The purposes of random draws. Each has its own stream, so that adding a purpose leaves the other draws unchanged.
#[derive(Clone, Copy)]
enum Stream {
    Objects = 1,
    Material,
    Episode,
    Pose,
    Response,
}

impl Dataset {
    /// Reads a description from its file.
    pub fn open(path: &Path) -> Result<Self, DatasetError> {
        let (spec, text) = DatasetSpec::read(path)?;
        Self::new(spec, text, &path.display().to_string(), path.parent())
    }

    /// Reads a description. `file` is its name in error messages; its relative paths start at `folder`.
    pub fn parse(file: &str, text: &str, folder: Option<&Path>) -> Result<Self, DatasetError> {
        Self::new(DatasetSpec::parse(file, text)?, text.to_owned(), file, folder)
    }

    fn new(spec: DatasetSpec, text: String, file: &str, folder: Option<&Path>) -> Result<Self, DatasetError> {
        let rule = |key, rule: String| DatasetError::Rule { file: file.to_owned(), key, rule };
        for randomise in &spec.randomise {
            let rejected =
                |reason| DatasetError::Randomise { file: file.to_owned(), key: randomise.key.clone(), reason };
            randomise.check().map_err(rejected)?;
        }
        let sensors: Vec<DatasetSensor> =
            spec.sensors.iter().map(|entry| DatasetSensor::resolve(entry, file, folder)).collect::<Result<_, _>>()?;
        let (objects, labels) = objects::list(&spec.objects, stream_seed(spec.seed, Stream::Objects, 0), file, folder)?;
        if spec.pose.mu.is_some() && sensors.iter().any(|sensor| !matches!(sensor.spec.skin, SkinSpec::Layer(_))) {
            let remedy = "is for skins of the kind layer only: randomise `skin.friction` of the others".to_owned();
            return Err(rule("pose.mu", remedy));
        }
        let fingerprint = fingerprint(&spec, &text, &sensors, &objects, file, folder)?;
        let mut set = Self {
            spec,
            text,
            file: file.to_owned(),
            sensors,
            objects,
            labels,
            folder: folder.map(Path::to_path_buf),
            fingerprint,
            material_cache: Cache::new(CACHED_MATERIALS),
            object_cache: Cache::new(CACHED_OBJECTS),
            taxels: 0,
            chips: 0,
            grid: None,
            pixels: None,
        };
        set.measure()?;
        Ok(set)
    }

    /// Determines the sizes of the sensors' readings, which must agree, and refuses draws that no sensor accepts.
    fn measure(&mut self) -> Result<(), DatasetError> {
        for (index, source) in self.sensors.iter().enumerate() {
            let refused = |error: EpisodeError| DatasetError::Rule {
                file: self.file.clone(),
                key: "sensor",
                rule: format!("{:?}: {error}", source.spec.name),
            };
            let material = self.material(index, 0).map_err(refused)?;
            let (sensor, _) = source
                .with_draws(&material, &self.spec.randomise, &mut Random::new(self.spec.seed))
                .map_err(refused)?;
            let camera = sensor.optics().map(|optics| (optics.camera().height, optics.camera().width));
            let chips = sensor.magnetics().map_or(0, |magnetics| magnetics.chips().len());
            let sizes = (sensor.taxels().len(), sensor.taxels().size(), camera, chips);
            if index == 0 {
                (self.taxels, self.grid, self.pixels, self.chips) = sizes;
            } else if sizes != (self.taxels, self.grid, self.pixels, self.chips) {
                let (a, b) = (&self.sensors[0].spec.name, &source.spec.name);
                let rule = format!("{a:?} and {b:?} differ in taxels, pixels or chips: make a data set of each");
                return Err(DatasetError::Rule { file: self.file.clone(), key: "sensor", rule });
            }
        }
        Ok(())
    }

    /// A hash of all inputs of the data: the description, and the sensors and meshes that it refers to.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Number of taxels of a sensor.
    pub fn taxels(&self) -> usize {
        self.taxels
    }

    /// Number of magnetometers of a sensor.
    pub fn chips(&self) -> usize {
        self.chips
    }

    /// Height and width (pixels) of a sensor's images, if it has a camera.
    pub fn pixels(&self) -> Option<(usize, usize)> {
        self.pixels
    }

    /// Names of the sensors in a frame; empty for a single sensor.
    pub fn parts(&self) -> &'static [&'static str] {
        match self.spec.scenario {
            ScenarioSpec::GraspAndLift { .. } => &["left", "right"],
            _ => &[""],
        }
    }

    /// The number of episodes.
    pub fn count(&self) -> usize {
        self.spec.count.unwrap_or_else(|| self.grid_len())
    }

    /// Episodes in a shard.
    pub fn shard_len(&self) -> usize {
        // A shard stays in memory until it is written. Compressed gel images take about 2 bytes per pixel; HDF5 stores
        // them uncompressed.
        let bytes_of_a_pixel = if self.spec.format == FormatSpec::Robomimic { 6 } else { 2 };
        let images = self.pixels.map_or(0, |(height, width)| bytes_of_a_pixel * height * width);
        let frame = (images + 17 * self.taxels + 200) * self.parts().len();
        let room = (MAX_SHARD_BYTES / (frame * self.frames()).max(1)).clamp(1, MAX_SHARD_EPISODES);
        self.spec.shard.unwrap_or_else(|| self.count().div_ceil(MIN_SHARDS).clamp(1, room))
    }

    /// The number of shards.
    pub fn shards(&self) -> usize {
        self.count().div_ceil(self.shard_len())
    }

    /// The episodes of a shard.
    pub fn episodes_of(&self, shard: usize) -> std::ops::Range<usize> {
        let start = shard * self.shard_len();
        start..(start + self.shard_len()).min(self.count())
    }

    /// Frames of an episode.
    pub fn frames(&self) -> usize {
        self.spec.scenario.frames()
    }

    /// The randomised keys, in the order of [`Episode::drawn`].
    pub fn randomised(&self) -> Vec<&RandomiseSpec> {
        let (skins, rest): (Vec<_>, Vec<_>) = self.spec.randomise.iter().partition(|randomise| randomise.is_material());
        skins.into_iter().chain(rest).collect()
    }

    /// Object, sensor and drawn numbers of an episode.
    pub(crate) fn planned(&self, index: usize) -> Planned {
        let mut place = index % self.grid_len();
        let mut next = |steps: usize| {
            let at = place % steps;
            place /= steps;
            at
        };
        let object = next(self.objects.len());
        let sensor = next(self.sensors.len());
        let seed = stream_seed(self.spec.seed, Stream::Episode, index);
        let mut random = Random::new(stream_seed(seed, Stream::Pose, 0));
        let (draw, mu) = self.draw(&mut next, &mut random, seed);
        let material = (random.uniform() * self.spec.materials as f64) as usize;
        Planned { object, sensor, seed, draw, mu, material }
    }

    /// The object of an episode, with its friction.
    pub(crate) fn object_of(&self, planned: &Planned) -> Result<std::sync::Arc<Object>, EpisodeError> {
        let shared = self.object(planned.object)?;
        Ok(planned.mu.map_or_else(|| shared.clone(), |mu| Object::clone(&shared).with_mu(mu).into()))
    }

    /// Makes an episode.
    pub fn episode(&self, index: usize) -> Result<Episode, DatasetError> {
        let planned = self.planned(index);
        let Planned { object, sensor, seed, mu, material, .. } = planned;
        let in_episode = |error: EpisodeError| DatasetError::Episode {
            file: self.file.clone(),
            episode: index,
            object: self.objects[object].label.clone(),
            sensor: self.sensors[sensor].spec.name.clone(),
            error: Box::new(error),
        };
        let built = self.material(sensor, material).map_err(in_episode)?;
        let mut own = Random::new(stream_seed(seed, Stream::Response, 0));
        let (randomised, drawn) =
            self.sensors[sensor].with_draws(&built, &self.spec.randomise, &mut own).map_err(in_episode)?;
        let touched = self.object_of(&planned).map_err(in_episode)?;
        let Played { frames, grasp, warnings } =
            play(&self.spec.scenario, &randomised, &touched, &planned.draw).map_err(in_episode)?;
        Ok(Episode {
            index,
            seed,
            object,
            label: self.objects[object].label_index,
            sensor,
            material,
            drawn: built.drawn.iter().copied().chain(drawn).collect(),
            mu,
            grasp,
            warnings: warnings::of_episode(warnings, &frames),
            frames,
        })
    }

    /// The sensor of a material, for inspection.
    pub fn sensor(&self, sensor: usize, material: usize) -> Result<Sensor, EpisodeError> {
        Ok(self.material(sensor, material)?.sensor.clone())
    }

    fn material(&self, sensor: usize, material: usize) -> Result<std::sync::Arc<Material>, EpisodeError> {
        let key = sensor * self.spec.materials + material;
        let mut random = Random::new(stream_seed(self.spec.seed, Stream::Material, key));
        self.material_cache.get(key, || self.sensors[sensor].build(&self.spec.randomise, &mut random))
    }

    fn object(&self, object: usize) -> Result<std::sync::Arc<Object>, EpisodeError> {
        self.object_cache.get(object, || Ok(self.objects[object].build(self.folder.as_deref())?))
    }

    /// Draws the numbers of an episode, always in the same order.
    fn draw(&self, next: &mut dyn FnMut(usize) -> usize, random: &mut Random, noise: u64) -> (Draw, Option<f64>) {
        let mut number = |axis: &dyn GridAxis| {
            let place = next(axis.steps());
            axis.number(place, random)
        };
        let [x, y, yaw, tilt_x, tilt_y, depth, force, mu] = self.spec.pose.axes().map(|axis| axis.map(&mut number));
        let own = self.spec.scenario.axes().into_iter().map(number).collect();
        let aim = Aim {
            at_m: [x, y].map(Option::unwrap_or_default),
            tilt_rad: [tilt_x, tilt_y].map(Option::unwrap_or_default),
            yaw_rad: yaw.unwrap_or_default(),
        };
        let goal = force.map_or(Goal::Depth(depth.unwrap_or_default()), Goal::Force);
        (Draw { aim, goal, own, noise }, mu)
    }

    /// The number of episodes that visit every object, sensor and grid value once.
    fn grid_len(&self) -> usize {
        let axes = self.spec.pose.axes().into_iter().flatten().chain(self.spec.scenario.axes());
        let steps = axes.map(GridAxis::steps);
        [self.objects.len(), self.sensors.len()].into_iter().chain(steps).fold(1, usize::saturating_mul)
    }
}

/// The seed of one stream, from seed, purpose and number.
fn stream_seed(seed: u64, stream: Stream, number: usize) -> u64 {
    // Non-negative as a signed 64-bit integer, which other programs use for seeds.
    mixed(mixed(mixed(seed) ^ stream as u64) ^ number as u64) >> 1
}

/// Hashes all inputs of the data. Mesh files are hashed by their content.
fn fingerprint(
    spec: &DatasetSpec,
    text: &str,
    sensors: &[DatasetSensor],
    objects: &[DatasetObject],
    file: &str,
    folder: Option<&Path>,
) -> Result<String, DatasetError> {
    let mut all = format!("dermis {}\n{}\n{text}\n", env!("CARGO_PKG_VERSION"), spec.seed);
    for sensor in sensors {
        all += &sensor.description().to_string();
    }
    for object in objects {
        all += &format!("{object:?}\n");
        if let crate::object::ObjectSpec::Mesh { file: mesh, .. }
        | crate::object::ObjectSpec::Points { file: mesh, .. } = &object.shape
        {
            let path = folder.map_or_else(|| mesh.clone(), |folder| folder.join(mesh));
            let bytes = regular_file::read(&path, MAX_MESH_BYTES).map_err(|error| DatasetError::Unreadable {
                file: format!("{file}: {}", path.display()),
                reason: error.to_string(),
            })?;
            all += &sha256(&bytes);
        }
    }
    Ok(sha256(all.as_bytes()))
}
