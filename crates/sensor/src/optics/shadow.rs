//! Shadows of the bumps of a pressed gel.

use super::casters::{combined, shadow_number};
use super::{OpticsError, Relief};
use dermis_geometry::quantity::Length;
use serde::{Deserialize, Serialize};

/// The description of shadows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShadowSpec {
    /// Fraction of a light that a full shadow blocks.
    pub strength: f64,
    /// Depth below the ray to the light at which a shadow is full; models the soft shadows of an extended light.
    pub softness: Length,
}

/// Shadows with checked parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shadow {
    /// Fraction of a light that a full shadow blocks.
    pub strength: f32,
    /// Depth (m) below the ray to the light at which a shadow is full.
    pub softness_m: f32,
    /// Size of a pixel (m).
    pub pixel_m: f32,
}

impl ShadowSpec {
    pub(super) fn build(self, pixel_m: f64) -> Result<Shadow, OpticsError> {
        let bad = |key: &'static str, rule: String| Err(OpticsError::Bad { table: "light", key, rule });
        if !(0.0..=1.0).contains(&self.strength) {
            return bad("strength", format!("of a shadow must be between 0 and 1, got {}", self.strength));
        }
        let softness_m = self.softness.si();
        if !(softness_m > 0.0 && softness_m.is_finite()) {
            return bad("softness", format!("of a shadow must be a positive length, got {} mm", softness_m * 1e3));
        }
        Ok(Shadow { strength: self.strength as f32, softness_m: softness_m as f32, pixel_m: pixel_m as f32 })
    }
}

impl Shadow {
    /// Fraction of a light (direction: right, up, towards the camera) that reaches each pixel.
    ///
    /// A point is in shadow if another point towards the light is higher, seen from the camera, than the ray between
    /// them. The maximum height so far, decreasing with the ray, is propagated away from the light from one line of
    /// pixels to the next.
    pub fn lit(&self, relief: &Relief, direction: [f32; 3]) -> Vec<f32> {
        let mut lit = vec![1.0; relief.z_m.len()];
        let Some(sweep) = self.sweep(relief, direction) else { return lit };
        let mut carried = vec![f32::NEG_INFINITY; sweep.length];
        let mut next = carried.clone();
        for k in 0..sweep.lines {
            for (at, next) in next.iter_mut().enumerate() {
                let (pixel, arrived) = (sweep.pixel(k, at), sweep.arrived(&carried, at));
                let own = -relief.z_m[pixel];
                let hidden = ((arrived - own) / self.softness_m).clamp(0.0, 1.0);
                lit[pixel] = 1.0 - self.strength * hidden * hidden * (3.0 - 2.0 * hidden);
                *next = arrived.max(own);
            }
            std::mem::swap(&mut carried, &mut next);
        }
        lit
    }

    /// A number for each pixel of the points that cast the shadow on it: those whose heights its ray carries on.
    pub(super) fn casters(&self, relief: &Relief, direction: [f32; 3]) -> Vec<u64> {
        let mut casters = vec![0; relief.z_m.len()];
        let Some(sweep) = self.sweep(relief, direction) else { return casters };
        let mut carried = vec![(f32::NEG_INFINITY, 0); sweep.length];
        for k in 0..sweep.lines {
            let heights: Vec<f32> = carried.iter().map(|(height, _)| *height).collect();
            let one = |at: usize| {
                let (pixel, arrived) = (sweep.pixel(k, at), sweep.arrived(&heights, at));
                let own = -relief.z_m[pixel];
                let ([low, high], part) = sweep.from(at);
                let from = [carried[low].1, if part == 0.0 { 0 } else { carried[high].1 }];
                casters[pixel] = shadow_number((arrived - own) / self.softness_m, from);
                let from = from.into_iter().fold(0, combined);
                if arrived > own { (arrived, from) } else { (own, pixel as u64 + 1) }
            };
            carried = (0..sweep.length).map(one).collect();
        }
        casters
    }

    /// Adds derivatives by the height (1/m) of each pixel from those by the fraction of a light that reaches each pixel: the
    /// transpose of [`Shadow::lit`], with each shadow cast by the same point.
    pub(super) fn add_by_heights(&self, relief: &Relief, direction: [f32; 3], by_lit: &[f64], by_z: &mut [f64]) {
        let Some(sweep) = self.sweep(relief, direction) else { return };
        let mut carried = vec![vec![f32::NEG_INFINITY; sweep.length]];
        for k in 0..sweep.lines {
            let highest = |at: usize| sweep.arrived(&carried[k], at).max(-relief.z_m[sweep.pixel(k, at)]);
            let next = (0..sweep.length).map(highest).collect();
            carried.push(next);
        }
        let mut by_next = vec![0.0; sweep.length];
        for k in (0..sweep.lines).rev() {
            let mut by_carried = vec![0.0; sweep.length];
            for (at, by_next) in by_next.iter().enumerate() {
                let (pixel, arrived) = (sweep.pixel(k, at), sweep.arrived(&carried[k], at));
                let own = -relief.z_m[pixel];
                let hidden = f64::from((arrived - own) / self.softness_m).clamp(0.0, 1.0);
                let by_hidden = -by_lit[pixel] * f64::from(self.strength) * 6.0 * hidden * (1.0 - hidden);
                let mut by_arrived = by_hidden / f64::from(self.softness_m);
                // A height towards the camera is −z.
                by_z[pixel] += by_arrived;
                if arrived > own {
                    by_arrived += by_next;
                } else {
                    by_z[pixel] -= by_next;
                }
                let ([low, high], part) = sweep.from(at);
                by_carried[low] += by_arrived * f64::from(1.0 - part);
                by_carried[high] += by_arrived * f64::from(part);
            }
            by_next = by_carried;
        }
    }

