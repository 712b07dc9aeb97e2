//! Structs of numbers that CPU and GPU solvers share, declared once.

/// Declares a struct of equal numbers for CPU and GPU; `CUDA` is its declaration for the kernels' source.
macro_rules! shared_numbers {
    ($(#[$doc:meta])* $type:ident: $number:ty { $($(#[$field_doc:meta])* $field:ident,)* }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $type { $($(#[$field_doc])* pub $field: $number,)* }

        impl $type {
            /// The same struct in CUDA.
            pub const CUDA: &'static str = concat!(
                "struct ", stringify!($type), " {\n",
                $("    ", stringify!($number), " ", stringify!($field), ";\n",)*
                "};\n"
            );
        }
    };
}
pub(crate) use shared_numbers;
