//! The gel of a GelSight Mini against finite elements and measured forces (Helmut et al. 2024, "FEATS").
//!
//! The folder holds the authors' published data: `measured_force_depth.csv` (`depth_mm,force_N`) of a hemisphere of 7.5
//! mm radius, and surfaces `calculix_surface_d*.csv` (`x_mm,y_mm,z_mm,ux_mm,uy_mm,uz_mm`, one row per node of the top)
//! of the same press by finite elements. Their contact is compliant, so surfaces are compared at equal displacements of
//! the centre.

use super::{ValidateError, read_text};
use dermis::geometry::shapes::sphere;
use dermis::geometry::{Pose, TriMesh, Vec3};
use dermis::skin::gel::FixedFaces;
use dermis::skin::{Gel, GelFriction, GelParameters, Motion, Object, Skin, State, SurfaceField, Target};
use serde::Serialize;
use std::path::Path;

/// A measured force and ours.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FeatsForce {
    /// Depth of the hemisphere (mm).
    pub depth_mm: f64,
    /// Measured force (N).
    pub measured_n: f64,
    /// Our force (N).
    pub ours_n: f64,
    /// Our force divided by the measured force.
    pub ratio: f64,
}

/// The comparison of a finite-element surface with ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FeatsSurface {
    /// The file.
    pub file: String,
    /// Displacement of the centre (mm).
    pub depth_mm: f64,
    /// Number of compared nodes.
    pub nodes: usize,
    /// Root mean square difference in height, relative to the depth.
    pub rms_of_depth: f64,
    /// Largest difference in height, relative to the depth.
    pub worst_of_depth: f64,
}

/// The comparison with all measurements.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FeatsReport {
    /// Number of particles of the gel.
    pub particles: usize,
    /// Comparison of forces.
    pub forces: Vec<FeatsForce>,
    /// Comparison of surfaces.
    pub surfaces: Vec<FeatsSurface>,
}

const INDENTER_M: f64 = 7.5e-3;
/// The gel: sides (m), thickness in the middle (m), radii of its crown along x and y (m).
const SIDES_M: [f64; 2] = [20.75e-3, 25.25e-3];
const THICKNESS_M: f64 = 4e-3;
const CROWN_M: [f64; 2] = [0.117, 0.200];

/// Neo-Hookean with C₁₀ = 72.5 kPa, so μ = 145 kPa; ν is the default of the finite-element program. The contact sticks.
fn parameters(cell_m: f64) -> GelParameters {
    let poisson = 0.475;
    GelParameters {
        young_pa: 2.0 * 145e3 * (1.0 + poisson),
        poisson,
        cell_m,
        friction: GelFriction::Sticking,
        ..GelParameters::default()
    }
}

/// The gel: a block with a crowned top.
fn body() -> Result<TriMesh, ValidateError> {
    let (n, m) = (42usize, 50usize);
    let top = |x: f64, y: f64| -x * x / (2.0 * CROWN_M[0]) - y * y / (2.0 * CROWN_M[1]);
    let place =
        |i: usize, j: usize| (SIDES_M[0] * (i as f64 / n as f64 - 0.5), SIDES_M[1] * (j as f64 / m as f64 - 0.5));
    let mut vertices = Vec::new();
    for layer in 0..2 {
        for j in 0..=m {
            for i in 0..=n {
                let (x, y) = place(i, j);
                vertices.push(Vec3::new(x, y, if layer == 0 { top(x, y) } else { -THICKNESS_M }));
            }
        }
    }
    let at = |layer: usize, i: usize, j: usize| (layer * (n + 1) * (m + 1) + j * (n + 1) + i) as u32;
    let mut triangles = Vec::new();
    let mut quad = |a: u32, b: u32, c: u32, d: u32| triangles.extend([[a, b, c], [a, c, d]]);
    for j in 0..m {
        for i in 0..n {
            quad(at(0, i, j), at(0, i + 1, j), at(0, i + 1, j + 1), at(0, i, j + 1));
            quad(at(1, i, j), at(1, i, j + 1), at(1, i + 1, j + 1), at(1, i + 1, j));
        }
    }
    for i in 0..n {
        quad(at(1, i, 0), at(1, i + 1, 0), at(0, i + 1, 0), at(0, i, 0));
        quad(at(1, i + 1, m), at(1, i, m), at(0, i, m), at(0, i + 1, m));
    }
    for j in 0..m {
        quad(at(1, 0, j + 1), at(1, 0, j), at(0, 0, j), at(0, 0, j + 1));
        quad(at(1, n, j), at(1, n, j + 1), at(0, n, j + 1), at(0, n, j));
    }
    Ok(TriMesh::new("GelSight Mini gel", vertices, triangles)?)
}

