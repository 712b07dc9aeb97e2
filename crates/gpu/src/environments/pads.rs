//! One step of pressure fields in many environments on the GPU.

use super::bindings::{Bindings, BodyArrays, ObjectArrays};
use super::objects::{BoundObjects, MAX_OBJECTS};
use super::skin_steps::SkinSteps;
use super::view::View;
use crate::array::{
    Arrays, FRICTION, FrictionLaw, LawPiece, PAD_CONTACT, PAD_TAXELS, PadField, PadSkin, Pads, Tetrahedron, limits,
    unsupported,
};
use crate::cuda_struct::{Ptr, PtrMut, cuda_struct};
use crate::memory::launch_on;
use crate::object::ObjectView;
use crate::program::{COMMON, Program, UNFUSED};
use crate::{DeviceBuffer, Gpu, GpuError, GpuObject};
use cudarc::driver::{CudaFunction, LaunchConfig};
use std::sync::Arc;

const SOURCE: &[&str] = &[
    COMMON,
    ObjectView::CUDA,
    Tetrahedron::CUDA,
    LawPiece::CUDA,
    PadField::CUDA,
    FrictionLaw::CUDA,
    PadSkin::CUDA,
    View::CUDA,
    BodyArrays::CUDA,
    ObjectArrays::CUDA,
    Bindings::CUDA,
    BristlePatch::CUDA,
    PadMemory::CUDA,
    include_str!("../cuda/view.cuh"),
    super::RANDOMISATION,
    super::FRAMES,
    FRICTION,
    include_str!("bristles.cuh"),
    PAD_TAXELS,
    PAD_CONTACT,
    include_str!("pads.cu"),
];
/// Threads per block that reset environments, one each.
const THREADS: usize = 256;
/// Corners per polygon for which there is memory.
const CORNERS_EACH: usize = 5;

/// The kernels with or without bristles that have a history, over a grid of taxels or over taxels at points.
fn program(has_bristles: bool, has_points: bool) -> Program {
    let name = match (has_bristles, has_points) {
        (false, false) => "pads-steps",
        (true, false) => "pads-bristle-steps",
        (false, true) => "pads-points-steps",
        (true, true) => "pads-points-bristle-steps",
    };
    let bristles = format!("-DBRISTLES={}", i32::from(has_bristles));
    let [stack, corners, points] = limits(has_points);
    Program::new(name, SOURCE, &["-DIN_TIME=1", &bristles, &stack, &corners, &points, UNFUSED])
}

#[cfg(test)]
pub(super) fn programs() -> Vec<Program> {
    [(false, false), (true, false), (false, true), (true, true)]
        .map(|(bristles, points)| program(bristles, points))
        .to_vec()
}

cuda_struct! {
    /// A polygon of a contact surface whose bristles are remembered.
    struct BristlePatch {
        /// Triangle (upper 32 bits), tetrahedron and piece of the pressure law from which it was cut.
        key: u64,
        /// Normal, out of the sensor.
        normal: [f64; 3],
        /// Mean of the corners (m), and twice the largest distance (m) of a corner from it.
        middle: [f64; 3],
        width: f64,
        object: u32,
        /// Index of the first corner, and number of corners.
        first: u32,
        count: u32,
        unused: u32,
    }
}

cuda_struct! {
    /// The memory of all environments. Bristles are null without LuGre friction.
    struct PadMemory {
        /// Polygons of the last step and of this one, (environments, 2, `patch_capacity`).
        patches: PtrMut<BristlePatch>,
        /// Position (m) and deflection (m) of their corners, (environments, 2, `corner_capacity`, 6).
        corners: PtrMut<f64>,
        /// Hash table of the polygons of the last step, (environments, `table_capacity`).
        table: PtrMut<u32>,
        /// Which of the two lists is that of the last step, and its number of polygons, (environments).
        turns: PtrMut<u32>,
        counts: PtrMut<u32>,
        /// Status bits, (environments).
        status: PtrMut<u32>,
        patch_capacity: u32,
        corner_capacity: u32,
        /// A power of two, at least twice the number of polygons.
        table_capacity: u32,
        unused: u32,
    }
}

/// Pressure fields of many environments and their history.
#[derive(Debug)]
pub(super) struct PadSteps {
    gpu: Arc<Gpu>,
    _arrays: Arc<Arrays>,
    _shapes: Vec<Arc<GpuObject>>,
    views: DeviceBuffer<ObjectView>,
    count: usize,
    field: PadField,
    skin: PadSkin,
    memory: PadMemory,
    step: CudaFunction,
    reset: CudaFunction,
    config: LaunchConfig,
    _patches: DeviceBuffer<BristlePatch>,
    _corners: DeviceBuffer<f64>,
    _indices: [DeviceBuffer<u32>; 3],
}

