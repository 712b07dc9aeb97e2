//! Contact of an elastic layer bonded to a rigid base.

mod adjoint;
mod complementarity;
mod fourier;
mod gradient;
mod increments;
mod indenter;
mod interior;
mod kernel;
mod material;
mod operator;
mod parameters;
mod partial_slip;
mod path_gradient;
mod product;
mod radial;
mod relaxation;
mod response;
mod solution;
mod state;
mod transfer;

pub use complementarity::{Complementarity, Effort};
pub use increments::{OneIncrement, coarse_path};
pub use indenter::IndenterHeightMap;
pub use interior::{Interior, MaterialMotion};
pub use kernel::{Functions, Influence, Pair, Parity};
pub use material::{Ply, Poisson};
pub use parameters::{LayerContact, LayerParameters};
pub use product::{Influences, Product, Region};
pub use relaxation::{Branch, Tractions};
pub use solution::Solution;
pub use state::LayerState;
pub use transfer::{InnerResponse, Laminate, WaveResponse};

use crate::resolution::{MIN_POINTS, Resolution, few_points, unresolved_on_grid};
use crate::{
    Contact, Contacts, Facet, Facets, Load, Motion, Skin, SkinError, SkinGradient, State, Support, SurfaceField,
    Tangent, Target, Touch, TouchCotangent, Warning, require_positive,
};
use dermis_geometry::{HeightGrid, Twist, Vec2, Vec3};
use gradient::MaterialSlopes;
use solution::{SlidingFriction, Solver, Step};
use std::sync::Arc;

/// A flat gel or foam on a rigid base, quasi-static and linear elastic.
///
/// A pressure wave of wave number k displaces the surface of one ply (thickness h, moduli E and ν) downwards by
/// ```text
/// w = 2(1 − ν²)/(E k) · L(kh) p,   L(ξ) = (2κ sinh 2ξ − 4ξ)/(2κ cosh 2ξ + 4ξ² + 1 + κ²),   κ = 3 − 4ν
/// ```
/// with L → 1 for short waves (Hertz's half-space) and confined compression, w = p h/M, for long ones (the limit of
/// springs). [`Laminate`] computes the response to shear and the response of several plies. Objects are represented as
/// height maps; [`Complementarity`] computes the contact pressure, friction the shear tractions, and a final product
/// the surface displacement and the stress on the base.
///
/// Assumptions: small strains ([`Warning::BeyondLinear`]), no edges ([`Warning::NearRim`]), objects single-valued in z,
/// slow motion. An indentation deeper than 0.8 of the thickness returns an error.
#[derive(Debug)]
pub struct Layer {
    parameters: LayerParameters,
    laminate: Laminate,
    grid: HeightGrid,
    influences: Influences,
    slopes: MaterialSlopes,
}

/// The numbers of a contact with one object that decide about its warnings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactExtent {
    /// Number of cells in contact.
    pub cells: usize,
    /// True if the object covers the whole of a cell between four others in contact: the contact is no narrow strip.
    pub has_inner: bool,
    /// The range that the contact needs.
    pub range: ContactRange,
}

/// The numbers of a contact that decide whether it lies in the range of a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactRange {
    /// Largest deflection (m) of the surface.
    pub deepest_m: f64,
    /// Largest difference of deflection (m) between neighbouring cells in contact.
    pub step_m: f64,
    /// Smallest distance (m) of the centre of a cell in contact from the rim; infinite without contact.
    pub rim_m: f64,
}

/// Maximum indentation, as a fraction of the thickness.
pub const MAX_INDENTATION: f64 = 0.8;
/// Maximum strain of the linear range.
const MAX_LINEAR_STRAIN: f64 = 0.2;
/// Maximum relative error of a solver at its maximum number of iterations.
const MAX_UNSOLVED: f64 = 1e-3;
/// Height above the rest surface, as a fraction of the thickness, up to which bulging can make contact.
const MAX_BULGE: f64 = 0.3;
/// Height of neighbours, in cells, that may decide whether a cell is under a cliff.
const HIGHEST_NEIGHBOUR: f64 = 4.0;

