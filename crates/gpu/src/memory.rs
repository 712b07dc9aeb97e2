//! GPU memory: buffers, uploads and downloads.

use crate::array::ExternalArray;
use crate::cuda_struct::{Plain, Ptr, PtrMut, bytes_of, bytes_of_mut};
use crate::{Gpu, GpuError};
use cudarc::driver::sys::{CUevent_flags, CUstream};
use cudarc::driver::{
    CudaEvent, CudaSlice, DevicePtr, DriverError, LaunchArgs, PinnedHostSlice, PushKernelArg, result,
};
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

/// Values in GPU memory. Dropping the buffer frees the memory in the order of the GPU's stream.
pub struct DeviceBuffer<T> {
    gpu: Arc<Gpu>,
    bytes: CudaSlice<u8>,
    address: u64,
    len: usize,
    values: PhantomData<T>,
}

impl<T> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceBuffer({} values at {:#x})", self.len, self.address)
    }
}

impl<T: Plain> DeviceBuffer<T> {
    fn new(gpu: &Arc<Gpu>, len: usize, allocated: Result<CudaSlice<u8>, DriverError>) -> Result<Self, GpuError> {
        let bytes = allocated.map_err(|error| gpu.allocation_failed(len * size_of::<T>(), error))?;
        let address = bytes.device_ptr(&gpu.stream).0;
        Ok(Self { gpu: Arc::clone(gpu), bytes, address, len, values: PhantomData })
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if the buffer has no values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of the first value on the GPU.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The GPU that holds the buffer.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// The address of a value, for kernels that read.
    pub(crate) fn at(&self, index: usize) -> Ptr<T> {
        Ptr::new(self.address + (index * size_of::<T>()) as u64)
    }

    /// The address of a value, for kernels that write.
    pub(crate) fn at_mut(&self, index: usize) -> PtrMut<T> {
        PtrMut::new(self.at(index).0)
    }

    /// Copies all values to the host.
    pub fn download(&self) -> Result<Vec<T>, GpuError> {
        // The system allocates zeroed pages on the first write, which the copying threads make.
        // SAFETY: zero bytes are a valid value of every plain type.
        let mut values = unsafe { Box::<[T]>::new_zeroed_slice(self.len).assume_init() }.into_vec();
        self.download_into(&mut values)?;
        Ok(values)
    }

    /// Copies the first `to.len()` values to the host.
    pub fn download_into(&self, to: &mut [T]) -> Result<(), GpuError> {
        let count = to.len().min(self.len);
        download(&self.gpu, self.address, bytes_of_mut(&mut to[..count]))
    }

    /// Queues a copy of the first bytes into pinned memory, as many as fit.
    pub fn copy_to_pinned<H>(&self, to: &mut PinnedBuffer<H>) -> Result<(), GpuError> {
        let len = self.bytes.len().min(to.0.len());
        Ok(self.gpu.stream.memcpy_dtoh(&self.bytes.slice(..len), &mut to.0)?)
    }

    /// Replaces the values starting at `first`.
    pub fn write(&mut self, first: usize, values: &[T]) -> Result<(), GpuError> {
        assert!(first + values.len() <= self.len, "written past the end of a buffer");
        if values.is_empty() {
            return Ok(());
        }
        let first = first * size_of::<T>();
        let bytes = bytes_of(values);
        self.gpu.context.bind_to_thread()?;
        Ok(self.gpu.stream.memcpy_htod(bytes, &mut self.bytes.slice_mut(first..first + bytes.len()))?)
    }

    /// Enqueues zeros for all bytes on a stream given by CUDA's handle.
    pub(crate) fn clear_on(&self, stream: usize) -> Result<(), GpuError> {
        self.gpu.context.bind_to_thread()?;
        // SAFETY: the buffer has as many bytes, and plain values are valid for any.
        unsafe { result::memset_d8_async(self.address, 0, self.len * size_of::<T>(), stream as CUstream)? };
        Ok(())
    }

    /// Makes a copy on the GPU.
    pub fn duplicate(&self) -> Result<Self, GpuError> {
        Self::new(&self.gpu, self.len, self.gpu.stream.clone_dtod(&self.bytes))
    }

    /// Copies the values of a buffer of the same length into this buffer, on the GPU.
    pub fn copy_from(&mut self, from: &Self) -> Result<(), GpuError> {
        assert_eq!(self.len, from.len, "buffers of different lengths");
        Ok(self.gpu.stream.memcpy_dtod(&from.bytes, &mut self.bytes)?)
    }
}

/// Page-locked host memory, to which the GPU copies without the CPU.
#[derive(Debug)]
pub struct PinnedBuffer<T>(PinnedHostSlice<u8>, PhantomData<T>);

impl<T: Plain> PinnedBuffer<T> {
    /// Allocates uninitialised values.
    pub fn new(gpu: &Gpu, len: usize) -> Result<Self, GpuError> {
        // SAFETY: any byte value is valid.
        let bytes = unsafe { gpu.context.alloc_pinned_with_flags(len.max(1) * size_of::<T>(), 0) };
        Ok(Self(bytes?, PhantomData))
    }

