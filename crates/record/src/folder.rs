//! Records to a folder of arrays and images.

use crate::atomic_file::{PART, file_in_the_way};
use crate::npy::NpyFile;
use crate::signals::{Signal, signals, values};
use crate::{Layout, RecordError, Sample, Sink, write_file};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// File name of the times (s), beside the arrays and beside each sequence of images.
pub const TIMES: &str = "times_s.npy";
/// File name of the warnings.
const WARNINGS: &str = "warnings.txt";

/// Writes `times_s.npy` and one array per signal, `NAME/force_n.npy`, with a row per sample; images as
/// `NAME/camera/000000.png` …, with their own `times_s.npy`. Warnings of the skins are lines of `warnings.txt`.
pub struct FolderSink {
    _lock: Option<File>,
    folder: PathBuf,
    numbers: Option<Numbers>,
    frames: Vec<String>,
    sequences: BTreeMap<(usize, &'static str), Sequence>,
    warnings: String,
}

struct Numbers {
    times: NpyFile,
    arrays: Vec<NpyFile>,
}

struct Sequence {
    folder: PathBuf,
    times: NpyFile,
    count: usize,
}

impl FolderSink {
    /// Starts a recording in a new or empty folder, with or without numbers.
    pub fn create(folder: &Path, layout: &Layout, with_numbers: bool) -> Result<Self, RecordError> {
        let lock = locked_folder(folder)?;
        empty_folder(folder)?;
        let numbers = with_numbers.then(|| Numbers::create(folder, &signals(layout))).transpose()?;
        let (frames, sequences, warnings) = (layout.sensor_frames(), BTreeMap::new(), String::new());
        Ok(Self { _lock: lock, folder: folder.to_owned(), numbers, frames, sequences, warnings })
    }
}

impl Numbers {
    fn create(folder: &Path, signals: &[Signal]) -> Result<Self, RecordError> {
        let mut arrays = Vec::new();
        for signal in signals {
            let place = folder.join(&signal.of);
            made(&place)?;
            let sides = match signal.size {
                Some((rows, cols)) => vec![rows, cols],
                None if signal.width == 1 => Vec::new(),
                None => vec![signal.width],
            };
            arrays.push(NpyFile::create(&place.join(format!("{}.npy", signal.name)), &sides)?);
        }
        Ok(Self { times: NpyFile::create(&folder.join(TIMES), &[])?, arrays })
    }
}

impl Sink for FolderSink {
    fn write(&mut self, sample: &Sample) -> Result<(), RecordError> {
        if let Some(numbers) = &mut self.numbers {
            numbers.times.push(&[sample.time_s]);
            for (array, row) in numbers.arrays.iter_mut().zip(values(sample)) {
                array.push(&row);
            }
        }
        for (i, sensor) in sample.sensors.iter().enumerate() {
            for warning in &sensor.warnings {
                let _ = writeln!(self.warnings, "{:.6} s, {}: {warning}", sample.time_s, self.frames[i]);
            }
            for (name, image) in sensor.images() {
                let sequence = match self.sequences.entry((i, name)) {
                    std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                    std::collections::btree_map::Entry::Vacant(entry) => {
                        entry.insert(Sequence::create(&self.folder.join(&self.frames[i]).join(name))?)
                    }
                };
                sequence.add(sample.time_s, &image.encode_png_fast())?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), RecordError> {
        if let Some(numbers) = &mut self.numbers {
            // Times are written last, so that every time has its values.
            numbers.arrays.iter_mut().try_for_each(NpyFile::flush)?;
            numbers.times.flush()?;
        }
        if !self.warnings.is_empty() {
            write_file(&self.folder.join(WARNINGS), self.warnings.as_bytes())?;
        }
        self.sequences.values_mut().try_for_each(|sequence| sequence.times.flush())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<PathBuf>, RecordError> {
        self.flush()?;
        Ok(vec![self.folder])
    }
}

impl Sequence {
    fn create(folder: &Path) -> Result<Self, RecordError> {
        made(folder)?;
        Ok(Self { folder: folder.to_owned(), times: NpyFile::create(&folder.join(TIMES), &[])?, count: 0 })
    }

    fn add(&mut self, time_s: f64, png: &[u8]) -> Result<(), RecordError> {
        write_file(&self.folder.join(format!("{:06}.png", self.count)), png)?;
        self.count += 1;
        self.times.push(&[time_s]);
        Ok(())
    }
}

/// Creates a folder and locks it, where the system has locks of folders; an error if another program holds it.
pub fn locked_folder(folder: &Path) -> Result<Option<File>, RecordError> {
    made(folder)?;
    let Ok(file) = File::open(folder) else { return Ok(None) };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(RecordError::InUse { path: folder.display().to_string() }),
        _ => Ok(Some(file)),
    }
}

/// Creates a folder, or accepts an existing empty one.
pub fn empty_folder(folder: &Path) -> Result<(), RecordError> {
    made(folder)?;
    let entries = std::fs::read_dir(folder).map_err(|error| RecordError::write(folder, &error))?;
    // Hidden incomplete files are not results.
    let is_part = |name: &str| name.starts_with('.') && name.ends_with(PART);
    let mut files = entries.flatten().filter(|entry| !is_part(&entry.file_name().to_string_lossy()));
    match files.next() {
        Some(_) => Err(RecordError::NotEmpty { path: folder.display().to_string() }),
        None => Ok(()),
    }
}

fn made(folder: &Path) -> Result<(), RecordError> {
    std::fs::create_dir_all(folder).map_err(|error| not_made(folder, &error))
}

/// The error of a folder that could not be made.
pub fn not_made(folder: &Path, error: &std::io::Error) -> RecordError {
    match file_in_the_way(folder) {
        Some(file) => RecordError::IsFile { path: file.display().to_string() },
        None => RecordError::write(folder, error),
    }
}
