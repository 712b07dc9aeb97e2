//! Contact points and forces that MuJoCo computed, as input of a sensor.

use crate::{Data, Model, Mount};
use dermis_geometry::{Vec3, Wrench};
use dermis_sensor::Sensor;
use dermis_skin::{Contact, Contacts, SkinError, Touch};

/// A contact point of MuJoCo, in the world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineContact {
    /// The two geoms.
    pub geoms: [usize; 2],
    /// Position (m).
    pub at: Vec3,
    /// Normal, out of the first geom into the second.
    pub normal: Vec3,
    /// Force (N) on the second geom.
    pub force: Vec3,
}

impl Mount {
    /// The load of MuJoCo's contacts between the objects and the geoms that move with the sensor, carried by the skin.
    /// Contacts that do not press on the nearest taxel, such as those on the back of a finger, are left out.
    pub fn carry(&self, model: &Model<'_>, data: &Data<'_>, sensor: &Sensor) -> Result<Touch, SkinError> {
        let own = |geom: usize| model.weld(model.geom_body(geom)) == model.weld(self.body);
        let index = |geom: usize| self.objects.iter().position(|object| object.geom == geom);
        let world_from_sensor = self.world_from_sensor(data);
        let on_sensor = data.contacts().into_iter().filter_map(|contact| {
            let [first, second] = contact.geoms;
            let (object, sign) = match (own(first), own(second)) {
                (true, false) => (index(second)?, 1.0),
                (false, true) => (index(first)?, -1.0),
                _ => return None,
            };
            let point = Contact::new(contact.at, -sign * contact.force).with_normal(sign * contact.normal);
            Some(Contact { object: object as u32, ..point })
        });
        let mut contacts = Contacts::from_world(&world_from_sensor, on_sensor);
        contacts.points.retain(|point| point.force.dot(normal_at(sensor, point.at)) < 0.0);
        let mut touch = sensor.skin().carry(&contacts)?;
        touch.on_objects.resize(self.objects.len(), Wrench::ZERO);
        Ok(touch)
    }
}

/// Normal of the taxel nearest to a point; +z for a sensor without taxels.
fn normal_at(sensor: &Sensor, at: Vec3) -> Vec3 {
    let taxels = sensor.taxels();
    let nearest =
        |a: &(&Vec3, &Vec3), b: &(&Vec3, &Vec3)| (*a.0 - at).length_squared().total_cmp(&(*b.0 - at).length_squared());
    taxels.centers().iter().zip(taxels.normals()).min_by(nearest).map_or(Vec3::Z, |(_, normal)| *normal)
}
