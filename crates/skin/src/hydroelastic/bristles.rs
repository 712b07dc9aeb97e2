//! Bristles on a contact surface that is recomputed at every step.

use super::surface::Face;
use crate::SkinError;
use crate::frictions::Frictions;
use crate::lugre::rotate_into_plane;
use crate::state::{is_bounded, is_unit};
use dermis_geometry::Vec3;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Deflections at the corners of the last contact surface, in the sensor's frame.
///
/// The deflections belong to points of the skin. A polygon cut from the same pair of elements as before, with the same
/// number of corners, inherits them corner by corner, so a contact at rest keeps them exactly. Any other corner
/// inherits from the nearest previous corner of the same object, if it is within the width of that polygon; otherwise
/// the deflection is zero. Polygons share corners: of corners at the same distance, that of the smallest key counts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Bristles {
    patches: Vec<Patch>,
    /// Positions (m) and deflections (m) of all corners, patch by patch.
    samples: Vec<(Vec3, Vec3)>,
    /// The friction of the step that computed them, for [`crate::Skin::hold`]; no part of the history.
    #[serde(skip)]
    frictions: Frictions,
}

impl PartialEq for Bristles {
    fn eq(&self, other: &Self) -> bool {
        self.patches == other.patches && self.samples == other.samples
    }
}

/// One polygon of the last surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Patch {
    object: u32,
    key: [u32; 3],
    normal: Vec3,
    first: u32,
    count: u32,
}

impl Bristles {
    /// Position (m) and deflection (m) of all corners, in the order of the polygons.
    pub fn samples(&self) -> &[(Vec3, Vec3)] {
        &self.samples
    }

    /// The friction of the step that computed them.
    pub(super) fn frictions(&self) -> &Frictions {
        &self.frictions
    }

    /// Sets the friction of the step that computes them.
    pub(super) fn set_frictions(&mut self, frictions: Frictions) {
        self.frictions = frictions;
    }

    /// Replaces the deflections (m) of all corners.
    pub(super) fn set_deflections(&mut self, deflections_m: impl Iterator<Item = Vec3>) {
        self.samples.iter_mut().zip(deflections_m).for_each(|(sample, deflection_m)| sample.1 = deflection_m);
    }

    /// Adds a polygon with its corners.
    pub(super) fn push(&mut self, object: u32, face: &Face, samples: impl IntoIterator<Item = (Vec3, Vec3)>) {
        let first = self.samples.len() as u32;
        self.samples.extend(samples);
        let count = self.samples.len() as u32 - first;
        self.patches.push(Patch { object, key: face.key, normal: face.normal, first, count });
    }

    /// Returns an error for patches without samples, and for numbers that are not finite.
    pub(super) fn check(&self) -> Result<(), SkinError> {
        let damaged = |what| Err(SkinError::DamagedState { skin: "hydroelastic", what });
        let ends = self.patches.iter().map(|patch| u64::from(patch.first) + u64::from(patch.count));
        if ends.max().unwrap_or(0) > self.samples.len() as u64 {
            return damaged("a patch has more corners than there are");
        }
        let sound = |(at, deflection): &(Vec3, Vec3)| is_bounded(*at, 1e6) && is_bounded(*deflection, 1e6);
        if !self.samples.iter().all(sound) || !self.patches.iter().all(|patch| is_unit(patch.normal)) {
            return damaged("a corner is not finite, or a normal has no length");
        }
        Ok(())
    }

    fn of(&self, patch: &Patch) -> &[(Vec3, Vec3)] {
        &self.samples[patch.first as usize..(patch.first + patch.count) as usize]
    }
}

/// Distances that differ by less than this fraction of a polygon's width are equal.
const EQUAL_DISTANCE: f64 = 1e-9;

/// Lookup of the bristles of the last step.
pub(super) struct Held<'a> {
    bristles: &'a Bristles,
    by_key: HashMap<(u32, [u32; 3]), u32>,
    near: Option<Near>,
}

/// Hash grid of the corners; its cells have the width of the widest patch.
struct Near {
    edge: f64,
    widths: Vec<f64>,
    cubes: HashMap<[i64; 3], Vec<(u32, u32)>>,
}

impl<'a> Held<'a> {
    pub fn new(bristles: &'a Bristles) -> Self {
        let key = |(i, patch): (usize, &Patch)| ((patch.object, patch.key), i as u32);
        Self { bristles, by_key: bristles.patches.iter().enumerate().map(key).collect(), near: None }
    }

    /// Writes the deflections (m) at the corners of a polygon to `found`.
    pub fn find(&mut self, object: u32, face: &Face, corners: &[Vec3], found: &mut Vec<Vec3>) {
        found.clear();
        if self.bristles.patches.is_empty() {
            found.resize(corners.len(), Vec3::ZERO);
            return;
        }
        if let Some(&index) = self.by_key.get(&(object, face.key)) {
            let patch = &self.bristles.patches[index as usize];
            if patch.count as usize == corners.len() {
                found.extend(self.bristles.of(patch).iter().map(|s| rotate_into_plane(s.1, patch.normal, face.normal)));
                return;
            }
        }
        let bristles = self.bristles;
        let near = self.near.get_or_insert_with(|| Near::new(bristles));
        found.extend(corners.iter().map(|&at| near.deflection(bristles, object, at, face.normal)));
    }
}

impl Near {
    fn new(bristles: &Bristles) -> Self {
        let width = |patch: &Patch| {
            let samples = bristles.of(patch);
            let middle = samples.iter().map(|s| s.0).sum::<Vec3>() / samples.len().max(1) as f64;
            2.0 * samples.iter().map(|s| (s.0 - middle).length()).fold(0.0, f64::max)
        };
        let widths: Vec<f64> = bristles.patches.iter().map(width).collect();
        let edge = widths.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let mut cubes: HashMap<[i64; 3], Vec<(u32, u32)>> = HashMap::new();
        for (p, patch) in bristles.patches.iter().enumerate() {
            for sample in patch.first..patch.first + patch.count {
                let at = bristles.samples[sample as usize].0;
                cubes.entry(cube(at, edge)).or_default().push((p as u32, sample));
            }
        }
        Self { edge, widths, cubes }
    }

    fn deflection(&self, bristles: &Bristles, object: u32, at: Vec3, normal: Vec3) -> Vec3 {
        let home = cube(at, self.edge);
        let (mut least, mut near) = (f64::INFINITY, Vec::new());
        for offset in 0..27 {
            let key = [home[0] + offset % 3 - 1, home[1] + offset / 3 % 3 - 1, home[2] + offset / 9 - 1];
            for &(p, sample) in self.cubes.get(&key).into_iter().flatten() {
                let distance = (bristles.samples[sample as usize].0 - at).length();
                if bristles.patches[p as usize].object == object && distance <= self.widths[p as usize] {
                    least = least.min(distance);
                    near.push((distance, p, sample));
                }
            }
        }
        // Rounding must not decide between corners at the same distance, or other devices would decide differently.
        let is_nearest =
            |&&(distance, p, _): &&(f64, u32, u32)| distance <= least + EQUAL_DISTANCE * self.widths[p as usize];
        let best =
            near.iter().filter(is_nearest).min_by_key(|(_, p, sample)| (bristles.patches[*p as usize].key, *sample));
        best.map_or(Vec3::ZERO, |&(_, p, sample)| {
            rotate_into_plane(bristles.samples[sample as usize].1, bristles.patches[p as usize].normal, normal)
        })
    }
}

fn cube(at: Vec3, edge: f64) -> [i64; 3] {
    (at / edge).to_array().map(|c| c.floor() as i64)
}
