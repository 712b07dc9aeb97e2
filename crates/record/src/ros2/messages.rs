//! Encodes and decodes the messages of a bag.

use super::cdr::{CdrReader, CdrWriter};
use dermis_geometry::{Pose, Quat, Vec3};
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
    let put = CdrWriter::new().u32(sides.len() as u32);
    let put =
        sides.iter().fold(put, |put, (label, size, stride)| put.text(label).u32(*size as u32).u32(*stride as u32));
    put.u32(0).f32s(reading.values_newton.iter().map(|value| *value as f32)).done()
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

/// The supported content of a message.
pub enum Decoded {
    /// Frames and their poses.
    Transforms(Vec<(String, Pose)>),
    /// Force (N) and torque (N m).
    Wrench(Vec3, Vec3),
    /// An array of numbers.
    Array(Vec<f32>),
    /// An image.
    Image(Image),
    /// An encoded image file.
    Encoded(Vec<u8>),
}

/// Decodes a message of a supported type; `None` for other types and damaged messages.
pub fn decode(kind: &str, message: &[u8]) -> Option<Decoded> {
    let mut take = CdrReader::new(message)?;
    let vector = |[x, y, z]: [f64; 3]| Vec3::new(x, y, z);
    match kind {
        "tf2_msgs/msg/TFMessage" => {
            let count = take.u32()?;
            let mut frames = Vec::new();
            for _ in 0..count {
                stamp_and_frame(&mut take)?;
                let (frame, p, [x, y, z, w]) = (take.text()?, vector(take.f64s()?), take.f64s::<4>()?);
                frames.push((frame, Pose::new(Quat::from_xyzw(x, y, z, w), p)));
            }
            Some(Decoded::Transforms(frames))
        }
        "geometry_msgs/msg/WrenchStamped" => {
            stamp_and_frame(&mut take)?;
            Some(Decoded::Wrench(vector(take.f64s()?), vector(take.f64s()?)))
        }
        "std_msgs/msg/Float32MultiArray" => {
            for _ in 0..take.u32()? {
                take.text()?;
                take.u32()?;
                take.u32()?;
            }
            take.u32()?;
            take.f32s().map(Decoded::Array)
        }
        "sensor_msgs/msg/Image" => {
            stamp_and_frame(&mut take)?;
            let (height, width, encoding) = (take.u32()? as usize, take.u32()? as usize, take.text()?);
            let (_big, step) = (take.u8()?, take.u32()? as usize);
            pixels(width, height, step, &encoding, take.bytes()?).map(Decoded::Image)
        }
        "sensor_msgs/msg/CompressedImage" => {
            stamp_and_frame(&mut take)?;
            take.text()?;
            Some(Decoded::Encoded(take.bytes()?.to_vec()))
        }
        _ => None,
    }
}

fn stamp_and_frame(take: &mut CdrReader<'_>) -> Option<String> {
    take.u32()?;
    take.u32()?;
    take.text()
}

/// Converts the usual camera encodings to RGB.
fn pixels(width: usize, height: usize, step: usize, encoding: &str, data: &[u8]) -> Option<Image> {
    let (channels, places) = match encoding {
        "rgb8" => (3, [0, 1, 2]),
        "bgr8" => (3, [2, 1, 0]),
        "mono8" | "8UC1" => (1, [0, 0, 0]),
        "rgba8" => (4, [0, 1, 2]),
        "bgra8" => (4, [2, 1, 0]),
        _ => return None,
    };
    let mut pixels = Vec::with_capacity(data.len() / channels);
    for row in 0..height {
        let start = row.checked_mul(step)?;
        let row = data.get(start..start.checked_add(width.checked_mul(channels)?)?)?;
        pixels.extend(row.chunks_exact(channels).map(|pixel| places.map(|place| pixel[place])));
    }
    Image::from_pixels(width, height, pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive() {
        let pose = Pose::new(Quat::from_rotation_x(0.3), Vec3::new(1.0, 2.0, 3.0));
        let Some(Decoded::Transforms(frames)) =
            decode("tf2_msgs/msg/TFMessage", &transforms(5, "world", &[("a", pose), ("bcd", Pose::IDENTITY)]))
        else {
            panic!("no transforms")
        };
        assert_eq!(frames, [("a".to_owned(), pose), ("bcd".to_owned(), Pose::IDENTITY)]);
        let (force, torque) = (Vec3::new(0.1, -2.0, 3.0), Vec3::new(4.0, 5.0, 6.0));
        let message = wrench(1_500_000_000, "frame", force, torque);
        // 4 bytes of header, 8 of time, 4 + 6 of text, 6 of padding, 48 of numbers.
        assert_eq!(message.len(), 76);
        assert!(matches!(
            decode("geometry_msgs/msg/WrenchStamped", &message),
            Some(Decoded::Wrench(f, t)) if f == force && t == torque
        ));
        let pixels = Image::from_pixels(2, 1, vec![[1, 2, 3], [4, 5, 6]]).unwrap();
        let message = image(0, "f", &pixels);
        assert!(matches!(decode("sensor_msgs/msg/Image", &message), Some(Decoded::Image(seen)) if seen == pixels));
        for length in 0..message.len() {
            assert!(decode("sensor_msgs/msg/Image", &message[..length]).is_none(), "{length}");
        }
    }
}
