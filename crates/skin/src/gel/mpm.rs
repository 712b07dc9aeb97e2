//! The moving gel: MLS-MPM with quadratic B-splines and affine velocities.
//!
//! Hu et al. 2018, as used by Chen et al. 2023, eqs (1)–(11). Ours differs in: true volumes; particles sorted into blocks of 4³
//! cells; one pass over them a step, which takes velocities from the grid, moves the particle, and gives mass and momentum back
//! while it is at hand; every block writes a tile of its own, and tiles are added in a fixed order, so that results do not
//! depend on the number of threads; bonded borders lie on knots and are still exactly.

mod blocks;
mod body;
mod cloud;
mod columns;
mod engine;
mod grid;
mod nodes;
mod pass;
mod walls;

pub use body::{Body, Flight};
pub use cloud::{Cloud, Totals};
pub(crate) use engine::{Engine, Settings, stable_step_s};
pub(crate) use grid::Grid;
pub(crate) use walls::Wall;
