//! Sixteen `f32` in the registers of each instruction set.
#![allow(unsafe_code, reason = "vector instructions; `Simd::run` checks that the CPU has them")]

/// Sixteen numbers: one for each of sixteen particles, or four for each of four grid nodes (a *quad* per node).
pub(crate) trait F32x16: Copy {
    fn splat(value: f32) -> Self;
    fn load(from: &[f32; 16]) -> Self;
    fn store(self, to: &mut [f32; 16]);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// self · b + c.
    fn mul_add(self, b: Self, c: Self) -> Self;
    fn floor(self) -> Self;
    /// Clamps each lane to 0 … `high`; NaN becomes 0.
    fn bounded(self, high: f32) -> Self;
    /// One quad, repeated four times.
    fn repeat_quad(from: &[f32; 4]) -> Self;
    /// a, b and c four times each, then four zeros.
    fn quads(a: f32, b: f32, c: f32) -> Self;
    /// Four quads: the sum of the quads of a, of b, of c and of d.
    fn sum_quads(a: Self, b: Self, c: Self, d: Self) -> Self;
    /// Transposes a 16 × 16 matrix.
    fn transpose(rows: &mut [Self; 16]);
    /// The first lane that is not above `low` and below `high`, or is NaN.
    fn outside(self, low: f32, high: f32) -> Option<usize>;
}

/// An array.
#[derive(Clone, Copy)]
pub(crate) struct Portable([f32; 16]);

impl Portable {
    #[inline(always)]
    fn each(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|l| f(self.0[l], other.0[l])))
    }
}

