//! Reads TOML with errors that name the file, the line and the key.

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

/// Parses a TOML text into a type. Errors name `file`.
pub fn parse_toml<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, TomlError> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let message = error.message().lines().collect::<Vec<_>>().join(" ");
        let line = culprit(text, text[..start].matches('\n').count(), &message);
        TomlError {
            file: file.to_owned(),
            line: line + 1,
            text: text.lines().nth(line).unwrap_or_default().trim().chars().take(80).collect(),
            message,
        }
    })
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
