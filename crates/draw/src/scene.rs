//! Scenes of meshes, arrows and labels.

use crate::camera::Camera;
use crate::canvas::{Canvas, Ink};
use crate::colour::{INK, PAPER, linear_from_rgb};
use crate::facet::facets;
use crate::light::Light;
use crate::material::Material;
use crate::rect::Rect;
use crate::text::Font;
use crate::view::{Triangle, View};
use crate::{Image, Rgb, solid};
use dermis_geometry::{Bounds, Pose, TriMesh, Vec2, Vec3};

/// Meshes, arrows and labels, rendered by a [`Camera`]. All lengths are in metres, with `z` upwards.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    triangles: Vec<Triangle>,
    /// From, to and colour.
    overlaid: Vec<(Vec3, Vec3, Rgb)>,
    labels: Vec<(Vec3, String)>,
    ground_m: Option<f64>,
}

impl Scene {
    /// An empty scene.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a ground at height `z_m` that receives shadows.
    pub fn ground(mut self, z_m: f64) -> Self {
        self.ground_m = Some(z_m).filter(|z| z.is_finite());
        self
    }

    /// Adds a mesh of one material.
    pub fn mesh(mut self, mesh: &TriMesh, world_from_mesh: &Pose, material: Material) -> Self {
        let colour = linear_from_rgb(material.colour);
        self.add(mesh.vertices(), mesh.triangles(), world_from_mesh, &material, |_, _| colour);
        self
    }

    /// Adds a mesh with a colour per vertex, or per triangle if there are as many colours as triangles and not as many
    /// as vertices. Missing colours are grey.
    pub fn coloured_mesh(self, mesh: &TriMesh, world_from_mesh: &Pose, colours: &[Rgb]) -> Self {
        self.painted_mesh(mesh, world_from_mesh, Material::plain().shine(0.12), colours)
    }

    /// As [`Scene::coloured_mesh`], with all other properties from `material`.
    pub fn painted_mesh(mut self, mesh: &TriMesh, world_from_mesh: &Pose, material: Material, colours: &[Rgb]) -> Self {
        let per_triangle = colours.len() == mesh.triangles().len() && colours.len() != mesh.vertices().len();
        let missing = linear_from_rgb(material.colour);
        self.add(mesh.vertices(), mesh.triangles(), world_from_mesh, &material, |triangle, vertex| {
            colours.get(if per_triangle { triangle } else { vertex }).map_or(missing, |&c| linear_from_rgb(c))
        });
        self
    }

    /// Adds an arrow from one point to another with a shaft of `radius_m`; an arrow of zero length is omitted.
    pub fn arrow(mut self, from: Vec3, to: Vec3, radius_m: f64, colour: Rgb) -> Self {
        if let Some((vertices, triangles)) = solid::arrow(from, to, radius_m) {
            let colour_light = linear_from_rgb(colour);
            let material = Material::new(colour).shine(0.15);
            self.add(&vertices, &triangles, &Pose::IDENTITY, &material, |_, _| colour_light);
        }
        self
    }

    /// Adds a flat arrow from one point to another that objects do not hide, such as a force that acts inside of them.
    pub fn overlaid_arrow(mut self, from: Vec3, to: Vec3, colour: Rgb) -> Self {
        self.overlaid.push((from, to, colour));
        self
    }

