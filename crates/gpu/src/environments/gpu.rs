//! Many environments on the GPU. A launch only enqueues kernels: no allocation, no copy, no synchronisation.

use super::GpuOptions;
use super::bindings::{Bindings, BodyArrays, ObjectArrays};
use super::history::GpuHistory;
use super::objects::BoundObjects;
use super::pads::PadSteps;
use super::randomisation::{self, PARAMETERS, Randomisation};
use super::response::{GpuResponse, Share};
use super::skin_steps::SkinSteps;
use super::springs::spring_steps;
use super::status::skin_warning;
use super::timing::{Clock, Timing};
use super::view::View;
use crate::array::{Arrays, Poses, Presses, Twists};
use crate::capture::Place;
use crate::cuda_struct::Ptr;
use crate::layer::LayerSteps;
use crate::memory::launch_on;
use crate::program::{COMMON, Program, UNFUSED};
use crate::{DeviceBuffer, Gpu, GpuError, GpuObject, Precision};
use cudarc::driver::CudaFunction;
use dermis_sensor::Sensor;
use dermis_sensor::response::Chain;
use dermis_skin::Object;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Threads per block, one environment each.
const THREADS: usize = 256;
/// Threads per block that read bodies, one per environment.
const READ_THREADS: usize = 64;
/// Numbers per environment in the struct `Bodies` of the kernels.
pub(super) const BODIES_NUMBERS: usize = 24;
/// Memory (bytes) of an environment in addition to that of its skin.
pub(super) const BODY_BYTES: usize = 8 * BODIES_NUMBERS + 4;

const SOURCE: &[&str] = &[
    COMMON,
    View::CUDA,
    BodyArrays::CUDA,
    ObjectArrays::CUDA,
    Bindings::CUDA,
    Clock::CUDA,
    Timing::CUDA,
    include_str!("../cuda/view.cuh"),
    super::RANDOMISATION,
    super::TIMING,
    super::FRAMES,
    include_str!("bodies.cu"),
];

/// The kernels that read bodies, in double precision, and round what a step in a precision needs of them.
pub(super) fn program(precision: Precision) -> Program {
    let (name, stored) = match precision {
        Precision::Single => ("environment-bodies-single", "-DSTORED=float"),
        Precision::Double => ("environment-bodies", "-DSTORED=double"),
    };
    Program::new(name, SOURCE, &[stored, UNFUSED])
}

/// Many simulations of one sensor on the GPU.
#[derive(Debug)]
pub(super) struct GpuEnvironments {
    gpu: Arc<Gpu>,
    /// Name, response and number of taxels of the sensor.
    sensor: String,
    chain: Chain,
    taxels: usize,
    skin: Box<dyn SkinSteps>,
    count: usize,
    /// Number of shapes.
    shapes: usize,
    read: CudaFunction,
    read_objects: CudaFunction,
    /// What the step needs of the bodies, ([`BODIES_NUMBERS`] per environment).
    bodies: DeviceBuffer<f64>,
    /// Present once environments have several objects, or objects of different shapes.
    objects: Option<BoundObjects>,
    /// Present once readings are bound.
    response: Option<GpuResponse>,
    random: Option<Random>,
    /// Present once a caller gives its numbers of steps.
    history: Option<GpuHistory>,
    status: DeviceBuffer<u32>,
    /// Where the last launch beside a stream was captured, unless it was waited for.
    beside: Mutex<Option<Place>>,
}

/// Parameters that differ.
#[derive(Debug)]
struct Random {
    ranges: Randomisation,
    redraw: CudaFunction,
    /// (environments, [`PARAMETERS`]).
    parameters: DeviceBuffer<f64>,
    resets: DeviceBuffer<u64>,
}

impl GpuEnvironments {
    /// Environments with springs or a pressure field.
    pub fn with_arrays(
        arrays: &Arc<Arrays>,
        shapes: &[Arc<GpuObject>],
        count: usize,
        GpuOptions { precision, max_polygons }: GpuOptions,
    ) -> Result<Self, GpuError> {
        let gpu = arrays.gpu();
        let status = gpu.zeros(count)?;
        let (skin, taxels): (Box<dyn SkinSteps>, _) = match arrays.pads() {
            Some(_) if precision == Precision::Single => {
                let what = format!("single precision of sensor {:?}", arrays.sensor());
                return Err(GpuError::Unsupported { what, why: "it has no springs".to_owned() });
            }
            Some(pads) => {
                let steps = PadSteps::new(arrays, pads, shapes, count, max_polygons, status.at_mut(0))?;
                (Box::new(steps), pads.taxels)
            }
            None => (spring_steps(arrays, shapes, count, status.at_mut(0), precision)?, arrays.springs()?.taxels),
        };
        Self::new(gpu, arrays.sensor(), arrays.chain(), taxels, skin, precision, status, count, shapes.len())
    }

