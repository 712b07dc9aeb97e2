//! Steps of a layer in many environments, each with a history. A step only enqueues kernels.

use super::camera::ImageOutputs;
use super::press::{Chunk, ContactSolver, FieldSolver, HeightKernels, History};
use super::region::{ContactRegion, OPEN, PressQueue, TOO_DEEP};
use super::relaxation::{self, Branches, MAX_BRANCHES, RelaxationStep};
use super::renderer::Renderer;
use super::taxels::TaxelGrid;
use super::{LayerBatch, unsupported};
use crate::cuda_struct::{Ptr, PtrMut};
use crate::environments::{Bindings, BodyArrays, BoundObjects, FRAMES, RANDOMISATION, SkinSteps, View};
use crate::memory::launch_on;
use crate::program::{COMMON, Program, UNFUSED};
use crate::{DeviceBuffer, Gpu, GpuError};
use cudarc::driver::sys::{CUevent_flags, CUevent_wait_flags, CUstream};
use cudarc::driver::{CudaEvent, CudaFunction, CudaStream, result};
use dermis_sensor::Sensor;
use dermis_skin::{Layer, Object, Warning};
use std::sync::Arc;

/// Threads per block.
const THREADS: usize = 256;
/// Threads of the one block that lists presses.
const LIST_THREADS: usize = 1024;
/// Times that a step enlarges regions in which contact did not fit, plus one.
const ROUNDS: usize = 3;

const SOURCE: &[&str] = &[
    COMMON,
    View::CUDA,
    BodyArrays::CUDA,
    Bindings::CUDA,
    ContactRegion::CUDA,
    PressQueue::CUDA,
    Branches::CUDA,
    RelaxationStep::CUDA,
    include_str!("../cuda/view.cuh"),
    RANDOMISATION,
    FRAMES,
    relaxation::SOURCE,
    include_str!("steps.cu"),
];

pub(super) fn program() -> Program {
    let mut program = Program::new("layer-steps", SOURCE, &[UNFUSED]);
    program.options.extend([format!("-DOPEN={OPEN}"), format!("-DTOO_DEEP={TOO_DEEP}"), "-DCLEAR=0".to_owned()]);
    program
}

/// A sensor with a layer in many environments on the GPU, each with one object at a time.
#[derive(Debug)]
pub(crate) struct LayerSteps {
    gpu: Arc<Gpu>,
    sensor: Sensor,
    batch: LayerBatch,
    chunk: Chunk,
    kernels: Kernels,
    heights: HeightKernels,
    /// Solvers by the size of their transforms, and a stream for each.
    solvers: Vec<(ContactSolver, SideStream)>,
    fields: FieldSolver,
    forked: CudaEvent,
    queues: DeviceBuffer<PressQueue>,
    lists: DeviceBuffer<i32>,
    poses: DeviceBuffer<f64>,
    twists: DeviceBuffer<f64>,
    /// Index of the shape of each object.
    shape_of: DeviceBuffer<u32>,
    last_depths: DeviceBuffer<f64>,
    touching: DeviceBuffer<u32>,
    /// Displacement (m) of the surface by each branch of a layer that relaxes, (environments, branches, 3, cells).
    held: DeviceBuffer<f64>,
    status: PtrMut<u32>,
    forces: DeviceBuffer<f64>,
    outside: DeviceBuffer<f64>,
    wrench: DeviceBuffer<f64>,
    /// Present once images or markers are bound.
    renderer: Option<Renderer>,
}

#[derive(Debug)]
struct Kernels {
    place: CudaFunction,
    lift: CudaFunction,
    hold: CudaFunction,
    reset: CudaFunction,
    list: CudaFunction,
    write: CudaFunction,
    write_markers: CudaFunction,
    integrate: CudaFunction,
}

/// A stream beside the caller's, and the event at the end of its work.
#[derive(Debug)]
struct SideStream {
    stream: Arc<CudaStream>,
    done: CudaEvent,
}

