//! A data set, resolved: every episode by its number alone.

use super::axis::{Axis, Measure};
use super::cache::Cache;
use super::episode::Episode;
use super::error::{DatasetError, Fault};
use super::scenario::{Draw, play};
use super::sensor::{Material, SensorTemplate};
use super::spec::{DatasetSpec, FormatSpec, ScenarioSpec};
use super::things::{self, Thing};
use dermis_geometry::Random;
use dermis_record::atomic_folder::sha256;
use dermis_sensor::{Aim, Goal, Sensor, SkinSpec};
use dermis_skin::Object;
use std::path::{Path, PathBuf};

/// Skins that are kept ready; a fine layer takes tens of megabytes.
const SKINS: usize = 8;
/// Objects that are kept ready.
const OBJECTS: usize = 64;
/// Episodes in a shard, unless the description says.
const SHARD: usize = 500;
/// Bytes of a shard, about, at most.
const SHARD_BYTES: usize = 32 << 20;
/// Shards there are at least, unless the description says.
const SHARDS: usize = 16;

/// A data set that can be made. What episode `k` holds depends on the description, its seed and `k`, and on nothing else.
#[derive(Debug)]
pub struct Dataset {
    /// The description.
    pub spec: DatasetSpec,
    /// Its text.
    pub text: String,
    /// What messages call it.
    pub file: String,
    /// Its sensors.
    pub devices: Vec<SensorTemplate>,
    /// Its objects.
    pub things: Vec<Thing>,
    /// Their labels.
    pub labels: Vec<String>,
    folder: Option<PathBuf>,
    fingerprint: String,
    skins: Cache<Material>,
    objects: Cache<Object>,
    taxels: usize,
    /// Rows and columns of the taxels, if they have some.
    grid: Option<(usize, usize)>,
    pixels: Option<(usize, usize)>,
}

/// What draws are for: each has a stream of its own, so that a new one does not move the others.
#[derive(Clone, Copy)]
enum Stream {
    Things = 1,
    Material,
    Episode,
    Pose,
    Device,
}

impl Dataset {
    /// Reads a description from its file.
    pub fn open(path: &Path) -> Result<Self, DatasetError> {
        let (spec, text) = DatasetSpec::read(path)?;
        Self::new(spec, text, &path.display().to_string(), path.parent())
    }

    /// Reads a description; `file` is what messages call it, `folder` where its files are looked for.
    pub fn parse(file: &str, text: &str, folder: Option<&Path>) -> Result<Self, DatasetError> {
        Self::new(DatasetSpec::parse(file, text)?, text.to_owned(), file, folder)
    }

    fn new(spec: DatasetSpec, text: String, file: &str, folder: Option<&Path>) -> Result<Self, DatasetError> {
        let rule = |key, rule: String| DatasetError::Rule { file: file.to_owned(), key, rule };
        for randomise in &spec.randomise {
            let told = |reason| DatasetError::Randomise { file: file.to_owned(), key: randomise.key.clone(), reason };
            randomise.check().map_err(told)?;
        }
        let devices: Vec<SensorTemplate> =
            spec.sensors.iter().map(|entry| SensorTemplate::resolve(entry, file, folder)).collect::<Result<_, _>>()?;
        let (things, labels) = things::list(&spec.objects, mixed(spec.seed, Stream::Things, 0), file, folder)?;
        if spec.pose.mu.is_some() && devices.iter().any(|device| !matches!(device.spec.skin, SkinSpec::Layer(_))) {
            let remedy = "is for skins of the kind layer only: randomise `skin.friction` of the others".to_owned();
            return Err(rule("pose.mu", remedy));
        }
        let fingerprint = fingerprint(&spec, &text, &devices, &things, file, folder)?;
        let mut set = Self {
            spec,
            text,
            file: file.to_owned(),
            devices,
            things,
            labels,
            folder: folder.map(Path::to_path_buf),
            fingerprint,
            skins: Cache::new(SKINS),
            objects: Cache::new(OBJECTS),
            taxels: 0,
            grid: None,
            pixels: None,
        };
        set.measure()?;
        Ok(set)
    }

    /// Finds the sizes of what sensors report, which must agree, and refuses draws that no sensor takes.
    fn measure(&mut self) -> Result<(), DatasetError> {
        for (index, device) in self.devices.iter().enumerate() {
            let refused = |fault: Fault| DatasetError::Rule {
                file: self.file.clone(),
                key: "sensor",
                rule: format!("{:?}: {fault}", device.spec.name),
            };
            let material = self.material(index, 0).map_err(refused)?;
            let (sensor, _) =
                device.dress(&material, &self.spec.randomise, &mut Random::new(self.spec.seed)).map_err(refused)?;
            let camera = sensor.optics().map(|optics| (optics.camera().height, optics.camera().width));
            let sizes = (sensor.taxels().len(), sensor.taxels().size(), camera);
            if index == 0 {
                (self.taxels, self.grid, self.pixels) = sizes;
            } else if sizes != (self.taxels, self.grid, self.pixels) {
                let (a, b) = (&self.devices[0].spec.name, &device.spec.name);
                let rule = format!("{a:?} and {b:?} differ in taxels or pixels: make a data set of each");
                return Err(DatasetError::Rule { file: self.file.clone(), key: "sensor", rule });
            }
        }
        Ok(())
    }