    /// Environments with a layer.
    pub fn with_layer(gpu: &Arc<Gpu>, sensor: &Sensor, shapes: &[Arc<Object>], count: usize) -> Result<Self, GpuError> {
        let status = gpu.zeros(count)?;
        let skin = Box::new(LayerSteps::new(gpu, sensor, shapes, count, status.at_mut(0))?);
        let (taxels, precision) = (sensor.taxels().len(), Precision::Double);
        Self::new(gpu, sensor.name(), sensor.chain(), taxels, skin, precision, status, count, shapes.len())
    }

    #[allow(clippy::too_many_arguments, reason = "each is a field")]
    fn new(
        gpu: &Arc<Gpu>,
        sensor: &str,
        chain: &Chain,
        taxels: usize,
        skin: Box<dyn SkinSteps>,
        precision: Precision,
        status: DeviceBuffer<u32>,
        count: usize,
        shapes: usize,
    ) -> Result<Self, GpuError> {
        let made = Self {
            gpu: Arc::clone(gpu),
            sensor: sensor.to_owned(),
            chain: chain.clone(),
            taxels,
            skin,
            count,
            shapes,
            read: gpu.kernel(&program(precision), "read_bodies")?,
            read_objects: gpu.kernel(&program(precision), "read_objects")?,
            bodies: gpu.uninitialised(BODIES_NUMBERS * count)?,
            objects: None,
            response: None,
            random: None,
            history: None,
            status,
            beside: Mutex::default(),
        };
        // Other streams may use the memory now.
        gpu.finish()?;
        Ok(made)
    }

    fn unsupported(&self, what: &str, why: &str) -> GpuError {
        GpuError::Unsupported { what: format!("{what} of sensor {:?} on a GPU", self.sensor), why: why.to_owned() }
    }

    /// Gives every environment parameters of its own.
    pub fn randomise(&mut self, ranges: Randomisation) -> Result<(), GpuError> {
        ranges.check(&self.chain, self.skin.has_friction())?;
        self.skin.use_own_parameters()?;
        let random = Random {
            ranges,
            redraw: self.gpu.kernel(&randomisation::program(), "redraw")?,
            parameters: self.gpu.uninitialised(PARAMETERS * self.count)?,
            resets: self.gpu.zeros(self.count)?,
        };
        self.random = Some(random);
        // SAFETY: without a mask no array is read.
        unsafe { self.redraw(&View::default(), self.gpu.stream_handle())? };
        self.gpu.finish()
    }

    /// The parameters of every environment; empty if they are those of the sensor.
    pub fn parameters(&self) -> Result<Vec<f64>, GpuError> {
        self.gpu.finish_all_streams()?;
        self.random.as_ref().map_or(Ok(Vec::new()), |random| random.parameters.download())
    }

    /// Prepares what the bound objects and outputs need.
    pub fn prepare(&mut self, bindings: &Bindings, objects: &[ObjectArrays]) -> Result<(), GpuError> {
        self.prepare_outputs(bindings)?;
        self.prepare_objects(objects)
    }

    fn prepare_outputs(&mut self, bindings: &Bindings) -> Result<(), GpuError> {
        let has_images = self.skin.prepare(bindings)?;
        if !has_images && (bindings.image.is_bound() || bindings.markers.is_bound()) {
            return Err(self.unsupported("images and markers", "it has no camera"));
        }
        let dt_s = bindings.dt_s;
        match &mut self.response {
            _ if !bindings.reported.is_bound() => Ok(()),
            Some(response) if response.dt_s() == dt_s => response.prepare(bindings),
            Some(response) => {
                let reason = format!(
                    "`dt` must stay {} s while `reported` is bound, got {dt_s} s: make new environments",
                    response.dt_s()
                );
                Err(GpuError::BadInput { reason })
            }
            None => {
                let unsupported = || self.unsupported("the response", "one of its stages has no form for a GPU");
                let operations = self.chain.operations().ok_or_else(unsupported)?;
                if let Some(why) = operations.iter().find_map(|operation| operation.cpu_only) {
                    return Err(self.unsupported("the response", why));
                }
                let made = GpuResponse::new(&self.gpu, &operations, self.taxels, self.count, dt_s)?;
                self.response.insert(made).prepare(bindings)
            }
        }
    }

