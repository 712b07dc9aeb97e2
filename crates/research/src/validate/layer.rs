//! The layer skin against an independent solution for a paraboloid on a bonded layer.
//!
//! The file lists cases in SI units: a rigid, frictionless paraboloid z = r²/(2R) pressed to a known depth, with its
//! force and contact radius, and the surface displacement and base pressure at several distances from the axis.

use super::{ValidateError, read_json};
use dermis::geometry::HeightField;
use dermis::skin::layer::{IndenterHeightMap, Ply, Poisson};
use dermis::skin::{Layer, LayerParameters, Skin, SkinError, SurfaceField, Touch};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Errors of one case, or the largest of all cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LayerErrors {
    /// Error of the force: |F − F*| / F*.
    pub force_rel: f64,
    /// Error of the contact radius (cells): |a − a*|, where π a² is the area of the cells in contact.
    pub radius_cells: f64,
    /// Largest error of the surface displacement, relative to the depth.
    pub surface_rel: f64,
    /// Largest error of the base pressure, relative to its peak.
    pub base_rel: f64,
}

impl LayerErrors {
    /// The larger of each error.
    pub(crate) fn max(&self, other: &Self) -> Self {
        Self {
            force_rel: self.force_rel.max(other.force_rel),
            radius_cells: self.radius_cells.max(other.radius_cells),
            surface_rel: self.surface_rel.max(other.surface_rel),
            base_rel: self.base_rel.max(other.base_rel),
        }
    }
}

/// The comparison with a golden file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayerReport {
    /// Errors of the cases, in the order of the file.
    pub cases: Vec<LayerErrors>,
    /// The largest of each error.
    pub worst: LayerErrors,
}

#[derive(Deserialize)]
pub(crate) struct Golden {
    pub cases: Vec<Case>,
}

#[derive(Deserialize)]
pub(crate) struct Case {
    #[serde(rename = "R_m")]
    pub radius_m: f64,
    pub layer_thickness_m: f64,
    pub poisson: f64,
    pub young_pa: f64,
    pub contact_radius_m: f64,
    pub depth_m: f64,
    force_n: f64,
    r_m: Vec<f64>,
    surface_displacement_m: Vec<f64>,
    base_normal_stress_pa: Vec<f64>,
}

/// Reads a golden file and compares every case, on `cells` × `cells` cells over a little more than eight contact radii.
pub fn run(path: &Path, cells: usize) -> Result<LayerReport, ValidateError> {
    if !(16..=2048).contains(&cells) {
        return Err(ValidateError::BadCells { got: cells });
    }
    let name = path.display().to_string();
    let golden: Golden = read_json(path)?;
    let mut report = LayerReport { cases: Vec::new(), worst: LayerErrors::default() };
    for (index, case) in golden.cases.iter().enumerate() {
        let bad = |reason: String| ValidateError::BadCase { place: format!("{name}: case {index}"), reason };
        case.check().map_err(bad)?;
        let errors = case.compare(cells).map_err(|error| bad(error.to_string()))?;
        report.worst = report.worst.max(&errors);
        report.cases.push(errors);
    }
    Ok(report)
}

impl Case {
    fn check(&self) -> Result<(), String> {
        let positive = [
            ("R_m", self.radius_m),
            ("contact_radius_m", self.contact_radius_m),
            ("depth_m", self.depth_m),
            ("force_n", self.force_n),
        ];
        if let Some((key, got)) = positive.into_iter().find(|(_, value)| !(*value > 0.0 && value.is_finite())) {
            return Err(format!("`{key}` must be positive, got {got}"));
        }
        let count = self.r_m.len();
        if count == 0 || self.surface_displacement_m.len() != count || self.base_normal_stress_pa.len() != count {
            return Err(format!(
                "`r_m`, `surface_displacement_m` and `base_normal_stress_pa` must be of one length, got {count}, {} and {}",
                self.surface_displacement_m.len(),
                self.base_normal_stress_pa.len()
            ));
        }
        match self.r_m.iter().find(|r| !(**r >= 0.0 && r.is_finite())) {
            Some(got) => Err(format!("`r_m` must hold distances, got {got}")),
            None => Ok(()),
        }
    }

