//! The program of a response: its stages in the layout of the kernels, and how environments are divided among warps.

use super::timing::{Clock, Timing};
use super::view::View;
use crate::cuda_struct::{Ptr, PtrMut, cuda_struct};
use crate::program::{COMMON, Program, UNFUSED};
use dermis_geometry::mixed;
use dermis_sensor::Weights;
use dermis_sensor::response::{Operation, OperationKind};
use std::collections::BTreeMap;

/// Threads of a block that reads out.
pub const READ_OUT_THREADS: usize = 256;
/// Threads of a warp.
pub const WARP: usize = 32;
/// Environments of a block, if a warp computes one.
const ENVIRONMENTS: usize = 4;
/// Most warps that compute an environment.
const MAX_WARPS: usize = 8;
/// Warps that a GPU keeps busy.
const BUSY_WARPS: usize = 2048;
/// Sets of taxels of an environment in shared memory.
pub const SETS: usize = 3;
/// Shared memory (bytes) of a block on every GPU.
const SHARED_BYTES: usize = 48 << 10;
/// Maximum number of numbers of all stages in shared memory. More, as of a table of many points, are read from memory.
const MAX_SHARED_NUMBERS: usize = 1024;
/// Shared memory (bytes) of a warp for its list of taxels.
const LIST_BYTES: usize = 2 * 32 * WARP;
/// Largest count that an `f32` represents with all below.
const LARGEST_F32_COUNT: f64 = 16_777_216.0;

cuda_struct! {
    /// A source of a sum over taxels: its weight, and its number minus that of the taxel.
    pub(crate) struct Term {
        weight: f64,
        offset: i64,
    }
}

cuda_struct! {
    /// All stages and their memory.
    pub(crate) struct ResponseView {
        pub numbers: Ptr<f64>,
        /// (lists, taxels).
        pub taxel_numbers: Ptr<f64>,
        /// Sums over taxels: the k-th source of every pattern, (k, patterns); rows are filled up with weights of zero.
        pub terms: Ptr<Term>,
        /// The pattern of the sources of every taxel, (sums, taxels).
        pub patterns: Ptr<u32>,
        /// Taxels of whose sum a taxel is a source, itself among them: the k-th of every taxel, (k, taxels); rows are filled up with the taxel itself.
        pub targets: Ptr<u32>,
        /// Factor and term of the random generator's jump to each pair of taxels, (pairs, 2).
        pub jumps: Ptr<u64>,
        /// One bit per taxel with a fault, (words of 32).
        pub faulty: Ptr<u32>,
        /// Memory of presses, (lists, environments, taxels).
        pub memory: PtrMut<f64>,
        /// Samples of a [`SampleType`], (slots, environments, taxels).
        pub samples: PtrMut<u8>,
        /// Sets of taxels, one bit each, that were loaded since the reset, and that presses have reached in each segment of stages, (environments, segments + 1, words of 32).
        pub reached: PtrMut<u32>,
        /// Values (N) after segments, (2, environments, taxels).
        pub rows: PtrMut<f64>,
        pub timing: Timing,
        pub environments: u32,
        pub taxels: u32,
    }
}

const SOURCE: &[&str] = &[
    COMMON,
    View::CUDA,
    Clock::CUDA,
    Timing::CUDA,
    Term::CUDA,
    ResponseView::CUDA,
    include_str!("../cuda/view.cuh"),
    super::RANDOMISATION,
    super::TIMING,
    include_str!("response.cu"),
    include_str!("read_out.cu"),
];

/// How environments are divided among warps and blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Environments of a block.
    pub environments: usize,
    /// Warps of an environment.
    pub warps: usize,
    /// True if sets of taxels do not fit into shared memory.
    pub is_wide: bool,
}

impl Blocks {
    /// A warp for each environment, or several where environments are too few to keep the GPU busy or have many taxels.
    pub fn new(taxels: usize, count: usize) -> Self {
        let words = taxels.div_ceil(WARP).max(1);
        let wanted = (BUSY_WARPS / count.max(1)).max(words / WARP / 4).clamp(1, MAX_WARPS.min(words));
        let warps = 1 << wanted.ilog2();
        let environments = if warps == 1 { ENVIRONMENTS } else { 1 };
        let free_bytes = SHARED_BYTES - LIST_BYTES * environments * warps - size_of::<f64>() * (MAX_SHARED_NUMBERS + 1);
        let is_wide = Self { environments, warps, is_wide: false }.set_bytes(taxels) > free_bytes;
        Self { environments, warps, is_wide }
    }

    pub fn threads(self) -> usize {
        WARP * self.environments * self.warps
    }

