//! Derivatives of a scalar through a batch of presses.

use super::press::{Chunk, POSE, SideStream, grid};
use super::region::PressQueue;
use super::{LayerBatch, Outputs};
use crate::array::Poses;
use crate::cuda_struct::{Plain, Ptr};
use crate::memory::launch_on;
use crate::object::flat;
use crate::{DeviceBuffer, Gpu, GpuError};
use cudarc::driver::LaunchConfig;
use dermis_geometry::{ShapeGradient, Vec3};
use dermis_sensor::{Cotangents, Gradients, Sensor};
use dermis_skin::threads::parallel;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Derivatives of a scalar with respect to the results of presses, one press after the other, in GPU memory. An empty
/// buffer is zero.
#[derive(Debug)]
pub struct LayerCotangents {
    /// By force (1/N) and torque about the origin (1/(N m)) on the sensor: (press, 6).
    pub wrench: DeviceBuffer<f64>,
    /// By the force vector (1/N) of each taxel: (press, taxels, 3).
    pub forces: DeviceBuffer<f64>,
    /// By the levels of red, green and blue of each pixel, before they are rounded: (press, height, width, 3).
    pub levels: DeviceBuffer<f32>,
    /// By column and row (1/pixel) of each marker in the image: (press, markers, 2).
    pub markers: DeviceBuffer<f64>,
}

/// Numbers per press of the kernel `pull_back_shape`.
const SHAPE: usize = 10;
/// Blocks of kernels that run over a list.
const BLOCKS: usize = 1024;

impl LayerCotangents {
    /// Zero.
    pub fn none(gpu: &Arc<Gpu>) -> Result<Self, GpuError> {
        Ok(Self { wrench: gpu.zeros(0)?, forces: gpu.zeros(0)?, levels: gpu.zeros(0)?, markers: gpu.zeros(0)? })
    }

    /// Uploads the derivatives by the readings of presses on a sensor. Refuses those by reported values.
    pub fn of_host(gpu: &Arc<Gpu>, sensor: &Sensor, all: &[Cotangents]) -> Result<Self, GpuError> {
        let on_cpu = [
            ("response", all.iter().any(|by| !by.reported.is_empty())),
            ("magnetometers", all.iter().any(|by| !by.magnetic.is_empty())),
        ];
        if let Some((part, _)) = on_cpu.iter().find(|(_, is_given)| *is_given) {
            let what = format!("the gradient of the {part} of sensor {:?}", sensor.name());
            return Err(GpuError::Unsupported { what, why: "it is computed on the CPU".to_owned() });
        }
        let mut forces = Vec::new();
        for by in all {
            let found = sensor.by_forces(&by.taxels, &by.forces);
            let found = found.map_err(|error| GpuError::BadInput { reason: error.to_string() })?;
            forces.extend(flat(found.unwrap_or_default().into_iter()));
        }
        let wrench = all.iter().flat_map(|by| flat([by.on_sensor.force, by.on_sensor.torque].into_iter()));
        let level = |[red, green, blue]: &[Vec<f64>; 3]| {
            let pixels = red.iter().zip(green).zip(blue);
            pixels.flat_map(|((&red, &green), &blue)| [red, green, blue].map(|by| by as f32)).collect::<Vec<f32>>()
        };
        Ok(Self {
            wrench: gpu.upload(&wrench.collect::<Vec<f64>>())?,
            forces: gpu.upload(&forces)?,
            levels: gpu.upload(&all.iter().flat_map(|by| level(&by.image)).collect::<Vec<f32>>())?,
            markers: gpu.upload(&all.iter().flat_map(|by| by.markers.concat()).collect::<Vec<f64>>())?,
        })
    }
}

/// The address of the values of a press, or null if there are none.
fn of_press<T: Plain>(buffer: &DeviceBuffer<T>, first: usize, each: usize) -> Ptr<T> {
    if buffer.is_empty() { Ptr::default() } else { buffer.at(first * each) }
}

