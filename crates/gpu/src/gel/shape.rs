//! What presses, as the kernels read it.

use super::pack::Pack;
use crate::cuda_struct::Plain;
use crate::object::SurfaceKind;
use dermis_geometry::{Bounds, Mat3, Pose, Surface, Vec3};

/// The kernels' `Shape`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    size: [f64; 3],
    middle: [f64; 3],
    branches: u64,
    triangles: u64,
    centers: u64,
    kind: i32,
    count: i32,
}

/// The kernels' `Triangle`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Triangle {
    corner: [[f64; 3]; 3],
    normal: [[f64; 3]; 7],
    number: f64,
}

/// The kernels' `Place`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    out: [f64; 12],
    back: [f64; 12],
    low: [f64; 3],
    high: [f64; 3],
}

// SAFETY: numbers of eight bytes, or of four in multiples of two; no padding.
#[allow(unsafe_code)]
unsafe impl Plain for Shape {}
#[allow(unsafe_code)]
// SAFETY: as above.
unsafe impl Plain for Triangle {}
#[allow(unsafe_code)]
// SAFETY: as above.
unsafe impl Plain for Place {}

impl Shape {
    /// Puts what a surface consists of into `pack`; the shape refers to it by where it is there.
    pub fn of(surface: &Surface, pack: &mut Pack) -> Self {
        let mut shape =
            Self { size: [0.0; 3], middle: [0.0; 3], branches: 0, triangles: 0, centers: 0, kind: 0, count: 0 };
        if let Some(primitive) = surface.primitive() {
            let (kind, size) = SurfaceKind::of_primitive(primitive);
            (shape.kind, shape.size) = (kind as i32, size);
        } else if let Some(balls) = surface.balls() {
            let centers: Vec<[f64; 3]> = balls.centers().iter().map(Vec3::to_array).collect();
            shape.kind = SurfaceKind::Balls as i32;
            shape.size[0] = balls.radius_m();
            shape.count = centers.len() as i32;
            shape.centers = pack.put(&centers);
        } else {
            let bvh = surface.bvh();
            let triangles: Vec<Triangle> = bvh
                .order()
                .iter()
                .enumerate()
                .map(|(position, &triangle)| Triangle {
                    corner: surface.leaf_corners(position).map(|corner| corner.to_array()),
                    normal: surface.directions(triangle).map(|normal| normal.to_array()),
                    number: f64::from(triangle),
                })
                .collect();
            shape.kind = SurfaceKind::Mesh as i32;
            shape.count = triangles.len() as i32;
            shape.middle = bvh.bounds().center().to_array();
            shape.branches = pack.put(&bvh.flat());
            shape.triangles = pack.put(&triangles);
        }
        shape
    }

    /// The same shape where its pack is at an address.
    pub fn based(mut self, address: u64) -> Self {
        self.branches += address;
        self.triangles += address;
        self.centers += address;
        self
    }
}

impl Place {
    pub fn new(surface: &Surface, sensor_from_object: &Pose) -> Self {
        let Bounds { min, max } = *surface.bounds();
        let pick = |i: usize| {
            Vec3::from_array(std::array::from_fn(|axis| if i >> axis & 1 == 1 { max[axis] } else { min[axis] }))
        };
        let around = Bounds::around((0..8).map(|i| sensor_from_object.transform_point(pick(i))));
        Self {
            out: rows(sensor_from_object),
            back: rows(&sensor_from_object.inverse()),
            low: around.min.to_array(),
            high: around.max.to_array(),
        }
    }
}

/// A turn by rows, and the shift.
fn rows(pose: &Pose) -> [f64; 12] {
    let turn = Mat3::from_quat(pose.rotation);
    std::array::from_fn(|i| if i < 9 { turn.col(i % 3)[i / 3] } else { pose.translation[i - 9] })
}
