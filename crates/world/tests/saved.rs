//! Saved worlds continue with the same bytes.

use dermis_geometry::{Pose, Primitive, Quat, Twist, Vec3};
use dermis_sensor::presets;
use dermis_skin::Object;
use dermis_world::{
    Body, BodyId, Gripper, ParallelGripper, ParallelGripperParameters, PickAndPlace, PickParameters, World, WorldError,
    WorldParameters,
};

fn solid(name: &str, object: Object, mass_kg: f64, at_mm: [f64; 3]) -> Body {
    let mass = object.surface.mass_properties(mass_kg).unwrap();
    let tilt = Quat::from_rotation_y(0.02);
    let pose = Pose::new(tilt, 1e-3 * Vec3::from_array(at_mm));
    Body::free(name, pose, mass).touchable(object.into()).solid()
}

fn of(primitive: Primitive) -> Object {
    Object::of_primitive(primitive, 2e-3).unwrap()
}

/// Solids of every shape on each other, on a pad and on the ground; one is pushed.
fn heap(step_s: f64) -> (World, BodyId) {
    let parameters = WorldParameters { step_s, ground_z_m: Some(0.0), ..Default::default() };
    let mut world = World::new(parameters).unwrap();
    let table = world.add_body(Body::fixed("table", Pose::from_translation(Vec3::Z * 0.01))).unwrap();
    world.mount(presets::find("uji-foam-14x6").unwrap().build(None).unwrap(), table, Pose::IDENTITY);
    let half_m = Vec3::new(0.02, 0.015, 0.01);
    let mesh = Object::new(dermis_geometry::shapes::sphere(0.01, 0.004).unwrap());
    for (name, object, mass_kg, at_mm) in [
        ("box", of(Primitive::Cuboid { half_m }), 0.2, [0.0, 0.0, 21.0]),
        ("cylinder", of(Primitive::Cylinder { radius_m: 0.01, half_length_m: 0.01 }), 0.1, [3.0, 1.0, 42.0]),
        ("mesh", mesh, 0.05, [4.0, 1.0, 64.0]),
        ("capsule", of(Primitive::Capsule { radius_m: 0.008, half_length_m: 0.01 }), 0.1, [60.0, 0.0, 21.0]),
        ("other cylinder", of(Primitive::Cylinder { radius_m: 0.01, half_length_m: 0.01 }), 0.1, [60.0, 2.0, 52.0]),
        ("ball", of(Primitive::Sphere { radius_m: 0.01 }), 0.1, [61.0, 0.0, 75.0]),
    ] {
        world.add_body(solid(name, object, mass_kg, at_mm)).unwrap();
    }
    let cube = of(Primitive::Cuboid { half_m: Vec3::splat(0.01) });
    let pusher = Body::driven("pusher", Pose::from_translation(Vec3::new(-0.06, 0.0, 0.05))).touchable(cube.into());
    let pusher = world.add_body(pusher.solid()).unwrap();
    (world, pusher)
}

fn bytes(world: &World) -> String {
    serde_json::to_string(&world.state()).unwrap()
}

fn restored(saved: &str, mut other: World) -> World {
    other.set_state(serde_json::from_str(saved).unwrap()).unwrap();
    other
}

/// Saved before the first step, in flight, at rest and while it is pushed. Every byte of the state is equal after each of
/// 250 further steps: poses, velocities, contacts with the impulses from which Rapier starts, bristles, warnings.
#[test]
fn a_saved_heap_continues_with_the_same_bytes() {
    for (step_s, saves) in [(1e-3, [0, 1, 40, 300]), (2.5e-4, [0, 3, 200, 500])] {
        let (mut world, pusher) = heap(step_s);
        for save in saves {
            while world.steps() < save {
                world.step().unwrap();
            }
            world.set_velocity(pusher, Twist::new(Vec3::X * 0.1, Vec3::ZERO));
            let mut other = restored(&bytes(&world), heap(step_s).0);
            for step in 0..250 {
                world.step().unwrap();
                other.step().unwrap();
                if step % 50 == 0 || step == 249 {
                    assert_eq!(bytes(&world), bytes(&other), "{step_s} s, saved at {save}, step {step}");
                }
            }
        }
        assert!(world.sensors().all(|pad| world.reading(pad).sum_newton > 0.1), "the pad carries the box");
    }
}

