//! Recording formats.

use crate::atomic_file;
use crate::folder::not_made;
use crate::replaced::Replaced;
use crate::{FolderSink, FoxgloveSink, Layout, ParquetSink, RecordError, Recorder, Ros2Sink, Sink};
use dermis_geometry::regular_file;
use std::fs::TryLockError;
use std::path::Path;

/// The format of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One MCAP file for Foxglove.
    Mcap,
    /// A folder that is a ROS 2 bag.
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
            Self::Ros2 => ("ros2", None),
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
            None => "a folder, whose name has no extension",
        };
        Err(RecordError::WrongName { path: path.display().to_string(), format, wanted })
    }

    /// As [`Format::record`], but replaces an existing file; a folder must be empty even so. The old file is
    /// `FILE.replaced` until the recording is complete. Without a complete recording it returns to its name; if the
    /// process is killed, both files remain.
    pub fn record_over(self, path: &Path, layout: &Layout) -> Result<Recorder, RecordError> {
        self.check(path)?;
        if path.is_file() {
            let in_use = || RecordError::InUse { path: path.display().to_string() };
            let file = regular_file::open(path, u64::MAX).map_err(|error| RecordError::read(path, &error))?;
            if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                return Err(in_use());
            }
            let replaced = Replaced::set_aside(path).map_err(|error| RecordError::write(path, &error))?;
            return Ok(self.record(path, layout)?.replacing(replaced));
        }
        self.record(path, layout)
    }

    /// Starts a recording at a path where no file exists.
    pub fn record(self, path: &Path, layout: &Layout) -> Result<Recorder, RecordError> {
        self.check(path)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let cleared = std::fs::create_dir_all(parent).and_then(|()| atomic_file::sweep(parent));
        cleared.map_err(|error| not_made(parent, &error))?;
        if path.is_file() && self.name().1.is_some() {
            return Err(RecordError::Exists { path: path.display().to_string() });
        }
        let sink: Box<dyn Sink> = match self {
            Self::Mcap => Box::new(FoxgloveSink::create(path, layout)?),
            Self::Ros2 => Box::new(Ros2Sink::create(path, layout)?),
            Self::Parquet => Box::new(ParquetSink::create(path, layout)?),
            Self::Npy => Box::new(FolderSink::create(path, layout, true)?),
            Self::Png => Box::new(FolderSink::create(path, layout, false)?),
        };
        Ok(Recorder::start(sink).placed_at(path))
    }
}
