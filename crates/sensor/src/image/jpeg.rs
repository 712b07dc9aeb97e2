//! Reads JPEG files.

use super::{Image, PngError};
use dermis_geometry::limits::{MAX_PIXELS, require_memory};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// The bytes that every JPEG file starts with.
const SIGNATURE: [u8; 3] = [0xff, 0xd8, 0xff];

/// True if a file is a JPEG file.
pub(super) fn is_jpeg(bytes: &[u8]) -> bool {
    bytes.starts_with(&SIGNATURE)
}

/// Decodes a JPEG file; also returns whether it is grey.
pub(super) fn decode(bytes: &[u8]) -> Result<(Image, bool), PngError> {
    let side = usize::from(u16::MAX);
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .set_max_width(side)
        .set_max_height(side)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    let broken = |reason: String| PngError::BrokenJpeg { reason };
    decoder.decode_headers().map_err(|error| broken(error.to_string()))?;
    let info = decoder.info().ok_or_else(|| broken("it has no header".into()))?;
    let (width, height) = (usize::from(info.width), usize::from(info.height));
    if width * height > MAX_PIXELS {
        return Err(PngError::TooLarge { width: width as u32, height: height as u32 });
    }
    // The samples, the pixels of the image and the coefficients of the file.
    require_memory(12.0 * (width * height) as f64)?;
    let samples = decoder.decode().map_err(|error| broken(error.to_string()))?;
    let pixels = samples.chunks_exact(3).map(|sample| [sample[0], sample[1], sample[2]]).collect();
    let image = Image::from_pixels(width, height, pixels).ok_or_else(|| broken("it has no pixels".into()))?;
    Ok((image, info.components == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The left half of the file is (200, 40, 60), the right half (20, 160, 90); the other file has the level 77.
    #[test]
    fn colours_and_grey_levels_survive_within_the_loss_of_the_format() {
        let halves = include_bytes!("../../tests/images/halves.jpg");
        let (image, grey) = decode(halves).unwrap();
        assert!((image.width(), image.height(), grey) == (32, 16, false));
        for (column, expected) in [(4, [200, 40, 60]), (27, [20, 160, 90])] {
            let found = image.pixels()[8 * 32 + column];
            assert!(found.iter().zip(expected).all(|(a, b)| a.abs_diff(b) < 6), "{found:?}");
        }
        let (image, grey) = decode(include_bytes!("../../tests/images/grey.jpg")).unwrap();
        assert!(grey && image.pixels().iter().all(|pixel| pixel.iter().all(|level| level.abs_diff(77) < 3)));
        // Cut off at any length: an error, no panic.
        for end in 3..halves.len() - 2 {
            assert!(decode(&halves[..end]).is_err(), "{end} of {}", halves.len());
        }
    }

    /// A header that promises 65,500 x 65,500 pixels is refused before any memory is taken.
    #[test]
    fn a_jpeg_that_promises_too_much_is_refused() {
        let mut bytes = include_bytes!("../../tests/images/halves.jpg").to_vec();
        let at = bytes.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
        bytes[at + 5..at + 9].copy_from_slice(&[0xff, 0xdc, 0xff, 0xdc]);
        assert!(matches!(decode(&bytes), Err(PngError::TooLarge { width: 65_500, height: 65_500 })));
    }
}
