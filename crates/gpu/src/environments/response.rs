//! The response of many environments on the GPU: every stage on every taxel.

use super::bindings::Bindings;
use super::timing::{Clock, Timing};
use super::view::View;
use crate::cuda_struct::{Ptr, PtrMut, cuda_struct};
use crate::memory::launch_on;
use crate::program::{COMMON, Program, UNFUSED};
use crate::{DeviceBuffer, Gpu, GpuError};
use cudarc::driver::CudaFunction;
use dermis_geometry::{Random, mixed};
use dermis_sensor::Weights;
use dermis_sensor::response::{Operation, OperationKind};
use std::sync::Arc;

/// Most threads of a block.
const MAX_THREADS: usize = 256;
/// Threads of a block that clears memory.
const RESET_THREADS: usize = 256;
/// Most environments of a block.
const MAX_AT_ONCE: usize = 8;
/// Shared memory (bytes) of a block on every GPU.
const SHARED_BYTES: usize = 48 << 10;
/// Shared memory (bytes) of a block for ranges of taxels.
const RANGES_BYTES: usize = 16 * MAX_AT_ONCE;
/// Maximum number of numbers of all stages in shared memory. More, as of a table of many points, are read from memory.
const MAX_SHARED_NUMBERS: usize = 1024;
/// Shared memory (bytes) of the two values of a taxel.
const ROW_BYTES: usize = 16;
/// Random numbers that each taxel takes in a step, as on the CPU.
const DRAWS: usize = 4;
/// Largest count that an `f32` represents with all below.
const LARGEST_F32_COUNT: f64 = 16_777_216.0;

cuda_struct! {
    /// A source of a sum over taxels: its weight, and its place in the values of an environment (bytes).
    pub(crate) struct Term {
        weight: f64,
        place: u64,
    }
}

cuda_struct! {
    /// All stages and their memory.
    pub(crate) struct ResponseView {
        numbers: Ptr<f64>,
        /// (lists, taxels).
        taxel_numbers: Ptr<f64>,
        /// Matrices: the k-th source of every taxel, (k, taxels); rows are filled up with weights of zero.
        terms: Ptr<Term>,
        /// Factor and term of the random generator's jump to each group of taxels, (groups, 2).
        jumps: Ptr<u64>,
        /// One bit per taxel with a fault, (words of 32).
        faulty: Ptr<u32>,
        /// Memory of presses, (lists, environments, taxels).
        memory: PtrMut<f64>,
        /// Samples of a [`SampleType`], (slots, environments, taxels).
        samples: PtrMut<u8>,
        /// One bit per taxel with memory of presses, whose memory is zero otherwise, (environments, words of 32).
        kept: PtrMut<u32>,
        timing: Timing,
        environments: u32,
        taxels: u32,
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
];

/// The response of many environments.
#[derive(Debug)]
pub(super) struct GpuResponse {
    gpu: Arc<Gpu>,
    layout: Layout,
    /// Present once arrays are bound.
    kernels: Option<Kernels>,
    view: ResponseView,
    /// Loads on the taxels (N), unless the caller binds them.
    loads: Option<DeviceBuffer<f64>>,
    /// Two rows of values per environment, if they do not fit into shared memory.
    rows: Option<DeviceBuffer<f64>>,
    _numbers: [DeviceBuffer<f64>; 3],
    _samples: DeviceBuffer<u8>,
    _words: [DeviceBuffer<u32>; 2],
    /// Of groups of one and of four taxels: captured graphs may use either.
    jumps: [DeviceBuffer<u64>; 2],
    _terms: DeviceBuffer<Term>,
    _clocks: DeviceBuffer<Clock>,
}

/// The kernels for bound arrays.
#[derive(Debug)]
struct Kernels {
    blocks: Blocks,
    respond: CudaFunction,
    reset: CudaFunction,
}

/// True if loads and reported loads can be read and written four at once.
fn has_fours(bindings: &Bindings) -> bool {
    bindings.taxels.has_fours() && bindings.reported.has_fours()
}

/// Shared memory (bytes) of the taxels of `at_once` environments: values, and a bit each that says which have memory of presses.
fn shared_bytes(at_once: usize, taxels: usize) -> usize {
    at_once * (ROW_BYTES * taxels + 4 * taxels.div_ceil(32))
}

/// How taxels are divided among blocks and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Blocks {
    /// Taxels of a thread at a time.
    group: usize,
    /// Environments of a block.
    at_once: usize,
    /// Threads of a block.
    threads: usize,
}

