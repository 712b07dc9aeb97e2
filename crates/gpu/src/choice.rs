//! Where work is done.

use crate::{Gpu, GpuError};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Where work is done, as a flag or an argument says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// On a GPU where there is one.
    #[default]
    Auto,
    /// On the CPU.
    Cpu,
    /// On a GPU, or not at all.
    Cuda,
}

impl Choice {
    /// All of them, as they are written.
    pub const NAMES: [&'static str; 3] = ["auto", "cpu", "cuda"];

    /// The GPU to use; none is the CPU. `told` is called with why where a GPU was hoped for and there is none.
    pub fn gpu(self, told: impl FnOnce(&GpuError)) -> Result<Option<Arc<Gpu>>, GpuError> {
        match (self, Gpu::open()) {
            (Self::Cpu, _) => Ok(None),
            (_, Ok(gpu)) => Ok(Some(gpu)),
            (Self::Cuda, Err(error)) => Err(error),
            (Self::Auto, Err(error)) => {
                told(&error);
                Ok(None)
            }
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[*self as usize])
    }
}

impl FromStr for Choice {
    type Err = GpuError;

    fn from_str(text: &str) -> Result<Self, GpuError> {
        let all = [Self::Auto, Self::Cpu, Self::Cuda];
        let found = all.into_iter().find(|choice| Self::NAMES[*choice as usize] == text);
        found.ok_or_else(|| GpuError::UnknownChoice { got: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_reads_back_and_others_are_refused() {
        for name in Choice::NAMES {
            assert_eq!(name.parse::<Choice>().unwrap().to_string(), name);
        }
        let refusal = "gpu".parse::<Choice>().unwrap_err().to_string();
        assert!(refusal.contains("\"gpu\"") && refusal.contains("auto, cpu or cuda"), "{refusal}");
    }

    #[test]
    fn the_cpu_needs_no_gpu() {
        assert!(Choice::Cpu.gpu(|_| panic!("nothing to tell")).unwrap().is_none());
    }

    /// With a GPU both take it; without, one goes on and says why, the other does not.
    #[test]
    fn without_a_gpu_auto_says_why_and_goes_on() {
        let mut told = None;
        let auto = Choice::Auto.gpu(|error| told = Some(error.to_string())).unwrap();
        match Choice::Cuda.gpu(|_| panic!("an error is returned, not told")) {
            Ok(gpu) => assert!(gpu.is_some() && auto.is_some() && told.is_none()),
            Err(error) => {
                assert!(auto.is_none());
                assert_eq!(told, Some(error.to_string()));
            }
        }
    }
}
