//! The callbacks of the plugin.
//!
//! No panic leaves a callback. The callbacks that load a model run inside `guarded`, which turns an error or a panic into one call of `mju_error`.
//! The call is made from a stack frame that owns nothing, because MuJoCo may leave it by `longjmp`. The callbacks of a
//! step never abort the program: a step that cannot be made has an invalid reading and no force, and the first one of a
//! sensor is reported by `mju_warning` and, in a Python program, by a RuntimeWarning. Warnings of a skin are reported by
//! `mju_warning`, once each.

use crate::channel::Channel;
use crate::config::{Config, KEYS};
use crate::injected::{self, Entry};
use crate::instance::Instance;
use crate::setup::{self, Setup, lag_len, memory_len};
use crate::{PluginError, python};
use dermis::geometry::terminal_text;
use dermis_mujoco_coupling::layout::table;
use dermis_mujoco_coupling::{CouplingError, Data, Library, Model};
use libc::{c_char, c_int, c_void};
use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// `mjpPlugin`, which is the same in all supported versions; `offsets.py` checks this.
#[repr(C)]
pub struct Description {
    name: *const c_char,
    attribute_count: c_int,
    attributes: *const *const c_char,
    capabilities: c_int,
    need_stage: c_int,
    state_count: Option<unsafe extern "C-unwind" fn(*const c_void, c_int) -> c_int>,
    sensor_count: Option<unsafe extern "C-unwind" fn(*const c_void, c_int, c_int) -> c_int>,
    init: Option<unsafe extern "C-unwind" fn(*const c_void, *mut c_void, c_int) -> c_int>,
    destroy: Option<unsafe extern "C-unwind" fn(*mut c_void, c_int)>,
    copy: Option<unsafe extern "C-unwind" fn(*mut c_void, *const c_void, *const c_void, c_int)>,
    reset: Option<unsafe extern "C-unwind" fn(*const c_void, *mut f64, *mut c_void, c_int)>,
    compute: Option<unsafe extern "C-unwind" fn(*const c_void, *mut c_void, c_int, c_int)>,
    advance: Option<unsafe extern "C-unwind" fn(*const c_void, *mut c_void, c_int)>,
    /// Unused callbacks (visualisation, actuators, distance fields) and space for fields of later versions.
    unused: [usize; 26],
}

const _: () = assert!(size_of::<Description>() >= table::PLUGIN_BYTES);
const _: () = {
    use std::mem::offset_of;
    let declared = [
        offset_of!(Description, name),
        offset_of!(Description, attribute_count),
        offset_of!(Description, attributes),
        offset_of!(Description, capabilities),
        offset_of!(Description, need_stage),
        offset_of!(Description, state_count),
        offset_of!(Description, sensor_count),
        offset_of!(Description, init),
        offset_of!(Description, destroy),
        offset_of!(Description, copy),
        offset_of!(Description, reset),
        offset_of!(Description, compute),
        offset_of!(Description, advance),
    ];
    let mut field = 0;
    while field < declared.len() {
        assert!(declared[field] == table::PLUGIN_OFFSETS[field]);
        field += 1;
    }
};

/// The keys as C strings.
struct Keys([*const c_char; KEYS.len()]);
// SAFETY: the pointers are to constants, which every thread may read.
unsafe impl Sync for Keys {}
static KEY_POINTERS: Keys = {
    let mut pointers = [std::ptr::null(); KEYS.len()];
    let mut key = 0;
    while key < KEYS.len() {
        pointers[key] = KEYS[key].as_ptr();
        key += 1;
    }
    Keys(pointers)
};

/// Registers the plugin. With an unsupported version, models that use it are refused with a message.
pub fn register(library: &Library) {
    let description = Description {
        name: c"dermis.sensor".as_ptr(),
        attribute_count: KEYS.len() as c_int,
        attributes: KEY_POINTERS.0.as_ptr(),
        capabilities: table::PLUGIN_SENSOR | table::PLUGIN_PASSIVE,
        // The stage at which contact forces are known, for mode `contacts`.
        need_stage: table::STAGE_ACC,
        state_count: Some(state_count),
        sensor_count: Some(sensor_count),
        init: Some(init),
        destroy: Some(destroy),
        copy: Some(copy),
        reset: Some(reset),
        compute: Some(compute),
        advance: Some(advance),
        unused: [0; 26],
    };
    // SAFETY: the description is complete and consists of constants; MuJoCo copies it.
    unsafe { (library.mjp_register_plugin)((&raw const description).cast()) };
}

