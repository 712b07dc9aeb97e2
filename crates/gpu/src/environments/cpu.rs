//! Environments on the CPU: any skin, one environment after the other on all cores.

use super::bindings::{Bindings, ObjectArrays};
use super::frames::{self, BodyState};
use super::randomisation::{self, PARAMETERS, Randomisation};
use super::status::{FAILED, NO_SUCH_OBJECT, OTHER_HISTORY, SATURATED, skin_warning};
use super::timing::STEPS_APART;
use super::view::View;
use crate::GpuError;
use dermis_geometry::{Vec3, Wrench};
use dermis_sensor::response::Scales;
use dermis_sensor::{Reading, ResponseState, Sensor};
use dermis_skin::threads::parallel;
use dermis_skin::{Friction, Layer, Motion, Object, Skin, SkinError, Springs, State, Target, Touch, Warning};
use rayon::prelude::*;
use std::collections::TryReserveError;
use std::sync::Arc;

/// Many simulations of one sensor on the CPU.
#[derive(Debug)]
pub(super) struct CpuEnvironments {
    sensor: Sensor,
    shapes: Vec<Arc<Object>>,
    environments: Vec<One>,
    random: Option<Randomisation>,
    pub status: Vec<u32>,
    /// The message of the first skin that could not be solved.
    pub failure: Option<String>,
}

/// One environment.
#[derive(Clone, Debug)]
struct One {
    state: State,
    response: ResponseState,
    resets: u64,
    /// Number of steps that the caller knows of.
    steps: u32,
    /// Parameters of its own.
    own: Option<Own>,
    /// Number of the next image.
    frame: u64,
    /// Warnings of a layer about the last step.
    warnings: Vec<Warning>,
}

#[derive(Clone, Debug)]
struct Own {
    parameters: [f64; PARAMETERS],
    /// The skin, if its friction differs from that of the sensor.
    springs: Option<Springs>,
}

impl Own {
    fn draw(ranges: &Randomisation, sensor: &Sensor, environment: usize, resets: u64) -> Result<Self, SkinError> {
        let parameters = ranges.draw(environment, resets);
        let springs = sensor.skin_as::<Springs>().filter(|_| ranges.changes_friction());
        let other = |springs: &Springs| {
            let friction = springs.parameters().friction.scaled(parameters[1]);
            springs.with_parameters(dermis_skin::SpringParameters { friction, ..springs.parameters().clone() })
        };
        Ok(Self { parameters, springs: springs.map(other).transpose()? })
    }
}

/// The error for more environments than fit into memory: what they need at least, without the memory of skin and response.
fn too_many(count: usize) -> GpuError {
    let needed_gb = count as f64 * size_of::<One>() as f64 / 1e9;
    let reason = format!(
        "`count` = {count} environments need at least {needed_gb:.0} GB of memory, and more for their contacts, which this machine does not have: make fewer"
    );
    GpuError::BadInput { reason }
}

impl CpuEnvironments {
    /// Environments without contact. Returns an error if the machine does not have their memory.
    pub fn new(sensor: &Sensor, shapes: &[Arc<Object>], count: usize) -> Result<Self, GpuError> {
        let mut environments = Vec::new();
        let reserved: Result<(), TryReserveError> = environments.try_reserve_exact(count);
        reserved.map_err(|_| too_many(count))?;
        let one = |i: usize| {
            let step = STEPS_APART.wrapping_mul(i as u64);
            let response = ResponseState { step, ..sensor.chain().rest() };
            One {
                state: sensor.skin().rest(),
                response,
                resets: 0,
                steps: 0,
                own: None,
                frame: 0,
                warnings: Vec::new(),
            }
        };
        environments.extend((0..count).map(one));
        Ok(Self {
            sensor: sensor.clone(),
            shapes: shapes.to_vec(),
            environments,
            random: None,
            status: vec![0; count],
            failure: None,
        })
    }

