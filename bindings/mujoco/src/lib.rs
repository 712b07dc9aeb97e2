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

/// The oldest version with the current layout of `mjpPlugin`.
const OLDEST: (u32, u32, u32) = (3, 1, 6);

extern "C" fn on_load() {
    let Some(library) = Library::here() else { return };
    if let Some(refusal) = Library::refusal() {
        let text = std::ffi::CString::new(format!("dermis.sensor: {refusal}")).unwrap_or_default();
        // SAFETY: the format string takes one string argument.
        unsafe { (library.mju_warning)(c"%s".as_ptr(), text.as_ptr()) };
        if Library::version().is_none_or(|version| version < OLDEST) {
            return;
        }
    }
    plugin::register(library);
}

/// Runs when the library is loaded.
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
static ON_LOAD: extern "C" fn() = on_load;
