//! The output of a taxel array.

use crate::Report;
use crate::magnetic::MagneticReading;
use dermis_geometry::Vec3;
use dermis_skin::Warning;
use serde::{Deserialize, Serialize};

/// One reading of a taxel array: the structure of the paper (size, values, sum) with units and vectors added. Forces
/// act on the sensor, in its frame.
///
/// ```
/// use dermis_sensor::{Aim, Goal, press};
/// # use dermis_skin::Object;
/// # let sensor = dermis_sensor::presets::find("wts0614")?.build(None)?;
/// # let ball = Object::new(dermis_geometry::shapes::sphere(0.010, 0.001)?);
/// let reading = press(&sensor, &ball, &Aim::default(), Goal::Depth(0.5e-3))?.reading;
/// assert_eq!((reading.size, reading.values_newton.len()), (Some((14, 6)), 84));
/// assert!(reading.net_force_newton().z < 0.0); // on the sensor, into the skin
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Rows and columns of a grid; `None` for other layouts.
    pub size: Option<(usize, usize)>,
    /// Force on each taxel along its normal (N), positive in compression, before the response; row by row on a grid.
    /// For a sensor that reads by rays: pressure times area of the taxel, the input of the response.
    pub values_newton: Vec<f64>,
    /// Sum of `values_newton` (N).
    pub sum_newton: f64,
    /// The reported force on each taxel (N), after the response.
    pub reported_newton: Vec<f64>,
    /// Counts after the response.
    pub raw: Vec<u32>,
    /// Sum of `raw`.
    pub raw_sum: u64,
    /// Force vector on each taxel (N).
    pub forces_newton: Vec<Vec3>,
    /// Force that enters the skin where there is no taxel (N).
    pub outside_newton: Vec3,
    /// Pressure (Pa) on each taxel; only for a sensor that reads by rays ([`crate::RayReading`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressures_pa: Option<Vec<f64>>,
    /// Flux density (T) at each magnetometer, in the frame of the chip; only for a sensor with magnets
    /// ([`crate::magnetic::Magnetics`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub magnetic_tesla: Option<Vec<Vec3>>,
    /// Exceeded limits of the transducer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Number of contact points pressed beyond the skin's range.
    pub saturated: usize,
}

impl Reading {
    /// The reading with the output of the response.
    pub(crate) fn with_report(self, Report { newton, raw }: Report) -> Self {
        let raw_sum = raw.iter().map(|&counts| u64::from(counts)).sum();
        Self { raw_sum, raw, reported_newton: newton, ..self }
    }

    /// The reading with that of the magnetometers.
    pub(crate) fn with_magnetic(self, MagneticReading { tesla, warnings }: MagneticReading) -> Self {
        Self { magnetic_tesla: Some(tesla), warnings, ..self }
    }

    /// Sum of the taxels' force vectors and the force outside (N): the force on the sensor.
    pub fn net_force_newton(&self) -> Vec3 {
        self.forces_newton.iter().fold(self.outside_newton, |sum, force| sum + *force)
    }

    /// Number of active taxels: those that carry at least 1 % of the load of the most loaded one. Under a layer every
    /// taxel carries some load, however far from the contact.
    pub fn active(&self) -> usize {
        active(&self.values_newton)
    }

    /// Number of taxels that are active in what the sensor reports, after the response.
    pub fn reporting(&self) -> usize {
        active(&self.reported_newton)
    }

    /// Fraction of the taxels that are active.
    pub fn coverage(&self) -> f64 {
        self.active() as f64 / self.values_newton.len().max(1) as f64
    }
}

fn active(values: &[f64]) -> usize {
    let peak = values.iter().copied().fold(0.0, f64::max);
    values.iter().filter(|&&value| value > 0.0 && value >= 0.01 * peak).count()
}
