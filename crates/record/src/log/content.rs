//! Finds signals and images in messages.

use super::LogBuilder;
use crate::message::Value;
use crate::plain_name;
use crate::signals::{MAGNETIC, wxyz, xyz};
use dermis_geometry::{Pose, Quat, Vec3};
use dermis_sensor::Image;

/// Adds the content of a message of a type: what dermis records under the names of its signals, every other number
/// under its path. `None` if the message does not fit its type.
pub fn take(log: &mut LogBuilder, topic: &str, kind: &str, time_s: f64, value: &Value) -> Option<()> {
    match kind {
        "tf2_msgs/msg/TFMessage" | "foxglove.FrameTransforms" => {
            value.get("transforms")?.list().iter().try_for_each(|value| take_frame(log, time_s, value))?;
        }
        "geometry_msgs/msg/TransformStamped" | "foxglove.FrameTransform" => take_frame(log, time_s, value)?,
        "geometry_msgs/msg/WrenchStamped" => take_wrench(log, topic, time_s, value.get("wrench")?)?,
        "geometry_msgs/msg/Wrench" | "dermis.Wrench" => take_wrench(log, topic, time_s, value)?,
        "dermis.Taxels" => {
            let owner = owner(topic);
            for (key, name) in [("values_newton", "taxels_n"), ("reported_newton", "reported_n"), ("raw", "raw")] {
                log.push(&format!("{owner}/{name}"), time_s, &value.get(key)?.numbers()?);
            }
            let field = value.get(MAGNETIC).and_then(Value::numbers).filter(|field| !field.is_empty());
            field.iter().for_each(|field| log.push(&format!("{owner}/{MAGNETIC}"), time_s, field));
            for (key, name) in [("sum_newton", "sum_n"), ("saturated", "saturated")] {
                log.push(&format!("{owner}/{name}"), time_s, &[value.get(key)?.number()?]);
            }
        }
        "sensor_msgs/msg/Image" | "foxglove.RawImage" => {
            log.push_image(topic, time_s, image(value)?.encode_png_fast());
        }
        "sensor_msgs/msg/CompressedImage" | "foxglove.CompressedImage" => {
            log.push_image(topic, time_s, value.get("data")?.bytes()?);
        }
        // The meshes of a scene.
        "foxglove.SceneUpdate" => (),
        _ if kind.starts_with("std_msgs/msg/") && kind.ends_with("MultiArray") => {
            let name = match topic.rsplit_once('/') {
                Some((owner, "taxels")) => format!("{owner}/taxels_n"),
                Some((owner, "magnetic")) => format!("{owner}/{MAGNETIC}"),
                _ => topic.to_owned(),
            };
            log.push(&name, time_s, &value.get("data")?.numbers()?);
        }
        _ => take_any(log, topic, time_s, value),
    }
    Some(())
}

/// The sensor that a topic such as `pad/wrench` belongs to.
fn owner(topic: &str) -> &str {
    topic.rsplit_once('/').map_or(topic, |(owner, _)| owner)
}

fn vector(value: &Value) -> Option<Vec3> {
    value.named(["x", "y", "z"]).map(Vec3::from_array)
}

fn take_wrench(log: &mut LogBuilder, topic: &str, time_s: f64, value: &Value) -> Option<()> {
    let (owner, force, torque) = (owner(topic), vector(value.get("force")?)?, vector(value.get("torque")?)?);
    log.push(&format!("{owner}/force_n"), time_s, &xyz(force));
    log.push(&format!("{owner}/torque_nm"), time_s, &xyz(torque));
    Some(())
}

fn take_frame(log: &mut LogBuilder, time_s: f64, value: &Value) -> Option<()> {
    let frame = plain_name(value.get("child_frame_id")?.text()?);
    let placed = value.get("transform").unwrap_or(value);
    let [x, y, z, w] = placed.get("rotation")?.named(["x", "y", "z", "w"])?;
    let pose = Pose::new(Quat::from_xyzw(x, y, z, w), vector(placed.get("translation")?)?);
    log.push(&format!("{frame}/position_m"), time_s, &xyz(pose.translation));
    log.push(&format!("{frame}/orientation_wxyz"), time_s, &wxyz(&pose));
    Some(())
}

/// Adds every number, every vector and every list of numbers under its path, except time stamps.
fn take_any(log: &mut LogBuilder, name: &str, time_s: f64, value: &Value) {
    let Value::Fields(fields) = value else {
        let row = value.number().map_or_else(|| value.numbers(), |number| Some(vec![number]));
        row.iter().for_each(|row| log.push(name, time_s, row));
        return;
    };
    let row = match fields.len() {
        3 => value.named(["x", "y", "z"]).map(Vec::from),
        4 => value.named(["x", "y", "z", "w"]).map(Vec::from),
        _ => None,
    };
    if let Some(row) = row {
        log.push(name, time_s, &row);
        return;
    }
    for (key, value) in fields.iter().filter(|(key, _)| !["timestamp", "stamp", "header"].contains(&key.as_str())) {
        take_any(log, &format!("{name}/{key}"), time_s, value);
    }
}

/// Converts the usual camera encodings to RGB.
fn image(value: &Value) -> Option<Image> {
    let size = |name: &str| value.get(name)?.number().map(|number| number as usize);
    let (width, height, step) = (size("width")?, size("height")?, size("step")?);
    let (channels, places) = match value.get("encoding")?.text()? {
        "rgb8" => (3, [0, 1, 2]),
        "bgr8" => (3, [2, 1, 0]),
        "mono8" | "8UC1" => (1, [0, 0, 0]),
        "rgba8" => (4, [0, 1, 2]),
        "bgra8" => (4, [2, 1, 0]),
        _ => return None,
    };
    let data = value.get("data")?.bytes()?;
    if width == 0 || step < width.checked_mul(channels)? || data.len() < height.checked_mul(step)? {
        return None;
    }
    let rows = data.chunks_exact(step).take(height);
    let pixels = rows.flat_map(|row| row[..width * channels].chunks_exact(channels));
    Image::from_pixels(width, height, pixels.map(|pixel| places.map(|place| pixel[place])).collect())
}
