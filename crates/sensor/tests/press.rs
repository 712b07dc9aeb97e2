//! Presses: to a depth, to a force, tilted, yawed, on flat and curved sensors, and errors.
//!
//! A press is quasi-static, so dampers and bristles have no effect.

use crate::common::{cuboid, flat, preset, sphere};
use dermis_geometry::Vec3;
use dermis_sensor::{Aim, Goal, PressError, PressSearch, Response, SkinKind, Trial, depth_pose, presets, press};
use dermis_skin::{Object, Warning};

const KAPPA: f64 = 4e6;

/// A flat punch of area A wider than the sensor: F = κ A d, first contact when the faces meet.
#[test]
fn a_flat_punch_is_pressed_to_its_depth() {
    let sensor = flat(5, 4, Response::default());
    let pressed = press(&sensor, &cuboid(40e-3, 40e-3, 10e-3), &Aim::default(), Goal::Depth(1.5e-3)).unwrap();
    let truth = KAPPA * 20.0 * 4e-6 * 1.5e-3;
    assert!((pressed.touch.on_sensor.force + Vec3::Z * truth).length() < 1e-12 * truth);
    assert!((pressed.sensor_from_object.translation.z - 3.5e-3).abs() < 1e-15);
    assert_eq!(pressed.depth_m, 1.5e-3);
}

/// The force is reached to 1e-9 if it is a smooth function of depth: a ball and a punch, on flat and curved sensors; a
/// press to the resulting depth gives the same force.
#[test]
fn a_force_is_reached() {
    let (ball, punch) = (sphere(10e-3, 0.8e-3), cuboid(60e-3, 60e-3, 10e-3));
    for name in ["uji-foam-14x6", "wts0614", "fingertip", "spherical-patch"] {
        let sensor = preset(name);
        for object in [&ball, &punch] {
            for force in [1e-3, 0.3, 1.0] {
                let pressed = press(&sensor, object, &Aim::default(), Goal::Force(force)).unwrap();
                let got = -pressed.touch.on_sensor.force.z;
                assert!((got - force).abs() < 1e-9 * force, "{name}: {got} N, not {force} N");
                let again = press(&sensor, object, &Aim::default(), Goal::Depth(pressed.depth_m)).unwrap();
                assert!((again.touch.on_sensor.force - pressed.touch.on_sensor.force).length() < 1e-9 * force);
            }
        }
    }
}

/// Tilt is about the sensor's x, then y: a block rotated by +θ about x has its −y edge down, one rotated about y its +x
/// edge. It rotates about its origin, 15 mm up, so that edge lies at 6 cos θ − 15 sin θ (mm); the wedge of depth d
/// there is in contact over d/tan θ, with its centre of pressure a third of that further in. Accurate to half a spacing
/// of the contact points.
#[test]
fn tilt_lowers_the_right_edge() {
    let sensor = flat(10, 10, Response::default());
    let block = cuboid(12e-3, 12e-3, 30e-3);
    let (sin, cos) = 0.2f64.sin_cos();
    let truth = 6e-3 * cos - 15e-3 * sin - 0.6e-3 * cos / sin / 3.0;
    for (tilt, down) in [([0.2, 0.0], -Vec3::Y), ([-0.2, 0.0], Vec3::Y), ([0.0, 0.2], Vec3::X), ([0.0, -0.2], -Vec3::X)]
    {
        let aim = Aim { tilt_rad: tilt, ..Aim::default() };
        let pressed = press(&sensor, &block, &aim, Goal::Depth(0.6e-3)).unwrap();
        let force = -pressed.touch.on_sensor.force.z;
        // Torque about the origin of −F ẑ at p is (−p_y, p_x) F.
        let torque = pressed.touch.on_sensor.torque;
        let center = Vec3::new(torque.y, -torque.x, 0.0) / force;
        assert!((center.dot(down) - truth).abs() < 0.5e-3, "{tilt:?}: pressed at {center}");
        assert!(center.cross(down).length() < 1e-9);
        // The edge reaches the requested depth: nearly so at the texel next to it.
        let deepest = pressed.touch.max_depth_m();
        assert!(deepest <= 0.6e-3 && deepest > 0.6e-3 - 1e-3 * 0.2f64.tan(), "{deepest}");
    }
}

