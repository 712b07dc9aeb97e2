//! Particles as they are kept between runs.

use crate::gel::GelParameters;
use dermis_geometry::Vec3;

/// Particles as they are kept between runs, by number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// Places (m).
    pub at: Vec<Vec3>,
    /// Velocities (m/s).
    pub velocity: Vec<[f32; 3]>,
    /// Affine velocities (1/s).
    pub affine: Vec<[f32; 9]>,
    /// Deformation gradients.
    pub deformation: Vec<[f32; 9]>,
    /// The part of a whole particle that each is.
    pub part: Vec<f32>,
    /// 0: free; else led by one of the velocities, from 1.
    pub kind: Vec<u8>,
}

impl Body {
    /// Particles at rest.
    pub fn at_rest(at: Vec<Vec3>, part: Vec<f32>) -> Self {
        let n = at.len();
        Self {
            at,
            velocity: vec![[0.0; 3]; n],
            affine: vec![[0.0; 9]; n],
            deformation: vec![[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]; n],
            part,
            kind: vec![0; n],
        }
    }
}

/// Particles that are to move, and how: for an engine elsewhere.
#[derive(Clone, Debug)]
pub struct Flight {
    /// What they are made of.
    pub parameters: GelParameters,
    /// Corner of the grid (m).
    pub origin: Vec3,
    /// Edges of a cell (m).
    pub cell_m: Vec3,
    /// The cell above a plane across z at which the gel is held.
    pub floor: Option<i32>,
    /// Length of a step (s).
    pub dt_s: f64,
    /// Velocities (m/s) of led particles, the first of those that are held still.
    pub leads: Vec<[f32; 3]>,
    /// How many steps.
    pub steps: usize,
    /// The particles.
    pub body: Body,
}
