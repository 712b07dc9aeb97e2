//! Sharp and narrow objects on the gel: a point pressed by a face stays in front of it.

use dermis_geometry::{Pose, Primitive, Vec3, shapes::indenters};
use dermis_skin::gel::{FixedFaces, GelFriction, SolverStats};
use dermis_skin::{Gel, GelParameters, Motion, Object, Skin, Target, Touch};

fn press(gel: &Gel, object: &Object, at: Vec3) -> (Touch, SolverStats) {
    let target = Target::at_rest(object, Pose::from_translation(at));
    let (touch, _, work) = gel.equilibrium(&gel.rest(), &Motion { targets: &[target] }).unwrap();
    assert!((touch.on_objects[0].force + touch.on_sensor.force).length() < 1e-12);
    (touch, work)
}

/// A flat punch of radius a on a layer of thickness a: F = 2 E/(1 − ν²) a κ δ with κ = 2.48352 at ν = 0.3 (Hayes et al.
/// 1972). The stress is singular at its edge, so the error decreases with the cell size: 6 % and 3 % of the force for
/// cells of a/5 and a/10.
#[test]
#[ignore = "slow: cargo xtask validate slow"]
fn a_flat_punch_has_hayes_force() {
    let (a, h, nu, kappa, depth) = (2e-3, 2e-3, 0.3, 2.48352, 0.04e-3);
    let punch = Object::of_primitive(Primitive::Cylinder { radius_m: a, half_length_m: 2e-3 }, 0.5e-3).unwrap();
    let error = |cell_m: f64| {
        let parameters = GelParameters { poisson: nu, cell_m, ..GelParameters::default() };
        let gel = Gel::block(Vec3::new(12e-3, 12e-3, h), FixedFaces::default(), parameters).unwrap();
        let (touch, work) = press(&gel, &punch, Vec3::Z * (2e-3 - depth));
        assert!(work.residual < 1e-3, "{work:?}");
        -touch.on_sensor.force.z / (2.0 * parameters.young_pa / (1.0 - nu * nu) * a * kappa * depth) - 1.0
    };
    let (coarse, fine) = (error(0.4e-3), error(0.2e-3));
    println!("force against Hayes: {coarse:+.4} and {fine:+.4}");
    assert!(coarse.abs() < 0.1 && fine.abs() < 0.05 && fine.abs() < coarse.abs(), "{coarse} {fine}");
}

/// Lines and rims narrower than a cell do not pass between points of the surface, each of which is nearer to one of
/// their sides: they make contact (with an effective width larger by a fraction of a cell, so the force is too large),
/// and the surface follows them down.
#[test]
#[ignore = "slow: cargo xtask validate slow"]
fn narrow_objects_do_not_pass_through() {
    for name in ["line", "cross_lines", "cylinder_shell"] {
        let object = Object::new(indenters::find(name).unwrap());
        let press = |cell_m: f64| {
            let parameters = GelParameters { cell_m, ..GelParameters::default() };
            let gel = Gel::block(Vec3::new(20e-3, 20e-3, 4e-3), FixedFaces::default(), parameters).unwrap();
            let (touch, work) = press(&gel, &object, Vec3::Z * -0.6e-3);
            assert!(work.residual < 5e-3, "{name}: {work:?}");
            let deepest = touch.surface.as_ref().unwrap().values.iter().map(|u| -u.z).fold(0.0, f64::max);
            assert!(deepest > 0.57e-3, "{name}: {deepest} m");
            -touch.on_sensor.force.z
        };
        let (coarse, fine) = (press(1e-3), press(0.67e-3));
        println!("{name}: {coarse:.3} N and {fine:.3} N");
        assert!(coarse > 0.2 && (coarse / fine - 1.0).abs() < 0.4, "{name}: {coarse} N and {fine} N");
    }
}

/// With friction, dragged sideways after the press: a square punch reaches equilibrium, drags the gel along, and stays
/// within μ times the load.
#[test]
fn a_square_punch_is_dragged() {
    let mu = 0.4;
    let parameters =
        GelParameters { cell_m: 0.6e-3, friction: GelFriction::Coulomb { mu }, ..GelParameters::default() };
    let gel = Gel::block(Vec3::new(10e-3, 10e-3, 3e-3), FixedFaces::default(), parameters).unwrap();
    let punch = Object::of_primitive(Primitive::Cuboid { half_m: Vec3::new(1.5e-3, 1.5e-3, 2e-3) }, 0.5e-3).unwrap();
    let target = |x: f64| Target::at_rest(&punch, Pose::from_translation(Vec3::new(x, 0.0, 1.6e-3)));
    let (_, state, _) = gel.equilibrium(&gel.rest(), &Motion { targets: &[target(0.0)] }).unwrap();
    let (touch, _, work) = gel.equilibrium(&state, &Motion { targets: &[target(0.4e-3)] }).unwrap();
    assert!(work.residual < 1e-2, "{work:?}");
    let (pull, load) = (touch.on_sensor.force.x, -touch.on_sensor.force.z);
    assert!(pull > 0.1 * load && load > 0.2, "{pull} N along, {load} N down");
}
