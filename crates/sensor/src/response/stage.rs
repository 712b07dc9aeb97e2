//! The interface of a stage, and the macro that declares the response from a list of stages.

use super::{DelayedFrame, Operation, ResponseError, ResponseState, Use};
use crate::Taxels;
use dermis_geometry::TriMesh;
use std::collections::VecDeque;
use std::sync::Arc;

/// One stage of a response: plain serde data, or that data prepared for a set of taxels.
pub trait Stage: std::fmt::Debug + Send + Sync {
    /// Returns an error for parameters that are invalid or do not match `taxels` taxels.
    fn validate(&self, _taxels: usize) -> Result<(), ResponseError> {
        Ok(())
    }

    /// Returns the stage prepared for these taxels, or `None` to use `self`. `surface` is the shape of the skin, for
    /// taxels without a grid.
    fn prepare(&self, _: &Taxels, _surface: Option<&TriMesh>) -> Result<Option<Arc<dyn Stage>>, ResponseError> {
        Ok(None)
    }

    /// Applies the stage to the values (N) of one step. `memory` holds the memory between steps.
    fn step(&self, _values: &mut Vec<f64>, _memory: &mut ResponseState, _step: &Step) {}

    /// Replaces the derivatives of a scalar by the values after this stage by those by the values before it, `values`, and
    /// returns the derivatives by its own parameters. As [`Stage::step`], a stage without memory implements it.
    fn vjp(&self, _values: &[f64], _by_values: &mut Vec<f64>) -> Vec<(&'static str, Vec<f64>)> {
        Vec::new()
    }

    /// The stage in plain numbers, for a GPU; `None` if it has no such form. The prepared stage implements it.
    fn operation(&self, _taxels: usize) -> Option<Operation> {
        None
    }

    /// True if the reading of a step depends on other steps or on the step number. [`super::Chain::respond_at_once`]
    /// skips such a stage.
    fn has_memory(&self) -> bool {
        false
    }

    /// Resets the memory of the stage to a sensor at rest.
    fn rest(&self, _memory: &mut ResponseState, _taxels: usize) {}
}

/// The time of a step, and the scales of the sensor's parameters.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Number of steps since rest.
    pub number: u64,
    /// Time since rest at the start of the step (s).
    pub start_s: f64,
    /// Length of the step (s).
    pub dt_s: f64,
    /// Scales of parameters.
    pub scales: Scales,
}

/// Factors on parameters of the stages, for sensors that are alike but not equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scales {
    /// Factor on all gains.
    pub gain: f64,
    /// Factor on all thresholds.
    pub threshold: f64,
    /// Factor on the standard deviation of the noise.
    pub noise: f64,
    /// Factor on the load that the cover passes to neighbours.
    pub spread: f64,
}

impl Scales {
    /// The parameters as they are.
    pub const ONE: Self = Self { gain: 1.0, threshold: 1.0, noise: 1.0, spread: 1.0 };
}

impl Step {
    /// Time since rest at the end of the step (s).
    pub fn end_s(&self) -> f64 {
        self.start_s + self.dt_s
    }
}

/// Slot of a stage in a description; empty if the stage is absent.
pub(super) trait Slot {
    fn stage(&self) -> Option<Arc<dyn Stage>>;

    fn is_absent(&self) -> bool {
        self.stage().is_none()
    }
}

impl<T: Stage + Clone + 'static> Slot for Option<T> {
    fn stage(&self) -> Option<Arc<dyn Stage>> {
        self.clone().map(|stage| Arc::new(stage) as Arc<dyn Stage>)
    }
}

/// The memory of a stage in a state.
pub(super) trait Memory {
    /// Size of the memory and its expected size, if they differ. `rest` is the memory at rest.
    fn misfit(&self, rest: &Self, taxels: usize) -> Option<(usize, usize)>;

    /// True if all numbers are finite and none is absurdly large.
    fn is_sound(&self) -> bool;
}

/// Largest force (N) or time (s) of a sound state.
const MAX_NUMBER: f64 = 1e15;

pub(super) fn is_sound(value: f64) -> bool {
    value.abs() <= MAX_NUMBER
}

