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

    /// Relief of the dent at another position (column and row) of the camera's image.
    pub fn relief(&self, camera: &Camera, [column, row]: [f64; 2]) -> Relief {
        let (width, height) = (camera.width, camera.height);
        let count = width * height;
        let [mut z_m, mut slope_right, mut slope_down] = [0; 3].map(|_| Vec::with_capacity(count));
        for y in 0..height {
            for x in 0..width {
                let (right, down) = ((x as f64 - column) as f32, (y as f64 - row) as f32);
                let far = (right * right + down * down).sqrt();
                let [z, slope] = self.at(far);
                let per_pixel = if far > 0.0 { slope / far } else { 0.0 };
                z_m.push(z);
                slope_right.push(per_pixel * right);
                slope_down.push(per_pixel * down);
            }
        }
        Relief { width, height, z_m, slope_right, slope_down, seen: None }
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
