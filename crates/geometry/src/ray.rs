//! Ray intersection with boxes and triangles.

use crate::bvh::Lanes;
use crate::{Bounds, Vec3};

/// A ray that ends at `length`.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    /// Origin (m).
    pub origin: Vec3,
    /// Unit direction.
    pub direction: Vec3,
    /// Length (m).
    pub length: f64,
}

/// A ray in the frame of Woop, Benthin and Wald (2013), sheared so that it runs along an axis: the edge functions of
/// neighbouring triangles then agree on their sign.
pub(crate) struct RayFrame {
    origin: Vec3,
    direction: Vec3,
    axes: [usize; 3],
    shear: [f64; 3],
}

impl RayFrame {
    pub fn new(ray: &Ray) -> Self {
        let d = ray.direction;
        let size = d.abs();
        let kz = if size.x > size.y && size.x > size.z {
            0
        } else if size.y > size.z {
            1
        } else {
            2
        };
        let (mut kx, mut ky) = ((kz + 1) % 3, (kz + 2) % 3);
        if d[kz] < 0.0 {
            std::mem::swap(&mut kx, &mut ky);
        }
        let recip = d[kz].recip();
        Self { origin: ray.origin, direction: d, axes: [kx, ky, kz], shear: [d[kx] * recip, d[ky] * recip, recip] }
    }

    /// The entry point of the ray into a box widened by `pad`, if it lies within `length`.
    pub fn enter(&self, bounds: &Bounds, pad: f64, length: f64) -> Option<Entry> {
        let inverse = steep(self.direction).recip();
        let a = (bounds.min - Vec3::splat(2.0 * pad) - self.origin) * inverse;
        let b = (bounds.max + Vec3::splat(2.0 * pad) - self.origin) * inverse;
        let near = a.min(b).max_element().max(0.0);
        let far = a.max(b).min_element();
        if near > far || near > length {
            return None;
        }
        // From here on no distance exceeds the size of the box, so that f32 is precise enough.
        let start = self.origin + self.direction * near - bounds.center();
        Some(Entry {
            near,
            slack: (2.0 * pad) as f32,
            start: start.to_array().map(|c| c as f32),
            inverse: inverse.to_array().map(|c| c as f32),
        })
    }

    /// Distance (m) at which the ray hits a triangle, edges and corners included.
    pub fn intersect(&self, corners: &[Vec3; 3]) -> Option<f64> {
        let [kx, ky, kz] = self.axes;
        let [sx, sy, sz] = self.shear;
        let [a, b, c] = corners.map(|corner| (corner - self.origin).to_array());
        let (ax, ay) = (a[kx] - sx * a[kz], a[ky] - sy * a[kz]);
        let (bx, by) = (b[kx] - sx * b[kz], b[ky] - sy * b[kz]);
        let (cx, cy) = (c[kx] - sx * c[kz], c[ky] - sy * c[kz]);
        let u = cx * by - cy * bx;
        let v = ax * cy - ay * cx;
        let w = bx * ay - by * ax;
        if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
            return None;
        }
        let sum = u + v + w;
        if sum == 0.0 {
            return None;
        }
        let t = (u * a[kz] + v * b[kz] + w * c[kz]) * sz / sum;
        (t >= 0.0).then_some(t)
    }
}

/// A ray from its entry into the box of a hierarchy, in `f32` relative to the centre of the box.
pub(crate) struct Entry {
    near: f64,
    slack: f32,
    start: [f32; 3],
    inverse: [f32; 3],
}

impl Entry {
    /// A distance along the ray (m) as a limit for [`Entry::distances`], rounded up.
    pub fn limit(&self, distance: f64) -> f32 {
        let rest = (distance - self.near) as f32;
        (rest + rest.abs() * 1e-6 + self.slack).max(0.0)
    }

    /// Lower bound on the distance of each lane from the entry.
    pub fn distances(&self, lanes: &Lanes) -> [f32; 4] {
        let (mut near, mut far) = ([0f32; 4], [f32::MAX; 4]);
        for axis in 0..3 {
            let (start, inverse) = (self.start[axis], self.inverse[axis]);
            for lane in 0..4 {
                let a = (lanes.min[axis][lane] - start) * inverse;
                let b = (lanes.max[axis][lane] - start) * inverse;
                // These comparisons compile to single instructions; f32::min would also handle NaN, which cannot occur
                // here.
                let (low, high) = if a < b { (a, b) } else { (b, a) };
                near[lane] = if low > near[lane] { low } else { near[lane] };
                far[lane] = if high < far[lane] { high } else { far[lane] };
            }
        }
        let mut distances = [f32::INFINITY; 4];
        for lane in 0..4 {
            let met = near[lane] <= far[lane] * (1.0 + 1e-6);
            distances[lane] = if met { near[lane] * (1.0 - 1e-6) } else { f32::INFINITY };
        }
        distances
    }
}

/// The direction with components of magnitude 1e-18 or more, so that 0 · ∞ cannot occur.
fn steep(direction: Vec3) -> Vec3 {
    let steep = |c: f64| if c.abs() < 1e-18 { 1e-18f64.copysign(c) } else { c };
    Vec3::new(steep(direction.x), steep(direction.y), steep(direction.z))
}
