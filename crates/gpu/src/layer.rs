//! Batches of presses on an elastic layer, with the images of the camera under it.
//!
//! A press rasterizes the object into a height map over the layer's cells. One block of threads then solves pressure
//! and shear by the CPU's iterations, with Fourier transforms in shared memory if they fit. Transforms of the whole
//! grid give the surface displacement and the stress at the sensing depth, from which the taxel forces and the image
//! are computed. Transforms and the fields of a contact that is being solved are in single precision for tolerances of
//! 5e-6 and larger, else in double; shear, sums and results are always double.

mod camera;
mod camera_gradient;
mod fft_plan;
mod gradient;
mod precision;
mod press;
mod region;
mod relaxation;
mod renderer;
mod shapes;
mod smoothing;
mod spectra;
mod steps;
mod taxels;
mod touches;

pub use gradient::LayerCotangents;
pub(crate) use relaxation::MAX_BRANCHES;
pub(crate) use steps::LayerSteps;
pub use touches::{LayerTouches, Outputs};

use crate::cuda_struct::{Plain, cuda_struct};
use crate::program::Program;
use crate::{Gpu, GpuError, Precision};
use camera::GpuCamera;
use cudarc::driver::CudaFunction;
use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as MAX_SHARED;
use dermis_geometry::{Primitive, Vec3};
use dermis_sensor::Sensor;
use dermis_skin::layer::{LayerContact, Pair};
use dermis_skin::{Layer, LayerParameters, Object, Skin, SurfaceField};
use fft_plan::SIDES;
use shapes::Shapes;
use spectra::{Influences, Spectra};
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use taxels::TaxelSpans;

/// A sensor with a layer, and an object to press on it, on a GPU. Each press starts from rest and ends in equilibrium,
/// as [`Skin::settle`] does, with the same friction, surface, stress at the sensing depth and images.
///
/// A press is solved in one increment, as on the CPU with [`LayerParameters::max_increments`] = 1. Where shear and motion
/// depend on the path, the CPU divides the press; [`LayerTouches::warnings`] has the estimated error of the GPU there.
#[derive(Debug)]
pub struct LayerBatch {
    gpu: Arc<Gpu>,
    /// Name of the sensor, for messages.
    name: String,
    shapes: Shapes,
    primitive: Option<Primitive>,
    grid: LayerGrid,
    parameters: LayerParameters,
    /// Whether lateral displacements of the surface are needed.
    lateral: bool,
    precision: Precision,
    program: Program,
    influences: Influences,
    /// Spectra by the number of influences and the index of the size of transforms.
    spectra: Mutex<BTreeMap<(usize, usize), Arc<Spectra>>>,
    taxels: TaxelSpans,
    camera: Option<GpuCamera>,
    /// Maximum shared memory (bytes) of a block for transforms.
    max_shared_bytes: usize,
}

// SAFETY: `repr(C)`, all fields are `f64`, and any bytes are valid; CUDA's declaration has the same fields in the same
// order.
unsafe impl Plain for LayerContact {}

cuda_struct! {
    /// The cells of a layer, row 0 at +y and column 0 at −x, its contact parameters, and the sizes of transforms.
    struct LayerGrid {
        rows: i32,
        cols: i32,
        /// Edge of a cell (m) and centre of the grid (m).
        cell: f64,
        center: [f64; 2],
        /// Objects higher than `max_height` (m) above the surface have no contact; objects deeper than `max_depth` (m)
        /// are refused.
        max_height: f64,
        max_depth: f64,
        /// Deflection of a cell by a pressure on itself (m/Pa).
        own_compliance: f64,
        /// The same for shear along itself.
        own_shear_compliance: f64,
        contact: LayerContact,
        /// Transforms for regions of up to `sides[i]` cells a side, i < `sizes`.
        sizes: i32,
        sides: [i32; 27],
    }
}

/// Shared memory (bytes) of a block in addition to its transforms.
const OTHER_SHARED_BYTES: usize = 1024;

fn unsupported(sensor: &Sensor, why: &str) -> GpuError {
    GpuError::Unsupported { what: format!("a batch of presses on sensor {:?}", sensor.name()), why: why.to_owned() }
}

/// All CUDA programs of layers.
#[cfg(test)]
pub(crate) fn programs() -> Vec<Program> {
    vec![
        Precision::Single.program(),
        Precision::Double.program(),
        spectra::program(),
        camera::program(),
        steps::program(),
    ]
}

