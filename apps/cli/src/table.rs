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
#[derive(Clone, Debug, thiserror::Error)]
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
        what: String,
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
        column: String,
        /// What is there.
        got: String,
    },
    /// A value is no whole number.
    #[error("{file}, line {line}, column `{column}`: {got:?} is not a whole number from 0 on")]
    NotWhole {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The column.
        column: String,
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

/// A CSV file in memory: a header, and rows as long as it.
pub struct Table {
    file: String,
    header: csv::StringRecord,
    rows: Vec<(u64, csv::StringRecord)>,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    index: usize,
    name: String,
}

impl Table {
    /// Reads a file. Lines that begin with `#` are comments.
    pub fn read(path: &Path) -> Result<Self, TableError> {
        let file = path.display().to_string();
        let bytes = std::fs::read(path)
            .map_err(|error| TableError::Unreadable { file: file.clone(), reason: error.to_string() })?;
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .from_reader(bytes.as_slice());
        let not_csv = |error: csv::Error| {
            let line = error.position().map_or(1, csv::Position::line);
            let reason = match error.kind() {
                csv::ErrorKind::Utf8 { .. } => "is not text in UTF-8".to_owned(),
                _ => error.to_string(),
            };
            TableError::NotCsv { file: file.clone(), line, reason }
        };
        let header = reader.headers().map_err(not_csv)?.clone();
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(not_csv)?;
            let line = record.position().map_or(0, csv::Position::line);
            if record.len() != header.len() {
                let (got, expected) = (record.len(), header.len());
                return Err(TableError::Ragged { file, line, got, expected });
            }
            rows.push((line, record));
        }
        Ok(Self { file, header, rows })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// A column by its name, whatever its case.
    pub fn column(&self, name: &str) -> Result<Column, TableError> {
        self.position(name).map(|index| Column { index, name: name.to_owned() }).ok_or_else(|| TableError::NoColumn {
            file: self.file.clone(),
            what: name.to_owned(),
            known: name.to_owned(),
            header: self.header.iter().take(12).collect::<Vec<_>>().join(","),
        })
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|column| column.eq_ignore_ascii_case(name))
    }

    /// The first of several names that is there, and the size of its unit.
    fn any_of(&self, what: &str, names: Names) -> Result<(Column, f64), TableError> {
        let place = |(name, size): &(&'static str, f64)| {
            self.position(name).map(|index| (Column { index, name: (*name).to_owned() }, *size))
        };
        names.iter().find_map(place).ok_or_else(|| TableError::NoColumn {
            file: self.file.clone(),
            what: what.to_owned(),
            known: names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
            header: self.header.iter().collect::<Vec<_>>().join(","),
        })
    }

    /// A value as a finite number.
    pub fn number(&self, row: usize, column: &Column) -> Result<f64, TableError> {
        let (line, record) = &self.rows[row];
        let text = record.get(column.index).unwrap_or_default();
        text.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(|| TableError::NotANumber {
            file: self.file.clone(),
            line: *line,
            column: column.name.clone(),
            got: text.to_owned(),
        })
    }

    /// A value as a whole number from zero.
    pub fn whole(&self, row: usize, column: &Column) -> Result<usize, TableError> {
        let value = self.number(row, column)?;
        if value >= 0.0 && value.fract() == 0.0 && value <= f64::from(u32::MAX) {
            return Ok(value as usize);
        }
        let (line, record) = &self.rows[row];
        Err(TableError::NotWhole {
            file: self.file.clone(),
            line: *line,
            column: column.name.clone(),
            got: record.get(column.index).unwrap_or_default().to_owned(),
        })
    }
}

/// Reads two columns, in SI.
pub fn read_points(
    path: &Path,
    x: (&'static str, Names),
    y: (&'static str, Names),
) -> Result<Vec<(f64, f64)>, TableError> {
    let table = Table::read(path)?;
    let ((x, x_size), (y, y_size)) = (table.any_of(x.0, x.1)?, table.any_of(y.0, y.1)?);
    (0..table.len()).map(|row| Ok((table.number(row, &x)? * x_size, table.number(row, &y)? * y_size))).collect()
}
