//! Selects the compute device.

use crate::{Gpu, GpuError};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The compute device given by a flag or an argument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// A GPU if there is one, otherwise the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// A GPU; an error if there is none.
    Cuda,
}

impl Choice {
    /// The names of all choices.
    pub const NAMES: [&'static str; 3] = ["auto", "cpu", "cuda"];

    /// The GPU to use; `None` for the CPU. Passes the reason to `warn` if [`Choice::Auto`] finds no GPU.
    pub fn gpu(self, warn: impl FnOnce(&GpuError)) -> Result<Option<Arc<Gpu>>, GpuError> {
        match self {
            Self::Cpu => Ok(None),
            Self::Cuda => Gpu::open().map(Some),
            Self::Auto => match Gpu::open().and_then(usable) {
                Ok(gpu) => Ok(Some(gpu)),
                Err(error) => {
                    warn(&error);
                    Ok(None)
                }
            },
        }
    }
}

/// Refuses a GPU if the cache has no compiled programs and there is no compiler.
fn usable(gpu: Arc<Gpu>) -> Result<Arc<Gpu>, GpuError> {
    if gpu.has_programs_or_compiler() { Ok(gpu) } else { Err(GpuError::NoCompiler) }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[*self as usize])
    }
}

impl FromStr for Choice {
    type Err = GpuError;

    /// Reads a name, or `cuda:0`, as PyTorch and JAX name the first GPU.
    fn from_str(text: &str) -> Result<Self, GpuError> {
        if let Some(index) = text.strip_prefix("cuda:").and_then(|index| index.parse::<usize>().ok()) {
            return if index == 0 { Ok(Self::Cuda) } else { Err(GpuError::OtherGpu { index }) };
        }
        let all = [Self::Auto, Self::Cpu, Self::Cuda];
        let found = all.into_iter().find(|choice| Self::NAMES[*choice as usize] == text);
        found.ok_or_else(|| GpuError::UnknownChoice { got: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_and_others_are_refused() {
        for name in Choice::NAMES {
            assert_eq!(name.parse::<Choice>().unwrap().to_string(), name);
        }
        let refusal = "gpu".parse::<Choice>().unwrap_err().to_string();
        assert!(refusal.contains("\"gpu\"") && refusal.contains("auto, cpu or cuda"), "{refusal}");
    }

    #[test]
    fn the_first_gpu_has_its_number_too() {
        assert_eq!("cuda:0".parse::<Choice>(), Ok(Choice::Cuda));
        let refusal = "cuda:1".parse::<Choice>().unwrap_err().to_string();
        assert!(refusal.contains("cuda:1") && refusal.contains("CUDA_VISIBLE_DEVICES=1"), "{refusal}");
        for other in ["cuda:", "cuda:-1", "cuda:x", "cpu:0"] {
            assert!(other.parse::<Choice>().unwrap_err().to_string().contains(&format!("{other:?}")));
        }
    }

    #[test]
    fn the_cpu_needs_no_gpu() {
        assert!(Choice::Cpu.gpu(|_| panic!("no warning expected")).unwrap().is_none());
    }

    /// With a GPU both use it; without, `auto` warns and `cuda` fails with the same reason.
    #[test]
    fn without_a_gpu_auto_warns_and_uses_the_cpu() {
        let mut reason = None;
        let auto = Choice::Auto.gpu(|error| reason = Some(error.to_string())).unwrap();
        match Choice::Cuda.gpu(|_| panic!("an error is returned, not a warning")) {
            Ok(gpu) => assert!(gpu.is_some() && auto.is_some() && reason.is_none()),
            Err(error) => {
                assert!(auto.is_none());
                assert_eq!(reason, Some(error.to_string()));
            }
        }
    }
}
