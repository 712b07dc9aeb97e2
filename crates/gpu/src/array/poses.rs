//! Poses and velocities of objects, on the GPU.

use super::grid;
use crate::memory::launch;
use crate::program::{COMMON, Program, UNFUSED};
use crate::{DeviceBuffer, Gpu, GpuError};
use dermis_geometry::{Pose, Quat, Twist, Vec3};
use std::sync::Arc;

pub(super) const THREADS: u32 = 128;

pub(super) fn program() -> Program {
    Program::new("array-poses", &[COMMON, include_str!("poses.cu")], &[UNFUSED])
}

/// Many poses of an object in the sensor's frame: position (m) and quaternion x, y, z, w of each.
#[derive(Debug)]
pub struct Poses {
    pub(crate) values: DeviceBuffer<f64>,
    /// Number of poses.
    pub count: usize,
}

/// Many velocities relative to the sensor, at its origin: linear (m/s), then angular (rad/s).
#[derive(Debug)]
pub struct Twists {
    pub(crate) values: DeviceBuffer<f64>,
    /// Number of velocities.
    pub count: usize,
}

/// The format of a pose in another library's array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoseFormat {
    /// Position only.
    Position = 3,
    /// Position and quaternion w, x, y, z.
    Quaternion = 7,
    /// A 4 × 4 matrix, row by row.
    Matrix = 16,
}

/// A contiguous array in GPU memory that another library owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExternalArray {
    /// Address of the first element.
    pub address: u64,
    /// Number of poses or velocities.
    pub count: usize,
    /// True for `f32` elements, false for `f64`.
    pub is_f32: bool,
}

/// The value of `first_fault` if all items are valid.
const FINE: u64 = u64::MAX;

impl Poses {
    /// Uploads poses. Refuses poses that are not finite.
    pub fn of_host(gpu: &Arc<Gpu>, poses: &[Pose]) -> Result<Self, GpuError> {
        if let Some(bad) = poses.iter().position(|pose| !pose.is_finite()) {
            return Err(GpuError::BadInput { reason: format!("pose {bad} is not finite") });
        }
        let values: Vec<[f64; 7]> =
            poses.iter().map(|Pose { translation: p, rotation: q }| [p.x, p.y, p.z, q.x, q.y, q.z, q.w]).collect();
        Ok(Self { values: gpu.upload(values.as_flattened())?, count: poses.len() })
    }

    /// Reads another library's poses; the array is not used after the call returns. Refuses invalid poses.
    ///
    /// # Safety
    /// `from.address` must point to `from.count` poses of that format in the memory of this GPU, and all work that
    /// writes them must be complete or ordered before the GPU's stream.
    pub unsafe fn of_device(gpu: &Arc<Gpu>, from: ExternalArray, format: PoseFormat) -> Result<Self, GpuError> {
        let values = gpu.uninitialised(7 * from.count)?;
        let first_fault = gpu.upload(&[FINE])?;
        let kernel = gpu.kernel(&program(), "read_poses")?;
        let (is_f32, width, count) = (i32::from(from.is_f32), format as i32, from.count as u32);
        let config = grid(from.count, THREADS as usize, THREADS);
        // SAFETY: the caller guarantees the input; the kernel writes seven numbers per pose.
        unsafe {
            launch!(gpu, &kernel, config, &from.address, &is_f32, &width, &count, &values, &first_fault)?;
        }
        refuse_fault(&first_fault, "pose")?;
        Ok(Self { values, count: from.count })
    }

    /// Copies the poses to the host.
    pub fn download(&self) -> Result<Vec<Pose>, GpuError> {
        let of = |&[x, y, z, qx, qy, qz, qw]: &[f64; 7]| Pose::new(Quat::from_xyzw(qx, qy, qz, qw), Vec3::new(x, y, z));
        Ok(self.values.download()?.as_chunks().0.iter().map(of).collect())
    }
}

impl Twists {
    /// Uploads velocities (m/s, rad/s) at the sensor's origin. Refuses velocities that are not finite.
    pub fn of_host(gpu: &Arc<Gpu>, twists: &[Twist]) -> Result<Self, GpuError> {
        if let Some(bad) = twists.iter().position(|twist| !twist.is_finite()) {
            return Err(GpuError::BadInput { reason: format!("twist {bad} is not finite") });
        }
        let values: Vec<[f64; 3]> =
            twists.iter().flat_map(|twist| [twist.linear.to_array(), twist.angular.to_array()]).collect();
        Ok(Self { values: gpu.upload(values.as_flattened())?, count: twists.len() })
    }

    /// Reads another library's velocities: linear (m/s) of the origins of objects at `poses`, and angular (rad/s).
    ///
    /// # Safety
    /// As for [`Poses::of_device`], with six numbers per velocity.
    pub unsafe fn of_device(gpu: &Arc<Gpu>, from: ExternalArray, poses: &Poses) -> Result<Self, GpuError> {
        same_count(poses.count, from.count, "twists")?;
        let values = gpu.uninitialised(6 * from.count)?;
        let first_fault = gpu.upload(&[FINE])?;
        let kernel = gpu.kernel(&program(), "read_twists")?;
        let (is_f32, count) = (i32::from(from.is_f32), from.count as u32);
        let config = grid(from.count, THREADS as usize, THREADS);
        // SAFETY: the caller guarantees the input, and there are as many poses; the kernel writes six numbers per
        // velocity.
        unsafe {
            launch!(gpu, &kernel, config, &from.address, &is_f32, &count, &poses.values, &values, &first_fault)?;
        }
        refuse_fault(&first_fault, "twist")?;
        Ok(Self { values, count: from.count })
    }
}

/// Refuses lists of different lengths.
pub(crate) fn same_count(expected: usize, got: usize, what: &str) -> Result<(), GpuError> {
    if expected == got {
        return Ok(());
    }
    Err(GpuError::BadInput { reason: format!("there are {expected} poses or environments and {got} {what}") })
}

/// The error for the first invalid pose or velocity; the kernel reports twice its index, plus one if it is finite.
fn refuse_fault(first_fault: &DeviceBuffer<u64>, what: &str) -> Result<(), GpuError> {
    let reason = match first_fault.download()?[0] {
        FINE => return Ok(()),
        bad if bad % 2 == 0 => format!("{what} {} is not finite", bad / 2),
        bad => format!(
            "{what} {} is no rigid transform: its quaternion must have length 1, its matrix a rotation and the last row 0, 0, 0, 1",
            bad / 2
        ),
    };
    Err(GpuError::BadInput { reason })
}
