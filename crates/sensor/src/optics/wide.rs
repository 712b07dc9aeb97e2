//! Loops over pixels, compiled for wider vectors if the CPU supports them.

/// Compiles a function three times, for the baseline, AVX2 and AVX-512, and calls the widest version that the CPU
/// supports. No version fuses multiplications and additions, so all give the same bits. Functions called by the body
/// must be inlined to benefit.
macro_rules! widest {
    ($(#[$meta:meta])* fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $(-> $result:ty)? $body:block) => {
        $(#[$meta])*
        fn $name($($argument: $kind),*) $(-> $result)? {
            #[inline(always)]
            fn plain($($argument: $kind),*) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn with_avx2($($argument: $kind),*) $(-> $result)? {
                    plain($($argument),*)
                }
                #[target_feature(enable = "avx512f")]
                fn with_avx512($($argument: $kind),*) $(-> $result)? {
                    plain($($argument),*)
                }
                #[allow(unsafe_code, reason = "calls functions that need instructions found at run time")]
                match dermis_skin::Simd::detect().level() {
                    // SAFETY: a `Simd` of this level exists only if the CPU has AVX-512F.
                    dermis_skin::SimdLevel::Avx512 => return unsafe { with_avx512($($argument),*) },
                    // SAFETY: a `Simd` of this level exists only if the CPU has AVX2.
                    dermis_skin::SimdLevel::Avx2 => return unsafe { with_avx2($($argument),*) },
                    dermis_skin::SimdLevel::Portable => {}
                }
            }
            plain($($argument),*)
        }
    };
}

pub(super) use widest;
