//! Words, lines and numbers of text files, as bytes: names in them need not be UTF-8.

use super::FileError;

/// The words of a text, with the line that the last one stood on.
pub(super) struct Words<'a> {
    file: &'a str,
    bytes: &'a [u8],
    line: usize,
}

impl<'a> Words<'a> {
    pub fn new(file: &'a str, bytes: &'a [u8]) -> Self {
        Self { file, bytes, line: 1 }
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

    /// Forgets what is left of the line.
    pub fn skip_line(&mut self) {
        let end = self.bytes.iter().position(|&b| b == b'\n').unwrap_or(self.bytes.len());
        self.bytes = &self.bytes[end..];
    }

    /// The next word, where the text must not end.
    pub fn required(&mut self, expected: &str) -> Result<&'a [u8], FileError> {
        self.next().ok_or_else(|| FileError::CutOff {
            file: self.file.into(),
            line: self.line,
            expected: expected.into(),
        })
    }

    /// The next word must be this one, in upper or lower case.
    pub fn keyword(&mut self, expected: &str) -> Result<(), FileError> {
        let word = self.required(expected)?;
        if word.eq_ignore_ascii_case(expected.as_bytes()) { Ok(()) } else { Err(self.unexpected(expected, word)) }
    }

    pub fn number(&mut self, expected: &str) -> Result<f64, FileError> {
        let word = self.required(expected)?;
        number(word).ok_or_else(|| self.unexpected(expected, word))
    }

    pub fn unexpected(&self, expected: &str, found: &[u8]) -> FileError {
        unexpected(self.file, self.line, expected, found)
    }
}

pub(super) fn unexpected(file: &str, line: usize, expected: &str, found: &[u8]) -> FileError {
    FileError::Unexpected { file: file.into(), line, expected: expected.into(), found: excerpt(found) }
}

/// NaN and infinity are numbers here; the mesh refuses them with the vertex they belong to.
pub(super) fn number(word: &[u8]) -> Option<f64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// The words of one line.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// The first characters, for a message.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST)]);
    if bytes.len() > LONGEST { format!("{text}…") } else { text.into_owned() }
}
