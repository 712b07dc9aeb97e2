//! Measurements from CSV files, whose headers carry the units: `depth_mm,force_n`.

use std::path::Path;

/// What a column may be called and how large its unit is (SI).
pub type Names = &'static [(&'static str, f64)];

/// Standard gravity (m/s²): what turns a weight in grams into newtons.
const G: f64 = 9.80665;

/// How far something was pressed (m).
pub const DEPTH: Names = &[
    ("depth_mm", 1e-3),
    ("depth_um", 1e-6),
    ("depth_m", 1.0),
    ("compression_mm", 1e-3),
    ("compression_um", 1e-6),
    ("compression_m", 1.0),
];
/// How hard (N).
pub const FORCE: Names = &[
    ("force_n", 1.0),
    ("force_mn", 1e-3),
    ("weight_g", 1e-3 * G),
    ("weight_kg", G),
    ("load_g", 1e-3 * G),
    ("load_n", 1.0),
];
/// How fast it slid (m/s).
pub const VELOCITY: Names = &[("velocity_m_per_s", 1.0), ("velocity_mm_per_s", 1e-3), ("velocity_um_per_s", 1e-6)];

/// Why a file holds no measurements: the file, the line and the column.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// It cannot be read.
    #[error("{file}: cannot be read: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// The system's reason.
        reason: String,
    },
    /// A column is missing.
    #[error("{file}, line 1: no column for the {what}; its header must be one of {known}, the header is `{header}`")]
    NoColumn {
        /// The file.
        file: String,
        /// What is looked for.
        what: &'static str,
        /// How it may be called.
        known: String,
        /// What is there.
        header: String,
    },
    /// A row is longer or shorter than the header.
    #[error("{file}, line {line}: {got} values where the header has {expected} columns")]
    Ragged {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// Values in it.
        got: usize,
        /// Columns in the header.
        expected: usize,
    },
    /// A value is no number.
    #[error("{file}, line {line}, column `{column}`: {got:?} is not a finite number")]
    NotANumber {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The column.
        column: &'static str,
        /// What is there.
        got: String,
    },
    /// No text at all.
    #[error("{file}, line {line}: {reason}")]
    NotCsv {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The reader's reason.
        reason: String,
    },
}

/// Reads two columns, in SI. Lines that begin with `#` are comments.
pub fn read_points(
    path: &Path,
    x: (&'static str, Names),
    y: (&'static str, Names),
) -> Result<Vec<(f64, f64)>, TableError> {
    let file = path.display().to_string();
    let bytes = std::fs::read(path)
        .map_err(|error| TableError::Unreadable { file: file.clone(), reason: error.to_string() })?;
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).comment(Some(b'#')).trim(csv::Trim::All).from_reader(bytes.as_slice());
    let not_csv = |error: csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        let reason = match error.kind() {
            csv::ErrorKind::Utf8 { .. } => "is not text in UTF-8".to_owned(),
            _ => error.to_string(),
        };
        TableError::NotCsv { file: file.clone(), line, reason }
    };
    let header = reader.headers().map_err(not_csv)?.clone();
    let find = |(what, names): (&'static str, Names)| {
        let place = |(name, size): &(&'static str, f64)| {
            header.iter().position(|column| column.eq_ignore_ascii_case(name)).map(|i| (i, *name, *size))
        };
        names.iter().find_map(place).ok_or_else(|| TableError::NoColumn {
            file: file.clone(),
            what,
            known: names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
            header: header.iter().collect::<Vec<_>>().join(","),
        })
    };
    let (x, y) = (find(x)?, find(y)?);
    let mut points = Vec::new();
    for record in reader.records() {
        let record = record.map_err(not_csv)?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() != header.len() {
            let (got, expected) = (record.len(), header.len());
            return Err(TableError::Ragged { file, line, got, expected });
        }
        let number = |(index, column, size): (usize, &'static str, f64)| {
            let text = record.get(index).unwrap_or_default();
            text.parse::<f64>()
                .ok()
                .filter(|value| value.is_finite())
                .map(|value| value * size)
                .ok_or_else(|| TableError::NotANumber { file: file.clone(), line, column, got: text.to_owned() })
        };
        points.push((number(x)?, number(y)?));
    }
    Ok(points)
}
