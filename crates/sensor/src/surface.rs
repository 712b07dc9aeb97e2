//! The description of a sensing surface in a file.

use crate::{SensorError, Taxels, urdf};
use dermis_geometry::files::{Import, LengthUnit, read};
use dermis_geometry::limits::{MAX_DESCRIPTION_BYTES, MAX_TAXELS};
use dermis_geometry::quantity::{Angle, Length};
use dermis_geometry::shapes::{self, Fingertip};
use dermis_geometry::{Surface, TriMesh, Vec3, regular_file};
use dermis_skin::{Site, part_centers};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Positions of the texels: exactly one of a grid, the vertices of a mesh, or a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(remote = "Self", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SurfaceSpec {
    /// A flat array.
    Grid {
        /// Number of rows, along y.
        rows: usize,
        /// Number of columns, along x.
        cols: usize,
        /// Distance between neighbours.
        pitch: Length,
    },
    /// A cap of a sphere with its apex at the origin.
    SphericalPatch {
        /// Radius of the sphere.
        radius: Length,
        /// Angle from the apex to the rim, at the centre of the sphere.
        half_angle: Angle,
        /// Distance between taxels.
        spacing: Length,
    },
    /// The pad of a human fingertip, its most protruding point at the origin.
    Fingertip {
        /// Length along the finger.
        length: Length,
        /// Width across the finger.
        width: Length,
        /// Distance from nail to pad.
        thickness: Length,
        /// Distance between taxels.
        spacing: Length,
    },
    /// The vertices of a mesh file, in its own frame.
    Mesh {
        /// Mesh file; relative to the folder of the description.
        file: PathBuf,
        /// Length unit of the file. Required unless the format defines one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<LengthUnit>,
    },
    /// Taxels listed one by one, on a body that they need not cover completely.
    Points {
        /// Centres of the taxels.
        centers: Vec<[Length; 3]>,
        /// Outward normals, of any length.
        normals: Vec<[f64; 3]>,
        /// Radius of a taxel's sensitive area.
        reach: Length,
        /// The shape of the skin.
        body: BodySpec,
    },
    /// The taxels of a `<tactile>` sensor in a robot description ([`crate::urdf`]), in the frame of the link that
    /// carries it, on a body that they need not cover completely.
    Urdf {
        /// URDF file; relative to the folder of the description.
        file: PathBuf,
        /// Name of the sensor in the file.
        sensor: String,
        /// Radius of a taxel's sensitive area.
        reach: Length,
        /// The shape of the skin.
        body: BodySpec,
    },
}

crate::through_value::deserialize_through_value!(SurfaceSpec);

/// A closed body that carries taxels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum BodySpec {
    /// The distal phalanx of a finger, along y with the tip at +y; the most protruding point of its pad at the origin.
    Fingertip {
        /// Length along the finger.
        length: Length,
        /// Width across the finger.
        width: Length,
        /// Distance from nail to pad.
        thickness: Length,
        /// Longest edge of the triangles.
        edge: Length,
    },
    /// A closed mesh, in its own frame.
    Mesh {
        /// Mesh file; relative to the folder of the description.
        file: PathBuf,
        /// Length unit of the file. Required unless the format defines one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<LengthUnit>,
    },
}

impl SurfaceSpec {
    pub(crate) fn files_mut(&mut self) -> Vec<&mut PathBuf> {
        match self {
            Self::Mesh { file, .. } => vec![file],
            Self::Points { body, .. } => body.file_mut().into_iter().collect(),
            Self::Urdf { file, body, .. } => std::iter::once(file).chain(body.file_mut()).collect(),
            Self::Grid { .. } | Self::SphericalPatch { .. } | Self::Fingertip { .. } => Vec::new(),
        }
    }
}

impl BodySpec {
    fn file_mut(&mut self) -> Option<&mut PathBuf> {
        if let Self::Mesh { file, .. } = self { Some(file) } else { None }
    }

