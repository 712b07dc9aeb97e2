//! Hydroelastic pads on the GPU.

use super::friction::FrictionLaw;
use super::poses::Poses;
use super::presses::Presses;
use super::unsupported;
use crate::cuda_struct::{Node, Ptr, cuda_struct};
use crate::memory::launch;
use crate::object::{ObjectView, flat};
use crate::program::{COMMON, Program, UNFUSED};
use crate::{DeviceBuffer, Gpu, GpuError, GpuObject};
use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaFunction, LaunchConfig};
use dermis_geometry::{Bounds, Bvh, Vec3};
use dermis_sensor::Sensor;
use dermis_skin::hydroelastic::{Cell, Compliance, DEEPEST, Hydroelastic, PressureFieldShape, TetField};
use std::sync::Arc;

const SOURCE: &[&str] = &[
    COMMON,
    ObjectView::CUDA,
    Tetrahedron::CUDA,
    LawPiece::CUDA,
    PadField::CUDA,
    PAD_TAXELS,
    PAD_CONTACT,
    include_str!("pads.cu"),
];
/// Source of the loads of a field on taxels.
pub(crate) const PAD_TAXELS: &str = include_str!("pad_taxels.cuh");
/// Source of the contact of a mesh with a field, at rest and in time.
pub(crate) const PAD_CONTACT: &str = include_str!("pads.cuh");
/// Size (bytes) of a warp's lists in shared memory, without its taxels; as in the kernel.
const LIST_BYTES: usize = 4 * (512 + 160 + 2 * 64);
/// Maximum number of warps per block.
const MAX_WARPS: usize = 4;
/// Shared memory (bytes) of a block unless a larger size is requested by an attribute.
const DEFAULT_SHARED_BYTES: usize = 48 << 10;
/// Maximum number of levels of a hierarchy of tetrahedra; the kernel's stack is sized for it.
const MAX_LEVELS: usize = 15;
/// Maximum corners of a polygon: three, plus one for each cut by a face (4) or by an end of a piece of the pressure law (2). Parts of polygons on
/// one taxel have up to six more.
const MAX_CORNERS: usize = 10;

/// A pressure field under taxels, on the GPU.
#[derive(Debug)]
pub(crate) struct Pads {
    gpu: Arc<Gpu>,
    pub(crate) taxels: usize,
    max_pa: f64,
    field: PadField,
    /// Friction and dissipation, for steps in time.
    pub(crate) skin: PadSkin,
    /// Number of tetrahedra, and depth (m) of the field.
    pub(crate) tets: usize,
    pub(crate) depth_m: f64,
    /// True if taxels are at points, false if they are a grid.
    pub(crate) has_points: bool,
    /// The buffers that `field` points to.
    _held: (DeviceBuffer<Node>, DeviceBuffer<Tetrahedron>, DeviceBuffer<LawPiece>),
    _points: ([DeviceBuffer<f64>; 2], [DeviceBuffer<u32>; 2]),
}

cuda_struct! {
    /// One tetrahedron of the field; see [`Cell`].
    pub(crate) struct Tetrahedron {
        corners: [f64; 12],
        /// Extent at the first corner.
        extent: f64,
        gradient: [f64; 3],
        /// Norm of the gradient of the extent (1/m).
        slope: f64,
        /// Inward unit normal of the face opposite to each corner, and n·x (m) on that face.
        inward: [f64; 12],
        height: [f64; 4],
        /// Index of the tetrahedron in the mesh.
        name: u32,
        /// Fills the struct to a multiple of 8 bytes.
        unused: u32,
    }
}

cuda_struct! {
    /// A piece of the pressure law: `at_pa` + `slope_pa` (e − `from`) for extents e from `from` to `to`.
    pub(crate) struct LawPiece {
        from: f64,
        to: f64,
        at_pa: f64,
        slope_pa: f64,
    }
}

