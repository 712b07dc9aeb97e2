//! Arrays of numbers, one after the other in one piece of memory.

/// Arrays begin at multiples of this many bytes.
const ALIGNED: usize = 256;

/// What may be copied to a GPU byte by byte.
///
/// # Safety
/// All bytes of it must be numbers: no padding and no pointers of this machine.
#[allow(unsafe_code)]
pub(crate) unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($number:ty),*) => {$(
        // SAFETY: a number.
        #[allow(unsafe_code)]
        unsafe impl Plain for $number {}
    )*};
}
plain!(u8, u32, i32, f32, f64, u64, i64);

// SAFETY: an array of numbers has no bytes between them.
#[allow(unsafe_code)]
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// The bytes of plain values.
pub(crate) fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: plain values have no padding, so that all of their bytes are set.
    #[allow(unsafe_code)]
    unsafe {
        std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values))
    }
}

/// Plain values from their bytes.
pub(crate) fn values_of<T: Plain>(bytes: &[u8]) -> Vec<T> {
    // SAFETY: a whole number of values is read, from wherever they lie.
    #[allow(unsafe_code)]
    bytes.chunks_exact(size_of::<T>()).map(|chunk| unsafe { chunk.as_ptr().cast::<T>().read_unaligned() }).collect()
}

/// A piece of memory while it is laid out: arrays with contents first, then room.
#[derive(Debug, Default)]
pub(crate) struct Pack {
    /// What is copied to the GPU.
    pub bytes: Vec<u8>,
    /// How many bytes there are in all.
    pub len: usize,
}

impl Pack {
    /// Puts an array into it and returns where it is.
    pub fn put<T: Plain>(&mut self, values: &[T]) -> u64 {
        assert_eq!(self.bytes.len(), self.len, "contents come before room");
        let at = self.bytes.len();
        self.bytes.extend_from_slice(bytes_of(values));
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNED), 0);
        self.len = self.bytes.len();
        at as u64
    }

    /// Leaves room for some values and returns where it is.
    pub fn leave<T>(&mut self, count: usize) -> u64 {
        let at = self.len;
        self.len = (self.len + count * size_of::<T>()).next_multiple_of(ALIGNED);
        at as u64
    }
}
