//! Batches of presses on an elastic layer, and what a camera under it sees.

mod batch;
mod description;
mod object;
mod plan;
mod precision;
mod press;
mod sight;
mod tables;
mod touches;

pub use batch::{LayerBatch, describe_layer};
pub use description::{
    CameraDescription, Dots, LampDescription, LightDescription, ShadowDescription, SheetDescription, Span, TaxelCells,
};
pub use object::SheetObject;
pub use touches::{SheetTouches, Wanted};

use crate::{Gpu, GpuError};
use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as MAX_SHARED;
use cudarc::driver::{CudaFunction, CudaModule, CudaSlice, DeviceRepr};
use description::ODD;
use plan::SIDES;
use precision::Precision;
use sight::CameraTables;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tables::{InfluenceTables, Tables};

const SOURCE: &[&str] = &[
    include_str!("layer/fourier.cu"),
    include_str!("layer/heights.cu"),
    include_str!("layer/contact.cu"),
    include_str!("layer/fields.cu"),
];

/// All programs of layers.
#[cfg(test)]
pub(crate) fn programs() -> Vec<crate::program::Program> {
    vec![Precision::Single.program(), Precision::Double.program(), tables::program(), sight::program()]
}

/// A layer on the GPU, ready for presses.
///
/// Each press starts from rest and ends where nothing changes any more, as on the CPU: the object's mesh is drawn over the grid of cells, one
/// block of threads looks for pressure and shear by the CPU's own iterations, with transforms in shared memory where they fit, and the whole
/// surface follows by transforms of the whole grid. Fields are double; transforms are single from a tolerance of 5e-6 on and double below.
#[derive(Debug)]
pub struct SheetBatch {
    gpu: Arc<Gpu>,
    name: String,
    sheet: Sheet,
    lateral: bool,
    precision: Precision,
    kernels: Kernels,
    influences: InfluenceTables,
    /// By the side of a region.
    regions: Mutex<BTreeMap<usize, Arc<Tables>>>,
    whole: Tables,
    taxels: TaxelTables,
    sight: Option<CameraTables>,
    /// Shared memory (bytes) that a block can have.
    shared_most: usize,
}

#[derive(Debug)]
struct Kernels {
    clear: CudaFunction,
    draw: CudaFunction,
    survey: CudaFunction,
    contact: CudaFunction,
    fields: CudaFunction,
    feel: CudaFunction,
    hand_out: CudaFunction,
}

const MAX_PLANS: usize = 32;

/// As in heights.cu.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Sheet {
    rows: i32,
    cols: i32,
    cell: f64,
    center: [f64; 2],
    highest: f64,
    deepest: f64,
    tolerance: f64,
    mu: f64,
    plans: i32,
    sides: [i32; MAX_PLANS],
}

// SAFETY: plain numbers, laid out as in heights.cu.
#[allow(unsafe_code)]
unsafe impl DeviceRepr for Sheet {}

/// As in fields.cu.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct TaxelGrid {
    rows: i32,
    cols: i32,
    area: f64,
}

// SAFETY: plain numbers, laid out as in fields.cu.
#[allow(unsafe_code)]
unsafe impl DeviceRepr for TaxelGrid {}

#[derive(Debug)]
struct TaxelTables {
    grid: TaxelGrid,
    spans: CudaSlice<i32>,
    weights: CudaSlice<f64>,
}

impl TaxelTables {
    fn new(gpu: &Gpu, cells: Option<&TaxelCells>) -> Result<Self, GpuError> {
        let (mut spans, mut weights) = (vec![0; 3], vec![0.0]);
        let mut grid = TaxelGrid { rows: 0, cols: 0, area: 0.0 };
        if let Some(TaxelCells { pitch_m, rows, cols }) = cells {
            grid = TaxelGrid { rows: rows.len() as i32, cols: cols.len() as i32, area: pitch_m * pitch_m };
            (spans, weights) = (Vec::new(), Vec::new());
            for span in rows.iter().chain(cols) {
                spans.extend([span.first as i32, span.shares.len() as i32, weights.len() as i32]);
                weights.extend(&span.shares);
            }
        }
        Ok(Self { grid, spans: gpu.stream.clone_htod(&spans)?, weights: gpu.stream.clone_htod(&weights)? })
    }

