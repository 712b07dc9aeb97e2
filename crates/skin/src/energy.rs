//! The energy of a contact: what a skin stores, and the loads that dissipate.

use crate::{Facet, Load, Touch};
use dermis_geometry::{Twist, Wrench};

/// The energy of a skin in contact, and its loads by cause. The load of an object on the sensor is the sum of an elastic
/// one, which stores energy, of `damping` and of `friction`.
///
/// ```
/// use dermis_skin::{Motion, Object, Skin, Target};
/// # use dermis_skin::{Damping, Elasticity, Friction, Law, Site, SpringParameters, Springs};
/// # let parameters = SpringParameters { elasticity: Elasticity::PerTexel(100.0), damping: Damping::PerTexel(0.0), max_penetration_m: 4e-3, law: Law::Conservative, friction: Friction::None };
/// let skin = Springs::new(Site::grid(1, 1, 2e-3, 1), parameters)?; // one spring of 100 N/m
/// let plate = Object::new(dermis_geometry::shapes::cuboid(dermis_geometry::Vec3::splat(0.02))?);
/// let pose = dermis_geometry::Pose::from_translation(dermis_geometry::Vec3::new(0.0, 0.0, 9e-3)); // 1 mm deep
/// let targets = [Target::at_rest(&plate, pose)];
/// let (touch, _) = skin.touch(&skin.rest(), &Motion { targets: &targets }, 1e-3)?;
/// let energy = skin.contact_energy(&touch, &[targets[0].velocity]);
/// assert!((energy.elastic_joule.unwrap() - 0.5 * 100.0 * 1e-6).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactEnergy {
    /// Energy (J) of the deformation along the normals; `None` if the skin does not compute it.
    pub elastic_joule: Option<f64>,
    /// Energy (J) of the bristles of friction.
    pub bristles_joule: f64,
    /// Friction of each object on the sensor, about its origin.
    pub friction: Vec<Wrench>,
    /// Load of each object on the sensor by the damping of the skin, about its origin; zero if the skin does not compute
    /// its energy.
    pub damping: Vec<Wrench>,
}

impl ContactEnergy {
    /// The friction of the facets of a touch; no other part is known.
    pub(crate) fn of_facets(touch: &Touch) -> Self {
        let objects = touch.on_objects.len();
        let mut friction = vec![Wrench::ZERO; objects];
        for facet in &touch.facets {
            if let Some(load) = friction.get_mut(facet.object as usize) {
                *load += facet.friction_on_sensor();
            }
        }
        Self { elastic_joule: None, bristles_joule: 0.0, friction, damping: vec![Wrench::ZERO; objects] }
    }

    /// Power (W) of friction and of damping while the objects move at these velocities relative to the sensor.
    pub fn dissipated_watt(&self, velocities: &[Twist]) -> [f64; 2] {
        let power = |loads: &[Wrench]| loads.iter().zip(velocities).map(|(load, velocity)| load.power(velocity)).sum();
        [power(&self.friction), power(&self.damping)]
    }
}

impl Facet {
    /// The part of [`Self::wrench_on_sensor`] in the plane of the facet.
    fn friction_on_sensor(&self) -> Wrench {
        match &self.load {
            Load::Point { at, force, .. } => Wrench::from_force_at(force.reject_from_normalized(self.normal), *at),
            Load::Polygon(corners) => {
                let shear = corners.iter().map(|corner| crate::Corner { pressure_pa: 0.0, ..*corner }).collect();
                Self { load: Load::Polygon(shear), ..self.clone() }.wrench_on_sensor()
            }
        }
    }
}
