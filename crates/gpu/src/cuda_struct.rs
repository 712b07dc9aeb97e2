//! Structs that the host and CUDA share, declared once.

use cudarc::driver::DeviceRepr;
use dermis_geometry::{FlatNode, Vec3};
use std::fmt;
use std::marker::PhantomData;
use std::mem::offset_of;

/// Values that can be copied to and from a GPU byte by byte.
///
/// # Safety
/// The type has no padding, is valid for any bytes, and holds no host address.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

macro_rules! plain {
    ($($number:ty),*) => {$(
        // SAFETY: a number has no padding and is valid for any bytes.
        unsafe impl Plain for $number {}
    )*};
}
plain!(u8, u32, i32, f32, f64, u64, i64);

// SAFETY: an array has no bytes between its elements.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}
// SAFETY: three `f64`, `repr(C)`; identical to CUDA's `Vec3` (common.cuh).
unsafe impl Plain for Vec3 {}
// SAFETY: four-byte numbers, `repr(C)`; identical to CUDA's `Node` (common.cuh), which asserts the same sizes.
unsafe impl Plain for FlatNode {}
const _: () =
    assert!(size_of::<FlatNode>() == 128 && offset_of!(FlatNode, min) == 0 && offset_of!(FlatNode, max) == 48);
const _: () = assert!(offset_of!(FlatNode, child) == 96 && offset_of!(FlatNode, count) == 112);

/// CUDA's name of [`FlatNode`].
pub(crate) type Node = FlatNode;

/// The bytes of plain values.
pub(crate) fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: plain values have no padding, so all of their bytes are initialised.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The mutable bytes of plain values.
pub(crate) fn bytes_of_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and plain values are valid for any bytes.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

