//! Contact loads: the result of every skin and the input of every transducer.

use crate::gel::Energy;
use crate::layer::MaterialMotion;
use crate::{ContactPoints, Facets, SurfaceField, Warning};
use dermis_geometry::{Vec3, Wrench};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Contact loads at the end of a step, in the sensor's frame.
///
/// ```
/// use dermis_skin::{Motion, Object, Skin, Target};
/// # use dermis_skin::{Imprint, ImprintParameters};
/// # let (size_m, center_m, cell_m, thickness_m) = ([0.01; 2], [0.0; 2], 0.5e-3, 2e-3);
/// # let (stiffness_pa_per_m, narrow_m, wide_m, bulge, rest_heights_m) = (1e8, 1e-3, 2e-3, 0.2, None);
/// # let parameters = ImprintParameters { size_m, center_m, cell_m, thickness_m, stiffness_pa_per_m, narrow_m, wide_m, bulge, rest_heights_m };
/// # let ball = Object::new(dermis_geometry::shapes::sphere(4e-3, 0.5e-3)?);
/// # let pose = dermis_geometry::Pose::from_translation(dermis_geometry::Vec3::new(0.0, 0.0, 3.5e-3));
/// let skin = Imprint::new(parameters)?; // or any other skin
/// let targets = [Target::at_rest(&ball, pose)];
/// let (touch, _) = skin.touch(&skin.rest(), &Motion { targets: &targets }, 1e-3)?;
/// assert!(touch.on_sensor.force.z < 0.0); // into the skin
/// assert!((touch.on_objects[0].force + touch.on_sensor.force).length() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Touch {
    /// Contact patches, in an order that depends only on the input.
    pub facets: Facets,
    /// Wrench on the sensor, about its origin.
    pub on_sensor: Wrench,
    /// Wrench on each object of the motion, about the **sensor's** origin; their sum is −`on_sensor`.
    pub on_objects: Vec<Wrench>,
    /// Number of saturated facets.
    pub saturated: usize,
    /// Displacement (m) of the skin's surface, if the skin computes it.
    pub surface: Option<SurfaceField>,
    /// Stress vector (Pa) on the base under the skin, if the skin computes it.
    pub base: Option<SurfaceField>,
    /// Motion of the material at the probes of a gel ([`crate::Gel::with_probes`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<MaterialMotion>,
    /// Kinetic and strain energy, if the skin computes them; their ratio measures the distance from static equilibrium.
    #[serde(default)]
    pub energy: Option<Energy>,
    /// Exceeded limits of the model.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// A contact patch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facet {
    /// Index of the object in the motion.
    pub object: u32,
    /// Contact normal: unit, out of the sensor into the object.
    pub normal: Vec3,
    /// Depth (m) of the object in the skin.
    pub depth_m: f64,
    /// True if the indentation exceeds the range of the skin; the load is then a lower bound.
    pub saturated: bool,
    /// Load of the patch.
    pub load: Load,
    /// Derivatives of the load with respect to the motion of the object.
    pub tangent: Tangent,
}

/// The load of a facet, on the sensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Load {
    /// A point force that represents a small area.
    Point {
        /// Point of application (m).
        at: Vec3,
        /// The point of the **undeformed** skin that carries the force (m); it determines the taxel.
        anchor: Vec3,
        /// Area (m²).
        area_m2: f64,
        /// Force on the sensor (N).
        force: Vec3,
    },
    /// A convex plane polygon whose pressure and shear vary linearly between its corners.
    Polygon(Vec<Corner>),
}

/// A corner of a polygon facet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Corner {
    /// Position (m).
    pub at: Vec3,
    /// Pressure (Pa), positive in compression.
    pub pressure_pa: f64,
    /// Shear traction on the sensor (Pa), in the contact plane.
    pub shear_pa: Vec3,
}

/// Diagonal blocks of the tangent stiffness and damping at a contact patch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tangent {
    /// Normal stiffness (N/m).
    pub stiffness_normal: f64,
    /// Stiffness in the contact plane (N/m).
    pub stiffness_tangential: f64,
    /// Normal damping (N s/m).
    pub damping_normal: f64,
    /// Damping in the contact plane (N s/m).
    pub damping_tangential: f64,
}

/// A contact point with its stiffness and damping.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Support {
    /// Position (m).
    pub at: Vec3,
    /// Contact normal.
    pub normal: Vec3,
    /// Stiffness and damping.
    pub tangent: Tangent,
}

impl Facet {
    /// Load on the sensor, about its origin.
    #[inline]
    pub fn wrench_on_sensor(&self) -> Wrench {
        match &self.load {
            Load::Point { at, force, .. } => Wrench::from_force_at(*force, *at),
            Load::Polygon(corners) => polygon_wrench(corners, self.normal),
        }
    }

    /// Force on the sensor (N).
    #[inline]
    pub fn force_on_sensor(&self) -> Vec3 {
        match &self.load {
            Load::Point { force, .. } => *force,
            Load::Polygon(corners) => polygon_wrench(corners, self.normal).force,
        }
    }

    /// Position (m): the point, or the centroid of the polygon.
    #[inline]
    pub fn at(&self) -> Vec3 {
        match &self.load {
            Load::Point { at, .. } => *at,
            Load::Polygon(corners) => middle(corners),
        }
    }

    /// Position, normal, stiffness and damping of the patch.
    #[inline]
    pub fn support(&self) -> Support {
        Support { at: self.at(), normal: self.normal, tangent: self.tangent }
    }

    /// Normal force (N), positive in compression.
    pub fn normal_force(&self) -> f64 {
        -self.force_on_sensor().dot(self.normal)
    }

