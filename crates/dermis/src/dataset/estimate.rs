//! Estimates the time and disk space to make a data set.

use super::error::DatasetError;
use super::set::Dataset;
use dermis_record::atomic_folder::AtomicFolder;
use std::path::Path;
use std::time::Instant;

/// Counts of a data set, and estimates from a few trial episodes.
///
/// ```no_run
/// use dermis::dataset::Dataset;
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
/// let plan = set.estimate("out/trial".as_ref(), 2)?;
/// println!("{} episodes, {:.0} s, {} bytes", plan.episodes, plan.wall_s, plan.bytes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Number of episodes.
    pub episodes: usize,
    /// Number of frames.
    pub frames: usize,
    /// Number of shards.
    pub shards: usize,
    /// Number of trial episodes.
    pub tried: usize,
    /// Time per episode on one core (s).
    pub episode_s: f64,
    /// Total time with the given number of threads (s).
    pub wall_s: f64,
    /// Total size on disk (bytes).
    pub bytes: u64,
}

/// Time limit of the trial (s).
const TRIAL_S: f64 = 1.0;
/// Maximum number of trial episodes.
const MAX_TRIALS: usize = 64;

impl Dataset {
    /// Makes a few episodes, spread over the whole set, and extrapolates. Writes them to `folder` temporarily.
    pub fn estimate(&self, folder: &Path, threads: usize) -> Result<Estimate, DatasetError> {
        let atomic_folder = AtomicFolder::open(folder)?;
        // The first episode fills the caches, and counts if it takes long.
        let mut start = Instant::now();
        let mut tried = vec![self.episode(0)?];
        if start.elapsed().as_secs_f64() < TRIAL_S {
            tried.clear();
            start = Instant::now();
        }
        let max = MAX_TRIALS.min(self.count());
        while tried.len() < max && (tried.len() < 2.min(max) || start.elapsed().as_secs_f64() < TRIAL_S) {
            // A stride that visits every object and sensor.
            let stride = (self.count() / MAX_TRIALS).max(1);
            let index = tried.len() * stride + (tried.len() % stride);
            tried.push(self.episode(index.min(self.count() - 1))?);
        }
        let episode_s = start.elapsed().as_secs_f64() / tried.len() as f64;
        let count = tried.len();
        let written = self.write(&atomic_folder, 0, &mut tried)?;
        let placed: u64 = written.files.iter().map(|file| file.bytes).sum();
        for file in &written.files {
            // The caller removes the folder.
            let _ = std::fs::remove_file(atomic_folder.path(&file.name));
        }
        let workers = threads.clamp(1, self.shards());
        // Some threads may be idle in the last round of shards.
        let rounds = self.shards().div_ceil(workers);
        Ok(Estimate {
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