thread_local! {
    /// The last error message of this thread; kept here because MuJoCo may leave the caller's stack frame by `longjmp`.
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Maximum length of a message (bytes); MuJoCo's own buffer has 1024 bytes.
const MAX_MESSAGE: usize = 900;

/// Runs the work of a callback. Passes an error or a panic to `mju_error`; returns `otherwise` if `mju_error` returns.
fn guarded<T>(who: impl Fn() -> String, otherwise: T, work: impl FnOnce() -> Result<T, PluginError>) -> T {
    let message = {
        let outcome =
            catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(PluginError::Panic(panic_text(&*panic))));
        match outcome {
            Ok(value) => return value,
            Err(error) => {
                let who = catch_unwind(AssertUnwindSafe(who)).unwrap_or_default();
                let mut text = terminal_text(&format!("dermis.sensor {who}: {error}"));
                let cut = (0..=MAX_MESSAGE.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
                text.truncate(cut);
                MESSAGE.with(|last| {
                    last.replace(CString::new(text).unwrap_or_default());
                    last.borrow().as_ptr()
                })
            }
        }
    };
    if let Some(library) = Library::here() {
        // SAFETY: the format string takes one string argument, which this thread keeps until its next error.
        unsafe { (library.mju_error)(c"%s".as_ptr(), message) };
    }
    otherwise
}

/// Runs the work of a callback that may not fail; returns `otherwise` after a panic.
fn caught<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

/// [`guarded`] for work on a model.
///
/// # Safety
/// `model` is the argument of a callback.
unsafe fn with_model<T>(
    entry: Entry,
    model: *const c_void,
    instance: c_int,
    otherwise: T,
    work: impl FnOnce(&Model<'_>) -> Result<T, PluginError>,
) -> T {
    let open = || {
        let library = Library::here().ok_or(CouplingError::NotLoaded)?;
        // SAFETY: `layout` returns the layout of the library's version.
        Ok(unsafe { Model::new(model, library.layout()?, library) })
    };
    let who = || open().map_or_else(|_: PluginError| String::new(), |model| setup::name(&model, instance));
    guarded(who, otherwise, || {
        injected::check(entry);
        work(&open()?)
    })
}

/// Addresses of the instances in use: a copy of an mjData may hold the address of the original's instance.
static STORED: Mutex<Option<HashSet<usize>>> = Mutex::new(None);

fn is_stored(address: usize) -> bool {
    let stored = STORED.lock().unwrap_or_else(PoisonError::into_inner);
    stored.as_ref().is_some_and(|stored| stored.contains(&address))
}

fn store(instance: Instance) -> usize {
    let address = Box::into_raw(Box::new(instance)) as usize;
    STORED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(address);
    address
}

fn free(address: usize) {
    let known =
        STORED.lock().unwrap_or_else(PoisonError::into_inner).as_mut().is_some_and(|stored| stored.remove(&address));
    if known {
        // SAFETY: `store` made the box, and its address is no longer in the list, so it is freed once.
        drop(unsafe { Box::from_raw(address as *mut Instance) });
    }
}

/// The element of `plugin_data` that holds the address of an instance.
///
/// # Safety
/// `data` is the argument of a callback.
unsafe fn slot(data: *const c_void, instance: c_int) -> Option<*mut usize> {
    let layout = Library::here()?.layout().ok()?;
    // SAFETY: `plugin_data` is an array with one address per instance.
    unsafe { Some(data.byte_add(layout.plugin_data).cast::<*mut usize>().read().add(instance as usize)) }
}

/// The instance of an mjData.
///
/// # Safety
/// As for [`slot`]; no other code uses the instance during the call.
unsafe fn instance_of<'a>(data: *const c_void, instance: c_int) -> Result<&'a mut Instance, PluginError> {
    // SAFETY: the caller meets the same conditions; `store` wrote the address.
    unsafe {
        let address = slot(data, instance).map_or(0, |slot| slot.read());
        (address as *mut Instance).as_mut().ok_or(PluginError::Panic("mjData without its instance".into()))
    }
}

unsafe extern "C-unwind" fn state_count(model: *const c_void, instance: c_int) -> c_int {
    // SAFETY: MuJoCo passes a live model.
    unsafe {
        with_model(Entry::StateCount, model, instance, 0, |model| {
            let config = Config::read(model, instance)?;
            let sensor = config.sensor()?;
            Ok((memory_len(&config, &sensor.skin().rest()) + lag_len(model, &config, &sensor)) as c_int)
        })
    }
}

unsafe extern "C-unwind" fn sensor_count(model: *const c_void, instance: c_int, _sensor: c_int) -> c_int {
    // SAFETY: MuJoCo passes a live model.
    unsafe {
        with_model(Entry::SensorCount, model, instance, 0, |model| {
            let config = Config::read(model, instance)?;
            let sensor = config.sensor()?;
            let chips = sensor.magnetics().map_or(0, |magnetics| magnetics.chips().len());
            let len = |channel: &Channel| channel.len(sensor.taxels().len(), chips);
            Ok(config.channels.iter().map(len).sum::<usize>() as c_int)
        })
    }
}

unsafe extern "C-unwind" fn init(model: *const c_void, data: *mut c_void, instance: c_int) -> c_int {
    // SAFETY: MuJoCo passes a live model and its data, whose array of addresses has an entry for each instance.
    unsafe {
        with_model(Entry::Init, model, instance, -1, |model| {
            if let Some(slot) = slot(data, instance) {
                slot.write(0);
            }
            let address = store(Instance::new(Arc::new(Setup::new(model, instance)?)));
            if let Some(slot) = slot(data, instance) {
                slot.write(address);
            }
            Ok(0)
        })
    }
}

unsafe extern "C-unwind" fn destroy(data: *mut c_void, instance: c_int) {
    // No `mju_error` here: its exception would leave a destructor, which ends the program.
    caught((), || {
        injected::check(Entry::Destroy);
        // SAFETY: MuJoCo passes live data.
        if let Some(slot) = unsafe { slot(data, instance) } {
            // SAFETY: `slot` points to this instance's entry in the array of addresses.
            free(unsafe { slot.replace(0) });
        }
    });
}

/// Copies the history. MuJoCo may have copied the address too; the copy always gets an instance of its own.
unsafe extern "C-unwind" fn copy(to: *mut c_void, model: *const c_void, from: *const c_void, instance: c_int) {
    // SAFETY: MuJoCo passes a live model and two of its data; no other code uses the source's instance during the call.
    unsafe {
        with_model(Entry::Copy, model, instance, (), |_| {
            let source = instance_of(from, instance)?.clone();
            let (Some(from), Some(to)) = (slot(from, instance), slot(to, instance)) else { return Ok(()) };
            if to.read() != from.read() {
                free(to.read());
            }
            to.write(store(source));
            Ok(())
        });
    }
}

/// Resets the history. MuJoCo does not initialise the state of a plugin.
unsafe extern "C-unwind" fn reset(_model: *const c_void, state: *mut f64, instance: *mut c_void, _id: c_int) {
    guarded(String::new, (), || {
        injected::check(Entry::Reset);
        if is_stored(instance as usize) {
            // SAFETY: `store` made the instance; MuJoCo resets one mjData on one thread, and passes the state of this
            // instance.
            unsafe {
                let instance = &mut *instance.cast::<Instance>();
                instance.reset();
                state.write_bytes(0, instance.setup().memory.1 + instance.setup().lag.1);
            }
        }
        Ok(())
    });
}

/// Passes the camera image of an instance at its last evaluation to `copied`: height and width, and red, green and blue of each
/// pixel. No panic leaves this function, nor one of `copied`; the error is its message.
///
/// # Safety
/// `data` is an mjData with `instance` instances of plugins or more, and no other code uses it during the call.
pub unsafe fn image(
    data: *const c_void,
    instance: c_int,
    copied: impl FnOnce([usize; 2], &[u8]),
) -> Result<(), String> {
    let work = || {
        injected::check(Entry::Image);
        // SAFETY: as the caller guarantees.
        let address = unsafe { slot(data, instance) }.map_or(0, |slot| unsafe { slot.read() });
        if !is_stored(address) {
            return Err(PluginError::NotOurs.to_string());
        }
        // SAFETY: `store` made the instance.
        let image = unsafe { &*(address as *const Instance) }.image();
        let (size, pixels) = image.map_err(|error| error.to_string())?;
        injected::check(Entry::ImageCopy);
        copied(size, &pixels);
        Ok(())
    };
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(PluginError::Panic(panic_text(&*panic)).to_string()))
}

/// The text of a panic.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".into())
}

