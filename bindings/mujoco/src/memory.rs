//! Stores the bristles in MuJoCo's `plugin_state`, so that copying, saving and restoring mjData includes them.
//!
//! The first value is a stamp, followed by the columns of [`PointBristles::write_columns`]. While the stamp equals the last
//! one written, the state is not read back. The bristles after a step follow from those before it, the motion and the
//! loads, so the stamp is a digest of the last stamp, the motion and the loads.

use dermis::skin::{PointBristles, State, Touch};
use dermis_mujoco_coupling::Kinematics;

/// Number of values that a skin stores. Only springs have a state of fixed size.
pub fn len(rest: &State) -> usize {
    match rest {
        State::Springs { sites, .. } => 1 + PointBristles::columns_len(*sites),
        _ => 0,
    }
}

/// The stamp of the bristles after a step: 0 without any, else an integer below 2⁵³.
pub fn stamp(last: f64, next: &State, kinematics: &Kinematics, touch: &Touch) -> f64 {
    let State::Springs { bristles, .. } = next else { return 0.0 };
    if bristles.is_empty() {
        return 0.0;
    }
    const KEYS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9];
    // The halves of a product are folded together.
    let mut digest = last.to_bits();
    let mut add = |value: f64| {
        let product = u128::from(digest ^ KEYS[0]) * u128::from(value.to_bits() ^ KEYS[1]);
        digest = (product as u64 ^ (product >> 64) as u64).wrapping_add(KEYS[0]);
    };
    add(kinematics.step_s);
    for ((pose, velocity), load) in kinematics.objects.iter().zip(&touch.on_objects) {
        for vector in [pose.translation, velocity.linear, velocity.angular, load.force, load.torque] {
            vector.to_array().into_iter().for_each(&mut add);
        }
        pose.rotation.to_array().into_iter().for_each(&mut add);
    }
    ((digest >> 11) | 1) as f64
}

/// Reads the bristles of the skin whose untouched state is `rest`. Skips invalid entries.
pub fn read(rest: &State, memory: &[f64]) -> State {
    let State::Springs { sites, .. } = *rest else { return rest.clone() };
    State::Springs { sites, bristles: PointBristles::read_columns(sites, &memory[1..]) }
}

/// Overwrites the bristles of `before` with those of `after`.
pub fn write(before: &State, after: &State, stamp: f64, memory: &mut [f64]) {
    let (State::Springs { bristles: old, .. }, State::Springs { bristles: new, sites }) = (before, after) else {
        return;
    };
    let Some((to_stamp, columns)) = memory.split_first_mut() else { return };
    new.write_columns(old, *sites, columns);
    *to_stamp = stamp;
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis::geometry::{Pose, Twist, Vec3, Wrench};
    use dermis::skin::Bristle;
    use dermis_mujoco_coupling::Surfaces;

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

    /// The stamp of a state after `last`, with an object at a height (m).
    fn stamped(last: f64, next: &State, height_m: f64) -> f64 {
        let pose = Pose::from_translation(Vec3::Z * height_m);
        let kinematics = Kinematics {
            world_from_sensor: Pose::IDENTITY,
            objects: vec![(pose, Twist::ZERO)],
            step_s: 1e-3,
            surfaces: Surfaces::default(),
        };
        stamp(last, next, &kinematics, &Touch { on_objects: vec![Wrench::ZERO], ..Touch::default() })
    }

    #[test]
    fn write_replaces_the_earlier_bristles_and_read_restores_the_new_ones() {
        let rest = state(&[]);
        let (first, second) = (state(&[0, 3, 8]), state(&[3, 4]));
        let mut memory = vec![0.0; len(&rest)];
        write(&rest, &first, 7.0, &mut memory);
        assert_eq!(read(&rest, &memory), first);
        write(&first, &second, 9.0, &mut memory);
        assert_eq!(read(&rest, &memory), second);
        assert_eq!(memory[0], 9.0);
        // The first component of the deflection of texel 3.
        memory[1 + 2 * 9 + 3] = f64::NAN;
        assert_eq!(read(&rest, &memory), state(&[4]));
    }

    /// Columns of texels that follow each other are copied in blocks; the result is the same.
    #[test]
    fn blocks_and_single_texels_are_restored() {
        let many = |sites: &[u32]| match state(sites) {
            State::Springs { bristles, .. } => State::Springs { sites: 100, bristles },
            other => other,
        };
        let rest = many(&[]);
        let mut memory = vec![0.0; len(&rest)];
        let mut before = rest.clone();
        for sites in [(3..90).collect::<Vec<u32>>(), (0..50).map(|i| 2 * i).collect(), (3..90).collect(), vec![]] {
            let after = many(&sites);
            write(&before, &after, 1.0, &mut memory);
            assert_eq!(read(&rest, &memory), after);
            before = after;
        }
    }

    #[test]
    fn the_stamp_depends_on_all_that_determines_the_bristles() {
        let (rest, next) = (state(&[]), state(&[0, 3]));
        let one = stamped(5.0, &next, 0.01);
        assert!(one == stamped(5.0, &next, 0.01) && one > 0.0 && one < 2f64.powi(53));
        assert!(one != stamped(6.0, &next, 0.01) && one != stamped(5.0, &next, 0.01 + 1e-17));
        assert_eq!(stamped(5.0, &rest, 0.01), 0.0);
    }
}