impl PadSteps {
    /// Untouched environments of the sensor of `arrays` with the field `pads`, with memory for so many polygons or an estimate.
    pub fn new(
        arrays: &Arc<Arrays>,
        pads: &Pads,
        shapes: &[Arc<GpuObject>],
        count: usize,
        max_polygons: Option<usize>,
        status: PtrMut<u32>,
    ) -> Result<Self, GpuError> {
        let gpu = arrays.gpu();
        if shapes.iter().any(|shape| !shape.is_rigid) {
            let why = "an object is compliant, and hydroelastic skins take rigid objects on a GPU";
            return Err(unsupported(arrays.sensor(), why));
        }
        let has_bristles = pads.skin.friction.remembers != 0;
        let most = || shapes.iter().map(|shape| estimated_polygons(pads, shape)).max().unwrap_or(0);
        let patches = if has_bristles { max_polygons.unwrap_or_else(most) } else { 0 };
        let (corners, table) = (CORNERS_EACH * patches, (2 * patches).next_power_of_two().max(32));
        let table = if has_bristles { table } else { 0 };
        let each = super::gpu::BODY_BYTES + 2 * (size_of::<BristlePatch>() * patches + 48 * corners) + 4 * table + 8;
        gpu.require_free(
            each * count,
            || format!("the history of {count} environments of {patches} polygons"),
            |free_bytes| format!("at most {} fit", free_bytes / each),
        )?;
        let (patch_buffer, corner_buffer) =
            (gpu.uninitialised(2 * patches * count)?, gpu.uninitialised(12 * corners * count)?);
        let per_environment = if has_bristles { count } else { 0 };
        let indices = [gpu.uninitialised(table * count)?, gpu.zeros(per_environment)?, gpu.zeros(per_environment)?];
        let memory = PadMemory {
            patches: patch_buffer.at_mut(0),
            corners: corner_buffer.at_mut(0),
            table: indices[0].at_mut(0),
            turns: indices[1].at_mut(0),
            counts: indices[2].at_mut(0),
            status,
            patch_capacity: patches as u32,
            corner_capacity: corners as u32,
            table_capacity: table as u32,
            unused: 0,
        };
        let step = gpu.kernel(&program(has_bristles, pads.has_points), "step_pads")?;
        let area_m2 = shapes.iter().map(|shape| shape.area_m2).fold(0.0, f64::max) * MAX_OBJECTS as f64;
        Ok(Self {
            gpu: Arc::clone(gpu),
            views: gpu.upload(&shapes.iter().map(|shape| *shape.view()).collect::<Vec<_>>())?,
            count,
            field: pads.field_for(area_m2),
            skin: pads.skin,
            memory,
            reset: gpu.kernel(&program(has_bristles, pads.has_points), "reset_pads")?,
            config: pads.launch_config(&step, count)?,
            step,
            _arrays: Arc::clone(arrays),
            _shapes: shapes.to_vec(),
            _patches: patch_buffer,
            _corners: corner_buffer,
            _indices: indices,
        })
    }
}

impl SkinSteps for PadSteps {
    unsafe fn enqueue(
        &self,
        bindings: &Bindings,
        objects: Option<&BoundObjects>,
        bodies: Ptr<f64>,
        parameters: Ptr<f64>,
        stream: usize,
    ) -> Result<(), GpuError> {
        if self.count == 0 {
            return Ok(());
        }
        let arrays = objects.map_or(Ptr::default(), BoundObjects::arrays);
        let of_environment = objects.map_or(1, BoundObjects::count) as u32;
        // SAFETY: the caller guarantees the bound arrays; the others have the lengths given in the kernel's comment.
        unsafe {
            launch_on!(
                self.gpu, stream, self.step, self.config; &self.field, &self.skin, &self.views.at(0), &arrays, &of_environment, bindings,
                &self.memory, &bodies, &parameters, &(self.count as u32)
            )
        }
    }

    unsafe fn reset(&self, mask: &View, stream: usize) -> Result<(), GpuError> {
        // SAFETY: the caller guarantees the mask.
        unsafe {
            launch_on!(
                self.gpu, stream, self.reset, (self.count.div_ceil(THREADS).max(1), THREADS); mask, &self.memory, &(self.count as u32)
            )
        }
    }
}

/// Number of polygons for which there is memory: all pairs of a triangle and a tetrahedron, if they are few. Of a mesh with many triangles, at most
/// those up to the depth of the field are in contact, and of many tetrahedra those near a surface.
fn estimated_polygons(pads: &Pads, shape: &GpuObject) -> usize {
    let (triangles, pieces) = (shape.view().triangles as usize, pads.pieces());
    let inside = triangles as f64 * (pads.depth_m / shape.thickness_m).min(1.0);
    let crossed = pieces as f64 * (64.0 + 16.0 * (pads.tets as f64).powf(2.0 / 3.0));
    (triangles * pads.tets * pieces).min((inside + crossed).ceil() as usize)
}
