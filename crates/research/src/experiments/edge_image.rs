//! A tactile image with the measured and the desired edge direction, as in Kappassov 2020.

use dermis::draw::{Canvas, HeatMap, Image, Ink, Rgb};
use dermis::geometry::Vec2;
use dermis::world::TactileFeatures;

/// Colour of the measured edge.
pub const ACTUAL: Rgb = [214, 39, 40];
/// Colour of the desired edge.
pub const DESIRED: Rgb = [24, 150, 60];

/// Draws the forces (N) of a taxel grid (row 0 at +y) on a scale up to `max_newton`, with a green line through the
/// centre along `desired_rad` and a red line through the contact along its principal direction.
pub fn edge_image(
    (rows, cols): (usize, usize),
    pitch_m: f64,
    values: &[f64],
    features: Option<&TactileFeatures>,
    desired_rad: f64,
    (cell_px, max_newton): (usize, f64),
) -> Image {
    let map = HeatMap::new(rows, cols, values).max(max_newton.max(f64::MIN_POSITIVE)).cell_px(cell_px).bare();
    let mut image = map.render();
    let (width, height) = (image.width() as f64, image.height() as f64);
    let mut canvas = Canvas::new(&mut image);
    let to_pixel =
        |at_m: Vec2| Vec2::new(0.5 * width, 0.5 * height) + Vec2::new(at_m.x, -at_m.y) * (cell_px as f64 / pitch_m);
    let reach_m = 0.42 * pitch_m * rows.max(cols) as f64;
    let mut line = |middle: Vec2, direction_rad: f64, width: f64, ink: Rgb| {
        let along = Vec2::from_angle(direction_rad) * reach_m;
        let (from, to) = (to_pixel(middle - along), to_pixel(middle + along));
        canvas.line(from, to, width + 3.0, Ink::new([255, 255, 255], 0.75));
        canvas.line(from, to, width, ink);
    };
    line(Vec2::ZERO, desired_rad, 4.0, DESIRED);
    if let Some(features) = features {
        line(features.center_m, features.direction_rad, 2.2, ACTUAL);
    }
    image
}
