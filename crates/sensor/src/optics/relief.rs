//! The surface as the camera sees it: depth and slope of every pixel.

use super::Camera;
use super::gradient::ByRelief;
use super::lattice::Lattice;
use super::smoothing::Smoothing;
use super::wide::widest;
use dermis_geometry::Vec3;
use dermis_skin::SurfaceField;

/// Height and slope of the surface at every pixel of an image, rows from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Relief {
    /// Width (pixels).
    pub width: usize,
    /// Height (pixels).
    pub height: usize,
    /// Size of a pixel on the undeformed gel (m).
    pub pixel_m: f64,
    /// Height (m) of the visible point over the sensor's plane z = 0; negative under indentation.
    pub z_m: Vec<f32>,
    /// Slope of the surface to the right of the image (m/m).
    pub slope_right: Vec<f32>,
    /// Slope of the surface down the image (m/m).
    pub slope_down: Vec<f32>,
    /// Mask of the pixels that see the gel; `None`: all of them.
    pub seen: Option<Vec<bool>>,
}

impl Relief {
    /// Relief of a deformed surface.
    pub fn of(field: &SurfaceField, camera: &Camera) -> Self {
        let (mut z_m, seen) = Lattice::over(field, camera).heights(field, camera);
        if let Some(smoothing) = Smoothing::of(camera) {
            smoothing.apply(&mut z_m);
        }
        let count = z_m.len();
        let mut relief = Self {
            width: camera.width,
            height: camera.height,
            pixel_m: camera.pixel_m,
            z_m,
            slope_right: vec![0.0; count],
            slope_down: vec![0.0; count],
            seen,
        };
        relief.take_slopes(camera);
        relief
    }

    /// Relief of the same surface without contact.
    pub fn at_rest(field: &SurfaceField, camera: &Camera) -> Self {
        let still = SurfaceField { values: vec![Vec3::ZERO; field.values.len()], ..field.clone() };
        Self::of(&still, camera)
    }

    /// Heights and slopes relative to another relief of the same size.
    pub(super) fn above(&self, rest: &Self) -> Self {
        let minus = |own: &[f32], rest: &[f32]| own.iter().zip(rest).map(|(own, rest)| own - rest).collect();
        Self {
            z_m: minus(&self.z_m, &rest.z_m),
            slope_right: minus(&self.slope_right, &rest.slope_right),
            slope_down: minus(&self.slope_down, &rest.slope_down),
            ..self.clone()
        }
    }

    /// Computes slopes by central differences (Tacchi 2023, eq. 14, as a correlation; the printed convolution has the
    /// wrong sign) and converts them from slopes per pixel to slopes in space. For a pixel at (U, V) from the optical
    /// axis that sees height z in a camera at distance D, with p the size of a pixel on the plane z = 0: ∂z/∂x = (D/p)
    /// z_u / (D + z + U z_u + V z_v).
    fn take_slopes(&mut self, camera: &Camera) {
        let (width, height) = (self.width, self.height);
        let per_pixel = (1.0 / camera.pixel_m) as f32;
        for row in 0..height {
            let line = &self.z_m[row * width..(row + 1) * width];
            let (up, down) = (row.saturating_sub(1), (row + 1).min(height - 1));
            let halves = 1.0 / (down - up) as f32;
            let above = &self.z_m[up * width..(up + 1) * width];
            let below = &self.z_m[down * width..(down + 1) * width];
            let right = &mut self.slope_right[row * width..(row + 1) * width];
            let downward = &mut self.slope_down[row * width..(row + 1) * width];
            differ(&mut right[1..width - 1], &line[..width - 2], &line[2..], 0.5);
            right[0] = line[1] - line[0];
            right[width - 1] = line[width - 1] - line[width - 2];
            differ(downward, above, below, halves);
            match camera.distance_m {
                None => right.iter_mut().chain(downward).for_each(|slope| *slope *= per_pixel),
                Some(distance_m) => {
                    let distance = distance_m as f32;
                    let (from, v) = (-camera.axis_px[0] as f32, (row as f64 - camera.axis_px[1]) as f32);
                    for (col, ((zu, zv), &z)) in right.iter_mut().zip(downward).zip(line).enumerate() {
                        let scale = distance * per_pixel / (distance + z + (from + col as f32) * *zu + v * *zv);
                        *zu *= scale;
                        *zv *= scale;
                    }
                }
            }
        }
    }

    /// Derivatives by the unsmoothed height (1/m) of each pixel from those by heights and slopes: the transpose of
    /// [`Relief::take_slopes`] and of the camera's smoothing.
    ///
    /// With s = (D/p)/(D + z + U z_u + V z_v) the slopes are s z_u and s z_v, and ∂s = −s² (p/D) ∂(z + U z_u + V z_v).
    pub(super) fn by_heights(&self, camera: &Camera, by: &ByRelief) -> Vec<f64> {
        let (width, height) = (self.width, self.height);
        let per_pixel = 1.0 / camera.pixel_m;
        let mut by_heights = by.z.clone();
        for row in 0..height {
            let (up, down) = (row.saturating_sub(1), (row + 1).min(height - 1));
            for col in 0..width {
                let i = row * width + col;
                let (left, right) = (col.saturating_sub(1), (col + 1).min(width - 1));
                let (mut by_u, mut by_v) = (by.right[i] * per_pixel, by.down[i] * per_pixel);
                if let Some(distance) = camera.distance_m {
                    let z = |row: usize, col: usize| f64::from(self.z_m[row * width + col]);
                    let z_u = (z(row, right) - z(row, left)) / (right - left) as f64;
                    let z_v = (z(down, col) - z(up, col)) / (down - up) as f64;
                    let (u, v) = (col as f64 - camera.axis_px[0], row as f64 - camera.axis_px[1]);
                    let scale = distance / (distance + z(row, col) + u * z_u + v * z_v);
                    let by_sum = -(by_u * z_u + by_v * z_v) * scale * scale / distance;
                    (by_u, by_v) = (by_u * scale + by_sum * u, by_v * scale + by_sum * v);
                    by_heights[i] += by_sum;
                }
                let (by_u, by_v) = (by_u / (right - left) as f64, by_v / (down - up) as f64);
                by_heights[row * width + right] += by_u;
                by_heights[row * width + left] -= by_u;
                by_heights[down * width + col] += by_v;
                by_heights[up * width + col] -= by_v;
            }
        }
        match Smoothing::of(camera) {
            Some(smoothing) => smoothing.transpose(&by_heights),
            None => by_heights,
        }
    }

    /// Unit normals of the visible surface, towards the camera, in image axes: right, up, towards the camera.
    pub fn normals(&self) -> Vec<[f32; 3]> {
        let unit = |(&right, &down): (&f32, &f32)| {
            // The camera is at −z, so the surface rises towards it where z decreases.
            let length = (1.0 + right * right + down * down).sqrt();
            [right / length, -down / length, 1.0 / length]
        };
        self.slope_right.iter().zip(&self.slope_down).map(unit).collect()
    }
}

widest! {
    /// Factor times the difference of the values after and before.
    fn differ(slopes: &mut [f32], before: &[f32], after: &[f32], factor: f32) {
        for ((slope, before), after) in slopes.iter_mut().zip(before).zip(after) {
            *slope = factor * (after - before);
        }
    }
}
