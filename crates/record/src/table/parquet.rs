//! Writes tables to a Parquet file: pages of plain values, and a footer with their offsets.

use super::levels::{Levels, value_bytes};
use super::thrift::Struct;
use super::{Table, TableError, Values};
use std::io::Write;
use std::ops::Range;

const MAGIC: &[u8; 4] = b"PAR1";
/// Size (bytes) at which a page is closed.
const PAGE_BYTES: usize = 1 << 20;

const OPTIONAL: i32 = 1;
const REPEATED: i32 = 2;
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const UTF8: i32 = 0;
const LIST: i32 = 3;
const UNCOMPRESSED: i32 = 0;
const DATA_PAGE: i32 = 0;
/// Fields of the union of logical types.
const STRING_TYPE: i16 = 1;
const LIST_TYPE: i16 = 3;

/// Writes a file part by part; all parts have the same columns.
///
/// ```
/// use dermis_record::table::{Table, TableWriter, Values};
/// let part = |at: i64| Table::new().column("step", Values::I64(vec![at, at + 1]));
/// let mut writer = TableWriter::new(Vec::new())?;
/// writer.append(&part(0)?)?;
/// writer.append(&part(2)?)?;
/// let file = writer.finish()?;
/// assert_eq!(&file[..4], b"PAR1");
/// # Ok::<(), dermis_record::table::TableError>(())
/// ```
pub struct TableWriter<W: Write> {
    to: W,
    at: u64,
    rows: usize,
    schema: Option<Head>,
    groups: Vec<Struct>,
}

/// Schema and metadata of the file, from its first part.
#[derive(Default)]
struct Head {
    elements: Vec<SchemaElement>,
    metadata: Vec<(String, String)>,
}

impl<W: Write> TableWriter<W> {
    /// Starts a file.
    pub fn new(mut to: W) -> Result<Self, TableError> {
        to.write_all(MAGIC)?;
        Ok(Self { to, at: MAGIC.len() as u64, rows: 0, schema: None, groups: Vec::new() })
    }

    /// Adds the rows of a table.
    pub fn append(&mut self, table: &Table) -> Result<(), TableError> {
        let schema = schema(table);
        match &self.schema {
            None => self.schema = Some(Head { elements: schema, metadata: table.metadata.clone() }),
            Some(first) if first.elements == schema => {}
            Some(first) => {
                let failed = |schema: &[SchemaElement]| {
                    let outer = schema.iter().skip(1).map(|element| element.name.as_str());
                    outer.filter(|name| !["list", "element"].contains(name)).collect::<Vec<_>>().join(", ")
                };
                return Err(TableError::Columns { got: failed(&schema), expected: failed(&first.elements) });
            }
        }
        if table.rows == 0 {
            return Ok(());
        }
        let start = self.at;
        let mut chunks = Vec::new();
        for column in &table.columns {
            for (inner, values, rows) in &column.fields {
                let mut path = vec![column.name.as_str()];
                path.extend(inner.iter());
                path.extend((0..rows.depth()).flat_map(|_| ["list", "element"]));
                chunks.push(self.chunk(&path, values, &Levels::new(rows, usize::from(inner.is_some())), table.rows)?);
            }
        }
        let bytes = (self.at - start) as i64;
        let group = Struct::new().parts(1, chunks).i64(2, bytes).i64(3, table.rows as i64).i64(5, start as i64);
        self.groups.push(group.i64(6, bytes));
        self.rows += table.rows;
        Ok(())
    }

    /// Writes the footer and returns the writer.
    pub fn finish(mut self) -> Result<W, TableError> {
        let Head { elements, metadata } = self.schema.take().unwrap_or_default();
        let elements = elements.into_iter().map(SchemaElement::encode).collect();
        let metadata = metadata.iter().map(|(key, text)| Struct::new().text(1, key).text(2, text)).collect::<Vec<_>>();
        let groups = std::mem::take(&mut self.groups);
        let mut footer = Struct::new().i32(1, 1).parts(2, elements).i64(3, self.rows as i64).parts(4, groups);
        if !metadata.is_empty() {
            footer = footer.parts(5, metadata);
        }
        let footer = footer.text(6, "dermis").end();
        self.to.write_all(&footer)?;
        self.to.write_all(&(footer.len() as u32).to_le_bytes())?;
        self.to.write_all(MAGIC)?;
        self.to.flush()?;
        Ok(self.to)
    }

