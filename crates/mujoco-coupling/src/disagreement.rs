//! Forces of a skin in mode `sense` that disagree with MuJoCo's contact.
//!
//! In mode `sense` the skin is loaded by the depth to which MuJoCo lets the bodies overlap. That depth depends on where the
//! skin is placed and on MuJoCo's soft contact, not on the weight of the object. While two bodies rest on each other,
//! MuJoCo's contact force is the force between them, so the two are compared then.

use crate::engine_contacts::EngineContact;
use crate::{Data, Kinematics, Model, Mount};
use dermis_geometry::{Mat3, Vec3};
use dermis_sensor::Sensor;
use dermis_skin::Touch;

/// Ratio of two forces up to which they agree.
const MAX_RATIO: f64 = 2.0;
/// Difference (N) of two forces up to which they agree.
const MAX_DIFFERENCE_NEWTON: f64 = 0.05;
/// Speed (m/s) along the normal up to which a contact is at rest.
const MAX_SPEED_M_PER_S: f64 = 1e-3;
/// Acceleration (m/s²) along the normal up to which a contact is at rest: a tenth of gravity.
const MAX_ACCELERATION_M_PER_S2: f64 = 1.0;

/// The force on an object at rest, of the skin and of MuJoCo's contact, which differ by more than a factor of two.
#[derive(Clone, Debug, PartialEq)]
pub struct Disagreement {
    /// Name of the object.
    pub object: String,
    /// Force (N) of the skin.
    pub skin_newton: f64,
    /// Force (N) of MuJoCo's contact.
    pub engine_newton: f64,
}

impl std::fmt::Display for Disagreement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { object, skin_newton, engine_newton } = self;
        write!(
            f,
            "in mode \"sense\" the skin reads {skin_newton:.3} N at {object}, where MuJoCo's contact carries {engine_newton:.3} N: the \
             skin is loaded by the depth to which MuJoCo lets the bodies overlap; use mode \"couple\" for forces that carry the \
             object, or \"contacts\" for the forces of MuJoCo"
        )
    }
}

fn agree(a: f64, b: f64) -> bool {
    a.max(b) <= MAX_RATIO * a.min(b) || (a - b).abs() <= MAX_DIFFERENCE_NEWTON
}

impl Mount {
    /// The first object at rest on the skin whose force disagrees with MuJoCo's contact. An object without a contact force
    /// of MuJoCo is not compared. If MuJoCo's contact also lies beside the skin, only a force of the skin that is too
    /// large disagrees.
    pub fn disagreement(
        &self,
        model: &Model<'_>,
        data: &Data<'_>,
        kinematics: &Kinematics,
        sensor: &Sensor,
        touch: &Touch,
    ) -> Option<Disagreement> {
        let contacts = self.engine_contacts(model, data);
        (0..self.objects.len()).find_map(|index| {
            let of_object: Vec<&EngineContact> =
                contacts.iter().filter(|(object, _)| *object == index).map(|(_, contact)| contact).collect();
            let engine_newton = of_object.iter().map(|contact| contact.force).sum::<Vec3>().length();
            let skin_newton = touch.on_objects.get(index)?.force.length();
            // Forces below the difference are those of a margin, or of a contact that begins.
            if engine_newton <= MAX_DIFFERENCE_NEWTON || agree(skin_newton, engine_newton) {
                return None;
            }
            let on_skin = |contact: &&EngineContact| self.lies_on_skin(kinematics, sensor, contact);
            let beside = !of_object.iter().all(on_skin);
            if beside && (skin_newton < engine_newton || !of_object.iter().any(on_skin)) {
                return None;
            }
            let at_rest = self.is_at_rest(model, data, kinematics, index, &of_object);
            at_rest.then(|| Disagreement {
                object: model.geom_name(self.objects[index].geom),
                skin_newton,
                engine_newton,
            })
        })
    }

    /// True if a contact presses on a taxel; of a sensor without taxels, if it lies within the bounds of the skin.
    fn lies_on_skin(&self, kinematics: &Kinematics, sensor: &Sensor, contact: &EngineContact) -> bool {
        let sensor_from_world = kinematics.world_from_sensor.inverse();
        let at = sensor_from_world.transform_point(contact.at);
        let normal = if sensor.taxels().is_empty() {
            let bounds = sensor.surface().bounds().padded(sensor.skin().max_depth_m());
            bounds.contains(at).then_some(Vec3::Z)
        } else {
            sensor.taxels().locate(at).map(|taxel| sensor.taxels().normals()[taxel])
        };
        normal.is_some_and(|normal| sensor_from_world.transform_vector(contact.force).dot(normal) > 0.0)
    }

    /// True if neither velocity nor acceleration of an object relative to the sensor moves a contact along its normal.
    fn is_at_rest(
        &self,
        model: &Model<'_>,
        data: &Data<'_>,
        kinematics: &Kinematics,
        index: usize,
        contacts: &[&EngineContact],
    ) -> bool {
        let pose = &kinematics.world_from_sensor;
        let sensor_from_world = Mat3::from_quat(pose.rotation).transpose();
        let velocity = &kinematics.objects[index].1;
        let along_normals = |linear: Vec3, angular: Vec3| {
            contacts.iter().fold(0.0, |largest: f64, contact| {
                let at = sensor_from_world * (contact.at - pose.translation);
                largest.max((linear + angular.cross(at)).dot(sensor_from_world * contact.normal).abs())
            })
        };
        if along_normals(velocity.linear, velocity.angular) > MAX_SPEED_M_PER_S {
            return false;
        }
        let dofs = model.dofs();
        let mut jacobian = vec![0.0; 6 * dofs];
        self.add_jacobian(data, kinematics, index, &mut jacobian);
        let mut acceleration = [0.0; 6];
        for (sum, row) in acceleration.iter_mut().zip(jacobian.chunks_exact(dofs.max(1))) {
            *sum = row.iter().zip(data.accelerations()).map(|(j, a)| j * a).sum();
        }
        let (linear, angular) = (Vec3::from_slice(&acceleration[..3]), Vec3::from_slice(&acceleration[3..]));
        along_normals(linear, angular) <= MAX_ACCELERATION_M_PER_S2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forces_agree_up_to_a_factor_of_two_and_the_smallest_difference() {
        assert!(agree(1.0, 1.9) && agree(1.9, 1.0) && agree(0.0, 0.05) && agree(0.0, 0.0));
        assert!(!agree(1.0, 2.1) && !agree(2.1, 1.0) && !agree(0.0, 0.06));
    }

    #[test]
    fn the_message_has_both_numbers_and_the_remedy() {
        let found = Disagreement { object: "geom 'cube'".into(), skin_newton: 152.03, engine_newton: 0.981 };
        let text = found.to_string();
        assert!(
            ["152.030 N at geom 'cube'", "0.981 N", "\"couple\"", "\"contacts\""]
                .iter()
                .all(|part| text.contains(part))
        );
    }
}