    fn build(&self, folder: Option<&Path>) -> Result<TriMesh, SensorError> {
        match self {
            Self::Fingertip { length, width, thickness, edge } => {
                let size = Fingertip { length_m: length.si(), width_m: width.si(), thickness_m: thickness.si() };
                shapes::fingertip(&size, edge.si()).map_err(SensorError::Shape)
            }
            Self::Mesh { file, unit } => read_mesh(file, *unit, folder),
        }
    }
}

pub(crate) fn read_mesh(file: &Path, unit: Option<LengthUnit>, folder: Option<&Path>) -> Result<TriMesh, SensorError> {
    let path = folder.map_or_else(|| file.to_owned(), |folder| folder.join(file));
    read(&path, &Import { unit, ..Import::default() }).map_err(SensorError::File)
}

/// A sensing surface in three forms: contact points, taxels and a mesh.
pub(crate) struct BuiltSurface {
    pub sites: Vec<Site>,
    pub taxels: Taxels,
    pub mesh: TriMesh,
}

/// Maximum distance (m) of contact points by default.
const MAX_SPACING_M: f64 = 0.85e-3;
/// Maximum number of contact points along a side by default.
const MAX_DEFAULT_POINTS: f64 = 10.0;
/// Maximum number of parts along a side of a triangle.
const MAX_PARTS: f64 = 512.0;

impl SurfaceSpec {
    /// The same shape with facets of about `spacing_m`, for generated shapes, so that a camera sees a smooth surface.
    pub(crate) fn fine(&self, spacing_m: f64) -> Result<Option<TriMesh>, SensorError> {
        let mesh = match self {
            Self::SphericalPatch { radius, half_angle, .. } => {
                shapes::spherical_patch(radius.si(), half_angle.si(), 2.0 * spacing_m)
            }
            Self::Fingertip { length, width, thickness, .. } => {
                let size = Fingertip { length_m: length.si(), width_m: width.si(), thickness_m: thickness.si() };
                shapes::fingertip_pad(&size, 2.0 * spacing_m)
            }
            Self::Grid { .. } | Self::Mesh { .. } | Self::Points { .. } | Self::Urdf { .. } => return Ok(None),
        };
        mesh.map(Some).map_err(SensorError::Shape)
    }

    pub(crate) fn build(
        &self,
        sensor: &str,
        points_per_side: Option<usize>,
        folder: Option<&Path>,
    ) -> Result<BuiltSurface, SensorError> {
        let name = |what: &str| format!("sensor {sensor:?}: {what}");
        let mesh = match self {
            Self::Grid { rows, cols, pitch } => {
                return Self::build_grid(sensor, *rows, *cols, pitch.si(), points_per_side);
            }
            Self::SphericalPatch { radius, half_angle, spacing } => {
                shapes::spherical_patch(radius.si(), half_angle.si(), spacing.si()).map_err(SensorError::Shape)?
            }
            Self::Fingertip { length, width, thickness, spacing } => {
                let size = Fingertip { length_m: length.si(), width_m: width.si(), thickness_m: thickness.si() };
                shapes::fingertip_pad(&size, spacing.si()).map_err(SensorError::Shape)?
            }
            Self::Mesh { file, unit } => read_mesh(file, *unit, folder)?,
            Self::Points { centers, normals, reach, body } => {
                let mesh = body.build(folder)?.named(name("surface"));
                return Self::build_points(sensor, centers, normals, *reach, mesh, points_per_side);
            }
            Self::Urdf { file, sensor: part, reach, body } => {
                let mesh = body.build(folder)?.named(name("surface"));
                let path = folder.map_or_else(|| file.clone(), |folder| folder.join(file));
                let shown = path.display().to_string();
                let text = regular_file::read_text(&path, MAX_DESCRIPTION_BYTES)
                    .map_err(|error| SensorError::Unreadable { path: shown.clone(), reason: error.to_string() })?;
                let taxels = urdf::parse(&shown, &text, part).map_err(SensorError::Urdf)?;
                let centers: Vec<[Length; 3]> = taxels.iter().map(|t| t.0.to_array().map(Length::new)).collect();
                let normals: Vec<[f64; 3]> = taxels.iter().map(|t| t.1.to_array()).collect();
                return Self::build_points(sensor, &centers, &normals, *reach, mesh, points_per_side);
            }
        };
        let mesh = mesh.named(name("surface"));
        let (normals, areas) = (mesh.vertex_normals(), mesh.vertex_areas_m2());
        let used: Vec<usize> = (0..areas.len()).filter(|&v| areas[v] > 0.0).collect();
        if let Some(&vertex) = used.iter().find(|&&v| normals[v] == Vec3::ZERO) {
            let rule = format!("has no normal at vertex {vertex}, because its faces point in opposite directions");
            return Err(SensorError::bad_key(sensor, "surface", rule));
        }
        // A part of the skin is at most half the longest edge away from its vertex.
        let longest = mesh.triangles().iter().enumerate().map(|(t, _)| longest_edge(&mesh, t)).fold(0.0, f64::max);
        let taxels = Taxels::points(
            used.iter().map(|&v| mesh.vertices()[v]).collect(),
            used.iter().map(|&v| normals[v]).collect(),
            used.iter().map(|&v| areas[v]).collect(),
            longest,
        );
        // The edge of an equilateral triangle of the mean area.
        let edge_m = 1.52 * (mesh.area_m2() / mesh.triangles().len() as f64).sqrt();
        let parts = points_per_side.unwrap_or_else(|| default_contact_points(edge_m));
        Ok(BuiltSurface { sites: Site::from_mesh(&mesh, parts), taxels, mesh })
    }

