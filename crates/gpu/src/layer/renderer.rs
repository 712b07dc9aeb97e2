//! Renders the images of a camera under a layer, on the GPU.

use super::camera::{CameraView, GpuCamera, GpuLight, ImageOutputs, NODE_THREADS, THREADS, grid, program};
use crate::cuda_struct::Ptr;
use crate::memory::launch_on;
use crate::{DeviceBuffer, Gpu, GpuError};
use cudarc::driver::{CudaFunction, LaunchConfig};
use std::sync::Arc;

/// The kernels of a camera, and the memory for the images of several surfaces.
#[derive(Debug)]
pub(super) struct Renderer {
    gpu: Arc<Gpu>,
    pub view: CameraView,
    pub count: usize,
    find_nodes: CudaFunction,
    sharpen_nodes: CudaFunction,
    pixel_heights: CudaFunction,
    track_markers: CudaFunction,
    horizon_heights: CudaFunction,
    find_horizons: CudaFunction,
    cast_shadows: CudaFunction,
    shade_calibrated: CudaFunction,
    shade_phong: CudaFunction,
    heights: DeviceBuffer<f32>,
    sharp: DeviceBuffer<f32>,
    pub margins: DeviceBuffer<f32>,
    pub rim: DeviceBuffer<i32>,
    /// Column and row of each marker (pixels), (surfaces, markers, 2).
    pub tracks: DeviceBuffer<f32>,
    pub z: DeviceBuffer<f32>,
    /// Heights smoothed along one axis, for a camera that smooths.
    half_smooth: DeviceBuffer<f32>,
    pub seen: DeviceBuffer<u32>,
    /// Heights of the nodes of horizons, the highest of each tile of nodes, and the horizons of the three lamps.
    pub horizon_nodes: DeviceBuffer<f32>,
    highest: DeviceBuffer<f32>,
    horizons: DeviceBuffer<f32>,
    /// The fraction of each lamp's light that reaches each pixel.
    lit: DeviceBuffer<f32>,
}

impl Renderer {
    /// Allocates for `count` surfaces, in the view of a camera.
    pub fn new(gpu: &Arc<Gpu>, camera: &GpuCamera, view: CameraView, count: usize) -> Result<Self, GpuError> {
        let kernel = |name: &str| gpu.kernel(&program(), name);
        let ([height, width], [nodes, horizons]) = (camera.image_size(), camera.nodes());
        let smoothed = if camera.smoothing.is_some() { count * height * width } else { 0 };
        let shadows = match &camera.light {
            GpuLight::Phong { lamps, shadow: Some(_), .. } => lamps.len(),
            _ => 0,
        };
        Ok(Self {
            gpu: Arc::clone(gpu),
            view,
            count,
            find_nodes: kernel("find_nodes")?,
            sharpen_nodes: kernel("sharpen_nodes")?,
            pixel_heights: kernel("pixel_heights")?,
            track_markers: kernel("track_markers")?,
            horizon_heights: kernel("horizon_heights")?,
            find_horizons: kernel("find_horizons")?,
            cast_shadows: kernel("cast_shadows")?,
            shade_calibrated: kernel("shade_calibrated")?,
            shade_phong: kernel("shade_phong")?,
            heights: gpu.uninitialised(count * nodes)?,
            sharp: gpu.uninitialised(count * nodes)?,
            margins: gpu.uninitialised(count * nodes)?,
            rim: gpu.uninitialised(count)?,
            tracks: gpu.uninitialised(2 * count * camera.markers())?,
            z: gpu.uninitialised(count * height * width)?,
            half_smooth: gpu.uninitialised(smoothed)?,
            seen: gpu.uninitialised(2 * count)?,
            horizon_nodes: gpu.uninitialised(count * horizons)?,
            highest: gpu.uninitialised(count * camera.horizon_tiles())?,
            horizons: gpu.uninitialised(3 * count * horizons)?,
            lit: gpu.uninitialised(count * shadows * height * width)?,
        })
    }

    /// Enqueues the positions of the markers in the images.
    ///
    /// # Safety
    /// There are as many surfaces as this was made for.
    pub unsafe fn enqueue_tracks(&self, camera: &GpuCamera, surfaces: Ptr<f64>, stream: usize) -> Result<(), GpuError> {
        if camera.markers() == 0 {
            return Ok(());
        }
        let over_markers = grid(self.count, camera.markers().div_ceil(NODE_THREADS), NODE_THREADS, 0);
        // SAFETY: the caller guarantees the surfaces; there is a track for each marker.
        unsafe {
            launch_on!(
                self.gpu, stream, self.track_markers, over_markers;
                &self.view, &surfaces, &camera.points.at(0), &self.tracks.at_mut(0)
            )
        }
    }

