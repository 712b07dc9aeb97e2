//! Loads NVIDIA's libraries on first use.

use cudarc::{driver, nvrtc};
use libloading::Library;
use std::sync::OnceLock;

/// File names of the run-time compiler: those that the loader searches for, then paths outside the loader's search
/// path.
const COMPILERS: [&str; 7] = [
    "libnvrtc.so",
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "/usr/local/cuda/lib64/libnvrtc.so",
    "/usr/local/cuda/targets/x86_64-linux/lib/libnvrtc.so",
    "/opt/cuda/lib64/libnvrtc.so",
    "/usr/lib/x86_64-linux-gnu/libnvrtc.so.12",
];

/// True if the driver's library can be loaded.
pub fn has_driver() -> bool {
    // SAFETY: loading a library runs its initialisers, and those of NVIDIA's driver are sound.
    unsafe { driver::sys::is_culib_present() }
}

/// Loads the run-time compiler; returns true if it was found.
pub fn has_compiler() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    // Load it permanently before looking it up, so that it is not loaded twice.
    *FOUND.get_or_init(|| COMPILERS.iter().any(|path| keep_loaded(path) && is_compiler_known()) || is_compiler_known())
}

/// Loads the run-time compiler and returns its version; `None` if it was not found.
pub fn compiler_version() -> Option<[i32; 2]> {
    let mut version = [0; 2];
    let [major, minor] = &mut version;
    // SAFETY: the library is loaded, and both numbers are written.
    let asked = has_compiler().then(|| unsafe { nvrtc::sys::nvrtcVersion(major, minor).result() });
    asked?.ok().map(|()| version)
}

/// CUDA version that the driver supports, such as 12040; zero without a driver, or if it does not report it.
pub fn driver_version() -> i32 {
    if !has_driver() {
        return 0;
    }
    let mut version = 0;
    // SAFETY: the driver is loaded; the number is written.
    let _ = unsafe { driver::sys::cuDriverGetVersion(&raw mut version).result() };
    version
}

fn is_compiler_known() -> bool {
    // SAFETY: as for the driver.
    unsafe { nvrtc::sys::is_culib_present() }
}

/// Loads a library permanently: a later request for its name finds it without a path.
fn keep_loaded(path: &str) -> bool {
    // SAFETY: as for the driver.
    let loaded = unsafe { Library::new(path) };
    loaded.map(std::mem::forget).is_ok()
}
