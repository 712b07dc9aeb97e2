//! Contacts between solid bodies and with the ground.

mod balance;

use balance::{balanced, tracked};
use dermis_geometry::{Pose, Primitive, Quat, Vec3};
use dermis_skin::Object;
use dermis_world::{Body, BodyId, World, WorldParameters};

const GROUND: Option<f64> = Some(0.0);

fn world(step_s: f64) -> World {
    tracked(WorldParameters { step_s, ground_z_m: GROUND, ..Default::default() })
}

fn solid(name: &str, shape: Primitive, mass_kg: f64, pose: Pose) -> Body {
    let object = Object::of_primitive(shape, 2e-3).unwrap();
    let mass = object.surface.mass_properties(mass_kg).unwrap();
    Body::free(name, pose, mass).touchable(object.into()).solid()
}

fn cuboid(x: f64, y: f64, z: f64) -> Primitive {
    Primitive::Cuboid { half_m: 0.5e-3 * Vec3::new(x, y, z) }
}

fn up(z_mm: f64) -> Pose {
    Pose::from_translation(Vec3::Z * (1e-3 * z_mm))
}

fn height_mm(world: &World, id: BodyId) -> f64 {
    1e3 * world.pose(id).translation.z
}

/// A box on a box on the ground, light on heavy and heavy on light, at three time steps: neither sinks by more than
/// 10 µm. They sank by 0.39 to 0.98 mm.
#[test]
fn solids_at_rest_do_not_sink_into_each_other() {
    for (below_kg, above_kg) in [(0.2, 0.1), (0.3, 1.0), (1.0, 1.0)] {
        for step_s in [2.5e-4, 1e-3, 4e-3] {
            let mut world = world(step_s);
            let below = solid("below", cuboid(40.0, 30.0, 20.0), below_kg, up(10.0));
            let above = solid("above", cuboid(30.0, 20.0, 24.0), above_kg, up(32.0));
            let (below, above) = (world.add_body(below).unwrap(), world.add_body(above).unwrap());
            let mut worst = [0.0f64; 2];
            world
                .run_until(2.0, |world| {
                    if world.time_s() > 1.0 {
                        worst[0] = worst[0].max((height_mm(world, below) - 10.0).abs());
                        worst[1] = worst[1].max((height_mm(world, above) - height_mm(world, below) - 22.0).abs());
                    }
                    Ok(true)
                })
                .unwrap();
            let at = format!("{above_kg} kg on {below_kg} kg, {step_s} s: {worst:?} mm");
            assert!(worst.iter().all(|depth| *depth < 0.010), "{at}");
            // At 4 ms the heavier body settles with an error.
            balanced(&world, if step_s > 1e-3 { 0.5 } else { 0.05 }, &at);
            assert!(world.warnings().is_empty(), "{:?}", world.warnings());
        }
    }
}

/// Round and long bodies on the ground, dropped from 5 mm: within 10 µm.
#[test]
fn solids_at_rest_stand_on_the_ground() {
    let side = Quat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let shapes = [
        (Primitive::Sphere { radius_m: 0.012 }, Quat::IDENTITY, 12.0),
        (Primitive::Cylinder { radius_m: 0.01, half_length_m: 0.03 }, side, 10.0),
        (Primitive::Cylinder { radius_m: 0.01, half_length_m: 0.03 }, Quat::IDENTITY, 30.0),
        (Primitive::Capsule { radius_m: 0.01, half_length_m: 0.03 }, side, 10.0),
        (cuboid(20.0, 10.0, 40.0), Quat::IDENTITY, 20.0),
    ];
    for (shape, turn, height) in shapes {
        for mass_kg in [0.05, 1.0] {
            for step_s in [2.5e-4, 1e-3, 4e-3] {
                let mut world = world(step_s);
                let body = solid("body", shape, mass_kg, Pose::new(turn, Vec3::Z * (1e-3 * (height + 5.0))));
                let id = world.add_body(body).unwrap();
                let mut worst = 0.0f64;
                world
                    .run_until(1.5, |world| {
                        if world.time_s() > 1.0 {
                            worst = worst.max((height_mm(world, id) - height).abs());
                        }
                        Ok(true)
                    })
                    .unwrap();
                assert!(worst < 0.010, "{shape:?} {mass_kg} kg, {step_s} s: {worst} mm");
                balanced(&world, 0.05, &format!("{shape:?} {mass_kg} kg, {step_s} s"));
            }
        }
    }
}

/// A many-sided prism, a bottle's base: Rapier's own hull would rest on four neighbouring corners of it.
fn prism(sides: usize, length_mm: f64) -> Body {
    let mesh = dermis_geometry::shapes::prism(sides, 0.010, 1e-3 * length_mm).unwrap();
    let mass = mesh.mass_properties(0.05).unwrap();
    Body::free("prism", Pose::IDENTITY, mass).touchable(Object::new(mesh).into()).solid()
}