    /// The sweep away from a light; `None` for a light above all points.
    fn sweep(&self, relief: &Relief, [right, up, towards]: [f32; 3]) -> Option<Sweep> {
        let (width, height) = (relief.width, relief.height);
        let across = right.abs() >= up.abs();
        let (along, aside) = if across { (right, up) } else { (up, right) };
        if along == 0.0 {
            return None;
        }
        let (lines, length) = if across { (width, height) } else { (height, width) };
        let shift = if across { up / right.abs() } else { -right / up.abs() };
        let step_m = self.pixel_m * (1.0 + (aside / along).powi(2)).sqrt();
        let fall = step_m * towards / (right * right + up * up).sqrt();
        // The first line is nearest to the light: at the right for a light from the right, at the top for one from
        // above.
        let reversed = across && right > 0.0 || !across && up < 0.0;
        Some(Sweep { width, lines, length, across, reversed, shift, fall })
    }
}

/// Lines of pixels perpendicular to the main direction of a ray, from the nearest to the light on.
struct Sweep {
    width: usize,
    lines: usize,
    length: usize,
    across: bool,
    reversed: bool,
    /// Offset of the ray along a line from one line to the next (pixels), and its fall (m).
    shift: f32,
    fall: f32,
}

impl Sweep {
    /// A pixel of the k-th line.
    #[inline(always)]
    fn pixel(&self, k: usize, at: usize) -> usize {
        let line = if self.reversed { self.lines - 1 - k } else { k };
        if self.across { at * self.width + line } else { line * self.width + at }
    }

    /// The two pixels of the line before between which the ray to a pixel passes, and the part of the second.
    #[inline(always)]
    fn from(&self, at: usize) -> ([usize; 2], f32) {
        let from = (at as f32 - self.shift).clamp(0.0, (self.length - 1) as f32);
        let low = from as usize;
        ([low, (low + 1).min(self.length - 1)], from.fract())
    }

    /// Height (m) of the ray at a pixel, from the heights carried by the line before.
    #[inline(always)]
    fn arrived(&self, carried: &[f32], at: usize) -> f32 {
        let ([low, high], part) = self.from(at);
        let arrived = if part == 0.0 { carried[low] } else { carried[low] * (1.0 - part) + carried[high] * part };
        arrived - self.fall
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wall of height H casts a shadow of length H / tan(elevation), away from the light.
    #[test]
    fn a_wall_throws_a_shadow_of_the_right_length() {
        let (width, height, pixel_m) = (200, 40, 1e-5f32);
        let wall_m = 2e-4;
        let mut z_m = vec![0.0; width * height];
        (0..height).for_each(|row| z_m[row * width + 100] = -wall_m);
        let relief =
            Relief { width, height, pixel_m: 1e-5, slope_right: z_m.clone(), slope_down: z_m.clone(), z_m, seen: None };
        let shadow = ShadowSpec { strength: 1.0, softness: Length::new(1e-9) }.build(f64::from(pixel_m)).unwrap();
        for (sign, elevation) in [(1.0f32, 30f32), (-1.0, 45.0)] {
            let (sin, cos) = elevation.to_radians().sin_cos();
            let lit = shadow.lit(&relief, [sign * cos, 0.0, sin]);
            let dark = (0..width).filter(|col| lit[20 * width + col] < 0.5).count() as f32;
            let expected = wall_m / elevation.to_radians().tan() / pixel_m;
            assert!((dark - expected).abs() <= 1.0, "{dark} {expected}");
            // On the side away from the light.
            let beside = if sign > 0.0 { 95 } else { 105 };
            assert_eq!(lit[20 * width + beside], 0.0);
            assert_eq!(lit[20 * width + 200 - beside], 1.0);
        }
    }

    #[test]
    fn a_shadow_turns_with_the_light() {
        let (width, height) = (101, 101);
        let mut z_m = vec![0.0; width * height];
        // A bump of a few pixels in the middle.
        for (row, col) in (45..56).flat_map(|row| (45..56).map(move |col| (row, col))) {
            z_m[row * width + col] = -3e-4;
        }
        let relief =
            Relief { width, height, pixel_m: 1e-5, slope_right: z_m.clone(), slope_down: z_m.clone(), z_m, seen: None };
        let shadow = ShadowSpec { strength: 1.0, softness: Length::new(1e-6) }.build(1e-5).unwrap();
        for degrees in [0f32, 37.0, 90.0, 135.0, 200.0, 270.0, 301.0] {
            let (sin, cos) = degrees.to_radians().sin_cos();
            let lit = shadow.lit(&relief, [cos * 0.7, sin * 0.7, 0.5f32.sqrt()]);
            let at =
                |reach: f32| lit[(50.0 + reach * sin).round() as usize * width + (50.0 - reach * cos).round() as usize];
            assert!(at(18.0) < 0.3, "{degrees}: {}", at(18.0));
            assert!(at(-18.0) > 0.99, "{degrees}: {}", at(-18.0));
        }
    }
}