    fn compare(&self, cells: usize) -> Result<LayerErrors, SkinError> {
        let poisson = if self.poisson == 0.5 { Poisson::Incompressible } else { Poisson::Ratio(self.poisson) };
        let ply = Ply { thickness_m: self.layer_thickness_m, young_pa: self.young_pa, poisson };
        let farthest_m = self.r_m.iter().copied().fold(0.0, f64::max);
        // A few cells more than eight radii, so that the farthest samples have neighbours in all directions.
        let side_m = (8.0 * self.contact_radius_m).max(2.0 * farthest_m) * (1.0 + 6.0 / cells as f64);
        let cell_m = side_m / cells as f64;
        let layer = Layer::new(LayerParameters::new(ply, [side_m; 2], cell_m))?;
        let height = |x: f64, y: f64| (x * x + y * y) / (2.0 * self.radius_m) - self.depth_m;
        let indenter = IndenterHeightMap::of_heights(&HeightField::from_fn(layer.grid(), height));
        let (touch, _) = layer.settle_under(&layer.rest(), &indenter)?;
        Ok(self.errors(&touch, cell_m))
    }

    /// The case with `factor` times the radius of the paraboloid: divides depth, force, displacements and
    /// stresses by `factor`.
    pub(crate) fn flatter(mut self, factor: f64) -> Self {
        self.radius_m *= factor;
        let lists = self.surface_displacement_m.iter_mut().chain(&mut self.base_normal_stress_pa);
        [&mut self.depth_m, &mut self.force_n].into_iter().chain(lists).for_each(|value| *value /= factor);
        self
    }

    /// The case restricted to samples within a distance (m) of the axis.
    pub(crate) fn within(mut self, distance_m: f64) -> Self {
        self.r_m.truncate(self.r_m.partition_point(|r| *r < distance_m));
        self
    }

    /// Errors of a touch against the reference.
    pub(crate) fn errors(&self, touch: &Touch, cell_m: f64) -> LayerErrors {
        let force_n = -touch.on_sensor.force.z;
        let radius_m = (touch.area_m2() / std::f64::consts::PI).sqrt();
        let peak_pa = self.base_normal_stress_pa.iter().fold(0.0f64, |peak, value| peak.max(value.abs()));
        let error = |field: &Option<SurfaceField>, truth: &[f64]| {
            field.as_ref().map_or(f64::INFINITY, |field| worst_error(field, &self.r_m, truth))
        };
        LayerErrors {
            force_rel: (force_n - self.force_n).abs() / self.force_n,
            radius_cells: (radius_m - self.contact_radius_m).abs() / cell_m,
            surface_rel: error(&touch.surface, &self.surface_displacement_m) / self.depth_m,
            base_rel: error(&touch.base, &self.base_normal_stress_pa) / peak_pa,
        }
    }
}

/// The largest difference between −z of a field and the truth at distances from its centre, in three directions.
fn worst_error(field: &SurfaceField, r_m: &[f64], truth: &[f64]) -> f64 {
    let mut worst = 0.0f64;
    for angle in [0.0, 0.35, std::f64::consts::FRAC_PI_4] {
        for (&r, &truth) in r_m.iter().zip(truth) {
            worst = worst.max((-cubic(field, r * f64::cos(angle), r * f64::sin(angle)) - truth).abs());
        }
    }
    worst
}

/// z of a field at x, y (m) by cubic interpolation.
fn cubic(field: &SurfaceField, x: f64, y: f64) -> f64 {
    let place = |at: f64, count: usize| {
        let at = at + 0.5 * (count as f64 - 1.0);
        let first = (at.floor() - 1.0).clamp(0.0, count as f64 - 4.0);
        (first as usize, at - first - 1.0)
    };
    let (col, s) = place(x / field.cell_m, field.cols);
    let (row, t) = place(-y / field.cell_m, field.rows);
    let weights = |t: f64| {
        [
            -t * (t - 1.0) * (t - 2.0) / 6.0,
            (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0,
            -(t + 1.0) * t * (t - 2.0) / 2.0,
            (t + 1.0) * t * (t - 1.0) / 6.0,
        ]
    };
    let (across, along) = (weights(s), weights(t));
    let mut sum = 0.0;
    for (i, down) in along.iter().enumerate() {
        for (j, over) in across.iter().enumerate() {
            sum += down * over * field.values[(row + i) * field.cols + col + j].z;
        }
    }
    sum
}
