//! One step of a layer: computes tractions and displacements from the indenter.

use super::complementarity::{Complementarity, Effort};
use super::indenter::IndenterHeightMap;
use super::parameters::{LayerContact, LayerParameters};
use super::partial_slip::PartialSlip;
use super::product::{Influences, Region};
use super::relaxation::{RelaxationStep, Tractions};
use super::response::{Output, SurfaceResponse};
use super::state::{LayerState, moved};

/// Friction of the objects over a step.
pub struct SlidingFriction<'a> {
    /// Contact of the layer with an object.
    pub contact: &'a dyn Fn(u32) -> LayerContact,
    /// Displacement (m) of an object along x and y over a step, at a cell.
    pub slide_m: &'a dyn Fn(u32, usize) -> [f64; 2],
}

/// Contact solver of a layer.
#[derive(Clone, Copy)]
pub struct Solver<'a> {
    /// Influence coefficients of the grid.
    pub influences: &'a Influences,
    /// Parameters of the layer.
    pub parameters: &'a LayerParameters,
}

/// The input of a step.
#[derive(Clone, Copy)]
pub struct Step<'a> {
    /// State before the step.
    pub state: &'a LayerState,
    /// The objects after the step.
    pub indenter: &'a IndenterHeightMap,
    /// Friction and sliding of the objects.
    pub friction: &'a SlidingFriction<'a>,
    /// Duration (s), or `None` for static equilibrium.
    pub dt_s: Option<f64>,
}

/// An increment on the path of a longer step.
#[derive(Clone, Copy, Default)]
pub(super) struct Increment<'a> {
    /// Initial region; by default around the contact.
    pub region: Option<Region>,
    /// Displacement (m) along x and y of each cell of that region until an object touches it.
    pub drift_m: Option<&'a [Vec<f64>; 2]>,
    /// Only state and tractions are needed.
    pub state_only: bool,
}

/// Tractions, surface displacement and stress after a step.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The next state.
    pub state: LayerState,
    /// The cells with tractions.
    pub region: Region,
    /// Tractions on those cells (Pa).
    pub tractions: Tractions,
    /// Displacement of the surface along x, y and −z (m), on the whole grid.
    pub surface_m: [Vec<f64>; 3],
    /// Shear along x and y, and pressure (Pa), at the sensing depth, on the whole grid.
    pub below_pa: [Vec<f64>; 3],
    /// Statistics of the solvers.
    pub effort: Effort,
}

/// Margin of cells around a contact by which it may grow without enlarging the region.
const MARGIN: usize = 3;
/// Maximum number of alternating solutions for pressure and shear.
const MAX_ALTERNATIONS: usize = 12;
/// Maximum number of extensions of the region.
const MAX_GROWTHS: usize = 16;

