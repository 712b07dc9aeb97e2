//! An allocator that counts, and refuses memory beyond a limit.
#![allow(unsafe_code, reason = "a global allocator is unsafe to implement")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Counts the bytes in use. A request beyond the limit gets no memory: `try_reserve` returns an error, and all else aborts
/// the process, which the campaign reports with the input.
pub struct Counting;

fn take(bytes: usize) -> bool {
    let live = LIVE.fetch_add(bytes, Relaxed).saturating_add(bytes);
    if live > LIMIT.load(Relaxed) {
        LIVE.fetch_sub(bytes, Relaxed);
        crate::limits::exit_if_skippable();
        return false;
    }
    PEAK.fetch_max(live, Relaxed);
    true
}

// SAFETY: all memory comes from the system's allocator, with the arguments of the caller.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !take(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller guarantees.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !take(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller guarantees.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller guarantees.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() && !take(size - layout.size()) {
            return std::ptr::null_mut();
        }
        if size < layout.size() {
            LIVE.fetch_sub(layout.size() - size, Relaxed);
        }
        // SAFETY: as the caller guarantees.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Allows `bytes` more than are in use now.
pub fn allow(bytes: usize) {
    let live = LIVE.load(Relaxed);
    PEAK.store(live, Relaxed);
    LIMIT.store(live.saturating_add(bytes), Relaxed);
}

/// Ends the limit; returns the largest number of bytes that were in use since [`allow`], less those before.
pub fn used_since(before: usize) -> usize {
    LIMIT.store(usize::MAX, Relaxed);
    PEAK.load(Relaxed).saturating_sub(before)
}

/// Bytes in use.
pub fn live() -> usize {
    LIVE.load(Relaxed)
}
