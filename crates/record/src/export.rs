//! Converts recordings to other formats.

use crate::folder::empty_folder;
use crate::mcap::McapLog;
use crate::npy::NpyFile;
use crate::table::{Table, Values};
use crate::{Log, RecordError, folder::TIMES, plain_name, write_file};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// The same messages in a complete MCAP file; from MCAP only.
    Mcap,
    /// One Parquet table with a row per time.
    Parquet,
    /// The same table as CSV, without images.
    Csv,
    /// A folder of NumPy arrays, with images as files.
    Npy,
    /// A folder of images.
    Png,
}

impl ExportFormat {
    /// The format that the extension of a path selects.
    pub fn of_path(path: &Path) -> Result<Self, RecordError> {
        match path.extension().and_then(|end| end.to_str()) {
            Some("mcap") => Ok(Self::Mcap),
            Some("parquet") => Ok(Self::Parquet),
            Some("csv") => Ok(Self::Csv),
            None => Ok(Self::Npy),
            Some(_) => Err(RecordError::UnknownFormat {
                path: path.display().to_string(),
                known: "`.mcap`, `.parquet` or `.csv`, or in nothing for a folder",
            }),
        }
    }
}

/// Summary of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The file or folder.
    pub path: PathBuf,
    /// Number of signals, or of channels of MCAP.
    pub signals: usize,
    /// Number of times of the signals, or of messages of MCAP.
    pub times: usize,
    /// Number of images.
    pub images: usize,
    /// Whether the source was truncated.
    pub cut: bool,
}

/// Converts a recording to another format. Leaves no files on failure.
pub fn export(from: &Path, to: &Path, format: ExportFormat) -> Result<Exported, RecordError> {
    if from == to {
        let reason = "it is the recording itself".to_owned();
        return Err(RecordError::Write { path: to.display().to_string(), reason });
    }
    if format == ExportFormat::Mcap {
        if from.extension().is_none_or(|end| end != "mcap") {
            let (path, found) = (from.display().to_string(), "no messages".to_owned());
            return Err(RecordError::Nothing {
                path,
                task: "turn into MCAP, which only another MCAP file can become",
                found,
            });
        }
        let log = McapLog::read(from)?;
        made_parent(to)?;
        let path = log.write(to)?;
        return Ok(Exported { path, signals: log.channels.len(), times: log.messages.len(), images: 0, cut: log.cut });
    }
    let log = Log::read(from)?;
    let (times_s, values) = log.aligned();
    let nothing = |found: String| RecordError::Nothing { path: log.source.clone(), task: "export in this form", found };
    let images: usize = log.images.iter().map(|images| images.files.len()).sum();
    if format == ExportFormat::Png && images == 0 {
        return Err(nothing(format!("{} signals and no images", log.signals.len())));
    }
    if format != ExportFormat::Png && times_s.is_empty() {
        return Err(nothing(format!("{images} images and no numbers; give `--format png`")));
    }
    made_parent(to)?;
    match format {
        ExportFormat::Csv => drop(write_file(to, csv(&log, &times_s, &values).as_bytes())?),
        ExportFormat::Parquet => {
            let bytes = table(&log, times_s.clone(), values).and_then(|table| table.to_bytes());
            write_file(to, &bytes.map_err(|error| RecordError::table(to, error))?)?;
        }
        _ => {
            empty_folder(to)?;
            let filled = fill(&log, &times_s, &values, to, format == ExportFormat::Npy);
            // The folder was empty, so that this export wrote all of its files.
            filled.inspect_err(|_| drop(std::fs::remove_dir_all(to)))?;
        }
    }
    let images = if format == ExportFormat::Csv { 0 } else { images };
    Ok(Exported { path: to.to_owned(), signals: log.signals.len(), times: times_s.len(), images, cut: log.cut })
}

fn made_parent(path: &Path) -> Result<(), RecordError> {
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => std::fs::create_dir_all(parent).map_err(|error| RecordError::write(parent, &error)),
        None => Ok(()),
    }
}

fn csv(log: &Log, times_s: &[f64], values: &[Vec<f64>]) -> String {
    let mut text = String::from("time_s");
    for signal in &log.signals {
        for i in 0..signal.width {
            let _ =
                if signal.width == 1 { write!(text, ",{}", signal.name) } else { write!(text, ",{}.{i}", signal.name) };
        }
    }
    for (row, time_s) in times_s.iter().enumerate() {
        let _ = write!(text, "\n{time_s}");
        for (signal, values) in log.signals.iter().zip(values) {
            for value in &values[row * signal.width..(row + 1) * signal.width] {
                // An empty cell stands for NaN.
                let _ = if value.is_nan() { write!(text, ",") } else { write!(text, ",{value}") };
            }
        }
    }
    text + "\n"
}

fn table(log: &Log, times_s: Vec<f64>, values: Vec<Vec<f64>>) -> Result<Table, crate::table::TableError> {
    let rows = times_s.len();
    let mut table = Table::new();
    for images in &log.images {
        let (mut files, mut paths) = (vec![Vec::new(); rows], vec![String::new(); rows]);
        for (time_s, file) in images.times_s.iter().zip(&images.files) {
            let row = times_s.partition_point(|known| known < time_s).min(rows - 1);
            files[row] = file.clone();
            paths[row] = format!("{}-{time_s:.6}.png", images.name.replace('/', "-"));
        }
        table = table.images(images.name.clone(), files, paths)?;
    }
    table = table.column("time_s", Values::F64(times_s))?;
    for (signal, values) in log.signals.iter().zip(values) {
        table = match signal.width {
            1 => table.column(signal.name.clone(), Values::F64(values))?,
            width => table.list(signal.name.clone(), &[width], Values::F64(values))?,
        };
    }
    Ok(table)
}

fn fill(log: &Log, times_s: &[f64], values: &[Vec<f64>], to: &Path, with_numbers: bool) -> Result<(), RecordError> {
    let array = |name: &str, width: usize, values: &[f64]| -> Result<(), RecordError> {
        let path = to.join(inside(name)).with_extension("npy");
        made_parent(&path)?;
        let sides: &[usize] = if width == 1 { &[] } else { &[width] };
        let mut file = NpyFile::create(&path, sides)?;
        values.chunks_exact(width).for_each(|row| file.push(row));
        file.flush()
    };
    if with_numbers {
        for (signal, values) in log.signals.iter().zip(values) {
            array(&signal.name, signal.width, values)?;
        }
        array(TIMES.trim_end_matches(".npy"), 1, times_s)?;
    }
    for images in &log.images {
        for (i, file) in images.files.iter().enumerate() {
            let path = to.join(inside(&images.name)).join(format!("{i:06}.png"));
            made_parent(&path)?;
            write_file(&path, file)?;
        }
        array(&format!("{}/times_s", images.name), 1, &images.times_s)?;
    }
    Ok(())
}

/// A name as a relative path that stays inside a folder, even for topics such as `../..`.
fn inside(name: &str) -> PathBuf {
    name.split('/').filter(|part| !part.is_empty()).map(plain_name).collect()
}