impl Solver<'_> {
    /// Solves the contact after a step in one increment.
    pub(super) fn increment(&self, step: &Step<'_>, increment: &Increment<'_>) -> Solution {
        let Step { state, indenter, friction, dt_s } = *step;
        let (rows, cols) = (self.influences.rows, self.influences.cols);
        let whole = Region { row: 0, col: 0, rows, cols };
        let relaxation = RelaxationStep::new(&self.parameters.relaxation, dt_s, &state.lasting, &state.held);
        let response = SurfaceResponse { influences: self.influences, coupled: self.parameters.coupled };
        let below = Region::around(rows, cols, |i| indenter.depth_m[i] > 0.0);
        let mut effort = Effort::default();
        if below.is_empty() {
            let tractions = Tractions::zero(state.region.len());
            return self.finish(state, &relaxation, state.region, tractions, &whole, effort);
        }
        let tolerance_m = self.parameters.contact.tolerance * indenter.deepest_m();
        let pressed = warm_region(state).filter(|warm| !intersection(warm, &below).is_empty());
        let mut region = increment.region.unwrap_or_else(|| pressed.unwrap_or(below).grown(MARGIN, rows, cols));
        let mut scaled = Tractions { parts: [Vec::new(), Vec::new(), Vec::new()] };
        let mut known = state.region;
        scaled.parts[2] = state.pressure.clone();
        for part in 0..2 {
            scaled.parts[part] = state.lasting.parts[part].clone();
        }
        let mut growth = 0;
        loop {
            scaled.parts = scaled.parts.map(|part| moved(&part, &known, &region));
            known = region;
            let past = response.of(&state.region, &relaxation.past, &region, &SURFACE);
            let drift_m = increment.region.zip(increment.drift_m);
            let problem =
                Problem { solver: self, region, indenter, friction, past: &past, drift_m, state, tolerance_m };
            problem.solve(&mut scaled, &mut effort);
            growth += 1;
            let contact = Region::around(region.rows, region.cols, |i| scaled.parts[2][i] > 0.0);
            if growth < MAX_GROWTHS && touches_border(&contact, &region, rows, cols) {
                let contact = Region { row: contact.row + region.row, col: contact.col + region.col, ..contact };
                region = contact.grown(2 * MARGIN + contact.rows.max(contact.cols) / 8, rows, cols).union(&region);
                continue;
            }
            let fields_on = if increment.state_only { Region::default() } else { whole };
            let solution = self.finish(state, &relaxation, region, scaled.clone(), &fields_on, effort);
            if increment.state_only {
                return solution;
            }
            // The bulging surface may touch the object outside the region.
            let overlaps = |i: usize| {
                solution.surface_m[2][i] - indenter.depth_m[i] < -10.0 * tolerance_m
                    && !region.contains(i / cols, i % cols)
            };
            let missed = Region::around(rows, cols, overlaps);
            if missed.is_empty() {
                return solution;
            }
            if growth >= MAX_GROWTHS {
                let overlap_m =
                    |i: usize| if overlaps(i) { indenter.depth_m[i] - solution.surface_m[2][i] } else { 0.0 };
                let largest_m = (0..rows * cols).map(overlap_m).fold(0.0, f64::max);
                effort.unsolved = effort.unsolved.max(largest_m / indenter.deepest_m());
                return Solution { effort, ..solution };
            }
            region = region.union(&missed).grown(1, rows, cols);
        }
    }

    /// Displacements and stresses under given tractions (Pa) on cells, along x and y and as pressure, in static
    /// equilibrium.
    pub fn loaded(&self, cells: impl IntoIterator<Item = (usize, [f64; 3])>) -> Solution {
        let (rows, cols) = (self.influences.rows, self.influences.cols);
        let whole = Region { row: 0, col: 0, rows, cols };
        let mut all = Tractions::zero(whole.len());
        let mut is_loaded = vec![false; whole.len()];
        for (cell, tractions) in cells {
            is_loaded[cell] = true;
            all.parts.iter_mut().zip(tractions).for_each(|(part, traction)| part[cell] += traction);
        }
        let region = Region::around(rows, cols, |cell| is_loaded[cell]);
        let tractions = Tractions { parts: all.parts.each_ref().map(|part| region.cut(part, cols)) };
        let state = LayerState::rest(rows, cols, self.parameters.relaxation.len());
        let relaxation = RelaxationStep::new(&self.parameters.relaxation, None, &state.lasting, &state.held);
        self.finish(&state, &relaxation, region, tractions, &whole, Effort::default())
    }

    /// State, displacements and stresses from the tractions divided by the relative stiffness of the step.
    fn finish(
        &self,
        state: &LayerState,
        relaxation: &RelaxationStep,
        region: Region,
        scaled: Tractions,
        whole: &Region,
        effort: Effort,
    ) -> Solution {
        let relaxes = !self.parameters.relaxation.is_empty();
        let all = if relaxes { state.region.union(&region) } else { region };
        let on_all = |tractions: &Tractions, from: &Region| Tractions {
            parts: tractions.parts.each_ref().map(|part| moved(part, from, &all)),
        };
        let mut lasting = on_all(&scaled, &region);
        let mut next = LayerState { region: all, pressure: lasting.parts[2].clone(), ..state.on(&all) };
        if relaxes {
            lasting.add(-1.0, &on_all(&relaxation.past, &state.region));
            next.held = relaxation.finish(&next.lasting, &lasting, &next.held);
        }
        next.lasting = lasting;
        let next = trimmed(next);
        let mut tractions = scaled;
        tractions.scale(relaxation.stiffness);
        let (surface_m, below_pa) = self.fields(&next, &region, &tractions, whole);
        Solution { state: next, region, tractions, surface_m, below_pa, effort }
    }

    /// Surface displacement and stress below, from the same tractions if the material does not relax.
    fn fields(
        &self,
        next: &LayerState,
        region: &Region,
        tractions: &Tractions,
        whole: &Region,
    ) -> ([Vec<f64>; 3], [Vec<f64>; 3]) {
        let (surface, below) = if self.parameters.lateral || !next.lasting.is_shear_free() || !tractions.is_shear_free()
        {
            (&SURFACE[..], &BELOW[..])
        } else {
            (&SURFACE[2..], &BELOW[2..])
        };
        let response = SurfaceResponse { influences: self.influences, coupled: self.parameters.coupled };
        let (moved, stress) = if self.parameters.relaxation.is_empty() {
            let outputs = [surface, below].concat();
            let mut fields = response.of(&next.region, &next.lasting, whole, &outputs);
            let stress = fields.split_off(surface.len());
            (fields, stress)
        } else {
            (response.of(&next.region, &next.lasting, whole, surface), response.of(region, tractions, whole, below))
        };
        (along_and_down(moved, whole.len()), along_and_down(stress, whole.len()))
    }
}

