//! HDF5 files of groups, arrays and attributes, as h5py and robomimic read them.
//!
//! Implements only the required part of the format (version 0 of the superblock, version 1 of object headers, links in
//! the header of their group, contiguous arrays), so that no C library is needed. The same tree gives the same bytes:
//! the file holds no time stamps.

/// The values of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// 32-bit floating point.
    F32(Vec<f32>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// Unsigned 8-bit integers: images and flags.
    U8(Vec<u8>),
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// An integer.
    Whole(i64),
    /// A text.
    Text(String),
}

/// A group: attributes, and named arrays and groups.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    attributes: Vec<(String, Attribute)>,
    entries: Vec<(String, Entry)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Entry {
    Group(Group),
    Array(Vec<usize>, Numbers),
}

impl Group {
    /// An empty group.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an attribute.
    pub fn attribute(&mut self, name: &str, value: Attribute) {
        self.attributes.push((name.to_owned(), value));
    }

    /// Adds a group.
    pub fn group(&mut self, name: &str, group: Group) {
        self.entries.push((name.to_owned(), Entry::Group(group)));
    }

    /// Adds an array in row-major order. Missing numbers become zeros; surplus numbers are dropped.
    pub fn array(&mut self, name: &str, shape: &[usize], numbers: Numbers) {
        let count = shape.iter().product();
        let numbers = match numbers {
            Numbers::F32(mut list) => Numbers::F32(fitted(&mut list, count)),
            Numbers::I64(mut list) => Numbers::I64(fitted(&mut list, count)),
            Numbers::U8(mut list) => Numbers::U8(fitted(&mut list, count)),
        };
        self.entries.push((name.to_owned(), Entry::Array(shape.to_vec(), numbers)));
    }

    /// Encodes a file with this group as its root.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut file = vec![0; SUPERBLOCK];
        let root = write_group(self, &mut file);
        let end = file.len() as u64;
        let mut head = b"\x89HDF\r\n\x1a\n".to_vec();
        // Versions of superblock, free space, root and shared headers; sizes (bytes) of an offset and of a length;
        // sizes of tree leaves and nodes.
        head.extend([0, 0, 0, 0, 0, 8, 8, 0]);
        head.extend([4, 0, 16, 0, 0, 0, 0, 0]);
        for address in [0, NOWHERE, end, NOWHERE] {
            head.extend(address.to_le_bytes());
        }
        // The entry of the root: name, header, no cached data.
        head.extend(0u64.to_le_bytes());
        head.extend(root.to_le_bytes());
        head.resize(SUPERBLOCK, 0);
        file[..SUPERBLOCK].copy_from_slice(&head);
        file
    }
}

