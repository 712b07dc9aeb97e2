//! The energy balance of a world: every joule is stored, dissipated or put in, up to the error of the time steps.

mod balance;

use balance::{balanced, tracked};
use dermis_geometry::shapes::cuboid;
use dermis_geometry::{Pose, Primitive, Quat, TriMesh, Twist, Vec3};
use dermis_sensor::{Response, Sensor, SensorSpec, Taxels};
use dermis_skin::{Coulomb, Damping, Elasticity, Friction, Law, Lugre, Object, Site, SpringParameters, Springs, Table};
use dermis_world::{Body, Coupling, EnergyBalance, World, WorldParameters, WorldWarning};
use std::sync::Arc;

const G: f64 = 9.81;
const DOWN: Vec3 = Vec3::new(0.0, 0.0, -G);

/// A pad of 100 × 100 mm with this elasticity per area (Pa/m) and damping (Pa s/m).
fn pad(elasticity: Elasticity, damping: f64, friction: Friction) -> Sensor {
    let parameters = SpringParameters {
        elasticity,
        damping: Damping::PerArea(damping),
        max_penetration_m: 0.01,
        law: Law::Conservative,
        friction,
    };
    let skin = Springs::new(Site::grid(40, 40, 2.5e-3, 1), parameters).unwrap();
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| Vec3::new(x, y, 0.0) * 0.05);
    let surface = TriMesh::new("pad", corners.to_vec(), vec![[0, 1, 2], [0, 2, 3]]).unwrap();
    Sensor::new("pad", skin, Taxels::grid(40, 40, 2.5e-3), Response::default(), surface)
}

fn linear() -> Elasticity {
    Elasticity::PerArea(4e6)
}

/// Per texel of 2.5 mm.
fn lugre() -> Friction {
    Friction::Lugre(Lugre {
        stiffness_newton_per_m: 100.0,
        damping_newton_s_per_m: 0.05,
        viscous_newton_s_per_m: 1e-3,
        mu_static: 0.5,
        mu_dynamic: 0.4,
        stribeck_m_per_s: 0.1,
    })
}

fn world_on(sensor: Option<Sensor>, step_s: f64, gravity: Vec3, coupling: Option<Coupling>) -> World {
    let ground_z_m = sensor.is_none().then_some(0.0);
    let parameters = WorldParameters { gravity, step_s, coupling, ground_z_m, ..Default::default() };
    let mut world = tracked(parameters);
    if let Some(sensor) = sensor {
        let table = world.add_body(Body::fixed("table", Pose::IDENTITY)).unwrap();
        world.mount(sensor, table, Pose::IDENTITY);
    }
    world
}

fn brick(x_mm: f64, y_mm: f64, z_mm: f64, mass_kg: f64, pose: Pose, velocity: Vec3) -> Body {
    let mesh = cuboid(Vec3::new(x_mm, y_mm, z_mm) * 1e-3).unwrap();
    let mass = mesh.mass_properties(mass_kg).unwrap();
    let mut body = Body::free("brick", pose, mass).touchable(Arc::new(Object::new(mesh))).solid();
    body.velocity = Twist::new(velocity, Vec3::ZERO);
    body
}

fn ball(mass_kg: f64, pose: Pose, velocity: Twist) -> Body {
    let object = Object::of_primitive(Primitive::Sphere { radius_m: 0.02 }, 2e-3).unwrap();
    let mass = object.surface.mass_properties(mass_kg).unwrap();
    let mut body = Body::free("ball", pose, mass).touchable(Arc::new(object)).solid();
    body.velocity = velocity;
    body
}

/// The balance of a run of this length.
fn run(world: &mut World, time_s: f64) -> EnergyBalance {
    world.run_until(time_s, |_| Ok(true)).unwrap();
    world.energy().unwrap().clone()
}

fn said(balance: &EnergyBalance) -> Option<String> {
    balance.warning(1.0).map(|warning| warning.to_string())
}