    /// Shared memory (bytes) of the sets of taxels of the environments of a block.
    pub fn set_bytes(self, taxels: usize) -> usize {
        if self.is_wide { 0 } else { SETS * size_of::<u32>() * taxels.div_ceil(WARP) * self.environments }
    }
}

/// One stage: its kind, and the first of its numbers, of its lists of numbers per taxel and of its lists of memory, with the
/// lengths of these. For a sum over taxels, the first of its sources and their number per taxel, the number of its patterns of sources
/// and their list, and the first list of its targets and their number per taxel.
#[derive(Debug)]
struct Stage {
    kind: OperationKind,
    number: usize,
    length: usize,
    sum: Sum,
    taxel_list: usize,
    memory_list: usize,
    memory_length: usize,
}

/// What a stage that sums over taxels has: see [`Stage`].
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    patterns: usize,
    pattern_list: usize,
    target: usize,
    target_length: usize,
}

/// Types of samples.
#[derive(Clone, Copy, Debug, Default)]
pub enum SampleType {
    /// Counts up to 65,535.
    U16,
    /// Counts that an `f32` represents.
    F32,
    /// Any numbers.
    #[default]
    F64,
}

impl SampleType {
    /// The type of counts up to a largest one.
    fn of_counts(largest: f64) -> Self {
        match largest {
            largest if largest <= f64::from(u16::MAX) => Self::U16,
            largest if largest <= LARGEST_F32_COUNT => Self::F32,
            _ => Self::F64,
        }
    }

    /// Its name in CUDA and its size (bytes).
    pub fn name_and_size(self) -> (&'static str, usize) {
        match self {
            Self::U16 => ("u16", 2),
            Self::F32 => ("float", 4),
            Self::F64 => ("double", 8),
        }
    }
}

/// The stages in the layout of the kernel.
#[derive(Debug, Default)]
pub struct Layout {
    stages: Vec<Stage>,
    pub numbers: Vec<f64>,
    pub taxel_numbers: Vec<f64>,
    pub terms: Vec<Term>,
    /// (sums, taxels).
    pub patterns: Vec<u32>,
    /// (lists, taxels).
    pub targets: Vec<u32>,
    pub memory_lists: usize,
    pub sample: SampleType,
    pub timing: Timing,
    /// True if the offset of a taxel is not zero.
    has_offsets: bool,
    /// True if the phase of a taxel's sampling is not zero.
    has_phases: bool,
    /// One bit per taxel with a fault.
    pub faulty: Vec<u32>,
}

/// True for the operations that keep samples, the last ones.
fn is_held(operation: &Operation) -> bool {
    matches!(operation.kind, OperationKind::Sampling | OperationKind::Delay)
}

/// The operations with the rounding to counts before values are sampled and delayed, which gives the same readings.
fn counted_first(operations: &[Operation]) -> Vec<Operation> {
    let mut all = operations.to_vec();
    if let Some(counts) = all.pop_if(|last| last.kind == OperationKind::Counts) {
        let place = all.iter().rposition(|operation| !is_held(operation)).map_or(0, |last| last + 1);
        all.insert(place, counts);
    }
    all
}

impl Layout {
    pub fn new(operations: &[Operation], taxels: usize, dt_s: f64) -> Self {
        let mut all =
            Self { timing: Timing::new(operations, dt_s), faulty: vec![0; taxels.div_ceil(32)], ..Self::default() };
        for operation in &counted_first(operations) {
            let mut numbers = operation.numbers.clone();
            let mut memory = operation.memory;
            match operation.kind {
                // The fraction of the way to the load in a step instead of the time constant.
                OperationKind::Creep => {
                    numbers.chunks_exact_mut(2).for_each(|term| term[1] = -(-dt_s / term[1]).exp_m1());
                }
                // The part of the loss's rest that a press adds instead of the number of presses; the sign of the memory
                // says whether a press lasts.
                OperationKind::Ageing => {
                    numbers[1] = -(-1.0 / numbers[1]).exp_m1();
                    memory = 1;
                }
                OperationKind::Counts => {
                    all.sample = SampleType::of_counts(numbers[1]);
                    let (newtons, of_largest) = (1.0 / numbers[0], numbers[0] / numbers[1]);
                    let as_floats = two_floats(newtons as f32, (newtons - f64::from(newtons as f32)) as f32);
                    numbers.extend([newtons, as_floats, two_floats(of_largest as f32, numbers[1] as f32)]);
                }
                OperationKind::Faults => {
                    let faults = operation.per_taxel.iter().flatten().enumerate();
                    faults.filter(|(_, value)| !value.is_nan()).for_each(|(i, _)| all.faulty[i / 32] |= 1 << (i % 32));
                }
                OperationKind::Gain => all.has_offsets |= has_others_than_zero(operation.per_taxel.last()),
                OperationKind::Sampling => all.has_phases |= has_others_than_zero(operation.per_taxel.last()),
                _ => {}
            }
            let memory_list = all.memory_lists;
            all.memory_lists += memory;
            let (number, length, sum) = match &operation.weights {
                Some(weights) => all.add_sum(weights, taxels),
                None => (all.numbers.len(), numbers.len(), Sum::default()),
            };
            all.stages.push(Stage {
                kind: operation.kind,
                number,
                length,
                sum,
                taxel_list: all.taxel_numbers.len() / taxels.max(1),
                memory_list,
                memory_length: memory,
            });
            all.numbers.extend(numbers);
            operation.per_taxel.iter().for_each(|list| all.taxel_numbers.extend(list));
        }
        all
    }

