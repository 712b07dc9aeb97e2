//! Springs compared with closed forms: flat punch, sphere, damper, tables, areas.
//!
//! Friction, saturation and energy have their own files.

use crate::common;

use common::{cuboid, grid_skin, held, plain, pressed, step};
use dermis_geometry::shapes::{self, Fingertip};
use dermis_geometry::{Pose, Quat, Random, Ray, Twist, Vec3};
use dermis_skin::{
    Damping, Elasticity, Law, Load, Motion, Object, Site, Skin, SkinError, SpringParameters, Springs, Table, Target,
};

/// A flat punch over all N texels presses each by d: F = N k d, along −z on the sensor, without torque about the
/// centre. Exact up to rounding. Both laws, any number of contact points, any yaw.
#[test]
fn a_flat_punch_gives_n_k_d() {
    let punch = cuboid(60e-3, 60e-3, 10e-3);
    for law in [Law::Conservative, Law::Paper] {
        for points in 1..=3 {
            let skin =
                Springs::new(Site::grid(14, 6, 3.4e-3, points), SpringParameters { law, ..plain(58.5, 3e-3) }).unwrap();
            for (depth, yaw) in [(0.1e-3, 0.0), (1e-3, 0.3), (2.9e-3, -1.2)] {
                let at = Pose::new(Quat::from_rotation_z(yaw), pressed(10e-3, depth).translation);
                let touch = held(&skin, &punch, at);
                let truth = 84.0 * 58.5 * depth;
                assert!((touch.on_sensor.force + Vec3::Z * truth).length() < 1e-12 * truth);
                assert!(touch.on_sensor.torque.length() < 1e-12 * truth * 0.02);
                assert!((touch.area_m2() - 84.0 * 3.4e-3 * 3.4e-3).abs() < 1e-15);
            }
        }
    }
}

/// A plane face tilted by θ about y over all texels: the depth at x is d + x tan θ (sign by the tilt), so with the
/// conservative law f = k d_i/cos θ along n_c = (sin θ, 0, cos θ): F_z = N k d, F_x = F_z tan θ. The paper's law gives
/// cos θ times both.
#[test]
fn a_tilted_face_presses_along_its_normal() {
    let theta = 0.3f64;
    let block = cuboid(80e-3, 80e-3, 40e-3);
    for (law, factor) in [(Law::Conservative, 1.0), (Law::Paper, theta.cos())] {
        let skin = grid_skin(5, 6, 1e-3, SpringParameters { law, ..plain(100.0, 4e-3) });
        // The centre of its lower face is 1.5 mm below the centre of the skin, and the block is rotated about that
        // point.
        let turn = Quat::from_rotation_y(theta);
        let at = Pose::new(turn, turn * (Vec3::Z * 20e-3) - Vec3::Z * 1.5e-3);
        let touch = held(&skin, &block, at);
        let fz = 30.0 * 100.0 * 1.5e-3 * factor;
        let truth = Vec3::new(theta.tan(), 0.0, 1.0) * -fz;
        assert!((touch.on_sensor.force - truth).length() < 1e-11, "{law:?}: {}", touch.on_sensor.force);
        for facet in &touch.facets {
            let Load::Point { anchor, .. } = facet.load else { unreachable!("springs make points") };
            assert!((facet.depth_m - (1.5e-3 + anchor.x * theta.tan())).abs() < 1e-12);
        }
    }
}

