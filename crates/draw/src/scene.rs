//! Things in space, and the picture of them.

use crate::camera::Camera;
use crate::canvas::{Canvas, Ink};
use crate::colour::{INK, PAPER, encoded_from_linear, linear_from_encoded};
use crate::facet::facets;
use crate::light::{Light, Surface};
use crate::material::Material;
use crate::raster::{NOTHING, Visible};
use crate::text::Font;
use crate::{Image, Rgb, solid};
use dermis_geometry::{Bounds, Pose, TriMesh, Vec2, Vec3};

/// Samples along each side of a pixel.
const SAMPLES: usize = 3;
/// What the sample of the ground is called where triangles have numbers.
const GROUND: u32 = NOTHING - 1;

/// Meshes, arrows and labels, seen by a [`Camera`]. All lengths in metres, `z` upwards.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    triangles: Vec<Triangle>,
    labels: Vec<(Vec3, String)>,
    ground_m: Option<f64>,
}

#[derive(Clone, Debug)]
struct Triangle {
    corners: [Vec3; 3],
    normals: [Vec3; 3],
    /// Linear light.
    colours: [Vec3; 3],
    edges: [bool; 3],
    shine: f64,
    alpha: f64,
}

impl Scene {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// A ground at height `z_m`, on which things cast shadows.
    pub fn ground(mut self, z_m: f64) -> Self {
        self.ground_m = Some(z_m).filter(|z| z.is_finite());
        self
    }

    /// A mesh of one material.
    pub fn mesh(mut self, mesh: &TriMesh, world_from_mesh: &Pose, material: Material) -> Self {
        let colour = linear(material.colour);
        self.add(mesh.vertices(), mesh.triangles(), world_from_mesh, &material, |_, _| colour);
        self
    }

    /// A mesh with a colour per vertex, or per triangle when there are as many colours as triangles and not as many
    /// as vertices. Where colours are missing it is grey.
    pub fn coloured_mesh(self, mesh: &TriMesh, world_from_mesh: &Pose, colours: &[Rgb]) -> Self {
        self.painted_mesh(mesh, world_from_mesh, Material::plain().shine(0.12), colours)
    }

    /// As [`Scene::coloured_mesh`], with everything but the colour from `material`.
    pub fn painted_mesh(mut self, mesh: &TriMesh, world_from_mesh: &Pose, material: Material, colours: &[Rgb]) -> Self {
        let per_triangle = colours.len() == mesh.triangles().len() && colours.len() != mesh.vertices().len();
        let missing = linear(material.colour);
        self.add(mesh.vertices(), mesh.triangles(), world_from_mesh, &material, |triangle, vertex| {
            colours.get(if per_triangle { triangle } else { vertex }).map_or(missing, |&c| linear(c))
        });
        self
    }

    /// An arrow from one point to another, its shaft of `radius_m`. Without length there is none.
    pub fn arrow(mut self, from: Vec3, to: Vec3, radius_m: f64, colour: Rgb) -> Self {
        if let Some((vertices, triangles)) = solid::arrow(from, to, radius_m) {
            let colour_light = linear(colour);
            let material = Material::new(colour).shine(0.15);
            self.add(&vertices, &triangles, &Pose::IDENTITY, &material, |_, _| colour_light);
        }
        self
    }

    /// Text beside a point, never hidden.
    pub fn label(mut self, point: Vec3, text: impl Into<String>) -> Self {
        self.labels.push((point, text.into()));
        self
    }

    fn add(
        &mut self,
        vertices: &[Vec3],
        triangles: &[[u32; 3]],
        world_from_mesh: &Pose,
        material: &Material,
        colour: impl Fn(usize, usize) -> Vec3,
    ) {
        let facets = facets(vertices, triangles, material);
        self.triangles.extend(triangles.iter().enumerate().map(|(t, indices)| Triangle {
            corners: indices.map(|i| world_from_mesh.transform_point(vertices[i as usize])),
            normals: facets.normals[t].map(|n| world_from_mesh.transform_vector(n)),
            colours: indices.map(|i| colour(t, i as usize)),
            edges: facets.edges[t],
            shine: material.shine,
            alpha: material.alpha.clamp(0.0, 1.0),
        }));
    }

