//! Cast shadows: how far the surface rises above each point towards a lamp.

use super::{OpticsError, Relief};
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
    /// Unit vector (right, down) from a point to the lamp. The point is given from the image centre (m).
    #[inline]
    pub fn towards(&self, [right, down]: [f32; 2]) -> [f32; 2] {
        let x = self.direction[0] - right * self.per_distance;
        let y = self.direction[1] - down * self.per_distance;
        let length = (x * x + y * y).sqrt().max(1e-6);
        [x / length, y / length]
    }

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
}

/// Distance between the nodes (m), at least one pixel.
const NODE_M: f64 = 0.2e-3;
/// Number of points on a line of sight, and the distance of the last (m).
const POINTS: usize = 32;
const REACH_M: f64 = 8e-3;

/// Distances (m) of the points on a line of sight: denser near its start.
pub fn sight_points_m() -> [f32; POINTS] {
    std::array::from_fn(|i| (REACH_M * ((i + 1) as f64 / POINTS as f64).powf(1.5)) as f32)
}

/// Pixels between the nodes of [`Horizon`].
pub fn node_stride(pixel_m: f64) -> usize {
    ((NODE_M / pixel_m).round() as usize).max(1)
}

/// Horizon of a relief towards one lamp, at every `stride`-th pixel: tangents of elevations, at least that of the lamp's
/// lower edge.
#[derive(Clone, Debug)]
pub struct Horizon {
    stride: usize,
    cols: usize,
    tangents: Vec<f32>,
}

/// Heights towards the camera (m) at every `stride`-th pixel of a relief.
pub(super) struct Nodes {
    stride: usize,
    cols: usize,
    rows: usize,
    heights_m: Vec<f32>,
    highest_m: f32,
    middle: [f32; 2],
    pixel_m: f32,
}

impl Nodes {
    /// The nodes of a relief.
    pub fn of(relief: &Relief) -> Self {
        let stride = node_stride(relief.pixel_m);
        let count = |pixels: usize| (pixels - 1).div_ceil(stride) + 1;
        let (cols, rows) = (count(relief.width), count(relief.height));
        let height = |i: usize| {
            let (row, col) = ((i / cols * stride).min(relief.height - 1), (i % cols * stride).min(relief.width - 1));
            -relief.z_m[row * relief.width + col]
        };
        let heights_m: Vec<f32> = (0..cols * rows).map(height).collect();
        let highest_m = heights_m.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let middle = [0.5 * (relief.width as f32 - 1.0), 0.5 * (relief.height as f32 - 1.0)];
        Self { stride, cols, rows, heights_m, highest_m, middle, pixel_m: relief.pixel_m as f32 }
    }

    /// Linear interpolation at coordinates of nodes.
    #[inline(always)]
    fn at(&self, x: f32, y: f32) -> f32 {
        let (x, y) = (x.clamp(0.0, (self.cols - 1) as f32), y.clamp(0.0, (self.rows - 1) as f32));
        let (col, row) = ((x as usize).min(self.cols.max(2) - 2), (y as usize).min(self.rows.max(2) - 2));
        let (right, down) = (x - col as f32, y - row as f32);
        let (beside, below) = ((col + 1).min(self.cols - 1), (row + 1).min(self.rows - 1));
        let value = |row: usize, col: usize| self.heights_m[row * self.cols + col];
        let top = value(row, col) + (value(row, beside) - value(row, col)) * right;
        let bottom = value(below, col) + (value(below, beside) - value(below, col)) * right;
        top + (bottom - top) * down
    }

    /// The horizon towards a lamp.
    pub fn horizon(&self, lamp: &SideLamp) -> Horizon {
        let points_m = sight_points_m();
        let node_m = self.pixel_m * self.stride as f32;
        let tangent = |i: usize| {
            let (col, row) = ((i % self.cols) as f32, (i / self.cols) as f32);
            let from = [
                (col * self.stride as f32 - self.middle[0]) * self.pixel_m,
                (row * self.stride as f32 - self.middle[1]) * self.pixel_m,
            ];
            let [right, down] = lamp.towards(from);
            let own = self.heights_m[i];
            let mut tangent = lamp.lower;
            for distance in points_m {
                // Nothing farther away rises above the horizon found.
                if self.highest_m - own <= tangent * distance {
                    break;
                }
                let there = self.at(col + right * distance / node_m, row + down * distance / node_m);
                tangent = tangent.max((there - own) / distance);
            }
            tangent
        };
        Horizon { stride: self.stride, cols: self.cols, tangents: (0..self.cols * self.rows).map(tangent).collect() }
    }
}

