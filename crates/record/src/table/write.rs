//! Writes tables to a Parquet file with fixed settings, so that the same table gives the same bytes.

use super::{Rows, Table, TableError, Values};
use parquet::basic::{Encoding, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use std::io::{self, Write};
use std::sync::Arc;

/// Writes a file part by part; all parts have the same columns.
///
/// ```
/// use dermis_record::table::{Table, TableWriter, Values};
/// let part = |at: i64| Table::new().column("step", Values::I64(vec![at, at + 1]));
/// let mut writer = TableWriter::new(Vec::new());
/// writer.append(&part(0)?)?;
/// writer.append(&part(2)?)?;
/// let file = writer.finish()?;
/// assert_eq!(&file[..4], b"PAR1");
/// # Ok::<(), dermis_record::table::TableError>(())
/// ```
pub struct TableWriter<W: Write + Send>(State<W>);

/// The first part determines the columns, so that the file starts with it.
enum State<W: Write + Send> {
    Empty(W),
    Started(SerializedFileWriter<W>),
    Failed,
}

impl<W: Write + Send> TableWriter<W> {
    /// Starts a file.
    pub fn new(to: W) -> Self {
        Self(State::Empty(to))
    }

    /// Adds the rows of a table.
    pub fn append(&mut self, table: &Table) -> Result<(), TableError> {
        let schema = schema(table)?;
        let file = self.start(&schema, &table.metadata)?;
        let known = file.schema_descr().root_schema();
        if *known != *schema {
            let names =
                |schema: &Type| schema.get_fields().iter().map(|field| field.name()).collect::<Vec<_>>().join(", ");
            return Err(TableError::Columns { got: names(&schema), expected: names(known) });
        }
        if table.rows == 0 {
            return Ok(());
        }
        let mut group = file.next_row_group()?;
        for (inner, values, rows) in table.columns.iter().flat_map(|column| &column.fields) {
            let levels = Levels::new(rows, usize::from(inner.is_some()), table.rows);
            let mut column = group.next_column()?.ok_or(TableError::Encode("a column is missing".into()))?;
            match values {
                Values::F32(values) => write::<FloatType>(&mut column, values, &levels)?,
                Values::F64(values) => write::<DoubleType>(&mut column, values, &levels)?,
                Values::I64(values) => write::<Int64Type>(&mut column, values, &levels)?,
                Values::Bool(values) => write::<BoolType>(&mut column, values, &levels)?,
                Values::Text(values) => {
                    let values: Vec<ByteArray> = values.iter().map(|text| text.as_str().into()).collect();
                    write::<ByteArrayType>(&mut column, &values, &levels)?;
                }
                Values::Bytes(values) => {
                    let values: Vec<ByteArray> = values.iter().map(|bytes| bytes.clone().into()).collect();
                    write::<ByteArrayType>(&mut column, &values, &levels)?;
                }
            }
            column.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Writes the footer and returns the writer.
    pub fn finish(mut self) -> Result<W, TableError> {
        self.start(&schema(&Table::new())?, &[])?;
        match self.0 {
            State::Started(file) => Ok(file.into_inner()?),
            State::Empty(_) | State::Failed => Err(stopped()),
        }
    }

    fn start(
        &mut self,
        schema: &TypePtr,
        metadata: &[(String, String)],
    ) -> Result<&mut SerializedFileWriter<W>, TableError> {
        self.0 = match std::mem::replace(&mut self.0, State::Failed) {
            State::Empty(to) => {
                State::Started(SerializedFileWriter::new(to, Arc::clone(schema), Arc::new(settings(metadata)))?)
            }
            other => other,
        };
        match &mut self.0 {
            State::Started(file) => Ok(file),
            State::Empty(_) | State::Failed => Err(stopped()),
        }
    }
}

fn stopped() -> TableError {
    TableError::Encode("an earlier part failed".into())
}

/// Plain values without compression, dictionaries, statistics and index: images are compressed already, and every
/// reader supports it.
fn settings(metadata: &[(String, String)]) -> WriterProperties {
    let metadata: Vec<KeyValue> = metadata.iter().map(|(key, text)| KeyValue::new(key.clone(), text.clone())).collect();
    WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_created_by("dermis".into())
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::PLAIN)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_key_value_metadata((!metadata.is_empty()).then_some(metadata))
        .build()
}

fn write<T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    values: &[T::T],
    levels: &Levels,
) -> Result<(), TableError> {
    let repeated = (!levels.repeated.is_empty()).then_some(levels.repeated.as_slice());
    column.typed::<T>().write_batch(values, Some(&levels.defined), repeated)?;
    Ok(())
}

/// As in the files of other writers, every field, list and element is optional, although none is missing.
fn schema(table: &Table) -> Result<TypePtr, TableError> {
    let group = |name: &str, repetition, logical, fields| -> Result<TypePtr, ParquetError> {
        let built = Type::group_type_builder(name).with_repetition(repetition).with_logical_type(logical);
        Ok(Arc::new(built.with_fields(fields).build()?))
    };
    let field = |name: &str, values: &Values, rows: &Rows| -> Result<TypePtr, ParquetError> {
        let (kind, logical) = match values {
            Values::Bool(_) => (PhysicalType::BOOLEAN, None),
            Values::I64(_) => (PhysicalType::INT64, None),
            Values::F32(_) => (PhysicalType::FLOAT, None),
            Values::F64(_) => (PhysicalType::DOUBLE, None),
            Values::Text(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            Values::Bytes(_) => (PhysicalType::BYTE_ARRAY, None),
        };
        let depth = rows.depth();
        let own = |level: usize| if level == 0 { name } else { "element" };
        let leaf = Type::primitive_type_builder(own(depth), kind).with_repetition(Repetition::OPTIONAL);
        let mut node = Arc::new(leaf.with_logical_type(logical).build()?);
        for level in (0..depth).rev() {
            let list = group("list", Repetition::REPEATED, None, vec![node])?;
            node = group(own(level), Repetition::OPTIONAL, Some(LogicalType::List), vec![list])?;
        }
        Ok(node)
    };
    let mut columns = Vec::new();
    for column in &table.columns {
        let fields = column.fields.iter();
        let mut fields: Vec<TypePtr> = fields
            .map(|(inner, values, rows)| field(inner.unwrap_or(&column.name), values, rows))
            .collect::<Result<_, _>>()?;
        if column.fields.iter().any(|(inner, ..)| inner.is_some()) {
            fields = vec![group(&column.name, Repetition::OPTIONAL, None, fields)?];
        }
        columns.append(&mut fields);
    }
    Ok(Arc::new(Type::group_type_builder("schema").with_fields(columns).build()?))
}

/// The definition and repetition levels of the entries of a column (Dremel); an empty list counts as one entry.
struct Levels {
    defined: Vec<i16>,
    repeated: Vec<i16>,
}

impl Levels {
    fn new(rows: &Rows, groups: usize, count: usize) -> Self {
        let depth = rows.depth();
        // One for each optional element on the path of a value, and two for each list.
        let present = (groups + 1 + 2 * depth) as i16;
        let (mut defined, mut repeated) = (Vec::new(), Vec::new());
        for row in 0..count {
            let (len, shape): (usize, &[usize]) = match rows {
                Rows::Single => (1, &[]),
                Rows::Fixed(shape) => (shape.iter().product(), shape),
                Rows::Varying(lengths) => (lengths[row], &[]),
            };
            defined.resize(defined.len() + len, present);
            if len == 0 {
                defined.push(1);
                repeated.push(0);
            } else if depth > 0 {
                repeated.extend((0..len).map(|at| repetition(at, depth, shape)));
            }
        }
        Self { defined, repeated }
    }
}

/// The first value starts the row (0), a value that starts a list of level `k` continues that of level `k − 1`, and the
/// others continue the innermost list.
fn repetition(at: usize, depth: usize, shape: &[usize]) -> i16 {
    if at == 0 {
        return 0;
    }
    let mut block = 1;
    let started = shape.iter().rev().filter(|size| {
        block *= **size;
        at.is_multiple_of(block)
    });
    (depth - started.count()) as i16
}

impl From<ParquetError> for TableError {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(error) => Self::Io(*error),
                Err(inner) => Self::Encode(inner.to_string()),
            },
            other => Self::Encode(other.to_string()),
        }
    }
}