    /// Smallest box around all meshes and arrows.
    pub fn bounds(&self) -> Bounds {
        Bounds::around(self.triangles.iter().flat_map(|t| t.corners).filter(|c| c.is_finite()))
    }

    /// The picture that the camera takes.
    pub fn render(&self, camera: &Camera, width: usize, height: usize) -> Image {
        let (width, height) = (width.max(1), height.max(1));
        let bounds = self.bounds();
        let bounds = if self.triangles.is_empty() { Bounds { min: -Vec3::ONE, max: Vec3::ONE } } else { bounds };
        let casting: Vec<[Vec3; 3]> = self.triangles.iter().filter(|t| t.alpha > 0.5).map(|t| t.corners).collect();
        let light = Light::new(camera, bounds, &casting, self.ground_m);
        let paper = [[224, 231, 240], [249, 250, 252], [242, 244, 246]].map(linear);
        let view = View { scene: self, camera, light, bounds, paper, width, height };
        let mut image = view.render();
        self.draw_labels(&mut image, camera);
        image
    }

    fn draw_labels(&self, image: &mut Image, camera: &Camera) {
        let (width, height) = (image.width(), image.height());
        let mut canvas = Canvas::new(image);
        for (point, text) in &self.labels {
            let Some((pixel, _)) = camera.project(*point, width, height) else { continue };
            let font = Font::new(15.0);
            let end = pixel + Vec2::new(16.0, -16.0);
            canvas.line(pixel, end, 3.4, Ink::new(PAPER, 0.7));
            canvas.line(pixel, end, 1.2, INK);
            canvas.disc(pixel, 2.6, INK);
            let at = end + Vec2::new(3.0, 3.0);
            canvas.text_with_halo(at, text, font, INK, Ink::new(PAPER, 0.75));
        }
    }
}

fn linear(colour: Rgb) -> Vec3 {
    Vec3::from_array(colour.map(|c| linear_from_encoded(f64::from(c) / 255.0)))
}

/// A scene about to be drawn.
struct View<'a> {
    scene: &'a Scene,
    camera: &'a Camera,
    light: Light,
    bounds: Bounds,
    /// Linear light of the background above and below, and of the floor.
    paper: [Vec3; 3],
    width: usize,
    height: usize,
}

