//! The relative motion of pairs of a sensor and an object under forces, from MuJoCo's mass matrix.
//!
//! With the Jacobian J of the relative velocities, MuJoCo's integrator solves (M + h D) v̇ = τ, where D is the joint
//! damping that it treats implicitly (none with Runge–Kutta). Equality constraints with Jacobian E and regularisation R
//! resist a change of the contact force by a force of their own, so a change of the contact force meets the inertia
//! H = M + h D + Eᵀ R⁻¹ E. All inverses follow from MuJoCo's factorisation of M and the Woodbury identity:
//! ```text
//! (M + Cᵀ P⁻¹ C)⁻¹ = M⁻¹ − M⁻¹ Cᵀ (P + C M⁻¹ Cᵀ)⁻¹ C M⁻¹
//! ```

use crate::implicit::Lag;
use crate::{Data, Model};
use nalgebra::{DMatrix, DVector};

/// Acceleration and inverse inertia of the relative motion.
pub(crate) struct Dynamics {
    /// Relative acceleration without a contact force.
    pub acceleration: DVector<f64>,
    /// J H⁻¹ Jᵀ.
    pub mobility: DMatrix<f64>,
}

impl Dynamics {
    /// `jacobian` has rows of `nv` numbers.
    pub fn new(model: &Model<'_>, data: &mut Data<'_>, jacobian: &[f64], lag: &Lag) -> Option<Self> {
        let (dofs, step_s) = (model.dofs(), model.step_s());
        let count = jacobian.len() / dofs;
        let mut rows = jacobian.to_vec();
        // P of the rows of C: joint damping, then equality constraints.
        let mut compliance = Vec::new();
        for (dof, &damping) in model.implicit_damping().unwrap_or_default().iter().enumerate() {
            if damping > 0.0 && (0..count).any(|row| jacobian[row * dofs + dof] != 0.0) {
                rows.extend((0..dofs).map(|other| f64::from(u8::from(other == dof))));
                compliance.push(1.0 / (step_s * damping));
            }
        }
        let damped = compliance.len();
        let (equalities, regularisation) = data.equalities();
        rows.extend(equalities);
        compliance.extend(regularisation);
        let solved = data.solve_inertia(&rows);
        let all = count + compliance.len();
        let x = |row: usize| &rows[row * dofs..][..dofs];
        let y = |row: usize| &solved[row * dofs..][..dofs];
        let mut gram = DMatrix::zeros(all, all);
        for i in 0..all {
            for j in 0..=i {
                let entry = dot(x(i), y(j));
                (gram[(i, j)], gram[(j, i)]) = (entry, entry);
            }
        }
        let mut forces = data.smooth_forces();
        forces.iter_mut().zip(&lag.constraint).for_each(|(force, solver)| *force += solver);
        let accelerations = |forces: &[f64]| DVector::from_fn(all, |row, _| dot(y(row), forces));
        let mut acceleration = accelerations(&forces);
        let (damping, equalities) = compliance.split_at(damped);
        if equalities.is_empty() {
            eliminate(&mut gram, &mut [&mut acceleration], count, damping)?;
        } else {
            let mut skin = accelerations(&lag.skin);
            eliminate(&mut gram, &mut [&mut acceleration, &mut skin], count, damping)?;
            acceleration += &skin;
            eliminate(&mut gram, &mut [&mut skin], count + damped, equalities)?;
            acceleration -= skin;
        }
        if all == count {
            return Some(Self { acceleration, mobility: gram });
        }
        let mobility = gram.view((0, 0), (count, count)).into_owned();
        Some(Self { acceleration: acceleration.rows(0, count).into_owned(), mobility })
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds the rows from `first` on, with their P, to the inertia behind a Gram matrix X M⁻¹ Xᵀ and vectors X M⁻¹ τ.
fn eliminate(
    gram: &mut DMatrix<f64>,
    vectors: &mut [&mut DVector<f64>],
    first: usize,
    compliance: &[f64],
) -> Option<()> {
    let count = compliance.len();
    if count == 0 {
        return Some(());
    }
    let mut inner = gram.view((first, first), (count, count)).into_owned();
    compliance.iter().enumerate().for_each(|(i, p)| inner[(i, i)] += p);
    let inner = inner.lu();
    let columns = gram.columns(first, count).into_owned();
    for vector in vectors {
        let part = inner.solve(&vector.rows(first, count).into_owned())?;
        **vector -= &columns * part;
    }
    *gram -= &columns * inner.solve(&columns.transpose())?;
    Some(())
}
