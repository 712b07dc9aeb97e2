//! What presses.

use crate::{Gpu, GpuError};
use cudarc::driver::CudaSlice;
use dermis_geometry::Surface;

/// A mesh on the GPU.
#[derive(Debug)]
pub struct SheetObject {
    pub(super) vertices: CudaSlice<f64>,
    pub(super) triangles: CudaSlice<i32>,
    pub(super) count: usize,
    pub(super) closed: bool,
}

impl SheetObject {
    /// Brings the mesh of a surface there.
    pub fn new(gpu: &Gpu, surface: &Surface) -> Result<Self, GpuError> {
        let mesh = surface.mesh();
        let vertices: Vec<f64> = mesh.vertices().iter().flat_map(|vertex| vertex.to_array()).collect();
        let triangles: Vec<i32> = mesh.triangles().iter().flatten().map(|&corner| corner as i32).collect();
        Ok(Self {
            vertices: gpu.stream.clone_htod(&vertices)?,
            count: mesh.triangles().len(),
            triangles: gpu.stream.clone_htod(&triangles)?,
            closed: surface.is_closed(),
        })
    }
}
