//! Six features of a tactile image, one for each degree of freedom of the tool.

use crate::{Dof, TactileImage};
use dermis_geometry::Vec2;
use dermis_sensor::features::Features;
use std::f64::consts::PI;

/// The controlled features. Each responds mainly to one degree of freedom of the tool:
///
/// | degree of freedom | feature |
/// |---|---|
/// | x, y | `center_m`: the centre of pressure |
/// | z | `total_newton` |
/// | rotation about x | `lean_m.y`: offset along y of the centroid of f² from that of f |
/// | rotation about y | `lean_m.x`: the same along x |
/// | rotation about z | `direction_rad` (Kappassov et al. 2020, eq. 3) |
///
/// The lean is the centroid of the squares f² minus that of the forces f. A shift moves both equally; a tilt loads one
/// side more and moves the centroid of f² further. The lean therefore distinguishes a tilt from a shift, without a
/// threshold that would make it discontinuous. It needs a face that is flat somewhere: over a paraboloid a tilt is
/// equivalent to a shift, and the lean stays zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TactileFeatures {
    /// Sum of the forces (N).
    pub total_newton: f64,
    /// Centroid of the forces (m).
    pub center_m: Vec2,
    /// Centroid of the squared forces minus that of the forces (m).
    pub lean_m: Vec2,
    /// Direction of the largest spread of the load (rad), from x towards y; it is a line, so between −π/2 and π/2.
    pub direction_rad: f64,
    /// Anisotropy of the load, (λ₁ − λ₂)/(λ₁ + λ₂): 0 for a round contact, 1 for a line.
    pub elongation: f64,
}

impl TactileFeatures {
    /// Computes the features of an image; `None` without contact.
    pub fn of(image: &TactileImage) -> Option<Self> {
        let moments = Features::of(&image.newton, &image.at_m, &[], 0.0)?;
        let squares: Vec<f64> = image.newton.iter().map(|&force| force.max(0.0).powi(2)).collect();
        let stronger = Features::of(&squares, &image.at_m, &[], 0.0)?;
        let [xx, xy, yy] = moments.covariance_m2;
        let elongation = if xx + yy > 0.0 { 2.0 * (0.5 * (xx - yy)).hypot(xy) / (xx + yy) } else { 0.0 };
        Some(Self {
            total_newton: moments.total,
            center_m: moments.centroid_m,
            lean_m: stronger.centroid_m - moments.centroid_m,
            direction_rad: moments.direction_rad,
            elongation,
        })
    }

    /// The features in the order of [`Dof::ALL`].
    pub fn in_order(&self) -> [f64; 6] {
        [self.center_m.x, self.center_m.y, self.total_newton, self.lean_m.y, self.lean_m.x, self.direction_rad]
    }

    /// `to` minus `self` in the order of [`Dof::ALL`]; directions differ by at most 90°, because they are lines.
    pub fn until(&self, to: &Self) -> [f64; 6] {
        let (from, to) = (self.in_order(), to.in_order());
        let mut difference = std::array::from_fn(|i| to[i] - from[i]);
        let angle = &mut difference[Dof::Rz as usize];
        *angle -= PI * (*angle / PI).round();
        difference
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(load: impl Fn(Vec2) -> f64) -> TactileImage {
        let at_m: Vec<Vec2> =
            (0..80 * 80).map(|i| Vec2::new(f64::from(i % 80) - 39.5, f64::from(i / 80) - 39.5) * 1e-3).collect();
        let newton = at_m.iter().map(|&at| load(at).max(0.0)).collect();
        TactileImage { at_m, newton }
    }

    /// The direction of a rotated Gaussian ridge equals its angle, at any position.
    #[test]
    fn direction_and_middle_of_a_ridge() {
        for degrees in [-80.0, -45.0, -10.0, 0.0, 30.0, 89.0f64] {
            let along = Vec2::from_angle(degrees.to_radians());
            let middle = Vec2::new(3.2e-3, -1.7e-3);
            let ridge = |at: Vec2| {
                let r = at - middle;
                (-(r.dot(along) / 8e-3).powi(2) - (r.dot(along.perp()) / 3e-3).powi(2)).exp()
            };
            let features = TactileFeatures::of(&image(ridge)).unwrap();
            assert!((features.direction_rad - degrees.to_radians()).abs() < 1e-3, "{degrees}: {features:?}");
            assert!((features.center_m - middle).length() < 1e-4, "{features:?}");
            assert!(features.lean_m.length() < 1e-4);
        }
    }

    /// Load 1 + g x on −a…a: the centroid of f is g a²/3, that of f² to first order 2 g a²/3; a shift adds to both.
    #[test]
    fn lean_shows_a_gradient_and_no_shift() {
        let (a, g) = (20e-3, 3.0);
        let block = |shift: f64, g: f64| {
            let features = TactileFeatures::of(&image(|at| {
                let x = at.x - shift;
                if x.abs() < a && at.y.abs() < 5e-3 { 1.0 + g * x } else { 0.0 }
            }));
            features.unwrap()
        };
        let lean = block(0.0, g).lean_m.x;
        assert!((lean / (g * a * a / 3.0) - 1.0).abs() < 0.02, "{lean}");
        for shift in [-7e-3, 4e-3] {
            assert!((block(shift, g).lean_m.x - lean).abs() < 1e-9);
            assert!((block(shift, 0.0).center_m.x - shift).abs() < 1e-9);
        }
    }

    #[test]
    fn lines_differ_by_at_most_a_quarter_turn_and_nothing_has_no_features() {
        let at = |direction_rad| TactileFeatures {
            total_newton: 1.0,
            center_m: Vec2::ZERO,
            lean_m: Vec2::ZERO,
            direction_rad,
            elongation: 1.0,
        };
        assert!((at(1.5).until(&at(-1.5))[5] - (PI - 3.0)).abs() < 1e-12);
        assert_eq!(TactileFeatures::of(&image(|_| 0.0)), None);
    }
}
