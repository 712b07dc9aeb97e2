//! Reads contact points from another simulator.

use crate::array::{Numbers, Unread, rows};
use crate::error::Error;
use crate::pose::pose_or_identity;
use dermis::geometry::Vec3;
use dermis::geometry::limits::{MAX_NUMBER, MAX_SIZE_M};
use dermis::skin::{Contact, Contacts};
use pyo3::prelude::*;

/// Reads contact points. All lists must have the same length.
pub fn read(
    points: &Bound<'_, PyAny>,
    forces: &Bound<'_, PyAny>,
    normals: Option<&Bound<'_, PyAny>>,
    objects: Option<&Bound<'_, PyAny>>,
    depths: Option<&Bound<'_, PyAny>>,
    sensor_pose: Option<&Bound<'_, PyAny>>,
) -> PyResult<Contacts> {
    let world_from_sensor = pose_or_identity(sensor_pose, "sensor_pose")?;
    let points = list(points, "points", MAX_SIZE_M, "m")?;
    let forces = list(forces, "forces", MAX_NUMBER, "N")?;
    let normals = normals.map(|normals| list(normals, "normals", MAX_NUMBER, "")).transpose()?;
    let objects = objects.map(|objects| indices(objects)).transpose()?;
    let depths = depths.map(|depths| lengths_m(depths)).transpose()?;
    let lengths = [
        ("forces", Some(forces.len())),
        ("normals", normals.as_ref().map(Vec::len)),
        ("objects", objects.as_ref().map(Vec::len)),
        ("depths", depths.as_ref().map(Vec::len)),
    ];
    for (what, length) in lengths {
        if let Some(length) = length.filter(|length| *length != points.len()) {
            let count = points.len();
            return Err(Error::new_err(format!(
                "there are {count} `points` and {length} `{what}`; their numbers must be equal"
            )));
        }
    }
    Ok(Contacts::from_world(
        &world_from_sensor,
        points.iter().zip(&forces).enumerate().map(|(i, (&at, &force))| Contact {
            normal: normals.as_ref().map(|normals| normals[i]),
            object: objects.as_ref().map_or(0, |objects| objects[i]),
            depth_m: depths.as_ref().map_or(0.0, |depths| depths[i]),
            ..Contact::new(at, force)
        }),
    ))
}

/// Reads (n, 3) vectors; an empty list is allowed.
fn list(value: &Bound<'_, PyAny>, what: &str, max: f64, unit: &str) -> PyResult<Vec<Vec3>> {
    if value.len().is_ok_and(|length| length == 0) {
        return Ok(Vec::new());
    }
    let rows = rows::<3>(value, what)?;
    within(rows.as_flattened(), max, what, unit)?;
    Ok(rows.into_iter().map(Vec3::from_array).collect())
}

/// Reads (n,) lengths (m).
fn lengths_m(value: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let depths = column(value, "depths")?.finite("depths")?.values;
    within(&depths, MAX_SIZE_M, "depths", "m")?;
    Ok(depths)
}

/// Reads (n,) numbers.
fn column(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Numbers> {
    let unread = Unread::of(value, what)?;
    if unread.shape.len() != 1 {
        return Err(unread.wrong_shape(what, "(n,)"));
    }
    unread.read_rows(what)
}

/// Refuses numbers of a size that the sums of a reading do not have.
fn within(values: &[f64], max: f64, what: &str, unit: &str) -> PyResult<()> {
    match values.iter().find(|value| value.abs() > max) {
        Some(value) => Err(Error::new_err(format!("`{what}` must be at most {max:e} {unit}, got {value:e} {unit}"))),
        None => Ok(()),
    }
}

fn indices(value: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    const MAX_OBJECTS: f64 = 1e6;
    let numbers = column(value, "objects")?;
    let index = |&value: &f64| {
        let fits = (0.0..MAX_OBJECTS).contains(&value) && value.fract() == 0.0;
        let refuse = || Error::new_err(format!("`objects` must be whole numbers from 0 to 999999, got {value}"));
        fits.then_some(value as u32).ok_or_else(refuse)
    };
    numbers.values.iter().map(index).collect()
}
