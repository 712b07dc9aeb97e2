//! `dermis estimate pose --near`: all six freedoms of an object, from a press nearby.

use super::{Arguments, Quantity, Read, as_json, tell_fit, write};
use crate::console::{ResultFolder, counter, say_json};
use anyhow::Context;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dermis::estimate::{Freedom, Measured, PoseEstimate, estimate_pose};
use dermis::geometry::quantity::{Angle, Length};
use dermis::prelude::*;
use dermis::sensor::{depth_pose, press_to_pose};
use serde_json::{Value, json};

/// A press near that of the reading.
#[derive(Clone, Copy, Debug)]
pub struct Near {
    aim: Aim,
    depth_m: f64,
}

impl std::str::FromStr for Near {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        if ![3, 4, 6].contains(&parts.len()) {
            let got = if text.trim().is_empty() { 0 } else { parts.len() };
            return Err(format!(
                "3, 4 or 6 values with commas between them are needed, X,Y,DEPTH[,YAW[,TILT_X,TILT_Y]], got {got}"
            ));
        }
        let length = |k: usize| parts[k].parse::<Length>().map(Length::si).map_err(|error| error.to_string());
        let angle = |k: usize| match parts.get(k) {
            Some(part) => part.parse::<Angle>().map(Angle::si).map_err(|error| error.to_string()),
            None => Ok(0.0),
        };
        let aim = Aim { at_m: [length(0)?, length(1)?], yaw_rad: angle(3)?, tilt_rad: [angle(4)?, angle(5)?] };
        Ok(Self { aim, depth_m: length(2)? })
    }
}

/// Reads a freedom by its name.
pub fn freedom() -> impl TypedValueParser<Value = Freedom> {
    let names = PossibleValuesParser::new(Freedom::ALL.map(Freedom::name));
    names.try_map(|name| Freedom::named(&name).ok_or("no freedom has this name"))
}

/// Estimates the pose and writes the results.
pub fn run(
    arguments: &Arguments,
    near: &Near,
    (sensor, object): (&Sensor, &Object),
    (read, measured): (&Read, Measured<'_>),
    folder: Option<ResultFolder>,
) -> anyhow::Result<()> {
    let start = depth_pose(sensor, object, &near.aim, near.depth_m).context("`--near`")?;
    let freedoms = Freedom::of(object, &arguments.fixed);
    let bar = counter("simulated presses:");
    let found = estimate_pose(sensor, object, measured, &start, &freedoms, &|presses| bar.set_position(presses as u64));
    bar.finish_and_clear();
    let found = found.with_context(|| arguments.reading.display().to_string())?;
    let rows = rows(&found);
    let report = report(arguments, sensor, &found, &rows);
    if arguments.json {
        say_json(&report)?;
    } else {
        let force = ("normal_force", -found.force_newton[2], "N", f64::NEG_INFINITY);
        let told: Vec<Quantity> = rows.iter().copied().chain([force]).collect();
        tell_fit(arguments, (sensor, read), &told, found.rms, &found.warnings);
    }
    let fitted = || Ok(Some(press_to_pose(sensor, object, &found.sensor_from_object)?));
    write(arguments, folder, &report, (sensor, read), fitted)
}

/// Position of the origin, and the rotation as tilt and yaw. The intervals of the angles are those of rotations about the axes of
/// the sensor, which differ from those of tilt and yaw by the cosine of the tilt; they are NaN for what stays fixed.
fn rows(found: &PoseEstimate) -> Vec<Quantity> {
    let PoseEstimate { sensor_from_object: pose, position_errors_m, rotation_errors_rad, quantile, .. } = found;
    let z = pose.rotation * Vec3::Z;
    // The rotation is Ry Rx Rz: z of the object is Ry Rx z.
    let tilt_x = (-z.y).clamp(-1.0, 1.0).asin();
    let tilt_y = z.x.atan2(z.z);
    let untilted = (Quat::from_rotation_y(tilt_y) * Quat::from_rotation_x(tilt_x)).conjugate() * pose.rotation;
    let ahead = untilted * Vec3::X;
    let yaw = ahead.y.atan2(ahead.x);
    let half = |error: f64| if error == 0.0 { f64::NAN } else { quantile * error };
    let position = |name: &'static str, axis: usize| {
        (name, pose.translation[axis] * 1e3, "mm", half(position_errors_m[axis]) * 1e3)
    };
    let angle = |name: &'static str, value: f64, axis: usize| {
        (name, value.to_degrees(), "deg", half(rotation_errors_rad[axis]).to_degrees())
    };
    vec![
        position("x", 0),
        position("y", 1),
        position("z", 2),
        angle("tilt_x", tilt_x, 0),
        angle("tilt_y", tilt_y, 1),
        angle("yaw", yaw, 2),
    ]
}

fn report(arguments: &Arguments, sensor: &Sensor, found: &PoseEstimate, rows: &[Quantity]) -> Value {
    let Pose { rotation, translation } = found.sensor_from_object;
    json!({
        "sensor": sensor.name(),
        "object": arguments.object,
        "estimates": as_json(rows),
        "position_m": translation.to_array(),
        "quaternion_wxyz": [rotation.w, rotation.x, rotation.y, rotation.z],
        "force_n": found.force_newton,
        "rms": found.rms,
        "explained": found.explained,
        "converged": found.converged,
        "presses": found.presses,
        "warnings": found.warnings,
    })
}
