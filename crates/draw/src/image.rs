//! An image as rows of pixels, and its way into a file.

use std::fs;
use std::path::{Path, PathBuf};

/// Red, green, blue, each 0 to 255, in the sRGB sense.
pub type Rgb = [u8; 3];

/// Why an image did not reach its file.
#[derive(Debug, thiserror::Error)]
pub enum DrawError {
    /// The file system refused.
    #[error("{}: the image cannot be written: {reason}", path.display())]
    Write {
        /// Where the image was to go.
        path: PathBuf,
        /// What the file system said.
        reason: String,
    },
}

/// An image: `width × height` pixels, rows from the top, each row from the left. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    pixels: Vec<Rgb>,
}

impl Image {
    /// One colour everywhere. A side of zero becomes one pixel: PNG knows no empty image.
    pub fn new(width: usize, height: usize, colour: Rgb) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        Self { width, height, pixels: vec![colour; width * height] }
    }

    /// The image whose pixel in column `x` of row `y` is `colour(x, y)`.
    pub fn from_fn(width: usize, height: usize, mut colour: impl FnMut(usize, usize) -> Rgb) -> Self {
        let mut image = Self::new(width, height, [0; 3]);
        for y in 0..image.height {
            for x in 0..image.width {
                image.set(x, y, colour(x, y));
            }
        }
        image
    }

    /// Pixels across.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Pixels down.
    pub fn height(&self) -> usize {
        self.height
    }

    /// All pixels, rows from the top.
    pub fn pixels(&self) -> &[Rgb] {
        &self.pixels
    }

    /// The pixel in column `x` of row `y`; both must be inside.
    pub fn pixel(&self, x: usize, y: usize) -> Rgb {
        self.pixels[y * self.width + x]
    }

    /// Sets one pixel; outside the image nothing happens.
    pub fn set(&mut self, x: usize, y: usize, colour: Rgb) {
        if x < self.width && y < self.height {
            self.pixels[y * self.width + x] = colour;
        }
    }

    /// Copies `source` with its upper left corner at `(left, top)`; what falls outside is cut off.
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

    /// The part of `width × height` pixels from `(left, top)`, as much of it as there is; at least one pixel.
    pub fn crop(&self, left: usize, top: usize, width: usize, height: usize) -> Self {
        let (left, top) = (left.min(self.width - 1), top.min(self.height - 1));
        let (width, height) = (width.min(self.width - left), height.min(self.height - top));
        Self::from_fn(width, height, |x, y| self.pixel(left + x, top + y))
    }

    /// Another size, each pixel the nearest of the old ones: keeps cells sharp.
    pub fn resize_nearest(&self, width: usize, height: usize) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        Self::from_fn(width, height, |x, y| {
            self.pixel((2 * x + 1) * self.width / (2 * width), (2 * y + 1) * self.height / (2 * height))
        })
    }

    /// Another size, each pixel the mean of the area it covers: for making images smaller.
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

    /// The image as the bytes of a PNG file; the same pixels give the same bytes.
    pub fn encode_png(&self) -> Vec<u8> {
        self.encode(png::Compression::Balanced)
    }

    /// As [`Image::encode_png`], several times as fast and somewhat larger: for many images.
    pub fn encode_png_quick(&self) -> Vec<u8> {
        self.encode(png::Compression::Fast)
    }

    fn encode(&self, compression: png::Compression) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(compression);
        let mut writer = encoder.write_header().expect("a vector takes the header of a non-empty image");
        writer.write_image_data(self.pixels.as_flattened()).expect("a vector takes exactly width × height pixels");
        writer.finish().expect("a vector takes the last bytes");
        bytes
    }

    /// Writes a PNG file. It is written beside `path` first and then renamed, so that `path` holds either what it
    /// held before or the whole image.
    pub fn save(&self, path: &Path) -> Result<(), DrawError> {
        Self::place(path, self.encode_png())
    }

    /// As [`Image::save`], several times as fast and somewhat larger: for many images.
    pub fn save_quick(&self, path: &Path) -> Result<(), DrawError> {
        Self::place(path, self.encode_png_quick())
    }

    fn place(path: &Path, bytes: Vec<u8>) -> Result<(), DrawError> {
        let refused = |error: std::io::Error| DrawError::Write { path: path.to_owned(), reason: error.to_string() };
        let Some(name) = path.file_name() else {
            return Err(refused(std::io::Error::other("the path does not end in a file name")));
        };
        let mut beside = std::ffi::OsString::from(".");
        beside.push(name);
        beside.push(format!(".{}.part", std::process::id()));
        let beside = path.with_file_name(beside);
        let written = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path));
        written.map_err(|error| {
            // The error that matters is the first one; the part may never have come to be.
            let _ = fs::remove_file(&beside);
            refused(error)
        })
    }
}

/// Which of `old` cells the cell `index` of `new` covers, and how much of each.
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
        let decoder = png::Decoder::new(std::io::Cursor::new(image.encode_png()));
        let mut reader = decoder.read_info().unwrap();
        let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut buffer).unwrap();
        assert_eq!((info.width, info.height), (7, 5));
        assert_eq!(buffer, image.pixels().as_flattened());
    }

    #[test]
    fn saved_file_is_the_encoding_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image.png");
        chequered().save(&path).unwrap();
        chequered().save(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), chequered().encode_png());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn unwritable_path_is_named_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing").join("image.png");
        let message = chequered().save(&missing).unwrap_err().to_string();
        assert!(message.contains(&missing.display().to_string()), "{message}");
        // A folder already sits where the file should go: the rename fails after the bytes were written.
        let taken = folder.path().join("taken.png");
        fs::create_dir(&taken).unwrap();
        let message = chequered().save(&taken).unwrap_err().to_string();
        assert!(message.contains("taken.png"), "{message}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(chequered().save(Path::new("/")).is_err());
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