/// The undeformed surface of a layer, without values.
fn surface_of(layer: &Layer) -> SurfaceField {
    let grid = layer.grid();
    let center = Vec3::new(grid.center.x, grid.center.y, 0.0);
    SurfaceField {
        rows: grid.rows,
        cols: grid.cols,
        cell_m: grid.cell_m,
        center,
        values: Vec::new(),
        rest_heights_m: None,
    }
}

impl LayerBatch {
    /// Uploads a sensor and an object. Refuses the sensors that [`LayerBatch::check`] refuses.
    pub fn new(gpu: &Arc<Gpu>, sensor: &Sensor, object: &Object) -> Result<Self, GpuError> {
        // From rest, only pressure displaces the surface laterally; without that coupling friction has no effect.
        let contact = |parameters: &LayerParameters| match parameters.contact.with_object(object.mu) {
            contact if parameters.coupled => contact,
            contact => contact.without_friction(),
        };
        Self::with_contact(gpu, sensor, &[object], contact)
    }

    /// Like [`LayerBatch::new`], for presses with a history, of objects of several shapes.
    fn in_time(gpu: &Arc<Gpu>, sensor: &Sensor, objects: &[Arc<Object>]) -> Result<Self, GpuError> {
        let mu = objects[0].mu;
        if objects.iter().any(|object| object.mu != mu) {
            return Err(unsupported(
                sensor,
                "its skin is a layer, under which all objects must have the same `mu` there",
            ));
        }
        Self::with_contact(gpu, sensor, objects, |parameters| parameters.contact.with_object(mu))
    }

    fn with_contact(
        gpu: &Arc<Gpu>,
        sensor: &Sensor,
        objects: &[impl Borrow<Object>],
        contact: impl FnOnce(&LayerParameters) -> LayerContact,
    ) -> Result<Self, GpuError> {
        let layer = Self::check(sensor)?;
        let (cells, surface) = (layer.grid(), surface_of(layer));
        let mut parameters = layer.parameters().clone();
        parameters.contact = contact(&parameters);
        let longest = cells.rows.max(cells.cols);
        let sizes = SIDES.iter().position(|&side| side >= longest).map_or(SIDES.len(), |last| last + 1);
        let grid = LayerGrid {
            rows: cells.rows as i32,
            cols: cells.cols as i32,
            cell: cells.cell_m,
            center: cells.center.to_array(),
            max_height: layer.max_height_m(),
            max_depth: layer.max_depth_m(),
            own_compliance: layer.influences().get(Pair::ZPressure).values[0],
            own_shear_compliance: layer.influences().get(Pair::XX).values[0],
            contact: parameters.contact,
            sizes: sizes as i32,
            sides: SIDES.map(|side| side as i32),
        };
        let max_shared_bytes = gpu.max_shared_bytes()?.saturating_sub(OTHER_SHARED_BYTES);
        let precision = Precision::for_tolerance(parameters.contact.tolerance);
        let (_, needed_bytes) = precision.field_tile(2 * SIDES[sizes - 1]);
        if needed_bytes > max_shared_bytes {
            let why = format!(
                "its {} x {} cells need {needed_bytes} bytes of shared memory and the GPU has {max_shared_bytes}; take larger cells",
                cells.rows, cells.cols
            );
            return Err(unsupported(sensor, &why));
        }
        let program = precision.program();
        for name in ["solve_contact", "evaluate_fields", "solve_adjoint", "pull_back_fields"] {
            gpu.kernel(&program, name)?.set_attribute(MAX_SHARED, max_shared_bytes as i32)?;
        }
        let influences = Influences::new(gpu, layer, precision)?;
        let primitive = objects[0].borrow().surface.primitive().copied();
        Ok(Self {
            name: format!("sensor {:?}", sensor.name()),
            shapes: Shapes::new(gpu, sensor, objects)?,
            primitive,
            grid,
            lateral: parameters.lateral || parameters.contact.has_friction(),
            parameters,
            precision,
            program,
            spectra: Mutex::default(),
            influences,
            taxels: TaxelSpans::new(gpu, sensor.taxels(), &surface)?,
            camera: sensor.optics().map(|optics| GpuCamera::new(gpu, &surface, optics)).transpose()?,
            max_shared_bytes,
            gpu: Arc::clone(gpu),
        })
    }

