//! Data sets: one description gives any number of labelled touches, the same bytes wherever and however often it is made.
//!
//! A [`Dataset`] is a description with its sensors and objects found. Episode `k` of it depends on the description and on `k` alone, so that
//! shards of episodes can be made in any order, by any number of threads, programs and machines, and again after a failure.

mod axis;
mod cache;
mod columns;
mod episode;
mod error;
mod feel;
mod finish;
mod make;
mod plan;
mod randomise;
mod robomimic;
mod scenario;
mod sensor;
mod set;
mod shard;
mod spec;
mod things;

pub use axis::{Axis, Measure};
pub use episode::{Episode, Felt, Frame, Grasp, Levels, Seen};
pub use error::{DatasetError, Fault};
pub use finish::check;
pub use make::{Made, Progress, Share};
pub use plan::Plan;
pub use randomise::{Loose, RandomiseSpec};
pub use set::Dataset;
pub use shard::ShardRecord;
pub use spec::{DatasetSpec, FormatSpec, ObjectSource, PoseSpec, ScenarioSpec, SensorEntry};
