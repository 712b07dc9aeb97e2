//! What is written to `sensordata`.

use crate::PluginError;
use dermis::geometry::{Vec3, Wrench};
use dermis::sensor::Reading;

/// One part of a sensor's numbers. Forces act on the sensor, in its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Force on each taxel along its normal (N), positive in compression.
    Normal,
    /// Force on each taxel (N): all x, then all y, then all z.
    Force,
    /// What the device says the force on each taxel is (N), after its response.
    Reported,
    /// The device's own numbers, after its response.
    Raw,
    /// Force where there is no taxel (N): x, y, z.
    Outside,
    /// Force (N) and torque (N m) on the sensor, about its origin.
    Wrench,
}

impl Channel {
    /// By its name.
    pub fn parse(word: &str) -> Result<Self, PluginError> {
        Ok(match word {
            "normal" => Self::Normal,
            "force" => Self::Force,
            "reported" => Self::Reported,
            "raw" => Self::Raw,
            "outside" => Self::Outside,
            "wrench" => Self::Wrench,
            _ => {
                let known = "normal, force, reported, raw, outside, wrench";
                return Err(PluginError::UnknownWord { key: "output", known, got: word.to_owned() });
            }
        })
    }

    /// How many numbers it takes.
    pub fn len(self, taxels: usize) -> usize {
        match self {
            Self::Normal | Self::Reported | Self::Raw => taxels,
            Self::Force => 3 * taxels,
            Self::Outside => 3,
            Self::Wrench => 6,
        }
    }

    /// True when the device's response is needed.
    pub fn needs_response(self) -> bool {
        matches!(self, Self::Reported | Self::Raw)
    }
}

/// What a touch gives to write.
pub struct Felt<'a> {
    /// Force on each taxel (N).
    pub forces_newton: &'a [Vec3],
    /// Normal of each taxel.
    pub normals: &'a [Vec3],
    /// Force where there is no taxel (N).
    pub outside_newton: Vec3,
    /// Load on the sensor, about its origin.
    pub on_sensor: Wrench,
    /// What the device reports, where a channel needs it.
    pub reading: Option<&'a Reading>,
}

/// Writes the channels one after the other. `out` has their lengths' sum.
pub fn write(channels: &[Channel], felt: &Felt<'_>, out: &mut [f64]) {
    let mut rest = out;
    for channel in channels {
        let (part, after) = rest.split_at_mut(channel.len(felt.forces_newton.len()));
        rest = after;
        match channel {
            Channel::Normal => {
                for ((to, force), normal) in part.iter_mut().zip(felt.forces_newton).zip(felt.normals) {
                    *to = 0.0 - force.dot(*normal);
                }
            }
            Channel::Force => {
                let (x, yz) = part.split_at_mut(felt.forces_newton.len());
                let (y, z) = yz.split_at_mut(felt.forces_newton.len());
                for (((x, y), z), force) in x.iter_mut().zip(y).zip(z).zip(felt.forces_newton) {
                    [*x, *y, *z] = force.to_array();
                }
            }
            Channel::Reported => {
                if let Some(reading) = felt.reading {
                    part.copy_from_slice(&reading.reported_newton);
                }
            }
            Channel::Raw => {
                let raw = felt.reading.iter().flat_map(|reading| &reading.raw);
                part.iter_mut().zip(raw).for_each(|(to, &raw)| *to = f64::from(raw));
            }
            Channel::Outside => part.copy_from_slice(&felt.outside_newton.to_array()),
            Channel::Wrench => {
                part[..3].copy_from_slice(&felt.on_sensor.force.to_array());
                part[3..].copy_from_slice(&felt.on_sensor.torque.to_array());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_follow_each_other_in_the_order_asked() {
        let felt = Felt {
            forces_newton: &[Vec3::new(1.0, 2.0, -3.0), Vec3::new(4.0, 5.0, -6.0)],
            normals: &[Vec3::Z, Vec3::Z],
            outside_newton: Vec3::new(7.0, 8.0, 9.0),
            on_sensor: Wrench { force: Vec3::new(12.0, 15.0, 0.0), torque: Vec3::new(0.1, 0.2, 0.3) },
            reading: None,
        };
        let channels = ["outside", "normal", "force", "wrench"].map(|word| Channel::parse(word).unwrap());
        let mut out = vec![f64::NAN; channels.iter().map(|c| c.len(2)).sum()];
        write(&channels, &felt, &mut out);
        let truth = [7.0, 8.0, 9.0, 3.0, 6.0, 1.0, 4.0, 2.0, 5.0, -3.0, -6.0, 12.0, 15.0, 0.0, 0.1, 0.2, 0.3];
        assert_eq!(out, truth);
        assert!(Channel::parse("nomal").unwrap_err().to_string().contains("\"nomal\""));
    }
}
