//! The GPU: its stream of work, its properties, and the programs loaded on it.

use crate::cache::{Cache, Target};
use crate::error::message;
use crate::program::Program;
use crate::{GpuError, Timer, library};
use cudarc::driver::sys::{self, CUdevice_attribute, CUmemPool_attribute};
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, CudaStream};
use cudarc::nvrtc::Ptx;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A GPU with one stream: work runs in the order in which it is queued.
#[derive(Debug)]
pub struct Gpu {
    /// The primary context of the GPU, shared with PyTorch and other libraries.
    pub(crate) context: Arc<CudaContext>,
    pub(crate) stream: Arc<CudaStream>,
    name: String,
    architecture: String,
    multiprocessors: usize,
    cache: Cache,
    programs: Mutex<BTreeMap<String, Arc<CudaModule>>>,
}

impl Gpu {
    /// Opens the first GPU that the driver reports, once per process. Refuses one that was opened before this process was forked.
    pub fn open() -> Result<Arc<Self>, GpuError> {
        static OPENED: OnceLock<(u32, Result<Arc<Gpu>, GpuError>)> = OnceLock::new();
        let here = std::process::id();
        match OPENED.get_or_init(|| (here, Self::find().map(Arc::new))) {
            (process, Ok(_)) if *process != here => Err(GpuError::Forked),
            (_, opened) => opened.clone(),
        }
    }

    fn find() -> Result<Self, GpuError> {
        if !library::has_driver() {
            return Err(GpuError::NoDriver);
        }
        let context = CudaContext::new(0).map_err(|error| GpuError::NoGpu { reason: message(error) })?;
        // SAFETY: all work goes through one stream, in order, so no events are needed to order streams.
        unsafe {
            context.disable_event_tracking();
        }
        let stream = context.new_stream()?;
        keep_freed_memory(&context)?;
        let (major, minor) = context.compute_capability()?;
        let count = context.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        Ok(Self {
            name: context.name()?,
            architecture: format!("sm_{major}{minor}"),
            multiprocessors: count.max(1) as usize,
            cache: Cache::of_user(),
            programs: Mutex::default(),
            context,
            stream,
        })
    }

    /// The GPU's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The architecture of the GPU's machine code, such as `sm_90`.
    pub fn architecture(&self) -> &str {
        &self.architecture
    }

    /// Number of multiprocessors.
    pub fn multiprocessors(&self) -> usize {
        self.multiprocessors
    }

    /// Index among the GPUs that the driver reports.
    pub fn ordinal(&self) -> usize {
        self.context.ordinal()
    }

    /// Maximum clock rate (Hz) of the multiprocessors.
    pub fn clock_hz(&self) -> Result<f64, GpuError> {
        Ok(f64::from(self.context.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?) * 1e3)
    }

    /// Maximum shared memory (bytes) of one block.
    pub(crate) fn max_shared_bytes(&self) -> Result<usize, GpuError> {
        let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        Ok(self.context.attribute(attribute)?.max(0) as usize)
    }

    /// CUDA's handle of the stream, for libraries that synchronise with it.
    pub fn stream_handle(&self) -> usize {
        self.stream.cu_stream() as usize
    }

    /// Memory (bytes) available for a batch: free memory, plus freed memory in the pool, minus a reserve.
    pub fn free_bytes(&self) -> Result<usize, GpuError> {
        self.stream.synchronize()?;
        trim(&self.context)?;
        let (free, _) = self.context.mem_get_info()?;
        Ok(free - free / 16)
    }

    /// False if no program can run: the cache has no compiled program and there is no compiler.
    pub(crate) fn has_programs_or_compiler(&self) -> bool {
        self.cache.has_programs() || library::has_compiler()
    }

    /// The kernels of a program. Loads them on first use, from the user's cache or by compiling.
    pub(crate) fn program(&self, program: &Program) -> Result<Arc<CudaModule>, GpuError> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = programs.get(&*program.name) {
            return Ok(Arc::clone(module));
        }
        let compiler = library::compiler_version();
        let target = Target { architecture: &self.architecture, driver: library::driver_version(), compiler };
        let compile = || program.compile(&self.architecture);
        let load = |bytes| self.context.load_module(Ptx::from_binary(bytes));
        let code = self.cache.load(program, target, compile)?;
        let module = match load(code.bytes) {
            // The file was intact, but this driver rejects its code.
            Err(_) if !code.is_fresh => load(self.cache.compile(program, target, compile)?.bytes)?,
            loaded => loaded?,
        };
        programs.insert(program.name.to_string(), Arc::clone(&module));
        Ok(module)
    }

    /// One kernel of a program.
    pub(crate) fn kernel(&self, program: &Program, name: &str) -> Result<CudaFunction, GpuError> {
        Ok(self.program(program)?.load_function(name)?)
    }

    /// Starts a timer on the GPU.
    pub fn timer(self: &Arc<Self>) -> Result<Timer, GpuError> {
        Timer::start(self)
    }

    /// Waits until all work of this GPU's stream is done.
    pub fn finish(&self) -> Result<(), GpuError> {
        Ok(self.stream.synchronize()?)
    }

    /// Waits until all work on the GPU is done, including the streams of other libraries.
    pub fn finish_all_streams(&self) -> Result<(), GpuError> {
        Ok(self.context.synchronize()?)
    }
}

/// Keeps freed memory in the pool for the next batch: an allocation by the driver takes as long as a small batch.
fn keep_freed_memory(context: &CudaContext) -> Result<(), GpuError> {
    let mut all = u64::MAX;
    // SAFETY: the attribute is a 64-bit number, and the pool is the one of this GPU.
    unsafe {
        let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        sys::cuMemPoolSetAttribute(pool(context)?, attribute, (&raw mut all).cast()).result()?;
    }
    Ok(())
}

/// Returns unused memory of the pool to the driver.
fn trim(context: &CudaContext) -> Result<(), GpuError> {
    // SAFETY: the pool is the one of this GPU.
    unsafe {
        sys::cuMemPoolTrimTo(pool(context)?, 0).result()?;
    }
    Ok(())
}

fn pool(context: &CudaContext) -> Result<sys::CUmemoryPool, GpuError> {
    let mut pool = std::ptr::null_mut();
    // SAFETY: the device is the context's, and the pointer is written before it is read.
    unsafe {
        sys::cuDeviceGetMemPool(&raw mut pool, context.cu_device()).result()?;
    }
    Ok(pool)
}
