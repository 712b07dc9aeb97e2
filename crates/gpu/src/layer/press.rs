//! Computes presses on a layer, from poses to results.

use super::camera::ImageOutputs;
use super::region::{ContactRegion, OPEN, PressQueue, TOO_DEEP};
use super::relaxation::Branches;
use super::spectra::{Spectra, Transform};
use super::taxels::TaxelGrid;
use super::touches::{EXTENT, extent_of};
use super::{LayerBatch, LayerGrid, LayerTouches, Outputs};
use crate::array::{Poses, along_minus_z};
use crate::cuda_struct::{Ptr, PtrMut};
use crate::memory::{launch, launch_on};
use crate::{DeviceBuffer, GpuError};
use cudarc::driver::{CudaFunction, CudaStream, LaunchConfig};
use dermis_geometry::Pose;
use dermis_skin::layer::ContactExtent;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Threads per block.
pub(super) const THREADS: u32 = 128;
/// Number of buffers of a region while it is solved, in the precision of the transforms.
pub(super) const REGION_BUFFERS: usize = 17;
/// Numbers per pose.
pub(super) const POSE: usize = 7;
/// Maximum number of presses per chunk; more do not increase the GPU's utilisation.
const MAX_AT_ONCE: usize = 4096;
/// Triangles that a block rasterizes.
const TRIANGLES_PER_BLOCK: usize = 4096;
/// Cells of a height map that a block computes.
const CELLS_PER_BLOCK: usize = 2048;
/// Levels of the hierarchy of a mesh for which the stack of a ray has room.
pub(super) const MAX_LEVELS: usize = 15;