/// A sphere of radius R at depth d: the force of each ray along z is κ d_i A_i (the factor 1/(n·n_c) cancels the
/// cosine), so F_z is κ times the volume below z = 0, a cap: F = κ π (R d² − d³/3). A sum over a lattice converges with
/// the second order of the pitch, and so does the mesh, whose edges are half the pitch. Root mean square over positions
/// of the sphere. The radius of the imprint is √(2Rd − d²), to a texel.
#[test]
fn a_sphere_gives_the_volume_of_its_cap() {
    let (radius, depth, kappa) = (5e-3, 0.8e-3f64, 1e7);
    let truth = kappa * std::f64::consts::PI * (radius * depth * depth - depth.powi(3) / 3.0);
    let imprint = (2.0 * radius * depth - depth * depth).sqrt();
    let mut random = Random::new(1);
    let errors = [0.6e-3, 0.3e-3, 0.15e-3].map(|pitch: f64| {
        let count = (8e-3 / pitch) as usize;
        let parameters = SpringParameters { elasticity: Elasticity::PerArea(kappa), ..plain(1.0, 2e-3) };
        let skin = grid_skin(count, count, pitch, parameters);
        let sphere = Object::new(shapes::sphere(radius, 0.5 * pitch).unwrap());
        let mut square = 0.0;
        for _ in 0..8 {
            let (x, y) = (random.between(-0.5, 0.5) * pitch, random.between(-0.5, 0.5) * pitch);
            let touch = held(&skin, &sphere, Pose::from_translation(Vec3::new(x, y, radius - depth)));
            square += ((-touch.on_sensor.force.z - truth) / truth).powi(2) / 8.0;
            let reach = touch.facets.iter().map(|facet| (facet.at() - Vec3::new(x, y, 0.0)).truncate().length());
            let reach = reach.fold(0.0, f64::max);
            assert!((reach - imprint).abs() < pitch, "{reach} m, not {imprint} m");
        }
        square.sqrt()
    });
    let slope = (errors[0] / errors[2]).ln() / 4f64.ln();
    println!("sphere, pitch 0.6, 0.3, 0.15 mm: {errors:?}, slope {slope:.2}");
    assert!(slope > 1.7, "{errors:?}: slope {slope}");
    assert!(errors[2] < 2e-3, "{errors:?}");
}

/// A flat punch approaching at v receives N(k d + c v); separating at v, N(k d − c v), and zero if that is negative:
/// the skin does not adhere. Per texel and per area.
#[test]
fn dampers_resist_approach_and_never_pull() {
    let (k, c, d) = (100.0, 2.0, 1e-3);
    let punch = cuboid(50e-3, 50e-3, 10e-3);
    for damping in [Damping::PerTexel(c), Damping::PerArea(c / 1e-6)] {
        let skin = grid_skin(4, 5, 1e-3, SpringParameters { damping, ..plain(k, 3e-3) });
        for v in [0.02, 1e-3, -1e-3, -0.049, -0.051, -1.0] {
            let velocity = Twist::new(Vec3::Z * -v, Vec3::ZERO);
            let (touch, _) = step(&skin, &skin.rest(), &punch, pressed(10e-3, d), velocity, 1e-3);
            let truth = (20.0 * (k * d + c * v)).max(0.0);
            assert!((-touch.on_sensor.force.z - truth).abs() < 1e-12, "{v} m/s: {}", touch.on_sensor.force);
        }
    }
}

/// On a face tilted by θ, a vertical speed v changes the depth along the ray at the rate v, so the vertical force of
/// the damper is c v on every texel, as on a flat face (conservative law).
#[test]
fn dampers_act_on_the_rate_of_depth() {
    let block = cuboid(80e-3, 80e-3, 40e-3);
    let skin = grid_skin(5, 6, 1e-3, SpringParameters { damping: Damping::PerTexel(2.0), ..plain(100.0, 4e-3) });
    let turn = Quat::from_rotation_y(0.4);
    let at = Pose::new(turn, turn * (Vec3::Z * 20e-3) - Vec3::Z * 1.8e-3);
    let velocity = Twist::new(Vec3::Z * -0.01, Vec3::ZERO);
    let (touch, _) = step(&skin, &skin.rest(), &block, at, velocity, 1e-3);
    assert!((-touch.on_sensor.force.z - 30.0 * (100.0 * 1.8e-3 + 2.0 * 0.01)).abs() < 1e-11);
}

