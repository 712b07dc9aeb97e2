//! Time that a thread spends on a core, whatever else runs on the machine.

use std::time::Instant;

/// Nanoseconds that this thread has run, as Linux counts them; `None` elsewhere.
pub(super) fn cpu_nanoseconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Seconds that all threads of this program have run, in hundredths, as Linux counts them; `None` elsewhere.
pub(super) fn program_s() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name, which may hold spaces, the 12th and 13th numbers: ticks in the program and for it in the system.
    let ticks = text.rsplit(')').next()?.split_whitespace().skip(11).take(2).map(|word| word.parse::<f64>().ok());
    ticks.sum::<Option<f64>>().map(|ticks| ticks / 100.0)
}

/// Nanoseconds of one call on its core: the least of several batches, after one to warm up. By the clock on the wall where the system
/// does not say.
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
        // The count is kept in ticks of some milliseconds: nothing at all means that it is not kept.
        cpu_ns.filter(|ns| *ns > 0.0).unwrap_or(wall_ns) / count as f64
    };
    let once = batch(2).max(1.0);
    let count = (1e8 / once).clamp(1.0, 1e5) as usize;
    (0..7).map(|_| batch(count)).fold(f64::INFINITY, f64::min)
}
