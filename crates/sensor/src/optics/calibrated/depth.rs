//! The part of a calibrated light that grows with the depth of the surface.

use super::{
    Calibrated, MIN_PRESSED_MM, PROPORTIONAL_TO, SHADOW_DEGREE, SHADOW_POSITION_DEGREE, check_polynomial,
    surface_monomials,
};
use crate::optics::{OpticsError, Relief};
use dermis_geometry::quantity::Length;
use serde::{Deserialize, Serialize};

/// The part of a calibrated light that grows with the depth of the surface: a dent rises towards the camera and out of
/// the plane that the lamps light at rest, so that the same slope has another colour there.
///
/// ```text
/// I = … + f ζ (D + (I₀/128) E),   D, E = Σ_k p_k(u, v) m_k(n_r, n_d)
/// ```
/// ζ is the depth (mm) below the surface at rest; f is 1, or 1 − s if shadows replace the light. Not supported on GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepthLightSpec {
    /// Coefficients of D (levels per mm) for red, green and blue, 18 each: for the monomials 1, n_r, n_d, n_r², n_r n_d and
    /// n_d² in this order, the coefficients of 1, x and y.
    pub levels: [Vec<f64>; 3],
    /// Coefficients of E (levels per mm where the image without contact has the level 128), in the same order.
    pub proportional_levels: [Vec<f64>; 3],
    /// Largest depth of the calibration, at most 50 mm. Deeper surfaces have the light of this depth, with a warning.
    pub deepest: Length,
}

/// The same with checked parameters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DepthLight {
    /// Coefficients of D and E.
    pub levels: [[Vec<f64>; 3]; 2],
    deepest_mm: f32,
}

/// Maximum of [`DepthLightSpec::deepest`] (mm): no gel is pressed deeper.
const MAX_DEEPEST_MM: f64 = 50.0;

impl DepthLightSpec {
    pub(super) fn build(&self) -> Result<DepthLight, OpticsError> {
        let terms = 1 + surface_monomials(SHADOW_DEGREE).len();
        check_polynomial("depth.levels", SHADOW_POSITION_DEGREE, &self.levels, terms)?;
        check_polynomial("depth.proportional_levels", SHADOW_POSITION_DEGREE, &self.proportional_levels, terms)?;
        let deepest_mm = 1e3 * self.deepest.si();
        if !(deepest_mm > 0.0 && deepest_mm <= MAX_DEEPEST_MM) {
            let rule = format!("must be a positive length of at most {MAX_DEEPEST_MM} mm, got {deepest_mm} mm");
            return Err(OpticsError::Bad { table: "light.depth", key: "deepest", rule });
        }
        let levels = [self.levels.clone(), self.proportional_levels.clone()];
        Ok(DepthLight { levels, deepest_mm: deepest_mm as f32 })
    }
}

impl DepthLight {
    /// Bounded depth ζ (mm) of a pixel.
    pub(super) fn depth_mm(&self, relief: &Relief, pixel: usize) -> f32 {
        (-1e3 * relief.z_m[pixel]).clamp(-self.deepest_mm, self.deepest_mm)
    }

    /// Derivative of [`DepthLight::depth_mm`] by the height (1/m).
    pub(super) fn depth_by_height(&self, relief: &Relief, pixel: usize) -> f64 {
        if (1e3 * relief.z_m[pixel]).abs() < self.deepest_mm { -1e3 } else { 0.0 }
    }
}

impl Calibrated {
    /// True if the light has a part that grows with the depth.
    pub fn depends_on_depth(&self) -> bool {
        self.depth.is_some()
    }

    /// Fraction of the pressed pixels that are deeper than the calibration of the part that grows with the depth.
    pub fn deeper(&self, relief: &Relief) -> f64 {
        let Some(depth) = &self.depth else { return 0.0 };
        let pressed: Vec<f32> = relief.z_m.iter().map(|z_m| -1e3 * z_m).filter(|mm| *mm > MIN_PRESSED_MM).collect();
        let deep = pressed.iter().filter(|mm| **mm > DEEPER * depth.deepest_mm).count();
        deep as f64 / pressed.len().max(1) as f64
    }
}