    /// Writes one column of one part, page by page.
    fn chunk(&mut self, path: &[&str], values: &Values, levels: &Levels, rows: usize) -> Result<Struct, TableError> {
        let start = self.at;
        let (mut entries, mut row, mut value) = (0, 0, 0);
        while row < rows {
            let (first_row, first_value, mut size) = (row, value, 0);
            while row < rows && size < PAGE_BYTES {
                let next = value + levels.row_len(row);
                size += (value..next).map(|at| value_bytes(values, at)).sum::<usize>();
                (row, value) = (row + 1, next);
            }
            let mut page = Vec::with_capacity(size + 64);
            let page_entries = levels.encode(first_row..row, &mut page);
            plain(values, first_value..value, &mut page);
            let of_page = Struct::new().i32(1, page_entries as i32).i32(2, PLAIN).i32(3, RLE).i32(4, RLE);
            let bytes = page.len() as i32;
            let header = Struct::new().i32(1, DATA_PAGE).i32(2, bytes).i32(3, bytes).part(5, of_page).end();
            self.to.write_all(&header)?;
            self.to.write_all(&page)?;
            self.at += (header.len() + page.len()) as u64;
            entries += page_entries;
        }
        let bytes = (self.at - start) as i64;
        let about = Struct::new().i32(1, physical_type(values)).i32s(2, &[PLAIN, RLE]).texts(3, path);
        let about = about.i32(4, UNCOMPRESSED).i64(5, entries as i64).i64(6, bytes).i64(7, bytes).i64(9, start as i64);
        Ok(Struct::new().i64(2, start as i64).part(3, about))
    }
}

/// A node of the schema, in depth-first order.
#[derive(Clone, Debug, Default, PartialEq)]
struct SchemaElement {
    name: String,
    kind: Option<i32>,
    repetition: Option<i32>,
    children: Option<i32>,
    converted: Option<i32>,
    logical: Option<i16>,
}

impl SchemaElement {
    fn encode(self) -> Struct {
        let mut element = Struct::new();
        if let Some(kind) = self.kind {
            element = element.i32(1, kind);
        }
        if let Some(repetition) = self.repetition {
            element = element.i32(3, repetition);
        }
        element = element.text(4, &self.name);
        if let Some(children) = self.children {
            element = element.i32(5, children);
        }
        if let Some(converted) = self.converted {
            element = element.i32(6, converted);
        }
        if let Some(logical) = self.logical {
            element = element.part(10, Struct::new().part(logical, Struct::new()));
        }
        element
    }
}

fn schema(table: &Table) -> Vec<SchemaElement> {
    let group = |name: &str, repetition, children: usize| SchemaElement {
        name: name.to_owned(),
        repetition: Some(repetition),
        children: Some(children as i32),
        ..SchemaElement::default()
    };
    let mut elements = vec![SchemaElement { repetition: None, ..group("schema", OPTIONAL, table.columns.len()) }];
    for column in &table.columns {
        if column.fields.iter().any(|(inner, ..)| inner.is_some()) {
            elements.push(group(&column.name, OPTIONAL, column.fields.len()));
        }
        for (inner, values, rows) in &column.fields {
            let mut name = inner.unwrap_or(&column.name);
            for _ in 0..rows.depth() {
                let list = group(name, OPTIONAL, 1);
                elements.push(SchemaElement { converted: Some(LIST), logical: Some(LIST_TYPE), ..list });
                elements.push(group("list", REPEATED, 1));
                name = "element";
            }
            let is_text = matches!(values, Values::Text(_));
            elements.push(SchemaElement {
                name: name.to_owned(),
                kind: Some(physical_type(values)),
                repetition: Some(OPTIONAL),
                children: None,
                converted: is_text.then_some(UTF8),
                logical: is_text.then_some(STRING_TYPE),
            });
        }
    }
    elements
}

fn physical_type(values: &Values) -> i32 {
    match values {
        Values::Bool(_) => 0,
        Values::I64(_) => 2,
        Values::F32(_) => 4,
        Values::F64(_) => 5,
        Values::Text(_) | Values::Bytes(_) => 6,
    }
}

fn plain(values: &Values, range: Range<usize>, bytes: &mut Vec<u8>) {
    let with_length = |bytes: &mut Vec<u8>, value: &[u8]| {
        bytes.extend((value.len() as u32).to_le_bytes());
        bytes.extend(value);
    };
    match values {
        Values::F32(values) => values[range].iter().for_each(|value| bytes.extend(value.to_le_bytes())),
        Values::F64(values) => values[range].iter().for_each(|value| bytes.extend(value.to_le_bytes())),
        Values::I64(values) => values[range].iter().for_each(|value| bytes.extend(value.to_le_bytes())),
        Values::Bool(values) => bytes.extend(
            values[range]
                .chunks(8)
                .map(|eight| eight.iter().enumerate().fold(0, |byte, (bit, &value)| byte | u8::from(value) << bit)),
        ),
        Values::Text(values) => values[range].iter().for_each(|value| with_length(bytes, value.as_bytes())),
        Values::Bytes(values) => values[range].iter().for_each(|value| with_length(bytes, value)),
    }
}
