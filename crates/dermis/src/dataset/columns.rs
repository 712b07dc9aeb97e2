//! Episodes as the columns of a table.
//!
//! LeRobot's training code takes every `observation.*` column as a policy input: it normalises all of them, wants images
//! of one shape, and an image or `observation.environment_state`. Its sets therefore store contacts as numbers and masks
//! with three channels, and sets without a camera get the columns of [`policy_features`].

use super::episode::{Episode, Frame, SensorFrame};
use super::set::Dataset;
use super::spec::FormatSpec;
use dermis_record::lerobot::{Feature, Statistics, own_features};
use dermis_record::table::{Table, TableError, Values};
use dermis_sensor::image::Image;

/// The storage of images in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Images {
    /// As embedded bytes.
    Inside,
    /// As file names.
    Beside,
}

/// The columns of a data set, without the index columns of LeRobot.
pub fn features(set: &Dataset) -> Vec<Feature> {
    let lerobot = set.spec.format == FormatSpec::Lerobot;
    let mut all = Vec::new();
    for part in set.parts() {
        let name = |what: &str| column(part, what);
        all.extend([
            Feature::new(name("state"), "float32", &[7]).named(&["x", "y", "z", "qx", "qy", "qz", "qw"]),
            Feature::new(name("tactile"), "float32", &[set.taxels()]),
            Feature::new(name("force"), "float32", &[set.taxels(), 3]),
            Feature::new(name("contact"), if lerobot { "float32" } else { "bool" }, &[set.taxels()]),
            Feature::new(name("wrench"), "float32", &[6]).named(&["fx", "fy", "fz", "tx", "ty", "tz"]),
            Feature::new(name("depth"), "float32", &[1]),
        ]);
        if set.chips() > 0 {
            all.push(Feature::new(name("magnetic"), "float32", &[set.chips(), 3]));
        }
        if let Some((height, width)) = set.pixels() {
            let [image, contact] = image_names(part);
            let sides = ["height", "width", "channels"];
            all.push(Feature::new(image, "image", &[height, width, 3]).named(&sides));
            all.push(Feature::new(contact, "image", &[height, width, if lerobot { 3 } else { 1 }]).named(&sides));
        }
    }
    if lerobot {
        all.extend(policy_features(set));
    }
    let action: &[&str] =
        if set.parts().len() > 1 { &["rise", "close", "", "", "", ""] } else { &["x", "y", "z", "rx", "ry", "rz"] };
    all.push(Feature::new("action", "float32", &[6]).named(action));
    let whole = ["label", "object", "sensor", "material", "seed"];
    all.extend(whole.map(|name| Feature::new(name, "int64", &[1])));
    let drawn = set.randomised().into_iter().map(|randomise| {
        Feature::new(drawn_column(&randomise.key), if randomise.is_integer() { "int64" } else { "float64" }, &[1])
    });
    all.extend(drawn);
    if set.spec.pose.mu.is_some() {
        all.push(Feature::new("mu", "float64", &[1]));
    }
    if set.parts().len() > 1 {
        all.push(Feature::new("stable", "bool", &[1]));
        all.push(Feature::new("slip", "float64", &[1]));
    }
    all
}

/// The inputs that LeRobot's policies look for by name and that no column of a single sensor provides: the states of both
/// fingers in `observation.state`, and without a camera the taxels of all sensors in `observation.environment_state`.
fn policy_features(set: &Dataset) -> Vec<Feature> {
    let parts = set.parts().len();
    let state = (parts > 1).then(|| Feature::new("observation.state", "float32", &[7 * parts]));
    let taxels = Feature::new("observation.environment_state", "float32", &[set.taxels() * parts]);
    state.into_iter().chain(set.pixels().is_none().then_some(taxels)).collect()
}

/// All columns; LeRobot's index columns come last.
pub fn all_features(set: &Dataset) -> Vec<Feature> {
    features(set).into_iter().chain(own_features()).collect()
}

fn column(part: &str, what: &str) -> String {
    if part.is_empty() { format!("observation.{what}") } else { format!("observation.{part}.{what}") }
}

/// The column of a randomised key.
fn drawn_column(key: &str) -> String {
    format!("drawn.{key}")
}