/// Ratio to the largest depth of the calibration from which a surface counts as deeper.
const DEEPER: f32 = 1.02;

/// The image without contact (levels) by the level where E has its coefficients.
pub(crate) fn relative(background: f32) -> f32 {
    background / PROPORTIONAL_TO
}

#[cfg(test)]
mod tests {
    use super::super::tests::{depth, relief, shadow, spec};
    use super::super::{CalibratedSpec, CastShadowSpec};
    use super::*;

    /// Derivatives by heights and slopes agree with differences of images, with and without shadows. At one height another
    /// point begins to cast a shadow, where there is no derivative.
    #[test]
    fn derivatives_are_those_of_differences() {
        let (width, height) = (40, 6);
        let shadow = Some(CastShadowSpec { replaces: true, ..shadow() });
        for shadow in [None, shadow] {
            let light = CalibratedSpec { depth: Some(depth()), shadow, ..spec() }.build(width, height, None).unwrap();
            let weight = |c: usize, i: usize| ((i * 3 + c * 5) % 7) as f64 - 3.0;
            let value = |relief: &Relief| -> f64 {
                let image = light.shade(relief, None);
                let sum = |c: usize| {
                    image.channels[c].iter().enumerate().map(|(i, v)| weight(c, i) * f64::from(*v)).sum::<f64>()
                };
                (0..3).map(sum).sum()
            };
            let at = relief(width, height);
            let by_image = [0, 1, 2].map(|c| (0..width * height).map(|i| weight(c, i)).collect());
            let by = light.vjp(&at, None, &by_image).0;
            let (mut seen, mut missed) = (0, Vec::new());
            for i in (0..width * height).step_by(7) {
                let moved = |step: f32, key: usize| {
                    let mut moved = at.clone();
                    [&mut moved.z_m, &mut moved.slope_right, &mut moved.slope_down][key][i] += step;
                    value(&moved)
                };
                for (key, step, exact) in [(0, 2e-6, by.z[i]), (1, 2e-3, by.right[i]), (2, 2e-3, by.down[i])] {
                    let difference = (moved(step, key) - moved(-step, key)) / (2.0 * f64::from(step));
                    let off = (difference - exact).abs();
                    let scale = if key == 0 { 3e3 } else { 3.0 };
                    if off > 0.02 * (exact.abs() + scale) {
                        missed.push((i, key, exact, difference));
                    }
                    seen += usize::from(exact.abs() > scale);
                }
            }
            let kinks = usize::from(light.shadow.is_some());
            assert!(seen > 30 && missed.len() <= kinks, "{seen}, {missed:?}");
        }
    }

    #[test]
    fn a_depth_that_is_no_depth_of_a_gel_is_refused() {
        for (deepest_m, said) in [(0.0, "0 mm"), (f64::NAN, "NaN mm"), (0.4, "400 mm")] {
            let deepest = Length::new(deepest_m);
            let light = CalibratedSpec { depth: Some(DepthLightSpec { deepest, ..depth() }), ..spec() };
            let message = light.build(8, 8, None).unwrap_err().to_string();
            assert!(message.contains("`deepest`") && message.contains(said), "{message}");
        }
    }

    /// Of 100 pixels 20 are not pressed, 50 as deep as the calibration and 30 deeper.
    #[test]
    fn pixels_deeper_than_the_calibration_are_counted() {
        let light = CalibratedSpec { depth: Some(depth()), ..spec() }.build(10, 10, None).unwrap();
        let mut relief = relief(10, 10);
        let depths = [(20, 0.0), (50, 0.5e-3), (30, 0.6e-3)];
        relief.z_m = depths.iter().flat_map(|&(count, depth)| vec![-depth; count]).collect();
        assert_eq!(light.deeper(&relief), 30.0 / 80.0);
        assert_eq!(spec().build(10, 10, None).unwrap().deeper(&relief), 0.0);
    }
}
