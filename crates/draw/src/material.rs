//! The appearance of a surface.

use crate::Rgb;

/// Selects the edges of a mesh that are drawn as lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Edges {
    /// No edges.
    #[default]
    None,
    /// Edges where faces meet at more than 35°, and open borders.
    Creases,
    /// All edges: a wireframe over the surface.
    All,
}

/// Colour and finish of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Colour in full light.
    pub colour: Rgb,
    /// Strength of the gloss, 0 to 1.
    pub shine: f64,
    /// Opacity from 0 (invisible) to 1 (opaque). Of several translucent surfaces only the nearest is drawn.
    pub alpha: f64,
    /// Whether faces that meet at less than 35° are shaded smoothly.
    pub smooth: bool,
    /// The edges that are drawn as lines.
    pub edges: Edges,
}

impl Material {
    /// Creates an opaque, smooth material with a slight gloss.
    pub fn new(colour: Rgb) -> Self {
        Self { colour, shine: 0.25, alpha: 1.0, smooth: true, edges: Edges::None }
    }

    /// Light grey, for mounts and other background objects.
    pub fn plain() -> Self {
        Self::new([176, 182, 190])
    }

    /// Sets the gloss, 0 to 1.
    pub fn shine(self, shine: f64) -> Self {
        Self { shine, ..self }
    }

    /// Sets the opacity: 0 is invisible, 1 opaque.
    pub fn alpha(self, alpha: f64) -> Self {
        Self { alpha, ..self }
    }

    /// Shades every face flat.
    pub fn flat(self) -> Self {
        Self { smooth: false, ..self }
    }

    /// Sets the edges that are drawn as lines.
    pub fn edges(self, edges: Edges) -> Self {
        Self { edges, ..self }
    }
}
