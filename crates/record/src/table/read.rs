//! Reads the columns of Parquet files, including those of other programs.

use super::pages::{Budget, Pages};
use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::{SerializedFileReader, SerializedPageReader};
use parquet::schema::types::ColumnDescriptor;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Arc, Once};

/// One column of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadColumn {
    /// Name of the column; `group.field` for a field of a group.
    pub name: String,
    /// Number of values of each row, if rows are lists.
    pub lengths: Option<Vec<usize>>,
    /// All values.
    pub values: ReadValues,
}

/// The values of a column; each has a place, also if it is missing.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadValues {
    /// Numbers and flags; NaN if missing.
    Numbers(Vec<f64>),
    /// Texts and bytes; empty if missing.
    Bytes(Vec<Vec<u8>>),
}

/// Rows read at a time.
const BATCH: usize = 1 << 12;
/// Names of the nodes between a list and its elements.
const OF_LISTS: [&str; 6] = ["list", "element", "item", "array", "bag", "array_element"];

/// Reads all columns of a file; an error describes the damage.
pub fn read_columns(bytes: Vec<u8>) -> Result<Vec<ReadColumn>, String> {
    // The decoders of the crate panic on some damaged pages.
    let read = without_messages(|| read(bytes.into()));
    read.unwrap_or_else(|| Err(ParquetError::General("a page is damaged".into()))).map_err(|error| match error {
        ParquetError::External(inner) => inner.to_string(),
        ParquetError::General(text) | ParquetError::EOF(text) | ParquetError::NYI(text) => text,
        other => other.to_string(),
    })
}

thread_local! {
    static SILENT: Cell<bool> = const { Cell::new(false) };
}

/// Calls a function; `None` if it panics, without the message of the panic.
fn without_messages<T>(call: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |about| {
            if !SILENT.get() {
                usual(about)
            }
        }));
    });
    SILENT.set(true);
    let result = catch_unwind(AssertUnwindSafe(call)).ok();
    SILENT.set(false);
    result
}

fn read(bytes: Bytes) -> Result<Vec<ReadColumn>, ParquetError> {
    let file = SerializedFileReader::new(bytes.clone())?;
    let (bytes, budget) = (Arc::new(bytes), Budget::default());
    let schema = file.metadata().file_metadata().schema_descr();
    let mut columns = Vec::new();
    for (i, about) in schema.columns().iter().enumerate() {
        let inner = about.path().parts().iter().skip(1).filter(|part| !OF_LISTS.contains(&part.as_str()));
        let name = about.path().parts().iter().take(1).chain(inner).map(String::as_str).collect::<Vec<_>>().join(".");
        let mut column = Column { lengths: (about.max_rep_level() > 0).then(Vec::new), ..Column::default() };
        for group in file.metadata().row_groups() {
            let chunk = group.column(i);
            let rows = usize::try_from(group.num_rows())?;
            if chunk.compressed_size() < 0 || chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset()) < 0 {
                return Err(ParquetError::General(format!("column {name:?} has a negative offset or size")));
            }
            // The pages are unpacked here, within the limits of the budget.
            let packed = chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
            let pages = SerializedPageReader::new(Arc::clone(&bytes), &packed, rows, None)?;
            let pages = Pages::new(pages, chunk.compression(), budget.clone());
            column.append(get_column_reader(Arc::clone(about), Box::new(pages)), about)?;
        }
        let values = match column.bytes {
            Some(bytes) => ReadValues::Bytes(bytes),
            None => ReadValues::Numbers(column.numbers),
        };
        columns.push(ReadColumn { name, lengths: column.lengths, values });
    }
    Ok(columns)
}

#[derive(Default)]
struct Column {
    lengths: Option<Vec<usize>>,
    numbers: Vec<f64>,
    bytes: Option<Vec<Vec<u8>>>,
}

