//! Reads MCAP: messages of dermis, standard messages of ROS 2, and numbers in any JSON message.

use super::{Log, LogBuilder};
use crate::mcap::McapLog;
use crate::ros2::{Decoded, decode};
use crate::signals::{wxyz, xyz};
use crate::{RecordError, plain_name};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dermis_geometry::{Pose, Quat, Vec3};
use serde_json::Value;
use std::path::PathBuf;

/// Reads consecutive files, such as those of a split bag.
pub fn read(paths: &[PathBuf]) -> Result<Log, RecordError> {
    let (mut log, mut unread, mut cut, mut damaged) = (LogBuilder::default(), 0, false, Vec::new());
    let (mut messages, mut found) = (0, Vec::new());
    for path in paths {
        let file = McapLog::read(path)?;
        unread += take_file(&mut log, &file);
        cut |= file.cut;
        messages += file.messages.len();
        found.extend(file.channels.iter().map(|channel| {
            let schema = channel.schema.map_or("no schema", |schema| &file.schemas[schema].name);
            format!("{} ({schema}, {})", channel.topic, channel.encoding)
        }));
        damaged.extend(file.damaged);
    }
    let mut log = Log { cut, damaged: damaged.len() + unread, ..log.finish() };
    log.notes.splice(0..0, damaged);
    if unread > 0 {
        log.notes.push(format!("{unread} messages were skipped: they are no JSON, or nested too deeply"));
    }
    if log.signals.is_empty() && log.images.is_empty() && messages > 0 {
        let path = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
        return Err(RecordError::Nothing { path, task: "read here", found: found.join(", ") });
    }
    Ok(log)
}

/// Adds the messages of a file; returns the number of unreadable ones.
fn take_file(log: &mut LogBuilder, file: &McapLog) -> usize {
    let mut unread = 0;
    for message in &file.messages {
        let channel = &file.channels[message.channel];
        let schema = channel.schema.map_or("", |schema| file.schemas[schema].name.as_str());
        let (topic, time_s) = (channel.topic.trim_matches('/'), message.time_ns as f64 * 1e-9);
        match channel.encoding.as_str() {
            // The parser limits the nesting.
            "json" => match serde_json::from_slice(&message.data) {
                Ok(value) => take_json(log, topic, schema, time_s, &value),
                Err(_) => unread += 1,
            },
            "cdr" => {
                if let Some(message) = decode(schema, &message.data) {
                    take_ros(log, topic, time_s, message);
                }
            }
            _ => (),
        }
    }
    unread
}

/// The sensor that a topic such as `pad/wrench` belongs to.
fn owner(topic: &str) -> &str {
    topic.rsplit_once('/').map_or(topic, |(owner, _)| owner)
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(Value::as_f64).collect()
}

fn vector(value: &Value) -> Option<Vec3> {
    Some(Vec3::new(value["x"].as_f64()?, value["y"].as_f64()?, value["z"].as_f64()?))
}

fn place(log: &mut LogBuilder, frame: &str, time_s: f64, pose: &Pose) {
    let frame = plain_name(frame);
    log.push(&format!("{frame}/position_m"), time_s, &xyz(pose.translation));
    log.push(&format!("{frame}/orientation_wxyz"), time_s, &wxyz(pose));
}

fn take_json(log: &mut LogBuilder, topic: &str, schema: &str, time_s: f64, value: &Value) {
    match schema {
        "foxglove.FrameTransforms" => {
            let each = value["transforms"].as_array().into_iter().flatten();
            each.for_each(|value| take_json(log, topic, "foxglove.FrameTransform", time_s, value));
        }
        "foxglove.FrameTransform" => {
            let rotation = &value["rotation"];
            let parts =
                (rotation["x"].as_f64(), rotation["y"].as_f64(), rotation["z"].as_f64(), rotation["w"].as_f64());
            if let (Some(frame), Some(at), (Some(x), Some(y), Some(z), Some(w))) =
                (value["child_frame_id"].as_str(), vector(&value["translation"]), parts)
            {
                place(log, frame, time_s, &Pose::new(Quat::from_xyzw(x, y, z, w), at));
            }
        }
        "foxglove.SceneUpdate" => (),
        "foxglove.CompressedImage" => {
            if let Some(file) = value["data"].as_str().and_then(|text| BASE64_STANDARD.decode(text).ok()) {
                log.push_image(topic, time_s, file);
            }
        }
        "dermis.Wrench" => {
            if let (Some(force), Some(torque)) = (vector(&value["force"]), vector(&value["torque"])) {
                take_ros(log, topic, time_s, Decoded::Wrench(force, torque));
            }
        }
        "dermis.Taxels" => {
            let owner = owner(topic);
            for (key, name) in [("values_newton", "taxels_n"), ("reported_newton", "reported_n"), ("raw", "raw")] {
                if let Some(row) = numbers(&value[key]) {
                    log.push(&format!("{owner}/{name}"), time_s, &row);
                }
            }
            for (key, name) in [("sum_newton", "sum_n"), ("saturated", "saturated")] {
                if let Some(number) = value[key].as_f64() {
                    log.push(&format!("{owner}/{name}"), time_s, &[number]);
                }
            }
        }
        _ => take_any(log, topic, time_s, value),
    }
}

/// Adds every number and every list of numbers under its path, except time stamps.
fn take_any(log: &mut LogBuilder, name: &str, time_s: f64, value: &Value) {
    if let Some(number) = value.as_f64() {
        log.push(name, time_s, &[number]);
    } else if let Some(row) = numbers(value) {
        log.push(name, time_s, &row);
    } else if let Some(fields) = value.as_object() {
        for (key, value) in fields.iter().filter(|(key, _)| !["timestamp", "stamp", "header"].contains(&key.as_str())) {
            take_any(log, &format!("{name}/{key}"), time_s, value);
        }
    }
}

fn take_ros(log: &mut LogBuilder, topic: &str, time_s: f64, message: Decoded) {
    match message {
        Decoded::Transforms(frames) => frames.iter().for_each(|(frame, pose)| place(log, frame, time_s, pose)),
        Decoded::Wrench(force, torque) => {
            let owner = owner(topic);
            log.push(&format!("{owner}/force_n"), time_s, &xyz(force));
            log.push(&format!("{owner}/torque_nm"), time_s, &xyz(torque));
        }
        Decoded::Array(values) => {
            let name = if topic.ends_with("/taxels") { format!("{}/taxels_n", owner(topic)) } else { topic.to_owned() };
            log.push(&name, time_s, &values.into_iter().map(f64::from).collect::<Vec<f64>>());
        }
        Decoded::Image(image) => log.push_image(topic, time_s, image.encode_png_fast()),
        Decoded::Encoded(file) => log.push_image(topic, time_s, file),
    }
}