/// Issues a warning of MuJoCo; returns its text.
fn warn(library: &Library, who: &str, what: &dyn std::fmt::Display) -> CString {
    let text = terminal_text(&format!("dermis.sensor {who}: {what}"));
    let text = CString::new(text.chars().take(MAX_MESSAGE).collect::<String>()).unwrap_or_default();
    // SAFETY: the format string takes one string argument.
    unsafe { (library.mju_warning)(c"%s".as_ptr(), text.as_ptr()) };
    text
}

/// Runs the work of a step on the instances of an mjData. An error invalidates the reading of its instance.
///
/// # Safety
/// The arguments are those of a callback, and the instances exist in the mjData.
unsafe fn step(
    entry: Entry,
    model: *const c_void,
    data: *mut c_void,
    instances: &[c_int],
    work: impl FnOnce(&Model<'_>, &mut Data<'_>, &mut [&mut Instance]) -> Vec<(usize, PluginError)>,
) {
    let Some(library) = Library::here() else { return };
    let Ok(layout) = library.layout() else { return };
    // SAFETY: MuJoCo passes a live model and its data, and the layout is that of the loaded version.
    let model = unsafe { Model::new(model, layout, library) };
    // SAFETY: as above; MuJoCo runs the callbacks of one mjData on one thread.
    let mut view = unsafe { Data::new(data, model) };
    // SAFETY: every instance has its own box.
    let found = instances.iter().filter_map(|&instance| unsafe { instance_of(data, instance) }.ok());
    let mut found: Vec<&mut Instance> = found.collect();
    let count = found.len();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        injected::check(entry);
        work(&model, &mut view, &mut found)
    }));
    let errors = outcome.unwrap_or_else(|panic| {
        let text = panic_text(&*panic);
        (0..count).map(|index| (index, PluginError::Panic(text.clone()))).collect()
    });
    for (index, error) in errors {
        if found[index].invalidate(&mut view) {
            let what = format!("{error}; the reading is invalid and the skin applies no force");
            python::warn(warn(library, &setup::name(&model, instances[index]), &what));
        }
    }
}

