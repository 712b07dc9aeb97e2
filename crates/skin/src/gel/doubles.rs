//! Eight `f64` at once, on what this machine has.
#![allow(unsafe_code, reason = "vector instructions; callers hold what was found at run time")]

/// Eight numbers. The methods of the wide ones may only be called where their instructions are enabled.
pub(crate) trait Doubles: Copy {
    fn splat(value: f64) -> Self;
    fn load(from: &[f64; 8]) -> Self;
    /// From `f32`.
    fn widen(from: &[f32; 8]) -> Self;
    fn store(self, to: &mut [f64; 8]);
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// self · b + c.
    fn mul_add(self, b: Self, c: Self) -> Self;
}

/// Without special instructions.
#[derive(Clone, Copy)]
pub(crate) struct Plain([f64; 8]);

impl Doubles for Plain {
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
pub(crate) use wide::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::Doubles;
    use std::arch::x86_64::*;

    /// One 512-bit register.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(__m512d);

    impl Doubles for Avx512 {
        #[inline(always)]
        fn splat(value: f64) -> Self {
            Self(unsafe { _mm512_set1_pd(value) })
        }
        #[inline(always)]
        fn load(from: &[f64; 8]) -> Self {
            Self(unsafe { _mm512_loadu_pd(from.as_ptr()) })
        }
        #[inline(always)]
        fn widen(from: &[f32; 8]) -> Self {
            Self(unsafe { _mm512_cvtps_pd(_mm256_loadu_ps(from.as_ptr())) })
        }
        #[inline(always)]
        fn store(self, to: &mut [f64; 8]) {
            unsafe { _mm512_storeu_pd(to.as_mut_ptr(), self.0) }
        }
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Self(unsafe { _mm512_add_pd(self.0, other.0) })
        }
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            Self(unsafe { _mm512_mul_pd(self.0, other.0) })
        }
        #[inline(always)]
        fn mul_add(self, b: Self, c: Self) -> Self {
            Self(unsafe { _mm512_fmadd_pd(self.0, b.0, c.0) })
        }
    }

    /// Two 256-bit registers.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(__m256d, __m256d);

    impl Doubles for Avx2 {
        #[inline(always)]
        fn splat(value: f64) -> Self {
            let one = unsafe { _mm256_set1_pd(value) };
            Self(one, one)
        }
        #[inline(always)]
        fn load(from: &[f64; 8]) -> Self {
            unsafe { Self(_mm256_loadu_pd(from.as_ptr()), _mm256_loadu_pd(from.as_ptr().add(4))) }
        }
        #[inline(always)]
        fn widen(from: &[f32; 8]) -> Self {
            unsafe {
                let low = _mm256_cvtps_pd(_mm_loadu_ps(from.as_ptr()));
                Self(low, _mm256_cvtps_pd(_mm_loadu_ps(from.as_ptr().add(4))))
            }
        }
        #[inline(always)]
        fn store(self, to: &mut [f64; 8]) {
            unsafe {
                _mm256_storeu_pd(to.as_mut_ptr(), self.0);
                _mm256_storeu_pd(to.as_mut_ptr().add(4), self.1);
            }
        }
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            unsafe { Self(_mm256_add_pd(self.0, other.0), _mm256_add_pd(self.1, other.1)) }
        }
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            unsafe { Self(_mm256_mul_pd(self.0, other.0), _mm256_mul_pd(self.1, other.1)) }
        }
        #[inline(always)]
        fn mul_add(self, b: Self, c: Self) -> Self {
            unsafe { Self(_mm256_fmadd_pd(self.0, b.0, c.0), _mm256_fmadd_pd(self.1, b.1, c.1)) }
        }
    }
}