/// Yaw is about the sensor's z, before the tilt: a bar along x, yawed by 90°, presses a column instead of a row; at 30°
/// its imprint lies along (cos 30°, sin 30°), in the sensor's frame with y up.
#[test]
fn yaw_turns_the_imprint() {
    let sensor = flat(15, 15, Response::default());
    let bar = cuboid(24e-3, 3.9e-3, 10e-3);
    for yaw in [0.0f64, 0.5, -0.5, std::f64::consts::FRAC_PI_2] {
        let aim = Aim { yaw_rad: yaw, ..Aim::default() };
        let reading = press(&sensor, &bar, &aim, Goal::Depth(1e-3)).unwrap().reading;
        // Axis of the second moments of the imprint.
        let [mut xx, mut yy, mut xy] = [0.0; 3];
        for (center, value) in sensor.taxels().centers().iter().zip(&reading.values_newton) {
            xx += value * center.x * center.x;
            yy += value * center.y * center.y;
            xy += value * center.x * center.y;
        }
        let axis = 0.5 * (2.0 * xy).atan2(xx - yy);
        let off = (axis - yaw).sin().abs();
        assert!(off < 0.05, "yaw {yaw}: imprint along {axis}");
    }
}

/// First contact: a ball of radius R over the top of a curved sensor starts at z = R (both meshes are within their
/// sagittae of the true surfaces), also off the top of a cap of radius S: there (R + S)cos φ − S, sin φ = x/(R + S).
#[test]
fn first_contact_is_where_the_surfaces_meet() {
    let ball = sphere(6e-3, 0.3e-3);
    let cap = preset("spherical-patch");
    for x in [0.0, 4e-3, 9e-3] {
        let aim = Aim { at_m: [x, 0.0], ..Aim::default() };
        let pressed = press(&cap, &ball, &aim, Goal::Depth(1e-3)).unwrap();
        let start = pressed.sensor_from_object.translation.z + 1e-3;
        let truth = (26e-3f64 * 26e-3 - x * x).sqrt() - 20e-3;
        // Sagitta of an edge of 2.5 mm (and its diagonal) on a radius of 20 mm.
        assert!((start - truth).abs() < 0.08e-3, "x = {x}: {start} m, not {truth} m");
    }
    for name in ["fingertip", "thumbtip"] {
        let pressed = press(&preset(name), &ball, &Aim::default(), Goal::Depth(0.5e-3)).unwrap();
        assert!((pressed.sensor_from_object.translation.z + 0.5e-3 - 6e-3).abs() < 0.08e-3, "{name}");
    }
}

