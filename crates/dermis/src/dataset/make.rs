//! Makes all shards of a data set, or a share of them, in parallel.

use super::error::DatasetError;
use super::finish;
use super::set::Dataset;
use super::shard::ShardRecord;
use super::warnings::{self, DatasetWarning};
use dermis_record::atomic_folder::AtomicFolder;
use rayon::ThreadPoolBuilder;
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One of `of` shares of a data set: the shards with `index % of == part`.
///
/// ```
/// use dermis::dataset::Share;
/// let third: Share = "3/16".parse()?; // shards 2, 18, 34, …
/// assert_ne!(third, Share::ALL);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    part: usize,
    of: usize,
}

impl Share {
    /// The whole data set.
    pub const ALL: Self = Self { part: 0, of: 1 };
}

impl FromStr for Share {
    type Err = DatasetError;

    fn from_str(text: &str) -> Result<Self, DatasetError> {
        let bad = || DatasetError::BadShare { text: text.to_owned() };
        let (part, of) = text.split_once('/').ok_or_else(bad)?;
        let (part, of): (usize, usize) = part.trim().parse().ok().zip(of.trim().parse().ok()).ok_or_else(bad)?;
        if part == 0 || part > of { Err(bad()) } else { Ok(Self { part: part - 1, of }) }
    }
}

/// Progress of a run.
///
/// ```no_run
/// use dermis::dataset::{Dataset, Share};
/// # let text = r#"
/// # name = "taps"
/// # format = "parquet"
/// # count = 3
/// # sensor = [{ preset = "wts0614" }]
/// # object = [{ shape.sphere.radius = "8 mm" }]
/// # pose.depth = { uniform = ["0.2 mm", "0.6 mm"] }
/// # scenario.kind = "press"
/// # "#;
/// let set = Dataset::parse("taps.toml", text, None)?;
/// set.make("out/taps".as_ref(), Share::ALL, 2, &mut |progress| {
///     println!("{} of {}", progress.made, progress.wanted);
///     true // go on
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Episodes to make in this run.
    pub wanted: usize,
    /// Episodes made so far.
    pub made: usize,
}

/// The result of a run.
///
/// ```
/// use dermis::dataset::{Dataset, Share};
/// # let text = r#"
/// # name = "taps"
/// # format = "parquet"
/// # count = 3
/// # sensor = [{ preset = "wts0614" }]
/// # object = [{ shape.sphere.radius = "8 mm" }]
/// # pose.depth = { uniform = ["0.2 mm", "0.6 mm"] }
/// # scenario.kind = "press"
/// # "#;
/// let folder = std::env::temp_dir().join(format!("dermis-taps-{}", std::process::id()));
/// let summary = Dataset::parse("taps.toml", text, None)?.make(&folder, Share::ALL, 1, &mut |_| true)?;
/// assert!(summary.complete && summary.episodes == 3 && summary.warnings.is_empty());
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MakeSummary {
    /// Episodes made by this run.
    pub episodes: usize,
    /// Episodes that existed before.
    pub found: usize,
    /// Bytes written by this run.
    pub bytes: u64,
    /// Elapsed time (s).
    pub wall_s: f64,
    /// Number of threads.
    pub threads: usize,
    /// Whether the set is complete.
    pub complete: bool,
    /// Warnings of the episodes of the share.
    pub warnings: Vec<DatasetWarning>,
}

/// Time between two progress reports.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

