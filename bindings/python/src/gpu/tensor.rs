//! Arrays in GPU memory.

use super::dlpack::{self, Kind};
use crate::error::IntoPyErr;
use crate::threads::detached;
use dermis::gpu::{DeviceBuffer, Gpu, Plain};
use numpy::{IxDyn, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

/// An array in GPU memory.
///
/// ``torch.from_dlpack(x)``, ``cupy.from_dlpack(x)`` or ``jax.dlpack.from_dlpack(x)`` share it without a copy and keep
/// it alive. ``numpy.asarray(x)`` or ``x.numpy()`` copy it to the host. Do not write to it: other views share the
/// memory.
#[pyclass(frozen, module = "dermis")]
pub struct DeviceArray {
    pub gpu: Arc<Gpu>,
    pub data: Data,
    pub shape: Vec<usize>,
    /// Strides in elements.
    pub strides: Vec<usize>,
}

/// Element type.
#[derive(Clone)]
pub enum Data {
    F64(Arc<DeviceBuffer<f64>>),
    F32(Arc<DeviceBuffer<f32>>),
    U32(Arc<DeviceBuffer<u32>>),
    U8(Arc<DeviceBuffer<u8>>),
}

impl Data {
    fn kind(&self) -> Kind {
        match self {
            Self::F64(_) => Kind { code: dlpack::FLOAT, bits: 64, name: "float64", numpy: "<f8" },
            Self::F32(_) => Kind { code: dlpack::FLOAT, bits: 32, name: "float32", numpy: "<f4" },
            Self::U32(_) => Kind { code: dlpack::UNSIGNED, bits: 32, name: "uint32", numpy: "<u4" },
            Self::U8(_) => Kind { code: dlpack::UNSIGNED, bits: 8, name: "uint8", numpy: "|u1" },
        }
    }

    fn address(&self) -> u64 {
        match self {
            Self::F64(data) => data.address(),
            Self::F32(data) => data.address(),
            Self::U32(data) => data.address(),
            Self::U8(data) => data.address(),
        }
    }
}

impl DeviceArray {
    /// A row-major array of a whole buffer.
    pub fn whole(gpu: &Arc<Gpu>, data: Data, shape: &[usize]) -> Self {
        let mut strides = vec![1; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis];
        }
        Self { gpu: Arc::clone(gpu), data, shape: shape.to_vec(), strides }
    }

    /// Copies the array to host memory.
    fn fetch<'py, T>(&self, py: Python<'py>, buffer: &DeviceBuffer<T>) -> PyResult<Bound<'py, PyAny>>
    where
        T: Plain + numpy::Element,
    {
        let count: usize = self.shape.iter().product();
        let rows_alone = DeviceArray::whole(&self.gpu, self.data.clone(), &self.shape).strides == self.strides;
        let made = PyArrayDyn::<T>::zeros(py, IxDyn(&self.shape), false);
        if count > 0 && rows_alone {
            let mut room = made.readwrite();
            let room = room.as_slice_mut()?;
            detached(py, || buffer.download_into(room))?.into_py_err()?;
        } else if count > 0 {
            let all = detached(py, || buffer.download())?.into_py_err()?;
            let place = |mut index: usize| {
                let mut place = 0;
                for axis in (0..self.shape.len()).rev() {
                    place += index % self.shape[axis] * self.strides[axis];
                    index /= self.shape[axis];
                }
                place
            };
            let mut room = made.readwrite();
            room.as_slice_mut()?.iter_mut().enumerate().for_each(|(index, number)| *number = all[place(index)]);
        }
        Ok(made.into_any())
    }
}

#[pymethods]
impl DeviceArray {
    /// Extent along each axis, a tuple of ints.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    /// Element type by its numpy name, such as "float64".
    #[getter]
    fn dtype(&self) -> &'static str {
        self.data.kind().name
    }

    /// Copies the array to a numpy array of the same shape and dtype.
    pub fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.data {
            Data::F64(data) => self.fetch(py, data),
            Data::F32(data) => self.fetch(py, data),
            Data::U32(data) => self.fetch(py, data),
            Data::U8(data) => self.fetch(py, data),
        }
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(pyo3::exceptions::PyValueError::new_err("what is on the GPU must be copied to be an array"));
        }
        let made = self.numpy(py)?;
        dtype.map_or(Ok(made.clone()), |dtype| made.call_method1("astype", (dtype,)))
    }

    fn __len__(&self) -> usize {
        self.shape.first().copied().unwrap_or(0)
    }

    /// DLPack device: (2, index of the GPU), where 2 is the device type of CUDA.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (dlpack::CUDA, self.gpu.ordinal() as i32)
    }

    /// Exports the array by the DLPack protocol. A batch is complete before it is returned, so no stream has to wait.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__(
        &self,
        py: Python<'_>,
        stream: Option<&Bound<'_, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        let _ = (stream, max_version);
        if copy == Some(true) || dl_device.is_some_and(|device| device != self.__dlpack_device__()) {
            return Err(PyBufferError::new_err("it is handed on where it is; copy it there, or call numpy()"));
        }
        let address = self.data.address();
        let owner = Box::new((self.data.clone(), Arc::clone(&self.gpu)));
        dlpack::capsule(py, address, self.__dlpack_device__(), self.data.kind(), &self.shape, &self.strides, owner)
    }

    /// Exports the array by the CUDA array interface. Keep a reference to this object while the interface is in use.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let kind = self.data.kind();
        let bytes = usize::from(kind.bits) / 8;
        let made = PyDict::new(py);
        made.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        made.set_item("strides", PyTuple::new(py, self.strides.iter().map(|stride| stride * bytes))?)?;
        made.set_item("typestr", kind.numpy)?;
        made.set_item("data", (self.data.address(), true))?;
        made.set_item("version", 3)?;
        Ok(made)
    }

    fn __repr__(&self) -> String {
        let shape = self.shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        format!("<dermis.DeviceArray ({shape}) of {} on {}>", self.data.kind().name, self.gpu.name())
    }
}