    fn prepare_objects(&mut self, objects: &[ObjectArrays]) -> Result<(), GpuError> {
        let is_plain = objects.len() == 1 && !objects[0].shape.is_bound() && objects[0].fixed_shape == 0;
        if self.objects.as_ref().map_or(is_plain, |bound| bound.are(objects)) {
            return Ok(());
        }
        self.skin.use_objects(objects.len())?;
        // Work with the last arrays may not be done.
        self.gpu.finish_all_streams()?;
        self.objects = Some(BoundObjects::new(&self.gpu, objects, self.count)?);
        self.gpu.finish()
    }

    unsafe fn redraw(&self, mask: &View, stream: usize) -> Result<(), GpuError> {
        let Some(random) = &self.random else { return Ok(()) };
        // SAFETY: the caller guarantees the mask; the buffers have a row per environment.
        unsafe {
            launch_on!(
                self.gpu, stream, random.redraw, (self.count.div_ceil(THREADS).max(1), THREADS);
                mask, &random.ranges, &random.parameters.at_mut(0), &random.resets.at_mut(0), &(self.count as u32)
            )
        }
    }

    /// Enqueues a step of all environments on a stream, given by CUDA's handle. is_beside: what the stream captures after it in a graph
    /// does not wait for the response.
    ///
    /// # Safety
    /// The bound arrays are alive until the work is done, in the memory of this GPU, and have a row per environment.
    pub unsafe fn launch(&self, bindings: &Bindings, stream: usize, is_beside: bool) -> Result<(), GpuError> {
        self.join(stream)?;
        let Some(response) = self.response.as_ref().filter(|_| bindings.reported.is_bound()) else {
            // SAFETY: the caller guarantees the arrays.
            return unsafe { self.enqueue(bindings, stream) };
        };
        let stepped = response.with_loads(bindings);
        // SAFETY: as above; the loads of the response have a row per environment.
        unsafe {
            self.enqueue(&stepped, stream)?;
            let after_skin = if is_beside { Place::of(&self.gpu, stream)? } else { None };
            let share = if after_skin.is_some() { Share::Part } else { Share::All };
            response.launch(&stepped, self.own_parameters(), self.skin.touching(), share, stream)?;
            let Some(after_skin) = after_skin else { return Ok(()) };
            *self.lock_beside() = Place::of(&self.gpu, stream)?;
            after_skin.resume(stream)
        }
    }

    /// Lets what the stream captures from now on wait for responses that were launched beside it.
    pub fn wait(&self, stream: usize) -> Result<(), GpuError> {
        self.lock_beside().as_ref().map_or(Ok(false), |place| place.wait(&self.gpu, stream)).map(drop)
    }

    /// Like [`GpuEnvironments::wait`], before work of these environments, for which all further work waits.
    fn join(&self, stream: usize) -> Result<(), GpuError> {
        let mut beside = self.lock_beside();
        if let Some(place) = &*beside
            && place.wait(&self.gpu, stream)?
        {
            *beside = None;
        }
        Ok(())
    }

    fn lock_beside(&self) -> MutexGuard<'_, Option<Place>> {
        self.beside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn own_parameters(&self) -> Ptr<f64> {
        self.random.as_ref().map_or(Ptr::default(), |random| random.parameters.at(0))
    }

