//! The recording of a run, in memory.

use super::{ContactCount, RunWarnings};
use crate::output::Output;
use crate::scene::{Built, slug};
use dermis_geometry::{Pose, Twist, Vec3};
use dermis_world::{BodyId, BodyKind, EnergyBalance, Phase, SensorId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write;

/// Readings of the sensors and poses of the bodies, row by row.
///
/// ```
/// # use dermis::run::{Continue, run};
/// # use dermis::scene::SceneSpec;
/// # let text = r#"
/// # world.duration = "20 ms"
/// # sensor = [{ name = "pad", preset = "uji-foam-14x6" }]
/// # [[body]]
/// # name = "ball"
/// # motion = "driven"
/// # shape.sphere.radius = "10 mm"
/// # at = ["0 mm", "0 mm", "9 mm"]
/// # "#;
/// let mut built = SceneSpec::parse("press.toml", text)?.build("press.toml", None)?;
/// let recording = run(&mut built, &mut |_| Continue::Yes)?;
/// let mut output = dermis::output::Output::new();
/// recording.write_into(&mut output);
/// assert!(output.get("readings-pad.csv").is_some() && output.get("bodies.csv").is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recording {
    /// Name of the scene.
    pub scene: String,
    /// Description of the scene.
    pub description: String,
    /// Time step (s).
    pub step_s: f64,
    /// Number of steps.
    pub steps: u64,
    /// Whether the caller stopped the run.
    pub interrupted: bool,
    /// Time of each row (s).
    pub times_s: Vec<f64>,
    /// Every sensor.
    pub sensors: Vec<SensorTrack>,
    /// Every body that can move.
    pub bodies: Vec<BodyTrack>,
    /// Start time (s) of each phase of the task.
    pub phases: Vec<(f64, Phase)>,
    /// Warnings of skins, world and task.
    pub warnings: RunWarnings,
    /// Energy balance of the run.
    pub energy: EnergyBalance,
}

/// One sensor over time.
///
/// ```
/// # use dermis::run::{Continue, run};
/// # use dermis::scene::SceneSpec;
/// # let text = r#"
/// # world.duration = "20 ms"
/// # sensor = [{ name = "pad", preset = "uji-foam-14x6" }]
/// # [[body]]
/// # name = "ball"
/// # motion = "driven"
/// # shape.sphere.radius = "10 mm"
/// # at = ["0 mm", "0 mm", "9 mm"]
/// # "#;
/// let mut built = SceneSpec::parse("press.toml", text)?.build("press.toml", None)?;
/// let pad = &run(&mut built, &mut |_| Continue::Yes)?.sensors[0];
/// let (peak_newton, at_s) = pad.peak;
/// assert!(pad.name == "pad" && pad.taxels == 84 && peak_newton > 0.0 && at_s <= 0.02);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SensorTrack {
    /// Its name.
    pub name: String,
    /// Number of its taxels.
    pub taxels: usize,
    /// One row per time.
    pub rows: Vec<SensorRow>,
    /// The largest sum (N) of all steps, which need not have a row, and its time (s).
    pub peak: (f64, f64),
    /// The contacts, counted in every step.
    pub contacts: ContactCount,
    id: SensorId,
}

/// One reading.
///
/// ```
/// # use dermis::run::{Continue, run};
/// # use dermis::scene::SceneSpec;
/// # let text = r#"
/// # world.duration = "20 ms"
/// # sensor = [{ name = "pad", preset = "uji-foam-14x6" }]
/// # [[body]]
/// # name = "ball"
/// # motion = "driven"
/// # shape.sphere.radius = "10 mm"
/// # at = ["0 mm", "0 mm", "9 mm"]
/// # "#;
/// let mut built = SceneSpec::parse("press.toml", text)?.build("press.toml", None)?;
/// let recording = run(&mut built, &mut |_| Continue::Yes)?;
/// let row = recording.sensors[0].rows.last().unwrap();
/// assert!(row.force_newton.z < 0.0 && row.values_newton.len() == 84);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensorRow {
    /// Sum of the taxels (N).
    pub sum_newton: f64,
    /// Force on the sensor, in its frame (N).
    pub force_newton: Vec3,
    /// Torque on the sensor about the origin of its frame, in its frame (N m).
    pub torque_newton_m: Vec3,
    /// Sum of the raw counts.
    pub raw_sum: u64,
    /// Contact points beyond the maximum penetration of the skin.
    pub saturated: usize,
    /// Normal force on each taxel (N).
    pub values_newton: Vec<f64>,
    /// Flux density (T) at each magnetometer, in its frame; empty without magnetometers.
    pub magnetic_tesla: Vec<Vec3>,
}

