//! The camera behind the gel.

use super::OpticsError;
use dermis_geometry::Vec3;
use dermis_geometry::limits::{MAX_PIXELS, require_memory};
use dermis_geometry::quantity::{Length, Stiffness};
use dermis_skin::Blur;
use serde::{Deserialize, Serialize};

/// Memory of an image for each pixel (bytes): colours, depth, normal.
const PIXEL_BYTES: f64 = 60.0;

/// The description of a camera.
///
/// The camera looks along +z from behind the gel. Images have +x to the right and +y up, like every other grid of
/// dermis. A real camera behind the gel sees the mirror image: set `mirror = true`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CameraSpec {
    /// Width of the uncropped image (pixels).
    pub width: usize,
    /// Height of the uncropped image (pixels).
    pub height: usize,
    /// Size of a pixel on the plane of the undeformed surface.
    pub pixel: Length,
    /// Distance of the pinhole from that plane; defaults to infinity (orthographic).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<Length>,
    /// The point of that plane at the centre of the uncropped image, in the sensor's frame: x and y.
    #[serde(default = "origin")]
    pub center: [Length; 2],
    /// Mirrors the image, as seen from behind: +x to the left.
    #[serde(default)]
    pub mirror: bool,
    /// Part of the image to keep (pixels).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crop: Option<Crop>,
    /// Standard deviation of the Gaussian by which the camera's view of the surface is smoothed: the coating of the gel
    /// and the lens show no finer structure. Defaults to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smoothing: Option<Length>,
    /// Stiffness of the mount that holds the gel before the camera, in the plane of the skin: under a tangential force the
    /// gel, with its markers and the contact, moves by force over stiffness across the image; camera, lamps and their
    /// background image stay. Poses and depths of objects are relative to the skin. Defaults to a rigid mount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount_stiffness: Option<Stiffness>,
    /// Factor on the incoming light.
    #[serde(default = "unit")]
    pub exposure: f64,
    /// Fraction of the light lost in the corners; it grows with the square of the distance from the centre.
    #[serde(default)]
    pub vignetting: f64,
    /// Noise of the camera; defaults to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseSpec>,
}

/// A part of an image (pixels).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Crop {
    /// Columns cut off at the left.
    pub left: usize,
    /// Rows cut off at the top.
    pub top: usize,
    /// Columns kept.
    pub width: usize,
    /// Rows kept.
    pub height: usize,
}

/// Noise of the camera, in levels of an 8-bit image (0–255).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoiseSpec {
    /// Standard deviation of the read noise (levels).
    #[serde(default)]
    pub read_levels: f64,
    /// Standard deviation of the shot noise at level 255; it grows with the root of the level.
    #[serde(default)]
    pub shot_levels: f64,
    /// Seed of the noise. Seed and frame number determine the noise of every pixel.
    #[serde(default)]
    pub seed: u64,
}

fn origin() -> [Length; 2] {
    [Length::new(0.0); 2]
}

fn unit() -> f64 {
    1.0
}

/// A camera with checked parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// Width of the image (pixels).
    pub width: usize,
    /// Height of the image (pixels).
    pub height: usize,
    /// Size of a pixel on the plane z = 0 (m).
    pub pixel_m: f64,
    /// Distance from the pinhole to that plane (m); `None` for an orthographic camera.
    pub distance_m: Option<f64>,
    /// Intersection of the optical axis with that plane (m), in the sensor's frame.
    pub axis_m: [f64; 2],
    /// Intersection of the optical axis with the image: column and row, from the centre of the first pixel.
    pub axis_px: [f64; 2],
    /// True if +x is to the left of the image.
    pub mirror: bool,
    /// Standard deviation (m) of the Gaussian that smooths heights; `None` for no smoothing.
    pub smoothing_m: Option<f64>,
    /// Stiffness (N/m) of the mount of the gel in the plane of the skin; `None` for a rigid mount.
    pub mount_newton_per_m: Option<f64>,
    /// Length (cells) of the step after which the search for the surface along a line of sight ends. Its convergence is
    /// quadratic: with the default the error is below a thousandth of a cell.
    pub sight_step: f64,
}

/// Largest [`CameraSpec::smoothing`] (pixels).
const MAX_SMOOTHING_PX: f64 = 100.0;
/// Default of [`Camera::sight_step`].
const SIGHT_STEP: f64 = 0.02;

impl CameraSpec {
    /// A camera with an image size and a pixel size (m), and default values for the rest.
    pub fn plain(width: usize, height: usize, pixel_m: f64) -> Self {
        Self {
            width,
            height,
            pixel: Length::new(pixel_m),
            distance: None,
            center: origin(),
            mirror: false,
            crop: None,
            smoothing: None,
            mount_stiffness: None,
            exposure: unit(),
            vignetting: 0.0,
            noise: None,
        }
    }