/// Prisms of six and of forty sides stand on the ground and on a box; tilted up to less than their edge, they fall back,
/// beyond it they fall over: around, at every eighth of a turn.
#[test]
fn prisms_stand_on_all_of_their_face() {
    for sides in [6, 40] {
        // The centre of mass is as high as an inscribed circle of the face is wide: it tips at about 45 degrees.
        let length_mm = 20.0;
        let inner = 10.0 * (std::f64::consts::PI / sides as f64).cos();
        for eighth in 0..8 {
            let around = Quat::from_rotation_z(0.13 + f64::from(eighth) * std::f64::consts::FRAC_PI_4);
            for (tilt_deg, on_box, stays) in
                [(0.0, false, true), (0.0, true, true), (35.0, false, true), (52.0, false, false)]
            {
                let mut world = world(1e-3);
                let lean = Quat::from_axis_angle(around * Vec3::X, f64::to_radians(tilt_deg));
                let mut body = prism(sides, length_mm);
                let lift = if on_box { 20.0 } else { 0.0 };
                // Its lowest point is just above the floor.
                let corners = body.visible().unwrap().vertices();
                let lowest = corners.iter().map(|corner| (lean * *corner).z).fold(f64::INFINITY, f64::min);
                body.world_from_body = Pose::new(lean, Vec3::Z * (1e-3 * (lift + 0.01) - lowest));
                if on_box {
                    world.add_body(solid("box", cuboid(60.0, 60.0, 20.0), 0.3, up(10.0))).unwrap();
                }
                let id = world.add_body(body).unwrap();
                world.run_until(1.0, |_| Ok(true)).unwrap();
                let upright = (world.pose(id).rotation * Vec3::Z).z > 0.9999;
                let at =
                    format!("{sides} sides, {tilt_deg} degrees, eighth {eighth}, on a box: {on_box}, inner {inner}");
                assert_eq!(upright, stays, "{at}: {}", world.pose(id).rotation * Vec3::Z);
                let z_mm = height_mm(&world, id);
                balanced(&world, 0.05, &at);
                assert!(!stays || (z_mm - lift - 0.5 * length_mm).abs() < 0.010, "{at}: {z_mm} mm");
            }
        }
    }
}

/// A cube on an incline (tilted gravity) stays below the angle of friction and slides above it with g (sin α − μ cos α),
/// on the ground and on another body.
#[test]
fn solids_slide_by_coulombs_law() {
    for on_box in [false, true] {
        for (slope_deg, mu) in [(20.0f64, 0.5), (35.0, 0.5), (35.0, 0.8), (10.0, 0.0)] {
            let (sine, cosine) = slope_deg.to_radians().sin_cos();
            let mut world = tracked(WorldParameters {
                gravity: Vec3::new(sine, 0.0, -cosine) * 9.81,
                ground_z_m: GROUND,
                ground_friction: if on_box { 0.1 } else { mu },
                solid_friction: if on_box { mu } else { 0.3 },
                ..Default::default()
            });
            let lift = if on_box { 10.0 } else { 0.0 };
            if on_box {
                let table = solid("table", cuboid(4000.0, 100.0, 10.0), 1.0, up(5.0));
                world.add_body(Body { kind: dermis_world::BodyKind::Fixed, ..table }).unwrap();
            }
            let id = world.add_body(solid("box", cuboid(20.0, 30.0, 10.0), 0.1, up(lift + 5.0))).unwrap();
            world.run_until(0.5, |_| Ok(true)).unwrap();
            let expected = (9.81 * (sine - mu * cosine)).max(0.0) * 0.5;
            let speed = world.velocity(id).linear.x;
            assert!((speed - expected).abs() < 0.01 * expected + 1e-6, "{slope_deg} {mu} {on_box}: {speed} {expected}");
            balanced(&world, 0.02, &format!("{slope_deg} {mu} {on_box}"));
        }
    }
}

/// What the contact of solids cannot hold is said with the depth: a kilogram on a coin of 2 g, at a long step.
#[test]
fn a_solid_that_sinks_is_reported_with_its_depth() {
    let mut world = world(4e-3);
    world.add_body(solid("coin", cuboid(40.0, 30.0, 20.0), 0.002, up(10.0))).unwrap();
    world.add_body(solid("brick", cuboid(30.0, 20.0, 24.0), 1.0, up(32.0))).unwrap();
    world.run_until(2.0, |_| Ok(true)).unwrap();
    let message = world.warnings().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(
        message.contains("has sunk by") && message.contains("mm into") && message.contains("solid_frequency"),
        "{message}"
    );
}

fn brick(pose: Pose) -> Body {
    solid("brick", cuboid(30.0, 20.0, 50.0), 0.1, pose)
}

/// A brick that falls on a corner and tumbles has not sunk: its corners, for a moment at rest in an impact, were said to have
/// sunk by up to half a millimetre.
#[test]
fn a_brick_that_tumbles_has_not_sunk() {
    for step_s in [5e-4, 1e-3] {
        for k in 0..12 {
            let lean = Quat::from_rotation_x(0.2 + 0.25 * f64::from(k)) * Quat::from_rotation_y(0.3);
            let mut world = world(step_s);
            let id = world.add_body(brick(Pose::new(lean, Vec3::Z * 0.05))).unwrap();
            world.run_until(1.5, |_| Ok(true)).unwrap();
            assert!(world.warnings().is_empty(), "{step_s} s, {k}: {:?}", world.warnings());
            let corners = world.body(id).visible().unwrap().vertices();
            let lowest = corners.iter().map(|at| world.pose(id).transform_point(*at).z).fold(f64::INFINITY, f64::min);
            assert!(lowest.abs() < 10e-6, "{step_s} s, {k}: {lowest} m");
        }
    }
}

/// A brick 10 mm deep in the ground, which its contact pushes out slowly, was not at rest and had no warning.
#[test]
fn a_brick_that_moves_inside_of_the_ground_is_reported() {
    let mut world = world(4e-3);
    world.add_body(brick(up(15.0))).unwrap();
    world.run_until(0.2, |_| Ok(true)).unwrap();
    let message = world.warnings().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(message.contains("\"brick\" has sunk by") && message.contains("into the ground"), "{message}");
}
