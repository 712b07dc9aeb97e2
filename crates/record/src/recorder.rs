//! Writes samples on a separate thread.

use crate::replaced::Replaced;
use crate::{RecordError, Sample};
use dermis_files::Identity;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum wall-clock time until a sample is flushed to the disk.
const LONGEST_WAIT: Duration = Duration::from_millis(250);
/// Maximum simulated time (s) until a sample is flushed to the disk.
const LONGEST_SPAN_S: f64 = 0.5;
/// Limit on the number of queued samples; with images each may take megabytes.
const MAX_WAITING: usize = 16;

/// A destination of samples.
pub trait Sink: Send {
    /// Accepts a sample, which may be buffered.
    fn write(&mut self, sample: &Sample) -> Result<(), RecordError>;

    /// Writes all buffered samples to readable files, which remain if the process is killed.
    fn flush(&mut self) -> Result<(), RecordError>;

    /// Ends the recording and returns its files and folders.
    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, RecordError>;
}

/// Passes samples to a writer thread, which flushes at least four times a second: the run does not wait for files, and
/// a slow step does not delay earlier samples.
#[derive(Debug)]
pub struct Recorder {
    sender: Option<SyncSender<Sample>>,
    worker: Option<JoinHandle<Result<Vec<PathBuf>, RecordError>>>,
    /// The file that this recording is to replace.
    replaced: Option<Replaced>,
    /// The file or folder of the recording.
    place: Option<(PathBuf, Identity)>,
}

impl Recorder {
    /// Starts the writer thread of a sink.
    pub fn start(sink: Box<dyn Sink>) -> Self {
        let (sender, receiver) = sync_channel(MAX_WAITING);
        let worker = std::thread::spawn(move || write_all(sink, &receiver));
        Self { sender: Some(sender), worker: Some(worker), replaced: None, place: None }
    }

    /// Sets the file that returns to its name unless [`Recorder::finish`] succeeds.
    pub(crate) fn replacing(mut self, replaced: Replaced) -> Self {
        self.replaced = Some(replaced);
        self
    }

    /// Sets the file or folder that must still be at its path when the recording ends.
    pub(crate) fn placed_at(mut self, path: &Path) -> Self {
        self.place = Identity::at(path).map(|identity| (path.to_owned(), identity));
        self
    }

    /// Queues a sample. May return an error of an earlier sample.
    pub fn record(&mut self, sample: Sample) -> Result<(), RecordError> {
        let sent = self.sender.as_ref().is_some_and(|sender| sender.send(sample).is_ok());
        if sent { Ok(()) } else { self.end().and(Err(RecordError::Stopped)) }
    }

    /// Writes the queued samples and returns the files and folders of the recording.
    pub fn finish(mut self) -> Result<Vec<PathBuf>, RecordError> {
        let files = self.end()?;
        let moved = self.place.iter().find(|(path, identity)| Identity::at(path) != Some(*identity));
        let missing = files.iter().find(|path| !path.exists());
        if let Some(path) = moved.map(|(path, _)| path).or(missing) {
            return Err(RecordError::Lost { path: path.display().to_string() });
        }
        self.replaced.take().into_iter().for_each(Replaced::discard);
        Ok(files)
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
    // Deadline and time of the oldest buffered sample.
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