impl Dataset {
    /// Makes the missing shards of a share, and completes the set when all shards exist. Calls `progress` regularly,
    /// which stops the run by returning `false`; finished shards are kept, and the next run continues from there.
    pub fn make(
        &self,
        out: &Path,
        share: Share,
        threads: usize,
        progress: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<MakeSummary, DatasetError> {
        let start = Instant::now();
        let atomic_folder = self.claim(out)?;
        if share == Share::ALL {
            atomic_folder.sweep()?;
        }
        let (mut work, mut found) = (Vec::new(), 0);
        for shard in (0..self.shards()).filter(|shard| shard % share.of == share.part) {
            match ShardRecord::find(&atomic_folder, shard)? {
                Some(_) => found += self.episodes_of(shard).len(),
                None => work.push(shard),
            }
        }
        let wanted = work.iter().map(|&shard| self.episodes_of(shard).len()).sum();
        let threads = threads.clamp(1, work.len().max(1));
        let run = Run::new(self, &atomic_folder, &work);
        run.work_with(threads, &mut |made| progress(Progress { wanted, made }))?;
        let mut warnings = Vec::new();
        for shard in (0..self.shards()).filter(|shard| shard % share.of == share.part) {
            let record = ShardRecord::find(&atomic_folder, shard)?;
            warnings::merge(&mut warnings, record.into_iter().flat_map(|record| record.warnings));
        }
        let complete = self.missing_in(&atomic_folder)?.is_empty();
        if complete {
            finish::finish(self, &atomic_folder).map_err(|error| self.full(&atomic_folder, error))?;
            atomic_folder.sweep()?;
        }
        Ok(MakeSummary {
            episodes: wanted,
            found,
            bytes: run.bytes.into_inner() as u64,
            wall_s: start.elapsed().as_secs_f64(),
            threads,
            complete,
            warnings,
        })
    }

    /// Completes a set whose shards all exist, for example after other programs made them; returns the warnings of its
    /// episodes.
    pub fn complete(&self, out: &Path) -> Result<Vec<DatasetWarning>, DatasetError> {
        let atomic_folder = self.claim(out)?;
        let warnings = finish::finish(self, &atomic_folder).map_err(|error| self.full(&atomic_folder, error))?;
        atomic_folder.sweep()?;
        Ok(warnings)
    }

    /// Makes the given shards one after the other and skips finished ones. For programs that distribute the work
    /// themselves.
    pub fn make_shards(&self, out: &Path, shards: &[usize], go_on: &dyn Fn() -> bool) -> Result<(), DatasetError> {
        let atomic_folder = self.claim(out)?;
        for &shard in shards.iter().filter(|shard| **shard < self.shards()) {
            if ShardRecord::find(&atomic_folder, shard)?.is_none() {
                let made =
                    self.make_shard(&atomic_folder, shard, go_on).map_err(|error| self.full(&atomic_folder, error))?;
                if made.is_none() {
                    return Err(self.stopped(&atomic_folder));
                }
            }
        }
        Ok(())
    }

    /// The shards that are missing in a folder.
    pub fn missing(&self, out: &Path) -> Result<Vec<usize>, DatasetError> {
        self.missing_in(&self.claim(out)?)
    }

    pub(super) fn missing_in(&self, atomic_folder: &AtomicFolder) -> Result<Vec<usize>, DatasetError> {
        let missing = |shard| Ok(ShardRecord::find(atomic_folder, shard)?.is_none().then_some(shard));
        (0..self.shards()).filter_map(|shard| missing(shard).transpose()).collect()
    }

    /// Opens the folder, which must be empty or hold this data set.
    fn claim(&self, out: &Path) -> Result<AtomicFolder, DatasetError> {
        const MARK: &str = ".shards/fingerprint";
        let other = |what: &str| DatasetError::OtherSet { folder: out.display().to_string(), what: what.to_owned() };
        let atomic_folder = AtomicFolder::open(out)?;
        match atomic_folder.read(MARK)? {
            Some(mark) if mark == self.fingerprint().as_bytes() => {}
            Some(_) => {
                return Err(other(
                    "it holds another data set, or this one before its description, sensors, meshes or dermis changed",
                ));
            }
            None => {
                let other_files = std::fs::read_dir(out).into_iter().flatten().flatten();
                if other_files.into_iter().any(|entry| entry.file_name() != ".shards") {
                    return Err(other("it holds files that are not of this data set"));
                }
                let is_first = atomic_folder
                    .place_new(MARK, self.fingerprint().as_bytes())
                    .map_err(|error| self.full(&atomic_folder, error.into()))?;
                // Another process has opened the folder in between: is its set this one?
                return if is_first { Ok(atomic_folder) } else { self.claim(out) };
            }
        }
        Ok(atomic_folder)
    }

    /// Converts a full-disk error to [`DatasetError::Full`].
    fn full(&self, atomic_folder: &AtomicFolder, error: DatasetError) -> DatasetError {
        match error {
            DatasetError::AtomicFolder(error) if error.is_full() => DatasetError::Full {
                file: error.path.display().to_string(),
                reason: error.error.to_string(),
                done: self.done(atomic_folder),
                all: self.shards(),
            },
            other => other,
        }
    }

    fn stopped(&self, atomic_folder: &AtomicFolder) -> DatasetError {
        DatasetError::Stopped { done: self.done(atomic_folder), all: self.shards() }
    }

    fn done(&self, atomic_folder: &AtomicFolder) -> usize {
        self.missing_in(atomic_folder).map_or(0, |missing| self.shards() - missing.len())
    }
}

/// A run in progress.
struct Run<'a> {
    set: &'a Dataset,
    atomic_folder: &'a AtomicFolder,
    work: &'a [usize],
    next: AtomicUsize,
    made: AtomicUsize,
    bytes: AtomicUsize,
    stop: AtomicBool,
    error: Mutex<Option<DatasetError>>,
}

