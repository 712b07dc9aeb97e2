//! Writes the output channels of a sensor to `sensordata`.

use crate::PluginError;
use dermis::geometry::Vec3;
use dermis::sensor::{Reading, Sensor, Taxels};
use dermis::skin::{Facet, Load, Site, Springs, Touch};

/// One part of a sensor's output. Forces act on the sensor and are in its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Force on each taxel along its normal (N), positive in compression.
    Normal,
    /// Force on each taxel (N): all x, then all y, then all z.
    Force,
    /// Force that the sensor reports for each taxel (N), after its response.
    Reported,
    /// Raw counts of each taxel, after its response.
    Raw,
    /// Force on the skin outside all taxels (N): x, y, z.
    Outside,
    /// Force (N) and torque (N m) on the sensor, about its origin.
    Wrench,
    /// Flux density (µT) at each magnetometer, in its frame: x, y, z of chip 0, then of chip 1, …
    Magnetic,
    /// 1, or 0 if the reading is invalid because the step could not be made; all other values are then 0.
    Valid,
}

impl Channel {
    /// Parses the name of a channel.
    pub fn parse(word: &str) -> Result<Self, PluginError> {
        Ok(match word {
            "normal" => Self::Normal,
            "force" => Self::Force,
            "reported" => Self::Reported,
            "raw" => Self::Raw,
            "outside" => Self::Outside,
            "wrench" => Self::Wrench,
            "magnetic" => Self::Magnetic,
            "valid" => Self::Valid,
            _ => {
                let known = "normal, force, reported, raw, outside, wrench, magnetic, valid";
                return Err(PluginError::UnknownWord { key: "output", known, got: word.to_owned() });
            }
        })
    }

    /// Number of values for a sensor with this number of taxels and chips.
    pub fn len(self, taxels: usize, chips: usize) -> usize {
        match self {
            Self::Normal | Self::Reported | Self::Raw => taxels,
            Self::Force => 3 * taxels,
            Self::Outside => 3,
            Self::Wrench => 6,
            Self::Magnetic => 3 * chips,
            Self::Valid => 1,
        }
    }

    /// True when the channel depends on the sensor's response.
    pub fn needs_response(self) -> bool {
        matches!(self, Self::Reported | Self::Raw | Self::Magnetic)
    }
}

/// The data from which channels are written.
pub struct Source<'a> {
    /// The contact.
    pub touch: &'a Touch,
    /// The sensor's taxels.
    pub taxels: &'a Taxels,
    /// [`taxel_of_site`] of the sensor.
    pub groups: &'a [u32],
    /// Number of magnetometers.
    pub chips: usize,
    /// The reading; needed unless [`is_plain`].
    pub reading: Option<&'a Reading>,
}

/// True when the force on each taxel is the sum of the forces of its contact points, so no reading is needed.
pub fn is_plain(sensor: &Sensor, touch: &Touch) -> bool {
    let is_point = |facet: &Facet| matches!(facet.load, Load::Point { .. });
    let points = touch.facets.points().is_some() || touch.facets.iter().all(is_point);
    points && touch.base.is_none() && sensor.rays().is_none() && !sensor.taxels().spread_loads()
}

/// The taxel of contact points outside all taxels.
pub const OUTSIDE: u32 = u32::MAX;

/// The taxel of each contact point of springs, or [`OUTSIDE`]; empty for other skins.
pub fn taxel_of_site(sensor: &Sensor) -> Vec<u32> {
    let sites = sensor.skin_as::<Springs>().map_or(&[][..], Springs::sites);
    let taxel = |site: &Site| sensor.taxels().locate(site.point).map_or(OUTSIDE, |taxel| taxel as u32);
    sites.iter().map(taxel).collect()
}

impl Source<'_> {
    /// Calls `add` with each contribution (N) to the force on a taxel; `None` stands for the skin outside all taxels.
    #[inline(always)]
    fn each(&self, mut add: impl FnMut(Option<usize>, Vec3)) {
        if let Some(reading) = self.reading {
            reading.forces_newton.iter().enumerate().for_each(|(taxel, force)| add(Some(taxel), *force));
            add(None, reading.outside_newton);
            return;
        }
        if let Some(points) = self.touch.facets.points() {
            let known = |taxel: u32| (taxel != OUTSIDE).then_some(taxel as usize);
            // The points of a taxel follow each other: they are added as one.
            let (mut taxel, mut sum) = (OUTSIDE, Vec3::ZERO);
            points.each_site_load(|site, force| {
                let next = self.groups.get(site).copied().unwrap_or(OUTSIDE);
                if next == taxel {
                    sum += force;
                } else {
                    add(known(std::mem::replace(&mut taxel, next)), std::mem::replace(&mut sum, force));
                }
            });
            return add(known(taxel), sum);
        }
        for facet in &self.touch.facets {
            if let Load::Point { anchor, force, .. } = facet.load {
                add(self.taxels.locate(anchor), force);
            }
        }
    }
}

