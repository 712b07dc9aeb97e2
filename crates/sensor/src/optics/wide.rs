//! Loops over pixels with wider vectors where the machine has them.

/// Defines a function three times, as it is, for AVX2 and for AVX-512, and calls what the machine can. None contracts products and sums,
/// so all give the same bits. What the body calls must be inlined to profit.
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
                    #[allow(unsafe_code, reason = "AVX-512 was found on the line before")]
                    return unsafe { with_avx512($($argument),*) };
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    #[allow(unsafe_code, reason = "AVX2 was found on the line before")]
                    return unsafe { with_avx2($($argument),*) };
                }
            }
            plain($($argument),*)
        }
    };
}

pub(super) use widest;
