//! Checks the time step against the stability limit of the current contacts.

use crate::CouplingError;
use crate::data::Data;
use crate::model::Model;
use crate::mount::{Kinematics, Mount, refuse_longer};
use dermis_geometry::{MassProperties, Pose, Vec3};
use dermis_skin::{Support, Touch};
use dermis_world::{BodyStiffness, largest_stable_step_s};

/// Checks the time step while contacts change.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepLimit {
    /// The largest bounds of ω² (1/s²) and γ (1/s) that were found stable.
    passed: (f64, f64),
}

/// Growth factor of the bound after which the eigenvalues are computed again.
const GROWTH: f64 = 1.05;

impl StepLimit {
    /// Refuses a time step that is unstable with these contacts.
    ///
    /// The bound λ_max(M⁻¹K) ≤ Σ k (1/m + r²/I_min) is cheap and usually sufficient. If it is not, the eigenvalues are
    /// computed, once for every 5 % that the bound grows.
    pub fn check(
        &mut self,
        mount: &Mount,
        model: &Model<'_>,
        data: &Data<'_>,
        kinematics: &Kinematics,
        touch: &Touch,
    ) -> Result<(), CouplingError> {
        let bound = bound(mount, data, kinematics, touch);
        let passed = bound.0 <= self.passed.0 * GROWTH && bound.1 <= self.passed.1 * GROWTH;
        if passed || kinematics.step_s <= largest_stable_step_s(bound.0, bound.1) {
            return Ok(());
        }
        for (index, object_geom) in mount.objects.iter().enumerate() {
            let supports = || touch.facets.supports().filter(|(object, _)| *object as usize == index);
            if supports().next().is_none() {
                continue;
            }
            let (mut omega_squared, mut gamma) = (0.0, 0.0);
            for (mass, body) in [(&object_geom.mass, object_geom.body), (&mount.mass, mount.body)] {
                let Some(mass) = mass else { continue };
                let mut loaded = BodyStiffness::new(mass, &data.world_from_body(body));
                supports().for_each(|(_, support)| loaded.add(&support, &kinematics.world_from_sensor));
                let (w, g) = loaded.greatest();
                omega_squared += w;
                gamma += g;
            }
            let limit_s = largest_stable_step_s(omega_squared, gamma);
            refuse_longer(kinematics.step_s, limit_s, || model.geom_name(object_geom.geom))?;
        }
        self.passed = (self.passed.0.max(bound.0), self.passed.1.max(bound.1));
        Ok(())
    }
}

/// Inverse mass and inertia of a body, and its centre of mass.
#[derive(Clone, Copy)]
struct Mobility {
    /// Inverse mass (1/kg).
    linear: f64,
    /// Upper bound of the inverse inertia (1/(kg m²)).
    angular: f64,
    center_in_sensor: Vec3,
}

impl Mobility {
    fn of(mass: &MassProperties, data: &Data<'_>, body: usize, sensor_from_world: &Pose) -> Self {
        let center = data.world_from_body(body).transform_point(mass.center_m);
        // The trace of the inverse is an upper bound of its largest eigenvalue.
        let inverse = mass.inertia_kg_m2.inverse();
        Self {
            linear: 1.0 / mass.mass_kg,
            angular: inverse.x_axis.x + inverse.y_axis.y + inverse.z_axis.z,
            center_in_sensor: sensor_from_world.transform_point(center),
        }
    }
}

fn bound(mount: &Mount, data: &Data<'_>, kinematics: &Kinematics, touch: &Touch) -> (f64, f64) {
    let sensor_from_world = kinematics.world_from_sensor.inverse();
    let own = mount.mass.as_ref().map(|mass| Mobility::of(mass, data, mount.body, &sensor_from_world));
    let (mut omega_squared, mut gamma) = (0.0, 0.0);
    // Facets of one object are usually consecutive.
    let (mut object, mut of_object) = (u32::MAX, None);
    for (touched, Support { at, tangent, .. }) in touch.facets.supports() {
        if touched != object {
            object = touched;
            let object_geom = &mount.objects[object as usize];
            of_object =
                object_geom.mass.as_ref().map(|mass| Mobility::of(mass, data, object_geom.body, &sensor_from_world));
        }
        for mobility in [own, of_object].into_iter().flatten() {
            let weight = mobility.linear + (at - mobility.center_in_sensor).length_squared() * mobility.angular;
            omega_squared += weight * tangent.stiffness_normal.max(tangent.stiffness_tangential);
            gamma += weight * tangent.damping_normal.max(tangent.damping_tangential);
        }
    }
    (omega_squared, gamma)
}
