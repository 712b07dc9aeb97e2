//! The Jacobian of the features with respect to tool motion, and its inverse.

use crate::{Dof, Dofs, TactileFeatures};
use dermis_geometry::{Pose, Quat, Vec3};
use nalgebra::{DMatrix, DVector};

/// Error when building a servo.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum ServoError {
    /// The tool had no contact where the Jacobian was measured.
    #[error("the array feels nothing when the tool is moved by {step:e} in {dof:?}; start from a firm contact")]
    NoContact { dof: Dof, step: f64 },
    /// A selected motion does not change the selected features.
    #[error(
        "the selected features do not tell all selected motions apart: a motion mostly in {dof:?} changes them only {ratio:.1e} as much as the clearest does; leave {dof:?} out of the selection or choose a contact that shows it"
    )]
    Unobservable { dof: Dof, ratio: f64 },
    /// No degree of freedom is selected.
    #[error("no degree of freedom is selected")]
    NothingSelected,
}

/// The derivative of each feature (rows) with respect to each motion of the tool in its own frame (columns), both in
/// the order of [`Dof::ALL`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TactileJacobian {
    /// Rows: features; columns: degrees of freedom.
    pub rows: [[f64; 6]; 6],
    /// Characteristic displacement (m, rad) of each degree of freedom, used to compare columns.
    pub scale: [f64; 6],
}

/// Minimum ratio of the smallest to the largest singular value of the scaled Jacobian; smaller ratios are refused.
const MIN_RATIO: f64 = 1e-3;

impl TactileJacobian {
    /// Creates a diagonal Jacobian with these gains (unit of the feature per m or rad).
    pub fn diagonal(gains: [f64; 6], scale: [f64; 6]) -> Self {
        let rows = std::array::from_fn(|i| std::array::from_fn(|j| if i == j { gains[i] } else { 0.0 }));
        Self { rows, scale }
    }

    /// Measures the Jacobian by central differences. `probe` returns the features with the tool displaced by a small
    /// pose in its own frame; `step` is the displacement in both directions (m, rad).
    pub fn measure<E: From<ServoError>>(
        step: [f64; 6],
        mut probe: impl FnMut(&Pose) -> Result<Option<TactileFeatures>, E>,
    ) -> Result<Self, E> {
        let mut rows = [[0.0; 6]; 6];
        for dof in Dof::ALL {
            let h = step[dof as usize];
            let mut felt = |h: f64| -> Result<TactileFeatures, E> {
                let none = ServoError::NoContact { dof, step: h };
                probe(&displacement(dof, h))?.ok_or_else(|| none.into())
            };
            let change = felt(-h)?.until(&felt(h)?);
            for (row, change) in rows.iter_mut().zip(change) {
                row[dof as usize] = change / (2.0 * h);
            }
        }
        Ok(Self { rows, scale: step })
    }

    /// Returns the diagonal of the Jacobian. Cross terms are valid only near the pose where they were measured; far
    /// away, for example for an edge rotated by 90°, they are wrong.
    pub fn decoupled(&self) -> Self {
        Self::diagonal(std::array::from_fn(|i| self.rows[i][i]), self.scale)
    }

    /// Maps an error of the selected features to the motion of the selected degrees of freedom that removes it. All
    /// other entries are zero. Refuses a selection for which the Jacobian is nearly singular.
    pub fn inverse(&self, selected: Dofs) -> Result<[[f64; 6]; 6], ServoError> {
        let dofs: Vec<Dof> = selected.iter().collect();
        let n = dofs.len();
        if n == 0 {
            return Err(ServoError::NothingSelected);
        }
        // Metres, radians and newtons are not comparable: scales columns by `scale` and normalises rows to length 1.
        let mut scaled =
            DMatrix::from_fn(n, n, |i, j| self.rows[dofs[i] as usize][dofs[j] as usize] * self.scale[dofs[j] as usize]);
        let lengths = DVector::from_fn(n, |i, _| scaled.row(i).norm());
        for i in 0..n {
            if lengths[i] > 0.0 {
                scaled.row_mut(i).unscale_mut(lengths[i]);
            }
        }
        let svd = scaled.svd(true, true);
        let (u, v_t) = (svd.u.unwrap_or_default(), svd.v_t.unwrap_or_default());
        let ratio = svd.singular_values.min() / svd.singular_values.max();
        if ratio.is_nan() || ratio < MIN_RATIO {
            let weakest = v_t.row(svd.singular_values.imin()).iamax_full().1;
            return Err(ServoError::Unobservable { dof: dofs[weakest], ratio });
        }
        let inverse = v_t.transpose() * DMatrix::from_diagonal(&svd.singular_values.map(|s| 1.0 / s)) * u.transpose();
        let mut full = [[0.0; 6]; 6];
        for (j, feature) in dofs.iter().enumerate() {
            for (i, motion) in dofs.iter().enumerate() {
                full[*motion as usize][*feature as usize] = inverse[(i, j)] * self.scale[*motion as usize] / lengths[j];
            }
        }
        Ok(full)
    }
}

