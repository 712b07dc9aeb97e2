//! Derivatives of a scalar through a press.

use crate::optics::OpticsError;
use crate::{Pressed, Sensor};
use dermis_geometry::{Primitive, ShapeGradient, Vec3, Wrench};
use dermis_skin::{Layer, Load, Object, SkinError, Target, Touch, TouchCotangent};
use std::collections::BTreeMap;

/// Derivatives of a scalar L with respect to what a sensor reads in a press. An empty list is zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cotangents {
    /// By force (1/N) and torque (1/(N m)) on the sensor, about its origin.
    pub on_sensor: Wrench,
    /// By [`crate::Reading::values_newton`] (1/N).
    pub taxels: Vec<f64>,
    /// By [`crate::Reading::forces_newton`] (1/N).
    pub forces: Vec<Vec3>,
    /// By [`crate::Reading::reported_newton`] (1/N). Rounding to counts is left out.
    pub reported: Vec<f64>,
    /// By the levels of red, green and blue of each pixel, before they are rounded.
    pub image: [Vec<f64>; 3],
    /// By column and row (1/pixel) of each marker in the image.
    pub markers: Vec<[f64; 2]>,
    /// By the flux density (1/T) at each magnetometer, in its frame. Rounding to counts is left out.
    pub magnetic: Vec<Vec3>,
}

/// Derivatives of a scalar L with respect to object and sensor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gradients {
    /// By the position of the object's origin (1/m), in the sensor's frame.
    pub position: Vec3,
    /// By a rotation vector (1/rad) in the sensor's frame, about the object's origin, applied after the present rotation.
    pub rotation: Vec3,
    parameters: BTreeMap<&'static str, Vec<f64>>,
    shape: ShapeGradient,
}

