//! NumPy arrays (`.npy`, format version 1.0).

use crate::{RecordError, write_file};
use dermis_geometry::limits::MAX_RECORDING_BYTES;
use dermis_geometry::regular_file;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Length (bytes) of every header: sufficient for the largest number of rows.
const HEADER: usize = 128;

/// A `.npy` file of 64-bit numbers that grows row by row. Rows are written before the header counts them, so numpy can
/// load the file at any time.
pub(crate) struct NpyFile {
    path: PathBuf,
    file: File,
    /// Shape of a row; empty for single numbers.
    sides: Vec<usize>,
    rows: usize,
    waiting: Vec<u8>,
    waiting_rows: usize,
}

impl NpyFile {
    /// Creates an array without rows.
    pub fn create(path: &Path, sides: &[usize]) -> Result<Self, RecordError> {
        let file = write_file(path, &header("<f8", &[&[0], sides].concat()))?;
        let (path, sides) = (path.to_owned(), sides.to_vec());
        Ok(Self { path, file, sides, rows: 0, waiting: Vec::new(), waiting_rows: 0 })
    }

    /// Adds a row in memory.
    pub fn push(&mut self, row: &[f64]) {
        debug_assert_eq!(row.len(), self.sides.iter().product::<usize>());
        row.iter().for_each(|value| self.waiting.extend(value.to_le_bytes()));
        self.waiting_rows += 1;
    }

    /// Writes the buffered rows to the file.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        if self.waiting_rows == 0 {
            return Ok(());
        }
        let failed = |error: std::io::Error| RecordError::write(&self.path, &error);
        let row_bytes = 8 * self.sides.iter().product::<usize>();
        self.file.seek(SeekFrom::Start((HEADER + self.rows * row_bytes) as u64)).map_err(failed)?;
        self.file.write_all(&self.waiting).map_err(failed)?;
        self.rows += self.waiting_rows;
        self.waiting.clear();
        self.waiting_rows = 0;
        self.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        self.file.write_all(&header("<f8", &[&[self.rows][..], &self.sides].concat())).map_err(failed)
    }
}

/// A `.npy` file of 32-bit floats in row-major order. `None` unless the shape matches the number of values.
pub fn of_f32(shape: &[usize], values: impl ExactSizeIterator<Item = f32>) -> Option<Vec<u8>> {
    whole("<f4", shape, values.map(f32::to_le_bytes))
}

/// A `.npy` file of 64-bit floats in row-major order. `None` unless the shape matches the number of values.
pub fn of_f64(shape: &[usize], values: impl ExactSizeIterator<Item = f64>) -> Option<Vec<u8>> {
    whole("<f8", shape, values.map(f64::to_le_bytes))
}

fn whole<const N: usize>(
    kind: &str,
    shape: &[usize],
    values: impl ExactSizeIterator<Item = [u8; N]>,
) -> Option<Vec<u8>> {
    let fits = shape.iter().product::<usize>() == values.len();
    fits.then(|| header(kind, shape).into_iter().chain(values.flatten()).collect())
}

