//! The recorded data of an episode.

use super::warnings::EpisodeWarning;
use dermis_record::lerobot::Statistics;

/// One episode: its drawn values and its frames.
///
/// ```
/// use dermis::dataset::Dataset;
/// let text = r#"
/// name = "taps"
/// format = "parquet"
/// count = 3
/// sensor = [{ preset = "wts0614" }]
/// object = [{ shape.sphere.radius = "8 mm" }]
/// pose.depth = { uniform = ["0.2 mm", "0.6 mm"] }
/// scenario.kind = "press"
/// "#;
///
/// let set = Dataset::parse("taps.toml", text, None)?;
/// let episode = set.episode(2)?; // depends on the description and on 2 only
/// assert_eq!(episode, set.episode(2)?);
/// assert_eq!((episode.index, episode.frames.len()), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// Its index.
    pub index: usize,
    /// Seed of its draws.
    pub seed: u64,
    /// Index of the object.
    pub object: usize,
    /// Index of the label.
    pub label: usize,
    /// Index of the sensor.
    pub sensor: usize,
    /// Index of the material.
    pub material: usize,
    /// Values drawn for skin, response and camera, in the order of [`super::Dataset::randomised`].
    pub drawn: Vec<f64>,
    /// Coefficient of friction of the object, if it is drawn.
    pub mu: Option<f64>,
    /// The outcome of a grasp.
    pub grasp: Option<Grasp>,
    /// The frames.
    pub frames: Vec<Frame>,
    /// Warnings of its skins and cameras, the first of each kind.
    pub warnings: Vec<EpisodeWarning>,
}

/// The outcome of a grasp.
///
/// ```
/// use dermis::dataset::Grasp;
/// let grasp = Grasp { stable: true, slip_m: 0.2e-3 };
/// assert!(grasp.stable && grasp.slip_m < 2e-3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grasp {
    /// Whether the object was lifted without slipping.
    pub stable: bool,
    /// Displacement of the object in the hand (m).
    pub slip_m: f64,
}

/// One time sample of an episode.
///
/// ```
/// use dermis::dataset::Dataset;
/// # let text = r#"
/// # name = "taps"
/// # format = "parquet"
/// # count = 3
/// # sensor = [{ preset = "wts0614" }]
/// # object = [{ shape.sphere.radius = "8 mm" }]
/// # pose.depth = { uniform = ["0.2 mm", "0.6 mm"] }
/// # scenario.kind = "press"
/// # "#;
/// let frame = Dataset::parse("taps.toml", text, None)?.episode(0)?.frames.remove(0);
/// assert_eq!((frame.action, frame.sensors.len()), ([0.0; 6], 1)); // the last frame of an episode
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Time since the start of the episode (s).
    pub time_s: f64,
    /// Motion of the object until the next frame, in the sensor's frame: translation x, y, z (m) and rotation vector
    /// (rad); zero in the last frame. For a grasp, motion of the hand: rise (m), closing (m), then zeros.
    pub action: [f32; 6],
    /// One entry per sensor: a single one, or the left and right finger.
    pub sensors: Vec<SensorFrame>,
}

/// The observation of one sensor.
///
/// ```
/// use dermis::dataset::Dataset;
/// # let text = r#"
/// # name = "taps"
/// # format = "parquet"
/// # count = 3
/// # sensor = [{ preset = "wts0614" }]
/// # object = [{ shape.sphere.radius = "8 mm" }]
/// # pose.depth = { uniform = ["0.2 mm", "0.6 mm"] }
/// # scenario.kind = "press"
/// # "#;
/// let frame = Dataset::parse("taps.toml", text, None)?.episode(0)?.frames.remove(0).sensors.remove(0);
/// assert!(frame.wrench[2] < 0.0 && (2e-4..=6e-4).contains(&frame.depth_m));
/// assert!(frame.contact.iter().any(|pressed| *pressed) && frame.camera.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SensorFrame {
    /// Pose of the object in the sensor's frame: x, y, z (m), and a quaternion x, y, z, w.
    pub pose: [f32; 7],
    /// Greatest penetration depth (m).
    pub depth_m: f32,
    /// Contact wrench on the sensor about its origin: force (N), torque (N m).
    pub wrench: [f32; 6],
    /// Reported value of each taxel (N), after the response chain.
    pub reported_newton: Vec<f32>,
    /// True force on each taxel (N): x, y, z.
    pub forces_newton: Vec<f32>,
    /// Flux density (µT) at each magnetometer: x, y, z; empty without magnetometers.
    pub magnetic_ut: Vec<f32>,
    /// Whether each taxel is pressed.
    pub contact: Vec<bool>,
    /// Camera images, if the sensor has a camera.
    pub camera: Option<CameraImages>,
}

/// Camera images as PNG.
///
/// ```
/// use dermis::dataset::{CameraImages, Dataset};
/// let text = r#"
/// name = "images"
/// format = "parquet"
/// count = 1
/// sensor = [{ preset = "gelsight", skin.cell = "0.5 mm", camera = { width = 32, height = 24, pixel = "0.5 mm" } }]
/// object = [{ shape.sphere.radius = "4 mm" }]
/// pose.depth = "0.3 mm"
/// scenario.kind = "press"
/// "#;
/// let episode = Dataset::parse("images.toml", text, None)?.episode(0)?;
/// let images: &CameraImages = episode.frames[0].sensors[0].camera.as_ref().unwrap();
/// assert!(images.image_png.starts_with(b"\x89PNG"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CameraImages {
    /// The image.
    pub image_png: Vec<u8>,
    /// Contact mask: white where the object touches.
    pub contact_png: Vec<u8>,
    /// Levels of the image, for the statistics of the set.
    pub levels: PixelCounts,
    /// Levels of the contact mask, equal in all channels.
    pub contact: PixelCounts,
    /// The warning about the light of the image.
    pub warning: Option<String>,
}

/// Number of pixels at each level from 0 to 255, for red, green and blue.
///
/// ```
/// use dermis::dataset::PixelCounts;
/// let counts = PixelCounts::of([[0, 0, 255], [255, 0, 255]].into_iter());
/// assert_eq!(counts.statistics(3).values, 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PixelCounts(Box<[[u32; 256]; 3]>);

impl PixelCounts {
    /// Counts of a one-channel image, in all channels.
    pub fn of_grey(levels: &[u8]) -> Self {
        Self::of(levels.iter().map(|&level| [level; 3]))
    }

    /// Counts of an image.
    pub fn of(pixels: impl Iterator<Item = [u8; 3]>) -> Self {
        let mut counts = Box::new([[0; 256]; 3]);
        for pixel in pixels {
            for (counts, level) in counts.iter_mut().zip(pixel) {
                counts[usize::from(level)] += 1;
            }
        }
        Self(counts)
    }

    /// Statistics of the first `channels` channels, with levels from 0 to 1.
    pub fn statistics(&self, channels: usize) -> Statistics {
        let mut all = Statistics::empty(channels);
        all.rows = 1;
        all.values = self.0[0].iter().map(|&count| count as usize).sum();
        for (entry, counts) in self.0[..channels].iter().enumerate() {
            for (level, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                all.insert(entry, level as f64 / 255.0, u64::from(count));
            }
        }
        all
    }
}
