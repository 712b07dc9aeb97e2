//! The camera under a layer, on the GPU.

use super::camera_gradient::pixels_of;
use super::renderer::Renderer;
use super::smoothing::GpuSmoothing;
use crate::cuda_struct::{PtrMut, cuda_struct};
use crate::program::{COMMON, Program};
use crate::{DeviceBuffer, Gpu, GpuError};
use cudarc::driver::LaunchConfig;
use dermis_sensor::optics::{
    Calibrated, Camera, ImageCoordinates, Lattice, Light, MAX_SURFACE_DEGREE, MIN_HIDDEN, MIN_PRESSED_MM, MIN_SLOPE,
    Membrane, Optics, Phong, SHADOW_POSITION_DEGREE, Shadow, along_row, node_stride, sight_points_m,
};
use dermis_skin::SurfaceField;
use std::sync::Arc;

pub(super) fn program() -> Program {
    const SOURCE: &[&str] = &[
        COMMON,
        CameraView::CUDA,
        Tap::CUDA,
        CalibratedLight::CUDA,
        HorizonNodes::CUDA,
        SideLamp::CUDA,
        SightPoint::CUDA,
        Lamp::CUDA,
        ImageOutputs::CUDA,
        include_str!("camera.cu"),
        include_str!("phong.cu"),
        include_str!("camera_gradient.cu"),
    ];
    let options = [
        format!("-DTILE_ROWS={}", TILE[0]),
        format!("-DTILE_COLS={}", TILE[1]),
        format!("-DMAX_SURFACE_DEGREE={MAX_SURFACE_DEGREE}"),
    ];
    Program::new("layer-camera", SOURCE, &options.each_ref().map(String::as_str))
}

cuda_struct! {
    /// A camera and the surface in its view.
    pub(super) struct CameraView {
        /// The surface: number of cells, their edge (m) and the centre (m).
        rows: i32,
        cols: i32,
        cell: f64,
        center: [f64; 2],
        /// Image size (pixels), the size of a pixel on the undeformed surface (m), and its inverse (1/m).
        width: i32,
        height: i32,
        pixel: f64,
        per_pixel: f64,
        /// Distance from the pinhole to that surface (m); zero for an infinite distance.
        distance: f64,
        /// Intersection of the optical axis with the surface (m) and the image (pixels); −1 for a mirrored image, else
        /// 1.
        axis: [f64; 2],
        axis_px: [f64; 2],
        right: f64,
        /// Step (cells) below which a line of sight has met the surface.
        pub sight_step: f64,
        /// Nodes where the surface is evaluated: cell coordinates of the first, cells from one node to the next, and
        /// count.
        first: [i32; 2],
        stride: i32,
        pub nodes: [i32; 2],
        exposure: f32,
        vignetting: f32,
        /// Markers on the gel: count, radius (pixels) and colour (levels).
        markers: i32,
        radius: f32,
        colour: [f32; 3],
    }
}

cuda_struct! {
    /// Four nodes, starting at `first`, whose weighted sum is the value of a pixel.
    pub(super) struct Tap {
        first: i32,
        weights: [f32; 4],
    }
}

cuda_struct! {
    /// Parameters of a calibrated light.
    pub(super) struct CalibratedLight {
        /// Degree of the polynomials in position.
        degree: i32,
        /// Number of monomials of the normal of F, and of G, with 1 (0 without shadows).
        lit: i32,
        shadowed: i32,
        /// Inverse square of the largest length of the normal's components in the image plane; longer ones are shortened to it.
        per_normal_squared: f32,
        /// Square of the slope above which a pixel is steeper than the data of the light.
        steep_squared: f32,
        /// Depth (mm) from which a pixel is pressed.
        min_depth_mm: f32,
        /// If slopes and hidden parts of the lamps of 32 adjacent pixels are smaller, no light is added.
        min_slope: f32,
        min_hidden: f32,
        /// The change is multiplied by the image without contact times this; 0: by 1.
        per_background: f32,
        /// 0: a shadow adds to the light; else it replaces the light, and is multiplied by the image without contact times this.
        shadow_per_background: f32,
        /// Limits of the change and of the level of each colour.
        min_change: [f32; 3],
        max_change: [f32; 3],
        min_level: [f32; 3],
        max_level: [f32; 3],
    }
}

cuda_struct! {
    /// Nodes of the horizons: pixels between them and the inverse, and number.
    pub(super) struct HorizonNodes {
        stride: i32,
        per_stride: f32,
        rows: i32,
        cols: i32,
    }
}