    /// Checks the parameters.
    pub fn build(&self) -> Result<Camera, OpticsError> {
        let bad = |key: &'static str, rule: String| Err(OpticsError::Bad { table: "camera", key, rule });
        if self.width < 2 || self.height < 2 || self.width.saturating_mul(self.height) > MAX_PIXELS {
            return bad(
                "width",
                format!(
                    "and `height` must be at least 2 and give at most {MAX_PIXELS} pixels, got {} x {}",
                    self.width, self.height
                ),
            );
        }
        if let Err(error) = require_memory((self.width * self.height) as f64 * PIXEL_BYTES) {
            return bad(
                "width",
                format!("and `height` give {} x {} pixels: an image {error}", self.width, self.height),
            );
        }
        let pixel_m = self.pixel.si();
        if !(pixel_m > 0.0 && pixel_m.is_finite()) {
            return bad("pixel", format!("must be a positive length, got {} mm", pixel_m * 1e3));
        }
        if let Some(distance) = self.distance.filter(|distance| distance.si() <= 0.0 || !distance.si().is_finite()) {
            return bad("distance", format!("must be a positive length, got {} mm", distance.si() * 1e3));
        }
        if let Some(smoothing) = self.smoothing
            && !(smoothing.si() >= 0.0 && smoothing.si() <= MAX_SMOOTHING_PX * pixel_m)
        {
            let rule = format!(
                "must be a length of 0 to {MAX_SMOOTHING_PX} pixels ({} mm), got {} mm",
                MAX_SMOOTHING_PX * pixel_m * 1e3,
                smoothing.si() * 1e3
            );
            return bad("smoothing", rule);
        }
        if let Some(mount) = self.mount_stiffness.filter(|mount| !(mount.si() > 0.0 && mount.si().is_finite())) {
            let rule = "must be a positive stiffness such as \"20 N/mm\"; leave it out for a rigid mount, got";
            return bad("mount_stiffness", format!("{rule} {mount}"));
        }
        if !(self.exposure > 0.0 && self.exposure.is_finite()) {
            return bad("exposure", format!("must be a positive factor, got {}", self.exposure));
        }
        if !(0.0..=1.0).contains(&self.vignetting) {
            return bad("vignetting", format!("must be between 0 and 1, got {}", self.vignetting));
        }
        if let Some(noise) = self.noise
            && !(noise.read_levels >= 0.0
                && noise.shot_levels >= 0.0
                && (noise.read_levels + noise.shot_levels).is_finite())
        {
            return bad(
                "noise",
                format!("must not be negative, got {} and {} levels", noise.read_levels, noise.shot_levels),
            );
        }
        let whole = Crop { left: 0, top: 0, width: self.width, height: self.height };
        let crop = self.crop.unwrap_or(whole);
        let fits =
            |from: usize, count: usize, all: usize| count >= 2 && from.checked_add(count).is_some_and(|to| to <= all);
        if !fits(crop.left, crop.width, self.width) || !fits(crop.top, crop.height, self.height) {
            return bad(
                "crop",
                format!(
                    "must lie inside the image of {} x {} pixels, got {} x {} from column {}, row {}",
                    self.width, self.height, crop.width, crop.height, crop.left, crop.top
                ),
            );
        }
        Ok(Camera {
            width: crop.width,
            height: crop.height,
            pixel_m,
            distance_m: self.distance.map(Length::si),
            axis_m: self.center.map(Length::si),
            axis_px: [
                0.5 * (self.width as f64 - 1.0) - crop.left as f64,
                0.5 * (self.height as f64 - 1.0) - crop.top as f64,
            ],
            mirror: self.mirror,
            smoothing_m: self.smoothing.map(Length::si).filter(|smoothing_m| *smoothing_m > 0.0),
            mount_newton_per_m: self.mount_stiffness.map(Stiffness::si),
            sight_step: SIGHT_STEP,
        })
    }
}

impl Camera {
    /// Column and row of a point in the sensor's frame; integers are pixel centres.
    pub fn project(&self, point_in_sensor: Vec3) -> [f64; 2] {
        let scale = self.distance_m.map_or(1.0, |distance| distance / (distance + point_in_sensor.z)) / self.pixel_m;
        let x = (point_in_sensor.x - self.axis_m[0]) * scale;
        let y = (point_in_sensor.y - self.axis_m[1]) * scale;
        [self.axis_px[0] + self.right() * x, self.axis_px[1] - y]
    }

    /// Displacement (m) of the gel in its mount under a force (N) on the sensor, in the sensor's frame.
    pub fn mount_shift_m(&self, force_newton: Vec3) -> Vec3 {
        self.mount_newton_per_m.map_or(Vec3::ZERO, |stiffness| force_newton.with_z(0.0) / stiffness)
    }

