//! What is kept of an episode.

/// One episode: what was drawn for it, and its frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// Its number.
    pub index: usize,
    /// What its draws depended on.
    pub seed: u64,
    /// Which object.
    pub object: usize,
    /// Which label.
    pub label: usize,
    /// Which sensor.
    pub sensor: usize,
    /// Which material.
    pub material: usize,
    /// What was drawn for skin, response and camera, in the order of the description's `randomise`.
    pub drawn: Vec<f64>,
    /// Coefficient of friction of the object, where it has its own.
    pub mu: Option<f64>,
    /// Whether a grasp held, and how far (m) the object moved in the hand.
    pub grasp: Option<Grasp>,
    /// The frames.
    pub frames: Vec<Frame>,
}

/// How a grasp ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grasp {
    /// Lifted and not slipped.
    pub stable: bool,
    /// How far (m) the object moved in the hand.
    pub slip_m: f64,
}

/// One moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Since the episode began (s).
    pub time_s: f64,
    /// How the object moves until the next frame, in the sensor's frame: along x, y, z (m) and about them (rad); nothing in the last. Of a grasp,
    /// how the hand does: its rise (m) and closing (m) first.
    pub action: [f32; 6],
    /// What each sensor feels: one, or the left and right finger.
    pub felt: Vec<Felt>,
}

/// What one sensor feels.
#[derive(Clone, Debug, PartialEq)]
pub struct Felt {
    /// Where the object is in the sensor's frame: x, y, z (m), and a quaternion x, y, z, w.
    pub pose: [f32; 7],
    /// Greatest depth (m) of the object in the skin.
    pub depth_m: f32,
    /// Load on the sensor, about its origin: N, N m.
    pub wrench: [f32; 6],
    /// What the device says of each taxel (N).
    pub reported_newton: Vec<f32>,
    /// The true force on each taxel (N): x, y, z.
    pub forces_newton: Vec<f32>,
    /// Whether each taxel is pressed.
    pub contact: Vec<bool>,
    /// What the camera sees, if there is one.
    pub sight: Option<Seen>,
}

/// What a camera sees, as PNG.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The image.
    pub image_png: Vec<u8>,
    /// White where the object touches.
    pub contact_png: Vec<u8>,
    /// Sums over the image's pixels, for the statistics of the set.
    pub levels: Levels,
    /// The same of the contact, alike in all channels.
    pub contact: Levels,
}

/// Red, green and blue from 0 to 1 over all pixels of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// Pixels.
    pub pixels: usize,
    /// Least.
    pub min: [f64; 3],
    /// Greatest.
    pub max: [f64; 3],
    /// Sum.
    pub sum: [f64; 3],
    /// Sum of squares.
    pub squares: [f64; 3],
}

impl Levels {
    /// Of an image of one channel.
    pub fn of_grey(levels: &[u8]) -> Self {
        Self::of(&levels.iter().map(|&level| [level; 3]).collect::<Vec<_>>())
    }

    /// Of an image.
    pub fn of(pixels: &[[u8; 3]]) -> Self {
        // Whole numbers until the end: exact, whatever the order.
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
