//! Poses of bodies and sensors.

use super::SceneError;
use dermis_geometry::quantity::{Angle, Length};
use dermis_geometry::{Pose, Quat, Vec3};
use serde::{Deserialize, Serialize};

/// A point: x, y and z.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::scene::PlaceSpec;
let at: PlaceSpec = serde_json::from_str(r#"["0 mm", "0 mm", "40 mm"]"#)?;
assert_eq!(at.vector().z, 0.04);
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PlaceSpec(
    /// x, y and z.
    pub [Length; 3],
);

impl Default for PlaceSpec {
    /// The origin.
    fn default() -> Self {
        Self([Length::new(0.0); 3])
    }
}

impl PlaceSpec {
    /// The point as a vector (m).
    pub fn vector(&self) -> Vec3 {
        Vec3::from_array(self.0.map(Length::si))
    }

    /// The pose with this position and an orientation.
    pub fn pose(&self, rotate: &Option<RotateSpec>, file: &str, owner: &str) -> Result<Pose, SceneError> {
        let rotation = rotate.as_ref().map_or(Ok(Quat::IDENTITY), |rotate| rotate.quat(file, owner))?;
        Ok(Pose::new(rotation, self.vector()))
    }
}

/// A rotation: `axis` and `angle`, or `rpy` (about the fixed x, then y, then z axis).
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::scene::RotateSpec;
let rotate: RotateSpec = dermis::sensor::parse_toml("a.toml", "axis = [0, 0, 1]\nangle = '90 deg'")?;
let x = rotate.quat("a.toml", "body")? * dermis::geometry::Vec3::X;
assert!((x - dermis::geometry::Vec3::Y).length() < 1e-15);
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { axis = [0, 0, 1], angle = \"30 deg\" }")]
pub struct RotateSpec {
    /// Direction of the axis.
    pub axis: Option<[f64; 3]>,
    /// Angle about the axis.
    pub angle: Option<Angle>,
    /// Roll, pitch and yaw.
    pub rpy: Option<[Angle; 3]>,
}

impl RotateSpec {
    /// The rotation.
    pub fn quat(&self, file: &str, owner: &str) -> Result<Quat, SceneError> {
        match (self.axis, self.angle, self.rpy) {
            (Some(axis), Some(angle), None) => {
                let unit = Vec3::from_array(axis).try_normalize().ok_or_else(|| {
                    let rule = "a direction: three finite numbers that are not all zero";
                    SceneError::bad_value(file, owner, "rotate.axis", rule, format!("{axis:?}"))
                })?;
                Ok(Quat::from_axis_angle(unit, angle.si()))
            }
            (None, None, Some([roll, pitch, yaw])) => Ok(Quat::from_rotation_z(yaw.si())
                * Quat::from_rotation_y(pitch.si())
                * Quat::from_rotation_x(roll.si())),
            _ => Err(SceneError::rule(
                file,
                owner,
                "`rotate` takes `axis` and `angle`, or `rpy`: for example { axis = [0, 0, 1], angle = \"10 deg\" }",
            )),
        }
    }
}
