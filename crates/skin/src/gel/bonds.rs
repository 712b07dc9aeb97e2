//! Where a gel is held.

use super::lattice::{Lattice, Place, Spot};
use super::parameters::GelParameters;
use dermis_geometry::Vec3;
use serde::{Deserialize, Serialize};

/// A face of the box around a gel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Face {
    /// Where x is least.
    LowX,
    /// Where x is greatest.
    HighX,
    /// Where y is least.
    LowY,
    /// Where y is greatest.
    HighY,
    /// Where z is least.
    Bottom,
}

/// The faces at which a gel is held: none of it moves there. See also [`super::Gel::held_where`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bonds {
    faces: [bool; 5],
}

impl Default for Bonds {
    /// At the bottom.
    fn default() -> Self {
        Self::at(&[Face::Bottom])
    }
}

impl Bonds {
    /// Nowhere: something else must hold it.
    pub const NONE: Self = Self { faces: [false; 5] };
    /// At the bottom and at all sides.
    pub const CUP: Self = Self { faces: [true; 5] };

    /// At some faces.
    pub fn at(faces: &[Face]) -> Self {
        let mut bonds = Self::NONE;
        faces.iter().for_each(|face| bonds.faces[*face as usize] = true);
        bonds
    }

    /// Whether a face is held.
    pub fn holds(&self, face: Face) -> bool {
        self.faces[face as usize]
    }

    /// Whether the side of an axis (0 or 1) is held, the low one or the high one.
    pub(crate) fn holds_side(&self, axis: usize, high: bool) -> bool {
        self.faces[2 * axis + usize::from(high)]
    }

    /// Whether no face is held.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

/// How fast displacements die away in what is held, in cells: as stiff as that takes.
const DEPTH_CELLS: f64 = 0.1;

/// A particle that is held: by a spring, in equilibrium.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub particle: u32,
    pub spot: Spot,
    pub stiffness_newton_per_m: f64,
}

impl Held {
    /// The particles that rest where `held` says. A spring of k a volume lets a traction t in by √(M/k), so that the border gives by
    /// t √(1/(M k)): a hundredth of a cell at a tenth of M.
    pub fn all(
        lattice: &Lattice,
        places: &[Place],
        parameters: &GelParameters,
        held: impl Fn(Vec3) -> bool,
    ) -> Vec<Self> {
        let depth_m = DEPTH_CELLS * lattice.cell_m.min_element();
        let stiffness = parameters.confined_pa() / (depth_m * depth_m) * lattice.particle_m3();
        places
            .iter()
            .enumerate()
            .filter(|(_, place)| held(place.at))
            .map(|(particle, place)| Self {
                particle: particle as u32,
                spot: lattice.spot(place.at),
                stiffness_newton_per_m: stiffness * f64::from(place.part),
            })
            .collect()
    }
}
