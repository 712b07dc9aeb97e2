//! What a device makes of the forces on its taxels.
//!
//! A [`Chain`] is a list of stages, each of which may be absent, in the order in which a real device has them:
//!
//! | stage | what it does | memory |
//! |---|---|---|
//! | [`crate::Spread`] | the cover passes load to neighbours | |
//! | [`Hysteresis`] | unloading reads more than loading | the load held |
//! | [`Creep`] | the reading drifts under a steady load | slow parts |
//! | [`Ageing`] | sensitivity is lost with use and time | presses |
//! | [`Gain`] | taxels differ | |
//! | [`Threshold`] | little is not felt | |
//! | [`Curve`] | value against load | |
//! | [`Saturation`] | much is not felt either | |
//! | [`Crosstalk`] | wires hear their neighbours | |
//! | [`Noise`] | readings waver | the step's number |
//! | [`Faults`] | dead and stuck taxels | |
//! | [`Sampling`] | frames at the device's own rate, in scan order | samples |
//! | [`Delay`] | news arrives late | frames on their way |
//! | [`Response`] | newtons to counts of n bits | |
//!
//! Each can be used alone, is plain data that serde reads and writes, and refuses what means nothing. All that changes is in a
//! [`ResponseState`]; the same state, values and step give the same bytes.

mod ageing;
mod chain;
mod counts;
mod creep;
mod crosstalk;
mod curve;
mod delay;
mod error;
mod faults;
mod gain;
mod hysteresis;
mod noise;
mod per_taxel;
mod sampling;
mod saturation;
mod spec;
mod state;
mod threshold;

pub use ageing::{Ageing, Use};
pub use chain::{Chain, Report};
pub use counts::Response;
pub use creep::Creep;
pub use crosstalk::Crosstalk;
pub use curve::Curve;
pub use delay::{Delay, Frame};
pub use error::ResponseError;
pub use faults::{Faults, Stuck};
pub use gain::{Gain, Lines};
pub use hysteresis::Hysteresis;
pub use noise::Noise;
pub use per_taxel::PerTaxel;
pub use sampling::{Sampling, Scan};
pub use saturation::Saturation;
pub use spec::ResponseSpec;
pub use state::ResponseState;
pub use threshold::{Threshold, ThresholdKind};
