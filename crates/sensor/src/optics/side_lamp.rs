//! A lamp beside the gel.

use super::OpticsError;
use dermis_geometry::quantity::{Angle, Length};
use serde::{Deserialize, Serialize};

/// A lamp beside the gel. A point sees the part of it above the horizon: the steepest line of sight from the point to
/// the surface in the direction of the lamp.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SideLampSpec {
    /// Direction of the lamp from the image centre: 0° towards the right of the image, 90° towards its top.
    pub azimuth: Angle,
    /// Distance from the image centre, along the gel; defaults to far away (parallel light).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<Length>,
    /// Elevation of the lamp's lower and upper edge above the gel. A horizon at the lower edge leaves all of its light,
    /// one at the upper edge none.
    pub elevation: [Angle; 2],
}

/// A lamp with checked parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SideLamp {
    /// Unit vector from the image centre to the lamp: right and down.
    pub direction: [f32; 2],
    /// Inverse of the distance from the image centre (1/m); zero for a lamp far away.
    pub per_distance: f32,
    /// Tangent of the elevation of the lower edge, and inverse of the difference to that of the upper edge.
    pub lower: f32,
    /// See `lower`.
    pub per_width: f32,
}

impl SideLampSpec {
    /// Checks the parameters.
    pub fn build(&self) -> Result<SideLamp, OpticsError> {
        let bad = |key: &'static str, rule: String| Err(OpticsError::Bad { table: "light.shadow", key, rule });
        if let Some(distance) = self.distance.filter(|distance| !(distance.si() > 0.0 && distance.si().is_finite())) {
            return bad("distance", format!("of a lamp must be a positive length, got {} mm", distance.si() * 1e3));
        }
        let [low, high] = self.elevation.map(|angle| angle.si().to_degrees());
        if !(low >= 0.0 && high > low && high < 90.0) {
            return bad(
                "elevation",
                format!("must rise from 0 deg or more to less than 90 deg, got {low} to {high} deg"),
            );
        }
        let [lower, upper] = self.elevation.map(|angle| angle.si().tan());
        let (sin, cos) = self.azimuth.si().sin_cos();
        Ok(SideLamp {
            direction: [cos as f32, -sin as f32],
            per_distance: self.distance.map_or(0.0, |distance| (1.0 / distance.si()) as f32),
            lower: lower as f32,
            per_width: (1.0 / (upper - lower)) as f32,
        })
    }
}

impl SideLamp {
    /// The same lamp, described from another point of the gel (m, from the image centre: right and down).
    pub fn seen_from(&self, [right, down]: [f32; 2]) -> Self {
        let x = self.direction[0] - right * self.per_distance;
        let y = self.direction[1] - down * self.per_distance;
        let length = (x * x + y * y).sqrt().max(1e-6);
        Self { direction: [x / length, y / length], per_distance: self.per_distance / length, ..*self }
    }

    /// Part of the lamp below a horizon (tangent of its elevation): 0 to 1, by a smooth step.
    #[inline(always)]
    pub fn hidden(&self, horizon: f32) -> f32 {
        let part = ((horizon - self.lower) * self.per_width).clamp(0.0, 1.0);
        part * part * (3.0 - 2.0 * part)
    }

    /// Derivative of [`SideLamp::hidden`].
    pub(super) fn hidden_slope(&self, horizon: f32) -> f64 {
        let part = f64::from((horizon - self.lower) * self.per_width).clamp(0.0, 1.0);
        6.0 * part * (1.0 - part) * f64::from(self.per_width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lamp_without_extent_is_refused() {
        let flat = SideLampSpec { azimuth: Angle::new(0.0), distance: None, elevation: [Angle::new(0.3); 2] };
        let message = flat.build().unwrap_err().to_string();
        assert!(message.contains("`elevation`"), "{message}");
    }
}
