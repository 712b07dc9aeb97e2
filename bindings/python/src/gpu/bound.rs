//! Arrays of other libraries that environments read and write in place: numpy, PyTorch, Warp, CuPy, JAX.

use super::dlpack::{self, Taken};
use crate::error::Error;
use dermis::gpu::environments::{Element, View};
use pyo3::Bound as PyBound;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// DLPack device type of the host.
const HOST: i32 = 1;

/// An array in place: its owner keeps the memory alive.
pub struct Bound {
    address: u64,
    pub shape: Vec<usize>,
    /// In elements.
    strides: Vec<i64>,
    element: Element,
    _owner: Owner,
}

enum Owner {
    Object { _object: Py<PyAny> },
    Tensor { _tensor: Taken },
}

// SAFETY: the tensor's deleter may run on any thread that holds the GIL, which frees all Python objects.
#[allow(unsafe_code)]
unsafe impl Send for Owner {}
// SAFETY: the tensor is not accessed after its address was read.
#[allow(unsafe_code)]
unsafe impl Sync for Owner {}

/// What an array holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers that are read.
    Input,
    /// Numbers that are written.
    Output,
    /// Bytes that are written.
    Image,
    /// Indices or counts that are read.
    Index,
    /// Flags that are read.
    Mask,
}

impl Kind {
    fn is_written(self) -> bool {
        matches!(self, Self::Output | Self::Image)
    }

    /// The types of element, and their names.
    fn elements(self) -> (&'static [Element], &'static str) {
        match self {
            Self::Input | Self::Output => (&[Element::F32, Element::F64], "float32 or float64"),
            Self::Image => (&[Element::U8], "uint8"),
            Self::Index => (&[Element::I32, Element::I64], "int32 or int64"),
            Self::Mask => (&[Element::U8, Element::I32, Element::I64], "bool, uint8, int32 or int64"),
        }
    }

    /// The element of an array, by DLPack's code of its type; an error for other types.
    fn element(self, code: u8, bits: usize, value: &PyBound<'_, PyAny>, what: &str) -> PyResult<Element> {
        const BOOL: u8 = 6;
        let found = match (code, bits) {
            (dlpack::FLOAT, 64) => Some(Element::F64),
            (dlpack::FLOAT, 32) => Some(Element::F32),
            (dlpack::UNSIGNED | BOOL, 8) => Some(Element::U8),
            (0, 32) => Some(Element::I32),
            (0, 64) => Some(Element::I64),
            _ => None,
        };
        let (known, names) = self.elements();
        found.filter(|element| known.contains(element)).ok_or_else(|| {
            let got = value.getattr("dtype").map_or_else(|_| "another type".to_owned(), |dtype| dtype.to_string());
            Error::new_err(format!("`{what}` must be of {names}, got {got}"))
        })
    }
}

/// Where arrays must be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Host,
    Gpu(usize),
}

impl Bound {
    /// Reads the address and layout of an array. Refuses other types of element, and arrays that are written but read-only, or
    /// whose elements share memory.
    pub fn read(value: &PyBound<'_, PyAny>, place: Place, what: &str, kind: Kind) -> PyResult<Self> {
        let bound = Self::read_any(value, place, what, kind)?;
        let is_shared = bound.shape.iter().zip(&bound.strides).any(|(&size, &stride)| size > 1 && stride == 0);
        if is_shared && matches!(kind, Kind::Output | Kind::Image) {
            return Err(Error::new_err(format!(
                "the elements of `{what}` share memory (a stride is 0, as of broadcast arrays): bind an array of its own"
            )));
        }
        Ok(bound)
    }

    fn read_any(value: &PyBound<'_, PyAny>, place: Place, what: &str, kind: Kind) -> PyResult<Self> {
        Ok(match place {
            Place::Host if value.hasattr("__array_interface__")? => {
                by_interface(value, "__array_interface__", what, kind)?
            }
            Place::Gpu(_) if value.hasattr("__cuda_array_interface__")? && !value.hasattr("__dlpack__")? => {
                by_interface(value, "__cuda_array_interface__", what, kind)?
            }
            _ if value.hasattr("__dlpack_device__")? => by_dlpack(value, place, what, kind)?,
            _ => return Err(wrong_place(what, place)),
        })
    }

    /// The array as a view of its first axes.
    pub fn view(&self) -> View {
        View::new(self.address, &self.strides, self.element)
    }

    fn shifted(&self, axis: usize, first: usize) -> u64 {
        let bytes = match self.element {
            Element::F64 | Element::I64 => 8,
            Element::F32 | Element::I32 => 4,
            Element::U8 => 1,
        };
        self.address.wrapping_add_signed(self.strides[axis] * first as i64 * bytes)
    }