    /// Adds text beside a point; objects do not hide it.
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
        let overlaid = self.overlaid.iter().flat_map(|(from, to, _)| [*from, *to]);
        Bounds::around(self.triangles.iter().flat_map(|t| t.corners).chain(overlaid).filter(|c| c.is_finite()))
    }

    /// Renders the scene.
    pub fn render(&self, camera: &Camera, width: usize, height: usize) -> Image {
        let (width, height) = (width.max(1), height.max(1));
        let bounds = self.bounds();
        let bounds = if self.triangles.is_empty() { Bounds { min: -Vec3::ONE, max: Vec3::ONE } } else { bounds };
        let casting: Vec<[Vec3; 3]> = self.triangles.iter().filter(|t| t.alpha > 0.5).map(|t| t.corners).collect();
        let light = Light::new(camera, bounds, &casting, self.ground_m);
        let view = View { triangles: &self.triangles, ground_m: self.ground_m, camera, light, bounds, width, height };
        let mut image = view.render();
        self.draw_arrows(&mut image, camera);
        self.draw_labels(&mut image, camera);
        image
    }

    fn draw_arrows(&self, image: &mut Image, camera: &Camera) {
        let (width, height) = (image.width(), image.height());
        let mut canvas = Canvas::new(image);
        for (from, to, colour) in &self.overlaid {
            let ends = [from, to].map(|point| camera.project(*point, width, height));
            let [Some((from, _)), Some((to, _))] = ends else { continue };
            canvas.line(from, to, 6.0, Ink::new(PAPER, 0.7));
            canvas.arrow(from, to, 3.4, *colour);
            canvas.disc(from, 4.2, Ink::new(PAPER, 0.7));
            canvas.disc(from, 3.4, *colour);
        }
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
            let back = Rect::new(at.x - 3.0, at.y - 14.0, at.x + font.width(text) + 3.0, at.y + 5.0);
            canvas.rect(back, Ink::new(PAPER, 0.7));
            canvas.text(at, text, font, INK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu(at: Vec3) -> TriMesh {
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        let vertices = corners.map(|(x, z)| at + Vec3::new(x, 0.0, z)).to_vec();
        TriMesh::new("GPU", vertices, vec![[0, 1, 2], [0, 2, 3]]).unwrap()
    }

    fn view() -> Camera {
        Camera::look_at(Vec3::new(0.0, -5.0, 0.0), Vec3::ZERO, 60.0)
    }

    #[test]
    fn near_hides_far_in_either_order() {
        let (red, blue) = (Material::new([200, 20, 20]), Material::new([20, 20, 200]));
        let (near, far) = (gpu(Vec3::ZERO), gpu(Vec3::new(0.0, 2.0, 0.5)));
        let identity = &Pose::IDENTITY;
        let one = Scene::new().mesh(&near, identity, red).mesh(&far, identity, blue).render(&view(), 80, 60);
        let other = Scene::new().mesh(&far, identity, blue).mesh(&near, identity, red).render(&view(), 80, 60);
        let [r, _, b] = one.pixel(40, 30);
        assert!(r > 2 * b, "{:?}", one.pixel(40, 30));
        assert_eq!(one, other);
    }

    #[test]
    fn an_overlaid_arrow_is_seen_in_front_of_what_hides_it() {
        let scene = Scene::new().mesh(&gpu(Vec3::ZERO), &Pose::IDENTITY, Material::new([20, 20, 200]));
        let behind = |x: f64| Vec3::new(x, 1.0, 0.0);
        let red = |scene: &Scene| {
            let image = scene.render(&view(), 80, 60);
            image.pixels().iter().filter(|[r, _, b]| r > b).count()
        };
        assert_eq!(red(&scene.clone().arrow(behind(-0.5), behind(0.5), 0.02, [220, 0, 0])), 0);
        assert!(red(&scene.overlaid_arrow(behind(-0.5), behind(0.5), [220, 0, 0])) > 40);
        let far = Scene::new().overlaid_arrow(Vec3::ZERO, Vec3::X, [0; 3]);
        assert_eq!(far.bounds().max, Vec3::X);
    }

    #[test]
    fn translucent_shows_both() {
        let glass = Material::new([200, 20, 20]).alpha(0.5);
        let scene = Scene::new().mesh(&gpu(Vec3::ZERO), &Pose::IDENTITY, glass).mesh(
            &gpu(Vec3::new(0.0, 1.0, 0.0)),
            &Pose::IDENTITY,
            Material::new([20, 20, 200]),
        );
        let [r, g, b] = scene.render(&view(), 80, 60).pixel(40, 30);
        assert!(r > 2 * g && b > 2 * g, "{r} {g} {b}");
    }

    #[test]
    fn colours_per_vertex_or_triangle_and_too_few() {
        let paint = |colours: &[Rgb]| {
            Scene::new().coloured_mesh(&gpu(Vec3::ZERO), &Pose::IDENTITY, colours).render(&view(), 80, 60)
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
            .mesh(&gpu(Vec3::ZERO), &Pose::from_translation(Vec3::NAN), Material::plain())
            .mesh(&gpu(Vec3::ZERO), &Pose::IDENTITY, Material::plain().flat().edges(crate::Edges::All))
            .arrow(Vec3::ZERO, Vec3::ONE, 0.1, [0; 3])
            .arrow(Vec3::ZERO, Vec3::ZERO, 0.1, [0; 3])
            .label(Vec3::ONE, "one");
        for camera in [view(), inside] {
            assert_eq!(scene.render(&camera, 64, 48).encode_png(), scene.render(&camera, 64, 48).encode_png());
        }
    }
}
