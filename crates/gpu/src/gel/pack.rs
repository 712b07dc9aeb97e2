//! Arrays of numbers, one after the other in one piece of memory.

use crate::cuda_struct::{Plain, bytes_of};

/// Arrays begin at multiples of this many bytes.
const ALIGNED: usize = 256;

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
