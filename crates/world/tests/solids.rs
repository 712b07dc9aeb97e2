//! Contacts between solid bodies and with the ground.

use dermis_geometry::{Pose, Primitive, Quat, Vec3};
use dermis_skin::Object;
use dermis_world::{Body, BodyId, World, WorldParameters};

const GROUND: Option<f64> = Some(0.0);

fn world(step_s: f64) -> World {
    World::new(WorldParameters { step_s, ground_z_m: GROUND, ..Default::default() }).unwrap()
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
                let at = format!(
                    "{shape:?} {mass_kg} kg, {step_s} s: {worst} mm at rest, {lowest} lowest, {bounced} bounced"
                );
                println!("{at}");
                assert!(worst < 0.010, "{at}");
            }
        }
    }
}
