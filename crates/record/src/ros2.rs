//! MCAP as a ROS 2 bag: standard messages in CDR, with their definitions in the file.

mod cdr;
mod definitions;
mod messages;

use crate::mcap::{Channel, McapWriter, Schema};
use crate::{Layout, Moment, RecordError, Sink, WORLD, time_ns};
use std::path::{Path, PathBuf};

pub(crate) use messages::{Decoded, decode};

/// A recording for ROS 2. `/tf` has all frames, and for each sensor there are `/NAME/wrench`, `/NAME/taxels`, `/NAME/camera` where it has one and
/// `/NAME/tactile`, a heat map.
pub struct Ros2Sink {
    writer: McapWriter,
    sensor_frames: Vec<String>,
    body_frames: Vec<String>,
}

/// Channels of each sensor, in their order.
const OF_SENSOR: [(&str, usize); 4] = [
    ("wrench", definitions::WRENCH_STAMPED),
    ("taxels", definitions::FLOAT32_MULTI_ARRAY),
    ("camera", definitions::IMAGE),
    ("tactile", definitions::IMAGE),
];

impl Ros2Sink {
    /// Starts a file.
    pub fn create(path: &Path, layout: &Layout) -> Result<Self, RecordError> {
        let schema = |(name, text): &(&str, &str)| Schema {
            name: (*name).into(),
            encoding: "ros2msg".into(),
            data: text.as_bytes().to_vec(),
        };
        let channel = |topic: String, schema: usize| Channel {
            topic,
            encoding: "cdr".into(),
            schema: Some(schema),
            notes: vec![("offered_qos_profiles".into(), String::new())],
        };
        let sensor_frames = layout.sensor_frames();
        let mut channels = vec![channel("/tf".into(), definitions::TF_MESSAGE)];
        for frame in &sensor_frames {
            channels.extend(OF_SENSOR.iter().map(|(name, schema)| channel(format!("/{frame}/{name}"), *schema)));
        }
        let notes = [("scene".to_owned(), layout.scene.clone())];
        let schemas = definitions::ALL.iter().map(schema).collect();
        let writer = McapWriter::create(path, "ros2", schemas, channels, &notes)?;
        Ok(Self { writer, sensor_frames, body_frames: layout.body_frames() })
    }
}

impl Sink for Ros2Sink {
    fn keep(&mut self, moment: &Moment) -> Result<(), RecordError> {
        let time_ns = time_ns(moment.time_s);
        let sensors = self.sensor_frames.iter().zip(moment.sensors.iter().map(|felt| &felt.world_from_sensor));
        let placed = sensors.chain(self.body_frames.iter().zip(&moment.bodies));
        let transforms: Vec<_> = placed.map(|(frame, pose)| (frame.as_str(), *pose)).collect();
        self.writer.add(0, time_ns, &messages::transforms(time_ns, WORLD, &transforms))?;
        for (i, (felt, frame)) in moment.sensors.iter().zip(&self.sensor_frames).enumerate() {
            let first = 1 + OF_SENSOR.len() * i;
            let wrench = messages::wrench(time_ns, frame, felt.force_newton, felt.torque_newton_m);
            self.writer.add(first, time_ns, &wrench)?;
            self.writer.add(first + 1, time_ns, &messages::taxels(&felt.reading))?;
            for (j, image) in [&felt.camera, &felt.tactile].into_iter().enumerate() {
                if let Some(image) = image {
                    self.writer.add(first + 2 + j, time_ns, &messages::image(time_ns, frame, image))?;
                }
            }
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
