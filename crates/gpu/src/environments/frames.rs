//! Poses and velocities of one environment from arrays in host memory, and loads written back: frames.cuh on the CPU.

use super::bindings::{Bindings, BodyArrays, ObjectArrays, RotationFormat};
use super::status::{NOT_A_ROTATION, NOT_FINITE, OUT_OF_RANGE};
use super::view::View;
use dermis_geometry::{Mat3, Pose, Quat, Twist, Vec3, Wrench};

/// Largest distance (m), speed (m/s) and rate of rotation (rad/s) that are accepted.
const MAX_MAGNITUDE: f64 = 1e6;
const QUATERNION_SLACK: f64 = 1e-3;
const MATRIX_SLACK: f64 = 1e-4;

/// A frame that is fixed to a body, its velocity at its origin, and the point about which the load is written.
pub(super) struct BodyState {
    pub pose: Pose,
    pub velocity: Twist,
    pub load_at: Vec3,
}

impl BodyState {
    /// The frame after a motion in itself.
    pub fn displaced(self, by: &Pose) -> Self {
        let pose = self.pose * *by;
        let velocity = self.velocity.moved(pose.translation - self.pose.translation);
        Self { pose, velocity, load_at: self.load_at }
    }
}

/// Three numbers of row `i`, from column `first` on.
unsafe fn row_vector(view: &View, i: usize, first: usize) -> Vec3 {
    // SAFETY: the caller guarantees the row.
    unsafe { Vec3::new(view.number([i, first, 0]), view.number([i, first + 1, 0]), view.number([i, first + 2, 0])) }
}

unsafe fn set_row_vector(view: &View, i: usize, first: usize, vector: Vec3) {
    for axis in 0..3 {
        // SAFETY: the caller guarantees the row.
        unsafe { view.set([i, first + axis, 0], vector[axis]) };
    }
}

unsafe fn rotation(body: &BodyArrays, i: usize) -> Result<Quat, u32> {
    let format = body.rotation_format;
    if format == RotationFormat::None as i32 {
        return Ok(Quat::IDENTITY);
    }
    // SAFETY: the caller guarantees the arrays.
    let at = |row: usize, column: usize| unsafe { body.rotation.number([i, row, column]) };
    let q = if format == RotationFormat::Matrix as i32 {
        let [x, y, z] = [0, 1, 2].map(|column| Vec3::new(at(0, column), at(1, column), at(2, column)));
        if !(x.is_finite() && y.is_finite() && z.is_finite()) {
            return Err(NOT_FINITE);
        }
        let unit = [x, y, z].iter().all(|c| (c.dot(*c) - 1.0).abs() <= MATRIX_SLACK);
        let square = [x.dot(y), y.dot(z), z.dot(x)].iter().all(|c| c.abs() <= MATRIX_SLACK);
        if !(unit && square && x.dot(y.cross(z)) > 0.0) {
            return Err(NOT_A_ROTATION);
        }
        Quat::from_mat3(&Mat3::from_cols(x, y, z))
    } else {
        let v = [0, 1, 2, 3].map(|k| at(k, 0));
        if !v.iter().all(|x| x.is_finite()) {
            return Err(NOT_FINITE);
        }
        let w_first = format == RotationFormat::QuaternionWFirst as i32;
        if w_first { Quat::from_xyzw(v[1], v[2], v[3], v[0]) } else { Quat::from_array(v) }
    };
    if (q.length() - 1.0).abs() <= QUATERNION_SLACK { Ok(q.normalize()) } else { Err(NOT_A_ROTATION) }
}

/// The frame of the sensor or the object in environment `i`; an error has the bits of its faults.
///
/// # Safety
/// The bound arrays are in host memory and have a row `i`.
pub(super) unsafe fn body(body: &BodyArrays, i: usize) -> Result<BodyState, u32> {
    // SAFETY: the caller guarantees the arrays.
    unsafe {
        let translation = if body.position.is_bound() { row_vector(&body.position, i, 0) } else { Vec3::ZERO };
        let world_from_body = Pose::new(rotation(body, i)?, translation);
        let [x, y, z, qx, qy, qz, qw] = body.offset;
        let pose = world_from_body * Pose::new(Quat::from_xyzw(qx, qy, qz, qw), Vec3::new(x, y, z));
        let center = world_from_body.transform_point(Vec3::from_array(body.center));
        let point = |view: &View| if view.is_bound() { row_vector(view, i, 0) } else { center };
        let mut velocity = Twist::ZERO;
        if body.twist.is_bound() {
            let (linear, angular) = if body.angular_first == 1 { (3, 0) } else { (0, 3) };
            let given = Twist::new(row_vector(&body.twist, i, linear), row_vector(&body.twist, i, angular));
            velocity = given.moved(pose.translation - point(&body.twist_at));
        }
        let load_at = point(&body.load_at);
        if !(pose.is_finite() && velocity.is_finite() && load_at.is_finite()) {
            return Err(NOT_FINITE);
        }
        if velocity.linear.length() > MAX_MAGNITUDE || velocity.angular.length() > MAX_MAGNITUDE {
            return Err(OUT_OF_RANGE);
        }
        Ok(BodyState { pose, velocity, load_at })
    }
}

