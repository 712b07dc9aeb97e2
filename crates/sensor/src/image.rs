//! The 8-bit image type: pixels, resizing, PNG files, and reading JPEG files.

mod jpeg;

use dermis_geometry::limits::{MAX_PIXELS, NoMemory, require_memory};

/// Red, green, blue, each 0 to 255, sRGB.
pub type Rgb = [u8; 3];

/// An 8-bit RGB image: `width × height` pixels, rows from the top, each row from the left. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    pixels: Vec<Rgb>,
}

/// Errors of decoding an image; the message follows the name of the file.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum PngError {
    /// The bytes start neither with a PNG nor with a JPEG signature.
    #[error("is no PNG image and no JPEG image ({reason})")]
    NotPng { reason: String },
    /// The pixel data are damaged or truncated.
    #[error("is a broken PNG image ({reason})")]
    Broken { reason: String },
    /// A JPEG file is damaged or truncated.
    #[error("is a broken JPEG image ({reason})")]
    BrokenJpeg { reason: String },
    /// 16 bits per channel.
    #[error("has 16 bits a channel where 8 are needed")]
    TooManyBits,
    /// More pixels than are accepted.
    #[error("has {width} x {height} pixels; at most {} million are read", MAX_PIXELS / 1_000_000)]
    TooLarge { width: u32, height: u32 },
    /// No memory for its pixels.
    #[error("{0}")]
    NoMemory(#[from] NoMemory),
}

/// Bytes that one byte of a deflated stream can stand for.
const MAX_DEFLATE_RATIO: usize = 1032;

