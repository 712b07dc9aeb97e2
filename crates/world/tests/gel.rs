//! A ball dropped on a gel.

use dermis_geometry::shapes::{grid, sphere};
use dermis_geometry::{Pose, Vec3};
use dermis_sensor::{Response, Sensor, Taxels};
use dermis_skin::gel::FixedFaces;
use dermis_skin::{Gel, GelParameters, Object};
use dermis_world::{Body, World, WorldParameters};
use std::sync::Arc;

const RADIUS: f64 = 4e-3;
const DROP: f64 = 1.5e-3;
const MASS: f64 = 2e-3;

fn sensor() -> Sensor {
    let parameters = GelParameters { cell_m: 1e-3, damping_per_s: 400.0, ..GelParameters::default() };
    let gel = Gel::block(Vec3::new(8e-3, 8e-3, 3e-3), FixedFaces::default(), parameters).unwrap();
    let plate = grid(2, 2, 4e-3).unwrap();
    Sensor::new("gel", gel, Taxels::grid(8, 8, 1e-3), Response::default(), plate)
}

/// The ball falls freely, the gel stops it before it passes through, and it rebounds below the drop height without
/// drifting sideways.
#[test]
fn a_dropped_ball_is_caught() {
    let step_s = 2e-4;
    let gravity = Vec3::new(0.0, 0.0, -9.81);
    let mut world = World::new(WorldParameters { gravity, step_s, ..Default::default() }).unwrap();
    let base = world.add_body(Body::fixed("base", Pose::IDENTITY)).unwrap();
    world.mount(sensor(), base, Pose::IDENTITY);
    let mesh = sphere(RADIUS, 0.5e-3).unwrap();
    let mass = mesh.mass_properties(MASS).unwrap();
    let start = Pose::from_translation(Vec3::new(0.1e-3, -0.2e-3, RADIUS + DROP));
    let ball = world.add_body(Body::free("ball", start, mass).touchable(Arc::new(Object::new(mesh)))).unwrap();
    let (mut lowest, mut highest_after, mut fastest) = (f64::INFINITY, f64::NEG_INFINITY, 0.0f64);
    world
        .run_until(0.06, |world| {
            let z = world.pose(ball).translation.z - RADIUS;
            lowest = lowest.min(z);
            fastest = fastest.max(world.velocity(ball).linear.length());
            if lowest < 0.0 {
                highest_after = highest_after.max(z);
            }
            Ok(true)
        })
        .unwrap();
    assert!((fastest / (2.0 * 9.81 * DROP).sqrt() - 1.0).abs() < 0.05, "it fell freely: {fastest} m/s");
    assert!(lowest < -0.1e-3 && lowest > -2e-3, "it sank by {lowest} m");
    assert!(highest_after < DROP, "it rose to {highest_after} m");
    assert!(world.pose(ball).translation.truncate().length() < 1e-3, "it stayed where it was");
}
