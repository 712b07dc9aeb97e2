//! Contact forces at the end of the step: bodies come to rest at the steps of other simulators, without energy from
//! nowhere.

mod balance;

use balance::{balanced, tracked};
use dermis_geometry::shapes::cuboid;
use dermis_geometry::{Pose, Quat, TriMesh, Twist, Vec3};
use dermis_sensor::{Response, Sensor, SensorSpec, Taxels};
use dermis_skin::{Damping, Elasticity, Friction, Law, Lugre, Object, Site, SpringParameters, Springs};
use dermis_world::{Body, BodyId, Coupling, Drive, Joint, JointKind, SensorId, World, WorldParameters};
use std::sync::Arc;

const G: f64 = 9.81;

fn world(step_s: f64) -> World {
    tracked(WorldParameters { step_s, ..Default::default() })
}

/// An 8 × 8 pad of 20 mm.
fn springs(damping: f64) -> Sensor {
    let friction = Friction::Lugre(Lugre {
        stiffness_newton_per_m: 1000.0,
        damping_newton_s_per_m: 4.0,
        viscous_newton_s_per_m: 0.01,
        mu_static: 0.6,
        mu_dynamic: 0.5,
        stribeck_m_per_s: 0.1,
    });
    let parameters = SpringParameters {
        elasticity: Elasticity::PerTexel(1000.0),
        damping: Damping::PerTexel(damping),
        max_penetration_m: 0.004,
        law: Law::Conservative,
        friction,
    };
    let skin = Springs::new(Site::grid(8, 8, 2.5e-3, 1), parameters).unwrap();
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| Vec3::new(x, y, 0.0) * 0.01);
    let surface = TriMesh::new("pad", corners.to_vec(), vec![[0, 1, 2], [0, 2, 3]]).unwrap();
    Sensor::new("pad", skin, Taxels::grid(8, 8, 2.5e-3), Response::default(), surface)
}

fn hydroelastic() -> Sensor {
    let text = r#"
        name = "pad"
        surface.grid = { rows = 8, cols = 8, pitch = "2.5 mm" }
        [skin]
        kind = "hydroelastic"
        hydroelastic_modulus = "0.6 MPa"
        thickness = "4 mm"
        dissipation = "1 s/m"
        friction = { kind = "lugre", sigma0 = "160 MPa/m", sigma1 = "640 kPa s/m", viscous = "1.6 kPa s/m", mu_static = 0.6, mu_dynamic = 0.5, stribeck_speed = "0.1 m/s" }
    "#;
    SensorSpec::parse("pad", text).unwrap().build(None).unwrap()
}

fn cube(mass_kg: f64, at: Vec3) -> Body {
    let mesh = cuboid(Vec3::splat(0.02)).unwrap();
    let mass = mesh.mass_properties(mass_kg).unwrap();
    Body::free("cube", Pose::from_translation(at), mass).touchable(Arc::new(Object::new(mesh)))
}

/// The pose of a pad that faces ∓x.
fn facing(side: f64) -> Quat {
    Quat::from_rotation_y(-side * std::f64::consts::FRAC_PI_2)
}

/// At rest after 1 s, no drift in the second after it, and the friction of the pads carries the weight.
fn check_rest(mut world: World, cube: BodyId, mass_kg: f64, what: &str) {
    world.run_until(1.0, |_| Ok(true)).unwrap();
    let speed = world.velocity(cube).linear.length();
    let start = world.pose(cube).translation;
    world.run_until(2.0, |_| Ok(true)).unwrap();
    let drift = (world.pose(cube).translation - start).length();
    let lift: f64 = world.sensors().map(|id: SensorId| world.load_on(cube, id).force.z).sum();
    let error = (lift / (G * mass_kg) - 1.0).abs();
    assert!(speed < 1e-5 && drift < 1e-6 && error < 1e-6, "{what}: {speed:e} m/s, {drift:e} m, weight {error:e}");
    // Implicit steps may take energy from a body that is let go, but give none.
    let gained = world.energy().unwrap().relative_residual();
    assert!(gained < 0.01, "{what}: {gained}");
}

/// A cube held by fixed pads 0.2 mm into each side, at steps of 2 and 5 ms.
#[test]
fn a_cube_between_fixed_pads_rests_at_2_ms() {
    for name in ["springs", "hydroelastic"] {
        let pad = || if name == "springs" { springs(1.0) } else { hydroelastic() };
        for mass_kg in [1e-3, 0.1, 1.0] {
            for step_s in [2e-3, 5e-3] {
                let mut world = world(step_s);
                for side in [-1.0, 1.0] {
                    let pose = Pose::new(facing(side), Vec3::X * (side * (0.01 - 2e-4)));
                    let finger = world.add_body(Body::fixed(format!("finger {side}"), pose)).unwrap();
                    world.mount(pad(), finger, Pose::IDENTITY);
                }
                let id = world.add_body(cube(mass_kg, Vec3::ZERO)).unwrap();
                check_rest(world, id, mass_kg, &format!("{name}, {mass_kg} kg, {step_s} s"));
            }
        }
    }
}