impl Image {
    /// An image of one colour. A side of zero becomes one pixel: PNG has no empty image.
    pub fn new(width: usize, height: usize, colour: Rgb) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        Self { width, height, pixels: vec![colour; width * height] }
    }

    /// Makes an image from pixels, row by row; `None` unless there are `width × height` of them, and at least one.
    pub fn from_pixels(width: usize, height: usize, pixels: Vec<Rgb>) -> Option<Self> {
        let fits = !pixels.is_empty() && width.checked_mul(height) == Some(pixels.len());
        fits.then_some(Self { width, height, pixels })
    }

    /// Makes an image whose pixel in column `x` of row `y` is `colour(x, y)`.
    pub fn from_fn(width: usize, height: usize, mut colour: impl FnMut(usize, usize) -> Rgb) -> Self {
        let mut image = Self::new(width, height, [0; 3]);
        for y in 0..image.height {
            for x in 0..image.width {
                image.set(x, y, colour(x, y));
            }
        }
        image
    }

    /// Width (pixels).
    pub fn width(&self) -> usize {
        self.width
    }

    /// Height (pixels).
    pub fn height(&self) -> usize {
        self.height
    }

    /// All pixels, rows from the top.
    pub fn pixels(&self) -> &[Rgb] {
        &self.pixels
    }

    /// Returns all pixels, rows from the top.
    pub fn into_pixels(self) -> Vec<Rgb> {
        self.pixels
    }

    /// The pixel in column `x` of row `y`; both must be inside the image.
    pub fn pixel(&self, x: usize, y: usize) -> Rgb {
        self.pixels[y * self.width + x]
    }

    /// Sets one pixel; a position outside the image is ignored.
    pub fn set(&mut self, x: usize, y: usize, colour: Rgb) {
        if x < self.width && y < self.height {
            self.pixels[y * self.width + x] = colour;
        }
    }

    /// Copies `source` with its upper left corner at `(left, top)`; parts outside are cut off.
    pub fn blit(&mut self, source: &Self, left: i64, top: i64) {
        for (row, line) in source.pixels.chunks_exact(source.width).enumerate() {
            let y = top + row as i64;
            if y < 0 || y >= self.height as i64 {
                continue;
            }
            for (column, &colour) in line.iter().enumerate() {
                let x = left + column as i64;
                if x >= 0 {
                    self.set(x as usize, y as usize, colour);
                }
            }
        }
    }

    /// The part of `width × height` pixels from `(left, top)`, cut at the edges; at least one pixel.
    pub fn crop(&self, left: usize, top: usize, width: usize, height: usize) -> Self {
        let (left, top) = (left.min(self.width - 1), top.min(self.height - 1));
        let (width, height) = (width.min(self.width - left), height.min(self.height - top));
        Self::from_fn(width, height, |x, y| self.pixel(left + x, top + y))
    }

    /// Resizes with nearest-neighbour sampling, which keeps the edges of cells sharp.
    pub fn resize_nearest(&self, width: usize, height: usize) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        Self::from_fn(width, height, |x, y| {
            self.pixel((2 * x + 1) * self.width / (2 * width), (2 * y + 1) * self.height / (2 * height))
        })
    }

    /// Resizes with a box filter: each pixel is the mean of the area that it covers. For shrinking images.
    pub fn resize_box(&self, width: usize, height: usize) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        let columns: Vec<_> = (0..width).map(|x| overlaps(x, width, self.width)).collect();
        let rows: Vec<_> = (0..height).map(|y| overlaps(y, height, self.height)).collect();
        Self::from_fn(width, height, |x, y| {
            let (mut sum, mut total) = ([0.0; 3], 0.0);
            for &(source_y, tall) in &rows[y] {
                for &(source_x, wide) in &columns[x] {
                    let pixel = self.pixel(source_x, source_y);
                    total += wide * tall;
                    for (sum, channel) in sum.iter_mut().zip(pixel) {
                        *sum += wide * tall * f64::from(channel);
                    }
                }
            }
            sum.map(|s| (s / total).round() as u8)
        })
    }

    /// Encodes the image as a PNG file; equal pixels give equal bytes.
    pub fn encode_png(&self) -> Vec<u8> {
        self.encode(png::Compression::Balanced)
    }

    /// Like [`Image::encode_png`], several times faster, with a somewhat larger file; for many images.
    pub fn encode_png_fast(&self) -> Vec<u8> {
        self.encode(png::Compression::Fast)
    }

    /// Like [`Image::encode_png`], with a palette if the image has at most 256 colours, which makes figures about half as
    /// large. Not for image data: some readers return the indices of a palette instead of its colours.
    pub fn encode_png_figure(&self) -> Vec<u8> {
        let mut index_of = std::collections::HashMap::new();
        let mut palette: Vec<Rgb> = Vec::new();
        let mut indices = Vec::with_capacity(self.pixels.len());
        for &colour in &self.pixels {
            let index = *index_of.entry(colour).or_insert(palette.len());
            if index == 256 {
                return self.encode_png();
            }
            if index == palette.len() {
                palette.push(colour);
            }
            indices.push(index as u8);
        }
        let mut bytes = Vec::new();
        // The sides of an image that fits into memory and has a row of pixels fit into 32 bits.
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(palette.as_flattened());
        encoder.set_compression(png::Compression::Balanced);
        encoder.set_filter(png::Filter::NoFilter);
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(&indices)?;
            writer.finish()
        });
        written.map_or_else(|_| self.encode_png(), |()| bytes)
    }

    fn encode(&self, compression: png::Compression) -> Vec<u8> {
        let pixels = self.pixels.as_flattened();
        encode(self.width, self.height, png::ColorType::Rgb, png::BitDepth::Eight, Some(compression), pixels)
            .expect("a vector takes the width × height pixels of a non-empty image")
    }

    /// Decodes a PNG file with at most 8 bits per channel or a palette, or a JPEG file. Grey becomes RGB; the alpha
    /// channel is dropped.
    pub fn decode_png(bytes: &[u8]) -> Result<Self, PngError> {
        Ok(decode(bytes)?.0)
    }
}

/// Decodes a PNG or JPEG file; also returns whether it is grey. A panic of the decoder on a damaged file becomes an error.
pub(crate) fn decode(bytes: &[u8]) -> Result<(Image, bool), PngError> {
    check_palette(bytes)?;
    std::panic::catch_unwind(|| if jpeg::is_jpeg(bytes) { jpeg::decode(bytes) } else { decode_checked(bytes) })
        .unwrap_or_else(|_| Err(PngError::Broken { reason: "the decoder failed".into() }))
}

