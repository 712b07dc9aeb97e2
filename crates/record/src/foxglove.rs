//! Records MCAP for Foxglove and other viewers: protobuf messages with Foxglove's schemas.

mod meshes;

use crate::mcap::{Channel, McapWriter, Schema};
use crate::message::Value;
use crate::protobuf::{Descriptors, subset};
use crate::signals::microtesla;
use crate::{Layout, RecordError, Sample, SensorSample, Sink, WORLD, time_ns};
use dermis_geometry::{Pose, Quat, Vec3};
use std::path::{Path, PathBuf};

/// A recording for Foxglove. `/tf` has all frames, `/scene` the meshes. Each sensor has `/NAME/wrench`, `/NAME/taxels`,
/// `/NAME/camera` if it has a camera, and `/NAME/tactile`, a heat map. `/NAME/taxels` has the flux density too.
pub struct FoxgloveSink {
    writer: McapWriter,
    descriptors: Descriptors,
    layout: Layout,
    sensor_frames: Vec<String>,
    body_frames: Vec<String>,
    started: bool,
}

/// A FileDescriptorSet of all message types; `descriptors.py` wrote it.
const DESCRIPTORS: &[u8] = include_bytes!("foxglove/descriptors.bin");
/// The message types of the channels.
const TYPES: [&str; 5] =
    ["foxglove.FrameTransforms", "foxglove.SceneUpdate", "dermis.Wrench", "dermis.Taxels", "foxglove.CompressedImage"];
/// Channels of the whole scene.
const TRANSFORMS: usize = 0;
const SCENE: usize = 1;
const FIRST_OF_SENSORS: usize = 2;
/// Channels of each sensor, in order, as an index of [`TYPES`].
const OF_SENSOR: [(&str, usize); 4] = [("wrench", 2), ("taxels", 3), ("camera", 4), ("tactile", 4)];

impl FoxgloveSink {
    /// Starts a file.
    pub fn create(path: &Path, layout: &Layout) -> Result<Self, RecordError> {
        let channel = |topic: String, schema: usize| Channel {
            topic,
            encoding: "protobuf".into(),
            schema: Some(schema),
            metadata: Vec::new(),
        };
        let sensor_frames = layout.sensor_frames();
        let mut channels = vec![channel("/tf".into(), TRANSFORMS), channel("/scene".into(), SCENE)];
        for frame in &sensor_frames {
            channels.extend(OF_SENSOR.iter().map(|(name, schema)| channel(format!("/{frame}/{name}"), *schema)));
        }
        let schema =
            |name: &str| Schema { name: name.into(), encoding: "protobuf".into(), data: subset(DESCRIPTORS, name) };
        let metadata = [("scene".to_owned(), layout.scene.clone())];
        let writer = McapWriter::create(path, "", TYPES.map(schema).to_vec(), channels, &metadata)?;
        let (layout, body_frames) = (layout.clone(), layout.body_frames());
        let descriptors = Descriptors::parse(DESCRIPTORS);
        Ok(Self { writer, descriptors, layout, sensor_frames, body_frames, started: false })
    }

    fn add(&mut self, channel: usize, kind: usize, time_ns: u64, message: &Value) -> Result<(), RecordError> {
        self.writer.add(channel, time_ns, &self.descriptors.encode(TYPES[kind], message))
    }

    fn add_sensor(&mut self, index: usize, time_ns: u64, sensor: &SensorSample) -> Result<(), RecordError> {
        let first = FIRST_OF_SENSORS + OF_SENSOR.len() * index;
        let (stamp, frame) = (stamp(time_ns), text(&self.sensor_frames[index]));
        let wrench = Value::message([
            ("timestamp", stamp.clone()),
            ("frame_id", frame.clone()),
            ("force", xyz(sensor.force_newton)),
            ("torque", xyz(sensor.torque_newton_m)),
        ]);
        let reading = &sensor.reading;
        let (rows, cols) = reading.size.unwrap_or((1, reading.values_newton.len()));
        let taxels = Value::message([
            ("timestamp", stamp.clone()),
            ("frame_id", frame.clone()),
            ("rows", Value::Number(rows as f64)),
            ("cols", Value::Number(cols as f64)),
            ("sum_newton", Value::Number(reading.sum_newton)),
            ("saturated", Value::Number(reading.saturated as f64)),
            ("values_newton", Value::row(reading.values_newton.iter().copied())),
            ("reported_newton", Value::row(reading.reported_newton.iter().copied())),
            ("raw", Value::row(reading.raw.iter().map(|&counts| f64::from(counts)))),
            ("magnetic_ut", Value::row(microtesla(reading))),
            ("warnings", Value::List(sensor.warnings.iter().map(|warning| text(warning)).collect())),
        ]);
        let image = |image: &dermis_sensor::Image| {
            Value::message([
                ("timestamp", stamp.clone()),
                ("frame_id", frame.clone()),
                ("data", Value::Bytes(image.encode_png_fast())),
                ("format", text("png")),
            ])
        };
        let images = [&sensor.camera, &sensor.tactile].map(|seen| seen.as_ref().map(image));
        let messages = [Some(wrench), Some(taxels)].into_iter().chain(images);
        for (i, (message, (_, kind))) in messages.zip(OF_SENSOR).enumerate() {
            if let Some(message) = message {
                self.add(first + i, kind, time_ns, &message)?;
            }
        }
        Ok(())
    }
}

impl Sink for FoxgloveSink {
    fn write(&mut self, sample: &Sample) -> Result<(), RecordError> {
        let time_ns = time_ns(sample.time_s);
        let stamp = stamp(time_ns);
        let sensors = self.sensor_frames.iter().zip(sample.sensors.iter().map(|sensor| &sensor.world_from_sensor));
        let placed = sensors.chain(self.body_frames.iter().zip(&sample.bodies));
        let transforms = placed.map(|(frame, Pose { translation, rotation })| {
            Value::message([
                ("timestamp", stamp.clone()),
                ("parent_frame_id", text(WORLD)),
                ("child_frame_id", text(frame)),
                ("translation", xyz(*translation)),
                ("rotation", xyzw(*rotation)),
            ])
        });
        let transforms = Value::message([("transforms", Value::List(transforms.collect()))]);
        self.add(TRANSFORMS, TRANSFORMS, time_ns, &transforms)?;
        if !self.started {
            self.started = true;
            let scene = meshes::update(&self.layout, &self.sensor_frames, &self.body_frames, &stamp);
            self.add(SCENE, SCENE, time_ns, &scene)?;
        }
        for (i, sensor) in sample.sensors.iter().enumerate() {
            self.add_sensor(i, time_ns, sensor)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), RecordError> {
        self.writer.flush()
    }

    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, RecordError> {
        Ok(vec![self.writer.finish()?])
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn stamp(time_ns: u64) -> Value {
    let part = |number: u64| Value::Number(number as f64);
    Value::message([("seconds", part(time_ns / 1_000_000_000)), ("nanos", part(time_ns % 1_000_000_000))])
}

fn xyz(vector: Vec3) -> Value {
    let [x, y, z] = vector.to_array().map(Value::Number);
    Value::message([("x", x), ("y", y), ("z", z)])
}

fn xyzw(rotation: Quat) -> Value {
    let [x, y, z, w] = rotation.to_array().map(Value::Number);
    Value::message([("x", x), ("y", y), ("z", z), ("w", w)])
}
