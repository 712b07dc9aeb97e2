//! Reads the records of a PLY file.

use super::super::text::{number, unexpected};
use super::super::{FileError, Place, Problem};
use super::header::{Element, Encoding, Header, Property, Scalar};

/// A position in the body. A text record is one line; the length of a binary record follows from its numbers.
pub(super) struct Body<'a> {
    bytes: &'a [u8],
    at: usize,
    encoding: Encoding,
    /// The line of the record and the rest of its text.
    line: usize,
    record: &'a [u8],
    /// The current element, for messages.
    element: String,
    claimed: usize,
    index: usize,
}

impl<'a> Body<'a> {
    pub fn new(bytes: &'a [u8], header: &Header) -> Self {
        Self {
            bytes,
            at: header.end,
            encoding: header.encoding,
            line: header.end_line,
            record: &[],
            element: String::new(),
            claimed: 0,
            index: 0,
        }
    }

    /// Position of the record, or of the next number of a binary record.
    pub fn place(&self) -> Place {
        match self.encoding {
            Encoding::Ascii => Place::Line(self.line),
            Encoding::Little | Encoding::Big => Place::Byte(self.at),
        }
    }

    /// Moves to the next record.
    pub fn begin(&mut self, element: &Element, index: usize) -> Result<(), FileError> {
        if index == 0 {
            self.element.clone_from(&element.name);
            self.claimed = element.count;
        }
        self.index = index;
        if self.encoding == Encoding::Ascii {
            loop {
                let rest = &self.bytes[self.at..];
                if rest.is_empty() {
                    return Err(self.cut_off());
                }
                let length = rest.iter().position(|&b| b == b'\n').map_or(rest.len(), |end| end + 1);
                self.record = rest[..length].trim_ascii();
                self.at += length;
                self.line += 1;
                if !self.record.is_empty() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Refuses surplus words in the record.
    pub fn end(&self) -> Result<(), FileError> {
        if self.encoding == Encoding::Ascii && !self.record.is_empty() {
            return Err(unexpected(self.line, "the end of the line", self.record));
        }
        Ok(())
    }

    /// The next number of the record. An `f64` holds every value of every type.
    pub fn scalar(&mut self, kind: Scalar) -> Result<f64, FileError> {
        match self.encoding {
            Encoding::Ascii => self.word(),
            Encoding::Little | Encoding::Big => Ok(match kind {
                Scalar::I8 => f64::from(i8::from_le_bytes(self.take()?)),
                Scalar::U8 => f64::from(u8::from_le_bytes(self.take()?)),
                Scalar::I16 => f64::from(i16::from_le_bytes(self.take()?)),
                Scalar::U16 => f64::from(u16::from_le_bytes(self.take()?)),
                Scalar::I32 => f64::from(i32::from_le_bytes(self.take()?)),
                Scalar::U32 => f64::from(u32::from_le_bytes(self.take()?)),
                Scalar::F32 => f64::from(f32::from_le_bytes(self.take()?)),
                Scalar::F64 => f64::from_le_bytes(self.take()?),
            }),
        }
    }

    /// Reads the items of a list one by one, because its length is not trusted.
    pub fn list(&mut self, property: &Property, mut item_is: impl FnMut(f64)) -> Result<(), FileError> {
        let Property::List { count, item, .. } = property else { return Ok(()) };
        let place = self.place();
        let length = self.scalar(*count)?;
        if length.fract() != 0.0 || length < 0.0 {
            return Err(Problem::PlyNotWhole { what: "list length", found: length }.at(place));
        }
        for _ in 0..length as u64 {
            item_is(self.scalar(*item)?);
        }
        Ok(())
    }

    /// Refuses anything but white space after the last element.
    pub fn expect_end(&self) -> Result<(), FileError> {
        let rest = &self.bytes[self.at..];
        let Some(offset) = rest.iter().position(|b| !b.is_ascii_whitespace()) else { return Ok(()) };
        let place = match self.encoding {
            Encoding::Ascii => Place::Line(self.line + 1 + rest[..offset].iter().filter(|&&b| b == b'\n').count()),
            Encoding::Little | Encoding::Big => Place::Byte(self.at + offset),
        };
        Err(Problem::PlyTrailing { found: rest[offset] }.at(place))
    }

    fn word(&mut self) -> Result<f64, FileError> {
        let record = self.record;
        let end = record.iter().position(u8::is_ascii_whitespace).unwrap_or(record.len());
        let value = number(&record[..end]).ok_or_else(|| {
            unexpected(self.line, &format!("another number for {:?} {}", self.element, self.index), record)
        })?;
        self.record = record[end..].trim_ascii_start();
        Ok(value)
    }

    /// The next bytes in little-endian order.
    fn take<const N: usize>(&mut self) -> Result<[u8; N], FileError> {
        let mut bytes = *self.bytes[self.at..].first_chunk::<N>().ok_or_else(|| self.cut_off())?;
        self.at += N;
        if self.encoding == Encoding::Big {
            bytes.reverse();
        }
        Ok(bytes)
    }

    fn cut_off(&self) -> FileError {
        let place = match self.encoding {
            Encoding::Ascii => Place::Line(self.line),
            Encoding::Little | Encoding::Big => Place::Byte(self.bytes.len()),
        };
        Problem::PlyCutOff { element: self.element.clone(), complete: self.index, claimed: self.claimed }.at(place)
    }
}
