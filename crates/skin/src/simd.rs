//! Vector instruction sets, selected at run time.
//!
//! A [`Simd`] of a level exists only if the CPU supports the instructions of that level: its constructors check. The
//! register types of [`f32x16`] and [`f64x8`] are private to this module and reach other code only as type parameters
//! of [`Kernel::run`], which [`Simd::run`] calls. Safe code therefore cannot execute an unsupported instruction.

mod f32x16;
mod f64x8;

pub(crate) use f32x16::F32x16;
pub(crate) use f64x8::F64x8;

/// A vector instruction set that this CPU supports.
///
/// All levels add and multiply in the same order. [`SimdLevel::Avx2`] and [`SimdLevel::Avx512`] fuse multiplication and
/// addition, so their results differ from those of [`SimdLevel::Portable`] by rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simd(SimdLevel);

/// Names of the instruction sets, from narrow to wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SimdLevel {
    /// The instructions of every CPU of this architecture.
    Portable,
    /// 256-bit registers: AVX2 and FMA.
    Avx2,
    /// 512-bit registers: AVX-512 F, VL and DQ, and FMA.
    Avx512,
}

impl SimdLevel {
    fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("fma")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }
}

impl Simd {
    /// The instruction set of this level, or `None` if the CPU does not support it.
    pub fn new(level: SimdLevel) -> Option<Self> {
        level.is_available().then_some(Self(level))
    }

    /// The portable instruction set, available on every CPU.
    pub const fn portable() -> Self {
        Self(SimdLevel::Portable)
    }

    /// Every instruction set that this CPU supports, from narrow to wide.
    pub fn available() -> Vec<Self> {
        [SimdLevel::Portable, SimdLevel::Avx2, SimdLevel::Avx512].into_iter().filter_map(Self::new).collect()
    }

    /// The widest instruction set that this CPU supports.
    pub fn detect() -> Self {
        Self::new(SimdLevel::Avx512).or(Self::new(SimdLevel::Avx2)).unwrap_or(Self::portable())
    }

    /// Level of the instruction set.
    pub fn level(self) -> SimdLevel {
        self.0
    }

    /// Runs a kernel compiled for this instruction set.
    #[inline]
    #[allow(unsafe_code, reason = "calls functions that need instructions found at run time")]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            // SAFETY: a `Simd` of this level is constructed only after `is_available` found its instructions.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { run_avx512(kernel) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { run_avx2(kernel) },
            _ => kernel.run::<Portable>(),
        }
    }
}

/// A computation that is compiled once per instruction set.
pub(crate) trait Kernel {
    type Output;
    /// Runs the computation on the registers of `V`. This function and the functions that it calls in its loops must be
    /// `#[inline(always)]`: only code inlined into [`Simd::run`] is compiled for the wide instructions.
    fn run<V: Vectors>(self) -> Self::Output;
}

/// The register types of an instruction set.
pub(crate) trait Vectors {
    type F32: F32x16;
    type F64: F64x8;
}

struct Portable;
impl Vectors for Portable {
    type F32 = f32x16::Portable;
    type F64 = f64x8::Portable;
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::{Kernel, Vectors, f32x16, f64x8};

    struct Avx2;
    impl Vectors for Avx2 {
        type F32 = f32x16::Avx2;
        type F64 = f64x8::Avx2;
    }

    struct Avx512;
    impl Vectors for Avx512 {
        type F32 = f32x16::Avx512;
        type F64 = f64x8::Avx512;
    }

    #[target_feature(enable = "avx2,fma")]
    pub fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Avx2>()
    }

    #[target_feature(enable = "avx512f,avx512vl,avx512dq,fma")]
    pub fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Avx512>()
    }
}
#[cfg(target_arch = "x86_64")]
use x86_64::{run_avx2, run_avx512};

/// Defines operations by the instruction that each applies to every register of a vector. `[f64; 8] in [0 from 0, 1
/// from 4]` means that register 0 holds the lanes starting at 0 and register 1 those starting at 4.
#[cfg(target_arch = "x86_64")]
macro_rules! lanewise {
    ([$scalar:ident; $lanes:literal] in $registers:tt: $($name:ident = $instruction:ident;)*) => {
        $($crate::simd::lanewise!(@$name $scalar $lanes $instruction $registers);)*
    };
    (@splat $scalar:ident $lanes:literal $instruction:ident [$($i:tt from $first:literal),*]) => {
        #[inline(always)]
        fn splat(value: $scalar) -> Self {
            // SAFETY: the type is used only under `Simd::run`, where the CPU has its instructions.
            let register = unsafe { $instruction(value) };
            Self($({ let _ = $first; register }),*)
        }
    };
    (@load $scalar:ident $lanes:literal $instruction:ident [$($i:tt from $first:literal),*]) => {
        #[inline(always)]
        fn load(from: &[$scalar; $lanes]) -> Self {
            // SAFETY: as above; the array holds the lanes of every register.
            unsafe { Self($($instruction(from.as_ptr().add($first))),*) }
        }
    };
    (@store $scalar:ident $lanes:literal $instruction:ident [$($i:tt from $first:literal),*]) => {
        #[inline(always)]
        fn store(self, to: &mut [$scalar; $lanes]) {
            // SAFETY: as above; the array holds the lanes of every register.
            unsafe { $($instruction(to.as_mut_ptr().add($first), self.$i);)* }
        }
    };
    (@floor $scalar:ident $lanes:literal $instruction:ident [$($i:tt from $first:literal),*]) => {
        #[inline(always)]
        fn floor(self) -> Self {
            // SAFETY: the type is used only under `Simd::run`, where the CPU has its instructions.
            unsafe { Self($($instruction(self.$i)),*) }
        }
    };
    (@mul_add $scalar:ident $lanes:literal $instruction:ident [$($i:tt from $first:literal),*]) => {
        #[inline(always)]
        fn mul_add(self, b: Self, c: Self) -> Self {
            // SAFETY: the type is used only under `Simd::run`, where the CPU has its instructions.
            unsafe { Self($($instruction(self.$i, b.$i, c.$i)),*) }
        }
    };
    (@$binary:ident $scalar:ident $lanes:literal $instruction:ident [$($i:tt from $first:literal),*]) => {
        #[inline(always)]
        fn $binary(self, other: Self) -> Self {
            // SAFETY: the type is used only under `Simd::run`, where the CPU has its instructions.
            unsafe { Self($($instruction(self.$i, other.$i)),*) }
        }
    };
}
#[cfg(target_arch = "x86_64")]
use lanewise;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_available_in_order() {
        let available = Simd::available();
        assert_eq!(available.first(), Some(&Simd::portable()));
        assert_eq!(available.last(), Some(&Simd::detect()));
        assert!(available.iter().all(|simd| Simd::new(simd.level()) == Some(*simd)));
    }

    struct Check;
    impl Kernel for Check {
        type Output = ();
        fn run<V: Vectors>(self) {
            f32x16::check::<V::F32>();
            f64x8::check::<V::F64>();
        }
    }

    #[test]
    fn all_levels_compute_the_same() {
        Simd::available().into_iter().for_each(|simd| simd.run(Check));
    }
}
