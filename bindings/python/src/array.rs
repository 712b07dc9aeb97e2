//! Converts arrays from and to numpy.

use crate::error::Error;
use dermis::geometry::limits::{MAX_ARRAY_VALUES, MAX_ROWS, SizeError, check_size};
use numpy::{
    Element, IxDyn, PyArray1, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBool;

/// Longest time step (s): the history of a response stays finite.
const MAX_DT_S: f64 = 1e6;

/// A row-major array of real numbers.
pub struct Numbers {
    /// Extent along each axis.
    pub shape: Vec<usize>,
    /// The elements.
    pub values: Vec<f64>,
}

/// Bytes that the steps from an array to its use take for each value.
const BYTES_PER_VALUE: f64 = 64.0;

/// An array whose elements have not been copied yet: its shape decides whether they are.
pub struct Unread<'py> {
    array: Bound<'py, PyUntypedArray>,
    /// Extent along each axis.
    pub shape: Vec<usize>,
}

impl<'py> Unread<'py> {
    /// Takes an array-like value. `what` is its name in error messages.
    pub fn of(value: &Bound<'py, PyAny>, what: &str) -> PyResult<Self> {
        let refuse = |why: String| PyTypeError::new_err(format!("`{what}` must be an array of real numbers, {why}"));
        let array = match value.cast::<PyUntypedArray>() {
            Ok(array) => array.clone(),
            Err(_) => {
                // A `range` is short, and its array need not be.
                check(what, "elements", value.len().unwrap_or(0), MAX_ARRAY_VALUES)?;
                let array = value.py().import("numpy")?.call_method1("asarray", (value,));
                let array = array.map_err(|error| unless_memory(value.py(), error, refuse))?;
                array.cast_into::<PyUntypedArray>().map_err(|_| refuse("and numpy cannot convert it".into()))?
            }
        };
        let kind = array.dtype().kind();
        if !b"fiu".contains(&kind) {
            return Err(refuse(format!("got one of {}", array.dtype())));
        }
        let shape = array.shape().to_vec();
        Ok(Self { array, shape })
    }

    /// Copies the elements, at most [`MAX_ARRAY_VALUES`].
    pub fn read(self, what: &str) -> PyResult<Numbers> {
        self.read_at_most(MAX_ARRAY_VALUES, what)
    }

    /// Copies the elements of rows, at most [`MAX_ROWS`].
    pub fn read_rows(self, what: &str) -> PyResult<Numbers> {
        check(what, "rows", self.shape.first().copied().unwrap_or(1), MAX_ROWS)?;
        self.read_at_most(usize::MAX, what)
    }

    /// Copies at most this many elements.
    pub fn read_at_most(self, max: usize, what: &str) -> PyResult<Numbers> {
        check(what, "values", self.shape.iter().fold(1, |size, &extent| size.saturating_mul(extent)), max)?;
        if let Ok(array) = self.array.cast::<PyArrayDyn<f64>>() {
            return Numbers::of(array, what);
        }
        let array = self.array.call_method1("astype", ("float64",))?;
        let refuse = || PyTypeError::new_err(format!("`{what}` must be an array of real numbers"));
        Numbers::of(array.cast::<PyArrayDyn<f64>>().map_err(|_| refuse())?, what)
    }

    /// The error for a wrong shape; `wanted` is the expected shape.
    pub fn wrong_shape(&self, what: &str, wanted: &str) -> PyErr {
        wrong_shape(&self.shape, what, wanted)
    }
}

/// The one check of sizes from Python, before elements are copied: a limit, then memory.
pub fn check(what: &str, elements: &'static str, count: usize, max: usize) -> PyResult<()> {
    check_size(elements, count, max, BYTES_PER_VALUE).map_err(|error| match error {
        SizeError::TooMany { .. } => Error::new_err(format!("`{what}` {error}")),
        SizeError::NoMemory(_) => PyMemoryError::new_err(format!("`{what}` {error}")),
    })
}

/// The error in other words, unless memory was missing.
fn unless_memory(py: Python<'_>, error: PyErr, refuse: impl Fn(String) -> PyErr) -> PyErr {
    if error.is_instance_of::<PyMemoryError>(py) { error } else { refuse(error.to_string()) }
}

/// The error for a wrong shape; `wanted` is the expected shape.
pub fn wrong_shape(shape: &[usize], what: &str, wanted: &str) -> PyErr {
    let text = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let comma = if shape.len() == 1 { "," } else { "" };
    Error::new_err(format!("`{what}` must have shape {wanted}, got ({text}{comma})"))
}

impl Numbers {
    /// Reads an array-like value. `what` is its name in error messages.
    pub fn read(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        Unread::of(value, what)?.read(what)
    }

    fn of(array: &Bound<'_, PyArrayDyn<f64>>, what: &str) -> PyResult<Self> {
        // Elements in another order, or between the bytes of others, are copied by numpy.
        let aligned = array.getattr("flags")?.getattr("aligned")?.extract::<bool>()?;
        let by_rows = match array.is_c_contiguous() && aligned {
            true => array.clone(),
            false => array.call_method1("copy", ("C",))?.cast_into::<PyArrayDyn<f64>>()?,
        };
        let elements = by_rows.readonly();
        let elements = elements.as_slice()?;
        let mut values = Vec::new();
        values
            .try_reserve_exact(elements.len())
            .map_err(|error| PyMemoryError::new_err(format!("`{what}`: {error}")))?;
        values.extend_from_slice(elements);
        Ok(Self { shape: array.shape().to_vec(), values })
    }

