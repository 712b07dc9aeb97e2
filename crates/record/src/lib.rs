//! Recordings and data sets in standard file formats.
//!
//! A run passes every [`Sample`] to a [`Recorder`], which writes it to a [`Sink`]: an MCAP file for Foxglove or ROS 2,
//! Parquet, or a folder of arrays and images. If the process is killed, the files remain readable and lack only the
//! last samples. [`Log`] reads recordings, including those of other programs, as signals and images over time.

pub mod atomic_folder;
mod error;
mod export;
mod folder;
mod format;
mod foxglove;
pub mod hdf5;
pub mod histogram;
mod layout;
pub mod lerobot;
mod log;
pub mod mcap;
mod message;
pub mod npy;
mod parquet;
mod protobuf;
mod recorder;
mod replaced;
mod ros2;
mod sample;
mod signals;
pub mod table;

pub use dermis_files as atomic_file;
pub use error::RecordError;
pub use export::{ExportFormat, Exported, export};
pub use folder::FolderSink;
pub use format::Format;
pub use foxglove::FoxgloveSink;
pub use layout::{BodyLayout, Layout, SensorLayout, WORLD, plain_name};
pub use log::{ImageLog, Log, SignalLog};
pub use parquet::{ParquetSink, parts_folder};
pub use recorder::{Recorder, Sink};
pub use ros2::Ros2Sink;
pub use sample::{Sample, SensorSample};

/// Writes a complete file; returns it, still open.
fn write_file(path: &std::path::Path, bytes: &[u8]) -> Result<std::fs::File, RecordError> {
    atomic_file::write(path, bytes).map_err(|error| RecordError::write(path, &error))
}

/// Converts a time (s) to a time stamp (ns).
fn time_ns(time_s: f64) -> u64 {
    (time_s.max(0.0) * 1e9).round() as u64
}
