//! Objects on the GPU.

use crate::cuda_struct::{Node, Ptr, cuda_struct};
use crate::precision::Scalar as _;
use crate::{DeviceBuffer, Gpu, GpuError};
use dermis_geometry::{Bounds, Primitive, Surface, Vec3};
use dermis_skin::Object;
use std::sync::Arc;

/// Kinds of surfaces, numbered as in the kernels (common.cuh).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SurfaceKind {
    Sphere = 0,
    Ellipsoid = 1,
    Cuboid = 2,
    Cylinder = 3,
    Capsule = 4,
    Mesh = 5,
    Balls = 6,
}

impl SurfaceKind {
    /// The kinds that springs cast rays at. Rays are cast at the mesh of balls.
    pub const CAST: [(Self, &'static str); 6] = [
        (Self::Sphere, "sphere"),
        (Self::Ellipsoid, "ellipsoid"),
        (Self::Cuboid, "cuboid"),
        (Self::Cylinder, "cylinder"),
        (Self::Capsule, "capsule"),
        (Self::Mesh, "mesh"),
    ];

    /// The kind of a primitive and its dimensions (m).
    pub fn of_primitive(primitive: &Primitive) -> (Self, [f64; 3]) {
        match *primitive {
            Primitive::Sphere { radius_m } => (Self::Sphere, [radius_m, 0.0, 0.0]),
            Primitive::Ellipsoid { semi_axes_m } => (Self::Ellipsoid, semi_axes_m.to_array()),
            Primitive::Cuboid { half_m } => (Self::Cuboid, half_m.to_array()),
            Primitive::Cylinder { radius_m, half_length_m } => (Self::Cylinder, [radius_m, half_length_m, 0.0]),
            Primitive::Capsule { radius_m, half_length_m } => (Self::Capsule, [radius_m, half_length_m, 0.0]),
        }
    }
}

cuda_struct! {
    /// An object in the layout of the kernels, in its own frame.
    pub(crate) struct ObjectView<Scalar> {
        /// Dimensions (m) of a primitive, or the radius (m) of all balls.
        pub size: [Scalar; 3],
        /// Bounding box of the surface.
        pub low: [Scalar; 3],
        pub high: [Scalar; 3],
        /// Bounding box of the mesh; the boxes of nodes are relative to its centre.
        pub tree_low: [Scalar; 3],
        pub tree_high: [Scalar; 3],
        /// Padding (m) of the nodes' boxes.
        pub pad: Scalar,
        /// Diagonal (m) of the bounding box of the surface.
        pub diagonal: Scalar,
        /// Aligns the addresses in single precision.
        unused: Scalar,
        pub nodes: Ptr<Node>,
        /// Corners of each triangle (nine numbers, m), in the order of the leaves.
        pub corners: Ptr<Scalar>,
        /// Outward face normals, by the index of the triangle.
        pub normals: Ptr<Scalar>,
        /// Outward normals of the face, its edges 0-1, 1-2, 2-0 and its corners: 21 numbers per triangle, in the order
        /// of the leaves.
        pub feature_normals: Ptr<f64>,
        /// The index of each triangle, in the order of the leaves, and the inverse map.
        pub order: Ptr<u32>,
        pub place: Ptr<u32>,
        /// Centres of balls (m), as a balanced k-d tree.
        pub centers: Ptr<f64>,
        pub triangles: u32,
        pub balls: i32,
        /// The surface for distances ([`SurfaceKind`]): a primitive, balls or the mesh.
        pub kind: i32,
        pub closed: i32,
    }
}

/// An object in GPU memory: its mesh with a hierarchy, its primitive or its balls. Arrays, layers and gels use it; keep
/// it alive while it is in use.
#[derive(Debug)]
pub struct GpuObject {
    /// The surface for rays: a primitive or the mesh, which balls also have.
    pub(crate) cast_kind: SurfaceKind,
    pub(crate) is_rigid: bool,
    pub(crate) area_m2: f64,
    /// Smallest extent (m) of the bounding box.
    pub(crate) thickness_m: f64,
    /// Number of levels of the mesh's hierarchy.
    pub(crate) levels: usize,
    view: ObjectView,
    nodes: DeviceBuffer<Node>,
    numbers: [DeviceBuffer<f64>; 4],
    _indices: [DeviceBuffer<u32>; 2],
}

/// Approximate number of triangles of the mesh of a round primitive.
const FINE_TRIANGLES: f64 = 1e5;

/// The surface of a round primitive with a fine mesh, which pressure fields use: the CPU divides triangles where they are
/// in contact instead. `None` for other surfaces.
fn with_fine_mesh(surface: &Surface) -> Option<Surface> {
    let primitive = surface.primitive().filter(|primitive| primitive.is_round())?;
    // An equilateral triangle with edges e has the area √3/4 e².
    let edge_m = (surface.mesh().area_m2() / (0.433 * FINE_TRIANGLES)).sqrt();
    Surface::of_primitive(*primitive, edge_m).ok()
}

impl GpuObject {
    /// Uploads an object. A round primitive is exact for rays; pressure fields use a mesh of about 100,000 triangles.
    pub fn new(gpu: &Arc<Gpu>, object: &Object) -> Result<Self, GpuError> {
        let fine = with_fine_mesh(&object.surface);
        let uploaded = Self::upload(gpu, fine.as_ref().unwrap_or(&object.surface), true)?;
        Ok(Self { is_rigid: object.compliance.is_none(), ..uploaded })
    }

    /// Uploads an object for height maps, which need no mesh of a primitive.
    pub(crate) fn for_heights(gpu: &Arc<Gpu>, object: &Object) -> Result<Self, GpuError> {
        let uploaded = Self::upload(gpu, &object.surface, object.surface.primitive().is_none())?;
        Ok(Self { is_rigid: object.compliance.is_none(), ..uploaded })
    }

