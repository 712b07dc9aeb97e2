//! Bounds of one input: CPU time and memory, and a long time for an input that waits for ever.
#![allow(unsafe_code, reason = "the CPU time and the exit of a process come from the C library")]

use crate::memory;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

/// Exit status of a worker whose input asked for more than a campaign waits for, within the limits of its format.
pub const SKIPPED: i32 = 77;

/// Memory (bytes) and CPU time (s) after [`skip_beyond`].
const BUILD_BYTES: usize = 1 << 30;
pub const BUILD_SECONDS: f64 = 3.0;
/// Period of the watch, and the periods after which an input is taken to wait for ever: at least 10 min. A process that is
/// stopped or gets no CPU time has fewer periods, and its inputs have longer.
const PERIOD: Duration = Duration::from_millis(50);
const MAX_PERIODS: u32 = 12_000;

static DEADLINE_NS: AtomicU64 = AtomicU64::new(u64::MAX);
static SKIPS: AtomicBool = AtomicBool::new(false);
static SERIAL: AtomicU64 = AtomicU64::new(0);

/// CPU time of this process (ns).
pub fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one structure.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// From here on the input has been accepted and is computed with: what it asks for is bounded by the limits of its format
/// and not by its length. Beyond a campaign's patience the input is skipped and counted.
pub fn skip_beyond() {
    SKIPS.store(true, SeqCst);
    memory::allow(BUILD_BYTES);
    DEADLINE_NS.store(cpu_ns() + (BUILD_SECONDS * 1e9) as u64, SeqCst);
}

/// Ends the worker if the input may be skipped; called where no destructor can run.
pub fn exit_if_skippable() {
    if SKIPS.load(SeqCst) {
        // SAFETY: ends the process at once; the last input is on the disk.
        unsafe { libc::_exit(SKIPPED) };
    }
}

/// Starts the bounds of an input.
pub fn begin(bytes: usize, seconds: f64) {
    SKIPS.store(false, SeqCst);
    memory::allow(bytes);
    DEADLINE_NS.store(cpu_ns() + (seconds * 1e9) as u64, SeqCst);
    SERIAL.fetch_add(1, SeqCst);
}

/// Ends them.
pub fn end() {
    DEADLINE_NS.store(u64::MAX, SeqCst);
    SKIPS.store(false, SeqCst);
}

/// Watches the time in a thread. An input that takes too long ends the process.
pub fn watch() {
    std::thread::spawn(|| {
        let (mut serial, mut periods) = (0, 0);
        loop {
            std::thread::sleep(PERIOD);
            let now = SERIAL.load(SeqCst);
            periods = if now == serial { periods + 1 } else { 0 };
            serial = now;
            let deadline_ns = DEADLINE_NS.load(SeqCst);
            let (late, stuck) = (cpu_ns() > deadline_ns, deadline_ns != u64::MAX && periods > MAX_PERIODS);
            if late || stuck {
                exit_if_skippable();
                eprintln!("too slow: {}", if late { "more CPU time than allowed" } else { "waits for ever" });
                std::process::abort();
            }
        }
    });
}

/// Limits the address space (bytes) of the process, for memory that C libraries take.
pub fn limit_address_space(bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: the call reads one structure.
    unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
}
