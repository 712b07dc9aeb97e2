//! The region of a press on a layer, and lists of presses, in the layout of the kernels.

use crate::cuda_struct::cuda_struct;
use dermis_skin::layer::{Effort, OneIncrement};

cuda_struct! {
    /// The region of cells where a press is solved, and the progress of its solution.
    pub(super) struct ContactRegion {
        pub row: i32,
        pub col: i32,
        pub rows: i32,
        pub cols: i32,
        /// Index of the transform size.
        pub size: i32,
        /// Status: [`OPEN`], [`TOO_DEEP`], or one that only the kernels use.
        pub status: i32,
        /// Number of times the region was solved, and total number of iterations.
        pub growths: i32,
        pub iterations: i32,
        /// Largest depth (m) of the object below the rest surface.
        pub max_depth: f64,
        /// With friction, of the solution: used fraction of the friction limit, largest displacement (m) along the
        /// surface of a cell in contact by the pressure alone and of any cell, and smallest depth (m) over the contact.
        pub used: f64,
        pub pushed: f64,
        pub motion: f64,
        pub min_depth: f64,
        /// Largest relative error of a solver that stopped before its tolerance.
        pub unsolved: f64,
    }
}

cuda_struct! {
    /// A list of presses that blocks take one after the other: how many are taken, and how many there are.
    #[derive(Default)]
    pub(super) struct PressQueue {
        pub taken: i32,
        pub count: i32,
    }
}

impl ContactRegion {
    /// Number of cells.
    pub fn cells(&self) -> i32 {
        self.rows * self.cols
    }

    /// Iterations and errors of the solution, after one with the given largest depth (m); the error of its one increment is
    /// zero without contact or friction.
    pub fn effort_after(&self, last_depth: f64) -> Effort {
        let (rise, deeper) = ((self.max_depth - last_depth).abs(), self.max_depth.max(last_depth));
        let reached = if rise > 0.0 { (deeper - self.min_depth) / rise } else { 0.0 };
        let increment = OneIncrement { used: self.used, pushed_m: self.pushed, motion_m: self.motion, reached };
        let path_error = if rise > 0.0 { rise / deeper * increment.path_error() } else { 0.0 };
        Effort { iterations: self.iterations as usize, unsolved: self.unsolved, path_error, ..Effort::default() }
    }
}

/// Statuses that the host handles: not solved yet, and refused.
pub(super) const OPEN: i32 = 1;
pub(super) const TOO_DEEP: i32 = 4;
