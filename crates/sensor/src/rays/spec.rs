//! The description of the method by which taxels read the skin.

use super::{RayReading, RaySettings, SubTaxel, Window};
use crate::{Sensor, SensorError};
use dermis_geometry::Vec3;
use dermis_geometry::quantity::{Angle, Length};
use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_PI_4, PI};

/// Method by which taxels read the skin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ReadingSpec {
    /// Integrates the load over the cells exactly.
    #[default]
    Exact,
    /// Spreads each load by a Gaussian about its position, then integrates ([`crate::Taxels::with_gaussian`]). For
    /// grids of taxels under springs or contacts.
    Gaussian {
        /// Standard deviation σ.
        sigma: Length,
    },
    /// Samples the pressure by rays ([`RayReading`]).
    Rays {
        /// Radius of a taxel's receptive field.
        radius: Length,
        /// Minimum distance between samples of the skin.
        spacing: Length,
        /// Maximum angle between the normals of a taxel and of its samples.
        #[serde(default = "paper_cone")]
        cone: Angle,
        /// Weight as a function of distance.
        #[serde(default)]
        window: Window,
        /// Distance measure.
        #[serde(default)]
        distance: DistanceSpec,
        /// Seed of the sample pattern.
        #[serde(default)]
        seed: u64,
        /// Parts of taxels with their own receptive fields.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sub_taxels: Vec<SubTaxelSpec>,
    },
}

fn paper_cone() -> Angle {
    Angle::new(FRAC_PI_4)
}

/// Measure of the distance between a sample and its taxel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DistanceSpec {
    /// Straight-line distance.
    #[default]
    Euclidean,
    /// Distance along the skin, on and across the edges of a fine mesh: at most a few percent too long.
    Geodesic,
}

/// A part of a taxel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubTaxelSpec {
    /// Index of the taxel it belongs to, from 0.
    pub taxel: usize,
    /// Centre.
    pub center: [Length; 3],
    /// Outward normal, of any length.
    pub normal: [f64; 3],
    /// Radius of the receptive field; defaults to that of the taxels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<Length>,
}

/// Maximum number of samples; guards against a wrong unit.
const MAX_SAMPLES: f64 = 1e6;

impl ReadingSpec {
    /// True for the exact reading.
    pub fn is_exact(&self) -> bool {
        *self == Self::Exact
    }

    /// Applies this reading to a sensor.
    pub(crate) fn of(&self, sensor: Sensor) -> Result<Sensor, SensorError> {
        if let Self::Gaussian { sigma } = self {
            let sigma_m = SensorError::check_positive(sensor.name(), "sigma", *sigma)?;
            if sensor.taxels().size().is_none() {
                let rule = "of kind \"gaussian\" is for grids; taxels without rows take a `spread` of their response";
                return Err(SensorError::bad_key(sensor.name(), "reading", rule));
            }
            return Ok(sensor.with_gaussian(sigma_m));
        }
        match self.settings(&sensor)? {
            None => Ok(sensor),
            Some(settings) => {
                let (taxels, skin) = (sensor.taxels(), sensor.surface());
                let rays = RayReading::new(sensor.name(), taxels, skin, sensor.skin().max_depth_m(), &settings)?;
                Ok(sensor.with_rays(rays))
            }
        }
    }

    fn settings(&self, sensor: &Sensor) -> Result<Option<RaySettings>, SensorError> {
        let Self::Rays { radius, spacing, cone, window, distance, seed, sub_taxels } = self else { return Ok(None) };
        let name = sensor.name();
        let positive = |key, length| SensorError::check_positive(name, key, length);
        let (radius_m, spacing_m) = (positive("radius", *radius)?, positive("spacing", *spacing)?);
        let samples = sensor.surface().area_m2() / (spacing_m * spacing_m);
        if samples > MAX_SAMPLES {
            let rule = format!("of {} mm would scatter about {samples:.0} samples; be coarser", spacing_m * 1e3);
            return Err(SensorError::bad_key(name, "spacing", rule));
        }
        if !(cone.si() > 0.0 && cone.si() <= PI) {
            let rule = format!("must be more than 0 and at most 180 deg, got {} deg", cone.si().to_degrees());
            return Err(SensorError::bad_key(name, "cone", rule));
        }
        let taxels = sensor.taxels().len();
        let part = |part: &SubTaxelSpec| {
            let normal = Vec3::from_array(part.normal).normalize_or_zero();
            if part.taxel >= taxels {
                let rule = format!("must belong to one of {taxels} taxels, counted from 0; got taxel {}", part.taxel);
                return Err(SensorError::bad_key(name, "sub_taxels", rule));
            }
            if normal == Vec3::ZERO {
                let rule = format!("must have a normal with a direction; one of taxel {} has none", part.taxel);
                return Err(SensorError::bad_key(name, "sub_taxels", rule));
            }
            let radius_m = part.radius.map_or(Ok(radius_m), |radius| positive("sub_taxels.radius", radius))?;
            let center = Vec3::from_array(part.center.map(Length::si));
            Ok(SubTaxel { taxel: part.taxel, center, normal, radius_m })
        };
        Ok(Some(RaySettings {
            radius_m,
            spacing_m,
            cone_rad: cone.si(),
            window: *window,
            geodesic: *distance == DistanceSpec::Geodesic,
            seed: *seed,
            sub_taxels: sub_taxels.iter().map(part).collect::<Result<_, _>>()?,
        }))
    }
}
