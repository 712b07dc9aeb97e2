//! Many simulations of one sensor that step together, on a GPU or on the CPU, in the arrays of other libraries.
//!
//! [`Environments::bind`] names the arrays once; [`Environments::launch`] then reads poses and velocities from them and
//! writes loads to them. On a GPU a launch only enqueues kernels on the caller's stream: it allocates nothing, copies
//! nothing and does not synchronise, so that it can be captured in a CUDA graph. An invalid input sets the status of its
//! environment, which has no contact in that step; other environments are not affected.
//!
//! [`Environments::bind_objects`] takes several objects in each environment, and shapes that differ from environment to
//! environment: indices into the list of shapes with which the environments were made. A contact point of springs touches the object that is
//! deepest there, as [`dermis_skin::Skin::touch`] does.
//!
//! The loads go through the response of the sensor if an array for its readings is bound. [`Environments::randomise`]
//! makes the environments differ.

mod bindings;
mod cpu;
mod frames;
mod gpu;
mod history;
mod objects;
mod pads;
mod randomisation;
mod response;
mod response_program;
mod skin_steps;
mod springs;
mod status;
mod timing;
mod view;

pub use bindings::{Bindings, BodyArrays, NO_OFFSET, ObjectArrays, RotationFormat};
pub use objects::MAX_OBJECTS;
pub use randomisation::{PARAMETER_NAMES, PARAMETERS, Randomisation};
pub use status::{
    BRISTLES_FULL, FAILED, NO_SUCH_OBJECT, NOT_A_ROTATION, NOT_FINITE, OTHER_HISTORY, OUT_OF_RANGE, SATURATED,
};
pub use view::{Element, View};

pub(crate) use objects::BoundObjects;
pub(crate) use skin_steps::SkinSteps;
pub(crate) use springs::{Memory, bounding_spheres};

use crate::array::{Arrays, PadParts, Poses, Presses, Twists};
use crate::layer::MAX_BRANCHES;
use crate::{Gpu, GpuError, GpuObject, Precision};
use cpu::CpuEnvironments;
use dermis_sensor::Sensor;
use dermis_skin::{Hydroelastic, Layer, Object, Springs};
use gpu::GpuEnvironments;
use std::sync::Arc;

/// Source of the kernels' frames.
pub(crate) const FRAMES: &str = include_str!("environments/frames.cuh");
/// Source of the kernels that step springs.
pub(crate) const SPRINGS: &str = include_str!("environments/springs.cu");

/// Source of the time of a response.
pub(crate) const TIMING: &str = include_str!("environments/timing.cuh");

/// Source of the order of parameters that differ.
pub(crate) const RANDOMISATION: &str = include_str!("environments/randomisation.cuh");

/// Why the skin of a sensor with objects of these shapes does not advance in time on a GPU; `None` if it does. Springs, layers with up to 16 branches of relaxation, and
/// hydroelastic skins with rigid objects do.
pub fn cpu_only(sensor: &Sensor, shapes: &[Arc<Object>]) -> Option<&'static str> {
    if let Some(pad) = sensor.skin_as::<Hydroelastic>() {
        return match PadParts::new(pad, sensor) {
            Err(_) => Some("on a GPU pressure fields need tetrahedra, and taxels that do not read by rays"),
            Ok(_) if shapes.iter().any(|shape| shape.compliance.is_some()) => {
                Some("on a GPU hydroelastic skins take rigid objects")
            }
            Ok(_) => None,
        };
    }
    let fits = |layer: &Layer| layer.parameters().relaxation.len() <= MAX_BRANCHES;
    let runs = sensor.skin_as::<Springs>().is_some() || sensor.skin_as::<Layer>().is_some_and(fits);
    (!runs).then_some(
        "on a GPU only springs, hydroelastic skins, and layers with up to 16 branches of relaxation, advance in time",
    )
}

