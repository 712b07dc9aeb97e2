//! Features of a tactile image for controllers: total, centroid, area, principal axes, kind of contact.
//!
//! The functions take values and the positions at which they were measured, so they apply to taxel arrays and optical
//! images alike.

mod grasp;

pub use grasp::{GraspFeatures, GraspRates, SlipOnset};

use dermis_geometry::{Vec2, Vec3, Wrench};
use serde::{Deserialize, Serialize};

/// Moments of a tactile image, in the plane of the sensor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Features {
    /// Sum of the values (N, or the unit of the image).
    pub total: f64,
    /// Centroid of the values (m).
    pub centroid_m: Vec2,
    /// Second moments about the centroid (m²): xx, xy, yy.
    pub covariance_m2: [f64; 3],
    /// Principal axis of the larger spread: a unit vector with x ≥ 0.
    pub principal: Vec2,
    /// Direction of the principal axis from +x towards +y (rad), in (−π/2, π/2]: Kappassov 2020, eq. (3), with both
    /// components of U₁. The printed quotient by a vector denotes the angle to it.
    pub direction_rad: f64,
    /// √(1 − λ₂/λ₁): 0 for a round contact, 1 for a line.
    pub eccentricity: f64,
    /// Area of the cells in contact (m²).
    pub contact_area_m2: f64,
}

/// Kind of contact (Kappassov 2020, section IV).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContactKind {
    /// No contact.
    None,
    /// Length and width are similar.
    Point,
    /// Longer than wide, with a direction.
    Edge,
}

impl Features {
    /// Computes features from values, their positions (m) and the areas of their cells (m²). Values at or below
    /// `threshold` count as no contact. Returns `None` without contact. The lists should have the same length; surplus
    /// entries are ignored.
    pub fn of(values: &[f64], places_m: &[Vec2], areas_m2: &[f64], threshold: f64) -> Option<Self> {
        let active = || values.iter().zip(places_m).filter(move |(value, _)| **value > threshold);
        let total: f64 = active().map(|(value, _)| value).sum();
        if !(total > 0.0 && total.is_finite()) {
            return None;
        }
        let centroid_m = active().map(|(value, place)| *place * *value).sum::<Vec2>() / total;
        let moment =
            |f: fn(Vec2) -> f64| active().map(|(value, place)| value * f(*place - centroid_m)).sum::<f64>() / total;
        let covariance_m2 = [moment(|d| d.x * d.x), moment(|d| d.x * d.y), moment(|d| d.y * d.y)];
        let [xx, xy, yy] = covariance_m2;
        // The eigenvector of the larger eigenvalue has half the angle of (xx − yy, 2xy).
        let direction_rad = 0.5 * (2.0 * xy).atan2(xx - yy);
        let half_gap = (0.5 * (xx - yy)).hypot(xy);
        let (larger, smaller) = (0.5 * (xx + yy) + half_gap, (0.5 * (xx + yy) - half_gap).max(0.0));
        let areas = values.iter().zip(areas_m2).filter(|(value, _)| **value > threshold);
        Some(Self {
            total,
            centroid_m,
            covariance_m2,
            principal: Vec2::from_angle(direction_rad),
            direction_rad,
            eccentricity: if larger > 0.0 { (1.0 - smaller / larger).max(0.0).sqrt() } else { 0.0 },
            contact_area_m2: areas.map(|(_, area)| area).sum(),
        })
    }

    /// Standard deviations along the principal axes (m), the larger first: a bar of length l has l/√12.
    pub fn spreads_m(&self) -> [f64; 2] {
        let [xx, xy, yy] = self.covariance_m2;
        let (mean, half_gap) = (0.5 * (xx + yy), (0.5 * (xx - yy)).hypot(xy));
        [(mean + half_gap).sqrt(), (mean - half_gap).max(0.0).sqrt()]
    }

    /// Point or edge: an edge is at least `ratio` times as long as wide (2 is a good default).
    pub fn kind(&self, ratio: f64) -> ContactKind {
        let [long, short] = self.spreads_m();
        if long > 0.0 && long >= ratio * short { ContactKind::Edge } else { ContactKind::Point }
    }
}

/// Point, edge or no contact.
pub fn classify(features: Option<&Features>, ratio: f64) -> ContactKind {
    features.map_or(ContactKind::None, |features| features.kind(ratio))
}

