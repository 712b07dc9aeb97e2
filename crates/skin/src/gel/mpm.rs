//! Explicit dynamics of a gel: MLS-MPM with quadratic B-splines and affine velocities (APIC).
//!
//! Hu et al. 2018, as used by Chen et al. 2023, eqs (1)–(11). Differences: true particle volumes; particles sorted into
//! blocks of 4³ cells; one sweep per step (G2P, advection, P2G) while a particle is in registers; every block writes
//! its own tile, and tiles are summed in a fixed order, so results do not depend on the number of threads; fixed faces
//! lie on knots, where the velocity is exactly zero.

mod blocks;
mod columns;
mod impulses;
mod nodes;
mod particle_block;
mod particles;
mod solver;
mod transfer;
mod walls;

pub(crate) use impulses::GridImpulses;
pub use particle_block::{ParticleBlock, Totals};
pub use particles::{MpmSetup, MpmSteps, ParticleState};
pub(crate) use solver::{MpmSolver, stable_step_s};
pub use walls::Wall;
