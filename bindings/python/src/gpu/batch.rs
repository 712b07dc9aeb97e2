//! Readings of many presses in GPU memory.

use super::foreign;
use super::tensor::{Data, DeviceArray};
use crate::array::array;
use crate::error::{IntoPyErr, absent};
use crate::pose::poses as read_poses;
use crate::shared_sensor::SharedSensor;
use crate::threads::{Job, detached};
use crate::touch::warn_text;
use dermis::geometry::Pose;
use dermis::gpu::array::{Poses, Presses};
use dermis::gpu::goals::{FinalPoses, PressRequest, final_poses};
use dermis::gpu::layer::{LayerTouches, Outputs};
use dermis::gpu::{DeviceBuffer, Gpu, GpuError};
use dermis::sensor::optics::Optics;
use dermis::sensor::{Report, Sensor};
use dermis::skin::threads::parallel;
use dermis::skin::{self, Warning};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// The readings of many presses of one sensor, in GPU memory.
///
/// ``taxels``, ``forces``, ``force`` … are those of a ``Batch``: numpy arrays, copied to the host on access.
/// ``taxels_on_device``, ``forces_on_device`` … are the same arrays in GPU memory:
/// ``torch.from_dlpack(batch.forces_on_device)`` shares them without a copy and keeps the memory alive.
/// ``warnings`` are those of the CPU, by the same rules.
#[pyclass(frozen, module = "dermis")]
pub struct DeviceBatch {
    shared: Arc<SharedSensor>,
    /// Forces on the taxels.
    presses: Presses,
    /// The object and its poses.
    pressed: (Arc<skin::Object>, Poses),
    /// Camera images.
    images: Option<Images>,
    travel_m: Option<Vec<f64>>,
    /// Warnings of a layer, the first of each kind, and of missed forces.
    warnings: Vec<Warning>,
}

/// Images on the GPU, (n, height, width, 3).
pub struct Images {
    /// Red, green, blue.
    pub rgb: Arc<DeviceBuffer<u8>>,
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// The first warning about the light of an image.
    pub warning: Option<String>,
}

/// Computes the forces (N) along −z on the sensor at poses.
type ForcesAt<'a> = &'a mut dyn FnMut(&[Pose]) -> Result<Vec<f64>, GpuError>;

/// Travel (m) of presses past first contact, and the warnings of those that miss their force.
pub type Travel = (Vec<f64>, Vec<Warning>);

/// Poses of presses.
pub enum Places {
    /// On the host, with the travel where it is known.
    Host(Vec<Pose>, Option<Travel>),
    /// On the GPU.
    Gpu(Poses),
}

impl Places {
    /// Reads poses from the host or from the GPU.
    pub fn read(value: &Bound<'_, PyAny>, gpu: &Arc<Gpu>) -> PyResult<Self> {
        if let Some(found) = foreign::read(value, gpu, "poses")? {
            return Ok(Self::Gpu(found.poses(gpu, "poses")?));
        }
        Ok(Self::Host(read_poses(value, "poses")?, None))
    }

    /// The poses on the GPU, and the travel where it is known.
    pub fn on_gpu(self, gpu: &Arc<Gpu>) -> Result<(Poses, Option<Travel>), GpuError> {
        match self {
            Self::Host(poses, travel) => Ok((Poses::of_host(gpu, &poses)?, travel)),
            Self::Gpu(poses) => Ok((poses, None)),
        }
    }

    /// The poses on the host as presses.
    pub fn requests(self) -> Result<Vec<PressRequest>, GpuError> {
        let poses = match self {
            Self::Host(poses, _) => poses,
            Self::Gpu(poses) => poses.download()?,
        };
        Ok(poses.into_iter().map(PressRequest::Hold).collect())
    }

