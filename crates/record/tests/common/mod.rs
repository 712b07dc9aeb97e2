//! A synthetic run for the tests of recordings.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod disk;

use dermis_geometry::{Pose, Quat, Vec3};
use dermis_record::{BodyLayout, Format, Layout, Sample, SensorLayout, SensorSample};
use dermis_sensor::{Image, Reading};

/// Name, format and file name.
pub const FORMATS: [(&str, Format, &str); 5] = [
    ("mcap", Format::Mcap, "run.mcap"),
    ("ros2", Format::Ros2, "bag"),
    ("parquet", Format::Parquet, "run.parquet"),
    ("npy", Format::Npy, "arrays"),
    ("png", Format::Png, "images"),
];

/// Two sensors, one of them without a grid, and a body.
pub fn layout() -> Layout {
    let sensor = |name: &str, taxels, size| SensorLayout { name: name.into(), taxels, size, chips: 0, mesh: None };
    let ball = dermis_geometry::shapes::sphere(0.01, 0.005).ok();
    Layout {
        scene: "made up".into(),
        sensors: vec![sensor("pad", 6, Some((2, 3))), sensor("Finger tip", 4, None)],
        bodies: vec![BodyLayout { name: "ball".into(), mesh: ball }],
    }
}

/// The sample at a time; all of its values are functions of the time.
pub fn sample(time_s: f64, images: bool) -> Sample {
    let sensor = |taxels: usize, size| {
        let values: Vec<f64> = (0..taxels).map(|i| (i as f64 + time_s).sin().abs()).collect();
        let force = Vec3::new(0.1 * time_s, -0.2, -values.iter().sum::<f64>());
        let grey = (time_s * 100.0) as u8;
        let image = images.then(|| Image::from_pixels(8, 6, vec![[grey, 1, 2]; 48]).unwrap());
        SensorSample {
            world_from_sensor: Pose::new(Quat::from_rotation_z(time_s), Vec3::new(time_s, 0.0, 0.1)),
            reading: Reading {
                size,
                sum_newton: values.iter().sum(),
                reported_newton: values.iter().map(|value| 0.5 * value).collect(),
                raw: values.iter().map(|value| (value * 1000.0) as u32).collect(),
                raw_sum: 0,
                forces_newton: vec![force / taxels as f64; taxels],
                outside_newton: Vec3::ZERO,
                pressures_pa: None,
                magnetic_tesla: None,
                warnings: Vec::new(),
                saturated: 1,
                values_newton: values,
            },
            force_newton: force,
            torque_newton_m: Vec3::new(time_s, 2.0, 3.0),
            camera: image.clone(),
            tactile: image,
            warnings: vec!["a warning".to_owned()],
        }
    };
    let bodies = vec![Pose::from_translation(Vec3::new(0.0, 0.0, 2.0 * time_s))];
    Sample { time_s, sensors: vec![sensor(6, Some((2, 3))), sensor(4, None)], bodies }
}
