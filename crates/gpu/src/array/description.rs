//! What an array is, in plain numbers.

use dermis_geometry::Vec3;

/// One spring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringSite {
    /// Where it is on the undeformed skin (m).
    pub point: Vec3,
    /// Unit normal, out of the skin.
    pub normal: Vec3,
    /// The area it stands for (m²).
    pub area_m2: f64,
    /// The part of its texel that it is.
    pub share: f64,
}

/// Force of a texel against its depth.
#[derive(Clone, Debug, PartialEq)]
pub enum Stiffness {
    /// N/m of a texel.
    PerTexel(f64),
    /// Pa/m.
    PerArea(f64),
    /// Straight between points.
    Table {
        /// Depths (m), rising from 0.
        depth_m: Vec<f64>,
        /// Force (N) of a texel, or pressure (Pa).
        load: Vec<f64>,
        /// Whether the loads are pressures.
        per_area: bool,
    },
}

/// What resists sliding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rubbing {
    /// Nothing.
    None,
    /// Bristles, of a whole texel.
    Lugre {
        /// σ₀ (N/m).
        stiffness_newton_per_m: f64,
        /// σ₁ (N s/m).
        damping_newton_s_per_m: f64,
        /// c_t (N s/m).
        viscous_newton_s_per_m: f64,
        /// μ_s.
        mu_static: f64,
        /// μ_d.
        mu_dynamic: f64,
        /// v_s (m/s).
        stribeck_m_per_s: f64,
    },
    /// Coulomb's, without memory.
    Coulomb {
        /// μ.
        mu: f64,
        /// v₀ (m/s).
        regularisation_m_per_s: f64,
    },
}

/// An array of springs.
#[derive(Clone, Debug, PartialEq)]
pub struct SpringDescription {
    /// The springs.
    pub sites: Vec<SpringSite>,
    /// h: how deep (m) they can be pressed.
    pub depth_m: f64,
    /// Force against depth.
    pub stiffness: Stiffness,
    /// Force against the rate of depth, of a texel (N s/m).
    pub damping_per_texel: f64,
    /// The same of an area (Pa s/m).
    pub damping_per_area: f64,
    /// Whether force on slanted faces comes from an energy.
    pub conservative: bool,
    /// What resists sliding.
    pub rubbing: Rubbing,
    /// How taxels feel the springs.
    pub cells: Cells,
}

/// How the forces of springs become those of taxels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cells {
    /// Outward unit normals of the taxels.
    pub normals: Vec<Vec3>,
    /// For each taxel, the springs it feels in their order, and which part of each.
    pub felt: Vec<Vec<(u32, f64)>>,
    /// What no taxel feels.
    pub outside: Vec<(u32, f64)>,
}

impl Cells {
    /// True when spring i is taxel i and nothing is outside.
    pub fn is_one_to_one(&self) -> bool {
        let own = |(i, felt): (usize, &Vec<(u32, f64)>)| felt[..] == [(i as u32, 1.0)];
        self.outside.is_empty() && self.felt.iter().enumerate().all(own)
    }
}

/// One tetrahedron of a pressure field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tetrahedron {
    /// Its corners (m).
    pub corners: [Vec3; 4],
    /// Extent at its first corner: the depth as a part of the greatest.
    pub extent: f64,
    /// How extent rises (1/m).
    pub gradient: Vec3,
    /// Inward unit normals of the faces opposite to each corner.
    pub inward: [Vec3; 4],
    /// Heights (m) of those faces along their normals.
    pub height: [f64; 4],
}

/// A stretch of extents in which pressure is linear: `at_pa` + `slope_pa` (e − `from`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Where it begins.
    pub from: f64,
    /// Where it ends; infinite of the last.
    pub to: f64,
    /// Pressure (Pa) where it begins.
    pub at_pa: f64,
    /// How fast it rises (Pa).
    pub slope_pa: f64,
}

/// A pressure field under a grid of taxels in z = 0, row 0 at +y.
#[derive(Clone, Debug, PartialEq)]
pub struct PadDescription {
    /// The field.
    pub tetrahedra: Vec<Tetrahedron>,
    /// Whether the surface cuts through tetrahedra.
    pub is_cut: bool,
    /// The law of pressure.
    pub stretches: Vec<Stretch>,
    /// Greatest pressure (Pa) anywhere in the field.
    pub most_pa: f64,
    /// Faces count whose normal makes a cosine above this with the direction of rising pressure.
    pub least_cosine: f64,
    /// Extent from which on a facet is at the deepest place of its field.
    pub deepest: f64,
    /// Taxels along y.
    pub rows: usize,
    /// Taxels along x.
    pub cols: usize,
    /// Their distance (m).
    pub pitch_m: f64,
    /// How far (m) above or below z = 0 a load may lie and still count; infinite without a limit.
    pub height_m: f64,
}
