//! Springs of many environments on the GPU. A launch only enqueues kernels: no allocation, no copy, no synchronisation.

use super::bindings::{Bindings, BodyArrays};
use super::randomisation::{self, PARAMETERS, Randomisation};
use super::response::GpuResponse;
use super::view::View;
use crate::array::{Arrays, Poses, Presses, Springs, Twists};
use crate::cuda_struct::{Ptr, PtrMut, cuda_struct};
use crate::memory::launch_on;
use crate::object::SurfaceKind;
use crate::{DeviceBuffer, Gpu, GpuError, GpuObject};
use cudarc::driver::CudaFunction;
use dermis_geometry::Vec3;
use std::sync::Arc;

/// Environments per block, one warp each; as in the kernel.
const WARPS: usize = 8;
const THREADS: usize = 32 * WARPS;
/// Threads per block that read bodies, one per environment.
const READ_THREADS: usize = 64;
/// Numbers per environment in the struct `Bodies` of the kernels.
const BODIES_NUMBERS: usize = 24;
/// Size (bytes) of the buffer for forces of springs before they are summed over taxels.
const SCRATCH_BYTES: usize = 1 << 29;

cuda_struct! {
    /// The memory of all environments.
    pub(crate) struct Memory {
        /// Deflection (m) and contact normal of each spring, (environments, springs, 6).
        bristles: PtrMut<f64>,
        /// One bit per spring that touched in the last step, (environments, groups of 32 springs).
        touching: PtrMut<u32>,
        /// Triangle of a mesh that each spring touched last, (environments, springs).
        triangles: PtrMut<u32>,
        /// Status bits, (environments).
        status: PtrMut<u32>,
        /// Outputs of one step, or null: numbers of contact points, and of those beyond the skin's range, (environments).
        points: PtrMut<u32>,
        saturated: PtrMut<u32>,
    }
}

/// Many simulations of one sensor with springs on the GPU, each with one object.
#[derive(Debug)]
pub(super) struct GpuEnvironments {
    gpu: Arc<Gpu>,
    arrays: Arc<Arrays>,
    object: Arc<GpuObject>,
    count: usize,
    memory: Memory,
    read: CudaFunction,
    step: CudaFunction,
    sum: CudaFunction,
    reset: CudaFunction,
    /// What the step needs of the bodies, ([`BODIES_NUMBERS`] per environment).
    bodies: DeviceBuffer<f64>,
    /// Bounding spheres of every 32 springs and their rays, (groups, 4).
    spheres: DeviceBuffer<f64>,
    /// Forces of springs of the environments that are processed at once, if taxels are sums over springs.
    scratch: Option<DeviceBuffer<f64>>,
    at_once: usize,
    /// Present once readings are bound.
    response: Option<GpuResponse>,
    random: Option<Random>,
    status: DeviceBuffer<u32>,
    /// Zeros, for the points of velocities at the sensor's origin.
    zeros: DeviceBuffer<f64>,
    _numbers: DeviceBuffer<f64>,
    _flags: [DeviceBuffer<u32>; 2],
}

/// Parameters that differ.
#[derive(Debug)]
struct Random {
    ranges: Randomisation,
    redraw: CudaFunction,
    /// (environments, [`PARAMETERS`]).
    parameters: DeviceBuffer<f64>,
    resets: DeviceBuffer<u64>,
}

