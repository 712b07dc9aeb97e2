//! Common data representation, little-endian (OMG's XCDR1, as ROS 2 stores it): each number is aligned to its size,
//! relative to the end of the four-byte encapsulation header.

const HEAD: [u8; 4] = [0, 1, 0, 0];

/// Encodes a message.
pub struct CdrWriter(Vec<u8>);

impl CdrWriter {
    pub fn new() -> Self {
        Self(HEAD.to_vec())
    }

    fn align(&mut self, size: usize) {
        let past = (self.0.len() - HEAD.len()) % size;
        if past > 0 {
            self.0.resize(self.0.len() + size - past, 0);
        }
    }

    pub fn u8(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    #[cfg(test)]
    pub fn u16(mut self, value: u16) -> Self {
        self.align(2);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub fn u32(mut self, value: u32) -> Self {
        self.align(4);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub fn f32s(mut self, values: impl ExactSizeIterator<Item = f32>) -> Self {
        self = self.u32(values.len() as u32);
        values.for_each(|value| self.0.extend(value.to_le_bytes()));
        self
    }

    /// Writes an array of fixed length.
    pub fn f64s(mut self, values: &[f64]) -> Self {
        self.align(8);
        values.iter().for_each(|value| self.0.extend(value.to_le_bytes()));
        self
    }

    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self = self.u32(bytes.len() as u32);
        self.0.extend(bytes);
        self
    }

    pub fn text(mut self, text: &str) -> Self {
        self = self.u32(text.len() as u32 + 1);
        self.0.extend(text.as_bytes());
        self.0.push(0);
        self
    }

    pub fn done(self) -> Vec<u8> {
        self.0
    }
}

/// A number type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

impl Primitive {
    /// The type of a name in a message definition.
    pub fn of(name: &str) -> Option<Self> {
        Some(match name {
            "bool" | "byte" | "char" | "uint8" => Self::U8,
            "int8" => Self::I8,
            "uint16" => Self::U16,
            "int16" => Self::I16,
            "uint32" => Self::U32,
            "int32" => Self::I32,
            "uint64" => Self::U64,
            "int64" => Self::I64,
            "float32" => Self::F32,
            "float64" => Self::F64,
            _ => return None,
        })
    }
}

/// Decodes a message; `None` if it is truncated or has another encoding.
pub struct CdrReader<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> CdrReader<'a> {
    pub fn new(message: &'a [u8]) -> Option<Self> {
        let data = message.strip_prefix(&HEAD[..2])?.get(2..)?;
        Some(Self { data, at: 0 })
    }

    /// Number of bytes left.
    pub fn left(&self) -> usize {
        self.data.len() - self.at
    }

    /// The next bytes of `count` elements.
    pub fn raw(&mut self, count: usize, size: usize) -> Option<&'a [u8]> {
        let start = self.at.next_multiple_of(size);
        let end = start.checked_add(count.checked_mul(size)?)?;
        let found = self.data.get(start..end)?;
        self.at = end;
        Some(found)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.raw(1, N)?.try_into().ok()
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn number(&mut self, kind: Primitive) -> Option<f64> {
        Some(match kind {
            Primitive::U8 => self.array::<1>()?[0].into(),
            Primitive::I8 => i8::from_le_bytes(self.array()?).into(),
            Primitive::U16 => u16::from_le_bytes(self.array()?).into(),
            Primitive::I16 => i16::from_le_bytes(self.array()?).into(),
            Primitive::U32 => u32::from_le_bytes(self.array()?).into(),
            Primitive::I32 => i32::from_le_bytes(self.array()?).into(),
            Primitive::U64 => u64::from_le_bytes(self.array()?) as f64,
            Primitive::I64 => i64::from_le_bytes(self.array()?) as f64,
            Primitive::F32 => f32::from_le_bytes(self.array()?).into(),
            Primitive::F64 => f64::from_le_bytes(self.array()?),
        })
    }

    pub fn text(&mut self) -> Option<String> {
        let count = self.u32()? as usize;
        let bytes = self.raw(count, 1)?;
        Some(String::from_utf8_lossy(bytes.strip_suffix(&[0]).unwrap_or(bytes)).into_owned())
    }
}
