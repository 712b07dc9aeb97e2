//! The floating-point precision of Fourier transforms, and of the fields of a contact while it is solved.

use super::LayerGrid;
use super::fft_plan::FftPlan;
use super::press::{MAX_LEVELS, REGION_BUFFERS, THREADS};
use super::region::{ContactRegion, OPEN, PressQueue, TOO_DEEP};
use super::relaxation::{self, Branches};
use super::spectra::Transform;
use super::taxels::TaxelGrid;
use crate::object::{ObjectView, SurfaceKind};
use crate::program::{COMMON, Program};
use crate::{DeviceBuffer, Gpu, GpuError, Precision};
use dermis_skin::layer::LayerContact;
use std::sync::Arc;

const SOURCE: &[&str] = &[
    COMMON,
    ObjectView::CUDA,
    FftPlan::CUDA,
    Transform::CUDA,
    LayerContact::CUDA,
    LayerGrid::CUDA,
    ContactRegion::CUDA,
    PressQueue::CUDA,
    Branches::CUDA,
    TaxelGrid::CUDA,
    include_str!("fft.cu"),
    include_str!("../cuda/ray.cuh"),
    include_str!("height_map.cu"),
    include_str!("indenter.cu"),
    relaxation::SOURCE,
    include_str!("products.cu"),
    include_str!("pressure.cu"),
    include_str!("friction.cu"),
    include_str!("contact.cu"),
    include_str!("fields.cu"),
    include_str!("friction_gradient.cu"),
    include_str!("gradient.cu"),
];

/// Smallest tolerance for single precision: products in single precision have errors of about 1e-7 of the depth.
const MIN_SINGLE_TOLERANCE: f64 = 5e-6;

impl Precision {
    /// The precision for a tolerance, the largest remaining violation as a fraction of the largest depth: as on the CPU, single if the tolerance
    /// allows it, else double. Results are always double.
    pub(super) fn for_tolerance(tolerance: f64) -> Self {
        if tolerance >= MIN_SINGLE_TOLERANCE { Self::Single } else { Self::Double }
    }

    /// Size of a real number (bytes).
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Single => 4,
            Self::Double => 8,
        }
    }

    /// Size of `count` complex numbers (bytes).
    pub(super) fn complex_bytes(self, count: usize) -> usize {
        2 * self.bytes() * count
    }

    /// Number of lines in shared memory while fields are computed with transforms of a size, and that memory (bytes). Two fields at
    /// k and −k are there at once, and if there is room so many that four blocks fit on a multiprocessor of an H100 or H200.
    pub(super) fn field_tile(self, size: usize) -> (usize, usize) {
        const MAX_BYTES: usize = 52 << 10;
        let lines = (MAX_BYTES / self.complex_bytes(size + 1) / 4).max(1) * 4;
        let pairs_bytes = 4 * (size / 2 + 1);
        (lines, self.complex_bytes(size + lines * (size + 1)) + pairs_bytes)
    }

    /// The kernels with transforms of this precision.
    pub(super) fn program(self) -> Program {
        let name = match self {
            Self::Single => "layer-single",
            Self::Double => "layer-double",
        };
        let mut program = Program::new(name, SOURCE, &[]);
        program.options = vec![
            format!("-DREAL={}", self.in_cuda()),
            // Four blocks per multiprocessor have 128 registers per thread; with fewer the kernels wait for memory.
            "-DCONTACT_BLOCKS=4".to_owned(),
            "-DFIELD_BLOCKS=4".to_owned(),
            format!("-DTHREADS={THREADS}"),
            // Rays are cast at meshes; primitives have heights in closed form.
            format!("-DKIND={}", SurfaceKind::Mesh as i32),
            format!("-DSTACK={}", 3 * MAX_LEVELS + 4),
            format!("-DREGION_BUFFERS={REGION_BUFFERS}"),
            format!("-DOPEN={OPEN}"),
            format!("-DTOO_DEEP={TOO_DEEP}"),
        ];
        program
    }

    /// Uploads numbers in this precision.
    pub(super) fn upload(self, gpu: &Arc<Gpu>, values: &[f64]) -> Result<DeviceBuffer<u8>, GpuError> {
        let bytes: Vec<u8> = match self {
            Self::Single => values.iter().flat_map(|&value| (value as f32).to_ne_bytes()).collect(),
            Self::Double => values.iter().flat_map(|value| value.to_ne_bytes()).collect(),
        };
        gpu.upload(&bytes)
    }
}
