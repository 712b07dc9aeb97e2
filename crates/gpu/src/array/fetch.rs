//! From the GPU to the host, as fast as the bus allows.

use crate::{Gpu, GpuError};
use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaEvent, CudaSlice, DevicePtr, DeviceRepr, PinnedHostSlice, result};
use std::sync::{Mutex, PoisonError};

/// What is copied at once (bytes).
const PART: usize = 16 << 20;
/// Below this (bytes) a plain copy will do.
const SMALL: usize = 1 << 20;
/// Threads that take a part over: pages of fresh memory are made when they are first touched, which takes longer than the bus.
const THREADS: usize = 8;

/// Two parts of memory that the GPU writes into by itself, kept for the process.
static STAGES: Mutex<Option<[PinnedHostSlice<u8>; 2]>> = Mutex::new(None);

/// Copies numbers to the host: as many as there is room for, from the first on.
pub fn fetch_into<T: DeviceRepr + Copy + Send + Sync>(
    gpu: &Gpu,
    from: &CudaSlice<T>,
    to: &mut [T],
) -> Result<(), GpuError> {
    let count = to.len().min(from.len());
    let to = &mut to[..count];
    if size_of_val(to) < SMALL {
        if count > 0 {
            gpu.stream.memcpy_dtoh(&from.slice(..count), to)?;
        }
        return gpu.finish();
    }
    gpu.context.bind_to_thread()?;
    let mut stages = STAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let stages = match &mut *stages {
        Some(stages) => stages,
        // SAFETY: it is written by the GPU before it is read.
        #[allow(unsafe_code)]
        none => none.insert(unsafe {
            [gpu.context.alloc_pinned_with_flags(PART, 0)?, gpu.context.alloc_pinned_with_flags(PART, 0)?]
        }),
    };
    let address = from.device_ptr(&gpu.stream).0;
    let bytes = size_of_val(to);
    let ask = |part: usize, stage: &mut PinnedHostSlice<u8>| -> Result<CudaEvent, GpuError> {
        let len = PART.min(bytes - part * PART);
        // SAFETY: the stage is as long as a part, and is not read before the event.
        #[allow(unsafe_code)]
        unsafe {
            let room = &mut stage.as_mut_slice()?[..len];
            result::memcpy_dtoh_async(room, address + (part * PART) as u64, gpu.stream.cu_stream())?;
        }
        Ok(gpu.stream.record_event(Some(CUevent_flags::CU_EVENT_DISABLE_TIMING))?)
    };
    // SAFETY: numbers that a GPU has are plain, so any bytes of theirs may be written.
    #[allow(unsafe_code)]
    let to = unsafe { std::slice::from_raw_parts_mut(to.as_mut_ptr().cast::<u8>(), bytes) };
    let parts = bytes.div_ceil(PART);
    let mut asked = ask(0, &mut stages[0])?;
    for (part, room) in to.chunks_mut(PART).enumerate() {
        // The next part is on its way while this one is taken over.
        let next = if part + 1 < parts { Some(ask(part + 1, &mut stages[(part + 1) % 2])?) } else { None };
        asked.synchronize()?;
        take_over(stages[part % 2].as_slice()?, room);
        match next {
            Some(event) => asked = event,
            None => break,
        }
    }
    Ok(())
}

fn take_over(from: &[u8], to: &mut [u8]) {
    let each = to.len().div_ceil(THREADS).max(1);
    std::thread::scope(|scope| {
        for (from, to) in from.chunks(each).zip(to.chunks_mut(each)) {
            scope.spawn(move || to.copy_from_slice(&from[..to.len()]));
        }
    });
}