    /// Each taxel has the part of the body that is nearest to it, within reach and faces its way. With one contact point
    /// per side the springs are at the centres, otherwise on the body.
    fn build_points(
        sensor: &str,
        centers: &[[Length; 3]],
        normals: &[[f64; 3]],
        reach: Length,
        mesh: TriMesh,
        points_per_side: Option<usize>,
    ) -> Result<BuiltSurface, SensorError> {
        if centers.is_empty() || centers.len() > MAX_TAXELS || centers.len() != normals.len() {
            let rule = format!(
                "must be 1 to {MAX_TAXELS}, each with one of `normals`; there are {} and {} normals",
                centers.len(),
                normals.len()
            );
            return Err(SensorError::bad_key(sensor, "centers", rule));
        }
        let normals: Vec<Vec3> = normals.iter().map(|&normal| Vec3::from_array(normal).normalize_or_zero()).collect();
        if let Some(taxel) = normals.iter().position(|normal| *normal == Vec3::ZERO) {
            return Err(SensorError::bad_key(
                sensor,
                "normals",
                format!("must have a direction; that of taxel {taxel} has none"),
            ));
        }
        let reach_m = SensorError::check_positive(sensor, "reach", reach)?;
        let centers: Vec<Vec3> = centers.iter().map(|center| Vec3::from_array(center.map(Length::si))).collect();
        let skin = Surface::new(mesh.clone());
        for (taxel, &center) in centers.iter().enumerate() {
            let away_m = skin.closest(center).distance;
            if away_m > 0.5 * reach_m {
                let rule = format!(
                    "must lie on the body; that of taxel {taxel} is {:.3} mm from it, more than half of `reach`: check the unit and the origin of the body",
                    away_m * 1e3
                );
                return Err(SensorError::bad_key(sensor, "centers", rule));
            }
        }
        let taxels = Taxels::points(centers.clone(), normals.clone(), vec![0.0; centers.len()], reach_m);
        let areas = taxels.areas_on(&mesh);
        if let Some(taxel) = areas.iter().position(|&area| area == 0.0) {
            return Err(if taxels.faces(taxel, skin.closest(centers[taxel]).normal) {
                let rule = format!(
                    "must differ; no part of the body is nearest to that of taxel {taxel}: is it that of another taxel?"
                );
                SensorError::bad_key(sensor, "centers", rule)
            } else {
                let rule = format!(
                    "must point out of the body; that of taxel {taxel} does not: check it, and that the triangles of the body are counterclockwise seen from outside"
                );
                SensorError::bad_key(sensor, "normals", rule)
            });
        }
        let pitch_m = (areas.iter().sum::<f64>() / areas.len() as f64).sqrt();
        let points_per_side = points_per_side.unwrap_or_else(|| default_contact_points(pitch_m));
        let sites = if points_per_side > 1 {
            let spacing_m = pitch_m / points_per_side as f64;
            sites_on(&mesh, &taxels, &areas, spacing_m)
        } else {
            let site = |i: usize| Site { point: centers[i], normal: normals[i], area_m2: areas[i], share: 1.0 };
            (0..centers.len()).map(site).collect()
        };
        Ok(BuiltSurface { sites, taxels: Taxels::points(centers, normals, areas, reach_m), mesh })
    }