    /// Enqueues the heights of all pixels, the horizons and the positions of the markers.
    ///
    /// # Safety
    /// There are as many surfaces as this was made for.
    pub unsafe fn enqueue_relief(&self, camera: &GpuCamera, surfaces: Ptr<f64>, stream: usize) -> Result<(), GpuError> {
        let (gpu, view, count) = (&self.gpu, &self.view, self.count);
        let ([height, width], [nodes, _]) = (camera.image_size(), camera.nodes());
        let over_nodes = grid(count, nodes.div_ceil(NODE_THREADS), NODE_THREADS, 0);
        let over_pixels = grid(count, (height * width).div_ceil(THREADS), THREADS, 0);
        let (heights, sharp, margins) = (&self.heights.at_mut(0), &self.sharp.at_mut(0), &self.margins.at_mut(0));
        let (rim, z, across, down) = (&self.rim.at_mut(0), &self.z.at_mut(0), &camera.across.at(0), &camera.down.at(0));
        self.rim.clear_on(stream)?;
        // SAFETY: nodes, pixels and tracks have space for every surface; all taps are valid nodes.
        unsafe {
            launch_on!(gpu, stream, self.find_nodes, over_nodes; view, &surfaces, heights, margins, rim)?;
            launch_on!(gpu, stream, self.sharpen_nodes, over_nodes; view, heights, sharp)?;
            launch_on!(gpu, stream, self.pixel_heights, over_pixels; view, sharp, across, down, z)?;
            if let Some(smoothing) = &camera.smoothing {
                smoothing.enqueue(view, count, &self.z, &self.half_smooth, false, stream)?;
            }
            self.enqueue_tracks(camera, surfaces, stream)?;
            self.enqueue_horizons(camera, stream)
        }
    }

    /// The threads of kernels that shade 32 pixels of a row per warp.
    pub fn over_lines(&self, camera: &GpuCamera) -> LaunchConfig {
        let [height, width] = camera.image_size();
        let mut config = grid(self.count, height.div_ceil(THREADS / 32), THREADS, 0);
        config.grid_dim.2 = width.div_ceil(32) as u32;
        config
    }

    /// The horizons of the three lamps, null without shadows.
    pub fn horizons(&self) -> Ptr<f32> {
        if self.horizons.is_empty() { Ptr::default() } else { self.horizons.at(0) }
    }

    /// Enqueues the images of all surfaces, and the positions of their markers.
    ///
    /// # Safety
    /// There are as many surfaces and images as this was made for.
    pub unsafe fn enqueue(
        &self,
        camera: &GpuCamera,
        surfaces: Ptr<f64>,
        images: ImageOutputs,
        stream: usize,
    ) -> Result<(), GpuError> {
        let (gpu, view, count, [height, width]) = (&self.gpu, &self.view, self.count, camera.image_size());
        let over_pixels = grid(count, (height * width).div_ceil(THREADS), THREADS, 0);
        let (margins, rim, z, tracks) = (&self.margins.at(0), &self.rim.at(0), &self.z.at(0), &self.tracks.at(0));
        let (across, down, background) = (&camera.across.at(0), &camera.down.at(0), &camera.background.at(0));
        self.seen.clear_on(stream)?;
        // SAFETY: pixels, tracks and images have space for every surface; all taps are valid nodes.
        unsafe {
            self.enqueue_relief(camera, surfaces, stream)?;
            match &camera.light {
                GpuLight::Calibrated { light, lines, shadow_lines, positions, nodes, lamps, .. } => {
                    launch_on!(
                        gpu, stream, self.shade_calibrated, self.over_lines(camera); view, light, nodes, &lamps.at(0), &self.horizons(),
                        background, &lines.at(0), &shadow_lines.at(0), &positions.at(0), z, margins, rim, across, down, tracks,
                        &images, &self.seen.at_mut(0)
                    )
                }
                GpuLight::Phong { lamps, shininess, shadow } => {
                    let lit = &if shadow.is_some() { self.lit.at(0) } else { Ptr::default() };
                    if let Some(shadow) = shadow {
                        let config = grid(count, lamps.len(), THREADS, 8 * height.max(width));
                        launch_on!(
                            gpu, stream, self.cast_shadows, config; view, &lamps.at(0), &shadow.strength, &shadow.softness_m,
                            &shadow.pixel_m, z, &self.lit.at_mut(0)
                        )?;
                    }
                    launch_on!(
                        gpu, stream, self.shade_phong, over_pixels; view, &lamps.at(0), &(lamps.len() as i32), shininess, background, lit,
                        z, margins, rim, across, down, tracks, &images
                    )
                }
            }
        }
    }

    /// Enqueues the horizon of every node towards the lamps of a calibrated light with shadows.
    ///
    /// # Safety
    /// As for [`Renderer::enqueue`].
    unsafe fn enqueue_horizons(&self, camera: &GpuCamera, stream: usize) -> Result<(), GpuError> {
        let GpuLight::Calibrated { nodes, lamps, sight_points, .. } = &camera.light else { return Ok(()) };
        if lamps.is_empty() {
            return Ok(());
        }
        let tiles = camera.horizon_tiles();
        let over = |tiles: usize| grid(self.count, (32 * tiles).div_ceil(NODE_THREADS), NODE_THREADS, 0);
        let (heights, highest) = (&self.horizon_nodes.at_mut(0), &self.highest.at_mut(0));
        // SAFETY: there is a value for each surface and node, and a horizon for each lamp.
        unsafe {
            launch_on!(
                self.gpu, stream, self.horizon_heights, over(tiles);
                &self.view, nodes, &self.z.at(0), heights, highest
            )?;
            launch_on!(
                self.gpu, stream, self.find_horizons, over(3 * tiles);
                &self.view, nodes, &lamps.at(0), &sight_points.at(0), &(sight_points.len() as i32), heights, highest,
                &self.horizons.at_mut(0)
            )
        }
    }
}