    /// Refuses NaN and infinity.
    pub fn finite(self, what: &str) -> PyResult<Self> {
        let Some(first) = self.values.iter().position(|value| !value.is_finite()) else { return Ok(self) };
        let value = self.values[first];
        if self.shape.is_empty() {
            return Err(Error::new_err(format!("`{what}` must be a finite number, got {value}")));
        }
        let mut index: Vec<usize> = Vec::new();
        let mut rest = first;
        for size in self.shape.iter().rev() {
            index.insert(0, rest % size);
            rest /= size;
        }
        Err(Error::new_err(format!("`{what}` must be finite numbers, and the one at {index:?} is {value}")))
    }

    /// The error for a wrong shape; `wanted` is the expected shape.
    pub fn wrong_shape(&self, what: &str, wanted: &str) -> PyErr {
        wrong_shape(&self.shape, what, wanted)
    }
}

/// Reads N finite numbers.
pub fn vector<const N: usize>(value: &Bound<'_, PyAny>, what: &str) -> PyResult<[f64; N]> {
    let unread = Unread::of(value, what)?;
    let wanted = format!("({N},)");
    if unread.shape != [N] {
        return Err(unread.wrong_shape(what, &wanted));
    }
    let numbers = unread.read(what)?.finite(what)?;
    <[f64; N]>::try_from(numbers.values.as_slice()).map_err(|_| numbers.wrong_shape(what, &wanted))
}

/// Reads any number of rows of N finite numbers.
pub fn rows<const N: usize>(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<[f64; N]>> {
    let unread = Unread::of(value, what)?;
    if unread.shape.len() != 2 || unread.shape[1] != N {
        return Err(unread.wrong_shape(what, &format!("(n, {N})")));
    }
    Ok(unread.read_rows(what)?.finite(what)?.values.as_chunks().0.to_vec())
}

/// Reads a whole number of at least `min`. `remedy` ends the message.
pub fn whole(value: &Bound<'_, PyAny>, min: usize, what: &str, remedy: &str) -> PyResult<usize> {
    let refuse = || Error::new_err(format!("`{what}` must be a whole number of at least {min}, got {value:?}{remedy}"));
    let number = value.extract().ok().filter(|&number| number >= min && !value.is_instance_of::<PyBool>());
    number.ok_or_else(refuse)
}

/// Reads the argument `seed`.
pub fn seed(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    whole(value, 0, "seed", ": seeds are below 2**64").map(|seed| seed as u64)
}

/// Reads the argument `count` of steps.
pub fn steps(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    whole(value, 0, "count", ": give the number of time steps").map(|count| count as u64)
}

/// Reads the argument `dt`, a positive number of seconds.
pub fn dt(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let refuse = |_| PyTypeError::new_err(format!("`dt` must be a positive number of seconds, got {value:?}"));
    let seconds = positive(value.extract().map_err(refuse)?, "dt", "seconds")?;
    if seconds > MAX_DT_S {
        return Err(Error::new_err(format!("`dt` must be at most {MAX_DT_S:e} s, got {seconds:e}")));
    }
    Ok(seconds)
}

/// Checks that a number is positive and finite.
pub fn positive(value: f64, what: &str, unit: &str) -> PyResult<f64> {
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(Error::new_err(format!("`{what}` must be a positive number of {unit}, got {value}")))
}

/// Element type of returned arrays of real numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// float32.
    Single,
    /// float64.
    #[default]
    Double,
}

impl Precision {
    /// Reads the argument `dtype`: anything that numpy takes for float32 or float64.
    pub fn read(dtype: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(dtype) = dtype else { return Ok(Self::Double) };
        let refuse = || Error::new_err(format!("`dtype` must be float32 or float64, got {dtype}"));
        let known = dtype.py().import("numpy")?.call_method1("dtype", (dtype,)).map_err(|_| refuse())?;
        match known.getattr("name")?.extract::<String>()?.as_str() {
            "float32" => Ok(Self::Single),
            "float64" => Ok(Self::Double),
            _ => Err(refuse()),
        }
    }

    /// Name of the type in numpy.
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "float32",
            Self::Double => "float64",
        }
    }

    /// Makes an array that Python owns and writes the numbers into it.
    pub fn array<'py>(
        self,
        py: Python<'py>,
        shape: &[usize],
        values: impl Iterator<Item = f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Single => filled(py, shape, values.map(|value| value as f32)),
            Self::Double => filled(py, shape, values),
        }
    }
}

fn filled<'py, T: Element + Copy>(
    py: Python<'py>,
    shape: &[usize],
    values: impl Iterator<Item = T>,
) -> PyResult<Bound<'py, PyAny>> {
    let made = PyArrayDyn::zeros(py, IxDyn(shape), false);
    made.readwrite().as_slice_mut()?.iter_mut().zip(values).for_each(|(element, value)| *element = value);
    Ok(made.into_any())
}

/// Makes an array of the memory of a vector, without a copy.
pub fn moved<'py, T: Element>(py: Python<'py>, shape: &[usize], values: Vec<T>) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    PyArray1::from_vec(py, values).reshape(IxDyn(shape))
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
