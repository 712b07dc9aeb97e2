//! Tables of named columns as Parquet, for pandas, polars, pyarrow, DuckDB and Hugging Face's `datasets`.
//!
//! A [`Table`] holds named columns of equal length in memory. [`Table::write`] writes one table to a file; a
//! [`TableWriter`] writes several consecutive tables as the row groups of one file, so that a long recording needs the
//! memory of only one part. The same table gives the same bytes on every machine. [`read_columns`] reads the files of
//! other programs too.

mod pages;
mod read;
mod write;

pub use read::{ReadColumn, ReadValues, read_columns};
pub use write::TableWriter;

use std::io::{self, Write};

/// Error when building or writing a table.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum TableError {
    /// The columns have different lengths.
    #[error("column {column:?} has {got} rows where the table has {expected}")]
    Length { column: String, got: usize, expected: usize },
    /// The number of values does not fit the shape of the lists.
    #[error("column {column:?}: {values} values cannot be cut into lists of {shape:?}")]
    Shape { column: String, values: usize, shape: Vec<usize> },
    /// The name of the column already exists.
    #[error("there are two columns {column:?}")]
    Twice { column: String },
    /// The next part of a file has other columns than the first.
    #[error("the next part has the columns {got} where the file has {expected}")]
    Columns { got: String, expected: String },
    /// The table cannot be encoded.
    #[error("the table cannot be encoded as Parquet: {0}")]
    Encode(String),
    /// The file could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The values of a column, row by row.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// 32-bit floating point.
    F32(Vec<f32>),
    /// 64-bit floating point.
    F64(Vec<f64>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// Booleans.
    Bool(Vec<bool>),
    /// Texts.
    Text(Vec<String>),
    /// Bytes, such as an encoded image.
    Bytes(Vec<Vec<u8>>),
}

impl Values {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::Text(values) => values.len(),
            Self::Bytes(values) => values.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The shape of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Rows {
    /// One value.
    Single,
    /// A list of this shape in row-major order: `[14, 6]` is 14 lists of 6.
    Fixed(Vec<usize>),
    /// A list of variable length; holds the length of each row.
    Varying(Vec<usize>),
}

impl Rows {
    /// Nesting depth of lists.
    fn depth(&self) -> usize {
        match self {
            Self::Single => 0,
            Self::Fixed(shape) => shape.len(),
            Self::Varying(_) => 1,
        }
    }
}

/// One column, or two under one name for an image.
#[derive(Clone, Debug, PartialEq)]
struct Column {
    name: String,
    /// Name within the group, values and row shape of each field. Without a name the field is the column itself.
    fields: Vec<(Option<&'static str>, Values, Rows)>,
}

/// Named columns of one length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    rows: usize,
    columns: Vec<Column>,
    metadata: Vec<(String, String)>,
}

impl Table {
    /// Creates a table without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Names of the columns, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Adds a column with one value per row.
    pub fn column(self, name: impl Into<String>, values: Values) -> Result<Self, TableError> {
        let rows = values.len();
        self.push(name.into(), rows, vec![(None, values, Rows::Single)])
    }

    /// Adds a column with a list of fixed shape per row; `[84]` for 84 taxels, `[14, 6]` for lists of lists.
    pub fn list(self, name: impl Into<String>, shape: &[usize], values: Values) -> Result<Self, TableError> {
        let name = name.into();
        let each: usize = shape.iter().product();
        if each == 0 || shape.is_empty() || !values.len().is_multiple_of(each) {
            return Err(TableError::Shape { column: name, values: values.len(), shape: shape.to_vec() });
        }
        let rows = values.len() / each;
        self.push(name, rows, vec![(None, values, Rows::Fixed(shape.to_vec()))])
    }

    /// Adds a column with a list per row; `lengths` holds the number of values of each.
    pub fn lists(self, name: impl Into<String>, lengths: Vec<usize>, values: Values) -> Result<Self, TableError> {
        let name = name.into();
        if lengths.iter().sum::<usize>() != values.len() {
            return Err(TableError::Shape { column: name, values: values.len(), shape: lengths });
        }
        self.push(name, lengths.len(), vec![(None, values, Rows::Varying(lengths))])
    }

    /// Adds a column of encoded images with their file names, in the layout of Hugging Face's `Image`: `{bytes, path}`.
    pub fn images(self, name: impl Into<String>, bytes: Vec<Vec<u8>>, paths: Vec<String>) -> Result<Self, TableError> {
        let name = name.into();
        if bytes.len() != paths.len() {
            return Err(TableError::Length { column: name, got: paths.len(), expected: bytes.len() });
        }
        let fields = vec![
            (Some("bytes"), Values::Bytes(bytes), Rows::Single),
            (Some("path"), Values::Text(paths), Rows::Single),
        ];
        self.push(name, fields[0].1.len(), fields)
    }

    /// Adds a key–value pair to the file metadata, such as the `huggingface` description of features.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, text: impl Into<String>) -> Self {
        self.metadata.push((key.into(), text.into()));
        self
    }

    fn push(
        mut self,
        name: String,
        rows: usize,
        fields: Vec<(Option<&'static str>, Values, Rows)>,
    ) -> Result<Self, TableError> {
        if self.columns.iter().any(|column| column.name == name) {
            return Err(TableError::Twice { column: name });
        }
        if !self.columns.is_empty() && rows != self.rows {
            return Err(TableError::Length { column: name, got: rows, expected: self.rows });
        }
        self.rows = rows;
        self.columns.push(Column { name, fields });
        Ok(self)
    }

    /// Writes the table as a Parquet file.
    pub fn write<W: Write + Send>(&self, to: W) -> Result<W, TableError> {
        let mut writer = TableWriter::new(to);
        writer.append(self)?;
        writer.finish()
    }

    /// Encodes the table as a Parquet file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, TableError> {
        self.write(Vec::new())
    }
}

#[cfg(test)]
mod tests;
