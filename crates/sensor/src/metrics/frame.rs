//! A picture to be compared.

use super::MetricsError;

/// Levels (0–255) of a grey or colour picture, channel by channel, rows from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    name: String,
    width: usize,
    height: usize,
    channels: Vec<Vec<f64>>,
}

impl Frame {
    /// From levels of any number of channels; `name` is what messages call it.
    pub fn new(
        name: impl Into<String>,
        width: usize,
        height: usize,
        channels: Vec<Vec<f64>>,
    ) -> Result<Self, MetricsError> {
        let name = name.into();
        let odd = channels.iter().find(|channel| channel.len() != width * height);
        if channels.is_empty() || width * height == 0 || odd.is_some() {
            return Err(MetricsError::WrongLength { name, width, height, got: odd.map_or(0, Vec::len) });
        }
        for channel in &channels {
            if let Some(pixel) = channel.iter().position(|level| !level.is_finite()) {
                return Err(MetricsError::NotFinite { name, pixel, got: channel[pixel] });
            }
        }
        Ok(Self { name, width, height, channels })
    }

    /// From 8-bit colours.
    pub fn from_rgb8(
        name: impl Into<String>,
        width: usize,
        height: usize,
        pixels: &[[u8; 3]],
    ) -> Result<Self, MetricsError> {
        let channel = |c: usize| pixels.iter().map(|pixel| f64::from(pixel[c])).collect();
        Self::new(name, width, height, (0..3).map(channel).collect())
    }

    /// From the bytes of a PNG file with 8 bits a channel or a palette: one channel for grey, three for colour. Opacity
    /// is left out.
    pub fn from_png(name: impl Into<String>, bytes: &[u8]) -> Result<Self, MetricsError> {
        let name = name.into();
        let refuse = |reason: String| MetricsError::BadPicture { name: name.clone(), reason };
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().map_err(|error| refuse(format!("is no PNG picture ({error})")))?;
        if reader.info().bit_depth == png::BitDepth::Sixteen {
            return Err(refuse("has 16 bits a channel".into()));
        }
        let size = reader.output_buffer_size().ok_or_else(|| refuse("is too large to be held".into()))?;
        let mut buffer = vec![0; size];
        let info =
            reader.next_frame(&mut buffer).map_err(|error| refuse(format!("is a broken PNG picture ({error})")))?;
        let samples = info.color_type.samples();
        let buffer = &buffer[..info.buffer_size()];
        let channel = |c: usize| buffer.iter().skip(c).step_by(samples).map(|&level| f64::from(level)).collect();
        let count = if samples >= 3 { 3 } else { 1 };
        Self::new(name.clone(), info.width as usize, info.height as usize, (0..count).map(channel).collect())
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Pixels across.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Pixels down.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Levels of each channel.
    pub fn channels(&self) -> &[Vec<f64>] {
        &self.channels
    }

    /// Refuses a picture of another size or with other channels.
    pub(super) fn check_alike(&self, picture: &Self) -> Result<(), MetricsError> {
        if (self.width, self.height) != (picture.width, picture.height) {
            return Err(MetricsError::WrongSize {
                name: picture.name.clone(),
                width: picture.width,
                height: picture.height,
                other: self.name.clone(),
                other_width: self.width,
                other_height: self.height,
            });
        }
        if self.channels.len() != picture.channels.len() {
            return Err(MetricsError::WrongChannels {
                name: picture.name.clone(),
                channels: picture.channels.len(),
                other: self.name.clone(),
                other_channels: self.channels.len(),
            });
        }
        Ok(())
    }
}
