//! Simulates an episode: press, slide, twist, roll, edge scan or grasp.

mod grasp;
mod trajectory;

use super::episode::{Frame, Grasp};
use super::error::EpisodeError;
use super::observe::{observe, plain};
use super::spec::ScenarioSpec;
use dermis_geometry::{Pose, Quat, Twist, Vec3};
use dermis_sensor::{Aim, Goal, PressError, ResponseState, Sensor, first_contact, press};
use dermis_skin::{Motion, Object, State, Target, Warning, WarningLog};
use trajectory::Trajectory;

/// The values drawn for an episode.
#[derive(Clone, Debug)]
pub struct Draw {
    /// Position and orientation of the approach to the sensor.
    pub aim: Aim,
    /// Depth or force of the press.
    pub goal: Goal,
    /// The scenario's own values, in the order of its axes.
    pub own: Vec<f64>,
    /// Seed of this episode's noise.
    pub noise: u64,
}

/// Number of noise frames reserved for each episode; episodes do not share frames.
const NOISE_FRAMES_PER_EPISODE: u64 = 1 << 20;

/// A simulated episode.
#[derive(Debug, Default)]
pub struct Played {
    /// Its frames.
    pub frames: Vec<Frame>,
    /// The outcome of a grasp.
    pub grasp: Option<Grasp>,
    /// Warnings of the skins in its frames.
    pub warnings: Vec<Warning>,
}

/// Simulates an episode.
pub fn play(scenario: &ScenarioSpec, sensor: &Sensor, object: &Object, draw: &Draw) -> Result<Played, EpisodeError> {
    if let ScenarioSpec::GraspAndLift { .. } = scenario {
        return grasp::play(scenario, sensor, object, draw);
    }
    let rest = ResponseState { step: first_noise(draw.noise), ..sensor.chain().rest() };
    let contact = first_contact(sensor, object, &draw.aim)?;
    let mut player = Player {
        sensor,
        object,
        interval_s: 1.0 / scenario.rate_hz(),
        state: sensor.skin().rest(),
        response: rest,
        frames: Vec::with_capacity(scenario.frames()),
        log: WarningLog::default(),
    };
    let depth_m = depth(sensor, object, draw, &contact)?;
    let lowered = |depth_m: f64| Pose { translation: contact.translation - Vec3::Z * depth_m, ..contact };
    let pressed = lowered(depth_m);
    let frames = scenario.frames();
    match scenario {
        ScenarioSpec::Press { .. } => {
            for frame in 1..=frames {
                player.hold(&lowered(depth_m * frame as f64 / frames as f64))?;
            }
        }
        ScenarioSpec::EdgeScan { .. } => {
            let path = Trajectory::straight(&pressed, draw.own[0], draw.own[1]);
            for frame in 0..frames {
                let along = if frames > 1 { frame as f64 / (frames - 1) as f64 } else { 0.5 };
                player.state = sensor.skin().rest();
                player.hold(&path.at(along - 0.5))?;
            }
        }
        _ => {
            let path = match scenario {
                ScenarioSpec::Twist { .. } => Trajectory::rotating(&pressed, draw.own[0]),
                ScenarioSpec::Roll { .. } => {
                    Trajectory::rolling(&pressed, depth_m, &contact, draw.own[0], draw.own[1], draw.own[2])
                }
                _ => Trajectory::straight(&pressed, draw.own[0], draw.own[1]),
            };
            player.hold(&pressed)?;
            for frame in 1..frames {
                let part = |step: f64| (frame as f64 - 1.0 + step) / (frames as f64 - 1.0);
                player.glide(|step| path.at(part(step)), scenario.substeps())?;
            }
        }
    }
    let warnings = warnings_of(&player.log);
    Ok(Played { frames: with_actions(player.frames), grasp: None, warnings })
}

fn warnings_of(log: &WarningLog) -> Vec<Warning> {
    log.warnings().map(|logged| logged.warning.clone()).collect()
}

fn first_noise(noise: u64) -> u64 {
    noise.wrapping_mul(NOISE_FRAMES_PER_EPISODE)
}