impl View<'_> {
    fn render(&self) -> Image {
        let (wide, high) = (self.width * SAMPLES, self.height * SAMPLES);
        let near_m = 1e-3 * self.bounds.size().length().max((self.bounds.center() - self.camera.eye()).length());
        let mut solid = Visible::new(wide, high);
        self.lay_ground(&mut solid);
        for (i, triangle) in self.scene.triangles.iter().enumerate().filter(|(_, t)| t.alpha >= 1.0) {
            solid.add(self.camera, triangle.corners, i as u32, near_m);
        }
        // Of what is translucent only the nearest counts, and only where nothing solid is before it.
        let mut glassy = None;
        if self.scene.triangles.iter().any(|t| t.alpha < 1.0) {
            let mut layer = Visible::new(wide, high);
            layer.nearness.clone_from(&solid.nearness);
            for (i, triangle) in self.scene.triangles.iter().enumerate().filter(|(_, t)| t.alpha < 1.0) {
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

    /// Marks the samples where a line of sight meets the ground.
    fn lay_ground(&self, visible: &mut Visible) {
        let (width, height) = (visible.width, visible.height);
        let Some(ground_m) = self.scene.ground_m else { return };
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

    /// Linear light of a pixel. Samples that see the same triangle are shaded once, in their middle.
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
                light = light.lerp(self.seen(before, place), self.scene.triangles[before as usize].alpha);
            }
            // What is brighter than paper is cut before the mean, or bright edges would fray.
            sum += light.min(Vec3::ONE) * count as f64;
        }
        sum / (SAMPLES * SAMPLES) as f64
    }

    /// Linear light of what is seen at a place of the picture (px).
    fn seen(&self, what: u32, place: Vec2) -> Vec3 {
        let ray = self.camera.ray(place, self.width as f64, self.height as f64);
        match what {
            NOTHING => self.background(place),
            GROUND => self.ground(place, ray),
            triangle => self.surface(&self.scene.triangles[triangle as usize], place, ray),
        }
    }

    fn background(&self, place: Vec2) -> Vec3 {
        let down = place.y / self.height as f64;
        self.paper[0].lerp(self.paper[1], down.clamp(0.0, 1.0))
    }

    /// A pale floor that fades into the background, darker in shadow.
    fn ground(&self, place: Vec2, ray: Vec3) -> Vec3 {
        let ground_m = self.scene.ground_m.unwrap_or(0.0);
        let depth = (ground_m - self.camera.eye().z) / ray.z;
        let point = self.camera.eye() + ray * depth;
        let radius_m = (self.bounds.size().length() / 2.0).max(1e-9);
        let away = (point - self.bounds.center()).truncate().length() / radius_m;
        let background = self.background(place);
        let near = 1.0 - ((away - 1.2) / 4.0).clamp(0.0, 1.0);
        let floor = background.lerp(self.paper[2], near * near * (3.0 - 2.0 * near));
        floor * self.light.on_ground(point)
    }

    fn surface(&self, triangle: &Triangle, place: Vec2, ray: Vec3) -> Vec3 {
        let weights = barycentric(triangle, self.camera.eye(), ray);
        let blend = |v: &[Vec3; 3]| v[0] * weights[0] + v[1] * weights[1] + v[2] * weights[2];
        let to_eye = -ray.normalize();
        let mut normal = blend(&triangle.normals).normalize_or_zero();
        let [a, b, c] = triangle.corners;
        // A back face is lit as if it were the front of a thin sheet.
        if (b - a).cross(c - a).dot(to_eye) < 0.0 {
            normal = -normal;
        }
        let point = blend(&triangle.corners);
        let colour = blend(&triangle.colours);
        let light = self.light.shade(&Surface { point, normal, to_eye, colour, shine: triangle.shine });
        let line = self.line_share(triangle, place);
        light.lerp(light * 0.16, line * 0.75)
    }

    /// How much of a pixel is covered by the edges that are drawn, each 1.2 px wide over both of its faces.
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

/// Weights of the corners where the line of sight meets the triangle, held inside it.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn card(at: Vec3) -> TriMesh {
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        let vertices = corners.map(|(x, z)| at + Vec3::new(x, 0.0, z)).to_vec();
        TriMesh::new("card", vertices, vec![[0, 1, 2], [0, 2, 3]]).unwrap()
    }

    fn view() -> Camera {
        Camera::look_at(Vec3::new(0.0, -5.0, 0.0), Vec3::ZERO, 60.0)
    }

    #[test]
    fn near_hides_far_in_either_order() {
        let (red, blue) = (Material::new([200, 20, 20]), Material::new([20, 20, 200]));
        let (near, far) = (card(Vec3::ZERO), card(Vec3::new(0.0, 2.0, 0.5)));
        let identity = &Pose::IDENTITY;
        let one = Scene::new().mesh(&near, identity, red).mesh(&far, identity, blue).render(&view(), 80, 60);
        let other = Scene::new().mesh(&far, identity, blue).mesh(&near, identity, red).render(&view(), 80, 60);
        let [r, _, b] = one.pixel(40, 30);
        assert!(r > 2 * b, "{:?}", one.pixel(40, 30));
        assert_eq!(one, other);
    }

    #[test]
    fn translucent_shows_both() {
        let glass = Material::new([200, 20, 20]).alpha(0.5);
        let scene = Scene::new().mesh(&card(Vec3::ZERO), &Pose::IDENTITY, glass).mesh(
            &card(Vec3::new(0.0, 1.0, 0.0)),
            &Pose::IDENTITY,
            Material::new([20, 20, 200]),
        );
        let [r, g, b] = scene.render(&view(), 80, 60).pixel(40, 30);
        assert!(r > 2 * g && b > 2 * g, "{r} {g} {b}");
    }

    #[test]
    fn colours_per_vertex_or_triangle_and_too_few() {
        let paint = |colours: &[Rgb]| {
            Scene::new().coloured_mesh(&card(Vec3::ZERO), &Pose::IDENTITY, colours).render(&view(), 80, 60)
        };
        let (red, blue) = ([220, 0, 0], [0, 0, 220]);
        let halves = paint(&[red, blue]);
        assert!(halves.pixel(48, 36)[0] > 80 && halves.pixel(48, 36)[2] < 60, "{:?}", halves.pixel(48, 36));
        assert!(halves.pixel(32, 24)[2] > 80 && halves.pixel(32, 24)[0] < 60, "{:?}", halves.pixel(32, 24));
        let blended = paint(&[red, red, blue, blue]).pixel(40, 30);
        assert!(blended[0] > 60 && blended[2] > 60, "{blended:?}");
        paint(&[]);
    }

    #[test]
    fn ground_is_darker_under_things_and_hides_what_is_below() {
        let plate = TriMesh::new(
            "plate",
            vec![Vec3::new(-1.0, -1.0, 0.3), Vec3::new(1.0, -1.0, 0.3), Vec3::new(0.0, 1.0, 0.3)],
            vec![[0, 1, 2]],
        )
        .unwrap();
        let camera = Camera::look_at(Vec3::new(0.0, -9.0, 2.0), Vec3::ZERO, 40.0);
        let scene = Scene::new().ground(0.0).mesh(&plate, &Pose::IDENTITY, Material::plain());
        let image = scene.render(&camera, 120, 90);
        let ground = |point: Vec3| {
            let (pixel, _) = camera.project(point, 120, 90).unwrap();
            image.pixel(pixel.x as usize, pixel.y as usize)[1]
        };
        assert!(ground(Vec3::new(0.2, -0.6, 0.0)) + 15 < ground(Vec3::new(-2.5, -1.0, 0.0)));
        let sunk = Pose::from_translation(Vec3::new(0.0, 0.0, -1.0));
        let red = Material::new([220, 0, 0]);
        let hidden = Scene::new().ground(0.0).mesh(&plate, &sunk, red).render(&camera, 120, 90);
        assert!(hidden.pixels().iter().all(|p| p[0] < p[1].saturating_add(40)));
    }

    #[test]
    fn odd_scenes_do_not_panic_and_the_same_scene_gives_the_same_bytes() {
        Scene::new().render(&view(), 0, 0);
        Scene::new().ground(f64::NAN).label(Vec3::NAN, "nowhere").render(
            &Camera::framing(Bounds::EMPTY, 0.0, 0.0),
            40,
            30,
        );
        let inside = Camera::look_at(Vec3::new(0.1, 0.0, 0.1), Vec3::ONE, 60.0);
        let scene = Scene::new()
            .ground(-1.0)
            .mesh(&card(Vec3::ZERO), &Pose::from_translation(Vec3::NAN), Material::plain())
            .mesh(&card(Vec3::ZERO), &Pose::IDENTITY, Material::plain().flat().edges(crate::Edges::All))
            .arrow(Vec3::ZERO, Vec3::ONE, 0.1, [0; 3])
            .arrow(Vec3::ZERO, Vec3::ZERO, 0.1, [0; 3])
            .label(Vec3::ONE, "one");
        for camera in [view(), inside] {
            assert_eq!(scene.render(&camera, 64, 48).encode_png(), scene.render(&camera, 64, 48).encode_png());
        }
    }
}
