//! Panics on request, by which the tests show that none leaves a callback.

use std::sync::atomic::{AtomicI32, Ordering};

/// The places where MuJoCo or Python enters the plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Entry {
    /// Number of values of the state.
    StateCount = 1,
    /// Number of values of the output.
    SensorCount = 2,
    /// A new mjData.
    Init = 3,
    /// The end of an mjData.
    Destroy = 4,
    /// A copy of an mjData.
    Copy = 5,
    /// The start of a simulation.
    Reset = 6,
    /// The output of a step.
    Compute = 7,
    /// The forces of a step.
    Passive = 8,
    /// The end of a step.
    Advance = 9,
    /// The image of a camera.
    Image = 10,
    /// The copy of an image into the memory of the caller.
    ImageCopy = 11,
}

/// The entry that panics at its next call; 0: none.
static NEXT: AtomicI32 = AtomicI32::new(0);

/// Makes the next call of an entry panic, by its number in [`Entry`]; 0 ends this. Returns the entry that has not panicked
/// yet. For tests.
#[unsafe(no_mangle)]
pub extern "C" fn dermis_mujoco_panic_in(entry: i32) -> i32 {
    NEXT.swap(entry, Ordering::Relaxed)
}

/// Panics if that was asked for.
pub(crate) fn check(entry: Entry) {
    let entry = entry as i32;
    if NEXT.load(Ordering::Relaxed) == entry && NEXT.swap(0, Ordering::Relaxed) == entry {
        panic!("a panic for a test");
    }
}