/// The depth (m) of the press: the given depth, or the depth at the given force.
fn depth(sensor: &Sensor, object: &Object, draw: &Draw, contact: &Pose) -> Result<f64, EpisodeError> {
    match draw.goal {
        Goal::Depth(depth_m) => {
            let max_m = sensor.skin().max_depth_m();
            if depth_m > max_m {
                let [depth_mm, max_mm] = [depth_m, max_m].map(|length| (length * 1e9).round() / 1e6);
                return Err(PressError::TooDeep { sensor: sensor.name().to_owned(), depth_mm, max_mm }.into());
            }
            Ok(depth_m)
        }
        Goal::Force(_) => {
            let pressed = press(sensor, object, &draw.aim, draw.goal)?;
            Ok(contact.translation.z - pressed.sensor_from_object.translation.z)
        }
    }
}

/// Moves an object over a sensor and records frames.
struct Player<'a> {
    sensor: &'a Sensor,
    object: &'a Object,
    interval_s: f64,
    state: State,
    response: ResponseState,
    frames: Vec<Frame>,
    log: WarningLog,
}

impl Player<'_> {
    /// Holds the object at a pose until the skin is at rest, and records a frame.
    fn hold(&mut self, pose: &Pose) -> Result<(), EpisodeError> {
        let target = Target::at_rest(self.object, *pose);
        let (touch, state) = self.sensor.skin().settle(&self.state, &Motion { targets: &[target] })?;
        self.state = state;
        self.record(touch, pose)
    }

    /// Moves the object along `pose` (from 0 to 1) until the next frame, and records it.
    fn glide(&mut self, pose: impl Fn(f64) -> Pose, substeps: usize) -> Result<(), EpisodeError> {
        let dt_s = self.interval_s / substeps as f64;
        let mut before = pose(0.0);
        let mut last = None;
        for step in 1..=substeps {
            let now = pose(step as f64 / substeps as f64);
            let target =
                Target { object: self.object, sensor_from_object: now, velocity: velocity(&before, &now, dt_s) };
            let (touch, state) = self.sensor.touch(&self.state, &Motion { targets: &[target] }, dt_s)?;
            self.state = state;
            before = now;
            last = Some(touch);
        }
        last.map_or(Ok(()), |touch| self.record(touch, &before))
    }

    fn record(&mut self, mut touch: dermis_skin::Touch, pose: &Pose) -> Result<(), EpisodeError> {
        let number = self.response.step;
        let (reading, response) = self.sensor.sense(&self.response, &touch, self.interval_s)?;
        self.response = response;
        let observed = observe(self.sensor, &touch, &reading, pose, number)?;
        let time_s = self.frames.len() as f64 * self.interval_s;
        touch.warnings.extend_from_slice(&reading.warnings);
        self.log.add(&touch, time_s);
        self.frames.push(Frame { time_s, action: [0.0; 6], sensors: vec![observed] });
        Ok(())
    }
}

/// The twist, at the sensor's origin, that moves an object from one pose to the next in `dt_s`.
fn velocity(before: &Pose, now: &Pose, dt_s: f64) -> Twist {
    let step = *now * before.inverse();
    Twist::new(step.translation / dt_s, rotation_vector(&step.rotation) / dt_s)
}

/// A rotation vector (axis times angle, rad) with an angle of at most π.
fn rotation_vector(rotation: &Quat) -> Vec3 {
    let short = if rotation.w < 0.0 { -*rotation } else { *rotation };
    short.to_scaled_axis()
}

/// Fills in the action that leads from each frame to the next.
fn with_actions(mut frames: Vec<Frame>) -> Vec<Frame> {
    let pose = |frame: &Frame| {
        let [x, y, z, qx, qy, qz, qw] = frame.sensors[0].pose.map(f64::from);
        Pose::new(Quat::from_xyzw(qx, qy, qz, qw).normalize(), Vec3::new(x, y, z))
    };
    let poses: Vec<Pose> = frames.iter().map(pose).collect();
    for (frame, pair) in frames.iter_mut().zip(poses.windows(2)) {
        let [x, y, z] = (pair[1].translation - pair[0].translation).to_array();
        let [a, b, c] = rotation_vector(&(pair[1].rotation * pair[0].rotation.inverse())).to_array();
        frame.action = [x, y, z, a, b, c].map(plain);
    }
    frames
}