/// All CUDA programs of environments but those of skins.
#[cfg(test)]
pub(crate) fn programs() -> Vec<crate::program::Program> {
    let bodies = [Precision::Single, Precision::Double].map(gpu::program);
    [response_program::programs(), pads::programs(), bodies.to_vec(), vec![history::program()]].concat()
}

/// Options of environments on a GPU.
///
/// ```
/// use dermis_gpu::Precision;
/// use dermis_gpu::environments::GpuOptions;
/// assert_eq!(GpuOptions::default(), GpuOptions { precision: Precision::Double, max_polygons: None });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GpuOptions {
    /// That of contacts, forces, friction and their sums of springs. In single precision poses and velocities of bodies are read in
    /// double precision, and those of the objects relative to the sensor are rounded; the response and bound arrays keep theirs.
    pub precision: Precision,
    /// Memory for the bristles of so many polygons of the contact surface on a hydroelastic skin in each environment; by default an
    /// estimate. A surface with more of them sets [`BRISTLES_FULL`] in the status.
    pub max_polygons: Option<usize>,
}

/// Many simulations of one sensor, each with objects of a list of shapes.
#[derive(Debug)]
pub struct Environments {
    count: usize,
    device: Device,
    bound: Option<(Bindings, Vec<ObjectArrays>)>,
    /// True if streams of other libraries may still work.
    is_launched: bool,
}

#[derive(Debug)]
enum Device {
    Cpu(Box<CpuEnvironments>),
    Gpu(Box<GpuEnvironments>),
}

impl Environments {
    /// Environments of a sensor with springs or a hydroelastic skin and objects of these shapes on a GPU, initially without contact, in double
    /// precision.
    pub fn on_gpu(arrays: &Arc<Arrays>, shapes: &[Arc<GpuObject>], count: usize) -> Result<Self, GpuError> {
        Self::on_gpu_with(arrays, shapes, count, GpuOptions::default())
    }

    /// Like [`Environments::on_gpu`], with options.
    pub fn on_gpu_with(
        arrays: &Arc<Arrays>,
        shapes: &[Arc<GpuObject>],
        count: usize,
        options: GpuOptions,
    ) -> Result<Self, GpuError> {
        require_shapes(shapes)?;
        let device = Device::Gpu(Box::new(GpuEnvironments::with_arrays(arrays, shapes, count, options)?));
        Ok(Self { count, device, bound: None, is_launched: false })
    }

    /// Environments of a sensor with a layer on a GPU, initially without contact. Each step is one increment, as on the CPU
    /// with [`dermis_skin::LayerParameters::max_increments`] = 1.
    pub fn with_layer(gpu: &Arc<Gpu>, sensor: &Sensor, shapes: &[Arc<Object>], count: usize) -> Result<Self, GpuError> {
        require_shapes(shapes)?;
        let device = Device::Gpu(Box::new(GpuEnvironments::with_layer(gpu, sensor, shapes, count)?));
        Ok(Self { count, device, bound: None, is_launched: false })
    }

    /// Environments on the CPU, initially without contact. Supports every skin.
    pub fn on_cpu(sensor: &Sensor, shapes: &[Arc<Object>], count: usize) -> Result<Self, GpuError> {
        require_shapes(shapes)?;
        let device = Device::Cpu(Box::new(CpuEnvironments::new(sensor, shapes, count)?));
        Ok(Self { count, device, bound: None, is_launched: false })
    }

    /// Number of environments.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Gives every environment parameters of its own, drawn now and again at each of its resets. Call it before the first
    /// launch.
    pub fn randomise(&mut self, ranges: Randomisation) -> Result<(), GpuError> {
        match &mut self.device {
            Device::Gpu(environments) => environments.randomise(ranges),
            Device::Cpu(environments) => environments.randomise(ranges),
        }
    }

    /// The parameters of every environment, [`PARAMETERS`] each; empty if they are those of the sensor. Waits for the GPU.
    pub fn parameters(&self) -> Result<Vec<f64>, GpuError> {
        match &self.device {
            Device::Gpu(environments) => environments.parameters(),
            Device::Cpu(environments) => Ok(environments.parameters()),
        }
    }