    /// Uploads the surface of a rigid object for distances, which need no mesh where they have a closed form.
    pub fn for_distances(gpu: &Arc<Gpu>, surface: &Surface) -> Result<Self, GpuError> {
        Self::upload(gpu, surface, surface.primitive().is_none() && surface.balls().is_none())
    }

    fn upload(gpu: &Arc<Gpu>, surface: &Surface, with_mesh: bool) -> Result<Self, GpuError> {
        let (cast_kind, mut size) =
            surface.primitive().map_or((SurfaceKind::Mesh, [0.0; 3]), SurfaceKind::of_primitive);
        let mut kind = cast_kind;
        if let Some(balls) = surface.balls() {
            (kind, size[0]) = (SurfaceKind::Balls, balls.radius_m());
        }
        let centers = surface.balls().map_or(&[][..], |balls| balls.centers());
        let bvh = surface.bvh();
        let (order, nodes) = if with_mesh { (bvh.order(), bvh.flat()) } else { (&[][..], Vec::new()) };
        let count = order.len();
        let corners = (0..count).flat_map(|position| surface.leaf_corners(position).iter());
        let features = order.iter().flat_map(|&triangle| surface.directions(triangle));
        let mut place = vec![0; count];
        for (position, &triangle) in order.iter().enumerate() {
            place[triangle as usize] = position as u32;
        }
        let nodes = gpu.upload(&nodes)?;
        let numbers = [
            gpu.upload(&flat(corners.copied()))?,
            gpu.upload(&flat((0..count).map(|triangle| surface.normal(triangle as u32))))?,
            gpu.upload(&flat(features))?,
            gpu.upload(&flat(centers.iter().copied()))?,
        ];
        let indices = [gpu.upload(order)?, gpu.upload(&place)?];
        let (Bounds { min, max }, tree) = (*surface.bounds(), bvh.bounds());
        let view = ObjectView {
            size,
            low: min.to_array(),
            high: max.to_array(),
            tree_low: tree.min.to_array(),
            tree_high: tree.max.to_array(),
            pad: bvh.pad(),
            diagonal: surface.bounds().size().length(),
            unused: 0.0,
            nodes: nodes.at(0),
            corners: numbers[0].at(0),
            normals: numbers[1].at(0),
            feature_normals: numbers[2].at(0),
            order: indices[0].at(0),
            place: indices[1].at(0),
            centers: numbers[3].at(0),
            triangles: count as u32,
            balls: centers.len() as i32,
            kind: kind as i32,
            closed: i32::from(surface.is_closed()),
        };
        Ok(Self {
            cast_kind,
            is_rigid: true,
            area_m2: surface.mesh().area_m2(),
            thickness_m: surface.bounds().size().min_element(),
            levels: bvh.levels(),
            view,
            nodes,
            numbers,
            _indices: indices,
        })
    }

    /// The argument of kernels.
    pub(crate) fn view(&self) -> &ObjectView {
        &self.view
    }

    /// A copy for rays in single precision. It uses buffers of this object, which must be kept alive.
    pub(crate) fn in_single(&self) -> Result<SingleObject, GpuError> {
        let (view, triples) = (&self.view, |numbers: [f64; 3]| numbers.map(f32::rounded));
        let (mut nodes, mut numbers, mut margin) = (Vec::new(), [Vec::new(), Vec::new()], 0.0);
        // Rays are cast at the mesh of objects that are no primitives.
        if self.cast_kind == SurfaceKind::Mesh {
            nodes = self.nodes.download()?;
            numbers = [self.numbers[0].download()?, self.numbers[1].download()?];
            // Rounding moves corners and points of rays by some units in the last place; boxes of nodes are larger by more.
            let farthest = [view.tree_low, view.tree_high].concat().into_iter().map(f64::abs).fold(0.0, f64::max);
            margin = 1e-6 * f32::rounded(farthest);
            for node in &mut nodes {
                node.min.iter_mut().flatten().for_each(|x| *x -= margin);
                node.max.iter_mut().flatten().for_each(|x| *x += margin);
            }
        }
        let gpu = self.nodes.gpu();
        let nodes = gpu.upload(&nodes)?;
        let [corners, normals] = numbers.map(|numbers| gpu.upload(&f32::all_rounded(&numbers)));
        let numbers = [corners?, normals?];
        let view = ObjectView {
            size: triples(view.size),
            low: triples(view.low),
            high: triples(view.high),
            tree_low: triples(view.tree_low),
            tree_high: triples(view.tree_high),
            pad: f32::rounded(view.pad) + margin,
            diagonal: f32::rounded(view.diagonal),
            unused: 0.0,
            nodes: nodes.at(0),
            corners: numbers[0].at(0),
            normals: numbers[1].at(0),
            feature_normals: view.feature_normals,
            order: view.order,
            place: view.place,
            centers: view.centers,
            triangles: view.triangles,
            balls: view.balls,
            kind: view.kind,
            closed: view.closed,
        };
        Ok(SingleObject { view, _nodes: nodes, _numbers: numbers })
    }
}

/// An object in GPU memory in single precision.
#[derive(Debug)]
pub(crate) struct SingleObject {
    pub view: ObjectView<f32>,
    _nodes: DeviceBuffer<Node>,
    _numbers: [DeviceBuffer<f32>; 2],
}

/// The components of vectors, one vector after the other.
pub(crate) fn flat(vectors: impl Iterator<Item = Vec3>) -> Vec<f64> {
    vectors.flat_map(|vector| vector.to_array()).collect()
}
