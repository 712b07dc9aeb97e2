//! The camera of a scene.

use dermis_geometry::{Bounds, Vec2, Vec3};

/// A perspective camera; +z of the world points up in the image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    eye: Vec3,
    right: Vec3,
    up: Vec3,
    forward: Vec3,
    /// Tangent of half the vertical field of view.
    half_height: f64,
}

impl Camera {
    /// A camera at `eye` (m) that looks at `target` (m), with a vertical field of view of `fov_deg`.
    pub fn look_at(eye: Vec3, target: Vec3, fov_deg: f64) -> Self {
        let forward = (target - eye).try_normalize().unwrap_or(-Vec3::Z);
        // When looking straight up or down, the top of the image is along +y.
        let right = forward.cross(Vec3::Z).try_normalize().filter(|_| forward.z.abs() < 1.0 - 1e-9).unwrap_or(Vec3::X);
        let half_height = (fov_deg.clamp(1.0, 150.0).to_radians() / 2.0).tan();
        Self { eye, right, up: right.cross(forward), forward, half_height }
    }

    /// A camera that sees all of `bounds`, at `azimuth_deg` from +x towards +y and `elevation_deg` above the horizon,
    /// for images with an aspect ratio of 4 : 3 or wider.
    pub fn framing(bounds: Bounds, azimuth_deg: f64, elevation_deg: f64) -> Self {
        const FOV_DEG: f64 = 28.0;
        let (azimuth, elevation) = (azimuth_deg.to_radians(), elevation_deg.clamp(-89.9, 89.9).to_radians());
        let outward = Vec3::new(azimuth.cos() * elevation.cos(), azimuth.sin() * elevation.cos(), elevation.sin());
        let center = if bounds.min.x <= bounds.max.x { bounds.center() } else { Vec3::ZERO };
        let half = if bounds.min.x <= bounds.max.x { bounds.size() / 2.0 } else { Vec3::ONE };
        let corners: [Vec3; 8] =
            std::array::from_fn(|i| center + Vec3::new(sign(i & 1), sign(i & 2), sign(i & 4)) * half);
        let mut target = center;
        // The near side of a box appears larger than the far side: iterates the target until the box is centred.
        for _ in 0..4 {
            let camera = Self::at_distance(&corners, target, outward, FOV_DEG);
            let slopes = corners.map(|c| camera.view(c)).map(|v| Vec2::new(v.x, v.y) / v.z);
            let (low, high) = slopes.iter().fold((slopes[0], slopes[0]), |(l, h), &s| (l.min(s), h.max(s)));
            let shift = (low + high) / 2.0 * (camera.eye - target).length();
            target += camera.right * shift.x + camera.up * shift.y;
        }
        Self::at_distance(&corners, target, outward, FOV_DEG)
    }

    /// The smallest distance from `target` along `outward` that shows all corners.
    fn at_distance(corners: &[Vec3; 8], target: Vec3, outward: Vec3, fov_deg: f64) -> Self {
        let unmoved = Self::look_at(target + outward, target, fov_deg);
        // A corner at (x, y) and depth z must satisfy |y| ≤ k (distance + z), and the same for x.
        let (tall, wide) = (0.88 * unmoved.half_height, 0.88 * unmoved.half_height * 4.0 / 3.0);
        let needed = corners.map(|c| c - target).map(|c| {
            let (x, y, z) = (c.dot(unmoved.right).abs(), c.dot(unmoved.up).abs(), c.dot(unmoved.forward));
            (y / tall - z).max(x / wide - z)
        });
        let distance = needed.into_iter().fold(1e-6, f64::max);
        Self::look_at(target + outward * distance, target, fov_deg)
    }

    /// Position of the camera (m).
    pub fn eye(&self) -> Vec3 {
        self.eye
    }

    /// Unit vectors to the right, up and forward.
    pub fn axes(&self) -> [Vec3; 3] {
        [self.right, self.up, self.forward]
    }

    /// Pixel of a point (m) in an image of `width × height` pixels, and its depth (m) in front of the camera; `None` if
    /// it lies behind the camera.
    pub fn project(&self, point: Vec3, width: usize, height: usize) -> Option<(Vec2, f64)> {
        let view = self.view(point);
        (view.z > 0.0).then(|| (self.pixel(view, width as f64, height as f64), view.z))
    }

    /// Coordinates along right, up and forward.
    pub(crate) fn view(&self, point: Vec3) -> Vec3 {
        let arm = point - self.eye;
        Vec3::new(arm.dot(self.right), arm.dot(self.up), arm.dot(self.forward))
    }

    /// Pixel of a point in view coordinates, in front of the camera.
    pub(crate) fn pixel(&self, view: Vec3, width: f64, height: f64) -> Vec2 {
        let focal = height / 2.0 / self.half_height;
        Vec2::new(width / 2.0 + focal * view.x / view.z, height / 2.0 - focal * view.y / view.z)
    }

    /// The viewing ray through a pixel: `eye + depth * ray` is the point at that depth.
    pub(crate) fn ray(&self, pixel: Vec2, width: f64, height: f64) -> Vec3 {
        let focal = height / 2.0 / self.half_height;
        self.forward + self.right * ((pixel.x - width / 2.0) / focal) + self.up * ((height / 2.0 - pixel.y) / focal)
    }
}

fn sign(bit: usize) -> f64 {
    if bit == 0 { -1.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From (0, −2, 0) towards +y with a field of view of 90°: a point 2 m away and 1 m up is halfway to the upper
    /// edge.
    #[test]
    fn known_point_falls_on_known_pixel() {
        let camera = Camera::look_at(Vec3::new(0.0, -2.0, 0.0), Vec3::ZERO, 90.0);
        let (pixel, depth) = camera.project(Vec3::new(1.0, 0.0, 1.0), 400, 200).unwrap();
        assert!((pixel - Vec2::new(250.0, 50.0)).length() < 1e-9 && (depth - 2.0).abs() < 1e-12, "{pixel} {depth}");
        assert!(camera.project(Vec3::new(0.0, -3.0, 0.0), 400, 200).is_none());
        let ray = camera.ray(pixel, 400.0, 200.0);
        assert!((camera.eye() + ray * depth - Vec3::new(1.0, 0.0, 1.0)).length() < 1e-12);
    }

    #[test]
    fn framing_shows_every_corner() {
        let bounds = Bounds { min: Vec3::new(-0.1, 0.2, 0.0), max: Vec3::new(0.3, 0.25, 0.4) };
        for azimuth in [-200.0, 0.0, 35.0, 90.0] {
            for elevation in [-90.0, 0.0, 25.0, 90.0] {
                let camera = Camera::framing(bounds, azimuth, elevation);
                for i in 0..8 {
                    let pick = |bit: u32, low: f64, high: f64| if bit == 0 { low } else { high };
                    let (a, b) = (bounds.min, bounds.max);
                    let corner = Vec3::new(pick(i & 1, a.x, b.x), pick(i & 2, a.y, b.y), pick(i & 4, a.z, b.z));
                    let (p, _) = camera.project(corner, 800, 600).unwrap();
                    assert!((10.0..790.0).contains(&p.x) && (10.0..590.0).contains(&p.y), "{azimuth} {elevation} {p}");
                }
            }
        }
    }
}