    /// The values, after all queued copies.
    pub fn values(&self) -> Result<&[T], GpuError> {
        let bytes = self.0.as_slice()?;
        // SAFETY: plain values are valid for any bytes, and page-locked memory begins at a page.
        Ok(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) })
    }
}

// SAFETY: a kernel takes the address of the buffer's values, which live as long as the buffer; one stream orders all
// work.
unsafe impl<'a, 'b: 'a, T> PushKernelArg<&'b DeviceBuffer<T>> for LaunchArgs<'a> {
    fn arg(&mut self, buffer: &'b DeviceBuffer<T>) -> &mut Self {
        self.arg(&buffer.address)
    }
}

/// Launches a kernel with the given arguments: `launch!(gpu, &kernel, config, &first, &second)`. Expands to an unsafe
/// call.
macro_rules! launch {
    ($gpu:expr, $kernel:expr, $config:expr; $($argument:expr),* $(,)?) => {
        $crate::memory::launch!($gpu, $kernel, $config, $($argument),*)
    };
    ($gpu:expr, $kernel:expr, $config:expr, $($argument:expr),* $(,)?) => {{
        use cudarc::driver::PushKernelArg as _;
        $gpu.stream.launch_builder($kernel)$(.arg($argument))*.launch($config).map(drop)
    }};
}
pub(crate) use launch;

/// Enqueues a kernel on a stream given by CUDA's handle: `launch_on!(gpu, stream, kernel, (blocks, threads); &first, &second)`,
/// with bytes of shared memory `(blocks, threads, bytes)`, or with a `LaunchConfig`. Expands to an unsafe call. Arguments are
/// references to plain values.
macro_rules! launch_on {
    ($gpu:expr, $stream:expr, $kernel:expr, ($blocks:expr, $threads:expr); $($argument:expr),* $(,)?) => {
        $crate::memory::launch_on!($gpu, $stream, $kernel, ($blocks, $threads, 0); $($argument),*)
    };
    ($gpu:expr, $stream:expr, $kernel:expr, ($blocks:expr, $threads:expr, $shared_bytes:expr); $($argument:expr),* $(,)?) => {
        $crate::memory::launch_on!(
            $gpu, $stream, $kernel, cudarc::driver::LaunchConfig {
                grid_dim: ($blocks as u32, 1, 1), block_dim: ($threads as u32, 1, 1), shared_mem_bytes: $shared_bytes as u32
            };
            $($argument),*
        )
    };
    ($gpu:expr, $stream:expr, $kernel:expr, $config:expr; $($argument:expr),* $(,)?) => {{
        $gpu.context.bind_to_thread()?;
        let (config, stream) = ($config, $stream as cudarc::driver::sys::CUstream);
        let kernel = $kernel.cu_function();
        // In one expression with the launch, so that arguments which are temporary values live until then.
        cudarc::driver::result::launch_kernel(
            kernel,
            config.grid_dim,
            config.block_dim,
            config.shared_mem_bytes,
            stream,
            &mut [$(std::ptr::from_ref($argument).cast_mut().cast::<std::ffi::c_void>()),*],
        )
        .map_err(GpuError::from)
    }};
}
pub(crate) use launch_on;

impl Gpu {
    /// Copies values to the GPU. Allocates at least one value, because a kernel argument needs an address.
    pub fn upload<T: Plain>(self: &Arc<Self>, values: &[T]) -> Result<DeviceBuffer<T>, GpuError> {
        let mut buffer = self.uninitialised(values.len())?;
        buffer.write(0, values)?;
        Ok(buffer)
    }

    /// Allocates zeroed values.
    pub fn zeros<T: Plain>(self: &Arc<Self>, len: usize) -> Result<DeviceBuffer<T>, GpuError> {
        DeviceBuffer::new(self, len, self.stream.alloc_zeros(len.max(1) * size_of::<T>()))
    }

