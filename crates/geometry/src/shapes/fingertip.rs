//! The distal phalanx of a finger, its pad, and the whole finger.

use super::loft::{Arc, Loft, StripMesh, mix};
use super::spline::{smooth_step, spline, superellipse};
use super::{ShapeError, check_count, check_length};
use crate::{TriMesh, Vec3};
use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_PI_2, TAU};

/// Size of a distal phalanx.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingertip {
    /// Length from the crease of the last joint to the tip (m).
    pub length_m: f64,
    /// Width across the last joint, the widest section (m).
    pub width_m: f64,
    /// Thickness from the middle of the pad to the nail (m).
    pub thickness_m: f64,
}

impl Default for Fingertip {
    /// An adult's index finger: 25 × 16 × 13 mm.
    fn default() -> Self {
        Self { length_m: 0.025, width_m: 0.016, thickness_m: 0.013 }
    }
}

/// Distances from the middle of the pad to the tip and to the joint, as fractions of the length.
const TO_TIP: f64 = 0.46;
const TO_JOINT: f64 = 0.54;
/// Depth of the axis below the middle of the pad, as a fraction of the thickness.
const PAD: f64 = 0.54;
/// Cosine of the 75° from +z at which the pad ends.
const PAD_LEAN_COS: f64 = 0.258_819_045_102_520_76;
/// Lengths behind the last joint, as fractions of the length of the distal phalanx.
const MIDDLE: f64 = 0.95;
const PROXIMAL: f64 = 1.6;
const KNUCKLE: f64 = 0.3;

/// The distal phalanx, closed by a flat face at the joint.
///
/// The long axis is y with the tip at +y. The origin is the middle of the pad and its most protruding point; +z
/// points out of the pad, the nail is at −z.
pub fn fingertip(size: &Fingertip, edge_m: f64) -> Result<TriMesh, ShapeError> {
    size.check("fingertip")?;
    let surface = |s: f64, t: f64| {
        let rim = size.distal(s.max(-1.0), t);
        if s < -1.0 { size.axis_at_joint().lerp(rim, s + 2.0) } else { rim }
    };
    Loft { name: "fingertip", surface, breaks: &[-2.0, -1.0, 0.0, 1.0], edge_m }.mesh()
}

/// The pad as an open patch: the part of [`fingertip`]'s surface whose normal is less than 75° from +z, in the same
/// frame. Vertices are evenly distributed, about `edge_m` apart, in rows across the finger.
pub fn fingertip_pad(size: &Fingertip, edge_m: f64) -> Result<TriMesh, ShapeError> {
    const NAME: &str = "fingertip_pad";
    size.check(NAME)?;
    check_length(NAME, "edge_m", edge_m)?;
    check_count(NAME, edge_m, 4.0 * (size.length_m / edge_m + 3.0) * (size.width_m / edge_m + 3.0))?;
    let end = last_where(-1.0, 0.999, |s| size.distal_normal(s, 0.0).z > PAD_LEAN_COS);
    let along = Arc::measure(-1.0, end, 400, |a, b| size.distal(a, 0.0).distance(size.distal(b, 0.0)));
    let rows = (along.length() / (0.866 * edge_m)).round().max(3.0) as usize;
    let mut strips = StripMesh::default();
    for row in 0..=rows {
        // Stops before the end, where the row would shrink to a point and leave a wide gap.
        let s = along.at(row as f64 / (rows as f64 + 0.2));
        let lean = last_where(0.0, 0.5, |t| size.distal_normal(s, t).z > PAD_LEAN_COS);
        let across = Arc::measure(-lean, lean, 200, |a, b| size.distal(s, a).distance(size.distal(s, b)));
        // Neighbouring rows differ by one, so that their vertices are staggered.
        let spaces = across.length() / edge_m;
        let spaces = if row % 2 == 0 { 2.0 * (spaces / 2.0).round() } else { 2.0 * (spaces / 2.0 - 0.5).round() + 1.0 };
        let spaces = spaces.max(1.0) as usize;
        let points: Vec<Vec3> = (0..=spaces).map(|k| size.distal(s, across.at(k as f64 / spaces as f64))).collect();
        strips.row(&points);
    }
    Ok(TriMesh::new(NAME, strips.vertices, strips.triangles)?)
}

