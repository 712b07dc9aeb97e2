//! HDF5 files of groups, arrays and attributes, as h5py and robomimic read them.
//!
//! Implements only the required part of the format (version 0 of the superblock, version 1 of object headers, links in
//! the header of their group, contiguous arrays), so that no C library is needed. The same tree gives the same bytes:
//! the file holds no time stamps. Arrays are made one at a time while the file is written.

use std::io::{self, Write};

/// The kind of the values of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 32-bit floating point.
    F32,
    /// 64-bit floating point.
    F64,
    /// 64-bit integers.
    I64,
    /// Unsigned 8-bit integers: images and flags.
    U8,
    /// Texts of at most this number of bytes.
    Text(usize),
}

impl Kind {
    fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 | Self::I64 => 8,
            Self::U8 => 1,
            Self::Text(bytes) => bytes,
        }
    }
}

/// Appends the little-endian bytes of an array to a buffer, when the file is written.
pub type Fill<'a> = Box<dyn Fn(&mut Vec<u8>) + 'a>;

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// An integer.
    Whole(i64),
    /// A text.
    Text(String),
}

/// A group: attributes, and named arrays and groups.
#[derive(Default)]
pub struct Group<'a> {
    attributes: Vec<(String, Attribute)>,
    entries: Vec<(String, Entry<'a>)>,
}

enum Entry<'a> {
    Group(Group<'a>),
    Array(Vec<usize>, Kind, Fill<'a>),
}

/// A part of the file, in order.
enum Piece<'a> {
    Bytes(Vec<u8>),
    Array(usize, Fill<'a>),
}

impl<'a> Group<'a> {
    /// An empty group.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an attribute.
    pub fn attribute(&mut self, name: &str, value: Attribute) {
        self.attributes.push((name.to_owned(), value));
    }

    /// Adds a group.
    pub fn group(&mut self, name: &str, group: Group<'a>) {
        self.entries.push((name.to_owned(), Entry::Group(group)));
    }

    /// Adds an array in row-major order. Missing bytes become zeros; surplus bytes are dropped.
    pub fn array(&mut self, name: &str, shape: &[usize], kind: Kind, fill: impl Fn(&mut Vec<u8>) + 'a) {
        self.entries.push((name.to_owned(), Entry::Array(shape.to_vec(), kind, Box::new(fill))));
    }

    /// Writes a file with this group as its root. Holds one array in memory at a time.
    pub fn write(self, to: &mut impl Write) -> io::Result<()> {
        let mut plan = Plan { pieces: Vec::new(), len: SUPERBLOCK as u64 };
        let root = plan.group(self);
        let mut head = b"\x89HDF\r\n\x1a\n".to_vec();
        // Versions of superblock, free space, root and shared headers; sizes (bytes) of an offset and of a length;
        // sizes of tree leaves and nodes.
        head.extend([0, 0, 0, 0, 0, 8, 8, 0]);
        head.extend([4, 0, 16, 0, 0, 0, 0, 0]);
        for address in [0, NOWHERE, plan.len, NOWHERE] {
            head.extend(address.to_le_bytes());
        }
        // The entry of the root: name, header, no cached data.
        head.extend(0u64.to_le_bytes());
        head.extend(root.to_le_bytes());
        head.resize(SUPERBLOCK, 0);
        to.write_all(&head)?;
        let mut buffer = Vec::new();
        for piece in plan.pieces {
            match piece {
                Piece::Bytes(bytes) => to.write_all(&bytes)?,
                Piece::Array(len, fill) => {
                    buffer.clear();
                    fill(&mut buffer);
                    buffer.resize(len, 0);
                    to.write_all(&buffer)?;
                }
            }
        }
        Ok(())
    }
}

const SUPERBLOCK: usize = 96;
const NOWHERE: u64 = u64::MAX;

/// Types of header messages.
const DATASPACE: u16 = 1;
const LINK_INFO: u16 = 2;
const DATATYPE: u16 = 3;
const FILL: u16 = 5;
const LINK: u16 = 6;
const LAYOUT: u16 = 8;
const GROUP_INFO: u16 = 10;
const ATTRIBUTE: u16 = 12;

/// The pieces of a file and their length so far (bytes).
struct Plan<'a> {
    pieces: Vec<Piece<'a>>,
    len: u64,
}

impl<'a> Plan<'a> {
    /// Adds a group after its contents; returns the address of its header.
    fn group(&mut self, group: Group<'a>) -> u64 {
        let mut messages: Vec<(u16, Vec<u8>)> = Vec::new();
        let mut info = vec![0, 0];
        info.extend(NOWHERE.to_le_bytes());
        info.extend(NOWHERE.to_le_bytes());
        messages.push((LINK_INFO, info));
        messages.push((GROUP_INFO, vec![0, 0]));
        for (name, entry) in group.entries {
            let address = match entry {
                Entry::Group(inner) => self.group(inner),
                Entry::Array(shape, kind, fill) => self.array(&shape, kind, fill),
            };
            // Version 1; two bytes for the length of the name; a hard link.
            let mut link = vec![1, 1];
            link.extend((name.len() as u16).to_le_bytes());
            link.extend(name.as_bytes());
            link.extend(address.to_le_bytes());
            messages.push((LINK, link));
        }
        messages.extend(group.attributes.iter().map(|(name, value)| (ATTRIBUTE, attribute(name, value))));
        self.header(&messages)
    }

