//! Finds the loaded MuJoCo library of this process, and symbols in it.

use std::ffi::{CStr, c_void};

/// A library of this process that is never closed.
#[derive(Clone, Copy)]
pub struct Loaded(*mut c_void);

impl Loaded {
    /// The loaded MuJoCo, or the program itself if MuJoCo is linked into it.
    pub fn mujoco() -> Option<Self> {
        system::candidates().into_iter().map(Self).find(|library| library.symbol(c"mjp_registerPlugin").is_some())
    }

    /// The address of a function or variable.
    pub fn symbol(self, name: &CStr) -> Option<*mut c_void> {
        let found = system::symbol(self.0, name);
        (!found.is_null()).then_some(found)
    }
}

/// Whether the file name at the end of a path is that of a MuJoCo library.
#[cfg(unix)]
fn is_mujoco(path: &CStr) -> bool {
    path.to_bytes().rsplit(|&byte| byte == b'/').next().is_some_and(|file| file.starts_with(b"libmujoco"))
}

/// Linux, macOS and other systems with `dlopen`.
#[cfg(unix)]
mod system {
    use super::is_mujoco;
    use std::ffi::{CStr, CString, c_void};

    pub fn candidates() -> Vec<*mut c_void> {
        let loaded = names().into_iter().filter_map(|name| {
            // SAFETY: the name is NUL-terminated; RTLD_NOLOAD loads no library. The handle is never closed.
            let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
            (!handle.is_null()).then_some(handle)
        });
        loaded.chain([libc::RTLD_DEFAULT]).collect()
    }

    pub fn symbol(library: *mut c_void, name: &CStr) -> *mut c_void {
        // SAFETY: the handle is from `dlopen` or the default one, and the name is NUL-terminated.
        unsafe { libc::dlsym(library, name.as_ptr()) }
    }

    /// The paths of loaded libraries that may be MuJoCo.
    #[cfg(not(target_vendor = "apple"))]
    fn names() -> Vec<CString> {
        unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _size: usize, names: *mut c_void) -> libc::c_int {
            // SAFETY: the loader passes a valid record, and `names` is the vector passed to `dl_iterate_phdr` below.
            unsafe {
                let name = (*info).dlpi_name;
                if !name.is_null() && is_mujoco(CStr::from_ptr(name)) {
                    (*names.cast::<Vec<CString>>()).push(CStr::from_ptr(name).to_owned());
                }
            }
            0
        }
        let mut names: Vec<CString> = Vec::new();
        // SAFETY: the callback runs during the call, while the vector is alive.
        unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut names).cast()) };
        names
    }

    /// The paths of loaded libraries that may be MuJoCo.
    #[cfg(target_vendor = "apple")]
    fn names() -> Vec<CString> {
        unsafe extern "C" {
            fn _dyld_image_count() -> u32;
            fn _dyld_get_image_name(number: u32) -> *const libc::c_char;
        }
        // SAFETY: the functions of the loader; it returns null for a number out of range.
        let names: Vec<_> = unsafe { (0.._dyld_image_count()).map(|number| _dyld_get_image_name(number)).collect() };
        let names = names.into_iter().filter(|name| !name.is_null());
        // SAFETY: the loader's names are NUL-terminated.
        names.map(|name| unsafe { CStr::from_ptr(name) }).filter(|name| is_mujoco(name)).map(CStr::to_owned).collect()
    }
}

#[cfg(windows)]
mod system {
    use std::ffi::{CStr, c_char, c_void};
    use std::ptr::null;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetModuleHandleA(name: *const c_char) -> *mut c_void;
        fn GetProcAddress(module: *mut c_void, name: *const c_char) -> *mut c_void;
    }

    pub fn candidates() -> Vec<*mut c_void> {
        // SAFETY: the name is NUL-terminated; null names the program itself. Neither loads a library.
        let found = unsafe { [GetModuleHandleA(c"mujoco.dll".as_ptr()), GetModuleHandleA(null())] };
        found.into_iter().filter(|handle| !handle.is_null()).collect()
    }

    pub fn symbol(library: *mut c_void, name: &CStr) -> *mut c_void {
        // SAFETY: the handle is that of a loaded module, and the name is NUL-terminated.
        unsafe { GetProcAddress(library, name.as_ptr()) }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_any_system_are_found_by_their_file_name() {
        for name in [c"/v/libmujoco.so.4.0.0", c"/v/libmujoco.3.3.0.dylib", c"libmujoco.so"] {
            assert!(is_mujoco(name), "{name:?}");
        }
        for name in [c"/v/libmujoco/other.so", c"", c"/v/mujoco.so"] {
            assert!(!is_mujoco(name), "{name:?}");
        }
    }
}
