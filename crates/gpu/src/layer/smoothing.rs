//! Smoothing of the surface that a camera sees, on the GPU.

use super::camera::{CameraView, THREADS, grid, program};
use crate::memory::launch_on;
use crate::{DeviceBuffer, Gpu, GpuError};
use cudarc::driver::CudaFunction;
use dermis_sensor::optics::Camera;
use dermis_skin::Blur;
use std::sync::Arc;

/// A Gaussian mean of the heights of an image. At its border the mean is over the pixels inside.
#[derive(Debug)]
pub(super) struct GpuSmoothing {
    smooth_pixels: CudaFunction,
    weights: DeviceBuffer<f32>,
    /// Inverse sum of the weights inside the image, for each row and for each column.
    per_inside: [DeviceBuffer<f32>; 2],
    pixels: usize,
}

/// Inverse sum of the weights inside a line, at each of its pixels.
fn per_inside(weights: &[f64], count: usize) -> Vec<f32> {
    let inside = |at: usize| -> f64 {
        let weight = |i: usize| weights.get(i.abs_diff(at)).copied().unwrap_or(0.0);
        (0..count).map(weight).sum()
    };
    (0..count).map(|at| (1.0 / inside(at)) as f32).collect()
}

impl GpuSmoothing {
    /// Uploads the weights of a camera's smoothing.
    pub fn new(gpu: &Arc<Gpu>, blur: &Blur, camera: &Camera) -> Result<Self, GpuError> {
        let weights: Vec<f32> = blur.weights().iter().map(|weight| *weight as f32).collect();
        let inside = |count: usize| gpu.upload(&per_inside(blur.weights(), count));
        Ok(Self {
            smooth_pixels: gpu.kernel(&program(), "smooth_pixels")?,
            weights: gpu.upload(&weights)?,
            per_inside: [inside(camera.height)?, inside(camera.width)?],
            pixels: camera.width * camera.height,
        })
    }

    /// Enqueues the smoothing of `count` images in place, or its transpose. `spare` has the same size.
    ///
    /// # Safety
    /// Both buffers have `count` images of the camera.
    pub unsafe fn enqueue(
        &self,
        view: &CameraView,
        count: usize,
        values: &DeviceBuffer<f32>,
        spare: &DeviceBuffer<f32>,
        is_transposed: bool,
        stream: usize,
    ) -> Result<(), GpuError> {
        let gpu = values.gpu();
        let over_pixels = grid(count, self.pixels.div_ceil(THREADS), THREADS, 0);
        // Both axes commute, also transposed.
        for (axis, [from, to]) in [(1, [values, spare]), (0, [spare, values])] {
            // SAFETY: the caller guarantees the sizes; there is a sum of weights for each row and column.
            unsafe {
                launch_on!(
                    gpu, stream, self.smooth_pixels, over_pixels; view, &self.weights.at(0), &(self.weights.len() as i32),
                    &self.per_inside[axis as usize].at(0), &axis, &i32::from(is_transposed), &from.at(0), &to.at_mut(0)
                )?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weights of both sides sum to one where the line does not end.
    #[test]
    fn weights_inside_a_line_sum_to_one() {
        let blur = Blur::new(2.0);
        let inverse = per_inside(blur.weights(), 30);
        assert!((inverse[15] - 1.0).abs() < 1e-6);
        let at_the_end: f64 = blur.weights().iter().sum();
        assert!((f64::from(inverse[0]) * at_the_end - 1.0).abs() < 1e-6 && inverse[29] == inverse[0]);
    }
}
