//! Records a ROS 2 bag: a folder with `metadata.yaml` and an MCAP file of standard messages in CDR, with their
//! definitions.

mod cdr;
mod definitions;
mod messages;
mod metadata;

use crate::folder::{empty_folder, locked_folder};
use crate::mcap::{Channel, McapWriter, Schema};
use crate::{Layout, RecordError, Sample, Sink, WORLD, time_ns, write_file};
use std::fs::File;
use std::path::{Path, PathBuf};

pub(crate) use definitions::Definitions;

/// A recording for ROS 2. `/tf` has all frames. Each sensor has `/NAME/wrench`, `/NAME/taxels`, `/NAME/camera` if it
/// has a camera, `/NAME/tactile`, a heat map, `/NAME/magnetic` (µT) if it has magnetometers, and `/NAME/warnings`, where the
/// skin has some.
pub struct Ros2Sink {
    _lock: Option<File>,
    folder: PathBuf,
    writer: McapWriter,
    sensor_frames: Vec<String>,
    body_frames: Vec<String>,
}

/// Channels of each sensor, in order, as an index of [`TYPES`].
const OF_SENSOR: [(&str, usize); 5] = [("wrench", 1), ("taxels", 2), ("camera", 3), ("tactile", 3), ("warnings", 4)];
/// The type of `/tf`, and those of the sensors.
const TYPES: [&str; 5] = [
    "tf2_msgs/msg/TFMessage",
    "geometry_msgs/msg/WrenchStamped",
    "std_msgs/msg/Float32MultiArray",
    "sensor_msgs/msg/Image",
    "std_msgs/msg/String",
];

impl Ros2Sink {
    /// Starts a bag in a new or empty folder.
    pub fn create(folder: &Path, layout: &Layout) -> Result<Self, RecordError> {
        let lock = locked_folder(folder)?;
        empty_folder(folder)?;
        let schema = |name: &&str| Schema {
            name: (*name).into(),
            encoding: "ros2msg".into(),
            data: definitions::standard_text(name).into_bytes(),
        };
        let channel = |topic: String, schema: usize| Channel {
            topic,
            encoding: "cdr".into(),
            schema: Some(schema),
            metadata: vec![("offered_qos_profiles".into(), String::new())],
        };
        let sensor_frames = layout.sensor_frames();
        let mut channels = vec![channel("/tf".into(), 0)];
        for frame in &sensor_frames {
            channels.extend(OF_SENSOR.iter().map(|(name, schema)| channel(format!("/{frame}/{name}"), *schema)));
        }
        let magnetic = layout.sensors.iter().zip(&sensor_frames).filter(|(sensor, _)| sensor.chips > 0);
        channels.extend(magnetic.map(|(_, frame)| channel(format!("/{frame}/magnetic"), 2)));
        let about = [("scene".to_owned(), layout.scene.clone())];
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let path = folder.join(format!("{name}_0.mcap"));
        let writer = McapWriter::create(&path, "ros2", TYPES.iter().map(schema).collect(), channels, &about)?;
        let (folder, body_frames) = (folder.to_owned(), layout.body_frames());
        let sink = Self { _lock: lock, folder, writer, sensor_frames, body_frames };
        sink.describe()?;
        Ok(sink)
    }

    /// Writes `metadata.yaml`.
    fn describe(&self) -> Result<(), RecordError> {
        write_file(&self.folder.join("metadata.yaml"), metadata::of(&self.writer).as_bytes()).map(drop)
    }
}

impl Sink for Ros2Sink {
    fn write(&mut self, sample: &Sample) -> Result<(), RecordError> {
        let time_ns = time_ns(sample.time_s);
        let sensors = self.sensor_frames.iter().zip(sample.sensors.iter().map(|sensor| &sensor.world_from_sensor));
        let placed = sensors.chain(self.body_frames.iter().zip(&sample.bodies));
        let transforms: Vec<_> = placed.map(|(frame, pose)| (frame.as_str(), *pose)).collect();
        self.writer.add(0, time_ns, &messages::transforms(time_ns, WORLD, &transforms))?;
        let mut magnetic = 1 + OF_SENSOR.len() * self.sensor_frames.len();
        for (i, (sensor, frame)) in sample.sensors.iter().zip(&self.sensor_frames).enumerate() {
            if sensor.reading.magnetic_tesla.is_some() {
                self.writer.add(magnetic, time_ns, &messages::magnetic(&sensor.reading))?;
                magnetic += 1;
            }
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
        self.writer.flush()?;
        self.describe()
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<PathBuf>, RecordError> {
        self.flush()?;
        self.writer.finish()?;
        Ok(vec![self.folder])
    }
}
