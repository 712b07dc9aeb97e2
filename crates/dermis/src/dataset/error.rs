//! Errors of data sets.

use crate::object::ObjectError;
use dermis_record::atomic_folder::AtomicFolderError;
use dermis_record::table::TableError;
use dermis_sensor::optics::OpticsError;
use dermis_sensor::{PressError, ResponseError, SensorError, TomlError};
use dermis_skin::SkinError;
use dermis_world::WorldError;

/// An error in making a data set.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// Invalid TOML.
    #[error(transparent)]
    Toml(#[from] TomlError),
    /// The description cannot be read.
    #[error("{file}: cannot be read: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// The system's reason.
        reason: String,
    },
    /// An invalid value.
    #[error("{file}: `{key}` {rule}")]
    Rule {
        /// The description.
        file: String,
        /// The key.
        key: &'static str,
        /// The rule, and the value.
        rule: String,
    },
    /// An invalid sensor.
    #[error("{file}: {error}")]
    Sensor {
        /// The description.
        file: String,
        /// What is wrong.
        error: Box<SensorError>,
    },
    /// An invalid key to randomise.
    #[error("{file}: [[randomise]] `{key}`: {reason}")]
    Randomise {
        /// The description.
        file: String,
        /// The key.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An invalid object.
    #[error("{file}: object {object:?}: {error}")]
    Object {
        /// The description.
        file: String,
        /// Its label.
        object: String,
        /// What is wrong.
        error: Box<ObjectError>,
    },
    /// An episode failed.
    #[error("{file}: episode {episode} (object {object:?}, sensor {sensor:?}): {error}")]
    Episode {
        /// The description.
        file: String,
        /// Its index.
        episode: usize,
        /// The object's label.
        object: String,
        /// The sensor's name.
        sensor: String,
        /// What is wrong.
        error: Box<EpisodeError>,
    },
    /// The folder holds other files.
    #[error("{folder}: {what}; give another folder, or empty this one")]
    OtherSet {
        /// The folder.
        folder: String,
        /// What is there.
        what: String,
    },
    /// An invalid share.
    #[error("the share {text:?} is invalid: write i/n with i from 1 to n, such as 3/16")]
    BadShare {
        /// The given text.
        text: String,
    },
    /// The disk is full.
    #[error(
        "{file}: the disk is full ({reason}); {done} of {all} shards are finished and kept: free some space and run the same command again"
    )]
    Full {
        /// The file that could not be written.
        file: String,
        /// The system's reason.
        reason: String,
        /// Finished shards.
        done: usize,
        /// Shards in total.
        all: usize,
    },
    /// The caller stopped the run.
    #[error("stopped; {done} of {all} shards are finished and kept: run the same command again to continue")]
    Stopped {
        /// Finished shards.
        done: usize,
        /// Shards in total.
        all: usize,
    },
    /// Shards are missing.
    #[error("{folder}: {missing} of {all} shards are missing: make them first")]
    Missing {
        /// The folder.
        folder: String,
        /// Missing shards.
        missing: usize,
        /// Shards in total.
        all: usize,
    },
    /// A file differs from the one that was written.
    #[error("{file}: {what}; remove it and make the set again: intact shards are kept")]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong.
        what: String,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    AtomicFolder(#[from] AtomicFolderError),
    /// The columns do not make a table.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// An error in one episode.
#[derive(Debug, thiserror::Error)]
pub enum EpisodeError {
    /// The press.
    #[error(transparent)]
    Press(#[from] PressError),
    /// The skin.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// The response.
    #[error(transparent)]
    Response(#[from] ResponseError),
    /// The camera.
    #[error(transparent)]
    Optics(#[from] OpticsError),
    /// The sensor with its drawn values.
    #[error(transparent)]
    Sensor(#[from] SensorError),
    /// The world of a grasp.
    #[error(transparent)]
    World(#[from] WorldError),
    /// An object that is not closed has no mass.
    #[error("it cannot be lifted: {0}")]
    Open(#[from] dermis_geometry::TopologyError),
    /// The object.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// A drawn value that its key does not accept.
    #[error("`{key}`: {reason}")]
    Drawn {
        /// The key.
        key: String,
        /// What is wrong.
        reason: String,
    },
}