    /// The final poses of presses to depths or forces: forces are computed on the GPU.
    pub fn of_requests(
        gpu: &Arc<Gpu>,
        shared: &SharedSensor,
        object: &Arc<skin::Object>,
        requests: &[PressRequest],
        job: &Job,
    ) -> Result<Self, GpuError> {
        let sensor = built(shared)?;
        let find = |precision: f64, forces_at: ForcesAt<'_>| {
            final_poses(sensor, object, requests, precision, forces_at, &|known| job.reached(known))
        };
        let found = if sensor.skin_as::<skin::Layer>().is_some() {
            let layer = shared.layer_on_gpu(gpu, object)?;
            find(layer.force_precision(), &mut |poses| layer.normal_forces(poses))?
        } else {
            let (arrays, object) = (shared.on_gpu(gpu)?, super::object_on(gpu, object)?);
            find(0.0, &mut |poses| arrays.normal_forces(&object, poses))?
        };
        let interrupted = || GpuError::BadInput { reason: "interrupted".to_owned() };
        let FinalPoses { poses, warnings } = found.ok_or_else(interrupted)?;
        let (poses, travel_m) = poses.into_iter().unzip();
        Ok(Self::Host(poses, Some((travel_m, warnings))))
    }
}

/// The sensor.
fn built(shared: &SharedSensor) -> Result<&Sensor, GpuError> {
    shared.sensor().map_err(|error| GpuError::BadInput { reason: error.to_string() })
}

impl DeviceBatch {
    /// Presses an object on a sensor at many poses.
    pub fn of_places(
        gpu: &Arc<Gpu>,
        shared: &Arc<SharedSensor>,
        object: &Arc<skin::Object>,
        places: Places,
    ) -> Result<Self, GpuError> {
        let sensor = built(shared)?;
        let (poses, travel) = places.on_gpu(gpu)?;
        let mut made = if sensor.skin_as::<skin::Layer>().is_some() {
            Self::of_layer(gpu, shared, sensor, object, poses)?
        } else {
            let presses = shared.on_gpu(gpu)?.settle(&*super::object_on(gpu, object)?, &poses)?;
            Self::of_presses(shared, presses, object, poses)
        };
        // Waits for the stream, so that users of the arrays need not synchronise with it.
        gpu.finish()?;
        if let Some((travel_m, warnings)) = travel {
            made.travel_m = Some(travel_m);
            made.warnings.extend(warnings);
        }
        Ok(made)
    }

    /// Presses an object on a layer: computes taxel forces, and camera images if the sensor has a camera.
    fn of_layer(
        gpu: &Arc<Gpu>,
        shared: &Arc<SharedSensor>,
        sensor: &Sensor,
        object: &Arc<skin::Object>,
        poses: Poses,
    ) -> Result<Self, GpuError> {
        let layer = shared.layer_on_gpu(gpu, object)?;
        let outputs = Outputs { taxels: true, ..Outputs::IMAGES };
        let touches = layer.press_on_device(&poses, outputs)?;
        let warnings = match sensor.skin_as::<skin::Layer>() {
            Some(layer) => touches.warnings(layer, object, &poses.download()?),
            None => Vec::new(),
        };
        let warnings = Warning::first_of_each_kind(warnings.into_iter().flatten());
        let warning = touches.steep.iter().find_map(|&steep| Optics::steep_warning(steep));
        let LayerTouches { count, images, forces, outside, wrench, .. } = touches;
        let presses = Presses::of_forces(gpu, count, sensor.taxels().normals(), forces, outside, wrench)?;
        let images = sensor.optics().map(|optics| Images {
            rgb: Arc::new(images),
            height: optics.camera().height,
            width: optics.camera().width,
            warning,
        });
        Ok(Self { images, warnings, ..Self::of_presses(shared, presses, object, poses) })
    }

    /// Wraps finished presses of an object.
    pub fn of_presses(shared: &Arc<SharedSensor>, presses: Presses, object: &Arc<skin::Object>, poses: Poses) -> Self {
        let (shared, pressed) = (Arc::clone(shared), (Arc::clone(object), poses));
        Self { shared, presses, pressed, images: None, travel_m: None, warnings: Vec::new() }
    }