/// A table on a straight line equals the linear law. One with slopes 50 N/m up to 1 mm and 200 N/m beyond gives 0.05 +
/// 0.2 (d/mm − 1) N, also beyond its last point.
#[test]
fn tables_are_followed() {
    let punch = cuboid(50e-3, 50e-3, 10e-3);
    let table = |depth: &[f64], load: &[f64]| Table { depth_m: depth.to_vec(), load: load.to_vec() };
    let force = |elasticity: Elasticity, depth: f64| {
        let skin = grid_skin(4, 5, 1e-3, SpringParameters { elasticity, ..plain(1.0, 5e-3) });
        -held(&skin, &punch, pressed(10e-3, depth)).on_sensor.force.z / 20.0
    };
    for depth in [0.05e-3, 0.7e-3, 1.3e-3, 4e-3] {
        let two_slopes = if depth < 1e-3 { 50.0 * depth } else { 0.05 + 200.0 * (depth - 1e-3) };
        let straight = table(&[0.0, 1e-3, 2e-3], &[0.0, 0.1, 0.2]);
        let kinked = table(&[0.0, 1e-3, 2e-3], &[0.0, 0.05, 0.25]);
        let pressures = table(&[0.0, 1e-3, 2e-3], &[0.0, 0.05e6, 0.25e6]);
        assert!((force(Elasticity::TexelTable(straight), depth) - 100.0 * depth).abs() < 1e-12);
        assert!((force(Elasticity::TexelTable(kinked), depth) - two_slopes).abs() < 1e-12);
        assert!((force(Elasticity::AreaTable(pressures), depth) - two_slopes).abs() < 1e-12);
    }
}

/// The contact points of a curved skin partition its whole area, and every texel, at any subdivision. Under the same
/// ball, subdivisions 1, 2 and 3 converge to 8: within 5 %, 1 % and 0.5 % (`PerArea`).
#[test]
fn a_curved_skin_is_the_same_at_any_subdivision() {
    let pad = shapes::fingertip_pad(&Fingertip::default(), 1.5e-3).unwrap();
    let cap = shapes::spherical_patch(20e-3, 1.0, 2e-3).unwrap();
    for mesh in [pad, cap] {
        for n in 1..=4 {
            let sites = Site::from_mesh(&mesh, n);
            let area: f64 = sites.iter().map(|site| site.area_m2).sum();
            let shares: f64 = sites.iter().map(|site| site.share).sum();
            assert!((area - mesh.area_m2()).abs() < 1e-12 * area);
            assert!((shares - mesh.vertices().len() as f64).abs() < 1e-9, "{n}: {shares} texels");
        }
        let ball = Object::new(shapes::sphere(8e-3, 0.3e-3).unwrap());
        let force = |n: usize| {
            let parameters = SpringParameters { elasticity: Elasticity::PerArea(1e7), ..plain(1.0, 4e-3) };
            let skin = Springs::new(Site::from_mesh(&mesh, n), parameters).unwrap();
            let places = (0..6).map(|i| Vec3::new(0.4e-3 * f64::from(i), -0.3e-3 * f64::from(i), 8e-3 - 1.2e-3));
            places.map(|at| -held(&skin, &ball, Pose::from_translation(at)).on_sensor.force.z).collect::<Vec<f64>>()
        };
        let fine = force(8);
        for (n, most) in [(1, 5e-2), (2, 1e-2), (3, 5e-3)] {
            let square: f64 = force(n).iter().zip(&fine).map(|(f, truth)| (f / truth - 1.0).powi(2)).sum();
            let error = (square / fine.len() as f64).sqrt();
            println!("{}: subdivision {n} is off by {:.2} %", mesh.name(), 100.0 * error);
            assert!(error < most, "{}: {error}", mesh.name());
        }
    }
}

