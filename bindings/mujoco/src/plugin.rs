//! What MuJoCo calls.
//!
//! Every callback runs behind `guarded`: a panic or a refusal becomes `mju_error` with one sentence, called from a frame that
//! owns nothing, because MuJoCo may leave it by a jump.

use crate::config::{Config, KEYS};
use crate::data::Data;
use crate::instance::Instance;
use crate::layout::table;
use crate::library::Library;
use crate::model::Model;
use crate::mount::{self, Mount};
use crate::{PluginError, memory};
use libc::{c_char, c_int, c_void};
use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// `mjpPlugin`, the same in all known versions, as `offsets.py` checks.
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
    /// Images, actuators and distance fields are not ours; room to spare, should a later version ask for more.
    unused: [usize; 26],
}

const _: () = assert!(size_of::<Description>() >= table::PLUGIN_BYTES);
const _: () = {
    use std::mem::offset_of;
    let ours = [
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
    while field < ours.len() {
        assert!(ours[field] == table::PLUGIN_OFFSETS[field]);
        field += 1;
    }
};

/// The keys as MuJoCo wants them.
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

/// Tells MuJoCo what there is. With a version that is not known, only a sentence is said when a model asks for the plugin.
pub fn register(library: &Library) {
    let description = Description {
        name: c"dermis.sensor".as_ptr(),
        attribute_count: KEYS.len() as c_int,
        attributes: KEY_POINTERS.0.as_ptr(),
        capabilities: table::PLUGIN_SENSOR | table::PLUGIN_PASSIVE,
        // Velocities are known then, and passive forces have been asked for.
        need_stage: table::STAGE_VEL,
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
    // SAFETY: a complete description of constants; MuJoCo copies it.
    unsafe { (library.mjp_register_plugin)(&raw const description) };
}

thread_local! {
    /// What is said last on this thread; kept here because the frame that says it may be left by a jump.
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Longer messages are cut: MuJoCo's own buffer has 1024 bytes.
const LONGEST: usize = 900;

/// Runs a callback's work. A refusal or a panic is said through `mju_error`, and `otherwise` returned should that return.
fn guarded<T>(who: impl Fn() -> String, otherwise: T, work: impl FnOnce() -> Result<T, PluginError>) -> T {
    let said = {
        let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            Err(PluginError::Panic(text.unwrap_or_else(|| "panic".into())))
        });
        match outcome {
            Ok(value) => return value,
            Err(error) => {
                let who = catch_unwind(AssertUnwindSafe(who)).unwrap_or_default();
                let mut text = format!("dermis.sensor {who}: {error}").replace('\0', " ");
                let cut = (0..=LONGEST.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
                text.truncate(cut);
                MESSAGE.with(|message| {
                    message.replace(CString::new(text).unwrap_or_default());
                    message.borrow().as_ptr()
                })
            }
        }
    };
    if let Some(library) = Library::here() {
        // SAFETY: a format with one string, which this thread keeps until it says something else.
        unsafe { (library.mju_error)(c"%s".as_ptr(), said) };
    }
    otherwise
}

/// [`guarded`] for work on a model.
///
/// # Safety
/// `model` is what MuJoCo handed to a callback.
unsafe fn with_model<T>(
    model: *const c_void,
    instance: c_int,
    otherwise: T,
    work: impl FnOnce(&Model<'_>) -> Result<T, PluginError>,
) -> T {
    let open = || {
        let library = Library::here().ok_or(PluginError::Panic("MuJoCo is gone".into()))?;
        // SAFETY: the layout is that of the library's version.
        Ok(unsafe { Model::new(model, library.layout()?, library) })
    };
    let who = || open().map_or_else(|_: PluginError| String::new(), |model| mount::name(&model, instance));
    guarded(who, otherwise, || work(&open()?))
}

/// Instances that are alive, by address: MuJoCo's copies may carry the address of another's.
static ALIVE: Mutex<Option<HashSet<usize>>> = Mutex::new(None);

fn is_alive(address: usize) -> bool {
    let alive = ALIVE.lock().unwrap_or_else(PoisonError::into_inner);
    alive.as_ref().is_some_and(|alive| alive.contains(&address))
}

fn give(instance: Instance) -> usize {
    let address = Box::into_raw(Box::new(instance)) as usize;
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(address);
    address
}

fn take_back(address: usize) {
    let known =
        ALIVE.lock().unwrap_or_else(PoisonError::into_inner).as_mut().is_some_and(|alive| alive.remove(&address));
    if known {
        // SAFETY: made by `give`, and no longer in the list, so it is freed once.
        drop(unsafe { Box::from_raw(address as *mut Instance) });
    }
}

/// Where mjData keeps the address of an instance.
///
/// # Safety
/// `data` is what MuJoCo handed to a callback.
unsafe fn slot(data: *const c_void, instance: c_int) -> Option<*mut usize> {
    let layout = Library::here()?.layout.as_ref()?;
    // SAFETY: an array with an address for each instance.
    unsafe { Some(data.byte_add(layout.plugin_data).cast::<*mut usize>().read().add(instance as usize)) }
}

/// The instance of an mjData.
///
/// # Safety
/// As for [`slot`]; nothing else uses the instance meanwhile.
unsafe fn instance_of<'a>(data: *const c_void, instance: c_int) -> Result<&'a mut Instance, PluginError> {
    // SAFETY: as asked of the caller; the address is one of `give`.
    unsafe {
        let address = slot(data, instance).map_or(0, |slot| slot.read());
        (address as *mut Instance).as_mut().ok_or(PluginError::Panic("mjData without its instance".into()))
    }
}

unsafe extern "C-unwind" fn state_count(model: *const c_void, instance: c_int) -> c_int {
    // SAFETY: MuJoCo passes a live model.
    unsafe {
        with_model(model, instance, 0, |model| {
            let sensor = Config::read(model, instance)?.sensor()?;
            Ok(memory::len(&sensor.skin().rest()) as c_int)
        })
    }
}

unsafe extern "C-unwind" fn sensor_count(model: *const c_void, instance: c_int, _sensor: c_int) -> c_int {
    // SAFETY: MuJoCo passes a live model.
    unsafe {
        with_model(model, instance, 0, |model| {
            let config = Config::read(model, instance)?;
            let taxels = config.sensor()?.taxels().len();
            Ok(config.channels.iter().map(|channel| channel.len(taxels)).sum::<usize>() as c_int)
        })
    }
}

unsafe extern "C-unwind" fn init(model: *const c_void, data: *mut c_void, instance: c_int) -> c_int {
    // SAFETY: MuJoCo passes a live model and data of it, whose array of addresses has an entry for each instance.
    unsafe {
        if let Some(slot) = slot(data, instance) {
            slot.write(0);
        }
        with_model(model, instance, -1, |model| {
            let made = give(Instance::new(Arc::new(Mount::new(model, instance)?)));
            if let Some(slot) = slot(data, instance) {
                slot.write(made);
            }
            Ok(0)
        })
    }
}

unsafe extern "C-unwind" fn destroy(data: *mut c_void, instance: c_int) {
    // SAFETY: MuJoCo passes live data.
    if let Some(slot) = unsafe { slot(data, instance) } {
        guarded(String::new, (), || {
            // SAFETY: `slot` points to this instance's entry in the array of addresses.
            take_back(unsafe { slot.replace(0) });
            Ok(())
        });
    }
}

/// Copies the history. MuJoCo may have copied the address too: then the copy gets an instance of its own.
unsafe extern "C-unwind" fn copy(to: *mut c_void, model: *const c_void, from: *const c_void, instance: c_int) {
    // SAFETY: MuJoCo passes a live model and two data of it, and nothing else uses the source's instance meanwhile.
    unsafe {
        with_model(model, instance, (), |_| {
            let source = instance_of(from, instance)?.clone();
            let (Some(from), Some(to)) = (slot(from, instance), slot(to, instance)) else { return Ok(()) };
            if to.read() != from.read() {
                take_back(to.read());
            }
            to.write(give(source));
            Ok(())
        });
    }
}

/// MuJoCo leaves the state to the plugin: it is whatever was in memory before.
unsafe extern "C-unwind" fn reset(_model: *const c_void, state: *mut f64, instance: *mut c_void, _id: c_int) {
    guarded(String::new, (), || {
        if is_alive(instance as usize) {
            // SAFETY: made by `give`; MuJoCo resets one mjData on one thread, and hands over the state of this instance.
            unsafe {
                let instance = &mut *instance.cast::<Instance>();
                instance.reset();
                state.write_bytes(0, instance.mount().memory.1);
            }
        }
        Ok(())
    });
}

unsafe extern "C-unwind" fn compute(model: *const c_void, data: *mut c_void, instance: c_int, capability: c_int) {
    // SAFETY: MuJoCo passes a live model and data of it, and runs the callbacks of one mjData on one thread.
    unsafe {
        with_model(model, instance, (), |model| {
            let ours = instance_of(data, instance)?;
            let mut data = Data::new(data, *model);
            let time_s = data.time_s();
            match capability {
                table::PLUGIN_PASSIVE => ours.push(model, &mut data, time_s),
                _ => ours.report(model, &mut data, time_s),
            }
        });
    }
}

unsafe extern "C-unwind" fn advance(model: *const c_void, data: *mut c_void, instance: c_int) {
    // SAFETY: MuJoCo passes a live model and data of it, and runs the callbacks of one mjData on one thread.
    unsafe {
        with_model(model, instance, (), |model| {
            instance_of(data, instance)?.advance(&mut Data::new(data, *model));
            Ok(())
        });
    }
}
