//! One step of springs in many environments on the GPU.

use super::bindings::{Bindings, BodyArrays};
use super::objects::BoundObjects;
use super::skin_steps::{ReadBodies, SkinSteps};
use super::view::View;
use crate::array::{Arrays, Poses, Presses, Springs, Twists};
use crate::cuda_struct::{Ptr, PtrMut, cuda_struct};
use crate::memory::launch_on;
use crate::object::{ObjectView, SingleObject, SurfaceKind};
use crate::precision::Scalar;
use crate::{DeviceBuffer, Gpu, GpuError, GpuObject, Precision};
use cudarc::driver::CudaFunction;
use dermis_geometry::Vec3;
use std::sync::Arc;

/// Environments per block, one warp each; as in the kernel.
const WARPS: usize = 8;
const THREADS: usize = 32 * WARPS;
/// Size (bytes) of the buffer for forces of springs before they are summed over taxels.
const SCRATCH_BYTES: usize = 1 << 29;

cuda_struct! {
    /// The memory of all environments.
    pub(crate) struct Memory<Scalar> {
        /// Deflection (m) and contact normal of each spring, (environments, springs, 6).
        bristles: PtrMut<Scalar>,
        /// One bit per spring that touched in the last step, (environments, groups of 32 springs).
        touching: PtrMut<u32>,
        /// Triangle of a mesh that each spring touched last, and the object if there are several, (environments, springs).
        triangles: PtrMut<u32>,
        /// Status bits, (environments).
        status: PtrMut<u32>,
        /// Outputs of one step, or null: numbers of contact points, and of those beyond the skin's range, (environments).
        points: PtrMut<u32>,
        saturated: PtrMut<u32>,
    }
}

/// Springs of `count` environments without contact.
pub(super) fn spring_steps(
    arrays: &Arrays,
    shapes: &[Arc<GpuObject>],
    count: usize,
    status: PtrMut<u32>,
    precision: Precision,
) -> Result<Box<dyn SkinSteps>, GpuError> {
    let springs = arrays.springs()?;
    Ok(match precision {
        Precision::Double => {
            let views = shapes.iter().map(|shape| *shape.view()).collect();
            Box::new(Steps::new(Arc::clone(springs), shapes, views, Vec::new(), count, status)?)
        }
        Precision::Single => {
            let rounded = shapes.iter().map(|shape| shape.in_single()).collect::<Result<Vec<_>, _>>()?;
            let views = rounded.iter().map(|shape| shape.view).collect();
            Box::new(Steps::new(Arc::new(springs.in_single()?), shapes, views, rounded, count, status)?)
        }
    })
}

/// Springs of many environments and their history, in numbers of one precision.
#[derive(Debug)]
struct Steps<S> {
    gpu: Arc<Gpu>,
    springs: Arc<Springs<S>>,
    shapes: Vec<Arc<GpuObject>>,
    /// The shapes in this precision, and their buffers.
    views: Vec<ObjectView<S>>,
    _rounded: Vec<SingleObject>,
    count: usize,
    memory: Memory<S>,
    /// Steps with one object of the first shape.
    step: CudaFunction,
    /// Steps with several objects, or objects of different shapes, and the views of all shapes.
    step_objects: Option<(CudaFunction, DeviceBuffer<ObjectView<S>>)>,
    has_own_parameters: bool,
    sum: CudaFunction,
    reset: CudaFunction,
    /// Bounding spheres of every 32 springs and their rays, (groups, 4).
    spheres: DeviceBuffer<S>,
    /// Forces of springs of the environments that are processed at once, if taxels are sums over springs.
    scratch: Option<DeviceBuffer<S>>,
    at_once: usize,
    /// Zeros, for the points of velocities at the sensor's origin.
    zeros: DeviceBuffer<f64>,
    _numbers: DeviceBuffer<S>,
    flags: [DeviceBuffer<u32>; 2],
}

impl<S: Scalar> Steps<S> {
    fn new(
        springs: Arc<Springs<S>>,
        shapes: &[Arc<GpuObject>],
        views: Vec<ObjectView<S>>,
        rounded: Vec<SingleObject>,
        count: usize,
        status: PtrMut<u32>,
    ) -> Result<Self, GpuError> {
        let (gpu, vector_bytes) = (springs.gpu(), 3 * size_of::<S>());
        let (sites, groups) = (springs.sites, springs.sites.div_ceil(32));
        let has_triangles = shapes.len() > 1 || shapes[0].cast_kind == SurfaceKind::Mesh;
        let each =
            super::gpu::BODY_BYTES + 2 * vector_bytes * sites + 4 * groups + if has_triangles { 4 * sites } else { 0 };
        let at_once = if springs.weights.is_some() {
            (SCRATCH_BYTES / (vector_bytes * sites)).clamp(1, count.max(1))
        } else {
            count
        };
        let scratch_bytes = if springs.weights.is_some() { vector_bytes * sites * at_once } else { 0 };
        gpu.require_free(
            each * count + scratch_bytes,
            || format!("the history of {count} environments of {sites} springs"),
            |free_bytes| format!("at most {} fit", free_bytes.saturating_sub(scratch_bytes) / each),
        )?;
        let numbers = gpu.uninitialised(6 * count * sites)?;
        let flags = [gpu.zeros(count * groups)?, gpu.zeros(if has_triangles { count * sites } else { 0 })?];
        let memory = Memory {
            bristles: numbers.at_mut(0),
            touching: flags[0].at_mut(0),
            triangles: flags[1].at_mut(0),
            status,
            points: PtrMut::default(),
            saturated: PtrMut::default(),
        };
        let program = springs.step_program(&shapes[0], false);
        Ok(Self {
            gpu: Arc::clone(gpu),
            shapes: shapes.to_vec(),
            views,
            _rounded: rounded,
            count,
            memory,
            step: gpu.kernel(&program, "step")?,
            step_objects: None,
            has_own_parameters: false,
            sum: gpu.kernel(&program, "sum_over_taxels")?,
            reset: gpu.kernel(&program, "reset")?,
            spheres: gpu.upload(&S::all_rounded(&springs.spheres))?,
            scratch: springs.weights.as_ref().map(|_| gpu.uninitialised(3 * sites * at_once)).transpose()?,
            at_once: at_once.max(1),
            zeros: gpu.zeros(3)?,
            _numbers: numbers,
            flags,
            springs,
        })
    }