    /// The layer of a sensor. Refuses sensors that are not supported on a GPU: those whose skin is not a layer or has
    /// too many cells, or whose camera has noise, a mount that yields or too many pixels.
    pub fn check(sensor: &Sensor) -> Result<&Layer, GpuError> {
        let layer = sensor.skin_as::<Layer>().ok_or_else(|| unsupported(sensor, "its skin is no layer"))?;
        let (grid, max) = (layer.grid(), SIDES[SIDES.len() - 1]);
        if grid.rows.max(grid.cols) > max {
            let why = format!("its {} x {} cells are more than {max} along a side", grid.rows, grid.cols);
            return Err(unsupported(sensor, &why));
        }
        if let Some(optics) = sensor.optics() {
            if optics.exposure().noise.is_some() {
                return Err(unsupported(sensor, "its camera has noise, whose numbers come one after the other"));
            }
            camera::check(optics).map_err(|why| unsupported(sensor, &why))?;
        }
        Ok(layer)
    }

    /// The GPU.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// Relative error of its forces that a search of a depth need not go below: a tenth of the tolerance of the solver.
    pub fn force_precision(&self) -> f64 {
        0.1 * self.grid.contact.tolerance
    }

    /// Rows and columns of the layer's cells.
    pub fn size(&self) -> [usize; 2] {
        [self.grid.rows as usize, self.grid.cols as usize]
    }

    /// Height and width (pixels) of the images, if the sensor has a camera.
    pub fn image_size(&self) -> Option<[usize; 2]> {
        self.camera.as_ref().map(GpuCamera::image_size)
    }

    fn kernel(&self, name: &str) -> Result<CudaFunction, GpuError> {
        self.gpu.kernel(&self.program, name)
    }

    fn cells(&self) -> usize {
        (self.grid.rows * self.grid.cols) as usize
    }

    /// The spectra of the influences in the contact solver, the first ones of [`Pair::ALL`].
    fn region_spectra(&self, size: usize) -> Result<Arc<Spectra>, GpuError> {
        const IN_REGION: usize = 6;
        self.spectra(size, IN_REGION)
    }

    /// The spectra of all influences.
    fn field_spectra(&self, size: usize) -> Result<Arc<Spectra>, GpuError> {
        self.spectra(size, Pair::ALL.len())
    }

    /// The spectra of the first `count` influences for transforms of a size, computed on first use.
    fn spectra(&self, size: usize, count: usize) -> Result<Arc<Spectra>, GpuError> {
        let mut all = self.spectra.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spectra) = all.get(&(count, size)) {
            return Ok(Arc::clone(spectra));
        }
        let spectra = Arc::new(self.influences.spectra(&self.gpu, SIDES[size], count)?);
        all.insert((count, size), Arc::clone(&spectra));
        Ok(spectra)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_sensor::SensorSpec;
    use dermis_sensor::optics::{DepthLightSpec, LightSpec, NoiseSpec};

    /// Sensors that are not supported are refused before a GPU is needed.
    #[test]
    fn other_sensors_are_refused_by_name() {
        let refusal = |spec: SensorSpec| LayerBatch::check(&spec.build(None).unwrap()).unwrap_err().to_string();
        let message = refusal(SensorSpec::find("uji-foam-14x6").unwrap().0);
        assert!(message.contains("uji-foam-14x6") && message.contains("no layer"), "{message}");
        let mut noisy = SensorSpec::find("gelsight").unwrap().0;
        noisy.camera.as_mut().unwrap().noise = Some(NoiseSpec { read_levels: 1.0, shot_levels: 0.0, seed: 1 });
        let message = refusal(noisy);
        assert!(message.contains("gelsight") && message.contains("noise"), "{message}");
        let mut mounted = SensorSpec::find("gelsight-dots").unwrap().0;
        mounted.camera.as_mut().unwrap().mount_stiffness = Some("20 N/mm".parse().unwrap());
        let message = refusal(mounted);
        let what = "sensor \"gelsight-dots\" is not supported on a GPU: the mount of its gel yields";
        assert!(message.contains(what) && message.ends_with("use the device cpu"), "{message}");
        let mut deep = SensorSpec::find("gelsight").unwrap().0;
        let Some(LightSpec::Calibrated(light)) = &mut deep.light else { panic!("a calibrated light") };
        let levels = || [0; 3].map(|_| vec![0.0; 18]);
        let deepest = "1 mm".parse().unwrap();
        light.depth = Some(DepthLightSpec { levels: levels(), proportional_levels: levels(), deepest });
        let message = refusal(deep);
        assert!(message.contains("gelsight") && message.contains("`light.depth`"), "{message}");
    }
}
