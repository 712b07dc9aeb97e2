//! Errors of data sets.

use crate::object::ObjectError;
use dermis_record::atomic_folder::AtomicFolderError;
use dermis_record::table::TableError;
use dermis_sensor::optics::OpticsError;
use dermis_sensor::{PressError, ResponseError, SensorError, TomlError};
use dermis_skin::SkinError;
use dermis_world::WorldError;

/// An error in making a data set.
///
/// ```
/// use dermis::dataset::{DatasetError, Share};
/// let error: DatasetError = "3/2".parse::<Share>().unwrap_err();
/// assert!(error.to_string().contains("write i/n with i from 1 to n"));
/// ```
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum DatasetError {
    /// Invalid TOML.
    #[error(transparent)]
    Toml(#[from] TomlError),
    /// The description cannot be read.
    #[error("{file}: cannot be read: {reason}")]
    Unreadable { file: String, reason: String },
    /// An invalid value.
    #[error("{file}: `{key}` {rule}")]
    Rule { file: String, key: &'static str, rule: String },
    /// An invalid sensor.
    #[error("{file}: {error}")]
    Sensor { file: String, error: Box<SensorError> },
    /// An invalid key to randomise.
    #[error("{file}: [[randomise]] `{key}`: {reason}")]
    Randomise { file: String, key: String, reason: String },
    /// An invalid object.
    #[error("{file}: object {object:?}: {error}")]
    Object { file: String, object: String, error: Box<ObjectError> },
    /// An episode failed.
    #[error("{file}: episode {episode} (object {object:?}, sensor {sensor:?}): {error}")]
    Episode { file: String, episode: usize, object: String, sensor: String, error: Box<EpisodeError> },
    /// The folder holds other files.
    #[error("{folder}: {what}; give another folder, or empty this one")]
    OtherSet { folder: String, what: String },
    /// An invalid share, such as 3/2.
    #[error("the share {text:?} is invalid: write i/n with i from 1 to n, such as 3/16")]
    BadShare { text: String },
    /// The disk is full.
    #[error(
        "{file}: the disk is full ({reason}); {done} of {all} shards are finished and kept: free some space and run the same command again"
    )]
    Full { file: String, reason: String, done: usize, all: usize },
    /// The caller stopped the run.
    #[error("stopped; {done} of {all} shards are finished and kept: run the same command again to continue")]
    Stopped { done: usize, all: usize },
    /// Shards are missing.
    #[error("{folder}: {missing} of {all} shards are missing: make them first")]
    Missing { folder: String, missing: usize, all: usize },
    /// A file differs from the one that was written.
    #[error("{file}: {what}; remove it and make the set again: intact shards are kept")]
    Damaged { file: String, what: String },
    /// A file could not be read or written.
    #[error(transparent)]
    AtomicFolder(#[from] AtomicFolderError),
    /// The columns do not make a table.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// An error in one episode.
///
/// ```
/// use dermis::dataset::EpisodeError;
/// let error = EpisodeError::Drawn { key: "skin.young".into(), reason: "must be positive".into() };
/// assert_eq!(error.to_string(), "`skin.young`: must be positive");
/// ```
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum EpisodeError {
    /// An error of the press.
    #[error(transparent)]
    Press(#[from] PressError),
    /// An error of the skin.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// An error of the response.
    #[error(transparent)]
    Response(#[from] ResponseError),
    /// An error of the camera.
    #[error(transparent)]
    Optics(#[from] OpticsError),
    /// The sensor with its drawn values is invalid.
    #[error(transparent)]
    Sensor(#[from] SensorError),
    /// An error of the world of a grasp.
    #[error(transparent)]
    World(#[from] WorldError),
    /// An object that is not closed has no mass.
    #[error("it cannot be lifted: {0}")]
    Open(#[from] dermis_geometry::TopologyError),
    /// An invalid object.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// A key does not accept its drawn value.
    #[error("`{key}`: {reason}")]
    Drawn { key: String, reason: String },
}
