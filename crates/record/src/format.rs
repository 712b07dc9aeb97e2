//! Recording formats.

use crate::{FolderSink, FoxgloveSink, Layout, ParquetSink, RecordError, Recorder, Ros2Sink, Sink};
use std::path::Path;

/// The format of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One MCAP file for Foxglove.
    Mcap,
    /// One MCAP file that is a ROS 2 bag.
    Ros2,
    /// One Parquet file.
    Parquet,
    /// A folder of NumPy arrays, with images as PNG.
    Npy,
    /// A folder of images as PNG.
    Png,
}

/// The supported extensions, for messages.
const KNOWN: &str = "`.mcap` or `.parquet`, or in nothing for a folder";

impl Format {
    /// The format that the extension of a path selects.
    pub fn of_path(path: &Path) -> Result<Self, RecordError> {
        match path.extension().and_then(|end| end.to_str()) {
            Some("mcap") => Ok(Self::Mcap),
            Some("parquet") => Ok(Self::Parquet),
            None => Ok(Self::Npy),
            Some(_) => Err(RecordError::UnknownFormat { path: path.display().to_string(), known: KNOWN }),
        }
    }

    /// Name of the format and extension of its file; none for a folder.
    fn name(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Mcap => ("mcap", Some("mcap")),
            Self::Ros2 => ("ros2", Some("mcap")),
            Self::Parquet => ("parquet", Some("parquet")),
            Self::Npy => ("npy", None),
            Self::Png => ("png", None),
        }
    }

    /// Refuses an extension that does not fit the format.
    pub fn check(self, path: &Path) -> Result<(), RecordError> {
        let (format, end) = self.name();
        if path.extension().and_then(|end| end.to_str()) == end {
            return Ok(());
        }
        let wanted = match end {
            Some("mcap") => "a file whose name ends in `.mcap`",
            Some(_) => "a file whose name ends in `.parquet`",
            None => "a folder, whose name has no ending",
        };
        Err(RecordError::WrongName { path: path.display().to_string(), format, wanted })
    }

    /// Starts a recording at a path.
    pub fn record(self, path: &Path, layout: &Layout) -> Result<Recorder, RecordError> {
        self.check(path)?;
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            std::fs::create_dir_all(parent).map_err(|error| RecordError::write(parent, &error))?;
        }
        let sink: Box<dyn Sink> = match self {
            Self::Mcap => Box::new(FoxgloveSink::create(path, layout)?),
            Self::Ros2 => Box::new(Ros2Sink::create(path, layout)?),
            Self::Parquet => Box::new(ParquetSink::create(path, layout)?),
            Self::Npy => Box::new(FolderSink::create(path, layout, true)?),
            Self::Png => Box::new(FolderSink::create(path, layout, false)?),
        };
        Ok(Recorder::start(sink))
    }
}
