//! Warnings in a Python program that runs MuJoCo.
//!
//! The plugin does not link Python. Threads of a rollout have no Python state either, so the warning is handed to
//! Python's main thread, which issues it before its next instruction.

use libc::{c_char, c_int, c_void};
use std::ffi::{CStr, CString};

/// `Py_AddPendingCall`.
type AddPendingCall = unsafe extern "C" fn(unsafe extern "C" fn(*mut c_void) -> c_int, *mut c_void) -> c_int;
/// `PyErr_WarnEx`.
type WarnEx = unsafe extern "C-unwind" fn(*mut c_void, *const c_char, isize) -> c_int;
/// `Py_IsInitialized`.
type IsInitialized = unsafe extern "C" fn() -> c_int;

/// The function of Python of this name.
///
/// # Safety
/// `F` is the type of the function.
unsafe fn function<F: Copy>(name: &CStr) -> Option<F> {
    // SAFETY: the name is NUL-terminated.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: the caller names the type of the function, which has the size of a pointer.
    (!found.is_null()).then(|| unsafe { std::mem::transmute_copy::<*mut c_void, F>(&found) })
}

/// Issues a RuntimeWarning in Python's main thread; nothing if the process does not run Python.
pub fn warn(text: CString) {
    // SAFETY: the types are those of Python's headers.
    unsafe {
        let (Some(is_initialized), Some(add)) =
            (function::<IsInitialized>(c"Py_IsInitialized"), function::<AddPendingCall>(c"Py_AddPendingCall"))
        else {
            return;
        };
        if is_initialized() != 0 {
            let text = text.into_raw();
            if add(issue, text.cast()) != 0 {
                // The queue is full: `issue` will not be called.
                drop(CString::from_raw(text));
            }
        }
    }
}

/// Runs in Python's main thread. A result other than 0 means that the warning was turned into an exception.
unsafe extern "C" fn issue(text: *mut c_void) -> c_int {
    // SAFETY: `warn` made the text and passes it once; the types are those of Python's headers, and PyExc_RuntimeWarning
    // is a pointer to the class.
    unsafe {
        let text = CString::from_raw(text.cast());
        let category = libc::dlsym(libc::RTLD_DEFAULT, c"PyExc_RuntimeWarning".as_ptr()).cast::<*mut c_void>();
        match function::<WarnEx>(c"PyErr_WarnEx") {
            Some(warn_ex) if !category.is_null() => warn_ex(category.read(), text.as_ptr(), 1),
            _ => 0,
        }
    }
}