pub(super) const SURFACE: [Output; 3] = [Output::X, Output::Y, Output::Z];
pub(super) const BELOW: [Output; 3] = [Output::BelowX, Output::BelowY, Output::BelowPressure];

/// Three components; the tangential ones are zero if they were not computed.
fn along_and_down(mut parts: Vec<Vec<f64>>, cells: usize) -> [Vec<f64>; 3] {
    let down = parts.pop().unwrap_or_default();
    let y = parts.pop().unwrap_or_else(|| vec![0.0; cells]);
    let x = parts.pop().unwrap_or_else(|| vec![0.0; cells]);
    [x, y, down]
}

/// The contact problem in one region.
struct Problem<'a> {
    solver: &'a Solver<'a>,
    region: Region,
    indenter: &'a IndenterHeightMap,
    friction: &'a SlidingFriction<'a>,
    /// Displacement due to relaxation: x, y, down.
    past: &'a [Vec<f64>],
    /// A region, and the displacement (m) along x and y of its cells until an object touches them.
    drift_m: Option<(Region, &'a [Vec<f64>; 2])>,
    state: &'a LayerState,
    tolerance_m: f64,
}

impl Problem<'_> {
    fn solve(&self, tractions: &mut Tractions, effort: &mut Effort) {
        let region = self.region;
        let grid_cols = self.solver.influences.cols;
        let cells: Vec<usize> = (0..region.len()).map(|i| region.cell(i, grid_cols)).collect();
        // A finite value instead of −∞ at cells without an object.
        let clear_m = -10.0 * self.indenter.deepest_m();
        let depth =
            cells.iter().zip(&self.past[2]).map(|(&cell, past)| self.indenter.depth_m[cell].max(clear_m) + past);
        let depth: Vec<f64> = depth.collect();
        let product = self.solver.influences.within(&region);
        let tolerance = self.solver.parameters.contact.tolerance;
        let mut normal = Complementarity::new(self.solver.influences, &product, region, tolerance)
            .covering(cells.iter().map(|&cell| self.indenter.covered[cell]));
        let contacts = cells.iter().map(|&cell| (self.friction.contact)(self.indenter.owner[cell]));
        let contacts: Vec<LayerContact> = contacts.collect();
        let solved = normal.solve(&depth, &mut tractions.parts[2], self.tolerance_m);
        effort.add(solved);
        effort.unsolved = solved.unsolved;
        if !contacts.iter().any(LayerContact::has_friction) {
            tractions.parts[0].fill(0.0);
            tractions.parts[1].fill(0.0);
            return;
        }
        let response = SurfaceResponse { influences: self.solver.influences, coupled: self.solver.parameters.coupled };
        // A sticking cell moves with its object from its last position.
        let mut carried = response.of(&self.state.region, &self.state.lasting, &region, &[Output::X, Output::Y]);
        for (i, &cell) in cells.iter().enumerate() {
            let slide = (self.friction.slide_m)(self.indenter.owner[cell], cell);
            carried[0][i] += slide[0] + self.past[0][i];
            carried[1][i] += slide[1] + self.past[1][i];
        }
        if let Some((from, drift_m)) = self.drift_m {
            for (carried, drift_m) in carried.iter_mut().zip(drift_m) {
                carried
                    .iter_mut()
                    .zip(moved(drift_m, &from, &region))
                    .for_each(|(carried, drift_m)| *carried += drift_m);
            }
        }
        let mut sticking = PartialSlip::new(self.solver.influences, region);
        for alternation in 1..=MAX_ALTERNATIONS {
            let pressure =
                Tractions { parts: [vec![0.0; region.len()], vec![0.0; region.len()], tractions.parts[2].clone()] };
            let moved = response.of(&region, &pressure, &region, &[Output::X, Output::Y]);
            let mut wanted = [carried[0].clone(), carried[1].clone()];
            let mut far = 0.0f64;
            for axis in 0..2 {
                for (i, wanted) in wanted[axis].iter_mut().enumerate() {
                    *wanted -= moved[axis][i];
                    if pressure.parts[2][i] > 0.0 {
                        far = far.max(wanted.abs());
                    }
                }
            }
            let bound = contacts.iter().zip(&pressure.parts[2]).map(|(contact, &p)| contact.max_shear_pa(p));
            let bound: Vec<f64> = bound.collect();
            let [x, y, _] = std::mem::take(&mut tractions.parts);
            let mut shear = [x, y];
            // Errors of a step persist.
            let tolerance_m = (0.1 * tolerance * far).max(1e-4 * self.tolerance_m);
            let scale_m = far.max(0.01 * self.indenter.deepest_m());
            let slipped = sticking.solve(&wanted, &bound, &mut shear, tolerance_m).with_unsolved(tolerance_m, scale_m);
            effort.add(slipped);
            let [x, y] = shear;
            tractions.parts = [x, y, pressure.parts[2].clone()];
            if !self.solver.parameters.coupled {
                effort.unsolved = effort.unsolved.max(slipped.unsolved);
                return;
            }
            let shear_alone =
                Tractions { parts: [tractions.parts[0].clone(), tractions.parts[1].clone(), vec![0.0; region.len()]] };
            let down_m = &response.of(&region, &shear_alone, &region, &[Output::Z])[0];
            let bent: Vec<f64> = depth.iter().zip(down_m).map(|(depth, down_m)| depth - down_m).collect();
            let solved = normal.solve(&bent, &mut tractions.parts[2], self.tolerance_m);
            effort.add(solved);
            effort.unsolved = solved.unsolved.max(slipped.unsolved);
            let peak = tractions.parts[2].iter().copied().fold(0.0, f64::max);
            let change =
                tractions.parts[2].iter().zip(&pressure.parts[2]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            if change <= tolerance * peak {
                break;
            }
            if alternation == MAX_ALTERNATIONS {
                effort.unsolved = effort.unsolved.max(change / peak);
            }
        }
        // The final pressure differs slightly from the pressure that bounded the shear.
        let [x, y, pressure] = &mut tractions.parts;
        for i in 0..pressure.len() {
            let (size, bound) = (x[i].hypot(y[i]), contacts[i].max_shear_pa(pressure[i]));
            if size > bound {
                (x[i], y[i]) = (x[i] * bound / size, y[i] * bound / size);
            }
        }
    }
}

