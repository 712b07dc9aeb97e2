//! NVIDIA's libraries, where they are found.

use cudarc::{driver, nvrtc};
use libloading::Library;
use std::sync::OnceLock;

/// Where installers put the run-time compiler without telling the loader.
const COMPILERS: [&str; 4] = [
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

/// True when the run-time compiler can be loaded.
pub fn has_compiler() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| is_compiler_known() || COMPILERS.iter().any(|path| keep_loaded(path) && is_compiler_known()))
}

fn is_compiler_known() -> bool {
    // SAFETY: as for the driver.
    #[allow(unsafe_code)]
    unsafe {
        nvrtc::sys::is_culib_present()
    }
}

/// Loads a library for good: whoever asks for its name later gets it without knowing where it is.
fn keep_loaded(path: &str) -> bool {
    // SAFETY: as for the driver.
    #[allow(unsafe_code)]
    let loaded = unsafe { Library::new(path) };
    loaded.map(std::mem::forget).is_ok()
}