    /// Derivatives by a point (1/m) from those by column and row of its image.
    pub(super) fn by_point(&self, point_in_sensor: Vec3, [by_column, by_row]: [f64; 2]) -> Vec3 {
        let scale = self.distance_m.map_or(1.0, |distance| distance / (distance + point_in_sensor.z)) / self.pixel_m;
        let per_height = self.distance_m.map_or(0.0, |distance| -scale / (distance + point_in_sensor.z));
        let (by_x, by_y) = (self.right() * by_column, -by_row);
        let (x, y) = (point_in_sensor.x - self.axis_m[0], point_in_sensor.y - self.axis_m[1]);
        Vec3::new(by_x * scale, by_y * scale, (by_x * x + by_y * y) * per_height)
    }

    /// The point of the undeformed plane z = 0 that a pixel sees: x and y (m), in the sensor's frame.
    pub fn on_plane(&self, [column, row]: [f64; 2]) -> [f64; 2] {
        [
            self.axis_m[0] + self.right() * (column - self.axis_px[0]) * self.pixel_m,
            self.axis_m[1] - (row - self.axis_px[1]) * self.pixel_m,
        ]
    }

    /// The Gaussian that smooths heights, in pixels.
    pub fn blur(&self) -> Option<Blur> {
        self.smoothing_m.map(|smoothing_m| Blur::new(smoothing_m / self.pixel_m))
    }

    /// +1 if +x is to the right, −1 if it is to the left.
    pub fn right(&self) -> f64 {
        if self.mirror { -1.0 } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> CameraSpec {
        CameraSpec {
            distance: Some(Length::new(20e-3)),
            center: [Length::new(1e-3), Length::new(-2e-3)],
            ..CameraSpec::plain(640, 480, 3e-5)
        }
    }

    #[test]
    fn projecting_undoes_looking() {
        for mirror in [false, true] {
            let camera = CameraSpec { mirror, ..spec() }.build().unwrap();
            for pixel in [[0.0, 0.0], [639.0, 479.0], [17.5, 300.25]] {
                let [x, y] = camera.on_plane(pixel);
                let back = camera.project(Vec3::new(x, y, 0.0));
                assert!((back[0] - pixel[0]).abs() + (back[1] - pixel[1]).abs() < 1e-9);
            }
        }
    }

    /// A point that moves closer by a tenth of the distance appears a ninth farther from the axis.
    #[test]
    fn what_is_nearer_looks_larger() {
        let camera = spec().build().unwrap();
        let far = camera.project(Vec3::new(4e-3, -2e-3, 0.0))[0] - camera.axis_px[0];
        let near = camera.project(Vec3::new(4e-3, -2e-3, -2e-3))[0] - camera.axis_px[0];
        assert!((far - 100.0).abs() < 1e-9 && (near - 1000.0 / 9.0).abs() < 1e-9);
    }

    #[test]
    fn a_crop_sees_the_same_through_a_smaller_window() {
        let crop = Crop { left: 100, top: 50, width: 200, height: 100 };
        let (whole, part) = (spec().build().unwrap(), CameraSpec { crop: Some(crop), ..spec() }.build().unwrap());
        let point = Vec3::new(0.5e-3, 0.3e-3, -1e-3);
        let (a, b) = (whole.project(point), part.project(point));
        assert!((a[0] - b[0] - 100.0).abs() < 1e-9 && (a[1] - b[1] - 50.0).abs() < 1e-9);
        assert_eq!((part.width, part.height), (200, 100));
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        let refusal = |spec: CameraSpec| spec.build().unwrap_err().to_string();
        assert!(refusal(CameraSpec { width: 0, ..spec() }).contains("`width`"));
        assert!(refusal(CameraSpec { pixel: Length::new(0.0), ..spec() }).contains("`pixel`"));
        assert!(refusal(CameraSpec { distance: Some(Length::new(-1.0)), ..spec() }).contains("`distance`"));
        assert!(refusal(CameraSpec { vignetting: 1.5, ..spec() }).contains("`vignetting`"));
        for wrong in [0.0, -20e3, f64::NAN, f64::INFINITY] {
            let mount_stiffness = Some(Stiffness::new(wrong));
            assert!(refusal(CameraSpec { mount_stiffness, ..spec() }).contains("`mount_stiffness` must be a positive"));
        }
        assert!(refusal(CameraSpec { smoothing: Some(Length::new(-1e-4)), ..spec() }).contains("`smoothing`"));
        let crop = Some(Crop { left: 600, top: 0, width: 100, height: 10 });
        assert!(refusal(CameraSpec { crop, ..spec() }).contains("column 600"));
    }
}
