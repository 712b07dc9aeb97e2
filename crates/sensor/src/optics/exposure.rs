//! Exposure, vignetting and noise of the camera.

use super::{CameraSpec, FloatImage, NoiseSpec};
use dermis_geometry::Random;

/// Exposure, vignetting and noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exposure {
    /// Factor on the incoming light.
    pub factor: f32,
    /// Fraction of the light lost in the corners.
    pub vignetting: f32,
    /// Noise, if any.
    pub noise: Option<NoiseSpec>,
}

impl Exposure {
    /// Exposure of a camera.
    pub fn new(camera: &CameraSpec) -> Self {
        Self { factor: camera.exposure as f32, vignetting: camera.vignetting as f32, noise: camera.noise }
    }

    /// Converts light into the image with number `frame` that the camera records.
    pub fn apply(&self, image: &mut FloatImage, frame: u64) {
        self.dim(image);
        if let Some(noise) = self.noise {
            add_noise(image, &noise, frame);
        }
    }

    fn dim(&self, image: &mut FloatImage) {
        let width = image.width;
        image.channels.iter_mut().for_each(|channel| self.each(width, channel, |level, factor| *level *= factor));
    }

    /// Derivatives by the light on each pixel from those by the levels of red, green and blue.
    pub(super) fn scale(&self, width: usize, by_levels: &mut [Vec<f64>; 3]) {
        by_levels.iter_mut().for_each(|channel| self.each(width, channel, |by, factor| *by *= f64::from(factor)));
    }

    /// Calls `apply` with every value of a channel and the factor on the light of its pixel.
    fn each<T>(&self, width: usize, channel: &mut [T], apply: impl Fn(&mut T, f32)) {
        if self.factor == 1.0 && self.vignetting == 0.0 {
            return;
        }
        let height = channel.len() / width;
        let (x0, y0) = (0.5 * (width as f32 - 1.0), 0.5 * (height as f32 - 1.0));
        let per_corner = 1.0 / (x0 * x0 + y0 * y0);
        for (row, line) in channel.chunks_exact_mut(width).enumerate() {
            let y = row as f32 - y0;
            for (column, value) in line.iter_mut().enumerate() {
                let x = column as f32 - x0;
                apply(value, self.factor * (1.0 - self.vignetting * (x * x + y * y) * per_corner));
            }
        }
    }
}

fn add_noise(image: &mut FloatImage, noise: &NoiseSpec, frame: u64) {
    let mut random = Random::new(noise.seed ^ frame.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let (read, shot) = (noise.read_levels * noise.read_levels, noise.shot_levels * noise.shot_levels / 255.0);
    for channel in &mut image.channels {
        for level in channel {
            let variance = read + shot * f64::from(level.max(0.0));
            *level += (variance.sqrt() * random.normal()) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exposure(noise: Option<NoiseSpec>) -> Exposure {
        Exposure { factor: 0.5, vignetting: 0.4, noise }
    }

    #[test]
    fn the_corners_lose_what_is_said() {
        let mut image = FloatImage::new(101, 101, [200.0; 3]);
        exposure(None).apply(&mut image, 0);
        let level = |row: usize, col: usize| image.channels[1][row * 101 + col];
        assert!((level(50, 50) - 100.0).abs() < 1e-4);
        assert!((level(0, 0) - 60.0).abs() < 1e-4 && (level(100, 0) - 60.0).abs() < 1e-4);
        assert!((level(50, 0) - 80.0).abs() < 1e-4, "{}", level(50, 0));
    }

    /// The variance is read² + shot²·level/255; the noise is reproducible per frame and differs between frames.
    #[test]
    fn noise_has_the_variance_and_comes_back() {
        let noise = NoiseSpec { read_levels: 2.0, shot_levels: 3.0, seed: 5 };
        let taken = |frame: u64| {
            let mut image = FloatImage::new(200, 200, [127.5; 3]);
            Exposure { factor: 1.0, vignetting: 0.0, noise: Some(noise) }.apply(&mut image, frame);
            image
        };
        let first = taken(0);
        let all = first.channels.iter().flatten().map(|&level| f64::from(level) - 127.5);
        let variance = all.map(|error| error * error).sum::<f64>() / 120_000.0;
        assert!((variance / (4.0 + 4.5) - 1.0).abs() < 0.03, "{variance}");
        assert_eq!(first, taken(0));
        assert_ne!(first, taken(1));
    }
}
