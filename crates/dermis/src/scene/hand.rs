//! Grippers of a scene, and their tasks.

use super::build::build_sensor;
use super::{PlaceSpec, SceneError};
use dermis_geometry::quantity::{Force, Frequency, Length, Mass, Speed, Time};
use dermis_sensor::SensorSource;
use dermis_world::{
    Gripper, ParallelGripper, ParallelGripperParameters, PickAndPlace, PickParameters, SensorId, ThreeFingerHand,
    ThreeFingerParameters, World, WorldError,
};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The kind of gripper.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::scene::{GripperKind, GripperSpec};
let gripper: GripperSpec = dermis::sensor::parse_toml("hand.toml", "kind = 'three-finger'\nsensor.preset = 'fingertip'")?;
assert_eq!(gripper.kind, GripperKind::ThreeFinger);
assert_eq!(gripper.sensor_names().len(), 3);
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GripperKind {
    /// Two fingers that slide along x, with the sensors `left` and `right`.
    Parallel,
    /// Three fingers around a palm, with the sensors `finger-0` to `finger-2`.
    ThreeFinger,
}

/// A gripper on a vertical axis.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::scene::GripperSpec;
let text = r#"
kind = "parallel"
sensor.preset = "uji-foam-14x6"
opening = "60 mm"
force_limit = "40 N"
"#;
let gripper: GripperSpec = dermis::sensor::parse_toml("gripper.toml", text)?;
gripper.validate("gripper.toml")?;
assert_eq!(gripper.sensor_names(), ["left", "right"]);
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GripperSpec {
    /// The kind.
    pub kind: GripperKind,
    /// The sensor on each finger.
    pub sensor: SensorSource,
    /// Initial position of the centre between the sensors.
    #[serde(default)]
    pub center: PlaceSpec,
    /// Initial distance between the sensing surfaces; for three fingers, the diameter between them. Default: 68 mm, or 100 mm for three fingers.
    pub opening: Option<Length>,
    /// Mass of each finger. Default: 0.3 kg.
    pub finger_mass: Option<Mass>,
    /// Mass of the hand that carries the fingers. Default: 1.4 kg, or 1.5 kg for three fingers.
    pub hand_mass: Option<Mass>,
    /// Maximum force of a finger's motor. Default: 200 N, or 50 N for three fingers.
    pub force_limit: Option<Force>,
}

/// A gripper in a world.
///
/// ```
/// use dermis::prelude::*;
/// use dermis::scene::GripperSpec;
/// let text = "kind = 'parallel'\nsensor.preset = 'uji-foam-14x6'";
/// let gripper: GripperSpec = dermis::sensor::parse_toml("gripper.toml", text)?;
/// let mut world = World::new(WorldParameters::default())?;
/// let mut hand = gripper.build(&mut world, "gripper.toml", None)?;
/// hand.exchange(&mut world); // sensors to the controller, its command to the motors
/// assert_eq!(hand.gripper().tactile_sums_newton(), [0.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Hand {
    /// Two fingers.
    Parallel(ParallelGripper),
    /// Three fingers.
    ThreeFinger(ThreeFingerHand),
}

impl Hand {
    /// Reads the sensors and sets the motor forces for the next step.
    pub fn exchange(&mut self, world: &mut World) {
        match self {
            Self::Parallel(gripper) => gripper.exchange(world),
            Self::ThreeFinger(hand) => hand.exchange(world),
        }
    }

    /// The interface for controllers.
    pub fn gripper(&mut self) -> &mut dyn Gripper {
        match self {
            Self::Parallel(gripper) => gripper,
            Self::ThreeFinger(hand) => hand,
        }
    }

    /// Its sensors with their names.
    pub fn sensors(&self) -> Vec<(String, SensorId)> {
        match self {
            Self::Parallel(gripper) => {
                ["left", "right"].into_iter().map(str::to_owned).zip(gripper.sensors()).collect()
            }
            Self::ThreeFinger(hand) => {
                hand.sensors().into_iter().enumerate().map(|(i, id)| (format!("finger-{i}"), id)).collect()
            }
        }
    }
}

impl GripperSpec {
    /// Names of its sensors.
    pub fn sensor_names(&self) -> &'static [&'static str] {
        match self.kind {
            GripperKind::Parallel => &["left", "right"],
            GripperKind::ThreeFinger => &["finger-0", "finger-1", "finger-2"],
        }
    }

    /// Checks all values.
    pub fn validate(&self, file: &str) -> Result<(), SceneError> {
        positive(
            file,
            "gripper",
            &[
                ("opening", self.opening.map(Length::si)),
                ("finger_mass", self.finger_mass.map(Mass::si)),
                ("hand_mass", self.hand_mass.map(Mass::si)),
                ("force_limit", self.force_limit.map(Force::si)),
            ],
        )
    }

    /// Adds the gripper to a world.
    pub fn build(&self, world: &mut World, file: &str, folder: Option<&Path>) -> Result<Hand, SceneError> {
        let refused = |error: WorldError| SceneError::World { file: file.to_owned(), error: Box::new(error) };
        let center = self.center.vector();
        match self.kind {
            GripperKind::Parallel => {
                let default = ParallelGripperParameters::default();
                let parameters = ParallelGripperParameters {
                    center,
                    opening_m: self.opening.map_or(default.opening_m, Length::si),
                    finger_mass_kg: self.finger_mass.map_or(default.finger_mass_kg, Mass::si),
                    hand_mass_kg: self.hand_mass.map_or(default.hand_mass_kg, Mass::si),
                    force_limit_newton: self.force_limit.map_or(default.force_limit_newton, Force::si),
                    ..default
                };
                let left = build_sensor(&self.sensor, "left", file, folder)?;
                let right = build_sensor(&self.sensor, "right", file, folder)?;
                ParallelGripper::build(world, parameters, left, right).map(Hand::Parallel).map_err(refused)
            }
            GripperKind::ThreeFinger => {
                let default = ThreeFingerParameters::default();
                let half = |mass: Mass| 0.5 * mass.si();
                let parameters = ThreeFingerParameters {
                    center,
                    opening_radius_m: self.opening.map_or(default.opening_radius_m, |opening| 0.5 * opening.si()),
                    upper_mass_kg: self.finger_mass.map_or(default.upper_mass_kg, half),
                    lower_mass_kg: self.finger_mass.map_or(default.lower_mass_kg, half),
                    palm_mass_kg: self.hand_mass.map_or(default.palm_mass_kg, Mass::si),
                    force_limit_newton: self.force_limit.map_or(default.force_limit_newton, Force::si),
                    ..default
                };
                let sensor = build_sensor(&self.sensor, "finger", file, folder)?;
                ThreeFingerHand::build(world, parameters, &sensor).map(Hand::ThreeFinger).map_err(refused)
            }
        }
    }
}

