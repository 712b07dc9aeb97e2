//! Reads TOML with errors that name the file, the line and the key.
//!
//! The text becomes a [`serde_json::Value`] first, so that the code that reads a type is compiled for one format only.

mod trial;

use crate::plain_message::plain;
use dermis_geometry::limits::MAX_NUMBER;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

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
    let refusal = |start: usize, message: String| {
        let line = text[..start.min(text.len())].matches('\n').count();
        TomlError {
            file: file.to_owned(),
            line: line + 1,
            text: text.lines().nth(line).unwrap_or_default().trim().chars().take(80).collect(),
            message,
        }
    };
    let table = DeTable::parse(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        refusal(start, plain(error.message()))
    })?;
    let root = DeValue::Table(table.into_inner());
    let value = || json("", 0, &root).map_err(|(start, rule)| refusal(start, rule));
    serde_json::from_value::<T>(value()?).or_else(|error| {
        let message = error.to_string();
        let reads = |value: Value| serde_json::from_value::<T>(value).err().map(|error| error.to_string());
        Err(refusal(start_of(&trial::path_of(&value()?, &message, &reads), &root), plain(&message)))
    })
}

/// The same value for the reader of JSON, which has no numbers that are not finite, or where the value of `key` starts
/// and its rule.
fn json(key: &str, start: usize, value: &DeValue) -> Result<Value, (usize, String)> {
    let rule = |number: &dyn std::fmt::Display| {
        (start, format!("`{key}` must be a finite number of at most {MAX_NUMBER:e} in size, got {number}"))
    };
    let inside = |key: &str, entry: &Spanned<DeValue>| json(key, entry.span().start, entry.get_ref());
    Ok(match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Datetime(date) => Value::from(date.to_string()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            // A seed may have any size; another number is a float when it is written, and then too large.
            Ok(whole) if whole.unsigned_abs() as f64 > MAX_NUMBER && key != "seed" => return Err(rule(&whole)),
            Ok(whole) => Value::from(whole),
            Err(_) if key == "seed" => {
                Value::from(u64::from_str_radix(number.as_str(), number.radix()).map_err(|_| rule(number))?)
            }
            Err(_) => return Err(rule(number)),
        },
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(float) if float.abs() <= MAX_NUMBER => Value::from(float),
            Ok(float) => return Err(rule(&format_args!("{float:e}"))),
            Err(_) => return Err(rule(number)),
        },
        DeValue::Array(entries) => entries.iter().map(|entry| inside(key, entry)).collect::<Result<_, _>>()?,
        DeValue::Table(entries) => {
            let pair = |(key, entry): (&Spanned<DeString>, &Spanned<DeValue>)| {
                let key = key.get_ref().as_ref();
                Ok((key.to_owned(), inside(key, entry)?))
            };
            Value::Object(entries.iter().map(pair).collect::<Result<Map<_, _>, (usize, String)>>()?)
        }
    })
}

/// Where in the text the entry of a path starts.
fn start_of(path: &str, root: &DeValue) -> usize {
    let (mut start, mut value) = (0, root);
    for token in path.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~")) {
        let next = match value {
            DeValue::Table(entries) => {
                entries.get_key_value(token.as_str()).map(|(key, value)| (key.span().start, value))
            }
            DeValue::Array(entries) => {
                token.parse().ok().and_then(|index: usize| entries.get(index)).map(|value| (value.span().start, value))
            }
            _ => None,
        };
        let Some((at, inner)) = next else { break };
        (start, value) = (at, inner.get_ref());
    }
    start
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
        let message = refusal("damping = ", "amping = ");
        assert!(message.contains("(`amping = "), "{message}");
        let message = refusal("mu_static = 0.435", "mu_static = \"0.435\"");
        assert!(message.contains("(`mu_static = \"0.435\"`)"), "{message}");
        let message = refusal("kind = \"lugre\"", "kind = \"lugr\"");
        assert!(message.contains("(`kind = \"lugr\"`)"), "{message}");
    }

    /// The line of the second lamp, and not that of the key in the third; an entry of an array, and not another zero.
    #[test]
    fn the_line_of_a_slip_in_a_list_is_that_of_its_entry() {
        let optical = "name = \"a\"\n[surface.grid]\nrows = 8\ncols = 8\npitch = \"1 mm\"\n[light]\nkind = \"phong\"\nshininess = 9\n\
            background = { colour = [0, 1, 2] }\n[[light.sources]]\nazimuth = \"0 deg\"\nelevation = \"9 deg\"\ndiffuse = [1, 2, 3]\n\
            specular = [1, 2, 3]\n[[light.sources]]\nazimuth = \"0 deg\"\nelevation = \"9 deg\"\nspecular = [1, 2, 3]\n\
            [[light.sources]]\ndiffuse = [1, 2, 3]\n[skin]\nkind = \"layer\"\n";
        let message = SensorSpec::parse("my.toml", optical).unwrap_err().to_string();
        assert!(message.contains("my.toml, line 15 (`[[light.sources]]`): missing field `diffuse`"), "{message}");
        let message = SensorSpec::parse("my.toml", &optical.replace("[0, 1, 2]", "[0, 1]")).unwrap_err().to_string();
        assert!(message.contains("line 9 (`background = "), "{message}");
        let magnetic = "name = \"a\"\n[magnetometers]\npositions = [[\"0 mm\", \"0 mm\", \"-8 mm\"]]\n[magnets]\ndirections = [0, 0, 1]\n";
        let message = SensorSpec::parse("my.toml", magnetic).unwrap_err().to_string();
        assert!(message.contains("line 5 (`directions = [0, 0, 1]`)"), "{message}");
    }

    #[test]
    fn the_line_of_a_slip_is_named_outside_of_them() {
        let message = refusal("pitch = \"3.4 mm\"", "pitch = 3.4");
        assert!(message.contains("(`pitch = 3.4`)") && message.contains("no unit"), "{message}");
        let message = refusal("mu_static = 0.435", "mu_static = 8255642549185597000");
        assert!(message.contains("`mu_static` must be a finite number of at most 1e12"), "{message}");
        let message = refusal("rows = 14", "rows = -14");
        assert!(message.contains("rows = -14"), "{message}");
        let message = refusal("rows = 14", "roows = 14");
        assert!(message.contains("(`roows = 14`)"), "{message}");
    }
}
