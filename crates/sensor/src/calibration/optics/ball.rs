//! The surface under a ball with a labelled contact.

use crate::optics::Relief;
use crate::{Aim, Goal, PressError, Sensor, press};
use dermis_skin::Object;

/// A contact labelled by hand in an image (pixels).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Label {
    /// Column of the centre.
    pub column: f64,
    /// Row of the centre.
    pub row: f64,
    /// Radius of the contact.
    pub radius: f64,
}

/// Number of trial depths up to the maximum depth of the skin.
const TRIED: usize = 24;

/// The surface under a ball.
pub struct BallRelief {
    /// Depth of the ball (m).
    pub depth_m: f64,
    /// Surface in the camera's image.
    pub relief: Relief,
}

/// Relief seen by the sensor's camera for a ball pressed at each label to its depth (m), or without one until the
/// contact has the radius of the label, at most to the maximum depth of the skin. The skin must report its surface and
/// the sensor must have a camera.
pub fn ball_reliefs(
    sensor: &Sensor,
    ball: &Object,
    radius_m: f64,
    labels: &[(Label, Option<f64>)],
) -> Result<Vec<BallRelief>, PressError> {
    let Some(camera) = sensor.optics().map(|optics| optics.camera().clone()) else { return Ok(Vec::new()) };
    let max_m = sensor.skin().max_depth_m().min(1.6 * radius_m) * (1.0 - 1e-9);
    let searched = labels.iter().filter(|(_, depth_m)| depth_m.is_none());
    let widest = searched.map(|(label, _)| label.radius).fold(0.0, f64::max) * camera.pixel_m;
    // Contact radius against depth, as far as needed.
    let mut table = vec![(0.0, 0.0)];
    for i in 1..=if widest > 0.0 { TRIED } else { 0 } {
        let depth_m = max_m * i as f64 / TRIED as f64;
        let pressed = press(sensor, ball, &Aim::default(), Goal::Depth(depth_m))?;
        let squared = pressed.touch.area_m2() / std::f64::consts::PI;
        table.push((squared, depth_m));
        if squared > widest * widest {
            break;
        }
    }
    let reliefs = labels.iter().map(|(label, depth_m)| {
        let depth_m = depth_m.unwrap_or_else(|| depth_at(&table, (label.radius * camera.pixel_m).powi(2)));
        let aim = Aim { at_m: camera.on_plane([label.column, label.row]), ..Aim::default() };
        let pressed = press(sensor, ball, &aim, Goal::Depth(depth_m))?;
        let surface = pressed.touch.surface.as_ref();
        Ok(surface.map(|surface| BallRelief { depth_m, relief: Relief::of(surface, &camera) }))
    });
    Ok(reliefs.collect::<Result<Vec<_>, PressError>>()?.into_iter().flatten().collect())
}

/// Depth (m) at a squared contact radius (m²), interpolated linearly between the trial depths, which is nearly exact
/// for a ball.
fn depth_at(table: &[(f64, f64)], squared: f64) -> f64 {
    let next = table.iter().position(|entry| entry.0 >= squared).unwrap_or(table.len() - 1).max(1);
    let ((a, from), (b, to)) = (table[next - 1], table[next]);
    let part = if b > a { ((squared - a) / (b - a)).clamp(0.0, 1.0) } else { 1.0 };
    (from + (to - from) * part).max(1e-9)
}
