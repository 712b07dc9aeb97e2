//! The object, on the GPU.

use super::{address, upload};
use crate::kind::{Kind, of_primitive};
use crate::{Gpu, GpuError};
use cudarc::driver::{CudaSlice, DeviceRepr};
use dermis_geometry::{Bounds, Bvh, FlatNode, Surface, Vec3};
use std::sync::Arc;

/// A surface that can be asked on the GPU: primitives in closed form, meshes through their hierarchy.
#[derive(Debug)]
pub struct Shape {
    pub(super) gpu: Arc<Gpu>,
    pub(super) kind: Kind,
    pub(super) tree: Tree,
    pub(super) area_m2: f64,
    normals: CudaSlice<f64>,
    place: CudaSlice<u32>,
    size: [f64; 3],
    bounds: Bounds,
    closed: bool,
    triangles: u32,
}

/// A hierarchy on the GPU, with what its leaves hold.
#[derive(Debug)]
pub(super) struct Tree {
    pub nodes: CudaSlice<u32>,
    /// Corners of triangles or tetrahedra, in the order of the leaves.
    pub corners: CudaSlice<f64>,
    pub order: CudaSlice<u32>,
    pub bounds: Bounds,
    pub pad: f64,
    pub levels: usize,
}

impl Tree {
    pub fn new(gpu: &Gpu, bvh: &Bvh, corners: &[f64]) -> Result<Self, GpuError> {
        let words = |node: &FlatNode| -> Vec<u32> {
            let boxes = node.min.iter().chain(&node.max).flatten().map(|c| c.to_bits());
            boxes.chain(node.child).chain(node.count).collect()
        };
        let nodes: Vec<u32> = bvh.flat().iter().flat_map(words).collect();
        Ok(Self {
            nodes: upload(gpu, &nodes)?,
            corners: upload(gpu, corners)?,
            order: upload(gpu, bvh.order())?,
            bounds: *bvh.bounds(),
            pad: bvh.pad(),
            levels: bvh.levels(),
        })
    }
}

/// `Shape` of the kernels.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct RawShape {
    size: [f64; 3],
    low: [f64; 3],
    high: [f64; 3],
    tree_low: [f64; 3],
    tree_high: [f64; 3],
    pad: f64,
    all_through: f64,
    nodes: u64,
    corners: u64,
    normals: u64,
    order: u64,
    place: u64,
    triangles: u32,
    kind: i32,
    closed: i32,
    unused: i32,
}

// SAFETY: numbers and addresses, laid out as in C.
#[allow(unsafe_code)]
unsafe impl DeviceRepr for RawShape {}

impl Shape {
    /// Puts a surface on the GPU.
    pub fn new(gpu: &Arc<Gpu>, surface: &Surface) -> Result<Self, GpuError> {
        let (kind, size) = surface.primitive().map_or((Kind::Mesh, [0.0; 3]), of_primitive);
        let count = surface.mesh().triangles().len();
        let bvh = surface.bvh();
        let corners: Vec<f64> =
            (0..count).flat_map(|position| surface.leaf_corners(position).iter().flat_map(Vec3::to_array)).collect();
        let normals: Vec<f64> = (0..count).flat_map(|triangle| surface.normal(triangle as u32).to_array()).collect();
        let mut place = vec![0; count];
        for (position, &triangle) in bvh.order().iter().enumerate() {
            place[triangle as usize] = position as u32;
        }
        Ok(Self {
            gpu: Arc::clone(gpu),
            kind,
            tree: Tree::new(gpu, bvh, &corners)?,
            area_m2: surface.mesh().area_m2(),
            normals: upload(gpu, &normals)?,
            place: upload(gpu, &place)?,
            size,
            bounds: *surface.bounds(),
            closed: surface.is_closed(),
            triangles: count as u32,
        })
    }

    /// What kernels take.
    pub(super) fn raw(&self) -> RawShape {
        let tree = &self.tree;
        RawShape {
            size: self.size,
            low: self.bounds.min.to_array(),
            high: self.bounds.max.to_array(),
            tree_low: tree.bounds.min.to_array(),
            tree_high: tree.bounds.max.to_array(),
            pad: tree.pad,
            all_through: self.bounds.size().length(),
            nodes: address(&self.gpu, &tree.nodes),
            corners: address(&self.gpu, &tree.corners),
            normals: address(&self.gpu, &self.normals),
            order: address(&self.gpu, &tree.order),
            place: address(&self.gpu, &self.place),
            triangles: self.triangles,
            kind: self.kind as i32,
            closed: i32::from(self.closed),
            unused: 0,
        }
    }
}
