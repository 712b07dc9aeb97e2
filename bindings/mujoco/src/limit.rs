//! How long a step may be with the contacts of the moment.

use crate::PluginError;
use crate::data::Data;
use crate::model::Model;
use crate::mount::{Moment, Mount, refuse_longer};
use dermis::geometry::{MassProperties, Pose, Vec3};
use dermis::skin::Touch;
use dermis::world::{Loaded, largest_stable_step_s};

/// Watches the step while contacts come and go.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limit {
    /// The greatest bound of ω² (1/s²) and γ (1/s) whose contacts were found stable.
    passed: (f64, f64),
}

/// By how much the bound must grow before the full matrices are built again.
const GROWTH: f64 = 1.05;

impl Limit {
    /// Refuses a step that the contacts make unstable.
    ///
    /// λ_max(M⁻¹K) ≤ Σ k (1/m + r²/I_min) costs little and mostly suffices. Where it does not, the eigenvalues are computed, once
    /// for every twentieth that it grows.
    pub fn check(
        &mut self,
        mount: &Mount,
        model: &Model<'_>,
        data: &Data<'_>,
        moment: &Moment,
        touch: &Touch,
    ) -> Result<(), PluginError> {
        let bound = bound(mount, data, moment, touch);
        let passed = bound.0 <= self.passed.0 * GROWTH && bound.1 <= self.passed.1 * GROWTH;
        if passed || moment.step_s <= largest_stable_step_s(bound.0, bound.1) {
            return Ok(());
        }
        for (index, touchable) in mount.touchables.iter().enumerate() {
            let facets = || touch.facets.iter().filter(|facet| facet.object as usize == index);
            if facets().next().is_none() {
                continue;
            }
            let (mut omega_squared, mut gamma) = (0.0, 0.0);
            for (mass, body) in [(&touchable.mass, touchable.body), (&mount.mass, mount.body)] {
                let Some(mass) = mass else { continue };
                let mut loaded = Loaded::new(mass, &data.world_from_body(body));
                facets().for_each(|facet| loaded.add(&facet.support(), &moment.world_from_sensor));
                let (w, g) = loaded.greatest();
                omega_squared += w;
                gamma += g;
            }
            let limit_s = largest_stable_step_s(omega_squared, gamma);
            refuse_longer(moment.step_s, limit_s, || model.geom_name(touchable.geom))?;
        }
        self.passed = (self.passed.0.max(bound.0), self.passed.1.max(bound.1));
        Ok(())
    }
}

/// How easily a body is moved and turned, and where its middle is.
#[derive(Clone, Copy)]
struct Ease {
    /// 1/kg.
    linear: f64,
    /// 1/(kg m²), at least.
    angular: f64,
    center_in_sensor: Vec3,
}

impl Ease {
    fn of(mass: &MassProperties, data: &Data<'_>, body: usize, sensor_from_world: &Pose) -> Self {
        let center = data.world_from_body(body).transform_point(mass.center_m);
        // The trace of the inverse is at least its greatest eigenvalue.
        let inverse = mass.inertia_kg_m2.inverse();
        Self {
            linear: 1.0 / mass.mass_kg,
            angular: inverse.x_axis.x + inverse.y_axis.y + inverse.z_axis.z,
            center_in_sensor: sensor_from_world.transform_point(center),
        }
    }
}

fn bound(mount: &Mount, data: &Data<'_>, moment: &Moment, touch: &Touch) -> (f64, f64) {
    let sensor_from_world = moment.world_from_sensor.inverse();
    let own = mount.mass.as_ref().map(|mass| Ease::of(mass, data, mount.body, &sensor_from_world));
    let (mut omega_squared, mut gamma) = (0.0, 0.0);
    // Facets of one object mostly follow each other.
    let (mut object, mut touched) = (u32::MAX, None);
    for facet in &touch.facets {
        if facet.object != object {
            object = facet.object;
            let touchable = &mount.touchables[object as usize];
            touched = touchable.mass.as_ref().map(|mass| Ease::of(mass, data, touchable.body, &sensor_from_world));
        }
        let (at, tangent) = (facet.at(), &facet.tangent);
        for ease in [own, touched].into_iter().flatten() {
            let weight = ease.linear + (at - ease.center_in_sensor).length_squared() * ease.angular;
            omega_squared += weight * tangent.stiffness_normal.max(tangent.stiffness_tangential);
            gamma += weight * tangent.damping_normal.max(tangent.damping_tangential);
        }
    }
    (omega_squared, gamma)
}