    /// Gives every environment parameters of its own.
    pub fn randomise(&mut self, ranges: Randomisation) -> Result<(), GpuError> {
        let has_friction =
            self.sensor.skin_as::<Springs>().is_some_and(|springs| springs.parameters().friction != Friction::None);
        ranges.check(self.sensor.chain(), has_friction)?;
        for (i, one) in self.environments.iter_mut().enumerate() {
            let drawn = Own::draw(&ranges, &self.sensor, i, one.resets);
            one.own = Some(drawn.map_err(|error| GpuError::BadInput { reason: error.to_string() })?);
        }
        self.random = Some(ranges);
        Ok(())
    }

    /// The parameters of every environment; empty if they are those of the sensor.
    pub fn parameters(&self) -> Vec<f64> {
        self.environments.iter().filter_map(|one| one.own.as_ref()).flat_map(|own| own.parameters).collect()
    }

    /// Refuses outputs that the sensor does not have.
    pub fn prepare(&self, b: &Bindings) -> Result<(), GpuError> {
        if (b.image.is_bound() || b.markers.is_bound()) && self.sensor.optics().is_none() {
            let what = format!("images and markers of sensor {:?}", self.sensor.name());
            return Err(GpuError::Unsupported { what, why: "it has no camera".to_owned() });
        }
        Ok(())
    }

    /// The warning of a layer about the last step.
    pub fn warning(&self) -> Option<String> {
        skin_warning(self.environments.iter().map(|one| &one.warnings))
    }

    /// Advances every environment and writes its outputs, while `goes_on`.
    ///
    /// # Safety
    /// The bound arrays are alive, in host memory, and have a row per environment, which nothing else accesses.
    pub unsafe fn launch(&mut self, b: &Bindings, objects: &[ObjectArrays], goes_on: &(dyn Fn() -> bool + Sync)) {
        let (sensor, shapes) = (&self.sensor, &self.shapes[..]);
        let one = |(i, (one, status)): (usize, (&mut One, &mut u32))| {
            if !goes_on() {
                return None;
            }
            // SAFETY: the caller guarantees the arrays; each environment has rows of its own.
            let bits = unsafe { step(sensor, shapes, b, objects, i, one) };
            let (bits, failure) = bits.map_or_else(|text| (FAILED, Some((i, text))), |bits| (bits, None));
            *status |= bits;
            failure
        };
        let all = self.environments.par_iter_mut().zip(self.status.par_iter_mut()).enumerate();
        if let Some((_, text)) = parallel(|| all.filter_map(one).min_by_key(|(i, _)| *i)) {
            self.failure = Some(text);
        }
    }

    /// Ends contact, memory and status where the mask is not zero, and draws parameters anew.
    ///
    /// # Safety
    /// The mask is alive, in host memory, and has an element per environment.
    pub unsafe fn reset(&mut self, mask: &View) {
        // SAFETY: the caller guarantees the mask.
        self.reset_where(|i| !mask.is_bound() || unsafe { mask.number([i, 0, 0]) } != 0.0);
    }

    /// Compares the caller's numbers of steps with ours, and resets where they are 0.
    ///
    /// # Safety
    /// The numbers are alive, in host memory, one per environment.
    pub unsafe fn follow(&mut self, steps: &View) {
        // SAFETY: the caller guarantees the numbers.
        let given = |i: usize| unsafe { steps.number([i, 0, 0]) as u32 };
        self.reset_where(|i| given(i) == 0);
        for (i, (one, status)) in self.environments.iter_mut().zip(&mut self.status).enumerate() {
            let known = given(i);
            if known != 0 && known != one.steps {
                *status |= OTHER_HISTORY;
            }
            one.steps = known + 1;
        }
    }

    fn reset_where(&mut self, is_reset: impl Fn(usize) -> bool) {
        let (sensor, rest) = (&self.sensor, self.sensor.skin().rest());
        for (i, (one, status)) in self.environments.iter_mut().zip(&mut self.status).enumerate() {
            if !is_reset(i) {
                continue;
            }
            (one.state, *status) = (rest.clone(), 0);
            one.warnings.clear();
            // The steps go on, and the noise with them.
            one.response = ResponseState { step: one.response.step, ..sensor.chain().rest() };
            one.resets += 1;
            // Parameters in the ranges that were drawn from before are valid.
            let drawn = self.random.as_ref().and_then(|ranges| Own::draw(ranges, sensor, i, one.resets).ok());
            one.own = drawn.or(one.own.take());
        }
    }
}