impl LayerBatch {
    /// Presses the object at many poses and returns the derivatives of a scalar by each pose and by the parameters of object and
    /// sensor, from those by the results: one vector–Jacobian product per press, as `Sensor::vjp` on the CPU.
    ///
    /// Has the derivatives by position, rotation, `scale`, the sizes of a primitive, `mu` with friction and, for a layer of one ply,
    /// `young`. With friction they are those of the press in one increment. Refuses shadows of Phong's lamps, and derivatives that
    /// are not finite or too few. Sums of derivatives by pixels are in no fixed order: two calls differ by rounding errors.
    pub fn vjp(&self, poses: &Poses, by: &LayerCotangents) -> Result<Vec<Gradients>, GpuError> {
        self.check_gradient(poses.count, by)?;
        let outputs = Outputs { taxels: !by.forces.is_empty(), ..Outputs::NONE };
        let mut touches = self.allocate(poses.count, outputs)?;
        let (mut shapes, mut by_mus) = (Vec::with_capacity(SHAPE * poses.count), Vec::with_capacity(poses.count));
        self.in_chunks(poses, |chunk, first| {
            self.solve(chunk, first, outputs, &mut touches)?;
            let (shape, by_mu) = self.pull_back(chunk, poses.values.at(first * POSE), first, by)?;
            shapes.extend(shape);
            by_mus.extend(by_mu);
            Ok(())
        })?;
        let young_pa = match &self.parameters.plies[..] {
            [only] => Some(only.young_pa),
            _ => None,
        };
        // Forces are in proportion to Young's modulus, the surface does not depend on it.
        let by_young = self.products(poses.count, [(&by.wrench, &touches.wrench), (&by.forces, &touches.forces)])?;
        let has_friction = self.parameters.contact.has_friction();
        let of = |((numbers, by_young), &by_mu): ((&[f64], &f64), &f64)| {
            let [position, rotation, stretch] = [0, 3, 6].map(|first| Vec3::from_slice(&numbers[first..]));
            let shape = ShapeGradient::of_sums(position, rotation, stretch, numbers[9]);
            let young = young_pa.map(|young_pa| ("young", vec![by_young / young_pa]));
            let mu = has_friction.then(|| ("mu", vec![by_mu]));
            Gradients::new(shape, self.primitive.as_ref(), young.into_iter().chain(mu))
        };
        Ok(parallel(|| shapes.par_chunks_exact(SHAPE).zip(&by_young).zip(&by_mus).map(of).collect()))
    }

    /// Refuses what has no derivatives on a GPU.
    fn check_gradient(&self, count: usize, by: &LayerCotangents) -> Result<(), GpuError> {
        let unsupported = |why: &str| GpuError::Unsupported {
            what: format!("the gradient of presses on {}", self.name),
            why: why.to_owned(),
        };
        let [height, width] = self.image_size().unwrap_or_default();
        let markers = self.camera.as_ref().map_or(0, |camera| camera.markers());
        if let Some(camera) = self.camera.as_ref().filter(|_| !by.levels.is_empty()) {
            camera.check_gradient().map_err(unsupported)?;
        }
        let lists = [
            ("the wrench", by.wrench.len(), 6),
            ("the force vectors", by.forces.len(), 3 * self.taxels.count()),
            ("the image", by.levels.len(), 3 * height * width),
            ("the markers", by.markers.len(), 2 * markers),
        ];
        for (what, got, each) in lists {
            if got != 0 && got != count * each {
                let reason =
                    format!("the cotangent of {what} has {got} values and {count} presses have {}", count * each);
                return Err(GpuError::BadInput { reason });
            }
        }
        self.require_finite("the wrench", &by.wrench, 8)?;
        self.require_finite("the force vectors", &by.forces, 8)?;
        self.require_finite("the image", &by.levels, 4)?;
        self.require_finite("the markers", &by.markers, 8)
    }

    /// Refuses numbers that are not finite, each of `bytes`.
    fn require_finite<T: Plain>(&self, what: &str, values: &DeviceBuffer<T>, bytes: i32) -> Result<(), GpuError> {
        if values.is_empty() {
            return Ok(());
        }
        let (gpu, first) = (&self.gpu, self.gpu.upload(&[u64::MAX])?);
        let (kernel, count) = (self.kernel("find_not_finite")?, values.len() as i64);
        // SAFETY: there are `count` numbers.
        unsafe {
            launch_on!(
                gpu, gpu.stream_handle(), kernel, grid(BLOCKS, 1); &values.address(), &bytes, &count, &first.at_mut(0)
            )?;
        }
        match first.download()?[..] {
            [u64::MAX] | [] => Ok(()),
            [index, ..] => Err(GpuError::BadInput {
                reason: format!(
                    "the cotangent of {what} is not finite at index {index}: a NaN or an infinity reached it"
                ),
            }),
        }
    }

