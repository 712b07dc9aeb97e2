//! Merges coincident vertices.

use crate::{Bounds, Vec3};
use std::collections::HashMap;

/// Vertices closer than this fraction of the bounding box's diagonal are merged.
const TOLERANCE: f64 = 1e-9;
/// Edge of a hash cell in tolerances. In larger cells a query needs neighbouring cells less often; smaller cells hold
/// fewer distinct vertices.
const CELL: f64 = 8.0;

/// Distinct vertices, and the new index of every original vertex.
pub(super) struct Welded {
    pub vertices: Vec<Vec3>,
    pub from_original: Vec<u32>,
}

/// Merges each vertex with the first one within the tolerance, in the given order. Vertices must be finite.
///
/// A vertex that was merged attracts no others, so that a chain of close vertices does not collapse.
pub(super) fn weld(vertices: &[Vec3]) -> Welded {
    let bounds = Bounds::around(vertices.iter().copied());
    let mut cells = Cells::new(bounds.min, TOLERANCE * bounds.size().length());
    // Exact copies are the most frequent case and need one lookup.
    let mut known: HashMap<[u64; 3], u32> = HashMap::new();
    let mut welded = Welded { vertices: Vec::new(), from_original: Vec::with_capacity(vertices.len()) };
    for &vertex in vertices {
        let index = *known.entry(bits(vertex)).or_insert_with(|| {
            cells.find(vertex, &welded.vertices).unwrap_or_else(|| {
                let index = welded.vertices.len() as u32;
                welded.vertices.push(vertex);
                cells.insert(vertex, index);
                index
            })
        });
        welded.from_original.push(index);
    }
    welded
}

/// Equal for equal positions: adding zero makes -0.0 into 0.0.
fn bits(v: Vec3) -> [u64; 3] {
    (v + Vec3::ZERO).to_array().map(f64::to_bits)
}

/// The kept vertices by grid cell.
struct Cells {
    origin: Vec3,
    tolerance: f64,
    members: HashMap<[i64; 3], Vec<u32>>,
}

impl Cells {
    fn new(origin: Vec3, tolerance: f64) -> Self {
        Self { origin, tolerance, members: HashMap::new() }
    }

    /// False for a mesh whose diagonal is zero or overflows: only exact copies are merged.
    fn is_useful(&self) -> bool {
        self.tolerance.is_normal() && (CELL * self.tolerance).is_normal()
    }

    fn cell(&self, v: Vec3) -> [i64; 3] {
        ((v - self.origin) / (CELL * self.tolerance)).floor().to_array().map(|x| x as i64)
    }

    fn insert(&mut self, v: Vec3, index: u32) {
        if self.is_useful() {
            self.members.entry(self.cell(v)).or_default().push(index);
        }
    }

    /// The first kept vertex within the tolerance.
    fn find(&self, v: Vec3, kept: &[Vec3]) -> Option<u32> {
        if !self.is_useful() {
            return None;
        }
        let (low, high) = (self.cell(v - self.tolerance), self.cell(v + self.tolerance));
        let mut first: Option<u32> = None;
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for z in low[2]..=high[2] {
                    let Some(members) = self.members.get(&[x, y, z]) else { continue };
                    let near = |&&i: &&u32| kept[i as usize].distance(v) <= self.tolerance;
                    // The members are in ascending order.
                    first = first.into_iter().chain(members.iter().find(near).copied()).min();
                }
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_zeros_and_near_vertices_merge_into_the_first() {
        let far = Vec3::new(1.0, 0.0, 0.0);
        let welded = weld(&[Vec3::ZERO, far, Vec3::splat(-0.0), far + 0.5e-9, far + 2e-9, far]);
        assert_eq!(welded.from_original, [0, 1, 0, 1, 2, 1]);
        assert_eq!(welded.vertices, [Vec3::ZERO, far, far + 2e-9]);
    }

    /// With steps of 0.6 tolerances the second vertex merges with the first, and the third does not.
    #[test]
    fn chains_do_not_creep() {
        let step = Vec3::X * 0.6e-9;
        let welded = weld(&[Vec3::ZERO, step, 2.0 * step, Vec3::X]);
        assert_eq!(welded.from_original, [0, 0, 1, 2]);
    }

    /// The result equals the definition on pairs that lie in different cells, in every direction.
    #[test]
    fn agrees_with_all_pairs() {
        let mut random = crate::Random::new(3);
        let mut vertices = vec![Vec3::ZERO, Vec3::ONE];
        for _ in 0..300 {
            let v = Vec3::new(random.uniform(), random.uniform(), random.uniform());
            vertices.push(v);
            vertices.push(v + random.direction() * random.between(0.0, 3e-9));
        }
        let tolerance = TOLERANCE * 3f64.sqrt();
        let mut kept: Vec<Vec3> = Vec::new();
        let expected: Vec<u32> = vertices
            .iter()
            .map(|v| {
                let first = kept.iter().position(|k| k.distance(*v) <= tolerance).unwrap_or_else(|| {
                    kept.push(*v);
                    kept.len() - 1
                });
                first as u32
            })
            .collect();
        assert_eq!(weld(&vertices).from_original, expected);
        assert!(kept.len() < vertices.len() - 50, "some must have merged");
    }
}
