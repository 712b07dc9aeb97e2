//! A camera behind a layer, on the GPU.

use super::{CameraDescription, LampDescription, LightDescription, ShadowDescription, SheetDescription};
use crate::program::Program;
use crate::{Gpu, GpuError};
use cudarc::driver::{CudaFunction, CudaSlice, CudaViewMut, DeviceRepr, LaunchConfig, PushKernelArg};

pub(super) fn program() -> Program {
    Program::new("sight", &[include_str!("optics.cu")], &[])
}

/// As in optics.cu.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct CameraFrame {
    rows: i32,
    cols: i32,
    cell: f64,
    center: [f64; 2],
    width: i32,
    height: i32,
    pixel: f64,
    distance: f64,
    axis: [f64; 2],
    axis_px: [f64; 2],
    right: f64,
    first: [i32; 2],
    stride: i32,
    nodes: [i32; 2],
    exposure: f32,
    vignetting: f32,
    markers: i32,
    radius: f32,
    colour: [f32; 3],
}

// SAFETY: plain numbers, laid out as in optics.cu.
#[allow(unsafe_code)]
unsafe impl DeviceRepr for CameraFrame {}

/// As in optics.cu.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Tap {
    first: i32,
    weights: [f32; 4],
}

// SAFETY: plain numbers, laid out as in optics.cu.
#[allow(unsafe_code)]
unsafe impl DeviceRepr for Tap {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl DeviceRepr for LampDescription {}

/// As in optics.cu.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Fitted {
    degree: i32,
    monomials: i32,
    deepest_mm: f32,
    least_slope: f32,
    least_mm: f32,
}

// SAFETY: plain numbers, laid out as in optics.cu.
#[allow(unsafe_code)]
unsafe impl DeviceRepr for Fitted {}

#[derive(Debug)]
enum LightTables {
    Fitted { light: Fitted, lines: CudaSlice<f32>, places: CudaSlice<f32>, products: CudaSlice<i32> },
    Lamps { lamps: CudaSlice<LampDescription>, count: usize, shininess: i32, shadow: Option<ShadowDescription> },
}

/// A camera on the GPU.
#[derive(Debug)]
pub(super) struct CameraTables {
    sight: CameraFrame,
    across: CudaSlice<Tap>,
    down: CudaSlice<Tap>,
    points: CudaSlice<f64>,
    background: CudaSlice<f32>,
    light: LightTables,
    find_nodes: CudaFunction,
    sharpen: CudaFunction,
    relief: CudaFunction,
    track: CudaFunction,
    shade: CudaFunction,
    shadow: CudaFunction,
}

/// Threads of a block that shades.
const THREADS: usize = 256;
/// More blocks than this do not stand in one row.
const MAX_PIXELS: usize = 65_535 * THREADS;
/// Threads of a block that looks nodes up.
const FEW: usize = 128;

fn grid(x: usize, y: usize, threads: usize, shared_bytes: usize) -> LaunchConfig {
    let block_dim = (threads as u32, 1, 1);
    LaunchConfig { grid_dim: (x as u32, y as u32, 1), block_dim, shared_mem_bytes: shared_bytes as u32 }
}