    /// The sum over pairs of buffers of the products of the numbers of each press; an empty buffer is zero.
    fn products(
        &self,
        count: usize,
        pairs: [(&DeviceBuffer<f64>, &DeviceBuffer<f64>); 2],
    ) -> Result<Vec<f64>, GpuError> {
        let (gpu, kernel, sums) = (&self.gpu, self.kernel("multiply_rows")?, self.gpu.zeros::<f64>(count)?);
        for (a, b) in pairs.into_iter().filter(|(a, _)| !a.is_empty()) {
            let each = (a.len() / count) as i32;
            // SAFETY: both have `each` numbers per press.
            unsafe {
                launch_on!(
                    gpu, gpu.stream_handle(), kernel, grid(count, 1); &a.at(0), &b.at(0), &each, &sums.at_mut(0)
                )?;
            }
        }
        sums.download()
    }

    /// Derivatives by the shape and by the coefficient of friction of each press of a chunk whose fields are known; `first` presses are
    /// before it.
    fn pull_back(
        &self,
        chunk: &Chunk,
        poses: Ptr<f64>,
        first: usize,
        by: &LayerCotangents,
    ) -> Result<(Vec<f64>, Vec<f64>), GpuError> {
        let (gpu, stream, all) = (&self.gpu, self.gpu.stream_handle(), chunk.count * self.cells());
        let pixels = self.image_size().map_or(0, |[height, width]| height * width);
        let sees = !by.levels.is_empty() || !by.markers.is_empty();
        let has_levers = self.parameters.contact.has_friction() && !by.wrench.is_empty();
        let by_wrenches = of_press(&by.wrench, first, 6);
        let by_surfaces = gpu.zeros::<f64>(if sees || has_levers { 3 * all } else { 0 })?;
        let by_belows = gpu.zeros::<f64>(if by.forces.is_empty() { 0 } else { 3 * all })?;
        if let Some(camera) = self.camera.as_ref().filter(|_| sees) {
            let by_levels = of_press(&by.levels, first, 3 * pixels);
            let by_markers = of_press(&by.markers, first, 2 * camera.markers());
            // SAFETY: there is a surface for each press, and the cotangents have the sizes of the results.
            unsafe { camera.pull_back(&chunk.surfaces, chunk.count, by_levels, by_markers, &by_surfaces)? };
        }
        if has_levers {
            // SAFETY: there are tractions and a surface for each press.
            unsafe {
                launch_on!(
                    gpu, stream, self.kernel("pull_back_levers")?, grid(chunk.count, 1);
                    &self.grid, &chunk.tractions.at(0), &by_wrenches, &by_surfaces.at_mut(0)
                )?;
            }
        }
        if !by.forces.is_empty() {
            let by_forces = &of_press(&by.forces, first, 3 * self.taxels.count());
            // SAFETY: as above; each taxel has its span of cells.
            unsafe {
                launch_on!(
                    gpu, stream, self.kernel("pull_back_taxels")?, grid(chunk.count, 1); &self.grid, &self.taxels.grid,
                    &self.taxels.spans.at(0), &self.taxels.weights.at(0), by_forces, &by_belows.at_mut(0)
                )?;
            }
        }
        let regions = chunk.regions.download()?;
        let (mut sides, mut sizes): (BTreeMap<usize, Vec<i32>>, BTreeMap<i32, Vec<i32>>) = Default::default();
        for (press, region) in regions.iter().enumerate().filter(|(_, region)| region.cells() > 0) {
            sides.entry(self.field_side(region)).or_default().push(press as i32);
            sizes.entry(region.size).or_default().push(press as i32);
        }
        let by_tractions = gpu.uninitialised::<f64>(3 * all)?;
        let (by_depths, by_mus) = (gpu.uninitialised::<f64>(all)?, gpu.zeros::<f64>(chunk.count)?);
        for (side, members) in sides.iter().rev() {
            self.pull_back_fields(chunk, *side, members, by_wrenches, [&by_surfaces, &by_belows], &by_tractions)?;
        }
        // Largest size first, and concurrently.
        let mut running = Vec::new();
        for (size, members) in sizes.iter().rev() {
            running.push(self.solve_adjoint(chunk, *size as usize, members, &by_tractions, [&by_depths, &by_mus])?);
        }
        drop(running);
        let (marks, shapes) = (gpu.zeros::<u8>(all)?, gpu.uninitialised::<f64>(SHAPE * chunk.count)?);
        // SAFETY: there is a mark for each cell, and a pose and a shape for each press.
        unsafe {
            launch_on!(
                gpu, stream, self.kernel("mark_cliffs")?, grid(BLOCKS, 1);
                &chunk.cliff_count.at(0), &chunk.cliffs.at(0), &marks.at_mut(0)
            )?;
            launch_on!(
                gpu, stream, self.kernel("pull_back_shape")?, grid(chunk.count, 1);
                &self.grid, &poses, self.shapes.first(), &chunk.regions.at(0), &marks.at(0), &by_depths.at(0), &shapes.at_mut(0)
            )?;
        }
        Ok((shapes.download()?, by_mus.download()?))
    }

