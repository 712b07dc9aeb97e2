//! From poses to touches.

use super::tables::Tables;
use super::{SheetBatch, SheetObject, SheetTouches, Wanted};
use crate::GpuError;
use cudarc::driver::{CudaSlice, CudaStream, CudaView, DeviceRepr, LaunchConfig, PushKernelArg, ValidAsZeroBits};
use std::collections::BTreeMap;
use std::sync::Arc;

/// As in heights.cu.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Press {
    row: i32,
    col: i32,
    rows: i32,
    cols: i32,
    plan: i32,
    status: i32,
    growth: i32,
    iterations: i32,
    deepest: f64,
}

// SAFETY: plain numbers, laid out as in heights.cu, and zeros are numbers.
#[allow(unsafe_code)]
unsafe impl DeviceRepr for Press {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl ValidAsZeroBits for Press {}

/// As in heights.cu.
const OPEN: i32 = 1;
const TOO_DEEP: i32 = 4;
const NOT_FINITE: i32 = 5;

/// Numbers of a pose: x, y, z (m), then the turn as a quaternion x, y, z, w.
const POSE: usize = 7;
/// Threads of most kernels, as in contact.cu.
const THREADS: u32 = 256;
/// Fields of a region in work, as in contact.cu.
const PARTS: usize = 14;
/// More presses than this at once keep the GPU no busier.
const MAX_AT_ONCE: usize = 4096;
/// Triangles that a block draws.
const TRIANGLES: usize = 4096;

fn grid(x: usize, y: usize) -> LaunchConfig {
    LaunchConfig { grid_dim: (x as u32, y as u32, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 }
}

/// Work beside the main queue, and the memory it is done in.
struct Aside {
    main: Arc<CudaStream>,
    queue: Arc<CudaStream>,
    _work: CudaSlice<f64>,
    _planes: CudaSlice<u8>,
    _lists: [CudaSlice<i32>; 2],
}

impl Drop for Aside {
    /// Memory goes back in the order of the main queue, so that waits first. A queue that cannot be waited for has failed, and so will what follows.
    fn drop(&mut self) {
        let _ = self.main.join(&self.queue);
    }
}

/// The fields of some presses, while they are worked on.
struct Chunk {
    count: usize,
    depths: CudaSlice<f64>,
    tractions: CudaSlice<f64>,
    surfaces: CudaSlice<f64>,
    belows: CudaSlice<f64>,
    presses: CudaSlice<Press>,
}

impl SheetBatch {
    /// Presses one object in many poses: x, y and z (m), then the turn as a quaternion x, y, z, w.
    pub fn press(&self, object: &SheetObject, poses: &[[f64; POSE]], wanted: Wanted) -> Result<SheetTouches, GpuError> {
        if poses.is_empty() {
            return self.room(0, wanted);
        }
        let poses = self.gpu.stream.clone_htod(poses.as_flattened())?;
        self.press_on_device(object, &poses.as_view(), wanted)
    }

    /// As [`SheetBatch::press`], with poses that are on the GPU already, seven numbers each.
    pub fn press_on_device(
        &self,
        object: &SheetObject,
        poses: &CudaView<'_, f64>,
        wanted: Wanted,
    ) -> Result<SheetTouches, GpuError> {
        let count = poses.len() / POSE;
        let mut touches = self.room(count, wanted)?;
        let (mut first, mut at_once) = (0, MAX_AT_ONCE);
        while first < count {
            let last = (first + at_once).min(count);
            match self.press_some(object, &poses.slice(first * POSE..last * POSE), first, wanted, &mut touches) {
                Ok(()) => first = last,
                // Fewer may fit.
                Err(error) if error.is_out_of_memory() && at_once > 1 => at_once = (last - first).div_ceil(2),
                Err(error) if error.is_out_of_memory() => {
                    let free_bytes = self.gpu.free_bytes()?;
                    let needed_bytes = free_bytes + self.cells() * 80;
                    let what = format!("one press on {}", self.name);
                    let remedy = "free memory on the GPU, or take larger cells".to_owned();
                    return Err(GpuError::OutOfMemory { what, needed_bytes, free_bytes, remedy });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(touches)
    }

    /// Presses under heights (m) over the rest surface that are known on the grid, row by row and press after press: objects of any shape.
    pub fn press_under(&self, heights_m: &[f64], wanted: Wanted) -> Result<SheetTouches, GpuError> {
        let count = heights_m.len() / self.cells();
        let mut touches = self.room(count, wanted)?;
        // Whole numbers in the order of the heights, as they are drawn.
        let ordered = |height: &f64| {
            let bits = height.to_bits();
            f64::from_bits(if bits >> 63 == 1 { !bits } else { bits | 1 << 63 })
        };
        for first in (0..count).step_by(MAX_AT_ONCE) {
            let some = &heights_m[first * self.cells()..(first + MAX_AT_ONCE).min(count) * self.cells()];
            let mut chunk = self.chunk(some.len() / self.cells())?;
            let keys: Vec<f64> = some.iter().map(ordered).collect();
            self.gpu.stream.memcpy_htod(&keys, &mut chunk.depths)?;
            let still = self.gpu.stream.alloc_zeros::<f64>(POSE * chunk.count)?;
            self.measure(&mut chunk, &still.as_view())?;
            self.solve(&mut chunk, first, wanted, &mut touches)?;
        }
        Ok(touches)
    }

    /// Memory for what comes of a batch.
    fn room(&self, count: usize, wanted: Wanted) -> Result<SheetTouches, GpuError> {
        let of = |wanted: bool, each: usize| if wanted { count * each } else { 0 };
        let pixels = self.image().map_or(0, |[height, width]| height * width);
        let (images, cells) = (of(wanted.images, 3 * pixels), self.cells());
        let (pressure, surface) = (of(wanted.pressure, cells), of(wanted.surface, 3 * cells));
        let forces = of(wanted.taxels, 3 * self.taxels());
        let allocate = || -> Result<SheetTouches, GpuError> {
            let gpu = &self.gpu;
            Ok(SheetTouches {
                count,
                images: gpu.zeros(images)?,
                pressure: gpu.zeros(pressure)?,
                surface: gpu.zeros(surface)?,
                forces: gpu.zeros(forces)?,
                outside: gpu.zeros(3 * count)?,
                wrench: gpu.zeros(6 * count)?,
                iterations: 0,
                operations: 0.0,
            })
        };
        match allocate() {
            Err(error) if error.is_out_of_memory() => {
                let needed_bytes = images + 4 * (pressure + surface) + 8 * (forces + 9 * count);
                let free_bytes = self.gpu.free_bytes()?;
                let fit = free_bytes / (needed_bytes / count.max(1)).max(1);
                let what = format!("what comes of {count} presses on {}", self.name);
                let remedy = format!("press at most {fit} times at once");
                Err(GpuError::OutOfMemory { what, needed_bytes, free_bytes, remedy })
            }
            result => result,
        }
    }

    /// Some presses of a batch, from the `first` on.
    fn press_some(
        &self,
        object: &SheetObject,
        poses: &CudaView<'_, f64>,
        first: usize,
        wanted: Wanted,
        touches: &mut SheetTouches,
    ) -> Result<(), GpuError> {
        let mut chunk = self.chunk(poses.len() / POSE)?;
        self.draw(&mut chunk, object, poses)?;
        self.measure(&mut chunk, poses)?;
        self.solve(&mut chunk, first, wanted, touches)
    }

    /// From depths to touches.
    fn solve(
        &self,
        chunk: &mut Chunk,
        first: usize,
        wanted: Wanted,
        touches: &mut SheetTouches,
    ) -> Result<(), GpuError> {
        let mut presses = self.gpu.stream.clone_dtoh(&chunk.presses)?;
        self.refuse(&presses, first)?;
        let mut members: Vec<i32> = (0..chunk.count as i32).collect();
        loop {
            let mut groups: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
            for &member in &members {
                let press = &presses[member as usize];
                if press.status == OPEN {
                    groups.entry(press.plan).or_default().push(member);
                }
            }
            // The largest first, and side by side: the last blocks of one leave room for the next.
            let mut held = Vec::new();
            for (plan, group) in groups.iter().rev() {
                held.push(self.contact(chunk, &*self.region(*plan as usize)?, group)?);
            }
            drop(held);
            self.fields(chunk, &members, wanted.taxels)?;
            presses = self.gpu.stream.clone_dtoh(&chunk.presses)?;
            members.retain(|&member| presses[member as usize].status == OPEN);
            if members.is_empty() {
                break;
            }
        }
        self.finish(chunk, first, wanted, touches)?;
        touches.iterations += presses.iter().map(|press| press.iterations as usize).sum::<usize>();
        touches.operations += presses.iter().map(|press| self.operations(press, wanted.taxels)).sum::<f64>();
        Ok(())
    }

    /// What the transforms of a press need: 5 n log₂ n a line, a product an iteration, rows of nothing but zeros left out.
    fn operations(&self, press: &Press, below_along: bool) -> f64 {
        let line = |size: f64| 5.0 * size * size.log2();
        let (rows, size) = (f64::from(press.rows), 2.0 * f64::from(self.sheet.sides[press.plan as usize]));
        let (all_rows, whole) = (f64::from(self.sheet.rows), self.whole.size as f64);
        if rows == 0.0 {
            return 0.0;
        }
        let product = 2.0 * (rows + size) * line(size) + 14.0 * size * size;
        let sources = if self.sheet.mu > 0.0 { 2.0 } else { 1.0 };
        let answers = 1.0 + f64::from(u8::from(self.lateral)) * (1.0 + f64::from(u8::from(below_along)));
        let transforms = sources * (rows + whole) + answers * (whole + all_rows);
        f64::from(press.iterations) * product + transforms * line(whole)
    }

    fn chunk(&self, count: usize) -> Result<Chunk, GpuError> {
        let (stream, cells) = (&self.gpu.stream, self.cells());
        Ok(Chunk {
            count,
            depths: stream.alloc_zeros(count * cells)?,
            tractions: stream.alloc_zeros(3 * count * cells)?,
            surfaces: stream.alloc_zeros(3 * count * cells)?,
            belows: stream.alloc_zeros(3 * count * cells)?,
            presses: stream.alloc_zeros(count)?,
        })
    }

    /// Draws the object over the grid for each pose.
    fn draw(&self, chunk: &mut Chunk, object: &SheetObject, poses: &CudaView<'_, f64>) -> Result<(), GpuError> {
        let (stream, numbers) = (&self.gpu.stream, chunk.count * self.cells());
        let (triangles, closed, part) = (object.count as i32, i32::from(object.closed), TRIANGLES as i32);
        let (all, blocks) = (numbers as i64, numbers.div_ceil(THREADS as usize).min(1 << 16));
        // SAFETY: depths hold one grid a press; the mesh's corners are places of its vertices.
        #[allow(unsafe_code)]
        unsafe {
            stream.launch_builder(&self.kernels.clear).arg(&mut chunk.depths).arg(&all).launch(grid(blocks, 1))?;
            stream
                .launch_builder(&self.kernels.draw)
                .arg(&self.sheet)
                .arg(poses)
                .arg(&object.vertices)
                .arg(&object.triangles)
                .arg(&triangles)
                .arg(&closed)
                .arg(&part)
                .arg(&mut chunk.depths)
                .launch(grid(chunk.count, object.count.div_ceil(TRIANGLES)))?;
        }
        Ok(())
    }

    /// Finds how deep each press is, and where.
    fn measure(&self, chunk: &mut Chunk, poses: &CudaView<'_, f64>) -> Result<(), GpuError> {
        // SAFETY: depths hold one grid a press.
        #[allow(unsafe_code)]
        unsafe {
            self.gpu
                .stream
                .launch_builder(&self.kernels.survey)
                .arg(&self.sheet)
                .arg(poses)
                .arg(&mut chunk.depths)
                .arg(&mut chunk.presses)
                .launch(grid(chunk.count, 1))?;
        }
        Ok(())
    }

    fn refuse(&self, presses: &[Press], first: usize) -> Result<(), GpuError> {
        for (i, press) in presses.iter().enumerate() {
            if press.status == TOO_DEEP {
                let (depth_mm, most_mm) = (press.deepest * 1e3, self.sheet.deepest * 1e3);
                return Err(GpuError::TooDeep { press: first + i, name: self.name.clone(), depth_mm, most_mm });
            }
            if press.status == NOT_FINITE {
                return Err(GpuError::NotFinite { press: first + i });
            }
        }
        Ok(())
    }

    /// Lines of a plane far away that are transformed at once: sixteen are read in whole pieces of memory, and some blocks have room for them
    /// side by side.
    fn tile_lines(&self, size: usize) -> usize {
        const MAX_BYTES: usize = 64 << 10;
        (MAX_BYTES / self.precision.complex_bytes(size + 1)).clamp(1, 16)
    }

    /// Solves the contact of presses that fit one plan.
    fn contact(&self, chunk: &mut Chunk, tables: &Tables, members: &[i32]) -> Result<Aside, GpuError> {
        let stream = &self.gpu.stream;
        let (size, side) = (tables.size, tables.size / 2);
        // The plane has one number more a row, so that columns are spread over all banks.
        let bytes = |numbers: usize| self.precision.complex_bytes(numbers);
        let in_shared = bytes(size + side + size * (size + 1));
        let near = in_shared <= self.shared_most;
        let width = self.tile_lines(size);
        let shared = if near { in_shared } else { bytes(size + side + width * (size + 1)) };
        let kernel = &self.kernels.contact;
        let side_by_side = kernel.occupancy_max_active_blocks_per_multiprocessor(THREADS, shared, None)?;
        let blocks = members.len().min(self.gpu.multiprocessors() * side_by_side.max(1) as usize);
        let mut work = stream.alloc_zeros::<f64>(blocks * PARTS * (side * side).next_multiple_of(32))?;
        let mut planes = stream.alloc_zeros::<u8>(if near { 1 } else { bytes(blocks * size * size) })?;
        let (near, width, count) = (i32::from(near), width as i32, members.len() as i32);
        let (list, mut taken) = (stream.clone_htod(members)?, stream.alloc_zeros::<i32>(1)?);
        let queue = stream.fork()?;
        let config = LaunchConfig { shared_mem_bytes: shared as u32, ..grid(blocks, 1) };
        // SAFETY: regions of these presses have at most `side` cells a side, and each block has work and planes of its own.
        #[allow(unsafe_code)]
        unsafe {
            queue
                .launch_builder(kernel)
                .arg(&self.sheet)
                .arg(&tables.plan)
                .arg(&tables.half)
                .arg(&near)
                .arg(&width)
                .arg(&list)
                .arg(&count)
                .arg(&mut taken)
                .arg(&chunk.depths)
                .arg(&mut chunk.tractions)
                .arg(&mut chunk.presses)
                .arg(&tables.spectra)
                .arg(&tables.inverse)
                .arg(&tables.opposite)
                .arg(&mut work)
                .arg(&mut planes)
                .launch(config)?;
        }
        Ok(Aside { main: Arc::clone(stream), queue, _work: work, _planes: planes, _lists: [list, taken] })
    }

    /// What the tractions of presses do everywhere.
    fn fields(&self, chunk: &mut Chunk, members: &[i32], below_along: bool) -> Result<(), GpuError> {
        let (stream, size) = (&self.gpu.stream, self.whole.size);
        let kernel = &self.kernels.fields;
        let width = self.tile_lines(size);
        let shared = self.precision.complex_bytes(size + width * (size + 1));
        let side_by_side = kernel.occupancy_max_active_blocks_per_multiprocessor(THREADS, shared, None)?;
        let blocks = members.len().min(self.gpu.multiprocessors() * side_by_side.max(1) as usize);
        let mut planes = stream.alloc_zeros::<u8>(self.precision.complex_bytes(3 * blocks * size * size))?;
        let (count, list, mut taken) =
            (members.len() as i32, stream.clone_htod(members)?, stream.alloc_zeros::<i32>(1)?);
        let (lateral, below_along, width) = (i32::from(self.lateral), i32::from(below_along), width as i32);
        let config = LaunchConfig { shared_mem_bytes: shared as u32, ..grid(blocks, 1) };
        // SAFETY: each block has three planes of its own.
        #[allow(unsafe_code)]
        unsafe {
            stream
                .launch_builder(kernel)
                .arg(&self.sheet)
                .arg(&self.whole.plan)
                .arg(&lateral)
                .arg(&below_along)
                .arg(&width)
                .arg(&list)
                .arg(&count)
                .arg(&mut taken)
                .arg(&chunk.depths)
                .arg(&chunk.tractions)
                .arg(&mut chunk.presses)
                .arg(&self.whole.spectra)
                .arg(&self.whole.opposite)
                .arg(&mut planes)
                .arg(&mut chunk.surfaces)
                .arg(&mut chunk.belows)
                .launch(config)?;
        }
        Ok(())
    }

    /// From fields to what is handed out.
    fn finish(&self, chunk: &Chunk, first: usize, wanted: Wanted, touches: &mut SheetTouches) -> Result<(), GpuError> {
        let (stream, count, cells) = (&self.gpu.stream, chunk.count, self.cells());
        let mut taxels = self.taxels.grid;
        if !wanted.taxels {
            (taxels.rows, taxels.cols) = (0, 0);
        }
        let each = 3 * (taxels.rows * taxels.cols) as usize;
        let forces = touches.forces.at_mut(first * each);
        let outside = touches.outside.at_mut(3 * first);
        let wrench = touches.wrench.at_mut(6 * first);
        // SAFETY: there is room for every press of the batch.
        #[allow(unsafe_code)]
        unsafe {
            stream
                .launch_builder(&self.kernels.feel)
                .arg(&self.sheet)
                .arg(&taxels)
                .arg(&self.taxels.spans)
                .arg(&self.taxels.weights)
                .arg(&chunk.tractions)
                .arg(&chunk.surfaces)
                .arg(&chunk.belows)
                .arg(&forces)
                .arg(&outside)
                .arg(&wrench)
                .launch(grid(count, 1))?;
            if wanted.pressure || wanted.surface {
                let nothing = 0u64;
                let pressure = touches.pressure.at_mut(if wanted.pressure { first * cells } else { 0 });
                let surface = touches.surface.at_mut(if wanted.surface { 3 * first * cells } else { 0 });
                let mut launch = stream.launch_builder(&self.kernels.hand_out);
                launch.arg(&self.sheet).arg(&chunk.tractions).arg(&chunk.surfaces);
                if wanted.pressure {
                    launch.arg(&pressure)
                } else {
                    launch.arg(&nothing)
                };
                if wanted.surface {
                    launch.arg(&surface)
                } else {
                    launch.arg(&nothing)
                };
                launch.launch(grid(count, 1))?;
            }
        }
        if let Some(sight) = self.sight.as_ref().filter(|_| wanted.images) {
            let [height, width] = sight.image();
            let each = 3 * height * width;
            let mut all = touches.images.view_mut();
            let mut images = all.slice_mut(first * each..(first + count) * each);
            sight.look(&self.gpu, &chunk.surfaces, count, &mut images)?;
        }
        Ok(())
    }
}
