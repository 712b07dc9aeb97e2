//! Objects pressed beyond the range of the skin, and several objects at one texel.
//!
//! A closed object that contains the point v − h n, where the ray of a texel starts, is pressed beyond h there. Not
//! tested: objects that have passed that point completely, which the model does not cover.

use crate::common::{cuboid, grid_skin, held, plain, pressed};
use dermis_geometry::{Pose, TriMesh, Vec3, shapes};
use dermis_skin::{Law, Motion, Object, Skin, Target};

const K: f64 = 100.0;
const H: f64 = 2e-3;

/// For any depth and thickness of the punch, beyond h every texel gives k h, up to rounding, and reports saturation.
/// Thicknesses around and far beyond h: the far side of the punch is inside the ray, at its end, and beyond it.
#[test]
fn a_punch_pressed_past_the_skin_keeps_the_force_of_full_depth() {
    for law in [Law::Conservative, Law::Paper] {
        let skin = grid_skin(4, 5, 1e-3, dermis_skin::SpringParameters { law, ..plain(K, H) });
        for thickness in [1.2 * H, 2.0 * H, 3.0 * H, 30e-3] {
            let punch = cuboid(20e-3, 20e-3, thickness);
            for depth in [1.01 * H, 1.1 * H, 1.19 * H] {
                let touch = held(&skin, &punch, pressed(thickness, depth));
                assert_eq!(touch.saturated, 20, "{thickness} m thick, {depth} m deep");
                assert!(touch.facets.iter().all(|facet| facet.saturated && facet.depth_m == H));
                assert!((touch.on_sensor.force + Vec3::Z * (20.0 * K * H)).length() < 1e-12);
            }
        }
        let deepest = held(&skin, &cuboid(20e-3, 20e-3, 30e-3), pressed(30e-3, 10.0 * H));
        assert_eq!(deepest.saturated, 20);
    }
}

/// Up to h no texel is saturated, and the force is continuous at h: k h from both sides.
#[test]
fn saturation_starts_where_the_skin_ends() {
    let skin = grid_skin(4, 5, 1e-3, plain(K, H));
    let punch = cuboid(20e-3, 20e-3, 30e-3);
    let before = held(&skin, &punch, pressed(30e-3, H * (1.0 - 1e-9)));
    let after = held(&skin, &punch, pressed(30e-3, H * (1.0 + 1e-9)));
    assert_eq!((before.saturated, after.saturated), (0, 20));
    assert!((before.on_sensor.force - after.on_sensor.force).length() < 20.0 * K * H * 2e-9);
}

/// A curved skin under a plate: a ray inclined by θ has the depth s/cos θ when the plate is s below the texel, and
/// gives k s/cos² θ along z, so k h/cos θ at depth h, which it keeps. The force therefore never decreases as the plate
/// comes down, and every texel above the underside of the plate is in contact.
#[test]
fn leaning_texels_saturate_and_do_not_go_quiet() {
    let cap = shapes::spherical_patch(15e-3, 1.0, 1e-3).unwrap();
    let skin = dermis_skin::Springs::new(dermis_skin::Site::from_mesh(&cap, 1), plain(K, H)).unwrap();
    let plate = cuboid(60e-3, 60e-3, 30e-3);
    let mut last = 0.0;
    for tenths in 1..40 {
        let travel = f64::from(tenths) * 0.1 * H;
        let touch = held(&skin, &plate, pressed(30e-3, travel));
        let force = -touch.on_sensor.force.z;
        let under = skin.sites().iter().filter(|site| site.point.z > -travel).count();
        assert_eq!(touch.facets.len(), under, "{travel} m");
        let along_z = |site: &dermis_skin::Site| {
            let cosine = site.normal.z.max(0.2);
            K * ((site.point.z + travel) / site.normal.z).clamp(0.0, H) / cosine
        };
        let truth: f64 = skin.sites().iter().map(along_z).sum();
        assert!(force > last, "{travel} m: {force} N after {last} N");
        assert!((force - truth).abs() < 1e-10 * truth, "{travel} m: {force} N, not {truth} N");
        last = force;
    }
}

/// An open mesh has no interior. Beyond h it makes no contact, and no saturation is reported.
#[test]
fn an_open_mesh_claims_no_saturation() {
    let skin = grid_skin(4, 5, 1e-3, plain(K, H));
    let sheet = Object::new(shapes::grid(9, 9, 2.1e-3).unwrap());
    for upside_down in [false, true] {
        let turn = dermis_geometry::Quat::from_rotation_x(if upside_down { std::f64::consts::PI } else { 0.0 });
        let within = held(&skin, &sheet, Pose::new(turn, Vec3::Z * -0.5 * H));
        let past = held(&skin, &sheet, Pose::new(turn, Vec3::Z * -1.5 * H));
        assert!((within.on_sensor.force + Vec3::Z * (20.0 * K * 0.5 * H)).length() < 1e-12);
        assert_eq!((within.saturated, past.saturated, past.facets.len()), (0, 0, 0));
    }
}