/// A cube of 10 kg at 0.15 m/s bounces off undamped springs within seven steps of 4 ms. With the force at the end of the step it
/// loses a quarter of its energy, once in silence.
#[test]
fn undamped_springs_at_4_ms_lose_a_quarter_of_the_energy_and_the_run_says_so() {
    for (coupling, step_s) in [
        (Coupling::Explicit, 2.5e-4),
        (Coupling::Explicit, 4e-3),
        (Coupling::Implicit, 2.5e-4),
        (Coupling::Implicit, 1e-3),
        (Coupling::Implicit, 4e-3),
    ] {
        let mut world =
            world_on(Some(pad(Elasticity::PerArea(1.5e8), 0.0, Friction::None)), step_s, Vec3::ZERO, Some(coupling));
        let at = Pose::from_translation(Vec3::Z * 0.0153);
        let id = world.add_body(brick(30.0, 30.0, 30.0, 10.0, at, Vec3::Z * -0.15)).unwrap();
        let balance = run(&mut world, 0.2);
        let speed = world.velocity(id).linear.z / 0.15;
        let (whole, at) = (0.5 * 10.0 * 0.15f64.powi(2), format!("{coupling:?} {step_s} s: {speed} of the speed left"));
        // Nothing dissipates, so all of it is the error of the steps.
        let residual = balance.residual_joule() / whole;
        assert!((residual - (speed.powi(2) - 1.0)).abs() < 1e-9, "{at}: {balance:?}");
        assert!(
            (balance.friction_joule, balance.damping_joule, balance.elastic_joule) == (0.0, 0.0, 0.0),
            "{balance:?}"
        );
        match (coupling, step_s > 1e-3) {
            (Coupling::Implicit, true) => {
                assert!(speed < 0.88, "{at}");
                let said = said(&balance).unwrap();
                assert!(said.contains("residual of -") && said.contains("shorter `time_step`"), "{said}");
            }
            _ => {
                balanced(&world, 0.04, &at);
                assert!(said(&balance).is_none(), "{at}");
            }
        }
    }
}

/// A ball bounces off linear springs and off springs with a table: the error is of second order, and halfway all of the energy is
/// in the springs.
#[test]
fn springs_give_back_what_they_hold() {
    let rows = Table { depth_m: vec![0.0, 1e-4, 4e-4, 1e-3], load: vec![0.0, 200.0, 2000.0, 9000.0] };
    for elasticity in [linear(), Elasticity::AreaTable(rows)] {
        for step_s in [2.5e-4, 1e-3, 4e-3] {
            let mut world = world_on(Some(pad(elasticity.clone(), 0.0, Friction::None)), step_s, Vec3::ZERO, None);
            let at = Pose::from_translation(Vec3::Z * 0.0203);
            world.add_body(ball(2.0, at, Twist::new(Vec3::Z * -0.15, Vec3::ZERO))).unwrap();
            let (whole, mut held) = (0.5 * 2.0 * 0.15f64.powi(2), 0.0f64);
            world
                .run_until(0.3, |world| {
                    held = held.max(world.energy().unwrap().elastic_joule);
                    Ok(true)
                })
                .unwrap();
            balanced(&world, 1e3 * step_s * step_s + 1e-5, &format!("{elasticity:?} {step_s} s"));
            assert!((held / whole - 1.0).abs() < 0.01, "{elasticity:?} {step_s} s: held {held} J of {whole} J");
        }
    }
}

/// A brick slides to rest: friction takes ½ m v². On the ground exactly; on springs its leading edge, which is deeper, loads
/// springs without work.
#[test]
fn friction_takes_the_kinetic_energy_of_a_brick_that_slides_to_rest() {
    let coulomb = Friction::Coulomb(Coulomb { mu: 0.5, regularisation_m_per_s: 1e-3 });
    for step_s in [2.5e-4, 1e-3, 4e-3] {
        for (name, friction) in [("the ground", None), ("bristles", Some(lugre())), ("Coulomb", Some(coulomb))] {
            let sunk = if friction.is_some() { 0.1 * G / (4e6 * 16e-4) } else { 0.0 };
            let on_springs = friction.is_some();
            let mut world = world_on(friction.map(|friction| pad(linear(), 4e3, friction)), step_s, DOWN, None);
            let at = Pose::from_translation(Vec3::new(-0.02, 0.0, 0.01 - sunk));
            let id = world.add_body(brick(40.0, 40.0, 20.0, 0.1, at, Vec3::X * 0.4)).unwrap();
            let balance = run(&mut world, 0.4);
            // The balance begins in the middle of the first step.
            let first = 0.4 - 0.25 * G * step_s;
            let whole = 0.5 * 0.1 * (first * first);
            let taken = if on_springs { balance.friction_joule } else { balance.solids_joule };
            let at = format!("{name} {step_s} s: {taken} J of {whole} J, {balance:?}");
            assert!(world.velocity(id).linear.length() < 1e-3, "{at}");
            let bound = if on_springs { 0.025 } else { 2e-3 };
            assert!((taken / whole - 1.0).abs() < bound, "{at}");
            balanced(&world, bound, &at);
        }
    }
}