impl Horizon {
    /// Horizons (tangents) of a relief towards several lamps.
    pub fn of<const N: usize>(relief: &Relief, lamps: &[SideLamp; N]) -> [Self; N] {
        let nodes = Nodes::of(relief);
        std::array::from_fn(|i| nodes.horizon(&lamps[i]))
    }

    /// Writes the horizon of `out.len()` pixels from a column on, by linear interpolation between nodes.
    pub fn row(&self, row: usize, first: usize, out: &mut [f32]) {
        let rows = self.tangents.len() / self.cols;
        let above = (row / self.stride).min(rows.max(2) - 2);
        let below = (above + 1).min(rows - 1);
        let down = (row - above * self.stride) as f32 / self.stride as f32;
        let per_stride = 1.0 / self.stride as f32;
        for (i, out) in out.iter_mut().enumerate() {
            let x = (first + i) as f32 * per_stride;
            let col = (x as usize).min(self.cols.max(2) - 2);
            let beside = (col + 1).min(self.cols - 1);
            let value = |row: usize, col: usize| self.tangents[row * self.cols + col];
            let right = x - col as f32;
            let top = value(above, col) + (value(above, beside) - value(above, col)) * right;
            let bottom = value(below, col) + (value(below, beside) - value(below, col)) * right;
            *out = top + (bottom - top) * down;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lamp(azimuth_deg: f64, distance_m: Option<f64>) -> SideLamp {
        SideLampSpec {
            azimuth: Angle::new(azimuth_deg.to_radians()),
            distance: distance_m.map(Length::new),
            elevation: [10f64, 20.0].map(|degrees| Angle::new(degrees.to_radians())),
        }
        .build()
        .unwrap()
    }

    /// A plateau of height H hides a lamp of elevation e from the points closer than H / tan e behind it.
    #[test]
    fn a_plateau_hides_the_lamp_behind_it() {
        let (width, height, pixel_m, high_m) = (240, 60, 1e-4, 4e-4f32);
        let z_m = (0..width * height).map(|i| if i % width >= 150 { -high_m } else { 0.0 }).collect::<Vec<_>>();
        let relief = Relief {
            width,
            height,
            pixel_m,
            slope_right: vec![0.0; z_m.len()],
            slope_down: vec![0.0; z_m.len()],
            z_m,
            seen: None,
        };
        let [from_right, from_left] = Horizon::of(&relief, &[lamp(0.0, None), lamp(180.0, Some(0.5))]);
        let mut line = vec![0.0; width];
        from_right.row(30, 0, &mut line);
        for (col, tangent) in line.iter().enumerate().take(145).skip(90) {
            let expected = f64::from(high_m) / ((150 - col) as f64 * pixel_m);
            let expected = expected.max(10f64.to_radians().tan());
            assert!((f64::from(*tangent) - expected).abs() < 0.08 + 0.1 * expected, "{col}: {tangent} {expected}");
        }
        from_left.row(30, 0, &mut line);
        assert!(line[..150].iter().all(|tangent| *tangent == lamp(0.0, None).lower));
        let lamp = lamp(0.0, None);
        assert_eq!([lamp.hidden(0.1), lamp.hidden(0.4)], [0.0, 1.0]);
        assert!((lamp.hidden(0.5 * (10f32.to_radians().tan() + 20f32.to_radians().tan())) - 0.5).abs() < 1e-5);
    }

    #[test]
    fn a_lamp_without_extent_is_refused() {
        let flat = SideLampSpec { azimuth: Angle::new(0.0), distance: None, elevation: [Angle::new(0.3); 2] };
        let message = flat.build().unwrap_err().to_string();
        assert!(message.contains("`elevation`"), "{message}");
    }
}