impl F32x16 for Portable {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; 16])
    }
    #[inline(always)]
    fn load(from: &[f32; 16]) -> Self {
        Self(*from)
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 16]) {
        *to = self.0;
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.each(other, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.each(other, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.each(other, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.each(other, |a, b| a / b)
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        self.mul(b).add(c)
    }
    #[inline(always)]
    fn floor(self) -> Self {
        Self(self.0.map(f32::floor))
    }
    #[inline(always)]
    fn bounded(self, high: f32) -> Self {
        // `max` returns the other operand if one is NaN.
        Self(self.0.map(|value| value.max(0.0).min(high)))
    }
    #[inline(always)]
    fn repeat_quad(from: &[f32; 4]) -> Self {
        Self(std::array::from_fn(|l| from[l % 4]))
    }
    #[inline(always)]
    fn quads(a: f32, b: f32, c: f32) -> Self {
        let mut out = [0.0; 16];
        for l in 0..4 {
            (out[l], out[4 + l], out[8 + l]) = (a, b, c);
        }
        Self(out)
    }
    #[inline(always)]
    fn sum_quads(a: Self, b: Self, c: Self, d: Self) -> Self {
        let mut out = [0.0; 16];
        for (q, rows) in [a, b, c, d].iter().enumerate() {
            for l in 0..4 {
                out[4 * q + l] = (rows.0[l] + rows.0[8 + l]) + (rows.0[4 + l] + rows.0[12 + l]);
            }
        }
        Self(out)
    }
    #[inline(always)]
    fn transpose(rows: &mut [Self; 16]) {
        for i in 0..16 {
            for j in 0..i {
                let kept = rows[i].0[j];
                rows[i].0[j] = rows[j].0[i];
                rows[j].0[i] = kept;
            }
        }
    }
    #[inline(always)]
    fn outside(self, low: f32, high: f32) -> Option<usize> {
        self.0.iter().position(|&value| !(value > low && value < high))
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::F32x16;
    use crate::simd::lanewise;
    use std::arch::x86_64::*;

    /// One 512-bit register.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(__m512);

    impl F32x16 for Avx512 {
        lanewise! { [f32; 16] in [0 from 0]:
            splat = _mm512_set1_ps;
            load = _mm512_loadu_ps;
            store = _mm512_storeu_ps;
            add = _mm512_add_ps;
            sub = _mm512_sub_ps;
            mul = _mm512_mul_ps;
            div = _mm512_div_ps;
            mul_add = _mm512_fmadd_ps;
        }
        #[inline(always)]
        fn floor(self) -> Self {
            // SAFETY: under `Simd::run` the CPU has AVX-512.
            Self(unsafe { _mm512_roundscale_ps::<0x09>(self.0) })
        }
        #[inline(always)]
        fn bounded(self, high: f32) -> Self {
            // `max` returns its second operand where the first is NaN.
            // SAFETY: under `Simd::run` the CPU has AVX-512.
            unsafe { Self(_mm512_min_ps(_mm512_max_ps(self.0, _mm512_setzero_ps()), _mm512_set1_ps(high))) }
        }
        #[inline(always)]
        fn repeat_quad(from: &[f32; 4]) -> Self {
            // SAFETY: under `Simd::run` the CPU has AVX-512; the array holds the lanes.
            Self(unsafe { _mm512_broadcast_f32x4(_mm_loadu_ps(from.as_ptr())) })
        }
        #[inline(always)]
        fn quads(a: f32, b: f32, c: f32) -> Self {
            // SAFETY: under `Simd::run` the CPU has AVX-512.
            unsafe {
                let first = _mm512_maskz_mov_ps(0x000f, _mm512_set1_ps(a));
                let second = _mm512_mask_mov_ps(first, 0x00f0, _mm512_set1_ps(b));
                Self(_mm512_mask_mov_ps(second, 0x0f00, _mm512_set1_ps(c)))
            }
        }
        #[inline(always)]
        fn sum_quads(a: Self, b: Self, c: Self, d: Self) -> Self {
            // SAFETY: under `Simd::run` the CPU has AVX-512.
            unsafe {
                let first =
                    _mm512_add_ps(_mm512_shuffle_f32x4::<0x44>(a.0, b.0), _mm512_shuffle_f32x4::<0xee>(a.0, b.0));
                let second =
                    _mm512_add_ps(_mm512_shuffle_f32x4::<0x44>(c.0, d.0), _mm512_shuffle_f32x4::<0xee>(c.0, d.0));
                Self(_mm512_add_ps(
                    _mm512_shuffle_f32x4::<0x88>(first, second),
                    _mm512_shuffle_f32x4::<0xdd>(first, second),
                ))
            }
        }
        #[inline(always)]
        fn transpose(rows: &mut [Self; 16]) {
            // SAFETY: under `Simd::run` the CPU has AVX-512.
            unsafe {
                let mut a = [rows[0].0; 16];
                let mut i = 0;
                while i < 8 {
                    a[2 * i] = _mm512_unpacklo_ps(rows[2 * i].0, rows[2 * i + 1].0);
                    a[2 * i + 1] = _mm512_unpackhi_ps(rows[2 * i].0, rows[2 * i + 1].0);
                    i += 1;
                }
                // Quad q of b[4g + c] holds column 4q + c of rows 4g … 4g + 3.
                let mut b = a;
                let mut g = 0;
                while g < 4 {
                    let a0 = _mm512_castps_pd(a[4 * g]);
                    let a1 = _mm512_castps_pd(a[4 * g + 1]);
                    let a2 = _mm512_castps_pd(a[4 * g + 2]);
                    let a3 = _mm512_castps_pd(a[4 * g + 3]);
                    b[4 * g] = _mm512_castpd_ps(_mm512_unpacklo_pd(a0, a2));
                    b[4 * g + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a0, a2));
                    b[4 * g + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(a1, a3));
                    b[4 * g + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(a1, a3));
                    g += 1;
                }
                let mut c = 0;
                while c < 4 {
                    let low01 = _mm512_shuffle_f32x4::<0x44>(b[c], b[4 + c]);
                    let high01 = _mm512_shuffle_f32x4::<0xee>(b[c], b[4 + c]);
                    let low23 = _mm512_shuffle_f32x4::<0x44>(b[8 + c], b[12 + c]);
                    let high23 = _mm512_shuffle_f32x4::<0xee>(b[8 + c], b[12 + c]);
                    rows[c] = Self(_mm512_shuffle_f32x4::<0x88>(low01, low23));
                    rows[4 + c] = Self(_mm512_shuffle_f32x4::<0xdd>(low01, low23));
                    rows[8 + c] = Self(_mm512_shuffle_f32x4::<0x88>(high01, high23));
                    rows[12 + c] = Self(_mm512_shuffle_f32x4::<0xdd>(high01, high23));
                    c += 1;
                }
            }
        }
        #[inline(always)]
        fn outside(self, low: f32, high: f32) -> Option<usize> {
            // SAFETY: under `Simd::run` the CPU has AVX-512.
            let inside = unsafe {
                _mm512_cmp_ps_mask::<_CMP_GT_OQ>(self.0, _mm512_set1_ps(low))
                    & _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, _mm512_set1_ps(high))
            };
            (inside != 0xffff).then(|| (!inside).trailing_zeros() as usize)
        }
    }

    /// Two 256-bit registers.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(__m256, __m256);

    impl F32x16 for Avx2 {
        lanewise! { [f32; 16] in [0 from 0, 1 from 8]:
            splat = _mm256_set1_ps;
            load = _mm256_loadu_ps;
            store = _mm256_storeu_ps;
            add = _mm256_add_ps;
            sub = _mm256_sub_ps;
            mul = _mm256_mul_ps;
            div = _mm256_div_ps;
            mul_add = _mm256_fmadd_ps;
            floor = _mm256_floor_ps;
        }
        #[inline(always)]
        fn bounded(self, high: f32) -> Self {
            // `max` returns its second operand where the first is NaN.
            // SAFETY: under `Simd::run` the CPU has AVX2.
            unsafe {
                let (zero, high) = (_mm256_setzero_ps(), _mm256_set1_ps(high));
                Self(_mm256_min_ps(_mm256_max_ps(self.0, zero), high), _mm256_min_ps(_mm256_max_ps(self.1, zero), high))
            }
        }
        #[inline(always)]
        fn repeat_quad(from: &[f32; 4]) -> Self {
            // SAFETY: under `Simd::run` the CPU has AVX2; the array holds the lanes.
            let twice = unsafe { _mm256_broadcast_ps(&_mm_loadu_ps(from.as_ptr())) };
            Self(twice, twice)
        }
        #[inline(always)]
        fn quads(a: f32, b: f32, c: f32) -> Self {
            // SAFETY: under `Simd::run` the CPU has AVX2.
            unsafe {
                let first = _mm256_set_m128(_mm_set1_ps(b), _mm_set1_ps(a));
                Self(first, _mm256_set_m128(_mm_setzero_ps(), _mm_set1_ps(c)))
            }
        }
        #[inline(always)]
        fn sum_quads(a: Self, b: Self, c: Self, d: Self) -> Self {
            // SAFETY: under `Simd::run` the CPU has AVX2.
            unsafe {
                let (a, b) = (_mm256_add_ps(a.0, a.1), _mm256_add_ps(b.0, b.1));
                let (c, d) = (_mm256_add_ps(c.0, c.1), _mm256_add_ps(d.0, d.1));
                Self(
                    _mm256_add_ps(_mm256_permute2f128_ps::<0x20>(a, b), _mm256_permute2f128_ps::<0x31>(a, b)),
                    _mm256_add_ps(_mm256_permute2f128_ps::<0x20>(c, d), _mm256_permute2f128_ps::<0x31>(c, d)),
                )
            }
        }
        #[inline(always)]
        fn transpose(rows: &mut [Self; 16]) {
            let mut flat = [[0f32; 16]; 16];
            let mut transposed = [[0f32; 16]; 16];
            for i in 0..16 {
                rows[i].store(&mut flat[i]);
            }
            for i in 0..16 {
                for j in 0..16 {
                    transposed[i][j] = flat[j][i];
                }
            }
            for i in 0..16 {
                rows[i] = Self::load(&transposed[i]);
            }
        }
        #[inline(always)]
        fn outside(self, low: f32, high: f32) -> Option<usize> {
            let mut inside = 0;
            for (half, shift) in [(self.0, 0), (self.1, 8)] {
                // SAFETY: under `Simd::run` the CPU has AVX2.
                let mask = unsafe {
                    let above = _mm256_cmp_ps::<_CMP_GT_OQ>(half, _mm256_set1_ps(low));
                    let below = _mm256_cmp_ps::<_CMP_LT_OQ>(half, _mm256_set1_ps(high));
                    _mm256_movemask_ps(_mm256_and_ps(above, below)) as u32
                };
                inside |= mask << shift;
            }
            (inside != 0xffff).then(|| (!inside).trailing_zeros() as usize)
        }
    }
}

/// Compares every operation with scalar arithmetic.
#[cfg(test)]
pub(super) fn check<T: F32x16>() {
    let numbers: [[f32; 16]; 16] = std::array::from_fn(|i| std::array::from_fn(|j| (16 * i + j) as f32 * 0.7 - 31.0));
    let row = |i: usize| T::load(&numbers[i]);
    let out = |t: T| {
        let mut to = [0f32; 16];
        t.store(&mut to);
        to
    };
    let mut rows: [T; 16] = std::array::from_fn(row);
    T::transpose(&mut rows);
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(out(*row), std::array::from_fn(|j| numbers[j][i]));
    }
    let sums = out(T::sum_quads(row(0), row(1), row(2), row(3)));
    for (l, value) in sums.iter().enumerate() {
        let sum: f32 = (0..4).map(|q| numbers[l / 4][4 * q + l % 4]).sum();
        assert!((value - sum).abs() < 1e-4);
    }
    for (l, (&a, &b)) in numbers[3].iter().zip(&numbers[9]).enumerate() {
        assert_eq!(out(row(3).add(row(9)))[l], a + b);
        assert_eq!(out(row(3).sub(row(9)))[l], a - b);
        assert_eq!(out(row(3).mul(row(9)))[l], a * b);
        assert_eq!(out(row(3).div(row(9)))[l], a / b);
        assert!((out(row(3).mul_add(row(9), row(1)))[l] - (a * b + numbers[1][l])).abs() < 1e-3);
        assert_eq!(out(row(3).bounded(5.0))[l], a.clamp(0.0, 5.0));
    }
    assert_eq!(out(T::quads(1.0, 2.0, 3.0))[..13], [1., 1., 1., 1., 2., 2., 2., 2., 3., 3., 3., 3., 0.]);
    assert_eq!(out(T::repeat_quad(&[1.0, 2.0, 3.0, 4.0]))[4..9], [1.0, 2.0, 3.0, 4.0, 1.0]);
    assert_eq!(out(T::splat(-1.5).floor())[3], -2.0);
    assert_eq!(out(T::splat(f32::NAN).bounded(5.0))[7], 0.0);
    assert_eq!(row(2).outside(-100.0, 100.0), None);
    assert_eq!(row(2).outside(-100.0, numbers[2][5]), Some(5));
    assert_eq!(T::splat(f32::NAN).outside(-1.0, 1.0), Some(0));
}
