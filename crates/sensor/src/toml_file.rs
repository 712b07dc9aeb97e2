//! TOML whose errors name the file, the line and the key.

use serde::de::DeserializeOwned;

/// Why a TOML text was refused: one sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{file}, line {line} (`{text}`): {message}")]
pub struct TomlError {
    /// Name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What stands there.
    pub text: String,
    /// What is wrong with it.
    pub message: String,
}

/// Reads a TOML text into a type; `file` is what messages call it.
pub fn parse_toml<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, TomlError> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text[..start].matches('\n').count();
        let message = error.message().lines().collect::<Vec<_>>().join(" ");
        TomlError {
            file: file.to_owned(),
            line: line + 1,
            text: text.lines().nth(line).unwrap_or_default().trim().chars().take(80).collect(),
            message,
        }
    })
}
