//! A step of a layer with friction, divided into increments of depth.

use super::indenter::IndenterHeightMap;
use super::parameters::{LayerContact, LayerParameters};
use super::product::Region;
use super::response::{Output, SurfaceResponse};
use super::solution::{Increment, SURFACE, SlidingFriction, Solution, Solver, Step};
use super::state::{LayerState, moved};

/// Tolerance of all increments but the last, relative to that of the contact.
const PATH_TOLERANCE: f64 = 3.0;
/// Used fraction of the friction limit up to which a step is solved at once, and the part of it that is then uncertain.
const MAX_USED_AT_ONCE: f64 = 0.15;
const UNCERTAIN_AT_ONCE: f64 = 1.0 / 3.0;
/// Error, as a fraction of the friction limit, up to which one increment is accepted after a comparison with two.
const MAX_ERROR_AT_ONCE: f64 = 0.02;

/// A step in which objects move up or down.
///
/// A cell sticks to an object where it first touches it, so the shear depends on the path. In one increment a cell sticks
/// where it was before the step; in truth the approaching object pushes it aside before.
struct Path<'a> {
    solver: &'a Solver<'a>,
    step: Step<'a>,
    /// Change of depth (m) of each object, and its larger depth.
    rises_m: Vec<[f64; 2]>,
    /// The cells that are in contact at the end.
    region: Region,
}

impl Solver<'_> {
    /// Solves the contact after a step, in increments if its shear depends on the path.
    ///
    /// Divides the change of depth into at most [`LayerParameters::max_increments`] parts, and into half as many to
    /// estimate the error, if one increment uses much of the friction limit and differs from two.
    pub fn solve(&self, step: Step<'_>) -> Solution {
        let mut at_once = self.increment(&step, &Increment::default());
        let used = step.used(&at_once);
        if used <= MAX_USED_AT_ONCE {
            at_once.effort.path_error = UNCERTAIN_AT_ONCE * used;
            return at_once;
        }
        let path = Path { solver: self, step, rises_m: self.rises_m(&step), region: at_once.region };
        let count = path.increments();
        if count < 2 {
            return at_once;
        }
        let loose = path.loose();
        let halves = path.divided(2, &loose, &loose);
        // The error is of first order: two increments halve it. Flat objects touch all cells at once and have none.
        let error = 2.0 * (used - step.used(&halves)).abs();
        if error <= MAX_ERROR_AT_ONCE {
            at_once.effort.path_error = error;
            return at_once;
        }
        let mut fine = path.divided(count, &loose, self.parameters);
        let coarse = if count < 4 {
            at_once.clone()
        } else if count < 6 {
            halves
        } else {
            path.divided(count / 2, &loose, &loose)
        };
        fine.effort.path_error = (step.used(&fine) - step.used(&coarse)).abs();
        fine.effort.iterations += at_once.effort.iterations + coarse.effort.iterations;
        fine.effort.products += at_once.effort.products + coarse.effort.products;
        fine
    }

    /// Change of depth (m) of each object in a step, and its larger depth; empty without friction or coupling. The depth
    /// before is the largest displacement of the cells that the object still covers.
    fn rises_m(&self, step: &Step<'_>) -> Vec<[f64; 2]> {
        let Step { state, indenter, friction, .. } = *step;
        let objects = indenter.owner.iter().max().map_or(0, |&owner| owner as usize + 1);
        let rubs = |owner: usize| (friction.contact)(owner as u32).has_friction();
        if self.parameters.max_increments < 2 || !self.parameters.coupled || !(0..objects).any(rubs) {
            return Vec::new();
        }
        let mut depths_m = vec![[0.0f64; 2]; objects];
        let mut include = |cell: usize, which: usize, depth_m: f64| {
            let depth = &mut depths_m[indenter.owner[cell] as usize][which];
            *depth = depth.max(depth_m);
        };
        for (cell, &depth_m) in indenter.depth_m.iter().enumerate() {
            include(cell, 1, depth_m);
        }
        if state.pressure.iter().any(|&p| p > 0.0) {
            let response = SurfaceResponse { influences: self.influences, coupled: true };
            let down_m = &response.of(&state.region, &state.lasting, &state.region, &[Output::Z])[0];
            for i in (0..state.region.len()).filter(|&i| state.pressure[i] > 0.0) {
                let cell = state.region.cell(i, state.cols);
                if indenter.depth_m[cell] > 0.0 {
                    include(cell, 0, down_m[i]);
                }
            }
        }
        depths_m.into_iter().map(|[before, after]| [after - before, after.max(before)]).collect()
    }
}

impl Step<'_> {
    /// The used fraction of the friction limit.
    fn used(&self, solution: &Solution) -> f64 {
        let [x, y, pressure] = &solution.tractions.parts;
        let (mut shear, mut limit) = (0.0, 0.0);
        for i in 0..pressure.len() {
            let owner = self.indenter.owner[solution.region.cell(i, self.state.cols)];
            shear += x[i].hypot(y[i]);
            limit += (self.friction.contact)(owner).max_shear_pa(pressure[i]);
        }
        if limit > 0.0 { shear / limit } else { 0.0 }
    }
}