macro_rules! pointer {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[repr(transparent)]
        pub(crate) struct $name<T>(pub u64, PhantomData<fn() -> T>);

        impl<T> $name<T> {
            /// The pointer to an address.
            pub const fn new(address: u64) -> Self {
                Self(address, PhantomData)
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<T> {}

        impl<T> Default for $name<T> {
            fn default() -> Self {
                Self::new(0)
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:#x}", self.0)
            }
        }

        // SAFETY: a 64-bit number, which is an address on the GPU and not on the host.
        unsafe impl<T: 'static> Plain for $name<T> {}
        // SAFETY: CUDA's pointers have 64 bits.
        unsafe impl<T> DeviceRepr for $name<T> {}
    };
}
pointer!(
    /// An address on the GPU that kernels read from; `const T*` in CUDA.
    Ptr
);
pointer!(
    /// An address on the GPU that kernels write to; `T*` in CUDA.
    PtrMut
);

/// Declares a struct for the host and for CUDA. Fields are numbers (`f64`, `i32`, …), arrays of numbers (`[f64; 3]`,
/// `[[f64; 3]; 4]`), other such structs, [`Ptr`] and [`PtrMut`]. Emits the struct with `repr(C)`, its [`Plain`] and
/// `DeviceRepr` implementations, and `CUDA`, the declaration for the kernels' source. Padding is a compile-time error.
/// Numbers of a `struct Name<Scalar>` may be of type `Scalar`: `f64`, or `f32` in programs in single precision.
macro_rules! cuda_struct {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident $(<$scalar:ident>)? {
        $($(#[$doc:meta])* $field_visibility:vis $field:ident: $type:tt $(<$target:tt>)?),* $(,)?
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        $visibility struct $name $(<$scalar = f64>)? {
            $($(#[$doc])* $field_visibility $field: $type $(<$target>)?,)*
        }

        impl $name {
            /// The declaration of the struct in CUDA.
            pub(crate) const CUDA: &'static str = concat!(
                "struct ", stringify!($name), " {\n",
                $($crate::cuda_struct::cuda_struct!(@field $type $(<$target>)? = $field),)*
                "};\n"
            );
        }

        const _: () = {
            const fn is_plain<T: $crate::cuda_struct::Plain>() -> usize {
                size_of::<T>()
            }
            const fn fields$(<$scalar: $crate::precision::Scalar>)?() -> usize {
                0 $(+ is_plain::<$type $(<$target>)?>())*
            }
            assert!(size_of::<$name>() == fields $(::<$crate::cuda_struct::cuda_struct!(@double $scalar)>)?(), "the struct has padding");
            $(
                type Single = $name<$crate::cuda_struct::cuda_struct!(@single $scalar)>;
                assert!(size_of::<Single>() == fields::<f32>(), "the struct has padding in single precision");
            )?
        };

        // SAFETY: `repr(C)`, all fields are plain, and there is no padding between them, as asserted above.
        unsafe impl$(<$scalar: $crate::precision::Scalar>)? $crate::cuda_struct::Plain for $name$(<$scalar>)? {}
        // SAFETY: CUDA's declaration has the same fields in the same order.
        unsafe impl cudarc::driver::DeviceRepr for $name {}
    };
    (@double $scalar:ident) => { f64 };
    (@single $scalar:ident) => { f32 };
    (@field [[$type:ident; $inner:tt]; $outer:tt] = $field:ident) => {
        concat!("    ", stringify!($type), " ", stringify!($field), "[", stringify!($outer), "][", stringify!($inner), "];\n")
    };
    (@field [$type:ident<$target:ident>; $count:tt] = $field:ident) => {
        concat!("    ", stringify!($type), "<", stringify!($target), "> ", stringify!($field), "[", stringify!($count), "];\n")
    };
    (@field [$type:ident; $count:tt] = $field:ident) => {
        concat!("    ", stringify!($type), " ", stringify!($field), "[", stringify!($count), "];\n")
    };
    (@field Ptr<$target:ident> = $field:ident) => {
        concat!("    Ptr<", stringify!($target), "> ", stringify!($field), ";\n")
    };
    (@field PtrMut<$target:ident> = $field:ident) => {
        concat!("    PtrMut<", stringify!($target), "> ", stringify!($field), ";\n")
    };
    // Structs have no type parameters in CUDA.
    (@field $type:ident<Scalar> = $field:ident) => {
        concat!("    ", stringify!($type), " ", stringify!($field), ";\n")
    };
    (@field $type:ident = $field:ident) => {
        concat!("    ", stringify!($type), " ", stringify!($field), ";\n")
    };
}
pub(crate) use cuda_struct;

#[cfg(test)]
mod tests {
    use super::*;

    cuda_struct! {
        /// A struct with all kinds of fields.
        #[derive(Default)]
        struct Example {
            number: f64,
            vector: [f64; 3],
            corners: [[f32; 2]; 3],
            nodes: Ptr<Node>,
            out: PtrMut<f64>,
            both: [Ptr<f64>; 2],
            at: Vec3,
            count: u32,
            kind: i32,
        }
    }

    #[test]
    fn a_struct_is_declared_for_cuda_with_the_same_fields() {
        let expected = "struct Example {\n    f64 number;\n    f64 vector[3];\n    f32 corners[3][2];\n    Ptr<Node> nodes;\n    \
                        PtrMut<f64> out;\n    Ptr<f64> both[2];\n    Vec3 at;\n    u32 count;\n    i32 kind;\n};\n";
        assert_eq!(Example::CUDA, expected);
    }

    #[test]
    fn values_are_written_as_their_bytes() {
        let example = Example { number: 1.5, nodes: Ptr::new(7), ..Example::default() };
        let mut back = [Example::default(); 2];
        bytes_of_mut(&mut back[..1]).copy_from_slice(bytes_of(&[example]));
        assert_eq!((back[0].number, back[0].nodes.0, back[1].number), (1.5, 7, 0.0));
        let mut numbers = [0u32; 2];
        bytes_of_mut(&mut numbers).copy_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(numbers, [1, 2]);
    }
}