/// The whole finger, closed: the distal phalanx of [`fingertip`], continued by the middle and the proximal phalanx,
/// slightly bent towards the pad at both joints. Same frame. For rendering.
pub fn finger(size: &Fingertip, edge_m: f64) -> Result<TriMesh, ShapeError> {
    size.check("finger")?;
    let bent = Bent::new(size);
    let surface = |s: f64, t: f64| if s < -1.0 { bent.point((-1.0 - s) * size.length_m, t) } else { size.distal(s, t) };
    let end = -1.0 - MIDDLE - PROXIMAL;
    Loft { name: "finger", surface, breaks: &[end - KNUCKLE, end, -1.0, 0.0, 1.0], edge_m }.mesh()
}

impl Fingertip {
    /// An adult's thumb: 30 × 21 × 16 mm.
    pub const THUMB: Self = Self { length_m: 0.030, width_m: 0.021, thickness_m: 0.016 };

    fn check(&self, shape: &'static str) -> Result<(), ShapeError> {
        check_length(shape, "length_m", self.length_m)?;
        check_length(shape, "width_m", self.width_m)?;
        check_length(shape, "thickness_m", self.thickness_m)
    }

    /// The distal surface. `s` runs from −1 at the joint over 0 at the middle of the pad to 1 at the tip; `t` is the
    /// angle about the axis as a fraction of a revolution, from the pad (0) towards +x.
    fn distal(&self, s: f64, t: f64) -> Vec3 {
        // Towards the tip the outline closes as a superellipse, slightly blunter than an ellipse.
        let (along, closing) = if s > 0.0 {
            let (sin, cos) = (s * FRAC_PI_2).sin_cos();
            let blunt = superellipse(1.0, 1.0, 2.25, sin, cos);
            (sin * blunt, cos * blunt)
        } else {
            (0.0, 1.0)
        };
        let y = self.length_m * if s > 0.0 { TO_TIP * along } else { TO_JOINT * s };
        let back = s.min(0.0).powi(2);
        // The tip lies nearer to the nail than to the pad.
        let axis = Vec3::new(0.0, y, -self.thickness_m * (PAD + 0.10 * (1.0 - closing)));
        let half_width = 0.5 * self.width_m * (0.95 + 0.05 * back) * closing;
        let pad = self.thickness_m * PAD * (1.0 - 0.10 * back) * closing;
        let nail = self.thickness_m * (1.0 - PAD) * (1.0 + 0.05 * back) * closing;
        axis + outline(half_width, pad, nail, t, |x| self.nail_relief(x, y))
    }

    /// Height of the nail above the back of the finger (m), with a groove around it.
    fn nail_relief(&self, x: f64, y: f64) -> f64 {
        let across = x / (0.34 * self.width_m);
        let along = (y - 0.13 * self.length_m) / (0.26 * self.length_m);
        let from_middle = (across.powi(4) + along.powi(4)).powf(0.25);
        let plate = smooth_step(1.03, 0.93, from_middle);
        // The groove ends before the free edge, where the nail extends over the tip.
        let fold = smooth_step(0.95, 1.02, from_middle) * smooth_step(1.28, 1.04, from_middle);
        let groove = fold * smooth_step(0.9, 0.4, along);
        self.thickness_m * (0.018 * plate - 0.026 * groove)
    }

    fn axis_at_joint(&self) -> Vec3 {
        Vec3::new(0.0, -TO_JOINT * self.length_m, -PAD * self.thickness_m)
    }

    fn distal_normal(&self, s: f64, t: f64) -> Vec3 {
        let d = 1e-5;
        let along = self.distal((s + d).min(1.0), t) - self.distal((s - d).max(-1.0), t);
        let around = self.distal(s, t + d) - self.distal(s, t - d);
        around.cross(along).normalize_or_zero()
    }
}

