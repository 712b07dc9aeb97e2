//! Runs work with the GIL released, and ends it on Ctrl-C.

use crate::error::Error;
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Runs work with the GIL released. A panic is a bug in dermis; it is raised as [`Error`], so that programs can catch
/// it.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let (mut work, mut result) = (Some(work), None);
    run_detached(py, &mut || result = work.take().map(|work| work()))?;
    result.ok_or_else(no_result)
}

/// [`detached`] for any result: compiled once, as all that runs work here. Compiled for every caller, channels and threads would be two
/// fifths of the code of this library.
fn run_detached(py: Python<'_>, work: &mut (dyn FnMut() + Send)) -> PyResult<()> {
    py.detach(|| guarded(work)).map_err(|panic| Error::new_err(panic_text(&*panic)))
}

/// Time between two checks for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);
/// Time that interrupted work has to end by itself and leave its files complete.
const GRACE: Duration = Duration::from_millis(80);
/// Stack of the working thread, that of a main thread.
const STACK_BYTES: usize = 8 << 20;

/// What a call and its working thread tell each other.
#[derive(Default)]
pub struct Job {
    stopped: AtomicBool,
    done: AtomicUsize,
}

impl Job {
    /// False after an interrupt; the work then ends as soon as it can.
    pub fn goes_on(&self) -> bool {
        !self.stopped.load(Ordering::Relaxed)
    }

    /// Counts one finished part.
    pub fn count(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the number of finished parts. Returns false after an interrupt.
    pub fn reached(&self, done: usize) -> bool {
        self.set_done(done);
        self.goes_on()
    }

    /// Sets the number of finished parts.
    pub fn set_done(&self, done: usize) {
        self.done.store(done, Ordering::Relaxed);
    }

    /// Number of finished parts.
    pub fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }
}

/// Runs work on a thread of its own while this thread handles signals. Ctrl-C raises KeyboardInterrupt at once: the
/// work owns its data and ends in the background.
pub fn interruptible<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    interruptible_job(py, |_| work(), |_| Ok(()))
}

/// Like [`interruptible`]; the work asks its [`Job`] whether to go on, and `tick` is called between checks for signals.
/// An error of `tick` ends the work like Ctrl-C.
pub fn interruptible_job<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Job) -> T + Send + 'static,
    mut tick: impl FnMut(&Job) -> PyResult<()>,
) -> PyResult<T> {
    let result = Arc::new(Mutex::new(None));
    let theirs = Arc::clone(&result);
    let work = move |job: &Job| {
        let value = work(job);
        *theirs.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    };
    run_job(py, Box::new(work), &mut tick)?;
    let result = result.lock().unwrap_or_else(PoisonError::into_inner).take();
    result.ok_or_else(no_result)
}

/// [`interruptible_job`] for any result.
fn run_job(
    py: Python<'_>,
    work: Box<dyn FnOnce(&Job) + Send>,
    tick: &mut dyn FnMut(&Job) -> PyResult<()>,
) -> PyResult<()> {
    let job = Arc::new(Job::default());
    let (sender, receiver) = sync_channel(1);
    let theirs = Arc::clone(&job);
    let worker = move || {
        // Nobody receives the end of interrupted work.
        let _ = sender.send(guarded(|| work(&theirs)));
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(worker).map_err(no_thread)?;
    wait(py, &job, receiver, tick)
}

/// Like [`interruptible_job`], for work that uses memory of the caller: after an interrupt it waits for the end of the work.
pub fn interruptible_here<T: Send>(py: Python<'_>, work: impl FnOnce(&Job) -> T + Send) -> PyResult<T> {
    let mut result = None;
    run_job_here(py, Box::new(|job| result = Some(work(job))))?;
    result.ok_or_else(no_result)
}

/// [`interruptible_here`] for any result.
fn run_job_here(py: Python<'_>, work: Box<dyn FnOnce(&Job) + Send + '_>) -> PyResult<()> {
    let job = Job::default();
    let (sender, receiver) = sync_channel(1);
    std::thread::scope(|scope| {
        let worker = || {
            let _ = sender.send(guarded(|| work(&job)));
        };
        std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, worker).map_err(no_thread)?;
        wait(py, &job, receiver, &mut |_| Ok(()))
    })
}

fn no_result() -> PyErr {
    Error::new_err("internal error: a thread has ended")
}

fn no_thread(error: std::io::Error) -> PyErr {
    Error::new_err(format!("cannot start a thread: {error}"))
}

/// The end of work, or its panic.
type Outcome = Result<(), Box<dyn Any + Send>>;

/// Runs work to its end or its panic.
fn guarded(work: impl FnOnce() + Send) -> Outcome {
    catch_unwind(AssertUnwindSafe(work))
}

/// Waits for the outcome of work, and handles signals meanwhile.
fn wait(
    py: Python<'_>,
    job: &Job,
    receiver: Receiver<Outcome>,
    tick: &mut dyn FnMut(&Job) -> PyResult<()>,
) -> PyResult<()> {
    // mpsc receivers are not Sync, which `detach` asks for.
    let receiver = Mutex::new(receiver);
    let receive = |time| py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(time));
    loop {
        match receive(SIGNAL_INTERVAL) {
            Ok(outcome) => {
                tick(job)?;
                return outcome.map_err(|panic| Error::new_err(panic_text(&*panic)));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals().and_then(|()| tick(job)) {
                    job.stopped.store(true, Ordering::Relaxed);
                    let _ = receive(GRACE);
                    return Err(error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Err(no_result()),
        }
    }
}

/// Panics in a place: `call`, `detached` or `interruptible`. For tests.
#[pyfunction]
pub fn panic_in(py: Python<'_>, place: &str) -> PyResult<()> {
    match place {
        "detached" => detached(py, || panic!("a panic for a test")),
        "interruptible" => interruptible(py, || panic!("a panic for a test")),
        _ => panic!("a panic for a test"),
    }
}

/// Makes any use of threads that do not exist after a fork a panic. For tests.
#[pyfunction]
pub fn forbid_global_threads() {
    dermis::skin::threads::forbid_global();
}

/// The message for a panic.
pub fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    format!("internal error: {text}; please report it with the steps that led to it")
}
