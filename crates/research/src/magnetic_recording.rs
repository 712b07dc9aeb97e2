//! Recordings of a probe on a magnetic skin: two tables with times, one of the probe and one of the magnetometers.

use crate::validate::real::{RealError, Table};
use dermis::geometry::{Vec2, Vec3};
use dermis::sensor::calibration::MagneticSample;
use std::path::Path;

/// A recording whose samples are matched by time.
#[derive(Clone, Debug)]
pub struct MagneticRecording {
    /// Place of the probe (m) in the frame of the recording, for each sample.
    pub probe_m: Vec<Vec3>,
    /// Load (N), where it was measured.
    pub load_newton: Vec<Option<f64>>,
    /// Flux density (T) at each chip, in its frame.
    pub field_tesla: Vec<Vec<Vec3>>,
}

/// Largest difference (s) of two times that belong together.
const MAX_GAP_S: f64 = 0.1;
const NEWTON_PER_GRAM: f64 = 9.80665e-3;

impl MagneticRecording {
    /// Reads the table of the probe (time in s; x, y, z in mm; optional load) and that of the flux densities (time in s; x,
    /// y, z of each chip in µT), and pairs each sample of the probe with the field of the nearest time. The load is in
    /// newtons in a column `load_n`, otherwise in grams, with −1 for a missing one.
    pub fn read(probe: &Path, field: &Path) -> Result<Self, RealError> {
        let (states, fields) = (Table::read(probe)?, Table::read(field)?);
        let shown = |path: &Path| path.display().to_string();
        let bad = |path: &Path, reason: String| RealError::BadRecording { path: shown(path), reason };
        let columns = states.rows[0].len();
        if !(4..=5).contains(&columns) {
            let reason = format!("must have time, x, y, z and optionally the load, got {columns} columns");
            return Err(bad(probe, reason));
        }
        let channels = fields.rows[0].len() - 1;
        if channels == 0 || !channels.is_multiple_of(3) {
            let reason = format!("must have the time and x, y, z of each chip, got {channels} columns after the time");
            return Err(bad(field, reason));
        }
        if let Some(row) = fields.rows.windows(2).position(|pair| pair[1][0] < pair[0][0]) {
            return Err(bad(
                field,
                format!("must be in the order of time; row {} is earlier than the one before", row + 2),
            ));
        }
        let newtons = states.heads.get(4).is_some_and(|head| head == "load_n");
        let mut recording = Self { probe_m: Vec::new(), load_newton: Vec::new(), field_tesla: Vec::new() };
        for (index, row) in states.rows.iter().enumerate() {
            let after = fields.rows.partition_point(|other| other[0] < row[0]);
            let gap = |at: &usize| (fields.rows[*at][0] - row[0]).abs();
            let near = [after.saturating_sub(1), after.min(fields.rows.len() - 1)];
            let nearest = if gap(&near[0]) <= gap(&near[1]) { near[0] } else { near[1] };
            if gap(&nearest) > MAX_GAP_S {
                let reason = format!(
                    "row {} at {} s has no field within {MAX_GAP_S} s: the nearest in {} is {:.3} s away",
                    index + 1,
                    row[0],
                    shown(field),
                    gap(&nearest)
                );
                return Err(bad(probe, reason));
            }
            recording.probe_m.push(Vec3::new(row[1], row[2], row[3]) * 1e-3);
            let load = row.get(4).copied().filter(|load| newtons || *load != -1.0);
            recording.load_newton.push(load.map(|load| if newtons { load } else { load * NEWTON_PER_GRAM }));
            let chips = fields.rows[nearest][1..].chunks_exact(3);
            recording.field_tesla.push(chips.map(|b| Vec3::from_slice(b) * 1e-6).collect());
        }
        Ok(recording)
    }

    /// Smallest and largest place of the probe (m).
    pub fn extent(&self) -> (Vec3, Vec3) {
        let low = self.probe_m.iter().fold(Vec3::INFINITY, |low, at| low.min(*at));
        (low, self.probe_m.iter().fold(Vec3::NEG_INFINITY, |high, at| high.max(*at)))
    }

    /// The samples in the sensor frame: `middle_m` is the place of the sensor's middle, `contact_m` the height of first
    /// contact, in the frame of the recording.
    pub fn samples(&self, middle_m: Vec2, contact_m: f64) -> Vec<MagneticSample> {
        let sample = |i: usize| MagneticSample {
            at_m: self.probe_m[i].truncate() - middle_m,
            travel_m: contact_m - self.probe_m[i].z,
            load_newton: self.load_newton[i],
            field_tesla: self.field_tesla[i].clone(),
        };
        (0..self.probe_m.len()).map(sample).collect()
    }

    /// The number of the cycle of each sample: a cycle begins when the probe leaves its highest place.
    pub fn cycles(&self) -> Vec<usize> {
        let top = self.extent().1.z - 1e-4;
        let (mut cycle, mut away) = (0, false);
        let of = |at: &Vec3| {
            let now = at.z < top;
            cycle += usize::from(now && !away);
            away = now;
            cycle
        };
        self.probe_m.iter().map(of).collect()
    }

    /// The colour of each sample on a checkerboard of its places, with squares of 1 mm.
    pub fn checkerboard(&self) -> Vec<bool> {
        let low = self.extent().0;
        let square = |at: &Vec3| ((*at - low) * 1e3).round();
        self.probe_m.iter().map(|at| (square(at).x + square(at).y).rem_euclid(2.0) == 1.0).collect()
    }
}