impl LayerSteps {
    /// Untouched environments; a failed one sets its bit of `status`.
    pub fn new(
        gpu: &Arc<Gpu>,
        sensor: &Sensor,
        shapes: &[Arc<Object>],
        count: usize,
        status: PtrMut<u32>,
    ) -> Result<Self, GpuError> {
        let layer = LayerBatch::check(sensor)?;
        let branches = layer.parameters().relaxation.len();
        if branches > MAX_BRANCHES {
            let why = format!(
                "its layer has {branches} branches of relaxation, and at most {MAX_BRANCHES} advance in time there"
            );
            return Err(unsupported(sensor, &why));
        }
        let batch = LayerBatch::in_time(gpu, sensor, shapes)?;
        let taxels = sensor.taxels().len();
        if batch.taxels.count() != taxels {
            return Err(unsupported(sensor, "its taxels have no grid"));
        }
        let (cells, sizes) = (batch.cells(), batch.grid.sizes as usize);
        let each = cells * 8 * (13 + 3 * branches) + 24 * taxels + 500;
        gpu.require_free(
            each * count,
            || format!("the history of {count} environments of {cells} cells"),
            |free_bytes| format!("at most {} fit", free_bytes / each),
        )?;
        let event = || gpu.context.new_event(Some(CUevent_flags::CU_EVENT_DISABLE_TIMING));
        let solver = |size: usize| -> Result<_, GpuError> {
            let side = SideStream { stream: gpu.context.new_stream()?, done: event()? };
            Ok((batch.contact_solver(size, count)?, side))
        };
        let kernel = |name: &str| gpu.kernel(&program(), name);
        let chunk = batch.chunk(count)?;
        // What was allocated for surfaces and stresses has no values yet.
        chunk.surfaces.clear_on(gpu.stream_handle())?;
        chunk.belows.clear_on(gpu.stream_handle())?;
        Ok(Self {
            gpu: Arc::clone(gpu),
            sensor: sensor.clone(),
            kernels: Kernels {
                place: kernel("place_objects")?,
                lift: kernel("lift_objects")?,
                hold: kernel("hold_surfaces")?,
                reset: kernel("reset_layers")?,
                list: kernel("list_open")?,
                write: kernel("write_layers")?,
                write_markers: kernel("write_markers")?,
                integrate: batch.kernel("integrate_forces")?,
            },
            heights: batch.height_kernels()?,
            solvers: (0..sizes).map(solver).collect::<Result<_, _>>()?,
            fields: batch.field_solver(sizes - 1, count)?,
            forked: event()?,
            queues: gpu.zeros(sizes + 1)?,
            lists: gpu.uninitialised((sizes + 1) * count)?,
            poses: gpu.uninitialised(7 * count)?,
            twists: gpu.uninitialised(6 * count)?,
            shape_of: gpu.zeros(count)?,
            last_depths: gpu.zeros(count)?,
            touching: gpu.zeros(count)?,
            held: gpu.zeros(3 * branches * cells * count)?,
            status,
            forces: gpu.uninitialised(3 * taxels * count)?,
            outside: gpu.uninitialised(3 * count)?,
            wrench: gpu.uninitialised(6 * count)?,
            renderer: None,
            chunk,
            batch,
        })
    }

    /// The branches of the relaxation over a step.
    fn relaxation(&self, dt_s: f64) -> RelaxationStep {
        RelaxationStep::new(&self.batch.parameters.relaxation, dt_s, self.held.at_mut(0))
    }

