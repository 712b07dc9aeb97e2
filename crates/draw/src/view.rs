//! Renders the faces of a scene.

use crate::Image;
use crate::camera::Camera;
use crate::colour::encoded_from_linear;
use crate::light::{Light, Surface};
use crate::raster::{NOTHING, Visible};
use dermis_geometry::{Bounds, Vec2, Vec3};

/// Number of samples along each side of a pixel.
const SAMPLES: usize = 3;
/// Index that marks a sample of the ground.
const GROUND: u32 = NOTHING - 1;
/// Linear light of the background at its top and its bottom, and of the floor.
const SKY: Vec3 = Vec3::new(0.745, 0.799, 0.871);
const HAZE: Vec3 = Vec3::new(0.947, 0.956, 0.974);
const FLOOR: Vec3 = Vec3::new(0.888, 0.905, 0.922);

/// A face in the world frame (m), ready to be shaded.
#[derive(Clone, Debug)]
pub(crate) struct Triangle {
    pub corners: [Vec3; 3],
    pub normals: [Vec3; 3],
    /// Linear light of the corners.
    pub colours: [Vec3; 3],
    pub edges: [bool; 3],
    pub shine: f64,
    pub alpha: f64,
}

/// A scene prepared for rendering.
pub(crate) struct View<'a> {
    pub triangles: &'a [Triangle],
    pub ground_m: Option<f64>,
    pub camera: &'a Camera,
    pub light: Light,
    pub bounds: Bounds,
    pub width: usize,
    pub height: usize,
}