/// Refuses objects too far from the sensor.
pub(super) fn check_distance(sensor: &BodyState, object: &BodyState) -> Result<(), u32> {
    let apart = (sensor.pose.translation - object.pose.translation).length();
    if apart > MAX_MAGNITUDE { Err(OUT_OF_RANGE) } else { Ok(()) }
}

/// The frame of an object in environment `i` and the index of its shape; `None` for an index that is no natural number.
///
/// # Safety
/// As for [`body`].
pub(super) unsafe fn object(object: &ObjectArrays, i: usize) -> (Result<BodyState, u32>, Option<usize>) {
    // SAFETY: the caller guarantees the arrays.
    unsafe {
        let is_bound = object.shape.is_bound();
        let shape = if is_bound { object.shape.number([i, 0, 0]) } else { f64::from(object.fixed_shape) };
        (body(&object.body, i), (shape >= 0.0).then_some(shape as usize))
    }
}

/// Writes or adds a load (N, N m) in the world frame, with the torque about the sensor's origin, to the array of a body; `None`
/// in an environment with a fault.
unsafe fn write_load(arrays: &BodyArrays, add: i32, i: usize, load: Option<(&BodyState, Wrench)>, sensor_origin: Vec3) {
    let add = add == 1;
    if !arrays.load.is_bound() || (load.is_none() && add) {
        return;
    }
    let moved = |(body, load): (&BodyState, Wrench)| load.moved(body.load_at - sensor_origin);
    let mut load = load.map_or(Wrench::ZERO, moved);
    // SAFETY: the caller guarantees the arrays.
    unsafe {
        if add {
            load.force += row_vector(&arrays.load, i, 0);
            load.torque += row_vector(&arrays.load, i, 3);
        }
        set_row_vector(&arrays.load, i, 0, load.force);
        set_row_vector(&arrays.load, i, 3, load.torque);
    }
}

/// A load in the frame of the sensor, in the world frame.
fn in_world(sensor: &BodyState, load: Wrench) -> Wrench {
    let [force, torque] = [load.force, load.torque].map(|part| sensor.pose.transform_vector(part));
    Wrench { force, torque }
}

/// Writes the load on the sensor in environment `i`, given about its origin and in its frame; `None` in an environment with a
/// fault.
///
/// # Safety
/// As for [`body`]; nothing else accesses row `i` of the outputs.
pub(super) unsafe fn write_sensor_load(b: &Bindings, i: usize, sensor: Option<&BodyState>, load: Wrench) {
    // SAFETY: the caller guarantees the arrays.
    unsafe {
        set_row_vector(&b.wrench, i, 0, load.force);
        set_row_vector(&b.wrench, i, 3, load.torque);
        let origin = sensor.map_or(Vec3::ZERO, |sensor| sensor.pose.translation);
        let on_body = sensor.map(|sensor| (sensor, in_world(sensor, load)));
        write_load(&b.sensor, b.add_to_sensor, i, on_body, origin);
    }
}

/// Writes the load on an object in environment `i`: of the sensor, the object and the load about the sensor's origin, in its
/// frame; `None` in an environment with a fault.
///
/// # Safety
/// As for [`write_sensor_load`].
pub(super) unsafe fn write_object_load(
    object: &ObjectArrays,
    i: usize,
    load: Option<(&BodyState, &BodyState, Wrench)>,
) {
    let origin = load.as_ref().map_or(Vec3::ZERO, |(sensor, ..)| sensor.pose.translation);
    let on_body = load.map(|(sensor, body, load)| (body, in_world(sensor, load)));
    // SAFETY: the caller guarantees the arrays.
    unsafe { write_load(&object.body, object.add, i, on_body, origin) };
}
