//! The surface under a ball with a labelled contact.

use super::Dent;
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

/// The surface under a ball.
pub struct BallRelief {
    /// Depth of the ball (m).
    pub depth_m: f64,
    /// Surface in the camera's image.
    pub relief: Relief,
}

/// Relief seen by the sensor's camera for a ball pressed at each label to its depth (m), or without one until the edge
/// of the contact, which is where the surface is steepest, has the radius of the label. The skin must report its surface
/// and the sensor must have a camera.
pub fn ball_reliefs(
    sensor: &Sensor,
    ball: &Object,
    radius_m: f64,
    labels: &[(Label, Option<f64>)],
) -> Result<Vec<BallRelief>, PressError> {
    let Some(camera) = sensor.optics().map(|optics| optics.camera().clone()) else { return Ok(Vec::new()) };
    let dents =
        if labels.iter().any(|(_, depth_m)| depth_m.is_none()) { Dent::of_ball(sensor, radius_m)? } else { Vec::new() };
    let reliefs = labels.iter().map(|(label, depth_m)| {
        let depth_m = depth_m.unwrap_or_else(|| depth_at(&dents, label.radius));
        let aim = Aim { at_m: camera.on_plane([label.column, label.row]), ..Aim::default() };
        let pressed = press(sensor, ball, &aim, Goal::Depth(depth_m))?;
        let surface = pressed.touch.surface.as_ref();
        Ok(surface.map(|surface| BallRelief { depth_m, relief: Relief::of(surface, &camera) }))
    });
    Ok(reliefs.collect::<Result<Vec<_>, PressError>>()?.into_iter().flatten().collect())
}

/// Depth (m) at which the edge of the contact has a radius (pixels): that of the closest dent, in tenths of the distance
/// between dents, and at most that of the deepest.
pub(super) fn depth_at(dents: &[Dent], radius_px: f64) -> f64 {
    let Some(deepest) = dents.last() else { return 1e-9 };
    let count = 10 * dents.len();
    let depths = (1..=count).map(|i| deepest.depth_m * i as f64 / count as f64);
    let off = |depth_m: f64| (Dent::at_depth(dents, depth_m).rim_px() - radius_px).abs();
    let scored = depths.map(|depth_m| (off(depth_m), depth_m));
    scored.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(deepest.depth_m, |(_, depth_m)| depth_m)
}
