//! Converts samples to named rows of numbers, for arrays and tables.

use crate::{Layout, Sample};
use dermis_geometry::{Pose, Vec3};
use dermis_sensor::Reading;

/// A quantity with a row of numbers per sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// The owner: the frame of a sensor or body.
    pub of: String,
    /// The quantity with its unit: `force_n`.
    pub name: &'static str,
    /// Numbers per sample.
    pub width: usize,
    /// Rows and columns, if the numbers form a grid.
    pub size: Option<(usize, usize)>,
}

/// Signals of every sensor, in the order of [`values`]; a sensor with magnetometers has [`MAGNETIC`] after them.
pub const OF_SENSOR: [&str; 9] =
    ["force_n", "torque_nm", "sum_n", "saturated", "position_m", "orientation_wxyz", "taxels_n", "reported_n", "raw"];
/// Flux density (µT): x, y, z of each magnetometer, in its frame.
pub const MAGNETIC: &str = "magnetic_ut";
/// Signals of a body.
pub const OF_BODY: [&str; 2] = ["position_m", "orientation_wxyz"];

/// All signals of a recording.
pub fn signals(layout: &Layout) -> Vec<Signal> {
    let mut all = Vec::new();
    for (sensor, frame) in layout.sensors.iter().zip(layout.sensor_frames()) {
        let widths = [3, 3, 1, 1, 3, 4, sensor.taxels, sensor.taxels, sensor.taxels];
        for (i, (name, width)) in OF_SENSOR.into_iter().zip(widths).enumerate() {
            let size = if i >= 6 { sensor.size } else { None };
            all.push(Signal { of: frame.clone(), name, width, size });
        }
        if sensor.chips > 0 {
            all.push(Signal { of: frame, name: MAGNETIC, width: 3 * sensor.chips, size: Some((sensor.chips, 3)) });
        }
    }
    for frame in layout.body_frames() {
        let signal = |(name, width)| Signal { of: frame.clone(), name, width, size: None };
        all.extend(OF_BODY.into_iter().zip([3, 4]).map(signal));
    }
    all
}

/// Index of the first signal of a sensor; of the number of sensors: that of the first body.
pub fn first_of(layout: &Layout, sensor: usize) -> usize {
    layout.sensors.iter().take(sensor).map(|sensor| OF_SENSOR.len() + usize::from(sensor.chips > 0)).sum()
}

/// The values of each signal in a sample, in the order of [`signals`].
pub fn values(sample: &Sample) -> Vec<Vec<f64>> {
    let mut all = Vec::new();
    for sensor in &sample.sensors {
        let reading = &sensor.reading;
        let Pose { translation, .. } = sensor.world_from_sensor;
        all.push(xyz(sensor.force_newton));
        all.push(xyz(sensor.torque_newton_m));
        all.push(vec![reading.sum_newton]);
        all.push(vec![reading.saturated as f64]);
        all.push(xyz(translation));
        all.push(wxyz(&sensor.world_from_sensor));
        all.push(reading.values_newton.clone());
        all.push(reading.reported_newton.clone());
        all.push(reading.raw.iter().map(|&counts| f64::from(counts)).collect());
        all.extend(reading.magnetic_tesla.as_ref().map(|_| microtesla(reading)));
    }
    for pose in &sample.bodies {
        all.push(xyz(pose.translation));
        all.push(wxyz(pose));
    }
    all
}

/// Flux density (µT) at the magnetometers of a reading: x, y, z of each; empty without magnetometers.
pub fn microtesla(reading: &Reading) -> Vec<f64> {
    reading.magnetic_tesla.iter().flatten().flat_map(|field| (*field * 1e6).to_array()).collect()
}

pub fn xyz(vector: Vec3) -> Vec<f64> {
    vector.to_array().to_vec()
}

pub fn wxyz(pose: &Pose) -> Vec<f64> {
    let q = pose.rotation;
    vec![q.w, q.x, q.y, q.z]
}
