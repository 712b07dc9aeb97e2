//! Primitive objects, compared with meshes of increasing resolution.

use crate::common;

use common::{grid_skin, plain};
use dermis_geometry::{Pose, Primitive, Quat, Twist, Vec3};
use dermis_skin::{Friction, Motion, Object, Skin, SpringParameters, Target, Touch};

fn touch_of(object: &Object, sensor_from_object: Pose) -> Touch {
    let parameters = SpringParameters { friction: Friction::Lugre(common::bristles()), ..plain(500.0, 4e-3) };
    let skin = grid_skin(24, 24, 1e-3, parameters);
    let velocity = Twist::new(Vec3::new(2e-3, -1e-3, -1e-3), Vec3::new(0.1, 0.2, -0.3));
    let targets = [Target { object, sensor_from_object, velocity }];
    skin.touch(&skin.rest(), &Motion { targets: &targets }, 1e-3).unwrap().0
}

/// A mesh inscribed in a round shape with edges e lies at most e²/8R below it, so its force and torque converge to
/// those of the shape in proportion to e²; at 0.25 mm on 8 mm the difference is 1 µm of 1 mm. The box has no round
/// parts, so it differs only by rounding.
#[test]
fn a_mesh_comes_near_its_primitive() {
    let turn = Quat::from_rotation_x(0.3) * Quat::from_rotation_y(0.9);
    for (shape, lowest, bound) in [
        (Primitive::Sphere { radius_m: 8e-3 }, 8e-3, 4e-3),
        (Primitive::Ellipsoid { semi_axes_m: Vec3::new(9e-3, 7e-3, 5e-3) }, 6e-3, 4e-3),
        (Primitive::Cylinder { radius_m: 6e-3, half_length_m: 9e-3 }, 8e-3, 4e-3),
        (Primitive::Capsule { radius_m: 6e-3, half_length_m: 6e-3 }, 8e-3, 4e-3),
        (Primitive::Cuboid { half_m: Vec3::new(5e-3, 6e-3, 7e-3) }, 8e-3, 1e-12),
    ] {
        let place = Pose::new(turn, Vec3::new(0.3e-3, -0.7e-3, lowest - 1e-3));
        let exact = touch_of(&Object::of_primitive(shape, 1e-3).unwrap(), place);
        let meshed = touch_of(&Object::new(shape.mesh(0.25e-3).unwrap()), place);
        let force = exact.on_sensor.force;
        assert!(force.z < -1e-3, "{shape:?} presses: {force}");
        let error = (meshed.on_sensor.force - force).length() / force.length();
        assert!(error < bound, "{shape:?}: {error:e}");
        let torque = (meshed.on_sensor.torque - exact.on_sensor.torque).length() / exact.on_sensor.torque.length();
        assert!(torque < bound, "{shape:?}: {torque:e}");
    }
}

/// An object pressed beyond the skin saturates as a primitive and as a mesh, and the forces on both bodies cancel.
#[test]
fn a_primitive_saturates_and_balances() {
    let shape = Primitive::Cuboid { half_m: Vec3::splat(6e-3) };
    let place = Pose::from_translation(Vec3::Z * 1e-3);
    let exact = touch_of(&Object::of_primitive(shape, 1e-3).unwrap(), place);
    let meshed = touch_of(&Object::new(shape.mesh(1e-3).unwrap()), place);
    assert!(exact.saturated > 100);
    assert_eq!(exact.saturated, meshed.saturated);
    assert!((exact.on_sensor.force - meshed.on_sensor.force).length() < 1e-12 * exact.on_sensor.force.length());
    assert!((exact.on_sensor.force + exact.on_objects[0].force).length() < 1e-12);
}

/// A single ball or box is intersected with many rays at a time, one among other objects ray by ray: the contact loads
/// are the same along a slide, from a graze to rays that start inside the object.
#[test]
fn an_object_alone_feels_what_it_feels_in_company() {
    slide_alone_and_in_company(Primitive::Sphere { radius_m: 5e-3 });
    slide_alone_and_in_company(Primitive::Cuboid { half_m: Vec3::new(4e-3, 5e-3, 3e-3) });
}

fn slide_alone_and_in_company(shape: Primitive) {
    let parameters = SpringParameters { friction: Friction::Lugre(common::bristles()), ..plain(500.0, 4e-3) };
    let skin = grid_skin(24, 24, 1e-3, parameters);
    let object = Object::of_primitive(shape, 1e-3).unwrap();
    let other = Object::of_primitive(Primitive::Sphere { radius_m: 2e-3 }, 1e-3).unwrap();
    let velocity = Twist::new(Vec3::new(0.05, -0.02, -0.1), Vec3::new(0.1, 3.0, -0.3));
    let (mut alone, mut among) = (skin.rest(), skin.rest());
    let mut saturated = 0;
    for step in 0..60 {
        let depth = 1e-4 * f64::from(step);
        let turn = Quat::from_rotation_x(0.1 * f64::from(step));
        // No ray runs in a face of the box: there either of two faces may be hit.
        let place = Pose::new(turn, Vec3::new(-4.013e-3 + 0.5 * depth, -0.2 * depth, 5e-3 - depth));
        let target = Target { object: &object, sensor_from_object: place, velocity };
        let far = Pose::from_translation(Vec3::new(8.5e-3, 8.5e-3, 1.9e-3));
        let company = Target { object: &other, sensor_from_object: far, velocity: Twist::ZERO };
        let (one, next) = skin.touch(&alone, &Motion { targets: &[target] }, 1e-3).unwrap();
        alone = next;
        let (two, next) = skin.touch(&among, &Motion { targets: &[target, company] }, 1e-3).unwrap();
        among = next;
        assert!(two.facets.iter().any(|facet| facet.object == 1), "the other is there");
        let same: Vec<_> = two.facets.iter().filter(|facet| facet.object == 0).collect();
        assert_eq!(one.facets.len(), same.len(), "step {step}");
        for (a, b) in one.facets.iter().zip(same) {
            assert!((a.depth_m - b.depth_m).abs() < 1e-15 && (a.normal - b.normal).length() < 1e-12, "{a:?} {b:?}");
        }
        let scale = one.on_sensor.force.length();
        assert!((one.on_objects[0].force - two.on_objects[0].force).length() <= 1e-11 * scale, "step {step}");
        saturated = one.saturated;
    }
    assert!(saturated > 0, "rays begin inside at the end");
}