impl CameraTables {
    pub fn new(gpu: &Gpu, sheet: &SheetDescription, camera: &CameraDescription) -> Result<Self, GpuError> {
        if camera.width.div_ceil(32) * 32 * camera.height > MAX_PIXELS {
            let why = format!("{} x {} pixels are more than {MAX_PIXELS}", camera.width, camera.height);
            return Err(GpuError::Unsupported { what: format!("an image of {}", sheet.name), why });
        }
        let (stream, module) = (&gpu.stream, gpu.program(&program())?);
        let kernel = |name: &str| -> Result<CudaFunction, GpuError> { Ok(module.load_function(name)?) };
        let tap = |&(first, weights): &(usize, [f32; 4])| Tap { first: first as i32, weights };
        let taps = |all: &[(usize, [f32; 4])]| stream.clone_htod(&all.iter().map(tap).collect::<Vec<_>>());
        let dots = camera.markers.as_ref();
        let sight = CameraFrame {
            rows: sheet.rows as i32,
            cols: sheet.cols as i32,
            cell: sheet.cell_m,
            center: sheet.center_m,
            width: camera.width as i32,
            height: camera.height as i32,
            pixel: camera.pixel_m,
            distance: camera.distance_m.unwrap_or(0.0),
            axis: camera.axis_m,
            axis_px: camera.axis_px,
            right: if camera.mirror { -1.0 } else { 1.0 },
            first: camera.first,
            stride: camera.stride as i32,
            nodes: camera.nodes.map(|count| count as i32),
            exposure: camera.exposure,
            vignetting: camera.vignetting,
            markers: dots.map_or(0, |dots| dots.points_m.len() as i32),
            radius: dots.map_or(0.0, |dots| dots.radius_px),
            colour: dots.map_or([0.0; 3], |dots| dots.colour),
        };
        let mut points: Vec<f64> = dots.map(|dots| dots.points_m.as_flattened().to_vec()).unwrap_or_default();
        points.resize(points.len().max(2), 0.0);
        let (light, shade) = match &camera.light {
            LightDescription::Fitted { degree, monomials, lines, places, deepest_mm, least_slope, least_mm } => {
                let products: Vec<i32> = monomials
                    .iter()
                    .flat_map(|&(earlier, factor)| [earlier.map_or(-1, |k| k as i32), factor as i32])
                    .collect();
                let light = Fitted {
                    degree: *degree as i32,
                    monomials: monomials.len() as i32,
                    deepest_mm: *deepest_mm,
                    least_slope: *least_slope,
                    least_mm: *least_mm,
                };
                let (lines, places) = (stream.clone_htod(lines)?, stream.clone_htod(places)?);
                let products = stream.clone_htod(&products)?;
                (LightTables::Fitted { light, lines, places, products }, "shade_fitted")
            }
            LightDescription::Lamps { lamps, shininess, shadow } => {
                let count = lamps.len();
                let dark =
                    LampDescription { direction: [0.0; 3], diffuse: [0.0; 3], specular: [0.0; 3], flat: [0.0; 2] };
                let lamps = stream.clone_htod(if lamps.is_empty() { std::slice::from_ref(&dark) } else { lamps })?;
                let shadow = shadow.filter(|_| count > 0);
                (LightTables::Lamps { lamps, count, shininess: *shininess as i32, shadow }, "shade_lamps")
            }
        };
        Ok(Self {
            sight,
            across: taps(&camera.across)?,
            down: taps(&camera.down)?,
            points: stream.clone_htod(&points)?,
            background: stream.clone_htod(&camera.background.concat())?,
            light,
            find_nodes: kernel("find_nodes")?,
            sharpen: kernel("sharpen")?,
            relief: kernel("relief")?,
            track: kernel("track")?,
            shade: kernel(shade)?,
            shadow: kernel("shadow")?,
        })
    }

    /// Height and width (pixels).
    pub fn image(&self) -> [usize; 2] {
        [self.sight.height as usize, self.sight.width as usize]
    }