/// One body over time.
///
/// ```
/// # use dermis::run::{Continue, run};
/// # use dermis::scene::SceneSpec;
/// # let text = r#"
/// # world.duration = "20 ms"
/// # sensor = [{ name = "pad", preset = "uji-foam-14x6" }]
/// # [[body]]
/// # name = "ball"
/// # motion = "driven"
/// # shape.sphere.radius = "10 mm"
/// # at = ["0 mm", "0 mm", "9 mm"]
/// # "#;
/// let mut built = SceneSpec::parse("press.toml", text)?.build("press.toml", None)?;
/// let ball = &run(&mut built, &mut |_| Continue::Yes)?.bodies[0];
/// assert!(ball.name == "ball" && (ball.poses[0].translation.z - 9e-3).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BodyTrack {
    /// Its name.
    pub name: String,
    /// One pose per time.
    pub poses: Vec<Pose>,
    /// One velocity per time, of the body's origin, and its spin, in the world frame.
    pub twists: Vec<Twist>,
    /// A free body that the scene names.
    pub(super) is_object: bool,
    /// A part of a gripper.
    pub(super) is_of_hand: bool,
    id: BodyId,
}

impl Recording {
    pub(super) fn new(built: &Built) -> Self {
        let world = &built.world;
        let moves = |id: &BodyId| world.body(*id).kind != BodyKind::Fixed;
        let body = |id: BodyId| {
            let is_named = built.bodies.iter().any(|(_, named)| *named == id);
            let is_object = is_named && matches!(world.body(id).kind, BodyKind::Free(_));
            let name = world.body(id).name.clone();
            let (poses, twists) = (Vec::new(), Vec::new());
            BodyTrack { name, poses, twists, is_object, is_of_hand: !is_named && built.hand.is_some(), id }
        };
        Self {
            scene: built.name.clone(),
            description: built.description.clone(),
            step_s: world.parameters().step_s,
            steps: 0,
            interrupted: false,
            times_s: Vec::new(),
            sensors: built
                .sensors
                .iter()
                .map(|(name, id)| {
                    let taxels = world.sensor(*id).taxels().len();
                    SensorTrack {
                        name: name.clone(),
                        taxels,
                        rows: Vec::new(),
                        peak: (0.0, 0.0),
                        contacts: ContactCount::default(),
                        id: *id,
                    }
                })
                .collect(),
            bodies: world.bodies().filter(moves).map(body).collect(),
            phases: Vec::new(),
            warnings: RunWarnings::default(),
            energy: EnergyBalance::default(),
        }
    }

    /// Follows the peaks and contacts of the sensors, in every step.
    pub(super) fn add_step(&mut self, built: &Built) {
        for track in &mut self.sensors {
            let sum_newton = built.world.reading(track.id).sum_newton;
            if sum_newton > track.peak.0 {
                track.peak = (sum_newton, built.world.time_s());
            }
            track.contacts.add(built.world.touch(track.id).on_sensor.force != Vec3::ZERO);
        }
    }

    /// Adds a row.
    pub(super) fn add_row(&mut self, built: &Built) {
        self.times_s.push(built.world.time_s());
        for track in &mut self.sensors {
            let reading = built.world.reading(track.id);
            track.rows.push(SensorRow {
                sum_newton: reading.sum_newton,
                force_newton: reading.net_force_newton(),
                torque_newton_m: built.world.touch(track.id).on_sensor.torque,
                raw_sum: reading.raw_sum,
                saturated: reading.saturated,
                values_newton: reading.values_newton,
                magnetic_tesla: reading.magnetic_tesla.unwrap_or_default(),
            });
        }
        for track in &mut self.bodies {
            track.poses.push(built.world.pose(track.id));
            track.twists.push(built.world.velocity(track.id));
        }
    }

    /// Records a change of the task's phase.
    pub(super) fn enter(&mut self, phase: Option<Phase>, time_s: f64) {
        if let Some(phase) = phase
            && self.phases.last().map(|(_, last)| *last) != Some(phase)
        {
            self.phases.push((time_s, phase));
        }
    }

    /// Adds `readings-NAME.csv` for every sensor, `bodies.csv` and `summary.json`. The same run gives the same bytes.
    pub fn write_into(&self, output: &mut Output) {
        for track in &self.sensors {
            output.add(format!("readings-{}.csv", slug(&track.name)), self.readings_csv(track));
        }
        output.add("bodies.csv", self.bodies_csv());
        output.add("summary.json", format!("{:#}\n", self.summary()));
    }

