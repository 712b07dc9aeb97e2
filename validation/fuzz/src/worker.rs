//! Reads inputs of one target until its time is over.

use crate::mutate::{Stream, damaged};
use crate::record::{self, Counts};
use crate::targets::Target;
use crate::{corpus, limits, memory};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

/// The work of one process.
pub struct Work {
    /// The reader.
    pub target: &'static Target,
    /// Folder of the committed inputs.
    pub corpus: PathBuf,
    /// Scratch folder.
    pub folder: PathBuf,
    /// Folder of findings.
    pub found: PathBuf,
    /// CPU time for damaged inputs.
    pub time: Duration,
    /// Seed of the random stream.
    pub seed: u64,
    /// Inputs of the corpus that earlier workers have read.
    pub skip: usize,
}

/// Stack of the reader's thread (bytes), as of Rust's threads.
const STACK: usize = 2 << 20;
/// Inputs kept besides the corpus, each with a refusal of its own.
const MAX_KEPT: usize = 2000;
/// Findings kept from one line of code.
const MAX_ALIKE: usize = 3;
/// Cost of a seed (µs) from which it is chosen less often.
const DEAR_US: u64 = 5_000;
/// Assumed cost (µs) of an input that an earlier worker has read.
const UNKNOWN_US: u64 = 100_000;

/// The place and text of the last panic.
static PANIC: Mutex<String> = Mutex::new(String::new());

impl Work {
    /// Runs in a thread with a usual stack.
    pub fn run(self) {
        limits::watch();
        limits::limit_address_space(12 << 30);
        std::panic::set_hook(Box::new(|about| {
            let place = about.location().map(ToString::to_string).unwrap_or_default();
            let text = about.payload_as_str().unwrap_or("a panic");
            if let Ok(mut last) = PANIC.lock() {
                *last = format!("{place}: {text}");
            }
        }));
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || Loop::new(self).all());
        if thread.map(|thread| thread.join().is_err()).unwrap_or(true) {
            std::process::abort();
        }
    }
}

/// An input to damage, and what reading it costs.
struct Seed {
    bytes: Vec<u8>,
    cost_us: u64,
}

struct Loop {
    work: Work,
    current: File,
    counts: Counts,
    seeds: Vec<Seed>,
    refusals: HashSet<u64>,
    alike: HashMap<String, usize>,
}

impl Loop {
    fn new(work: Work) -> Self {
        let current = File::create(work.folder.join("current")).expect("the scratch folder can be written");
        let (seeds, refusals, alike) = Default::default();
        Self { work, current, counts: Counts::default(), seeds, refusals, alike }
    }

    fn all(mut self) {
        for (i, (name, bytes)) in corpus::read(&self.work.corpus).into_iter().enumerate() {
            let cost_us = if i < self.work.skip { UNKNOWN_US } else { self.one(&bytes, &name) };
            self.seeds.push(Seed { bytes, cost_us });
        }
        for bytes in self.work.target.seeds.map(|seeds| seeds()).unwrap_or_default() {
            let cost_us = self.one(&bytes, "seed");
            self.seeds.push(Seed { bytes, cost_us });
        }
        if self.seeds.is_empty() {
            self.seeds.push(Seed { bytes: b"0".to_vec(), cost_us: 0 });
        }
        let (start_ns, mut random) = (limits::cpu_ns(), Stream(self.work.seed));
        let sound = self.seeds.len();
        while u128::from(self.counts.cpu_us) < self.work.time.as_micros() {
            // Every other input is one of the corpus, damaged a little; the others go on from earlier refusals.
            let among = if random.below(2) == 0 { sound } else { self.seeds.len() };
            let (seed, other) = (random.below(among), random.below(self.seeds.len()));
            if self.seeds[seed].cost_us > DEAR_US && random.below(self.seeds[seed].cost_us as usize) > DEAR_US as usize
            {
                continue;
            }
            let (seed, other) = (&self.seeds[seed].bytes, &self.seeds[other].bytes);
            let mut bytes = damaged(seed, other, self.work.target.words, &mut random);
            if let Some(repair) = self.work.target.repair
                && random.below(4) > 0
            {
                repair(&mut bytes);
            }
            self.counts.cpu_us = (limits::cpu_ns() - start_ns) / 1000;
            let known = self.refusals.len();
            let cost_us = self.one(&bytes, "damaged");
            if self.refusals.len() > known && self.seeds.len() < MAX_KEPT {
                self.seeds.push(Seed { bytes, cost_us });
            }
        }
        let _ = record::write(&mut self.current, &self.counts, &[]);
    }

    /// Reads one input; returns its CPU time (µs).
    fn one(&mut self, bytes: &[u8], name: &str) -> u64 {
        self.counts.inputs += 1;
        record::write(&mut self.current, &self.counts, bytes).expect("the scratch folder can be written");
        let target = self.work.target;
        let (start_ns, before) = (limits::cpu_ns(), memory::live());
        limits::begin(target.memory.0 + target.memory.1 * bytes.len(), target.seconds);
        let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(bytes, &self.work.folder)));
        limits::end();
        let peak = memory::used_since(before) as u64;
        let took_us = (limits::cpu_ns() - start_ns) / 1000;
        self.counts.slowest_us = self.counts.slowest_us.max(took_us);
        self.counts.peak_bytes = self.counts.peak_bytes.max(peak);
        match outcome {
            Ok(Ok(())) => {
                self.counts.accepted += 1;
                // What is accepted at another length is a seed too.
                self.refusals.insert(bytes.len() as u64 / 64);
            }
            Ok(Err(sentence)) => {
                self.refusals.insert(kind(&sentence));
                self.counts.refusals = self.refusals.len() as u64;
            }
            Err(_) => self.keep(bytes, name),
        }
        took_us
    }

    fn keep(&mut self, bytes: &[u8], name: &str) {
        let said = PANIC.lock().map(|last| last.clone()).unwrap_or_default();
        let place = said.split(": ").next().unwrap_or_default().to_owned();
        let count = self.alike.entry(place).or_default();
        *count += 1;
        if *count <= MAX_ALIKE {
            corpus::keep(&self.work.found, self.work.target.name, bytes, &format!("{name}: panicked at {said}"));
        }
    }
}

/// A hash of a sentence without its numbers and quotes: inputs with the same one took the same way through the reader.
fn kind(sentence: &str) -> u64 {
    let mut hash = DefaultHasher::new();
    let mut quoted = false;
    for c in sentence.chars().take(300) {
        quoted ^= matches!(c, '"' | '`');
        if !quoted && c.is_alphabetic() {
            c.hash(&mut hash);
        }
    }
    hash.finish()
}