impl GpuEnvironments {
    pub fn new(arrays: &Arc<Arrays>, object: &Arc<GpuObject>, count: usize) -> Result<Self, GpuError> {
        let (gpu, springs) = (arrays.gpu(), arrays.springs()?);
        let (sites, groups) = (springs.sites, springs.sites.div_ceil(32));
        let is_mesh = object.cast_kind == SurfaceKind::Mesh;
        let each = 8 * BODIES_NUMBERS + 48 * sites + 4 * groups + 4 + if is_mesh { 4 * sites } else { 0 };
        let at_once =
            if springs.weights.is_some() { (SCRATCH_BYTES / (24 * sites)).clamp(1, count.max(1)) } else { count };
        let scratch_bytes = if springs.weights.is_some() { 24 * sites * at_once } else { 0 };
        gpu.require_free(
            each * count + scratch_bytes,
            || format!("the history of {count} environments of {sites} springs"),
            |free_bytes| format!("at most {} fit", free_bytes.saturating_sub(scratch_bytes) / each),
        )?;
        let numbers = gpu.uninitialised(6 * count * sites)?;
        let flags = [gpu.zeros(count * groups)?, gpu.uninitialised(if is_mesh { count * sites } else { 0 })?];
        let status = gpu.zeros(count)?;
        let memory = Memory {
            bristles: numbers.at_mut(0),
            touching: flags[0].at_mut(0),
            triangles: flags[1].at_mut(0),
            status: status.at_mut(0),
            points: PtrMut::default(),
            saturated: PtrMut::default(),
        };
        let program = springs.step_program(object, false);
        let made = Self {
            gpu: Arc::clone(gpu),
            arrays: Arc::clone(arrays),
            object: Arc::clone(object),
            count,
            memory,
            read: gpu.kernel(&program, "read_bodies")?,
            step: gpu.kernel(&program, "step")?,
            sum: gpu.kernel(&program, "sum_over_taxels")?,
            reset: gpu.kernel(&program, "reset")?,
            bodies: gpu.uninitialised(BODIES_NUMBERS * count)?,
            spheres: gpu.upload(&springs.spheres)?,
            scratch: springs.weights.as_ref().map(|_| gpu.uninitialised(3 * sites * at_once)).transpose()?,
            at_once: at_once.max(1),
            response: None,
            random: None,
            status,
            zeros: gpu.zeros(3)?,
            _numbers: numbers,
            _flags: flags,
        };
        // Other streams may use the memory now.
        gpu.finish()?;
        Ok(made)
    }

    /// Gives every environment parameters of its own.
    pub fn randomise(&mut self, ranges: Randomisation) -> Result<(), GpuError> {
        let springs = self.arrays.springs()?;
        ranges.check(self.arrays.chain(), springs.has_friction())?;
        let program = springs.step_program(&self.object, true);
        self.read = self.gpu.kernel(&program, "read_bodies")?;
        self.step = self.gpu.kernel(&program, "step")?;
        let random = Random {
            ranges,
            redraw: self.gpu.kernel(&randomisation::program(), "redraw")?,
            parameters: self.gpu.uninitialised(PARAMETERS * self.count)?,
            resets: self.gpu.zeros(self.count)?,
        };
        self.random = Some(random);
        // SAFETY: without a mask no array is read.
        unsafe { self.redraw(&View::default(), self.gpu.stream_handle())? };
        self.gpu.finish()
    }

    /// The parameters of every environment; empty if they are those of the sensor.
    pub fn parameters(&self) -> Result<Vec<f64>, GpuError> {
        self.gpu.finish_all_streams()?;
        self.random.as_ref().map_or(Ok(Vec::new()), |random| random.parameters.download())
    }

    /// Prepares the response if its readings are bound.
    pub fn prepare(&mut self, bindings: &Bindings) -> Result<(), GpuError> {
        let dt_s = bindings.dt_s;
        match &self.response {
            _ if !bindings.reported.is_bound() => Ok(()),
            Some(response) if response.dt_s() == dt_s => Ok(()),
            Some(response) => {
                let reason = format!(
                    "`dt` must stay {} s while `reported` is bound, got {dt_s} s: make new environments",
                    response.dt_s()
                );
                Err(GpuError::BadInput { reason })
            }
            None => {
                let unsupported = || GpuError::Unsupported {
                    what: format!("the response of sensor {:?}", self.arrays.sensor()),
                    why: "one of its stages has no form for a GPU".to_owned(),
                };
                let operations = self.arrays.chain().operations().ok_or_else(unsupported)?;
                let taxels = self.arrays.springs()?.taxels;
                self.response = Some(GpuResponse::new(&self.gpu, &operations, taxels, self.count, dt_s)?);
                Ok(())
            }
        }
    }

    unsafe fn redraw(&self, mask: &View, stream: usize) -> Result<(), GpuError> {
        let Some(random) = &self.random else { return Ok(()) };
        // SAFETY: the caller guarantees the mask; the buffers have a row per environment.
        unsafe {
            launch_on!(
                self.gpu, stream, random.redraw, (self.count.div_ceil(THREADS).max(1), THREADS);
                mask, &random.ranges, &random.parameters.at_mut(0), &random.resets.at_mut(0), &(self.count as u32)
            )
        }
    }

