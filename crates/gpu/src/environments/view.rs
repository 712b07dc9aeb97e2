//! Strided arrays that other libraries own, in host or GPU memory.

use crate::cuda_struct::cuda_struct;

cuda_struct! {
    /// A strided array of numbers that another library owns. A null address stands for an array that is not bound.
    #[derive(Default, PartialEq, Eq)]
    pub struct View {
        /// Address of element (0, 0, 0).
        pub address: u64,
        /// Distance of neighbours along each axis, in elements.
        pub strides: [i64; 3],
        /// Element type ([`Element`]).
        kind: i32,
        unused: i32,
    }
}

/// Element types, numbered as in view.cuh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// 64-bit floating-point numbers.
    F64 = 0,
    /// 32-bit floating-point numbers.
    F32 = 1,
    /// Bytes or Boolean values.
    U8 = 2,
    /// 32-bit integers.
    I32 = 3,
    /// 64-bit integers.
    I64 = 4,
}

impl View {
    /// The array at an address, with the strides of its first axes in elements; further strides are zero.
    pub fn new(address: u64, strides: &[i64], element: Element) -> Self {
        let mut all = [0; 3];
        all.iter_mut().zip(strides).for_each(|(to, stride)| *to = *stride);
        Self { address, strides: all, kind: element as i32, unused: 0 }
    }

    /// True if an array is bound.
    pub fn is_bound(&self) -> bool {
        self.address != 0
    }

    /// True if a GPU can read and write four numbers of a row at once: `f32` side by side, at multiples of 16 bytes.
    pub(super) fn has_fours(&self) -> bool {
        let are_side_by_side = self.strides[1] == 1 && self.strides[0] % 4 == 0;
        self.is_bound() && self.kind == Element::F32 as i32 && are_side_by_side && self.address.is_multiple_of(16)
    }

    fn index(&self, at: [usize; 3]) -> isize {
        (0..3).map(|axis| self.strides[axis] as isize * at[axis] as isize).sum()
    }

    /// One number of an array in host memory.
    ///
    /// # Safety
    /// The array is alive, in host memory, and has that element.
    pub(super) unsafe fn number(&self, at: [usize; 3]) -> f64 {
        let (address, index) = (self.address as usize, self.index(at));
        // SAFETY: the caller guarantees the element; arrays of other libraries may be unaligned.
        unsafe {
            match self.kind {
                0 => (address as *const f64).offset(index).read_unaligned(),
                1 => f64::from((address as *const f32).offset(index).read_unaligned()),
                2 => f64::from((address as *const u8).offset(index).read()),
                3 => f64::from((address as *const i32).offset(index).read_unaligned()),
                _ => (address as *const i64).offset(index).read_unaligned() as f64,
            }
        }
    }

    /// Writes one number of an array of `f32`, `f64` or bytes in host memory; does nothing where the array is not bound.
    ///
    /// # Safety
    /// As for [`View::number`]; nothing else accesses the element during the call.
    pub(super) unsafe fn set(&self, at: [usize; 3], value: f64) {
        if !self.is_bound() {
            return;
        }
        let (address, index) = (self.address as usize, self.index(at));
        // SAFETY: the caller guarantees the element.
        unsafe {
            match self.kind {
                1 => (address as *mut f32).offset(index).write_unaligned(value as f32),
                2 => (address as *mut u8).offset(index).write(value as u8),
                _ => (address as *mut f64).offset(index).write_unaligned(value),
            }
        }
    }
}
