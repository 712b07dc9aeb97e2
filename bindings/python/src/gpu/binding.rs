//! The arguments of `Environments.bind`.

use super::bound::{Bound, Kind, Place};
use crate::array::vector;
use crate::error::Error;
use crate::pose::pose;
use dermis::gpu::environments::{BodyArrays, NO_OFFSET, RotationFormat, View};
use pyo3::Bound as PyBound;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Reads arrays and keeps them alive.
pub struct Binder {
    pub place: Place,
    pub count: usize,
    pub w_first: bool,
    pub kept: Vec<Bound>,
}

pub type Given<'a, 'py> = Option<&'a PyBound<'py, PyAny>>;

impl Binder {
    /// An array with one row of `each` numbers per environment; an unbound view without a value.
    pub fn rows(&mut self, value: Given<'_, '_>, each: &[usize], what: &str, kind: Kind) -> PyResult<View> {
        let Some(value) = value else { return Ok(View::default()) };
        let bound = Bound::read(value, self.place, what, kind)?;
        if bound.shape.first() != Some(&self.count) || bound.shape[1..] != *each {
            let each: Vec<String> = each.iter().map(|number| format!(" {number}")).collect();
            return Err(bound.wrong_shape(what, &format!("({},{})", self.count, each.join(","))));
        }
        let view = bound.view();
        self.kept.push(bound);
        Ok(view)
    }

    /// Points in the world (n, 3), or one point (3,) in the body's frame.
    fn points(&mut self, value: Given<'_, '_>, what: &str) -> PyResult<(View, Option<[f64; 3]>)> {
        let Some(value) = value else { return Ok((View::default(), None)) };
        let axes = value.getattr_opt("ndim")?.map_or(Ok(1), |axes| axes.extract::<usize>())?;
        // A Warp array of vectors has one axis and a numpy shape of two.
        let is_array = axes > 1 || value.hasattr("__cuda_array_interface__")? || value.hasattr("grad")?;
        if is_array {
            return Ok((self.rows(Some(value), &[3], what, Kind::Input)?, None));
        }
        Ok((View::default(), Some(vector::<3>(value, what)?)))
    }

    /// The arrays of one body: pose, offset, velocity and its points, load and its points, with the names of these arguments.
    pub fn body(&mut self, names: [&str; 6], values: [Given<'_, '_>; 6], angular_first: bool) -> PyResult<BodyArrays> {
        let [pose_name, offset_name, twist_name, at_name, load_name, load_at_name] = names;
        let [pose, fixed, twist, at, load, load_at] = values;
        let (at, center) = self.points(at, at_name)?;
        let (load_at, load_center) = self.points(load_at, load_at_name)?;
        if center.is_some() && load_center.is_some() && center != load_center {
            let reason = format!("`{at_name}` and `{load_at_name}` in the body's frame must be the same point");
            return Err(Error::new_err(reason));
        }
        Ok(BodyArrays {
            offset: offset(fixed, offset_name)?,
            twist: self.rows(twist, &[6], twist_name, Kind::Input)?,
            twist_at: at,
            load: self.rows(load, &[6], load_name, Kind::Output)?,
            load_at,
            center: center.or(load_center).unwrap_or_default(),
            angular_first: i32::from(angular_first),
            ..self.pose(pose, pose_name)?
        })
    }

    /// One number per taxel: (n, taxels) or (n, rows, cols).
    pub fn taxels(
        &mut self,
        value: Given<'_, '_>,
        taxels: usize,
        size: Option<(usize, usize)>,
        what: &str,
    ) -> PyResult<View> {
        let Some(value) = value else { return Ok(View::default()) };
        let bound = Bound::read(value, self.place, what, Kind::Output)?;
        let grid = size.map(|(rows, cols)| vec![self.count, rows, cols]);
        let view = if grid.as_ref() == Some(&bound.shape) {
            bound.flat_view(what)?
        } else if bound.shape == [self.count, taxels] {
            bound.view()
        } else {
            let grid = size.map_or(String::new(), |(rows, cols)| format!(" or ({}, {rows}, {cols})", self.count));
            return Err(bound.wrong_shape(what, &format!("({}, {taxels}){grid}", self.count)));
        };
        self.kept.push(bound);
        Ok(view)
    }

