//! Stores the bristles in MuJoCo's `plugin_state`, so that copying, saving and restoring mjData includes them.
//!
//! The first value is a stamp. Eight values per texel follow: object + 1 (0 without contact), triangle, deflection (m),
//! normal. The stamp is a digest of the rest: while it equals the last one written, the state is not read back.

use dermis::geometry::Vec3;
use dermis::skin::{Bristle, State};

/// Values per texel.
const STRIDE: usize = 8;

/// Number of values that a skin stores. Only springs have a state of fixed size.
pub fn len(rest: &State) -> usize {
    match rest {
        State::Springs { sites, .. } => 1 + STRIDE * sites,
        _ => 0,
    }
}

/// A digest of the bristles: 0 for none, else an integer below 2⁵³.
pub fn stamp(state: &State) -> f64 {
    let State::Springs { bristles, .. } = state else { return 0.0 };
    if bristles.is_empty() {
        return 0.0;
    }
    // A key for each part of a bristle. Pairs of parts are combined with their keys and multiplied, and the halves of
    // each product are folded together. The site is one of the parts, so the sum depends on the order of the bristles,
    // yet the loop has no dependency between bristles.
    const KEYS: [u64; 8] = [
        0x9e37_79b9_7f4a_7c15,
        0xbf58_476d_1ce4_e5b9,
        0x94d0_49bb_1331_11eb,
        0xd6e8_feb8_6659_fd93,
        0xa076_1d64_78bd_642f,
        0xe703_7ed1_a0b4_28db,
        0x8ebc_6af0_9c88_c6e3,
        0x5899_65cc_7537_4cc3,
    ];
    let mut digest = 0xcbf2_9ce4_8422_2325u64;
    for b in bristles.iter() {
        let parts = [
            u64::from(b.site) << 32 | u64::from(b.object),
            u64::from(b.triangle),
            b.deflection_m.x.to_bits(),
            b.deflection_m.y.to_bits(),
            b.deflection_m.z.to_bits(),
            b.normal.x.to_bits(),
            b.normal.y.to_bits(),
            b.normal.z.to_bits(),
        ];
        let first = parts[0].wrapping_mul(KEYS[0]);
        for i in [0, 2, 4, 6] {
            let product = u128::from(parts[i] ^ KEYS[i] ^ first) * u128::from(parts[i + 1] ^ KEYS[i + 1]);
            digest = digest.wrapping_add(product as u64 ^ (product >> 64) as u64);
        }
    }
    ((digest >> 11) | 1) as f64
}

/// Reads the bristles of the skin whose untouched state is `rest`. Skips invalid entries.
pub fn read(rest: &State, memory: &[f64]) -> State {
    let State::Springs { sites, .. } = *rest else { return rest.clone() };
    let held =
        memory[1..].chunks_exact(STRIDE).enumerate().filter(|(_, m)| m[0] >= 1.0 && m.iter().all(|x| x.is_finite()));
    let bristles = held.map(|(site, m)| Bristle {
        site: site as u32,
        object: m[0] as u32 - 1,
        triangle: m[1] as u32,
        deflection_m: Vec3::from_slice(&m[2..5]),
        normal: Vec3::from_slice(&m[5..8]),
    });
    State::Springs { sites, bristles: bristles.collect() }
}

/// Overwrites the bristles of `before` with those of `after`.
pub fn write(before: &State, after: &State, stamp: f64, memory: &mut [f64]) {
    let (State::Springs { bristles: old, .. }, State::Springs { bristles: new, .. }) = (before, after) else { return };
    let Some((to_stamp, memory)) = memory.split_first_mut() else { return };
    let (texels, _) = memory.as_chunks_mut::<STRIDE>();
    for bristle in old.iter() {
        texels[bristle.site as usize][0] = 0.0;
    }
    for bristle in new.iter() {
        let (d, n) = (bristle.deflection_m, bristle.normal);
        texels[bristle.site as usize] =
            [f64::from(bristle.object) + 1.0, f64::from(bristle.triangle), d.x, d.y, d.z, n.x, n.y, n.z];
    }
    *to_stamp = stamp;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(sites: &[u32]) -> State {
        let bristle = |&site: &u32| Bristle {
            site,
            object: site % 3,
            triangle: 7 * site,
            deflection_m: Vec3::new(1e-5, -2e-5, 0.0) * f64::from(site),
            normal: Vec3::new(0.6, 0.0, 0.8),
        };
        State::Springs { sites: 9, bristles: sites.iter().map(bristle).collect() }
    }

    #[test]
    fn write_replaces_the_earlier_bristles_and_read_restores_the_new_ones() {
        let rest = state(&[]);
        let (first, second) = (state(&[0, 3, 8]), state(&[3, 4]));
        let mut memory = vec![0.0; len(&rest)];
        write(&rest, &first, stamp(&first), &mut memory);
        assert_eq!(read(&rest, &memory), first);
        write(&first, &second, stamp(&second), &mut memory);
        assert_eq!(read(&rest, &memory), second);
        assert_eq!(memory[0], stamp(&second));
        assert!(stamp(&first) != stamp(&second) && stamp(&rest) == 0.0);
        memory[1 + 8 * 3 + 2] = f64::NAN;
        assert_eq!(read(&rest, &memory), state(&[4]));
    }
}
