//! Chooses numbers of a sensor's description so that its readings tell as much as possible about a quantity.
//!
//! The presses of a data set are the task. For each of them, the derivatives of the reading by what the data set varies, such as
//! place and depth, and the noise of the reading give the smallest variance with which any method can determine the quantity (the
//! bound of Cramér and Rao, with the spread of the data set as prior knowledge). The cost of a sensor is the root of its mean over
//! the presses, and a search in the ranges of the keys finds the sensor with the smallest.

mod objective;
mod search;
mod varied_key;

pub use objective::{Channels, Objective};
pub use varied_key::VariedKey;

use crate::dataset::{Dataset, EpisodeError, ScenarioSpec};
use crate::estimate::{EstimateError, Placement, Unknown};
use dermis_sensor::optics::OpticsError;
use dermis_sensor::{Aim, Goal, SensorError, SensorSpec};
use dermis_skin::threads::parallel;
use objective::{ChannelNoise, TaskPress, unknowns, variance, without_noise};
use rayon::prelude::*;
use serde_json::Map;

/// Errors of a design.
///
/// ```
/// use dermis::design::DesignError;
/// let error = DesignError::NotVaried { objective: "force", key: "pose.force" };
/// assert!(error.to_string().contains("give `pose.force` a distribution"));
/// ```
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum DesignError {
    #[error("`{key}` {rule}")]
    Rule { key: &'static str, rule: &'static str },
    #[error("`{key}` is varied twice: give it one range")]
    Twice { key: String },
    #[error("the data set does not vary the {objective}, so there is nothing to tell: give `{key}` a distribution")]
    NotVaried { objective: &'static str, key: &'static str },
    #[error("sensor {sensor:?} has no constant noise, so that readings near zero tell all: {remedy}")]
    NoNoise { sensor: String, remedy: &'static str },
    #[error("sensor {sensor:?} has no {channels}")]
    NoChannels { sensor: String, channels: &'static str },
    #[error("no key is to be varied: name at least one with its range")]
    NothingVaried,
    #[error("no sensor that was tried within the ranges can be built: {0}")]
    NothingBuilt(Box<SensorError>),
    #[error(transparent)]
    Sensor(Box<SensorError>),
    #[error(transparent)]
    Episode(Box<EpisodeError>),
    #[error(transparent)]
    Press(Box<EstimateError>),
    #[error(transparent)]
    Optics(Box<OpticsError>),
}

impl From<SensorError> for DesignError {
    fn from(error: SensorError) -> Self {
        Self::Sensor(Box::new(error))
    }
}

impl From<EpisodeError> for DesignError {
    fn from(error: EpisodeError) -> Self {
        Self::Episode(Box::new(error))
    }
}

impl From<EstimateError> for DesignError {
    fn from(error: EstimateError) -> Self {
        Self::Press(Box::new(error))
    }
}

impl From<OpticsError> for DesignError {
    fn from(error: OpticsError) -> Self {
        Self::Optics(Box::new(error))
    }
}

/// How well a sensor determines the objective.
///
/// ```
/// use dermis::design::Score;
/// let score = Score::of(&[Some(9e-6), Some(1e-6), None], 16e-6);
/// assert_eq!((score.per_press.len(), score.impossible), (3, 1));
/// assert!((score.sd - (26e-6f64 / 3.0).sqrt()).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Root mean square of the standard deviations of all presses (SI).
    pub sd: f64,
    /// Standard deviation of each press (SI).
    pub per_press: Vec<f64>,
    /// Number of presses that this sensor cannot make, such as beside it or too deep; they tell nothing.
    pub impossible: usize,
    /// Warnings of the skin in the presses, each once.
    pub warnings: Vec<String>,
}

impl Score {
    /// The score of presses with these variances; `prior` is that of a press that cannot be made.
    pub fn of(variances: &[Option<f64>], prior: f64) -> Self {
        let known = |variance: &Option<f64>| variance.unwrap_or(prior);
        let mean = variances.iter().map(known).sum::<f64>() / variances.len().max(1) as f64;
        Self {
            sd: mean.sqrt(),
            per_press: variances.iter().map(|variance| known(variance).sqrt()).collect(),
            impossible: variances.iter().filter(|variance| variance.is_none()).count(),
            warnings: Vec::new(),
        }
    }
}

/// A sensor that was tried.
///
/// ```
/// use dermis::design::Trial;
/// let trial = Trial { parts: vec![0.5], score: None }; // the middle of its range, where no sensor can be built
/// assert!(trial.score.is_none());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Part of its range that each key has, from 0 to 1.
    pub parts: Vec<f64>,
    /// Its score; `None` if the sensor cannot be built.
    pub score: Option<Score>,
}

