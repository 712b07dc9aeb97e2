//! Runs work with the GIL released, also after a fork.

use crate::error::Error;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The process that imported the package.
static IMPORTING_PROCESS: OnceLock<u32> = OnceLock::new();
/// Threads of a forked process, with its process id.
static FORKED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Records the process that rayon's global threads belong to.
pub fn remember_process() {
    IMPORTING_PROCESS.get_or_init(std::process::id);
}

/// The threads of this process, if it was forked. The threads of its parent do not exist here, so work queued for them
/// would never run.
fn after_fork() -> PyResult<Option<Arc<ThreadPool>>> {
    let here = std::process::id();
    if IMPORTING_PROCESS.get().is_none_or(|process| *process == here) {
        return Ok(None);
    }
    let mut forked = FORKED.lock().unwrap_or_else(PoisonError::into_inner);
    match &*forked {
        Some((process, pool)) if *process == here => Ok(Some(pool.clone())),
        _ => {
            let refuse = |error| Error::new_err(format!("cannot start threads after a fork: {error}"));
            let pool = Arc::new(ThreadPoolBuilder::new().build().map_err(refuse)?);
            // The threads of a parent process cannot be joined.
            std::mem::forget(forked.replace((here, pool.clone())));
            Ok(Some(pool))
        }
    }
}

/// Runs work with the GIL released. A panic is a bug in dermis; it is raised as [`Error`], so that programs can catch
/// it.
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
    format!("internal error: {text}; please report it with the steps that led to it")
}
