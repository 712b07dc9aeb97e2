//! The description of an imprint skin in a file.

use crate::skin_spec::FullyPressed;
use crate::{SensorError, SensorSpec, SkinSpec, SurfaceSpec};
use dermis_geometry::quantity::{AreaStiffness, Length};
use dermis_geometry::{HeightGrid, Ray, Surface, TriMesh, Vec3};
use dermis_skin::{Imprint, ImprintParameters};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A gel that takes the shape of the indenter; flat under a grid, otherwise curved like the surface, seen along z.
///
/// A change of the kind of skin alone derives it from any skin, with the stiffness of that skin when all of it is pressed and
/// its maximum depth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImprintSpec {
    /// Maximum indentation.
    pub thickness: Length,
    /// Pressure per unit of depth.
    pub stiffness_per_area: AreaStiffness,
    /// Edge of a cell; defaults to a 128th of the longer side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<Length>,
    /// Width of the Gaussian that pulls the surroundings of the contact down.
    #[serde(default = "narrow")]
    pub narrow: Length,
    /// Width of the Gaussian that makes the surroundings bulge.
    #[serde(default = "wide")]
    pub wide: Length,
    /// Weight of the wide Gaussian.
    #[serde(default = "bulge")]
    pub bulge: f64,
}

fn narrow() -> Length {
    Length::new(2e-4)
}

fn wide() -> Length {
    Length::new(8e-4)
}

fn bulge() -> f64 {
    0.1
}

/// Default number of cells along the longer side.
const CELLS: f64 = 128.0;

impl ImprintSpec {
    pub(crate) fn build(&self, sensor: &str, surface: &SurfaceSpec, mesh: &TriMesh) -> Result<Imprint, SensorError> {
        let bounds = mesh.bounds();
        let (size, center) = (bounds.size(), bounds.center());
        let size_m = [size.x, size.y];
        let cell = self.cell.unwrap_or(Length::new(size.x.max(size.y) / CELLS));
        let cell_m = SensorError::check_positive(sensor, "cell", cell)?;
        let grid = Imprint::cells(size_m, [center.x, center.y], cell_m);
        let rest_heights_m = match surface {
            SurfaceSpec::Grid { .. } => None,
            _ => Some(Arc::from(heights_m(&Surface::new(surface.fine(cell_m)?.unwrap_or_else(|| mesh.clone())), grid))),
        };
        let parameters = ImprintParameters {
            size_m,
            center_m: [center.x, center.y],
            cell_m,
            thickness_m: self.thickness.si(),
            stiffness_pa_per_m: self.stiffness_per_area.si(),
            narrow_m: self.narrow.si(),
            wide_m: self.wide.si(),
            bulge: self.bulge,
            rest_heights_m,
        };
        Imprint::new(parameters).map_err(SensorError::skin(sensor))
    }

    /// The imprint that replaces any skin.
    pub(crate) fn replacing(spec: &SensorSpec) -> Result<Self, SensorError> {
        let sensor = spec.without_optics().build(None)?;
        let pressed = FullyPressed::of(&sensor, sensor.surface().vertex_areas_m2().iter().sum());
        let cell = if let SkinSpec::Layer(layer) = &spec.skin { layer.cell } else { None };
        Ok(Self {
            thickness: Length::new(pressed.max_depth_m),
            stiffness_per_area: AreaStiffness::new(pressed.stiffness_pa_per_m),
            cell,
            narrow: narrow(),
            wide: wide(),
            bulge: bulge(),
        })
    }
}

/// Smooths the heights over the cells, because a camera would see the facets of a mesh as stripes. Each covered cell
/// becomes the mean of itself, with weight two, and its neighbours on both sides, first along rows, then along columns.
fn smooth_facets(heights: &mut [f64], covered: &[bool], cols: usize) {
    const PASSES: usize = 4;
    for step in [1, cols].repeat(PASSES) {
        let before = heights.to_vec();
        for i in step..heights.len() - step {
            let inside = step > 1 || (1..cols - 1).contains(&(i % cols));
            if inside && covered[i - step] && covered[i] && covered[i + step] {
                heights[i] = 0.25 * (before[i - step] + 2.0 * before[i] + before[i + step]);
            }
        }
    }
}

/// Height of the surface over each cell (m), seen from above. Beside the surface the height falls off at 45°, so that
/// there is no step at its edge.
fn heights_m(surface: &Surface, grid: HeightGrid) -> Vec<f64> {
    let top = surface.bounds().max.z + 1.0;
    let length = top - surface.bounds().min.z + 1.0;
    let above = |cell: usize| {
        let at = grid.cell_center(cell / grid.cols, cell % grid.cols);
        let down = Ray { origin: Vec3::new(at.x, at.y, top), direction: -Vec3::Z, length };
        surface.cast(&down, None).map_or(f64::NEG_INFINITY, |hit| top - hit.distance)
    };
    let mut heights: Vec<f64> = (0..grid.rows * grid.cols).map(above).collect();
    // Maximum over all slopes of 45° from covered cells, by forward and backward sweeps (a chamfer distance).
    let (straight, across) = (grid.cell_m, std::f64::consts::SQRT_2 * grid.cell_m);
    let neighbours = [(-1isize, -1isize, across), (-1, 0, straight), (-1, 1, across), (0, -1, straight)];
    let covered: Vec<bool> = heights.iter().map(|height| height.is_finite()).collect();
    smooth_facets(&mut heights, &covered, grid.cols);
    for back in [false, true] {
        for i in 0..heights.len() {
            let cell = if back { heights.len() - 1 - i } else { i };
            if covered[cell] {
                continue;
            }
            let (row, col) = ((cell / grid.cols) as isize, (cell % grid.cols) as isize);
            for (down, right, far) in neighbours {
                let (r, c) = if back { (row - down, col - right) } else { (row + down, col + right) };
                if r >= 0 && c >= 0 && (r as usize) < grid.rows && (c as usize) < grid.cols {
                    heights[cell] = heights[cell].max(heights[r as usize * grid.cols + c as usize] - far);
                }
            }
        }
    }
    heights
}