    /// Warnings of all presses.
    pub fn all_warnings(&self, py: Python<'_>) -> PyResult<Vec<Warning>> {
        let (sensor, (object, poses)) = (self.shared.sensor()?, &self.pressed);
        let others = detached(py, || self.presses.warnings(sensor, object, poses))?.into_py_err()?;
        Ok(self.warnings.iter().cloned().chain(others.into_iter().flatten()).collect())
    }

    /// Shape of per-taxel arrays: presses, then rows and columns or taxels, then the trailing axes `behind`.
    fn shape(&self, behind: &[usize]) -> PyResult<Vec<usize>> {
        let taxels = self.shared.sensor()?.taxels();
        let each = taxels.size().map_or_else(|| vec![taxels.len()], |(rows, cols)| vec![rows, cols]);
        Ok([&[self.presses.count][..], &each, behind].concat())
    }

    fn whole(&self, data: Data, shape: &[usize]) -> DeviceArray {
        DeviceArray::whole(&self.presses.gpu, data, shape)
    }

    /// Reported values of every press, without noise and without the response stages that have memory; computed on the
    /// CPU.
    fn reports(&self, py: Python<'_>) -> PyResult<Vec<Report>> {
        let (sensor, presses) = (self.shared.sensor()?, &self.presses);
        let made = detached(py, || {
            let values = presses.values_newton.download()?;
            let each = presses.taxels.max(1);
            let reports = values.par_chunks(each).map(|one| sensor.chain().respond_at_once(one));
            Ok::<_, GpuError>(parallel(|| reports.collect()))
        })?;
        made.into_py_err()
    }
}

#[pymethods]
impl DeviceBatch {
    fn __len__(&self) -> usize {
        self.presses.count
    }

    /// Name of the GPU that holds the arrays.
    #[getter]
    fn device(&self) -> &str {
        self.presses.gpu.name()
    }

