//! What moves against the skin.

use crate::hydroelastic::Compliance;
use crate::{SkinError, require_not_negative};
use dermis_geometry::shapes::ShapeError;
use dermis_geometry::{Balls, Pose, Primitive, Surface, TriMesh, Twist, Vec3};

/// A thing that can be touched: its surface, ready to be asked.
#[derive(Clone, Debug)]
pub struct Object {
    /// The surface, in the object's own frame.
    pub surface: Surface,
    /// Its pressure field, in the object's own frame; rigid without. Only the hydroelastic skin asks for it.
    pub compliance: Option<Compliance>,
    /// Its coefficient of friction, where it is not the skin's own. Only the layer asks for it.
    pub mu: Option<f64>,
}

impl Object {
    /// Prepares a mesh. Open meshes are allowed; a closed one also reports when the skin is pressed through.
    pub fn new(mesh: TriMesh) -> Self {
        Self { surface: Surface::new(mesh), compliance: None, mu: None }
    }

    /// A shape that rays meet, and the gel is pressed by, exactly ([`Surface::of_primitive`]); where a mesh of it is asked for, its edges are at most
    /// `edge_m`.
    pub fn of_primitive(primitive: Primitive, edge_m: f64) -> Result<Self, ShapeError> {
        Ok(Self { surface: Surface::of_primitive(primitive, edge_m)?, compliance: None, mu: None })
    }

    /// Points (m) of a cloud, each a ball of a radius (m). The gel is pressed by the balls, other skins by eight-sided bodies in them.
    pub fn of_points(points: Vec<Vec3>, radius_m: f64) -> Result<Self, ShapeError> {
        Ok(Self { surface: Surface::of_balls(Balls::new(points, radius_m)?)?, compliance: None, mu: None })
    }

    /// The same object made compliant.
    pub fn with_compliance(self, compliance: Compliance) -> Self {
        Self { compliance: Some(compliance), ..self }
    }

    /// The same object with a coefficient of friction of its own, zero or more.
    pub fn with_mu(self, mu: f64) -> Self {
        Self { mu: Some(mu), ..self }
    }
}

/// One object, where it is and how it moves, both relative to the sensor.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The object.
    pub object: &'a Object,
    /// Its place.
    pub sensor_from_object: Pose,
    /// Its velocity minus the sensor's, in the sensor's frame, given at the sensor's origin.
    pub velocity: Twist,
}

impl<'a> Target<'a> {
    /// An object at rest relative to the sensor.
    pub fn at_rest(object: &'a Object, sensor_from_object: Pose) -> Self {
        Self { object, sensor_from_object, velocity: Twist::ZERO }
    }

    /// From what an engine knows: poses in the world, and velocities in the world given at each frame's origin.
    pub fn from_world(
        object: &'a Object,
        world_from_object: &Pose,
        object_velocity: &Twist,
        world_from_sensor: &Pose,
        sensor_velocity: &Twist,
    ) -> Self {
        let sensor_from_world = world_from_sensor.inverse();
        let arm = world_from_sensor.translation - world_from_object.translation;
        let relative = object_velocity.moved(arm) - *sensor_velocity;
        Self {
            object,
            sensor_from_object: sensor_from_world * *world_from_object,
            velocity: relative.rotated(&sensor_from_world),
        }
    }
}

/// Everything that may touch the skin during a step.
#[derive(Clone, Copy, Debug)]
pub struct Motion<'a> {
    /// The objects. Their positions in this list are their names in the [`crate::Touch`] and the [`crate::State`].
    pub targets: &'a [Target<'a>],
}

impl Motion<'_> {
    /// Refuses NaN and infinity.
    pub fn check(&self) -> Result<(), SkinError> {
        for (object, target) in self.targets.iter().enumerate() {
            if !target.sensor_from_object.is_finite() {
                return Err(SkinError::NotFinite { object, what: "pose" });
            }
            if !target.velocity.is_finite() {
                return Err(SkinError::NotFinite { object, what: "velocity" });
            }
            if let Some(mu) = target.object.mu {
                require_not_negative("mu", "1", mu)?;
            }
        }
        Ok(())
    }
}