/// The implicit sensors of an mjData, in order; empty if `instance` is not one of them.
///
/// # Safety
/// The arguments are those of a callback.
unsafe fn implicit_peers(model: *const c_void, data: *mut c_void, instance: c_int) -> Vec<c_int> {
    let Some(library) = Library::here() else { return Vec::new() };
    let Ok(layout) = library.layout() else { return Vec::new() };
    // SAFETY: MuJoCo passes a live model and its data; the instances of this plugin are ours.
    let is_implicit = |other: c_int| unsafe { instance_of(data, other) }.is_ok_and(|other| other.is_implicit());
    if !is_implicit(instance) {
        return Vec::new();
    }
    // SAFETY: as above.
    let model = unsafe { Model::new(model, layout, library) };
    model.instances_like(instance).filter(|&other| is_implicit(other)).collect()
}

unsafe extern "C-unwind" fn compute(model: *const c_void, data: *mut c_void, instance: c_int, capability: c_int) {
    let single = |outcome: Result<(), PluginError>| outcome.err().map(|error| (0, error)).into_iter().collect();
    // SAFETY: MuJoCo passes a live model and its data, and runs the callbacks of one mjData on one thread.
    caught((), || unsafe {
        if capability != table::PLUGIN_PASSIVE {
            return step(Entry::Compute, model, data, &[instance], |model, data, found| {
                let time_s = data.time_s();
                single(found.iter_mut().try_for_each(|instance| instance.report(model, data, time_s)))
            });
        }
        let peers = implicit_peers(model, data, instance);
        match peers.first() {
            // The first of them acts for all.
            Some(&first) if first != instance => {}
            Some(_) => step(Entry::Passive, model, data, &peers, |model, data, found| {
                let time_s = data.time_s();
                Instance::push_all(found, model, data, time_s)
            }),
            None => step(Entry::Passive, model, data, &[instance], |model, data, found| {
                let time_s = data.time_s();
                single(found.iter_mut().try_for_each(|instance| instance.push(model, data, time_s)))
            }),
        }
    });
}

unsafe extern "C-unwind" fn advance(model: *const c_void, data: *mut c_void, instance: c_int) {
    // SAFETY: MuJoCo passes a live model and its data, and runs the callbacks of one mjData on one thread.
    caught((), || unsafe {
        step(Entry::Advance, model, data, &[instance], |model, data, found| {
            for advanced in found.iter_mut() {
                advanced.advance(data);
                for warning in advanced.new_warnings() {
                    warn(model.library(), &setup::name(model, instance), &warning);
                }
            }
            Vec::new()
        });
    });
}