/// Returns an error for a palette that is not a list of colours, on which the decoder would panic.
fn check_palette(bytes: &[u8]) -> Result<(), PngError> {
    let mut rest = bytes.get(8..).unwrap_or_default();
    while let Some((head, after)) = rest.split_first_chunk::<8>() {
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        if &head[4..] == b"PLTE" && !(length.is_multiple_of(3) && (3..=768).contains(&length)) {
            let reason = format!("its palette has {length} bytes, not 3 for each of 1 to 256 colours");
            return Err(PngError::Broken { reason });
        }
        // The data of the chunk and its checksum.
        rest = after.get(length.saturating_add(4)..).unwrap_or_default();
    }
    Ok(())
}

fn decode_checked(bytes: &[u8]) -> Result<(Image, bool), PngError> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(|error| PngError::NotPng { reason: error.to_string() })?;
    let (width, height) = reader.info().size();
    let too_large = PngError::TooLarge { width, height };
    if u64::from(width) * u64::from(height) > MAX_PIXELS as u64 {
        return Err(too_large);
    }
    // No memory for pixels that a file of this length cannot hold.
    if reader.info().raw_bytes() > bytes.len().saturating_mul(MAX_DEFLATE_RATIO) {
        return Err(PngError::Broken { reason: "its data are too short for its size".into() });
    }
    if reader.info().bit_depth == png::BitDepth::Sixteen {
        return Err(PngError::TooManyBits);
    }
    let size = reader.output_buffer_size().ok_or(too_large)?;
    // The samples, and the pixels of the image.
    require_memory(2.0 * size as f64)?;
    let mut buffer = vec![0; size];
    let info = reader.next_frame(&mut buffer).map_err(|error| PngError::Broken { reason: error.to_string() })?;
    let samples = info.color_type.samples();
    let grey = samples < 3;
    let pixel = |sample: &[u8]| if grey { [sample[0]; 3] } else { [sample[0], sample[1], sample[2]] };
    let pixels = buffer[..info.buffer_size()].chunks_exact(samples).map(pixel).collect();
    let image = Image::from_pixels(info.width as usize, info.height as usize, pixels);
    Ok((image.ok_or_else(|| PngError::Broken { reason: "it has no pixels".into() })?, grey))
}

/// Encodes a grey PNG file with 8 bits per pixel, rows from the top. `None` unless there are `width × height` levels,
/// and at least one.
pub fn encode_grey8(width: usize, height: usize, levels: &[u8]) -> Option<Vec<u8>> {
    encode(width, height, png::ColorType::Grayscale, png::BitDepth::Eight, None, levels)
}

/// Like [`encode_grey8`], with 16 bits per pixel.
pub fn encode_grey16(width: usize, height: usize, levels: &[u16]) -> Option<Vec<u8>> {
    let big_endian: Vec<u8> = levels.iter().flat_map(|level| level.to_be_bytes()).collect();
    encode(width, height, png::ColorType::Grayscale, png::BitDepth::Sixteen, None, &big_endian)
}

/// `None` if the number of bytes does not match the size or is zero.
fn encode(
    width: usize,
    height: usize,
    colour: png::ColorType,
    depth: png::BitDepth,
    compression: Option<png::Compression>,
    data: &[u8],
) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    if let Some(compression) = compression {
        encoder.set_compression(compression);
    }
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(data).ok()?;
    writer.finish().ok()?;
    Some(bytes)
}