cuda_struct! {
    /// A lamp that casts shadows: unit vector from the image centre (right, down), inverse of its distance (1/m; zero
    /// if far away), tangent of the elevation of its lower edge, inverse of the difference to that of its upper edge.
    pub(super) struct SideLamp {
        direction: [f32; 2],
        per_distance: f32,
        lower: f32,
        per_width: f32,
    }
}

cuda_struct! {
    /// A point on the line of sight to a lamp: its distance in nodes of the horizons, and the inverse of its distance
    /// (1/m).
    pub(super) struct SightPoint {
        nodes: f32,
        per_distance: f32,
    }
}

cuda_struct! {
    /// A distant lamp: its direction (right, up, towards the camera), colours (levels), and the diffuse and specular
    /// factors of a flat gel, which are subtracted (zero if the light is not relative to a flat gel).
    pub(super) struct Lamp {
        direction: [f32; 3],
        diffuse: [f32; 3],
        specular: [f32; 3],
        flat: [f32; 2],
    }
}

cuda_struct! {
    /// Where images are written: rounded to eight bits, red, green and blue of each pixel, and before rounding; either may be null.
    #[derive(Default)]
    pub(super) struct ImageOutputs {
        pub rounded: PtrMut<u8>,
        pub levels: PtrMut<f32>,
    }
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a batch has one")]
pub(super) enum GpuLight {
    Calibrated {
        light: CalibratedLight,
        lines: DeviceBuffer<[f32; 4]>,
        shadow_lines: DeviceBuffer<[f32; 4]>,
        positions: DeviceBuffer<f32>,
        nodes: HorizonNodes,
        /// The lamps of red, green and blue, or none.
        lamps: DeviceBuffer<SideLamp>,
        sight_points: DeviceBuffer<SightPoint>,
    },
    Phong {
        lamps: DeviceBuffer<Lamp>,
        shininess: i32,
        shadow: Option<Shadow>,
    },
}

/// A camera on the GPU.
#[derive(Debug)]
pub(super) struct GpuCamera {
    pub view: CameraView,
    pub across: DeviceBuffer<Tap>,
    pub down: DeviceBuffer<Tap>,
    /// First and number of the pixels of each row of nodes, and of each column.
    pub pixels: [DeviceBuffer<[i32; 2]>; 2],
    pub points: DeviceBuffer<f64>,
    pub background: DeviceBuffer<f32>,
    pub light: GpuLight,
    pub smoothing: Option<GpuSmoothing>,
}

/// Threads per block: for pixels, and for nodes or markers.
pub(super) const THREADS: usize = 256;
pub(super) const NODE_THREADS: usize = 128;
/// Rows and columns of nodes in a tile of horizons: one node per lane of a warp.
const TILE: [usize; 2] = [4, 8];
/// Maximum number of pixels: CUDA's limit on blocks along y, times the threads per block.
const MAX_PIXELS: usize = 65_535 * THREADS;

pub(super) fn grid(x: usize, y: usize, threads: usize, shared_bytes: usize) -> LaunchConfig {
    let block_dim = (threads as u32, 1, 1);
    LaunchConfig { grid_dim: (x as u32, y as u32, 1), block_dim, shared_mem_bytes: shared_bytes as u32 }
}

/// Refuses images that are too large, and mounts that yield.
pub(super) fn check(optics: &Optics) -> Result<(), String> {
    let camera = optics.camera();
    if camera.mount_newton_per_m.is_some() {
        return Err("the mount of its gel yields (`camera.mount_stiffness`)".to_owned());
    }
    if let Light::Calibrated(light) = optics.light()
        && light.depends_on_depth()
    {
        return Err("its light depends on the depth (`light.depth`)".to_owned());
    }
    if camera.width * camera.height > MAX_PIXELS {
        return Err(format!("its image of {} x {} pixels has more than {MAX_PIXELS}", camera.width, camera.height));
    }
    Ok(())
}

impl GpuCamera {
    /// Uploads a camera under a surface.
    pub fn new(gpu: &Arc<Gpu>, surface: &SurfaceField, optics: &Optics) -> Result<Self, GpuError> {
        let (camera, exposure, markers) = (optics.camera(), optics.exposure(), optics.markers());
        let (lattice, membrane) = (Lattice::over(surface, camera), Membrane::new(surface));
        let taps = |axis: usize| {
            let taps = lattice.taps(&membrane, camera, axis);
            let taps: Vec<_> = taps.iter().map(|tap| Tap { first: tap.first as i32, weights: tap.weights }).collect();
            gpu.upload(&taps)
        };
        let pixels = |axis: usize, nodes: usize| {
            let firsts: Vec<usize> = lattice.taps(&membrane, camera, axis).iter().map(|tap| tap.first).collect();
            gpu.upload(&pixels_of(&firsts, nodes))
        };
        let view = CameraView {
            rows: surface.rows as i32,
            cols: surface.cols as i32,
            cell: surface.cell_m,
            center: [surface.center.x, surface.center.y],
            width: camera.width as i32,
            height: camera.height as i32,
            pixel: camera.pixel_m,
            per_pixel: 1.0 / camera.pixel_m,
            distance: camera.distance_m.unwrap_or(0.0),
            axis: camera.axis_m,
            axis_px: camera.axis_px,
            right: camera.right(),
            sight_step: camera.sight_step,
            first: lattice.first.map(|first| first as i32),
            stride: lattice.stride as i32,
            nodes: [lattice.rows as i32, lattice.cols as i32],
            exposure: exposure.factor,
            vignetting: exposure.vignetting,
            markers: markers.map_or(0, |markers| markers.points_m().len() as i32),
            radius: markers.map_or(0.0, |markers| (markers.radius_m() / camera.pixel_m) as f32),
            colour: markers.map_or([0.0; 3], |markers| markers.colour()),
        };
        // Compiles the kernels now rather than with the first image.
        gpu.program(&program())?;
        let (background, light) = match optics.light() {
            Light::Calibrated(light) => (light.background(), GpuLight::calibrated(gpu, light, camera)?),
            Light::Phong(light) => (light.background(), GpuLight::phong(gpu, light)?),
        };
        Ok(Self {
            view,
            across: taps(1)?,
            down: taps(0)?,
            pixels: [pixels(0, lattice.rows)?, pixels(1, lattice.cols)?],
            points: gpu.upload(markers.map_or(&[][..], |markers| markers.points_m().as_flattened()))?,
            background: gpu.upload(&background.channels.concat())?,
            light,
            smoothing: camera.blur().map(|blur| GpuSmoothing::new(gpu, &blur, camera)).transpose()?,
        })
    }

    /// Height and width (pixels).
    pub fn image_size(&self) -> [usize; 2] {
        [self.view.height as usize, self.view.width as usize]
    }

    /// Renders the images of `count` surfaces (displacement along x, y and down, one after the other). Returns for each the
    /// fraction of the pressed pixels that are steeper than the data of the light.
    ///
    /// # Safety
    /// The outputs have room for `count` images.
    pub unsafe fn render(
        &self,
        surfaces: &DeviceBuffer<f64>,
        count: usize,
        images: ImageOutputs,
    ) -> Result<Vec<f64>, GpuError> {
        let gpu = surfaces.gpu();
        let renderer = Renderer::new(gpu, self, self.view, count)?;
        // SAFETY: there are `count` surfaces and images; one stream orders the work with the release of the memory.
        unsafe { renderer.enqueue(self, surfaces.at(0), images, gpu.stream_handle())? };
        let steep = |seen: &[u32]| f64::from(seen[1]) / f64::from(seen[0].max(1));
        Ok(renderer.seen.download()?.chunks_exact(2).map(steep).collect())
    }

    /// Number of markers.
    pub fn markers(&self) -> usize {
        self.view.markers as usize
    }

    /// Number of nodes where the surface is evaluated, and of those of horizons.
    pub fn nodes(&self) -> [usize; 2] {
        let horizons = match &self.light {
            GpuLight::Calibrated { nodes, lamps, .. } if !lamps.is_empty() => (nodes.rows * nodes.cols) as usize,
            _ => 0,
        };
        [(self.view.nodes[0] * self.view.nodes[1]) as usize, horizons]
    }

    /// Number of tiles of the nodes of horizons.
    pub fn horizon_tiles(&self) -> usize {
        match &self.light {
            GpuLight::Calibrated { nodes, .. } => {
                (nodes.rows as usize).div_ceil(TILE[0]) * (nodes.cols as usize).div_ceil(TILE[1])
            }
            GpuLight::Phong { .. } => 0,
        }
    }
}

impl GpuLight {
    fn calibrated(gpu: &Arc<Gpu>, light: &Calibrated, camera: &Camera) -> Result<Self, GpuError> {
        let frame = ImageCoordinates::new(camera.width, camera.height, light.area());
        let lines_of = |levels: &[Vec<f64>; 3], degree: usize| {
            let per_monomial = (degree + 1) * (degree + 2) / 2;
            let monomials = levels[0].len() / per_monomial;
            let mut lines: Vec<[f32; 4]> = Vec::new();
            for row in 0..camera.height {
                let y = frame.at(0.0, row as f64)[1];
                for k in 0..monomials {
                    let of = |levels: &[f64]| along_row(&levels[k * per_monomial..(k + 1) * per_monomial], degree, y);
                    let [red, green, blue] = [0, 1, 2].map(|c| of(&levels[c]));
                    lines.extend((0..=degree).map(|power| [red[power], green[power], blue[power], 0.0]));
                }
            }
            (monomials, lines)
        };
        let degree = light.position_degree();
        let (lit, lines) = lines_of(light.levels(), degree);
        let (shadowed, shadow_lines) =
            light.shadow().map_or((0, Vec::new()), |shadow| lines_of(&shadow.levels, SHADOW_POSITION_DEGREE));
        let positions: Vec<f32> = (0..camera.width).map(|column| frame.at(column as f64, 0.0)[0] as f32).collect();
        let lamp = |lamp: &dermis_sensor::optics::SideLamp| SideLamp {
            direction: lamp.direction,
            per_distance: lamp.per_distance,
            lower: lamp.lower,
            per_width: lamp.per_width,
        };
        let lamps: Vec<SideLamp> = light.shadow().iter().flat_map(|shadow| &shadow.lamps).map(lamp).collect();
        let stride = node_stride(camera.pixel_m);
        let node_m = camera.pixel_m as f32 * stride as f32;
        let sight_points = sight_points_m().map(|m| SightPoint { nodes: m / node_m, per_distance: 1.0 / m });
        let nodes = |pixels: usize| ((pixels - 1).div_ceil(stride) + 1) as i32;
        let limits = CalibratedLight {
            degree: degree as i32,
            lit: lit as i32,
            shadowed: shadowed as i32,
            per_normal_squared: 1.0 / (light.steepest() * light.steepest()),
            steep_squared: light.steep_squared(),
            min_depth_mm: MIN_PRESSED_MM,
            min_slope: MIN_SLOPE,
            min_hidden: MIN_HIDDEN,
            per_background: light.proportional_to().map_or(0.0, |level| 1.0 / level),
            shadow_per_background: light.shadow_proportional_to().map_or(0.0, |level| 1.0 / level),
            min_change: light.change().map(|[low, _]| low),
            max_change: light.change().map(|[_, high]| high),
            min_level: light.range().map(|[low, _]| low),
            max_level: light.range().map(|[_, high]| high),
        };
        Ok(Self::Calibrated {
            light: limits,
            lines: gpu.upload(&lines)?,
            shadow_lines: gpu.upload(&shadow_lines)?,
            positions: gpu.upload(&positions)?,
            nodes: HorizonNodes {
                stride: stride as i32,
                per_stride: 1.0 / stride as f32,
                rows: nodes(camera.height),
                cols: nodes(camera.width),
            },
            lamps: gpu.upload(&lamps)?,
            sight_points: gpu.upload(&sight_points)?,
        })
    }

    fn phong(gpu: &Arc<Gpu>, light: &Phong) -> Result<Self, GpuError> {
        let lamps: Vec<Lamp> = light
            .sources()
            .map(|(source, flat)| Lamp {
                direction: source.direction,
                diffuse: source.diffuse,
                specular: source.specular,
                flat,
            })
            .collect();
        let shadow = light.shadow().copied().filter(|_| !lamps.is_empty());
        Ok(Self::Phong { lamps: gpu.upload(&lamps)?, shininess: light.shininess() as i32, shadow })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::{LayerBatch, surface_of};
    use dermis_sensor::SensorSpec;

    /// The four nodes of every pixel exist.
    #[test]
    fn taps_lead_to_nodes() {
        let sensor = SensorSpec::find("gelsight").unwrap().0.build(None).unwrap();
        let surface = surface_of(LayerBatch::check(&sensor).unwrap());
        let camera = sensor.optics().unwrap().camera();
        let (lattice, membrane) = (Lattice::over(&surface, camera), Membrane::new(&surface));
        assert!(lattice.taps(&membrane, camera, 1).iter().all(|tap| tap.first + 4 <= lattice.cols));
        assert!(lattice.taps(&membrane, camera, 0).iter().all(|tap| tap.first + 4 <= lattice.rows));
    }
}
