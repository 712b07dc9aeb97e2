//! Poses and velocities of the objects of many environments: rows of 13 numbers, and the arrays that read them.

use dermis_geometry::{Quat, Vec3};
use dermis_gpu::environments::{BodyArrays, Element, RotationFormat, View};

/// Pose (w first) and velocity of each of `count` objects at the end of a step of `dt_s`, from the pose of object `i` after a
/// number of steps.
pub fn rows(count: usize, step: usize, dt_s: f64, at: impl Fn(usize, f64) -> (Vec3, Quat)) -> Vec<f64> {
    let row = |i: usize| {
        let ((p, q), (before, q_before)) = (at(i, step as f64), at(i, step as f64 - 1.0));
        let (v, w) = ((p - before) / dt_s, (q * q_before.inverse()).to_scaled_axis() / dt_s);
        [p.x, p.y, p.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z]
    };
    (0..count).flat_map(row).collect()
}

/// Binds the rows at an address in host or GPU memory.
pub fn bind_rows(body: &mut BodyArrays, address: u64) {
    let view = |first: u64| View::new(address + 8 * first, &[13, 1], Element::F64);
    (body.position, body.rotation, body.twist) = (view(0), view(3), view(7));
    body.rotation_format = RotationFormat::QuaternionWFirst as i32;
}