/// A pose displaced by `by` (m or rad) in one degree of freedom.
fn displacement(dof: Dof, by: f64) -> Pose {
    let axis = [Vec3::X, Vec3::Y, Vec3::Z][dof as usize % 3];
    match dof {
        Dof::X | Dof::Y | Dof::Z => Pose::from_translation(axis * by),
        Dof::Rx | Dof::Ry | Dof::Rz => Pose::from_rotation(Quat::from_axis_angle(axis, by)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::Vec2;

    /// A full Jacobian with distinct entries.
    fn mixed() -> TactileJacobian {
        let scale = [1e-3, 1e-3, 1e-3, 0.02, 0.02, 0.02];
        let weight = [1.0, 1.0, 1e3, 0.1, 0.1, 1.0];
        let rows = std::array::from_fn(|i| {
            std::array::from_fn(|j| weight[i] * (if i == j { 1.0 } else { 0.1 } + 0.02 * (i * 6 + j) as f64).sin())
        });
        TactileJacobian { rows, scale }
    }

    #[test]
    fn the_inverse_undoes_the_selected_part_for_every_selection() {
        let jacobian = mixed();
        for set in 1..64u32 {
            let dofs: Vec<Dof> = Dof::ALL.into_iter().filter(|&dof| set >> (dof as u32) & 1 == 1).collect();
            let selected = Dofs::of(&dofs);
            let inverse = jacobian.inverse(selected).unwrap();
            for (i, j) in (0..36).map(|k| (k / 6, k % 6)) {
                let product: f64 = (0..6)
                    .filter(|&k| selected.has(Dof::ALL[k]) && selected.has(Dof::ALL[j]))
                    .map(|k| inverse[i][k] * jacobian.rows[k][j])
                    .sum();
                let truth = f64::from(i == j && selected.has(Dof::ALL[i]));
                assert!((product - truth).abs() < 1e-9, "{dofs:?} ({i}, {j}): {product}");
            }
        }
    }

    #[test]
    fn a_motion_without_effect_is_refused_by_name() {
        let mut jacobian = mixed();
        for row in &mut jacobian.rows {
            row[Dof::Ry as usize] = 0.0;
        }
        let error = jacobian.inverse(Dofs::all()).unwrap_err();
        assert!(matches!(error, ServoError::Unobservable { dof: Dof::Ry, .. }), "{error}");
        assert!(jacobian.inverse(Dofs::of(&[Dof::X, Dof::Z, Dof::Rz])).is_ok());
        assert_eq!(jacobian.inverse(Dofs::default()), Err(ServoError::NothingSelected));
    }

    /// Central differences recover the coefficients of features that are linear in the displacement.
    #[test]
    fn measuring_a_linear_contact_gives_its_coefficients() {
        let probe = |moved: &Pose| -> Result<_, ServoError> {
            let rotation = moved.rotation.to_scaled_axis();
            Ok(Some(TactileFeatures {
                total_newton: 3.0 + 2e3 * moved.translation.z,
                center_m: Vec2::new(-moved.translation.x, -moved.translation.y),
                lean_m: Vec2::new(-0.01 * rotation.y, 0.02 * rotation.x),
                direction_rad: 1.0 - rotation.z,
                elongation: 1.0,
            }))
        };
        let jacobian = TactileJacobian::measure([1e-4, 1e-4, 1e-4, 1e-2, 1e-2, 1e-2], probe).unwrap();
        let truth = TactileJacobian::diagonal([-1.0, -1.0, 2e3, 0.02, -0.01, -1.0], jacobian.scale);
        for (row, truth) in jacobian.rows.iter().flatten().zip(truth.rows.iter().flatten()) {
            assert!((row - truth).abs() < 1e-9);
        }
        let nothing = TactileJacobian::measure([1e-4; 6], |_| Ok::<_, ServoError>(None));
        assert!(matches!(nothing, Err(ServoError::NoContact { dof: Dof::X, .. })));
    }
}
