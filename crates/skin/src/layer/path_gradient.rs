//! Derivatives through a press on a layer with friction.

use super::Layer;
use super::adjoint::{Linearised, Plane, Slip};
use super::complementarity::{Complementarity, dot, largest};
use super::gradient::Material;
use super::increments::remaining;
use super::indenter::IndenterHeightMap;
use super::kernel::Pair;
use super::parameters::LayerContact;
use super::partial_slip::PartialSlip;
use super::product::{Product, Region};
use super::relaxation::Tractions;
use super::response::{ByOutputs, Output, SurfaceResponse};
use super::solution::{BELOW, SURFACE, SlidingFriction, Step};
use super::state::{LayerState, moved};
use crate::{SkinError, SkinGradient, Target, TouchCotangent};
use dermis_geometry::HeightField;
use std::sync::Arc;

/// Part of the friction limit from which a cell that lags behind its object slips: the pressure changes a little after the
/// shear was found.
const AT_LIMIT: f64 = 0.99;
/// Distance by which a sticking cell lags behind its object, by the largest distance by which pressure pushes a cell aside.
const STICKS: f64 = 1e-3;
/// Largest difference of the shear of a press from the given one, by the largest pressure.
const SAME: f64 = 1e-3;

/// The layer after an increment of a press, on one region.
struct Passed {
    tractions: Tractions,
    /// Displacement (m) of the surface: along x and y, and down.
    along_m: Plane,
    down_m: Vec<f64>,
    depth_m: Vec<f64>,
}

/// Derivatives by the surface and the depths after an increment.
struct ByPassed {
    along: Plane,
    down: Vec<f64>,
    depth: Vec<f64>,
}

impl Passed {
    /// Gap (m) between surface and object; zero in contact.
    fn gap_m(&self, cell: usize) -> f64 {
        if self.tractions.parts[2][cell] > 0.0 { 0.0 } else { self.down_m[cell] - self.depth_m[cell] }
    }
}

