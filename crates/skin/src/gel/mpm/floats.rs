//! Sixteen `f32` at once, on what this machine has.
#![allow(unsafe_code, reason = "vector instructions; callers hold what was found at run time")]

/// Sixteen numbers: of sixteen particles, or of four nodes with four numbers each (a *quad*). The methods of the wide ones may only
/// be called where their instructions are enabled.
pub(crate) trait Floats: Copy {
    fn splat(value: f32) -> Self;
    /// Sixteen numbers from a place.
    ///
    /// # Safety
    /// They must be there.
    unsafe fn load(from: *const f32) -> Self;
    /// # Safety
    /// There must be room for them.
    unsafe fn store(self, to: *mut f32);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// self · b + c.
    fn mul_add(self, b: Self, c: Self) -> Self;
    fn floor(self) -> Self;
    /// From 0 to `high`; 0 for what is no number.
    fn bounded(self, high: f32) -> Self;
    /// The four numbers at a place, four times.
    ///
    /// # Safety
    /// They must be there.
    unsafe fn four_times(from: *const f32) -> Self;
    /// a, b and c four times each, then four zeros.
    fn quads(a: f32, b: f32, c: f32) -> Self;
    /// The sums of the quads of a, of b, of c and of d.
    fn fold(a: Self, b: Self, c: Self, d: Self) -> Self;
    /// Rows to columns.
    fn transpose(rows: &mut [Self; 16]);
    /// The first lane whose number is not above `low` and below `high`.
    fn outside(self, low: f32, high: f32) -> Option<usize>;
}

/// Without special instructions.
#[derive(Clone, Copy)]
pub(crate) struct Plain([f32; 16]);

impl Plain {
    #[inline(always)]
    fn each(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let mut out = self.0;
        for l in 0..16 {
            out[l] = f(self.0[l], other.0[l]);
        }
        Self(out)
    }
}

