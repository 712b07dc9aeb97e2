//! NVIDIA's libraries, loaded when they are first needed.

use cudarc::{driver, nvrtc};
use libloading::Library;
use std::sync::OnceLock;

/// The run-time compiler by the names that the loader may know, and where installers put it without telling the loader.
const COMPILERS: [&str; 7] = [
    "libnvrtc.so",
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "/usr/local/cuda/lib64/libnvrtc.so",
    "/usr/local/cuda/targets/x86_64-linux/lib/libnvrtc.so",
    "/opt/cuda/lib64/libnvrtc.so",
    "/usr/lib/x86_64-linux-gnu/libnvrtc.so.12",
];

/// True when the driver's library can be loaded.
pub fn has_driver() -> bool {
    // SAFETY: loading a library runs its initialisers, and those of NVIDIA's driver are sound.
    #[allow(unsafe_code)]
    unsafe {
        driver::sys::is_culib_present()
    }
}

/// True when the run-time compiler can be loaded. Loads it.
pub fn has_compiler() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    // Kept loaded before it is looked for, so that it is not loaded twice.
    *FOUND.get_or_init(|| COMPILERS.iter().any(|path| keep_loaded(path) && is_compiler_known()) || is_compiler_known())
}

/// Version of the run-time compiler, if there is one. Loads it.
pub fn compiler_version() -> Option<[i32; 2]> {
    let mut version = [0; 2];
    let [major, minor] = &mut version;
    // SAFETY: the library is loaded, and both numbers are written.
    #[allow(unsafe_code)]
    let asked = has_compiler().then(|| unsafe { nvrtc::sys::nvrtcVersion(major, minor).result() });
    asked?.ok().map(|()| version)
}

/// Version of the driver's CUDA interface; zero where it does not tell.
pub fn driver_version() -> i32 {
    let mut version = 0;
    // SAFETY: called where the driver is loaded; the number is written.
    #[allow(unsafe_code)]
    let _ = unsafe { driver::sys::cuDriverGetVersion(&raw mut version).result() };
    version
}

fn is_compiler_known() -> bool {
    // SAFETY: as for the driver.
    #[allow(unsafe_code)]
    unsafe {
        nvrtc::sys::is_culib_present()
    }
}

/// Loads a library for good: a later request for its name finds it without its folder.
fn keep_loaded(path: &str) -> bool {
    // SAFETY: as for the driver.
    #[allow(unsafe_code)]
    let loaded = unsafe { Library::new(path) };
    loaded.map(std::mem::forget).is_ok()
}