/// The bodies of an environment: the sensor's, and those of the objects with their shapes.
struct Bodies<'a> {
    sensor: BodyState,
    objects: Vec<(BodyState, &'a Object)>,
}

impl<'a> Bodies<'a> {
    /// The bodies of environment `i`; an error has the bits of all faults.
    ///
    /// # Safety
    /// As for [`CpuEnvironments::launch`].
    unsafe fn read(
        shapes: &'a [Arc<Object>],
        b: &Bindings,
        objects: &[ObjectArrays],
        i: usize,
        one: &One,
    ) -> Result<Self, u32> {
        // SAFETY: the caller guarantees the arrays.
        let (sensor, read) = unsafe { (frames::body(&b.sensor, i), objects.iter().map(|o| frames::object(o, i))) };
        let mut faults = *sensor.as_ref().err().unwrap_or(&0);
        let mut found = Vec::with_capacity(objects.len());
        for (body, index) in read {
            let shape = index.and_then(|index| shapes.get(index));
            faults |= if shape.is_none() { NO_SUCH_OBJECT } else { 0 };
            let near = |body: BodyState| match &sensor {
                Ok(on) => frames::check_distance(on, &body).map(|()| body),
                Err(_) => Ok(body),
            };
            match (body.and_then(near), shape) {
                (Ok(body), Some(shape)) => found.push((body, &**shape)),
                (body, _) => faults |= body.err().unwrap_or(0),
            }
        }
        match (sensor, &one.own) {
            _ if faults != 0 => Err(faults),
            (Ok(on), Some(own)) => {
                Ok(Self { sensor: on.displaced(&randomisation::displacement(&own.parameters)), objects: found })
            }
            (Ok(on), None) => Ok(Self { sensor: on, objects: found }),
            (Err(fault), _) => Err(fault),
        }
    }
}

/// Steps environment `i`; returns the bits of its status, or the message of a skin that could not be solved.
///
/// # Safety
/// As for [`CpuEnvironments::launch`].
unsafe fn step(
    sensor: &Sensor,
    shapes: &[Arc<Object>],
    b: &Bindings,
    objects: &[ObjectArrays],
    i: usize,
    one: &mut One,
) -> Result<u32, String> {
    // SAFETY: the caller guarantees the arrays.
    let bodies = unsafe { Bodies::read(shapes, b, objects, i, one) };
    let touched = match &bodies {
        Ok(Bodies { sensor: on, objects }) => {
            let at = |other: &BodyState, shape| {
                Target::from_world(shape, &other.pose, &other.velocity, &on.pose, &on.velocity)
            };
            let targets: Vec<_> = objects.iter().map(|(other, shape)| at(other, *shape)).collect();
            one.touch(sensor, &Motion { targets: &targets }, b.dt_s)
        }
        // The surface without contact is seen.
        Err(_) => sensor.touch(&sensor.skin().rest(), &Motion { targets: &[] }, b.dt_s),
    };
    // A skin that could not be solved has no load, and its state is as before.
    let (touch, failure) = match touched {
        Ok((touch, next)) => {
            one.state = next;
            (touch, None)
        }
        Err(error) => (Touch::default(), Some(error.to_string())),
    };
    let stiffness = one.own.as_ref().map_or(1.0, |own| own.parameters[0]);
    let mut loads = sensor.taxel_loads(&touch);
    loads.values_newton.iter_mut().for_each(|value| *value *= stiffness);
    loads.forces_newton.iter_mut().for_each(|force| *force *= stiffness);
    let scaled = |load: &Wrench| Wrench { force: load.force * stiffness, torque: load.torque * stiffness };
    let on_sensor = scaled(&touch.on_sensor);
    let acting = bodies.as_ref().ok().filter(|_| failure.is_none());
    // SAFETY: the caller guarantees the arrays.
    unsafe {
        write(b, i, &loads, loads.outside_newton * stiffness);
        frames::write_sensor_load(b, i, acting.map(|bodies| &bodies.sensor), on_sensor);
        for (k, object) in objects.iter().enumerate() {
            let load = acting.zip(touch.on_objects.get(k));
            let load = load.map(|(bodies, load)| (&bodies.sensor, &bodies.objects[k].0, scaled(load)));
            frames::write_object_load(object, i, load);
        }
        one.respond(sensor, b, i, &loads.values_newton)?;
        if failure.is_none() {
            one.look(sensor, b, i, &touch)?;
        }
    }
    one.warnings = if sensor.skin_as::<Layer>().is_some() { touch.warnings.clone() } else { Vec::new() };
    match (failure, bodies) {
        (Some(text), _) => Err(text),
        (None, Err(bits)) => Ok(bits),
        (None, Ok(_)) => Ok(if touch.saturated > 0 { SATURATED } else { 0 }),
    }
}

