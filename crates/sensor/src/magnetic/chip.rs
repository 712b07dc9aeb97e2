//! A magnetometer: from the flux density at its place to the value that it reports.

use super::array::{Shape, each, place, tesla};
use super::spec::{DriftSpec, MagnetometersSpec};
use crate::press::millimetres;
use crate::response::{Sampling, Scan, rise_kelvin};
use crate::{ResponseError, ResponseState, SensorError};
use dermis_geometry::limits::MAX_MAGNETS;
use dermis_geometry::quantity::{Angle, FluxDensity};
use dermis_geometry::{Quat, Random, Vec3, mixed};
use serde::{Deserialize, Serialize};

/// Magnetometers of one type.
#[derive(Clone, Debug)]
pub struct Chips {
    chips: Vec<Chip>,
    range: Option<f64>,
    /// Flux density (T) of one count.
    count: Option<f64>,
    noise: Option<(Vec3, u64)>,
    sampling: Option<(Sampling, Vec<f64>)>,
    drift: Option<DriftSpec>,
}

/// A magnetometer of three axes.
#[derive(Clone, Copy, Debug)]
pub struct Chip {
    /// Place (m) in the sensor frame.
    pub at: Vec3,
    chip_from_sensor: Quat,
    gain: Vec3,
    offset: Vec3,
}

/// Memory of magnetometers and their magnets between steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MagneticMemory {
    /// Last sample of each axis of each chip (T).
    pub sampled_tesla: Vec<f64>,
    /// Depth (m) that the skin holds back: the centre of the play of a table with hysteresis.
    pub held_depth_m: f64,
}

impl MagneticMemory {
    /// True at rest.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Chips {
    /// Checks the chips of a sensor against each other and its magnets, given by shape and place.
    pub fn new(name: &str, spec: &MagnetometersSpec, shape: &Shape, magnets: &[Vec3]) -> Result<Self, SensorError> {
        let bad = |key, rule: String| SensorError::bad_key(name, key, rule);
        let count = spec.positions.len();
        if !(1..=MAX_MAGNETS).contains(&count) {
            return Err(bad("magnetometers", format!("must have 1 to {MAX_MAGNETS} positions, got {count}")));
        }
        let rotations = each(name, "rotations", &spec.rotations, Angle::new(0.0), count)?;
        let misalignments = each(name, "misalignments", &spec.misalignments, [Angle::new(0.0); 3], count)?;
        let gains = each(name, "gains", &spec.gains, [1.0; 3], count)?;
        let offsets = each(name, "offsets", &spec.offsets, [FluxDensity::new(0.0); 3], count)?;
        let mut chips = Vec::<Chip>::with_capacity(count);
        for (index, &at) in spec.positions.iter().enumerate() {
            let at = place(at);
            if at.z > 0.0 {
                let rule = format!("must lie below the surface: chip {index} is at z = {} mm", millimetres(at.z));
                return Err(bad("magnetometers", rule));
            }
            if let Some(magnet) = magnets.iter().position(|magnet| shape.overlaps(*magnet - at, 1.0)) {
                let rule = format!("must lie outside the magnets: chip {index} is inside magnet {magnet}");
                return Err(bad("magnetometers", rule));
            }
            if let Some(other) = chips.iter().position(|other| (other.at - at).length() < 1e-6) {
                let rule = format!("must not overlap: chips {other} and {index} are at the same place");
                return Err(bad("magnetometers", rule));
            }
            let gain = Vec3::from_array(gains[index]);
            if !gain.is_finite() || gain.abs().min_element() == 0.0 {
                let rule = format!("must be finite and not zero, got {:?} of chip {index}", gains[index]);
                return Err(bad("gains", rule));
            }
            let [x, y, z] = misalignments[index].map(Angle::si);
            let sensor_from_chip =
                Quat::from_rotation_z(rotations[index].si() + z) * Quat::from_rotation_y(y) * Quat::from_rotation_x(x);
            chips.push(Chip {
                at,
                chip_from_sensor: sensor_from_chip.conjugate(),
                gain,
                offset: tesla(offsets[index]),
            });
        }
        let range = spec.range.map(FluxDensity::si);
        if let Some(range) = range.filter(|range| *range <= 0.0) {
            return Err(bad("range", format!("of the magnetometers must be positive, got {range} T")));
        }
        let count = match (spec.bits, range) {
            (None, _) => None,
            (Some(bits @ 1..=32), Some(range)) => Some(2.0 * range / 2f64.powi(bits as i32)),
            (Some(bits), _) => {
                return Err(bad("bits", format!("of the magnetometers must be 1 to 32 and needs `range`, got {bits}")));
            }
        };
        let noise = spec.noise.map(|noise| (tesla(noise.sd), noise.seed));
        if let Some((sd, _)) = noise.filter(|(sd, _)| sd.min_element() < 0.0) {
            return Err(bad("noise.sd", format!("of the magnetometers must be zero or positive, got {sd} T")));
        }
        if let Some(drift) = spec.drift {
            let factors = [drift.remanence_per_kelvin, drift.gain_per_kelvin].map(|part| 1.0 + part * drift.rise.si());
            if factors.iter().any(|factor| factor.is_nan() || *factor <= 0.0) {
                let rule = format!("must leave remanence and gains positive: they become {factors:?} of their values");
                return Err(bad("drift", rule));
            }
            if let Some(time) = drift.time.filter(|time| time.si() <= 0.0) {
                return Err(bad("drift.time", format!("must be a positive time, got {} s", time.si())));
            }
        }
        let sampling = spec.sampling.map(|sampling| phases(name, sampling, chips.len())).transpose()?;
        Ok(Self { chips, range, count, noise, sampling, drift: spec.drift })
    }

