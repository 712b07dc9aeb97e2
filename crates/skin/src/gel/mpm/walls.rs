//! Planes at which the gel is fixed.

use super::nodes::Nodes;
use dermis_geometry::Vec3;

/// A plane between two layers of nodes at which the gel is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wall {
    /// Normal axis: 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Cell above the plane.
    pub plane: i32,
    /// True if the gel lies at larger coordinates than the plane.
    pub above: bool,
    /// Number of node columns along the two following axes whose impulses are recorded, starting at cell −1; 0 records
    /// none.
    pub recorded: [usize; 2],
}

/// A node outside a wall, the one inside it, and the index of its recorded column.
#[derive(Clone, Copy, Debug)]
struct Pair {
    outer: u32,
    inner: u32,
    recorded: Option<u32>,
}

/// All walls and their impulses on the gel.
#[derive(Clone, Debug, Default)]
pub(super) struct Walls {
    walls: Vec<Wall>,
    pairs: Vec<Pair>,
    /// Impulses on the gel (in full-particle masses, m/s) of the recorded wall.
    pub impulses: Vec<Vec3>,
}

impl Walls {
    pub fn new(walls: Vec<Wall>) -> Self {
        let recorded = walls.iter().map(|wall| wall.recorded[0] * wall.recorded[1]).max().unwrap_or(0);
        Self { walls, pairs: Vec::new(), impulses: vec![Vec3::ZERO; recorded] }
    }

    /// Finds the pairs of nodes on both sides of the walls.
    pub fn find(&mut self, nodes: &Nodes) {
        self.pairs.clear();
        for wall in &self.walls {
            let (a, b) = ((wall.axis + 1) % 3, (wall.axis + 2) % 3);
            let (outer, inner) = if wall.above { (wall.plane - 1, wall.plane) } else { (wall.plane, wall.plane - 1) };
            let [rows, cols] = wall.recorded;
            for i in nodes.range(a) {
                for j in nodes.range(b) {
                    let mut cell = [0; 3];
                    (cell[a], cell[b], cell[wall.axis]) = (i, j, outer);
                    let ghost = nodes.find(cell);
                    cell[wall.axis] = inner;
                    let place = |index: i32, count: usize| (index + 1).clamp(0, count as i32 - 1) as usize;
                    let recorded = (rows * cols > 0).then(|| (place(j, cols) * rows + place(i, rows)) as u32);
                    if let (Some(outer), Some(inner)) = (ghost, nodes.find(cell)) {
                        self.pairs.push(Pair { outer: outer as u32, inner: inner as u32, recorded });
                    }
                }
            }
        }
    }

    /// Projects the node velocities onto those that keep the walls at rest, with minimal change in kinetic energy.
    pub fn apply(&mut self, nodes: &mut [f32]) {
        for &Pair { outer, inner, recorded } in &self.pairs {
            let (outer, inner) = (outer as usize, inner as usize);
            let (m, n) = (nodes[outer + 3], nodes[inner + 3]);
            let total = m + n;
            if total > 0.0 {
                let mut impulse = Vec3::ZERO;
                for c in 0..3 {
                    let v = (n * nodes[inner + c] - m * nodes[outer + c]) / total;
                    let (into, out) = (v - nodes[inner + c], -v - nodes[outer + c]);
                    impulse[c] = f64::from(n) * f64::from(into) + f64::from(m) * f64::from(out);
                    nodes[inner + c] = v;
                    nodes[outer + c] = -v;
                }
                if let Some(recorded) = recorded {
                    self.impulses[recorded as usize] += impulse;
                }
            }
        }
    }

    /// Allocated memory (bytes).
    pub fn bytes(&self) -> usize {
        size_of_val(&self.pairs[..]) + size_of_val(&self.impulses[..])
    }
}