/// Largest distance (m) of two cells of a grid, with a margin.
fn reach_m(grid: &HeightGrid) -> f64 {
    Vec2::new(grid.cols as f64 + 2.0, grid.rows as f64 + 2.0).length() * grid.cell_m
}

impl Layer {
    /// Checks the parameters and tabulates the response of the laminate.
    pub fn new(parameters: LayerParameters) -> Result<Self, SkinError> {
        let laminate = parameters.validate()?;
        let grid = parameters.grid()?;
        let functions = Functions::new(&laminate, parameters.sense_depth_m(&laminate), reach_m(&grid));
        let influences = Influences::new(Arc::new(functions), grid.rows, grid.cols, grid.cell_m);
        Ok(Self { parameters, laminate, grid, influences, slopes: MaterialSlopes::default() })
    }

    /// Parameters of the layer.
    pub fn parameters(&self) -> &LayerParameters {
        &self.parameters
    }

    /// Plies of the layer.
    pub fn laminate(&self) -> &Laminate {
        &self.laminate
    }

    /// Grid of the layer.
    pub fn grid(&self) -> HeightGrid {
        self.grid
    }

    /// Influence coefficients between the cells.
    pub fn influences(&self) -> &Influences {
        &self.influences
    }

    /// Displacement and rotation of the material at a depth (m) under loads on the cells of this layer.
    pub fn interior(&self, depth_m: f64) -> Interior {
        let size_m = Vec2::new(self.grid.cols as f64, self.grid.rows as f64).length() * self.grid.cell_m;
        Interior::new(&self.laminate, depth_m, self.grid.cell_m, size_m)
    }

    /// Thickness (m) of all plies together.
    pub fn thickness_m(&self) -> f64 {
        self.laminate.thickness_m()
    }

    /// Height (m) over the rest surface above which no part of an object matters: beyond that at which the bulging surface can
    /// make contact, and beyond that of neighbours that decide whether a cell is under a cliff.
    pub fn max_height_m(&self) -> f64 {
        (MAX_BULGE * self.laminate.thickness_m()).max(HIGHEST_NEIGHBOUR * self.grid.cell_m)
    }

    /// Computes the contact loads in static equilibrium under an indenter given as a height map.
    pub fn settle_under(&self, state: &State, indenter: &IndenterHeightMap) -> Result<(Touch, State), SkinError> {
        self.step_under(state, indenter, &Twist::ZERO, None)
    }

    /// Computes the contact loads after a step of `dt_s` in which the indenter moves with `velocity` (at the sensor's
    /// origin), or in static equilibrium for `None`. The height map is that at the end of the step.
    pub fn step_under(
        &self,
        state: &State,
        indenter: &IndenterHeightMap,
        velocity: &Twist,
        dt_s: Option<f64>,
    ) -> Result<(Touch, State), SkinError> {
        let solution = self.solve_under(state, indenter, velocity, dt_s)?;
        Ok((self.touch_of(&solution, indenter, 1), State::Layer(solution.state)))
    }

    /// Like [`Layer::step_under`], but returns tractions, displacements and solver statistics.
    pub fn solve_under(
        &self,
        state: &State,
        indenter: &IndenterHeightMap,
        velocity: &Twist,
        dt_s: Option<f64>,
    ) -> Result<Solution, SkinError> {
        let cells = self.grid.rows * self.grid.cols;
        if indenter.depth_m.len() != cells || indenter.owner.len() != cells {
            return Err(SkinError::StateMismatch { got: indenter.depth_m.len(), expected: cells });
        }
        if indenter.depth_m.iter().any(|depth_m| depth_m.is_nan()) {
            return Err(SkinError::NotFinite { object: 0, what: "height" });
        }
        let contact = |_| self.parameters.contact;
        let slide_m = |_, cell: usize| self.slide_m(indenter, velocity, cell, dt_s);
        self.solve(state, indenter, &SlidingFriction { contact: &contact, slide_m: &slide_m }, dt_s)
    }