    fn build_grid(
        sensor: &str,
        rows: usize,
        cols: usize,
        pitch_m: f64,
        points_per_side: Option<usize>,
    ) -> Result<BuiltSurface, SensorError> {
        let points_per_side = points_per_side.unwrap_or_else(|| default_contact_points(pitch_m));
        let texels = rows.saturating_mul(cols).saturating_mul(points_per_side.saturating_mul(points_per_side));
        if rows == 0 || cols == 0 || texels > MAX_TAXELS {
            let rule = format!(
                "and `cols` must give 1 to {MAX_TAXELS} contact points, got rows = {rows}, cols = {cols} and {points_per_side} × {points_per_side} contact points per texel"
            );
            return Err(SensorError::bad_key(sensor, "rows", rule));
        }
        if !(pitch_m > 0.0 && pitch_m.is_finite()) {
            let rule = format!("must be a positive length, got {} mm: a sensor needs area", pitch_m * 1e3);
            return Err(SensorError::bad_key(sensor, "pitch", rule));
        }
        let (x, y) = (cols as f64 * pitch_m / 2.0, rows as f64 * pitch_m / 2.0);
        let corners = vec![Vec3::new(-x, -y, 0.0), Vec3::new(x, -y, 0.0), Vec3::new(x, y, 0.0), Vec3::new(-x, y, 0.0)];
        let mesh = TriMesh::new(format!("sensor {sensor:?}: surface"), corners, vec![[0, 1, 2], [0, 2, 3]])
            .map_err(SensorError::Mesh)?;
        Ok(BuiltSurface {
            sites: Site::grid(rows, cols, pitch_m, points_per_side),
            taxels: Taxels::grid(rows, cols, pitch_m),
            mesh,
        })
    }
}

/// Default number of contact points along the side of a part of the skin: a ball of 12 mm pressed 0.5 mm deep then
/// changes its force by less than 2 % with its place.
fn default_contact_points(side_m: f64) -> usize {
    (side_m / MAX_SPACING_M - 1e-9).ceil().clamp(1.0, MAX_DEFAULT_POINTS) as usize
}

/// Contact points about `spacing_m` apart on the parts of a body that belong to taxels.
fn sites_on(mesh: &TriMesh, taxels: &Taxels, areas_m2: &[f64], spacing_m: f64) -> Vec<Site> {
    let mut sites = Vec::new();
    for t in 0..mesh.triangles().len() {
        let (corners, normal) = (mesh.corners(t), mesh.face_normal(t));
        let parts = (longest_edge(mesh, t) / spacing_m).ceil().clamp(1.0, MAX_PARTS) as usize;
        let area_m2 = mesh.area_vector(t).length() / (parts * parts) as f64;
        for weights in part_centers(parts) {
            let point = corners[0] * weights[0] + corners[1] * weights[1] + corners[2] * weights[2];
            if let Some(owner) = taxels.locate(point).filter(|&taxel| taxels.faces(taxel, normal)) {
                sites.push(Site { point, normal, area_m2, share: area_m2 / areas_m2[owner] });
            }
        }
    }
    sites
}

fn longest_edge(mesh: &TriMesh, triangle: usize) -> f64 {
    let [a, b, c] = mesh.corners(triangle);
    (b - a).length().max((c - b).length()).max((a - c).length())
}