/// Column names of the image and of the contact mask of a sensor.
pub fn image_names(part: &str) -> [String; 2] {
    let end = if part.is_empty() { String::new() } else { format!("_{part}") };
    [format!("observation.images.tactile{end}"), format!("observation.images.contact{end}")]
}

/// The file of an image, in the folder of its shard.
pub fn image_file(episode: usize, frame: usize, name: &str) -> String {
    let short = name.trim_start_matches("observation.images.");
    format!("{episode:08}-{frame:04}-{short}.png")
}

/// Extracts a value from a frame.
type Of<'a, T> = &'a dyn Fn(&Episode, &Frame) -> T;

/// Builds the table of a shard; moves images out of the episodes.
pub struct Columns<'a> {
    set: &'a Dataset,
    episodes: &'a mut [Episode],
}

impl<'a> Columns<'a> {
    /// The rows of some episodes.
    pub fn new(set: &'a Dataset, episodes: &'a mut [Episode]) -> Self {
        Self { set, episodes }
    }

    fn each<T>(&self, of: Of<'_, T>) -> Vec<T> {
        self.episodes.iter().flat_map(|episode| episode.frames.iter().map(|frame| of(episode, frame))).collect()
    }

    fn flat<T: Copy>(&self, of: &dyn Fn(&Frame) -> Vec<T>) -> Vec<T> {
        self.episodes.iter().flat_map(|episode| &episode.frames).flat_map(of).collect()
    }

    /// The table, and the sums for its statistics by column.
    pub fn table(mut self, images: Images, folder: &str) -> Result<(Table, Vec<(String, Statistics)>), TableError> {
        let mut sums: Vec<(String, Statistics)> = Vec::new();
        let mut table = Table::new();
        for feature in all_features(self.set) {
            let each: usize = feature.shape.iter().product();
            if feature.kind == "image" {
                sums.push((feature.name.clone(), self.levels(&feature.name, feature.shape[2])));
                table = self.images(table, &feature.name, images, folder)?;
                continue;
            }
            let values = self.values(&feature.name);
            sums.push((feature.name.clone(), statistics(&values, each)));
            table = match each {
                1 => table.column(feature.name, values)?,
                _ => table.list(feature.name, &feature.shape, values)?,
            };
        }
        Ok((table, sums))
    }

    /// The values of a numeric column.
    fn values(&self, name: &str) -> Values {
        for (at, part) in self.set.parts().iter().enumerate() {
            let of = |what: &str| column(part, what) == name;
            let floats =
                |take: &dyn Fn(&SensorFrame) -> Vec<f32>| Values::F32(self.flat(&|frame| take(&frame.sensors[at])));
            if of("state") {
                return floats(&|sensor| sensor.pose.to_vec());
            } else if of("tactile") {
                return floats(&|sensor| sensor.reported_newton.clone());
            } else if of("force") {
                return floats(&|sensor| sensor.forces_newton.clone());
            } else if of("magnetic") {
                return floats(&|sensor| sensor.magnetic_ut.clone());
            } else if of("wrench") {
                return floats(&|sensor| sensor.wrench.to_vec());
            } else if of("depth") {
                return floats(&|sensor| vec![sensor.depth_m]);
            } else if of("contact") {
                return match self.set.spec.format {
                    FormatSpec::Lerobot => floats(&|sensor| sensor.contact.iter().map(|&on| f32::from(on)).collect()),
                    _ => Values::Bool(self.flat(&|frame| frame.sensors[at].contact.clone())),
                };
            }
        }
        let of_all = |take: &dyn Fn(&SensorFrame) -> Vec<f32>| {
            Values::F32(self.flat(&|frame| frame.sensors.iter().flat_map(take).collect()))
        };
        let frames = self.set.frames();
        let whole = |of: Of<'_, usize>| Values::I64(self.each(&|episode, frame| of(episode, frame) as i64));
        for (place, randomise) in self.set.randomised().into_iter().enumerate() {
            if drawn_column(&randomise.key) == name {
                return match randomise.is_integer() {
                    true => Values::I64(self.each(&|episode, _| episode.drawn[place] as i64)),
                    false => Values::F64(self.each(&|episode, _| episode.drawn[place])),
                };
            }
        }
        let number = |of: Of<'_, f64>| Values::F64(self.each(of));
        let index = |of: &dyn Fn(usize, usize) -> usize| {
            let all = self.episodes.iter().flat_map(|episode| (0..frames).map(move |frame| (episode.index, frame)));
            Values::I64(all.map(|(episode, frame)| of(episode, frame) as i64).collect())
        };
        match name {
            "observation.state" => of_all(&|sensor| sensor.pose.to_vec()),
            "observation.environment_state" => of_all(&|sensor| sensor.reported_newton.clone()),
            "action" => Values::F32(self.flat(&|frame| frame.action.to_vec())),
            "label" | "task_index" => whole(&|episode, _| episode.label),
            "object" => whole(&|episode, _| episode.object),
            "sensor" => whole(&|episode, _| episode.sensor),
            "material" => whole(&|episode, _| episode.material),
            "seed" => Values::I64(self.each(&|episode, _| episode.seed as i64)),
            "mu" => number(&|episode, _| episode.mu.unwrap_or_default()),
            "stable" => Values::Bool(self.each(&|episode, _| episode.grasp.is_some_and(|grasp| grasp.stable))),
            "slip" => number(&|episode, _| episode.grasp.map_or(0.0, |grasp| grasp.slip_m)),
            "timestamp" => Values::F32(self.each(&|_, frame| frame.time_s as f32)),
            "frame_index" => index(&|_, frame| frame),
            "episode_index" => index(&|episode, _| episode),
            _ => index(&|episode, frame| episode * frames + frame),
        }
    }