/// The header of an array: `kind` is the numpy type, such as `<f8`.
fn header(kind: &str, shape: &[usize]) -> Vec<u8> {
    let shape: String = shape.iter().map(|side| format!("{side}, ")).collect();
    let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}), }}", shape.trim_end());
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((HEADER as u16 - 10).to_le_bytes());
    bytes.extend(text.into_bytes());
    bytes.resize(HEADER - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// Reads a `.npy` file: number of rows, numbers per row, and the numbers.
pub fn read(path: &Path) -> Result<(usize, usize, Vec<f64>), RecordError> {
    let bytes = regular_file::read(path, MAX_RECORDING_BYTES).map_err(|error| RecordError::read(path, &error))?;
    parse(&bytes).map_err(|reason| RecordError::Damaged {
        path: path.display().to_string(),
        what: "array of numbers as numpy keeps them",
        reason: reason.to_owned(),
    })
}

fn parse(bytes: &[u8]) -> Result<(usize, usize, Vec<f64>), &'static str> {
    let cut = "it is too short";
    let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or("it does not start as one")?;
    let (length, start): (usize, usize) = match rest.first() {
        Some(1) => (rest.get(2..4).map(|l| usize::from(u16::from_le_bytes([l[0], l[1]]))).ok_or(cut)?, 10),
        Some(2 | 3) => {
            let length = rest.get(2..6).ok_or(cut)?;
            (u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize, 12)
        }
        _ => return Err("its version is none of 1 to 3"),
    };
    let text = bytes.get(start..start.saturating_add(length)).ok_or(cut)?;
    let text = std::str::from_utf8(text).map_err(|_| "its header is no text")?;
    let after = |key: &str| text.split_once(key).map(|(_, after)| after.trim_start_matches([':', ' ', '\'']));
    if after("'fortran_order'").is_none_or(|order| order.starts_with("True")) {
        return Err("its rows must come first (C order)");
    }
    let kind = after("'descr'").and_then(|kind| kind.split('\'').next()).ok_or("its header has no `descr`")?;
    let shape = after("'shape'").and_then(|shape| shape.trim_start_matches('(').split(')').next());
    let sides: Result<Vec<usize>, _> =
        shape.unwrap_or_default().split(',').map(str::trim).filter(|s| !s.is_empty()).map(str::parse).collect();
    let sides = sides.map_err(|_| "its shape is none")?;
    let (rows, width) = match sides.split_first() {
        Some((rows, inner)) => {
            (*rows, inner.iter().try_fold(1usize, |product, side| product.checked_mul(*side)).ok_or(cut)?)
        }
        None => (1, 1),
    };
    let count = rows.checked_mul(width).ok_or(cut)?;
    let data = &bytes[start + length..];
    let values: Vec<f64> = match kind {
        "<f8" => numbers(data, count, f64::from_le_bytes),
        "<f4" => numbers(data, count, |four| f64::from(f32::from_le_bytes(four))),
        "<i4" => numbers(data, count, |four| f64::from(i32::from_le_bytes(four))),
        "<u4" => numbers(data, count, |four| f64::from(u32::from_le_bytes(four))),
        "<u2" => numbers(data, count, |two| f64::from(u16::from_le_bytes(two))),
        "<i8" => numbers(data, count, |eight| i64::from_le_bytes(eight) as f64),
        "|u1" => numbers(data, count, |[one]: [u8; 1]| f64::from(one)),
        _ => return Err("its numbers must be <f8, <f4, <i4, <i8, <u2, <u4 or |u1"),
    }
    .ok_or(cut)?;
    Ok((rows, width, values))
}

fn numbers<const N: usize>(data: &[u8], count: usize, number: impl Fn([u8; N]) -> f64) -> Option<Vec<f64>> {
    let data = data.get(..count.checked_mul(N)?)?;
    Some(data.chunks_exact(N).map(|bytes| number(std::array::from_fn(|i| bytes[i]))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_as_numpy_wants_it() {
        let bytes = of_f32(&[2, 3], (0..6u8).map(f32::from)).unwrap();
        let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        assert_eq!((10 + length) % 64, 0);
        let text = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
        assert!(
            text.starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3,), }") && text.ends_with('\n')
        );
        assert_eq!(bytes.len(), 10 + length + 24);
        assert_eq!(&bytes[bytes.len() - 4..], 5f32.to_le_bytes());
        assert!(of_f64(&[7], [1.0].into_iter()).is_none());
    }

    #[test]
    fn an_array_grows_and_is_read_at_any_moment() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let mut file = NpyFile::create(&path, &[2, 2]).unwrap();
        assert_eq!(read(&path).unwrap(), (0, 4, vec![]));
        for row in 0..3 {
            file.push(&[f64::from(row), 0.5, -1.0, 1e-300]);
            assert_eq!(read(&path).unwrap().0, row as usize);
            file.flush().unwrap();
            let (rows, width, values) = read(&path).unwrap();
            assert_eq!((rows, width), (row as usize + 1, 4));
            assert_eq!(values[4 * row as usize..], [f64::from(row), 0.5, -1.0, 1e-300]);
        }
        // The reader ignores rows that the header does not count yet.
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend([7; 20]);
        assert_eq!(parse(&bytes).unwrap().0, 3);
        for length in 0..bytes.len() - 20 {
            assert!(parse(&bytes[..length]).is_err(), "{length}");
        }
    }
}