impl Memory for Vec<f64> {
    fn misfit(&self, rest: &Self, _: usize) -> Option<(usize, usize)> {
        (self.len() != rest.len()).then_some((self.len(), rest.len()))
    }

    fn is_sound(&self) -> bool {
        self.iter().all(|value| is_sound(*value))
    }
}

impl Memory for Vec<Use> {
    fn misfit(&self, rest: &Self, _: usize) -> Option<(usize, usize)> {
        (self.len() != rest.len()).then_some((self.len(), rest.len()))
    }

    fn is_sound(&self) -> bool {
        true
    }
}

impl Memory for VecDeque<DelayedFrame> {
    fn misfit(&self, _: &Self, taxels: usize) -> Option<(usize, usize)> {
        self.iter().map(|frame| (frame.newton.len(), taxels)).find(|(got, expected)| got != expected)
    }

    fn is_sound(&self) -> bool {
        self.iter().all(|frame| is_sound(frame.sent_s) && frame.newton.is_sound())
    }
}

/// Declares [`super::ResponseSpec`] and [`ResponseState`] from the list of stages, each with its key, its description
/// and its memory.
macro_rules! stages {
    ($($(#[$doc:meta])* $key:ident: $spec:ty $({ $(#[$memory_doc:meta])* $memory:ident: $kind:ty })?,)+) => {
        /// The response of a sensor: counts, and any of the stages. In a sensor's file `[response]`, with a table for
        /// each stage.
        #[doc = concat!("They act in this order:", $(" `", stringify!($key), "`,",)+ " and last the conversion to counts.")]
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct ResponseSpec {
            /// Newtons per count: 1 mN by default.
            #[serde(default = "force_per_count")]
            pub force_per_count: Force,
            /// Bits of the converter: 16 by default.
            #[serde(default = "bits")]
            pub bits: u32,
            /// If true, the reported newtons are rounded to counts too.
            #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            pub quantised: bool,
            $($(#[$doc])* #[serde(default, skip_serializing_if = "Slot::is_absent")] pub $key: $spec,)+
        }

        impl From<Response> for ResponseSpec {
            fn from(Response { counts_per_newton, bits }: Response) -> Self {
                let force_per_count = Force::new(1.0 / counts_per_newton);
                Self { force_per_count, bits, quantised: false, $($key: Default::default(),)+ }
            }
        }

        impl ResponseSpec {
            /// The stages that are present, in the order of the list.
            fn stages(&self) -> impl Iterator<Item = Arc<dyn Stage>> {
                [$(self.$key.stage()),+].into_iter().flatten()
            }
        }

        /// The history of a sensor's response: clone it to branch, serialise it to resume. [`Chain::rest`] creates it;
        /// the memory of absent stages is empty.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct ResponseState {
            /// Time since rest (s).
            pub time_s: f64,
            /// Rounding error of the time (s), which the next step subtracts: without it, sums of many steps drift past the times of samples.
            #[serde(default)]
            pub time_error_s: f64,
            /// Steps since rest.
            pub step: u64,
            /// Memory of the magnetometers.
            #[serde(default, skip_serializing_if = "MagneticMemory::is_empty")]
            pub magnetic: MagneticMemory,
            $($($(#[$memory_doc])* pub $memory: $kind,)?)+
        }

        impl ResponseState {
            /// Size of a memory and its expected size, if they differ.
            fn misfit(&self, rest: &Self, taxels: usize) -> Option<(usize, usize)> {
                [$($(self.$memory.misfit(&rest.$memory, taxels),)?)+].into_iter().flatten().next()
            }

            /// Advances the time by a step, as Kahan (1965) sums.
            fn advance(&mut self, dt_s: f64) {
                let step_s = dt_s - self.time_error_s;
                let time_s = self.time_s + step_s;
                self.time_error_s = (time_s - self.time_s) - step_s;
                self.time_s = time_s;
                self.step = self.step.wrapping_add(1);
            }

            /// True if all numbers are finite and none is absurdly large.
            fn is_sound(&self) -> bool {
                stage::is_sound(self.time_s) && stage::is_sound(self.time_error_s) $($(&& self.$memory.is_sound())?)+
            }
        }
    };
}
pub(super) use stages;
