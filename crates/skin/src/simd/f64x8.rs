//! Eight `f64` in the registers of each instruction set.
#![allow(unsafe_code, reason = "vector instructions; `Simd::run` checks that the CPU has them")]

/// Eight numbers, one per lane.
pub(crate) trait F64x8: Copy {
    fn splat(value: f64) -> Self;
    fn load(from: &[f64; 8]) -> Self;
    /// Converts from `f32`.
    fn widen(from: &[f32; 8]) -> Self;
    fn store(self, to: &mut [f64; 8]);
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// self · b + c.
    fn mul_add(self, b: Self, c: Self) -> Self;
}

/// An array.
#[derive(Clone, Copy)]
pub(crate) struct Portable([f64; 8]);

impl F64x8 for Portable {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value; 8])
    }
    #[inline(always)]
    fn load(from: &[f64; 8]) -> Self {
        Self(*from)
    }
    #[inline(always)]
    fn widen(from: &[f32; 8]) -> Self {
        Self(from.map(f64::from))
    }
    #[inline(always)]
    fn store(self, to: &mut [f64; 8]) {
        *to = self.0;
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|l| self.0[l] + other.0[l]))
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(std::array::from_fn(|l| self.0[l] * other.0[l]))
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self(std::array::from_fn(|l| self.0[l] * b.0[l] + c.0[l]))
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::F64x8;
    use crate::simd::lanewise;
    use std::arch::x86_64::*;

    /// One 512-bit register.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(__m512d);

    impl F64x8 for Avx512 {
        lanewise! { [f64; 8] in [0 from 0]:
            splat = _mm512_set1_pd;
            load = _mm512_loadu_pd;
            store = _mm512_storeu_pd;
            add = _mm512_add_pd;
            mul = _mm512_mul_pd;
            mul_add = _mm512_fmadd_pd;
        }
        #[inline(always)]
        fn widen(from: &[f32; 8]) -> Self {
            // SAFETY: under `Simd::run` the CPU has AVX-512; `from` holds eight numbers.
            Self(unsafe { _mm512_cvtps_pd(_mm256_loadu_ps(from.as_ptr())) })
        }
    }

    /// Two 256-bit registers.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(__m256d, __m256d);

    impl F64x8 for Avx2 {
        lanewise! { [f64; 8] in [0 from 0, 1 from 4]:
            splat = _mm256_set1_pd;
            load = _mm256_loadu_pd;
            store = _mm256_storeu_pd;
            add = _mm256_add_pd;
            mul = _mm256_mul_pd;
            mul_add = _mm256_fmadd_pd;
        }
        #[inline(always)]
        fn widen(from: &[f32; 8]) -> Self {
            // SAFETY: under `Simd::run` the CPU has AVX2; `from` holds twice four numbers.
            unsafe {
                let low = _mm256_cvtps_pd(_mm_loadu_ps(from.as_ptr()));
                Self(low, _mm256_cvtps_pd(_mm_loadu_ps(from.as_ptr().add(4))))
            }
        }
    }
}

/// Compares every operation with scalar arithmetic.
#[cfg(test)]
pub(super) fn check<T: F64x8>() {
    let (a, b): ([f64; 8], [f32; 8]) =
        (std::array::from_fn(|l| l as f64 * 0.5 - 1.5), std::array::from_fn(|l| 3.0 - l as f32 * 0.25));
    let mut out = [0.0; 8];
    T::load(&a).mul_add(T::widen(&b), T::splat(2.0)).add(T::load(&a).mul(T::load(&a))).store(&mut out);
    for l in 0..8 {
        assert_eq!(out[l], a[l] * f64::from(b[l]) + 2.0 + a[l] * a[l]);
    }
}