impl One {
    /// [`Sensor::touch`] with the friction of this environment.
    fn touch(&self, sensor: &Sensor, motion: &Motion<'_>, dt_s: f64) -> Result<(Touch, State), SkinError> {
        match self.own.as_ref().and_then(|own| own.springs.as_ref()) {
            Some(springs) => springs.touch(&self.state, motion, dt_s),
            None => sensor.touch(&self.state, motion, dt_s),
        }
    }

    /// Applies the response to the loads (N) on the taxels if its readings are bound, and writes them.
    ///
    /// # Safety
    /// As for [`CpuEnvironments::launch`].
    unsafe fn respond(&mut self, sensor: &Sensor, b: &Bindings, i: usize, values: &[f64]) -> Result<(), String> {
        if !b.reported.is_bound() {
            return Ok(());
        }
        let scales = self.own.as_ref().map_or(Scales::ONE, |own| randomisation::scales(&own.parameters));
        let responded = sensor.chain().respond_scaled(&self.response, values, b.dt_s, scales);
        let (report, next) = responded.map_err(|error| error.to_string())?;
        self.response = next;
        for (taxel, value) in report.newton.iter().enumerate() {
            // SAFETY: the caller guarantees the arrays.
            unsafe { b.reported.set([i, taxel, 0], *value) };
        }
        Ok(())
    }

    /// Writes the image and the positions of the markers if they are bound.
    ///
    /// # Safety
    /// As for [`CpuEnvironments::launch`].
    unsafe fn look(&mut self, sensor: &Sensor, b: &Bindings, i: usize, touch: &Touch) -> Result<(), String> {
        if b.image.is_bound() {
            let frame = sensor.render(touch, self.frame).map_err(|error| error.to_string())?;
            self.frame += 1;
            let image = frame.image.to_rgb8();
            for (k, level) in image.pixels().as_flattened().iter().enumerate() {
                // SAFETY: the caller guarantees the arrays.
                unsafe { b.image.set([i, k / (3 * image.width()), k % (3 * image.width())], f64::from(*level)) };
            }
        }
        let seen = sensor.camera_view(touch).ok().filter(|_| b.markers.is_bound());
        let tracks = seen.and_then(|(optics, surface)| Some(optics.markers()?.track(&surface, optics.camera())));
        for (marker, [_, _, column, row]) in tracks.into_iter().flatten().enumerate() {
            // SAFETY: as above.
            unsafe {
                b.markers.set([i, marker, 0], column);
                b.markers.set([i, marker, 1], row);
            }
        }
        Ok(())
    }
}

/// Writes the loads of environment `i`.
///
/// # Safety
/// As for [`CpuEnvironments::launch`].
unsafe fn write(b: &Bindings, i: usize, loads: &Reading, outside: Vec3) {
    for (taxel, (value, force)) in loads.values_newton.iter().zip(&loads.forces_newton).enumerate() {
        // SAFETY: the caller guarantees the arrays.
        unsafe {
            b.taxels.set([i, taxel, 0], *value);
            (0..3).for_each(|axis| b.forces.set([i, taxel, axis], force[axis]));
        }
    }
    // SAFETY: as above.
    (0..3).for_each(|axis| unsafe { b.outside.set([i, axis, 0], outside[axis]) });
}