    /// Enqueues what a step needs of the bodies; returns where it is, and the parameters of the environments.
    ///
    /// # Safety
    /// As for [`GpuEnvironments::launch`].
    unsafe fn read(&self, bindings: &Bindings, stream: usize) -> Result<[Ptr<f64>; 2], GpuError> {
        let has_reading = bindings.reported.is_bound();
        let timing = self.response.as_ref().filter(|_| has_reading).map_or_else(Timing::default, GpuResponse::timing);
        let (parameters, n) = (self.own_parameters(), self.count as u32);
        // As many blocks for the clocks.
        let kinds = if timing.has_clocks() { 2 } else { 1 };
        let blocks = kinds * self.count.div_ceil(READ_THREADS).max(1);
        let bodies = self.objects.as_ref().map_or_else(|| self.bodies.at_mut(0), BoundObjects::bodies);
        // SAFETY: the caller guarantees the bound arrays; the buffers have room for all environments.
        unsafe {
            match &self.objects {
                Some(objects) => launch_on!(
                    self.gpu, stream, self.read_objects, (blocks, READ_THREADS); bindings, &objects.arrays(),
                    &(objects.count() as u32), &(self.shapes as u32), &bodies, &timing, &parameters, &n
                )?,
                None => launch_on!(
                    self.gpu, stream, self.read, (blocks, READ_THREADS); bindings, &bodies, &timing, &parameters, &n
                )?,
            }
        }
        Ok([Ptr::new(bodies.0), parameters])
    }

    unsafe fn enqueue(&self, bindings: &Bindings, stream: usize) -> Result<(), GpuError> {
        // SAFETY: the caller guarantees the bound arrays.
        unsafe {
            let [bodies, parameters] = self.read(bindings, stream)?;
            self.skin.enqueue(bindings, self.objects.as_ref(), bodies, parameters, stream)
        }
    }

    /// Enqueues the end of all contact, and of the status, where the mask is not zero.
    ///
    /// # Safety
    /// The mask is alive until the work is done, in the memory of this GPU, and has an element per environment.
    pub unsafe fn reset(&self, mask: &View, stream: usize) -> Result<(), GpuError> {
        self.join(stream)?;
        // SAFETY: the caller guarantees the mask.
        unsafe {
            self.skin.reset(mask, stream)?;
            self.redraw(mask, stream)?;
            self.response.as_ref().map_or(Ok(()), |response| response.reset(mask, stream))
        }
    }

    /// Enqueues the comparison of the caller's numbers of steps with ours, and the reset where they are 0.
    ///
    /// # Safety
    /// As for [`GpuEnvironments::reset`].
    pub unsafe fn follow(&mut self, steps: &View, stream: usize) -> Result<(), GpuError> {
        if self.history.is_none() {
            self.history = Some(GpuHistory::new(&self.gpu, self.count)?);
        }
        let Some(history) = &self.history else { return Ok(()) };
        // SAFETY: the caller guarantees the numbers; the mask has an element per environment.
        unsafe {
            let fresh = history.follow(steps, self.status.at_mut(0), stream)?;
            self.reset(&fresh, stream)
        }
    }

    /// Waits until all streams are done.
    pub fn finish(&self) -> Result<(), GpuError> {
        self.gpu.finish_all_streams()
    }

    /// The status bits, after all work of the GPU is done.
    pub fn status(&self) -> Result<Vec<u32>, GpuError> {
        self.gpu.finish_all_streams()?;
        self.status.download()
    }

    /// The message of a skin that could not be solved.
    pub fn failure(&self) -> Option<String> {
        self.skin.failure()
    }

    /// The warning of the skin about the last step, after all work of the GPU is done.
    pub fn warning(&self) -> Result<Option<String>, GpuError> {
        self.gpu.finish_all_streams()?;
        Ok(skin_warning(&self.skin.warnings()?))
    }

    /// Steps all environments at given poses and velocities, and returns all loads. Allocates their memory.
    pub fn step(&self, poses: &Poses, twists: &Twists, dt_s: f64) -> Result<Presses, GpuError> {
        if self.shapes > 1 || self.objects.is_some() {
            let why = "it takes one object of one shape: use bind() and launch()";
            return Err(self.unsupported("step()", why));
        }
        // SAFETY: the arrays that `step` binds have a row per environment.
        let stepped =
            self.skin.step(poses, twists, dt_s, &|bindings, stream| unsafe { self.read(bindings, stream) })?;
        stepped.ok_or_else(|| self.unsupported("step()", "its skin has no springs: use bind() and launch()"))
    }
}

impl Drop for GpuEnvironments {
    fn drop(&mut self) {
        // Work on streams of other libraries may still use the memory.
        let _ = self.gpu.finish_all_streams();
    }
}
