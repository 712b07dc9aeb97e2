//! The DLPack protocol: shares arrays without a copy.
#![allow(unsafe_code, reason = "the protocol is one of raw pointers")]

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CStr, c_char, c_void};

/// DLPack device type of CUDA.
pub const CUDA: i32 = 2;
/// DLPack type code of unsigned integers.
pub const UNSIGNED: u8 = 1;
/// DLPack type code of floating-point numbers.
pub const FLOAT: u8 = 2;

const NAME: &CStr = c"dltensor";
const USED: &CStr = c"used_dltensor";

/// Element type.
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

/// The contents of a capsule: the owner of the memory, and the shape and strides that its tensor points to.
struct Contents {
    managed: Managed,
    shape: Vec<i64>,
    strides: Vec<i64>,
    _owner: Box<dyn Send>,
}

unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: the context is the box that `capsule` leaked, and DLPack calls a deleter once.
    drop(unsafe { Box::from_raw((*managed).context.cast::<Contents>()) });
}

/// Frees the contents of a capsule that was not consumed. Python calls it when it frees the capsule.
unsafe extern "C" fn forget(capsule: *mut ffi::PyObject) {
    // SAFETY: a consumed capsule has another name; an unconsumed one still holds the pointer that `capsule` stored.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast::<Managed>();
            delete(managed);
        }
    }
}

/// Makes a capsule of memory that `owner` keeps alive until the consumer releases it.
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
    let contents = Box::new(Contents { managed, shape: numbers(shape), strides: numbers(strides), _owner: owner });
    let contents = Box::into_raw(contents);
    // SAFETY: the box belongs to us until its deleter runs, and its vectors do not move.
    unsafe {
        (*contents).managed.tensor.shape = (*contents).shape.as_mut_ptr();
        (*contents).managed.tensor.strides = (*contents).strides.as_mut_ptr();
        (*contents).managed.context = contents.cast();
        let pointer = (&raw mut (*contents).managed).cast();
        let capsule = ffi::PyCapsule_New(pointer, NAME.as_ptr(), Some(forget));
        if capsule.is_null() {
            drop(Box::from_raw(contents));
            return Err(PyErr::fetch(py));
        }
        Ok(Bound::from_owned_ptr(py, capsule).unbind())
    }
}

/// A tensor of another library. Dropping it calls the deleter.
pub struct Taken {
    managed: *mut Managed,
}

impl Taken {
    /// Consumes a capsule. A capsule can be consumed once.
    pub fn new(capsule: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (name, used): (*const c_char, *const c_char) = (NAME.as_ptr(), USED.as_ptr());
        // SAFETY: the name of the capsule is checked, and the capsule renamed, so that no other code calls the deleter.
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
        // SAFETY: the tensor is alive until `drop` calls the deleter.
        unsafe { &(*self.managed).tensor }
    }

    /// Address of the first element.
    pub fn address(&self) -> u64 {
        self.tensor().data as u64 + self.tensor().byte_offset
    }

    /// Type and index of the device.
    pub fn device(&self) -> [i32; 2] {
        self.tensor().device
    }

    /// Type code and bits per element; code 255 for vectors of elements.
    pub fn kind(&self) -> (u8, u8) {
        let tensor = self.tensor();
        (if tensor.lanes == 1 { tensor.code } else { u8::MAX }, tensor.bits)
    }

    /// Bits per element of a floating-point tensor; `None` for other types.
    pub fn real_bits(&self) -> Option<u8> {
        let tensor = self.tensor();
        (tensor.code == FLOAT && tensor.lanes == 1).then_some(tensor.bits)
    }

    /// Extent along each axis.
    pub fn shape(&self) -> Vec<usize> {
        let tensor = self.tensor();
        // SAFETY: the protocol guarantees `ndim` numbers.
        (0..tensor.ndim as usize).map(|axis| unsafe { *tensor.shape.add(axis) } as usize).collect()
    }

    /// Strides in elements; `None` for a row-major array.
    pub fn strides(&self) -> Option<Vec<i64>> {
        let tensor = self.tensor();
        if tensor.strides.is_null() {
            return None;
        }
        // SAFETY: the protocol guarantees `ndim` numbers behind a pointer that is not null.
        Some((0..tensor.ndim as usize).map(|axis| unsafe { *tensor.strides.add(axis) }).collect())
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // SAFETY: `new` consumed the capsule, so no other code calls the deleter.
        unsafe {
            if let Some(deleter) = (*self.managed).deleter {
                deleter(self.managed);
            }
        }
    }
}
