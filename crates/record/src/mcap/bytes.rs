//! The binary encoding of MCAP: little-endian numbers, texts preceded by their length.

/// Builds a record.
#[derive(Default)]
pub struct ByteWriter(Vec<u8>);

impl ByteWriter {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn u8(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    pub fn u16(mut self, value: u16) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub fn u32(mut self, value: u32) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub fn u64(mut self, value: u64) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Appends raw bytes.
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    /// Appends bytes preceded by their 32-bit length.
    pub fn block(self, bytes: &[u8]) -> Self {
        self.u32(bytes.len() as u32).raw(bytes)
    }

    pub fn text(self, text: &str) -> Self {
        self.block(text.as_bytes())
    }

    pub fn texts(self, pairs: &[(String, String)]) -> Self {
        let inside = pairs.iter().fold(Self::new(), |put, (key, value)| put.text(key).text(value));
        self.block(&inside.0)
    }

    /// Returns the content as a record of a type.
    pub fn record(self, kind: u8) -> Vec<u8> {
        Self::new().u8(kind).u64(self.0.len() as u64).raw(&self.0).0
    }

    pub fn bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Parses a record; `None` where it ends too early.
pub struct ByteReader<'a>(pub &'a [u8]);

impl<'a> ByteReader<'a> {
    pub fn raw(&mut self, count: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(front)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.raw(N)?.try_into().ok()
    }

    pub fn u8(&mut self) -> Option<u8> {
        Some(self.array::<1>()?[0])
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub fn block(&mut self) -> Option<&'a [u8]> {
        let count = self.u32()?;
        self.raw(usize::try_from(count).ok()?)
    }

    pub fn text(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(self.block()?).into_owned())
    }

    pub fn texts(&mut self) -> Option<Vec<(String, String)>> {
        let mut inside = ByteReader(self.block()?);
        let mut pairs = Vec::new();
        while !inside.0.is_empty() {
            pairs.push((inside.text()?, inside.text()?));
        }
        Some(pairs)
    }

    /// The next record: type and content.
    pub fn record(&mut self) -> Option<(u8, &'a [u8])> {
        let kind = self.u8()?;
        let count = self.u64()?;
        Some((kind, self.raw(usize::try_from(count).ok()?)?))
    }
}