impl Layer {
    /// Derivatives of a scalar through a press with friction from rest, at constant sets of free, sticking and slipping cells.
    ///
    /// A press whose shear depends on its path was solved in increments: these are repeated, and differentiated in reverse. Each
    /// needs one linear solution ([`Linearised`]), from whose result the derivatives by the increment before follow.
    pub(super) fn gradient_with_friction(
        &self,
        state: &LayerState,
        target: &Target<'_>,
        cotangent: &TouchCotangent,
    ) -> Result<SkinGradient, SkinError> {
        let contact = self.parameters.contact.with_object(target.object.mu);
        let mut heights = HeightField::empty(self.grid);
        heights.lower(&target.object.surface, &target.sensor_from_object, self.max_height_m());
        let indenter = IndenterHeightMap::of_heights(&heights);
        let path = self.path(state, &indenter, contact)?;
        let region = path.region;
        let response = path.response;
        let whole = Region { row: 0, col: 0, rows: self.grid.rows, cols: self.grid.cols };
        let count = path.passed.len() - 1;
        let last = &path.passed[count];
        let lateral = self.parameters.lateral || !last.tractions.is_shear_free();
        let below = self.by_components(BELOW, &cotangent.base, lateral);
        let below = ByOutputs::new(&response, whole, &below, region);
        let mut by_surface = self.by_components(SURFACE, &cotangent.surface, lateral);
        let mut by = self.by_tractions(&region, last, cotangent, &mut by_surface);
        let surface = ByOutputs::new(&response, whole, &by_surface, region);
        for source in 0..3 {
            add(&mut by.parts[source], 1.0, &below.by_source(&self.influences, source));
        }
        // Tractions and stress are in proportion to Young's modulus, the surface does not depend on it.
        let by_young = (0..3).map(|part| dot(&by.parts[part], &last.tractions.parts[part])).sum::<f64>();
        let inside = self.by_inside(&region, cotangent);
        for source in 0..3 {
            add(&mut by.parts[source], 1.0, &surface.by_source(&self.influences, source));
            add(&mut by.parts[source], 1.0, &inside.parts[source]);
        }
        let zero = || vec![0.0; region.len()];
        let nothing = || ByPassed { along: [zero(), zero()], down: zero(), depth: zero() };
        let mut by_passed: Vec<ByPassed> = (0..=count).map(|_| nothing()).collect();
        let (mut by_mu, mut rims) = (0.0, Vec::new());
        for k in (1..=count).rev() {
            let later = &by_passed[k];
            let displaced = Tractions { parts: [later.along[0].clone(), later.along[1].clone(), later.down.clone()] };
            // The compliance is symmetric.
            let through = response.of(&region, &displaced, &region, &SURFACE);
            let mut by_now = if k == count { by.clone() } else { Tractions::zero(region.len()) };
            by_now.parts.iter_mut().zip(&through).for_each(|(by, through)| add(by, 1.0, through));
            let carried_m = path.carried_m(k);
            let mut linearised = path.linearised(k, &carried_m);
            let found = linearised.solve(&by_now, contact.tolerance);
            by_mu += found.by_mu;
            rims.push(found.by_depth.clone());
            path.add_by_carried(k, &found.by_carried, &mut by_passed);
            let now = &mut by_passed[k];
            add(&mut now.depth, 1.0, &found.by_depth);
            add(&mut now.down, -1.0, &found.by_depth);
            now.along.iter_mut().zip(&found.by_carried).for_each(|(sum, by)| add(sum, -1.0, by));
        }
        let mut by_depth = zero();
        let mut by_deepest = 0.0;
        for (k, by) in by_passed.iter().enumerate() {
            add(&mut by_depth, 1.0, &by.depth);
            by_deepest -= (1.0 - k as f64 / count as f64) * by.depth.iter().sum::<f64>();
        }
        let cell = |i: usize| region.cell(i, self.grid.cols);
        // A greater height is a smaller depth.
        let by_height = (0..region.len()).map(|i| (cell(i), -by_depth[i])).chain([(path.deepest, -by_deepest)]);
        let mut gradient = SkinGradient::default();
        let by_height = by_height.filter(|(_, by)| *by != 0.0);
        heights.add_gradient(&target.object.surface, &target.sensor_from_object, by_height, &mut gradient.shape);
        gradient.parameters.push(("mu", by_mu));
        let [ply] = self.laminate.plies() else { return Ok(gradient) };
        gradient.parameters.push(("young", by_young / ply.young_pa));
        for material in Material::with_gradient(ply, cotangent) {
            let slopes = self.material_slopes(ply, material);
            let changed = SurfaceResponse { influences: slopes, ..response };
            let own = slopes.get(Pair::ZPressure).values[0];
            let mut by = 0.0;
            for (source, tractions) in last.tractions.parts.iter().enumerate() {
                by += dot(&below.by_source(slopes, source), tractions)
                    + dot(&surface.by_source(slopes, source), tractions);
            }
            for (k, (passed, of)) in path.passed.iter().zip(&by_passed).enumerate().skip(1) {
                let fields = changed.of(&region, &passed.tractions, &region, &SURFACE);
                by += dot(&fields[0], &of.along[0]) + dot(&fields[1], &of.along[1]) + dot(&fields[2], &of.down);
                for (i, by_depth) in rims[count - k].iter().enumerate() {
                    let part = heights.covered[cell(i)];
                    if part < 1.0 {
                        by -= own * (1.0 / part - 1.0) * by_depth * passed.tractions.parts[2][i];
                    }
                }
            }
            gradient.parameters.push((material.key(), by));
        }
        Ok(gradient)
    }

    /// Derivatives by the tractions (1/Pa) on the cells of a region, at constant surface and stress; those by the depth of the
    /// surface, on which the lever of shear depends, are added.
    fn by_tractions(
        &self,
        region: &Region,
        last: &Passed,
        cotangent: &TouchCotangent,
        by_surface: &mut Vec<(Output, Vec<f64>)>,
    ) -> Tractions {
        let area_m2 = self.grid.cell_m * self.grid.cell_m;
        let (force, torque) = (cotangent.on_sensor.force, cotangent.on_sensor.torque);
        let mut by = Tractions::zero(region.len());
        let mut levers = Vec::new();
        for i in 0..region.len() {
            let at = self.grid.cell_center(region.row + i / region.cols, region.col + i % region.cols);
            let [x, y, pressure] = last.tractions.parts.each_ref().map(|part| part[i]);
            if pressure > 0.0 {
                // The force is (x, y, −p) at the depth u: its torque is (u y − Y p, X p − u x, X y − Y x).
                let down_m = last.down_m[i];
                by.parts[0][i] = area_m2 * (force.x - down_m * torque.y - at.y * torque.z);
                by.parts[1][i] = area_m2 * (force.y + down_m * torque.x + at.x * torque.z);
                levers.push((region.cell(i, self.grid.cols), area_m2 * (torque.x * y - torque.y * x)));
            }
            by.parts[2][i] = area_m2 * (at.x * torque.y - at.y * torque.x - force.z);
        }
        if levers.iter().any(|(_, by)| *by != 0.0) {
            let place = by_surface.iter().position(|(output, _)| *output == Output::Z).unwrap_or_else(|| {
                by_surface.push((Output::Z, vec![0.0; self.grid.rows * self.grid.cols]));
                by_surface.len() - 1
            });
            levers.into_iter().for_each(|(cell, by)| by_surface[place].1[cell] += by);
        }
        by
    }