    fn array(&mut self, shape: &[usize], kind: Kind, fill: Fill<'a>) -> u64 {
        self.align();
        let (start, bytes) = (self.len, shape.iter().product::<usize>() * kind.bytes());
        self.pieces.push(Piece::Array(bytes, fill));
        self.len += bytes as u64;
        let mut layout = vec![3, 1];
        layout.extend((if bytes == 0 { NOWHERE } else { start }).to_le_bytes());
        layout.extend((bytes as u64).to_le_bytes());
        let datatype = match kind {
            Kind::F32 => float(4, 8, 127),
            Kind::F64 => float(8, 11, 1023),
            Kind::I64 => whole(8, true),
            Kind::U8 => whole(1, false),
            Kind::Text(bytes) => text(bytes),
        };
        let messages =
            [(DATASPACE, dataspace(shape)), (DATATYPE, datatype), (FILL, vec![2, 2, 2, 0]), (LAYOUT, layout)];
        self.header(&messages)
    }

    fn header(&mut self, messages: &[(u16, Vec<u8>)]) -> u64 {
        self.align();
        let start = self.len;
        let mut body = Vec::new();
        for (kind, data) in messages {
            let padded = data.len().next_multiple_of(8);
            body.extend(kind.to_le_bytes());
            body.extend((padded as u16).to_le_bytes());
            body.extend([0; 4]);
            body.extend(data);
            body.resize(body.len() + padded - data.len(), 0);
        }
        let mut header = vec![1, 0];
        header.extend((messages.len() as u16).to_le_bytes());
        header.extend(1u32.to_le_bytes());
        header.extend((body.len() as u32).to_le_bytes());
        header.extend([0; 4]);
        header.extend(body);
        self.bytes(header);
        start
    }

    fn align(&mut self) {
        self.bytes(vec![0; (self.len.next_multiple_of(8) - self.len) as usize]);
    }

    fn bytes(&mut self, bytes: Vec<u8>) {
        self.len += bytes.len() as u64;
        self.pieces.push(Piece::Bytes(bytes));
    }
}

fn dataspace(shape: &[usize]) -> Vec<u8> {
    let mut bytes = vec![1, shape.len() as u8, 0, 0, 0, 0, 0, 0];
    shape.iter().for_each(|&side| bytes.extend((side as u64).to_le_bytes()));
    bytes
}

/// The data type of a little-endian IEEE 754 float, from its bytes and the bits and bias of its exponent.
fn float(bytes: u8, exponent_bits: u8, bias: u32) -> Vec<u8> {
    let bits = 8 * bytes;
    let mantissa_bits = bits - 1 - exponent_bits;
    // Byte order and normalised mantissa, position of the sign, size, first bit and number of bits; then the positions
    // and lengths of exponent and mantissa.
    let mut datatype = vec![0x11, 0x20, bits - 1, 0, bytes, 0, 0, 0, 0, 0, bits, 0];
    datatype.extend([mantissa_bits, exponent_bits, 0, mantissa_bits]);
    datatype.extend(bias.to_le_bytes());
    datatype
}

fn whole(size: u32, signed: bool) -> Vec<u8> {
    let mut bytes = vec![0x10, if signed { 8 } else { 0 }, 0, 0];
    bytes.extend(size.to_le_bytes());
    bytes.extend([0, 0]);
    bytes.extend((8 * size as u16).to_le_bytes());
    bytes
}

/// The data type of UTF-8 of fixed length, padded with zeros.
fn text(bytes: usize) -> Vec<u8> {
    let mut datatype = vec![0x13, 0x11, 0, 0];
    datatype.extend((bytes as u32).to_le_bytes());
    datatype
}

fn attribute(name: &str, value: &Attribute) -> Vec<u8> {
    let (datatype, data) = match value {
        Attribute::Whole(number) => (whole(8, true), number.to_le_bytes().to_vec()),
        Attribute::Text(content) => {
            // At least one byte.
            let mut data = content.as_bytes().to_vec();
            data.resize(content.len().max(1), 0);
            (text(data.len()), data)
        }
    };
    let space = dataspace(&[]);
    let mut bytes = vec![1, 0];
    for size in [name.len() + 1, datatype.len(), space.len()] {
        bytes.extend((size as u16).to_le_bytes());
    }
    for part in [[name.as_bytes(), &[0]].concat(), datatype, space] {
        bytes.extend(&part);
        bytes.resize(bytes.len() + part.len().next_multiple_of(8) - part.len(), 0);
    }
    bytes.extend(data);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes equal those of the golden file, which `h5py` reads back as the same tree; see the Python tests for
    /// data sets.
    #[test]
    fn the_bytes_are_those_that_h5py_has_read() {
        let mut inner = Group::new();
        inner.attribute("num_samples", Attribute::Whole(2));
        let floats = |bytes: &mut Vec<u8>| {
            [0.5f32, -1.0, 2.0, 3.0, 4.0, 1e-3].iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        };
        inner.array("actions", &[2, 3], Kind::F32, floats);
        inner.array("picture", &[1, 2, 2, 1], Kind::U8, |bytes| bytes.extend([0, 1, 254, 255]));
        let mut root = Group::new();
        root.attribute("env_args", Attribute::Text("{\"größe\": 1}".into()));
        root.group("demo_0", inner);
        let seeds =
            |bytes: &mut Vec<u8>| [-1i64, 0, i64::MAX].iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        root.array("seed", &[3], Kind::I64, seeds);
        let drawn = |bytes: &mut Vec<u8>| [0.1f64, -3e300].iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        root.array("drawn", &[2], Kind::F64, drawn);
        let mut file = Vec::new();
        root.write(&mut file).unwrap();
        assert_eq!(file, include_bytes!("hdf5/tree.hdf5"));
    }
}
