//! Converts arrays from and to numpy.

use crate::error::Error;
use numpy::{Element, IxDyn, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// A row-major array of real numbers.
pub struct Numbers {
    /// Extent along each axis.
    pub shape: Vec<usize>,
    /// The elements.
    pub values: Vec<f64>,
}

impl Numbers {
    /// Reads an array-like value. `what` is its name in error messages.
    pub fn read(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        if let Ok(array) = value.cast::<PyArrayDyn<f64>>() {
            return Ok(Self::of(array));
        }
        let py = value.py();
        let refuse = |why: String| PyTypeError::new_err(format!("`{what}` must be an array of real numbers, {why}"));
        let array = py.import("numpy")?.call_method1("asarray", (value,)).map_err(|error| refuse(error.to_string()))?;
        let array = array.cast_into::<PyUntypedArray>().map_err(|_| refuse("and numpy cannot convert it".into()))?;
        let kind = array.dtype().kind();
        if !b"fiu".contains(&kind) {
            return Err(refuse(format!("got one of {}", array.dtype())));
        }
        let array = array.call_method1("astype", ("float64",))?;
        Ok(Self::of(array.cast::<PyArrayDyn<f64>>().map_err(|error| refuse(error.to_string()))?))
    }

    fn of(array: &Bound<'_, PyArrayDyn<f64>>) -> Self {
        let values = array.readonly().as_array().iter().copied().collect();
        Self { shape: array.shape().to_vec(), values }
    }

    /// Refuses NaN and infinity.
    pub fn finite(self, what: &str) -> PyResult<Self> {
        match self.values.iter().find(|value| !value.is_finite()) {
            Some(value) => Err(Error::new_err(format!("`{what}` must be finite numbers, and one of them is {value}"))),
            None => Ok(self),
        }
    }

    /// The error for a wrong shape; `wanted` is the expected shape.
    pub fn wrong_shape(&self, what: &str, wanted: &str) -> PyErr {
        let shape = self.shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let comma = if self.shape.len() == 1 { "," } else { "" };
        Error::new_err(format!("`{what}` must have shape {wanted}, got ({shape}{comma})"))
    }
}

/// Reads N finite numbers.
pub fn vector<const N: usize>(value: &Bound<'_, PyAny>, what: &str) -> PyResult<[f64; N]> {
    let numbers = Numbers::read(value, what)?.finite(what)?;
    match <[f64; N]>::try_from(numbers.values.as_slice()) {
        Ok(vector) if numbers.shape.len() == 1 => Ok(vector),
        _ => Err(numbers.wrong_shape(what, &format!("({N},)"))),
    }
}

/// Reads any number of rows of N finite numbers.
pub fn rows<const N: usize>(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<[f64; N]>> {
    let numbers = Numbers::read(value, what)?.finite(what)?;
    if numbers.shape.len() != 2 || numbers.shape[1] != N {
        return Err(numbers.wrong_shape(what, &format!("(n, {N})")));
    }
    Ok(numbers.values.as_chunks().0.to_vec())
}

/// Checks that a number is positive and finite.
pub fn positive(value: f64, what: &str, unit: &str) -> PyResult<f64> {
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(Error::new_err(format!("`{what}` must be a positive number of {unit}, got {value}")))
}

/// Makes an array that Python owns.
pub fn array<'py, T: Element + Copy>(
    py: Python<'py>,
    shape: &[usize],
    values: &[T],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let made = PyArrayDyn::zeros(py, IxDyn(shape), false);
    made.readwrite().as_slice_mut()?.copy_from_slice(values);
    Ok(made)
}
