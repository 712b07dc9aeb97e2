//! The library that MuJoCo loads, which Cargo leaves beside this program.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "a library is loaded")]

use std::ffi::{CStr, CString};
use std::path::PathBuf;

fn library() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.parent().unwrap().join("libdermis_mujoco.so")
}

#[test]
fn the_library_loads_without_mujoco_and_exports_what_python_calls() {
    let path = CString::new(library().to_str().unwrap()).unwrap();
    // SAFETY: the library is ours; its constructor looks for MuJoCo in this process and finds none.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() {
        // SAFETY: after a failure there is a message.
        panic!("{:?}", unsafe { CStr::from_ptr(libc::dlerror()) });
    }
    // SAFETY: the handle is open and the name ends with a zero.
    let function = unsafe { libc::dlsym(handle, c"dermis_mujoco_set_layout".as_ptr()) };
    assert!(!function.is_null());
    // SAFETY: this is the function's type.
    let set_layout: unsafe extern "C" fn(*const usize, usize) -> i32 = unsafe { std::mem::transmute(function) };
    // SAFETY: there is one number; the function refuses because a layout has more.
    assert_eq!(unsafe { set_layout([0_usize].as_ptr(), 1) }, 1);
}
