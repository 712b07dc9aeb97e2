//! Reads measurements from CSV files whose headers carry the units: `depth_mm,force_n`. Errors name the file, the line and the column.

use anyhow::{Context, bail};
use dermis::geometry::limits::MAX_TABLE_BYTES;
use dermis::geometry::regular_file;
use std::path::Path;

/// Accepted names of a column, each with the size of its unit in SI.
pub type Names = &'static [(&'static str, f64)];

/// Standard gravity (m/s²), to convert weights to forces.
const G: f64 = 9.80665;

/// Columns of depth (m).
pub const DEPTH: Names = &[
    ("depth_mm", 1e-3),
    ("depth_um", 1e-6),
    ("depth_m", 1.0),
    ("compression_mm", 1e-3),
    ("compression_um", 1e-6),
    ("compression_m", 1.0),
];
/// Columns of force (N).
pub const FORCE: Names = &[
    ("force_n", 1.0),
    ("force_mn", 1e-3),
    ("weight_g", 1e-3 * G),
    ("weight_kg", G),
    ("load_g", 1e-3 * G),
    ("load_n", 1.0),
];
/// Columns of sliding velocity (m/s).
pub const VELOCITY: Names = &[("velocity_m_per_s", 1.0), ("velocity_mm_per_s", 1e-3), ("velocity_um_per_s", 1e-6)];

/// Columns of displacement along the surface (m).
pub const SHEAR: Names = &[("shear_mm", 1e-3), ("shear_um", 1e-6), ("shear_m", 1.0)];
/// Columns of force along the surface (N).
pub const SHEAR_FORCE: Names = &[("shear_force_n", 1.0), ("shear_force_mn", 1e-3)];
/// Columns of time (s).
pub const TIME: Names = &[("time_s", 1.0), ("time_ms", 1e-3)];

/// Columns of temperature above a reference (K).
pub const RISE: Names = &[("rise_K", 1.0)];

/// A CSV file in memory: a header, and rows of the same length.
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
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let file = path.display().to_string();
        let bytes = regular_file::read(path, MAX_TABLE_BYTES).with_context(|| format!("{file}: cannot be read"))?;
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
            anyhow::anyhow!("{file}, line {line}: {reason}")
        };
        let header = reader.headers().map_err(not_csv)?.clone();
        if header.len() == 1 && header[0].contains([';', '\t']) {
            let header = &header[0];
            bail!(
                "{file}, line 1: the header `{header}` has no commas; separate columns by commas, and write numbers with a decimal point"
            );
        }
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(not_csv)?;
            let line = record.position().map_or(0, csv::Position::line);
            if record.len() != header.len() {
                bail!("{file}, line {line}: {} values where the header has {} columns", record.len(), header.len());
            }
            rows.push((line, record));
        }
        Ok(Self { file, header, rows })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// A column by name, ignoring case.
    pub fn column(&self, name: &str) -> anyhow::Result<Column> {
        self.any_of(name, &[(name, 1.0)]).map(|(column, _)| column)
    }

    /// The one of several names that the header has, and the size of its unit.
    fn any_of(&self, what: &str, names: &[(&str, f64)]) -> anyhow::Result<(Column, f64)> {
        let place = |(index, column): (usize, &str)| {
            let (name, size) = names.iter().find(|(name, _)| column.eq_ignore_ascii_case(name))?;
            Some((Column { index, name: (*name).to_owned() }, *size))
        };
        let mut found = self.header.iter().enumerate().filter_map(place);
        let first = found.next();
        if let (Some((one, _)), Some((other, _))) = (&first, found.next()) {
            let (file, one, other) = (&self.file, &one.name, &other.name);
            bail!("{file}, line 1: the columns `{one}` and `{other}` are both the {what}: keep one of them");
        }
        first.with_context(|| {
            let known = names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            let header = self.header.iter().take(12).collect::<Vec<_>>().join(",");
            let file = &self.file;
            format!(
                "{file}, line 1: no column for the {what}; its header must be one of {known}, the header is `{header}`"
            )
        })
    }

    /// The name in this file of a column with several names.
    pub fn name(&self, what: &str, names: Names) -> anyhow::Result<String> {
        self.any_of(what, names).map(|(column, _)| column.name)
    }

    /// A column in SI units.
    pub fn values(&self, what: &str, names: Names) -> anyhow::Result<Vec<f64>> {
        let (column, size) = self.any_of(what, names)?;
        (0..self.len()).map(|row| Ok(self.number(row, &column)? * size)).collect()
    }

    /// A column in SI units, if the file has it.
    pub fn optional_values(&self, what: &str, names: Names) -> anyhow::Result<Option<Vec<f64>>> {
        let is_there = names.iter().any(|(name, _)| self.header.iter().any(|column| column.eq_ignore_ascii_case(name)));
        if is_there { self.values(what, names).map(Some) } else { Ok(None) }
    }

    /// Two columns in SI units.
    pub fn points(&self, x: (&str, Names), y: (&str, Names)) -> anyhow::Result<Vec<(f64, f64)>> {
        Ok(self.values(x.0, x.1)?.into_iter().zip(self.values(y.0, y.1)?).collect())
    }

    /// A column of times (s), if the file has it.
    pub fn optional_times(&self, name: &str) -> anyhow::Result<Option<Vec<f64>>> {
        if !self.header.iter().any(|column| column.eq_ignore_ascii_case(name)) {
            return Ok(None);
        }
        let column = self.column(name)?;
        let time = |row: usize| match self.number(row, &column)? {
            time if time >= 0.0 => Ok(time),
            _ => bail!(self.not(row, &column, "a time of 0 s or more")),
        };
        (0..self.len()).map(time).collect::<anyhow::Result<_>>().map(Some)
    }

    /// A value as a finite number.
    pub fn number(&self, row: usize, column: &Column) -> anyhow::Result<f64> {
        let value = self.text(row, column).parse::<f64>().ok().filter(|value| value.is_finite());
        value.with_context(|| self.not(row, column, "a finite number"))
    }

    /// A value as a non-negative integer.
    pub fn whole(&self, row: usize, column: &Column) -> anyhow::Result<usize> {
        let value = self.number(row, column)?;
        if value >= 0.0 && value.fract() == 0.0 && value <= f64::from(u32::MAX) {
            return Ok(value as usize);
        }
        bail!(self.not(row, column, "a whole number from 0 on"))
    }

    fn text(&self, row: usize, column: &Column) -> &str {
        self.rows[row].1.get(column.index).unwrap_or_default()
    }

    fn not(&self, row: usize, column: &Column, rule: &str) -> String {
        let (file, line, text) = (&self.file, self.rows[row].0, self.text(row, column));
        format!("{file}, line {line}, column `{}`: {text:?} is not {rule}", column.name)
    }
}