impl View<'_> {
    /// The image, without labels.
    pub fn render(&self) -> Image {
        let (wide, high) = (self.width * SAMPLES, self.height * SAMPLES);
        let near_m = 1e-3 * self.bounds.size().length().max((self.bounds.center() - self.camera.eye()).length());
        let mut solid = Visible::new(wide, high);
        self.lay_ground(&mut solid);
        for (i, triangle) in self.triangles.iter().enumerate().filter(|(_, t)| t.alpha >= 1.0) {
            solid.add(self.camera, triangle.corners, i as u32, near_m);
        }
        // Only the nearest translucent face is drawn, and only in front of opaque ones.
        let mut glassy = None;
        if self.triangles.iter().any(|t| t.alpha < 1.0) {
            let mut layer = Visible::new(wide, high);
            layer.nearness.clone_from(&solid.nearness);
            for (i, triangle) in self.triangles.iter().enumerate().filter(|(_, t)| t.alpha < 1.0) {
                layer.add(self.camera, triangle.corners, i as u32, near_m);
            }
            glassy = Some(layer);
        }
        let encode: Vec<u8> =
            (0..=4095).map(|i| (255.0 * encoded_from_linear(f64::from(i) / 4095.0)).round() as u8).collect();
        Image::from_fn(self.width, self.height, |x, y| {
            let light = self.pixel(x, y, &solid, glassy.as_ref());
            light.to_array().map(|c| encode[(c.clamp(0.0, 1.0) * 4095.0).round() as usize])
        })
    }

    /// Marks the samples whose viewing ray hits the ground.
    fn lay_ground(&self, visible: &mut Visible) {
        let (width, height) = (visible.width, visible.height);
        let Some(ground_m) = self.ground_m else { return };
        let above_m = self.camera.eye().z - ground_m;
        if above_m <= 0.0 {
            return;
        }
        for sample in 0..width * height {
            let pixel = Vec2::new((sample % width) as f64 + 0.5, (sample / width) as f64 + 0.5);
            let fall = -self.camera.ray(pixel, width as f64, height as f64).z;
            if fall > 0.0 {
                visible.triangle[sample] = GROUND;
                visible.nearness[sample] = (fall / above_m) as f32;
            }
        }
    }

    /// Linear light of a pixel. Samples of the same triangle are shaded once, at their mean position.
    fn pixel(&self, x: usize, y: usize, solid: &Visible, glassy: Option<&Visible>) -> Vec3 {
        let mut groups: [(u32, u32, usize, Vec2); SAMPLES * SAMPLES] = [(0, 0, 0, Vec2::ZERO); SAMPLES * SAMPLES];
        let mut used = 0;
        for k in 0..SAMPLES * SAMPLES {
            let (column, row) = (x * SAMPLES + k % SAMPLES, y * SAMPLES + k / SAMPLES);
            let sample = row * solid.width + column;
            let behind = solid.triangle[sample];
            let before = glassy.map_or(NOTHING, |layer| layer.triangle[sample]);
            let place = Vec2::new(column as f64 + 0.5, row as f64 + 0.5) / SAMPLES as f64;
            let known = groups[..used].iter().position(|g| (g.0, g.1) == (behind, before));
            let group = known.unwrap_or(used);
            if group == used {
                groups[used] = (behind, before, 0, Vec2::ZERO);
                used += 1;
            }
            groups[group].2 += 1;
            groups[group].3 += place;
        }
        let mut sum = Vec3::ZERO;
        for &(behind, before, count, places) in &groups[..used] {
            let place = places / count as f64;
            let mut light = self.seen(behind, place);
            if before != NOTHING {
                light = light.lerp(self.seen(before, place), self.triangles[before as usize].alpha);
            }
            // Clamps to the background white before averaging, so that bright edges stay anti-aliased.
            sum += light.min(Vec3::ONE) * count as f64;
        }
        sum / (SAMPLES * SAMPLES) as f64
    }

    /// Linear light of a sample at a position of the image (px).
    fn seen(&self, what: u32, place: Vec2) -> Vec3 {
        let ray = self.camera.ray(place, self.width as f64, self.height as f64);
        match what {
            NOTHING => self.background(place),
            GROUND => self.ground(place, ray),
            triangle => self.surface(&self.triangles[triangle as usize], place, ray),
        }
    }

    fn background(&self, place: Vec2) -> Vec3 {
        let down = place.y / self.height as f64;
        SKY.lerp(HAZE, down.clamp(0.0, 1.0))
    }

    /// A pale floor that fades into the background, darker in shadow.
    fn ground(&self, place: Vec2, ray: Vec3) -> Vec3 {
        let ground_m = self.ground_m.unwrap_or(0.0);
        let depth = (ground_m - self.camera.eye().z) / ray.z;
        let point = self.camera.eye() + ray * depth;
        let radius_m = (self.bounds.size().length() / 2.0).max(1e-9);
        let away = (point - self.bounds.center()).truncate().length() / radius_m;
        let background = self.background(place);
        let near = 1.0 - ((away - 1.2) / 4.0).clamp(0.0, 1.0);
        let floor = background.lerp(FLOOR, near * near * (3.0 - 2.0 * near));
        floor * self.light.on_ground(point)
    }

    fn surface(&self, triangle: &Triangle, place: Vec2, ray: Vec3) -> Vec3 {
        let weights = barycentric(triangle, self.camera.eye(), ray);
        let blend = |v: &[Vec3; 3]| v[0] * weights[0] + v[1] * weights[1] + v[2] * weights[2];
        let to_eye = -ray.normalize();
        let mut normal = blend(&triangle.normals).normalize_or_zero();
        let [a, b, c] = triangle.corners;
        // A back face is shaded with its normal reversed.
        if (b - a).cross(c - a).dot(to_eye) < 0.0 {
            normal = -normal;
        }
        let point = blend(&triangle.corners);
        let colour = blend(&triangle.colours);
        let light = self.light.shade(&Surface { point, normal, to_eye, colour, shine: triangle.shine });
        let line = self.line_share(triangle, place);
        light.lerp(light * 0.16, line * 0.75)
    }

    /// Coverage of a pixel by drawn edges, each 1.2 px wide across both of its faces.
    fn line_share(&self, triangle: &Triangle, place: Vec2) -> f64 {
        if triangle.edges == [false; 3] {
            return 0.0;
        }
        let project = |p: Vec3| self.camera.project(p, self.width, self.height).map(|(pixel, _)| pixel);
        let [Some(a), Some(b), Some(c)] = triangle.corners.map(project) else { return 0.0 };
        let corner = [a, b, c];
        let share = |k: usize| {
            let (from, to) = (corner[(k + 1) % 3], corner[(k + 2) % 3]);
            let distance = (to - from).perp_dot(place - from).abs() / (to - from).length().max(1e-9);
            (1.1 - distance).clamp(0.0, 1.0)
        };
        (0..3).filter(|&k| triangle.edges[k]).map(share).fold(0.0, f64::max)
    }
}

/// Barycentric weights of the point where the viewing ray hits the triangle, clamped to it.
fn barycentric(triangle: &Triangle, eye: Vec3, ray: Vec3) -> [f64; 3] {
    let [a, b, c] = triangle.corners;
    let (ab, ac, to_eye) = (b - a, c - a, eye - a);
    let across = ray.cross(ac);
    let scale = 1.0 / ab.dot(across);
    let v = to_eye.dot(across) * scale;
    let w = ray.dot(to_eye.cross(ab)) * scale;
    if !(v.is_finite() && w.is_finite()) {
        return [1.0 / 3.0; 3];
    }
    let weights = [1.0 - v - w, v, w].map(|x| x.clamp(0.0, 1.0));
    let sum: f64 = weights.iter().sum();
    weights.map(|x| x / sum)
}