    fn readings_csv(&self, track: &SensorTrack) -> String {
        let mut text = String::from("time_s,sum_n,fx_n,fy_n,fz_n,tx_nm,ty_nm,tz_nm,raw_sum,saturated");
        for taxel in 0..track.taxels {
            let _ = write!(text, ",t{taxel}_n");
        }
        for chip in 0..track.rows.first().map_or(0, |row| row.magnetic_tesla.len()) {
            let _ = write!(text, ",bx{chip}_ut,by{chip}_ut,bz{chip}_ut");
        }
        for (time_s, row) in self.times_s.iter().zip(&track.rows) {
            let SensorRow { sum_newton, force_newton: f, torque_newton_m: t, raw_sum, saturated, .. } = row;
            let time = seconds(*time_s);
            let _ = write!(text, "\n{time},{sum_newton},{},{},{},{},{},{}", f.x, f.y, f.z, t.x, t.y, t.z);
            let _ = write!(text, ",{raw_sum},{saturated}");
            for value in &row.values_newton {
                let _ = write!(text, ",{value}");
            }
            for field in row.magnetic_tesla.iter().map(|field| *field * 1e6) {
                let _ = write!(text, ",{},{},{}", field.x, field.y, field.z);
            }
        }
        text + "\n"
    }

    fn bodies_csv(&self) -> String {
        let mut text = String::from(
            "time_s,body,x_m,y_m,z_m,qw,qx,qy,qz,vx_m_per_s,vy_m_per_s,vz_m_per_s,wx_rad_per_s,wy_rad_per_s,wz_rad_per_s\n",
        );
        for (row, &time_s) in self.times_s.iter().enumerate() {
            for track in &self.bodies {
                let Pose { translation: p, rotation: q } = track.poses[row];
                let (time, name) = (seconds(time_s), quoted(&track.name));
                let Twist { linear: v, angular: w } = track.twists[row];
                let _ = write!(text, "{time},{name},{},{},{},{},{},{},{}", p.x, p.y, p.z, q.w, q.x, q.y, q.z);
                let _ = writeln!(text, ",{},{},{},{},{},{}", v.x, v.y, v.z, w.x, w.y, w.z);
            }
        }
        text
    }

    /// A summary of the run.
    pub fn summary(&self) -> Value {
        let sensors: Vec<Value> = self
            .sensors
            .iter()
            .map(|track| {
                let (peak_newton, peak_s) = track.peak;
                json!({
                    "name": track.name,
                    "taxels": track.taxels,
                    "peak_sum_n": peak_newton,
                    "peak_time_s": seconds(peak_s),
                    "last_sum_n": track.rows.last().map(|row| row.sum_newton),
                    "most_saturated": track.rows.iter().map(|row| row.saturated).max(),
                    "contacts": track.contacts.contacts,
                    "contact_s": seconds(track.contacts.steps as f64 * self.step_s),
                    "steps_of_shortest_contact": track.contacts.shortest_steps(),
                })
            })
            .collect();
        let bodies: Vec<Value> = self
            .bodies
            .iter()
            .map(|track| {
                let place = |pose: Option<&Pose>| pose.map(|pose| pose.translation.to_array());
                json!({
                    "name": track.name,
                    "first_m": place(track.poses.first()),
                    "last_m": place(track.poses.last()),
                    "highest_m": track.poses.iter().map(|pose| pose.translation.z).fold(f64::MIN, f64::max),
                })
            })
            .collect();
        let phases: Vec<Value> = self
            .phases
            .iter()
            .map(|(start_s, phase)| json!({ "phase": format!("{phase:?}"), "start_s": start_s }))
            .collect();
        json!({
            "scene": self.scene,
            "description": self.description,
            "time_step_s": self.step_s,
            "steps": self.steps,
            "time_s": self.times_s.last(),
            "interrupted": self.interrupted,
            "task_finished": self.phases.last().map(|(_, phase)| *phase == Phase::Done),
            "carried": self.carried(),
            "lost_body": self.warnings.lost_body(),
            "warnings": self.warnings.texts(),
            "energy": energy(&self.energy),
            "rows": self.times_s.len(),
            "sensors": sensors,
            "bodies": bodies,
            "phases": phases,
        })
    }
}

fn energy(balance: &EnergyBalance) -> Value {
    json!({
        "kinetic_j": balance.kinetic_joule,
        "potential_j": balance.potential_joule,
        "elastic_j": balance.elastic_joule,
        "on_skins_j": balance.on_skins_joule,
        "friction_j": balance.friction_joule,
        "damping_j": balance.damping_joule,
        "solids_j": balance.solids_joule,
        "drives_j": balance.drives_joule,
        "prescribed_j": balance.prescribed_joule,
        "residual_j": balance.residual_joule(),
        "relative_residual": balance.relative_residual(),
        "elastic_unknown": balance.unknown,
    })
}

/// Rounds to picoseconds: 10 ms would otherwise print as 0.010000000000000002 s.
fn seconds(time_s: f64) -> f64 {
    (time_s * 1e12).round() / 1e12
}

fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_owned() }
}