    /// Sets the arrays and the time step of [`Environments::launch`], with one object of the first shape in each environment.
    ///
    /// # Safety
    /// Until the next call or the end of all launched work, the arrays must be alive, in host memory for the CPU and in
    /// the GPU's memory otherwise, with a row per environment and a column per taxel; outputs must not overlap.
    pub unsafe fn bind(&mut self, bindings: Bindings) -> Result<(), GpuError> {
        let only = ObjectArrays { body: bindings.object, add: bindings.add_to_object, ..ObjectArrays::default() };
        // SAFETY: the caller guarantees the arrays.
        unsafe { self.bind_objects(bindings, &[only]) }
    }

    /// Like [`Environments::bind`], with several objects in each environment, at most [`MAX_OBJECTS`], of any shapes of
    /// the list. `object` of the bindings is not used. An index that is not in the list sets [`NO_SUCH_OBJECT`] in the
    /// status. On a GPU, waits for the work of the last arrays if the objects are others; graphs that were captured with
    /// them must be captured again.
    ///
    /// # Safety
    /// As for [`Environments::bind`].
    pub unsafe fn bind_objects(&mut self, mut bindings: Bindings, objects: &[ObjectArrays]) -> Result<(), GpuError> {
        let (Some(first), false) = (objects.first(), objects.len() > MAX_OBJECTS) else {
            let reason = format!("an environment has 1 to {MAX_OBJECTS} objects, got {}", objects.len());
            return Err(GpuError::BadInput { reason });
        };
        (bindings.object, bindings.add_to_object) = (first.body, first.add);
        let dt_s = bindings.dt_s;
        require_dt(dt_s)?;
        bindings.require_apart(objects)?;
        match &mut self.device {
            Device::Gpu(environments) => environments.prepare(&bindings, objects)?,
            Device::Cpu(environments) => environments.prepare(&bindings)?,
        }
        self.bound = Some((bindings, objects.to_vec()));
        Ok(())
    }

    /// Advances every environment by one time step: [`dermis_skin::Skin::touch`] in each. On a GPU, enqueues the work on
    /// the stream with that handle of CUDA; 0 is the default stream.
    pub fn launch(&mut self, stream: usize) -> Result<(), GpuError> {
        self.launch_while(stream, &|| true)
    }

    /// Like [`Environments::launch`]. In a CUDA graph that the stream captures, what follows on it does not wait for the readings
    /// after the response, which are computed beside it by a part of the GPU, until the graph ends or [`Environments::wait`]. Until then
    /// nothing may write the bound loads. The body of a condition and a graph within the graph do not wait.
    pub fn launch_beside(&mut self, stream: usize) -> Result<(), GpuError> {
        self.launch_as(stream, true, &|| true)
    }

    /// Lets what a stream captures from now on wait for the readings of all launches beside it.
    pub fn wait(&self, stream: usize) -> Result<(), GpuError> {
        if let Device::Gpu(environments) = &self.device { environments.wait(stream) } else { Ok(()) }
    }

    /// Like [`Environments::launch`]. On the CPU, environments that begin after `goes_on` has returned false do not advance.
    pub fn launch_while(&mut self, stream: usize, goes_on: &(dyn Fn() -> bool + Sync)) -> Result<(), GpuError> {
        self.launch_as(stream, false, goes_on)
    }

    fn launch_as(
        &mut self,
        stream: usize,
        is_beside: bool,
        goes_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), GpuError> {
        let unbound = || GpuError::BadInput { reason: "bind() must name the arrays before launch()".to_owned() };
        let (bindings, objects) = self.bound.as_ref().ok_or_else(unbound)?;
        self.is_launched = true;
        // SAFETY: `bind` requires the arrays to be valid until the work is done.
        unsafe {
            match &mut self.device {
                Device::Gpu(environments) => environments.launch(bindings, stream, is_beside),
                Device::Cpu(environments) => {
                    environments.launch(bindings, objects, goes_on);
                    Ok(())
                }
            }
        }
    }