/// Errors of a gradient.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum GradientError {
    #[error("the cotangent of {what} has {got} values and the reading has {expected}")]
    WrongSize { what: &'static str, got: usize, expected: usize },
    #[error("the cotangent of {what} is not finite at index {index}: a NaN or an infinity reached it")]
    NotFinite { what: &'static str, index: usize },
    #[error("the cotangents are those of {got} steps and the path has {expected}")]
    WrongSteps { got: usize, expected: usize },
    #[error("sensor {sensor:?} has no gradients of its taxels: {reason}")]
    NoTaxels { sensor: String, reason: &'static str },
    #[error("sensor {sensor:?} has no gradients of its magnetometers: magnets in a layer have them")]
    NoMagnets { sensor: String },
    #[error("sensor {sensor:?}: {source}")]
    Skin { sensor: String, source: SkinError },
    #[error("sensor {sensor:?}: {source}")]
    Optics { sensor: String, source: OpticsError },
}

impl Gradients {
    /// The derivatives by pose and size of an object, whose surface is the primitive if there is one, and by other parameters.
    pub fn new(
        shape: ShapeGradient,
        primitive: Option<&Primitive>,
        parameters: impl IntoIterator<Item = (&'static str, Vec<f64>)>,
    ) -> Self {
        let mut all = BTreeMap::from([("scale", vec![shape.scale()])]);
        all.extend(primitive.into_iter().flat_map(|primitive| shape.sizes(primitive)));
        all.extend(parameters);
        Self { position: shape.position, rotation: shape.rotation, parameters: all, shape }
    }

    /// The derivatives by a parameter in SI units: "scale", a size of the object ("radius", "semi_axes", "size", "length"), or
    /// a parameter of the sensor ("stiffness", "young", "gain", …). `None` without a gradient by it.
    pub fn get(&self, name: &str) -> Option<&[f64]> {
        self.parameters.get(name).map(Vec::as_slice)
    }

    /// The derivatives by the vertices of the object's mesh (1/m), in the frame of the object. `None` for a primitive, for
    /// balls, on a gel and on a GPU.
    pub fn by_vertices(&self, object: &Object) -> Option<Vec<Vec3>> {
        self.shape.by_vertices(&object.surface)
    }

    /// All parameters with their derivatives.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, &[f64])> {
        self.parameters.iter().map(|(name, values)| (*name, values.as_slice()))
    }
}

impl Cotangents {
    fn validate(&self, taxels: usize) -> Result<(), GradientError> {
        let Self { on_sensor, taxels: values, forces, reported, image, markers, magnetic } = self;
        let lists = [("the taxels", values.len()), ("the force vectors", forces.len()), ("the report", reported.len())];
        for (what, got) in lists.into_iter().filter(|(_, got)| *got > 0) {
            if got != taxels {
                return Err(GradientError::WrongSize { what, got, expected: taxels });
            }
        }
        let finite = |what: &'static str, mut values: Box<dyn Iterator<Item = f64> + '_>| {
            values
                .position(|value| !value.is_finite())
                .map_or(Ok(()), |index| Err(GradientError::NotFinite { what, index }))
        };
        let vector = |vector: &Vec3| vector.to_array();
        finite(
            "the force on the sensor",
            Box::new(vector(&on_sensor.force).into_iter().chain(vector(&on_sensor.torque))),
        )?;
        finite("the taxels", Box::new(values.iter().copied()))?;
        finite("the force vectors", Box::new(forces.iter().flat_map(vector)))?;
        finite("the report", Box::new(reported.iter().copied()))?;
        finite("the image", Box::new(image.iter().flatten().copied()))?;
        finite("the markers", Box::new(markers.iter().flatten().copied()))?;
        finite("the magnetometers", Box::new(magnetic.iter().flat_map(vector)))
    }
}

/// Adds derivatives by parameters to sums over readings.
pub(crate) fn add_parameters(
    sums: &mut BTreeMap<&'static str, Vec<f64>>,
    found: impl IntoIterator<Item = (&'static str, Vec<f64>)>,
) {
    for (name, values) in found {
        let sum = sums.entry(name).or_insert_with(|| vec![0.0; values.len()]);
        sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
}

/// True if all loads act at points.
fn has_points(touch: &Touch) -> bool {
    touch.facets.points().is_some() || touch.facets.iter().all(|facet| matches!(facet.load, Load::Point { .. }))
}

impl Sensor {
    /// Derivatives of a scalar with respect to object and sensor, from those with respect to the reading of a press: one
    /// vector–Jacobian product.
    ///
    /// `object` is the object of the press. Contact points and cells that begin or cease to touch make the derivative
    /// one-sided; this is the one at constant contact. Saturated contact points and taxels have none.
    pub fn vjp(&self, object: &Object, pressed: &Pressed, by: &Cotangents) -> Result<Gradients, GradientError> {
        let mut parameters = BTreeMap::new();
        let values_newton = &pressed.reading.values_newton;
        let cotangent = self.touch_cotangent(&pressed.touch, values_newton, by, &mut parameters)?;
        let target = Target::at_rest(object, pressed.sensor_from_object);
        let found = self.skin().vjp(&pressed.touch, &pressed.state, &target, &cotangent);
        let found = found.map_err(|source| GradientError::Skin { sensor: self.name().to_owned(), source })?;
        add_parameters(&mut parameters, found.parameters.into_iter().map(|(name, by)| (name, vec![by])));
        Ok(Gradients::new(found.shape, object.surface.primitive(), parameters))
    }

    /// Derivatives with respect to a touch from those with respect to its reading; those by the parameters of response and
    /// light are added to `parameters`.
    pub(crate) fn touch_cotangent(
        &self,
        touch: &Touch,
        values_newton: &[f64],
        by: &Cotangents,
        parameters: &mut BTreeMap<&'static str, Vec<f64>>,
    ) -> Result<TouchCotangent, GradientError> {
        by.validate(self.taxels().len())?;
        let sensor = || self.name().to_owned();
        let mut cotangent = TouchCotangent { on_sensor: by.on_sensor, ..TouchCotangent::default() };
        let by_values = self.by_values(values_newton, by, parameters);
        if let Some(by_forces) = self.by_forces(&by_values, &by.forces)? {
            match &touch.base {
                Some(base) => {
                    let reason = "under a layer they must form a grid";
                    let no_grid = || GradientError::NoTaxels { sensor: sensor(), reason };
                    cotangent.base = self.taxels().by_base_stress(base, &by_forces).ok_or_else(no_grid)?;
                }
                None if has_points(touch) => {
                    cotangent.forces = self.taxels().by_point_forces(touch, &by_forces);
                }
                None => {
                    let reason = "a load lies beyond the `reach` of its taxel: enlarge it";
                    let beyond = || GradientError::NoTaxels { sensor: sensor(), reason };
                    cotangent.parts = self.taxels().by_facet_parts(touch, &by_forces).ok_or_else(beyond)?;
                }
            }
        }
        if !by.markers.is_empty() || by.image.iter().any(|channel| !channel.is_empty()) {
            let optical = |source| GradientError::Optics { sensor: sensor(), source };
            let (optics, surface) = self.camera_view(touch).map_err(optical)?;
            let gradient = optics.vjp(&surface, &by.image, &by.markers).map_err(optical)?;
            if let Some(mount_newton_per_m) = optics.camera().mount_newton_per_m {
                // All cells move by the shift in the mount.
                let by_shift = gradient.surface.iter().sum::<Vec3>().with_z(0.0);
                cotangent.on_sensor.force += by_shift / mount_newton_per_m;
                let shift_m = optics.camera().mount_shift_m(touch.on_sensor.force);
                add_parameters(parameters, [("mount_stiffness", vec![-by_shift.dot(shift_m) / mount_newton_per_m])]);
            }
            cotangent.surface = gradient.surface;
            add_parameters(parameters, gradient.light);
        }
        if !by.magnetic.is_empty() {
            let no_magnets = || GradientError::NoMagnets { sensor: sensor() };
            let (magnetics, layer) = self.magnetics().zip(self.skin_as::<Layer>()).ok_or_else(no_magnets)?;
            let (expected, got) = (magnetics.chips().len(), by.magnetic.len());
            if got != expected {
                return Err(GradientError::WrongSize { what: "the magnetometers", got, expected });
            }
            let gradient = magnetics.vjp(touch, &by.magnetic).ok_or_else(no_magnets)?;
            let grid = layer.grid();
            cotangent.inside = vec![Vec3::ZERO; grid.rows * grid.cols];
            for (place, by) in gradient.forces {
                grid.cell_at(place).into_iter().for_each(|cell| cotangent.inside[cell] += by);
            }
            let (key, by) = gradient.strength;
            add_parameters(parameters, [(key, vec![by])]);
        }
        Ok(cotangent)
    }

    /// Derivatives by the values of the taxels, including those through the response; its parameters are added.
    fn by_values(
        &self,
        values_newton: &[f64],
        by: &Cotangents,
        parameters: &mut BTreeMap<&'static str, Vec<f64>>,
    ) -> Vec<f64> {
        if by.reported.is_empty() {
            return by.taxels.clone();
        }
        let (mut by_values, found) = self.chain().vjp(values_newton, &by.reported);
        add_parameters(parameters, found);
        by_values.iter_mut().zip(&by.taxels).for_each(|(sum, by)| *sum += by);
        by_values
    }

    /// Derivatives by the force vector of each taxel from those by its value and by its force vector, or `None` for zero.
    pub fn by_forces(&self, by_values: &[f64], by_forces: &[Vec3]) -> Result<Option<Vec<Vec3>>, GradientError> {
        if by_values.is_empty() && by_forces.is_empty() {
            return Ok(None);
        }
        if self.rays().is_some() && !by_values.is_empty() {
            let reason = "they are read by rays; read them by integration instead";
            return Err(GradientError::NoTaxels { sensor: self.name().to_owned(), reason });
        }
        let along = |taxel: usize| by_values.get(taxel).map_or(Vec3::ZERO, |by| self.taxels().normals()[taxel] * -by);
        let given = |taxel: usize| by_forces.get(taxel).copied().unwrap_or_default();
        Ok(Some((0..self.taxels().len()).map(|taxel| along(taxel) + given(taxel)).collect()))
    }
}
