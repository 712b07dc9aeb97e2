//! MuJoCo engine plugin: tactile sensors from an MJCF file.
//!
//! ```xml
//! <extension><plugin plugin="dermis.sensor"/></extension>
//! …
//! <sensor>
//!   <plugin name="touch" plugin="dermis.sensor" objtype="site" objname="pad">
//!     <config key="preset" value="uji-foam-14x6"/>
//!     <config key="mode" value="couple"/>
//!   </plugin>
//! </sensor>
//! ```
//! The library registers itself when MuJoCo loads it (`mj_loadPluginLibrary`). The README of this crate lists the keys.
//! The crate `dermis_mujoco_coupling` contains the coupling and is shared with the Python package.
//!
//! [`plugin`] holds the callbacks; [`config`] and [`setup`] read and resolve an instance once per model; [`instance`]
//! is its state in one mjData; [`memory`] stores that state in `plugin_state`; [`channel`] writes `sensordata`.
#![allow(unsafe_code, reason = "MuJoCo's interface is C")]

pub mod channel;
pub mod config;
mod error;
mod injected;
pub mod instance;
pub mod memory;
pub mod plugin;
mod python;
pub mod setup;

pub use error::PluginError;

use dermis_mujoco_coupling::Library;
use dermis_mujoco_coupling::layout::Layout;
use libc::{c_int, c_void};

/// The oldest version with the current layout of `mjpPlugin`.
const OLDEST: (u32, u32, u32) = (3, 1, 6);

extern "C" fn on_load() {
    // No panic may leave the loader of libraries.
    let _ = std::panic::catch_unwind(|| {
        let Some(library) = Library::here() else { return };
        // An unknown version is refused when a model has a sensor: Python may still provide its layout.
        if Library::refusal().is_none() || Library::version().is_some_and(|version| version >= OLDEST) {
            plugin::register(library);
        }
    });
}

/// Sets the layout of a version that this build does not know: the numbers in the order of
/// [`dermis_mujoco_coupling::layout::FIELDS`]. Returns 0, or 1 if their number is wrong.
///
/// # Safety
/// There are `count` numbers, and they are the layout of the loaded MuJoCo.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dermis_mujoco_set_layout(numbers: *const usize, count: usize) -> i32 {
    let set = || {
        // SAFETY: as the caller guarantees.
        let numbers = unsafe { std::slice::from_raw_parts(numbers, count) };
        let Some(layout) = Layout::from_numbers(numbers) else { return 1 };
        // SAFETY: as the caller guarantees.
        unsafe { Library::set_layout(layout) };
        0
    };
    std::panic::catch_unwind(set).unwrap_or(1)
}

/// Writes the camera image of a sensor at its last evaluation. `size` receives height and width; `image` receives height ×
/// width × 3 bytes, red, green and blue, unless it is null. Returns 0, or 1 with a message in `message`, which has
/// `message_bytes` bytes and ends with a zero.
///
/// # Safety
/// `data` is an mjData with a plugin of this number, no other code uses it during the call, and the buffers have their
/// sizes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dermis_mujoco_image(
    data: *const c_void,
    instance: c_int,
    size: *mut usize,
    image: *mut u8,
    message: *mut u8,
    message_bytes: usize,
) -> c_int {
    let copied = |found: [usize; 2], pixels: &[u8]| {
        // SAFETY: as the caller guarantees.
        unsafe {
            size.copy_from_nonoverlapping(found.as_ptr(), 2);
            if !image.is_null() {
                image.copy_from_nonoverlapping(pixels.as_ptr(), pixels.len());
            }
        }
    };
    // SAFETY: as the caller guarantees.
    let Err(text) = (unsafe { plugin::image(data, instance, copied) }) else { return 0 };
    let length = text.len().min(message_bytes.saturating_sub(1));
    if message_bytes > 0 {
        // SAFETY: as the caller guarantees.
        unsafe {
            message.copy_from_nonoverlapping(text.as_ptr(), length);
            message.add(length).write(0);
        }
    }
    1
}

/// Runs when the library is loaded.
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
static ON_LOAD: extern "C" fn() = on_load;