/// A ray that exactly touches a sharp side edge from outside is not inside: the diamond (a square on its corner) has
/// its side edges at x = ±2 mm, which are texels of the grid, z = −0.5 mm. At such an edge the ray leaves the upper
/// face where it enters the lower one; with the upper face first in the mesh, it must not be classified as inside.
#[test]
fn a_ray_through_a_side_edge_is_not_pressed_through() {
    let (r, y) = (2e-3, 20e-3);
    let corner = |x: f64, z: f64| [Vec3::new(x, -y, z), Vec3::new(x, y, z)];
    let vertices = [corner(r, 0.0), corner(0.0, r), corner(-r, 0.0), corner(0.0, -r)].concat();
    let quad = |a: u32, b: u32| [[2 * a, 2 * b, 2 * b + 1], [2 * a, 2 * b + 1, 2 * a + 1]];
    let mut triangles: Vec<[u32; 3]> = (0..4).flat_map(|a| quad(a, (a + 1) % 4)).collect();
    triangles.extend([[0, 4, 2], [0, 6, 4], [1, 3, 5], [1, 5, 7]]);
    let mesh = TriMesh::new("diamond", vertices, triangles.iter().map(|&[a, b, c]| [a, c, b]).collect()).unwrap();
    mesh.check_closed().unwrap();
    let skin = grid_skin(3, 5, 1e-3, plain(K, 4e-3));
    let touch = held(&skin, &Object::new(mesh), Pose::from_translation(Vec3::Z * -0.5e-3));
    assert_eq!(touch.saturated, 0);
    // Depth under the lower faces: 0.5 mm at the edges, 2.5 mm at the middle.
    let truth = |x: f64| 0.5e-3 + (r - x.abs());
    for facet in &touch.facets {
        let x = facet.at().x;
        assert!((facet.depth_m - truth(x)).abs() < 1e-12, "x = {x}: {} m", facet.depth_m);
    }
    assert!(touch.facets.len() >= 9);
}

/// Two overlapping blocks, 0.5 and 0.8 mm deep, share the central column of texels; each receives the load of its own
/// texels: 0.5 mm × 2 columns, 0.8 mm × 3 columns (the deeper block owns the shared column), and its own torque.
#[test]
fn the_deepest_object_wins_and_each_gets_its_own_load() {
    let skin = grid_skin(3, 5, 1e-3, plain(K, H));
    let (left, right) = (cuboid(3e-3, 10e-3, 10e-3), cuboid(3e-3, 10e-3, 10e-3));
    let at = |x: f64, depth: f64| Pose::from_translation(Vec3::new(x, 0.0, 5e-3 - depth));
    let targets = [Target::at_rest(&left, at(-1e-3, 0.5e-3)), Target::at_rest(&right, at(1e-3, 0.8e-3))];
    for order in [[0, 1], [1, 0]] {
        let targets = order.map(|i| targets[i]);
        let (touch, _) = skin.touch(&skin.rest(), &Motion { targets: &targets }, 1e-3).unwrap();
        let [l, r] = order.map(|i| touch.on_objects[i]);
        assert!((l.force - Vec3::Z * (6.0 * K * 0.5e-3)).length() < 1e-14, "{}", l.force);
        assert!((r.force - Vec3::Z * (9.0 * K * 0.8e-3)).length() < 1e-14, "{}", r.force);
        // r × F with F along z at x: (0, −x F, 0); mean x of the columns −2, −1 and 0, 1, 2 mm.
        assert!((l.torque - Vec3::Y * (1.5e-3 * l.force.z)).length() < 1e-15, "{}", l.torque);
        assert!((r.torque + Vec3::Y * (1e-3 * r.force.z)).length() < 1e-15, "{}", r.torque);
    }
}

/// A thin plate pressed through (depth h) takes precedence over a block that is only half as deep, although the ray
/// hits the face of the block first.
#[test]
fn an_object_pressed_through_is_deeper_than_one_in_its_way() {
    let skin = grid_skin(3, 3, 1e-3, plain(K, H));
    let (plate, block) = (cuboid(10e-3, 10e-3, 2.6e-3), cuboid(10e-3, 10e-3, 10e-3));
    let targets = [
        Target::at_rest(&block, pressed(10e-3, 0.5 * H)),
        Target::at_rest(&plate, Pose::from_translation(Vec3::Z * -1.0e-3)),
    ];
    let (touch, _) = skin.touch(&skin.rest(), &Motion { targets: &targets }, 1e-3).unwrap();
    assert_eq!(touch.saturated, 9);
    assert_eq!(touch.on_objects[0].force, Vec3::ZERO);
    assert!((touch.on_objects[1].force.z - 9.0 * K * H).abs() < 1e-12);
}
