//! Buffers of earlier steps that a thread uses again.

use std::cell::RefCell;
use std::thread::LocalKey;

/// Number of buffers of a kind that a thread keeps: those of the last and of the present step of two sensors.
const MAX_SPARE: usize = 4;

/// The buffers of a kind.
pub(crate) type Spare<T> = RefCell<Vec<Vec<T>>>;

/// Keeps a buffer for a later step.
pub(crate) fn keep<T>(spare: &'static LocalKey<Spare<T>>, buffer: Vec<T>) {
    // While the thread ends there is no place for it.
    let _ = spare.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        if buffer.capacity() > 0 && spare.len() < MAX_SPARE {
            spare.push(buffer);
        }
    });
}

/// A buffer with any content, to be overwritten.
pub(crate) fn reuse<T>(spare: &'static LocalKey<Spare<T>>) -> Vec<T> {
    spare.with(|spare| spare.borrow_mut().pop()).unwrap_or_default()
}