    /// Area (m²).
    pub fn area_m2(&self) -> f64 {
        match &self.load {
            Load::Point { area_m2, .. } => *area_m2,
            Load::Polygon(corners) => fan(corners).map(|(area, _)| area).sum(),
        }
    }
}

/// Splits a polygon into triangles from its first corner: area (m²) and corners of each.
fn fan(corners: &[Corner]) -> impl Iterator<Item = (f64, [Corner; 3])> + '_ {
    (2..corners.len()).map(|i| {
        let [a, b, c] = [corners[0], corners[i - 1], corners[i]];
        (0.5 * (b.at - a.at).cross(c.at - a.at).length(), [a, b, c])
    })
}

/// Centroid of a polygon (m).
fn middle(corners: &[Corner]) -> Vec3 {
    let (mut area_m2, mut moment) = (0.0, Vec3::ZERO);
    for (part_m2, [a, b, c]) in fan(corners) {
        area_m2 += part_m2;
        moment += (a.at + b.at + c.at) * (part_m2 / 3.0);
    }
    if area_m2 > 0.0 { moment / area_m2 } else { corners.first().map_or(Vec3::ZERO, |corner| corner.at) }
}

/// ∫ t dA and ∫ r × t dA for a traction t linear over each triangle. The integrand of the torque is quadratic, so the
/// three midpoints of the edges, each with a third of the area, integrate it exactly.
fn polygon_wrench(corners: &[Corner], normal: Vec3) -> Wrench {
    let mut sum = Wrench::ZERO;
    for (area, triangle) in fan(corners) {
        let traction = triangle.map(|corner| corner.shear_pa - normal * corner.pressure_pa);
        for (i, j) in [(0, 1), (1, 2), (2, 0)] {
            let middle = (triangle[i].at + triangle[j].at) * 0.5;
            sum += Wrench::from_force_at((traction[i] + traction[j]) * (0.5 * area / 3.0), middle);
        }
    }
    sum
}

impl Touch {
    /// Sums the facets in their order for a motion of `objects` objects.
    pub fn from_facets(facets: Vec<Facet>, objects: usize) -> Self {
        let mut touch = Self { on_objects: vec![Wrench::ZERO; objects], ..Self::default() };
        for facet in &facets {
            let wrench = facet.wrench_on_sensor();
            touch.on_sensor += wrench;
            touch.saturated += usize::from(facet.saturated);
            if objects > 1 {
                touch.on_objects[facet.object as usize] += -wrench;
            }
        }
        // The negative of a sum equals the sum of the negatives bit for bit.
        if let [only] = &mut touch.on_objects[..] {
            *only += -touch.on_sensor;
        }
        touch.facets = facets.into();
        touch
    }

    /// Sums the loads of contact points for a motion of `objects` objects.
    pub(crate) fn from_points(points: Arc<ContactPoints>, objects: usize) -> Self {
        let loads = points.loads_on_sensor(objects);
        Self {
            on_sensor: loads.iter().fold(Wrench::ZERO, |sum, load| sum + *load),
            on_objects: loads.into_iter().map(|load| -load).collect(),
            saturated: points.saturated(),
            facets: points.into(),
            ..Self::default()
        }
    }

    /// The same touch with the sums of its facets computed again.
    pub(crate) fn resummed(mut self) -> Self {
        let facets = std::mem::take(self.facets.list_mut());
        let sums = Self::from_facets(facets, self.on_objects.len());
        Self { facets: sums.facets, on_sensor: sums.on_sensor, on_objects: sums.on_objects, ..self }
    }

    /// The warnings, and one for saturated facets: what every interface reports beside the numbers of a touch.
    pub fn all_warnings(&self) -> impl Iterator<Item = Warning> + '_ {
        self.warnings.iter().cloned().chain(Warning::saturated(self.saturated))
    }

    /// The texts of [`Touch::all_warnings`].
    pub fn warning_texts(&self) -> Vec<String> {
        self.all_warnings().map(|warning| warning.to_string()).collect()
    }

    /// Contact area (m²): of a hydroelastic skin that of the contact surface, with the sides of an object that lie in the skin.
    pub fn area_m2(&self) -> f64 {
        self.facets.iter().map(Facet::area_m2).sum()
    }

    /// Maximum depth (m).
    pub fn max_depth_m(&self) -> f64 {
        self.facets.iter().map(|facet| facet.depth_m).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit square in z = 0 under p = 2 + 3x: force −(2 + 1.5) along z, and ∫ r × t with t = −p ẑ is
    /// (−∫ y p, ∫ x p, 0) = (−1.75, 2, 0).
    #[test]
    fn polygon_integrals_are_exact() {
        let corner = |x: f64, y: f64| Corner {
            at: Vec3::new(x, y, 0.0),
            pressure_pa: 2.0 + 3.0 * x,
            shear_pa: Vec3::new(0.0, 0.5, 0.0),
        };
        let facet = Facet {
            object: 0,
            normal: Vec3::Z,
            depth_m: 0.0,
            saturated: false,
            load: Load::Polygon(vec![corner(0.0, 0.0), corner(1.0, 0.0), corner(1.0, 1.0), corner(0.0, 1.0)]),
            tangent: Tangent::default(),
        };
        let wrench = facet.wrench_on_sensor();
        assert!((wrench.force - Vec3::new(0.0, 0.5, -3.5)).length() < 1e-14);
        assert!((wrench.torque - Vec3::new(-1.75, 2.0, 0.25)).length() < 1e-14, "{}", wrench.torque);
        assert!((facet.area_m2() - 1.0).abs() < 1e-15);
    }
}
