//! Derivatives through a press on a layer.

use super::complementarity::{Complementarity, dot, largest};
use super::kernel::{Functions, Pair};
use super::material::Poisson;
use super::product::{Influences, Region};
use super::relaxation::Tractions;
use super::response::{ByOutputs, Output, SurfaceResponse};
use super::solution::{BELOW, SURFACE};
use super::state::LayerState;
use super::{Laminate, Layer, Ply};
use crate::{SkinError, SkinGradient, Target, TouchCotangent};
use dermis_geometry::{HeightField, Vec3};
use std::sync::{Arc, OnceLock};

/// Influence coefficients differentiated by Poisson's ratio and by the thickness, computed on first use.
#[derive(Debug, Default)]
pub(super) struct MaterialSlopes {
    made: [OnceLock<Influences>; 2],
}

/// Relative step of the differences of influence coefficients. They are smooth, and of fourth order: their error is about
/// 1e-10.
const STEP: f64 = 2e-3;

/// A parameter of the material on which the influence coefficients depend.
#[derive(Clone, Copy, Debug)]
pub(super) enum Material {
    Poisson,
    Thickness,
}

impl Layer {
    /// Derivatives of a scalar through a press; with friction see [`Layer::gradient_with_friction`].
    ///
    /// On the cells A in contact the pressure p solves K p = g with the depths g of the object; surface and stress are
    /// u = S p and b = B p. With the derivatives **ū**, **b̄** and **p̄** of the scalar and the adjoint λ,
    /// ```text
    /// K λ = p̄ + Sᵀ ū + Bᵀ b̄ on A,     ∂L/∂g = λ,     ∂L/∂θ = −λᵀ K′ p + ūᵀ S′ p + b̄ᵀ B′ p
    /// ```
    /// K is symmetric, so that one more linear solution suffices. Where A changes, the derivative is one-sided; this is
    /// the one at constant A.
    pub(super) fn gradient(
        &self,
        state: &LayerState,
        target: &Target<'_>,
        cotangent: &TouchCotangent,
    ) -> Result<SkinGradient, SkinError> {
        let contact = self.parameters.contact.with_object(target.object.mu);
        if state.held.iter().any(|held| held.parts.iter().flatten().any(|&value| value != 0.0)) {
            let reason = "a layer that relaxes has them in equilibrium";
            return Err(SkinError::NoGradient { reason });
        }
        let mut gradient = SkinGradient::default();
        let single = match self.laminate.plies() {
            [only] => Some(only),
            _ => None,
        };
        let region = state.region;
        if region.is_empty() {
            let keys =
                |ply: &&Ply| Material::with_gradient(ply, cotangent).into_iter().map(Material::key).chain(["young"]);
            gradient.parameters.extend(single.iter().flat_map(keys).map(|key| (key, 0.0)));
            gradient.parameters.extend(contact.has_friction().then_some(("mu", 0.0)));
            return Ok(gradient);
        }
        if contact.has_friction() || !state.lasting.is_shear_free() {
            return self.gradient_with_friction(state, target, cotangent);
        }
        let pressure = &state.pressure;
        let response = SurfaceResponse { influences: &self.influences, coupled: self.parameters.coupled };
        let whole = Region { row: 0, col: 0, rows: self.grid.rows, cols: self.grid.cols };
        let below = ByOutputs::new(
            &response,
            whole,
            &self.by_components(BELOW, &cotangent.base, self.parameters.lateral),
            region,
        );
        let by_surface = self.by_components(SURFACE, &cotangent.surface, self.parameters.lateral);
        let mut surface = ByOutputs::new(&response, whole, &by_surface, region);
        let mut right = self.by_pressure(&region, cotangent);
        right.iter_mut().zip(below.by_pressure(&self.influences)).for_each(|(sum, by)| *sum += by);
        // Pressure and stress are in proportion to Young's modulus, the surface does not depend on it.
        let by_young = dot(&right, pressure);
        right.iter_mut().zip(surface.by_pressure(&self.influences)).for_each(|(sum, by)| *sum += by);
        right.iter_mut().zip(&self.by_inside(&region, cotangent).parts[2]).for_each(|(sum, by)| *sum += by);
        let mut heights = HeightField::empty(self.grid);
        heights.lower(&target.object.surface, &target.sensor_from_object, self.max_height_m());
        let cells: Vec<usize> = (0..region.len()).map(|i| region.cell(i, self.grid.cols)).collect();
        let active: Vec<f64> = pressure.iter().map(|&p| f64::from(u8::from(p > 0.0))).collect();
        right.iter_mut().zip(&active).for_each(|(right, on)| *right *= on);
        let product = self.influences.within(&region);
        let mut normal = Complementarity::new(&self.influences, &product, region, contact.tolerance)
            .covering(cells.iter().map(|&cell| heights.covered[cell]));
        let adjoint = normal.solve_active(&active, &right, contact.tolerance * largest(&right));
        // A greater height is a smaller depth.
        let by_height = cells.iter().zip(&adjoint).filter(|(_, by)| **by != 0.0).map(|(&cell, by)| (cell, -by));
        heights.add_gradient(&target.object.surface, &target.sensor_from_object, by_height, &mut gradient.shape);
        let Some(ply) = single else { return Ok(gradient) };
        gradient.parameters.push(("young", by_young / ply.young_pa));
        // −λᵀ K′ p has the form of ūᵀ S′ p, because K is the part of S between the cells in contact.
        let mut down = by_surface
            .into_iter()
            .find(|(output, _)| *output == Output::Z)
            .map_or_else(|| vec![0.0; whole.len()], |(_, by)| by);
        cells.iter().zip(&adjoint).for_each(|(&cell, adjoint)| down[cell] -= adjoint);
        surface.set(Output::Z, &down);
        for material in Material::with_gradient(ply, cotangent) {
            let slopes = self.material_slopes(ply, material);
            let own = slopes.get(Pair::ZPressure).values[0];
            let rims = cells.iter().zip(&adjoint).zip(pressure).map(|((&cell, adjoint), p)| {
                let part = heights.covered[cell];
                if part < 1.0 { own * (1.0 / part - 1.0) * adjoint * p } else { 0.0 }
            });
            let by = dot(&below.by_pressure(slopes), pressure) + dot(&surface.by_pressure(slopes), pressure)
                - rims.sum::<f64>();
            gradient.parameters.push((material.key(), by));
        }
        Ok(gradient)
    }

