//! Poses, velocities and loads as arrays.

use crate::array::{Unread, array, vector, wrong_shape};
use crate::error::Error;
use dermis::geometry::{Mat3, Pose, Quat, Twist, Vec3, Wrench};
use numpy::PyArrayDyn;
use pyo3::prelude::*;

/// Tolerance of the orthogonality of a rotation matrix.
const ROTATION_SLACK: f64 = 1e-6;
/// Tolerance of the norm of a quaternion.
const QUATERNION_SLACK: f64 = 1e-3;

/// Reads a pose: a (4, 4) matrix, (7,) position and quaternion (w first), or (3,) position.
pub fn pose(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Pose> {
    let unread = Unread::of(value, what)?;
    let refuse = |shape: &[usize]| wrong_shape(shape, what, "(4, 4), (7,) or (3,)");
    if !is_pose(&unread.shape) {
        return Err(refuse(&unread.shape));
    }
    let numbers = unread.read(what)?.finite(what)?;
    of_numbers(&numbers.shape, &numbers.values, what)?.ok_or_else(|| refuse(&numbers.shape))
}

/// Reads a pose; the identity without a value.
pub fn pose_or_identity(value: Option<&Bound<'_, PyAny>>, what: &str) -> PyResult<Pose> {
    value.map_or(Ok(Pose::IDENTITY), |value| pose(value, what))
}

/// Reads many poses: (n, 4, 4), (n, 7) or (n, 3).
pub fn poses(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<Pose>> {
    let unread = Unread::of(value, what)?;
    let refuse = |shape: &[usize]| wrong_shape(shape, what, "(n, 4, 4), (n, 7) or (n, 3)");
    let each = unread.shape.get(1..).unwrap_or_default().to_vec();
    if !is_pose(&each) {
        return Err(refuse(&unread.shape));
    }
    let numbers = unread.read_rows(what)?.finite(what)?;
    let pose = |values| of_numbers(&each, values, what)?.ok_or_else(|| refuse(&numbers.shape));
    numbers.values.chunks_exact(each.iter().product()).map(pose).collect()
}

/// True for the shapes of one pose.
fn is_pose(shape: &[usize]) -> bool {
    matches!(shape, [4, 4] | [7] | [3])
}

fn of_numbers(shape: &[usize], values: &[f64], what: &str) -> PyResult<Option<Pose>> {
    let at = |i: usize| Vec3::new(values[i], values[i + 1], values[i + 2]);
    Ok(Some(match shape {
        [3] => Pose::from_translation(at(0)),
        [7] => {
            let rotation = Quat::from_xyzw(values[4], values[5], values[6], values[3]);
            if (rotation.length() - 1.0).abs() > QUATERNION_SLACK {
                return Err(Error::new_err(format!(
                    "`{what}`: the quaternion (w, x, y, z) must have length 1, got {}",
                    rotation.length()
                )));
            }
            Pose::new(rotation.normalize(), at(0))
        }
        [4, 4] => {
            let column = |c: usize| Vec3::new(values[c], values[4 + c], values[8 + c]);
            let rotation = Mat3::from_cols(column(0), column(1), column(2));
            let product = rotation * rotation.transpose();
            let square = (0..3).all(|i| (product.col(i) - Mat3::IDENTITY.col(i)).length() < ROTATION_SLACK);
            if !square || rotation.determinant() < 0.0 || values[12..] != [0.0, 0.0, 0.0, 1.0] {
                return Err(Error::new_err(format!(
                    "`{what}` must be a rigid transform: a rotation, a shift, and the last row 0, 0, 0, 1"
                )));
            }
            Pose::new(Quat::from_mat3(&rotation).normalize(), column(3))
        }
        _ => return Ok(None),
    }))
}

/// Reads a velocity: (6,), linear (m/s) and then angular (rad/s); at rest without a value.
pub fn twist(value: Option<&Bound<'_, PyAny>>, what: &str) -> PyResult<Twist> {
    let Some(value) = value else { return Ok(Twist::ZERO) };
    let v = vector::<6>(value, what)?;
    Ok(Twist::new(Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5])))
}

/// A pose as a (4, 4) matrix.
pub fn matrix<'py>(py: Python<'py>, pose: &Pose) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let rotation = Mat3::from_quat(pose.rotation);
    let mut values = [0.0; 16];
    for row in 0..3 {
        for col in 0..3 {
            values[4 * row + col] = rotation.col(col)[row];
        }
        values[4 * row + 3] = pose.translation[row];
    }
    values[15] = 1.0;
    array(py, &[4, 4], &values)
}

/// Force (N) and torque (N m) as six numbers.
pub fn six(wrench: &Wrench) -> [f64; 6] {
    let (f, t) = (wrench.force, wrench.torque);
    [f.x, f.y, f.z, t.x, t.y, t.z]
}

/// Vectors as an (n, 3) array.
pub fn vectors<'py>(py: Python<'py>, vectors: &[Vec3]) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let values: Vec<f64> = vectors.iter().flat_map(|vector| vector.to_array()).collect();
    array(py, &[vectors.len(), 3], &values)
}
