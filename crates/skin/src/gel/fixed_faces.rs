//! Fixed boundaries of a gel: faces of its box, and interfaces to fixed parts inside it.

use super::parameters::GelParameters;
use super::reference_grid::{ReferenceGrid, Stencil};
use dermis_geometry::Vec3;
use serde::{Deserialize, Serialize};

/// A face of the box around a gel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Face {
    /// Lowest x.
    LowX,
    /// Highest x.
    HighX,
    /// Lowest y.
    LowY,
    /// Highest y.
    HighY,
    /// Lowest z.
    Bottom,
}

/// Faces at which the gel is fixed (zero displacement). See also [`super::Gel::fixed_where`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedFaces {
    faces: [bool; 5],
}

impl Default for FixedFaces {
    /// Fixes the bottom.
    fn default() -> Self {
        Self::at(&[Face::Bottom])
    }
}

impl FixedFaces {
    /// No face: an interface inside must fix the gel.
    pub const NONE: Self = Self { faces: [false; 5] };
    /// The bottom and all sides.
    pub const CUP: Self = Self { faces: [true; 5] };

    /// The given faces.
    pub fn at(faces: &[Face]) -> Self {
        let mut fixed = Self::NONE;
        faces.iter().for_each(|face| fixed.faces[*face as usize] = true);
        fixed
    }

    /// True if a face is fixed.
    pub fn has(&self, face: Face) -> bool {
        self.faces[face as usize]
    }

    /// True if the low or high side of an axis (0 or 1) is fixed.
    pub(crate) fn has_side(&self, axis: usize, high: bool) -> bool {
        self.faces[2 * axis + usize::from(high)]
    }

    /// True if no face is fixed.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

/// Interface stiffness divided by that of a confined cell: a traction of a tenth of the modulus moves it by 1/300 of a
/// cell.
const INTERFACE_BY_CONFINED: f64 = 30.0;

/// A small face between the gel and a fixed part cut out of it: a stiff spring to its undeformed position.
#[derive(Clone, Copy, Debug)]
pub struct FixedInterface {
    /// Undeformed position (m).
    pub rest: Vec3,
    /// Area (m²).
    pub area_m2: f64,
    /// Interpolation from the nodes.
    pub stencil: Stencil,
    /// Stiffness (N/m).
    pub stiffness_newton_per_m: f64,
}

impl FixedInterface {
    /// Removes the particles at undeformed positions for which `held` is true and returns their faces to the remaining
    /// particles. There must be no gel behind such a face: splines are smooth, so a fixed node would also fix half a
    /// cell on the other side.
    pub(crate) fn cut_out(
        grid: &mut ReferenceGrid,
        parameters: &GelParameters,
        held: impl Fn(Vec3) -> bool,
    ) -> Vec<Self> {
        let halves = grid.cells.map(|count| 2 * count);
        let count: usize = halves.iter().product();
        let mut removed = vec![false; count];
        let index = |at: [usize; 3]| (at[2] * halves[1] + at[1]) * halves[0] + at[0];
        let place = |i: usize| [i % halves[0], i / halves[0] % halves[1], i / (halves[0] * halves[1])];
        for half in (0..count).map(place) {
            let (cell, particle) = ReferenceGrid::half(half);
            let fill = grid.fill_index(cell, particle);
            if grid.fill[fill] > 0.0 && held(grid.particle_position(cell, particle)) {
                removed[index(half)] = true;
                grid.fill[fill] = 0.0;
            }
        }
        let stiffness = INTERFACE_BY_CONFINED * parameters.confined_pa() / grid.cell_m.min_element();
        let mut faces = Vec::new();
        for half in (0..count).map(place) {
            let (cell, particle) = ReferenceGrid::half(half);
            if grid.fill[grid.fill_index(cell, particle)] == 0.0 {
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
                    if removed[index(beside)] {
                        let mut rest = grid.particle_position(cell, particle);
                        rest[axis] += 0.25 * step as f64 * grid.cell_m[axis];
                        let area_m2 = 0.25 * grid.cell_m[(axis + 1) % 3] * grid.cell_m[(axis + 2) % 3];
                        let stencil = grid.stencil(rest);
                        faces.push(Self { rest, area_m2, stencil, stiffness_newton_per_m: stiffness * area_m2 });
                    }
                }
            }
        }
        faces
    }
}
