//! Camera frames of optical sensors as images and arrays.

use crate::image::round_down;
use crate::output::Output;
use dermis_draw::colour::PAPER;
use dermis_draw::{Canvas, ColourMap, FigurePage, Image, PALETTE, with_colour_bar};
use dermis_geometry::Vec2;
use dermis_record::npy;
use dermis_sensor::image::encode_grey16;
use dermis_sensor::optics::{CameraFrame, Optics, Relief};
use dermis_skin::SurfaceField;
use std::fmt::Write;

/// Depth (m) of one level in the 16-bit depth image.
pub const DEPTH_LEVEL_M: f64 = 1e-7;

/// Surface normals as colours: red is right, green is up, blue is towards the camera.
pub fn normals(relief: &Relief) -> Image {
    let normals = relief.normals();
    Image::from_fn(relief.width, relief.height, |x, y| {
        normals[y * relief.width + x].map(|part| (127.5 + 127.5 * part).round() as u8)
    })
}

/// Indentation of each pixel (m), relative to the surface at rest.
pub fn pressed_m(relief: &Relief, rest: Option<&Relief>) -> Vec<f32> {
    let before = |i: usize| rest.map_or(0.0, |rest| rest.z_m[i]);
    relief.z_m.iter().enumerate().map(|(i, z)| before(i) - z).collect()
}

/// Depth as colours with their scale, from zero to the deepest; bulges count as zero.
fn depth_image(relief: &Relief, pressed: &[f32]) -> Image {
    let deepest = f64::from(pressed.iter().copied().fold(1e-9, f32::max));
    let depth = Image::from_fn(relief.width, relief.height, |x, y| {
        ColourMap::Ember.colour((f64::from(pressed[y * relief.width + x]) / deepest).max(0.0))
    });
    with_colour_bar(&depth, ColourMap::Ember, (0.0, deepest * 1e3), "Depth (mm)")
}

/// A round factor (1, 2 or 5 times a power of ten) that makes the longest displacement about as long as the spacing of a
/// grid of 16 points across the image.
fn stretch_of(width: usize, markers: &[[f64; 4]]) -> f64 {
    let longest = markers.iter().map(|[x0, y0, x1, y1]| (x1 - x0).hypot(y1 - y0)).fold(0.0, f64::max);
    round_down(width as f64 / 16.0 / longest.max(1e-3)).max(1.0)
}

/// Marker displacements, drawn at `stretch` times their length over the faded image.
fn marker_image(image: &Image, markers: &[[f64; 4]], stretch: f64) -> Image {
    let pale = Image::from_fn(image.width(), image.height(), |x, y| {
        image.pixel(x, y).map(|c| (160 + u16::from(c) * 3 / 8) as u8)
    });
    let mut image = pale;
    let mut canvas = Canvas::new(&mut image);
    for &[x0, y0, x1, y1] in markers {
        // On a canvas, integer coordinates lie between pixels.
        let from = Vec2::new(x0 + 0.5, y0 + 0.5);
        let to = from + Vec2::new(x1 - x0, y1 - y0) * stretch;
        canvas.disc(from, 2.0, PALETTE[0]);
        canvas.arrow(from, to, 2.2, PALETTE[3]);
    }
    image
}

/// Adds a camera frame to a folder: `rgb.png`, `depth.png` (16 bits, 0.1 µm per level), `depth.npy` (m), `normals.png`,
/// `normals.npy`, `flow.npy` (pixels), `markers.csv` and `markers.npy` (pixels) if there are markers, and an overview,
/// `camera.png`.
pub fn add(output: &mut Output, optics: &Optics, surface: &SurfaceField, frame: &CameraFrame, title: &str) {
    let CameraFrame { image, relief, markers } = frame;
    let (width, height) = (relief.width, relief.height);
    let rest = surface.rest_heights_m.as_ref().map(|_| Relief::at_rest(surface, optics.camera()));
    let pressed = pressed_m(relief, rest.as_ref());
    let rgb = image.to_rgb8();
    let shown = [("rgb.png", rgb.clone()), ("normals.png", normals(relief))];
    shown.iter().for_each(|(name, image)| output.add(*name, image.encode_png()));
    let level = |depth: &f32| (f64::from(*depth) / DEPTH_LEVEL_M).round().clamp(0.0, 65535.0) as u16;
    let levels: Vec<u16> = pressed.iter().map(level).collect();
    let [right, down] = optics.flow(surface);
    let arrays = [
        ("depth.png", encode_grey16(width, height, &levels)),
        ("depth.npy", npy::of_f32(&[height, width], relief.z_m.iter().copied())),
        ("normals.npy", npy::of_f32(&[height, width, 3], relief.normals().as_flattened().iter().copied())),
        ("flow.npy", npy::of_f32(&[height, width, 2], (0..2 * right.len()).map(|i| [&right, &down][i % 2][i / 2]))),
        (
            "markers.npy",
            if markers.is_empty() {
                None
            } else {
                npy::of_f64(&[markers.len(), 4], markers.as_flattened().iter().copied())
            },
        ),
    ];
    for (name, bytes) in arrays {
        if let Some(bytes) = bytes {
            output.add(name, bytes);
        }
    }
    if !markers.is_empty() {
        output.add("markers.csv", markers_csv(markers));
    }
    output.add_image("camera.png", &overview(optics, surface, frame, title));
}

/// Camera image, depth, normals and displacements on one page.
pub fn overview(optics: &Optics, surface: &SurfaceField, frame: &CameraFrame, title: &str) -> Image {
    let CameraFrame { image, relief, markers } = frame;
    let rest = surface.rest_heights_m.as_ref().map(|_| Relief::at_rest(surface, optics.camera()));
    let rgb = image.to_rgb8();
    let (moved, what) = if markers.is_empty() {
        let [right, down] = optics.flow(surface);
        (flow_points(relief.width, relief.height, &right, &down), "gel points")
    } else {
        (markers.clone(), "markers")
    };
    let stretch = stretch_of(relief.width, &moved);
    let depth = depth_image(relief, &pressed_m(relief, rest.as_ref()));
    // As wide as the image with a colour bar above it, so that both start at the same column.
    let mut displacement = Image::new(depth.width(), relief.height, PAPER);
    displacement.blit(&marker_image(&rgb, &moved, stretch), 0, 0);
    FigurePage::new(2)
        .title(title)
        .image(rgb.clone(), "camera image")
        .image(depth, "indentation")
        .image(normals(relief), "normals (red right, green up, blue to the camera)")
        .image(displacement, format!("displacement of {what}, arrows {stretch} times as long"))
        .render()
}

/// Points of the gel on a regular grid, before and after the displacement (pixels), in the layout of markers.
fn flow_points(width: usize, height: usize, right: &[f32], down: &[f32]) -> Vec<[f64; 4]> {
    let step = (width / 16).max(1);
    let places = (step / 2..height).step_by(step).flat_map(|y| (step / 2..width).step_by(step).map(move |x| (x, y)));
    let moved = |(x, y): (usize, usize)| {
        let (column, row, i) = (x as f64, y as f64, y * width + x);
        [column, row, column + f64::from(right[i]), row + f64::from(down[i])]
    };
    places.map(moved).collect()
}

fn markers_csv(markers: &[[f64; 4]]) -> String {
    let mut text = String::from("marker,column_before_px,row_before_px,column_px,row_px\n");
    for (i, [x0, y0, x1, y1]) in markers.iter().enumerate() {
        let _ = writeln!(text, "{i},{x0:.4},{y0:.4},{x1:.4},{y1:.4}");
    }
    text
}
