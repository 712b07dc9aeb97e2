//! Python objects of MuJoCo and the elements of a model that names and indices select.

use crate::error::{Error, IntoPyErr};
use crate::mujoco::in_use::others;
use dermis_mujoco_coupling::{CouplingError, FrameId, Model, geoms_named};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

/// The address of a mujoco.MjModel or mujoco.MjData.
pub(super) fn address(value: &Bound<'_, PyAny>, class: &str) -> PyResult<usize> {
    if !value.is_instance(&value.py().import("mujoco")?.getattr(class)?)? {
        let got = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("expected a mujoco.{class}, got a {got}")));
    }
    value.getattr("_address")?.extract()
}

/// The index of an element of a `kind` ("site", "body" or "geom"), given by name or index.
pub(super) fn number(model: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, kind: &str) -> PyResult<usize> {
    let count: usize = model.getattr(format!("n{kind}"))?.extract()?;
    match value.extract::<i64>() {
        Ok(number) if !value.is_instance_of::<PyBool>() => match usize::try_from(number) {
            Ok(number) if number < count => Ok(number),
            _ => Err(Error::new_err(format!(
                "`{kind}`: the model has no {kind} number {number}; the numbers are 0 to {}",
                count as i64 - 1
            ))),
        },
        _ => {
            let got = value.get_type().name()?;
            Err(PyTypeError::new_err(format!("`{kind}` must be a name or a number, got a {got}")))
        }
    }
}

/// The frame given by exactly one of `site`, `body` and `geom`.
pub(super) fn frame(
    model: &Bound<'_, PyAny>,
    view: &Model<'_>,
    given: [(&'static str, Option<&Bound<'_, PyAny>>); 3],
) -> PyResult<FrameId> {
    let given: Vec<_> = given.into_iter().filter_map(|(kind, value)| Some((kind, value?))).collect();
    let &[(kind, value)] = given.as_slice() else {
        let names: Vec<&str> = given.iter().map(|(kind, _)| *kind).collect();
        let got = if names.is_empty() { "none".into() } else { names.join(" and ") };
        return Err(Error::new_err(format!("give one of `site`, `body` and `geom`, got {got}")));
    };
    if let Ok(name) = value.extract::<String>() {
        let frame = FrameId::find(view, kind, &name);
        return frame.ok_or(CouplingError::UnknownName { key: kind, kind, name }).into_py_err();
    }
    let number = number(model, value, kind)?;
    Ok(FrameId::new(kind, number).unwrap_or(FrameId::Geom(number)))
}

/// Indices of the geoms given by names of geoms or bodies, or by indices of geoms.
pub(super) fn geoms(model: &Bound<'_, PyAny>, view: &Model<'_>, objects: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let one = objects.is_instance_of::<PyString>() || objects.extract::<i64>().is_ok();
    let items = if one { vec![objects.clone()] } else { objects.try_iter()?.collect::<PyResult<_>>()? };
    let mut geoms = Vec::new();
    for item in &items {
        match item.extract::<String>() {
            Ok(name) => geoms.extend(geoms_named(view, &name).into_py_err()?),
            Err(_) => geoms.push(number(model, item, "geom")?),
        }
    }
    if geoms.is_empty() { Err(Error::new_err("`objects` names nothing")) } else { Ok(geoms) }
}

/// The address of a mujoco.MjData of a model.
pub(super) fn data_of(model: &Bound<'_, PyAny>, data: &Bound<'_, PyAny>) -> PyResult<usize> {
    let data_address = address(data, "MjData")?;
    for (kind, array) in [("nbody", "xpos"), ("ngeom", "geom_xpos"), ("nsite", "site_xpos")] {
        if model.getattr(kind)?.extract::<usize>()? != data.getattr(array)?.len()? {
            return Err(Error::new_err("`data` belongs to another model"));
        }
    }
    Ok(data_address)
}

/// True if a mujoco.MjData was made with the mujoco.MjModel at an address.
pub(super) fn is_made_with(data: &Bound<'_, PyAny>, model: usize) -> PyResult<bool> {
    Ok(address(&data.getattr("model")?, "MjModel")? == model)
}

/// True if a mujoco.MjData belongs to no other mujoco.MjModel of the program than that at an address: it was made with that, or it
/// is a copy (``copy.deepcopy``, a pickle), which has a copy of its model that nothing else refers to.
pub(super) fn belongs_to(data: &Bound<'_, PyAny>, model: usize) -> PyResult<bool> {
    // This function and the data refer to a model of their own.
    Ok(is_made_with(data, model)? || others(data.py(), &data.getattr("model")?.unbind())? <= 2)
}
