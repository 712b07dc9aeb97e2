//! A decoded message of any encoding: JSON, CDR or protobuf.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// A message or one of its fields.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number or a truth value.
    Number(f64),
    /// A text.
    Text(String),
    /// Raw bytes, such as those of an image.
    Bytes(Vec<u8>),
    /// An array.
    List(Vec<Value>),
    /// A message: names and values of its fields.
    Fields(Vec<(String, Value)>),
}

impl Value {
    /// A message of fields.
    pub fn message<const N: usize>(fields: [(&str, Value); N]) -> Self {
        Self::Fields(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// A list of numbers.
    pub fn row(numbers: impl IntoIterator<Item = f64>) -> Self {
        Self::List(numbers.into_iter().map(Self::Number).collect())
    }

    /// A field of a message.
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Fields(fields) => fields.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The number.
    pub fn number(&self) -> Option<f64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    /// The numbers of an array.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        match self {
            Self::List(list) => list.iter().map(Self::number).collect(),
            Self::Bytes(bytes) => Some(bytes.iter().map(|byte| f64::from(*byte)).collect()),
            _ => None,
        }
    }

    /// The numbers in fields of these names.
    pub fn named<const N: usize>(&self, names: [&str; N]) -> Option<[f64; N]> {
        let mut found = [0.0; N];
        for (number, name) in found.iter_mut().zip(names) {
            *number = self.get(name)?.number()?;
        }
        Some(found)
    }

    /// The text.
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The bytes; those of JSON are text in base64.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Bytes(bytes) => Some(bytes.clone()),
            Self::Text(text) => BASE64_STANDARD.decode(text).ok(),
            _ => None,
        }
    }

    /// The elements of an array; none for other values.
    pub fn list(&self) -> &[Self] {
        if let Self::List(list) = self { list } else { &[] }
    }
}

impl From<serde_json::Value> for Value {
    fn from(json: serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match json {
            // JSON writes numbers that are not finite as null.
            Json::Null => Self::Number(f64::NAN),
            Json::Bool(is_true) => Self::Number(f64::from(u8::from(is_true))),
            Json::Number(number) => Self::Number(number.as_f64().unwrap_or(f64::NAN)),
            Json::String(text) => Self::Text(text),
            Json::Array(list) => Self::List(list.into_iter().map(Self::from).collect()),
            Json::Object(fields) => {
                let there = fields.into_iter().filter(|(_, value)| !value.is_null());
                Self::Fields(there.map(|(name, value)| (name, Self::from(value))).collect())
            }
        }
    }
}