    /// Enqueues a step of all environments on a stream, given by CUDA's handle.
    ///
    /// # Safety
    /// The bound arrays are alive until the work is done, in the memory of this GPU, and have a row per environment.
    pub unsafe fn launch(&self, bindings: &Bindings, stream: usize) -> Result<(), GpuError> {
        let Some(response) = self.response.as_ref().filter(|_| bindings.reported.is_bound()) else {
            // SAFETY: the caller guarantees the arrays.
            return unsafe { self.enqueue(bindings, self.memory, stream) };
        };
        let stepped = response.with_loads(bindings);
        // SAFETY: as above; the loads of the response have a row per environment.
        unsafe {
            self.enqueue(&stepped, self.memory, stream)?;
            response.launch(bindings, &stepped, self.own_parameters(), stream)
        }
    }

    fn own_parameters(&self) -> Ptr<f64> {
        self.random.as_ref().map_or(Ptr::default(), |random| random.parameters.at(0))
    }

    unsafe fn enqueue(&self, bindings: &Bindings, memory: Memory, stream: usize) -> Result<(), GpuError> {
        let springs = self.arrays.springs()?;
        let has_reading = bindings.reported.is_bound();
        let clocks = self.response.as_ref().filter(|_| has_reading).map_or(PtrMut::default(), GpuResponse::clocks);
        let parameters = self.own_parameters();
        // SAFETY: the caller guarantees the bound arrays; the buffer has room for all environments.
        unsafe {
            launch_on!(
                self.gpu, stream, self.read, (self.count.div_ceil(READ_THREADS).max(1), READ_THREADS);
                bindings, &self.bodies.at_mut(0), &clocks, &parameters, &(self.count as u32)
            )?;
        }
        for first in (0..self.count).step_by(self.at_once) {
            let part = self.at_once.min(self.count - first);
            let (start, length) = (first as u32, part as u32);
            let forces = self.scratch.as_ref().map_or(PtrMut::default(), |scratch| scratch.at_mut(0));
            // SAFETY: the caller guarantees the bound arrays; the others have the lengths given in the kernel's comment.
            unsafe {
                launch_on!(
                    self.gpu, stream, self.step, (part.div_ceil(WARPS), THREADS);
                    &springs.skin, self.object.view(), bindings, &memory, &self.bodies.at(0), &self.spheres.at(0), &start, &length, &forces,
                    &parameters
                )?;
            }
            if let Some(scratch) = &self.scratch {
                // SAFETY: as above; the indices of the matrix are below the number of springs.
                unsafe { self.sum_over_taxels(springs, bindings, scratch, first, part, stream)? };
            }
        }
        Ok(())
    }

    unsafe fn sum_over_taxels(
        &self,
        springs: &Springs,
        bindings: &Bindings,
        scratch: &DeviceBuffer<f64>,
        first: usize,
        part: usize,
        stream: usize,
    ) -> Result<(), GpuError> {
        let Some(matrix) = &springs.weights else { return Ok(()) };
        let [taxels, sites, first, length] = [springs.taxels, springs.sites, first, part].map(|number| number as u32);
        let blocks = (part * (springs.taxels + 1)).div_ceil(THREADS);
        // SAFETY: the caller guarantees the bound arrays.
        unsafe {
            launch_on!(
                self.gpu, stream, self.sum, (blocks, THREADS);
                &matrix.starts.at(0), &matrix.sites.at(0), &matrix.weights.at(0), &taxels, &sites, &first, &length,
                &scratch.at(0), &springs.normals.at(0), &bindings.forces, &bindings.taxels, &bindings.outside
            )
        }
    }