/// Depth and normal of every texel equal those of a brute-force test of all triangles with the ray from v − h n to v.
/// `saturation.rs` covers objects in which a ray starts.
#[test]
fn every_texel_sees_what_brute_force_sees() {
    let mut random = Random::new(3);
    let h = 4e-3;
    let mut compared = 0;
    for (object, parts) in common::objects().iter().zip([1, 2, 3, 1, 2, 3, 1]) {
        for sites in common::layouts(parts) {
            let skin = Springs::new(sites, plain(100.0, h)).unwrap();
            let turn = common::rotation(&mut random);
            let lowest = object.surface.mesh().vertices().iter().map(|&v| (turn * v).z).fold(f64::INFINITY, f64::min);
            let at = Pose::new(turn, Vec3::new(random.between(-3e-3, 3e-3), 0.0, -lowest - 2e-3));
            let touch = held(&skin, object, at);
            let mut facets = touch.facets.iter().peekable();
            for site in skin.sites() {
                let (origin, direction) = (site.point - site.normal * h, site.normal);
                let origin = at.inverse().transform_point(origin);
                let ray = Ray { origin, direction: at.inverse().transform_vector(direction), length: h };
                let is_mine = |facet: &&&dermis_skin::Facet| match facet.load {
                    Load::Point { anchor, .. } => anchor == site.point,
                    Load::Polygon(_) => false,
                };
                let mine = facets.peek().filter(is_mine).is_some().then(|| facets.next().unwrap());
                let inside = object.surface.signed_distance(origin).is_ok_and(|distance| distance < 0.0);
                let truth = object.surface.cast_brute_force(&ray);
                if inside {
                    continue;
                }
                assert_eq!(mine.is_some(), truth.is_some());
                if let (Some(facet), Some(hit)) = (mine, truth) {
                    assert!((facet.depth_m - (h - hit.distance)).abs() < 1e-12);
                    assert!(facet.normal.cross(at.transform_vector(hit.normal)).length() < 1e-9);
                    compared += 1;
                }
            }
            assert!(facets.next().is_none());
        }
    }
    assert!(compared > 1000, "{compared}");
}

/// Meaningless input returns an error with its name.
#[test]
fn meaningless_input_is_refused() {
    let skin = grid_skin(2, 2, 1e-3, plain(100.0, 2e-3));
    let block = cuboid(10e-3, 10e-3, 10e-3);
    let touch = |at: Pose, velocity: Twist, dt: f64| {
        let target = Target { object: &block, sensor_from_object: at, velocity };
        skin.touch(&skin.rest(), &Motion { targets: &[target] }, dt).map(|_| ())
    };
    for dt in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
        let refused = touch(Pose::IDENTITY, Twist::ZERO, dt);
        assert!(matches!(refused, Err(SkinError::NotPositive { key: "dt", .. })), "{dt}: {refused:?}");
    }
    let nowhere = Pose::from_translation(Vec3::new(0.0, f64::NAN, 0.0));
    assert_eq!(touch(nowhere, Twist::ZERO, 1e-3), Err(SkinError::NotFinite { object: 0, what: "pose" }));
    let endless = Twist::new(Vec3::ZERO, Vec3::X * f64::INFINITY);
    assert_eq!(touch(Pose::IDENTITY, endless, 1e-3), Err(SkinError::NotFinite { object: 0, what: "velocity" }));
    let foreign = grid_skin(2, 3, 1e-3, plain(100.0, 2e-3)).rest();
    let refused = skin.touch(&foreign, &Motion { targets: &[] }, 1e-3).map(|_| ());
    assert_eq!(refused, Err(SkinError::StateMismatch { got: 6, expected: 4 }));
    for k in [0.0, -1.0, f64::NAN] {
        assert!(Springs::new(Site::grid(2, 2, 1e-3, 1), plain(k, 2e-3)).is_err());
    }
    assert_eq!(Springs::new(vec![], plain(1.0, 1e-3)).map(|_| ()), Err(SkinError::NoSites));
}