    /// Enqueues the solution of all open presses: those of one size beside those of another.
    unsafe fn solve(
        &self,
        bindings: &Bindings,
        branches: &Branches,
        is_final: bool,
        stream: usize,
    ) -> Result<(), GpuError> {
        let (gpu, chunk, sizes) = (&self.gpu, &self.chunk, self.solvers.len());
        let (count, own) = (chunk.count, stream as CUstream);
        let (moved, twists) = (chunk.surfaces.at(0), self.twists.at(0));
        let history = History { moved, twists, dt_s: bindings.dt_s, branches: *branches };
        // Other loads on taxels have no part of the shear.
        let lateral_below = bindings.forces.is_bound() || bindings.outside.is_bound();
        let wait = CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: the lists have room for all environments, and the members of a list have regions of its size.
        unsafe {
            launch_on!(
                gpu, stream, self.kernels.list, (1, LIST_THREADS);
                &chunk.regions.at(0), &(sizes as i32), &(count as i32), &self.queues.at_mut(0), &self.lists.at_mut(0)
            )?;
            result::event::record(self.forked.cu_event(), own)?;
            // The largest first: multiprocessors that are idle at the end of one size start on the next.
            for (size, (solver, side)) in self.solvers.iter().enumerate().rev() {
                let (members, queue) = (self.lists.at(size * count), self.queues.at_mut(size));
                let beside = side.stream.cu_stream();
                result::stream::wait_event(beside, self.forked.cu_event(), wait)?;
                self.batch.enqueue_contact(solver, chunk, members, queue, &history, beside as usize)?;
                result::event::record(side.done.cu_event(), beside)?;
                result::stream::wait_event(own, side.done.cu_event(), wait)?;
            }
            let (members, queue) = (self.lists.at(sizes * count), self.queues.at_mut(sizes));
            self.batch.enqueue_fields(&self.fields, chunk, members, queue, branches, lateral_below, is_final, stream)
        }
    }

    /// Enqueues the outputs of a step with a relative stiffness.
    unsafe fn write(
        &self,
        bindings: &Bindings,
        stiffness: f64,
        bodies: Ptr<f64>,
        parameters: Ptr<f64>,
        stream: usize,
    ) -> Result<(), GpuError> {
        let (gpu, chunk, batch, count) = (&self.gpu, &self.chunk, &self.batch, self.chunk.count);
        let grid: &TaxelGrid = &batch.taxels.grid;
        let (forces, outside, wrench) = (&self.forces.at_mut(0), &self.outside.at_mut(0), &self.wrench.at_mut(0));
        let taxels = batch.taxels.count() as u32;
        // SAFETY: the caller guarantees the bound arrays; ours have a row per environment.
        unsafe {
            launch_on!(
                gpu, stream, self.kernels.integrate, (count, super::press::THREADS); &batch.grid, grid, &batch.taxels.spans.at(0),
                &batch.taxels.weights.at(0), &chunk.tractions.at(0), &chunk.surfaces.at(0), &chunk.belows.at(0), forces, outside, wrench
            )?;
            launch_on!(
                gpu, stream, self.kernels.write, (count, THREADS);
                bindings, &bodies, &chunk.regions.at(0), &parameters, &self.status, &taxels, &stiffness, forces, outside, wrench
            )?;
            let (Some(renderer), Some(camera)) = (&self.renderer, &batch.camera) else { return Ok(()) };
            if bindings.image.is_bound() {
                let images = ImageOutputs { rounded: PtrMut::new(bindings.image.address), ..ImageOutputs::default() };
                renderer.enqueue(camera, chunk.surfaces.at(0), images, stream)?;
            } else if bindings.markers.is_bound() {
                renderer.enqueue_tracks(camera, chunk.surfaces.at(0), stream)?;
            }
            let all = count * camera.markers();
            if bindings.markers.is_bound() && all > 0 {
                launch_on!(
                    gpu, stream, self.kernels.write_markers, (all.div_ceil(THREADS), THREADS);
                    bindings, &renderer.tracks.at(0), &(camera.markers() as u32), &(count as u32)
                )?;
            }
        }
        Ok(())
    }
}

