//! The response of many environments on the GPU: every stage on every taxel.

use super::bindings::Bindings;
use super::response_program::{Blocks, Layout, READ_OUT_THREADS, ResponseView, SETS, Term, WARP};
use super::timing::{Clock, Timing};
use super::view::View;
use crate::cuda_struct::{Ptr, PtrMut};
use crate::memory::launch_on;
use crate::{DeviceBuffer, Gpu, GpuError};
use cudarc::driver::CudaFunction;
use dermis_geometry::Random;
use dermis_sensor::response::Operation;
use std::sync::Arc;

/// Threads that a multiprocessor runs.
const THREADS: usize = 2048;
/// Threads of a multiprocessor that run a response beside other kernels: more slow those down, with fewer the response ends later than they.
const SHARED_THREADS: usize = 768;
/// Threads of a block that clears memory.
const RESET_THREADS: usize = 256;
/// Most taxels of all environments.
const MAX_TAXELS: usize = 1 << 31;
/// Random numbers that each two taxels take in a step, as on the CPU.
const DRAWS: usize = 4;

/// How much of the GPU a response may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// All of it.
    All,
    /// A part of each multiprocessor, for other kernels to run beside it.
    Part,
}

/// The response of many environments.
#[derive(Debug)]
pub(super) struct GpuResponse {
    gpu: Arc<Gpu>,
    layout: Layout,
    blocks: Blocks,
    /// Present once arrays are bound.
    kernels: Option<Kernels>,
    view: ResponseView,
    /// Loads on the taxels (N), unless the caller binds them.
    loads: Option<DeviceBuffer<f64>>,
    /// Sets of taxels, if they do not fit into shared memory.
    sets: Option<DeviceBuffer<u32>>,
    _numbers: [DeviceBuffer<f64>; 4],
    _samples: DeviceBuffer<u8>,
    _words: [DeviceBuffer<u32>; 4],
    _jumps: DeviceBuffer<u64>,
    _terms: DeviceBuffer<Term>,
    _clocks: DeviceBuffer<Clock>,
}

/// The kernels for bound arrays.
#[derive(Debug)]
struct Kernels {
    /// Taxels of a thread that reads out.
    group: usize,
    respond: CudaFunction,
    read_out: CudaFunction,
    reset: CudaFunction,
}

