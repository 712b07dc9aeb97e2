//! What is kept of one moment.

use dermis_geometry::{Pose, Vec3};
use dermis_sensor::Reading;

/// Everything that is kept of one time.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Time since the start (s).
    pub time_s: f64,
    /// What each sensor felt.
    pub sensors: Vec<Felt>,
    /// world_from_body of each body.
    pub bodies: Vec<Pose>,
}

/// What one sensor felt, and where it was.
#[derive(Clone, Debug)]
pub struct Felt {
    /// Where it is.
    pub world_from_sensor: Pose,
    /// What it reports.
    pub reading: Reading,
    /// Force on it, in its frame (N).
    pub force_newton: Vec3,
    /// Torque on it about its origin, in its frame (N m).
    pub torque_newton_m: Vec3,
    /// What its camera sees, where it has one and an image is due.
    pub camera: Option<RecordedImage>,
    /// Its taxels as a heat map to be looked at, where one is due.
    pub tactile: Option<RecordedImage>,
}

impl Felt {
    /// The images that are there, by name.
    pub fn images(&self) -> impl Iterator<Item = (&'static str, &RecordedImage)> {
        let both = [("camera", &self.camera), ("tactile", &self.tactile)];
        both.into_iter().filter_map(|(name, image)| Some((name, image.as_ref()?)))
    }
}

/// Colours, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedImage {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// Red, green and blue of each pixel.
    pub pixels: Vec<[u8; 3]>,
}

impl RecordedImage {
    /// It as the bytes of a PNG file: little time rather than the smallest file.
    pub fn encode_png(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(self.pixels.as_flattened())?;
            writer.finish()
        });
        debug_assert!(written.is_ok(), "an image in memory can be written unless its sides do not fit its pixels");
        bytes
    }
}
