//! Grippers and their controller.

mod balance;

use balance::{balanced, tracked};
use dermis_geometry::shapes::{cuboid, cylinder};
use dermis_geometry::{Pose, Vec3};
use dermis_sensor::{SensorSpec, presets};
use dermis_skin::Object;
use dermis_world::{
    Body, BodyId, FingerCommand, Gripper, Phase, PickAndPlace, PickParameters, ThreeFingerHand, ThreeFingerParameters,
    World, WorldParameters,
};
use std::sync::Arc;

/// A gripper computed from formulas, with the same interface as a driver of a real gripper.
#[derive(Default)]
struct Scripted {
    closed_m: f64,
    height_m: f64,
    force: f64,
    command: Option<FingerCommand>,
    goal: (f64, f64),
    log: Vec<FingerCommand>,
}

/// The fingers meet the object after 10 mm of closing; the skin has a stiffness of 1 N/mm.
impl Gripper for Scripted {
    fn tactile_sums_newton(&self) -> Vec<f64> {
        let pressed = ((self.closed_m - 0.010) * 1000.0).max(0.0);
        vec![pressed.max(self.force); 2]
    }
    fn closed_m(&self) -> f64 {
        self.closed_m
    }
    fn height_m(&self) -> f64 {
        self.height_m
    }
    fn drive_fingers(&mut self, command: FingerCommand) {
        if self.command.map(|c| std::mem::discriminant(&c)) != Some(std::mem::discriminant(&command)) {
            self.log.push(command);
        }
        self.command = Some(command);
    }
    fn move_to(&mut self, height_m: f64, speed_m_per_s: f64) {
        self.goal = (height_m, speed_m_per_s);
    }
}

impl Scripted {
    fn advance(&mut self, dt_s: f64) {
        match self.command {
            Some(FingerCommand::Velocity(speed)) => {
                self.closed_m = (self.closed_m + speed * dt_s).max(0.0);
                self.force = 0.0;
            }
            // A force-controlled motor with a lag of 20 ms that reaches only 90 % of the commanded force.
            Some(FingerCommand::Force(force)) => self.force += (0.9 * force - self.force) * dt_s / 0.02,
            None => {}
        }
        let step = self.goal.1 * dt_s;
        self.height_m += (self.goal.0 - self.height_m).clamp(-step, step);
    }
}

/// The five primitives run in order, velocity control changes to force control at first contact, and the integral part
/// compensates a motor that is 10 % too weak.
#[test]
fn the_controller_drives_anything_that_is_a_gripper() {
    let parameters = PickParameters { hold_newton: 5.0, ..Default::default() };
    let mut controller = PickAndPlace::new(parameters);
    let mut gripper = Scripted::default();
    let mut phases = vec![controller.phase()];
    let mut held = 0.0;
    for _ in 0..20_000 {
        controller.update(&mut gripper, 1e-3);
        gripper.advance(1e-3);
        if controller.phase() == Phase::Lift {
            held = gripper.tactile_sums_newton()[0];
        }
        if *phases.last().unwrap() != controller.phase() {
            phases.push(controller.phase());
        }
    }
    let all = [Phase::Approach, Phase::Grasp, Phase::Lift, Phase::MoveDown, Phase::Release, Phase::Done];
    assert_eq!(phases, all);
    assert!((held - 5.0).abs() < 0.05, "{held}");
    assert!(matches!(gripper.log[0], FingerCommand::Velocity(_)));
    assert!(matches!(gripper.log[1], FingerCommand::Force(_)));
    assert!(matches!(gripper.log[2], FingerCommand::Velocity(v) if v < 0.0), "{:?}", gripper.log);
}

fn standing(world: &mut World, name: &str, mesh: dermis_geometry::TriMesh, mass_kg: f64, z: f64) -> BodyId {
    let mass = mesh.mass_properties(mass_kg).unwrap();
    let place = Pose::from_translation(Vec3::Z * z);
    world.add_body(Body::free(name, place, mass).touchable(Arc::new(Object::new(mesh))).solid()).unwrap()
}

/// A solid box on the ground neither sinks nor creeps, and stays at rest under a push below the friction limit.
#[test]
fn a_box_stands_on_the_ground() {
    let mut world = tracked(WorldParameters { step_s: 1e-4, ground_z_m: Some(0.0), ..Default::default() });
    let id = standing(&mut world, "box", cuboid(Vec3::new(0.02, 0.03, 0.04)).unwrap(), 0.1, 0.02);
    world.run_until(0.2, |_| Ok(true)).unwrap();
    let settled = world.pose(id).translation;
    assert!((settled.z - 0.02).abs() < 1e-5, "{settled}");
    world.run_until(2.0, |_| Ok(true)).unwrap();
    assert!((world.pose(id).translation - settled).length() < 1e-12);
    balanced(&world, 0.01, "a box that stands");
}

/// Three fingers at 120° lift a cylinder. Their forces sum to zero horizontally and to the weight vertically.
#[test]
fn the_three_finger_hand_lifts_a_cylinder() {
    let step_s = 2e-4;
    let mut world = tracked(WorldParameters { step_s, ground_z_m: Some(0.0), ..Default::default() });
    let id = standing(&mut world, "cylinder", cylinder(0.025, 0.07, 2e-3).unwrap(), 0.2, 0.035);
    let sensor = SensorSpec { contact_points: Some(1), ..presets::find("wts0614").unwrap() }.build(None).unwrap();
    let above = 0.04;
    let parameters = ThreeFingerParameters { center: Vec3::Z * (0.035 + above), ..Default::default() };
    let mut hand = ThreeFingerHand::build(&mut world, parameters, &sensor).unwrap();
    let mut controller = PickAndPlace::new(PickParameters {
        grasp_height_m: -above,
        lift_height_m: 0.02,
        hold_newton: 6.0,
        hold_s: 1.0,
        ..Default::default()
    });
    let mut held = None;
    while controller.phase() <= Phase::Lift && world.time_s() < 15.0 {
        hand.exchange(&mut world);
        controller.update(&mut hand, step_s);
        world.step().unwrap();
        if controller.phase() == Phase::Lift {
            let net: Vec3 = hand.sensors().iter().map(|&sensor| world.load_on(id, sensor).force).sum();
            held = Some((net, hand.tactile_sums_newton()));
        }
    }
    let (net, sums) = held.expect("the lift was reached");
    assert!(controller.phase() > Phase::Lift, "held for a second at t = {}", world.time_s());
    assert!(world.pose(id).translation.z > 0.08, "{}", world.pose(id).translation);
    assert!((net.z / (0.2 * 9.81) - 1.0).abs() < 1e-3, "carries the weight: {net}");
    assert!(net.truncate().length() < 1e-3 * 6.0, "{net}");
    assert!(sums.iter().all(|sum| (sum / 6.0 - 1.0).abs() < 0.05), "{sums:?}");
    balanced(&world, 0.02, "a hand that lifts a cylinder");
}