impl Blocks {
    /// Blocks of as many environments as leave the smallest part of their threads idle.
    fn new(taxels: usize, group: usize) -> Self {
        let groups = taxels.div_ceil(group).max(1);
        // The same number of groups for each thread.
        let passes = |count: usize| (count * groups).div_ceil(MAX_THREADS);
        let threads = |count: usize| (count * groups).div_ceil(passes(count)).next_multiple_of(32);
        let used = |count: usize| (count * groups) as f64 / (count * groups).next_multiple_of(threads(count)) as f64;
        let fits = |count: &usize| *count == 1 || shared_bytes(*count, taxels) <= SHARED_BYTES / 4;
        let better = |best, count| if used(count) > used(best) { count } else { best };
        let at_once = (1..=MAX_AT_ONCE).filter(fits).fold(1, better);
        Self { group, at_once, threads: threads(at_once) }
    }
}

/// One stage: its kind, and the first of its numbers, of its lists of numbers per taxel and of its lists of memory, with the
/// lengths of these. For a sum over taxels, the first of its sources, their number per taxel, and the largest difference
/// between the numbers of a taxel and of a source of its sum.
#[derive(Debug)]
struct Stage {
    kind: OperationKind,
    number: usize,
    length: usize,
    reach: usize,
    taxel_list: usize,
    memory_list: usize,
    memory_length: usize,
}

/// Types of samples.
#[derive(Clone, Copy, Debug, Default)]
enum SampleType {
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
    fn name_and_size(self) -> (&'static str, usize) {
        match self {
            Self::U16 => ("u16", 2),
            Self::F32 => ("float", 4),
            Self::F64 => ("double", 8),
        }
    }
}

