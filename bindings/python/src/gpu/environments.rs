//! Sensors that step together on a GPU.

use super::batch::{DeviceBatch, Places};
use super::foreign;
use crate::array::{positive, rows};
use crate::error::{Error, IntoPyErr};
use crate::shared_sensor::SharedSensor;
use crate::threads::detached;
use dermis::geometry::{Pose, Twist, Vec3};
use dermis::gpu::array::{self as arrays, Twists};
use dermis::gpu::{Gpu, GpuError, GpuObject};
use dermis::skin::Object;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// Many copies of a sensor, each with one object, stepped together on a GPU. Their states stay in GPU memory.
///
/// Made by ``Sensor.environments``. ``step`` does the same as ``Sensor.step`` for all of them, without the response.
#[pyclass(frozen, module = "dermis")]
pub struct Environments {
    shared: Arc<SharedSensor>,
    gpu: Arc<Gpu>,
    /// The object, and its copy on the GPU.
    object: (Arc<Object>, Arc<GpuObject>),
    inner: Mutex<arrays::Environments>,
    count: usize,
}

impl Environments {
    /// Makes `count` untouched environments.
    pub fn new(
        gpu: &Arc<Gpu>,
        shared: &Arc<SharedSensor>,
        object: &Arc<Object>,
        count: usize,
    ) -> Result<Self, GpuError> {
        let object = (Arc::clone(object), super::object_on(gpu, object)?);
        let inner = Mutex::new(shared.on_gpu(gpu)?.environments(count)?);
        Ok(Self { shared: Arc::clone(shared), gpu: Arc::clone(gpu), object, inner, count })
    }
}

/// Converts velocities (m/s, rad/s) at the objects' origins to velocities at the sensor's origin, on the host.
fn moved(poses: &[Pose], twists: &[[f64; 6]]) -> Vec<Twist> {
    let one = |(pose, v): (&Pose, &[f64; 6])| {
        Twist::new(Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5])).moved(-pose.translation)
    };
    poses.iter().zip(twists).map(one).collect()
}

#[pymethods]
impl Environments {
    fn __len__(&self) -> usize {
        self.count
    }

    /// Advances every environment by dt (s).
    ///
    /// poses: pose of each object at the start of the step, (n, 4, 4), (n, 7) or (n, 3). twists: velocity of the
    /// object's origin (m/s) and angular velocity (rad/s), (n, 6); default: at rest. Both are numpy arrays, or both GPU
    /// tensors.
    ///
    /// Returns a DeviceBatch of the n environments. Its ``warnings`` are computed on access; none are issued.
    #[pyo3(signature = (poses, twists=None, *, dt))]
    fn step(
        &self,
        py: Python<'_>,
        poses: &Bound<'_, PyAny>,
        twists: Option<&Bound<'_, PyAny>>,
        dt: f64,
    ) -> PyResult<DeviceBatch> {
        let (gpu, dt_s) = (&self.gpu, positive(dt, "dt", "seconds")?);
        let (places, speeds) = match (Places::read(poses, gpu)?, twists) {
            (Places::Gpu(places), Some(twists)) => {
                let both = || Error::new_err("`twists` must be on the GPU where `poses` are");
                let twists = foreign::read(twists, gpu, "twists")?.ok_or_else(both)?;
                let speeds = twists.twists(gpu, &places, "twists")?;
                (places, speeds)
            }
            (Places::Gpu(places), None) => {
                let still = vec![Twist::ZERO; places.count];
                (places, Twists::of_host(gpu, &still).into_py_err()?)
            }
            (Places::Host(places, _), twists) => {
                let twists = twists.map_or(Ok(vec![[0.0; 6]; places.len()]), |twists| rows::<6>(twists, "twists"))?;
                if twists.len() != places.len() {
                    let (n, m) = (places.len(), twists.len());
                    return Err(Error::new_err(format!("`poses` is for {n} environments and `twists` for {m}")));
                }
                let speeds = Twists::of_host(gpu, &moved(&places, &twists)).into_py_err()?;
                (self.shared.on_gpu(gpu).into_py_err()?.poses(&places).into_py_err()?, speeds)
            }
        };
        let felt = detached(py, || {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            let felt = inner.step(&self.object.1, &places, &speeds, dt_s)?;
            gpu.finish()?;
            Ok::<_, GpuError>(felt)
        })?;
        Ok(DeviceBatch::of_presses(&self.shared, felt.into_py_err()?, &self.object.0, places))
    }

    /// Resets the environments where ``which`` is True, bool, shape (n,); default: all.
    #[pyo3(signature = (which=None))]
    fn reset(&self, which: Option<Vec<bool>>) -> PyResult<()> {
        let which = which.unwrap_or_else(|| vec![true; self.count]);
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.reset(&which).into_py_err()
    }

    fn __repr__(&self) -> String {
        let (name, gpu) = (&self.shared.spec().name, self.gpu.name());
        format!("<dermis.Environments of {name:?}: {} on {gpu}>", self.count)
    }
}
