//! The GPU.

use crate::error::words;
use crate::program::compile;
use crate::{GpuError, Timer, library};
use cudarc::driver::sys::{self, CUdevice_attribute, CUmemPool_attribute};
use cudarc::driver::{CudaContext, CudaModule, CudaStream};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A GPU with one queue of work. What is put there is done in order.
#[derive(Debug)]
pub struct Gpu {
    /// The driver's context: the GPU's own, which PyTorch and others share.
    pub context: Arc<CudaContext>,
    /// The queue.
    pub stream: Arc<CudaStream>,
    name: String,
    architecture: String,
    multiprocessors: usize,
    programs: Mutex<BTreeMap<&'static str, Arc<CudaModule>>>,
}

impl Gpu {
    /// The first GPU that the driver shows, opened once in a process.
    pub fn open() -> Result<Arc<Self>, GpuError> {
        static OPENED: OnceLock<Result<Arc<Gpu>, GpuError>> = OnceLock::new();
        OPENED.get_or_init(|| Self::find().map(Arc::new)).clone()
    }

    fn find() -> Result<Self, GpuError> {
        if !library::has_driver() {
            return Err(GpuError::NoDriver);
        }
        let context = CudaContext::new(0).map_err(|error| GpuError::NoGpu { reason: words(error) })?;
        if !library::has_compiler() {
            return Err(GpuError::NoCompiler);
        }
        // SAFETY: all work goes through one queue, in order, so nothing needs the events that would watch over several.
        #[allow(unsafe_code)]
        unsafe {
            context.disable_event_tracking();
        }
        let stream = context.new_stream()?;
        keep_memory(&context)?;
        let (major, minor) = context.compute_capability()?;
        let count = context.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        Ok(Self {
            name: context.name()?,
            architecture: format!("sm_{major}{minor}"),
            multiprocessors: count.max(1) as usize,
            programs: Mutex::new(BTreeMap::new()),
            context,
            stream,
        })
    }

    /// What the GPU is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its machine code is called, such as `sm_90`.
    pub fn architecture(&self) -> &str {
        &self.architecture
    }

    /// How many blocks run side by side at least.
    pub fn multiprocessors(&self) -> usize {
        self.multiprocessors
    }

    /// Memory (bytes) that a batch may take: what the driver calls free and what we hold from earlier work, less a reserve.
    pub fn free_bytes(&self) -> Result<usize, GpuError> {
        self.stream.synchronize()?;
        trim(&self.context)?;
        let (free, _) = self.context.mem_get_info()?;
        Ok(free - free / 16)
    }

    /// Refuses what needs more memory (bytes) than there is; `remedy` is told how much that is.
    pub fn require_free(
        &self,
        needed_bytes: usize,
        what: impl FnOnce() -> String,
        remedy: impl FnOnce(usize) -> String,
    ) -> Result<(), GpuError> {
        let free_bytes = self.free_bytes()?;
        if needed_bytes <= free_bytes {
            return Ok(());
        }
        Err(GpuError::OutOfMemory { what: what(), needed_bytes, free_bytes, remedy: remedy(free_bytes) })
    }

    /// Kernels, compiled for this GPU when they are first asked for.
    pub fn program(&self, name: &'static str, source: &str, options: &[&str]) -> Result<Arc<CudaModule>, GpuError> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = programs.get(name) {
            return Ok(Arc::clone(module));
        }
        let module = self.context.load_module(compile(name, source, &self.architecture, options)?)?;
        programs.insert(name, Arc::clone(&module));
        Ok(module)
    }

    /// A clock on the GPU.
    pub fn timer(self: &Arc<Self>) -> Result<Timer, GpuError> {
        Timer::start(self)
    }

    /// Waits until all that was asked for is done.
    pub fn finish(&self) -> Result<(), GpuError> {
        Ok(self.stream.synchronize()?)
    }
}

/// Memory that was given back stays ours for the next batch: asking the driver for it costs as much as small batches.
fn keep_memory(context: &CudaContext) -> Result<(), GpuError> {
    let mut all = u64::MAX;
    // SAFETY: the attribute is a 64-bit number, and the pool is the one of this GPU.
    #[allow(unsafe_code)]
    unsafe {
        let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        sys::cuMemPoolSetAttribute(pool(context)?, attribute, (&raw mut all).cast()).result()?;
    }
    Ok(())
}

/// Gives what is kept and not used back to the driver.
fn trim(context: &CudaContext) -> Result<(), GpuError> {
    // SAFETY: the pool is the one of this GPU.
    #[allow(unsafe_code)]
    unsafe {
        sys::cuMemPoolTrimTo(pool(context)?, 0).result()?;
    }
    Ok(())
}

#[allow(unsafe_code)]
fn pool(context: &CudaContext) -> Result<sys::CUmemoryPool, GpuError> {
    let mut pool = std::ptr::null_mut();
    // SAFETY: the GPU is the context's, and the pointer is written before it is read.
    unsafe {
        sys::cuDeviceGetMemPool(&raw mut pool, context.cu_device()).result()?;
    }
    Ok(pool)
}
