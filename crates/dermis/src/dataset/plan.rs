//! What making a data set would take.

use super::error::DatasetError;
use super::set::Dataset;
use dermis_record::atomic_folder::AtomicFolder;
use std::path::Path;
use std::time::Instant;

/// Counts, and estimates from a few episodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Episodes in all.
    pub episodes: usize,
    /// Frames in all.
    pub frames: usize,
    /// Shards.
    pub shards: usize,
    /// Episodes that were made to estimate from.
    pub tried: usize,
    /// Of one episode on one core (s).
    pub episode_s: f64,
    /// In all, on so many threads (s).
    pub wall_s: f64,
    /// On the disk, in all.
    pub bytes: u64,
}

/// How long to try for (s).
const TRY_S: f64 = 2.0;
/// Episodes that are tried at most.
const MOST: usize = 64;

impl Dataset {
    /// Makes a few episodes, spread over the whole set, and estimates from them. `folder` is where they are written for a moment.
    pub fn plan(&self, folder: &Path, threads: usize) -> Result<Plan, DatasetError> {
        let atomic_folder = AtomicFolder::open(folder)?;
        // The first one of its kind makes skins and objects ready.
        self.episode(0)?;
        let start = Instant::now();
        let mut tried = Vec::new();
        let most = MOST.min(self.count());
        while tried.len() < most && (tried.len() < 2.min(most) || start.elapsed().as_secs_f64() < TRY_S) {
            // A stride that meets every object and sensor in turn.
            let stride = (self.count() / MOST).max(1);
            let index = tried.len() * stride + (tried.len() % stride);
            tried.push(self.episode(index.min(self.count() - 1))?);
        }
        let episode_s = start.elapsed().as_secs_f64() / tried.len() as f64;
        let count = tried.len();
        let written = self.write(&atomic_folder, 0, &mut tried)?;
        let placed: u64 = written.files.iter().map(|file| file.bytes).sum();
        for file in &written.files {
            // It is in a folder of its own that its owner takes away.
            let _ = std::fs::remove_file(atomic_folder.path(&file.name));
        }
        let workers = threads.clamp(1, self.shards());
        // The last round of shards may leave threads without work.
        let rounds = self.shards().div_ceil(workers);
        Ok(Plan {
            episodes: self.count(),
            frames: self.count() * self.frames(),
            shards: self.shards(),
            tried: count,
            episode_s,
            wall_s: episode_s * (rounds * self.shard_len()).min(self.count()) as f64,
            bytes: (placed as f64 / count as f64 * self.count() as f64) as u64,
        })
    }
}