/// First contact of edges that cross, at no vertex: a tilted plate, narrower than a pad and longer, whose long edges cross its rim, and the edge of a knife
/// over a fingertip, as meshes and, the plate, as a box. The truth is the smallest of many gaps: along the rim under the plane of the plate, and along the knife over rays.
#[test]
fn edges_first_touch_edges() {
    let gap = |sensor: &dermis_sensor::Sensor, object: &Object, aim: &Aim| {
        -dermis_sensor::first_contact(sensor, object, aim).unwrap().translation.z
    };
    let pad = presets::find("wts0614").unwrap().with_skin(SkinKind::Hydroelastic).unwrap().build(None).unwrap();
    let bounds = *pad.contact_surface().bounds();
    let (half, top) = (0.5 * (bounds.max - bounds.min), bounds.max.z);
    let size = Vec3::new(1.3 * half.x, 4.0 * half.y, 2e-3);
    let of_size = dermis_geometry::Primitive::Cuboid { half_m: 0.5 * size };
    for (tilt_rad, yaw_rad) in [([0.15, 0.1], 0.0), ([0.15, -0.12], 0.3), ([-0.2, 0.03], 0.2)] {
        let aim = Aim { at_m: [1e-3, 2e-3], tilt_rad, yaw_rad };
        let pose = dermis_sensor::first_contact(&pad, &cuboid(size.x, size.y, size.z), &aim).unwrap();
        let flat_pose = dermis_geometry::Pose { translation: pose.translation.with_z(0.0), ..pose };
        let normal = pose.rotation * Vec3::Z;
        // Of points of the rim under the lower face of the plate.
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .map(|(x, y)| Vec3::new(x * half.x, y * half.y, top) + bounds.center().with_z(0.0));
        let mut truth = f64::INFINITY;
        for k in 0..4 {
            for i in 0..=200_000 {
                let p = corners[k].lerp(corners[(k + 1) % 4], f64::from(i) / 200_000.0);
                let face = flat_pose.transform_point(Vec3::new(0.0, 0.0, -0.5 * size.z));
                let z = face.z - (normal.x * (p.x - face.x) + normal.y * (p.y - face.y)) / normal.z;
                let local = flat_pose.inverse().transform_point(p.with_z(z));
                if local.x.abs() <= 0.5 * size.x && local.y.abs() <= 0.5 * size.y {
                    truth = truth.min(z - top);
                }
            }
        }
        for object in [cuboid(size.x, size.y, size.z), Object::of_primitive(of_size, 1e-3).unwrap()] {
            let got = gap(&pad, &object, &aim);
            assert!((got - truth).abs() < 1e-7, "{tilt_rad:?} {yaw_rad}: {got} m, not {truth} m");
        }
    }
    let finger = preset("fingertip");
    let knife = cuboid(0.2e-3, 60e-3, 20e-3);
    for (x, tilt) in [(2.13e-3, 0.11), (-3.7e-3, -0.2), (0.4e-3, 0.05)] {
        let aim = Aim { at_m: [x, 0.7e-3], tilt_rad: [tilt, 0.3], yaw_rad: 0.4 };
        let pose = dermis_sensor::first_contact(&finger, &knife, &aim).unwrap();
        let flat_pose = dermis_geometry::Pose { translation: pose.translation.with_z(0.0), ..pose };
        let mut truth = f64::INFINITY;
        for side in [-0.1e-3, 0.1e-3] {
            let [from, to] = [-30e-3, 30e-3].map(|y| flat_pose.transform_point(Vec3::new(side, y, -10e-3)));
            for i in 0..=100_000 {
                let p = from.lerp(to, f64::from(i) / 100_000.0);
                let ray = dermis_geometry::Ray { origin: p.with_z(1.0), direction: -Vec3::Z, length: 2.0 };
                if let Some(hit) = finger.contact_surface().cast(&ray, None) {
                    truth = truth.min(p.z - (1.0 - hit.distance));
                }
            }
        }
        let got = gap(&finger, &knife, &aim);
        assert!((got - truth).abs() < 1e-6, "x = {x}: {got} m, not {truth} m");
    }
}

/// The position of a mesh in its object's frame does not matter: a ball, and a punch wider than the sensor, both made 3
/// m below their origins, press as if centred at them.
#[test]
fn a_mesh_far_from_its_origin_is_pressed_all_the_same() {
    let sensor = flat(10, 10, Response::default());
    let below = dermis_geometry::Pose::from_translation(Vec3::new(0.0, 0.0, -3.0));
    for object in [sphere(6e-3, 0.3e-3), cuboid(40e-3, 40e-3, 10e-3)] {
        let far = Object::new(object.surface.mesh().transformed(&below));
        let truth = press(&sensor, &object, &Aim::default(), Goal::Depth(1e-3)).unwrap().touch.on_sensor.force;
        let got = press(&sensor, &far, &Aim::default(), Goal::Depth(1e-3)).unwrap().touch.on_sensor.force;
        assert!((got - truth).length() < 1e-9, "{got} N, not {truth} N");
    }
}