    /// Enqueues the derivatives by the tractions of presses, with transforms of a side.
    fn pull_back_fields(
        &self,
        chunk: &Chunk,
        side: usize,
        members: &[i32],
        by_wrenches: Ptr<f64>,
        [by_surfaces, by_belows]: [&DeviceBuffer<f64>; 2],
        by_tractions: &DeviceBuffer<f64>,
    ) -> Result<(), GpuError> {
        let (gpu, kernel, spectra) = (&self.gpu, self.kernel("pull_back_fields")?, self.field_spectra(side)?);
        let (tile_lines, shared_bytes) = self.precision.field_tile(spectra.size);
        let blocks = self.blocks(&kernel, shared_bytes, members.len())?;
        let memory =
            gpu.uninitialised::<u8>(self.precision.complex_bytes(4 * blocks * spectra.size * self.grid.cols as usize))?;
        let config = LaunchConfig { shared_mem_bytes: shared_bytes as u32, ..grid(blocks, 1) };
        let list = gpu.upload(members)?;
        let queue = gpu.upload(&[PressQueue { taken: 0, count: members.len() as i32 }])?;
        let (tile_lines, lateral) = (tile_lines as i32, i32::from(self.lateral));
        // SAFETY: the members are presses of the chunk, each block has memory of its own, and one stream orders the work with the
        // release of the memory.
        unsafe {
            launch_on!(
                gpu, gpu.stream_handle(), kernel, config; &self.grid, &spectra.plan, &lateral, &tile_lines, &list.at(0), &queue.at_mut(0),
                &chunk.regions.at(0), &chunk.tractions.at(0), &chunk.surfaces.at(0), &spectra.spectra.at(0), &spectra.opposite.at(0),
                &memory.at_mut(0), &by_wrenches,
                &of_press(by_surfaces, 0, 0), &of_press(by_belows, 0, 0), &by_tractions.at_mut(0)
            )
        }
    }

    /// Enqueues the derivatives by the depths and by the coefficient of friction of presses whose regions fit one size of transform.
    fn solve_adjoint(
        &self,
        chunk: &Chunk,
        size: usize,
        members: &[i32],
        by_tractions: &DeviceBuffer<f64>,
        [by_depths, by_mus]: [&DeviceBuffer<f64>; 2],
    ) -> Result<SideStream, GpuError> {
        let side = SideStream::new(&self.gpu, self.solver("solve_adjoint", size, members.len())?, members)?;
        let (members, queue, stream) = side.work();
        let solver = &side.solver;
        let (size, largest) = (solver.spectra.len() as i32 - 1, &solver.spectra[solver.spectra.len() - 1]);
        // SAFETY: the regions of these presses fit the size; each block has its own buffers and plane.
        unsafe {
            launch_on!(
                self.gpu, stream, solver.kernel, solver.config; &self.grid, &solver.transforms.at(0), &size, &largest.half,
                &solver.in_shared, &solver.tile_lines, &members, &queue, &chunk.depths.at(0), &chunk.covered.at(0),
                &chunk.tractions.at(0), &chunk.surfaces.at(0), &chunk.regions.at(0), &largest.inverse.at(0),
                &solver.buffers.at_mut(0), &solver.planes.at_mut(0), &by_tractions.at(0), &by_depths.at_mut(0), &by_mus.at_mut(0)
            )?;
        }
        Ok(side)
    }
}
