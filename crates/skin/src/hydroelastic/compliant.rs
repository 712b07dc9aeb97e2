//! Contact of two pressure fields.
//!
//! In a pair of tetrahedra both pressures are linear, so they are equal on a plane with normal ∇p₀ − ∇p₁. The contact
//! surface is the part of this plane inside both (Elandt et al. 2019, section IV).

use super::contact::AngleLimit;
use super::field::{Cell, TetField};
use super::material::Piece;
use super::polygon::Polygon;
use super::rigid::{seen_from, within};
use super::surface::Builder;
use dermis_geometry::{Bounds, Mat3, Pose, Slab, Vec3};

/// Relative difference below which two gradients count as equal and define no plane.
const SAME: f64 = 1e-12;

/// Two fields in the frame of `inner`; the outer loop visits the tetrahedra of `inner`.
pub(super) struct TetPair<'a> {
    pub inner: &'a TetField,
    pub inner_pieces: &'a [Piece],
    pub outer: &'a TetField,
    pub outer_pieces: &'a [Piece],
    pub outer_from_inner: Pose,
    /// −1 if `inner` is A (∇p₀ − ∇p₁ points into `inner`), +1 if it is B.
    pub sign: f64,
    pub limit: AngleLimit,
}

impl TetPair<'_> {
    /// Adds the contact surface.
    pub fn meet(&self, out: &mut Builder) {
        let rotation = Mat3::from_quat(self.outer_from_inner.rotation);
        let shift = self.outer_from_inner.translation;
        let back = rotation.transpose();
        let flat = 1e-12 * self.outer.bounds().size().length();
        let (center, half) = (self.outer.bounds().center(), self.outer.bounds().size() * 0.5);
        let (near, slabs) = seen_from(&back, back * (center - shift), half + Vec3::splat(flat));
        let mut polygon = Polygon::new();
        self.inner.bvh().within(&near, &slabs, |first| {
            let cell = self.inner.cell(first);
            let seen = cell.corners.map(|corner| rotation * corner + shift);
            let query = Bounds::around(seen).padded(flat);
            // The tetrahedron lies between each of its faces and the opposite corner.
            let slabs: [Slab; 4] = std::array::from_fn(|k| {
                let normal = rotation * cell.inward[k];
                let (low, high) = (normal.dot(seen[(k + 1) % 4]), normal.dot(seen[k]));
                Slab { normal, low: low - flat, high: high + flat }
            });
            self.outer.bvh().within(&query, &slabs, |second| {
                let other = self.outer.cell(second);
                let values = seen.map(|corner| other.extent_at(corner));
                let names = [self.inner.name(first), self.outer.name(second)];
                let mut heights = None;
                for (i, p) in self.inner_pieces.iter().enumerate() {
                    let pressures = cell.extent.map(|e| p.pressure(e));
                    for (j, q) in self.outer_pieces.iter().enumerate() {
                        // Skips disjoint ranges of pressure, and pairs without a change of sign.
                        if p.pressure(cell.min_extent) > q.pressure(other.max_extent)
                            || q.pressure(other.min_extent) > p.pressure(cell.max_extent)
                        {
                            continue;
                        }
                        let differences: [f64; 4] = std::array::from_fn(|k| pressures[k] - q.pressure(values[k]));
                        let above = differences.map(|d| u32::from(d > 0.0)).iter().sum::<u32>();
                        if above == 0 || above == 4 {
                            continue;
                        }
                        // Computed once for all pieces, if needed.
                        let found = match heights {
                            Some(found) => found,
                            None => match heights_over(other, &seen, flat) {
                                Some(found) => *heights.insert(found),
                                None => return,
                            },
                        };
                        let index = (i * self.outer_pieces.len() + j) as u32;
                        let other_gradient = back * other.gradient;
                        let both = Both { cell, p, other, q, other_gradient, values, pressures, differences };
                        let frame = PairFrame { heights: &found, rotation: &rotation, flat };
                        self.slice(&both, &frame, [names[0], names[1], index], &mut polygon, out);
                    }
                }
            });
        });
    }

    fn slice(
        &self,
        both: &Both<'_>,
        frame: &PairFrame<'_>,
        key: [u32; 3],
        polygon: &mut Polygon<4>,
        out: &mut Builder,
    ) {
        let Both { cell, p, other, q, other_gradient, values, pressures, differences } = both;
        let PairFrame { heights, rotation, flat } = *frame;
        if !polygon.set_slice(*differences) {
            return;
        }
        let Some((normal, stiffness)) = both.normal() else { return };
        if !self.limit.allows_slope(normal, cell.gradient, cell.slope)
            || !self.limit.allows_slope(-normal, *other_gradient, other.slope)
        {
            return;
        }
        for (face, heights) in heights.iter().enumerate() {
            if heights.iter().all(|&h| h > flat) {
                continue;
            }
            if (0..polygon.len()).all(|i| polygon.value(i, heights).abs() <= flat) {
                // A polygon in the plane of a face belongs to the tetrahedron in front of it.
                if other.inward[face].dot(*rotation * normal) < 0.0 {
                    return;
                }
            } else if !polygon.keep(heights) {
                return;
            }
        }
        if within(polygon, &cell.extent, p, self.inner.is_cut()) && within(polygon, values, q, self.outer.is_cut()) {
            out.add(polygon, &cell.corners, pressures, normal * self.sign, stiffness, key);
        }
    }
}

