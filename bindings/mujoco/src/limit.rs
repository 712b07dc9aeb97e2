//! How long a step may be with the contacts of the moment.

use crate::PluginError;
use crate::data::Data;
use crate::model::Model;
use crate::mount::{Moment, Mount, refuse_longer};
use dermis::geometry::{MassProperties, Mat3, Pose, Vec3};
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
                facets().for_each(|facet| loaded.add(&facet.tangent, &moment.world_from_sensor));
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

/// How easily a body is moved and turned (1/kg, 1/(kg m²)), and where its middle is, in the sensor's frame.
fn ease(mass: &MassProperties, data: &Data<'_>, body: usize, sensor_from_world: &Pose) -> Ease {
    let center = data.world_from_body(body).transform_point(mass.center_m);
    (1.0 / mass.mass_kg, 1.0 / least_inertia(&mass.inertia_kg_m2), sensor_from_world.transform_point(center))
}

/// At most the least principal inertia: the trace of the inverse is at least its greatest eigenvalue.
fn least_inertia(inertia: &Mat3) -> f64 {
    let inverse = inertia.inverse();
    1.0 / (inverse.x_axis.x + inverse.y_axis.y + inverse.z_axis.z)
}

/// Inverse mass (1/kg), inverse inertia (1/(kg m²)) and centre of mass (m) of a body: how easily it moves.
type Ease = (f64, f64, Vec3);

fn bound(mount: &Mount, data: &Data<'_>, moment: &Moment, touch: &Touch) -> (f64, f64) {
    let sensor_from_world = moment.world_from_sensor.inverse();
    let own = mount.mass.as_ref().map(|mass| ease(mass, data, mount.body, &sensor_from_world));
    let (mut omega_squared, mut gamma) = (0.0, 0.0);
    let mut other: Option<(u32, Option<Ease>)> = None;
    for facet in &touch.facets {
        let (_, touched) = match other {
            Some((object, ease)) if object == facet.object => (object, ease),
            _ => {
                let touchable = &mount.touchables[facet.object as usize];
                let eased = touchable.mass.as_ref();
                let eased = eased.map(|mass| ease(mass, data, touchable.body, &sensor_from_world));
                *other.insert((facet.object, eased))
            }
        };
        let tangent = &facet.tangent;
        for (per_mass, per_inertia, center) in [own, touched].into_iter().flatten() {
            let weight = per_mass + (tangent.at - center).length_squared() * per_inertia;
            omega_squared += weight * tangent.stiffness_normal.max(tangent.stiffness_tangential);
            gamma += weight * tangent.damping_normal.max(tangent.damping_tangential);
        }
    }
    (omega_squared, gamma)
}