/// Impossible presses return errors with their reason.
#[test]
fn impossible_presses_are_refused() {
    let sensor = flat(5, 4, Response::default());
    let ball = sphere(6e-3, 0.5e-3);
    let aside = Aim { at_m: [60e-3, 0.0], ..Aim::default() };
    let misses = press(&sensor, &ball, &aside, Goal::Depth(1e-3)).unwrap_err();
    assert!(matches!(&misses, PressError::Misses { x_mm, .. } if (x_mm - 60.0).abs() < 1e-9), "{misses}");
    let too_deep = press(&sensor, &ball, &Aim::default(), Goal::Depth(3.1e-3)).unwrap_err();
    assert_eq!(depth_pose(&sensor, &ball, &Aim::default(), 3.1e-3), Err(too_deep.clone()));
    let there = press(&sensor, &ball, &Aim::default(), Goal::Depth(1e-3)).unwrap().sensor_from_object;
    assert_eq!(depth_pose(&sensor, &ball, &Aim::default(), 1e-3), Ok(there));
    assert!(matches!(depth_pose(&sensor, &ball, &Aim::default(), f64::NAN), Err(PressError::BadGoal { .. })));
    assert!(matches!(&too_deep, PressError::TooDeep { max_mm, .. } if (max_mm - 3.0).abs() < 1e-9), "{too_deep}");
    let too_strong = press(&sensor, &ball, &Aim::default(), Goal::Force(1e3)).unwrap_err();
    let PressError::TooStrong { max_n, .. } = too_strong else { panic!("{too_strong}") };
    let deepest = press(&sensor, &ball, &Aim::default(), Goal::Depth(3e-3)).unwrap();
    assert_eq!(max_n, -deepest.touch.on_sensor.force.z);
    for goal in [Goal::Depth(0.0), Goal::Depth(-1e-3), Goal::Force(f64::NAN), Goal::Force(f64::INFINITY)] {
        assert!(matches!(press(&sensor, &ball, &Aim::default(), goal), Err(PressError::BadGoal { .. })), "{goal:?}");
    }
    let lost = Aim { at_m: [f64::NAN, 0.0], ..Aim::default() };
    assert!(press(&sensor, &ball, &lost, Goal::Depth(1e-3)).is_err());
}

/// Searches on laws of force by depth: F = 4e4 d^1.5, a jump beyond the force at 1 mm, and a stiff stop after 2 mm without force.
/// Depths and numbers of trials were computed by a separate program; (F/4e4)^(2/3), 1 mm and 2.001 mm are their limits.
/// Trials from rest reach the same depth in fewer.
#[test]
fn a_force_is_searched_by_known_trials() {
    let (sensor, punch) = (flat(5, 4, Response::default()), cuboid(40e-3, 40e-3, 10e-3));
    let search = |force: f64| PressSearch::new(&sensor, &punch, &Aim::default(), Goal::Force(force)).unwrap();
    let ended = |mut search: PressSearch, law: fn(f64) -> f64| {
        let (mut best_m, mut trials) = (None, 0);
        while let Some((pose, depth_m)) = search.trial() {
            assert!(!search.is_known() && (5e-3 - pose.translation.z - depth_m).abs() < 1e-15);
            best_m = if search.found(law(depth_m)) == Trial::Best { Some(depth_m) } else { best_m };
            trials += 1;
        }
        assert_eq!((search.is_known(), search.end(&sensor, &punch).ok().map(|end| end.1)), (true, best_m));
        (best_m, trials)
    };
    let hertz: fn(f64) -> f64 = |d| 4e4 * d * d.sqrt();
    let jump: fn(f64) -> f64 = |d| if d < 1e-3 { 100.0 * d } else { 100.0 * d + 0.5 };
    let stiff: fn(f64) -> f64 = |d| if d < 2e-3 { 0.0 } else { 1e6 * (d - 2e-3) };
    for (law, force, depth_m, trials, from_rest) in [
        (hertz, 0.01, Some(3.968502629938049e-05), 35, [9, 8]),
        (hertz, 2.0, Some(0.0013572088083054251), 37, [10, 8]),
        (jump, 0.3, Some(0.0010000000000000007), 61, [57, 57]),
        (stiff, 1.0, Some(0.0020010000000000062), 49, [30, 30]),
        (hertz, 1e3, None, 3, [3, 3]),
    ] {
        assert_eq!(ended(search(force), law), (depth_m, trials));
        for (precision, trials) in [0.0, 1e-6].into_iter().zip(from_rest) {
            let (found_m, tried) = ended(search(force).from_rest(precision), law);
            assert_eq!((found_m.is_some(), tried), (depth_m.is_some(), trials));
            assert!((found_m.unwrap_or(1.0) / depth_m.unwrap_or(1.0) - 1.0).abs() < precision.max(1e-10));
        }
    }
}

