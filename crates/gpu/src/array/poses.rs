//! Where objects are and how they move, on the GPU.

use super::{UNFUSED, grid, room, upload};
use crate::{Gpu, GpuError};
use cudarc::driver::{CudaSlice, PushKernelArg};
use dermis_geometry::{Pose, Twist};
use std::sync::Arc;

pub(super) const SOURCE: &str = include_str!("poses.cu");
pub(super) const THREADS: u32 = 128;

/// Many places of an object in the sensor's frame, as (x, y, z, qw, qx, qy, qz).
#[derive(Debug)]
pub struct Poses {
    pub(super) values: CudaSlice<f64>,
    /// How many there are.
    pub count: usize,
}

/// Many velocities relative to the sensor, at its origin.
#[derive(Debug)]
pub struct Twists {
    pub(super) values: CudaSlice<f64>,
    /// How many there are.
    pub count: usize,
}

/// How a pose is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Position alone.
    Position = 3,
    /// Position and quaternion, w first.
    Quaternion = 7,
    /// A 4 × 4 matrix, row by row.
    Matrix = 16,
}

/// Numbers in the GPU's memory that someone else owns, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Where they begin.
    pub address: u64,
    /// How many poses or velocities there are.
    pub count: usize,
    /// Whether they are `f32`; else `f64`.
    pub single: bool,
}

/// Nothing was found wrong.
const FINE: u64 = u64::MAX;

impl Poses {
    /// Of the host. Refuses those that are not finite.
    pub fn of_host(gpu: &Gpu, poses: &[Pose]) -> Result<Self, GpuError> {
        if let Some(bad) = poses.iter().position(|pose| !pose.is_finite()) {
            return Err(GpuError::BadInput { reason: format!("pose {bad} is not finite") });
        }
        let seven = |pose: &Pose| {
            let (p, q) = (pose.translation, pose.rotation);
            [p.x, p.y, p.z, q.w, q.x, q.y, q.z]
        };
        let values: Vec<f64> = poses.iter().flat_map(seven).collect();
        Ok(Self { values: upload(gpu, &values)?, count: poses.len() })
    }

    /// Of someone else's memory on the GPU, which is read before this returns. Refuses numbers that are no poses.
    ///
    /// # Safety
    /// `from.count` poses of that layout must lie at `from.address`, in the memory of this GPU, and all that writes them must have been
    /// queued on `gpu.stream` or be done.
    #[allow(unsafe_code)]
    pub unsafe fn of_device(gpu: &Arc<Gpu>, from: Foreign, layout: Layout) -> Result<Self, GpuError> {
        let mut values = room(gpu, 7 * from.count)?;
        let mut worst = upload(gpu, &[FINE])?;
        let kernel = gpu.program("array-poses", SOURCE, &[UNFUSED])?.load_function("read_poses")?;
        let (single, width, count) = (i32::from(from.single), layout as i32, from.count as u32);
        // SAFETY: the kernel reads what the caller vouches for and writes 7 numbers of each pose.
        unsafe {
            gpu.stream
                .launch_builder(&kernel)
                .arg(&from.address)
                .arg(&single)
                .arg(&width)
                .arg(&count)
                .arg(&mut values)
                .arg(&mut worst)
                .launch(grid(from.count, THREADS as usize, THREADS))?;
        }
        refuse(gpu, &worst, "pose")?;
        Ok(Self { values, count: from.count })
    }
}

impl Poses {
    /// The same with the quaternions' w last: x, y, z, qx, qy, qz, qw.
    pub fn with_w_last(&self, gpu: &Gpu) -> Result<CudaSlice<f64>, GpuError> {
        let mut turned = room(gpu, 7 * self.count)?;
        let kernel = gpu.program("array-poses", SOURCE, &[UNFUSED])?.load_function("w_last")?;
        let count = self.count as u32;
        // SAFETY: both hold seven numbers of each pose.
        #[allow(unsafe_code)]
        unsafe {
            gpu.stream.launch_builder(&kernel).arg(&self.values).arg(&count).arg(&mut turned).launch(grid(
                7 * self.count,
                THREADS as usize,
                THREADS,
            ))?;
        }
        Ok(turned)
    }
}

impl Twists {
    /// Of the host, at the sensor's origin.
    pub fn of_host(gpu: &Gpu, twists: &[Twist]) -> Result<Self, GpuError> {
        let values: Vec<f64> =
            twists.iter().flat_map(|twist| [twist.linear.to_array(), twist.angular.to_array()]).flatten().collect();
        Ok(Self { values: upload(gpu, &values)?, count: twists.len() })
    }

    /// Of someone else's memory on the GPU: velocities (m/s) of the origins of objects in `poses`, and angular velocities (rad/s).
    ///
    /// # Safety
    /// As for [`Poses::of_device`], with six numbers for each.
    #[allow(unsafe_code)]
    pub unsafe fn of_device(gpu: &Arc<Gpu>, from: Foreign, poses: &Poses) -> Result<Self, GpuError> {
        same_count(poses.count, from.count, "twists")?;
        let mut values = room(gpu, 6 * from.count)?;
        let mut worst = upload(gpu, &[FINE])?;
        let kernel = gpu.program("array-poses", SOURCE, &[UNFUSED])?.load_function("read_twists")?;
        let (single, count) = (i32::from(from.single), from.count as u32);
        // SAFETY: the kernel reads what the caller vouches for, and as many poses, and writes 6 numbers of each.
        unsafe {
            gpu.stream
                .launch_builder(&kernel)
                .arg(&from.address)
                .arg(&single)
                .arg(&count)
                .arg(&poses.values)
                .arg(&mut values)
                .arg(&mut worst)
                .launch(grid(from.count, THREADS as usize, THREADS))?;
        }
        refuse(gpu, &worst, "twist")?;
        Ok(Self { values, count: from.count })
    }
}

/// Refuses lists of different lengths.
pub(super) fn same_count(expected: usize, got: usize, what: &str) -> Result<(), GpuError> {
    if expected == got {
        return Ok(());
    }
    Err(GpuError::BadInput { reason: format!("there are {expected} poses or environments and {got} {what}") })
}

fn refuse(gpu: &Gpu, worst: &CudaSlice<u64>, what: &str) -> Result<(), GpuError> {
    let found = gpu.stream.clone_dtoh(worst)?;
    gpu.finish()?;
    let reason = match found[0] {
        FINE => return Ok(()),
        bad if bad % 2 == 0 => format!("{what} {} is not finite", bad / 2),
        bad => format!(
            "{what} {} is no rigid transform: its quaternion must have length 1, its matrix a rotation and the last row 0, 0, 0, 1",
            bad / 2
        ),
    };
    Err(GpuError::BadInput { reason })
}