/// A point of the cross-section relative to the axis. `relief` is added on the nail side.
fn outline(half_width: f64, pad: f64, nail: f64, t: f64, relief: impl Fn(f64) -> f64) -> Vec3 {
    if half_width <= 0.0 {
        return Vec3::ZERO;
    }
    let (sin, cos) = (TAU * t).sin_cos();
    // Round on the pad side, flatter on the nail side.
    let power = 2.15 + 0.35 * smooth_step(0.3, -0.7, cos);
    let radius = superellipse(half_width, if cos > 0.0 { pad } else { nail }, power, sin, cos);
    let out = radius + smooth_step(0.0, -0.4, cos) * relief(radius * sin);
    Vec3::new(out * sin, 0.0, out * cos)
}

/// The finger behind the last joint, along a centre line that bends towards the pad.
struct Bent<'a> {
    size: &'a Fingertip,
    /// Centre line, sampled at equal steps.
    line: Vec<Vec3>,
}

impl<'a> Bent<'a> {
    const STEPS: usize = 512;

    fn new(size: &'a Fingertip) -> Self {
        let step = size.length_m * (MIDDLE + PROXIMAL + KNUCKLE) / Self::STEPS as f64;
        let mut line = vec![size.axis_at_joint()];
        for i in 0..Self::STEPS {
            let (sin, cos) = Self::bend((i as f64 + 0.5) * step / size.length_m).sin_cos();
            line.push(line[i] + Vec3::new(0.0, -cos, sin) * step);
        }
        Self { size, line }
    }

    /// Angle (rad) of the centre line at a distance behind the joint, in lengths of the distal phalanx.
    fn bend(q: f64) -> f64 {
        0.16 * smooth_step(0.0, 0.3, q) + 0.34 * smooth_step(MIDDLE - 0.25, MIDDLE + 0.25, q)
    }

    fn point(&self, behind_m: f64, t: f64) -> Vec3 {
        let q = behind_m / self.size.length_m;
        let at = q / (MIDDLE + PROXIMAL + KNUCKLE) * Self::STEPS as f64;
        let i = (at as usize).min(Self::STEPS - 1);
        let center = self.line[i].lerp(self.line[i + 1], at - i as f64);
        // Half width, pad and back relative to their values at the last joint.
        let [wide, pad, back] = spline(
            &[
                (0.0, [1.0, 1.0, 1.0]),
                (0.12, [1.0, 0.99, 1.0]),
                (0.45, [1.01, 1.14, 0.98]),
                (0.75, [1.06, 1.10, 1.03]),
                (MIDDLE, [1.12, 1.04, 1.12]),
                (MIDDLE + 0.3, [1.08, 1.18, 1.07]),
                (MIDDLE + 0.9, [1.10, 1.34, 1.06]),
                (MIDDLE + PROXIMAL, [1.2, 1.3, 1.18]),
            ],
            q,
        );
        let crease = |middle: f64, x: f64| (1.0 - ((x - middle) / 0.08).powi(2)).max(0.0).powi(2);
        let creases = 1.0 - 0.07 * (crease(0.09, q) + crease(MIDDLE, q));
        let dome = ((q - MIDDLE - PROXIMAL) / KNUCKLE).clamp(0.0, 1.0);
        // The very end is a pole, regardless of rounding.
        let closing = if dome > 1.0 - 1e-9 { 0.0 } else { (1.0 - dome * dome).sqrt() };
        let half = |part: f64| self.size.thickness_m * part * closing;
        let flat = outline(
            0.5 * self.size.width_m * wide * closing,
            half(PAD * 0.90 * pad * creases),
            half((1.0 - PAD) * 1.05 * back),
            t,
            |_| 0.0,
        );
        let (sin, cos) = Self::bend(q).sin_cos();
        center + Vec3::new(flat.x, sin * flat.z, cos * flat.z)
    }
}

/// The largest parameter for which `holds` is true, between `from`, where it is, and `to`, where it may not be.
fn last_where(from: f64, to: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let steps = 200;
    let at = |i: usize| mix(from, to, i as f64 / steps as f64);
    let Some(first_not) = (1..=steps).find(|&i| !holds(at(i))) else { return to };
    let (mut yes, mut no) = (at(first_not - 1), at(first_not));
    for _ in 0..40 {
        let middle = 0.5 * (yes + no);
        *(if holds(middle) { &mut yes } else { &mut no }) = middle;
    }
    yes
}