/// A finished design.
///
/// ```
/// use dermis::dataset::Dataset;
/// use dermis::design::{Channels, Design, Objective, VariedKey};
/// let text = r#"
/// name = "taps"
/// format = "parquet"
/// count = 3
/// scenario.kind = "press"
/// pose.x = { uniform = ["-4 mm", "4 mm"] }
/// pose.depth = { uniform = ["0.5 mm", "1 mm"] }
/// object = [{ shape.sphere.radius = "8 mm" }]
/// sensor = [{ preset = "uji-foam-14x6" }]
/// "#;
/// let set = Dataset::parse("taps.toml", text, None)?;
/// let varied: [VariedKey; 1] = ["surface.grid.pitch=3mm..9mm".parse()?];
/// let (objective, channels) = (Objective::Position, Channels::Taxels);
/// let found = Design { set: &set, varied: &varied, objective, channels, noise: Some(5e-3) }.optimise(6, &|_| ())?;
/// let best = found.best.score.clone().expect("its sensor was built");
/// assert!(best.sd < found.prior_sd && found.trials.len() <= 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Designed {
    /// The description of the best sensor.
    pub spec: SensorSpec,
    /// The best of the trials.
    pub best: Trial,
    /// The score of the sensor as it is described.
    pub described: Score,
    /// All sensors that were tried, in this order.
    pub trials: Vec<Trial>,
    /// Why the last of the sensors that could not be built could not.
    pub refused: Option<String>,
    /// Standard deviation of the objective in the data set, before anything is read (SI).
    pub prior_sd: f64,
}

/// A part of a range this close to its end is at the end.
const AT_END: f64 = 0.005;
/// Costs up to this factor of the best are as good.
const AS_GOOD: f64 = 1.05;

impl Designed {
    /// The part of its range over which a key was tried with a cost within 5 % of the best.
    pub fn as_good(&self, key: usize) -> [f64; 2] {
        let limit = AS_GOOD * self.best.score.as_ref().map_or(f64::INFINITY, |score| score.sd);
        let good = self.trials.iter().filter(|trial| trial.score.as_ref().is_some_and(|score| score.sd <= limit));
        good.map(|trial| trial.parts[key]).fold([1.0, 0.0], |[low, high], part| [low.min(part), high.max(part)])
    }

    /// Whether the best value of a key is at an end of its range.
    pub fn is_at_end(&self, key: usize) -> bool {
        let part = self.best.parts[key];
        !(AT_END..=1.0 - AT_END).contains(&part)
    }
}

/// A task of design: a data set of presses with one sensor, the keys to vary, and the objective.
///
/// ```
/// use dermis::dataset::Dataset;
/// use dermis::design::{Channels, Design, Objective, VariedKey};
/// let text = r#"
/// name = "taps"
/// format = "parquet"
/// count = 3
/// scenario.kind = "press"
/// pose.x = { uniform = ["-4 mm", "4 mm"] }
/// pose.depth = { uniform = ["0.5 mm", "1 mm"] }
/// object = [{ shape.sphere.radius = "8 mm" }]
/// sensor = [{ preset = "uji-foam-14x6" }]
/// "#;
/// let set = Dataset::parse("taps.toml", text, None)?;
/// let varied: [VariedKey; 1] = ["surface.grid.pitch=3mm..9mm".parse()?];
/// let (objective, channels) = (Objective::Position, Channels::Taxels);
/// let design = Design { set: &set, varied: &varied, objective, channels, noise: Some(5e-3) };
/// assert!(design.optimise(2, &|_| ())?.described.sd > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Design<'a> {
    /// The presses.
    pub set: &'a Dataset,
    /// The keys, with their ranges.
    pub varied: &'a [VariedKey],
    /// The quantity that the readings shall determine.
    pub objective: Objective,
    /// What is read.
    pub channels: Channels,
    /// Standard deviation of the noise (N or levels), instead of that of the description.
    pub noise: Option<f64>,
}