    fn count(&self) -> usize {
        (self.grid.rows * self.grid.cols) as usize
    }
}

impl Kernels {
    fn new(module: &Arc<CudaModule>, shared_most: usize) -> Result<Self, GpuError> {
        let kernel = |name: &str| -> Result<CudaFunction, GpuError> { Ok(module.load_function(name)?) };
        let all = Self {
            clear: kernel("clear")?,
            draw: kernel("draw")?,
            survey: kernel("survey")?,
            contact: kernel("contact")?,
            fields: kernel("fields")?,
            feel: kernel("feel")?,
            hand_out: kernel("hand_out")?,
        };
        all.contact.set_attribute(MAX_SHARED, shared_most as i32)?;
        all.fields.set_attribute(MAX_SHARED, shared_most as i32)?;
        Ok(all)
    }
}

/// What a block takes beside its transforms (bytes).
const SHARED_BESIDE: usize = 1024;

impl SheetBatch {
    /// Brings a layer to the GPU.
    pub fn new(gpu: &Arc<Gpu>, description: &SheetDescription) -> Result<Self, GpuError> {
        let SheetDescription { name, rows, cols, cell_m, center_m, influences, mu, tolerance, .. } = description;
        let longest = (*rows).max(*cols);
        let Some(last) = SIDES.iter().position(|&side| side >= longest) else {
            let why = format!("its {rows} x {cols} cells are more than {} along a side", SIDES[SIDES.len() - 1]);
            return Err(GpuError::Unsupported { what: format!("a press on {name}"), why });
        };
        let shared_most = gpu.max_shared_bytes()? - SHARED_BESIDE;
        let precision = Precision::for_tolerance(*tolerance);
        let kernels = Kernels::new(&gpu.program(&precision.program())?, shared_most)?;
        let mut sides = [0; MAX_PLANS];
        sides.iter_mut().zip(&SIDES[..=last]).for_each(|(to, &from)| *to = from as i32);
        let sheet = Sheet {
            rows: *rows as i32,
            cols: *cols as i32,
            cell: *cell_m,
            center: *center_m,
            highest: description.highest_m,
            deepest: description.deepest_m,
            tolerance: *tolerance,
            mu: *mu,
            plans: last as i32 + 1,
            sides,
        };
        let influences = InfluenceTables::new(gpu, [*rows, *cols], influences, precision)?;
        let whole = influences.tables(gpu, SIDES[last], ODD.len())?;
        let sight =
            description.camera.as_ref().map(|camera| CameraTables::new(gpu, description, camera)).transpose()?;
        Ok(Self {
            name: name.clone(),
            sheet,
            lateral: description.lateral,
            precision,
            kernels,
            influences,
            regions: Mutex::new(BTreeMap::new()),
            whole,
            taxels: TaxelTables::new(gpu, description.taxels.as_ref())?,
            sight,
            shared_most,
            gpu: Arc::clone(gpu),
        })
    }

    /// The GPU.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// Rows and columns of its cells.
    pub fn size(&self) -> [usize; 2] {
        [self.sheet.rows as usize, self.sheet.cols as usize]
    }

    /// How many taxels it has.
    pub fn taxels(&self) -> usize {
        self.taxels.count()
    }

    /// Height and width (pixels) of its images, if it has a camera.
    pub fn image(&self) -> Option<[usize; 2]> {
        self.sight.as_ref().map(CameraTables::image)
    }

    fn cells(&self) -> usize {
        (self.sheet.rows * self.sheet.cols) as usize
    }

    /// The tables of a region's plan, made when they are first needed.
    fn region(&self, plan: usize) -> Result<Arc<Tables>, GpuError> {
        /// Those that a region is solved with.
        const IN_REGION: usize = 6;
        let mut regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tables) = regions.get(&plan) {
            return Ok(Arc::clone(tables));
        }
        let side = self.sheet.sides[plan] as usize;
        let tables = Arc::new(self.influences.tables(&self.gpu, side, IN_REGION)?);
        regions.insert(plan, Arc::clone(&tables));
        Ok(tables)
    }
}
