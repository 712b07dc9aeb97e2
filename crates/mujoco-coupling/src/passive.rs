//! Adds forces in MuJoCo's callback for passive forces, `mjcb_passive`.
//!
//! The process has one such callback. This module installs a C function that first calls the previous callback and then
//! evaluates the forces registered for the mjData being stepped, or, for an mjData without forces, such as a copy, those of
//! the first mjData of the model. Dropping the last registration removes the callback. Because it is a C function, it works from any thread and, unlike a Python callback, does not prevent MuJoCo from compiling a
//! model.

use crate::{CouplingError, Data, Library, Model, contact_filter};
use libc::c_void;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// `mjfGeneric`, the type of `mjcb_passive`.
type Callback = unsafe extern "C-unwind" fn(*const c_void, *mut c_void);

/// A force that acts in every evaluation of an mjData and of its copies.
pub trait PassiveForce: Any + Send + Sync {
    /// Adds this force and all others of the mjData, which are `all`, to `qfrc_passive`. Called for the first force
    /// only. Must not panic: MuJoCo calls it.
    fn apply_all(&self, all: &[Arc<dyn PassiveForce>], model: &Model<'_>, data: &mut Data<'_>);

    /// Called when a copy of the model is evaluated, in which the contacts are disabled too and no force replaces them.
    /// Must not panic.
    fn refuse_copy(&self, model: &Model<'_>);
}

#[derive(Default)]
struct Registry {
    next: u64,
    /// Forces by the addresses of mjModel and mjData and the number of the registration.
    forces: BTreeMap<(usize, usize, u64), Weak<dyn PassiveForce>>,
    /// Address of the previous callback; 0 for none.
    previous: usize,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { next: 0, forces: BTreeMap::new(), previous: 0 });

fn registry() -> std::sync::MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    /// The forces of an mjData.
    fn of(&self, model: usize, data: usize) -> Vec<Arc<dyn PassiveForce>> {
        let range = (model, data, 0)..=(model, data, u64::MAX);
        self.forces.range(range).filter_map(|(_, force)| force.upgrade()).collect()
    }

    /// The forces of the first registered mjData of a model.
    fn of_first(&self, model: usize) -> Vec<Arc<dyn PassiveForce>> {
        let range = (model, 0, 0)..=(model, usize::MAX, u64::MAX);
        let first = self.forces.range(range).map(|(&(_, data, number), _)| (number, data)).min();
        first.map_or_else(Vec::new, |(_, data)| self.of(model, data))
    }
}

/// The registration of a force. Dropping it removes the force.
#[derive(Debug)]
pub struct Registration {
    key: (usize, usize, u64),
}

impl Registration {
    /// Registers a force for an mjData of a model.
    pub fn new(
        model: *const c_void,
        data: *mut c_void,
        force: &Arc<impl PassiveForce + 'static>,
    ) -> Result<Self, CouplingError> {
        let callback = Library::here().ok_or(CouplingError::NotLoaded)?.mjcb_passive;
        let mut registry = registry();
        let key = (model as usize, data as usize, registry.next);
        registry.next += 1;
        let force: Arc<dyn PassiveForce> = force.clone();
        registry.forces.insert(key, Arc::downgrade(&force));
        let before = callback.swap(evaluate as *mut c_void, Ordering::AcqRel);
        if before != evaluate as *mut c_void {
            registry.previous = before as usize;
        }
        Ok(Self { key })
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut registry = registry();
        registry.forces.remove(&self.key);
        if registry.forces.is_empty()
            && let Some(library) = Library::here()
        {
            let previous = std::mem::take(&mut registry.previous) as *mut c_void;
            // Leave the callback in place if other code has replaced it.
            let ours = evaluate as *mut c_void;
            let _ = library.mjcb_passive.compare_exchange(ours, previous, Ordering::AcqRel, Ordering::Relaxed);
        }
    }
}

/// The callback. Holds no lock while it calls the previous callback, which may leave by an exception or `longjmp`.
unsafe extern "C-unwind" fn evaluate(model: *const c_void, data: *mut c_void) {
    let previous = registry().previous;
    if previous != 0 {
        // SAFETY: MuJoCo stored this address as its callback.
        let previous = unsafe { std::mem::transmute::<usize, Callback>(previous) };
        // SAFETY: the arguments are those that MuJoCo passes.
        unsafe { previous(model, data) };
    }
    let forces = {
        let (registry, model) = (registry(), model as usize);
        let own = registry.of(model, data as usize);
        if own.is_empty() { registry.of_first(model) } else { own }
    };
    let Some(library) = Library::here() else { return };
    let Ok(layout) = library.layout() else { return };
    // SAFETY: MuJoCo passes a model and its data, and the layout is that of the loaded version.
    let model = unsafe { Model::new(model, layout, library) };
    if let Some(first) = forces.first() {
        // SAFETY: MuJoCo steps an mjData on one thread at a time.
        first.apply_all(&forces, &model, &mut unsafe { Data::new(data, model) });
    } else if let Some((original, _)) = contact_filter::original_of_copy(&model) {
        let forces = registry().of_first(original);
        forces.iter().for_each(|force| force.refuse_copy(&model));
    }
}
