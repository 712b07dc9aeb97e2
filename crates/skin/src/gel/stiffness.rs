//! The tangent stiffness of a gel in contact, and linear equations with it.

use super::elasticity::Elastic;
use super::problem::EquilibriumProblem;
use dermis_geometry::{Mat3, Vec3};
use rayon::prelude::*;

/// The derivative of the residual forces by the nodal displacements: elastic, of the fixed interfaces and of contact.
pub(super) struct Stiffness<'a> {
    pub elastic: &'a Elastic,
    pub problem: EquilibriumProblem<'a>,
    /// Elastic tangent of all particles.
    pub tangent: &'a [f32],
    /// Surface points in contact, each with its symmetric contact stiffness (N/m).
    pub contacts: Vec<(u32, Mat3)>,
}

/// Vectors of the method of conjugate gradients, kept between solutions.
pub(super) type Workspace = [Vec<f64>; 4];

/// A solution of linear equations.
pub(super) struct LinearSolution {
    /// Nodal values, with ghost nodes.
    pub values: Vec<f64>,
    /// Number of conjugate-gradient steps.
    pub steps: usize,
    /// False if the residual has not fallen enough: too many steps, or a stiffness that is not positive definite.
    pub converged: bool,
}

impl Stiffness<'_> {
    /// The stiffness times nodal displacements, whose ghost nodes are set; ghost nodes of the result are folded.
    fn product(&self, u: &[f64], out: &mut [f64]) {
        let EquilibriumProblem { grid, points, interfaces, .. } = self.problem;
        out.fill(0.0);
        self.elastic.product(self.tangent, u, out);
        for (point, block) in &self.contacts {
            let stencil = &points[*point as usize].stencil;
            grid.spread(out, stencil, *block * grid.at(u, stencil));
        }
        for interface in interfaces {
            let force = grid.at(u, &interface.stencil) * interface.stiffness_newton_per_m;
            grid.spread(out, &interface.stencil, force);
        }
        grid.fold_ghosts(out);
    }

    /// Inverse of the diagonal of the undeformed gel with that of contact.
    fn preconditioner(&self) -> Vec<f64> {
        let EquilibriumProblem { grid, points, diagonal, .. } = self.problem;
        let mut inverse = diagonal.to_vec();
        for (point, block) in &self.contacts {
            let stiffness = Vec3::new(block.x_axis.x, block.y_axis.y, block.z_axis.z);
            grid.spread_squared(&mut inverse, &points[*point as usize].stencil, stiffness);
        }
        for value in &mut inverse {
            *value = if *value > 0.0 { 1.0 / *value } else { 0.0 };
        }
        grid.clear_ghosts(&mut inverse);
        inverse
    }

    /// Solves for given nodal forces, whose ghost nodes are folded, by preconditioned conjugate gradients, until the
    /// preconditioned residual has fallen by the factor `forcing` or after `max_steps`. Along a direction of negative
    /// curvature it ends, in the first step with that direction.
    pub fn solve(&self, forces: &[f64], forcing: f64, max_steps: usize, work: &mut Workspace) -> LinearSolution {
        let grid = self.problem.grid;
        let inverse = self.preconditioner();
        let [r, p, q, z] = work;
        let mut values = vec![0.0; r.len()];
        r.copy_from_slice(forces);
        multiply(z, &inverse, r);
        p.copy_from_slice(z);
        let mut rho = dot(r, z);
        let goal = forcing * forcing * rho;
        let (mut steps, mut converged) = (0, rho == 0.0);
        while !converged && steps < max_steps {
            grid.set_ghosts(p);
            self.product(p, q);
            let curvature = dot(p, q);
            steps += 1;
            if curvature <= 0.0 {
                if values.iter().all(|value| *value == 0.0) {
                    values.copy_from_slice(p);
                }
                break;
            }
            let alpha = rho / curvature;
            axpy(&mut values, alpha, p);
            axpy(r, -alpha, q);
            multiply(z, &inverse, r);
            let next = dot(r, z);
            converged = next <= goal;
            if converged {
                break;
            }
            let beta = next / rho;
            rho = next;
            p.par_iter_mut().with_min_len(CHUNK).zip(&*z).for_each(|(p, z)| *p = z + beta * *p);
        }
        grid.set_ghosts(&mut values);
        LinearSolution { values, steps, converged }
    }
}

/// Length of the chunks of sums: fixed, so that results do not depend on the number of threads.
const CHUNK: usize = 8192;

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let parts: Vec<f64> =
        a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK)).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum()).collect();
    parts.iter().sum()
}

pub(super) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn multiply(out: &mut [f64], a: &[f64], b: &[f64]) {
    out.par_iter_mut().with_min_len(CHUNK).zip(a).zip(b).for_each(|((out, a), b)| *out = a * b);
}

fn axpy(out: &mut [f64], factor: f64, a: &[f64]) {
    out.par_iter_mut().with_min_len(CHUNK).zip(a).for_each(|(out, a)| *out += factor * a);
}
