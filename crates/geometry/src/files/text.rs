//! Reads words, lines and numbers of text files as bytes, because their names need not be UTF-8.

use super::{FileError, Place, Problem};

/// Reads a text word by word and counts its lines.
#[derive(Clone, Copy)]
pub(super) struct TextReader<'a> {
    bytes: &'a [u8],
    line: usize,
}

impl<'a> TextReader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, line: 1 }
    }

    /// Line of the last word, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    pub fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.bytes.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(self.bytes.len());
        self.line += self.bytes[..start].iter().filter(|&&b| b == b'\n').count();
        let rest = &self.bytes[start..];
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.bytes = rest;
        (!word.is_empty()).then_some(word)
    }

    /// Skips the rest of the line.
    pub fn skip_line(&mut self) {
        let end = self.bytes.iter().position(|&b| b == b'\n').unwrap_or(self.bytes.len());
        self.bytes = &self.bytes[end..];
    }

    /// The next word; an error at the end of the text.
    pub fn required(&mut self, expected: &str) -> Result<&'a [u8], FileError> {
        self.next().ok_or_else(|| self.cut_off(expected))
    }

    /// Requires the next word to be this one, in upper or lower case.
    pub fn keyword(&mut self, expected: &str) -> Result<(), FileError> {
        let word = self.required(expected)?;
        if word.eq_ignore_ascii_case(expected.as_bytes()) { Ok(()) } else { Err(self.unexpected(expected, word)) }
    }

    pub fn number(&mut self, expected: &str) -> Result<f64, FileError> {
        let word = self.required(expected)?;
        number(word).ok_or_else(|| self.unexpected(expected, word))
    }

    /// The error for a text that ends too early.
    pub fn cut_off(&self, expected: &str) -> FileError {
        Problem::CutOff { expected: expected.into() }.at(Place::Line(self.line))
    }

    /// The rest of the line, without its line break.
    pub fn take_line(&mut self) -> &'a [u8] {
        let end = self.bytes.iter().position(|&b| b == b'\n').unwrap_or(self.bytes.len());
        let line = &self.bytes[..end];
        self.bytes = &self.bytes[(end + 1).min(self.bytes.len())..];
        self.line += 1;
        line
    }

    /// The next `N` bytes, for binary data in a text file.
    pub fn take_bytes<const N: usize>(&mut self, expected: &str) -> Result<[u8; N], FileError> {
        let Some((bytes, rest)) = self.bytes.split_first_chunk() else { return Err(self.cut_off(expected)) };
        self.bytes = rest;
        Ok(*bytes)
    }

    pub fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next word as an integer.
    pub fn integer<T: std::str::FromStr>(&mut self, expected: &str) -> Result<T, FileError> {
        let word = self.required(expected)?;
        let integer = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
        integer.ok_or_else(|| self.unexpected(expected, word))
    }

    pub fn unexpected(&self, expected: &str, found: &[u8]) -> FileError {
        unexpected(self.line, expected, found)
    }
}

pub(super) fn unexpected(line: usize, expected: &str, found: &[u8]) -> FileError {
    Problem::Unexpected { expected: expected.into(), found: excerpt(found) }.at(Place::Line(line))
}

/// Parses a number. NaN and infinity are accepted here; the mesh refuses them and names the vertex.
pub(super) fn number(word: &[u8]) -> Option<f64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// The words of one line.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// The first characters of a text, for a message.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    const MAX_LENGTH: usize = 40;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_LENGTH)]);
    if bytes.len() > MAX_LENGTH { format!("{text}…") } else { text.into_owned() }
}
