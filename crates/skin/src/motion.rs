//! Objects, and their poses and velocities relative to the sensor.

use crate::hydroelastic::Compliance;
use crate::{SkinError, require_not_negative};
use dermis_geometry::shapes::ShapeError;
use dermis_geometry::{Balls, Pose, Primitive, Surface, TriMesh, Twist, Vec3};

/// An object that can be in contact with a skin.
///
/// ```
/// use dermis_geometry::shapes;
/// use dermis_skin::Object;
/// let ball = Object::new(shapes::sphere(0.010, 0.001)?).with_mu(0.4);
/// let larger = ball.scaled(1.5)?;
/// assert!(larger.surface.bounds().max.z > 0.0149 && larger.mu == Some(0.4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Object {
    /// Surface in the object's frame, with a bounding-volume hierarchy.
    pub surface: Surface,
    /// Pressure field in the object's frame; `None` for a rigid object. Used only by the hydroelastic skin.
    pub compliance: Option<Compliance>,
    /// Static coefficient of friction of the object, which replaces that of the skin; a dynamic one stays in proportion. Used by
    /// springs, hydroelastic skins and layers on the CPU, and by layers on a GPU.
    pub mu: Option<f64>,
}

impl Object {
    /// A rigid object from a mesh, which may be open. Saturation is reported only for a closed mesh.
    pub fn new(mesh: TriMesh) -> Self {
        Self { surface: Surface::new(mesh), compliance: None, mu: None }
    }

    /// A primitive shape. All skins compute contact with its exact surface ([`Surface::of_primitive`]), the hydroelastic
    /// skin with facets whose corners lie on it; a mesh with edges of at most `edge_m` is for drawing.
    pub fn of_primitive(primitive: Primitive, edge_m: f64) -> Result<Self, ShapeError> {
        Ok(Self { surface: Surface::of_primitive(primitive, edge_m)?, compliance: None, mu: None })
    }

    /// A point cloud (m), each point a sphere of a radius (m). The gel uses the spheres, other skins inscribed
    /// octahedra.
    pub fn of_points(points: Vec<Vec3>, radius_m: f64) -> Result<Self, ShapeError> {
        Ok(Self { surface: Surface::of_balls(Balls::new(points, radius_m)?)?, compliance: None, mu: None })
    }

    /// The same rigid object scaled by a factor.
    pub fn scaled(&self, factor: f64) -> Result<Self, ShapeError> {
        let surface = &self.surface;
        let object = match (surface.primitive(), surface.balls()) {
            (Some(primitive), _) => {
                let primitive = primitive.scaled(factor);
                Self::of_primitive(primitive, primitive.default_edge_m())?
            }
            (_, Some(balls)) => {
                let centers = balls.centers().iter().map(|center| *center * factor).collect();
                Self::of_points(centers, balls.radius_m() * factor)?
            }
            _ => Self::new(surface.mesh().stretched(Vec3::splat(factor))),
        };
        Ok(Self { mu: self.mu, ..object })
    }

    /// The same object with a pressure field.
    pub fn with_compliance(self, compliance: Compliance) -> Self {
        Self { compliance: Some(compliance), ..self }
    }

    /// The same object with its own coefficient of friction, zero or more.
    pub fn with_mu(self, mu: f64) -> Self {
        Self { mu: Some(mu), ..self }
    }
}

/// One object with its pose and velocity relative to the sensor.
///
/// ```
/// use dermis_geometry::{Pose, Twist, Vec3, shapes};
/// use dermis_skin::{Object, Target};
/// let ball = Object::new(shapes::sphere(0.010, 0.001)?);
/// let above = Pose::from_translation(Vec3::new(0.0, 0.0, 0.012));
/// let falling = Target { velocity: Twist::new(-Vec3::Z, Vec3::ZERO), ..Target::at_rest(&ball, above) };
/// assert_eq!(falling.velocity.linear.z, -1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The object.
    pub object: &'a Object,
    /// Pose of the object.
    pub sensor_from_object: Pose,
    /// Velocity of the object minus that of the sensor, in the sensor's frame, at the sensor's origin.
    pub velocity: Twist,
}

impl<'a> Target<'a> {
    /// An object at rest relative to the sensor.
    pub fn at_rest(object: &'a Object, sensor_from_object: Pose) -> Self {
        Self { object, sensor_from_object, velocity: Twist::ZERO }
    }

    /// Converts poses in the world, and velocities in the world at each frame's origin.
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

/// The objects that may be in contact during a step.
///
/// ```
/// use dermis_geometry::{Pose, Vec3, shapes};
/// use dermis_skin::{Motion, Object, Target};
/// let ball = Object::new(shapes::sphere(0.010, 0.001)?);
/// let targets = [Target::at_rest(&ball, Pose::from_translation(Vec3::new(0.0, 0.0, f64::NAN)))];
/// assert!(Motion { targets: &targets }.check().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Motion<'a> {
    /// The objects. [`crate::Touch`] and [`crate::State`] refer to them by index.
    pub targets: &'a [Target<'a>],
}

impl<'a> Motion<'a> {
    /// The targets without their velocities.
    pub fn targets_at_rest(&self) -> Vec<Target<'a>> {
        self.targets.iter().map(|target| Target::at_rest(target.object, target.sensor_from_object)).collect()
    }

    /// Returns an error for NaN, infinity and negative friction.
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
