//! Reads GPU arrays of other libraries.

use super::dlpack::{self, Taken};
use crate::error::{Error, IntoPyErr};
use dermis::gpu::array::{ExternalArray, PoseFormat, Poses, Twists};
use dermis::gpu::{DeviceBuffer, Gpu};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// An array in GPU memory, with its owner.
pub struct OnGpu {
    array: ExternalArray,
    shape: Vec<usize>,
    /// Releases the array when dropped.
    _owner: Option<Taken>,
}

/// Reads an array in GPU memory; `None` for other values. Our stream waits for pending work of the owner on the array.
pub fn read(value: &Bound<'_, PyAny>, gpu: &Arc<Gpu>, what: &str) -> PyResult<Option<OnGpu>> {
    if value.hasattr("__dlpack_device__")? {
        let (kind, _): (i32, i32) = value.call_method0("__dlpack_device__")?.extract()?;
        return if kind == dlpack::CUDA { by_dlpack(value, gpu, what).map(Some) } else { Ok(None) };
    }
    if value.hasattr("__cuda_array_interface__")? {
        return by_interface(value, gpu, what).map(Some);
    }
    Ok(None)
}

fn by_dlpack(value: &Bound<'_, PyAny>, gpu: &Arc<Gpu>, what: &str) -> PyResult<OnGpu> {
    let arguments = PyDict::new(value.py());
    // The owner makes our stream wait for its own stream.
    arguments.set_item("stream", gpu.stream_handle())?;
    let taken = Taken::new(&value.call_method("__dlpack__", (), Some(&arguments))?)?;
    let own = gpu.ordinal() as i32;
    if taken.device() != [dlpack::CUDA, own] {
        return Err(Error::new_err(format!("`{what}` is on GPU {} and dermis works on GPU {own}", taken.device()[1])));
    }
    let is_f32 = is_f32(taken.real_bits().map(usize::from), what)?;
    let shape = taken.shape();
    let strides = taken.strides().map(|strides| strides.iter().map(|&stride| stride as usize).collect::<Vec<_>>());
    contiguous(&shape, strides.as_deref(), 1, what)?;
    let array = ExternalArray { address: taken.address(), count: shape.first().copied().unwrap_or(0), is_f32 };
    Ok(OnGpu { array, shape, _owner: Some(taken) })
}

fn by_interface(value: &Bound<'_, PyAny>, gpu: &Arc<Gpu>, what: &str) -> PyResult<OnGpu> {
    let described = value.getattr("__cuda_array_interface__")?;
    let described = described.cast::<PyDict>().map_err(|error| Error::new_err(error.to_string()))?;
    let missing = |key: &str| Error::new_err(format!("`{what}`: its __cuda_array_interface__ has no {key:?}"));
    let get = |key: &str| described.get_item(key)?.ok_or_else(|| missing(key));
    let shape: Vec<usize> = get("shape")?.extract()?;
    let bits = match get("typestr")?.extract::<String>()?.as_str() {
        "<f4" => Some(32),
        "<f8" => Some(64),
        _ => None,
    };
    let is_f32 = is_f32(bits, what)?;
    let strides = described.get_item("strides")?.filter(|strides| !strides.is_none());
    let strides = strides.map(|strides| strides.extract::<Vec<usize>>()).transpose()?;
    contiguous(&shape, strides.as_deref(), if is_f32 { 4 } else { 8 }, what)?;
    let (address, _): (u64, bool) = get("data")?.extract()?;
    // The owner's stream is unknown and may still write: wait for all streams.
    gpu.finish_all_streams().into_py_err()?;
    let array = ExternalArray { address, count: shape.first().copied().unwrap_or(0), is_f32 };
    Ok(OnGpu { array, shape, _owner: None })
}

fn is_f32(bits: Option<usize>, what: &str) -> PyResult<bool> {
    match bits {
        Some(32) => Ok(true),
        Some(64) => Ok(false),
        _ => Err(Error::new_err(format!("`{what}` on the GPU must be of float32 or float64"))),
    }
}

fn contiguous(shape: &[usize], strides: Option<&[usize]>, unit: usize, what: &str) -> PyResult<()> {
    let Some(strides) = strides else { return Ok(()) };
    let mut expected = unit;
    for axis in (0..shape.len()).rev() {
        if shape[axis] > 1 && strides[axis] != expected {
            return Err(Error::new_err(format!("`{what}` on the GPU must lie row by row: pass its contiguous()")));
        }
        expected *= shape[axis].max(1);
    }
    Ok(())
}

impl OnGpu {
    fn wrong_shape(&self, what: &str, wanted: &str) -> PyErr {
        Error::new_err(format!("`{what}` must have shape {wanted}, got {:?}", self.shape))
    }

    /// Reads the array as poses.
    pub fn poses(&self, gpu: &Arc<Gpu>, what: &str) -> PyResult<Poses> {
        let format = match self.shape[..] {
            [_, 3] => PoseFormat::Position,
            [_, 7] => PoseFormat::Quaternion,
            [_, 4, 4] => PoseFormat::Matrix,
            _ => return Err(self.wrong_shape(what, "(n, 4, 4), (n, 7) or (n, 3)")),
        };
        // SAFETY: the owner reported the address and length of the array, keeps it alive while `self` lives, and has
        // finished its work.
        #[allow(unsafe_code)]
        let read = unsafe { Poses::of_device(gpu, self.array, format) };
        read.into_py_err()
    }

    /// Copies the array, `each` numbers of float32 for each of `count` presses.
    pub fn numbers(&self, gpu: &Arc<Gpu>, what: &str, count: usize, each: usize) -> PyResult<DeviceBuffer<f32>> {
        if self.shape.first() != Some(&count) || self.shape.iter().product::<usize>() != count * each {
            return Err(self.wrong_shape(what, &format!("({count}, …) with {each} numbers for each press")));
        }
        if !self.array.is_f32 {
            return Err(Error::new_err(format!("`{what}` on the GPU must be of float32")));
        }
        // SAFETY: as in `poses`.
        #[allow(unsafe_code)]
        let copied = unsafe { gpu.copy_of(self.array, count * each) };
        copied.into_py_err()
    }

    /// Reads the array as velocities (m/s, rad/s) of objects at `poses`.
    pub fn twists(&self, gpu: &Arc<Gpu>, poses: &Poses, what: &str) -> PyResult<Twists> {
        let [_, 6] = self.shape[..] else { return Err(self.wrong_shape(what, "(n, 6)")) };
        // SAFETY: as in `poses`.
        #[allow(unsafe_code)]
        let read = unsafe { Twists::of_device(gpu, self.array, poses) };
        read.into_py_err()
    }
}
