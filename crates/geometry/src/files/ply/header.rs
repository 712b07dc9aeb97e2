//! The header of a PLY file: the encoding and the elements of its body.

use super::super::text::{unexpected, words};
use super::super::{FileError, Place, Problem};

/// Encoding of the numbers in the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Ascii,
    Little,
    Big,
}

/// The type of a number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

#[derive(Debug)]
pub(super) enum Property {
    Scalar { name: String, kind: Scalar },
    List { name: String, count: Scalar, item: Scalar },
}

/// Declaration of an element: a number of records with the same properties.
#[derive(Debug)]
pub(super) struct Element {
    pub name: String,
    pub count: usize,
    pub properties: Vec<Property>,
    /// Line of the header that declares the element.
    pub line: usize,
}

#[derive(Debug)]
pub(super) struct Header {
    pub encoding: Encoding,
    pub elements: Vec<Element>,
    /// Start of the body: offset and line.
    pub end: usize,
    pub end_line: usize,
}

impl Property {
    pub fn name(&self) -> &str {
        match self {
            Self::Scalar { name, .. } | Self::List { name, .. } => name,
        }
    }

    pub fn is_list(&self) -> bool {
        matches!(self, Self::List { .. })
    }
}

impl Scalar {
    fn parse(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"char" | b"int8" => Self::I8,
            b"uchar" | b"uint8" => Self::U8,
            b"short" | b"int16" => Self::I16,
            b"ushort" | b"uint16" => Self::U16,
            b"int" | b"int32" => Self::I32,
            b"uint" | b"uint32" => Self::U32,
            b"float" | b"float32" => Self::F32,
            b"double" | b"float64" => Self::F64,
            _ => return None,
        })
    }
}

impl Header {
    pub fn element(&self, name: &str) -> Option<&Element> {
        self.elements.iter().find(|e| e.name == name)
    }

    pub fn parse(bytes: &[u8]) -> Result<Self, FileError> {
        let (mut encoding, mut elements): (Option<Encoding>, Vec<Element>) = (None, Vec::new());
        let mut end = 0;
        for (index, text) in bytes.split_inclusive(|&b| b == b'\n').enumerate() {
            end += text.len();
            let line = index + 1;
            let found: Vec<&[u8]> = words(text).collect();
            let bad = |expected: &str| unexpected(line, expected, text.trim_ascii_end());
            match found[..] {
                [b"ply"] if line == 1 => {}
                _ if line == 1 => return Err(bad("\"ply\"")),
                [b"format", name, b"1.0"] => encoding = Some(encoding_of(name).ok_or_else(|| bad(FORMATS))?),
                [b"comment" | b"obj_info", ..] => {}
                [b"element", name, count] => {
                    let name = String::from_utf8_lossy(name).into_owned();
                    if elements.iter().any(|e| e.name == name) {
                        return Err(bad("an element that is not declared already"));
                    }
                    let count = std::str::from_utf8(count).ok().and_then(|text| text.parse().ok());
                    let count = count.ok_or_else(|| bad("\"element\", a name and a count"))?;
                    elements.push(Element { name, count, properties: Vec::new(), line });
                }
                [b"property", ref rest @ ..] => {
                    let element = elements.last_mut().ok_or_else(|| bad("an element before its properties"))?;
                    element.properties.push(property(rest).ok_or_else(|| bad("a property with type and name"))?);
                }
                // A truncated last line may still read "end_header".
                [b"end_header"] if text.ends_with(b"\n") => {
                    let encoding = encoding.ok_or_else(|| bad(FORMATS))?;
                    return Ok(Self { encoding, elements, end, end_line: line });
                }
                _ => return Err(bad("\"element\", \"property\", \"comment\" or \"end_header\"")),
            }
        }
        let line = bytes.iter().filter(|&&b| b == b'\n').count() + 1;
        Err(Problem::CutOff { expected: "\"end_header\"".into() }.at(Place::Line(line)))
    }
}

const FORMATS: &str = "\"format\" with ascii, binary_little_endian or binary_big_endian and 1.0";

fn encoding_of(name: &[u8]) -> Option<Encoding> {
    match name {
        b"ascii" => Some(Encoding::Ascii),
        b"binary_little_endian" => Some(Encoding::Little),
        b"binary_big_endian" => Some(Encoding::Big),
        _ => None,
    }
}

/// Parses the words after `property`.
fn property(rest: &[&[u8]]) -> Option<Property> {
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    match rest {
        [b"list", count, item, name] => {
            Some(Property::List { name: text(name), count: Scalar::parse(count)?, item: Scalar::parse(item)? })
        }
        [kind, name] => Some(Property::Scalar { name: text(name), kind: Scalar::parse(kind)? }),
        _ => None,
    }
}
