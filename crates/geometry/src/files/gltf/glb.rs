//! The binary container of glTF: a header of 12 bytes, then chunks with 8 bytes of header each.

use super::super::text::excerpt;
use super::super::{FileError, Place, Problem};

/// Returns the JSON and the binary chunk, if there is one.
pub(super) fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), FileError> {
    let header_error = |offset: usize, expected, found: &[u8]| {
        Problem::GlbHeader { expected, found: excerpt(found) }.at(Place::Byte(offset))
    };
    if !bytes.starts_with(b"glTF") {
        return Err(header_error(0, "\"glTF\"", &bytes[..bytes.len().min(4)]));
    }
    let length_error =
        |offset, what, claimed, found| Problem::GlbLength { what, claimed, found }.at(Place::Byte(offset));
    let (Some(version), Some(length)) = (number(bytes, 4), number(bytes, 8)) else {
        return Err(length_error(0, "a header", 12, bytes.len()));
    };
    if version != 2 {
        return Err(Problem::GltfVersion { found: version.to_string() }.at(Place::Byte(4)));
    }
    if length != bytes.len() {
        return Err(length_error(8, "a file", length, bytes.len()));
    }

    let (mut json, mut binary) = (None, None);
    let mut at = 12;
    while at < bytes.len() {
        let (Some(length), Some(kind)) = (number(bytes, at), bytes.get(at + 4..at + 8)) else {
            return Err(length_error(at, "a chunk header", 8, bytes.len() - at));
        };
        let rest = &bytes[at + 8..];
        let data = rest.get(..length).ok_or_else(|| length_error(at, "a chunk", length, rest.len()))?;
        match (kind, json) {
            (b"JSON", None) => json = Some(data),
            (_, None) => return Err(header_error(at + 4, "a chunk of type \"JSON\"", kind)),
            // Chunks of other types belong to extensions.
            (b"BIN\0", Some(_)) => binary = binary.or(Some(data)),
            _ => {}
        }
        at += 8 + length;
    }
    json.map(|json| (json, binary)).ok_or_else(|| length_error(12, "a chunk header", 8, 0))
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let number = bytes.get(at..)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*number)).ok()
}
