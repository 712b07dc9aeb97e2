//! Environments on the CPU: any skin, one environment after the other on all cores.

use super::bindings::Bindings;
use super::frames;
use super::status::{FAILED, SATURATED};
use super::view::View;
use dermis_geometry::{Vec3, Wrench};
use dermis_sensor::Sensor;
use dermis_skin::{Motion, Object, State, Target};
use rayon::prelude::*;
use std::sync::Arc;

/// Many simulations of one sensor on the CPU, each with one object.
#[derive(Debug)]
pub(super) struct CpuEnvironments {
    sensor: Sensor,
    object: Arc<Object>,
    states: Vec<State>,
    pub status: Vec<u32>,
    /// The message of the first skin that could not be solved.
    pub failure: Option<String>,
}

impl CpuEnvironments {
    pub fn new(sensor: &Sensor, object: &Arc<Object>, count: usize) -> Self {
        let states = vec![sensor.skin().rest(); count];
        Self { sensor: sensor.clone(), object: Arc::clone(object), states, status: vec![0; count], failure: None }
    }

    /// Advances every environment and writes its outputs, while `goes_on`.
    ///
    /// # Safety
    /// The bound arrays are alive, in host memory, and have a row per environment, which nothing else accesses.
    pub unsafe fn launch(&mut self, b: &Bindings, goes_on: &(dyn Fn() -> bool + Sync)) {
        let (sensor, object) = (&self.sensor, &*self.object);
        let one = |(i, (state, status)): (usize, (&mut State, &mut u32))| {
            if !goes_on() {
                return None;
            }
            // SAFETY: the caller guarantees the arrays; each environment has rows of its own.
            let bits = unsafe { step(sensor, object, b, i, state) };
            let (bits, failure) = bits.unwrap_or_else(|text| (FAILED, Some((i, text))));
            *status |= bits;
            failure
        };
        let all = self.states.par_iter_mut().zip(self.status.par_iter_mut()).enumerate();
        if let Some((_, text)) = all.filter_map(one).min_by_key(|(i, _)| *i) {
            self.failure = Some(text);
        }
    }

    /// Ends contact and clears the status where the mask is not zero.
    ///
    /// # Safety
    /// The mask is alive, in host memory, and has an element per environment.
    pub unsafe fn reset(&mut self, mask: &View) {
        let rest = self.sensor.skin().rest();
        for (i, (state, status)) in self.states.iter_mut().zip(&mut self.status).enumerate() {
            // SAFETY: the caller guarantees the mask.
            if !mask.is_bound() || unsafe { mask.number([i, 0, 0]) } != 0.0 {
                (*state, *status) = (rest.clone(), 0);
            }
        }
    }
}

/// Steps environment `i`; returns the bits of its status, or the message of a skin that could not be solved.
unsafe fn step(
    sensor: &Sensor,
    object: &Object,
    b: &Bindings,
    i: usize,
    state: &mut State,
) -> Result<(u32, Option<(usize, String)>), String> {
    // SAFETY: the caller guarantees the arrays.
    let bodies = unsafe {
        frames::body(&b.sensor, i).and_then(|on| {
            let other = frames::body(&b.object, i)?;
            frames::check_distance(&on, &other).map(|()| (on, other))
        })
    };
    let (on, other) = match bodies {
        Ok(bodies) => bodies,
        Err(bits) => {
            *state = sensor.skin().rest();
            // SAFETY: the caller guarantees the arrays.
            unsafe { write(b, i, &[], &[], Vec3::ZERO, sensor) };
            // SAFETY: as above.
            unsafe { frames::write_loads(b, i, None, Wrench::ZERO) };
            return Ok((bits, None));
        }
    };
    let target = Target::from_world(object, &other.pose, &other.velocity, &on.pose, &on.velocity);
    let touched = sensor.touch(state, &Motion { targets: &[target] }, b.dt_s);
    let (touch, next) = match touched {
        Ok(touched) => touched,
        Err(error) => {
            // SAFETY: the caller guarantees the arrays.
            unsafe {
                write(b, i, &[], &[], Vec3::ZERO, sensor);
                frames::write_loads(b, i, None, Wrench::ZERO);
            }
            return Err(error.to_string());
        }
    };
    *state = next;
    let loads = sensor.taxel_loads(&touch);
    // SAFETY: the caller guarantees the arrays.
    unsafe {
        write(b, i, &loads.values_newton, &loads.forces_newton, loads.outside_newton, sensor);
        frames::write_loads(b, i, Some([&on, &other]), touch.on_sensor);
    }
    Ok((if touch.saturated > 0 { SATURATED } else { 0 }, None))
}

/// Writes the reading of environment `i`; missing values are zero.
unsafe fn write(b: &Bindings, i: usize, values: &[f64], forces: &[Vec3], outside: Vec3, sensor: &Sensor) {
    for taxel in 0..sensor.taxels().len() {
        let force = forces.get(taxel).copied().unwrap_or_default();
        // SAFETY: the caller guarantees the arrays.
        unsafe {
            b.taxels.set([i, taxel, 0], values.get(taxel).copied().unwrap_or(0.0));
            (0..3).for_each(|axis| b.forces.set([i, taxel, axis], force[axis]));
        }
    }
    // SAFETY: as above.
    (0..3).for_each(|axis| unsafe { b.outside.set([i, axis, 0], outside[axis]) });
}
