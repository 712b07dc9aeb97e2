//! Principal moments and axes of a body.

use dermis_geometry::{MassProperties, Mat3, Quat, Vec3};
use nalgebra::Matrix3;

/// Principal moments of inertia about the centre of mass, and their axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Principal {
    /// Moments (kg m²), one for each axis.
    pub moments_kg_m2: Vec3,
    /// From the frame of the principal axes to the body's.
    pub body_from_axes: Quat,
}

impl Principal {
    pub fn of(mass: &MassProperties) -> Self {
        let [x, y, z] = [mass.inertia_kg_m2.x_axis, mass.inertia_kg_m2.y_axis, mass.inertia_kg_m2.z_axis];
        // Rapier's own decomposition compares with fixed numbers: it takes small tensors for diagonal ones.
        let eigen = Matrix3::new(x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z).symmetric_eigen();
        let axis = |k: usize| Vec3::from_slice(eigen.eigenvectors.column(k).as_slice());
        let (first, second) = (axis(0), axis(1));
        let axes = Mat3::from_cols(first, second, first.cross(second));
        let moment = |k: usize| eigen.eigenvalues[k];
        Self {
            moments_kg_m2: Vec3::new(moment(0), moment(1), moment(2)),
            body_from_axes: Quat::from_mat3(&axes).normalize(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::shapes::cuboid;

    /// Of large bodies and of dust, turned or not.
    #[test]
    fn axes_and_moments_give_the_tensor() {
        for scale in [1e-3, 1.0, 1e3] {
            for turn in [Quat::IDENTITY, Quat::from_rotation_y(0.7) * Quat::from_rotation_x(-1.9)] {
                let mesh = cuboid(Vec3::new(0.02, 0.01, 0.04) * scale).unwrap();
                let mut mass = mesh.mass_properties(0.05 * scale.powi(3)).unwrap();
                let turn = Mat3::from_quat(turn);
                mass.inertia_kg_m2 = turn * mass.inertia_kg_m2 * turn.transpose();
                let Principal { moments_kg_m2, body_from_axes } = Principal::of(&mass);
                let axes = Mat3::from_quat(body_from_axes);
                let again = axes * Mat3::from_diagonal(moments_kg_m2) * axes.transpose();
                for k in 0..3 {
                    let error = (again.col(k) - mass.inertia_kg_m2.col(k)).length();
                    assert!(error < 1e-12 * moments_kg_m2.max_element(), "{again:?} for {:?}", mass.inertia_kg_m2);
                }
            }
        }
    }
}
