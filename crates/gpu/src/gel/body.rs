//! A gel, what is asked of it, and what was found: plain numbers.

use dermis_geometry::{Pose, Surface, Vec3};

/// How stress follows from deformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constitution {
    /// Neo-Hookean.
    NeoHookean,
    /// Fixed corotated.
    FixedCorotated,
    /// Small strains.
    Linear,
}

/// A gel on a grid. Cells are counted along x first, then y, then z; there are two nodes more than cells along each axis, node `i` in the
/// middle of cell `i − 1`; vectors on the nodes are three numbers a node, component by component.
#[derive(Clone, Debug)]
pub struct Body {
    /// Cells along x, y, z.
    pub cells: [usize; 3],
    /// Edges of a cell (m).
    pub cell_m: Vec3,
    /// Whether it is held at low x, high x, low y, high y, and below.
    pub bonded: [bool; 5],
    /// How stress follows from deformation.
    pub constitution: Constitution,
    /// Lamé's λ and μ (Pa).
    pub lame_pa: [f64; 2],
    /// The part of an eighth of a cell that each particle fills: by particle, then by cell.
    pub fill: Vec<f32>,
    /// The diagonal of the stiffness, on the nodes.
    pub diagonal: Vec<f64>,
    /// Points of the surface.
    pub points: Vec<Point>,
    /// What holds it inside.
    pub springs: Vec<Spring>,
    /// Stiffness against penetration and against sliding (Pa/m).
    pub contact_pa_per_m: [f64; 2],
    /// μ.
    pub friction: f64,
    /// How near a thing must be to a point to be looked at (m).
    pub reach_m: f64,
}

/// A place in the undeformed gel: a cell, and the weights of its three nodes along each axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// The cell along x, y, z.
    pub cell: [usize; 3],
    /// Weights along x, y, z.
    pub weights: [[f64; 3]; 3],
}

/// A point of the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Where it rests (m).
    pub rest: Vec3,
    /// The area it stands for (m²).
    pub area_m2: f64,
    /// How the nodes move it.
    pub spot: Spot,
}

/// A spring to where it rests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Its stiffness (N/m).
    pub newton_per_m: f64,
    /// How the nodes move it.
    pub spot: Spot,
}

/// What a point of the surface remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hold {
    /// The point.
    pub point: u32,
    /// The thing that presses on it.
    pub object: u32,
    /// Pressure (Pa).
    pub pressure_pa: f64,
    /// Where on the thing it sticks, in the thing's frame (m).
    pub anchor: Vec3,
}

/// A point near a thing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// The point.
    pub point: u32,
    /// The thing.
    pub object: u32,
    /// Distance (m), negative inside.
    pub distance_m: f64,
    /// Direction out of the thing.
    pub normal: Vec3,
    /// Where the point is (m).
    pub at: Vec3,
    /// Normal force (N).
    pub press_newton: f64,
    /// Tangential force on the gel (N).
    pub rub_newton: Vec3,
}

/// How well rest must hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Residual force by contact force.
    pub residual: f64,
    /// Mean penetration that is left (m).
    pub gap_m: f64,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Way<'a> {
    /// The things.
    pub surfaces: &'a [&'a Surface],
    /// Where they are: at first, and after every load.
    pub poses: &'a [Vec<Pose>],
    /// How well rest must hold on the way, and at its end.
    pub levels: [Level; 2],
    /// Displacement (m) of the nodes at first.
    pub nodes: &'a [f64],
    /// What the points remember.
    pub holds: &'a [Hold],
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Displacement (m) of the nodes; those outside held faces are not told.
    pub nodes: Vec<f64>,
    /// Forces (N) of the strain on the nodes.
    pub forces: Vec<f64>,
    /// Energy of the strain (J).
    pub strain_j: f64,
    /// Points near things, in their order.
    pub near: Vec<Near>,
    /// What points remember, in their order.
    pub holds: Vec<Hold>,
    /// Residual force by contact force.
    pub residual: f64,
    /// Steps of Newton's method, of conjugate gradients, updates of the pressures.
    pub steps: [usize; 3],
    /// The gel was turned inside out when it began.
    pub inverted: bool,
    /// What the GPU took (s), without copies.
    pub gpu_s: f64,
}
