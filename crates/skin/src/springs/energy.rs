//! The energy of a skin of springs.

use super::{Law, MIN_COSINE, Springs};
use crate::friction_lanes::get;
use crate::{ContactEnergy, Friction, Touch};
use dermis_geometry::{Twist, Vec3, Wrench};

impl Springs {
    /// [`crate::Skin::contact_energy`]: the springs hold ∫ f dd of each point, the bristles ½ σ₀ z².
    pub(super) fn energy(&self, touch: &Touch, velocities: &[Twist]) -> ContactEnergy {
        let Some(points) = touch.facets.points().filter(|points| !points.sites.is_empty()) else {
            let none = touch.facets.is_empty().then_some(0.0);
            return ContactEnergy { elastic_joule: none, ..ContactEnergy::of_facets(touch) };
        };
        let objects = touch.on_objects.len();
        let (mut friction, mut damping) = (vec![Wrench::ZERO; objects], vec![Wrench::ZERO; objects]);
        let (mut elastic_joule, mut bristles_joule) = (0.0, 0.0);
        for block in &points.blocks {
            for lane in 0..block.count {
                let (object, site) = (block.object[lane] as usize, &self.sites[block.site[lane] as usize]);
                let (normal, at, share) = (get(&block.normal, lane), get(&block.at, lane), block.share[lane]);
                let (newton, joule) =
                    self.parameters.elasticity.force_and_energy(block.depth_m[lane], share, site.area_m2);
                elastic_joule += joule;
                if let Friction::Lugre(lugre) = points.frictions.of(block.object[lane]) {
                    let stretched = get(&block.load.deflection_m, lane).length_squared();
                    bristles_joule += 0.5 * lugre.stiffness_newton_per_m * share * stretched;
                }
                friction[object] += Wrench::from_force_at(get(&block.load.force, lane), at);
                let damped = -block.damping[lane] * velocities[object].at(at).dot(normal);
                if damped != 0.0 {
                    let lever = match self.parameters.law {
                        Law::Conservative => site.normal.dot(normal).max(MIN_COSINE).recip(),
                        Law::Paper => 1.0,
                    };
                    // A point does not pull: damping takes at most what the spring gives.
                    let force: Vec3 = normal * -damped.max(-newton * lever);
                    damping[object] += Wrench::from_force_at(force, at);
                }
            }
        }
        ContactEnergy { elastic_joule: Some(elastic_joule), bristles_joule, friction, damping }
    }
}
