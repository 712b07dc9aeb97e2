//! A recording that is under way.

use crate::{RecordError, Sample};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// So long a sample may wait before it is on the disk, of the clock's time …
const LONGEST_WAIT: Duration = Duration::from_millis(250);
/// … and of the run's own time (s).
const LONGEST_SPAN_S: f64 = 0.5;
/// So many samples may wait for their file; with images each may take megabytes.
const MAX_WAITING: usize = 16;

/// Where samples go.
pub trait Sink: Send {
    /// Takes a sample; it need not be in a file yet.
    fn write(&mut self, sample: &Sample) -> Result<(), RecordError>;

    /// Puts everything kept so far into files that others can open, whatever happens to this process.
    fn flush(&mut self) -> Result<(), RecordError>;

    /// Ends the recording; returns the files and folders that hold it.
    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, RecordError>;
}

/// Hands samples to a thread of its own, which writes them at least four times a second: a run need not wait for files, and a step that
/// takes long does not keep what came before it off the disk.
#[derive(Debug)]
pub struct Recorder {
    sender: Option<SyncSender<Sample>>,
    worker: Option<JoinHandle<Result<Vec<PathBuf>, RecordError>>>,
}

impl Recorder {
    /// Starts to write into a sink.
    pub fn start(sink: Box<dyn Sink>) -> Self {
        let (sender, receiver) = sync_channel(MAX_WAITING);
        let worker = std::thread::spawn(move || write_all(sink, &receiver));
        Self { sender: Some(sender), worker: Some(worker) }
    }

    /// Keeps a sample. An error may be that of an earlier one.
    pub fn record(&mut self, sample: Sample) -> Result<(), RecordError> {
        let sent = self.sender.as_ref().is_some_and(|sender| sender.send(sample).is_ok());
        if sent { Ok(()) } else { self.end().and(Err(RecordError::Stopped)) }
    }

    /// Writes what is left; returns the files and folders that hold the recording.
    pub fn finish(mut self) -> Result<Vec<PathBuf>, RecordError> {
        self.end()
    }

    fn end(&mut self) -> Result<Vec<PathBuf>, RecordError> {
        self.sender = None;
        let worker = self.worker.take().ok_or(RecordError::Stopped)?;
        worker.join().unwrap_or(Err(RecordError::Stopped))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

fn write_all(mut sink: Box<dyn Sink>, samples: &Receiver<Sample>) -> Result<Vec<PathBuf>, RecordError> {
    // When the oldest sample that waits must be in its file, and its time.
    let mut waiting: Option<(Instant, f64)> = None;
    loop {
        let got = match waiting {
            Some((due, _)) => samples.recv_timeout(due.saturating_duration_since(Instant::now())),
            None => samples.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match got {
            Ok(sample) => {
                sink.write(&sample)?;
                let (due, first_s) = *waiting.get_or_insert((Instant::now() + LONGEST_WAIT, sample.time_s));
                if Instant::now() < due && sample.time_s - first_s < LONGEST_SPAN_S {
                    continue;
                }
            }
            Err(RecvTimeoutError::Timeout) => (),
            Err(RecvTimeoutError::Disconnected) => return sink.finish(),
        }
        sink.flush()?;
        waiting = None;
    }
}
