//! Where a gel is held.

use super::lattice::{Lattice, Spot};
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

/// Stiffness of what holds, by that of a confined cell: a traction of a tenth of the modulus moves it by a three-hundredth of a cell.
const HOLDING: f64 = 30.0;

/// A small face between what is held, which is no part of the gel any more, and the gel: a spring in equilibrium.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// Where it rests (m).
    pub rest: Vec3,
    pub area_m2: f64,
    pub spot: Spot,
    pub stiffness_newton_per_m: f64,
}

impl Held {
    /// Takes the particles that rest where `held` says out of the lattice, and returns the faces that they had with the others. There must
    /// be no gel behind such a face: splines are smooth, and what does not move on one side would hold half a cell on the other.
    pub fn cut_out(lattice: &mut Lattice, parameters: &GelParameters, held: impl Fn(Vec3) -> bool) -> Vec<Self> {
        let halves = lattice.cells.map(|count| 2 * count);
        let count: usize = halves.iter().product();
        let mut out = vec![false; count];
        let index = |at: [usize; 3]| (at[2] * halves[1] + at[1]) * halves[0] + at[0];
        let place = |i: usize| [i % halves[0], i / halves[0] % halves[1], i / (halves[0] * halves[1])];
        for half in (0..count).map(place) {
            let (cell, particle) = Lattice::half(half);
            let fill = lattice.particle(cell, particle);
            if lattice.fill[fill] > 0.0 && held(lattice.place(cell, particle)) {
                out[index(half)] = true;
                lattice.fill[fill] = 0.0;
            }
        }
        let stiffness = HOLDING * parameters.confined_pa() / lattice.cell_m.min_element();
        let mut faces = Vec::new();
        for half in (0..count).map(place) {
            let (cell, particle) = Lattice::half(half);
            if lattice.fill[lattice.particle(cell, particle)] == 0.0 {
                continue;
            }
            for axis in 0..3 {
                for step in [-1isize, 1] {
                    let next = half[axis] as isize + step;
                    if next < 0 || next >= halves[axis] as isize {
                        continue;
                    }
                    let mut beside = half;
                    beside[axis] = next as usize;
                    if out[index(beside)] {
                        let mut rest = lattice.place(cell, particle);
                        rest[axis] += 0.25 * step as f64 * lattice.cell_m[axis];
                        let area_m2 = 0.25 * lattice.cell_m[(axis + 1) % 3] * lattice.cell_m[(axis + 2) % 3];
                        let spot = lattice.spot(rest);
                        faces.push(Self { rest, area_m2, spot, stiffness_newton_per_m: stiffness * area_m2 });
                    }
                }
            }
        }
        faces
    }
}