/// The kind of task.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::scene::{TaskKind, TaskSpec};
let task: TaskSpec = dermis::sensor::parse_toml("task.toml", "kind = 'pick-and-place'")?;
assert_eq!(task.kind, TaskKind::PickAndPlace);
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TaskKind {
    /// Approach, grasp, lift, move down, release.
    PickAndPlace,
}

/// The task of the gripper.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::scene::TaskSpec;
let task: TaskSpec = dermis::sensor::parse_toml("task.toml", "kind = 'pick-and-place'\nhold_force = '3 N'")?;
task.validate("task.toml")?;
assert_eq!(task.build().phase(), dermis::world::Phase::Approach);
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskSpec {
    /// The kind.
    pub kind: TaskKind,
    /// Grasp height above the initial position of the hand.
    #[schemars(extend("default" = Length::new(PickParameters::default().grasp_height_m)))]
    pub grasp_height: Option<Length>,
    /// Lift height.
    #[schemars(extend("default" = Length::new(PickParameters::default().lift_height_m)))]
    pub lift_height: Option<Length>,
    /// Speed of the hand.
    #[schemars(extend("default" = Speed::new(PickParameters::default().travel_speed)))]
    pub travel_speed: Option<Speed>,
    /// Closing speed of each finger.
    #[schemars(extend("default" = Speed::new(PickParameters::default().closing_speed)))]
    pub closing_speed: Option<Speed>,
    /// Tactile sum that counts as contact.
    #[schemars(extend("default" = Force::new(PickParameters::default().touch_newton)))]
    pub touch_force: Option<Force>,
    /// Desired tactile sum while holding.
    #[schemars(extend("default" = Force::new(PickParameters::default().hold_newton)))]
    pub hold_force: Option<Force>,
    /// Gain of the integral part of the force control.
    #[schemars(extend("default" = Frequency::new(PickParameters::default().integral_gain)))]
    pub integral_gain: Option<Frequency>,
    /// Time that the sums must stay within 1 % of `hold_force` before lifting.
    #[schemars(extend("default" = Time::new(PickParameters::default().steady_s)))]
    pub steady_time: Option<Time>,
    /// Time to hold the object up.
    #[schemars(extend("default" = Time::new(PickParameters::default().hold_s)))]
    pub hold_time: Option<Time>,
}

impl TaskSpec {
    /// Checks all values.
    pub fn validate(&self, file: &str) -> Result<(), SceneError> {
        positive(
            file,
            "task",
            &[
                ("travel_speed", self.travel_speed.map(Speed::si)),
                ("closing_speed", self.closing_speed.map(Speed::si)),
                ("touch_force", self.touch_force.map(Force::si)),
                ("hold_force", self.hold_force.map(Force::si)),
                ("integral_gain", self.integral_gain.map(Frequency::si)),
                ("steady_time", self.steady_time.map(Time::si)),
                ("hold_time", self.hold_time.map(Time::si)),
            ],
        )
    }

    /// Builds the controller in its initial state.
    pub fn build(&self) -> PickAndPlace {
        let TaskKind::PickAndPlace = self.kind;
        let default = PickParameters::default();
        PickAndPlace::new(PickParameters {
            grasp_height_m: self.grasp_height.map_or(default.grasp_height_m, Length::si),
            lift_height_m: self.lift_height.map_or(default.lift_height_m, Length::si),
            travel_speed: self.travel_speed.map_or(default.travel_speed, Speed::si),
            closing_speed: self.closing_speed.map_or(default.closing_speed, Speed::si),
            touch_newton: self.touch_force.map_or(default.touch_newton, Force::si),
            hold_newton: self.hold_force.map_or(default.hold_newton, Force::si),
            integral_gain: self.integral_gain.map_or(default.integral_gain, Frequency::si),
            steady_s: self.steady_time.map_or(default.steady_s, Time::si),
            hold_s: self.hold_time.map_or(default.hold_s, Time::si),
        })
    }
}

fn positive(file: &str, owner: &str, values: &[(&'static str, Option<f64>)]) -> Result<(), SceneError> {
    match values.iter().find_map(|&(key, value)| value.filter(|value| *value <= 0.0).map(|value| (key, value))) {
        Some((key, got)) => Err(SceneError::bad_value(file, owner, key, "positive", format!("{got} in SI units"))),
        None => Ok(()),
    }
}
