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
                if std::arch::is_x86_feature_detected!("avx512f") {
                    // SAFETY: the CPU has AVX-512F, as the condition says.
                    #[allow(unsafe_code, reason = "calls a function that needs AVX-512F")]
                    return unsafe { with_avx512($($argument),*) };
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the CPU has AVX2, as the condition says.
                    #[allow(unsafe_code, reason = "calls a function that needs AVX2")]
                    return unsafe { with_avx2($($argument),*) };
                }
            }
            plain($($argument),*)
        }
    };
}

pub(super) use widest;