    /// Enqueues the end of all contact, and of the status, where the mask is not zero.
    ///
    /// # Safety
    /// The mask is alive until the work is done, in the memory of this GPU, and has an element per environment.
    pub unsafe fn reset(&self, mask: &View, stream: usize) -> Result<(), GpuError> {
        let [groups, count] = [self.arrays.springs()?.sites.div_ceil(32), self.count].map(|number| number as u32);
        // SAFETY: the caller guarantees the mask.
        unsafe {
            launch_on!(
                self.gpu, stream, self.reset, (self.count.div_ceil(THREADS).max(1), THREADS);
                mask, &self.memory, &groups, &count
            )?;
            self.redraw(mask, stream)?;
            self.response.as_ref().map_or(Ok(()), |response| response.reset(mask, stream))
        }
    }

    /// Waits until all streams are done.
    pub fn finish(&self) -> Result<(), GpuError> {
        self.gpu.finish_all_streams()
    }

    /// The status bits, after all work of the GPU is done.
    pub fn status(&self) -> Result<Vec<u32>, GpuError> {
        self.gpu.finish_all_streams()?;
        self.status.download()
    }

    /// Steps all environments at given poses and velocities, and returns all loads. Allocates their memory.
    pub fn step(&self, poses: &Poses, twists: &Twists, dt_s: f64) -> Result<Presses, GpuError> {
        let springs = self.arrays.springs()?;
        let outputs = Presses::allocate(&self.gpu, self.count, springs.taxels, 0)?;
        let object = BodyArrays {
            twist_at: View::of_rows(&self.zeros, 0),
            ..BodyArrays::of_poses(&poses.values, &twists.values)
        };
        let mut bindings = Bindings::new(dt_s);
        bindings.object = object;
        bindings.taxels = View::of_rows(&outputs.values_newton, springs.taxels);
        bindings.forces = View::of_vectors(&outputs.forces_newton, springs.taxels);
        bindings.wrench = View::of_rows(&outputs.wrench, 6);
        bindings.outside = View::of_rows(&outputs.outside_newton, 3);
        let memory = Memory { points: outputs.points.at_mut(0), saturated: outputs.saturated.at_mut(0), ..self.memory };
        // SAFETY: the arrays have a row per environment, and one stream orders the work with their release.
        unsafe { self.enqueue(&bindings, memory, self.gpu.stream_handle())? };
        Ok(outputs)
    }
}

impl Drop for GpuEnvironments {
    fn drop(&mut self) {
        // Work on streams of other libraries may still use the memory.
        let _ = self.gpu.finish_all_streams();
    }
}

impl View {
    /// Rows of `width` numbers in a buffer.
    pub(crate) fn of_rows(buffer: &DeviceBuffer<f64>, width: usize) -> Self {
        Self::new(buffer.address(), &[width as i64, 1], super::Element::F64)
    }

    /// Rows of `count` vectors in a buffer.
    pub(crate) fn of_vectors(buffer: &DeviceBuffer<f64>, count: usize) -> Self {
        Self::new(buffer.address(), &[3 * count as i64, 3, 1], super::Element::F64)
    }
}

impl BodyArrays {
    /// Poses (position, quaternion x, y, z, w) and velocities in buffers.
    fn of_poses(poses: &DeviceBuffer<f64>, twists: &DeviceBuffer<f64>) -> Self {
        let rotation = View::new(poses.address() + 24, &[7, 1], super::Element::F64);
        Self {
            position: View::of_rows(poses, 7),
            rotation,
            twist: View::of_rows(twists, 6),
            offset: super::NO_OFFSET,
            rotation_format: super::RotationFormat::QuaternionWLast as i32,
            ..Self::default()
        }
    }
}

/// Bounding spheres (centre, radius, m) of every 32 springs with their rays: from the point along −normal for `depth_m`.
pub(crate) fn bounding_spheres(sites: &[(Vec3, Vec3)], depth_m: f64) -> Vec<f64> {
    let sphere = |group: &[(Vec3, Vec3)]| {
        let ends: Vec<_> = group.iter().flat_map(|(point, normal)| [*point, *point - *normal * depth_m]).collect();
        let bounds = ends.iter().fold((ends[0], ends[0]), |(low, high), end| (low.min(*end), high.max(*end)));
        let center = (bounds.0 + bounds.1) * 0.5;
        let radius = ends.iter().map(|end| (*end - center).length()).fold(0.0, f64::max);
        [center.x, center.y, center.z, radius]
    };
    sites.chunks(32).flat_map(sphere).collect()
}
