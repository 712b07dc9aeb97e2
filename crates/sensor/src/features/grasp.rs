//! Features for learning grasp stability.

use super::Features;
use dermis_geometry::{Vec2, Vec3};
use serde::{Deserialize, Serialize};

/// Features of a grasp from one sensor at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraspFeatures {
    /// Sum of the normal forces (N).
    pub normal_newton: f64,
    /// Sum of the tangential forces (N), in the plane of the sensor; zero for a sensor without shear.
    pub shear_newton: Vec2,
    /// First moments of the normal forces about the sensor's origin (N m): Σ f x, Σ f y.
    pub first_moments_newton_m: Vec2,
    /// Centroid of the normal forces (m); the origin without contact.
    pub centroid_m: Vec2,
    /// Second moments about the centroid (m²): xx, xy, yy.
    pub covariance_m2: [f64; 3],
    /// Torque about the normal at the centroid (N m).
    pub twist_newton_m: f64,
    /// Area of the taxels in contact (m²).
    pub contact_area_m2: f64,
}

/// Rates of change of grasp features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraspRates {
    /// Rate of the normal force (N/s).
    pub normal_newton_per_s: f64,
    /// Rate of the tangential force (N/s).
    pub shear_newton_per_s: Vec2,
    /// Velocity of the centroid (m/s): the speed at which the contact moves over the sensor.
    pub centroid_m_per_s: Vec2,
    /// Rate of the spread, tr(covariance) (m²/s).
    pub spread_m2_per_s: f64,
    /// Rate of the contact area (m²/s).
    pub contact_area_m2_per_s: f64,
}

/// Criteria for the onset of slip. Any one suffices; infinity disables a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlipOnset {
    /// Maximum ratio of tangential to normal force: a fraction of the friction coefficient.
    pub shear_ratio: f64,
    /// Speed of the centroid (m/s).
    pub centroid_m_per_s: f64,
    /// Relative loss of normal force (1/s).
    pub loss_per_s: f64,
    /// Minimum normal force (N) at which slip is detected.
    pub min_newton: f64,
}

impl Default for SlipOnset {
    fn default() -> Self {
        Self { shear_ratio: 0.4, centroid_m_per_s: 5e-3, loss_per_s: 2.0, min_newton: 0.05 }
    }
}

impl GraspFeatures {
    /// Computes features from values (N), their positions (m) and areas (m²), and force vectors on the sensor (N; may
    /// be empty).
    pub fn of(values_newton: &[f64], places_m: &[Vec2], areas_m2: &[f64], forces_newton: &[Vec3]) -> Self {
        let Some(features) = Features::of(values_newton, places_m, areas_m2, 0.0) else { return Self::default() };
        let shear = |force: &Vec3| Vec2::new(force.x, force.y);
        let twist = forces_newton.iter().zip(places_m).map(|(f, p)| (*p - features.centroid_m).perp_dot(shear(f)));
        Self {
            normal_newton: features.total,
            shear_newton: forces_newton.iter().map(shear).sum(),
            first_moments_newton_m: features.centroid_m * features.total,
            centroid_m: features.centroid_m,
            covariance_m2: features.covariance_m2,
            twist_newton_m: twist.sum(),
            contact_area_m2: features.contact_area_m2,
        }
    }

    /// Rates of change since `before`, `dt_s` earlier; zero if `dt_s` = 0.
    pub fn rates(&self, before: &Self, dt_s: f64) -> GraspRates {
        if dt_s.is_nan() || dt_s <= 0.0 {
            return GraspRates::default();
        }
        let trace = |features: &Self| features.covariance_m2[0] + features.covariance_m2[2];
        GraspRates {
            normal_newton_per_s: (self.normal_newton - before.normal_newton) / dt_s,
            shear_newton_per_s: (self.shear_newton - before.shear_newton) / dt_s,
            centroid_m_per_s: (self.centroid_m - before.centroid_m) / dt_s,
            spread_m2_per_s: (trace(self) - trace(before)) / dt_s,
            contact_area_m2_per_s: (self.contact_area_m2 - before.contact_area_m2) / dt_s,
        }
    }
}

impl SlipOnset {
    /// True if the grasp begins to slip.
    pub fn detects(&self, now: &GraspFeatures, rates: &GraspRates) -> bool {
        now.normal_newton >= self.min_newton
            && (now.shear_newton.length() > self.shear_ratio * now.normal_newton
                || rates.centroid_m_per_s.length() > self.centroid_m_per_s
                || -rates.normal_newton_per_s > self.loss_per_s * now.normal_newton)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(shift: f64, normal: f64, shear: f64) -> GraspFeatures {
        let places = [-1e-3, 1e-3].map(|x| Vec2::new(x + shift, 0.0));
        let forces = [Vec3::new(0.0, shear, -normal); 2];
        GraspFeatures::of(&[normal; 2], &places, &[4e-6; 2], &forces)
    }

    #[test]
    fn sums_and_moments_are_those_of_two_forces() {
        let g = image(0.5e-3, 1.5, 0.2);
        assert!((g.normal_newton - 3.0).abs() < 1e-15 && (g.shear_newton - Vec2::new(0.0, 0.4)).length() < 1e-15);
        assert!((g.first_moments_newton_m - Vec2::new(1.5e-3, 0.0)).length() < 1e-15);
        assert!((g.covariance_m2[0] - 1e-6).abs() < 1e-18 && g.contact_area_m2 == 8e-6);
        assert!(g.twist_newton_m.abs() < 1e-18);
        let twisted = GraspFeatures::of(
            &[1.0; 2],
            &[Vec2::new(-1e-3, 0.0), Vec2::new(1e-3, 0.0)],
            &[1e-6; 2],
            &[Vec3::new(0.0, -0.3, -1.0), Vec3::new(0.0, 0.3, -1.0)],
        );
        assert!((twisted.twist_newton_m - 0.6e-3).abs() < 1e-15);
    }

    #[test]
    fn slip_shows_in_shear_in_motion_and_in_loss() {
        let onset = SlipOnset::default();
        let held = image(0.0, 1.0, 0.1);
        let check = |now: GraspFeatures| onset.detects(&now, &now.rates(&held, 0.01));
        assert!(!check(held));
        assert!(check(image(0.0, 1.0, 0.5)), "sheared too much");
        assert!(check(image(0.1e-3, 1.0, 0.1)), "10 mm/s");
        assert!(check(image(0.0, 0.9, 0.1)), "10 N/s of 1 N");
        assert!(!check(image(1e-3, 0.01, 0.1)), "too light to tell");
        assert_eq!(held.rates(&held, 0.0), GraspRates::default());
    }
}
