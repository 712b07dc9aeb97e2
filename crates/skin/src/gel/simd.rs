//! Which instructions this machine has.

use serde::{Deserialize, Serialize};

/// A way to do arithmetic on many numbers at once, chosen at run time. The order of operations is the same in all; where
/// multiplication and addition are fused, results differ in rounding from those of [`Simd::Portable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Simd {
    /// What every machine has.
    Portable,
    /// 256 bits with fused multiply-add.
    Avx2,
    /// 512 bits.
    Avx512,
}

impl Simd {
    /// The widest that this machine has.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("fma") {
                return Self::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Self::Avx2;
            }
        }
        Self::Portable
    }

    /// Whether this machine has it.
    pub fn is_available(self) -> bool {
        match (self, Self::detect()) {
            (Self::Portable, _) | (Self::Avx2, Self::Avx2 | Self::Avx512) | (Self::Avx512, Self::Avx512) => true,
            (Self::Avx2 | Self::Avx512, _) => false,
        }
    }
}
