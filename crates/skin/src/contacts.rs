//! Contact points and forces from another engine, without a skin.

use crate::{Facet, Load, SkinError, Tangent, Touch};
use dermis_geometry::{Pose, Vec3};
use serde::{Deserialize, Serialize};

/// A contact point of another engine, in the sensor's frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    /// Position (m).
    pub at: Vec3,
    /// Force on the **sensor** (N).
    pub force: Vec3,
    /// Contact normal, out of the sensor into the object; defaults to the direction opposite to the force.
    #[serde(default)]
    pub normal: Option<Vec3>,
    /// Penetration (m) reported by the engine, or zero.
    #[serde(default)]
    pub depth_m: f64,
    /// Index of the object in the caller's list.
    #[serde(default)]
    pub object: u32,
}

/// The contacts of one sensor in one time step (Kappassov et al. 2020, section II-B: the input of eq. 2).
///
/// Converts the contacts of any simulator to a [`Touch`], which every transducer reads. There is no state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Contacts {
    /// The contact points.
    pub points: Vec<Contact>,
}

impl Contact {
    /// A force on the sensor at a point.
    pub fn new(at: Vec3, force: Vec3) -> Self {
        Self { at, force, normal: None, depth_m: 0.0, object: 0 }
    }

    /// The same contact with a normal.
    pub fn with_normal(self, normal: Vec3) -> Self {
        Self { normal: Some(normal), ..self }
    }
}

impl Contacts {
    /// Contacts at points in the sensor's frame.
    pub fn new(points: impl IntoIterator<Item = Contact>) -> Self {
        Self { points: points.into_iter().collect() }
    }

    /// Contacts at points in the world's frame.
    pub fn from_world(world_from_sensor: &Pose, points: impl IntoIterator<Item = Contact>) -> Self {
        let sensor_from_world = world_from_sensor.inverse();
        Self::new(points.into_iter().map(|point| Contact {
            at: sensor_from_world.transform_point(point.at),
            force: sensor_from_world.transform_vector(point.force),
            normal: point.normal.map(|normal| sensor_from_world.transform_vector(normal)),
            ..point
        }))
    }

    /// Returns the contact loads, or an error for NaN and infinity. The contact point is also the point of the
    /// undeformed skin, since rigid bodies do not deform.
    pub fn touch(&self) -> Result<Touch, SkinError> {
        let mut objects = 0;
        let mut facets = Vec::with_capacity(self.points.len());
        for point in &self.points {
            let object = point.object as usize;
            if !point.at.is_finite() {
                return Err(SkinError::NotFinite { object, what: "contact point" });
            }
            if !point.force.is_finite() {
                return Err(SkinError::NotFinite { object, what: "contact force" });
            }
            objects = objects.max(object + 1);
            let given = point.normal.unwrap_or(-point.force).normalize_or_zero();
            facets.push(Facet {
                object: point.object,
                normal: if given == Vec3::ZERO { Vec3::Z } else { given },
                depth_m: point.depth_m,
                saturated: false,
                load: Load::Point { at: point.at, anchor: point.at, area_m2: 0.0, force: point.force },
                tangent: Tangent::default(),
            });
        }
        Ok(Touch::from_facets(facets, objects))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::{Quat, Random, Wrench};

    /// The wrench of the touch is Σ (f, r × f), and the wrench on each object is the negative of its part.
    #[test]
    fn wrenches_add_up() {
        let mut random = Random::new(4);
        let points: Vec<Contact> = (0..50)
            .map(|i| Contact { object: i % 3, ..Contact::new(random.direction() * 0.02, random.direction() * 3.0) })
            .collect();
        let touch = Contacts::new(points.clone()).touch().unwrap();
        let truth = points.iter().fold(Wrench::ZERO, |sum, p| sum + Wrench::from_force_at(p.force, p.at));
        assert!((touch.on_sensor.force - truth.force).length() < 1e-12);
        assert!((touch.on_sensor.torque - truth.torque).length() < 1e-12);
        let back = touch.on_objects.iter().fold(Wrench::ZERO, |sum, wrench| sum + *wrench);
        assert!((back.force + truth.force).length() < 1e-12 && touch.on_objects.len() == 3);
    }

    #[test]
    fn points_in_the_world_are_transformed_to_the_sensor_frame() {
        let world_from_sensor = Pose::new(Quat::from_rotation_x(0.8), Vec3::new(0.1, 0.2, 0.3));
        let inside = Contact::new(Vec3::new(1e-3, 2e-3, 0.0), Vec3::new(0.0, 0.0, -2.0)).with_normal(Vec3::Z);
        let outside = Contact {
            at: world_from_sensor.transform_point(inside.at),
            force: world_from_sensor.transform_vector(inside.force),
            normal: inside.normal.map(|normal| world_from_sensor.transform_vector(normal)),
            ..inside
        };
        let there = Contacts::from_world(&world_from_sensor, [outside]).points[0];
        assert!((there.at - inside.at).length() < 1e-15 && (there.force - inside.force).length() < 1e-15);
    }

    #[test]
    fn nan_and_infinity_are_refused() {
        let bad = Contact::new(Vec3::new(f64::NAN, 0.0, 0.0), -Vec3::Z);
        assert!(matches!(Contacts::new([bad]).touch(), Err(SkinError::NotFinite { .. })));
        let bad = Contact::new(Vec3::ZERO, Vec3::new(0.0, f64::INFINITY, 0.0));
        assert!(Contacts::new([bad]).touch().is_err());
        assert_eq!(Contacts::default().touch().unwrap(), Touch::default());
    }
}
