//! Repetition and definition levels of nested columns (Dremel), as Parquet stores them.
//!
//! As in the files of other writers, the schema declares every field, list and element optional, although none is
//! missing: a value has the level [`Levels::most_defined`], an empty list [`EMPTY`].

use super::thrift::varint;
use super::{Rows, Values};

/// The definition level of an empty list.
const EMPTY: u64 = 1;

/// The levels of one column.
pub struct Levels<'a> {
    rows: &'a Rows,
    /// Number of groups around the column.
    groups: usize,
}

impl<'a> Levels<'a> {
    pub fn new(rows: &'a Rows, groups: usize) -> Self {
        Self { rows, groups }
    }

    /// The definition level of a present value: one for each optional element on its path, and two for each list.
    pub fn most_defined(&self) -> u64 {
        (self.groups + 1 + 2 * self.rows.depth()) as u64
    }

    /// Number of values in a row.
    pub fn row_len(&self, row: usize) -> usize {
        match self.rows {
            Rows::Single => 1,
            Rows::Fixed(shape) => shape.iter().product(),
            Rows::Varying(lengths) => lengths[row],
        }
    }

    /// Appends the encoded levels of a range of rows; returns the number of entries (an empty list counts as one).
    pub fn encode(&self, rows: std::ops::Range<usize>, bytes: &mut Vec<u8>) -> usize {
        let depth = self.rows.depth() as u64;
        let (mut repeats, mut defined) = (Runs::new(depth), Runs::new(self.most_defined()));
        let mut entries = 0;
        for row in rows {
            let len = self.row_len(row);
            entries += len.max(1);
            if len == 0 {
                repeats.push(0, 1);
                defined.push(EMPTY, 1);
                continue;
            }
            defined.push(self.most_defined(), len);
            if depth > 0 {
                self.repeats_of_row(len, &mut repeats);
            }
        }
        if depth > 0 {
            repeats.end(bytes);
        }
        defined.end(bytes);
        entries
    }

    /// Appends the repetition levels of a row. The first value starts the row (0), a value that starts a list of level
    /// `k` continues that of level `k − 1`, and the others continue the innermost list.
    fn repeats_of_row(&self, len: usize, repeats: &mut Runs) {
        let depth = self.rows.depth() as u64;
        let inner = match self.rows {
            Rows::Fixed(shape) => shape,
            Rows::Single | Rows::Varying(_) => &Vec::new(),
        };
        let last = inner.last().copied().unwrap_or(len);
        for start in (0..len).step_by(last) {
            let mut level = depth;
            let mut block = 1;
            for size in inner.iter().rev() {
                block *= size;
                if start % block == 0 {
                    level -= 1;
                }
            }
            repeats.push(if start == 0 { 0 } else { level }, 1);
            repeats.push(depth, last - 1);
        }
    }
}

/// Encoded size (bytes) of the value at index `at`.
pub fn value_bytes(values: &Values, at: usize) -> usize {
    match values {
        Values::F32(_) => 4,
        Values::F64(_) | Values::I64(_) => 8,
        Values::Bool(_) => 1,
        Values::Text(values) => 4 + values[at].len(),
        Values::Bytes(values) => 4 + values[at].len(),
    }
}

/// Run-length encoding of levels: the subset of Parquet's hybrid encoding that is needed here.
struct Runs {
    bytes: Vec<u8>,
    run: (u64, usize),
}

impl Runs {
    fn new(most: u64) -> Self {
        // A level takes one byte: no column has 100 nested lists.
        debug_assert!(most < 256);
        Self { bytes: vec![0; 4], run: (0, 0) }
    }

    fn push(&mut self, level: u64, times: usize) {
        if times == 0 {
            return;
        }
        if self.run.0 == level {
            self.run.1 += times;
        } else {
            self.flush();
            self.run = (level, times);
        }
    }

    fn flush(&mut self) {
        if self.run.1 > 0 {
            varint(&mut self.bytes, (self.run.1 as u64) << 1);
            self.bytes.push(self.run.0 as u8);
        }
    }

    fn end(mut self, bytes: &mut Vec<u8>) {
        self.flush();
        let len = (self.bytes.len() - 4) as u32;
        self.bytes[..4].copy_from_slice(&len.to_le_bytes());
        bytes.extend(self.bytes);
    }
}