    /// A hash of all that the data depend on: the description, and the sensors and meshes that it names.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Taxels of a sensor.
    pub fn taxels(&self) -> usize {
        self.taxels
    }

    /// Rows and columns of a sensor's images, if it makes some.
    pub fn pixels(&self) -> Option<(usize, usize)> {
        self.pixels
    }

    /// What the sensors of a frame are called: nothing where there is one.
    pub fn parts(&self) -> &'static [&'static str] {
        match self.spec.scenario {
            ScenarioSpec::GraspAndLift { .. } => &["left", "right"],
            _ => &[""],
        }
    }

    /// How many episodes there are.
    pub fn count(&self) -> usize {
        self.spec.count.unwrap_or_else(|| self.grid_len())
    }

    /// Episodes in a shard.
    pub fn shard_len(&self) -> usize {
        // A shard is in memory until it is written. Images of gels take about half of their pixels' bytes; in HDF5 they are not compressed.
        let bytes_of_a_pixel = if self.spec.format == FormatSpec::Robomimic { 6 } else { 2 };
        let images = self.pixels.map_or(0, |(height, width)| bytes_of_a_pixel * height * width);
        let frame = (images + 17 * self.taxels + 200) * self.parts().len();
        let room = (SHARD_BYTES / (frame * self.frames()).max(1)).clamp(1, SHARD);
        self.spec.shard.unwrap_or_else(|| self.count().div_ceil(SHARDS).clamp(1, room))
    }

    /// How many shards there are.
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

    /// Names of what is drawn for devices, in the order of [`Episode::drawn`].
    pub fn drawn_names(&self) -> Vec<String> {
        let (skins, rest): (Vec<_>, Vec<_>) = self.spec.randomise.iter().partition(|randomise| randomise.is_material());
        skins.into_iter().chain(rest).map(|randomise| randomise.key.clone()).collect()
    }

    /// Makes an episode.
    pub fn episode(&self, index: usize) -> Result<Episode, DatasetError> {
        let mut place = index % self.grid_len();
        let mut next = |steps: usize| {
            let at = place % steps;
            place /= steps;
            at
        };
        let object = next(self.things.len());
        let sensor = next(self.devices.len());
        let told = |fault: Fault| DatasetError::Episode {
            file: self.file.clone(),
            episode: index,
            object: self.things[object].label.clone(),
            sensor: self.devices[sensor].spec.name.clone(),
            fault: Box::new(fault),
        };
        let seed = mixed(self.spec.seed, Stream::Episode, index);
        let mut random = Random::new(mixed(seed, Stream::Pose, 0));
        let (draw, mu) = self.draw(&mut next, &mut random, seed);
        let material = (random.uniform() * self.spec.materials as f64) as usize;
        let skin = self.material(sensor, material).map_err(told)?;
        let mut own = Random::new(mixed(seed, Stream::Device, 0));
        let device = &self.devices[sensor];
        let (dressed, drawn) = device.dress(&skin, &self.spec.randomise, &mut own).map_err(told)?;
        let thing = self.object(object).map_err(told)?;
        let rubbed;
        let touched: &Object = match mu {
            Some(mu) => {
                rubbed = Object::clone(&thing).with_mu(mu);
                &rubbed
            }
            None => &thing,
        };
        let (frames, grasp) = play(&self.spec.scenario, &dressed, touched, &draw).map_err(told)?;
        Ok(Episode {
            index,
            seed,
            object,
            label: self.things[object].label_index,
            sensor,
            material,
            drawn: skin.drawn.iter().copied().chain(drawn).collect(),
            mu,
            grasp,
            frames,
        })
    }

    /// A sensor of a material, for those who want to look at it.
    pub fn sensor(&self, sensor: usize, material: usize) -> Result<Sensor, Fault> {
        Ok(self.material(sensor, material)?.sensor.clone())
    }

    fn material(&self, sensor: usize, material: usize) -> Result<std::sync::Arc<Material>, Fault> {
        let key = sensor * self.spec.materials + material;
        let mut random = Random::new(mixed(self.spec.seed, Stream::Material, key));
        self.skins.get(key, || self.devices[sensor].build(&self.spec.randomise, &mut random))
    }

    fn object(&self, object: usize) -> Result<std::sync::Arc<Object>, Fault> {
        self.objects.get(object, || Ok(self.things[object].build(self.folder.as_deref())?))
    }

    /// Draws the numbers of an episode, in the same order for every one.
    fn draw(&self, next: &mut dyn FnMut(usize) -> usize, random: &mut Random, noise: u64) -> (Draw, Option<f64>) {
        fn number<T: Measure>(
            axis: Option<&Axis<T>>,
            next: &mut dyn FnMut(usize) -> usize,
            random: &mut Random,
        ) -> Option<f64> {
            axis.map(|axis| {
                let place = next(axis.steps());
                axis.at(place, random).number()
            })
        }
        let pose = &self.spec.pose;
        let mut length = |axis: &Option<Axis<_>>, random: &mut Random| number(axis.as_ref(), next, random);
        let at_m = [length(&pose.x, random), length(&pose.y, random)].map(Option::unwrap_or_default);
        let mut angle = |axis: &Option<Axis<_>>, random: &mut Random| number(axis.as_ref(), next, random);
        let yaw_rad = angle(&pose.yaw, random).unwrap_or_default();
        let tilt_rad = [angle(&pose.tilt_x, random), angle(&pose.tilt_y, random)].map(Option::unwrap_or_default);
        let depth = number(pose.depth.as_ref(), next, random);
        let force = number(pose.force.as_ref(), next, random);
        let mu = number(pose.mu.as_ref(), next, random);
        let mut own = Vec::new();
        match &self.spec.scenario {
            ScenarioSpec::Press { .. } => {}
            ScenarioSpec::Slide { distance, direction, .. } | ScenarioSpec::EdgeScan { distance, direction, .. } => {
                own.extend(number(Some(distance), next, random));
                own.extend(number(Some(direction), next, random));
            }
            ScenarioSpec::Twist { angle, .. } => own.extend(number(Some(angle), next, random)),
            ScenarioSpec::Roll { angle, direction, radius, .. } => {
                own.extend(number(Some(angle), next, random));
                own.extend(number(Some(direction), next, random));
                own.extend(number(Some(radius), next, random));
            }
            ScenarioSpec::GraspAndLift { mass, .. } => own.extend(number(Some(mass), next, random)),
        }
        let goal = force.map_or(Goal::Depth(depth.unwrap_or_default()), Goal::Force);
        (Draw { aim: Aim { at_m, tilt_rad, yaw_rad }, goal, own, noise }, mu)
    }

    /// Episodes that go once through every object, sensor and value of the grid.
    fn grid_len(&self) -> usize {
        fn steps<T: Measure>(axis: Option<&Axis<T>>) -> usize {
            axis.map_or(1, Axis::steps)
        }
        let pose = &self.spec.pose;
        let own = match &self.spec.scenario {
            ScenarioSpec::Press { .. } => 1,
            ScenarioSpec::Slide { distance, direction, .. } | ScenarioSpec::EdgeScan { distance, direction, .. } => {
                distance.steps().saturating_mul(direction.steps())
            }
            ScenarioSpec::Twist { angle, .. } => angle.steps(),
            ScenarioSpec::Roll { angle, direction, radius, .. } => {
                angle.steps().saturating_mul(direction.steps()).saturating_mul(radius.steps())
            }
            ScenarioSpec::GraspAndLift { mass, .. } => mass.steps(),
        };
        let all = [
            self.things.len(),
            self.devices.len(),
            steps(pose.x.as_ref()),
            steps(pose.y.as_ref()),
            steps(pose.yaw.as_ref()),
            steps(pose.tilt_x.as_ref()),
            steps(pose.tilt_y.as_ref()),
            steps(pose.depth.as_ref()),
            steps(pose.force.as_ref()),
            steps(pose.mu.as_ref()),
            own,
        ];
        all.into_iter().fold(1, usize::saturating_mul)
    }
}

