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

/// The contacts of the last evaluation, each with the index of its object.
#[derive(Clone, Debug, Default)]
pub struct HeldContacts(Vec<(usize, EngineContact)>);

impl Mount {
    /// MuJoCo's contacts between the objects and the geoms that move with the sensor, each with the index of its object. The
    /// geoms are in the order sensor, object.
    pub(crate) fn engine_contacts(&self, model: &Model<'_>, data: &Data<'_>) -> Vec<(usize, EngineContact)> {
        let own = |geom: usize| model.weld(model.geom_body(geom)) == model.weld(self.body);
        let index = |geom: usize| self.objects.iter().position(|object| object.geom == geom);
        let is_pair = |[one, other]: [usize; 2]| own(one) != own(other) && (index(one).or(index(other))).is_some();
        let ordered = |contact: EngineContact| {
            let [one, other] = contact.geoms;
            let EngineContact { at, normal, force, .. } = contact;
            if own(one) {
                Some((index(other)?, contact))
            } else {
                Some((index(one)?, EngineContact { geoms: [other, one], at, normal: -normal, force: -force }))
            }
        };
        data.contacts(is_pair).into_iter().filter_map(ordered).collect()
    }

    /// The load of MuJoCo's contacts between the objects and the geoms that move with the sensor, carried by the skin.
    /// Contacts that do not press on the nearest taxel, such as those on the back of a finger, are left out.
    ///
    /// MuJoCo computes no contact between bodies that sleep or are fixed: objects that sleep keep their contacts in `held`, those
    /// of the last evaluation.
    pub fn carry(
        &self,
        model: &Model<'_>,
        data: &Data<'_>,
        sensor: &Sensor,
        held: &mut HeldContacts,
    ) -> Result<Touch, SkinError> {
        let world_from_sensor = self.world_from_sensor(data);
        let is_still = |body: usize| data.is_asleep(body) || model.is_fixed(body);
        let sleeps = |object: usize| data.is_asleep(self.objects[object].body) && is_still(self.body);
        held.0.retain(|(object, _)| sleeps(*object));
        let awake = self.engine_contacts(model, data).into_iter().filter(|(object, _)| !sleeps(*object));
        held.0.extend(awake);
        let on_sensor = held.0.iter().map(|&(object, contact)| {
            let point = Contact::new(contact.at, -contact.force).with_normal(contact.normal);
            Contact { object: object as u32, ..point }
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