fn fitted<T: Default + Clone>(list: &mut Vec<T>, count: usize) -> Vec<T> {
    list.resize(count, T::default());
    std::mem::take(list)
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

/// Writes a group after its contents; returns the address of its header.
fn write_group(group: &Group, file: &mut Vec<u8>) -> u64 {
    let mut messages: Vec<(u16, Vec<u8>)> = Vec::new();
    let mut info = vec![0, 0];
    info.extend(NOWHERE.to_le_bytes());
    info.extend(NOWHERE.to_le_bytes());
    messages.push((LINK_INFO, info));
    messages.push((GROUP_INFO, vec![0, 0]));
    for (name, entry) in &group.entries {
        let address = match entry {
            Entry::Group(inner) => write_group(inner, file),
            Entry::Array(shape, numbers) => write_array(shape, numbers, file),
        };
        // Version 1; two bytes for the length of the name; a hard link.
        let mut link = vec![1, 1];
        link.extend((name.len() as u16).to_le_bytes());
        link.extend(name.as_bytes());
        link.extend(address.to_le_bytes());
        messages.push((LINK, link));
    }
    messages.extend(group.attributes.iter().map(|(name, value)| (ATTRIBUTE, attribute(name, value))));
    write_header(&messages, file)
}

fn write_array(shape: &[usize], numbers: &Numbers, file: &mut Vec<u8>) -> u64 {
    align(file);
    let start = file.len() as u64;
    match numbers {
        Numbers::F32(list) => list.iter().for_each(|number| file.extend(number.to_le_bytes())),
        Numbers::I64(list) => list.iter().for_each(|number| file.extend(number.to_le_bytes())),
        Numbers::U8(list) => file.extend(list),
    }
    let bytes = file.len() as u64 - start;
    let mut layout = vec![3, 1];
    layout.extend((if bytes == 0 { NOWHERE } else { start }).to_le_bytes());
    layout.extend(bytes.to_le_bytes());
    let datatype = match numbers {
        Numbers::F32(_) => float32(),
        Numbers::I64(_) => whole(8, true),
        Numbers::U8(_) => whole(1, false),
    };
    let messages = [(DATASPACE, dataspace(shape)), (DATATYPE, datatype), (FILL, vec![2, 2, 2, 0]), (LAYOUT, layout)];
    write_header(&messages, file)
}

fn write_header(messages: &[(u16, Vec<u8>)], file: &mut Vec<u8>) -> u64 {
    align(file);
    let start = file.len() as u64;
    let mut body = Vec::new();
    for (kind, data) in messages {
        let padded = data.len().next_multiple_of(8);
        body.extend(kind.to_le_bytes());
        body.extend((padded as u16).to_le_bytes());
        body.extend([0; 4]);
        body.extend(data);
        body.resize(body.len() + padded - data.len(), 0);
    }
    file.extend([1, 0]);
    file.extend((messages.len() as u16).to_le_bytes());
    file.extend(1u32.to_le_bytes());
    file.extend((body.len() as u32).to_le_bytes());
    file.extend([0; 4]);
    file.extend(body);
    start
}

fn align(file: &mut Vec<u8>) {
    file.resize(file.len().next_multiple_of(8), 0);
}

fn dataspace(shape: &[usize]) -> Vec<u8> {
    let mut bytes = vec![1, shape.len() as u8, 0, 0, 0, 0, 0, 0];
    shape.iter().for_each(|&side| bytes.extend((side as u64).to_le_bytes()));
    bytes
}

/// The data type of a little-endian IEEE 754 float.
fn float32() -> Vec<u8> {
    let mut bytes = vec![0x11, 0x20, 31, 0, 4, 0, 0, 0, 0, 0, 32, 0, 23, 8, 0, 23];
    bytes.extend(127u32.to_le_bytes());
    bytes
}

fn whole(size: u32, signed: bool) -> Vec<u8> {
    let mut bytes = vec![0x10, if signed { 8 } else { 0 }, 0, 0];
    bytes.extend(size.to_le_bytes());
    bytes.extend([0, 0]);
    bytes.extend((8 * size as u16).to_le_bytes());
    bytes
}

fn attribute(name: &str, value: &Attribute) -> Vec<u8> {
    let (datatype, data) = match value {
        Attribute::Whole(number) => (whole(8, true), number.to_le_bytes().to_vec()),
        Attribute::Text(text) => {
            // UTF-8, padded with zeros; at least one byte.
            let mut datatype = vec![0x13, 0x11, 0, 0];
            datatype.extend((text.len().max(1) as u32).to_le_bytes());
            let mut data = text.as_bytes().to_vec();
            data.resize(text.len().max(1), 0);
            (datatype, data)
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
        inner.array("actions", &[2, 3], Numbers::F32(vec![0.5, -1.0, 2.0, 3.0, 4.0, 1e-3]));
        inner.array("picture", &[1, 2, 2, 1], Numbers::U8(vec![0, 1, 254, 255]));
        let mut root = Group::new();
        root.attribute("env_args", Attribute::Text("{\"größe\": 1}".into()));
        root.group("demo_0", inner);
        root.array("seed", &[3], Numbers::I64(vec![-1, 0, i64::MAX]));
        assert_eq!(root.to_bytes(), include_bytes!("hdf5/tree.hdf5"));
    }
}