    fn solve(
        &self,
        state: &State,
        indenter: &IndenterHeightMap,
        friction: &SlidingFriction<'_>,
        dt_s: Option<f64>,
    ) -> Result<Solution, SkinError> {
        let state = self.check_state(state)?;
        self.check_depth(indenter)?;
        Ok(self.solver().solve(Step { state, indenter, friction, dt_s }))
    }

    fn solver(&self) -> Solver<'_> {
        Solver { influences: &self.influences, parameters: &self.parameters }
    }

    /// Tangential displacement (m) of an object over a step, at a cell.
    fn slide_m(&self, indenter: &IndenterHeightMap, velocity: &Twist, cell: usize, dt_s: Option<f64>) -> [f64; 2] {
        let at = self.grid.cell_center(cell / self.grid.cols, cell % self.grid.cols);
        let velocity = velocity.at(Vec3::new(at.x, at.y, -indenter.depth_m[cell].max(0.0)));
        let dt_s = dt_s.unwrap_or(0.0);
        [velocity.x * dt_s, velocity.y * dt_s]
    }

    fn check_state<'a>(&self, state: &'a State) -> Result<&'a LayerState, SkinError> {
        let State::Layer(state) = state else {
            return Err(SkinError::OtherSkin { expected: "layer" });
        };
        if (state.rows, state.cols) != (self.grid.rows, self.grid.cols) {
            let got = state.rows.saturating_mul(state.cols);
            return Err(SkinError::StateMismatch { got, expected: self.grid.rows * self.grid.cols });
        }
        if state.held.len() != self.parameters.relaxation.len() || !state.is_sound() {
            let what =
                "its tractions do not belong to its region or to the relaxation of this layer, or are not finite";
            return Err(SkinError::DamagedState { skin: "layer", what });
        }
        Ok(state)
    }

    fn check_depth(&self, indenter: &IndenterHeightMap) -> Result<(), SkinError> {
        let (depth_m, max_m) = (indenter.deepest_m(), self.max_depth_m());
        if depth_m > max_m * (1.0 + 1e-9) {
            return Err(SkinError::TooDeep { depth_mm: depth_m * 1e3, max_mm: max_m * 1e3 });
        }
        Ok(())
    }

    fn step(&self, state: &State, motion: &Motion<'_>, dt_s: Option<f64>) -> Result<(Touch, State), SkinError> {
        motion.check()?;
        let indenter = IndenterHeightMap::of_motion(self.grid, motion, self.max_height_m());
        let target = |owner: u32| &motion.targets[owner as usize];
        let contact = |owner: u32| self.parameters.contact.with_object(target(owner).object.mu);
        let slide_m = |owner: u32, cell: usize| self.slide_m(&indenter, &target(owner).velocity, cell, dt_s);
        let solution = self.solve(state, &indenter, &SlidingFriction { contact: &contact, slide_m: &slide_m }, dt_s)?;
        let mut touch = self.touch_of(&solution, &indenter, motion.targets.len());
        touch.warnings.extend(unresolved_on_grid(&touch.facets, motion, &self.grid, None));
        let inner = self.inner_cells(&solution, &indenter);
        let has_inner = |object: u32| inner.iter().any(|&cell| indenter.owner[cell] == object);
        let cells = |object: u32| touch.facets.objects().filter(|&touched| touched == object).count();
        let strip = |object: u32| self.strip(object, cells(object), has_inner(object));
        let strips: Vec<Warning> = (0..motion.targets.len() as u32).filter_map(strip).collect();
        touch.warnings.extend(strips);
        Ok((touch, State::Layer(solution.state)))
    }

    /// The cells that an object covers whole, and that lie between four others in contact.
    fn inner_cells(&self, solution: &Solution, indenter: &IndenterHeightMap) -> Vec<usize> {
        let (region, pressure) = (solution.region, &solution.tractions.parts[2]);
        let is_pressed = |row: usize, col: usize| pressure[row * region.cols + col] > 0.0;
        let inner = (1..region.rows.saturating_sub(1)).flat_map(|row| {
            (1..region.cols.saturating_sub(1)).map(move |col| (row, col)).filter(|&(row, col)| {
                let others = [(row, col), (row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)];
                others.into_iter().all(|(row, col)| is_pressed(row, col))
            })
        });
        let cell_of = |(row, col): (usize, usize)| (region.row + row) * self.grid.cols + region.col + col;
        inner.map(cell_of).filter(|&cell| indenter.covered[cell] == 1.0).collect()
    }

    /// The warning for an object that covers enough cells, but no inner one.
    fn strip(&self, object: u32, cells: usize, has_inner: bool) -> Option<Warning> {
        let (cell_mm, key) = (self.grid.cell_m * 1e3, Resolution::Cell);
        (cells >= MIN_POINTS && !has_inner).then_some(Warning::Narrow { object, cells, cell_mm, key })
    }

    fn touch_of(&self, solution: &Solution, indenter: &IndenterHeightMap, objects: usize) -> Touch {
        let area_m2 = self.grid.cell_m * self.grid.cell_m;
        let region = solution.region;
        let [x, y, pressure] = &solution.tractions.parts;
        let mut facets = Vec::with_capacity(pressure.iter().filter(|&&p| p > 0.0).count());
        for i in (0..region.len()).filter(|&i| pressure[i] > 0.0) {
            let (row, col) = (region.row + i / region.cols, region.col + i % region.cols);
            let cell = row * self.grid.cols + col;
            let middle = self.grid.cell_center(row, col);
            let depth_m = solution.surface_m[2][cell];
            let at = Vec3::new(middle.x, middle.y, -depth_m);
            let load = Load::Point {
                at,
                anchor: Vec3::new(middle.x, middle.y, 0.0),
                area_m2: indenter.covered[cell] * area_m2,
                force: Vec3::new(x[i], y[i], -pressure[i]) * area_m2,
            };
            let owner = indenter.owner[cell];
            let tangent = Tangent::default();
            facets.push(Facet { object: owner, normal: Vec3::Z, depth_m, saturated: false, load, tangent });
        }
        let warnings = self.warnings(&self.range(solution, &facets), &solution.effort);
        let mut touch = Touch::from_facets(facets, objects);
        self.stiffen(&mut touch);
        self.set_fields(&mut touch, solution);
        touch.warnings = warnings;
        touch
    }

    /// Sets the displacement of the surface and the stress at the sensing depth.
    fn set_fields(&self, touch: &mut Touch, solution: &Solution) {
        touch.surface = Some(self.field(solution.surface_m.each_ref().map(|part| &part[..]), 0.0));
        let depth_m = self.parameters.sense_depth_m(&self.laminate);
        touch.base = Some(self.field(solution.below_pa.each_ref().map(|part| &part[..]), -depth_m));
    }

    /// True if a point (m) lies over the layer, within half a cell of the centre of a cell.
    fn is_over(&self, at: Vec3) -> bool {
        let half = 0.5 * self.grid.cell_m;
        let (x, y) = (at.x - self.grid.center.x, at.y - self.grid.center.y);
        x.abs() <= half * self.grid.cols as f64 && y.abs() <= half * self.grid.rows as f64
    }

    /// The cells under a contact point and the tractions (Pa) on each along x and y and as pressure: the force, divided
    /// among the four nearest centres of cells so that its moment is kept. Empty beside the layer.
    fn cells_under(&self, contact: &Contact) -> Vec<(usize, [f64; 3])> {
        if !self.is_over(contact.at) {
            return Vec::new();
        }
        let middle = self.grid.cell_center(0, 0);
        let place = |offset_m: f64, count: usize| {
            let at = (offset_m / self.grid.cell_m).clamp(0.0, (count - 1) as f64);
            let low = (at as usize).min(count.saturating_sub(2));
            (low, at - low as f64)
        };
        let (row, down) = place(middle.y - contact.at.y, self.grid.rows);
        let (col, across) = place(contact.at.x - middle.x, self.grid.cols);
        let traction = contact.force / (self.grid.cell_m * self.grid.cell_m);
        let mut cells = Vec::with_capacity(4);
        for (row, height) in [(row, 1.0 - down), (row + 1, down)] {
            for (col, width) in [(col, 1.0 - across), (col + 1, across)] {
                let share = height * width;
                if share > 0.0 {
                    let on_cell = [traction.x * share, traction.y * share, -traction.z * share];
                    cells.push((row * self.grid.cols + col, on_cell));
                }
            }
        }
        cells
    }

    /// Sets the tangent stiffness of each facet: its share of F′(δ) = n F/δ; in the plane, the ratio of a sticking
    /// contact on a half-space, 2(1 − ν)/(2 − ν).
    ///
    /// Under a ball n is 3/2 on a thick layer, 2 on a thin one, 3 on a thin incompressible one. The n used is an upper
    /// bound over the ratio of contact radius to thickness, 2 + 1/(1 + 5√s + 25 s) with s = 1 − 2ν of the least
    /// compressible ply.
    fn stiffen(&self, touch: &mut Touch) {
        let deepest_m = touch.max_depth_m();
        let nu = self.laminate.top().poisson.ratio();
        let ratios = self.parameters.plies.iter().map(|ply| ply.poisson.ratio());
        let s = 1.0 - 2.0 * ratios.fold(nu, f64::max);
        let power = 2.0 + 1.0 / (1.0 + 5.0 * s.sqrt() + 25.0 * s);
        let sticks = if self.parameters.contact.has_friction() { 2.0 * (1.0 - nu) / (2.0 - nu) } else { 0.0 };
        for facet in touch.facets.list_mut() {
            let stiffness = if deepest_m > 0.0 { power * facet.normal_force() / deepest_m } else { 0.0 };
            facet.tangent.stiffness_normal = stiffness;
            facet.tangent.stiffness_tangential = sticks * stiffness;
        }
    }

    /// Components along x, y and −z as a field of vectors.
    fn field(&self, [x, y, down]: [&[f64]; 3], height_m: f64) -> SurfaceField {
        let values = x.iter().zip(y).zip(down).map(|((&x, &y), &down)| Vec3::new(x, y, 0.0 - down)).collect();
        SurfaceField {
            rows: self.grid.rows,
            cols: self.grid.cols,
            cell_m: self.grid.cell_m,
            center: Vec3::new(self.grid.center.x, self.grid.center.y, height_m),
            values,
            rest_heights_m: None,
        }
    }

    /// Warnings of a contact beyond the range of the layer, of its solvers and of its path.
    fn warnings(&self, range: &ContactRange, effort: &Effort) -> Vec<Warning> {
        let mut warnings = self.range_warnings(range);
        if effort.unsolved > MAX_UNSOLVED {
            warnings.push(Warning::NotConverged { error: effort.unsolved });
        }
        warnings.extend(coarse_path(effort.path_error));
        warnings
    }

    /// Warnings of a contact beyond the range of linear elasticity or near the rim.
    ///
    /// The strain is the larger of the mean strain through the thickness, w/h, and half the slope of the surface in
    /// contact, which is a/(2R) under a ball on a thick layer.
    fn range_warnings(&self, range: &ContactRange) -> Vec<Warning> {
        let thickness_m = self.laminate.thickness_m();
        let strain_max = (range.deepest_m / thickness_m).max(0.5 * range.step_m / self.grid.cell_m);
        let strained = (strain_max > MAX_LINEAR_STRAIN).then_some(Warning::BeyondLinear { strain_max });
        let near = Warning::NearRim { distance_mm: range.rim_m * 1e3, thickness_mm: thickness_m * 1e3 };
        strained.into_iter().chain((range.rim_m < 2.0 * thickness_m).then_some(near)).collect()
    }

    /// The warnings of [`Skin::touch`] for a contact with one object that was solved elsewhere, as on a GPU.
    pub fn step_warnings(&self, extent: &ContactExtent, effort: &Effort) -> Vec<Warning> {
        if extent.cells == 0 {
            return Vec::new();
        }
        self.warnings(&extent.range, effort).into_iter().chain(self.coarse(extent)).collect()
    }

    /// The warnings of [`Skin::settle`] for a contact with one object that was solved elsewhere, as on a GPU.
    pub fn contact_warnings(&self, extent: &ContactExtent, effort: &Effort, target: Target<'_>) -> Vec<Warning> {
        let unresolved = match extent.cells {
            0 => unresolved_on_grid(&Facets::default(), &Motion { targets: &[target] }, &self.grid, None),
            _ => self.coarse(extent).into_iter().collect(),
        };
        self.warnings(&extent.range, effort).into_iter().chain(unresolved).collect()
    }

    /// The warning for a contact with one object that covers too few cells, or a narrow strip of them.
    fn coarse(&self, extent: &ContactExtent) -> Option<Warning> {
        let resolution = (Resolution::Cell, self.grid.cell_m, self.grid.rows * self.grid.cols);
        few_points(0, extent.cells, resolution).or_else(|| self.strip(0, extent.cells, extent.has_inner))
    }

    /// Smallest distance (m) of a facet from the rim; infinite without facets.
    fn rim_m<'a>(&self, facets: impl IntoIterator<Item = &'a Facet>) -> f64 {
        let half = Vec2::new(self.grid.cols as f64, self.grid.rows as f64) * (0.5 * self.grid.cell_m);
        let rim = |facet: &Facet| (half.x - facet.at().x.abs()).min(half.y - facet.at().y.abs());
        facets.into_iter().map(rim).fold(f64::INFINITY, f64::min)
    }

    fn range(&self, solution: &Solution, facets: &[Facet]) -> ContactRange {
        let rim_m = self.rim_m(facets);
        let down_m = &solution.surface_m[2];
        let region = solution.region;
        let pressure = &solution.tractions.parts[2];
        let mut step_m = 0.0f64;
        for row in 0..region.rows {
            for col in 0..region.cols {
                let presses = |row: usize, col: usize| pressure[row * region.cols + col] > 0.0;
                let depth = |row: usize, col: usize| down_m[(region.row + row) * self.grid.cols + region.col + col];
                if row + 1 < region.rows && presses(row, col) && presses(row + 1, col) {
                    step_m = step_m.max((depth(row, col) - depth(row + 1, col)).abs());
                }
                if col + 1 < region.cols && presses(row, col) && presses(row, col + 1) {
                    step_m = step_m.max((depth(row, col) - depth(row, col + 1)).abs());
                }
            }
        }
        let deepest_m = down_m.iter().copied().fold(0.0, f64::max);
        ContactRange { deepest_m, step_m, rim_m }
    }
}

