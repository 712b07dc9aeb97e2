//! A step of a layer with friction, divided into increments of depth.

use super::indenter::IndenterHeightMap;
use super::parameters::{LayerContact, LayerParameters};
use super::product::Region;
use super::relaxation::Tractions;
use super::response::{Output, SurfaceResponse};
use super::solution::{Increment, SURFACE, SlidingFriction, Solution, Solver, Step};
use super::state::{LayerState, moved};
use crate::Warning;

/// Tolerance of all increments but the last, relative to that of the contact.
const PATH_TOLERANCE: f64 = 3.0;
/// Error up to which a step is solved at once.
const MAX_ERROR_AT_ONCE: f64 = 0.055;
/// Error of one increment, measured under balls: of the shear, as a fraction of the shear, and of the largest motion of
/// the surface, as a fraction of the tangential displacement of the cells in contact without friction. The latter holds
/// below the error above, where the largest motion is beside the contact; otherwise it is a lower bound.
const SHEAR_UNCERTAIN: f64 = 1.0 / 3.0;
const MOTION_UNCERTAIN: f64 = 0.1;
/// Maximum error without a warning.
const MAX_PATH_ERROR: f64 = 0.1;
/// Part of a step within which objects may reach all cells for the path not to matter.
const EARLY: f64 = 1.0 / 8.0;
/// Factor of safety of the error after several increments.
const SAFETY: f64 = 2.0;

/// A step that was solved at once.
#[derive(Clone, Copy, Debug)]
pub struct OneIncrement {
    /// Used fraction of the friction limit.
    pub used: f64,
    /// Largest tangential displacement (m) of a cell in contact by the pressure alone.
    pub pushed_m: f64,
    /// Largest tangential displacement (m) of the surface.
    pub motion_m: f64,
    /// The part of the step after which the undeformed objects have reached all cells in contact.
    pub reached: f64,
}

impl OneIncrement {
    /// Estimated error, as of [`super::Effort::path_error`], of a step from rest. Zero if the objects reach all cells at
    /// once, as a flat punch does.
    pub fn path_error(&self) -> f64 {
        if self.reached <= EARLY || self.used == 0.0 {
            return 0.0;
        }
        (SHEAR_UNCERTAIN * self.used).max(MOTION_UNCERTAIN * self.pushed_m / self.motion_m.max(f64::MIN_POSITIVE))
    }
}