    /// What is seen of surfaces: along x, y and down, one after the other.
    pub fn look(
        &self,
        gpu: &Gpu,
        surfaces: &CudaSlice<f64>,
        count: usize,
        images: &mut CudaViewMut<'_, u8>,
    ) -> Result<(), GpuError> {
        let (stream, sight) = (&gpu.stream, &self.sight);
        let [height, width] = self.image();
        let (pixels, nodes) = (height * width, (sight.nodes[0] * sight.nodes[1]) as usize);
        let dots = sight.markers as usize;
        let mut heights = stream.alloc_zeros::<f32>(count * nodes)?;
        let mut sharp = stream.alloc_zeros::<f32>(count * nodes)?;
        let mut margins = stream.alloc_zeros::<f32>(count * nodes)?;
        let mut rim = stream.alloc_zeros::<i32>(count)?;
        let mut tracks = stream.alloc_zeros::<f32>((2 * count * dots).max(1))?;
        let mut z = stream.alloc_zeros::<f32>(count * pixels)?;
        // SAFETY: nodes, pixels and tracks have room for every press; taps lead to nodes.
        #[allow(unsafe_code)]
        unsafe {
            let over_nodes = grid(count, nodes.div_ceil(FEW), FEW, 0);
            stream
                .launch_builder(&self.find_nodes)
                .arg(sight)
                .arg(surfaces)
                .arg(&mut heights)
                .arg(&mut margins)
                .arg(&mut rim)
                .launch(over_nodes)?;
            stream.launch_builder(&self.sharpen).arg(sight).arg(&heights).arg(&mut sharp).launch(over_nodes)?;
            stream
                .launch_builder(&self.relief)
                .arg(sight)
                .arg(&sharp)
                .arg(&self.across)
                .arg(&self.down)
                .arg(&mut z)
                .launch(grid(count, pixels.div_ceil(THREADS), THREADS, 0))?;
            if dots > 0 {
                let over_dots = grid(count, dots.div_ceil(FEW), FEW, 0);
                let mut launch = stream.launch_builder(&self.track);
                launch.arg(sight).arg(surfaces).arg(&self.points).arg(&mut tracks).launch(over_dots)?;
            }
        }
        let (lit, config) = match &self.light {
            LightTables::Fitted { light, .. } => {
                let runs = width.div_ceil(32) * height;
                (None, grid(count, runs.div_ceil(THREADS / 32), THREADS, 4 * THREADS * light.monomials as usize))
            }
            LightTables::Lamps { lamps, count: sources, shadow, .. } => {
                let lit = shadow.map(|shadow| self.shadows(gpu, lamps, *sources, shadow, &z, count)).transpose()?;
                (lit, grid(count, pixels.div_ceil(THREADS), THREADS, 0))
            }
        };
        let nothing = 0u64;
        let mut launch = stream.launch_builder(&self.shade);
        launch.arg(sight);
        let sources;
        match &self.light {
            LightTables::Fitted { light, lines, places, products } => {
                launch.arg(light).arg(&self.background).arg(lines).arg(places).arg(products);
            }
            LightTables::Lamps { lamps, count, shininess, .. } => {
                sources = *count as i32;
                launch.arg(lamps).arg(&sources).arg(shininess).arg(&self.background);
                match &lit {
                    Some(lit) => launch.arg(lit),
                    None => launch.arg(&nothing),
                };
            }
        }
        launch.arg(&z).arg(&margins).arg(&rim).arg(&self.across).arg(&self.down).arg(&tracks).arg(images);
        // SAFETY: the images have room for every press.
        #[allow(unsafe_code)]
        unsafe {
            launch.launch(config)?;
        }
        Ok(())
    }

    /// The part of each lamp that reaches each pixel.
    fn shadows(
        &self,
        gpu: &Gpu,
        lamps: &CudaSlice<LampDescription>,
        sources: usize,
        shadow: ShadowDescription,
        z: &CudaSlice<f32>,
        count: usize,
    ) -> Result<CudaSlice<f32>, GpuError> {
        let [height, width] = self.image();
        let mut lit = gpu.stream.alloc_zeros::<f32>(count * sources * height * width)?;
        let ShadowDescription { strength, softness_m, pixel_m } = shadow;
        // SAFETY: there is an image for each press and lamp, and shared memory for two lines of pixels.
        #[allow(unsafe_code)]
        unsafe {
            gpu.stream
                .launch_builder(&self.shadow)
                .arg(&self.sight)
                .arg(lamps)
                .arg(&strength)
                .arg(&softness_m)
                .arg(&pixel_m)
                .arg(z)
                .arg(&mut lit)
                .launch(grid(count, sources, THREADS, 8 * height.max(width)))?;
        }
        Ok(lit)
    }
}