/// A force that the law jumps over has a warning with both forces; one that is reached has none.
#[test]
fn a_force_that_is_not_reached_has_a_warning() {
    let (sensor, punch) = (flat(5, 4, Response::default()), cuboid(40e-3, 40e-3, 10e-3));
    for (force_n, jump_n) in [(0.05, None), (0.3, Some(0.6))] {
        for precision in [0.0, 1e-6] {
            let search = PressSearch::new(&sensor, &punch, &Aim::default(), Goal::Force(force_n)).unwrap();
            let mut search = if precision > 0.0 { search.from_rest(precision) } else { search };
            while let Some((_, depth_m)) = search.trial() {
                search.found(if depth_m < 1e-3 { 100.0 * depth_m } else { 100.0 * depth_m + 0.5 });
            }
            let got_n = match search.warning() {
                Some(Warning::ForceNotReached { wanted_n, got_n }) if wanted_n == force_n => Some(got_n),
                _ => None,
            };
            assert_eq!(got_n.map(|got_n| (got_n * 1e6).round() / 1e6), jump_n, "{force_n} N");
        }
    }
}

/// A ball of radius R on a pressure field of thickness H and modulus E carries F = π E R d²/H at a small depth d, because
/// the pressure is E (d − r²/2R)/H at the radius r. Small forces are reached in the same time as large ones: the search for
/// the parts of the ball in contact once took minutes. Below what numbers resolve, every skin warns.
#[test]
fn small_forces_are_reached_or_have_a_warning() {
    let ball = Object::of_primitive(dermis_geometry::Primitive::Sphere { radius_m: 10e-3 }, 0.5e-3).unwrap();
    let pad = presets::find("uji-foam-14x6").unwrap().with_skin(SkinKind::Hydroelastic).unwrap().build(None).unwrap();
    // E/H from a block: F = E A d/H.
    let block = press(&pad, &cuboid(12e-3, 9e-3, 20e-3), &Aim::default(), Goal::Depth(1e-3)).unwrap();
    let by_square = std::f64::consts::PI * 10e-3 * -block.touch.on_sensor.force.z / (12e-3 * 9e-3 * 1e-3);
    let begin = std::time::Instant::now();
    for force_n in [1e-4, 1e-6, 1e-8, 1e-9] {
        let pressed = press(&pad, &ball, &Aim::default(), Goal::Force(force_n)).unwrap();
        assert!((-pressed.touch.on_sensor.force.z / force_n - 1.0).abs() < 0.01, "{force_n} N");
        let truth_m = (force_n / by_square).sqrt();
        assert!((pressed.depth_m / truth_m - 1.0).abs() < 0.01, "{force_n} N: {} m, not {truth_m} m", pressed.depth_m);
    }
    assert!(begin.elapsed().as_secs() < 40, "{:?}", begin.elapsed());
    for sensor in [pad, preset("uji-foam-14x6"), preset("wts0614-layer")] {
        let pressed = press(&sensor, &ball, &Aim::default(), Goal::Force(1e-18)).unwrap();
        let is_missed = |warning: &Warning| matches!(warning, Warning::ForceNotReached { .. });
        assert!(pressed.touch.warnings.iter().any(is_missed), "{}: {:?}", sensor.name(), pressed.touch.warnings);
    }
}