    /// Adds a sum over taxels; returns its first source, and the largest number of sources of a taxel.
    fn add_sum(&mut self, weights: &Weights, taxels: usize) -> (usize, usize, Sum) {
        // Taxels with the same weights of neighbours have one pattern: on a grid, all that are not at its edges.
        let mut patterns: BTreeMap<Vec<(i64, u64)>, u32> = BTreeMap::new();
        let (first, pattern_list) = (self.terms.len(), self.patterns.len() / taxels.max(1));
        for taxel in 0..taxels {
            let offset = |source: usize| source as i64 - taxel as i64;
            let row = weights.row(taxel).map(|(source, weight)| (offset(source), weight.to_bits())).collect();
            let next = patterns.len() as u32;
            self.patterns.push(*patterns.entry(row).or_insert(next));
        }
        let length = patterns.keys().map(Vec::len).max().unwrap_or(0);
        self.terms.extend(vec![Term { weight: 0.0, offset: 0 }; length * patterns.len()]);
        for (row, pattern) in &patterns {
            for (k, &(offset, weight)) in row.iter().enumerate() {
                let term = Term { weight: f64::from_bits(weight), offset };
                self.terms[first + k * patterns.len() + *pattern as usize] = term;
            }
        }
        let target = self.targets.len() / taxels.max(1);
        let target_length = self.add_targets(weights, taxels);
        (first, length, Sum { patterns: patterns.len(), pattern_list, target, target_length })
    }

    /// Adds the targets of a matrix and returns the largest number of targets of a taxel.
    fn add_targets(&mut self, weights: &Weights, taxels: usize) -> usize {
        let mut targets: Vec<Vec<u32>> = (0..taxels as u32).map(|taxel| vec![taxel]).collect();
        for taxel in 0..taxels {
            for (source, _) in weights.row(taxel).filter(|(source, _)| *source != taxel) {
                targets[source].push(taxel as u32);
            }
        }
        let length = targets.iter().map(Vec::len).max().unwrap_or(0);
        for k in 0..length {
            self.targets.extend(targets.iter().zip(0..).map(|(all, own)| all.get(k).copied().unwrap_or(own)));
        }
        length
    }

    /// True if the numbers of all stages are in shared memory.
    fn has_shared_numbers(&self) -> bool {
        self.numbers.len() <= MAX_SHARED_NUMBERS
    }

    /// Segments of the stages up to the last one that has sums or memory of presses: a sum with the stages after it, or the stages before the first sum.
    pub fn segments(&self) -> usize {
        use OperationKind::{Ageing, Creep, Crosstalk, Hysteresis, Spread};
        let is_sum = |stage: &Stage| matches!(stage.kind, Spread | Crosstalk);
        let is_kept = |stage: &Stage| is_sum(stage) || matches!(stage.kind, Hysteresis | Creep | Ageing);
        let sums = self.stages.iter().filter(|stage| is_sum(stage)).count();
        let before = usize::from(self.stages.first().is_some_and(|first| !is_sum(first)));
        if self.stages.iter().any(is_kept) { sums + before } else { 0 }
    }

    /// Lists of values after segments, of which two are used in turn.
    pub fn rows(&self) -> usize {
        self.segments().min(2)
    }