    /// A part of each row of a (n, …) array, starting at element `first` of the second axis.
    pub fn view_from(&self, first: usize) -> View {
        View::new(self.shifted(1, first), &self.strides, self.element)
    }

    /// A column of each matrix of an (n, rows, cols) array.
    pub fn column(&self, column: usize) -> View {
        View::new(self.shifted(2, column), &self.strides[..2], self.element)
    }

    /// The view with rows and columns of taxels as one axis; refuses strides that have no such view.
    pub fn flat_view(&self, what: &str) -> PyResult<View> {
        let (shape, strides) = (&self.shape, &self.strides);
        if shape[1] > 1 && strides[1] != strides[2] * shape[2] as i64 {
            return Err(Error::new_err(format!(
                "`{what}`: its rows must follow each other in memory; pass (n, taxels)"
            )));
        }
        Ok(View::new(self.address, &[&strides[..1], &strides[2..]].concat(), self.element))
    }

    /// The view of images (n, height, width, 3) with columns and colours as one axis; refuses gaps in an image.
    pub fn image_view(&self, what: &str) -> PyResult<View> {
        let (width, strides) = (self.shape[2] as i64, &self.strides);
        if strides[3] != 1 || strides[2] != 3 || strides[1] != 3 * width {
            return Err(Error::new_err(format!("`{what}`: an image must have no gaps in memory")));
        }
        Ok(View::new(self.address, &[strides[0], strides[1], 1], self.element))
    }

    pub fn wrong_shape(&self, what: &str, wanted: &str) -> PyErr {
        Error::new_err(format!("`{what}` must have shape {wanted}, got {:?}", self.shape))
    }
}

fn wrong_place(what: &str, place: Place) -> PyErr {
    let wanted = match place {
        Place::Host => "in host memory, such as a numpy array, because these environments run on the CPU".to_owned(),
        Place::Gpu(own) => format!("in the memory of GPU {own}, because these environments run there"),
    };
    Error::new_err(format!("`{what}` must be an array {wanted}"))
}

fn by_dlpack(value: &PyBound<'_, PyAny>, place: Place, what: &str, kind: Kind) -> PyResult<Bound> {
    let (device, _): (i32, i32) = value.call_method0("__dlpack_device__")?.extract()?;
    if (device == dlpack::CUDA) != matches!(place, Place::Gpu(_)) || ![HOST, dlpack::CUDA].contains(&device) {
        return Err(wrong_place(what, place));
    }
    let arguments = PyDict::new(value.py());
    if device == dlpack::CUDA {
        // No synchronisation: work is ordered by the stream of each launch.
        arguments.set_item("stream", -1)?;
    }
    let taken = Taken::new(&value.call_method("__dlpack__", (), Some(&arguments))?)?;
    if let Place::Gpu(own) = place
        && taken.device()[1] as usize != own
    {
        return Err(wrong_place(what, place));
    }
    let (code, bits) = taken.kind();
    let shape = taken.shape();
    let strides = taken.strides().unwrap_or_else(|| row_major(&shape));
    let element = kind.element(code, usize::from(bits), value, what)?;
    Ok(Bound { address: taken.address(), shape, strides, element, _owner: Owner::Tensor { _tensor: taken } })
}

fn by_interface(value: &PyBound<'_, PyAny>, name: &str, what: &str, kind: Kind) -> PyResult<Bound> {
    let described = value.getattr(name)?;
    let described = described.cast::<PyDict>().map_err(|error| Error::new_err(error.to_string()))?;
    let missing = |key: &str| Error::new_err(format!("`{what}`: its {name} has no {key:?}"));
    let get = |key: &str| described.get_item(key)?.ok_or_else(|| missing(key));
    let shape: Vec<usize> = get("shape")?.extract()?;
    let text: String = get("typestr")?.extract()?;
    let (code, bytes) = match text.as_str() {
        "<f8" => (dlpack::FLOAT, 8),
        "<f4" => (dlpack::FLOAT, 4),
        "|b1" | "|u1" => (dlpack::UNSIGNED, 1),
        "<i4" => (0, 4),
        "<i8" => (0, 8),
        _ => (u8::MAX, 1),
    };
    let element = kind.element(code, 8 * bytes as usize, value, what)?;
    let (address, read_only): (u64, bool) = get("data")?.extract()?;
    if kind.is_written() && read_only {
        return Err(Error::new_err(format!("`{what}` is read-only, and results are written to it")));
    }
    let strides = described.get_item("strides")?.filter(|strides| !strides.is_none());
    let strides = match strides {
        Some(strides) => strides.extract::<Vec<i64>>()?.into_iter().map(|stride| stride / bytes).collect(),
        None => row_major(&shape),
    };
    let owner = Owner::Object { _object: value.clone().unbind() };
    Ok(Bound { address, shape, strides, element, _owner: owner })
}

fn row_major(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as i64;
    }
    strides
}
