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
pub mod instance;
pub mod memory;
pub mod plugin;
mod python;
pub mod setup;

pub use error::PluginError;

use dermis_mujoco_coupling::Library;
use dermis_mujoco_coupling::layout::Layout;

/// The oldest version with the current layout of `mjpPlugin`.
const OLDEST: (u32, u32, u32) = (3, 1, 6);

extern "C" fn on_load() {
    let Some(library) = Library::here() else { return };
    // An unknown version is refused when a model has a sensor: Python may still provide its layout.
    if Library::refusal().is_none() || Library::version().is_some_and(|version| version >= OLDEST) {
        plugin::register(library);
    }
}

/// Sets the layout of a version that this build does not know: the numbers in the order of
/// [`dermis_mujoco_coupling::layout::FIELDS`]. Returns 0, or 1 if their number is wrong.
///
/// # Safety
/// There are `count` numbers, and they are the layout of the loaded MuJoCo.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dermis_mujoco_set_layout(numbers: *const usize, count: usize) -> i32 {
    // SAFETY: as the caller guarantees.
    let numbers = unsafe { std::slice::from_raw_parts(numbers, count) };
    let Some(layout) = Layout::from_numbers(numbers) else { return 1 };
    // SAFETY: as the caller guarantees.
    unsafe { Library::set_layout(layout) };
    0
}

/// Runs when the library is loaded.
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
static ON_LOAD: extern "C" fn() = on_load;