    /// The chips.
    pub fn iter(&self) -> std::slice::Iter<'_, Chip> {
        self.chips.iter()
    }

    /// Temperature (K) above the reference, at a time since rest (s); `None`: after warming up.
    pub fn rise_kelvin(&self, time_s: Option<f64>) -> f64 {
        let Some(drift) = &self.drift else { return 0.0 };
        rise_kelvin(drift.rise, drift.time, time_s.unwrap_or(f64::INFINITY))
    }

    /// Factor of the remanence at a temperature above the reference (K).
    pub fn remanence_factor(&self, rise_kelvin: f64) -> f64 {
        1.0 + self.drift.map_or(0.0, |drift| drift.remanence_per_kelvin) * rise_kelvin
    }

    /// The analogue values of the axes (T) for the flux densities (T, sensor frame) at the chips.
    pub fn axes(&self, fields: &[Vec3], rise_kelvin: f64) -> Vec<Vec3> {
        let gain = 1.0 + self.drift.map_or(0.0, |drift| drift.gain_per_kelvin) * rise_kelvin;
        let drift = self.drift.and_then(|drift| drift.offset_per_kelvin).map_or(Vec3::ZERO, tesla) * rise_kelvin;
        let axes =
            |(chip, field): (&Chip, &Vec3)| (chip.chip_from_sensor * *field) * chip.gain * gain + chip.offset + drift;
        self.chips.iter().zip(fields).map(axes).collect()
    }

    /// Derivatives by the flux densities (1/T, sensor frame) of magnets at the chips, from those by the values of their axes; none of axes whose
    /// `values` (T) are at the range.
    pub fn by_fields(&self, by: &[Vec3], values: &[Vec3], rise_kelvin: f64) -> Vec<Vec3> {
        let gain = 1.0 + self.drift.map_or(0.0, |drift| drift.gain_per_kelvin) * rise_kelvin;
        let factor = gain * self.remanence_factor(rise_kelvin);
        let range = self.range.unwrap_or(f64::INFINITY);
        let one = |(chip, (by, value)): (&Chip, (&Vec3, &Vec3))| {
            let free = Vec3::from_array(value.to_array().map(|value| f64::from(u8::from(value.abs() < range))));
            chip.chip_from_sensor.conjugate() * (*by * free * chip.gain) * factor
        };
        self.chips.iter().zip(by.iter().zip(values)).map(one).collect()
    }

    /// Limits the values to the range and rounds them to counts. Returns the number of chips beyond the range.
    pub fn convert(&self, values: &mut [Vec3]) -> usize {
        let mut clipped = 0;
        for value in values {
            if let Some(range) = self.range {
                let inside = value.clamp(Vec3::splat(-range), Vec3::splat(range));
                clipped += usize::from(inside != *value);
                *value = inside;
            }
            if let Some(count) = self.count {
                *value = (*value / count).round() * count;
            }
        }
        clipped
    }

    /// Largest flux density of either sign (T), if limited.
    pub fn range_tesla(&self) -> Option<f64> {
        self.range
    }

    /// Standard deviation (T) of a channel by noise and rounding, over the three axes.
    pub fn channel_sd_tesla(&self) -> f64 {
        let noise = self.noise.map_or(0.0, |(sd, _)| sd.length_squared() / 3.0);
        let rounding = self.count.map_or(0.0, |count| count * count / 12.0);
        (noise + rounding).sqrt()
    }

    /// Adds the noise of a step.
    pub fn add_noise(&self, values: &mut [Vec3], step: u64) {
        let Some((sd, seed)) = self.noise else { return };
        let mut random = Random::new(mixed(seed ^ mixed(step)));
        for value in values {
            *value += sd * Vec3::new(random.normal(), random.normal(), random.normal());
        }
    }

    /// Samples at the rate of the chips during a step, and holds the samples in between. The first step is sampled.
    pub fn sample(&self, values: &mut [Vec3], before: &ResponseState, memory: &mut MagneticMemory, dt_s: f64) {
        let Some((sampling, phases)) = &self.sampling else { return };
        let mut flat: Vec<f64> = values.iter().flat_map(|value| value.to_array()).collect();
        if memory.sampled_tesla.is_empty() {
            memory.sampled_tesla.clone_from(&flat);
        }
        sampling.apply(phases, &mut memory.sampled_tesla, &mut flat, before.time_s, dt_s);
        for (value, sample) in values.iter_mut().zip(flat.chunks_exact(3)) {
            *value = Vec3::from_slice(sample);
        }
    }

    /// Returns an error for the memory of other chips.
    pub fn check(&self, memory: &MagneticMemory) -> Result<(), ResponseError> {
        let (got, expected) = (memory.sampled_tesla.len(), 3 * self.chips.len());
        if got != 0 && got != expected {
            return Err(ResponseError::Mismatch { what: "state", got, expected });
        }
        let sound = |value: &f64| value.abs() <= 1e15;
        if memory.sampled_tesla.iter().chain([&memory.held_depth_m]).all(sound) {
            return Ok(());
        }
        Err(ResponseError::DamagedState)
    }
}

/// The sampling of `count` chips, with the phase of each axis.
fn phases(name: &str, sampling: Sampling, count: usize) -> Result<(Sampling, Vec<f64>), SensorError> {
    let bad = |key, rule: String| SensorError::bad_key(name, key, rule);
    if !(sampling.rate.si() > 0.0 && sampling.rate.si().is_finite()) {
        let rule = format!("of the magnetometers must be a positive frequency, got {} Hz", sampling.rate.si());
        return Err(bad("sampling.rate", rule));
    }
    let phase = |chip: usize| match sampling.scan {
        Scan::Global => Ok(0.0),
        Scan::Taxels => Ok(chip as f64 / count as f64),
        Scan::Rows | Scan::Columns => {
            let rule = "of the magnetometers must be \"global\" or \"taxels\" (chip by chip): chips have no rows";
            Err(bad("sampling.scan", rule.to_owned()))
        }
    };
    let phases = (0..3 * count).map(|axis| phase(axis / 3)).collect::<Result<_, _>>()?;
    Ok((sampling, phases))
}
