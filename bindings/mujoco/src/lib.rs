//! dermis inside MuJoCo: tactile sensors from an MJCF file.
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
//! The library registers itself when it is loaded (`mj_loadPluginLibrary`). It is linked to no version of MuJoCo: see
//! [`library`] and [`layout`]. The keys are in the README beside this crate.
//!
//! [`plugin`] is what MuJoCo calls; [`mount`] what is looked up once per model; [`instance`] what belongs to one mjData;
//! [`memory`] how that is kept in MuJoCo's own state; [`channel`] what is written to `sensordata`; [`limit`] how long a step
//! may be.
#![allow(unsafe_code, reason = "MuJoCo's interface is C")]

pub mod channel;
pub mod config;
pub mod data;
mod error;
pub mod instance;
pub mod layout;
pub mod library;
pub mod limit;
pub mod memory;
pub mod model;
pub mod mount;
pub mod plugin;
pub mod shape;

pub use error::PluginError;

use library::Library;

/// The oldest version whose plugins are described as today.
const OLDEST: (u32, u32, u32) = (3, 1, 6);

extern "C" fn on_load() {
    let Some(library) = Library::here() else { return };
    if let Some(refusal) = Library::refusal() {
        let text = std::ffi::CString::new(format!("dermis.sensor: {refusal}")).unwrap_or_default();
        // SAFETY: a format with one string.
        unsafe { (library.mju_warning)(c"%s".as_ptr(), text.as_ptr()) };
        if Library::version().is_none_or(|version| version < OLDEST) {
            return;
        }
    }
    plugin::register(library);
}

/// Runs when the library is loaded, as plugins of MuJoCo do.
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
static ON_LOAD: extern "C" fn() = on_load;
