//! Binary arrays for the page.

use serde_json::{Map, Value, json};

/// Arrays in one block of bytes, with an index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arrays {
    bytes: Vec<u8>,
    index: Map<String, Value>,
}

impl Arrays {
    /// Adds 32-bit floats.
    pub fn floats(&mut self, name: &str, values: impl IntoIterator<Item = f32>) {
        self.add(name, "f32", values.into_iter().flat_map(f32::to_le_bytes));
    }

    /// Adds 32-bit integers.
    pub fn integers(&mut self, name: &str, values: impl IntoIterator<Item = i32>) {
        self.add(name, "i32", values.into_iter().flat_map(i32::to_le_bytes));
    }

    /// Adds bytes.
    pub fn octets(&mut self, name: &str, values: impl IntoIterator<Item = u8>) {
        self.add(name, "u8", values);
    }

    /// The block of bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Type, byte offset and byte length of each array.
    pub fn index(&self) -> Value {
        Value::Object(self.index.clone())
    }

    fn add(&mut self, name: &str, kind: &str, bytes: impl IntoIterator<Item = u8>) {
        // Typed arrays must start at a multiple of their element size.
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let start = self.bytes.len();
        self.bytes.extend(bytes);
        self.index.insert(name.to_owned(), json!([kind, start, self.bytes.len() - start]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_start_where_the_page_can_read_them() {
        let mut arrays = Arrays::default();
        arrays.octets("a", [1, 2, 3]);
        arrays.floats("b", [1.5]);
        assert_eq!(arrays.index(), json!({ "a": ["u8", 0, 3], "b": ["f32", 4, 4] }));
        assert_eq!(arrays.bytes(), [1, 2, 3, 0, 0, 0, 0xc0, 0x3f]);
    }
}