    /// The increments of a press from rest that ends in `state`: those of its solution, or one if that suffices.
    fn path<'a>(
        &'a self,
        state: &LayerState,
        indenter: &'a IndenterHeightMap,
        contact: LayerContact,
    ) -> Result<Path<'a>, SkinError> {
        let at_once = Path::new(self, std::slice::from_ref(state), indenter, contact);
        if at_once.is_solved() {
            return Ok(at_once);
        }
        let rest = LayerState::rest(self.grid.rows, self.grid.cols, self.parameters.relaxation.len());
        let contact_with = |_| contact;
        let friction = SlidingFriction { contact: &contact_with, slide_m: &|_, _| [0.0; 2] };
        let mut states = Vec::new();
        let step = Step { state: &rest, indenter, friction: &friction, dt_s: None };
        let solution = self.solver().solve_and_keep(step, &mut |state| states.push(state.clone()));
        states.push(solution.state);
        let path = Path::new(self, &states, indenter, contact);
        let given = moved_all(&state.lasting, &state.region, &path.region);
        let last = &path.passed[path.passed.len() - 1].tractions;
        let peak = last.parts[2].iter().copied().fold(0.0, f64::max);
        let differs = |(a, b): (&f64, &f64)| (a - b).abs() > SAME * peak;
        if given.parts.iter().flatten().zip(last.parts.iter().flatten()).any(differs) {
            let reason = "a layer with friction has them after a press from rest, without shear";
            return Err(SkinError::NoGradient { reason });
        }
        Ok(path)
    }
}

/// A press in increments.
struct Path<'a> {
    layer: &'a Layer,
    indenter: &'a IndenterHeightMap,
    contact: LayerContact,
    response: SurfaceResponse<'a>,
    region: Region,
    product: Arc<Product>,
    /// The cell in which the object is deepest.
    deepest: usize,
    /// At rest, and after each increment.
    passed: Vec<Passed>,
}

impl<'a> Path<'a> {
    fn new(layer: &'a Layer, states: &[LayerState], indenter: &'a IndenterHeightMap, contact: LayerContact) -> Self {
        let (rows, cols) = (layer.grid.rows, layer.grid.cols);
        let region = states.iter().fold(Region::default(), |all, state| all.union(&state.region)).grown(1, rows, cols);
        let response = SurfaceResponse { influences: &layer.influences, coupled: layer.parameters.coupled };
        let deepest =
            (0..rows * cols).max_by(|&a, &b| indenter.depth_m[a].total_cmp(&indenter.depth_m[b])).unwrap_or(0);
        let count = states.len();
        let passed = |k: usize| {
            let tractions = match k {
                0 => Tractions::zero(region.len()),
                _ => moved_all(&states[k - 1].lasting, &states[k - 1].region, &region),
            };
            let mut fields = response.of(&region, &tractions, &region, &SURFACE).into_iter();
            let [x, y, down_m] = std::array::from_fn(|_| fields.next().unwrap_or_default());
            let above_m = (1.0 - k as f64 / count as f64) * indenter.depth_m[deepest];
            let depth_m = region.cut(&indenter.depth_m, cols).into_iter().map(|depth_m| depth_m - above_m).collect();
            Passed { tractions, along_m: [x, y], down_m, depth_m }
        };
        let passed = (0..=count).map(passed).collect();
        Self { layer, indenter, contact, response, region, product: layer.influences.within(&region), deepest, passed }
    }

    /// Displacement (m) with which the sticking cells of an increment are carried.
    fn carried_m(&self, k: usize) -> Plane {
        let now = &self.passed[k - 1];
        let mut carried_m = now.along_m.clone();
        let Some(before) = k.checked_sub(2).map(|before| &self.passed[before]) else { return carried_m };
        for i in 0..self.region.len() {
            let (part, _) = remaining(now.gap_m(i), before.gap_m(i));
            for (carried_m, (now, before)) in carried_m.iter_mut().zip(now.along_m.iter().zip(&before.along_m)) {
                carried_m[i] += part * (now[i] - before[i]);
            }
        }
        carried_m
    }

