//! Rest of a gel, found on the GPU from the first load to the last.

use super::body::{Body, Hold, Outcome, Way};
use super::layout::{Laid, RawHold, RawNear, RawOutcome, Task, laid_out, places};
use super::pack::Pack;
use super::shape::Shape;
use crate::cuda_struct::{bytes_of, values_of};
use crate::program::Program;
use crate::{Gpu, GpuError};
use cudarc::driver::{CudaFunction, CudaSlice, DevicePtr, LaunchConfig, PushKernelArg};
use std::sync::{Arc, Mutex, PoisonError};

/// Distances, what is asked for, the elastic body, contact, and the way to rest.
const SOURCE: &[&str] = &[
    include_str!("indenter.cu"),
    include_str!("task.cu"),
    include_str!("elastic.cu"),
    include_str!("contact.cu"),
    include_str!("press.cu"),
];

pub(super) fn program() -> Program {
    Program::new("gel press", SOURCE, &[])
}
/// Threads of a block, as the kernels have them.
const THREADS: u32 = 288;

/// A gel that stays on the GPU, with the memory that its presses need. One press at a time.
#[derive(Debug)]
pub struct Press {
    gpu: Arc<Gpu>,
    kernel: CudaFunction,
    blocks: u32,
    memory: Mutex<CudaSlice<u8>>,
    task: Task,
    /// The point of each spot, none for those that hold.
    point: Vec<Option<u32>>,
    /// The spot of each point.
    spot: Vec<u32>,
}

impl Press {
    /// Puts a gel on the GPU.
    pub fn new(gpu: &Arc<Gpu>, body: &Body) -> Result<Self, GpuError> {
        gpu.context.bind_to_thread()?;
        let kernel = gpu.kernel(&program(), "press")?;
        let beside = kernel.occupancy_max_active_blocks_per_multiprocessor(THREADS, 0, None)?;
        let blocks = beside.max(1) * gpu.multiprocessors() as u32;
        let Laid { pack, mut task, point, spot } = laid_out(body, blocks as usize);
        let larger = |free_bytes: usize| (pack.len as f64 / free_bytes as f64).cbrt();
        gpu.require_free(
            pack.len,
            || format!("a gel of {} cells", task.all_cells),
            |free_bytes| format!("cells {:.1} times as large would fit", larger(free_bytes)),
        )?;
        let mut memory = gpu.stream.alloc_zeros::<u8>(pack.len)?;
        gpu.stream.memcpy_htod(&pack.bytes, &mut memory.slice_mut(..pack.bytes.len()))?;
        task.rebase(memory.device_ptr(&gpu.stream).0);
        Ok(Self { gpu: Arc::clone(gpu), kernel, blocks, memory: Mutex::new(memory), task, point, spot })
    }

    /// Looks for rest.
    pub fn rest(&self, way: &Way<'_>) -> Result<Outcome, GpuError> {
        self.gpu.context.bind_to_thread()?;
        let stream = &self.gpu.stream;
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let base = memory.device_ptr(stream).0;
        let mut pack = Pack::default();
        let shapes: Vec<Shape> = way.surfaces.iter().map(|surface| Shape::of(surface, &mut pack)).collect();
        let places = pack.put(&places(way));
        let shapes_at = pack.len;
        pack.put(&shapes);
        let mut things = stream.alloc_zeros::<u8>(pack.len)?;
        let address = things.device_ptr(stream).0;
        let shapes: Vec<Shape> = shapes.into_iter().map(|shape| shape.based(address)).collect();
        pack.bytes[shapes_at..shapes_at + size_of_val(&shapes[..])].copy_from_slice(bytes_of(&shapes));
        stream.memcpy_htod(&pack.bytes, &mut things)?;
        let task = Task {
            objects: way.surfaces.len() as i32,
            loads: way.poses.len() as i32 - 1,
            rough: [way.levels[0].residual, way.levels[0].gap_m],
            fine: [way.levels[1].residual, way.levels[1].gap_m],
            shapes: address + shapes_at as u64,
            places: address + places,
            ..self.task
        };
        let mut write = |at: u64, bytes: &[u8]| {
            let first = (at - base) as usize;
            stream.memcpy_htod(bytes, &mut memory.slice_mut(first..first + bytes.len()))
        };
        write(task.vectors[0], bytes_of(way.nodes))?;
        write(task.vectors[8], &vec![0; size_of_val(way.nodes)])?;
        write(task.holds, bytes_of(&self.raw_holds(way.holds)))?;
        write(task.gate, &[0; 4])?;
        let shape = LaunchConfig { grid_dim: (self.blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
        let timer = self.gpu.timer()?;
        // SAFETY: the task is laid out as the kernel's, its addresses are in `memory` and `things`, which live until the stream is
        // waited for, and all blocks fit on the GPU at once.
        #[allow(unsafe_code)]
        unsafe {
            stream.launch_builder(&self.kernel).arg(&task).launch_cooperative(shape)?;
        }
        let gpu_s = timer.stop()?;
        let read = |at: u64, len: usize| {
            let first = (at - base) as usize;
            stream.clone_dtoh(&memory.slice(first..first + len))
        };
        let outcome = values_of::<RawOutcome>(&read(task.outcome, size_of::<RawOutcome>())?)[0];
        let spots = self.point.len();
        let near = values_of::<RawNear>(&read(task.near, spots * size_of::<RawNear>())?);
        let holds = values_of::<RawHold>(&read(task.holds, spots * size_of::<RawHold>())?);
        Ok(Outcome {
            nodes: values_of(&read(task.vectors[0], size_of_val(way.nodes))?),
            forces: values_of(&read(task.vectors[1], size_of_val(way.nodes))?),
            strain_j: outcome.strain,
            near: self.spot.iter().enumerate().filter_map(|(point, &spot)| near[spot as usize].told(point)).collect(),
            holds: self.spot.iter().enumerate().filter_map(|(point, &spot)| holds[spot as usize].told(point)).collect(),
            residual: outcome.residual,
            steps: [outcome.newton, outcome.conjugate, outcome.updates].map(|count| count as usize),
            inverted: outcome.failed != 0,
            gpu_s,
        })
    }

    fn raw_holds(&self, holds: &[Hold]) -> Vec<RawHold> {
        let mut raw = vec![RawHold { pressure: 0.0, anchor: [0.0; 3], object: -1 }; self.point.len()];
        for hold in holds {
            let spot = self.spot[hold.point as usize] as usize;
            raw[spot] =
                RawHold { pressure: hold.pressure_pa, anchor: hold.anchor.to_array(), object: i64::from(hold.object) };
        }
        raw
    }
}