impl<'a> Run<'a> {
    fn new(set: &'a Dataset, atomic_folder: &'a AtomicFolder, work: &'a [usize]) -> Self {
        Self {
            set,
            atomic_folder,
            work,
            next: AtomicUsize::new(0),
            made: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            error: Mutex::new(None),
        }
    }

    /// Each thread takes the next shard until none is left. Skins run single-threaded, because all threads are busy
    /// with shards. Results do not depend on the number of threads.
    fn work_with(&self, threads: usize, progress: &mut dyn FnMut(usize) -> bool) -> Result<(), DatasetError> {
        let working = AtomicUsize::new(threads);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let _guard = WorkerGuard(&working);
                    match ThreadPoolBuilder::new().num_threads(1).build() {
                        Ok(alone) => alone.install(|| self.work()),
                        // No further thread could be started.
                        Err(_) => self.work(),
                    }
                });
            }
            while working.load(Ordering::Acquire) > 0 {
                std::thread::sleep(PROGRESS_INTERVAL);
                if !progress(self.made.load(Ordering::Relaxed)) {
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
        });
        progress(self.made.load(Ordering::Relaxed));
        if let Some(error) = self.error.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(self.set.full(self.atomic_folder, error));
        }
        if self.stop.load(Ordering::Relaxed) && self.made.load(Ordering::Relaxed) < self.wanted() {
            return Err(self.set.stopped(self.atomic_folder));
        }
        Ok(())
    }

    fn wanted(&self) -> usize {
        self.work.iter().map(|&shard| self.set.episodes_of(shard).len()).sum()
    }

    fn work(&self) {
        let go_on = || {
            let on = !self.stop.load(Ordering::Relaxed);
            if on {
                self.made.fetch_add(1, Ordering::Relaxed);
            }
            on
        };
        while !self.stop.load(Ordering::Relaxed) {
            let Some(&shard) = self.work.get(self.next.fetch_add(1, Ordering::Relaxed)) else { return };
            match self.set.make_shard(self.atomic_folder, shard, &go_on) {
                Ok(Some(record)) => {
                    let bytes: u64 = record.files.iter().map(|file| file.bytes).sum();
                    self.bytes.fetch_add(bytes as usize, Ordering::Relaxed);
                }
                Ok(None) => return,
                Err(error) => {
                    self.stop.store(true, Ordering::Relaxed);
                    self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        }
    }
}

/// Decrements the number of working threads when dropped, also on panic.
struct WorkerGuard<'a>(&'a AtomicUsize);

impl Drop for WorkerGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_counted_from_one() {
        assert_eq!("3/16".parse::<Share>().unwrap(), Share { part: 2, of: 16 });
        assert_eq!("1/1".parse::<Share>().unwrap(), Share::ALL);
        for text in ["0/4", "5/4", "3", "a/b", "1/0", "-1/2"] {
            assert!(text.parse::<Share>().unwrap_err().to_string().contains("from 1 to n"), "{text}");
        }
    }
}
