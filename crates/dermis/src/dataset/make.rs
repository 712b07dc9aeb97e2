//! All shards, or a share of them, by all threads.

use super::error::DatasetError;
use super::finish;
use super::set::Dataset;
use super::shard::ShardRecord;
use dermis_record::atomic_folder::AtomicFolder;
use rayon::ThreadPoolBuilder;
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One of several shares of a data set: the shards whose numbers leave `part − 1` when divided by `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    part: usize,
    of: usize,
}

impl Share {
    /// The whole.
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

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Episodes that this run will have made.
    pub wanted: usize,
    /// Episodes that it has made.
    pub made: usize,
}

/// What a run has done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Made {
    /// Episodes that were made now.
    pub episodes: usize,
    /// Episodes that were there already.
    pub found: usize,
    /// Bytes that were written now.
    pub bytes: u64,
    /// How long it took (s).
    pub wall_s: f64,
    /// Threads that worked.
    pub threads: usize,
    /// Whether the set is complete now.
    pub complete: bool,
}

/// How often progress is told.
const TELL: Duration = Duration::from_millis(100);

impl Dataset {
    /// Makes what is missing of a share, with a number of threads; where all shards are there after that, completes the set. `tell` is told how far it
    /// is, and stops it by `false`: what is finished is kept, and the next run goes on from there.
    pub fn make(
        &self,
        out: &Path,
        share: Share,
        threads: usize,
        tell: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Made, DatasetError> {
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
        run.work_with(threads, &mut |made| tell(Progress { wanted, made }))?;
        let complete = finish::is_complete(self, &atomic_folder)?;
        if complete {
            finish::finish(self, &atomic_folder).map_err(|error| self.full(&atomic_folder, error))?;
            atomic_folder.sweep()?;
        }
        Ok(Made {
            episodes: wanted,
            found,
            bytes: run.bytes.into_inner() as u64,
            wall_s: start.elapsed().as_secs_f64(),
            threads,
            complete,
        })
    }

    /// Completes a set whose shards are all there, such as those that others have made.
    pub fn complete(&self, out: &Path) -> Result<(), DatasetError> {
        let atomic_folder = self.claim(out)?;
        finish::finish(self, &atomic_folder).map_err(|error| self.full(&atomic_folder, error))?;
        Ok(atomic_folder.sweep()?)
    }

    /// Makes some shards, one after the other, and nothing else; those that are there stay. For programs that share the work themselves.
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

    /// The shards that a folder lacks.
    pub fn missing(&self, out: &Path) -> Result<Vec<usize>, DatasetError> {
        let atomic_folder = self.claim(out)?;
        let mut missing = Vec::new();
        for shard in 0..self.shards() {
            if ShardRecord::find(&atomic_folder, shard)?.is_none() {
                missing.push(shard);
            }
        }
        Ok(missing)
    }

    /// The folder, which must be empty or hold this very set.
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
                let strange = std::fs::read_dir(out).into_iter().flatten().flatten();
                if strange.into_iter().any(|entry| entry.file_name() != ".shards") {
                    return Err(other("it holds files that are not of this data set"));
                }
                atomic_folder
                    .place(MARK, self.fingerprint().as_bytes())
                    .map_err(|error| self.full(&atomic_folder, error.into()))?;
            }
        }
        Ok(atomic_folder)
    }

    /// Tells a disk without room from other errors.
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
        (0..self.shards())
            .filter(|&shard| ShardRecord::find(atomic_folder, shard).is_ok_and(|record| record.is_some()))
            .count()
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
    fault: Mutex<Option<DatasetError>>,
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
            fault: Mutex::new(None),
        }
    }

    /// Each thread takes the next shard until none is left. A skin that would share its work among threads does all of it on its own one: the threads are
    /// busy with other shards, and what it finds does not depend on it.
    fn work_with(&self, threads: usize, tell: &mut dyn FnMut(usize) -> bool) -> Result<(), DatasetError> {
        let working = AtomicUsize::new(threads);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let _left = Leaving(&working);
                    match ThreadPoolBuilder::new().num_threads(1).build() {
                        Ok(alone) => alone.install(|| self.work()),
                        // Without threads to be had the work is done here.
                        Err(_) => self.work(),
                    }
                });
            }
            while working.load(Ordering::Acquire) > 0 {
                std::thread::sleep(TELL);
                if !tell(self.made.load(Ordering::Relaxed)) {
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
        });
        tell(self.made.load(Ordering::Relaxed));
        if let Some(fault) = self.fault.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(self.set.full(self.atomic_folder, fault));
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
                    self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        }
    }
}

/// Counts a thread out, also when it panics.
struct Leaving<'a>(&'a AtomicUsize);

impl Drop for Leaving<'_> {
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
