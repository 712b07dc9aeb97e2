//! Gel, layer and hydroelastic skin on the same press, where their assumptions overlap.
//!
//! A ball on a 2 mm layer, E = 200 kPa, ν = 0.3, without friction, at depths of 2.5, 5 and 10 % of the thickness, with
//! balls of 5, 20 and 80 mm. **Gel and layer** solve the same elasticity: forces within 5 % in all cases, surfaces
//! within 6 % of depth (5.2 % at worst). **Hydroelastic** is a foundation of independent springs with the confined
//! modulus M = λ + 2μ divided by the thickness: accurate for contacts that are wide relative to the thickness. If the
//! contact radius √(2Rd) is at least 1.4 times the thickness, its force is within 15 % of that of the layer; below half
//! the thickness it differs by more than 15 %, as expected.

use dermis_geometry::{Pose, TetMesh, Vec3, shapes, tets::DepthTets};
use dermis_skin::gel::FixedFaces;
use dermis_skin::hydroelastic::{Compliance, Material, TetField};
use dermis_skin::layer::{Ply, Poisson};
use dermis_skin::{
    Gel, GelParameters, Hydroelastic, HydroelasticParameters, Layer, LayerParameters, Motion, Object, Skin, Target,
    Touch,
};

const THICKNESS: f64 = 2e-3;
const SIDE: f64 = 16e-3;
const YOUNG: f64 = 2e5;
const POISSON: f64 = 0.3;

fn gel() -> Gel {
    let parameters = GelParameters { young_pa: YOUNG, poisson: POISSON, cell_m: 0.4e-3, ..GelParameters::default() };
    Gel::block(Vec3::new(SIDE, SIDE, THICKNESS), FixedFaces::default(), parameters).unwrap()
}

fn layer() -> Layer {
    let ply = Ply { thickness_m: THICKNESS, young_pa: YOUNG, poisson: Poisson::Ratio(POISSON) };
    Layer::new(LayerParameters::new(ply, [SIDE, SIDE], 0.125e-3)).unwrap()
}

/// A pad whose pressure is M × depth/thickness.
fn hydroelastic() -> Hydroelastic {
    let h = 0.5 * SIDE;
    let corner = |k: u32| {
        let pick = |bit: u32, high: f64, low: f64| if k & bit != 0 { high } else { low };
        Vec3::new(pick(1, h, -h), pick(2, h, -h), pick(4, 0.0, -THICKNESS))
    };
    let vertices: Vec<Vec3> = (0..8).map(corner).collect();
    let extent = vertices.iter().map(|v| if v.z < 0.0 { 1.0 } else { 0.0 }).collect();
    let ring = [1, 3, 2, 6, 4, 5];
    let tets = (0..6).map(|k| [0, ring[k], ring[(k + 1) % 6], 7]).collect();
    let pad = DepthTets { mesh: TetMesh::new("pad", vertices, tets).unwrap(), extent, depth_m: THICKNESS };
    let confined = YOUNG * (1.0 - POISSON) / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON));
    let body = Compliance::tets(TetField::new(pad), Material::linear(confined)).unwrap();
    Hydroelastic::new(body, HydroelasticParameters::default()).unwrap()
}

fn press(skin: &dyn Skin, object: &Object, height_m: f64) -> Touch {
    let target = Target::at_rest(object, Pose::from_translation(Vec3::Z * height_m));
    skin.settle(&skin.rest(), &Motion { targets: &[target] }).unwrap().0
}

/// Maximum difference of the surfaces within 5 mm of the centre (m), with the finer surface of the layer interpolated.
fn apart(gel: &Touch, layer: &Touch) -> f64 {
    let (gel, layer) = (gel.surface.as_ref().unwrap(), layer.surface.as_ref().unwrap());
    let mut worst = 0.0f64;
    for row in 0..gel.rows {
        for col in 0..gel.cols {
            let at = gel.rest(row, col);
            if at.truncate().length() > 5e-3 {
                continue;
            }
            // Bilinear interpolation between the cells of the layer.
            let x = (at.x - layer.center.x) / layer.cell_m + 0.5 * (layer.cols as f64 - 1.0);
            let y = (layer.center.y - at.y) / layer.cell_m + 0.5 * (layer.rows as f64 - 1.0);
            let (i, j) = (x.floor() as usize, y.floor() as usize);
            let (fx, fy) = (x.fract(), y.fract());
            let value = |row: usize, col: usize| layer.values[row * layer.cols + col].z;
            let here = (1.0 - fy) * ((1.0 - fx) * value(j, i) + fx * value(j, i + 1))
                + fy * ((1.0 - fx) * value(j + 1, i) + fx * value(j + 1, i + 1));
            worst = worst.max((gel.values[row * gel.cols + col].z - here).abs());
        }
    }
    worst
}

#[test]
fn gel_layer_and_hydroelastic_agree_where_they_should() {
    let (gel, layer, hydroelastic) = (gel(), layer(), hydroelastic());
    for radius in [5e-3, 80e-3] {
        // Only the part near the contact needs to be fine: a cap would suffice, a whole ball is simpler.
        let ball = Object::new(shapes::sphere(radius, (radius * 0.02).max(0.15e-3)).unwrap());
        let lowest = ball.surface.bounds().min.z;
        for part in [0.025, 0.1] {
            let depth = part * THICKNESS;
            let height = -lowest - depth;
            let by_gel = press(&gel, &ball, height);
            let by_layer = press(&layer, &ball, height);
            let by_springs = press(&hydroelastic, &ball, height);
            let force = |touch: &Touch| -touch.on_sensor.force.z;
            let what = format!("ball {} mm, depth {} mm", radius * 1e3, depth * 1e3);
            let ratio = force(&by_gel) / force(&by_layer);
            assert!((ratio - 1.0).abs() < 0.05, "{what}: gel by layer {ratio}");
            let surface = apart(&by_gel, &by_layer) / depth;
            assert!(surface < 0.06, "{what}: surfaces differ by {surface} of depth");
            let wide = (2.0 * radius * depth).sqrt() / THICKNESS;
            let springs = force(&by_springs) / force(&by_layer);
            if wide >= 1.4 {
                assert!((springs - 1.0).abs() < 0.15, "{what}: hydroelastic by layer {springs} at a/h = {wide}");
            }
            if wide < 0.5 {
                assert!((springs - 1.0).abs() > 0.15, "{what}: hydroelastic by layer {springs} at a/h = {wide}");
            }
        }
    }
}
