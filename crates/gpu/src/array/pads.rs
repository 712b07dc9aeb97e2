//! Pads with a pressure field, on the GPU.

use super::description::{PadDescription, Tetrahedron};
use super::poses::Poses;
use super::presses::{Presses, Rooms};
use super::shape::{Shape, Tree};
use super::{UNFUSED, address, upload};
use crate::{Gpu, GpuError};
use cudarc::driver::sys::{CUdevice_attribute, CUfunction_attribute};
use cudarc::driver::{CudaSlice, DeviceRepr, LaunchConfig, PushKernelArg};
use dermis_geometry::{Bounds, Bvh, Vec3};
use std::sync::Arc;

const SOURCE: &str = concat!(include_str!("shape.cu"), include_str!("pads.cu"));
/// Lists of a warp besides its cells (bytes); as in the kernel.
const LIST_BYTES: usize = 4 * (512 + 160 + 2 * 64);
/// Warps of a block at most.
const MAX_WARPS: usize = 4;
/// What a block may have without asking (bytes).
const USUAL_BYTES: usize = 48 << 10;
/// Levels of a hierarchy over tetrahedra whose walk fits into the kernel's stack.
const LEVELS: usize = 15;

/// A pressure field under a grid of taxels, ready to be pressed.
#[derive(Debug)]
pub struct Pads {
    gpu: Arc<Gpu>,
    taxels: usize,
    most_pa: f64,
    tree: Tree,
    stretches: CudaSlice<f64>,
    raw: RawField,
}

/// `Field` of the kernel.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct RawField {
    low: [f64; 3],
    high: [f64; 3],
    center: [f64; 3],
    flat: f64,
    least_area: f64,
    least_cosine: f64,
    deepest: f64,
    pitch: f64,
    height: f64,
    scale: f64,
    nodes: u64,
    tets: u64,
    stretches: u64,
    stretch_count: u32,
    rows: u32,
    cols: u32,
    is_cut: i32,
}

// SAFETY: numbers and addresses, laid out as in C.
#[allow(unsafe_code)]
unsafe impl DeviceRepr for RawField {}

impl Pads {
    /// Puts a pad on the GPU. `depth_m` is how deep the field is.
    pub fn new(gpu: &Arc<Gpu>, description: &PadDescription, depth_m: f64) -> Result<Self, GpuError> {
        let tets = &description.tetrahedra;
        let boxes: Vec<Bounds> = tets.iter().map(|tet| Bounds::around(tet.corners)).collect();
        let bvh = Bvh::over(&boxes);
        if bvh.levels() > LEVELS {
            let what = format!("a pressure field of {} tetrahedra", tets.len());
            return Err(GpuError::Unsupported { what, why: "its hierarchy is too deep for the kernel".into() });
        }
        let numbers: Vec<f64> = bvh.order().iter().flat_map(|&tet| numbers_of(&tets[tet as usize])).collect();
        let tree = Tree::new(gpu, &bvh, &numbers)?;
        let stretches: Vec<f64> =
            description.stretches.iter().flat_map(|s| [s.from, s.to, s.at_pa, s.slope_pa]).collect();
        let stretches = upload(gpu, &stretches)?;
        let raw = RawField {
            low: tree.bounds.min.to_array(),
            high: tree.bounds.max.to_array(),
            center: tree.bounds.center().to_array(),
            flat: 1e-12 * tree.bounds.size().length(),
            least_area: 1e-26 * depth_m * depth_m,
            least_cosine: description.least_cosine.max(-2.0),
            deepest: description.deepest,
            pitch: description.pitch_m,
            height: description.height_m,
            scale: 0.0,
            nodes: address(gpu, &tree.nodes),
            tets: address(gpu, &tree.corners),
            stretches: address(gpu, &stretches),
            stretch_count: description.stretches.len() as u32,
            rows: description.rows as u32,
            cols: description.cols as u32,
            is_cut: i32::from(description.is_cut),
        };
        let taxels = description.rows * description.cols;
        Ok(Self { gpu: Arc::clone(gpu), taxels, most_pa: description.most_pa, tree, stretches, raw })
    }

    /// Holds a rigid object at each pose until nothing changes any more, from rest.
    pub fn settle(&self, shape: &Shape, poses: &Poses) -> Result<Presses, GpuError> {
        let (gpu, count) = (&self.gpu, poses.count);
        let options = ["-DKIND=0", &format!("-DSTACK={}", 3 * LEVELS + 4), UNFUSED];
        let kernel = gpu.program("pads", SOURCE, &options)?.load_function("pads")?;
        let rooms = Rooms::new(gpu, count, self.taxels, 0)?;
        if count == 0 {
            return Ok(rooms.done(gpu, 0, self.taxels));
        }
        let (warps, shared_mem_bytes) = self.shared()?;
        if shared_mem_bytes > USUAL_BYTES {
            let most = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            kernel.set_attribute(most, shared_mem_bytes as i32)?;
        }
        // All of the object's surface under the greatest pressure is less than this many newtons, and fits into 62 bits.
        let most_newton = self.most_pa * shape.area_m2;
        let raw = RawField { scale: (62f64 - most_newton.log2().ceil()).exp2(), ..self.raw };
        let config = LaunchConfig {
            grid_dim: (count.div_ceil(warps) as u32, 1, 1),
            block_dim: (32 * warps as u32, 1, 1),
            shared_mem_bytes: shared_mem_bytes as u32,
        };
        let (n, shape) = (count as u32, shape.raw());
        // SAFETY: the buffers hold `count` presses, and a block has the memory that its warps' cells and lists take.
        #[allow(unsafe_code)]
        unsafe {
            gpu.stream
                .launch_builder(&kernel)
                .arg(&raw)
                .arg(&shape)
                .arg(&poses.values)
                .arg(&n)
                .arg(&rooms.forces)
                .arg(&rooms.values)
                .arg(&rooms.wrench)
                .arg(&rooms.outside)
                .arg(&rooms.saturated)
                .launch(config)?;
        }
        Ok(rooms.done(gpu, count, self.taxels))
    }

    /// How many warps a block has, and how much memory (bytes) they share.
    fn shared(&self) -> Result<(usize, usize), GpuError> {
        let one = 24 * self.taxels + LIST_BYTES;
        if one <= USUAL_BYTES {
            let warps = (USUAL_BYTES / one).min(MAX_WARPS);
            return Ok((warps, warps * one));
        }
        let most =
            self.gpu.context.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        if one > most as usize {
            let what = format!("a pressure field under {} taxels", self.taxels);
            let why = format!("its cells take {one} bytes of shared memory and a block of this GPU has {most}");
            return Err(GpuError::Unsupported { what, why });
        }
        Ok((1, one))
    }

    /// Bytes on the GPU.
    pub fn bytes(&self) -> usize {
        4 * self.tree.nodes.len() + 8 * (self.tree.corners.len() + self.stretches.len())
    }
}

/// 33 numbers, as the kernel has them.
fn numbers_of(tet: &Tetrahedron) -> Vec<f64> {
    let mut numbers: Vec<f64> = tet.corners.iter().flat_map(Vec3::to_array).collect();
    numbers.push(tet.extent);
    numbers.extend(tet.gradient.to_array());
    numbers.push(tet.gradient.length());
    numbers.extend(tet.inward.iter().flat_map(Vec3::to_array));
    numbers.extend(tet.height);
    numbers
}
