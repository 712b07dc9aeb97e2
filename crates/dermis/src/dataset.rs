//! Data sets of labelled touches, generated from one description. The same description gives the same bytes on every
//! machine.
//!
//! A [`Dataset`] is a description with resolved sensors and objects. Episode `k` depends only on the description and on
//! `k`, so shards of episodes can be made in any order, by any number of threads, programs and machines, and repeated
//! after a failure.

mod axis;
mod cache;
mod columns;
mod episode;
mod error;
mod estimate;
mod finish;
mod make;
mod objects;
mod observe;
mod randomise;
mod readme;
mod robomimic;
mod scenario;
mod sensor;
mod set;
mod shard;
mod spec;
mod warnings;

pub use axis::{Axis, Measure};
pub use episode::{CameraImages, Episode, Frame, Grasp, PixelCounts, SensorFrame};
pub use error::{DatasetError, EpisodeError};
pub use estimate::Estimate;
pub use finish::check;
pub use make::{MakeSummary, Progress, Share};
pub use randomise::{AnyQuantity, RandomiseSpec};
pub use set::Dataset;
pub use shard::ShardRecord;
pub use spec::{DatasetSpec, FormatSpec, ObjectSource, PoseSpec, ScenarioSpec, SensorEntry};
pub use warnings::{DatasetWarning, EpisodeWarning};
