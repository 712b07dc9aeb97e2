//! A response as a file describes it.

use super::{
    Ageing, Chain, Creep, Crosstalk, Curve, Delay, Faults, Gain, Hysteresis, Noise, Response, ResponseError, Sampling,
    Saturation, Threshold,
};
use crate::{Spread, Taxels};
use dermis_geometry::TriMesh;
use dermis_geometry::quantity::Force;
use serde::{Deserialize, Serialize};

/// How a device reports: counts always, and any of the stages. In a sensor's file `[response]`, with a table for each stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResponseSpec {
    /// Newtons for one count.
    pub force_per_count: Force,
    /// Bits of its converter.
    pub bits: u32,
    /// Whether the newtons it reports are whole counts too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quantised: bool,
    /// Point spread of the cover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// Unloading reads more than loading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hysteresis: Option<Hysteresis>,
    /// Drift under a steady load: a term for each time constant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub creep: Vec<Creep>,
    /// Loss of sensitivity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ageing: Option<Ageing>,
    /// Gain and offset of every taxel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Gain>,
    /// The least force that shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Threshold>,
    /// Value against load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<Curve>,
    /// The most that shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturation: Option<Saturation>,
    /// Electrical leakage between taxels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crosstalk: Option<Crosstalk>,
    /// Readings that waver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
    /// Taxels that do not work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<Faults>,
    /// The device's own rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    /// Transport delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Delay>,
}

impl Default for ResponseSpec {
    fn default() -> Self {
        Response::default().into()
    }
}

impl From<Response> for ResponseSpec {
    fn from(Response { counts_per_newton, bits }: Response) -> Self {
        Self {
            force_per_count: Force::new(1.0 / counts_per_newton),
            bits,
            quantised: false,
            spread: None,
            hysteresis: None,
            creep: Vec::new(),
            ageing: None,
            gain: None,
            threshold: None,
            curve: None,
            saturation: None,
            crosstalk: None,
            noise: None,
            faults: None,
            sampling: None,
            delay: None,
        }
    }
}

impl ResponseSpec {
    /// The conversion to counts.
    pub fn counts(&self) -> Result<Response, ResponseError> {
        let force = self.force_per_count.si();
        let bad = |key, rule, got| ResponseError::Bad { key, rule, got };
        if !(force > 0.0 && force.is_finite()) {
            return Err(bad("force_per_count", "a positive force", force));
        }
        if !(1..=32).contains(&self.bits) {
            return Err(bad("bits", "from 1 to 32", f64::from(self.bits)));
        }
        Ok(Response { counts_per_newton: 1.0 / force, bits: self.bits })
    }

    /// Refuses stages that mean nothing or do not fit `taxels` taxels.
    pub fn validate(&self, taxels: usize) -> Result<(), ResponseError> {
        self.counts()?;
        self.spread.as_ref().map_or(Ok(()), Spread::validate)?;
        self.hysteresis.map_or(Ok(()), |stage| stage.validate())?;
        self.creep.iter().try_for_each(Creep::validate)?;
        self.ageing.map_or(Ok(()), |stage| stage.validate())?;
        self.gain.as_ref().map_or(Ok(()), |stage| stage.build(taxels).map(drop))?;
        self.threshold.as_ref().map_or(Ok(()), |stage| stage.validate(taxels))?;
        self.curve.as_ref().map_or(Ok(()), Curve::validate)?;
        self.saturation.as_ref().map_or(Ok(()), |stage| stage.validate(taxels))?;
        self.crosstalk.map_or(Ok(()), |stage| stage.validate())?;
        self.noise.map_or(Ok(()), |stage| stage.validate())?;
        self.faults.as_ref().map_or(Ok(()), |stage| stage.validate(taxels))?;
        self.sampling.map_or(Ok(()), |stage| stage.validate())?;
        self.delay.map_or(Ok(()), |stage| stage.validate())
    }

    /// The chain for these taxels; `surface` is what the spread runs along where there is no grid.
    pub fn build(&self, taxels: &Taxels, surface: Option<&TriMesh>) -> Result<Chain, ResponseError> {
        Chain::new(self, taxels, surface)
    }
}
