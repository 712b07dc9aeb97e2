//! Why there is no data set.

use crate::object::ObjectError;
use dermis_record::atomic_folder::AtomicFolderError;
use dermis_record::table::TableError;
use dermis_sensor::optics::OpticsError;
use dermis_sensor::{PressError, ResponseError, SensorError, TomlError};
use dermis_skin::SkinError;
use dermis_world::WorldError;

/// Why a data set cannot be made: one sentence.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// The text is not the TOML that is expected.
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
    /// A key that breaks a rule.
    #[error("{file}: `{key}` {rule}")]
    Rule {
        /// The description.
        file: String,
        /// The key.
        key: &'static str,
        /// What is asked of it, and what it is.
        rule: String,
    },
    /// A sensor that cannot be.
    #[error("{file}: {error}")]
    Sensor {
        /// The description.
        file: String,
        /// What is wrong.
        error: Box<SensorError>,
    },
    /// A key to randomise that is none.
    #[error("{file}: [[randomise]] `{key}`: {reason}")]
    Randomise {
        /// The description.
        file: String,
        /// The key.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An object that cannot be.
    #[error("{file}: object {object:?}: {error}")]
    Object {
        /// The description.
        file: String,
        /// Its label.
        object: String,
        /// What is wrong.
        error: Box<ObjectError>,
    },
    /// A touch that cannot be made.
    #[error("{file}: episode {episode} (object {object:?}, sensor {sensor:?}): {fault}")]
    Episode {
        /// The description.
        file: String,
        /// Its number.
        episode: usize,
        /// The object's label.
        object: String,
        /// The sensor's name.
        sensor: String,
        /// What is wrong.
        fault: Box<Fault>,
    },
    /// The folder holds something else.
    #[error("{folder}: {what}; give another folder, or empty this one")]
    OtherSet {
        /// The folder.
        folder: String,
        /// What is there.
        what: String,
    },
    /// A share that is none.
    #[error("the share {text:?} is none: write i/n with i from 1 to n, such as 3/16")]
    BadShare {
        /// What was written.
        text: String,
    },
    /// No room.
    #[error(
        "{file}: there is no room left ({reason}); {done} of {all} shards are finished and kept: make room and run the same command again"
    )]
    Full {
        /// The file that found none.
        file: String,
        /// The system's reason.
        reason: String,
        /// Shards that are finished.
        done: usize,
        /// Shards there will be.
        all: usize,
    },
    /// It was stopped from outside.
    #[error("stopped; {done} of {all} shards are finished and kept: run the same command again to go on")]
    Stopped {
        /// Shards that are finished.
        done: usize,
        /// Shards there will be.
        all: usize,
    },
    /// Shards are missing.
    #[error("{folder}: {missing} of {all} shards are missing: make them first")]
    Missing {
        /// The folder.
        folder: String,
        /// How many.
        missing: usize,
        /// Shards there should be.
        all: usize,
    },
    /// A file that is not as it was written.
    #[error("{file}: {what}; remove it and make the set again: what is whole is kept")]
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

/// Why a touch cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
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
    /// The sensor with what was drawn for it.
    #[error(transparent)]
    Sensor(#[from] SensorError),
    /// The world of a grasp.
    #[error(transparent)]
    World(#[from] WorldError),
    /// An object without a mass.
    #[error("it cannot be lifted: {0}")]
    Open(#[from] dermis_geometry::TopologyError),
    /// The object.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// A drawn value that its key does not take.
    #[error("`{key}`: {reason}")]
    Drawn {
        /// The key.
        key: String,
        /// What is wrong.
        reason: String,
    },
}