    /// Derivatives by the components of a field that a layer computes: along x, along y and down.
    pub(super) fn by_components(&self, outputs: [Output; 3], field: &[Vec3], lateral: bool) -> Vec<(Output, Vec<f64>)> {
        // Without lateral components those along x and y are zero whatever the pressure.
        let first = match (field.is_empty(), lateral) {
            (true, _) => 3,
            (_, true) => 0,
            (_, false) => 2,
        };
        let part = |axis: usize| -> Vec<f64> {
            let sign = if axis == 2 { -1.0 } else { 1.0 };
            field.iter().map(|value| sign * value[axis]).collect()
        };
        (first..3).map(|axis| (outputs[axis], part(axis))).collect()
    }

    /// Derivatives by the pressure (1/Pa) on the cells of a region, at constant surface and stress.
    fn by_pressure(&self, region: &Region, cotangent: &TouchCotangent) -> Vec<f64> {
        let area_m2 = self.grid.cell_m * self.grid.cell_m;
        let (force, torque) = (cotangent.on_sensor.force, cotangent.on_sensor.torque);
        let by = |i: usize| {
            let at = self.grid.cell_center(region.row + i / region.cols, region.col + i % region.cols);
            // The force is −p along z, its torque (−y p, x p, 0).
            area_m2 * (at.x * torque.y - at.y * torque.x - force.z)
        };
        (0..region.len()).map(by).collect()
    }

    /// Derivatives by the tractions (1/Pa) on the cells of a region through displacements inside of the layer.
    pub(super) fn by_inside(&self, region: &Region, cotangent: &TouchCotangent) -> Tractions {
        let area_m2 = self.grid.cell_m * self.grid.cell_m;
        let mut by = Tractions::zero(region.len());
        for i in 0..region.len() {
            let force = cotangent.inside.get(region.cell(i, self.grid.cols)).copied().unwrap_or_default();
            // The force is (x, y, −p).
            let along = (force * Vec3::new(area_m2, area_m2, -area_m2)).to_array();
            by.parts.iter_mut().zip(along).for_each(|(part, by)| part[i] = by);
        }
        by
    }

    /// Derivatives of the influence coefficients.
    pub(super) fn material_slopes(&self, ply: &Ply, material: Material) -> &Influences {
        self.slopes.made[material as usize].get_or_init(|| self.influence_slopes(ply, material))
    }

    /// Derivatives of the influence coefficients, by differences of fourth order.
    fn influence_slopes(&self, ply: &Ply, material: Material) -> Influences {
        let (ply_at, value): (fn(&Ply, f64) -> Ply, f64) = match material {
            Material::Poisson => (|ply, nu| Ply { poisson: Poisson::Ratio(nu), ..*ply }, ply.poisson.ratio()),
            Material::Thickness => (|ply, thickness_m| Ply { thickness_m, ..*ply }, ply.thickness_m),
        };
        let step = match material {
            // Stays below ½.
            Material::Poisson => STEP.min(0.4 * (0.5 - value)).min(0.4 * (1.0 + value)),
            Material::Thickness => STEP * value,
        };
        let functions = |steps: f64| {
            let ply = ply_at(ply, value + steps * step);
            // The base moves with the thickness, a given depth does not.
            let depth_m = self.parameters.sense_depth_m.unwrap_or(ply.thickness_m);
            Laminate::new(vec![ply])
                .ok()
                .map(|laminate| Arc::new(Functions::new(&laminate, depth_m, super::reach_m(&self.grid))))
        };
        let weights = [(-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)];
        let terms = weights.into_iter().filter_map(|(at, weight)| Some((weight / (12.0 * step), functions(at)?)));
        Influences::sum(terms.collect(), self.grid.rows, self.grid.cols, self.grid.cell_m)
    }
}

impl Material {
    /// The parameters of a ply. Poisson's ratio of an incompressible material is at its limit.
    pub fn of(ply: &Ply) -> Vec<Self> {
        match ply.poisson {
            Poisson::Ratio(_) => vec![Self::Poisson, Self::Thickness],
            Poisson::Incompressible => vec![Self::Thickness],
        }
    }

    /// Those by which a scalar is differentiated: none if it depends on displacements inside, whose derivatives are not tabulated.
    pub fn with_gradient(ply: &Ply, cotangent: &TouchCotangent) -> Vec<Self> {
        if cotangent.inside.is_empty() { Self::of(ply) } else { Vec::new() }
    }

    pub fn key(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Thickness => "thickness",
        }
    }
}