    /// Allocates uninitialised values. A kernel must write them before they are read.
    pub(crate) fn uninitialised<T: Plain>(self: &Arc<Self>, len: usize) -> Result<DeviceBuffer<T>, GpuError> {
        // SAFETY: plain values are valid for any bytes, so that even a read of unwritten ones is defined on the host.
        let bytes = unsafe { self.stream.alloc(len.max(1) * size_of::<T>()) };
        DeviceBuffer::new(self, len, bytes)
    }

    /// Copies an array of another library in `f32`.
    ///
    /// # Safety
    /// The array has `len` values of `f32` in the memory of this GPU, and all work that writes them is complete or ordered before the
    /// GPU's stream.
    pub unsafe fn copy_of(self: &Arc<Self>, from: ExternalArray, len: usize) -> Result<DeviceBuffer<f32>, GpuError> {
        let buffer = self.uninitialised::<f32>(len)?;
        self.context.bind_to_thread()?;
        // SAFETY: the caller guarantees the values; the buffer has room for them.
        unsafe {
            result::memcpy_dtod_async(buffer.address, from.address, len * size_of::<f32>(), self.stream.cu_stream())?;
        }
        // The owner may change the array after the call.
        self.finish()?;
        Ok(buffer)
    }

    /// Refuses work that needs more memory (bytes) than is free; `remedy` gets the number of free bytes.
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

    fn allocation_failed(&self, needed_bytes: usize, error: DriverError) -> GpuError {
        match GpuError::from(error) {
            GpuError::OutOfMemory { remedy, .. } => {
                let free_bytes = self.free_bytes().unwrap_or(0);
                GpuError::OutOfMemory { what: "one buffer".to_owned(), needed_bytes, free_bytes, remedy }
            }
            other => other,
        }
    }
}

/// Size (bytes) of the parts of a large copy.
const PART: usize = 16 << 20;
/// Smaller copies (bytes) go directly to their destination.
const SMALL: usize = 1 << 20;
/// Threads that copy a part from pinned memory: the first write to fresh pages is slower than the bus.
const THREADS: usize = 8;

/// Two parts of pinned memory to which the GPU copies, kept for the whole process.
static STAGES: Mutex<Option<[PinnedHostSlice<u8>; 2]>> = Mutex::new(None);

/// Copies bytes to the host at bus speed through pinned memory: the GPU copies the next part while threads copy the
/// last.
fn download(gpu: &Gpu, address: u64, to: &mut [u8]) -> Result<(), GpuError> {
    gpu.context.bind_to_thread()?;
    if to.len() < SMALL {
        if !to.is_empty() {
            // SAFETY: the caller's buffer holds as many bytes at the address, and the code below waits for the stream.
            unsafe {
                result::memcpy_dtoh_async(to, address, gpu.stream.cu_stream())?;
            }
        }
        return gpu.finish();
    }
    let mut stages = STAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let stages = match &mut *stages {
        Some(stages) => stages,
        // SAFETY: the GPU writes the memory before it is read.
        none => none.insert(unsafe {
            [gpu.context.alloc_pinned_with_flags(PART, 0)?, gpu.context.alloc_pinned_with_flags(PART, 0)?]
        }),
    };
    let bytes = to.len();
    let start = |part: usize, stage: &mut PinnedHostSlice<u8>| -> Result<CudaEvent, GpuError> {
        let len = PART.min(bytes - part * PART);
        // SAFETY: the stage is as long as a part, and is not read before the event.
        unsafe {
            let stage = &mut stage.as_mut_slice()?[..len];
            result::memcpy_dtoh_async(stage, address + (part * PART) as u64, gpu.stream.cu_stream())?;
        }
        Ok(gpu.stream.record_event(Some(CUevent_flags::CU_EVENT_DISABLE_TIMING))?)
    };
    let parts = bytes.div_ceil(PART);
    let mut arrived = start(0, &mut stages[0])?;
    for (part, place) in to.chunks_mut(PART).enumerate() {
        let next = if part + 1 < parts { Some(start(part + 1, &mut stages[(part + 1) % 2])?) } else { None };
        arrived.synchronize()?;
        copy_in_parallel(stages[part % 2].as_slice()?, place);
        match next {
            Some(event) => arrived = event,
            None => break,
        }
    }
    Ok(())
}

fn copy_in_parallel(from: &[u8], to: &mut [u8]) {
    let each = to.len().div_ceil(THREADS).max(1);
    std::thread::scope(|scope| {
        for (from, to) in from.chunks(each).zip(to.chunks_mut(each)) {
            scope.spawn(move || to.copy_from_slice(&from[..to.len()]));
        }
    });
}
