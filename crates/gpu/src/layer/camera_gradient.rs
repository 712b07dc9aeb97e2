//! Derivatives of a scalar through the images of a camera, on the GPU.

use super::camera::{GpuCamera, GpuLight, NODE_THREADS, THREADS, grid, program};
use super::renderer::Renderer;
use crate::cuda_struct::Ptr;
use crate::memory::launch_on;
use crate::{DeviceBuffer, GpuError};

/// Sight step (cells) of a derivative, which is that of a line of sight that ends on the surface.
const SIGHT_STEP: f64 = 1e-6;

/// First and number of the pixels to which each of `count` nodes contributes, given the first of the four nodes of each pixel.
pub(super) fn pixels_of(firsts: &[usize], count: usize) -> Vec<[i32; 2]> {
    let of = |node: usize| {
        let uses = |first: &usize| (*first..first + 4).contains(&node);
        let pixel = firsts.iter().position(uses).unwrap_or(0);
        // Nodes run along the pixels or against them, so that the pixels of a node follow one another.
        [pixel as i32, firsts[pixel..].iter().take_while(|first| uses(first)).count() as i32]
    };
    (0..count).map(of).collect()
}

impl GpuCamera {
    /// Why there are no derivatives through this camera on a GPU.
    pub fn check_gradient(&self) -> Result<(), &'static str> {
        match &self.light {
            GpuLight::Phong { shadow: Some(_), .. } => Err("its lamps cast shadows; a calibrated light may"),
            _ => Ok(()),
        }
    }

    /// Adds to the derivatives by `count` surfaces (along x, y and down) those by the levels of their images and by column and row of
    /// their markers. A null address is zero.
    ///
    /// # Safety
    /// There are `count` surfaces, images of levels and lists of markers.
    pub unsafe fn pull_back(
        &self,
        surfaces: &DeviceBuffer<f64>,
        count: usize,
        by_images: Ptr<f32>,
        by_markers: Ptr<f64>,
        by_surfaces: &DeviceBuffer<f64>,
    ) -> Result<(), GpuError> {
        let (gpu, stream) = (surfaces.gpu(), surfaces.gpu().stream_handle());
        let kernel = |name: &str| gpu.kernel(&program(), name);
        let mut view = self.view;
        view.sight_step = SIGHT_STEP;
        let (markers, [height, width], [nodes, horizons]) = (self.markers(), self.image_size(), self.nodes());
        let by_tracks = gpu.zeros::<f64>(2 * count * markers)?;
        let (surface, to) = (&surfaces.at(0), &by_surfaces.at_mut(0));
        if by_images.0 != 0 {
            let renderer = Renderer::new(gpu, self, view, count)?;
            let by_relief = gpu.uninitialised::<f32>(3 * count * height * width)?;
            let by_nodes = gpu.uninitialised::<f64>(count * nodes)?;
            let by_horizons = gpu.zeros::<f64>(3 * count * horizons)?;
            let node_rows = view.nodes[0] as usize;
            let (margins, rim, z) = (&renderer.margins.at(0), &renderer.rim.at(0), &renderer.z.at(0));
            let (tracks, relief) = (&renderer.tracks.at(0), &by_relief.at_mut(0));
            let (across, down, background) = (&self.across.at(0), &self.down.at(0), &self.background.at(0));
            let over_pixels = grid(count, (height * width).div_ceil(THREADS), THREADS, 0);
            // SAFETY: all buffers have space for every surface, and each node has the pixels that it contributes to.
            unsafe {
                renderer.enqueue_relief(self, *surface, stream)?;
                match &self.light {
                    GpuLight::Calibrated { light, lines, shadow_lines, positions, nodes, lamps, sight_points } => {
                        launch_on!(
                            gpu, stream, kernel("pull_back_calibrated")?, renderer.over_lines(self); &view, light, nodes, &lamps.at(0),
                            &renderer.horizons(), background, &lines.at(0), &shadow_lines.at(0), &positions.at(0), z, margins, rim,
                            across, down, tracks, &by_images, relief, &by_tracks.at_mut(0), &by_horizons.at_mut(0)
                        )?;
                        if horizons > 0 {
                            launch_on!(
                                gpu, stream, kernel("pull_back_horizons")?,
                                grid(count, (3 * horizons).div_ceil(NODE_THREADS), NODE_THREADS, 0);
                                &view, nodes, &lamps.at(0), &sight_points.at(0), &(sight_points.len() as i32),
                                &renderer.horizon_nodes.at(0), &by_horizons.at(0), relief
                            )?;
                        }
                    }
                    GpuLight::Phong { lamps, shininess, .. } => launch_on!(
                        gpu, stream, kernel("pull_back_phong")?, over_pixels; &view, &lamps.at(0), &(lamps.len() as i32), shininess,
                        background, z, margins, rim, across, down, tracks, &by_images, relief, &by_tracks.at_mut(0)
                    )?,
                }
                let by_heights = match &self.smoothing {
                    Some(smoothing) => {
                        let by_heights = gpu.uninitialised(count * height * width)?;
                        launch_on!(
                            gpu, stream, kernel("collect_by_heights")?, over_pixels; &view, relief, &by_heights.at_mut(0)
                        )?;
                        // The smoothed heights are no longer needed.
                        smoothing.enqueue(&view, count, &by_heights, &renderer.z, true, stream)?;
                        Some(by_heights)
                    }
                    None => None,
                };
                let heights = &by_heights.as_ref().map_or(Ptr::default(), |by_heights| by_heights.at(0));
                launch_on!(
                    gpu, stream, kernel("pull_back_pixels")?, grid(count, node_rows, THREADS, 8 * width);
                    &view, across, down, &self.pixels[1].at(0), &self.pixels[0].at(0), relief, heights, &by_nodes.at_mut(0)
                )?;
                launch_on!(
                    gpu, stream, kernel("pull_back_nodes")?, grid(count, nodes.div_ceil(NODE_THREADS), NODE_THREADS, 0);
                    &view, surface, &by_nodes.at(0), to
                )?;
            }
        }
        if markers > 0 {
            // SAFETY: there is a derivative for each marker.
            unsafe {
                launch_on!(
                    gpu, stream, kernel("pull_back_markers")?, grid(count, markers.div_ceil(NODE_THREADS), NODE_THREADS, 0);
                    &view, surface, &self.points.at(0), &by_tracks.at(0), &by_markers, to
                )?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pixels in either direction, with nodes that no pixel uses.
    #[test]
    fn nodes_know_their_pixels() {
        assert_eq!(
            pixels_of(&[1, 1, 2, 4], 9),
            [[0, 0], [0, 2], [0, 3], [0, 3], [0, 4], [2, 2], [3, 1], [3, 1], [0, 0]]
        );
        assert_eq!(pixels_of(&[4, 2, 1], 6), [[0, 0], [2, 1], [1, 2], [1, 2], [0, 3], [0, 2]]);
    }
}