/// A tetrahedron of the inner field in the frame of the outer one.
struct PairFrame<'a> {
    /// Heights (m) of the corners over each face of the outer tetrahedron.
    heights: &'a [[f64; 4]; 4],
    rotation: &'a Mat3,
    flat: f64,
}

/// Heights (m) of corners over each face of a tetrahedron; `None` if all corners lie behind one face.
fn heights_over(other: &Cell, seen: &[Vec3; 4], flat: f64) -> Option<[[f64; 4]; 4]> {
    let mut heights = [[0.0; 4]; 4];
    for (face, heights) in heights.iter_mut().enumerate() {
        *heights = seen.map(|corner| other.inward[face].dot(corner) - other.height[face]);
        if heights[0].max(heights[1]).max(heights[2].max(heights[3])) < -flat {
            return None;
        }
    }
    Some(heights)
}

/// Two tetrahedra with one piece of each pressure law.
struct Both<'a> {
    cell: &'a Cell,
    p: &'a Piece,
    other: &'a Cell,
    q: &'a Piece,
    /// Gradient ∇e of `other` in the frame of `cell`.
    other_gradient: Vec3,
    /// Extent e of `other` at the corners of `cell`.
    values: [f64; 4],
    /// Pressure (Pa) of `cell` at its corners, and its difference from that of `other`.
    pressures: [f64; 4],
    differences: [f64; 4],
}

impl Both<'_> {
    fn normal(&self) -> Option<(Vec3, f64)> {
        equilibrium(self.cell.gradient * self.p.slope_pa, self.other_gradient * self.q.slope_pa)
    }
}

/// The unit normal of the plane p₀ = p₁, towards increasing p₀, and the stiffness (Pa/m) of both fields in series.
fn equilibrium(first: Vec3, second: Vec3) -> Option<(Vec3, f64)> {
    let difference = first - second;
    let length = difference.length();
    if length <= SAME * (first.length() + second.length()) || length == 0.0 {
        return None;
    }
    let normal = difference / length;
    let (a, b) = (first.dot(normal).max(0.0), (-second.dot(normal)).max(0.0));
    let series = if a + b > 0.0 { a * b / (a + b) } else { 0.0 };
    Some((normal, series))
}

/// Two linear pressures in one tetrahedron.
pub(super) struct LinearPair<'a> {
    pub corners: &'a [Vec3; 4],
    /// Extent e of both fields at the corners.
    pub extent: &'a [f64; 4],
    pub values: &'a [f64; 4],
    /// True if the surface of the first field may cut the tetrahedron; that of the second always may.
    pub is_cut: bool,
    /// Pressure laws of both fields.
    pub pieces: [&'a [Piece]; 2],
    /// Sign as in [`TetPair`].
    pub sign: f64,
    pub limit: AngleLimit,
}

impl LinearPair<'_> {
    /// Adds the polygons of equal pressure for all pairs of pieces. `gradients` computes ∇e of both fields (1/m), `key`
    /// computes the identifier from the index of the pair.
    pub fn add(
        &self,
        gradients: impl Fn() -> [Vec3; 2],
        key: impl Fn(usize) -> [u32; 3],
        polygon: &mut Polygon<4>,
        out: &mut Builder,
    ) {
        for (i, p) in self.pieces[0].iter().enumerate() {
            for (j, q) in self.pieces[1].iter().enumerate() {
                let pressures = self.extent.map(|e| p.pressure(e));
                let differences: [f64; 4] = std::array::from_fn(|k| pressures[k] - q.pressure(self.values[k]));
                if !polygon.set_slice(differences) {
                    continue;
                }
                let [first, second] = gradients();
                let Some((normal, stiffness)) = equilibrium(first * p.slope_pa, second * q.slope_pa) else { continue };
                if self.limit.allows(normal, first)
                    && self.limit.allows(-normal, second)
                    && within(polygon, self.extent, p, self.is_cut)
                    && within(polygon, self.values, q, true)
                {
                    let key = key(i * self.pieces[1].len() + j);
                    out.add(polygon, self.corners, &pressures, normal * self.sign, stiffness, key);
                }
            }
        }
    }
}

/// Contact of a field with a compliant half-space, z ≤ 0 in the frame `field_from_space`; `sign` as in [`TetPair`].
pub(super) fn tets_on_half_space(
    field: &TetField,
    field_from_space: &Pose,
    thickness_m: f64,
    pieces: [&[Piece]; 2],
    sign: f64,
    limit: AngleLimit,
    out: &mut Builder,
) {
    let gradient = -field_from_space.transform_vector(Vec3::Z) / thickness_m;
    let origin = field_from_space.translation;
    let mut polygon = Polygon::new();
    field.bvh().overlapping(field.bounds(), |position| {
        let cell = field.cell(position);
        let values = cell.corners.map(|corner| gradient.dot(corner - origin));
        if values.iter().any(|&e| e >= 0.0) {
            let (corners, extent) = (&cell.corners, &cell.extent);
            let key = |index: usize| [field.name(position), 0, index as u32];
            LinearPair { corners, extent, values: &values, is_cut: field.is_cut(), pieces, sign, limit }.add(
                || [cell.gradient, gradient],
                key,
                &mut polygon,
                out,
            );
        }
    });
}
