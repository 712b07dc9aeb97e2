//! The layer against paraboloids on a bonded layer that another method has solved.
//!
//! The file lists cases in SI units: a rigid, frictionless paraboloid z = r²/(2R) pressed to a known depth, the force and the
//! contact radius it then has, and the sinking of the surface and the pressure on the base at some distances from the axis.

use dermis::geometry::HeightField;
use dermis::skin::layer::{IndenterHeightMap, Ply, Poisson};
use dermis::skin::{Layer, LayerParameters, Skin, SkinError, SurfaceField, Touch};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Why a golden file cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum LayerGoldenError {
    /// A file that cannot be read.
    #[error("{path}: cannot be read: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// Not the expected JSON.
    #[error("{path}: not a golden file of the layer: {reason}")]
    BadJson {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// A case that means nothing.
    #[error("{path}: case {case}: {reason}")]
    BadCase {
        /// The file.
        path: String,
        /// Its place in the file, from 0.
        case: usize,
        /// What is wrong.
        reason: String,
    },
    /// A grid that cannot tell anything.
    #[error("`cells` must be 16 to 2048, got {got}")]
    BadCells {
        /// The value.
        got: usize,
    },
}

/// Errors of one case, or the worst of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LayerErrors {
    /// |F − F*| / F*.
    pub force_rel: f64,
    /// |a − a*| in cells, where π a² is the area of the cells that press.
    pub radius_cells: f64,
    /// Largest error of the sinking of the surface, by the depth.
    pub surface_rel: f64,
    /// Largest error of the pressure on the base, by its peak.
    pub base_rel: f64,
}

/// What a golden file says about us.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayerReport {
    /// In the order of the file.
    pub cases: Vec<LayerErrors>,
    /// The worst of each.
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
pub fn run(path: &Path, cells: usize) -> Result<LayerReport, LayerGoldenError> {
    if !(16..=2048).contains(&cells) {
        return Err(LayerGoldenError::BadCells { got: cells });
    }
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| LayerGoldenError::Unreadable { path: name.clone(), reason: error.to_string() })?;
    let golden: Golden = serde_json::from_str(&text)
        .map_err(|error| LayerGoldenError::BadJson { path: name.clone(), reason: error.to_string() })?;
    let mut report = LayerReport { cases: Vec::new(), worst: LayerErrors::default() };
    for (index, case) in golden.cases.iter().enumerate() {
        let bad = |reason: String| LayerGoldenError::BadCase { path: name.clone(), case: index, reason };
        case.check().map_err(bad)?;
        let errors = case.compare(cells).map_err(|error| bad(error.to_string()))?;
        let worst = &mut report.worst;
        worst.force_rel = worst.force_rel.max(errors.force_rel);
        worst.radius_cells = worst.radius_cells.max(errors.radius_cells);
        worst.surface_rel = worst.surface_rel.max(errors.surface_rel);
        worst.base_rel = worst.base_rel.max(errors.base_rel);
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
        // A few cells more than eight radii, so that the farthest samples have neighbours on all sides.
        let side_m = (8.0 * self.contact_radius_m).max(2.0 * farthest_m) * (1.0 + 6.0 / cells as f64);
        let cell_m = side_m / cells as f64;
        let layer = Layer::new(LayerParameters::new(ply, [side_m; 2], cell_m))?;
        let height = |x: f64, y: f64| (x * x + y * y) / (2.0 * self.radius_m) - self.depth_m;
        let indenter = IndenterHeightMap::of_heights(&HeightField::from_fn(layer.grid(), height));
        let (touch, _) = layer.settle_under(&layer.rest(), &indenter)?;
        Ok(self.errors(&touch, cell_m))
    }

    /// The same contact with `factor` times the radius of the paraboloid: all else but the contact radius is smaller by it.
    pub(crate) fn flatter(mut self, factor: f64) -> Self {
        self.radius_m *= factor;
        let lists = self.surface_displacement_m.iter_mut().chain(&mut self.base_normal_stress_pa);
        [&mut self.depth_m, &mut self.force_n].into_iter().chain(lists).for_each(|value| *value /= factor);
        self
    }

    /// The same case, looked at within a distance (m).
    pub(crate) fn within(mut self, distance_m: f64) -> Self {
        self.r_m.truncate(self.r_m.partition_point(|r| *r < distance_m));
        self
    }

    /// How far a touch is from the truth.
    pub(crate) fn errors(&self, touch: &Touch, cell_m: f64) -> LayerErrors {
        let force_n = -touch.on_sensor.force.z;
        let radius_m = (touch.area_m2() / std::f64::consts::PI).sqrt();
        let peak_pa = self.base_normal_stress_pa.iter().fold(0.0f64, |most, value| most.max(value.abs()));
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

/// The largest difference between −z of a field and the truth at distances from its middle, in three directions.
fn worst_error(field: &SurfaceField, r_m: &[f64], truth: &[f64]) -> f64 {
    let mut worst = 0.0f64;
    for angle in [0.0, 0.35, std::f64::consts::FRAC_PI_4] {
        for (&r, &truth) in r_m.iter().zip(truth) {
            worst = worst.max((-cubic(field, r * f64::cos(angle), r * f64::sin(angle)) - truth).abs());
        }
    }
    worst
}

/// z of a field at x, y (m) by cubics through four cells each way.
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
