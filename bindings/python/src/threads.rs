//! Work without the interpreter, also after a fork.

use crate::error::Error;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The process that imported the package.
static HOME: OnceLock<u32> = OnceLock::new();
/// Threads of a process that was forked off, with its number.
static ABROAD: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Notes in which process rayon's own threads live.
pub fn remember_process() {
    HOME.get_or_init(std::process::id);
}

/// The threads of this process, if it was forked: those of its parent stayed there, and work given to them would wait for ever.
fn after_fork() -> PyResult<Option<Arc<ThreadPool>>> {
    let here = std::process::id();
    if HOME.get().is_none_or(|home| *home == here) {
        return Ok(None);
    }
    let mut abroad = ABROAD.lock().unwrap_or_else(PoisonError::into_inner);
    match &*abroad {
        Some((process, pool)) if *process == here => Ok(Some(pool.clone())),
        _ => {
            let refuse = |error| Error::new_err(format!("threads cannot be made after a fork: {error}"));
            let pool = Arc::new(ThreadPoolBuilder::new().build().map_err(refuse)?);
            // Those of a parent are not there to be ended.
            std::mem::forget(abroad.replace((here, pool.clone())));
            Ok(Some(pool))
        }
    }
}

/// Works without holding the interpreter, so that other threads of Python go on. A panic is a bug of ours: it becomes an
/// [`Error`] too, because a program that catches errors should get the chance.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = after_fork()?;
    let guarded = || catch_unwind(AssertUnwindSafe(work));
    let outcome = py.detach(|| match pool {
        Some(pool) => pool.install(guarded),
        None => guarded(),
    });
    outcome.map_err(|panic| Error::new_err(panic_text(&*panic)))
}

/// The message for a panic.
pub fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    format!("dermis has a bug here ({text}); please report it with what led to it")
}
