//! Hydroelastic contact surfaces against a golden file.
//!
//! The file lists pairs of bodies with their poses and the results of another program: area, centroids, force and
//! torque on the first. Meshes, with vertex pressures for compliant bodies, are in its `mesh_dir`, so only the contact
//! is compared, not the meshing.

mod time;

use super::{ValidateError, read_json};
use dermis::geometry::tets::DepthTets;
use dermis::geometry::{Mat3, Pose, Quat, Surface, TetMesh, TriMesh, Vec3};
use dermis::skin::hydroelastic::{AngleLimit, Compliance, ContactSurface, Material, Side, TetField, contact};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Relative errors of one case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseErrors {
    /// Name of the case.
    pub id: String,
    /// Error of the force: |F − F*| / |F*|.
    pub force_rel: f64,
    /// Error of the torque about the world's origin: |T − T*| / (|F*| arm), where the arm is the distance of the centre
    /// of pressure plus √area.
    pub torque_rel: f64,
    /// Error of the area: |A − A*| / A*.
    pub area_rel: f64,
    /// Error of the centroids: the larger distance of the centroids of area and of pressure from theirs, divided by
    /// √A*.
    pub centroid_rel: f64,
    /// Time per contact surface (s), if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_per_call: Option<f64>,
}

/// The largest errors of all cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct WorstErrors {
    /// Largest error of the force.
    pub force_rel: f64,
    /// Largest error of the torque.
    pub torque_rel: f64,
    /// Largest error of the area.
    pub area_rel: f64,
    /// Largest error of the centroids.
    pub centroid_rel: f64,
}

/// The comparison with a golden file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HydroelasticReport {
    /// Errors of the cases, in the order of the file.
    pub cases: Vec<CaseErrors>,
    /// The largest of each error.
    pub worst: WorstErrors,
}

#[derive(Deserialize)]
struct Golden {
    mesh_dir: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    id: String,
    #[serde(rename = "A")]
    a: BodySpec,
    #[serde(rename = "B")]
    b: BodySpec,
    polygon: Option<Expected>,
}

#[derive(Deserialize)]
struct BodySpec {
    shape: ShapeSpec,
    compliance: String,
    hydroelastic_modulus: Option<f64>,
    slab_thickness: Option<f64>,
    #[serde(rename = "X_W")]
    world_from_body: [[f64; 4]; 4],
    drake_mesh: Option<MeshSpec>,
}

#[derive(Deserialize)]
struct ShapeSpec {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct MeshSpec {
    file: String,
}

#[derive(Deserialize)]
struct MeshFile {
    vertices: Vec<[f64; 3]>,
    elements: Vec<Vec<u32>>,
    #[serde(rename = "vertex_pressure_Pa")]
    pressure_pa: Option<Vec<f64>>,
}

#[derive(Deserialize)]
struct Expected {
    total_area: f64,
    #[serde(rename = "area_centroid_W")]
    centroid: [f64; 3],
    #[serde(rename = "pressure_centroid_W")]
    pressure_centroid: [f64; 3],
    pressure_integral: f64,
    #[serde(rename = "force_on_A_W")]
    force: [f64; 3],
    #[serde(rename = "torque_on_A_about_world_origin_W")]
    torque: [f64; 3],
}

/// A body of a golden pair.
pub enum GoldenBody {
    /// A rigid triangle mesh.
    Rigid(Box<Surface>),
    /// The rigid half-space z ≤ 0.
    RigidHalfSpace,
    /// A compliant body with a pressure field.
    Compliant(Box<Compliance>),
}

impl GoldenBody {
    /// The body as a side of a contact pair.
    pub fn side(&self) -> Side<'_> {
        match self {
            Self::Rigid(surface) => Side::Rigid(surface),
            Self::RigidHalfSpace => Side::RigidHalfSpace,
            Self::Compliant(compliance) => Side::Compliant(compliance),
        }
    }
}

