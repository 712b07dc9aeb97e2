//! Particles as they are kept between runs.

use dermis_geometry::Vec3;

/// Particles as they are kept between runs, by number.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Body {
    /// Places (m).
    pub at: Vec<Vec3>,
    pub velocity: Vec<[f32; 3]>,
    pub affine: Vec<[f32; 9]>,
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
