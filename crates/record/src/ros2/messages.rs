//! Encodes the messages of a bag.

use super::cdr::CdrWriter;
use crate::signals::microtesla;
use dermis_geometry::{Pose, Vec3};
use dermis_sensor::{Image, Reading};

fn header(put: CdrWriter, time_ns: u64, frame: &str) -> CdrWriter {
    put.u32((time_ns / 1_000_000_000) as u32).u32((time_ns % 1_000_000_000) as u32).text(frame)
}

/// tf2_msgs/msg/TFMessage: poses of frames in their parent.
pub fn transforms(time_ns: u64, parent: &str, frames: &[(&str, Pose)]) -> Vec<u8> {
    let put = CdrWriter::new().u32(frames.len() as u32);
    let each = |put: CdrWriter, (frame, pose): &(&str, Pose)| {
        let Pose { translation: p, rotation: q } = pose;
        header(put, time_ns, parent).text(frame).f64s(&[p.x, p.y, p.z, q.x, q.y, q.z, q.w])
    };
    frames.iter().fold(put, each).done()
}

/// geometry_msgs/msg/WrenchStamped.
pub fn wrench(time_ns: u64, frame: &str, force: Vec3, torque: Vec3) -> Vec<u8> {
    header(CdrWriter::new(), time_ns, frame).f64s(&[force.x, force.y, force.z, torque.x, torque.y, torque.z]).done()
}

/// std_msgs/msg/Float32MultiArray: the values of the taxels (N), as rows and columns if they form a grid.
pub fn taxels(reading: &Reading) -> Vec<u8> {
    let count = reading.values_newton.len();
    let sides: &[(&str, usize, usize)] = match reading.size {
        Some((rows, cols)) => &[("rows", rows, count), ("cols", cols, cols)],
        None => &[("taxels", count, count)],
    };
    array(sides, &reading.values_newton)
}

/// std_msgs/msg/Float32MultiArray: the flux densities (µT) at the magnetometers, as chips and axes.
pub fn magnetic(reading: &Reading) -> Vec<u8> {
    let values = microtesla(reading);
    array(&[("chips", values.len() / 3, values.len()), ("axes", 3, 3)], &values)
}

fn array(sides: &[(&str, usize, usize)], values: &[f64]) -> Vec<u8> {
    let put = CdrWriter::new().u32(sides.len() as u32);
    let put =
        sides.iter().fold(put, |put, (label, size, stride)| put.text(label).u32(*size as u32).u32(*stride as u32));
    put.u32(0).f32s(values.iter().map(|value| *value as f32)).done()
}

/// std_msgs/msg/String.
pub fn string(data: &str) -> Vec<u8> {
    CdrWriter::new().text(data).done()
}

/// sensor_msgs/msg/Image, `rgb8`.
pub fn image(time_ns: u64, frame: &str, image: &Image) -> Vec<u8> {
    header(CdrWriter::new(), time_ns, frame)
        .u32(image.height() as u32)
        .u32(image.width() as u32)
        .text("rgb8")
        .u8(0)
        .u32(3 * image.width() as u32)
        .bytes(image.pixels().as_flattened())
        .done()
}

#[cfg(test)]
mod tests {
    use super::super::Definitions;
    use super::*;
    use crate::message::Value;
    use dermis_geometry::Quat;

    #[test]
    fn messages_fit_their_definitions() {
        let mut all = Definitions::default();
        all.extend_standard();
        let field = |value: &Value, path: &str| {
            path.split('.').try_fold(value.clone(), |value, name| match name.parse::<usize>() {
                Ok(place) => value.list().get(place).cloned(),
                Err(_) => value.get(name).cloned(),
            })
        };
        let pose = Pose::new(Quat::from_rotation_x(0.3), Vec3::new(1.0, 2.0, 3.0));
        let message = transforms(5, "world", &[("bcd", Pose::IDENTITY), ("a", pose)]);
        let value = all.decode("tf2_msgs/msg/TFMessage", &message).unwrap();
        assert_eq!(field(&value, "transforms.1.child_frame_id"), Some(Value::Text("a".into())));
        assert_eq!(field(&value, "transforms.1.transform.rotation.w"), Some(Value::Number(pose.rotation.w)));
        let message = wrench(1_500_000_000, "frame", Vec3::new(0.1, -2.0, 3.0), Vec3::new(4.0, 5.0, 6.0));
        // 4 bytes of header, 8 of time, 4 + 6 of text, 6 of padding, 48 of numbers.
        assert_eq!(message.len(), 76);
        let value = all.decode("geometry_msgs/msg/WrenchStamped", &message).unwrap();
        assert_eq!(field(&value, "wrench.torque.z"), Some(Value::Number(6.0)));
        assert_eq!(field(&value, "header.stamp.nanosec"), Some(Value::Number(5e8)));
        let pixels = Image::from_pixels(2, 1, vec![[1, 2, 3], [4, 5, 6]]).unwrap();
        let message = image(0, "f", &pixels);
        let value = all.decode("sensor_msgs/msg/Image", &message).unwrap();
        assert_eq!(field(&value, "data"), Some(Value::Bytes(vec![1, 2, 3, 4, 5, 6])));
        for length in 0..message.len() {
            assert!(all.decode("sensor_msgs/msg/Image", &message[..length]).is_none(), "{length}");
        }
    }
}