/// The cells of `old` that the cell `index` of `new` covers, with the covered fraction of each.
fn overlaps(index: usize, new: usize, old: usize) -> Vec<(usize, f64)> {
    let scale = old as f64 / new as f64;
    let (from, to) = (index as f64 * scale, (index as f64 + 1.0) * scale);
    let last = (to.ceil() as usize).min(old);
    (from as usize..last)
        .map(|cell| (cell, to.min(cell as f64 + 1.0) - from.max(cell as f64)))
        .filter(|&(_, share)| share > 1e-9)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chequered() -> Image {
        Image::from_fn(7, 5, |x, y| [(x * 36) as u8, (y * 60) as u8, ((x + y) % 2 * 255) as u8])
    }

    #[test]
    fn png_decodes_to_the_same_pixels() {
        let image = chequered();
        assert_eq!(Image::decode_png(&image.encode_png()).unwrap(), image);
        assert_eq!(Image::decode_png(&image.encode_png_fast()).unwrap(), image);
        assert_eq!(Image::decode_png(&image.encode_png_figure()).unwrap(), image);
    }

    #[test]
    fn a_figure_of_few_colours_is_small_and_one_of_many_keeps_them() {
        for colours in [1, 2, 256, 257, 4000] {
            let image = Image::from_fn(80, 50, |x, y| {
                let i = (y * 80 + x) % colours;
                [(i % 251) as u8, (i / 251) as u8, (i % 7) as u8]
            });
            let figure = image.encode_png_figure();
            assert_eq!(Image::decode_png(&figure).unwrap(), image, "{colours}");
            assert_eq!(figure == image.encode_png(), colours > 256, "{colours}");
        }
    }

    #[test]
    fn grey_levels_survive() {
        let levels = [0, 1, 256, 65535, 40000, 7];
        let bytes = encode_grey16(3, 2, &levels).unwrap();
        assert!(matches!(Image::decode_png(&bytes), Err(PngError::TooManyBits)));
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut buffer).unwrap();
        let read: Vec<u16> = buffer.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
        assert_eq!(read, levels);
        let (image, grey) = decode(&encode_grey8(2, 1, &[3, 250]).unwrap()).unwrap();
        assert_eq!((image.pixels(), grey), (&[[3; 3], [250; 3]][..], true));
        assert!(encode_grey8(2, 2, &[3, 250]).is_none());
        assert!(encode_grey16(3, 3, &levels).is_none() && encode_grey16(0, 0, &[]).is_none());
    }

    /// Files of 69 bytes that promise up to 4e18 pixels, and a palette whose length is no multiple of three.
    #[test]
    fn hostile_images_are_refused_without_allocating() {
        for (file, reason) in [
            (&include_bytes!("../tests/images/60000x60000.png")[..], "60000 x 60000"),
            (&include_bytes!("../tests/images/200000x200000.png")[..], "200000 x 200000"),
            (&include_bytes!("../tests/images/2e9x2e9.png")[..], "P"),
            (&include_bytes!("../tests/images/palette-not-multiple-of-3.png")[..], "palette"),
        ] {
            let message = Image::decode_png(file).unwrap_err().to_string();
            assert!(message.contains(reason), "{reason}: {message}");
        }
        let image = chequered().encode_png();
        for length in 0..image.len() {
            let _ = Image::decode_png(&image[..length]);
        }
    }

    #[test]
    fn pixels_must_fit_the_size() {
        assert!(Image::from_pixels(2, 2, vec![[0; 3]; 3]).is_none() && Image::from_pixels(0, 0, Vec::new()).is_none());
        assert_eq!(Image::from_pixels(2, 1, vec![[7; 3]; 2]).unwrap(), Image::new(2, 1, [7; 3]));
    }

    #[test]
    fn blit_and_crop_cut_at_the_edges() {
        let mut image = Image::new(4, 4, [255; 3]);
        image.blit(&Image::new(2, 2, [1, 2, 3]), -1, 3);
        assert_eq!(image.pixel(0, 3), [1, 2, 3]);
        assert_eq!(image.pixels().iter().filter(|&&p| p == [1, 2, 3]).count(), 1);
        let part = chequered().crop(5, 3, 100, 100);
        assert_eq!((part.width(), part.height()), (2, 2));
        assert_eq!(part.pixel(1, 1), chequered().pixel(6, 4));
    }

    #[test]
    fn resizing_keeps_a_flat_image_and_means_a_mixed_one() {
        let flat = Image::new(5, 3, [10, 200, 77]);
        assert_eq!(flat.resize_box(2, 7), Image::new(2, 7, [10, 200, 77]));
        assert_eq!(flat.resize_nearest(9, 1), Image::new(9, 1, [10, 200, 77]));
        let halves = Image::from_fn(2, 1, |x, _| [(x * 200) as u8; 3]);
        assert_eq!(halves.resize_box(1, 1).pixel(0, 0), [100; 3]);
        assert_eq!(halves.resize_nearest(4, 1).pixel(2, 0), [200; 3]);
    }
}