/// The stages in the layout of the kernel.
#[derive(Debug, Default)]
struct Layout {
    stages: Vec<Stage>,
    numbers: Vec<f64>,
    taxel_numbers: Vec<f64>,
    terms: Vec<Term>,
    memory_lists: usize,
    sample: SampleType,
    timing: Timing,
    /// True if the offset of a taxel is not zero.
    has_offsets: bool,
    /// True if the phase of a taxel's sampling is not zero.
    has_phases: bool,
    /// One bit per taxel with a fault.
    faulty: Vec<u32>,
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
    fn new(operations: &[Operation], taxels: usize, dt_s: f64) -> Self {
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
                    numbers.push(1.0 / numbers[0]);
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
            let (number, length, reach) = match &operation.weights {
                Some(weights) => (all.terms.len(), all.add_matrix(weights, taxels), reach(weights, taxels)),
                None => (all.numbers.len(), numbers.len(), 0),
            };
            all.stages.push(Stage {
                kind: operation.kind,
                number,
                length,
                reach,
                taxel_list: all.taxel_numbers.len() / taxels.max(1),
                memory_list,
                memory_length: memory,
            });
            all.numbers.extend(numbers);
            operation.per_taxel.iter().for_each(|list| all.taxel_numbers.extend(list));
        }
        all
    }

    /// Adds a matrix and returns the largest number of sources of a taxel.
    fn add_matrix(&mut self, weights: &Weights, taxels: usize) -> usize {
        let length = (0..taxels).map(|taxel| weights.row(taxel).count()).max().unwrap_or(0);
        let term = |source: usize, weight: f64| Term { weight, place: (source * size_of::<f64>()) as u64 };
        let first = self.terms.len();
        self.terms.extend((0..length * taxels).map(|i| term(i % taxels, 0.0)));
        for taxel in 0..taxels {
            for (k, (source, weight)) in weights.row(taxel).enumerate() {
                self.terms[first + k * taxels + taxel] = term(source, weight);
            }
        }
        length
    }

    /// True if the numbers of all stages are in shared memory.
    fn has_shared_numbers(&self) -> bool {
        self.numbers.len() <= MAX_SHARED_NUMBERS
    }

    /// True if the values of one environment do not fit into shared memory.
    fn is_wide(&self, taxels: usize) -> bool {
        let numbers = if self.has_shared_numbers() { self.numbers.len() + 1 } else { 1 };
        shared_bytes(1, taxels) + size_of::<f64>() * numbers + RANGES_BYTES > SHARED_BYTES
    }

    /// The kernels of these stages for a number of taxels.
    fn program(&self, taxels: usize, blocks: Blocks, is_wide: bool) -> Program {
        let list = |name: &str, value: fn(&Stage) -> usize| {
            let values: String = self.stages.iter().map(|stage| format!("{},", value(stage))).collect();
            format!("-D{name}={values}")
        };
        let options = [
            list("STAGES", |stage| stage.kind as usize),
            list("NUMBERS", |stage| stage.number),
            list("LENGTHS", |stage| stage.length),
            list("REACHES", |stage| stage.reach),
            list("TAXEL_LISTS", |stage| stage.taxel_list),
            list("MEMORY_LISTS", |stage| stage.memory_list),
            list("MEMORY_LENGTHS", |stage| stage.memory_length),
            format!("-DNUMBER_COUNT={}", self.numbers.len()),
            format!("-DHAS_SHARED_NUMBERS={}", u32::from(self.has_shared_numbers())),
            format!("-DTAXELS={}", taxels.max(1)),
            format!("-DAT_ONCE={}", blocks.at_once),
            format!("-DTHREADS={}", blocks.threads),
            format!("-DGROUP={}", blocks.group),
            format!("-DWIDE={}", u32::from(is_wide)),
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

/// The largest difference between the numbers of a taxel and of a source of its sum.
fn reach(weights: &Weights, taxels: usize) -> usize {
    let sources = |taxel: usize| weights.row(taxel).map(move |(source, _)| source.abs_diff(taxel));
    (0..taxels).flat_map(sources).max().unwrap_or(0)
}

impl GpuResponse {
    /// The response at rest, for steps of `dt_s`.
    pub fn new(
        gpu: &Arc<Gpu>,
        operations: &[Operation],
        taxels: usize,
        count: usize,
        dt_s: f64,
    ) -> Result<Self, GpuError> {
        let layout = Layout::new(operations, taxels, dt_s);
        let is_wide = layout.is_wide(taxels);
        let samples_bytes = layout.timing.slots().saturating_mul(layout.sample.name_and_size().1);
        let (taxel_bytes, words) = (
            samples_bytes.saturating_add(8 * (layout.memory_lists + if is_wide { 2 } else { 0 })),
            taxels.div_ceil(32),
        );
        let each = taxel_bytes.saturating_mul(taxels).saturating_add(4 * words + size_of::<Clock>());
        gpu.require_free(
            each.saturating_mul(count),
            || format!("the response of {count} environments of {taxels} taxels"),
            |free_bytes| format!("at most {} fit", free_bytes / each),
        )?;
        let numbers = [
            gpu.upload(&layout.numbers)?,
            gpu.upload(&layout.taxel_numbers)?,
            gpu.zeros(layout.memory_lists * taxels * count)?,
        ];
        let samples = gpu.zeros(samples_bytes * taxels * count)?;
        let flags = [gpu.zeros(words * count)?, gpu.upload(&layout.faulty)?];
        let terms = gpu.upload(&layout.terms)?;
        let jumps = |group: usize| gpu.upload(&Random::jumps(DRAWS * group, taxels.div_ceil(group)).concat());
        let jumps = [jumps(1)?, jumps(4)?];
        let clocks = gpu.upload(&(0..count).map(Clock::of_environment).collect::<Vec<_>>())?;
        let view = ResponseView {
            numbers: numbers[0].at(0),
            taxel_numbers: numbers[1].at(0),
            terms: terms.at(0),
            jumps: jumps[0].at(0),
            faulty: flags[1].at(0),
            memory: numbers[2].at_mut(0),
            samples: samples.at_mut(0),
            kept: flags[0].at_mut(0),
            timing: layout.timing.with_clocks(clocks.at_mut(0)),
            environments: count as u32,
            taxels: taxels as u32,
        };
        let made = Self {
            layout,
            kernels: None,
            view,
            loads: None,
            rows: if is_wide { Some(gpu.uninitialised(2 * taxels * count)?) } else { None },
            gpu: Arc::clone(gpu),
            _numbers: numbers,
            _samples: samples,
            _words: flags,
            jumps,
            _terms: terms,
            _clocks: clocks,
        };
        // Other streams may use the memory now.
        gpu.finish()?;
        Ok(made)
    }

    /// Time step (s).
    pub fn dt_s(&self) -> f64 {
        self.view.timing.dt_s()
    }

    /// The timing, with clocks that the kernel that reads the bodies advances.
    pub fn timing(&self) -> Timing {
        self.view.timing
    }

    /// Prepares what the bound arrays need: the kernels, and loads on the taxels if the caller does not bind any.
    pub fn prepare(&mut self, bindings: &Bindings) -> Result<(), GpuError> {
        let (taxels, count) = (self.view.taxels as usize, self.view.environments as usize);
        let in_fours = has_fours(bindings) && taxels.is_multiple_of(4);
        let blocks = Blocks::new(taxels, if in_fours { 4 } else { 1 });
        if self.kernels.as_ref().is_none_or(|kernels| kernels.blocks != blocks) {
            let program = self.layout.program(taxels, blocks, self.layout.is_wide(taxels));
            let (respond, reset) =
                (self.gpu.kernel(&program, "respond")?, self.gpu.kernel(&program, "reset_response")?);
            self.view.jumps = self.jumps[usize::from(in_fours)].at(0);
            self.kernels = Some(Kernels { blocks, respond, reset });
        }
        if !bindings.taxels.is_bound() && self.loads.is_none() {
            self.loads = Some(self.gpu.uninitialised(taxels * count)?);
            self.gpu.finish()?;
        }
        Ok(())
    }

    /// The bindings with loads on the taxels: those of the caller, or our own.
    pub fn with_loads(&self, bindings: &Bindings) -> Bindings {
        match &self.loads {
            Some(own) if !bindings.taxels.is_bound() => {
                Bindings { taxels: View::of_rows(own, self.view.taxels as usize), ..*bindings }
            }
            _ => *bindings,
        }
    }

    /// Enqueues the response to the loads on the taxels on a stream. `loaded`: one bit per taxel that may have a load,
    /// (environments, words of 32), or null.
    ///
    /// # Safety
    /// The bound arrays are alive until the work is done, in the memory of this GPU, and have a row per environment.
    pub unsafe fn launch(
        &self,
        bindings: &Bindings,
        parameters: Ptr<f64>,
        loaded: Ptr<u32>,
        stream: usize,
    ) -> Result<(), GpuError> {
        let (taxels, count) = (self.view.taxels as usize, self.view.environments as usize);
        let Some(Kernels { blocks, respond, .. }) = self.kernels.as_ref().filter(|_| taxels > 0) else {
            return Ok(());
        };
        // The kernels are those of the last `prepare`, which an error may have followed.
        if blocks.group > 1 && !has_fours(bindings) {
            let reason = "the bound arrays are not those of the last `bind`, which failed: bind them again".to_owned();
            return Err(GpuError::BadInput { reason });
        }
        let rows = self.rows.as_ref().map_or(PtrMut::default(), |rows| rows.at_mut(0));
        let shared_bytes = if self.rows.is_some() { 0 } else { ROW_BYTES * blocks.at_once * taxels };
        let grid = count.div_ceil(blocks.at_once).max(1);
        // SAFETY: the caller guarantees the bound arrays; ours have a row per environment and a column per taxel.
        unsafe {
            launch_on!(
                self.gpu, stream, respond, (grid, blocks.threads, shared_bytes);
                &self.view, &bindings.taxels, &bindings.reported, &parameters, &rows, &loaded
            )
        }
    }

    /// Enqueues the reset where the mask is not zero.
    ///
    /// # Safety
    /// The mask is alive until the work is done, in the memory of this GPU, and has an element per environment.
    pub unsafe fn reset(&self, mask: &View, stream: usize) -> Result<(), GpuError> {
        let Some(kernels) = &self.kernels else { return Ok(()) };
        // SAFETY: the caller guarantees the mask.
        unsafe {
            launch_on!(
                self.gpu, stream, kernels.reset, ((self.view.environments as usize).max(1), RESET_THREADS);
                mask, &self.view, &(self.layout.memory_lists as u32)
            )
        }
    }
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
    vec![
        all.program(4, Blocks::new(4, 1), false),
        all.program(4, Blocks::new(4, 4), false),
        all.program(4, Blocks::new(4, 4), true),
        Layout::default().program(4, Blocks::new(4, 1), false),
        super::randomisation::program(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_leave_few_threads_idle() {
        for (taxels, group, expected) in
            [(100, 4, [5, 128]), (1600, 4, [1, 224]), (84, 4, [3, 64]), (84, 1, [8, 224]), (1, 1, [8, 32])]
        {
            let blocks = Blocks::new(taxels, group);
            assert_eq!([blocks.at_once, blocks.threads], expected, "{taxels} taxels in groups of {group}");
        }
    }

    #[test]
    fn counts_take_as_few_bytes_as_they_need() {
        let bytes = |largest: f64| SampleType::of_counts(largest).name_and_size().1;
        assert_eq!([255.0, 65_535.0, 65_536.0, 16_777_216.0, 16_777_217.0].map(bytes), [2, 2, 4, 4, 8]);
    }

    /// Values, flags, numbers and ranges of a block fit into the shared memory that every GPU has.
    #[test]
    fn blocks_fit_into_shared_memory() {
        for numbers in [10, 200, MAX_SHARED_NUMBERS, 100_000] {
            let layout = Layout { numbers: vec![1.0; numbers], ..Layout::default() };
            let largest = (1..4000).filter(|taxels| !layout.is_wide(*taxels)).max().unwrap();
            let shared = if numbers <= MAX_SHARED_NUMBERS { numbers + 1 } else { 1 };
            let used = shared_bytes(1, largest) + 8 * shared + RANGES_BYTES;
            assert!(used <= 48 << 10 && largest > 2200, "{numbers} numbers: {largest} taxels, {used} bytes");
        }
    }

    #[test]
    fn the_reach_of_a_sum_is_its_farthest_source() {
        let weights = Weights::new(6, vec![(0, 0, 1.0), (4, 1, 0.5), (2, 4, 0.5)]);
        assert_eq!(reach(&weights, 6), 3);
    }
}