/// The warning of a path error above 0.1.
pub fn coarse_path(error: f64) -> Option<Warning> {
    (error > MAX_PATH_ERROR).then_some(Warning::CoarsePath { error })
}

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
    /// Solves the contact after a step, in increments of depth if its shear depends on the path.
    ///
    /// The number of increments is in proportion to the relative change of depth, at most
    /// [`LayerParameters::max_increments`], and 1 if the error of one increment is small. The error is of first order in
    /// the increments, and so follows from the difference between one and several.
    pub fn solve(&self, step: Step<'_>) -> Solution {
        self.solve_and_keep(step, &mut |_| ())
    }

    /// Like [`Solver::solve`]; `keep` is called with the state after each increment but the last.
    pub(super) fn solve_and_keep(&self, step: Step<'_>, keep: &mut dyn FnMut(&LayerState)) -> Solution {
        let mut at_once = self.increment(&step, &Increment::default());
        let path = Path { solver: self, step, rises_m: self.rises_m(&step), region: at_once.region };
        let count = path.increments();
        if path.relative_rise() == 0.0 {
            return at_once;
        }
        at_once.effort.path_error = path.relative_rise() * path.one_increment(&at_once).path_error();
        if count < 2 || at_once.effort.path_error <= MAX_ERROR_AT_ONCE {
            return at_once;
        }
        let mut divided = path.divided(count, &path.loose(), keep);
        let (motion_m, at_once_m) = (largest_motion_m(&divided), largest_motion_m(&at_once));
        let shear = (step.used(&divided) - step.used(&at_once)).abs();
        let motion = (motion_m - at_once_m).abs() / motion_m.max(f64::MIN_POSITIVE);
        divided.effort.path_error = SAFETY * shear.max(motion) / (count - 1) as f64;
        divided.effort.add_counts(&at_once.effort);
        divided
    }

    /// Change of depth (m) of each object in a step, and its larger depth; empty without friction or coupling. The depth
    /// before is the largest displacement of the cells that the object still covers.
    fn rises_m(&self, step: &Step<'_>) -> Vec<[f64; 2]> {
        let Step { state, indenter, friction, .. } = *step;
        // Cells that no object covers name the first one, which need not exist.
        let covered = indenter.owner.iter().zip(&indenter.depth_m).filter(|(_, depth_m)| depth_m.is_finite());
        let objects = covered.map(|(&owner, _)| owner as usize + 1).max().unwrap_or(0);
        let rubs = |owner: usize| (friction.contact)(owner as u32).has_friction();
        if !self.parameters.coupled || !(0..objects).any(rubs) {
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

/// Largest tangential displacement (m) of the surface.
fn largest_motion_m(solution: &Solution) -> f64 {
    let [x, y, _] = &solution.surface_m;
    x.iter().zip(y).map(|(x, y)| x.hypot(*y)).fold(0.0, f64::max)
}

impl Path<'_> {
    /// The largest change of depth of an object, relative to its depth.
    fn relative_rise(&self) -> f64 {
        let part = |&[rise_m, max_m]: &[f64; 2]| if max_m > 0.0 { rise_m.abs() / max_m } else { 0.0 };
        self.rises_m.iter().map(part).fold(0.0, f64::max)
    }

    /// Number of increments.
    fn increments(&self) -> usize {
        let max = self.solver.parameters.max_increments.max(1);
        ((max as f64 * self.relative_rise() - 1e-3).ceil() as usize).clamp(1, max)
    }

    fn one_increment(&self, at_once: &Solution) -> OneIncrement {
        let (region, pressure) = (&at_once.region, &at_once.tractions.parts[2]);
        let response = SurfaceResponse { influences: self.solver.influences, coupled: true };
        let none = || vec![0.0; pressure.len()];
        let frictionless = Tractions { parts: [none(), none(), pressure.clone()] };
        let pushed = response.of(region, &frictionless, region, &SURFACE[..2]);
        let (mut pushed_m, mut reached) = (0.0f64, 0.0f64);
        for i in (0..region.len()).filter(|&i| pressure[i] > 0.0) {
            pushed_m = pushed_m.max(pushed[0][i].hypot(pushed[1][i]));
            let cell = region.cell(i, self.step.state.cols);
            let [rise_m, max_m] = self.rises_m[self.step.indenter.owner[cell] as usize];
            if rise_m != 0.0 {
                reached = reached.max((max_m - self.step.indenter.depth_m[cell]) / rise_m.abs());
            }
        }
        OneIncrement { used: self.step.used(at_once), pushed_m, motion_m: largest_motion_m(at_once), reached }
    }

    /// The parameters with a larger tolerance.
    fn loose(&self) -> LayerParameters {
        let contact = self.solver.parameters.contact;
        let tolerance = PATH_TOLERANCE * contact.tolerance;
        LayerParameters { contact: LayerContact { tolerance, ..contact }, ..self.solver.parameters.clone() }
    }

    /// Solves the step in `count` increments, all but the last one with `loose` parameters.
    fn divided(&self, count: usize, loose: &LayerParameters, keep: &mut dyn FnMut(&LayerState)) -> Solution {
        let Step { state, friction, dt_s, .. } = self.step;
        let by = 1.0 / count as f64;
        let slide_m = |owner: u32, cell: usize| (friction.slide_m)(owner, cell).map(|slide_m| slide_m * by);
        let friction = &SlidingFriction { contact: friction.contact, slide_m: &slide_m };
        let dt_s = dt_s.map(|dt_s| dt_s * by);
        let run = |k: usize, state: &LayerState, indenter: &IndenterHeightMap, drift_m: Option<&[Vec<f64>; 2]>| {
            let parameters = if k == count { self.solver.parameters } else { loose };
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
            keep(&solution.state);
            let last = solution;
            solution = run(k, &last.state, &raised, Some(&now.drift_m(&before)));
            solution.effort.add_counts(&last.effort);
            before = now;
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

/// The part of the last motion of a cell that remains until the object touches it, and its derivatives by the gaps (1/m) now
/// and before.
pub(super) fn remaining(gap_m: f64, before_m: f64) -> (f64, [f64; 2]) {
    let closed_m = before_m - gap_m;
    let part = if closed_m > 0.0 { gap_m / closed_m } else { 0.0 };
    if part > 0.0 && part < 1.0 {
        (part, [before_m / (closed_m * closed_m), -gap_m / (closed_m * closed_m)])
    } else {
        (part.clamp(0.0, 1.0), [0.0; 2])
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
        let gaps_m = self.gap_m.iter().zip(&before.gap_m);
        let parts: Vec<f64> = gaps_m.map(|(&gap_m, &before_m)| remaining(gap_m, before_m).0).collect();
        [0, 1].map(|axis| {
            let moved = self.along_m[axis].iter().zip(&before.along_m[axis]);
            parts.iter().zip(moved).map(|(part, (now, before))| part * (now - before)).collect()
        })
    }
}