cuda_struct! {
    /// The field in the layout of the kernel, over a grid of taxels in z = 0, row 0 at +y, or over taxels at points: one row of them.
    pub(crate) struct PadField {
        /// Bounding box of the tetrahedra, and its centre.
        low: [f64; 3],
        high: [f64; 3],
        center: [f64; 3],
        /// Lengths (m) and areas (m²) below these values count as zero.
        flat: f64,
        min_area: f64,
        /// Minimum cosine between a face's normal and the pressure gradient; other faces carry no load.
        min_cosine: f64,
        /// Smallest extent at which a facet counts as saturated.
        saturated_extent: f64,
        /// Pitch (m) of a grid, and reach (m) of a taxel at a point.
        pitch: f64,
        reach: f64,
        /// Taxels measure loads up to this distance (m) above and below z = 0, or above and below the plane through a point; may be infinite.
        height: f64,
        /// Forces are summed as integers in units of 1/scale (N).
        scale: f64,
        nodes: Ptr<Node>,
        /// Tetrahedra, in the order of the leaves.
        tets: Ptr<Tetrahedron>,
        pieces: Ptr<LawPiece>,
        /// Taxels at points: centres (m) and normals, (taxels, 3); the first neighbour of each taxel in the list of neighbours, (taxels + 1); and
        /// that list.
        centers: Ptr<f64>,
        normals: Ptr<f64>,
        neighbour_starts: Ptr<u32>,
        neighbours: Ptr<u32>,
        piece_count: u32,
        rows: u32,
        cols: u32,
        /// 1 if the sensing surface cuts through tetrahedra, else 0.
        is_cut: i32,
    }
}

cuda_struct! {
    /// What a step of a field in time needs beside the field.
    pub(crate) struct PadSkin {
        /// Friction per area of contact.
        pub friction: FrictionLaw,
        /// Hunt–Crossley dissipation d (s/m).
        dissipation: f64,
        /// Largest distance (m) of a point of the field from the sensor's origin.
        reach: f64,
    }
}

/// A pressure field in the layout of the kernels, on the host; the pointers of `field` are null.
pub(crate) struct PadParts {
    field: PadField,
    skin: PadSkin,
    nodes: Vec<Node>,
    /// In the order of the leaves.
    tets: Vec<Tetrahedron>,
    law: Vec<LawPiece>,
    max_pa: f64,
    depth_m: f64,
    /// Taxels at points, as in [`PadField`]; empty for a grid.
    centers: Vec<f64>,
    normals: Vec<f64>,
    neighbour_starts: Vec<u32>,
    neighbours: Vec<u32>,
}