/// True if loads and reported loads can be read and written four at once.
fn has_fours(bindings: &Bindings) -> bool {
    bindings.taxels.has_fours() && bindings.reported.has_fours()
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
        // Threads have numbers of 32 bits.
        if taxels.saturating_mul(count) > MAX_TAXELS {
            let what = format!("a response of {count} environments of {taxels} taxels");
            return Err(GpuError::Unsupported { what, why: format!("at most {MAX_TAXELS} taxels have one") });
        }
        let layout = Layout::new(operations, taxels, dt_s);
        let blocks = Blocks::new(taxels, count);
        let samples_bytes = layout.timing.slots().saturating_mul(layout.sample.name_and_size().1);
        let set_words = (layout.segments() + 1) * taxels.div_ceil(WARP);
        let spare_words = if blocks.is_wide { SETS * taxels.div_ceil(WARP) } else { 0 };
        let taxel_bytes = samples_bytes.saturating_add(8 * (layout.memory_lists + layout.rows()));
        let each =
            taxel_bytes.saturating_mul(taxels).saturating_add(4 * (set_words + spare_words) + size_of::<Clock>());
        gpu.require_free(
            each.saturating_mul(count),
            || format!("the response of {count} environments of {taxels} taxels"),
            |free_bytes| format!("at most {} fit", free_bytes / each),
        )?;
        let numbers = [
            gpu.upload(&layout.numbers)?,
            gpu.upload(&layout.taxel_numbers)?,
            gpu.zeros(layout.memory_lists * taxels * count)?,
            gpu.uninitialised(layout.rows() * taxels * count)?,
        ];
        let samples = gpu.zeros(samples_bytes * taxels * count)?;
        let words = [
            gpu.zeros(set_words * count)?,
            gpu.upload(&layout.faulty)?,
            gpu.upload(&layout.targets)?,
            gpu.upload(&layout.patterns)?,
        ];
        let terms = gpu.upload(&layout.terms)?;
        let jumps = gpu.upload(&Random::jumps(DRAWS, taxels.div_ceil(2)).concat())?;
        let clocks = gpu.upload(&(0..count).map(Clock::of_environment).collect::<Vec<_>>())?;
        let view = ResponseView {
            numbers: numbers[0].at(0),
            taxel_numbers: numbers[1].at(0),
            terms: terms.at(0),
            patterns: words[3].at(0),
            targets: words[2].at(0),
            jumps: jumps.at(0),
            faulty: words[1].at(0),
            memory: numbers[2].at_mut(0),
            samples: samples.at_mut(0),
            reached: words[0].at_mut(0),
            rows: numbers[3].at_mut(0),
            timing: layout.timing.with_clocks(clocks.at_mut(0)),
            environments: count as u32,
            taxels: taxels as u32,
        };
        let made = Self {
            layout,
            kernels: None,
            view,
            loads: None,
            blocks,
            sets: if blocks.is_wide { Some(gpu.uninitialised(spare_words * count)?) } else { None },
            gpu: Arc::clone(gpu),
            _numbers: numbers,
            _samples: samples,
            _words: words,
            _jumps: jumps,
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
        let group = if has_fours(bindings) && taxels.is_multiple_of(4) { 4 } else { 1 };
        if self.kernels.as_ref().is_none_or(|kernels| kernels.group != group) {
            let program = self.layout.program(taxels, group, self.blocks);
            let kernel = |name: &str| self.gpu.kernel(&program, name);
            let (respond, read_out, reset) = (kernel("respond")?, kernel("read_out")?, kernel("reset_response")?);
            self.kernels = Some(Kernels { group, respond, read_out, reset });
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
    /// (environments, words of 32), or null. `share`: how much of the GPU it may use.
    ///
    /// # Safety
    /// The bound arrays are alive until the work is done, in the memory of this GPU, and have a row per environment.
    pub unsafe fn launch(
        &self,
        bindings: &Bindings,
        parameters: Ptr<f64>,
        loaded: Ptr<u32>,
        share: Share,
        stream: usize,
    ) -> Result<(), GpuError> {
        let (taxels, count) = (self.view.taxels as usize, self.view.environments as usize);
        let Some(Kernels { group, respond, read_out, .. }) = self.kernels.as_ref().filter(|_| taxels > 0) else {
            return Ok(());
        };
        // The kernels are those of the last `prepare`, which an error may have followed.
        if *group > 1 && !has_fours(bindings) {
            let reason = "the bound arrays are not those of the last `bind`, which failed: bind them again".to_owned();
            return Err(GpuError::BadInput { reason });
        }
        let sets = self.sets.as_ref().map_or(PtrMut::default(), |sets| sets.at_mut(0));
        let (view, loads, blocks) = (&self.view, &bindings.taxels, self.blocks);
        let most = |threads: usize| match share {
            Share::All => self.gpu.multiprocessors() * (THREADS / threads).max(1),
            Share::Part => self.gpu.multiprocessors() * (SHARED_THREADS / threads).max(1),
        };
        let respond_blocks = count.div_ceil(blocks.environments).clamp(1, most(2 * blocks.threads()));
        // A thread has the same group of taxels in all its environments.
        let blocks_of = |groups: usize| groups.div_ceil(READ_OUT_THREADS);
        let groups = taxels / group;
        let read_out_blocks = blocks_of(count * groups).min(most(READ_OUT_THREADS)).max(blocks_of(groups));
        // SAFETY: the caller guarantees the bound arrays; ours have a row per environment and a column per taxel.
        unsafe {
            if self.layout.rows() > 0 {
                launch_on!(
                    self.gpu, stream, respond, (respond_blocks, blocks.threads(), blocks.set_bytes(taxels));
                    view, loads, &parameters, &loaded, &sets
                )?;
            }
            launch_on!(
                self.gpu, stream, read_out, (read_out_blocks, READ_OUT_THREADS);
                view, loads, &bindings.reported, &parameters
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
