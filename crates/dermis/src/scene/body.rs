//! Bodies of a scene.

use super::{PlaceSpec, RotateSpec, SceneError};
use crate::object::{ObjectSpec, RoughnessSpec};
use dermis_geometry::quantity::{AngularSpeed, Density, Mass, Speed};
use dermis_geometry::{Twist, Vec3};
use dermis_skin::Object;
use dermis_world::{Body, BodyKind};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// The motion of a body.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::scene::{BodyMotion, BodySpec};
let body: BodySpec = dermis::sensor::parse_toml("body.toml", "name = 'tray'\nmotion = 'driven'")?;
assert_eq!(body.motion, BodyMotion::Driven);
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BodyMotion {
    /// It does not move.
    #[default]
    Fixed,
    /// Forces move it.
    Free,
    /// It moves with its `velocity` and `spin`, regardless of forces.
    Driven,
}

/// A body.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::scene::BodySpec;
let text = r#"
name = "ball"
motion = "free"
mass = "50 g"
shape.sphere.radius = "15 mm"
"#;
let ball: BodySpec = dermis::sensor::parse_toml("ball.toml", text)?;
ball.validate("ball.toml")?;
assert_eq!(ball.mass.map(|mass| mass.si()), Some(0.05));
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BodySpec {
    /// Name of the body in messages and records.
    pub name: String,
    /// The motion of the body.
    #[serde(default)]
    pub motion: BodyMotion,
    /// Mass of a free body; exclusive with `density`.
    pub mass: Option<Mass>,
    /// Density of a free body; exclusive with `mass`.
    pub density: Option<Density>,
    /// Its surface. A body without one only carries sensors.
    pub shape: Option<ObjectSpec>,
    /// Surface roughness; smooth by default.
    pub roughness: Option<RoughnessSpec>,
    /// Position of its origin.
    #[serde(default)]
    pub at: PlaceSpec,
    /// Orientation.
    pub rotate: Option<RotateSpec>,
    /// Velocity of its origin at the start.
    pub velocity: Option<[Speed; 3]>,
    /// Angular velocity at the start.
    pub spin: Option<[AngularSpeed; 3]>,
    /// Whether sensors detect contact with it.
    #[serde(default = "yes")]
    pub touchable: bool,
    /// Whether it collides with the ground and other solid bodies, as its convex hull.
    #[serde(default = "yes")]
    pub solid: bool,
}

fn yes() -> bool {
    true
}

impl BodySpec {
    fn owner(&self) -> String {
        format!("body {:?}", self.name)
    }

    /// Checks all values.
    pub fn validate(&self, file: &str) -> Result<(), SceneError> {
        let rule = |rule| SceneError::rule(file, &self.owner(), rule);
        let positive = |key, value: f64, unit: &str| {
            let got = || format!("{value} {unit}");
            if value > 0.0 { Ok(()) } else { Err(SceneError::bad_value(file, &self.owner(), key, "positive", got())) }
        };
        self.mass.map_or(Ok(()), |mass| positive("mass", mass.si(), "kg"))?;
        self.density.map_or(Ok(()), |density| positive("density", density.si(), "kg/m^3"))?;
        match self.motion {
            BodyMotion::Free if self.mass.is_some() == self.density.is_some() => {
                Err(rule("a free body needs exactly one of `mass` and `density`"))
            }
            BodyMotion::Free if self.shape.is_none() => {
                Err(rule("a free body needs a `shape`, from which its inertia is computed"))
            }
            BodyMotion::Fixed | BodyMotion::Driven if self.mass.is_some() || self.density.is_some() => {
                Err(rule("`mass` and `density` are for bodies with motion = \"free\""))
            }
            BodyMotion::Fixed if self.velocity.is_some() || self.spin.is_some() => {
                Err(rule("`velocity` and `spin` are for bodies with motion = \"free\" or \"driven\""))
            }
            _ if self.roughness.is_some() && self.shape.is_none() => Err(rule("`roughness` needs a `shape`")),
            _ => self.at.pose(&self.rotate, file, &self.owner()).map(|_| ()),
        }
    }

    /// Builds the body for a world.
    pub fn build(&self, file: &str, folder: Option<&Path>) -> Result<Body, SceneError> {
        let pose = self.at.pose(&self.rotate, file, &self.owner())?;
        let mut body = Body::fixed(self.name.clone(), pose);
        let object: Option<Object> =
            self.shape.as_ref().map(|shape| shape.object(folder, self.roughness.as_ref())).transpose().map_err(
                |error| SceneError::Object { file: file.to_owned(), body: self.name.clone(), error: Box::new(error) },
            )?;
        body.kind = match (self.motion, &object) {
            (BodyMotion::Free, Some(object)) => {
                let mass_kg = match (self.mass, self.density) {
                    (Some(mass), _) => mass.si(),
                    (None, density) => density.map_or(0.0, Density::si) * object.surface.volume_m3(),
                };
                BodyKind::Free(object.surface.mass_properties(mass_kg).map_err(|error| SceneError::Open {
                    file: file.to_owned(),
                    body: self.name.clone(),
                    error,
                })?)
            }
            (BodyMotion::Driven, _) => BodyKind::Driven,
            _ => BodyKind::Fixed,
        };
        let velocity = self.velocity.map_or(Vec3::ZERO, |v| Vec3::from_array(v.map(Speed::si)));
        let spin = self.spin.map_or(Vec3::ZERO, |w| Vec3::from_array(w.map(AngularSpeed::si)));
        body.velocity = Twist::new(velocity, spin);
        let Some(object) = object else { return Ok(body) };
        if !self.touchable {
            return Ok(body.with_visual_mesh(object.surface.mesh().clone()));
        }
        let body = body.touchable(Arc::new(object));
        Ok(if self.solid { body.solid() } else { body })
    }
}