impl PadParts {
    /// Refuses taxels that read by rays and fields that do not consist of tetrahedra.
    pub fn new(pad: &Hydroelastic, sensor: &Sensor) -> Result<Self, GpuError> {
        let refuse = |why: &str| unsupported(sensor.name(), why);
        let taxels = sensor.taxels();
        if sensor.rays().is_some() {
            return Err(refuse("its taxels read by rays"));
        }
        let (rows, cols) = taxels.size().unwrap_or((1, taxels.len()));
        let (reach, around) = taxels.point_cells().unwrap_or_default();
        let at_points = |vectors: &[Vec3]| if around.is_empty() { Vec::new() } else { flat(vectors.iter().copied()) };
        let mut neighbour_starts = vec![0];
        neighbour_starts.extend(around.iter().scan(0, |sum, list| {
            *sum += list.len() as u32;
            Some(*sum)
        }));
        let compliance = pad.compliance().ok_or_else(|| refuse("it is rigid"))?;
        let PressureFieldShape::Tets(tets) = compliance.shape() else {
            return Err(refuse("its pressure field is not of tetrahedra"));
        };
        let bvh = Bvh::over(&tets.cells().iter().map(|cell| Bounds::around(cell.corners)).collect::<Vec<_>>());
        if bvh.levels() > MAX_LEVELS {
            return Err(refuse(&format!("the hierarchy of its {} tetrahedra is too deep", tets.cells().len())));
        }
        let named = |&tet: &u32| Tetrahedron { name: tets.name(tet as usize), ..(&tets.cells()[tet as usize]).into() };
        let law: Vec<LawPiece> = compliance
            .pieces()
            .iter()
            .map(|piece| LawPiece { from: piece.from, to: piece.to, at_pa: piece.at_pa, slope_pa: piece.slope_pa })
            .collect();
        let bounds = bvh.bounds();
        let field = PadField {
            low: bounds.min.to_array(),
            high: bounds.max.to_array(),
            center: bounds.center().to_array(),
            flat: 1e-12 * bounds.size().length(),
            min_area: 1e-26 * compliance.depth_m() * compliance.depth_m(),
            min_cosine: pad.parameters().angle_limit.cosine().max(-2.0),
            saturated_extent: DEEPEST,
            pitch: taxels.pitch_m().unwrap_or(1.0),
            reach,
            height: taxels.height_m().unwrap_or(f64::INFINITY),
            scale: 0.0,
            nodes: Ptr::default(),
            tets: Ptr::default(),
            pieces: Ptr::default(),
            centers: Ptr::default(),
            normals: Ptr::default(),
            neighbour_starts: Ptr::default(),
            neighbours: Ptr::default(),
            piece_count: law.len() as u32,
            rows: rows as u32,
            cols: cols as u32,
            is_cut: i32::from(tets.is_cut()),
        };
        let skin = PadSkin {
            friction: pad.parameters().friction.into(),
            dissipation: compliance.material().dissipation_s_per_m,
            reach: bounds.min.abs().max(bounds.max.abs()).length(),
        };
        Ok(Self {
            field,
            skin,
            nodes: bvh.flat(),
            tets: bvh.order().iter().map(named).collect(),
            law,
            max_pa: max_pa(compliance, tets),
            depth_m: compliance.depth_m(),
            centers: at_points(taxels.centers()),
            normals: at_points(taxels.normals()),
            neighbour_starts,
            neighbours: around.concat(),
        })
    }
}

impl Pads {
    /// Uploads a pad. Refuses taxels that read by rays and fields that do not consist of tetrahedra.
    pub fn new(gpu: &Arc<Gpu>, pad: &Hydroelastic, sensor: &Sensor) -> Result<Self, GpuError> {
        let parts = PadParts::new(pad, sensor)?;
        let held = (gpu.upload(&parts.nodes)?, gpu.upload(&parts.tets)?, gpu.upload(&parts.law)?);
        let numbers = [gpu.upload(&parts.centers)?, gpu.upload(&parts.normals)?];
        let indices = [gpu.upload(&parts.neighbour_starts)?, gpu.upload(&parts.neighbours)?];
        let field = PadField {
            nodes: held.0.at(0),
            tets: held.1.at(0),
            pieces: held.2.at(0),
            centers: numbers[0].at(0),
            normals: numbers[1].at(0),
            neighbour_starts: indices[0].at(0),
            neighbours: indices[1].at(0),
            ..parts.field
        };
        Ok(Self {
            gpu: Arc::clone(gpu),
            taxels: sensor.taxels().len(),
            max_pa: parts.max_pa,
            field,
            skin: parts.skin,
            tets: parts.tets.len(),
            depth_m: parts.depth_m,
            has_points: !parts.centers.is_empty(),
            _held: held,
            _points: (numbers, indices),
        })
    }

    /// Computes the contact loads of a rigid object at rest at each pose.
    pub fn settle(&self, object: &GpuObject, poses: &Poses) -> Result<Presses, GpuError> {
        let (gpu, count) = (&self.gpu, poses.count);
        let kernel = gpu.kernel(&program(self.has_points), "pads")?;
        let outputs = Presses::allocate(gpu, count, self.taxels, 0)?;
        if count == 0 {
            return Ok(outputs);
        }
        let config = self.launch_config(&kernel, count)?;
        let field = self.field_for(object.area_m2);
        // SAFETY: the buffers hold `count` presses, and a block has the memory for the taxels and lists of its warps.
        unsafe {
            launch!(
                gpu,
                &kernel,
                config,
                &field,
                object.view(),
                &poses.values,
                &(count as u32),
                &*outputs.forces_newton,
                &*outputs.values_newton,
                &*outputs.wrench,
                &*outputs.outside_newton,
                &*outputs.saturated,
            )?;
        }
        Ok(outputs)
    }