/// A block on a pressure field of thickness H and modulus E carries E A d/H, also just above its whole depth, where it would
/// leave the field; beyond that force the error names the largest one.
#[test]
fn a_pad_carries_forces_up_to_its_whole_depth() {
    let pad = presets::find("uji-foam-14x6").unwrap().with_skin(SkinKind::Hydroelastic).unwrap().build(None).unwrap();
    let (block, aim) = (cuboid(12e-3, 9e-3, 20e-3), Aim::default());
    let max_m = pad.skin().max_depth_m();
    let quarter = press(&pad, &block, &aim, Goal::Depth(0.25 * max_m)).unwrap();
    let whole_n = -4.0 * quarter.touch.on_sensor.force.z;
    for part in [0.3, 0.9, 0.99, 0.999, 0.9999] {
        let pressed = press(&pad, &block, &aim, Goal::Force(part * whole_n)).unwrap();
        assert!((pressed.depth_m / (part * max_m) - 1.0).abs() < 1e-6, "{part} of {whole_n} N: {} m", pressed.depth_m);
    }
    let refused = press(&pad, &block, &aim, Goal::Force(2.0 * whole_n)).unwrap_err();
    assert!(
        matches!(&refused, PressError::TooStrong { max_n, .. } if (max_n / whole_n - 1.0).abs() < 1e-5),
        "{refused}"
    );
}

/// A block over 3 × 2 of the taxels, each of 2 mm: six taxels read κ A d, and the counts are that force divided by the
/// force per count.
#[test]
fn a_reading_is_complete() {
    let response = Response { counts_per_newton: 1000.0, bits: 12 };
    let sensor = flat(5, 4, response);
    // Rows 0 to 2 (y from +5 to −1 mm), columns 0 and 1 (x from −4 to 0 mm); slightly smaller, to stay within.
    let block = cuboid(3.99e-3, 5.99e-3, 10e-3);
    let aim = Aim { at_m: [-2e-3, 2e-3], ..Aim::default() };
    let reading = press(&sensor, &block, &aim, Goal::Depth(1e-3)).unwrap().reading;
    let one = KAPPA * 4e-6 * 1e-3;
    assert_eq!(reading.size, Some((5, 4)));
    assert_eq!((reading.active(), reading.coverage()), (6, 0.3));
    for (i, &value) in reading.values_newton.iter().enumerate() {
        let lit = i / 4 < 3 && i % 4 < 2;
        assert!((value - if lit { one } else { 0.0 }).abs() < 1e-12, "taxel {i}: {value} N");
        assert_eq!(reading.raw[i], if lit { 16 } else { 0 });
        assert!((reading.forces_newton[i] + Vec3::Z * value).length() < 1e-12);
    }
    assert!((reading.sum_newton - 6.0 * one).abs() < 1e-12);
    assert_eq!((reading.raw_sum, reading.saturated), (96, 0));
}

/// Counts saturate at 2^bits − 1 = 15; the newtons do not.
#[test]
fn raw_numbers_stop_at_full_scale() {
    let sensor = flat(5, 4, Response { counts_per_newton: 1000.0, bits: 4 });
    let block = cuboid(40e-3, 40e-3, 10e-3);
    for (depth, raw) in [(0.5e-3, 8), (1e-3, 15), (3e-3, 15)] {
        let reading = press(&sensor, &block, &Aim::default(), Goal::Depth(depth)).unwrap().reading;
        assert_eq!(reading.raw, vec![raw; 20]);
        assert!((reading.sum_newton - 20.0 * KAPPA * 4e-6 * depth).abs() < 1e-9);
    }
}
