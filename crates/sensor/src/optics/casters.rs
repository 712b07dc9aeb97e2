//! Which points of the surface cast the shadows on each pixel.

use super::{Calibrated, Horizon, Light, Optics, Phong, Relief};
use dermis_skin::SurfaceField;

/// Combines two numbers into one that differs if either does (the multiplier of SplitMix64).
pub(super) fn combined(a: u64, b: u64) -> u64 {
    let mixed = (a ^ b.rotate_left(32)).wrapping_add(b).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 29)
}

/// A number of a shadow that hides a part of a light and follows these points. Without shadow and in full shadow the points do
/// not matter.
pub(super) fn shadow_number<const N: usize>(hidden: f32, points: [u64; N]) -> u64 {
    match hidden {
        ..=0.0 => 0,
        1.0.. => 1,
        _ => points.into_iter().fold(2, combined),
    }
}

impl Optics {
    /// A number for each pixel that changes when another point of the surface begins to cast a shadow on it, or when a shadow
    /// begins or becomes complete. The derivatives of [`Optics::vjp`] are one-sided there. Empty for a light without shadows.
    pub fn shadow_casters(&self, surface: &SurfaceField) -> Vec<u64> {
        let relief = Relief::of(surface, &self.camera);
        match &self.light {
            Light::Phong(phong) => phong.shadow_casters(&relief),
            Light::Calibrated(calibrated) => {
                let rest = surface.rest_heights_m.as_ref().map(|_| Relief::at_rest(surface, &self.camera));
                calibrated.shadow_casters(&rest.map_or_else(|| relief.clone(), |rest| relief.above(&rest)))
            }
        }
    }
}

impl Phong {
    fn shadow_casters(&self, relief: &Relief) -> Vec<u64> {
        let Some(shadow) = self.shadow() else { return Vec::new() };
        let mut all = vec![0; relief.z_m.len()];
        for (source, _) in self.sources() {
            let of_source = shadow.casters(relief, source.direction);
            all.iter_mut().zip(of_source).for_each(|(all, one)| *all = combined(*all, one));
        }
        all
    }
}

impl Calibrated {
    fn shadow_casters(&self, relief: &Relief) -> Vec<u64> {
        let Some(shadow) = self.shadow() else { return Vec::new() };
        let mut all = vec![0; relief.z_m.len()];
        let mut tangents = vec![0.0; relief.width];
        for (lamp, horizon) in shadow.lamps.iter().zip(Horizon::of(relief, &shadow.lamps)) {
            let points = horizon.casters(relief, lamp);
            for row in 0..relief.height {
                horizon.row(row, 0, &mut tangents);
                for (col, tangent) in tangents.iter().enumerate() {
                    let nodes = horizon.nodes_around(row, col).map(|node| points[node]);
                    let pixel = &mut all[row * relief.width + col];
                    *pixel = combined(*pixel, shadow_number(lamp.hidden(*tangent), nodes));
                }
            }
        }
        all
    }
}