pub(super) fn grid(x: usize, y: usize) -> LaunchConfig {
    LaunchConfig { grid_dim: (x as u32, y as u32, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 }
}

/// Work on a second stream, and the memory that it uses.
pub(super) struct SideStream {
    main: Arc<CudaStream>,
    stream: Arc<CudaStream>,
    pub solver: ContactSolver,
    list: DeviceBuffer<i32>,
    queue: DeviceBuffer<PressQueue>,
}

impl SideStream {
    /// A second stream for the given members, after the work of the first.
    pub fn new(gpu: &Arc<crate::Gpu>, solver: ContactSolver, members: &[i32]) -> Result<Self, GpuError> {
        let list = gpu.upload(members)?;
        let queue = gpu.upload(&[PressQueue { taken: 0, count: members.len() as i32 }])?;
        Ok(Self { main: Arc::clone(&gpu.stream), stream: gpu.stream.fork()?, solver, list, queue })
    }

    /// The members, their queue, and CUDA's handle of the stream.
    pub fn work(&self) -> (Ptr<i32>, PtrMut<PressQueue>, usize) {
        (self.list.at(0), self.queue.at_mut(0), self.stream.cu_stream() as usize)
    }
}

impl Drop for SideStream {
    /// Makes the main stream, on which memory is freed, wait for this stream. If this fails, later calls fail too.
    fn drop(&mut self) {
        let _ = self.main.join(&self.stream);
    }
}

/// The fields of presses that are solved together.
#[derive(Debug)]
pub(super) struct Chunk {
    pub count: usize,
    /// Depth (m) of the object; initially the height map of the kernels.
    pub depths: DeviceBuffer<f64>,
    /// Fraction of each cell that the object covers.
    pub covered: DeviceBuffer<f64>,
    /// Tractions along x, along y and as pressure (Pa), surface displacement along x, y and down (m), stress at the
    /// sensing depth along x, y and as pressure (Pa).
    pub tractions: DeviceBuffer<f64>,
    pub surfaces: DeviceBuffer<f64>,
    pub belows: DeviceBuffer<f64>,
    pub regions: DeviceBuffer<ContactRegion>,
    /// Number of cells under a cliff, zero before the heights are computed, and these cells.
    pub cliff_count: DeviceBuffer<u64>,
    pub cliffs: DeviceBuffer<i64>,
}

/// The surfaces of presses after their last step, the velocity of each object at the sensor's origin, the duration (s) of
/// this step, and the branches of a layer that relaxes.
#[derive(Clone, Copy, Debug)]
pub(super) struct History {
    pub moved: Ptr<f64>,
    pub twists: Ptr<f64>,
    pub dt_s: f64,
    pub branches: Branches,
}

impl History {
    /// That of presses from rest.
    const REST: Self = Self { moved: Ptr::new(0), twists: Ptr::new(0), dt_s: 0.0, branches: Branches::NONE };
}

/// Solves contacts whose regions fit one size of transform, and the memory of its blocks.
#[derive(Debug)]
pub(super) struct ContactSolver {
    pub kernel: CudaFunction,
    /// Of all sizes up to this one, which is the last.
    pub spectra: Vec<Arc<Spectra>>,
    pub transforms: DeviceBuffer<Transform>,
    pub config: LaunchConfig,
    /// 1 if transforms run in shared memory.
    pub in_shared: i32,
    pub tile_lines: i32,
    pub buffers: DeviceBuffer<u8>,
    pub planes: DeviceBuffer<u8>,
}

/// Computes surfaces and stresses from tractions, and the memory of its blocks.
#[derive(Debug)]
pub(super) struct FieldSolver {
    kernel: CudaFunction,
    spectra: Arc<Spectra>,
    config: LaunchConfig,
    tile_lines: i32,
    memory: DeviceBuffer<u8>,
}

/// The kernels that compute height maps and regions.
#[derive(Debug)]
pub(super) struct HeightKernels {
    clear: CudaFunction,
    rasterize: CudaFunction,
    enter: CudaFunction,
    find_cliffs: CudaFunction,
    average_cliffs: CudaFunction,
    find_region: CudaFunction,
}

impl LayerBatch {
    /// Presses the object at many poses in the sensor's frame. Refuses poses that are not finite or deeper than the
    /// layer allows.
    pub fn press(&self, sensor_from_object: &[Pose], outputs: Outputs) -> Result<LayerTouches, GpuError> {
        self.press_on_device(&Poses::of_host(&self.gpu, sensor_from_object)?, outputs)
    }

    /// Like [`LayerBatch::press`], with poses on the GPU.
    pub fn press_on_device(&self, poses: &Poses, outputs: Outputs) -> Result<LayerTouches, GpuError> {
        let mut touches = self.allocate(poses.count, outputs)?;
        self.in_chunks(poses, |chunk, first| self.solve(chunk, first, outputs, &mut touches))?;
        Ok(touches)
    }

    /// Computes the force (N) along −z on the sensor with the object at each pose.
    pub fn normal_forces(&self, sensor_from_object: &[Pose]) -> Result<Vec<f64>, GpuError> {
        Ok(along_minus_z(&self.press(sensor_from_object, Outputs::NONE)?.wrench.download()?))
    }

    /// Calls `work` with some presses at a time, whose height maps are enqueued, and the number of presses before them. Fewer
    /// at a time where the memory does not suffice: then `work` is called again for the first of them.
    pub(super) fn in_chunks(
        &self,
        poses: &Poses,
        mut work: impl FnMut(&Chunk, usize) -> Result<(), GpuError>,
    ) -> Result<(), GpuError> {
        let (mut first, mut at_once) = (0, MAX_AT_ONCE);
        while first < poses.count {
            let last = (first + at_once).min(poses.count);
            let chunk = || {
                let chunk = self.chunk(last - first)?;
                let poses = poses.values.at(first * POSE);
                self.rasterize(&self.height_kernels()?, &chunk, poses, Ptr::default(), self.gpu.stream_handle())?;
                Ok(chunk)
            };
            match chunk().and_then(|chunk| work(&chunk, first)) {
                Ok(()) => first = last,
                // A smaller chunk may fit.
                Err(error) if error.is_out_of_memory() && at_once > 1 => at_once = (last - first).div_ceil(2),
                Err(error) if error.is_out_of_memory() => {
                    let free_bytes = self.gpu.free_bytes()?;
                    let needed_bytes = free_bytes + self.cells() * 96;
                    let what = format!("one press on {}", self.name);
                    let remedy = "free memory on the GPU, or take larger cells".to_owned();
                    return Err(GpuError::OutOfMemory { what, needed_bytes, free_bytes, remedy });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Presses indenters of any shape, given as height maps (m) over the layer's cells, row-major, one press after the
    /// other.
    pub fn press_height_maps(&self, heights_m: &[f64], outputs: Outputs) -> Result<LayerTouches, GpuError> {
        let mut touches = self.allocate(heights_m.len() / self.cells(), outputs)?;
        // The kernels' keys: integers that sort like the heights.
        let key = |height: &f64| {
            let bits = height.to_bits();
            f64::from_bits(if bits >> 63 == 1 { !bits } else { bits | 1 << 63 })
        };
        for first in (0..touches.count).step_by(MAX_AT_ONCE) {
            let some = &heights_m[first * self.cells()..(first + MAX_AT_ONCE).min(touches.count) * self.cells()];
            let mut chunk = self.chunk(some.len() / self.cells())?;
            chunk.depths.write(0, &some.iter().map(key).collect::<Vec<_>>())?;
            chunk.covered.write(0, &vec![1.0; some.len()])?;
            self.solve(&chunk, first, outputs, &mut touches)?;
        }
        Ok(touches)
    }

    /// Allocates the results of a batch.
    pub(super) fn allocate(&self, count: usize, outputs: Outputs) -> Result<LayerTouches, GpuError> {
        let of = |wanted: bool, each: usize| if wanted { count * each } else { 0 };
        let pixels = self.image_size().map_or(0, |[height, width]| height * width);
        let (images, levels) = (of(outputs.images, 3 * pixels), of(outputs.levels, 3 * pixels));
        let cells = self.cells();
        let (pressure, surface) = (of(outputs.pressure, cells), of(outputs.surface, 3 * cells));
        let forces = of(outputs.taxels, 3 * self.taxels.count());
        let allocate = || -> Result<LayerTouches, GpuError> {
            Ok(LayerTouches {
                count,
                images: self.gpu.zeros(images)?,
                levels: self.gpu.zeros(levels)?,
                pressure: self.gpu.zeros(pressure)?,
                surface: self.gpu.zeros(surface)?,
                forces: self.gpu.zeros(forces)?,
                outside: self.gpu.zeros(3 * count)?,
                wrench: self.gpu.zeros(6 * count)?,
                extents: Vec::with_capacity(count),
                efforts: Vec::with_capacity(count),
                steep: Vec::with_capacity(count),
                operations: 0.0,
            })
        };
        match allocate() {
            Err(error) if error.is_out_of_memory() => {
                let needed_bytes = images + 4 * (levels + pressure + surface) + 8 * (forces + 9 * count);
                let free_bytes = self.gpu.free_bytes()?;
                let fit = free_bytes / (needed_bytes / count.max(1)).max(1);
                let what = format!("the results of {count} presses on {}", self.name);
                let remedy = format!("press at most {fit} times at once");
                Err(GpuError::OutOfMemory { what, needed_bytes, free_bytes, remedy })
            }
            result => result,
        }
    }

    pub(super) fn chunk(&self, count: usize) -> Result<Chunk, GpuError> {
        let (gpu, cells) = (&self.gpu, self.cells());
        Ok(Chunk {
            count,
            depths: gpu.uninitialised(count * cells)?,
            covered: gpu.uninitialised(count * cells)?,
            tractions: gpu.zeros(3 * count * cells)?,
            surfaces: gpu.uninitialised(3 * count * cells)?,
            belows: gpu.uninitialised(3 * count * cells)?,
            regions: gpu.zeros(count)?,
            cliff_count: gpu.zeros(1)?,
            cliffs: gpu.uninitialised(count * cells)?,
        })
    }

    /// The kernels of height maps.
    pub(super) fn height_kernels(&self) -> Result<HeightKernels, GpuError> {
        Ok(HeightKernels {
            clear: self.kernel("clear_heights")?,
            rasterize: self.kernel("rasterize_indenter")?,
            enter: self.kernel("enter_primitive")?,
            find_cliffs: self.kernel("find_cliffs")?,
            average_cliffs: self.kernel("average_cliffs")?,
            find_region: self.kernel("find_contact_region")?,
        })
    }

    /// Enqueues the height map of the object at each pose: of a primitive in closed form, else of its mesh. `shape_of` has the
    /// index of the shape of each press; null: all have the first.
    pub(super) fn rasterize(
        &self,
        kernels: &HeightKernels,
        chunk: &Chunk,
        poses: Ptr<f64>,
        shape_of: Ptr<u32>,
        stream: usize,
    ) -> Result<(), GpuError> {
        let (gpu, keys) = (&self.gpu, chunk.count * self.cells());
        let (shapes, shape_of) = (&self.shapes.views(), &shape_of);
        let (depths, covered) = (&chunk.depths.at_mut(0), &chunk.covered.at_mut(0));
        let (cliff_count, cliffs) = (&chunk.cliff_count.at_mut(0), &chunk.cliffs.at_mut(0));
        let over_triangles = grid(chunk.count, self.shapes.triangles().div_ceil(TRIANGLES_PER_BLOCK));
        let over_cells = grid(chunk.count, self.cells().div_ceil(CELLS_PER_BLOCK));
        let over_cliffs = grid(self.blocks(&kernels.average_cliffs, 0, usize::MAX)?, 1);
        let (triangles, cells) = (&(TRIANGLES_PER_BLOCK as i32), &(CELLS_PER_BLOCK as i32));
        // SAFETY: `depths`, `covered` and `cliffs` have room for one grid per press, and there is one pose per press.
        unsafe {
            if self.shapes.has_mesh() {
                let blocks = grid(keys.div_ceil(THREADS as usize).min(1 << 16), 1);
                launch_on!(gpu, stream, kernels.clear, blocks; depths, &(keys as i64))?;
                launch_on!(
                    gpu, stream, kernels.rasterize, over_triangles; &self.grid, &poses, shapes, shape_of, triangles, depths
                )?;
            }
            if self.shapes.has_primitive() {
                launch_on!(gpu, stream, kernels.enter, over_cells; &self.grid, &poses, shapes, shape_of, cells, depths)?;
            }
            launch_on!(
                gpu, stream, kernels.find_cliffs, over_cells; &self.grid, cells, depths, covered, cliff_count, cliffs
            )?;
            launch_on!(
                gpu, stream, kernels.average_cliffs, over_cliffs;
                &self.grid, &poses, shapes, shape_of, cliff_count, cliffs, depths, covered
            )
        }
    }

    /// Enqueues the search of the region of each press.
    pub(super) fn find_regions(&self, kernels: &HeightKernels, chunk: &Chunk, stream: usize) -> Result<(), GpuError> {
        // SAFETY: there is one grid of depths and one region per press.
        unsafe {
            launch_on!(
                self.gpu, stream, kernels.find_region, grid(chunk.count, 1);
                &self.grid, &chunk.depths.at_mut(0), &chunk.regions.at_mut(0)
            )
        }
    }

    /// Computes results from height maps and stores them after those of the `first` presses.
    pub(super) fn solve(
        &self,
        chunk: &Chunk,
        first: usize,
        outputs: Outputs,
        touches: &mut LayerTouches,
    ) -> Result<(), GpuError> {
        self.find_regions(&self.height_kernels()?, chunk, self.gpu.stream_handle())?;
        let mut regions = chunk.regions.download()?;
        if let Some(i) = regions.iter().position(|region| region.status == TOO_DEEP) {
            let (depth_mm, max_mm) = (regions[i].max_depth * 1e3, self.grid.max_depth * 1e3);
            return Err(GpuError::TooDeep { press: first + i, name: self.name.clone(), depth_mm, max_mm });
        }
        let mut members: Vec<i32> = (0..chunk.count as i32).collect();
        while !members.is_empty() {
            let mut groups: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
            for &member in &members {
                let region = &regions[member as usize];
                if region.status == OPEN {
                    groups.entry(region.size).or_default().push(member);
                }
            }
            // Largest size first, and concurrently: idle multiprocessors at the end of one size start on the next.
            let mut running = Vec::new();
            for (size, group) in groups.iter().rev() {
                running.push(self.solve_contact(chunk, *size as usize, group)?);
            }
            drop(running);
            let solved = chunk.regions.download()?;
            let mut fields: BTreeMap<usize, Vec<i32>> = BTreeMap::new();
            for &member in members.iter().filter(|&&member| solved[member as usize].status != OPEN) {
                fields.entry(self.field_side(&solved[member as usize])).or_default().push(member);
            }
            for (side, members) in fields.iter().rev() {
                self.evaluate_fields(chunk, *side, members, outputs.taxels)?;
            }
            regions = chunk.regions.download()?;
            members.retain(|&member| regions[member as usize].status == OPEN);
        }
        let steep = self.finish(chunk, first, outputs, touches)?;
        touches.extents.extend(self.extents(chunk)?);
        touches.efforts.extend(regions.iter().map(|region| region.effort_after(0.0)));
        touches.steep.extend(steep);
        touches.operations += regions.iter().map(|region| self.operations(region, outputs.taxels)).sum::<f64>();
        Ok(())
    }

    /// Floating-point operations of the transforms of a press: 5 n log₂ n per line, one product per iteration, without
    /// rows of zeros.
    fn operations(&self, region: &ContactRegion, lateral_below: bool) -> f64 {
        let line = |size: f64| 5.0 * size * size.log2();
        let (rows, size) = (f64::from(region.rows), 2.0 * f64::from(self.grid.sides[region.size as usize]));
        let whole = 2.0 * f64::from(self.grid.sides[self.field_side(region)]);
        let all_rows = f64::from(self.grid.rows);
        if rows == 0.0 {
            return 0.0;
        }
        let product = 2.0 * (rows + size) * line(size) + 14.0 * size * size;
        let sources = if self.parameters.contact.has_friction() { 2.0 } else { 1.0 };
        let responses = 1.0 + f64::from(u8::from(self.lateral)) * (1.0 + f64::from(u8::from(lateral_below)));
        let transforms = sources * (rows + whole) + responses * (whole + all_rows);
        f64::from(region.iterations) * product + transforms * line(whole)
    }

    /// Number of lines of a plane in global memory that are transformed at once: sixteen lines fill whole memory
    /// transactions, and several blocks fit on a multiprocessor.
    fn tile_lines(&self, size: usize) -> usize {
        const MAX_BYTES: usize = 64 << 10;
        (MAX_BYTES / self.precision.complex_bytes(size + 1)).clamp(1, 16)
    }

    /// Number of blocks that run at once for the given number of presses, each with `shared_bytes`.
    pub(super) fn blocks(
        &self,
        kernel: &cudarc::driver::CudaFunction,
        shared_bytes: usize,
        presses: usize,
    ) -> Result<usize, GpuError> {
        let each = kernel.occupancy_max_active_blocks_per_multiprocessor(THREADS, shared_bytes, None)?;
        Ok(presses.min(self.gpu.multiprocessors() * each.max(1) as usize))
    }

    /// The solver of `presses` at once whose regions fit a size of transform.
    pub(super) fn contact_solver(&self, size: usize, presses: usize) -> Result<ContactSolver, GpuError> {
        self.solver("solve_contact", size, presses)
    }

    /// A kernel that solves `presses` at once whose regions fit a size of transform, and its memory.
    pub(super) fn solver(&self, kernel: &str, size: usize, presses: usize) -> Result<ContactSolver, GpuError> {
        let (gpu, kernel) = (&self.gpu, self.kernel(kernel)?);
        let spectra = (0..=size).map(|smaller| self.region_spectra(smaller)).collect::<Result<Vec<_>, _>>()?;
        let transforms: Vec<Transform> = spectra.iter().map(|spectra| spectra.transform()).collect();
        let (size, side) = (spectra[size].size, spectra[size].size / 2);
        // A row in shared memory is padded by one number, so that a column is spread over all banks.
        let bytes = |numbers: usize| self.precision.complex_bytes(numbers);
        let all_shared_bytes = bytes(2 * size + side + size * (size + 1));
        let in_shared = all_shared_bytes <= self.max_shared_bytes;
        let tile_lines = self.tile_lines(size);
        let shared_bytes = if in_shared { all_shared_bytes } else { bytes(2 * size + side + tile_lines * (size + 1)) };
        let blocks = self.blocks(&kernel, shared_bytes, presses)?;
        Ok(ContactSolver {
            kernel,
            spectra,
            transforms: gpu.upload(&transforms)?,
            config: LaunchConfig { shared_mem_bytes: shared_bytes as u32, ..grid(blocks, 1) },
            in_shared: i32::from(in_shared),
            tile_lines: tile_lines as i32,
            buffers: gpu
                .zeros(self.precision.bytes() * blocks * REGION_BUFFERS * (side * side).next_multiple_of(32))?,
            planes: gpu.zeros(if in_shared { 0 } else { bytes(blocks * size * size) })?,
        })
    }

    /// Enqueues the solution of the presses of a queue.
    ///
    /// # Safety
    /// The members are presses of the chunk whose regions fit the size; the history is null or has a row per press.
    pub(super) unsafe fn enqueue_contact(
        &self,
        solver: &ContactSolver,
        chunk: &Chunk,
        members: Ptr<i32>,
        queue: PtrMut<PressQueue>,
        history: &History,
        stream: usize,
    ) -> Result<(), GpuError> {
        let ContactSolver { kernel, spectra, transforms, config, in_shared, tile_lines, buffers, planes } = solver;
        let (size, largest) = (&(spectra.len() as i32 - 1), &spectra[spectra.len() - 1]);
        // SAFETY: the caller guarantees the members; each block has its own buffers and plane.
        unsafe {
            launch_on!(
                self.gpu, stream, kernel, *config; &self.grid, &transforms.at(0), size, &largest.half, in_shared, tile_lines, &members, &queue,
                &chunk.depths.at(0), &chunk.covered.at(0), &chunk.tractions.at_mut(0), &chunk.regions.at_mut(0),
                &largest.inverse.at(0), &buffers.at_mut(0), &planes.at_mut(0),
                &history.moved, &history.twists, &history.dt_s, &history.branches
            )
        }
    }

    /// Solves the contact of presses whose regions fit one size of transform.
    fn solve_contact(&self, chunk: &Chunk, size: usize, members: &[i32]) -> Result<SideStream, GpuError> {
        let side = SideStream::new(&self.gpu, self.contact_solver(size, members.len())?, members)?;
        let (members, queue, handle) = side.work();
        // SAFETY: the regions of these presses have at most `side` cells per side.
        unsafe { self.enqueue_contact(&side.solver, chunk, members, queue, &History::REST, handle)? };
        Ok(side)
    }

    /// The index of the smallest side of transforms for the fields of a press: each cell of its region is nearer than the side to every
    /// cell of the grid, and twice the side fits the grid.
    pub(super) fn field_side(&self, region: &ContactRegion) -> usize {
        let farthest = |first: i32, count: i32, all: i32| (first + count).max(all - first).max((all + 1) / 2);
        let LayerGrid { rows, cols, sizes, sides, .. } = self.grid;
        let needed = farthest(region.row, region.rows, rows).max(farthest(region.col, region.cols, cols));
        sides[..sizes as usize].iter().position(|&side| side >= needed).unwrap_or(sizes as usize - 1)
    }

    /// The solver of the fields of `presses` at once, with transforms of a side.
    pub(super) fn field_solver(&self, side: usize, presses: usize) -> Result<FieldSolver, GpuError> {
        let (kernel, spectra) = (self.kernel("evaluate_fields")?, self.field_spectra(side)?);
        let size = spectra.size;
        let (tile_lines, shared_bytes) = self.precision.field_tile(size);
        let blocks = self.blocks(&kernel, shared_bytes, presses)?;
        let memory = self.gpu.zeros(self.precision.complex_bytes(3 * blocks * size * size))?;
        let config = LaunchConfig { shared_mem_bytes: shared_bytes as u32, ..grid(blocks, 1) };
        Ok(FieldSolver { kernel, spectra, config, tile_lines: tile_lines as i32, memory })
    }

    /// Enqueues surfaces and stresses at the sensing depth of the presses of a queue. With `is_final` an overlap outside a
    /// region is accepted as an error.
    ///
    /// # Safety
    /// The members are presses of the chunk, which the branches have rows for.
    #[allow(clippy::too_many_arguments, reason = "what a launch needs")]
    pub(super) unsafe fn enqueue_fields(
        &self,
        solver: &FieldSolver,
        chunk: &Chunk,
        members: Ptr<i32>,
        queue: PtrMut<PressQueue>,
        branches: &Branches,
        lateral_below: bool,
        is_final: bool,
        stream: usize,
    ) -> Result<(), GpuError> {
        let FieldSolver { kernel, spectra, config, tile_lines, memory } = solver;
        let [lateral, lateral_below, is_final] = [self.lateral, lateral_below, is_final].map(i32::from);
        // SAFETY: the caller guarantees the members; each block has memory of its own.
        unsafe {
            launch_on!(
                self.gpu, stream, kernel, *config; &self.grid, &spectra.plan, &lateral, &lateral_below, &is_final, tile_lines,
                &members, &queue, &chunk.depths.at(0), &chunk.tractions.at(0), &chunk.regions.at_mut(0), &spectra.spectra.at(0),
                &spectra.opposite.at(0), &memory.at_mut(0), &chunk.surfaces.at_mut(0), &chunk.belows.at_mut(0), branches
            )
        }
    }

    /// Computes the surface and the stress at the sensing depth of presses from their tractions.
    fn evaluate_fields(
        &self,
        chunk: &Chunk,
        side: usize,
        members: &[i32],
        lateral_below: bool,
    ) -> Result<(), GpuError> {
        let (gpu, solver) = (&self.gpu, self.field_solver(side, members.len())?);
        let list = gpu.upload(members)?;
        let queue = gpu.upload(&[PressQueue { taken: 0, count: members.len() as i32 }])?;
        let (stream, none) = (gpu.stream_handle(), &Branches::NONE);
        // SAFETY: the members are presses of the chunk, and one stream orders the work with the release of its memory.
        unsafe { self.enqueue_fields(&solver, chunk, list.at(0), queue.at_mut(0), none, lateral_below, false, stream) }
    }

    /// The extent of the contact of each press.
    pub(super) fn extents(&self, chunk: &Chunk) -> Result<Vec<ContactExtent>, GpuError> {
        let (gpu, extents) = (&self.gpu, self.gpu.uninitialised::<f64>(EXTENT * chunk.count)?);
        let (kernel, Chunk { tractions, surfaces, covered, .. }) = (self.kernel("measure_contact")?, chunk);
        // SAFETY: there are fields for every press, and `extents` holds `EXTENT` numbers per press.
        unsafe {
            launch!(gpu, &kernel, grid(chunk.count, 1), &self.grid, tractions, surfaces, covered, &extents)?;
        }
        Ok(extents.download()?.chunks_exact(EXTENT).map(extent_of).collect())
    }

    /// Computes results from fields. Returns [`LayerTouches::steep`] of these presses.
    fn finish(
        &self,
        chunk: &Chunk,
        first: usize,
        outputs: Outputs,
        touches: &LayerTouches,
    ) -> Result<Vec<f64>, GpuError> {
        let (gpu, cells, over_presses) = (&self.gpu, self.cells(), grid(chunk.count, 1));
        let taxels = if outputs.taxels { self.taxels.grid } else { TaxelGrid::default() };
        let each = 3 * (taxels.rows * taxels.cols) as usize;
        let (forces, outside) = (touches.forces.at_mut(first * each), touches.outside.at_mut(3 * first));
        let wrench = touches.wrench.at_mut(6 * first);
        // SAFETY: the results of every press of the batch are allocated; unused results are null.
        unsafe {
            launch!(
                gpu, &self.kernel("integrate_forces")?, over_presses; &self.grid, &taxels, &self.taxels.spans, &self.taxels.weights,
                &chunk.tractions, &chunk.surfaces, &chunk.belows, &forces, &outside, &wrench
            )?;
            if outputs.pressure || outputs.surface {
                let pressure = if outputs.pressure { touches.pressure.at(first * cells).0 } else { 0 };
                let surface = if outputs.surface { touches.surface.at(3 * first * cells).0 } else { 0 };
                let (copy, tractions, surfaces) = (self.kernel("copy_outputs")?, &chunk.tractions, &chunk.surfaces);
                launch!(gpu, &copy, over_presses, &self.grid, tractions, surfaces, &pressure, &surface)?;
            }
        }
        match &self.camera {
            Some(camera) if outputs.images || outputs.levels => {
                let before = first * 3 * camera.image_size().iter().product::<usize>();
                let mut images = ImageOutputs::default();
                if outputs.images {
                    images.rounded = touches.images.at_mut(before);
                }
                if outputs.levels {
                    images.levels = touches.levels.at_mut(before);
                }
                // SAFETY: the images of every press of the batch are allocated.
                unsafe { camera.render(&chunk.surfaces, chunk.count, images) }
            }
            _ => Ok(vec![0.0; chunk.count]),
        }
    }
}