    /// The kernels of these stages for a number of taxels.
    pub fn program(&self, taxels: usize, group: usize, blocks: Blocks) -> Program {
        let list = |name: &str, value: fn(&Stage) -> usize| {
            let values: String = self.stages.iter().map(|stage| format!("{},", value(stage))).collect();
            format!("-D{name}={values}")
        };
        let options = [
            list("STAGES", |stage| stage.kind as usize),
            list("NUMBERS", |stage| stage.number),
            list("LENGTHS", |stage| stage.length),
            list("PATTERNS", |stage| stage.sum.patterns),
            list("PATTERN_LISTS", |stage| stage.sum.pattern_list),
            list("TARGETS", |stage| stage.sum.target),
            list("TARGET_LENGTHS", |stage| stage.sum.target_length),
            list("TAXEL_LISTS", |stage| stage.taxel_list),
            list("MEMORY_LISTS", |stage| stage.memory_list),
            list("MEMORY_LENGTHS", |stage| stage.memory_length),
            format!("-DNUMBER_COUNT={}", self.numbers.len()),
            format!("-DHAS_SHARED_NUMBERS={}", u32::from(self.has_shared_numbers())),
            format!("-DTAXELS={}", taxels.max(1)),
            format!("-DENVIRONMENTS={}", blocks.environments),
            format!("-DWARPS={}", blocks.warps),
            format!("-DGROUP={group}"),
            format!("-DREAD_OUT_THREADS={READ_OUT_THREADS}"),
            format!("-DWIDE={}", u32::from(blocks.is_wide)),
            format!("-DHAS_OFFSETS={}", u32::from(self.has_offsets)),
            format!("-DHAS_PHASES={}", u32::from(self.has_phases)),
            format!("-DSLOTS={}", self.timing.slots()),
            format!("-DHAS_DELAY={}", u32::from(self.timing.has_delay())),
            format!("-DSAMPLE={}", self.sample.name_and_size().0),
            UNFUSED.to_owned(),
        ];
        let digest = options.iter().flat_map(|option| option.bytes()).fold(0, |sum, byte| mixed(sum ^ u64::from(byte)));
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        Program::new(format!("environments-response-{digest:016x}"), SOURCE, &options)
    }
}

fn has_others_than_zero(list: Option<&Vec<f64>>) -> bool {
    list.is_some_and(|list| list.iter().any(|&value| value != 0.0))
}

/// A number with the bits of two, the first in the low half.
fn two_floats(first: f32, second: f32) -> f64 {
    f64::from_bits(u64::from(first.to_bits()) | u64::from(second.to_bits()) << 32)
}

/// Two responses with every stage, one without any.
#[cfg(test)]
pub(crate) fn programs() -> Vec<Program> {
    use OperationKind::*;
    let all = [
        Spread, Hysteresis, Creep, Ageing, Gain, Threshold, Linear, Polynomial, Power, Sigmoid, Table, Saturation,
        Crosstalk, Noise, Faults, Sampling, Delay, Counts,
    ];
    let operation = |kind: OperationKind| {
        let memory = match kind {
            Creep => 3,
            Ageing => 2,
            Hysteresis => 1,
            _ => 0,
        };
        Operation::new(kind, &[4e-3; 6]).with_memory(memory)
    };
    let all = Layout::new(&all.map(operation), 4, 1e-3);
    let few = Blocks::new(4, 4);
    let many = Blocks::new(4, 4096);
    vec![
        all.program(4, 1, few),
        all.program(4, 4, many),
        all.program(4, 4, Blocks { is_wide: true, ..many }),
        Layout::default().program(4, 1, many),
        super::randomisation::program(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_environments_have_several_warps_each() {
        for (taxels, count, expected) in
            [(100, 4096, [4, 1]), (1600, 1024, [1, 2]), (1600, 1, [1, 8]), (84, 1, [1, 2]), (1, 1, [4, 1])]
        {
            let blocks = Blocks::new(taxels, count);
            assert_eq!([blocks.environments, blocks.warps], expected, "{count} of {taxels} taxels");
        }
    }

    #[test]
    fn counts_take_as_few_bytes_as_they_need() {
        let bytes = |largest: f64| SampleType::of_counts(largest).name_and_size().1;
        assert_eq!([255.0, 65_535.0, 65_536.0, 16_777_216.0, 16_777_217.0].map(bytes), [2, 2, 4, 4, 8]);
    }

    /// Sets, lists and numbers of a block fit into the shared memory that every GPU has.
    #[test]
    fn blocks_fit_into_shared_memory() {
        for taxels in [1, 1600, 10_000, 30_000, 1_000_000] {
            for count in [1, 100, 5000] {
                let blocks = Blocks::new(taxels, count);
                let lists = blocks.environments * blocks.warps * LIST_BYTES;
                assert!(blocks.set_bytes(taxels) + lists + 8 * (MAX_SHARED_NUMBERS + 1) <= SHARED_BYTES);
                assert_eq!(blocks.is_wide, taxels > 30_000, "{taxels}");
            }
        }
    }

    #[test]
    fn targets_are_the_taxels_that_a_source_reaches() {
        let weights = Weights::new(4, vec![(0, 1, 1.0), (2, 1, 0.5), (3, 3, 0.5)]);
        let mut layout = Layout::default();
        assert_eq!(layout.add_targets(&weights, 4), 3);
        assert_eq!(layout.targets, [0, 1, 2, 3, 0, 0, 2, 3, 0, 2, 2, 3]);
    }
}