/// A brick that tumbles and a ball with spin, on the ground and on springs: asymmetric bodies, in all degrees of freedom.
#[test]
fn tumbling_bodies_are_balanced() {
    for step_s in [2.5e-4, 1e-3] {
        for ground in [true, false] {
            for turn in [0.5, 1.1] {
                let sensor = || (!ground).then(|| pad(linear(), 4e3, lugre()));
                let mut world = world_on(sensor(), step_s, DOWN, None);
                let at = Pose::new(Quat::from_rotation_x(turn) * Quat::from_rotation_y(0.3), Vec3::Z * 0.045);
                world.add_body(brick(30.0, 20.0, 50.0, 0.1, at, Vec3::X * 0.1)).unwrap();
                run(&mut world, 1.0);
                let at = format!("{step_s} s, ground {ground}");
                balanced(&world, if ground { 1e-3 } else { 0.03 }, &format!("a brick, {at}"));
                let mut world = world_on(sensor(), step_s, DOWN, None);
                let spin = Twist::new(Vec3::X * 0.05, Vec3::Y * 20.0);
                world.add_body(ball(0.1, Pose::from_translation(Vec3::Z * 0.03), spin)).unwrap();
                run(&mut world, 0.3);
                balanced(&world, if ground { 5e-3 } else { 0.02 }, &format!("a ball, {at}"));
            }
        }
    }
}

/// Without forces of contact any time step is exact, and velocities that the caller sets are work.
#[test]
fn a_free_fall_has_no_residual_at_any_step() {
    for step_s in [1e-4, 1e-2] {
        let mut world = world_on(None, step_s, DOWN, None);
        let id = world.add_body(ball(0.1, Pose::from_translation(Vec3::Z * 2.0), Twist::ZERO)).unwrap();
        run(&mut world, 0.2);
        let falls = world.velocity(id).linear;
        world.set_velocity(id, Twist::new(falls + Vec3::X * 0.3, Vec3::ZERO));
        let balance = run(&mut world, 0.4);
        balanced(&world, 1e-9, &format!("{step_s} s"));
        let work = 0.5 * 0.1 * 0.3f64.powi(2);
        assert!((balance.prescribed_joule / work - 1.0).abs() < 1e-6, "{} J of {work} J", balance.prescribed_joule);
    }
}

/// A hydroelastic skin does not compute its energy: the balance says so and has the work done on it. The energy that a bounce
/// within few steps loses is in the residual all the same.
#[test]
fn skins_that_do_not_compute_their_energy_are_named() {
    for (step_s, is_fine) in [(2.5e-4, true), (4e-3, false)] {
        let text = "name = \"pad\"\nsurface.grid = { rows = 10, cols = 10, pitch = \"10 mm\" }\n[skin]\nkind = \"hydroelastic\"\nhydroelastic_modulus = \"100 kPa\"\nthickness = \"10 mm\"\ndissipation = \"0.5 s/m\"";
        let sensor = SensorSpec::parse("pad.toml", text).unwrap().build(None).unwrap();
        let mut world = world_on(Some(sensor), step_s, DOWN, None);
        world.add_body(ball(0.05, Pose::from_translation(Vec3::new(1e-3, 0.0, 0.025)), Twist::ZERO)).unwrap();
        let balance = run(&mut world, 0.12);
        assert_eq!(said(&balance).is_none(), is_fine, "{balance:?}");
        balanced(&world, if is_fine { 1e-3 } else { 0.6 }, &format!("{step_s} s"));
        assert_eq!(balance.unknown, ["pad"]);
        assert!(balance.on_skins_joule > 1e-5 && balance.elastic_joule == 0.0, "{balance:?}");
    }
}

/// A warning needs a residual that matters.
#[test]
fn a_residual_without_energy_is_no_warning() {
    let small = EnergyBalance { kinetic_joule: 1e-12, largest_joule: 1e-12, small_joule: 1e-9, ..Default::default() };
    assert!(said(&small).is_none());
    let large = EnergyBalance { kinetic_joule: -1e-3, largest_joule: 1e-2, ..Default::default() };
    assert!(matches!(large.warning(1.0), Some(WorldWarning::EnergyResidual { .. })));
}

/// A box that drops on an undamped hydroelastic skin bounces higher, with the force at the start of four steps: the energy that
/// the skin gave was counted as its own, and the residual was zero.
#[test]
fn energy_from_a_skin_that_held_none_is_residual() {
    for (step_s, is_fine) in [(1e-4, true), (1e-3, false)] {
        let text = "name = \"pad\"\nsurface.grid = { rows = 10, cols = 10, pitch = \"2 mm\" }\n[skin]\nkind = \"hydroelastic\"\nhydroelastic_modulus = \"600 kPa\"\nthickness = \"6 mm\"";
        let sensor = SensorSpec::parse("pad.toml", text).unwrap().build(None).unwrap();
        let mut world = world_on(Some(sensor), step_s, DOWN, None);
        world.add_body(brick(10.0, 10.0, 10.0, 0.02, Pose::from_translation(Vec3::Z * 0.025), Vec3::ZERO)).unwrap();
        let (mut gained, mut said_so) = (0.0f64, false);
        for time in 1..20 {
            let balance = run(&mut world, 0.025 * f64::from(time));
            gained = gained.max(-balance.on_skins_joule);
            said_so |= said(&balance).is_some();
        }
        assert_eq!(said_so, !is_fine, "{step_s} s: {gained} J");
    }
}
