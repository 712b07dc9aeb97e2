//! Converts recordings to other formats.

use crate::folder::empty_folder;
use crate::log::{column_name, places};
use crate::mcap::McapLog;
use crate::npy::NpyFile;
use crate::table::{Table, Values};
use crate::{Log, RecordError, SignalLog, folder::TIMES, plain_name, write_file};
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
    /// Number of damaged places of the source that were skipped.
    pub damaged: usize,
    /// What differs from the source, in sentences.
    pub notes: Vec<String>,
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
        if log.messages.is_empty() {
            let (path, found) = (from.display().to_string(), "no messages".to_owned());
            return Err(RecordError::Nothing { path, task: "write into another file", found });
        }
        made_parent(to)?;
        let path = log.write(to)?;
        return Ok(Exported {
            path,
            signals: log.channels.len(),
            times: log.messages.len(),
            images: 0,
            cut: log.cut,
            damaged: log.damaged.len(),
            notes: log.damaged,
        });
    }
    let log = Log::read(from)?;
    let times_s = log.times_s(format == ExportFormat::Parquet);
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
        ExportFormat::Csv => drop(write_file(to, &csv(&log, &times_s))?),
        ExportFormat::Parquet => {
            let bytes = table(&log, &times_s).and_then(|table| table.to_bytes());
            write_file(to, &bytes.map_err(|error| RecordError::table(to, error))?)?;
        }
        _ => {
            empty_folder(to)?;
            let filled = fill(&log, &times_s, to, format == ExportFormat::Npy);
            // The folder was empty, so that this export wrote all of its files.
            filled.inspect_err(|_| drop(std::fs::remove_dir_all(to)))?;
        }
    }
    let images = if format == ExportFormat::Csv { 0 } else { images };
    Ok(Exported {
        path: to.to_owned(),
        signals: log.signals.len(),
        times: times_s.len(),
        images,
        cut: log.cut,
        damaged: log.damaged,
        notes: log.notes,
    })
}

fn made_parent(path: &Path) -> Result<(), RecordError> {
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => std::fs::create_dir_all(parent).map_err(|error| RecordError::write(parent, &error)),
        None => Ok(()),
    }
}

/// Empty cells stand for times at which a signal has no row.
fn csv(log: &Log, times_s: &[f64]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let of_signal = |signal: &SignalLog| {
        let (name, width) = (signal.name.clone(), signal.width);
        (0..width).map(move |place| column_name(&name, width, place)).collect::<Vec<_>>()
    };
    let header = std::iter::once("time_s".to_owned()).chain(log.signals.iter().flat_map(of_signal));
    // Memory accepts everything, and all records have the length of the header.
    let _ = writer.write_record(header);
    let mut places: Vec<_> =
        log.signals.iter().map(|signal| places(&signal.times_s, times_s).into_iter().enumerate().peekable()).collect();
    for (row, time_s) in times_s.iter().enumerate() {
        let mut cells = vec![time_s.to_string()];
        for (signal, places) in log.signals.iter().zip(&mut places) {
            match places.next_if(|(_, place)| *place == row) {
                Some((own, _)) => cells.extend(signal.row(own).iter().map(f64::to_string)),
                None => cells.resize(cells.len() + signal.width, String::new()),
            }
        }
        let _ = writer.write_record(cells);
    }
    writer.into_inner().unwrap_or_default()
}

/// The values of a signal at all times, NaN where it has none.
fn aligned(signal: &SignalLog, times_s: &[f64]) -> Vec<f64> {
    let mut values = vec![f64::NAN; times_s.len() * signal.width];
    for (own, place) in places(&signal.times_s, times_s).into_iter().enumerate() {
        values[place * signal.width..][..signal.width].copy_from_slice(signal.row(own));
    }
    values
}

fn table(log: &Log, times_s: &[f64]) -> Result<Table, crate::table::TableError> {
    let rows = times_s.len();
    let mut table = Table::new();
    for images in &log.images {
        let (mut files, mut paths) = (vec![Vec::new(); rows], vec![String::new(); rows]);
        let places = places(&images.times_s, times_s);
        for ((time_s, file), row) in images.times_s.iter().zip(&images.files).zip(places) {
            files[row] = file.clone();
            paths[row] = format!("{}-{time_s:.6}.png", images.name.replace('/', "-"));
        }
        table = table.images(images.name.clone(), files, paths)?;
    }
    table = table.column("time_s", Values::F64(times_s.to_vec()))?;
    for signal in &log.signals {
        let values = aligned(signal, times_s);
        table = match signal.width {
            1 => table.column(signal.name.clone(), Values::F64(values))?,
            width => table.list(signal.name.clone(), &[width], Values::F64(values))?,
        };
    }
    Ok(table)
}

fn fill(log: &Log, times_s: &[f64], to: &Path, with_numbers: bool) -> Result<(), RecordError> {
    let array = |name: &str, width: usize, values: &[f64]| -> Result<(), RecordError> {
        let path = to.join(inside(name)).with_extension("npy");
        made_parent(&path)?;
        let sides: &[usize] = if width == 1 { &[] } else { &[width] };
        let mut file = NpyFile::create(&path, sides)?;
        values.chunks_exact(width).for_each(|row| file.push(row));
        file.flush()
    };
    if with_numbers {
        for signal in &log.signals {
            array(&signal.name, signal.width, &aligned(signal, times_s))?;
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