/// The point on z = 0 at which a single normal force gives the same wrench (m): (−τ_y, τ_x)/f_z about the origin.
/// `None` without a normal force. Kappassov et al. 2016 call it the zero-moment point.
pub fn center_of_pressure_m(on_sensor: &Wrench) -> Option<Vec2> {
    let Vec3 { z: normal, .. } = on_sensor.force;
    (normal != 0.0).then(|| Vec2::new(-on_sensor.torque.y, on_sensor.torque.x) / normal)
}

/// Angle between two undirected axes (rad), from 0 to π/2.
pub fn angle_between_axes(a_rad: f64, b_rad: f64) -> f64 {
    let apart = (a_rad - b_rad).rem_euclid(std::f64::consts::PI);
    apart.min(std::f64::consts::PI - apart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{FRAC_PI_2, PI};

    /// A grid of n × n cells over a square of side 1.
    fn grid(n: usize) -> Vec<Vec2> {
        let at = |i: usize| (i as f64 + 0.5) / n as f64 - 0.5;
        (0..n * n).map(|i| Vec2::new(at(i % n), at(i / n))).collect()
    }

    /// A bar l × w at an angle φ has variances l²/12 and w²/12 along its axes, so eccentricity √(1 − w²/l²) and
    /// direction φ; cells of side h add h²/12 and a jagged edge.
    #[test]
    fn a_bar_has_its_moments() {
        let (l, w, middle) = (0.5, 0.2, Vec2::new(0.05, -0.1));
        for n in [100, 400] {
            let places = grid(n);
            let areas = vec![1.0 / (n * n) as f64; n * n];
            for degrees in (-85..=90).step_by(25) {
                let angle = f64::from(degrees).to_radians();
                let inside = |p: &Vec2| {
                    let q = Vec2::from_angle(-angle).rotate(*p - middle);
                    if q.x.abs() < l / 2.0 && q.y.abs() < w / 2.0 { 3.0 } else { 0.0 }
                };
                let values: Vec<f64> = places.iter().map(inside).collect();
                let features = Features::of(&values, &places, &areas, 0.0).unwrap();
                let tolerance = 2.0 / n as f64;
                assert!((features.contact_area_m2 - l * w).abs() < tolerance);
                assert!((features.centroid_m - middle).length() < tolerance);
                assert!(angle_between_axes(features.direction_rad, angle) < tolerance, "{degrees}°");
                assert!(angle_between_axes(features.principal.to_angle(), angle) < tolerance);
                assert!((features.eccentricity - (1.0 - (w / l).powi(2)).sqrt()).abs() < tolerance);
                let [long, short] = features.spreads_m();
                assert!((long - l / 12f64.sqrt()).abs() < tolerance && (short - w / 12f64.sqrt()).abs() < tolerance);
                assert_eq!(features.kind(2.0), ContactKind::Edge);
            }
        }
    }

    #[test]
    fn a_disc_is_a_point_and_nothing_is_nothing() {
        let places = grid(101);
        let areas = vec![1.0; places.len()];
        let values: Vec<f64> = places.iter().map(|p| (0.09 - p.length_squared()).max(0.0)).collect();
        let features = Features::of(&values, &places, &areas, 0.0).unwrap();
        assert!(features.eccentricity < 0.01 && features.centroid_m.length() < 1e-12);
        assert_eq!(features.kind(2.0), ContactKind::Point);
        assert!(Features::of(&vec![0.0; places.len()], &places, &areas, 0.0).is_none());
        assert!(Features::of(&[f64::NAN], &places, &areas, 0.0).is_none());
        assert_eq!(classify(None, 2.0), ContactKind::None);
    }

    /// −F ẑ at p has the torque p × (−F ẑ) = (−p_y, p_x) F.
    #[test]
    fn the_centre_of_pressure_is_where_one_force_acts() {
        let wrench = Wrench::from_force_at(Vec3::new(0.3, 0.1, -4.0), Vec3::new(2e-3, -5e-3, 0.0));
        let center = center_of_pressure_m(&wrench).unwrap();
        assert!((center - Vec2::new(2e-3, -5e-3)).length() < 1e-15, "{center}");
        assert!(center_of_pressure_m(&Wrench::ZERO).is_none());
    }

    #[test]
    fn axes_have_no_head() {
        assert!((angle_between_axes(0.1, PI - 0.1) - 0.2).abs() < 1e-12);
        assert!((angle_between_axes(0.0, FRAC_PI_2) - FRAC_PI_2).abs() < 1e-12);
        assert!(angle_between_axes(-3.0, PI - 3.0) < 1e-12);
    }
}