/// A pair of bodies of a golden file.
pub struct GoldenPair {
    /// Name of the case.
    pub id: String,
    /// The first body and its pose.
    pub a: (GoldenBody, Pose),
    /// The second body and its pose.
    pub b: (GoldenBody, Pose),
}

impl GoldenPair {
    /// The contact surface, in the first body's frame.
    pub fn contact(&self) -> Result<ContactSurface, dermis::skin::SkinError> {
        self.contact_moved(&Pose::IDENTITY)
    }

    /// The contact surface with the second body at another pose in the world.
    pub fn contact_moved(&self, world_from_moved: &Pose) -> Result<ContactSurface, dermis::skin::SkinError> {
        let a_from_b = self.a.1.inverse() * (*world_from_moved * self.b.1);
        contact(self.a.0.side(), self.b.0.side(), &a_from_b, AngleLimit::default())
    }
}

/// Reads a golden file and compares every case; with `timed`, also measures the time of each.
pub fn run(path: &Path, timed: bool) -> Result<HydroelasticReport, ValidateError> {
    let mut report = HydroelasticReport { cases: Vec::new(), worst: WorstErrors::default() };
    for (pair, expected) in read(path)? {
        let bad = |error| bad_case(&pair.id, "bodies A and B", error);
        let surface = pair.contact().map_err(|error| bad(error.to_string()))?;
        let mut errors = compare(&pair, &surface, expected.as_ref());
        errors.seconds_per_call = timed.then(|| time::seconds_per_call(&pair));
        let worst = &mut report.worst;
        worst.force_rel = worst.force_rel.max(errors.force_rel);
        worst.torque_rel = worst.torque_rel.max(errors.torque_rel);
        worst.area_rel = worst.area_rel.max(errors.area_rel);
        worst.centroid_rel = worst.centroid_rel.max(errors.centroid_rel);
        report.cases.push(errors);
    }
    Ok(report)
}

/// The pairs of a golden file, without the expected results.
pub fn pairs(path: &Path) -> Result<Vec<GoldenPair>, ValidateError> {
    Ok(read(path)?.into_iter().map(|(pair, _)| pair).collect())
}

fn read(path: &Path) -> Result<Vec<(GoldenPair, Option<Expected>)>, ValidateError> {
    let golden: Golden = read_json(path)?;
    let folder = path.parent().unwrap_or(Path::new("")).join(&golden.mesh_dir);
    golden
        .cases
        .into_iter()
        .map(|case| {
            let a = body(&case.id, "A", &case.a, &folder)?;
            let b = body(&case.id, "B", &case.b, &folder)?;
            Ok((GoldenPair { id: case.id, a, b }, case.polygon))
        })
        .collect()
}

fn bad_case(case: &str, body: &str, reason: String) -> ValidateError {
    ValidateError::BadCase { place: format!("case {case:?}, {body}"), reason }
}

