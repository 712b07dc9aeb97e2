//! Writes the compact protocol of Thrift, to the extent that Parquet's headers need it.

/// Writes a struct, field by field in ascending order of field numbers.
#[derive(Default)]
pub struct Struct {
    bytes: Vec<u8>,
    last_field: i16,
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

impl Struct {
    /// Creates a struct without fields.
    pub fn new() -> Self {
        Self::default()
    }

    pub fn i32(mut self, field: i16, value: i32) -> Self {
        self.header(field, I32);
        zigzag(&mut self.bytes, i64::from(value));
        self
    }

    pub fn i64(mut self, field: i16, value: i64) -> Self {
        self.header(field, I64);
        zigzag(&mut self.bytes, value);
        self
    }

    pub fn text(mut self, field: i16, value: &str) -> Self {
        self.header(field, BINARY);
        binary(&mut self.bytes, value.as_bytes());
        self
    }

    pub fn part(mut self, field: i16, value: Struct) -> Self {
        self.header(field, STRUCT);
        self.bytes.extend(value.end());
        self
    }

    pub fn i32s(mut self, field: i16, values: &[i32]) -> Self {
        self.list(field, I32, values.len());
        values.iter().for_each(|value| zigzag(&mut self.bytes, i64::from(*value)));
        self
    }

    pub fn texts(mut self, field: i16, values: &[&str]) -> Self {
        self.list(field, BINARY, values.len());
        values.iter().for_each(|value| binary(&mut self.bytes, value.as_bytes()));
        self
    }

    pub fn parts(mut self, field: i16, values: Vec<Struct>) -> Self {
        self.list(field, STRUCT, values.len());
        values.into_iter().for_each(|value| self.bytes.extend(value.end()));
        self
    }

    /// Returns the bytes with the end marker.
    pub fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    fn header(&mut self, field: i16, kind: u8) {
        let step = field - self.last_field;
        if (1..=15).contains(&step) {
            self.bytes.push((step as u8) << 4 | kind);
        } else {
            self.bytes.push(kind);
            zigzag(&mut self.bytes, i64::from(field));
        }
        self.last_field = field;
    }

    fn list(&mut self, field: i16, kind: u8, len: usize) {
        self.header(field, LIST);
        if len < 15 {
            self.bytes.push((len as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            varint(&mut self.bytes, len as u64);
        }
    }
}

fn binary(bytes: &mut Vec<u8>, value: &[u8]) {
    varint(bytes, value.len() as u64);
    bytes.extend(value);
}

fn zigzag(bytes: &mut Vec<u8>, value: i64) {
    varint(bytes, ((value << 1) ^ (value >> 63)) as u64);
}

/// Writes a varint: seven bits per byte, the lowest first.
pub fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_numbered_by_their_distance() {
        let bytes = Struct::new().i32(1, -1).text(3, "ab").i64(20, 150).end();
        assert_eq!(bytes, [0x15, 1, 0x28, 2, b'a', b'b', 0x06, 40, 0xac, 0x02, 0]);
    }

    #[test]
    fn long_lists_have_their_length_behind_the_kind() {
        let bytes = Struct::new().i32s(1, &[0; 16]).end();
        assert_eq!(bytes[..3], [0x19, 0xf5, 16]);
        assert_eq!(bytes.len(), 3 + 16 + 1);
    }
}
