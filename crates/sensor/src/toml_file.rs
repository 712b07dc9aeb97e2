//! Reads TOML with errors that name the file, the line and the key.

use dermis_geometry::limits::MAX_NUMBER;
use serde::de::DeserializeOwned;

/// An error in a TOML text, as one sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{file}, line {line} (`{text}`): {message}")]
pub struct TomlError {
    /// Name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Text of the line.
    pub text: String,
    /// Message of the parser.
    pub message: String,
}

/// Parses a TOML text into a type. Errors name `file`. Numbers without a unit must be finite and of a size up to
/// [`MAX_NUMBER`].
pub fn parse_toml<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, TomlError> {
    let refusal = |head: usize, message: String| {
        let line = culprit(text, head, &message);
        TomlError {
            file: file.to_owned(),
            line: line + 1,
            text: text.lines().nth(line).unwrap_or_default().trim().chars().take(80).collect(),
            message,
        }
    };
    if let Ok(table) = toml::from_str::<toml::Table>(text)
        && let Some((key, number)) = wild_number("", &toml::Value::Table(table))
    {
        let rule = format!("`{key}` must be a finite number of at most {MAX_NUMBER:e} in size, got {number:e}");
        return Err(refusal(0, rule));
    }
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        refusal(text[..start].matches('\n').count(), plain(error.message()))
    })
}

/// The parser's message as one sentence, with a suggestion for a misspelt key.
fn plain(message: &str) -> String {
    let message = message.lines().collect::<Vec<_>>().join(" ");
    if message.starts_with("wanted exactly 1 element") {
        return "this table must have exactly one entry".to_owned();
    }
    let meant = crate::suggest::for_unknown_key(&message);
    message + &meant
}

/// The key and value of a number that is not finite or too large.
fn wild_number(key: &str, value: &toml::Value) -> Option<(String, f64)> {
    match value {
        toml::Value::Float(number) => {
            (!number.is_finite() || number.abs() > MAX_NUMBER).then(|| (key.to_owned(), *number))
        }
        toml::Value::Array(entries) => entries.iter().find_map(|entry| wild_number(key, entry)),
        toml::Value::Table(entries) => entries.iter().find_map(|(key, entry)| wild_number(key, entry)),
        _ => None,
    }
}

/// The line (from 0) that a message refers to. The parser treats tables that are tagged by `kind` as a whole, so it
/// reports an error inside one at its head. The message quotes the value or key; the result is the first line from
/// there on that contains it.
fn culprit(text: &str, head: usize, message: &str) -> usize {
    let quoted = |mark: char| message.split(mark).nth(1).filter(|token| !token.is_empty());
    let wanted: Vec<String> = match (message.starts_with('"'), quoted('"'), quoted('`')) {
        (true, Some(value), _) => vec![format!("\"{value}\""), format!("= {value}")],
        (_, _, Some(key)) => vec![format!("{key} "), format!("{key}="), format!("{key}."), format!("{key}]")],
        _ => return head,
    };
    let mut lines = text.lines().enumerate().skip(head);
    lines.find(|(_, line)| wanted.iter().any(|token| line.contains(token))).map_or(head, |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use crate::SensorSpec;

    const GOOD: &str = include_str!("../presets/wts0614.toml");

    fn refusal(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from), "{from}");
        SensorSpec::parse("my.toml", &GOOD.replacen(from, to, 1)).unwrap_err().to_string()
    }

    #[test]
    fn the_line_of_a_slip_is_named_inside_tables_of_a_kind() {
        let message = refusal("damping = \"2 N s/m\"", "damping = \"2\"");
        assert!(message.contains("(`damping = \"2\"`)"), "{message}");
        let message = refusal("sigma1 = \"2 N s/m\"", "sigma1 = \"2 kg\"");
        assert!(message.contains("sigma1 = \"2 kg\"") && message.contains("N s/m"), "{message}");
        let message = refusal("mu_static", "mu_statik");
        assert!(message.contains("(`mu_statik = "), "{message}");
        let message = refusal("max_penetration", "max_penetratoin");
        assert!(message.contains("(`max_penetratoin = "), "{message}");
    }

    #[test]
    fn the_line_of_a_slip_is_named_outside_of_them() {
        let message = refusal("pitch = \"3.4 mm\"", "pitch = 3.4");
        assert!(message.contains("(`pitch = 3.4`)") && message.contains("no unit"), "{message}");
        let message = refusal("rows = 14", "rows = -14");
        assert!(message.contains("rows = -14"), "{message}");
    }
}
