//! The response of a sensor: converts the forces on its taxels to reported readings.
//!
//! A [`Chain`] is a list of optional stages, in the order of the signal path in a real sensor:
//!
//! | stage | effect | memory |
//! |---|---|---|
//! | [`crate::Spread`] | the cover passes load to neighbours | |
//! | [`Hysteresis`] | unloading reads more than loading | the load held |
//! | [`Creep`] | the reading drifts under a steady load | slow parts |
//! | [`Ageing`] | sensitivity is lost with use and time | presses |
//! | [`Gain`] | gain and offset differ from taxel to taxel, and drift with temperature | |
//! | [`Threshold`] | small forces read zero | |
//! | [`Curve`] | nonlinear value against load | |
//! | [`Saturation`] | large forces are clipped | |
//! | [`Crosstalk`] | electrical leakage between taxels | |
//! | [`Noise`] | adds Gaussian noise | the step's number |
//! | [`Faults`] | dead and stuck taxels | |
//! | [`Sampling`] | samples at the sensor's own rate, in scan order | samples |
//! | [`Delay`] | delays the reading by a fixed time | frames in transit |
//! | [`Response`] | newtons to counts of n bits | |
//!
//! Each stage can be used alone, is plain serde data, and returns an error for invalid parameters. A [`ResponseState`]
//! holds the memory of all stages; the same state, values and step give the same bytes.
//!
//! To add a stage, implement [`Stage`] in one file and add its line to the list of stages below; for GPUs also its
//! [`Operation`].

mod ageing;
mod chain;
mod counts;
mod creep;
mod crosstalk;
mod curve;
mod delay;
mod drift;
mod error;
mod faults;
mod gain;
mod hysteresis;
mod noise;
mod operation;
mod per_taxel;
mod sampling;
mod saturation;
mod stage;
mod threshold;

pub use ageing::{Ageing, Use};
pub use chain::{Chain, Report};
pub use counts::Response;
pub use creep::Creep;
pub use crosstalk::Crosstalk;
pub use curve::Curve;
pub use delay::{Delay, DelayedFrame};
pub use drift::Drift;
pub(crate) use drift::rise_kelvin;
pub use error::ResponseError;
pub use faults::{Faults, Stuck};
pub use gain::{Gain, Lines};
pub use hysteresis::Hysteresis;
pub use noise::Noise;
pub use operation::{Operation, OperationKind};
pub use per_taxel::PerTaxel;
pub use sampling::{Sampling, Scan};
pub use saturation::Saturation;
pub use stage::{Scales, Stage, Step};
pub use threshold::{Threshold, ThresholdKind};

use crate::magnetic::MagneticMemory;
use dermis_geometry::quantity::Force;
use serde::{Deserialize, Serialize};
use stage::{Memory, Slot, stages};
use std::collections::VecDeque;
use std::sync::Arc;

fn force_per_count() -> Force {
    Force::new(1.0 / Response::default().counts_per_newton)
}

fn bits() -> u32 {
    Response::default().bits
}

stages! {
    /// Point spread of the cover.
    spread: Option<crate::Spread>,
    /// Unloading reads more than loading.
    hysteresis: Option<Hysteresis> {
        /// Load held by the hysteresis of each taxel (N).
        held_newton: Vec<f64>
    },
    /// Drift under a steady load: one term per time constant.
    creep: Vec<Creep> {
        /// Slow part of the creep of each taxel (N), term by term.
        slow_newton: Vec<f64>
    },
    /// Loss of sensitivity.
    ageing: Option<Ageing> {
        /// Presses of each taxel.
        uses: Vec<Use>
    },
    /// Gain and offset of every taxel.
    gain: Option<Gain>,
    /// Smallest reported force.
    threshold: Option<Threshold>,
    /// Reading as a function of load.
    curve: Option<Curve>,
    /// Largest reported force.
    saturation: Option<Saturation>,
    /// Electrical leakage between taxels.
    crosstalk: Option<Crosstalk>,
    /// Noise of the readings.
    noise: Option<Noise>,
    /// Dead and stuck taxels.
    faults: Option<Faults>,
    /// The sensor's own sampling rate.
    sampling: Option<Sampling> {
        /// Last sample of each taxel (N).
        sampled_newton: Vec<f64>
    },
    /// Transport delay.
    delay: Option<Delay> {
        /// Frames in transit.
        on_their_way: VecDeque<DelayedFrame>
    },
}