impl Skin for Layer {
    fn rest(&self) -> State {
        State::Layer(LayerState::rest(self.grid.rows, self.grid.cols, self.parameters.relaxation.len()))
    }

    fn touch(&self, state: &State, motion: &Motion<'_>, dt_s: f64) -> Result<(Touch, State), SkinError> {
        require_positive("dt", "s", dt_s)?;
        self.step(state, motion, Some(dt_s))
    }

    fn settle(&self, state: &State, motion: &Motion<'_>) -> Result<(Touch, State), SkinError> {
        self.step(state, &Motion { targets: &motion.targets_at_rest() }, None)
    }

    fn vjp(
        &self,
        _touch: &Touch,
        state: &State,
        target: &Target<'_>,
        cotangent: &TouchCotangent,
    ) -> Result<SkinGradient, SkinError> {
        self.gradient(self.check_state(state)?, target, cotangent)
    }

    fn carry(&self, contacts: &Contacts) -> Result<Touch, SkinError> {
        let mut touch = contacts.touch()?;
        let pushes = |contact: &&Contact| contact.force.z < 0.0;
        let solution = self.solver().loaded(contacts.points.iter().filter(pushes).flat_map(|at| self.cells_under(at)));
        self.set_fields(&mut touch, &solution);
        // The strain under a point is unknown, because its area is.
        let rim_m = self.rim_m(touch.facets.iter().filter(|facet| self.is_over(facet.at())));
        touch.warnings = self.range_warnings(&ContactRange { deepest_m: 0.0, step_m: 0.0, rim_m });
        Ok(touch)
    }