    /// ``Reading.taxels`` of all readings (N), shape (n, rows, cols) or (n, taxels), copied.
    #[getter]
    fn taxels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.taxels_on_device()?.numpy(py)
    }

    /// ``Reading.reported`` of all readings (N), shape of ``taxels``, computed on the CPU.
    #[getter]
    fn reported<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let all: Vec<f64> = self.reports(py)?.into_iter().flat_map(|report| report.newton).collect();
        array(py, &self.shape(&[])?, &all)
    }

    /// ``Reading.raw`` of all readings (counts), shape of ``taxels``, computed on the CPU.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u32>>> {
        let all: Vec<u32> = self.reports(py)?.into_iter().flat_map(|report| report.raw).collect();
        array(py, &self.shape(&[])?, &all)
    }

    /// ``Reading.forces`` of all readings (N), shape (n, rows, cols, 3) or (n, taxels, 3), copied.
    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.forces_on_device()?.numpy(py)
    }

    /// ``Reading.force`` of all readings (N), shape (n, 3), copied.
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.force_on_device()?.numpy(py)
    }

    /// ``Reading.wrench`` of all readings (N, N m), shape (n, 6), copied.
    #[getter]
    fn wrench<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.wrench_on_device()?.numpy(py)
    }

    /// ``Reading.outside`` of all readings (N), shape (n, 3), copied.
    #[getter]
    fn outside<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.outside_on_device()?.numpy(py)
    }

    /// ``Reading.saturated`` of all readings, shape (n,), copied.
    #[getter]
    fn saturated<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.saturated_on_device()?.numpy(py)
    }

    /// The first warning of each kind of all readings.
    #[getter]
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(Warning::first_of_each_kind(self.all_warnings(py)?).iter().map(ToString::to_string).collect())
    }

    /// ``Reading.travel`` of all readings (m), shape (n,); NaN for presses at given poses.
    #[getter]
    fn travel<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let unknown = vec![f64::NAN; self.presses.count];
        array(py, &[self.presses.count], self.travel_m.as_deref().unwrap_or(&unknown))
    }

    /// ``Reading.image`` of all readings, uint8, shape (n, height, width, 3), copied.
    #[getter]
    fn image<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.image_on_device(py)?.numpy(py)
    }

    /// ``taxels`` (N) in GPU memory, float64, shape (n, rows, cols) or (n, taxels).
    #[getter]
    fn taxels_on_device(&self) -> PyResult<DeviceArray> {
        Ok(self.whole(Data::F64(Arc::clone(&self.presses.values_newton)), &self.shape(&[])?))
    }

    /// ``forces`` (N) in GPU memory, float64, shape (n, rows, cols, 3) or (n, taxels, 3).
    #[getter]
    fn forces_on_device(&self) -> PyResult<DeviceArray> {
        Ok(self.whole(Data::F64(Arc::clone(&self.presses.forces_newton)), &self.shape(&[3])?))
    }

    /// ``force`` (N) in GPU memory, float64, shape (n, 3): a view of the first half of every ``wrench``.
    #[getter]
    fn force_on_device(&self) -> PyResult<DeviceArray> {
        let wrench = self.wrench_on_device()?;
        Ok(DeviceArray { shape: vec![self.presses.count, 3], ..wrench })
    }

    /// ``wrench`` (N, N m) in GPU memory, float64, shape (n, 6).
    #[getter]
    fn wrench_on_device(&self) -> PyResult<DeviceArray> {
        Ok(self.whole(Data::F64(Arc::clone(&self.presses.wrench)), &[self.presses.count, 6]))
    }

    /// ``outside`` (N) in GPU memory, float64, shape (n, 3).
    #[getter]
    fn outside_on_device(&self) -> PyResult<DeviceArray> {
        Ok(self.whole(Data::F64(Arc::clone(&self.presses.outside_newton)), &[self.presses.count, 3]))
    }

    /// ``saturated`` in GPU memory, uint32, shape (n,).
    #[getter]
    fn saturated_on_device(&self) -> PyResult<DeviceArray> {
        Ok(self.whole(Data::U32(Arc::clone(&self.presses.saturated)), &[self.presses.count]))
    }

    /// ``image`` in GPU memory, uint8, shape (n, height, width, 3).
    #[getter]
    fn image_on_device(&self, py: Python<'_>) -> PyResult<DeviceArray> {
        let why = || absent(format!("sensor {:?} has no camera on the GPU", self.shared.spec().name));
        let Images { rgb, height, width, warning } = self.images.as_ref().ok_or_else(why)?;
        warning.iter().try_for_each(|warning| warn_text(py, warning))?;
        Ok(self.whole(Data::U8(Arc::clone(rgb)), &[self.presses.count, *height, *width, 3]))
    }

    /// ``Batch.levels`` of all readings, float32, shape (n, height, width, 3), copied.
    #[getter]
    fn levels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.levels_on_device(py)?.numpy(py)
    }

    /// ``levels`` in GPU memory, float32, shape (n, height, width, 3): the images before rounding, rendered on access.
    #[getter]
    fn levels_on_device(&self, py: Python<'_>) -> PyResult<DeviceArray> {
        let why = || absent(format!("sensor {:?} has no camera on the GPU", self.shared.spec().name));
        let Images { height, width, warning, .. } = self.images.as_ref().ok_or_else(why)?;
        warning.iter().try_for_each(|warning| warn_text(py, warning))?;
        let (gpu, (object, poses)) = (&self.presses.gpu, &self.pressed);
        let levels = detached(py, || {
            let layer = self.shared.layer_on_gpu(gpu, object)?;
            let pressed = layer.press_on_device(poses, Outputs { levels: true, ..Outputs::NONE })?;
            gpu.finish()?;
            Ok::<_, GpuError>(pressed.levels)
        })?;
        let data = Data::F32(Arc::new(levels.into_py_err()?));
        Ok(self.whole(data, &[self.presses.count, *height, *width, 3]))
    }

    fn __repr__(&self) -> String {
        let (name, gpu) = (&self.shared.spec().name, self.presses.gpu.name());
        format!("<dermis.DeviceBatch of {name:?}: {} readings on {gpu}>", self.presses.count)
    }
}
