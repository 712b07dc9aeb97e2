//! Records MCAP for Foxglove: JSON messages with Foxglove's schemas.

mod meshes;
mod schemas;

use crate::mcap::{Channel, McapWriter, Schema};
use crate::{Layout, RecordError, Sample, SensorSample, Sink, WORLD, time_ns};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dermis_geometry::{Pose, Quat, Vec3};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A recording for Foxglove. `/tf` has all frames, `/scene` the meshes. Each sensor has `/NAME/wrench`, `/NAME/taxels`,
/// `/NAME/camera` if it has a camera, and `/NAME/tactile`, a heat map.
pub struct FoxgloveSink {
    writer: McapWriter,
    layout: Layout,
    sensor_frames: Vec<String>,
    body_frames: Vec<String>,
    started: bool,
}

/// Channels of the whole scene.
const TRANSFORMS: usize = 0;
const SCENE: usize = 1;
const FIRST_OF_SENSORS: usize = 2;
/// Channels of each sensor, in order.
const OF_SENSOR: [(&str, &str); 4] = [
    ("wrench", schemas::WRENCH),
    ("taxels", schemas::TAXELS),
    ("camera", schemas::COMPRESSED_IMAGE),
    ("tactile", schemas::COMPRESSED_IMAGE),
];

impl FoxgloveSink {
    /// Starts a file.
    pub fn create(path: &Path, layout: &Layout) -> Result<Self, RecordError> {
        let all = schemas::all();
        let channel = |topic: String, schema: &str| Channel {
            topic,
            encoding: "json".into(),
            schema: all.iter().position(|(name, _)| *name == schema),
            metadata: Vec::new(),
        };
        let sensor_frames = layout.sensor_frames();
        let mut channels =
            vec![channel("/tf".into(), schemas::FRAME_TRANSFORMS), channel("/scene".into(), schemas::SCENE_UPDATE)];
        for frame in &sensor_frames {
            channels.extend(OF_SENSOR.iter().map(|(name, schema)| channel(format!("/{frame}/{name}"), schema)));
        }
        let schema = |(name, schema): &(&str, Value)| Schema {
            name: (*name).into(),
            encoding: "jsonschema".into(),
            data: schema.to_string().into_bytes(),
        };
        let metadata = [("scene".to_owned(), layout.scene.clone())];
        let writer = McapWriter::create(path, "", all.iter().map(schema).collect(), channels, &metadata)?;
        Ok(Self { writer, layout: layout.clone(), sensor_frames, body_frames: layout.body_frames(), started: false })
    }

    fn add(&mut self, channel: usize, time_ns: u64, message: &Value) -> Result<(), RecordError> {
        self.writer.add(channel, time_ns, message.to_string().as_bytes())
    }

    fn add_sensor(&mut self, index: usize, time_ns: u64, sensor: &SensorSample) -> Result<(), RecordError> {
        let first = FIRST_OF_SENSORS + OF_SENSOR.len() * index;
        let (stamp, frame) = (stamp(time_ns), self.sensor_frames[index].clone());
        let wrench = json!({
            "timestamp": stamp,
            "frame_id": frame,
            "force": xyz(sensor.force_newton),
            "torque": xyz(sensor.torque_newton_m),
        });
        self.add(first, time_ns, &wrench)?;
        let reading = &sensor.reading;
        let (rows, cols) = reading.size.unwrap_or((1, reading.values_newton.len()));
        let taxels = json!({
            "timestamp": stamp,
            "frame_id": frame,
            "rows": rows,
            "cols": cols,
            "sum_newton": reading.sum_newton,
            "saturated": reading.saturated,
            "values_newton": reading.values_newton,
            "reported_newton": reading.reported_newton,
            "raw": reading.raw,
            "warnings": sensor.warnings,
        });
        self.add(first + 1, time_ns, &taxels)?;
        for (i, image) in [&sensor.camera, &sensor.tactile].into_iter().enumerate() {
            let Some(image) = image else { continue };
            let data = BASE64_STANDARD.encode(image.encode_png_fast());
            let image = json!({ "timestamp": stamp, "frame_id": frame, "data": data, "format": "png" });
            self.add(first + 2 + i, time_ns, &image)?;
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
        let transforms: Vec<Value> = placed
            .map(|(frame, Pose { translation, rotation })| {
                json!({
                    "timestamp": stamp,
                    "parent_frame_id": WORLD,
                    "child_frame_id": frame,
                    "translation": xyz(*translation),
                    "rotation": xyzw(*rotation),
                })
            })
            .collect();
        self.add(TRANSFORMS, time_ns, &json!({ "transforms": transforms }))?;
        if !self.started {
            self.started = true;
            let scene = meshes::update(&self.layout, &self.sensor_frames, &self.body_frames, &stamp);
            self.add(SCENE, time_ns, &scene)?;
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

fn stamp(time_ns: u64) -> Value {
    json!({ "sec": time_ns / 1_000_000_000, "nsec": time_ns % 1_000_000_000 })
}

fn xyz(vector: Vec3) -> Value {
    json!({ "x": vector.x, "y": vector.y, "z": vector.z })
}

fn xyzw(rotation: Quat) -> Value {
    json!({ "x": rotation.x, "y": rotation.y, "z": rotation.z, "w": rotation.w })
}
