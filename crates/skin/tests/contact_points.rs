//! Contact points in vector lanes: the list of facets, held points, buffers of earlier steps, and rays at meshes.

use crate::common::{bristles, cuboid, grid_skin, held, plain, pressed, step};
use dermis_geometry::{Pose, Twist, Vec3, shapes};
use dermis_skin::{
    Damping, Friction, ImplicitMotion, Motion, Object, PointLoads, Skin, SpringParameters, Springs, Target, Touch,
};

fn sticky() -> SpringParameters {
    SpringParameters { friction: Friction::Lugre(bristles()), damping: Damping::PerTexel(0.05), ..plain(200.0, 4e-3) }
}

fn bits<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

/// Reading the list of facets, or the points, gives the same forces, positions and stiffness.
#[test]
fn the_list_of_facets_equals_the_points() {
    let skin = grid_skin(9, 7, 1e-3, sticky());
    let ball = Object::new(shapes::sphere(8e-3, 1e-3).unwrap());
    let velocity = Twist::new(Vec3::new(2e-3, 0.0, 0.0), Vec3::Z);
    let (touch, _) = step(&skin, &skin.rest(), &ball, pressed(16e-3, 1e-3), velocity, 1e-3);
    let points = touch.facets.points().unwrap();
    assert_eq!((points.len(), touch.facets.iter().count()), (touch.facets.len(), touch.facets.len()));
    assert!(touch.facets.len() > 20 && !touch.facets.is_empty());
    for ((facet, (_, force)), (object, support)) in touch.facets.iter().zip(points.loads()).zip(points.supports()) {
        assert_eq!((facet.force_on_sensor(), facet.object, facet.support()), (force, object, support));
    }
    let read: Touch = serde_json::from_str(&bits(&touch)).unwrap();
    assert!(read == touch && read.facets.points().is_none());
    assert!(read.facets.supports().eq(touch.facets.supports()));
    assert!(read.facets.objects().eq(touch.facets.objects()));
}

/// A step writes its points to the buffers of an earlier one. What they held does not matter: a small contact after a
/// large one equals that of a new thread, bit for bit.
#[test]
fn buffers_of_earlier_steps_leave_no_trace() {
    let skin = grid_skin(12, 12, 1e-3, sticky());
    let (plate, ball) = (cuboid(30e-3, 30e-3, 5e-3), Object::new(shapes::sphere(4e-3, 0.5e-3).unwrap()));
    let velocity = Twist::new(Vec3::new(1e-2, 3e-3, 0.0), Vec3::ZERO);
    let small = || bits(&step(&skin, &skin.rest(), &ball, pressed(8e-3, 0.5e-3), velocity, 1e-3));
    for _ in 0..3 {
        drop(step(&skin, &skin.rest(), &plate, pressed(5e-3, 2e-3), velocity, 1e-3));
    }
    let after_large = small();
    let fresh = std::thread::scope(|scope| scope.spawn(small).join().unwrap());
    assert_eq!(after_large, fresh);
}

/// With one and with two objects, points that are held at rest and released have their static load, in the order of
/// the facets, and the sums are those of the facets.
#[test]
fn released_points_of_several_objects_keep_their_order() {
    let skin = grid_skin(12, 12, 1e-3, sticky());
    let block = cuboid(4e-3, 9e-3, 5e-3);
    let at = |x: f64, depth: f64| Pose::from_translation(Vec3::new(x, 0.2e-3, 2.5e-3 - depth));
    let pair = [at(-3e-3, 1e-3), at(3e-3, 0.7e-3)];
    for count in [1, 2] {
        let moving: Vec<Target> = pair[..count]
            .iter()
            .map(|&sensor_from_object| Target {
                object: &block,
                sensor_from_object,
                velocity: Twist::new(Vec3::X * 1e-3, Vec3::ZERO),
            })
            .collect();
        let (_, state) = skin.touch(&skin.rest(), &Motion { targets: &moving }, 1e-2).unwrap();
        let still = Motion { targets: &moving }.targets_at_rest();
        let found = skin.touch(&state, &Motion { targets: &still }, 1e-3).unwrap();
        let expected = found.clone();
        let contact = skin.hold(&found).unwrap();
        assert!((0..count).all(|object| contact.touches(object)));
        let mut loads = PointLoads::default();
        contact.load(&vec![ImplicitMotion::default(); count], 1e-3, &mut loads);
        let (touch, next) = skin.release(found, contact, &loads);
        assert_eq!(touch.facets.len(), expected.0.facets.len());
        let size = expected.0.on_sensor.force.length();
        for (facet, before) in touch.facets.iter().zip(&expected.0.facets) {
            assert_eq!((facet.object, facet.at()), (before.object, before.at()));
            assert!((facet.force_on_sensor() - before.force_on_sensor()).length() < 1e-12 * size);
        }
        let sum = touch.facets.iter().fold(Vec3::ZERO, |sum, facet| sum + facet.force_on_sensor());
        assert!((sum - touch.on_sensor.force).length() < 1e-12 * size);
        assert!(next == expected.1, "bristles at rest do not move");
    }
}

/// Rays are tested only near the triangles in the skin. A mesh that holds all of the skin has none there, and still
/// presses on every texel.
#[test]
fn a_mesh_around_the_skin_presses_on_all_of_it() {
    let skin: Springs = grid_skin(6, 6, 1e-3, plain(100.0, 2e-3));
    let ball = Object::new(shapes::sphere(30e-3, 3e-3).unwrap());
    let around = held(&skin, &ball, Pose::from_translation(Vec3::Z * 10e-3));
    assert_eq!((around.saturated, around.facets.len()), (36, 36));
    let beside = held(&skin, &ball, Pose::from_translation(Vec3::new(0.0, 0.0, 31e-3)));
    assert!(beside.facets.is_empty());
}