    /// Images of bytes, (n, height, width, 3), each without gaps.
    pub fn images(&mut self, value: Given<'_, '_>, size: [usize; 2], what: &str) -> PyResult<View> {
        let Some(value) = value else { return Ok(View::default()) };
        let ([height, width], bound) = (size, Bound::read(value, self.place, what, Kind::Image)?);
        if bound.shape != [self.count, height, width, 3] {
            return Err(bound.wrong_shape(what, &format!("({}, {height}, {width}, 3)", self.count)));
        }
        let view = bound.image_view(what)?;
        self.kept.push(bound);
        Ok(view)
    }

    /// The pose of a body: (n, 3), (n, 7), (n, 4, 4), or a tuple of positions (n, 3) and rotations (n, 4) or (n, 3, 3).
    pub fn pose(&mut self, value: Given<'_, '_>, what: &str) -> PyResult<BodyArrays> {
        let body = BodyArrays { offset: NO_OFFSET, ..BodyArrays::default() };
        let Some(value) = value else { return Ok(body) };
        let quaternion = if self.w_first { RotationFormat::QuaternionWFirst } else { RotationFormat::QuaternionWLast };
        if let Ok(parts) = value.cast::<PyTuple>() {
            let [position, rotation] = [0, 1].map(|i| parts.get_item(i));
            if parts.len() != 2 {
                return Err(Error::new_err(format!(
                    "`{what}` must be an array, or a tuple of positions and rotations"
                )));
            }
            let position = self.rows(Some(&position?), &[3], &format!("{what}[0]"), Kind::Input)?;
            let name = format!("{what}[1]");
            let rotation = Bound::read(&rotation?, self.place, &name, Kind::Input)?;
            let format = match rotation.shape[..] {
                [n, 4] if n == self.count => quaternion,
                [n, 3, 3] if n == self.count => RotationFormat::Matrix,
                _ => return Err(rotation.wrong_shape(&name, &format!("({0}, 4) or ({0}, 3, 3)", self.count))),
            };
            let view = rotation.view();
            self.kept.push(rotation);
            return Ok(BodyArrays { position, rotation: view, rotation_format: format as i32, ..body });
        }
        let bound = Bound::read(value, self.place, what, Kind::Input)?;
        let made = match bound.shape[..] {
            [n, 3] if n == self.count => BodyArrays { position: bound.view(), ..body },
            [n, 7] if n == self.count => BodyArrays {
                position: bound.view(),
                rotation: bound.view_from(3),
                rotation_format: quaternion as i32,
                ..body
            },
            [n, 4, 4] if n == self.count => BodyArrays {
                position: bound.column(3),
                rotation: bound.view(),
                rotation_format: RotationFormat::Matrix as i32,
                ..body
            },
            _ => return Err(bound.wrong_shape(what, &format!("({0}, 3), ({0}, 7) or ({0}, 4, 4)", self.count))),
        };
        self.kept.push(bound);
        Ok(made)
    }
}

/// A fixed pose in the frame of a body, as in [`BodyArrays::offset`].
fn offset(value: Given<'_, '_>, what: &str) -> PyResult<[f64; 7]> {
    let Some(value) = value else { return Ok(NO_OFFSET) };
    let pose = pose(value, what)?;
    let (p, q) = (pose.translation, pose.rotation);
    Ok([p.x, p.y, p.z, q.x, q.y, q.z, q.w])
}

/// The entries of an argument for each of `count` objects, which a list has; `None` stands for one object, whose argument is
/// no list.
pub fn entries<'py>(
    value: Given<'_, 'py>,
    count: Option<usize>,
    what: &str,
) -> PyResult<Vec<Option<PyBound<'py, PyAny>>>> {
    let (Some(count), Some(value)) = (count, value) else { return Ok(vec![value.cloned(); count.unwrap_or(1)]) };
    let list = value.cast::<PyList>().ok().filter(|list| list.len() == count);
    let refuse = || {
        Error::new_err(format!("`{what}` must be a list with an entry for each of the {count} objects, as `pose` is"))
    };
    let list = list.ok_or_else(refuse)?;
    Ok(list.iter().map(|entry| (!entry.is_none()).then_some(entry)).collect())
}
