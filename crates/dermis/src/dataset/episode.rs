//! The recorded data of an episode.

/// One episode: its drawn values and its frames.
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
    /// Values drawn for skin, response and camera, in the order of [`super::Dataset::drawn_names`].
    pub drawn: Vec<f64>,
    /// Coefficient of friction of the object, if it is drawn.
    pub mu: Option<f64>,
    /// The outcome of a grasp.
    pub grasp: Option<Grasp>,
    /// The frames.
    pub frames: Vec<Frame>,
}

/// The outcome of a grasp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grasp {
    /// Whether the object was lifted without slipping.
    pub stable: bool,
    /// Displacement of the object in the hand (m).
    pub slip_m: f64,
}

/// One time sample of an episode.
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
    /// Whether each taxel is pressed.
    pub contact: Vec<bool>,
    /// Camera images, if the sensor has a camera.
    pub camera: Option<CameraImages>,
}

/// Camera images as PNG.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraImages {
    /// The image.
    pub image_png: Vec<u8>,
    /// Contact mask: white where the object touches.
    pub contact_png: Vec<u8>,
    /// Sums over the image's pixels, for the statistics of the set.
    pub levels: PixelSums,
    /// The same for the contact mask, equal in all channels.
    pub contact: PixelSums,
}

/// Sums over the pixels of an image, for red, green and blue from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PixelSums {
    /// Number of pixels.
    pub pixels: usize,
    /// Minimum.
    pub min: [f64; 3],
    /// Maximum.
    pub max: [f64; 3],
    /// Sum.
    pub sum: [f64; 3],
    /// Sum of squares.
    pub squares: [f64; 3],
}

impl PixelSums {
    /// Sums of a one-channel image.
    pub fn of_grey(levels: &[u8]) -> Self {
        Self::of(&levels.iter().map(|&level| [level; 3]).collect::<Vec<_>>())
    }

    /// Sums of an image.
    pub fn of(pixels: &[[u8; 3]]) -> Self {
        // Integer sums are exact in any order.
        let (mut min, mut max, mut sum, mut squares) = ([255u8; 3], [0u8; 3], [0u64; 3], [0u64; 3]);
        for pixel in pixels {
            for channel in 0..3 {
                let level = pixel[channel];
                min[channel] = min[channel].min(level);
                max[channel] = max[channel].max(level);
                sum[channel] += u64::from(level);
                squares[channel] += u64::from(level) * u64::from(level);
            }
        }
        Self {
            pixels: pixels.len(),
            min: min.map(|level| f64::from(level) / 255.0),
            max: max.map(|level| f64::from(level) / 255.0),
            sum: sum.map(|sum| sum as f64 / 255.0),
            squares: squares.map(|sum| sum as f64 / (255.0 * 255.0)),
        }
    }
}
