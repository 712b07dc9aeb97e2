//! The DLPack protocol: arrays handed on without a copy.
#![allow(unsafe_code, reason = "the protocol is one of raw pointers")]

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CStr, c_char, c_void};

/// A GPU of NVIDIA's.
pub const CUDA: i32 = 2;
/// Codes of kinds of numbers.
pub const UNSIGNED: u8 = 1;
/// Codes of kinds of numbers.
pub const FLOAT: u8 = 2;

const NAME: &CStr = c"dltensor";
const USED: &CStr = c"used_dltensor";

/// What numbers are.
#[derive(Clone, Copy)]
pub struct Kind {
    pub code: u8,
    pub bits: u8,
    pub name: &'static str,
    pub numpy: &'static str,
}

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: [i32; 2],
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// What a capsule keeps alive: the memory, and the numbers that its tensor points to.
struct Kept {
    managed: Managed,
    shape: Vec<i64>,
    strides: Vec<i64>,
    _owner: Box<dyn Send>,
}

unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: the context is the box that `capsule` leaked, and a deleter is called once.
    drop(unsafe { Box::from_raw((*managed).context.cast::<Kept>()) });
}

/// Called when Python lets go of a capsule that nobody took.
unsafe extern "C" fn forget(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule that was taken has another name; of ours the pointer is what we put in.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast::<Managed>();
            delete(managed);
        }
    }
}

/// A capsule of memory that `owner` keeps alive until whoever takes it lets go.
pub fn capsule(
    py: Python<'_>,
    address: u64,
    device: (i32, i32),
    kind: Kind,
    shape: &[usize],
    strides: &[usize],
    owner: Box<dyn Send>,
) -> PyResult<Py<PyAny>> {
    let numbers = |values: &[usize]| -> Vec<i64> { values.iter().map(|&value| value as i64).collect() };
    let tensor = Tensor {
        data: address as *mut c_void,
        device: [device.0, device.1],
        ndim: shape.len() as i32,
        code: kind.code,
        bits: kind.bits,
        lanes: 1,
        shape: std::ptr::null_mut(),
        strides: std::ptr::null_mut(),
        byte_offset: 0,
    };
    let managed = Managed { tensor, context: std::ptr::null_mut(), deleter: Some(delete) };
    let kept = Box::new(Kept { managed, shape: numbers(shape), strides: numbers(strides), _owner: owner });
    let kept = Box::into_raw(kept);
    // SAFETY: the box is ours until its deleter runs; its lists do not move any more.
    unsafe {
        (*kept).managed.tensor.shape = (*kept).shape.as_mut_ptr();
        (*kept).managed.tensor.strides = (*kept).strides.as_mut_ptr();
        (*kept).managed.context = kept.cast();
        let pointer = (&raw mut (*kept).managed).cast();
        let capsule = ffi::PyCapsule_New(pointer, NAME.as_ptr(), Some(forget));
        if capsule.is_null() {
            drop(Box::from_raw(kept));
            return Err(PyErr::fetch(py));
        }
        Ok(Bound::from_owned_ptr(py, capsule).unbind())
    }
}

/// Someone else's tensor, until it is dropped.
pub struct Taken {
    managed: *mut Managed,
}

impl Taken {
    /// Takes a capsule, which can be done once.
    pub fn new(capsule: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (name, used): (*const c_char, *const c_char) = (NAME.as_ptr(), USED.as_ptr());
        // SAFETY: the pointer is checked by the capsule's name, and the capsule renamed, so that only we call the deleter.
        unsafe {
            if ffi::PyCapsule_IsValid(capsule.as_ptr(), name) != 1 {
                return Err(PyBufferError::new_err("__dlpack__ gave no capsule of the name \"dltensor\""));
            }
            let managed = ffi::PyCapsule_GetPointer(capsule.as_ptr(), name).cast::<Managed>();
            if ffi::PyCapsule_SetName(capsule.as_ptr(), used) != 0 {
                return Err(PyErr::fetch(capsule.py()));
            }
            Ok(Self { managed })
        }
    }

    fn tensor(&self) -> &Tensor {
        // SAFETY: it is alive until the deleter is called, in `drop`.
        unsafe { &(*self.managed).tensor }
    }

    /// Where its numbers begin.
    pub fn address(&self) -> u64 {
        self.tensor().data as u64 + self.tensor().byte_offset
    }

    /// Kind and number of the device.
    pub fn device(&self) -> [i32; 2] {
        self.tensor().device
    }

    /// Bits of its numbers, if they are real.
    pub fn real_bits(&self) -> Option<u8> {
        let tensor = self.tensor();
        (tensor.code == FLOAT && tensor.lanes == 1).then_some(tensor.bits)
    }

    /// Extent along each axis.
    pub fn shape(&self) -> Vec<usize> {
        let tensor = self.tensor();
        // SAFETY: the protocol says that there are `ndim` numbers.
        (0..tensor.ndim as usize).map(|axis| unsafe { *tensor.shape.add(axis) } as usize).collect()
    }

    /// Numbers from one to the next along each axis; none where they lie row by row.
    pub fn strides(&self) -> Option<Vec<i64>> {
        let tensor = self.tensor();
        if tensor.strides.is_null() {
            return None;
        }
        // SAFETY: the protocol says that a pointer that is not null has `ndim` numbers.
        Some((0..tensor.ndim as usize).map(|axis| unsafe { *tensor.strides.add(axis) }).collect())
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // SAFETY: we took it, and nobody else calls the deleter.
        unsafe {
            if let Some(deleter) = (*self.managed).deleter {
                deleter(self.managed);
            }
        }
    }
}
