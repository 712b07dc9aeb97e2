//! Gravity: one downward acceleration, or a vector.

use dermis_geometry::Vec3;
use dermis_geometry::quantity::Acceleration;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;

/// Gravity (m/s²) in the world.
///
/// ```
/// use dermis::scene::{GravitySpec, WorldSpec};
/// let world: WorldSpec = dermis::sensor::parse_toml("world.toml", "duration = '1 s'\ngravity = '1.62 m/s^2'")?;
/// assert_eq!(world.gravity.vector().z, -1.62);
/// assert_eq!(GravitySpec::default().vector().z, -9.81);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GravitySpec(
    /// Components along x, y and z.
    pub [Acceleration; 3],
);

impl Default for GravitySpec {
    /// 9.81 m/s² downwards.
    fn default() -> Self {
        Self::down(Acceleration::new(9.81))
    }
}

impl GravitySpec {
    /// Gravity along −z.
    pub fn down(size: Acceleration) -> Self {
        Self([Acceleration::new(0.0), Acceleration::new(0.0), Acceleration::new(-size.si())])
    }

    /// Gravity as a vector (m/s²).
    pub fn vector(&self) -> Vec3 {
        Vec3::from_array(self.0.map(Acceleration::si))
    }
}

impl JsonSchema for GravitySpec {
    fn schema_name() -> Cow<'static, str> {
        "GravitySpec".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let forms = [generator.subschema_for::<Acceleration>(), generator.subschema_for::<[Acceleration; 3]>()];
        schemars::json_schema!({ "anyOf": forms })
    }
}

impl<'de> Deserialize<'de> for GravitySpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = GravitySpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an acceleration with its unit, such as \"9.81 m/s^2\" (downwards), or three of them")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<GravitySpec, E> {
                text.parse().map(GravitySpec::down).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<GravitySpec, A::Error> {
                let mut next = |i: usize| values.next_element()?.ok_or_else(|| A::Error::invalid_length(i, &self));
                let all = [next(0)?, next(1)?, next(2)?];
                if values.next_element::<Acceleration>()?.is_some() {
                    return Err(A::Error::invalid_length(4, &self));
                }
                Ok(GravitySpec(all))
            }
        }
        deserializer.deserialize_any(Either)
    }
}