    /// Number of pieces of the pressure law.
    pub fn pieces(&self) -> usize {
        self.field.piece_count as usize
    }

    /// The field for objects whose surfaces have at most this area (m²) in all: forces are sums of integers.
    pub fn field_for(&self, area_m2: f64) -> PadField {
        // Upper bound of a force (N): the whole surface under the largest pressure. It must fit into 62 bits.
        let max_newton = self.max_pa * area_m2;
        PadField { scale: (62f64 - max_newton.log2().ceil()).exp2(), ..self.field }
    }

    /// A launch of one warp per press or environment, with the shared memory that they need.
    pub fn launch_config(&self, kernel: &CudaFunction, count: usize) -> Result<LaunchConfig, GpuError> {
        let (warps, shared_bytes) = self.shared_memory()?;
        if shared_bytes > DEFAULT_SHARED_BYTES {
            kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes as i32)?;
        }
        Ok(LaunchConfig {
            grid_dim: (count.div_ceil(warps) as u32, 1, 1),
            block_dim: (32 * warps as u32, 1, 1),
            shared_mem_bytes: shared_bytes as u32,
        })
    }

    /// Number of warps per block, and the shared memory (bytes) of the block.
    fn shared_memory(&self) -> Result<(usize, usize), GpuError> {
        let one = 24 * self.taxels + LIST_BYTES;
        if one <= DEFAULT_SHARED_BYTES {
            let warps = (DEFAULT_SHARED_BYTES / one).min(MAX_WARPS);
            return Ok((warps, warps * one));
        }
        let max = self.gpu.max_shared_bytes()?;
        if one > max {
            let what = format!("a pressure field under {} taxels", self.taxels);
            let why = format!("its taxels take {one} bytes of shared memory and a block of this GPU has {max}");
            return Err(GpuError::Unsupported { what, why });
        }
        Ok((1, one))
    }
}

impl From<&Cell> for Tetrahedron {
    fn from(cell: &Cell) -> Self {
        let twelve = |vectors: &[Vec3; 4]| std::array::from_fn(|i| vectors[i / 3][i % 3]);
        Self {
            corners: twelve(&cell.corners),
            extent: cell.extent[0],
            gradient: cell.gradient.to_array(),
            slope: cell.gradient.length(),
            inward: twelve(&cell.inward),
            height: cell.height,
            name: 0,
            unused: 0,
        }
    }
}

/// The largest pressure (Pa) in a field.
fn max_pa(compliance: &Compliance, tets: &TetField) -> f64 {
    let extent = tets.cells().iter().map(|cell| cell.max_extent).fold(0.0, f64::max);
    let reached = compliance.pieces().iter().filter(|piece| piece.from <= extent);
    reached.map(|piece| piece.pressure(extent)).fold(f64::MIN_POSITIVE, f64::max)
}

/// The kernel over a grid of taxels, or over taxels at points.
pub(super) fn program(has_points: bool) -> Program {
    let [stack, corners, points] = limits(has_points);
    let name = if has_points { "pads-points" } else { "pads" };
    Program::new(name, SOURCE, &["-DIN_TIME=0", &stack, &corners, &points, UNFUSED])
}

/// The options for the stack of the traversal of tetrahedra, the corners of a polygon and the taxels.
pub(crate) fn limits(has_points: bool) -> [String; 3] {
    [
        format!("-DSTACK={}", 3 * MAX_LEVELS + 4),
        format!("-DCORNERS={MAX_CORNERS}"),
        format!("-DPOINTS={}", i32::from(has_points)),
    ]
}
