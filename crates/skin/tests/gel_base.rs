//! The stress on the fixed base of a gel: its sum, its distribution, and its value in motion.

use crate::paraboloid;

use dermis_geometry::{Pose, Primitive, Twist, Vec3};
use dermis_skin::gel::{Face, FixedFaces};
use dermis_skin::{Gel, GelFriction, GelParameters, Motion, Object, Skin, SurfaceField, Target, Touch};
use serde_json::Value;

const GOLDEN: &str = include_str!("golden/layer/paraboloid_on_bonded_layer.json");

fn total(base: &SurfaceField) -> Vec3 {
    base.values.iter().sum::<Vec3>() * (base.cell_m * base.cell_m)
}

fn ball(radius_m: f64) -> Object {
    Object::of_primitive(Primitive::Sphere { radius_m }, 0.3e-3).unwrap()
}

fn settle(gel: &Gel, object: &Object, at: Vec3) -> Touch {
    let target = Target::at_rest(object, Pose::from_translation(at));
    gel.settle(&gel.rest(), &Motion { targets: &[target] }).unwrap().0
}

/// At rest the base carries the load, under normal press and drag, up to the residual of the solver (2e-3).
#[test]
#[ignore = "slow: cargo xtask validate slow"]
fn the_base_carries_the_load() {
    let parameters =
        GelParameters { cell_m: 0.5e-3, friction: GelFriction::Coulomb { mu: 0.6 }, ..GelParameters::default() };
    // Side lengths that are not multiples of the cell: the cells of the field are still square.
    let gel = Gel::block(Vec3::new(10e-3, 9.3e-3, 3e-3), FixedFaces::default(), parameters).unwrap();
    let ball = ball(4e-3);
    let pressed = Target::at_rest(&ball, Pose::from_translation(Vec3::new(0.7e-3, -0.4e-3, 3.4e-3)));
    let (touch, state) = gel.settle(&gel.rest(), &Motion { targets: &[pressed] }).unwrap();
    let aside = Target::at_rest(&ball, Pose::from_translation(Vec3::new(1.1e-3, -0.4e-3, 3.4e-3)));
    let (dragged, _) = gel.settle(&state, &Motion { targets: &[aside] }).unwrap();
    assert!(dragged.on_sensor.force.x.abs() > 0.05 * dragged.on_sensor.force.z.abs(), "{:?}", dragged.on_sensor);
    for touch in [touch, dragged] {
        let base = touch.base.as_ref().unwrap();
        let (sum, load) = (total(base), touch.on_sensor.force);
        assert!((sum - load).length() < 5e-3 * load.length(), "{sum} N for {load} N");
        assert_eq!(base.center.z, -3e-3);
        assert_eq!((base.rows, base.cols), {
            let surface = touch.surface.as_ref().unwrap();
            (surface.rows, surface.cols)
        });
    }
}

/// The pressure on the base of the golden layer, from the centre to two thicknesses: within 2 % of its peak with eight
/// cells over the thickness, and closer with more.
#[test]
#[ignore = "slow: cargo xtask validate slow"]
fn base_stress_agrees_with_elasticity() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let case = &golden["cases"][0];
    let number = |key: &str| case[key].as_f64().unwrap();
    let list = |key: &str| -> Vec<f64> { case[key].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect() };
    let (h, a, smaller) = (number("layer_thickness_m"), number("contact_radius_m"), 8.0);
    let (radii, pressures) = (list("r_m"), list("base_normal_stress_pa"));
    let error = |cells: f64| {
        let parameters = GelParameters {
            young_pa: number("young_pa"),
            poisson: number("poisson"),
            cell_m: h / cells,
            ..GelParameters::default()
        };
        let side = 2.0 * a + 5.0 * h;
        let gel = Gel::block(Vec3::new(side, side, h), FixedFaces::default(), parameters).unwrap();
        let object = Object::new(paraboloid::paraboloid(number("R_m") * smaller, 1.6 * a));
        let touch = settle(&gel, &object, Vec3::Z * (-number("depth_m") / smaller));
        let base = touch.base.unwrap();
        let mut worst = 0.0f64;
        for row in 0..base.rows {
            for col in 0..base.cols {
                let r = base.rest(row, col).truncate().length();
                let i = radii.partition_point(|x| *x <= r);
                if i < radii.len() {
                    let t = (r - radii[i - 1]) / (radii[i] - radii[i - 1]);
                    let truth = pressures[i - 1] * (1.0 - t) + pressures[i] * t;
                    let ours = -base.values[row * base.cols + col].z * smaller;
                    worst = worst.max((ours - truth).abs() / pressures[0]);
                }
            }
        }
        worst
    };
    let (coarse, fine) = (error(5.0), error(8.0));
    println!("largest error of the pressure on the base: {coarse:.4} and {fine:.4} of its peak");
    assert!(fine < 0.02 && fine < coarse, "{coarse} {fine}");
}

/// In a slow press, the base of a moving gel carries the load except for inertia; the impulses of the wall give the
/// force on the base.
#[test]
fn the_base_carries_the_load_of_a_slow_press() {
    let parameters =
        GelParameters { cell_m: 0.5e-3, mass_scaling: 4.0, damping_per_s: 300.0, ..GelParameters::default() };
    let gel = Gel::block(Vec3::new(8e-3, 8e-3, 3e-3), FixedFaces::default(), parameters).unwrap();
    let ball = ball(3e-3);
    let (speed, dt) = (40e-3, 1e-3);
    let mut state = gel.rest();
    let mut touch = Touch::default();
    for i in 1..=10 {
        let target = Target {
            object: &ball,
            sensor_from_object: Pose::from_translation(Vec3::Z * (3e-3 - speed * dt * f64::from(i))),
            velocity: Twist::new(Vec3::Z * -speed, Vec3::ZERO),
        };
        (touch, state) = gel.touch(&state, &Motion { targets: &[target] }, dt).unwrap();
    }
    let (sum, load) = (total(touch.base.as_ref().unwrap()), touch.on_sensor.force);
    assert!((sum.z / load.z - 1.0).abs() < 0.05, "{} N on the base of {} N", sum.z, load.z);
    let energy = touch.energy.unwrap();
    assert!(energy.ratio() > 0.0 && energy.ratio() < 0.01, "{energy:?}");
}

/// In a deep cup the sides carry most of the load; a gel that is not fixed at its bottom has no base stress.
#[test]
fn fixed_sides_carry_part_of_the_load() {
    let parameters = GelParameters { cell_m: 0.5e-3, poisson: 0.3, ..GelParameters::default() };
    let ball = ball(4e-3);
    let sum = |bonds: FixedFaces| {
        let gel = Gel::block(Vec3::new(4e-3, 4e-3, 6e-3), bonds, parameters).unwrap();
        let touch = settle(&gel, &ball, Vec3::Z * 3.7e-3);
        assert_eq!(touch.energy.unwrap().kinetic_j, 0.0);
        touch.base.map(|base| total(&base).z / touch.on_sensor.force.z)
    };
    let (cup, free) = (sum(FixedFaces::CUP).unwrap(), sum(FixedFaces::default()).unwrap());
    assert!((free - 1.0).abs() < 5e-3, "{free}");
    assert!(cup.abs() < 0.2, "{cup}");
    assert_eq!(sum(FixedFaces::at(&[Face::LowX, Face::HighX])), None);
}
