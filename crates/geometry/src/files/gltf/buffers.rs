//! Loads the buffers of a glTF file: embedded, from its container, or from separate files.

use super::super::text::excerpt;
use super::super::{FileError, Place, Problem};
use super::document::Buffer;
use std::borrow::Cow;
use std::path::Path;

/// Location of buffers in separate files.
pub(in super::super) enum External<'a> {
    /// None: there is no file system.
    Refused,
    /// The folder of the glTF file.
    Folder(&'a Path),
}

/// Loads all buffers; each has at least its declared length.
pub(super) fn load<'a>(
    buffers: &[Buffer],
    binary: Option<&'a [u8]>,
    external: &External,
) -> Result<Vec<Cow<'a, [u8]>>, FileError> {
    let mut loaded = Vec::new();
    for (index, buffer) in buffers.iter().enumerate() {
        let bytes = match (&buffer.uri, binary) {
            (Some(uri), _) if uri.starts_with("data:") => Cow::Owned(embedded(index, uri)?),
            (Some(uri), _) => Cow::Owned(from_file(index, uri, external)?),
            (None, Some(binary)) if index == 0 => Cow::Borrowed(binary),
            (None, _) => return Err(bad_uri(index, "a uri, or the container's binary chunk", "neither")),
        };
        if bytes.len() < buffer.byte_length {
            let holder = buffer.uri.as_ref().map_or("the binary chunk".into(), |uri| excerpt(uri.as_bytes()));
            let (needs, has) = (buffer.byte_length as u64, bytes.len() as u64);
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
        Some((kind, data)) if kind.ends_with(";base64") => decode_base64(data.as_bytes()).map_err(|offset| {
            let found = data.get(offset..).and_then(|rest| rest.chars().next()).map_or("the end".into(), String::from);
            Problem::GltfBase64 { offset, found }.at(Place::Element("buffer", buffer))
        }),
        _ => Err(bad_uri(buffer, "a data URI with \";base64,\"", uri)),
    }
}

/// Decodes base64 (RFC 4648, section 4), with or without padding; the error is the offset of the invalid character.
fn decode_base64(text: &[u8]) -> Result<Vec<u8>, usize> {
    let padding = text.iter().rev().take(2).take_while(|&&b| b == b'=').count();
    let digits = &text[..text.len() - padding];
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    // Shifts in six bits per digit and takes out whole bytes.
    let (mut bits, mut count) = (0u32, 0);
    for (offset, &digit) in digits.iter().enumerate() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err(offset),
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    if digits.len() % 4 == 1 || (padding > 0 && !text.len().is_multiple_of(4)) {
        return Err(text.len());
    }
    Ok(bytes)
}

fn from_file(buffer: usize, uri: &str, external: &External) -> Result<Vec<u8>, FileError> {
    let External::Folder(folder) = external else {
        return Err(Problem::GltfExternal { uri: excerpt(uri.as_bytes()) }.at(Place::Element("buffer", buffer)));
    };
    let name = decode_percent(uri);
    // A colon ends the scheme of a URL or a drive letter.
    if name.contains(':') || Path::new(&name).has_root() {
        return Err(bad_uri(buffer, "the name of a file beside this one", uri));
    }
    let path = folder.join(&name);
    std::fs::read(&path).map_err(|error| {
        let (path, reason) = (path.display().to_string(), error.to_string());
        Problem::GltfBuffer { path, reason }.at(Place::Element("buffer", buffer))
    })
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

    /// The examples of RFC 4648, section 10.
    #[test]
    fn base64_reads_the_examples_of_its_definition() {
        for (text, bytes) in
            [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"), ("Zm9vYmFy", "foobar")]
        {
            assert_eq!(decode_base64(text.as_bytes()), Ok(bytes.as_bytes().to_vec()));
        }
        assert_eq!(decode_base64(b"Zm8"), Ok(b"fo".to_vec()));
        assert_eq!(decode_base64(b"+/+/"), Ok(vec![0xfb, 0xff, 0xbf]));
    }

    #[test]
    fn base64_says_where_it_is_wrong() {
        assert_eq!(decode_base64(b"Zm9v!mFy"), Err(4));
        assert_eq!(decode_base64(b"Zm9vY"), Err(5));
        assert_eq!(decode_base64(b"Zg="), Err(3));
        assert_eq!(decode_base64(b"Z==="), Err(1));
    }

    #[test]
    fn escapes_in_names_are_read() {
        assert_eq!(decode_percent("my%20part.bin"), "my part.bin");
        assert_eq!(decode_percent("100%.bin%2"), "100%.bin%2");
    }
}
