//! The threads of parallel work, also after a fork.
//!
//! A forked process has none of the threads of its parent, so work queued for them would wait for ever; `fork` is how Python's
//! `multiprocessing` and Gymnasium's `AsyncVectorEnv` start processes. Every process therefore gets threads of its own
//! when it first computes in parallel, and nothing in dermis uses rayon's global threads, which are started once.
//! No lock is held that a fork could leave closed.

use rayon::{Scope, ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::sync::OnceLock;

/// The threads of a process, and those of the process forked from it in which this memory is.
struct Threads {
    process: u32,
    pool: ThreadPool,
    forked: OnceLock<Box<Self>>,
}

static THREADS: OnceLock<Box<Threads>> = OnceLock::new();

/// The threads of this process; if it has none yet, those that `build` makes.
fn threads_or(
    build: impl Fn() -> Result<ThreadPool, ThreadPoolBuildError>,
) -> Result<&'static ThreadPool, ThreadPoolBuildError> {
    let process = std::process::id();
    let mut place = &THREADS;
    loop {
        match place.get() {
            Some(threads) if threads.process == process => return Ok(&threads.pool),
            Some(threads) => place = &threads.forked,
            // Of two threads that are here at once, one sets its pool.
            None => drop(place.set(Box::new(Threads { process, pool: build()?, forked: OnceLock::new() }))),
        }
    }
}

/// The threads of this process. Panics if the system starts no thread.
fn threads() -> &'static ThreadPool {
    match threads_or(|| ThreadPoolBuilder::new().build()) {
        Ok(pool) => pool,
        Err(error) => panic!("cannot start threads: {error}"),
    }
}

/// True where rayon's parallel iterators need no pool of ours: on a thread of a pool, and where there are no threads.
fn has_pool() -> bool {
    cfg!(target_family = "wasm") || rayon::current_thread_index().is_some()
}

/// Runs work whose parallel iterators use the threads of this process, or those of the pool on whose thread it is called.
pub fn parallel<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if has_pool() { work() } else { threads().install(work) }
}

/// Runs work on this thread, with a scope that spawns tasks on the threads of this process.
pub fn in_place_scope<'scope, T>(work: impl FnOnce(&Scope<'scope>) -> T) -> T {
    if has_pool() { rayon::in_place_scope(work) } else { threads().in_place_scope(work) }
}

/// Number of threads of [`parallel`].
pub fn count() -> usize {
    if has_pool() { rayon::current_num_threads() } else { threads().current_num_threads() }
}

/// Sets the number of threads of this process, before it computes in parallel.
pub fn set_count(count: usize) -> Result<(), ThreadPoolBuildError> {
    threads_or(|| ThreadPoolBuilder::new().num_threads(count).build()).map(drop)
}

/// Makes any use of rayon's global threads in this process a panic. For tests.
pub fn forbid_global() {
    let none = |_| {
        Err(std::io::Error::other(
            "no global threads: `dermis_skin::threads::parallel` has the threads of this process",
        ))
    };
    // Builds nothing, once and for all.
    let _ = ThreadPoolBuilder::new().num_threads(1).spawn_handler(none).build_global();
}
