//! A colour image with float levels, before rounding to 8 bits.

use super::OpticsError;
use crate::image::Image;

/// Red, green and blue of every pixel, rows from the top, in levels of an 8-bit image (0–255, neither rounded nor
/// clamped).
#[derive(Clone, Debug, PartialEq)]
pub struct FloatImage {
    /// Width (pixels).
    pub width: usize,
    /// Height (pixels).
    pub height: usize,
    /// Red, green, blue.
    pub channels: [Vec<f32>; 3],
}

impl FloatImage {
    /// True if red, green and blue are equal everywhere.
    pub fn is_grey(&self) -> bool {
        let [red, green, blue] = &self.channels;
        red == green && green == blue
    }

    /// An image of one colour.
    pub fn new(width: usize, height: usize, colour: [f32; 3]) -> Self {
        Self { width, height, channels: colour.map(|level| vec![level; width * height]) }
    }

    /// Decodes a PNG file with 8 bits per channel, or a JPEG file. Errors name `path`.
    pub fn from_png(path: &str, bytes: &[u8]) -> Result<Self, OpticsError> {
        let image = Image::decode_png(bytes)
            .map_err(|error| OpticsError::BadImage { path: path.to_owned(), reason: error.to_string() })?;
        Ok(Self::from(&image))
    }

    /// Returns an error for an image of another size.
    pub fn check_size(&self, path: &str, width: usize, height: usize) -> Result<(), OpticsError> {
        if (self.width, self.height) == (width, height) {
            return Ok(());
        }
        let (got_width, got_height) = (self.width, self.height);
        Err(OpticsError::WrongSize { path: path.to_owned(), got_width, got_height, width, height })
    }

    /// The image of an 8-bit camera: rounded and clamped.
    pub fn to_rgb8(&self) -> Image {
        // Rounds to nearest by truncation; the values are not negative.
        let level = |value: f32| (value.clamp(0.0, 255.0) + 0.5) as i32 as u8;
        let [red, green, blue] = &self.channels;
        let pixels = red.iter().zip(green).zip(blue).map(|((&r, &g), &b)| [level(r), level(g), level(b)]).collect();
        Image::from_pixels(self.width, self.height, pixels).unwrap_or_else(|| Image::new(1, 1, [0; 3]))
    }
}

impl From<&Image> for FloatImage {
    fn from(image: &Image) -> Self {
        let channel = |c: usize| image.pixels().iter().map(|pixel| f32::from(pixel[c])).collect();
        Self { width: image.width(), height: image.height(), channels: [0, 1, 2].map(channel) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_bits_come_back() {
        let pixels = Image::from_pixels(2, 1, vec![[0, 128, 255], [1, 2, 3]]).unwrap();
        let image = FloatImage::from(&pixels);
        assert_eq!(image.to_rgb8(), pixels);
        let bright = FloatImage { channels: [vec![300.0, -4.0], vec![0.4, 0.6], vec![254.4, 254.6]], ..image };
        assert_eq!(bright.to_rgb8().pixels(), [[255, 0, 254], [0, 1, 255]]);
    }

    #[test]
    fn what_is_no_png_is_refused_by_name() {
        let message = FloatImage::from_png("b.png", b"not an image").unwrap_err().to_string();
        assert!(message.starts_with("b.png: is no PNG image"), "{message}");
        let image = FloatImage::new(4, 3, [0.0; 3]);
        let message = image.check_size("b.png", 640, 480).unwrap_err().to_string();
        assert!(message.contains("b.png") && message.contains("4 x 3") && message.contains("640 x 480"), "{message}");
    }
}
