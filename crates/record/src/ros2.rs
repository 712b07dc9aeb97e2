//! Records a ROS 2 bag in MCAP: standard messages in CDR, with their definitions.

mod cdr;
mod definitions;
mod messages;

use crate::mcap::{Channel, McapWriter, Schema};
use crate::{Layout, RecordError, Sample, Sink, WORLD, time_ns};
use std::path::{Path, PathBuf};

pub(crate) use messages::{Decoded, decode};

/// A recording for ROS 2. `/tf` has all frames. Each sensor has `/NAME/wrench`, `/NAME/taxels`, `/NAME/camera` if it
/// has a camera, `/NAME/tactile`, a heat map, and `/NAME/warnings`, where the skin has some.
pub struct Ros2Sink {
    writer: McapWriter,
    sensor_frames: Vec<String>,
    body_frames: Vec<String>,
}

/// Channels of each sensor, in order.
const OF_SENSOR: [(&str, usize); 5] = [
    ("wrench", definitions::WRENCH_STAMPED),
    ("taxels", definitions::FLOAT32_MULTI_ARRAY),
    ("camera", definitions::IMAGE),
    ("tactile", definitions::IMAGE),
    ("warnings", definitions::STRING),
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
            metadata: vec![("offered_qos_profiles".into(), String::new())],
        };
        let sensor_frames = layout.sensor_frames();
        let mut channels = vec![channel("/tf".into(), definitions::TF_MESSAGE)];
        for frame in &sensor_frames {
            channels.extend(OF_SENSOR.iter().map(|(name, schema)| channel(format!("/{frame}/{name}"), *schema)));
        }
        let metadata = [("scene".to_owned(), layout.scene.clone())];
        let schemas = definitions::ALL.iter().map(schema).collect();
        let writer = McapWriter::create(path, "ros2", schemas, channels, &metadata)?;
        Ok(Self { writer, sensor_frames, body_frames: layout.body_frames() })
    }
}

impl Sink for Ros2Sink {
    fn write(&mut self, sample: &Sample) -> Result<(), RecordError> {
        let time_ns = time_ns(sample.time_s);
        let sensors = self.sensor_frames.iter().zip(sample.sensors.iter().map(|sensor| &sensor.world_from_sensor));
        let placed = sensors.chain(self.body_frames.iter().zip(&sample.bodies));
        let transforms: Vec<_> = placed.map(|(frame, pose)| (frame.as_str(), *pose)).collect();
        self.writer.add(0, time_ns, &messages::transforms(time_ns, WORLD, &transforms))?;
        for (i, (sensor, frame)) in sample.sensors.iter().zip(&self.sensor_frames).enumerate() {
            let first = 1 + OF_SENSOR.len() * i;
            let wrench = messages::wrench(time_ns, frame, sensor.force_newton, sensor.torque_newton_m);
            self.writer.add(first, time_ns, &wrench)?;
            self.writer.add(first + 1, time_ns, &messages::taxels(&sensor.reading))?;
            for (j, image) in [&sensor.camera, &sensor.tactile].into_iter().enumerate() {
                if let Some(image) = image {
                    self.writer.add(first + 2 + j, time_ns, &messages::image(time_ns, frame, image))?;
                }
            }
            for warning in &sensor.warnings {
                self.writer.add(first + 4, time_ns, &messages::string(warning))?;
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