/// Writes the channels one after the other. The length of `out` is the sum of their lengths.
pub fn write(channels: &[Channel], source: &Source<'_>, out: &mut [f64]) {
    let taxels = source.taxels.len();
    let mut rest = out;
    for channel in channels {
        let (part, after) = rest.split_at_mut(channel.len(taxels, source.chips));
        rest = after;
        part.fill(0.0);
        match channel {
            Channel::Normal => {
                if let Some(reading) = source.reading {
                    part.copy_from_slice(&reading.values_newton);
                    continue;
                }
                let normals = source.taxels.normals();
                source.each(|taxel, force| {
                    if let Some(taxel) = taxel {
                        part[taxel] -= force.dot(normals[taxel]);
                    }
                });
            }
            Channel::Force => source.each(|taxel, force| {
                if let Some(taxel) = taxel {
                    part[taxel] += force.x;
                    part[taxel + taxels] += force.y;
                    part[taxel + 2 * taxels] += force.z;
                }
            }),
            Channel::Reported => {
                if let Some(reading) = source.reading {
                    part.copy_from_slice(&reading.reported_newton);
                }
            }
            Channel::Raw => {
                let raw = source.reading.iter().flat_map(|reading| &reading.raw);
                part.iter_mut().zip(raw).for_each(|(to, &raw)| *to = f64::from(raw));
            }
            Channel::Magnetic => {
                let fields = source.reading.and_then(|reading| reading.magnetic_tesla.as_ref()).into_iter().flatten();
                let values = fields.flat_map(|field| (*field * 1e6).to_array());
                part.iter_mut().zip(values).for_each(|(to, value)| *to = value);
            }
            Channel::Outside => source.each(|taxel, force| {
                if taxel.is_none() {
                    part.iter_mut().zip(force.to_array()).for_each(|(to, force)| *to += force);
                }
            }),
            Channel::Wrench => {
                let load = &source.touch.on_sensor;
                part[..3].copy_from_slice(&load.force.to_array());
                part[3..].copy_from_slice(&load.torque.to_array());
            }
            Channel::Valid => part.fill(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis::skin::Tangent;

    fn point(at: Vec3, force: Vec3) -> Facet {
        Facet {
            object: 0,
            normal: Vec3::Z,
            depth_m: 0.0,
            saturated: false,
            load: Load::Point { at, anchor: at, area_m2: 1.0, force },
            tangent: Tangent::default(),
        }
    }

    #[test]
    fn channels_follow_each_other_in_the_order_asked() {
        let taxels = Taxels::grid(1, 2, 1.0);
        let (left, right, off) = (Vec3::new(-0.5, 0.0, 0.0), Vec3::new(0.5, 0.0, 0.0), Vec3::new(5.0, 0.0, 0.0));
        let facets = vec![
            point(left, Vec3::new(1.0, 2.0, -1.0)),
            point(left, Vec3::new(0.0, 0.0, -2.0)),
            point(right, Vec3::new(4.0, 5.0, -6.0)),
            point(off, Vec3::new(7.0, 8.0, 9.0)),
        ];
        let touch = Touch::from_facets(facets, 1);
        let source = Source { touch: &touch, taxels: &taxels, groups: &[], chips: 0, reading: None };
        let channels = ["outside", "normal", "force", "wrench"].map(|word| Channel::parse(word).unwrap());
        let mut out = vec![f64::NAN; channels.iter().map(|c| c.len(2, 0)).sum()];
        write(&channels, &source, &mut out);
        assert_eq!(out[..11], [7.0, 8.0, 9.0, 3.0, 6.0, 1.0, 4.0, 2.0, 5.0, -3.0, -6.0]);
        assert_eq!(out[11..14], [12.0, 15.0, 0.0]);
        assert!(Channel::parse("nomal").unwrap_err().to_string().contains("\"nomal\""));
    }
}
