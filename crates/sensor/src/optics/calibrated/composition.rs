//! How the change of a colour depends on the image without contact and on shadows.

use super::relative;

/// How the change of a colour is composed of F and G.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Composition {
    /// [`super::CalibratedSpec::proportional`].
    pub proportional: bool,
    /// [`super::CastShadowSpec::replaces`].
    pub replaces: bool,
}

impl Composition {
    /// The factors of F and G where the image without contact has a level and the surface hides a part of the lamp.
    #[inline(always)]
    pub fn factors(self, background: f32, hidden: f32) -> [f32; 2] {
        let relative = relative(background);
        let lit = if self.proportional { relative } else { 1.0 };
        if self.replaces { [lit * self.unhidden(hidden), hidden * relative] } else { [lit, hidden * lit] }
    }

    /// The part of the light of a lamp that is left where the surface hides a part of the lamp.
    #[inline(always)]
    pub fn unhidden(self, hidden: f32) -> f32 {
        if self.replaces { 1.0 - hidden } else { 1.0 }
    }

    /// Derivatives of the factors of F and G by the hidden part.
    pub(super) fn factors_by_hidden(self, background: f32) -> [f32; 2] {
        let [none, all] = [0.0, 1.0].map(|hidden| self.factors(background, hidden));
        [all[0] - none[0], all[1] - none[1]]
    }
}
