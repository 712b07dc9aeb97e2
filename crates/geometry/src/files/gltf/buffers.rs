//! Loads the buffers of a glTF file: embedded, from its container, or from separate files.

use super::super::text::excerpt;
use super::super::{FileError, Place, Problem, read_regular};
use crate::limits::MAX_MESH_BYTES;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{DecodeError, Engine, alphabet};
use gltf::json::Buffer;
use std::borrow::Cow;
use std::path::Path;

/// Location of buffers in separate files.
pub(in super::super) enum External<'a> {
    /// None: there is no file system.
    Refused,
    /// The folder of the glTF file.
    Folder(&'a Path),
}

/// Loads all buffers; each has at least its declared length, all together at most [`MAX_MESH_BYTES`].
pub(super) fn load<'a>(
    buffers: &[Buffer],
    binary: Option<&'a [u8]>,
    external: &External,
) -> Result<Vec<Cow<'a, [u8]>>, FileError> {
    let mut loaded = Vec::new();
    let mut total = 0u64;
    for (index, buffer) in buffers.iter().enumerate() {
        let needs = buffer.byte_length.0;
        total = total.saturating_add(needs);
        if total > MAX_MESH_BYTES {
            let problem = Problem::TooLarge { what: "bytes of buffers", claimed: total, limit: MAX_MESH_BYTES };
            return Err(problem.at(Place::Element("buffer", index)));
        }
        let bytes = match (&buffer.uri, binary) {
            (Some(uri), _) if uri.starts_with("data:") => Cow::Owned(embedded(index, uri)?),
            (Some(uri), _) => Cow::Owned(from_file(index, uri, needs, external)?),
            (None, Some(binary)) if index == 0 => Cow::Borrowed(binary),
            (None, _) => return Err(bad_uri(index, "a uri, or the container's binary chunk", "neither")),
        };
        let has = bytes.len() as u64;
        if has < needs {
            let holder = buffer.uri.as_ref().map_or("the binary chunk".into(), |uri| excerpt(uri.as_bytes()));
            return Err(Problem::GltfTooShort { holder, needs, has }.at(Place::Element("buffer", index)));
        }
        loaded.push(bytes);
    }
    Ok(loaded)
}

fn bad_uri(buffer: usize, expected: &'static str, found: &str) -> FileError {
    let found = excerpt(found.as_bytes());
    Problem::GltfValue { expected, found }.at(Place::Element("buffer", buffer))
}

fn embedded(buffer: usize, uri: &str) -> Result<Vec<u8>, FileError> {
    match uri.split_once(',') {
        Some((kind, data)) if kind.ends_with(";base64") => decode_base64(data).map_err(|offset| {
            let found = data.get(offset..).and_then(|rest| rest.chars().next()).map_or("the end".into(), String::from);
            Problem::GltfBase64 { offset, found }.at(Place::Element("buffer", buffer))
        }),
        _ => Err(bad_uri(buffer, "a data URI with \";base64,\"", uri)),
    }
}

/// Decodes base64 (RFC 4648, section 4), with or without padding; the error is the offset of the invalid character.
fn decode_base64(text: &str) -> Result<Vec<u8>, usize> {
    const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(&alphabet::STANDARD, LENIENT).decode(text).map_err(|error| match error {
        DecodeError::InvalidByte(offset, _) | DecodeError::InvalidLastSymbol(offset, _) => offset,
        DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => text.len(),
    })
}

fn from_file(buffer: usize, uri: &str, needs: u64, external: &External) -> Result<Vec<u8>, FileError> {
    let External::Folder(folder) = external else {
        return Err(Problem::GltfExternal { uri: excerpt(uri.as_bytes()) }.at(Place::Element("buffer", buffer)));
    };
    let name = decode_percent(uri);
    // A colon ends the scheme of a URL or a drive letter.
    let leaves = name.split(['/', '\\']).any(|part| part == "..");
    if leaves || name.contains(':') || Path::new(&name).has_root() {
        return Err(bad_uri(buffer, "the name of a file in the folder of this one or below", uri));
    }
    let path = folder.join(&name);
    if leads_out(folder, &path) {
        return Err(bad_uri(buffer, "the name of a file in the folder of this one or below", uri));
    }
    // The rest of a longer file is not needed.
    read_regular(&path, needs).map_err(|problem| {
        let (path, reason) = (path.display().to_string(), problem.to_string());
        Problem::GltfBuffer { path, reason }.at(Place::Element("buffer", buffer))
    })
}

/// True if a path leads to an existing file outside of a folder, with all links resolved.
fn leads_out(folder: &Path, path: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    path.canonicalize().is_ok_and(|path| !folder.canonicalize().is_ok_and(|folder| path.starts_with(folder)))
}

/// Decodes `%20` and similar escapes; other text is unchanged.
fn decode_percent(uri: &str) -> String {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let [first, tail @ ..] = rest {
        let escape = tail.first_chunk::<2>().filter(|_| *first == b'%').and_then(|digits| {
            let [high, low] = digits.map(|d| (d as char).to_digit(16));
            Some((high? * 16 + low?) as u8)
        });
        bytes.push(escape.unwrap_or(*first));
        rest = if escape.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_with_and_without_padding_and_says_where_it_is_wrong() {
        for text in ["Zm8=", "Zm8"] {
            assert_eq!(decode_base64(text), Ok(b"fo".to_vec()));
        }
        assert_eq!(decode_base64("Zm9v!mFy"), Err(4));
        assert_eq!(decode_base64("Zm9vY"), Err(5));
    }

    #[test]
    fn escapes_in_names_are_read() {
        assert_eq!(decode_percent("my%20part.bin"), "my part.bin");
        assert_eq!(decode_percent("100%.bin%2"), "100%.bin%2");
    }
}