/// Runs the comparison with cells of `cell_m`.
pub fn run(folder: &Path, cell_m: f64) -> Result<FeatsReport, ValidateError> {
    let gel = Gel::solid(&body()?, -THICKNESS_M, FixedFaces::default(), parameters(cell_m))?;
    let ball = Object::new(sphere(INDENTER_M, 0.3e-3)?);
    let lowest = ball.surface.bounds().min.z;
    let press = |state: &State, depth_m: f64| -> Result<(f64, SurfaceField, State), ValidateError> {
        let target = Target::at_rest(&ball, Pose::from_translation(Vec3::Z * (-lowest - depth_m)));
        let (touch, next) = gel.settle(state, &Motion { targets: &[target] })?;
        let field = touch.surface.unwrap_or_else(|| unreachable!("a gel always reports its surface"));
        Ok((-touch.on_sensor.force.z, field, next))
    };
    let measured = rows::<2>(&folder.join("measured_force_depth.csv"))?;
    let mut forces = Vec::new();
    let mut state = gel.rest();
    for [depth_mm, measured_n] in measured {
        let (ours_n, _, next) = press(&state, depth_mm * 1e-3)?;
        state = next;
        forces.push(FeatsForce { depth_mm, measured_n, ours_n, ratio: ours_n / measured_n });
    }
    let mut surfaces = Vec::new();
    let mut state = gel.rest();
    for file in ["calculix_surface_d0.5mm.csv", "calculix_surface_d1.0mm.csv"] {
        let nodes = rows::<6>(&folder.join(file))?;
        let Some(depth_mm) = nodes.iter().min_by(|a, b| a[0].hypot(a[1]).total_cmp(&b[0].hypot(b[1]))).map(|n| -n[5])
        else {
            continue;
        };
        let (_, field, next) = press(&state, depth_mm * 1e-3)?;
        state = next;
        surfaces.push(compare(file, depth_mm, &nodes, &field));
    }
    Ok(FeatsReport { particles: gel.particles(), forces, surfaces })
}

fn compare(file: &str, depth_mm: f64, nodes: &[[f64; 6]], field: &SurfaceField) -> FeatsSurface {
    let (mut sum, mut worst, mut count) = (0.0, 0.0f64, 0);
    for node in nodes {
        if let Some(u) = displacement(field, node[0] * 1e-3, node[1] * 1e-3) {
            let difference = (u * 1e3 - node[5]) / depth_mm;
            sum += difference * difference;
            worst = worst.max(difference.abs());
            count += 1;
        }
    }
    FeatsSurface {
        file: file.to_owned(),
        depth_mm,
        nodes: count,
        rms_of_depth: (sum / count.max(1) as f64).sqrt(),
        worst_of_depth: worst,
    }
}

/// Vertical displacement (m) at a point by bilinear interpolation; `None` outside the field.
fn displacement(field: &SurfaceField, x_m: f64, y_m: f64) -> Option<f64> {
    let x = (x_m - field.center.x) / field.cell_m + 0.5 * (field.cols as f64 - 1.0);
    let y = (field.center.y - y_m) / field.cell_m + 0.5 * (field.rows as f64 - 1.0);
    if !(x >= 0.0 && y >= 0.0 && x < field.cols as f64 - 1.0 && y < field.rows as f64 - 1.0) {
        return None;
    }
    let (i, j, fx, fy) = (x as usize, y as usize, x.fract(), y.fract());
    let value = |row: usize, col: usize| field.values[row * field.cols + col].z;
    Some(
        (1.0 - fy) * ((1.0 - fx) * value(j, i) + fx * value(j, i + 1))
            + fy * ((1.0 - fx) * value(j + 1, i) + fx * value(j + 1, i + 1)),
    )
}

fn rows<const N: usize>(path: &Path) -> Result<Vec<[f64; N]>, ValidateError> {
    let name = path.display().to_string();
    read_text(path)?
        .lines()
        .skip(1)
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(row, line)| {
            let numbers: Vec<f64> = line.split(',').filter_map(|cell| cell.trim().parse().ok()).collect();
            <[f64; N]>::try_from(numbers).map_err(|_| ValidateError::BadRow {
                path: name.clone(),
                row: row + 1,
                columns: N,
                text: line.to_owned(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_is_closed_and_as_thick_as_it_should_be() {
        let body = body().unwrap();
        body.check_closed().unwrap();
        let block = SIDES_M[0] * SIDES_M[1] * THICKNESS_M;
        // The volume below the crown is reduced by ∫ x²/2Rx + y²/2Ry = a³b/24Rx + ab³/24Ry.
        let crown = SIDES_M[0].powi(3) * SIDES_M[1] / (24.0 * CROWN_M[0])
            + SIDES_M[0] * SIDES_M[1].powi(3) / (24.0 * CROWN_M[1]);
        assert!((body.volume_m3() / (block - crown) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = run(Path::new("/nowhere"), 2e-3).unwrap_err();
        assert!(error.to_string().contains("measured_force_depth.csv"), "{error}");
    }
}