/// Driven pads close on the cube, stop, and lift it.
#[test]
fn driven_pads_lift_a_cube_at_2_ms() {
    let mut world = world(2e-3);
    let mut fingers = Vec::new();
    for side in [-1.0, 1.0] {
        let pose = Pose::new(facing(side), Vec3::X * (side * 0.0105));
        let finger = world.add_body(Body::driven(format!("finger {side}"), pose)).unwrap();
        world.mount(springs(1.0), finger, Pose::IDENTITY);
        fingers.push((finger, side));
    }
    // Held by a pad below until the fingers have closed.
    let table = world.add_body(Body::driven("table", Pose::from_translation(Vec3::Z * -0.01))).unwrap();
    world.mount(springs(1.0), table, Pose::IDENTITY);
    let id = world.add_body(cube(0.1, Vec3::ZERO)).unwrap();
    world
        .run_until(1.0, |world| {
            let (closing, rising) = match world.time_s() {
                t if t < 0.1 => (7e-3, 0.0),
                t if t < 0.2 => (0.0, 0.0),
                t if t < 0.5 => (0.0, 0.05),
                _ => (0.0, 0.0),
            };
            for &(finger, side) in &fingers {
                world.set_velocity(finger, Twist::new(Vec3::new(-side * closing, 0.0, rising), Vec3::ZERO));
            }
            Ok(true)
        })
        .unwrap();
    assert!((world.pose(id).translation.z - 0.015).abs() < 5e-4, "{}", world.pose(id).translation);
    let lift: f64 = world.sensors().map(|sensor| world.load_on(id, sensor).force.z).sum();
    assert!((lift / (G * 0.1) - 1.0).abs() < 1e-6, "{lift}");
    balanced(&world, 0.01, "a lift");
    // The fingers put in the weight times the height, and what friction and damping took.
    let energy = world.energy().unwrap();
    let (raised, taken) = (energy.potential_joule, energy.friction_joule + energy.damping_joule);
    assert!((raised / (0.1 * G * 0.015) - 1.0).abs() < 0.04, "{energy:?}");
    let put_in = energy.prescribed_joule - taken - energy.elastic_joule;
    assert!((put_in / raised - 1.0).abs() < 0.01, "{energy:?}");
}

/// Fingers on slides that a constant force closes: the inertia of joined bodies counts.
#[test]
fn fingers_on_joints_hold_cubes_at_2_ms() {
    for mass_kg in [1e-3, 0.1, 10.0] {
        let mut world = world(2e-3);
        let palm = world.add_body(Body::fixed("palm", Pose::IDENTITY)).unwrap();
        for side in [-1.0, 1.0] {
            let mass = cuboid(Vec3::splat(0.02)).unwrap().mass_properties(0.1).unwrap();
            let pose = Pose::new(facing(side), Vec3::X * (side * (0.01 - 1e-4)));
            let finger = world.add_body(Body::free(format!("finger {side}"), pose, mass)).unwrap();
            world.mount(springs(1.0), finger, Pose::IDENTITY);
            let axis = Vec3::X * -side;
            let joint =
                world.join(Joint { kind: JointKind::Prismatic, parent: palm, child: finger, axis, point: Vec3::ZERO });
            world.drive(joint, Drive::Effort(1.0 + 1.3 * G * mass_kg));
        }
        let id = world.add_body(cube(mass_kg, Vec3::ZERO)).unwrap();
        check_rest(world, id, mass_kg, &format!("{mass_kg} kg"));
    }
}

/// A cube is dropped on a pad without and with damping, at many phases of the step: between bounces it has at most the
/// energy of the start, and the static force is its weight.
#[test]
fn a_bounce_gains_no_energy() {
    for (damping, step_s) in [(0.0, 1e-3), (0.0, 5e-3), (1.0, 2e-3), (1.0, 5e-3)] {
        for mass_kg in [1e-3, 0.05, 1.0] {
            for phase in [0.0, 0.3, 0.7] {
                let mut world = world(step_s);
                let finger = world.add_body(Body::fixed("finger", Pose::IDENTITY)).unwrap();
                let pad = world.mount(springs(damping), finger, Pose::IDENTITY);
                let height = 0.012 + 0.2 * phase * step_s;
                let id = world.add_body(cube(mass_kg, Vec3::Z * height)).unwrap();
                let energy = |world: &World| {
                    let v = world.velocity(id).linear;
                    G * (world.pose(id).translation.z - 0.01) + 0.5 * v.length_squared()
                };
                let start = energy(&world);
                // Semi-implicit Euler of free fall has an energy error of g v h / 2.
                let limit = start * (1.0 + 1e-3) + G * step_s * (2.0 * start).sqrt();
                world
                    .run_until(0.3, |world| {
                        if world.touch(pad).facets.is_empty() {
                            let now = energy(world);
                            assert!(now <= limit, "{damping}, {step_s} s, {mass_kg} kg: {now} > {start}");
                        }
                        Ok(true)
                    })
                    .unwrap();
            }
        }
    }
}

/// Where both are stable, both couplings give the same rest, up to what friction remembers of the path, and the default is
/// explicit.
#[test]
fn couplings_agree_at_rest() {
    let rest = |coupling: Option<Coupling>| {
        let mut world = tracked(WorldParameters { step_s: 1e-4, coupling, ..Default::default() });
        let finger = world.add_body(Body::fixed("finger", Pose::IDENTITY)).unwrap();
        let pad = world.mount(springs(1.0), finger, Pose::IDENTITY);
        let id = world.add_body(cube(0.2, Vec3::new(1e-3, 0.0, 0.0099))).unwrap();
        world.run_until(1.0, |_| Ok(true)).unwrap();
        balanced(&world, 0.01, &format!("{coupling:?}"));
        (world.pose(id), world.touch(pad).on_sensor)
    };
    let (explicit, implicit) = (rest(Some(Coupling::Explicit)), rest(Some(Coupling::Implicit)));
    assert_eq!(explicit, rest(None));
    assert!((explicit.0.translation - implicit.0.translation).length() < 1e-7, "{explicit:?} {implicit:?}");
    assert!((explicit.1.force - implicit.1.force).length() < 1e-8, "{explicit:?} {implicit:?}");
}