    /// Adds the derivatives by the increments before from those by [`Path::carried_m`].
    fn add_by_carried(&self, k: usize, by: &Plane, by_passed: &mut [ByPassed]) {
        let now = &self.passed[k - 1];
        by_passed[k - 1].along.iter_mut().zip(by).for_each(|(sum, by)| add(sum, 1.0, by));
        let Some(before) = k.checked_sub(2) else { return };
        for i in (0..self.region.len()).filter(|&i| by[0][i] != 0.0 || by[1][i] != 0.0) {
            let (part, by_gaps) = remaining(now.gap_m(i), self.passed[before].gap_m(i));
            let mut by_part = 0.0;
            for (axis, by) in by.iter().enumerate() {
                by_passed[k - 1].along[axis][i] += part * by[i];
                by_passed[before].along[axis][i] -= part * by[i];
                by_part += by[i] * (now.along_m[axis][i] - self.passed[before].along_m[axis][i]);
            }
            for (at, by_gap) in [(k - 1, by_gaps[0]), (before, by_gaps[1])] {
                if self.passed[at].tractions.parts[2][i] <= 0.0 {
                    by_passed[at].down[i] += by_part * by_gap;
                    by_passed[at].depth[i] -= by_part * by_gap;
                }
            }
        }
    }

    /// Distance (m) by which each cell lags behind its object.
    fn lag_m(&self, k: usize, carried_m: &Plane) -> Plane {
        let part =
            |axis: usize| carried_m[axis].iter().zip(&self.passed[k].along_m[axis]).map(|(c, u)| c - u).collect();
        [part(0), part(1)]
    }

    /// The cells that slip in an increment.
    fn slips(&self, k: usize, lag_m: &Plane) -> Vec<Option<Slip>> {
        let [x, y, pressure] = &self.passed[k].tractions.parts;
        let sticks_m =
            (10.0 * self.contact.tolerance).max(1e-6) * lag_m.iter().map(|part| largest(part)).fold(0.0, f64::max);
        let one = |i: usize| {
            let (size, limit) = (x[i].hypot(y[i]), self.contact.max_shear_pa(pressure[i]));
            let (behind, forward) = (lag_m[0][i].hypot(lag_m[1][i]), lag_m[0][i] * x[i] + lag_m[1][i] * y[i]);
            (limit > 0.0 && size >= AT_LIMIT * limit && forward > 0.0 && behind > sticks_m).then(|| Slip {
                along: [x[i] / size, y[i] / size],
                lag_per_pa: behind / limit,
                pressure_pa: pressure[i],
            })
        };
        (0..self.region.len()).map(one).collect()
    }

    /// True if the cells of a press in one increment that do not slip stick where they were at rest.
    fn is_solved(&self) -> bool {
        let (carried_m, last) = (self.carried_m(1), &self.passed[1]);
        let lag_m = self.lag_m(1, &carried_m);
        let slips = self.slips(1, &lag_m);
        let none = || vec![0.0; self.region.len()];
        let pushed = Tractions { parts: [none(), none(), last.tractions.parts[2].clone()] };
        let pushed_m = self.response.of(&self.region, &pushed, &self.region, &SURFACE[..2]);
        let pushed_m = pushed_m.iter().map(|part| largest(part)).fold(0.0, f64::max);
        let sticks = |i: usize| last.tractions.parts[2][i] > 0.0 && slips[i].is_none();
        (0..self.region.len()).filter(|&i| sticks(i)).all(|i| lag_m[0][i].hypot(lag_m[1][i]) <= STICKS * pushed_m)
    }

    fn linearised(&self, k: usize, carried_m: &Plane) -> Linearised<'_> {
        let influences = &self.layer.influences;
        let cols = self.layer.grid.cols;
        let covered = (0..self.region.len()).map(|i| self.indenter.covered[self.region.cell(i, cols)]);
        let pressure = &self.passed[k].tractions.parts[2];
        Linearised {
            response: self.response,
            region: self.region,
            normal: Complementarity::new(influences, &self.product, self.region, self.contact.tolerance)
                .covering(covered),
            tangential: PartialSlip::new(influences, self.region),
            active: pressure.iter().map(|&p| f64::from(u8::from(p > 0.0))).collect(),
            slips: self.slips(k, &self.lag_m(k, carried_m)),
            mu: self.contact.mu,
            own_compliance: influences.get(Pair::XX).values[0],
        }
    }
}

fn moved_all(tractions: &Tractions, from: &Region, to: &Region) -> Tractions {
    Tractions { parts: tractions.parts.each_ref().map(|part| moved(part, from, to)) }
}

/// sum += factor · values.
fn add(sum: &mut [f64], factor: f64, values: &[f64]) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}