    /// Loads the kernel for several objects and different shapes.
    fn load_step_objects(&mut self) -> Result<(), GpuError> {
        let levels = self.shapes.iter().map(|shape| shape.levels).max().unwrap_or(0);
        let program = self.springs.objects_program(levels, self.has_own_parameters);
        let kernel = self.gpu.kernel(&program, "step_objects")?;
        if self.flags[1].is_empty() {
            // No contact has had an object other than the first so far.
            self.flags[1] = self.gpu.zeros(self.count * self.springs.sites)?;
            self.memory.triangles = self.flags[1].at_mut(0);
        }
        self.step_objects = Some((kernel, self.gpu.upload(&self.views)?));
        Ok(())
    }

    unsafe fn enqueue_with(
        &self,
        memory: Memory<S>,
        bindings: &Bindings,
        objects: Option<&BoundObjects>,
        bodies: Ptr<f64>,
        parameters: Ptr<f64>,
        stream: usize,
    ) -> Result<(), GpuError> {
        let (springs, dt_s) = (&*self.springs, S::rounded(bindings.dt_s));
        for first in (0..self.count).step_by(self.at_once) {
            let part = self.at_once.min(self.count - first);
            let (start, length) = (first as u32, part as u32);
            let forces = self.scratch.as_ref().map_or(PtrMut::default(), |scratch| scratch.at_mut(0));
            // SAFETY: the caller guarantees the bound arrays; the others have the lengths given in the kernel's comment.
            unsafe {
                match (objects, &self.step_objects) {
                    (Some(objects), Some((step, shapes))) => launch_on!(
                        self.gpu, stream, step, (part.div_ceil(WARPS), THREADS);
                        &springs.skin, &shapes.at(0), &objects.arrays(), &(objects.count() as u32), bindings, &memory, &bodies,
                        &self.spheres.at(0), &dt_s, &start, &length, &forces, &parameters
                    )?,
                    _ => launch_on!(
                        self.gpu, stream, self.step, (part.div_ceil(WARPS), THREADS);
                        &springs.skin, &self.views[0], bindings, &memory, &bodies, &self.spheres.at(0), &dt_s, &start, &length,
                        &forces, &parameters
                    )?,
                }
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
        springs: &Springs<S>,
        bindings: &Bindings,
        scratch: &DeviceBuffer<S>,
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
}

impl<S: Scalar> SkinSteps for Steps<S> {
    fn touching(&self) -> Ptr<u32> {
        // Without sums over springs each spring is a taxel.
        if self.scratch.is_none() { Ptr::new(self.memory.touching.0) } else { Ptr::default() }
    }

    fn has_friction(&self) -> bool {
        self.springs.has_friction()
    }

    fn use_own_parameters(&mut self) -> Result<(), GpuError> {
        self.has_own_parameters = true;
        let program = self.springs.step_program(&self.shapes[0], true);
        self.step = self.gpu.kernel(&program, "step")?;
        if self.step_objects.is_some() { self.load_step_objects() } else { Ok(()) }
    }

    fn use_objects(&mut self, _count: usize) -> Result<(), GpuError> {
        self.load_step_objects()
    }

    unsafe fn enqueue(
        &self,
        bindings: &Bindings,
        objects: Option<&BoundObjects>,
        bodies: Ptr<f64>,
        parameters: Ptr<f64>,
        stream: usize,
    ) -> Result<(), GpuError> {
        // SAFETY: the caller guarantees the arrays.
        unsafe { self.enqueue_with(self.memory, bindings, objects, bodies, parameters, stream) }
    }

    unsafe fn reset(&self, mask: &View, stream: usize) -> Result<(), GpuError> {
        let [groups, count] = [self.springs.sites.div_ceil(32), self.count].map(|number| number as u32);
        // SAFETY: the caller guarantees the mask.
        unsafe {
            launch_on!(
                self.gpu, stream, self.reset, (self.count.div_ceil(THREADS).max(1), THREADS);
                mask, &self.memory, &groups, &count
            )
        }
    }

    fn step(
        &self,
        poses: &Poses,
        twists: &Twists,
        dt_s: f64,
        read: ReadBodies<'_>,
    ) -> Result<Option<Presses>, GpuError> {
        let springs = &*self.springs;
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
        let stream = self.gpu.stream_handle();
        let [bodies, parameters] = read(&bindings, stream)?;
        // SAFETY: the arrays have a row per environment, and one stream orders the work with their release.
        unsafe { self.enqueue_with(memory, &bindings, None, bodies, parameters, stream)? };
        Ok(Some(outputs))
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