impl SkinSteps for LayerSteps {
    unsafe fn enqueue(
        &self,
        bindings: &Bindings,
        _objects: Option<&BoundObjects>,
        bodies: Ptr<f64>,
        parameters: Ptr<f64>,
        stream: usize,
    ) -> Result<(), GpuError> {
        let (gpu, chunk, count) = (&self.gpu, &self.chunk, self.chunk.count);
        if count == 0 {
            return Ok(());
        }
        let (n, numbers) = (count as u32, 3 * self.batch.cells() as u64);
        let relaxation = &self.relaxation(bindings.dt_s);
        let (regions, touching) = (&chunk.regions.at_mut(0), &self.touching.at_mut(0));
        let (tractions, surfaces, belows) =
            (&chunk.tractions.at_mut(0), &chunk.surfaces.at_mut(0), &chunk.belows.at_mut(0));
        // SAFETY: all buffers have a row per environment.
        unsafe {
            launch_on!(
                gpu, stream, self.kernels.place, (count.div_ceil(THREADS), THREADS); &bodies, regions, &self.poses.at_mut(0),
                &self.twists.at_mut(0), &self.shape_of.at_mut(0), &self.last_depths.at_mut(0), &chunk.cliff_count.at_mut(0), &n
            )?;
            self.batch.rasterize(&self.heights, chunk, self.poses.at(0), self.shape_of.at(0), stream)?;
            self.batch.find_regions(&self.heights, chunk, stream)?;
            launch_on!(
                gpu, stream, self.kernels.lift, (count, THREADS);
                &bodies, regions, touching, &numbers, tractions, surfaces, belows, relaxation
            )?;
            for round in 1..=ROUNDS {
                self.solve(bindings, &relaxation.branches, round == ROUNDS, stream)?;
            }
            if !self.batch.parameters.relaxation.is_empty() {
                launch_on!(gpu, stream, self.kernels.hold, (count, THREADS); regions, &numbers, surfaces, relaxation)?;
            }
            self.write(bindings, relaxation.stiffness(), bodies, parameters, stream)
        }
    }

    unsafe fn reset(&self, mask: &View, stream: usize) -> Result<(), GpuError> {
        let chunk = &self.chunk;
        if chunk.count == 0 {
            return Ok(());
        }
        // Any time step: the kernel clears the memory of the branches.
        let branches = self.relaxation(1.0).branches;
        // SAFETY: the caller guarantees the mask; all buffers have a row per environment.
        unsafe {
            launch_on!(
                self.gpu, stream, self.kernels.reset, (chunk.count, THREADS);
                mask, &chunk.regions.at_mut(0), &self.touching.at_mut(0), &self.status, &(3 * self.batch.cells() as u64),
                &chunk.tractions.at_mut(0), &chunk.surfaces.at_mut(0), &chunk.belows.at_mut(0), &branches
            )
        }
    }

    fn use_objects(&mut self, count: usize) -> Result<(), GpuError> {
        if count == 1 {
            return Ok(());
        }
        Err(GpuError::Unsupported {
            what: format!("several objects of sensor {:?} on a GPU", self.sensor.name()),
            why: "its skin is a layer, which touches one object at a time there; use the CPU".to_owned(),
        })
    }

    fn prepare(&mut self, bindings: &Bindings) -> Result<bool, GpuError> {
        if !bindings.image.is_bound() && !bindings.markers.is_bound() {
            return Ok(true);
        }
        let camera = self.batch.camera.as_ref().ok_or_else(|| unsupported(&self.sensor, "it has no camera"))?;
        let [height, width] = camera.image_size();
        if bindings.image.is_bound() && bindings.image.strides[0] != 3 * (height * width) as i64 {
            let reason = "`image`: images must follow each other in memory without gaps".to_owned();
            return Err(GpuError::BadInput { reason });
        }
        if self.renderer.is_none() {
            self.renderer = Some(Renderer::new(&self.gpu, camera, camera.view, self.chunk.count)?);
            self.gpu.finish()?;
        }
        Ok(true)
    }

    fn failure(&self) -> Option<String> {
        Some(format!("the object was deeper than the {:.3} mm that the layer allows", self.batch.grid.max_depth * 1e3))
    }

    fn warnings(&self) -> Result<Vec<Vec<Warning>>, GpuError> {
        let Some(layer) = self.sensor.skin_as::<Layer>() else { return Ok(Vec::new()) };
        let (regions, extents) = (self.chunk.regions.download()?, self.batch.extents(&self.chunk)?);
        let presses = regions.iter().zip(&extents).zip(self.last_depths.download()?);
        let of = |((region, extent), last_depth): ((&ContactRegion, _), f64)| {
            layer.step_warnings(extent, &region.effort_after(last_depth))
        };
        Ok(presses.map(of).collect())
    }
}
