//! The equilibrium of a gel compared with linear elasticity: a rigid paraboloid on a bonded layer.
//!
//! The golden file holds the linear solution to 1e-15. It is proportional to 1/R at a given contact radius, so a larger
//! R reduces depth, force and surface by the same factor, down to arbitrarily small strains. Not tested here: large
//! strains, which linear elasticity does not cover (`gel_rest.rs` has closed forms for these).

use crate::paraboloid;

use dermis_geometry::{Pose, Vec3};
use dermis_skin::gel::FixedFaces;
use dermis_skin::{Gel, GelParameters, Motion, Object, Skin, Target};
use serde_json::Value;

const GOLDEN: &str = include_str!("golden/layer/paraboloid_on_bonded_layer.json");

/// Force relative to the golden force, and maximum error of the surface relative to the depth.
fn press(case: &Value, smaller: f64, cell_m: f64) -> (f64, f64) {
    let number = |key: &str| case[key].as_f64().unwrap();
    let list = |key: &str| -> Vec<f64> { case[key].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect() };
    let (h, a) = (number("layer_thickness_m"), number("contact_radius_m"));
    let parameters =
        GelParameters { young_pa: number("young_pa"), poisson: number("poisson"), cell_m, ..GelParameters::default() };
    let side = 2.0 * a + 5.0 * h;
    let gel = Gel::block(Vec3::new(side, side, h), FixedFaces::default(), parameters).unwrap();
    let object = Object::new(paraboloid::paraboloid(number("R_m") * smaller, 1.6 * a));
    let depth = number("depth_m") / smaller;
    let target = Target::at_rest(&object, Pose::from_translation(Vec3::Z * -depth));
    let (touch, _) = gel.settle(&gel.rest(), &Motion { targets: &[target] }).unwrap();
    let force = -touch.on_sensor.force.z * smaller / number("force_n");
    let (radii, sunk) = (list("r_m"), list("surface_displacement_m"));
    let truth = |r: f64| {
        if r <= a {
            return depth - r * r / (2.0 * number("R_m") * smaller);
        }
        // The points of the file outside contact, interpolated by cubics.
        let i = radii.partition_point(|x| *x <= r).clamp(2, radii.len() - 2);
        let t = (r - radii[i - 1]) / (radii[i] - radii[i - 1]);
        let [p0, p1, p2, p3] = [sunk[i - 2], sunk[i - 1], sunk[i], sunk[i + 1]];
        let cubic =
            p1 + 0.5 * t * (p2 - p0 + t * (2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3 + t * (3.0 * (p1 - p2) + p3 - p0)));
        cubic / smaller
    };
    let field = touch.surface.unwrap();
    let mut worst = 0.0f64;
    for row in 0..field.rows {
        for col in 0..field.cols {
            let r = field.rest(row, col).truncate().length();
            // Farther out, a block has edges that the golden layer does not have.
            if r < (a + 1.5 * h).min(radii[radii.len() - 2]) {
                worst = worst.max((-field.values[row * field.cols + col].z - truth(r)).abs() / depth);
            }
        }
    }
    (force, worst)
}

/// ν from 0.3 to 0.48, contact radius from a third of the thickness to twice the thickness: force within 2 %, surface
/// within 5 % of depth everywhere.
#[test]
fn force_and_surface_agree_with_elasticity() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    for (case, cell_m) in [(0, 0.5e-3), (1, 0.8e-3), (2, 0.25e-3), (4, 0.5e-3), (5, 0.8e-3)] {
        let (force, surface) = press(&golden["cases"][case], 8.0, cell_m);
        assert!((force - 1.0).abs() < 0.02, "case {case}: force {force} of the golden one");
        assert!(surface < 0.05, "case {case}: surface off by {surface} of depth");
    }
}

/// With cells refined from a half to an eighth of the thickness, the surface error decreases at every step, down to 2 %
/// of depth.
#[test]
#[ignore = "slow: cargo xtask validate slow"]
fn finer_cells_converge_to_elasticity() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let errors: Vec<f64> =
        [1e-3, 0.5e-3, 0.25e-3].iter().map(|&cell| press(&golden["cases"][4], 8.0, cell).1).collect();
    assert!(errors[0] > errors[1] && errors[1] > errors[2] && errors[2] < 0.02, "{errors:?}");
}

/// The contact area of linear elasticity is π a²; that of the gel is the area of the deformed surface.
#[test]
#[ignore = "slow: cargo xtask validate slow"]
fn the_contact_area_is_that_of_the_deformed_surface() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let (case, cell_m) = (&golden["cases"][5], 0.4e-3);
    let number = |key: &str| case[key].as_f64().unwrap();
    let (h, a) = (number("layer_thickness_m"), number("contact_radius_m"));
    let (young_pa, poisson) = (number("young_pa"), number("poisson"));
    let parameters = GelParameters { young_pa, poisson, cell_m, ..GelParameters::default() };
    let side = 2.0 * a + 5.0 * h;
    let gel = Gel::block(Vec3::new(side, side, h), FixedFaces::default(), parameters).unwrap();
    let object = Object::new(paraboloid::paraboloid(number("R_m") * 8.0, 1.6 * a));
    let target = Target::at_rest(&object, Pose::from_translation(Vec3::Z * -number("depth_m") / 8.0));
    let (touch, _) = gel.settle(&gel.rest(), &Motion { targets: &[target] }).unwrap();
    let ratio = touch.area_m2() / (std::f64::consts::PI * a * a);
    assert!((ratio - 1.0).abs() < 0.03, "h {h}, a {a}: {ratio}");
}