impl Column {
    fn append(&mut self, reader: ColumnReader, about: &ColumnDescriptor) -> Result<(), ParquetError> {
        let Self { lengths, numbers, bytes } = self;
        let nan = f64::NAN;
        match reader {
            ColumnReader::BoolColumnReader(reader) => {
                all(reader, about, lengths, numbers, nan, |v| f64::from(u8::from(v)))
            }
            ColumnReader::Int32ColumnReader(reader) => all(reader, about, lengths, numbers, nan, f64::from),
            ColumnReader::Int64ColumnReader(reader) => all(reader, about, lengths, numbers, nan, |v| v as f64),
            ColumnReader::Int96ColumnReader(reader) => {
                all(reader, about, lengths, numbers, nan, |v| v.to_nanos() as f64)
            }
            ColumnReader::FloatColumnReader(reader) => all(reader, about, lengths, numbers, nan, f64::from),
            ColumnReader::DoubleColumnReader(reader) => all(reader, about, lengths, numbers, nan, |v| v),
            ColumnReader::ByteArrayColumnReader(reader) => {
                all(reader, about, lengths, bytes.get_or_insert_default(), Vec::new(), |v| v.data().to_vec())
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                all(reader, about, lengths, bytes.get_or_insert_default(), Vec::new(), |v| v.data().to_vec())
            }
        }
    }
}

/// Appends all entries of a chunk; a missing value becomes `missing`.
fn all<T: DataType, V: Clone>(
    mut reader: ColumnReaderImpl<T>,
    about: &ColumnDescriptor,
    lengths: &mut Option<Vec<usize>>,
    values: &mut Vec<V>,
    missing: V,
    value: impl Fn(T::T) -> V,
) -> Result<(), ParquetError> {
    let most = about.max_def_level();
    // A missing element of a list has a place in it, an empty or missing list has none.
    let least = if lengths.is_some() { most - i16::from(about.self_type().is_optional()) } else { 0 };
    loop {
        let (mut defined, mut repeated, mut found) = (Vec::new(), Vec::new(), Vec::new());
        let (rows, _, entries) = reader.read_records(
            BATCH,
            (most > 0).then_some(&mut defined),
            lengths.is_some().then_some(&mut repeated),
            &mut found,
        )?;
        if rows == 0 && entries == 0 {
            return Ok(());
        }
        let mut found = found.into_iter();
        for entry in 0..entries {
            let level = defined.get(entry).copied().unwrap_or(most);
            if let Some(lengths) = lengths {
                if repeated.get(entry).is_none_or(|level| *level == 0) {
                    lengths.push(0);
                }
                if let Some(length) = lengths.last_mut() {
                    *length += usize::from(level >= least);
                }
            }
            if level == most {
                let next = found.next().ok_or_else(|| ParquetError::General("values are missing".into()))?;
                values.push(value(next));
            } else if level >= least {
                values.push(missing.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] = include_bytes!("one_of_each.parquet");

    #[test]
    fn what_was_written_is_read() {
        let columns = read_columns(FILE.to_vec()).unwrap();
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["number", "flag", "name", "taxels", "grid", "some", "seen.bytes", "seen.path"]);
        assert_eq!(columns[0].values, ReadValues::Numbers(vec![0.1, -0.0, f64::INFINITY]));
        assert_eq!(columns[1].values, ReadValues::Numbers(vec![1.0, 0.0, 1.0]));
        assert_eq!(columns[2].values, ReadValues::Bytes(["a", "", "π"].map(|text| text.as_bytes().to_vec()).to_vec()));
        assert_eq!(columns[3].lengths, Some(vec![2, 2, 2]));
        assert_eq!(columns[3].values, ReadValues::Numbers(vec![0.5, 1.5, 2.5, 3.5, 4.5, 5.5]));
        assert_eq!((&columns[4].lengths, &columns[5].lengths), (&Some(vec![4, 4, 4]), &Some(vec![2, 0, 1])));
        assert_eq!(columns[6].values, ReadValues::Bytes(vec![vec![1], vec![], vec![2, 3]]));
    }

    #[test]
    fn what_is_damaged_is_refused_without_a_panic() {
        for length in 0..FILE.len() {
            assert!(read_columns(FILE[..length].to_vec()).is_err());
        }
        for at in 0..FILE.len() {
            for bit in 0..8 {
                let mut wrong = FILE.to_vec();
                wrong[at] ^= 1 << bit;
                let _ = read_columns(wrong);
            }
        }
    }
}