impl Path<'_> {
    /// Number of increments: in proportion to the largest relative change of depth.
    fn increments(&self) -> usize {
        let part = |&[rise_m, max_m]: &[f64; 2]| if max_m > 0.0 { rise_m.abs() / max_m } else { 0.0 };
        let largest = self.rises_m.iter().map(part).fold(0.0, f64::max);
        let max = self.solver.parameters.max_increments;
        ((max as f64 * largest - 1e-3).ceil() as usize).clamp(1, max)
    }

    /// The parameters with a larger tolerance.
    fn loose(&self) -> LayerParameters {
        let contact = self.solver.parameters.contact;
        let tolerance = PATH_TOLERANCE * contact.tolerance;
        LayerParameters { contact: LayerContact { tolerance, ..contact }, ..self.solver.parameters.clone() }
    }

    /// Solves the step in `count` increments, the last one with other parameters.
    fn divided(&self, count: usize, parameters: &LayerParameters, last: &LayerParameters) -> Solution {
        let Step { state, friction, dt_s, .. } = self.step;
        let by = 1.0 / count as f64;
        let slide_m = |owner: u32, cell: usize| (friction.slide_m)(owner, cell).map(|slide_m| slide_m * by);
        let friction = &SlidingFriction { contact: friction.contact, slide_m: &slide_m };
        let dt_s = dt_s.map(|dt_s| dt_s * by);
        let run = |k: usize, state: &LayerState, indenter: &IndenterHeightMap, drift_m: Option<&[Vec<f64>; 2]>| {
            let parameters = if k == count { last } else { parameters };
            let solver = Solver { influences: self.solver.influences, parameters };
            let increment = Increment { region: Some(self.region), drift_m, state_only: k < count };
            solver.increment(&Step { state, indenter, friction, dt_s }, &increment)
        };
        let mut before = Passed::new(self, state, &self.raised(1.0));
        let mut raised = self.raised(1.0 - by);
        let mut solution = run(1, state, &raised, None);
        for k in 2..=count {
            let now = Passed::new(self, &solution.state, &raised);
            raised = self.raised(1.0 - k as f64 * by);
            let last = solution;
            solution = run(k, &last.state, &raised, Some(&now.drift_m(&before)));
            before = now;
            solution.effort.iterations += last.effort.iterations;
            solution.effort.products += last.effort.products;
            solution.effort.unsolved = solution.effort.unsolved.max(last.effort.unsolved);
        }
        solution
    }

    /// The indenter with the given fraction of the rise undone.
    fn raised(&self, part: f64) -> IndenterHeightMap {
        let indenter = self.step.indenter;
        let depths = indenter.depth_m.iter().zip(&indenter.owner);
        let depth_m = depths.map(|(depth_m, &owner)| depth_m - part * self.rises_m[owner as usize][0]).collect();
        IndenterHeightMap { depth_m, owner: indenter.owner.clone(), covered: indenter.covered.clone() }
    }
}

/// Surface displacement (m) and gap (m) to the indenter after an increment, on the region of a path.
struct Passed {
    along_m: [Vec<f64>; 2],
    gap_m: Vec<f64>,
}

impl Passed {
    fn new(path: &Path<'_>, state: &LayerState, indenter: &IndenterHeightMap) -> Self {
        let response = SurfaceResponse { influences: path.solver.influences, coupled: true };
        let mut surface_m = response.of(&state.region, &state.lasting, &path.region, &SURFACE).into_iter();
        let [x, y, down] = std::array::from_fn(|_| surface_m.next().unwrap_or_default());
        let depth_m = path.region.cut(&indenter.depth_m, state.cols);
        // Exactly zero in contact, where only the residual of the solver remains.
        let pressure = moved(&state.pressure, &state.region, &path.region);
        let gap = |((down, depth), p): ((&f64, f64), f64)| if p > 0.0 { 0.0 } else { down - depth };
        Self { along_m: [x, y], gap_m: down.iter().zip(depth_m).zip(pressure).map(gap).collect() }
    }

    /// Tangential displacement (m) of each cell until the object touches it, extrapolated from the last increment. Zero
    /// for cells in contact and for cells that the object does not approach.
    fn drift_m(&self, before: &Self) -> [Vec<f64>; 2] {
        let part = |(gap_m, before_m): (&f64, &f64)| {
            let closed_m = before_m - gap_m;
            if closed_m > 0.0 { (gap_m / closed_m).clamp(0.0, 1.0) } else { 0.0 }
        };
        let parts: Vec<f64> = self.gap_m.iter().zip(&before.gap_m).map(part).collect();
        [0, 1].map(|axis| {
            let moved = self.along_m[axis].iter().zip(&before.along_m[axis]);
            parts.iter().zip(moved).map(|(part, (now, before))| part * (now - before)).collect()
        })
    }
}
