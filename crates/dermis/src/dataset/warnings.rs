//! The warnings of a data set: skins beyond their range and lights beyond their data.

use super::episode::{Episode, Frame};
use dermis_skin::Warning;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A warning of an episode.
///
/// ```
/// use dermis::dataset::Dataset;
/// # let text = r#"
/// # name = "taps"
/// # format = "parquet"
/// # count = 3
/// # sensor = [{ preset = "wts0614" }]
/// # object = [{ shape.sphere.radius = "8 mm" }]
/// # pose.depth = { uniform = ["0.2 mm", "0.6 mm"] }
/// # scenario.kind = "press"
/// # "#;
/// let episode = Dataset::parse("taps.toml", text, None)?.episode(0)?;
/// assert_eq!(episode.warnings, []);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EpisodeWarning {
    /// Its kind; texts of one kind differ in their numbers.
    pub kind: String,
    /// Its text.
    pub text: String,
}

/// A kind of warning, with its text in the first episode that has it.
///
/// ```
/// use dermis::dataset::DatasetWarning;
/// let warning = DatasetWarning { kind: "BeyondLinear".into(), text: "the strain is 0.3".into(), first: 7, episodes: 2 };
/// assert_eq!(warning.to_string(), "the strain is 0.3 (in 2 episodes, first in 7)");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatasetWarning {
    /// Kind of the warning.
    pub kind: String,
    /// Text in the first episode.
    pub text: String,
    /// Index of that episode.
    pub first: usize,
    /// Number of episodes with it.
    pub episodes: usize,
}

impl std::fmt::Display for DatasetWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (in {} episodes, first in {})", self.text, self.episodes, self.first)
    }
}

/// The warnings of an episode's skins and cameras, the first of each kind.
pub fn of_episode(skins: impl IntoIterator<Item = Warning>, frames: &[Frame]) -> Vec<EpisodeWarning> {
    let named = |warning: &Warning| {
        // A warning is written as a table with its kind as the only key.
        let kind = serde_json::to_value(warning).ok().and_then(|value| value.as_object()?.keys().next().cloned());
        EpisodeWarning { kind: kind.unwrap_or_default(), text: warning.to_string() }
    };
    let mut found: Vec<EpisodeWarning> = Warning::first_of_each_kind(skins).iter().map(named).collect();
    let cameras = frames.iter().flat_map(|frame| &frame.sensors).filter_map(|sensor| sensor.camera.as_ref());
    let light = cameras.filter_map(|camera| camera.warning.clone()).next();
    found.extend(light.map(|text| EpisodeWarning { kind: "Light".to_owned(), text }));
    found
}

/// The kinds of warnings of consecutive episodes.
pub fn of_episodes(episodes: &[Episode]) -> Vec<DatasetWarning> {
    let single = |episode: &Episode, EpisodeWarning { kind, text }: &EpisodeWarning| DatasetWarning {
        kind: kind.clone(),
        text: text.clone(),
        first: episode.index,
        episodes: 1,
    };
    let mut all = Vec::new();
    for episode in episodes {
        merge(&mut all, episode.warnings.iter().map(|warning| single(episode, warning)));
    }
    all
}

/// Adds the warnings of later episodes.
pub fn merge(all: &mut Vec<DatasetWarning>, more: impl IntoIterator<Item = DatasetWarning>) {
    for warning in more {
        match all.iter_mut().find(|known| known.kind == warning.kind) {
            Some(known) => known.episodes += warning.episodes,
            None => all.push(warning),
        }
    }
}

/// The warnings in the record of a shard.
pub fn from_value(value: Option<&Value>) -> Option<Vec<DatasetWarning>> {
    value.map_or(Some(Vec::new()), |value| Vec::deserialize(value).ok())
}
