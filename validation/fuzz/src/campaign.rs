//! Runs workers, restarts those that die, and collects their counts and findings.

use crate::corpus;
use crate::limits::{BUILD_SECONDS, SKIPPED};
use crate::record::{self, Counts};
use crate::targets::Target;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Settings of a campaign.
pub struct Campaign {
    /// Folder with a folder of inputs for each target.
    pub corpus: PathBuf,
    /// Folder of findings.
    pub found: PathBuf,
    /// CPU time for damaged inputs of each target.
    pub time: Duration,
    /// Targets that run at a time.
    pub processes: usize,
    /// Seed of the random streams.
    pub seed: u64,
}

/// The result of one target.
pub struct Outcome {
    /// Name of the target.
    pub name: &'static str,
    /// Counts of all its workers.
    pub counts: Counts,
    /// Inputs that asked for more than a campaign waits for.
    pub skipped: u64,
    /// Processes that died.
    pub deaths: u64,
}

/// Deaths after which a target is given up.
const MAX_DEATHS: u64 = 20;

impl Campaign {
    /// Runs targets, several at a time; `done` is called after each. The outcomes are in the order of the targets.
    pub fn run_all(&self, targets: &[&'static Target], done: impl Fn(&Outcome) + Sync) -> Result<Vec<Outcome>, String> {
        let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || {
            while let Some((i, target)) = Some(next.fetch_add(1, Relaxed)).and_then(|i| Some((i, targets.get(i)?))) {
                let outcome = self.run(target).map_err(|error| format!("{}: {error}", target.name));
                outcome.iter().for_each(&done);
                outcomes.lock().unwrap_or_else(PoisonError::into_inner).push((i, outcome));
            }
        };
        std::thread::scope(|scope| (0..self.processes).for_each(|_| drop(scope.spawn(work))));
        let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcomes.sort_by_key(|(i, _)| *i);
        outcomes.into_iter().map(|(_, outcome)| outcome).collect()
    }

    /// Runs one target.
    fn run(&self, target: &'static Target) -> std::io::Result<Outcome> {
        let folder = std::env::temp_dir().join(format!("dermis-fuzz-{}-{}", std::process::id(), target.name));
        std::fs::create_dir_all(&folder)?;
        let outcome = self.workers(target, &folder);
        let _ = std::fs::remove_dir_all(&folder);
        outcome
    }

    fn workers(&self, target: &'static Target, folder: &Path) -> std::io::Result<Outcome> {
        let mut outcome = Outcome { name: target.name, counts: Counts::default(), skipped: 0, deaths: 0 };
        let inputs = corpus::read(&self.corpus.join(target.name)).len();
        let (mut skip, mut worker) = (0, 0u64);
        loop {
            let left = self.time.saturating_sub(Duration::from_micros(outcome.counts.cpu_us));
            let said = folder.join("said");
            let status = Command::new(std::env::current_exe()?)
                .args(["--worker", target.name, "--corpus"])
                .arg(self.corpus.join(target.name))
                .arg("--found")
                .arg(&self.found)
                .arg("--folder")
                .arg(folder)
                .args(["--time", &format!("{}s", left.as_secs_f64()), "--skip", &skip.to_string()])
                .args(["--seed", &(self.seed ^ (worker << 32)).to_string()])
                .env("RAYON_NUM_THREADS", "1")
                .env("RUST_BACKTRACE", "0")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(std::fs::File::create(&said)?)
                .status()?;
            worker += 1;
            let (counts, input) = record::read(&folder.join("current")).unwrap_or_default();
            outcome.add(&counts);
            let said = String::from_utf8_lossy(&std::fs::read(&said).unwrap_or_default()).into_owned();
            said.lines().filter(|line| line.starts_with("found ")).for_each(|line| eprintln!("{line}"));
            if status.success() {
                return Ok(outcome);
            }
            if status.code() == Some(SKIPPED) {
                outcome.skipped += 1;
                // The last input is in no count; those of large sizes took less.
                outcome.counts.cpu_us += (BUILD_SECONDS * 1e6) as u64;
            } else {
                outcome.deaths += 1;
                let last =
                    said.lines().rfind(|line| !line.is_empty() && !line.starts_with("dermis:")).unwrap_or_default();
                corpus::keep(&self.found, target.name, &input, &format!("the process died ({status}): {last}"));
            }
            skip = (skip + counts.inputs as usize).min(inputs);
            let is_over = skip == inputs && u128::from(outcome.counts.cpu_us) >= self.time.as_micros();
            if is_over || outcome.deaths >= MAX_DEATHS {
                return Ok(outcome);
            }
        }
    }
}

impl Outcome {
    fn add(&mut self, other: &Counts) {
        let Counts { inputs, accepted, refusals, slowest_us, peak_bytes, cpu_us } = *other;
        self.counts.inputs += inputs;
        self.counts.accepted += accepted;
        self.counts.cpu_us += cpu_us;
        self.counts.refusals = self.counts.refusals.max(refusals);
        self.counts.slowest_us = self.counts.slowest_us.max(slowest_us);
        self.counts.peak_bytes = self.counts.peak_bytes.max(peak_bytes);
    }
}
