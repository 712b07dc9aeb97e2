//! The appearance of a surface.

use crate::Rgb;

/// Which edges of a mesh are drawn as lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Edges {
    /// None.
    #[default]
    None,
    /// Where faces meet at more than 35°, and open borders.
    Creases,
    /// All: a wire frame over the surface.
    All,
}

/// Colour and finish of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Colour in full light.
    pub colour: Rgb,
    /// Strength of the gloss, 0 to 1.
    pub shine: f64,
    /// From 0 (invisible) to 1 (opaque). Of translucent surfaces only the nearest is seen.
    pub alpha: f64,
    /// Whether faces that meet at less than 35° are shaded smoothly.
    pub smooth: bool,
    /// Which edges are drawn as lines.
    pub edges: Edges,
}

impl Material {
    /// Opaque, smooth, with a slight gloss.
    pub fn new(colour: Rgb) -> Self {
        Self { colour, shine: 0.25, alpha: 1.0, smooth: true, edges: Edges::None }
    }

    /// Soft grey, for mounts and other background objects.
    pub fn plain() -> Self {
        Self::new([176, 182, 190])
    }

    /// With this much gloss, 0 to 1.
    pub fn shine(self, shine: f64) -> Self {
        Self { shine, ..self }
    }

    /// Translucent: 0 is invisible, 1 opaque.
    pub fn alpha(self, alpha: f64) -> Self {
        Self { alpha, ..self }
    }

    /// Every face flat.
    pub fn flat(self) -> Self {
        Self { smooth: false, ..self }
    }

    /// With some edges drawn as lines.
    pub fn edges(self, edges: Edges) -> Self {
        Self { edges, ..self }
    }
}
