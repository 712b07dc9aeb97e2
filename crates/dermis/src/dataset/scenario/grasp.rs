//! A parallel gripper grasps an object on the ground by tactile feedback and lifts it.

use super::super::episode::{Frame, Grasp};
use super::super::error::EpisodeError;
use super::super::observe::{observe, plain};
use super::super::spec::ScenarioSpec;
use super::{Draw, Played, first_noise, warnings_of};
use dermis_geometry::{Pose, Quat, Vec3};
use dermis_sensor::{Goal, ResponseState, Sensor};
use dermis_skin::{Object, WarningLog};
use dermis_world::{
    Body, Gripper, ParallelGripper, ParallelGripperParameters, Phase, PickAndPlace, PickParameters, World,
    WorldParameters,
};
use std::sync::Arc;

/// Initial distance from each finger to the object (m).
const GAP_M: f64 = 1e-3;
/// Closing speed of each finger (m/s).
const CLOSING_M_PER_S: f64 = 0.02;
/// Lifting speed of the hand (m/s).
const LIFTING_M_PER_S: f64 = 0.05;

/// Simulates a grasp; always records the same number of frames.
pub fn play(scenario: &ScenarioSpec, sensor: &Sensor, object: &Object, draw: &Draw) -> Result<Played, EpisodeError> {
    let ScenarioSpec::GraspAndLift { lift, slip, time_step, frames, rate, .. } = scenario else {
        return Ok(Played::default());
    };
    let (mass_kg, hold_newton) = (
        draw.own[0],
        match draw.goal {
            Goal::Force(force_n) => force_n,
            Goal::Depth(_) => 0.0,
        },
    );
    let yaw = Pose::from_rotation(Quat::from_rotation_z(draw.aim.yaw_rad));
    let mesh = object.surface.mesh().transformed(&yaw);
    let bounds = mesh.bounds();
    let lowest_m = object.surface.support(Vec3::NEG_Z).z;
    let standing = Pose { translation: Vec3::new(-bounds.center().x, -bounds.center().y, -lowest_m), ..yaw };
    let mut world =
        World::new(WorldParameters { step_s: time_step.si(), ground_z_m: Some(0.0), ..WorldParameters::default() })?;
    let mass = object.surface.mass_properties(mass_kg)?;
    let body = Body::free("object", standing, mass).touchable(Arc::new(object.clone())).solid();
    let held = world.add_body(body)?;
    // The centre between the fingers, relative to the centre of the object.
    let [across_m, up_m] = draw.aim.at_m;
    let center = Vec3::new(0.0, -across_m, 0.5 * bounds.size().z - up_m);
    let parameters = ParallelGripperParameters {
        opening_m: bounds.size().x + 2.0 * GAP_M,
        center,
        ..ParallelGripperParameters::default()
    };
    let mut gripper = ParallelGripper::build(&mut world, parameters, sensor.clone(), sensor.clone())?;
    let mut controller = PickAndPlace::new(PickParameters {
        grasp_height_m: 0.0,
        lift_height_m: lift.si(),
        travel_speed: LIFTING_M_PER_S,
        closing_speed: CLOSING_M_PER_S,
        hold_newton,
        steady_s: 0.05,
        // The controller holds until all frames are recorded.
        hold_s: f64::INFINITY,
        ..PickParameters::default()
    });
    let in_hand = |world: &World, gripper: &ParallelGripper| {
        (world.pose(gripper.hand()).inverse() * world.pose(held)).translation
    };
    // Each finger has its own noise sequence.
    let rest = |finger: u64| ResponseState {
        step: first_noise(draw.noise) + finger * (super::NOISE_FRAMES_PER_EPISODE / 2),
        ..sensor.chain().rest()
    };
    let mut responses = [rest(0), rest(1)];
    let mut logs = [WarningLog::default(), WarningLog::default()];
    let steps_per_frame = (1.0 / (rate.si() * time_step.si())).round().max(1.0) as usize;
    let interval_s = 1.0 / rate.si();
    let mut kept = Vec::with_capacity(*frames);
    let mut lifted_from: Option<Vec3> = None;
    for frame in 0..*frames {
        let before = [gripper.height_m(), gripper.closed_m()];
        for _ in 0..steps_per_frame {
            gripper.exchange(&mut world);
            controller.update(&mut gripper, time_step.si());
            world.step()?;
            if controller.phase() >= Phase::Lift && lifted_from.is_none() {
                lifted_from = Some(in_hand(&world, &gripper));
            }
        }
        let mut sensors = Vec::with_capacity(2);
        for ((id, response), log) in gripper.sensors().into_iter().zip(&mut responses).zip(&mut logs) {
            let number = response.step;
            log.add(world.touch(id), frame as f64 * interval_s);
            let (reading, next) =
                sensor.sense_at(response, world.touch(id), interval_s, &world.world_from_sensor(id))?;
            *response = next;
            let pose = world.world_from_sensor(id).inverse() * world.pose(held);
            sensors.push(observe(sensor, world.touch(id), &reading, &pose, number)?);
        }
        let action = [gripper.height_m() - before[0], gripper.closed_m() - before[1], 0.0, 0.0, 0.0, 0.0].map(plain);
        kept.push(Frame { time_s: frame as f64 * interval_s, action, sensors });
    }
    let slip_m = lifted_from.map_or(0.0, |from| (in_hand(&world, &gripper) - from).length());
    let risen_m = world.pose(held).translation.z - standing.translation.z;
    let stable = lifted_from.is_some() && slip_m <= slip.si() && risen_m > 0.5 * lift.si();
    let warnings = logs.iter().flat_map(warnings_of).collect();
    Ok(Played { frames: shifted(kept), grasp: Some(Grasp { stable, slip_m }), warnings })
}

/// Moves each action to the frame before it: an action leads to the next frame.
fn shifted(mut frames: Vec<Frame>) -> Vec<Frame> {
    let actions: Vec<[f32; 6]> = frames.iter().skip(1).map(|frame| frame.action).chain([[0.0; 6]]).collect();
    frames.iter_mut().zip(actions).for_each(|(frame, action)| frame.action = action);
    frames
}