    /// One entry per block of cells, with the stiffness of the longest wave on the layer.
    fn fully_pressed(&self) -> Vec<Support> {
        const BLOCKS: usize = 8;
        let (rows, cols) = (self.grid.rows, self.grid.cols);
        let size_m = rows.max(cols) as f64 * self.grid.cell_m;
        let response = self.laminate.response(std::f64::consts::TAU / size_m, 0.0);
        let at_once = 1.0 + self.parameters.relaxation.iter().map(|branch| branch.ratio).sum::<f64>();
        let area_m2 = (rows * cols) as f64 * self.grid.cell_m.powi(2) / (BLOCKS * BLOCKS) as f64;
        let sticks = if self.parameters.contact.has_friction() { 1.0 } else { 0.0 };
        let place = |i: usize, count: usize| ((i as f64 + 0.5) / BLOCKS as f64 - 0.5) * count as f64 * self.grid.cell_m;
        (0..BLOCKS * BLOCKS)
            .map(|i| Support {
                at: Vec3::new(place(i % BLOCKS, cols), place(i / BLOCKS, rows), 0.0),
                normal: Vec3::Z,
                tangent: Tangent {
                    stiffness_normal: at_once * area_m2 / response.normal_by_pressure,
                    stiffness_tangential: sticks * at_once * area_m2 / response.transverse_by_shear,
                    damping_normal: 0.0,
                    damping_tangential: 0.0,
                },
            })
            .collect()
    }

