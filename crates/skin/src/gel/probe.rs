//! Motion of the material at places inside a gel.

use super::reference_grid::{ReferenceGrid, Stencil};
use crate::layer::MaterialMotion;
use dermis_geometry::{Mat3, Quat, Vec3};

/// A place of the undeformed gel whose displacement and rotation are reported.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    middle: Stencil,
    /// Places on both sides along x, y and z.
    sides: [[Stencil; 2]; 3],
    /// Distance of the two sides (m).
    span_m: f64,
}

/// Distance of the two sides, by the edge of a cell.
const SPAN: f64 = 0.5;
/// Iterations of the polar decomposition; it converges quadratically.
const ITERATIONS: usize = 20;

impl Probe {
    /// A probe at a place (m) of the undeformed gel.
    pub fn new(grid: &ReferenceGrid, at: Vec3) -> Self {
        let span_m = SPAN * grid.cell_m.min_element();
        let side = |axis: Vec3| [-0.5, 0.5].map(|part| grid.stencil(at + axis * (part * span_m)));
        Self { middle: grid.stencil(at), sides: [Vec3::X, Vec3::Y, Vec3::Z].map(side), span_m }
    }

    /// The motion for nodal displacements `u` (m): the rotation is that of the polar decomposition of the deformation
    /// gradient.
    pub fn motion(&self, grid: &ReferenceGrid, u: &[f64]) -> MaterialMotion {
        let slope = |[low, high]: &[Stencil; 2]| (grid.at(u, high) - grid.at(u, low)) / self.span_m;
        let [x, y, z] = &self.sides;
        let deformation = Mat3::IDENTITY + Mat3::from_cols(slope(x), slope(y), slope(z));
        MaterialMotion { displacement_m: grid.at(u, &self.middle), rotation_rad: rotation_of(deformation) }
    }
}

/// The rotation vector (rad) of a deformation gradient, by Newton's iteration of its polar factor (Higham 1986): R ← ½(R + R⁻ᵀ).
fn rotation_of(deformation: Mat3) -> Vec3 {
    let mut rotation = deformation;
    for _ in 0..ITERATIONS {
        if rotation.determinant().abs() < 1e-12 {
            break;
        }
        rotation = (rotation + rotation.inverse().transpose()) * 0.5;
    }
    Quat::from_mat3(&rotation).normalize().to_scaled_axis()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rotation after a stretch is found, whatever the stretch.
    #[test]
    fn the_rotation_of_a_stretched_material_is_found() {
        let truth = Vec3::new(0.3, -0.2, 0.5);
        let rotation = Mat3::from_quat(Quat::from_scaled_axis(truth));
        let stretch = Mat3::from_cols(Vec3::new(1.4, 0.1, 0.0), Vec3::new(0.1, 0.8, 0.05), Vec3::new(0.0, 0.05, 0.6));
        assert!((rotation_of(rotation * stretch) - truth).length() < 1e-12);
        assert!(rotation_of(stretch).length() < 1e-12);
    }
}