    /// Ends contact, the memory of the response and the status where the mask is not zero, and draws their parameters anew;
    /// everywhere if it is not bound.
    ///
    /// # Safety
    /// As for [`Environments::bind`], with one number per environment.
    pub unsafe fn reset(&mut self, mask: &View, stream: usize) -> Result<(), GpuError> {
        self.is_launched = true;
        // SAFETY: the caller guarantees the mask.
        unsafe {
            match &mut self.device {
                Device::Gpu(environments) => environments.reset(mask, stream),
                Device::Cpu(environments) => {
                    environments.reset(mask);
                    Ok(())
                }
            }
        }
    }

    /// Compares `steps`, the number of steps since its reset that the caller knows of each environment, with the number of earlier calls: where it is 0, the
    /// environment is reset; where it is another number, its status is [`OTHER_HISTORY`]. Call it before each launch, or never.
    ///
    /// # Safety
    /// As for [`Environments::bind`], with one number per environment.
    pub unsafe fn follow(&mut self, steps: &View, stream: usize) -> Result<(), GpuError> {
        self.is_launched = true;
        // SAFETY: the caller guarantees the numbers.
        unsafe {
            match &mut self.device {
                Device::Gpu(environments) => environments.follow(steps, stream),
                Device::Cpu(environments) => {
                    environments.follow(steps);
                    Ok(())
                }
            }
        }
    }

    /// The status bits of every environment since its last reset. Waits for the GPU.
    pub fn status(&self) -> Result<Vec<u32>, GpuError> {
        match &self.device {
            Device::Gpu(environments) => environments.status(),
            Device::Cpu(environments) => Ok(environments.status.clone()),
        }
    }

    /// An error that names the first environment with a fault since its last reset, else the warning about contacts
    /// beyond the skin's range, else the warning of the skin about the last step. Waits for the GPU.
    pub fn check(&self) -> Result<Option<String>, GpuError> {
        let failure = match &self.device {
            Device::Cpu(environments) => environments.failure.clone(),
            Device::Gpu(environments) => environments.failure(),
        };
        let status = self.status()?;
        status::faults(&status, failure.as_deref())?;
        let beyond = status::saturation(&status);
        match &self.device {
            _ if beyond.is_some() => Ok(beyond),
            Device::Cpu(environments) => Ok(environments.warning()),
            Device::Gpu(environments) => environments.warning(),
        }
    }

    /// Advances every environment on a GPU, each with one object of the only shape, at given poses by `dt_s` and returns all loads (N, N m), in new memory.
    pub fn step(&mut self, poses: &Poses, twists: &Twists, dt_s: f64) -> Result<Presses, GpuError> {
        for (got, what) in [(poses.count, "poses"), (twists.count, "twists")] {
            crate::array::same_count(self.count, got, what)?;
        }
        require_dt(dt_s)?;
        match &self.device {
            Device::Gpu(environments) => {
                if std::mem::take(&mut self.is_launched) {
                    environments.finish()?;
                }
                environments.step(poses, twists, dt_s)
            }
            Device::Cpu(_) => {
                let reason = "step() runs on a GPU only: use bind() and launch(), which run on the CPU too".to_owned();
                Err(GpuError::BadInput { reason })
            }
        }
    }
}

/// Largest time step (s).
const MAX_DT_S: f64 = 1e6;

fn require_dt(dt_s: f64) -> Result<(), GpuError> {
    if dt_s > 0.0 && dt_s <= MAX_DT_S {
        return Ok(());
    }
    let reason = format!("`dt` must be a positive number of s, at most {MAX_DT_S:e}, got {dt_s:e}");
    Err(GpuError::BadInput { reason })
}

fn require_shapes<T>(shapes: &[T]) -> Result<(), GpuError> {
    if shapes.is_empty() {
        return Err(GpuError::BadInput { reason: "environments need at least one object".to_owned() });
    }
    Ok(())
}
