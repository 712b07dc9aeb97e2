//! Radial profiles of round dents.

use crate::optics::{Camera, Relief};
use crate::{Aim, Goal, PressError, Sensor, press};
use dermis_skin::Object;

/// The surface under a round object pressed normally into a flat gel: height and slope as functions of the distance
/// from its centre.
#[derive(Clone, Debug)]
pub struct Dent {
    /// Depth of the press (m).
    pub depth_m: f64,
    /// Height (m) and outward slope (m/m) at 0, 1, 2, … pixels from the centre.
    profile: Vec<[f32; 2]>,
}

impl Dent {
    /// Dents of an object of revolution about z at several depths (m), at the centre of the sensor's image. Empty if
    /// the sensor has no camera or its skin does not report its surface.
    pub fn series(sensor: &Sensor, object: &Object, depths_m: &[f64]) -> Result<Vec<Self>, PressError> {
        let Some(camera) = sensor.optics().map(|optics| optics.camera().clone()) else { return Ok(Vec::new()) };
        let middle = [0.5 * (camera.width as f64 - 1.0), 0.5 * (camera.height as f64 - 1.0)];
        let aim = Aim { at_m: camera.on_plane(middle), ..Aim::default() };
        let mut dents = Vec::new();
        for &depth_m in depths_m {
            let pressed = press(sensor, object, &aim, Goal::Depth(depth_m))?;
            if let Some(surface) = &pressed.touch.surface {
                dents.push(Self::of(&Relief::of(surface, &camera), middle, depth_m));
            }
        }
        Ok(dents)
    }

    /// Dent of a round relief about its centre (column and row).
    pub fn of(relief: &Relief, middle: [f64; 2], depth_m: f64) -> Self {
        Self { depth_m, profile: profile(relief, middle) }
    }

    /// Dents of a ball on a shaft of the same diameter, up to the depth that its contact can have.
    pub fn of_ball(sensor: &Sensor, radius_m: f64) -> Result<Vec<Self>, PressError> {
        const COUNT: usize = 12;
        /// Depth by radius at which the contact reaches the shaft, nearly.
        const DEEPEST: f64 = 1.2;
        /// Fraction of the skin's maximum depth up to which its surface is accurate.
        const MAX_FRACTION: f64 = 0.75;
        /// The same for a thin pin, whose dent is deeper than its end.
        const PIN: f64 = 0.3;
        let max_m = sensor.skin().max_depth_m();
        let deepest_m = (DEEPEST * radius_m).min(MAX_FRACTION * max_m).max((2.4 * radius_m).min(PIN * max_m));
        let shape = dermis_geometry::shapes::capsule(radius_m, 4.0 * deepest_m, radius_m / 25.0);
        let Ok(shape) = shape else { return Ok(Vec::new()) };
        let depths_m: Vec<f64> = (1..=COUNT).map(|i| deepest_m * i as f64 / COUNT as f64).collect();
        Self::series(sensor, &Object::new(shape), &depths_m)
    }

    /// Distance (pixels) from the centre to the steepest slope: the edge of the contact in an image.
    pub fn rim_px(&self) -> f64 {
        let slopes = self.profile.iter().map(|[_, slope]| *slope).enumerate();
        slopes.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0.0, |(i, _)| i as f64)
    }

    /// Outward slopes (m/m) at 0, 1, 2, … pixels from the centre.
    pub(super) fn slopes(&self) -> impl Iterator<Item = f64> + '_ {
        self.profile.iter().map(|[_, slope]| f64::from(*slope))
    }

    /// A dent at another depth (m), by linear interpolation between the dents of a series with increasing depth.
    pub fn at_depth(series: &[Self], depth_m: f64) -> Self {
        let next = series.iter().position(|dent| dent.depth_m >= depth_m).unwrap_or(series.len() - 1).max(1);
        let Some([a, b]) = series.get(next - 1..=next) else { return series[0].clone() };
        let part = (depth_m - a.depth_m) / (b.depth_m - a.depth_m);
        let pairs = a.profile.iter().zip(&b.profile);
        let mix = |(a, b): (&[f32; 2], &[f32; 2])| [0, 1].map(|i| a[i] + (b[i] - a[i]) * part as f32);
        Self { depth_m, profile: pairs.map(mix).collect() }
    }

    /// Relief of the dent at another position (column and row) of the camera's image.
    pub fn relief(&self, camera: &Camera, middle: [f64; 2]) -> Relief {
        self.relief_in([0, 0], [camera.width, camera.height], 1, camera.pixel_m, middle)
    }

    /// Relief in a window of an image: its first column and row, number of columns and rows, and pixels between them.
    pub(super) fn relief_in(
        &self,
        first: [usize; 2],
        [width, height]: [usize; 2],
        stride: usize,
        pixel_m: f64,
        [column, row]: [f64; 2],
    ) -> Relief {
        let count = width * height;
        let [mut z_m, mut slope_right, mut slope_down] = [0; 3].map(|_| Vec::with_capacity(count));
        for y in (0..height).map(|y| first[1] + y * stride) {
            for x in (0..width).map(|x| first[0] + x * stride) {
                let (right, down) = ((x as f64 - column) as f32, (y as f64 - row) as f32);
                let far = (right * right + down * down).sqrt();
                let [z, slope] = self.at(far);
                let per_pixel = if far > 0.0 { slope / far } else { 0.0 };
                z_m.push(z);
                slope_right.push(per_pixel * right);
                slope_down.push(per_pixel * down);
            }
        }
        Relief { width, height, pixel_m: pixel_m * stride as f64, z_m, slope_right, slope_down, seen: None }
    }

    /// Linear interpolation between pixels; flat beyond the last.
    fn at(&self, far_px: f32) -> [f32; 2] {
        let (low, part) = (far_px as usize, far_px.fract());
        match self.profile.get(low..low + 2) {
            Some([a, b]) => [0, 1].map(|i| a[i] + (b[i] - a[i]) * part),
            _ => [self.profile.last().map_or(0.0, |last| last[0]), 0.0],
        }
    }
}

/// Means over rings one pixel wide that lie inside the image.
fn profile(relief: &Relief, [column, row]: [f64; 2]) -> Vec<[f32; 2]> {
    let mut rings = vec![([0.0f64; 2], 0usize); (column.min(row).max(0.0) as usize).max(1)];
    for i in 0..relief.z_m.len() {
        let (right, down) = ((i % relief.width) as f64 - column, (i / relief.width) as f64 - row);
        let far = right.hypot(down);
        let Some((sums, count)) = rings.get_mut(far.round() as usize) else { continue };
        let outwards = f64::from(relief.slope_right[i]) * right + f64::from(relief.slope_down[i]) * down;
        sums[0] += f64::from(relief.z_m[i]);
        sums[1] += outwards / far.max(f64::MIN_POSITIVE);
        *count += 1;
    }
    let mean = |(sums, count): ([f64; 2], usize)| sums.map(|sum| (sum / count.max(1) as f64) as f32);
    let mut profile: Vec<[f32; 2]> = rings.into_iter().map(mean).collect();
    // The centre lies between four pixels; the surface is flat there, at the height of the first ring.
    profile[0] = [profile.get(1).map_or(profile[0][0], |beside| beside[0]), 0.0];
    profile
}
