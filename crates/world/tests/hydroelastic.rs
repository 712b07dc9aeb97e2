//! Bodies with six degrees of freedom on hydroelastic pads. The tests of the skin cover pure translation of one body.

mod balance;

use balance::{balanced, tracked};
use dermis_geometry::shapes::{cuboid, sphere};
use dermis_geometry::{Pose, Quat, TriMesh, Vec3};
use dermis_sensor::{Sensor, SensorSpec};
use dermis_skin::Object;
use dermis_world::{Body, BodyId, World, WorldParameters};
use std::sync::Arc;

fn pad(skin: &str) -> Sensor {
    let text = format!(
        "name = \"pad\"\n[surface.grid]\nrows = 10\ncols = 10\npitch = \"10 mm\"\n[skin]\nkind = \"hydroelastic\"\n{skin}\n"
    );
    SensorSpec::parse("pad.toml", &text).unwrap().build(None).unwrap()
}

fn world(pad: Sensor, world_from_pad: Pose, step_s: f64) -> World {
    let gravity = Vec3::new(0.0, 0.0, -9.81);
    let mut world = tracked(WorldParameters { gravity, step_s, ..Default::default() });
    let table = world.add_body(Body::fixed("table", world_from_pad)).unwrap();
    world.mount(pad, table, Pose::IDENTITY);
    world
}

fn put(world: &mut World, mesh: TriMesh, mass_kg: f64, world_from_body: Pose) -> BodyId {
    let mass = mesh.mass_properties(mass_kg).unwrap();
    world.add_body(Body::free("body", world_from_body, mass).touchable(Arc::new(Object::new(mesh)))).unwrap()
}

/// A cube of 1 kg released on a pad tilted by 10° sinks, loads its bristles, and then stays at rest to 1e-10 m.
#[test]
fn a_cube_on_a_slope_holds() {
    let skin = "hydroelastic_modulus = \"1 MPa\"\nthickness = \"20 mm\"\ndissipation = \"20 s/m\"\n[skin.friction]\nkind = \"lugre\"\n\
                sigma0 = \"20 MPa/m\"\nsigma1 = \"40 kPa s/m\"\nviscous = \"0 Pa s/m\"\nmu_static = 0.6\nmu_dynamic = 0.5\n\
                stribeck_speed = \"10 mm/s\"";
    let slope = Pose::from_rotation(Quat::from_rotation_x(10f64.to_radians()));
    let mut world = world(pad(skin), slope, 2e-4);
    let start = slope * Pose::from_translation(Vec3::Z * 0.025);
    let cube = put(&mut world, cuboid(Vec3::splat(0.05)).unwrap(), 1.0, start);
    world.run_until(1.5, |_| Ok(true)).unwrap();
    let held = world.pose(cube).translation;
    let mut worst = 0f64;
    world
        .run_until(3.0, |world| {
            worst = worst.max((world.pose(cube).translation - held).length());
            Ok(true)
        })
        .unwrap();
    let moved = (held - start.translation).length();
    println!("moved {moved:.3e} m to where it stays, then {worst:.3e} m");
    assert!(moved > 1e-5, "it sinks and leans: {moved:e} m");
    assert!(worst < 1e-10, "creeps by {worst:e} m");
    balanced(&world, 0.01, "a cube on a slope");
    // The load on the pad equals the weight.
    let sensor = world.sensors().next().unwrap();
    let force = world.world_from_sensor(sensor).transform_vector(world.reading(sensor).net_force_newton());
    assert!((force - Vec3::new(0.0, 0.0, -9.81)).length() < 1e-6, "{force}");
}

/// A ball of 50 g dropped from 5 mm: no apex exceeds the previous one by more than 0.1 %, and without dissipation
/// the loss is small.
#[test]
fn a_dropped_ball_never_rises_higher() {
    for dissipation in [0.0, 0.5] {
        let skin =
            format!("hydroelastic_modulus = \"100 kPa\"\nthickness = \"10 mm\"\ndissipation = \"{dissipation} s/m\"");
        let mut world = world(pad(&skin), Pose::IDENTITY, 4e-5);
        let turn = Quat::from_rotation_x(0.4) * Quat::from_rotation_y(0.2);
        let start = Pose::new(turn, Vec3::new(0.7e-3, -0.4e-3, 0.015));
        let ball = put(&mut world, sphere(0.01, 1.5e-3).unwrap(), 0.05, start);
        let mut apexes = vec![5e-3];
        let mut before = 0.0;
        world
            .run_until(0.6, |world| {
                let (z, v) = (world.pose(ball).translation.z, world.velocity(ball).linear.z);
                if before > 0.0 && v <= 0.0 {
                    // The apex height follows from the energy, so that the step length does not round it.
                    apexes.push(z - 0.01 + v * v / (2.0 * 9.81));
                }
                before = v;
                Ok(true)
            })
            .unwrap();
        balanced(&world, 0.01, &format!("a ball, {dissipation} s/m"));
        println!("dissipation {dissipation} s/m: {apexes:?}");
        assert!(apexes.len() > 5, "it bounces");
        assert!(apexes.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-3)), "{dissipation}: {apexes:?}");
        let last = apexes[apexes.len() - 1] / apexes[0];
        assert!(if dissipation == 0.0 { last > 0.95 } else { last < 0.9 }, "{dissipation}: {last}");
    }
}