/// The contact region of the last step.
fn warm_region(state: &LayerState) -> Option<Region> {
    if state.pressure.is_empty() {
        return None;
    }
    let inner = Region::around(state.region.rows, state.region.cols, |i| state.pressure[i] > 0.0);
    (!inner.is_empty()).then(|| Region {
        row: inner.row + state.region.row,
        col: inner.col + state.region.col,
        ..inner
    })
}

fn intersection(a: &Region, b: &Region) -> Region {
    let (row, col) = (a.row.max(b.row), a.col.max(b.col));
    let rows = (a.row + a.rows).min(b.row + b.rows).saturating_sub(row);
    let cols = (a.col + a.cols).min(b.col + b.cols).saturating_sub(col);
    Region { row, col, rows, cols }
}

/// True if a contact reaches a border of its region inside the grid.
fn touches_border(contact: &Region, region: &Region, rows: usize, cols: usize) -> bool {
    if contact.is_empty() {
        return false;
    }
    (contact.row == 0 && region.row > 0)
        || (contact.col == 0 && region.col > 0)
        || (contact.row + contact.rows == region.rows && region.row + region.rows < rows)
        || (contact.col + contact.cols == region.cols && region.col + region.cols < cols)
}

/// The state cropped to the cells with relevant tractions.
fn trimmed(state: LayerState) -> LayerState {
    let parts = || std::iter::once(&state.lasting).chain(&state.held).flat_map(|tractions| &tractions.parts);
    let largest = parts().flatten().fold(0.0f64, |max, value| max.max(value.abs()));
    let matters = |i: usize| parts().any(|part| part[i].abs() > 1e-9 * largest);
    let inner =
        if largest > 0.0 { Region::around(state.region.rows, state.region.cols, matters) } else { Region::default() };
    let kept = Region { row: inner.row + state.region.row, col: inner.col + state.region.col, ..inner };
    state.on(&kept)
}
