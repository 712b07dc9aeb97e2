//! Borders of the gel that are still.

use super::nodes::Nodes;
use dermis_geometry::Vec3;

/// A plane between two layers of nodes at which the gel is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wall {
    /// 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Cells before the plane.
    pub plane: i32,
    /// The gel is behind it (at larger coordinates) or before it.
    pub above: bool,
    /// Nodes along the axes that follow, from the cell before the first one on, whose impulses are told apart; none where 0.
    pub told: [usize; 2],
}

/// A node outside a wall, the one inside it, and the place among those told apart.
#[derive(Clone, Copy, Debug)]
struct Pair {
    outer: u32,
    inner: u32,
    told: Option<u32>,
}

/// All walls, and what they have given.
#[derive(Clone, Debug, Default)]
pub(super) struct Walls {
    walls: Vec<Wall>,
    pairs: Vec<Pair>,
    /// Impulses on the gel (in particle masses, m/s) of the wall that tells them apart.
    pub given: Vec<Vec3>,
}

impl Walls {
    pub fn new(walls: Vec<Wall>) -> Self {
        let told = walls.iter().map(|wall| wall.told[0] * wall.told[1]).max().unwrap_or(0);
        Self { walls, pairs: Vec::new(), given: vec![Vec3::ZERO; told] }
    }

    /// Looks for the nodes beside the walls.
    pub fn find(&mut self, nodes: &Nodes) {
        self.pairs.clear();
        for wall in &self.walls {
            let (a, b) = ((wall.axis + 1) % 3, (wall.axis + 2) % 3);
            let (outer, inner) = if wall.above { (wall.plane - 1, wall.plane) } else { (wall.plane, wall.plane - 1) };
            let [rows, cols] = wall.told;
            for i in nodes.range(a) {
                for j in nodes.range(b) {
                    let mut cell = [0; 3];
                    (cell[a], cell[b], cell[wall.axis]) = (i, j, outer);
                    let ghost = nodes.find(cell);
                    cell[wall.axis] = inner;
                    let place = |index: i32, count: usize| (index + 1).clamp(0, count as i32 - 1) as usize;
                    let told = (rows * cols > 0).then(|| (place(j, cols) * rows + place(i, rows)) as u32);
                    if let (Some(outer), Some(inner)) = (ghost, nodes.find(cell)) {
                        self.pairs.push(Pair { outer: outer as u32, inner: inner as u32, told });
                    }
                }
            }
        }
    }

    /// Of all velocities that keep the walls still, the one nearest in kinetic energy.
    pub fn hold(&mut self, nodes: &mut [f32]) {
        for &Pair { outer, inner, told } in &self.pairs {
            let (outer, inner) = (outer as usize, inner as usize);
            let (m, n) = (nodes[outer + 3], nodes[inner + 3]);
            let total = m + n;
            if total > 0.0 {
                let mut given = Vec3::ZERO;
                for c in 0..3 {
                    let v = (n * nodes[inner + c] - m * nodes[outer + c]) / total;
                    let (into, out) = (v - nodes[inner + c], -v - nodes[outer + c]);
                    given[c] = f64::from(n) * f64::from(into) + f64::from(m) * f64::from(out);
                    nodes[inner + c] = v;
                    nodes[outer + c] = -v;
                }
                if let Some(told) = told {
                    self.given[told as usize] += given;
                }
            }
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.pairs[..]) + size_of_val(&self.given[..])
    }
}
