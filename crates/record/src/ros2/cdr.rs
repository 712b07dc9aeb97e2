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

    pub fn raw(&mut self, count: usize, size: usize) -> Option<&'a [u8]> {
        self.at = self.at.next_multiple_of(size);
        let end = self.at.checked_add(count.checked_mul(size)?)?;
        let found = self.data.get(self.at..end)?;
        self.at = end;
        Some(found)
    }

    pub fn u8(&mut self) -> Option<u8> {
        Some(self.raw(1, 1)?[0])
    }

    pub fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.raw(1, 4)?.try_into().ok()?))
    }

    pub fn f64s<const N: usize>(&mut self) -> Option<[f64; N]> {
        let raw = self.raw(N, 8)?;
        let number = |i: usize| f64::from_le_bytes(std::array::from_fn(|byte| raw[8 * i + byte]));
        Some(std::array::from_fn(number))
    }

    pub fn f32s(&mut self) -> Option<Vec<f32>> {
        let count = self.u32()? as usize;
        let raw = self.raw(count, 4)?;
        Some(raw.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.u32()? as usize;
        self.raw(count, 1)
    }

    pub fn text(&mut self) -> Option<String> {
        let bytes = self.bytes()?;
        Some(String::from_utf8_lossy(bytes.strip_suffix(&[0]).unwrap_or(bytes)).into_owned())
    }
}
