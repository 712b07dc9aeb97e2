//! Shared helpers of the skin tests: parameters, objects, random motions.
#![allow(dead_code, reason = "each test file uses a part of it")]

use dermis_geometry::shapes::{self, Fingertip};
use dermis_geometry::{Pose, Primitive, Quat, Random, TriMesh, Twist, Vec3};
use dermis_skin::{
    Damping, Elasticity, Friction, Law, Lugre, Motion, Object, Site, Skin, SpringParameters, Springs, State, Target,
    Touch,
};

/// Springs of stiffness `k` per texel (N/m): no damping, no friction, the conservative law.
pub fn plain(k: f64, max_penetration_m: f64) -> SpringParameters {
    SpringParameters {
        elasticity: Elasticity::PerTexel(k),
        damping: Damping::PerTexel(0.0),
        max_penetration_m,
        law: Law::Conservative,
        friction: Friction::None,
    }
}

/// Bristles of 2 N/mm per texel, without a viscous part.
pub fn bristles() -> Lugre {
    Lugre {
        stiffness_newton_per_m: 2e3,
        damping_newton_s_per_m: 0.0,
        viscous_newton_s_per_m: 0.0,
        mu_static: 0.6,
        mu_dynamic: 0.4,
        stribeck_m_per_s: 1e-2,
    }
}

pub fn grid_skin(rows: usize, cols: usize, pitch_m: f64, parameters: SpringParameters) -> Springs {
    Springs::new(Site::grid(rows, cols, pitch_m, 1), parameters).unwrap()
}

pub fn cuboid(x: f64, y: f64, z: f64) -> Object {
    Object::new(shapes::cuboid(Vec3::new(x, y, z)).unwrap())
}

/// Pose of a body of height `height_m`, centred at its origin, whose underside is `depth_m` deep in a flat skin.
pub fn pressed(height_m: f64, depth_m: f64) -> Pose {
    Pose::from_translation(Vec3::Z * (height_m / 2.0 - depth_m))
}

/// Takes one step from a state with one object.
pub fn step(skin: &Springs, state: &State, object: &Object, at: Pose, velocity: Twist, dt_s: f64) -> (Touch, State) {
    let target = Target { object, sensor_from_object: at, velocity };
    skin.touch(state, &Motion { targets: &[target] }, dt_s).unwrap()
}

/// Contact loads of one object at rest on a skin without history.
pub fn held(skin: &Springs, object: &Object, at: Pose) -> Touch {
    step(skin, &skin.rest(), object, at, Twist::ZERO, 1e-3).0
}

pub fn vector(random: &mut Random, size: f64) -> Vec3 {
    Vec3::new(random.between(-size, size), random.between(-size, size), random.between(-size, size))
}

/// A uniformly distributed random rotation.
pub fn rotation(random: &mut Random) -> Quat {
    Quat::from_xyzw(random.normal(), random.normal(), random.normal(), random.normal()).normalize()
}

/// Objects of about ten to thirty millimetres, closed and open, centred at the origin.
pub fn objects() -> Vec<Object> {
    let bottle = shapes::spray_bottle(6e-3).unwrap().stretched(Vec3::splat(0.15));
    let middle = bottle.bounds().center();
    let meshes: Vec<TriMesh> = vec![
        shapes::sphere(8e-3, 2e-3).unwrap(),
        shapes::cuboid(Vec3::new(12e-3, 9e-3, 7e-3)).unwrap(),
        shapes::torus(8e-3, 3e-3, 1.5e-3).unwrap(),
        shapes::prism(6, 7e-3, 15e-3).unwrap(),
        bottle.transformed(&Pose::from_translation(-middle)),
        shapes::grid(6, 6, 3e-3).unwrap(),
        shapes::spherical_patch(10e-3, 0.9, 2e-3).unwrap(),
    ];
    let exact = [
        Primitive::Sphere { radius_m: 9e-3 },
        Primitive::Ellipsoid { semi_axes_m: Vec3::new(12e-3, 8e-3, 6e-3) },
        Primitive::Cuboid { half_m: Vec3::new(5e-3, 6e-3, 8e-3) },
        Primitive::Cylinder { radius_m: 6e-3, half_length_m: 9e-3 },
        Primitive::Capsule { radius_m: 5e-3, half_length_m: 8e-3 },
    ];
    let exact = exact.map(|shape| Object::of_primitive(shape, 2e-3).unwrap());
    meshes.into_iter().map(Object::new).chain(exact).collect()
}

/// Layouts of contact points: two grids, the pad of a fingertip and a cap, with `parts` contact points per side.
pub fn layouts(parts: usize) -> Vec<Vec<Site>> {
    let pad = shapes::fingertip_pad(&Fingertip::default(), 2e-3).unwrap();
    let cap = shapes::spherical_patch(15e-3, 1.0, 2.5e-3).unwrap();
    vec![
        Site::grid(14, 6, 3.4e-3, parts),
        Site::grid(9, 10, 1.5e-3, parts),
        Site::from_mesh(&pad, parts),
        Site::from_mesh(&cap, parts),
    ]
}
