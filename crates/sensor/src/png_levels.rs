//! Images from PNG files.

/// What a PNG file holds: levels (0–255) of one channel for grey, of three for colour, rows from the top. Opacity is left out.
pub(crate) struct PngLevels {
    pub width: usize,
    pub height: usize,
    pub channels: Vec<Vec<u8>>,
}

/// Why it cannot be read; the words go on from the name of the file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PngError {
    #[error("is no PNG image ({reason})")]
    NoPng { reason: String },
    #[error("is a broken PNG image ({reason})")]
    Broken { reason: String },
    #[error("has 16 bits a channel where 8 are needed")]
    TooFine,
    #[error("is too large to be held")]
    TooLarge,
}

impl PngLevels {
    /// From the bytes of a file with at most 8 bits a channel or a palette.
    pub fn decode(bytes: &[u8]) -> Result<Self, PngError> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().map_err(|error| PngError::NoPng { reason: error.to_string() })?;
        if reader.info().bit_depth == png::BitDepth::Sixteen {
            return Err(PngError::TooFine);
        }
        let mut buffer = vec![0; reader.output_buffer_size().ok_or(PngError::TooLarge)?];
        let info = reader.next_frame(&mut buffer).map_err(|error| PngError::Broken { reason: error.to_string() })?;
        let samples = info.color_type.samples();
        let buffer = &buffer[..info.buffer_size()];
        let channel = |c: usize| buffer.iter().skip(c).step_by(samples).copied().collect();
        let count = if samples >= 3 { 3 } else { 1 };
        let channels = (0..count).map(channel).collect();
        Ok(Self { width: info.width as usize, height: info.height as usize, channels })
    }
}