fn grasp() -> (World, ParallelGripper, PickAndPlace) {
    let mut world = World::new(WorldParameters { step_s: 5e-4, ground_z_m: Some(0.0), ..Default::default() }).unwrap();
    let cube = Object::of_primitive(Primitive::Cuboid { half_m: Vec3::splat(0.02) }, 5e-3).unwrap();
    let mass = cube.surface.mass_properties(0.1).unwrap();
    let pose = Pose::from_translation(Vec3::Z * 0.02);
    world.add_body(Body::free("cube", pose, mass).touchable(cube.into()).solid()).unwrap();
    let center = Vec3::Z * 0.02;
    let parameters = ParallelGripperParameters { opening_m: 0.05, center, ..Default::default() };
    let sensor = || presets::find("uji-foam-14x6").unwrap().build(None).unwrap();
    let gripper = ParallelGripper::build(&mut world, parameters, sensor(), sensor()).unwrap();
    let pick = PickParameters { grasp_height_m: 0.0, lift_height_m: 0.02, ..Default::default() };
    (world, gripper, PickAndPlace::new(pick))
}

fn control(world: &mut World, gripper: &mut ParallelGripper, task: &mut PickAndPlace) -> Result<(), WorldError> {
    gripper.exchange(world);
    task.update(gripper, world.parameters().step_s);
    world.step()
}

/// Joints, drives, gripper and controller: saved before the first step, while the fingers close, and while they hold.
#[test]
fn a_saved_grasp_continues_with_the_same_bytes() {
    let (mut world, mut gripper, mut task) = grasp();
    for save in [0, 500, 1500] {
        while world.steps() < save {
            control(&mut world, &mut gripper, &mut task).unwrap();
        }
        let copy = |value: String| serde_json::from_str(&value).unwrap();
        let mut other: ParallelGripper = copy(serde_json::to_string(&gripper).unwrap());
        let mut continued: PickAndPlace = serde_json::from_str(&serde_json::to_string(&task).unwrap()).unwrap();
        let mut twin = restored(&bytes(&world), grasp().0);
        for _ in 0..200 {
            control(&mut world, &mut gripper, &mut task).unwrap();
            control(&mut twin, &mut other, &mut continued).unwrap();
        }
        assert_eq!(bytes(&world), bytes(&twin), "saved at {save}");
    }
    assert!(gripper.tactile_sums_newton().iter().all(|sum| *sum > 1.0), "the fingers hold the cube");
}

#[test]
fn the_state_of_another_world_is_refused() {
    let saved = bytes(&heap(1e-3).0);
    let error = World::new(WorldParameters::default()).unwrap().set_state(serde_json::from_str(&saved).unwrap());
    let text = error.unwrap_err().to_string();
    assert!(
        text.starts_with("the state has 9 bodies, 9 shapes, 1 sensors and 0 joints and the world 0 bodies"),
        "{text}"
    );
}

/// A copy counts its energy anew. The energy in its springs was unknown in its first step, and came back as a residual.
#[test]
fn the_energy_of_a_saved_world_is_balanced() {
    let (mut world, _) = heap(1e-3);
    for _ in 0..60 {
        world.step().unwrap();
    }
    let (saved, mut fresh) = (bytes(&world), heap(1e-3).0);
    fresh.track_energy();
    let mut copy = restored(&saved, fresh);
    for _ in 0..250 {
        copy.step().unwrap();
    }
    let balance = copy.energy().unwrap();
    assert!(balance.elastic_joule != 0.0 && balance.relative_residual().abs() < 0.02, "{balance:?}");
}