    fn max_depth_m(&self) -> f64 {
        MAX_INDENTATION * self.laminate.thickness_m()
    }

    fn mu(&self) -> Option<f64> {
        Some(self.parameters.contact.mu).filter(|&mu| mu > 0.0)
    }

    fn holds_shear(&self, object: &crate::Object) -> bool {
        self.parameters.contact.with_object(object.mu).has_friction()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::HeightField;

    #[test]
    fn a_solver_that_stops_early_is_warned_about() {
        let ply = Ply { thickness_m: 2e-3, young_pa: 2e5, poisson: Poisson::Ratio(0.45) };
        let layer = Layer::new(LayerParameters::new(ply, [16e-3; 2], 0.25e-3)).unwrap();
        let field = HeightField::from_fn(layer.grid(), |x, y| (x * x + y * y) / 20e-3 - 5e-5);
        let indenter = IndenterHeightMap::of_heights(&field);
        let mut solution = layer.solve_under(&layer.rest(), &indenter, &Twist::ZERO, None).unwrap();
        let warnings = |solution: &Solution| layer.warnings(&layer.range(solution, &[]), &solution.effort);
        assert_eq!((solution.effort.unsolved, warnings(&solution)), (0.0, Vec::new()));
        let influences = layer.influences();
        let region = Region { row: 16, col: 16, rows: 32, cols: 32 };
        let depth_m: Vec<f64> = (0..region.len()).map(|i| indenter.depth_m[(16 + i / 32) * 64 + 16 + i % 32]).collect();
        let product = influences.within(&region);
        let mut contact = Complementarity::new(influences, &product, region, 1e-5);
        contact.max_iterations = 2;
        solution.effort = contact.solve(&depth_m, &mut vec![0.0; region.len()], 1e-5 * 5e-5);
        let error = solution.effort.unsolved;
        assert!(error > 1e-3 && solution.effort.iterations == 2, "{:?}", solution.effort);
        assert_eq!(warnings(&solution), [Warning::NotConverged { error }]);
    }
}