/// The seed of one stream: SplitMix64's finaliser (Steele et al. 2014) over seed, purpose and number.
fn mixed(seed: u64, stream: Stream, number: usize) -> u64 {
    let mix = |x: u64| {
        let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    // Other programs keep seeds in signed numbers.
    mix(mix(mix(seed) ^ stream as u64) ^ number as u64) >> 1
}

/// Hashes everything that the data depend on. Files count by what is in them, so each mesh is made once here.
fn fingerprint(
    spec: &DatasetSpec,
    text: &str,
    devices: &[SensorTemplate],
    things: &[Thing],
    file: &str,
    folder: Option<&Path>,
) -> Result<String, DatasetError> {
    let mut all = format!("dermis {}\n{}\n{text}\n", env!("CARGO_PKG_VERSION"), spec.seed);
    for device in devices {
        all += &device.description().to_string();
    }
    for thing in things {
        all += &format!("{thing:?}\n");
        if let crate::object::ObjectSpec::Mesh { file: mesh, .. }
        | crate::object::ObjectSpec::Points { file: mesh, .. } = &thing.shape
        {
            let path = folder.map_or_else(|| mesh.clone(), |folder| folder.join(mesh));
            let bytes = std::fs::read(&path).map_err(|error| DatasetError::Unreadable {
                file: format!("{file}: {}", path.display()),
                reason: error.to_string(),
            })?;
            all += &sha256(&bytes);
        }
    }
    Ok(sha256(all.as_bytes()))
}