fn body(case: &str, body: &'static str, spec: &BodySpec, folder: &Path) -> Result<(GoldenBody, Pose), ValidateError> {
    let bad = |reason: String| bad_case(case, &format!("body {body}"), reason);
    let missing = |key: &str| bad(format!("`{key}` is missing"));
    let world_from_body = pose(&spec.world_from_body);
    let rigid = match spec.compliance.as_str() {
        "rigid" => true,
        "compliant" => false,
        other => return Err(bad(format!("`compliance` must be \"rigid\" or \"compliant\", got {other:?}"))),
    };
    let material = || spec.hydroelastic_modulus.map(Material::linear).ok_or_else(|| missing("hydroelastic_modulus"));
    if spec.shape.kind == "half_space" {
        if rigid {
            return Ok((GoldenBody::RigidHalfSpace, world_from_body));
        }
        let thickness_m = spec.slab_thickness.ok_or_else(|| missing("slab_thickness"))?;
        let space = Compliance::half_space(thickness_m, material()?).map_err(|e| bad(e.to_string()))?;
        return Ok((GoldenBody::Compliant(Box::new(space)), world_from_body));
    }
    let mesh = spec.drake_mesh.as_ref().ok_or_else(|| missing("drake_mesh"))?;
    let MeshFile { vertices, elements, pressure_pa } = read_json(&folder.join(&mesh.file))?;
    let vertices: Vec<Vec3> = vertices.into_iter().map(Vec3::from).collect();
    if rigid {
        let triangles = corners::<3>(&elements).ok_or_else(|| bad("elements must have 3 corners".into()))?;
        let surface = TriMesh::without_degenerates(&mesh.file, vertices, triangles).map_err(|e| bad(e.to_string()))?;
        return Ok((GoldenBody::Rigid(Box::new(Surface::new(surface))), world_from_body));
    }
    let material = material()?;
    let tets = corners::<4>(&elements).ok_or_else(|| bad("elements must have 4 corners".into()))?;
    let pressure_pa = pressure_pa.ok_or_else(|| missing("vertex_pressure_Pa"))?;
    if pressure_pa.len() != vertices.len() {
        return Err(bad(format!("{} vertices but {} pressures", vertices.len(), pressure_pa.len())));
    }
    let modulus = material.law.modulus_pa();
    let extent = pressure_pa.iter().map(|p| p / modulus).collect();
    let tets = TetMesh::new(&mesh.file, vertices, tets).map_err(|e| bad(e.to_string()))?;
    // The depth is only a scale here, because pressures are given.
    let depth_m = 0.5 * tets.bounds().size().min_element();
    let field = TetField::new(DepthTets { mesh: tets, extent, depth_m });
    let compliance = Compliance::tets(field, material).map_err(|e| bad(e.to_string()))?;
    Ok((GoldenBody::Compliant(Box::new(compliance)), world_from_body))
}

fn corners<const N: usize>(elements: &[Vec<u32>]) -> Option<Vec<[u32; N]>> {
    elements.iter().map(|element| element.as_slice().try_into().ok()).collect()
}

fn pose(m: &[[f64; 4]; 4]) -> Pose {
    let column = |k: usize| Vec3::new(m[0][k], m[1][k], m[2][k]);
    let rotation = Quat::from_mat3(&Mat3::from_cols(column(0), column(1), column(2))).normalize();
    Pose::new(rotation, column(3))
}

fn compare(pair: &GoldenPair, surface: &ContactSurface, expected: Option<&Expected>) -> CaseErrors {
    let id = pair.id.clone();
    let area = surface.area_m2();
    let Some(expected) = expected else {
        // No contact is expected: any contact counts as an error of 1.
        let wrong = if surface.faces().is_empty() { 0.0 } else { 1.0 };
        let (torque_rel, area_rel, centroid_rel) = (wrong, wrong, wrong);
        return CaseErrors { id, force_rel: wrong, torque_rel, area_rel, centroid_rel, seconds_per_call: None };
    };
    let world_from_a = &pair.a.1;
    let wrench = surface.wrench_on_a();
    let force = world_from_a.transform_vector(wrench.force);
    let torque = world_from_a.transform_vector(wrench.torque) + world_from_a.translation.cross(force);
    let centroid = world_from_a.transform_point(surface.centroid());
    let pressure_centroid = world_from_a.transform_point(surface.pressure_integral().1);
    let [f, t, c, p] = [expected.force, expected.torque, expected.centroid, expected.pressure_centroid].map(Vec3::from);
    let scale = f.length().max(1e-9 * expected.pressure_integral);
    let width = expected.total_area.sqrt();
    CaseErrors {
        id,
        force_rel: relative((force - f).length(), scale),
        torque_rel: relative((torque - t).length(), scale * (p.length() + width)),
        area_rel: relative((area - expected.total_area).abs(), expected.total_area),
        centroid_rel: relative((centroid - c).length().max((pressure_centroid - p).length()), width),
        seconds_per_call: None,
    }
}

fn relative(error: f64, scale: f64) -> f64 {
    if error == 0.0 {
        0.0
    } else if scale > 0.0 {
        error / scale
    } else {
        1.0
    }
}
