//! CPU time of threads, independent of other programs on the machine.

use dermis::geometry::limits::MAX_DESCRIPTION_BYTES;
use dermis::geometry::regular_file::read_text;
use std::path::Path;
use std::time::Instant;

/// CPU time of this thread (ns) on Linux; `None` elsewhere.
pub(super) fn cpu_nanoseconds() -> Option<f64> {
    let text = read_text(Path::new("/proc/thread-self/schedstat"), MAX_DESCRIPTION_BYTES).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// CPU time of all threads of this program (s) on Linux, in steps of 10 ms; `None` elsewhere.
pub fn program_s() -> Option<f64> {
    let text = read_text(Path::new("/proc/self/stat"), MAX_DESCRIPTION_BYTES).ok()?;
    // Fields 12 and 13 after the name (which may contain spaces) are the user and system time in ticks.
    let ticks = text.rsplit(')').next()?.split_whitespace().skip(11).take(2).map(|word| word.parse::<f64>().ok());
    ticks.sum::<Option<f64>>().map(|ticks| ticks / 100.0)
}

/// CPU time of one call (ns): the minimum of several batches after a warm-up. Uses wall-clock time where CPU time is
/// unavailable.
pub(super) fn best_cpu_nanoseconds(mut call: impl FnMut(usize)) -> f64 {
    let mut step = 0;
    let mut batch = |count: usize| {
        let (wall, cpu) = (Instant::now(), cpu_nanoseconds());
        for _ in 0..count {
            call(step);
            step += 1;
        }
        let wall_ns = wall.elapsed().as_secs_f64() * 1e9;
        let cpu_ns = cpu_nanoseconds().zip(cpu).map(|(end, start)| end - start);
        // The kernel counts in ticks of a few milliseconds; zero means that it does not count.
        cpu_ns.filter(|ns| *ns > 0.0).unwrap_or(wall_ns) / count as f64
    };
    let once = batch(2).max(1.0);
    let count = (1e8 / once).clamp(1.0, 1e5) as usize;
    (0..7).map(|_| batch(count)).fold(f64::INFINITY, f64::min)
}