/// What all trials share.
struct Task {
    presses: Vec<TaskPress>,
    unknowns: Vec<(Unknown, f64)>,
    prior: f64,
}

impl Design<'_> {
    /// Tries up to `trials` sensors. `progress` is called with the number of those tried.
    pub fn optimise(&self, trials: usize, progress: &dyn Fn(usize)) -> Result<Designed, DesignError> {
        if self.varied.is_empty() {
            return Err(DesignError::NothingVaried);
        }
        let again =
            |(index, key): &(usize, &VariedKey)| self.varied[..*index].iter().any(|known| known.key() == key.key());
        if let Some((_, key)) = self.varied.iter().enumerate().find(again) {
            return Err(DesignError::Twice { key: key.key().to_owned() });
        }
        // A misspelt key is refused before the first press.
        let at = |part: f64| self.spec_at(&vec![part; self.varied.len()]);
        if at(0.0).is_err() && at(1.0).is_err() {
            at(0.5)?;
        }
        let task = self.task()?;
        let sensor = &self.set.sensors[0];
        let described = self.score(&sensor.spec, &task)?;
        let mut all: Vec<Trial> = Vec::new();
        let mut refused = None;
        let numbers = |parts: &[f64]| -> Vec<f64> {
            self.varied.iter().zip(parts).map(|(key, part)| key.number(*part)).collect()
        };
        let best = search::search(self.varied.len(), trials, |parts| {
            // Rounded values, such as counts, come back.
            if let Some(known) = all.iter().find(|trial| numbers(&trial.parts) == numbers(parts)) {
                return Ok(known.score.as_ref().map(|score| score.sd));
            }
            let score = match self.spec_at(parts).and_then(|spec| self.score(&spec, &task)) {
                Ok(score) => Some(score),
                Err(DesignError::Sensor(error)) => {
                    refused = Some(error);
                    None
                }
                Err(error) => return Err(error),
            };
            let cost = score.as_ref().map(|score| score.sd);
            all.push(Trial { parts: parts.to_vec(), score });
            progress(all.len());
            Ok(cost)
        })?;
        let best = best.and_then(|parts| all.iter().find(|trial| trial.parts == parts).cloned());
        match (best, refused) {
            (Some(best), refused) => {
                let spec = sensor.located(&self.spec_at(&best.parts)?);
                let refused = refused.map(|error| error.to_string());
                Ok(Designed { spec, best, described, trials: all, refused, prior_sd: task.prior.sqrt() })
            }
            (None, Some(error)) => Err(DesignError::NothingBuilt(error)),
            (None, None) => Err(DesignError::NothingVaried),
        }
    }

    /// Checks the data set and lists its presses.
    fn task(&self) -> Result<Task, DesignError> {
        let set = self.set;
        let rule = |key, rule| DesignError::Rule { key, rule };
        if !matches!(set.spec.scenario, ScenarioSpec::Press { .. }) {
            return Err(rule("scenario.kind", "must be \"press\" for a design"));
        }
        if set.sensors.len() != 1 {
            return Err(rule("sensor", "must be one sensor for a design: it is the one to change"));
        }
        if !set.spec.randomise.is_empty() {
            return Err(rule("randomise", "is not for a design, which chooses the numbers itself: remove it"));
        }
        let spec = &set.sensors[0].spec;
        let lacks = match self.channels {
            Channels::Taxels => false,
            Channels::Image => spec.camera.is_none(),
            Channels::Magnetometers => spec.magnetometers.is_none(),
        };
        if lacks {
            return Err(DesignError::NoChannels { sensor: spec.name.clone(), channels: self.channels.name() });
        }
        let unknowns = unknowns(&set.spec);
        let prior = self.objective.prior(&set.spec, &unknowns)?;
        let press = |index: usize| {
            let planned = set.planned(index);
            let Aim { at_m, tilt_rad, yaw_rad } = planned.draw.aim;
            let (depth_m, force_newton) = match planned.draw.goal {
                Goal::Depth(depth_m) => (depth_m, None),
                Goal::Force(force) => (0.0, Some(force)),
            };
            let placement = Placement { at_m, depth_m, tilt_rad, yaw_rad, ..Placement::default() };
            Ok(TaskPress { object: set.object_of(&planned)?, placement, force_newton })
        };
        let presses = (0..set.count()).map(press).collect::<Result<_, EpisodeError>>()?;
        Ok(Task { presses, unknowns, prior })
    }

    /// The description with each key at a part of its range.
    fn spec_at(&self, parts: &[f64]) -> Result<SensorSpec, DesignError> {
        let mut changes = Map::new();
        let spec = &self.set.sensors[0].spec;
        let inserted = self.varied.iter().zip(parts).try_for_each(|(key, part)| key.insert(*part, &mut changes));
        inserted.map_err(|bad| bad.of_sensor(&spec.name, ""))?;
        Ok(spec.with_overrides(&changes)?)
    }

    fn score(&self, spec: &SensorSpec, task: &Task) -> Result<Score, DesignError> {
        let noise = ChannelNoise::of(spec, self.channels, self.noise)?;
        let sensor = self.set.sensors[0].build_changed(&without_noise(spec))?;
        let of_press =
            |press: &TaskPress| variance(&sensor, press, &task.unknowns, (self.channels, &noise), self.objective);
        let found: Vec<Option<(f64, Vec<String>)>> =
            parallel(|| task.presses.par_iter().map(of_press).collect::<Result<_, _>>())?;
        let variances: Vec<Option<f64>> =
            found.iter().map(|found| found.as_ref().map(|(variance, _)| *variance)).collect();
        let mut warnings: Vec<String> = Vec::new();
        for warning in found.into_iter().flatten().flat_map(|(_, warnings)| warnings) {
            // Warnings of one kind differ in their numbers: the first one stands for them.
            let kind = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
            if warnings.iter().all(|known| kind(known) != kind(&warning)) {
                warnings.push(warning);
            }
        }
        Ok(Score { warnings, ..Score::of(&variances, task.prior) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{Measured, estimate};
    use dermis_geometry::Random;

    /// A pad of 6 × 6 taxels with noise of 5 mN under a ball, which is pressed within 4 mm of its middle.
    fn presses(pose: &str, extra: &str) -> Dataset {
        let text = format!(
            r#"
name = "presses"
format = "parquet"
count = 6
scenario.kind = "press"
pose = {{ {pose} }}
object = [{{ shape.sphere.radius = "6 mm" }}]
{extra}
[[sensor]]
surface.grid = {{ rows = 6, cols = 6, pitch = "2.5 mm" }}
contact_points = 6
skin = {{ kind = "springs", stiffness_per_area = "100 MPa/m", damping = "1 N s/m", max_penetration = "2 mm", friction = {{ kind = "coulomb", mu = 0.5, regularisation_speed = "1 mm/s" }} }}
response.noise.sd = "5 mN"
"#
        );
        Dataset::parse("presses.toml", &text, None).unwrap()
    }

    const NEAR_THE_MIDDLE: &str = r#"x = { uniform = ["-4 mm", "4 mm"] }, y = { uniform = ["-4 mm", "4 mm"] }, depth = { uniform = ["0.3 mm", "0.6 mm"] }"#;

    fn pitch() -> Vec<VariedKey> {
        vec!["surface.grid.pitch=1mm..6mm".parse().unwrap()]
    }

    fn design<'a>(set: &'a Dataset, varied: &'a [VariedKey]) -> Design<'a> {
        Design { set, varied, objective: Objective::Position, channels: Channels::Taxels, noise: None }
    }

    /// Fits to readings with noise scatter as the bound tells: 6 presses with 12 draws each, x and y, so that the root mean square of
    /// the errors by the bound is 1 ± 0.06.
    #[test]
    fn the_bound_is_the_scatter_of_estimates() {
        let set = presses(NEAR_THE_MIDDLE, "");
        let varied = pitch();
        let design = design(&set, &varied);
        let task = design.task().unwrap();
        let score = design.score(&set.sensors[0].spec, &task).unwrap();
        assert_eq!((score.per_press.len(), score.impossible), (6, 0));
        let sensor = set.sensors[0].build_changed(&without_noise(&set.sensors[0].spec)).unwrap();
        let mut random = Random::new(8);
        let mut squares = 0.0;
        for (TaskPress { object, placement, .. }, sd) in task.presses.iter().zip(&score.per_press) {
            let truth = crate::estimate::press_at(&sensor, object, placement).unwrap().unwrap().reading.values_newton;
            for _ in 0..12 {
                let noisy: Vec<f64> = truth.iter().map(|force| force + 5e-3 * random.normal()).collect();
                let unknowns = [Unknown::X, Unknown::Y, Unknown::Depth];
                let found =
                    estimate(&sensor, object, Measured::Taxels(&noisy), *placement, &unknowns, &|_| ()).unwrap();
                let error = |axis: usize| found.placement.at_m[axis] - placement.at_m[axis];
                squares += (error(0).powi(2) + error(1).powi(2)) / (sd * sd);
            }
        }
        let ratio = (squares / 72.0).sqrt();
        assert!((0.8..1.25).contains(&ratio), "{ratio}");
    }

    /// Taxels at full scale read the same whatever is pressed, and so do magnetometers.
    #[test]
    fn a_reading_beyond_its_range_tells_nothing() {
        let sd = |extra: &str| {
            let text = presses(NEAR_THE_MIDDLE, "").text + extra;
            let set = Dataset::parse("presses.toml", &text, None).unwrap();
            let varied = pitch();
            let design = design(&set, &varied);
            design.score(&set.sensors[0].spec, &design.task().unwrap()).unwrap().sd
        };
        let fine = sd("response.quantised = true\nresponse.force_per_count = \"1 mN\"\nresponse.bits = 12\n");
        let cut = sd("response.quantised = true\nresponse.force_per_count = \"1 mN\"\nresponse.bits = 4\n");
        assert!(cut > 2.0 * fine, "{fine} {cut}");
    }

    /// Small taxels leave presses beside the pad, and a ball on one large taxel hides its place: the best pitch is between.
    #[test]
    fn the_best_pitch_is_between_too_small_and_too_large() {
        let set = presses(NEAR_THE_MIDDLE, "");
        let varied = pitch();
        let found = design(&set, &varied).optimise(24, &|_| ()).unwrap();
        let best = found.best.score.clone().unwrap().sd;
        let at = |part: f64| {
            let near =
                found.trials.iter().min_by(|a, b| (a.parts[0] - part).abs().total_cmp(&(b.parts[0] - part).abs()));
            near.and_then(|trial| trial.score.as_ref()).unwrap().sd
        };
        assert!(
            best <= found.described.sd && 2.0 * best < at(0.0) && 2.0 * best < at(1.0),
            "{best} {} {}",
            at(0.0),
            at(1.0)
        );
        assert!(!found.is_at_end(0) && found.as_good(0)[0] <= found.best.parts[0]);
        assert!(best < 0.05 * found.prior_sd);
    }

    #[test]
    fn a_task_that_cannot_be_designed_for_is_refused() {
        let refused = |set: &Dataset, change: &dyn Fn(&mut Design<'_>)| {
            let varied = pitch();
            let mut design = design(set, &varied);
            change(&mut design);
            design.optimise(4, &|_| ()).unwrap_err().to_string()
        };
        let set = presses(NEAR_THE_MIDDLE, "");
        assert!(refused(&set, &|design| design.objective = Objective::Force).contains("give `pose.force`"));
        assert!(refused(&set, &|design| design.channels = Channels::Image).contains("no image"));
        assert!(refused(&set, &|design| design.varied = &[]).contains("no key"));
        let twice = [pitch(), pitch()].concat();
        let error = Design { varied: &twice, ..design(&set, &twice) }.optimise(4, &|_| ()).unwrap_err();
        assert!(error.to_string().contains("twice"), "{error}");
        let random = presses(NEAR_THE_MIDDLE, "randomise = [{ key = 'skin.damping', scale = 2.0 }]");
        assert!(refused(&random, &|_| ()).contains("randomise"));
    }
}
