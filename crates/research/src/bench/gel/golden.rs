//! Errors for a paraboloid on a bonded layer at the cell size of a benchmark.

use crate::validate::layer::{Golden, LayerErrors};
use dermis::geometry::{Pose, TriMesh, Vec3};
use dermis::skin::gel::FixedFaces;
use dermis::skin::{Gel, GelParameters, Motion, Object, Skin, Target};

/// Two cases of `validate layer`: the gels of Chen et al. 2023 and of a GelSight Mini, both 4 mm thick.
const CASES: &str = include_str!("paraboloid.json");
/// Factor by which the paraboloid is flattened, to keep strains small.
const FLATTENING: f64 = 8.0;

/// The largest errors of both cases.
pub(super) fn errors(cell_m: f64) -> Option<LayerErrors> {
    let golden: Golden = serde_json::from_str(CASES).ok()?;
    let mut worst = LayerErrors::default();
    for case in golden.cases {
        let (h, a) = (case.layer_thickness_m, case.contact_radius_m);
        // Farther out, the edges of the block have an effect; the layer has no edges.
        let case = case.flatter(FLATTENING).within(a + 1.5 * h);
        let parameters =
            GelParameters { young_pa: case.young_pa, poisson: case.poisson, cell_m, ..GelParameters::default() };
        let side = 2.0 * a + 5.0 * h;
        let gel = Gel::block(Vec3::new(side, side, h), FixedFaces::default(), parameters).ok()?;
        let object = Object::new(paraboloid(case.radius_m, 1.6 * a)?);
        let target = Target::at_rest(&object, Pose::from_translation(Vec3::Z * -case.depth_m));
        let (touch, _) = gel.settle(&gel.rest(), &Motion { targets: &[target] }).ok()?;
        let errors = case.errors(&touch, cell_m);
        worst = worst.max(&errors);
    }
    Some(worst)
}

/// The paraboloid z = ρ²/2R, closed at the top.
fn paraboloid(radius_m: f64, reach_m: f64) -> Option<TriMesh> {
    const RINGS: usize = 60;
    const AROUND: usize = 96;
    let height = |rho: f64| rho * rho / (2.0 * radius_m);
    let mut vertices = vec![Vec3::ZERO];
    for ring in 1..=RINGS {
        let rho = reach_m * ring as f64 / RINGS as f64;
        for k in 0..AROUND {
            let (sin, cos) = (std::f64::consts::TAU * k as f64 / AROUND as f64).sin_cos();
            vertices.push(Vec3::new(rho * cos, rho * sin, height(rho)));
        }
    }
    let top = vertices.len() as u32;
    vertices.push(Vec3::Z * (height(reach_m) + 1e-3));
    let at = |ring: usize, k: usize| (1 + (ring - 1) * AROUND + k % AROUND) as u32;
    let mut triangles = Vec::new();
    for k in 0..AROUND {
        triangles.push([0, at(1, k + 1), at(1, k)]);
        for ring in 1..RINGS {
            triangles.push([at(ring, k), at(ring, k + 1), at(ring + 1, k)]);
            triangles.push([at(ring, k + 1), at(ring + 1, k + 1), at(ring + 1, k)]);
        }
        triangles.push([at(RINGS, k), at(RINGS, k + 1), top]);
    }
    TriMesh::new("paraboloid", vertices, triangles).ok()
}
