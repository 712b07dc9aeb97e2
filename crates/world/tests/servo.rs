//! The simulated end effectors follow their commands within their lag and speed limits.

use dermis_geometry::{Pose, Quat, Vec3};
use dermis_sensor::{Sensor, presets};
use dermis_skin::Object;
use dermis_world::{
    Body, CartesianHand, CartesianParameters, EndEffector, MotorParameters, PanTilt, PanTiltParameters, TactileImage,
    World, WorldParameters,
};
use std::sync::Arc;

fn world() -> World {
    World::new(WorldParameters { step_s: 5e-3, ..Default::default() }).unwrap()
}

fn array() -> Sensor {
    presets::find("digitacts-6x4").unwrap().build(None).unwrap()
}

/// The platform reaches a pose within its two degrees of freedom, with its bodies; for another pose it returns the
/// nearest.
#[test]
fn the_platform_takes_what_two_motors_can() {
    let mut world = world();
    let motor = MotorParameters { resolution_rad: 0.0, ..Default::default() };
    let parameters = PanTiltParameters { motor, ..Default::default() };
    let mut platform = PanTilt::build(&mut world, parameters, vec![array(), array(), array()]).unwrap();
    let turn = Quat::from_rotation_z(0.7) * Quat::from_rotation_y(-0.2);
    let reachable = platform.move_to(Pose::from_rotation(turn));
    assert!(reachable.rotation.angle_between(turn) < 1e-7);
    assert!((platform.move_to(reachable).translation - reachable.translation).length() < 1e-12);
    for _ in 0..400 {
        platform.exchange(&mut world);
        world.step().unwrap();
    }
    let plate = world.pose(platform.plate());
    assert!((plate.translation - reachable.translation).length() < 1e-9);
    assert!(plate.rotation.angle_between(turn) < 1e-7);
    let rolled = platform.move_to(Pose::from_rotation(turn * Quat::from_rotation_x(0.1)));
    assert!(platform.move_to(rolled).rotation.angle_between(rolled.rotation) < 1e-7, "a pose it answers is its own");
}

/// After a step of the command the palm has covered 1 − exp(−t/τ) of the distance, within its speed limit.
#[test]
fn the_palm_lags_and_is_limited() {
    let start = Pose::from_translation(Vec3::new(0.1, 0.0, 0.2));
    let goal = start * Pose::new(Quat::from_rotation_x(0.02), Vec3::new(0.0, 1e-3, 0.0));
    let mut world = world();
    let parameters = CartesianParameters { lag_s: 0.04, ..Default::default() };
    let mut palm = CartesianHand::build(&mut world, parameters, array(), start).unwrap();
    palm.move_to(goal);
    for step in 1..40 {
        palm.exchange(&mut world);
        world.step().unwrap();
        let way = 1.0 - (-f64::from(step) * 5e-3 / 0.04).exp();
        let pose = world.pose(palm.palm());
        assert!(((pose.translation - start.translation).y - 1e-3 * way).abs() < 1e-12);
        assert!((pose.rotation.angle_between(start.rotation) - 0.02 * way).abs() < 1e-7);
    }
    palm.move_to(start * Pose::from_translation(Vec3::X));
    let before = world.pose(palm.palm()).translation.x;
    for _ in 0..20 {
        palm.exchange(&mut world);
        world.step().unwrap();
    }
    let went = world.pose(palm.palm()).translation.x - before;
    assert!((went - 0.25 * 0.1).abs() < 1e-4, "{went}");
}

/// The readings of a world's arrays on a resting object equal the image of a press of the same arrays, within noise and
/// quantisation.
#[test]
fn a_world_and_a_press_show_the_same_image() {
    let mut world = world();
    let ball = Arc::new(Object::new(dermis_geometry::shapes::sphere(0.02, 2e-3).unwrap()));
    let tool_from_ball = Pose::from_translation(Vec3::new(2e-3, -1e-3, 0.02 - 1e-3));
    world.add_body(Body::fixed("ball", tool_from_ball).touchable(ball.clone())).unwrap();
    let mut palm = CartesianHand::build(&mut world, CartesianParameters::default(), array(), Pose::IDENTITY).unwrap();
    for _ in 0..4 {
        palm.exchange(&mut world);
        world.step().unwrap();
    }
    palm.exchange(&mut world);
    let pressed = TactileImage::of_press(&[(array(), Pose::IDENTITY)], &ball, &tool_from_ball).unwrap();
    assert!(pressed.total_newton() > 0.5);
    for (felt, truth) in palm.image().newton.iter().zip(&pressed.newton) {
        assert!((felt - truth).abs() < 6e-3, "{felt} {truth}");
    }
}