    /// The index of the sensor of an image column, and whether it is the contact mask.
    fn part_of(&self, name: &str) -> (usize, bool) {
        let found = self.set.parts().iter().enumerate().find_map(|(at, part)| {
            let which = image_names(part).iter().position(|own| own == name)?;
            Some((at, which == 1))
        });
        found.unwrap_or((0, false))
    }

    fn images(&mut self, table: Table, name: &str, images: Images, folder: &str) -> Result<Table, TableError> {
        let (part, is_contact) = self.part_of(name);
        let (mut bytes, mut paths) = (Vec::new(), Vec::new());
        for episode in self.episodes.iter_mut() {
            for (number, frame) in episode.frames.iter_mut().enumerate() {
                paths.push(format!("{folder}{}", image_file(episode.index, number, name)));
                if let (Images::Inside, Some(seen)) = (images, &mut frame.sensors[part].camera) {
                    let png = if is_contact { &mut seen.contact_png } else { &mut seen.image_png };
                    bytes.push(if is_contact { three_channels(png) } else { std::mem::take(png) });
                }
            }
        }
        match images {
            Images::Inside => table.images(name, bytes, paths),
            Images::Beside => table.column(name, Values::Text(paths)),
        }
    }

    /// Sums over the pixels of an image column.
    fn levels(&self, name: &str, channels: usize) -> Statistics {
        let (part, is_contact) = self.part_of(name);
        let mut all = Statistics::default();
        for frame in self.episodes.iter().flat_map(|episode| &episode.frames) {
            let Some(seen) = &frame.sensors[part].camera else { continue };
            let counts = if is_contact { &seen.contact } else { &seen.levels };
            all.add(&counts.statistics(channels));
        }
        all
    }
}

/// A one-channel PNG as one with three equal channels.
fn three_channels(png: &[u8]) -> Vec<u8> {
    Image::decode_png(png).map(|image| image.encode_png_fast()).unwrap_or_default()
}

fn statistics(values: &Values, each: usize) -> Statistics {
    match values {
        Values::F32(values) => Statistics::of(values.iter().map(|&value| f64::from(value)), each),
        Values::F64(values) => Statistics::of(values.iter().copied(), each),
        Values::I64(values) => Statistics::of(values.iter().map(|&value| value as f64), each),
        Values::Bool(values) => Statistics::of(values.iter().map(|&value| f64::from(u8::from(value))), each),
        Values::Text(_) | Values::Bytes(_) => Statistics::default(),
    }
}