impl Floats for Plain {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; 16])
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        Self(unsafe { from.cast::<[f32; 16]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        unsafe { to.cast::<[f32; 16]>().write_unaligned(self.0) }
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
        // `max` gives the other where one is no number.
        Self(self.0.map(|value| value.max(0.0).min(high)))
    }
    #[inline(always)]
    unsafe fn four_times(from: *const f32) -> Self {
        let four = unsafe { from.cast::<[f32; 4]>().read_unaligned() };
        let mut out = [0.0; 16];
        for l in 0..16 {
            out[l] = four[l % 4];
        }
        Self(out)
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
    fn fold(a: Self, b: Self, c: Self, d: Self) -> Self {
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
pub(crate) use wide::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::Floats;
    use std::arch::x86_64::*;

    /// One 512-bit register.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(__m512);

    impl Floats for Avx512 {
        #[inline(always)]
        fn splat(value: f32) -> Self {
            Self(unsafe { _mm512_set1_ps(value) })
        }
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            Self(unsafe { _mm512_loadu_ps(from) })
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            unsafe { _mm512_storeu_ps(to, self.0) }
        }
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Self(unsafe { _mm512_add_ps(self.0, other.0) })
        }
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Self(unsafe { _mm512_sub_ps(self.0, other.0) })
        }
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            Self(unsafe { _mm512_mul_ps(self.0, other.0) })
        }
        #[inline(always)]
        fn div(self, other: Self) -> Self {
            Self(unsafe { _mm512_div_ps(self.0, other.0) })
        }
        #[inline(always)]
        fn mul_add(self, b: Self, c: Self) -> Self {
            Self(unsafe { _mm512_fmadd_ps(self.0, b.0, c.0) })
        }
        #[inline(always)]
        fn floor(self) -> Self {
            Self(unsafe { _mm512_roundscale_ps::<0x09>(self.0) })
        }
        #[inline(always)]
        fn bounded(self, high: f32) -> Self {
            // The second is taken where the first is no number.
            unsafe { Self(_mm512_min_ps(_mm512_max_ps(self.0, _mm512_setzero_ps()), _mm512_set1_ps(high))) }
        }
        #[inline(always)]
        unsafe fn four_times(from: *const f32) -> Self {
            Self(unsafe { _mm512_broadcast_f32x4(_mm_loadu_ps(from)) })
        }
        #[inline(always)]
        fn quads(a: f32, b: f32, c: f32) -> Self {
            unsafe {
                let first = _mm512_maskz_mov_ps(0x000f, _mm512_set1_ps(a));
                let second = _mm512_mask_mov_ps(first, 0x00f0, _mm512_set1_ps(b));
                Self(_mm512_mask_mov_ps(second, 0x0f00, _mm512_set1_ps(c)))
            }
        }
        #[inline(always)]
        fn fold(a: Self, b: Self, c: Self, d: Self) -> Self {
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

    impl Floats for Avx2 {
        #[inline(always)]
        fn splat(value: f32) -> Self {
            let one = unsafe { _mm256_set1_ps(value) };
            Self(one, one)
        }
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            unsafe { Self(_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(8))) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            unsafe {
                _mm256_storeu_ps(to, self.0);
                _mm256_storeu_ps(to.add(8), self.1);
            }
        }
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            unsafe { Self(_mm256_add_ps(self.0, other.0), _mm256_add_ps(self.1, other.1)) }
        }
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            unsafe { Self(_mm256_sub_ps(self.0, other.0), _mm256_sub_ps(self.1, other.1)) }
        }
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            unsafe { Self(_mm256_mul_ps(self.0, other.0), _mm256_mul_ps(self.1, other.1)) }
        }
        #[inline(always)]
        fn div(self, other: Self) -> Self {
            unsafe { Self(_mm256_div_ps(self.0, other.0), _mm256_div_ps(self.1, other.1)) }
        }
        #[inline(always)]
        fn mul_add(self, b: Self, c: Self) -> Self {
            unsafe { Self(_mm256_fmadd_ps(self.0, b.0, c.0), _mm256_fmadd_ps(self.1, b.1, c.1)) }
        }
        #[inline(always)]
        fn floor(self) -> Self {
            unsafe { Self(_mm256_floor_ps(self.0), _mm256_floor_ps(self.1)) }
        }
        #[inline(always)]
        fn bounded(self, high: f32) -> Self {
            // The second is taken where the first is no number.
            unsafe {
                let (zero, high) = (_mm256_setzero_ps(), _mm256_set1_ps(high));
                Self(_mm256_min_ps(_mm256_max_ps(self.0, zero), high), _mm256_min_ps(_mm256_max_ps(self.1, zero), high))
            }
        }
        #[inline(always)]
        unsafe fn four_times(from: *const f32) -> Self {
            let twice = unsafe { _mm256_broadcast_ps(&*from.cast()) };
            Self(twice, twice)
        }
        #[inline(always)]
        fn quads(a: f32, b: f32, c: f32) -> Self {
            unsafe {
                let first = _mm256_set_m128(_mm_set1_ps(b), _mm_set1_ps(a));
                Self(first, _mm256_set_m128(_mm_setzero_ps(), _mm_set1_ps(c)))
            }
        }
        #[inline(always)]
        fn fold(a: Self, b: Self, c: Self, d: Self) -> Self {
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
            let mut turned = [[0f32; 16]; 16];
            for i in 0..16 {
                unsafe { rows[i].store(flat[i].as_mut_ptr()) };
            }
            for i in 0..16 {
                for j in 0..16 {
                    turned[i][j] = flat[j][i];
                }
            }
            for i in 0..16 {
                rows[i] = unsafe { Self::load(turned[i].as_ptr()) };
            }
        }
        #[inline(always)]
        fn outside(self, low: f32, high: f32) -> Option<usize> {
            let mut inside = 0;
            for (half, shift) in [(self.0, 0), (self.1, 8)] {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Floats>() {
        let numbers: Vec<f32> = (0..256).map(|i| i as f32 * 0.7 - 31.0).collect();
        let row = |i: usize| unsafe { T::load(numbers[16 * i..].as_ptr()) };
        let out = |t: T| {
            let mut to = [0f32; 16];
            unsafe { t.store(to.as_mut_ptr()) };
            to
        };
        let mut rows: [T; 16] = std::array::from_fn(row);
        T::transpose(&mut rows);
        for (i, row) in rows.iter().enumerate() {
            for (j, value) in out(*row).iter().enumerate() {
                assert_eq!(*value, numbers[16 * j + i]);
            }
        }
        let folded = out(T::fold(row(0), row(1), row(2), row(3)));
        for (l, value) in folded.iter().enumerate() {
            let sum: f32 = (0..4).map(|q| numbers[16 * (l / 4) + 4 * q + l % 4]).sum();
            assert!((value - sum).abs() < 1e-4);
        }
        assert_eq!(out(T::quads(1.0, 2.0, 3.0))[..13], [1., 1., 1., 1., 2., 2., 2., 2., 3., 3., 3., 3., 0.]);
        assert_eq!(out(unsafe { T::four_times(numbers.as_ptr()) })[5], numbers[1]);
        assert_eq!(out(T::splat(-1.5).floor())[3], -2.0);
        assert_eq!(row(2).outside(-100.0, 100.0), None);
        assert_eq!(row(2).outside(-100.0, numbers[37]), Some(5));
        assert_eq!(T::splat(f32::NAN).outside(-1.0, 1.0), Some(0));
    }

    #[test]
    fn every_kind_of_vector_does_the_same() {
        use crate::gel::Simd;
        check::<Plain>();
        #[cfg(target_arch = "x86_64")]
        {
            if Simd::Avx2.is_available() {
                check::<Avx2>();
            }
            if Simd::Avx512.is_available() {
                check::<Avx512>();
            }
        }
    }
}
