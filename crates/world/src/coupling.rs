//! The instant at which contact forces are taken.

use dermis_sensor::Sensor;
use dermis_skin::Touch;
use serde::{Deserialize, Serialize};

/// The instant at which the contact forces of a step are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Coupling {
    /// The end of the step: any time step is stable. Skins without [`dermis_skin::Skin::hold`] use the start.
    #[default]
    Implicit,
    /// The start of the step: time steps beyond the stability limit are refused.
    Explicit,
}

impl Coupling {
    /// The coupling of a name, "implicit" or "explicit".
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "implicit" => Some(Self::Implicit),
            "explicit" => Some(Self::Explicit),
            _ => None,
        }
    }

    /// The name of the coupling.
    pub fn name(self) -> &'static str {
        match self {
            Self::Implicit => "implicit",
            Self::Explicit => "explicit",
        }
    }

    /// The coupling that a sensor's skin supports.
    pub fn supported(self, sensor: &Sensor) -> Self {
        let untouched = (Touch::default(), sensor.skin().rest());
        if sensor.skin().hold(&untouched).is_some() { self } else { Self::Explicit }
    }
}
