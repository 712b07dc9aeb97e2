//! Sensors with a layer skin.

use crate::common::{cuboid, sphere};
use dermis_geometry::shapes::indenters;
use dermis_geometry::{Pose, Quat, Vec3};
use dermis_sensor::object::ObjectSpec;
use dermis_sensor::{Aim, Goal, SensorSpec, SkinKind, Taxels, presets, press};
use dermis_skin::{Layer, Motion, Object, Skin, SurfaceField, Target, Touch, Warning};

/// Taxels and the force beside them sum to the load for any position of the object; the object receives the opposite
/// load.
#[test]
fn taxels_and_outside_are_the_load() {
    let ball = sphere(8e-3, 0.6e-3);
    let block = cuboid(9e-3, 5e-3, 6e-3);
    for name in ["wts0614-layer", "gelsight-mini"] {
        let sensor = presets::find(name).unwrap().build(None).unwrap();
        for (object, at_m) in [(&ball, [0.0, 0.0]), (&block, [3e-3, -6e-3]), (&ball, [9e-3, 0.0])] {
            let aim = Aim { at_m, tilt_rad: [0.05, -0.03], yaw_rad: 0.4 };
            let pressed = press(&sensor, object, &aim, Goal::Depth(0.5e-3)).unwrap();
            let (reading, touch) = (&pressed.reading, &pressed.touch);
            let load = touch.on_sensor.force.length();
            assert!(load > 0.1, "{name}: {load}");
            assert!((reading.net_force_newton() - touch.on_sensor.force).length() < 1e-12 * load);
            assert!((touch.on_objects[0].force + touch.on_sensor.force).length() < 1e-12 * load);
            // The taxels carry most of the load, and at the centre nearly all.
            let felt = reading.sum_newton / -touch.on_sensor.force.z;
            let least = if at_m == [0.0, 0.0] { 0.9 } else { 0.4 };
            assert!(felt > least && felt < 1.1, "{name} at {at_m:?}: {felt}");
        }
    }
}

/// A linear stress integrated over the cells of a grid that is not aligned with the field, and over listed taxels with
/// the same squares; the stress beside the array is outside.
#[test]
fn the_base_is_integrated_over_the_cells() {
    let (rows, cols, cell_m) = (40, 50, 1e-3);
    let stress = |at: Vec3| Vec3::new(1.0, 0.5 * at.y, -10.0 - 300.0 * at.x);
    let mut base = SurfaceField {
        rows,
        cols,
        cell_m,
        center: Vec3::new(2e-3, 1e-3, -3e-3),
        values: Vec::new(),
        rest_heights_m: None,
    };
    base.values = (0..rows * cols).map(|i| stress(base.rest(i / cols, i % cols))).collect();
    let mut touch = Touch::default();
    touch.on_sensor.force = base.values.iter().sum::<Vec3>() * (cell_m * cell_m);
    touch.base = Some(base);
    // Taxels of whole cells: the mean of a linear stress is that at the centre.
    let taxels = Taxels::grid(6, 8, 4e-3);
    let (forces, outside) = taxels.bin(&touch);
    for (force, center) in forces.iter().zip(taxels.centers()) {
        assert!((*force - stress(*center) * 16e-6).length() < 1e-12, "{force} at {center}");
    }
    assert!((forces.iter().sum::<Vec3>() + outside - touch.on_sensor.force).length() < 1e-12);
    assert!(outside.z < -0.1 * forces.iter().sum::<Vec3>().length());
    let listed = Taxels::points(taxels.centers().to_vec(), taxels.normals().to_vec(), vec![16e-6; 48], 2.9e-3);
    let inner = 3 * 8 + 4;
    assert!((listed.bin(&touch).0[inner] - forces[inner]).length() < 1e-9);
    // Taxels that cut through cells divide them by area.
    let fine = Taxels::grid(1, 1, 3.3e-3);
    let (force, _) = fine.bin(&touch);
    assert!((force[0] - stress(Vec3::ZERO) * 3.3e-3 * 3.3e-3).length() < 1e-4 * force[0].length(), "{}", force[0]);
}

/// A press reaches its force from below with few evaluations; a mesh beside the layer and a press beyond 0.8 of the
/// thickness return named errors.
#[test]
fn presses_reach_their_force_or_say_why_not() {
    let sensor = presets::find("gelsight").unwrap().build(None).unwrap();
    let ball = sphere(6e-3, 0.5e-3);
    let pressed = press(&sensor, &ball, &Aim::default(), Goal::Force(0.8)).unwrap();
    let got = -pressed.touch.on_sensor.force.z;
    assert!((got - 0.8).abs() < 1e-6, "{got}");
    // Most of a gel of 20 mm width and 4 mm thickness is near its rim.
    assert!(pressed.touch.warnings.iter().any(|warning| matches!(warning, Warning::NearRim { .. })));
    let beside = Aim { at_m: [0.1, 0.0], ..Aim::default() };
    let refused = press(&sensor, &ball, &beside, Goal::Depth(1e-3)).unwrap_err().to_string();
    assert!(refused.contains("is not above sensor \"gelsight\""), "{refused}");
    let refused = press(&sensor, &ball, &Aim::default(), Goal::Depth(3.3e-3)).unwrap_err().to_string();
    assert!(refused.contains("3.2 mm"), "{refused}");
}

#[test]
fn descriptions_are_refused_by_name() {
    let with = |skin: &str| {
        let text = format!(
            "name = \"t\"\n[surface.grid]\nrows = 4\ncols = 4\npitch = \"4 mm\"\n[skin]\nkind = \"layer\"\n{skin}\n[response]\nforce_per_count = \"1 mN\"\nbits = 12\n"
        );
        SensorSpec::parse("t.toml", &text)
            .map_err(|error| error.to_string())
            .and_then(|spec| spec.build(None).map(|_| ()).map_err(|error| error.to_string()))
    };
    let refusal = |skin: &str| with(skin).unwrap_err();
    assert_eq!(with("thickness = \"2 mm\"\nyoung = \"0.2 MPa\"\nincompressible = true"), Ok(()));
    for (skin, part) in [
        ("thickness = \"2 mm\"\nyoung = \"0.2 MPa\"\npoisson = 0.5", "incompressible"),
        ("thickness = \"2 mm\"\nyoung = \"0.2 MPa\"", "`poisson`, `incompressible = true`"),
        ("thickness = \"2 mm\"\nyoung = \"0.2 MPa\"\npoisson = 0.4\nincompressible = true", "exactly one"),
        ("thickness = \"0 mm\"\nyoung = \"0.2 MPa\"\npoisson = 0.4", "thickness"),
        ("thickness = \"2 mm\"\nyoung = \"-1 MPa\"\npoisson = 0.4", "young"),
        ("thickness = \"2 mm\"\nyoung = \"1 MPa\"\npoisson = 0.4\ncolour = 3", "colour"),
    ] {
        let text = refusal(skin);
        assert!(text.contains(part), "{skin}: {text}");
    }
    let curved = presets::find("fingertip").unwrap().with_skin(SkinKind::Layer).unwrap_err().to_string();
    assert!(curved.contains("springs on a grid"), "{curved}");
}

/// Springs on a grid converted to a layer: under a wide plate both have the same stiffness, except for the rim of the
/// layer.
#[test]
fn a_layer_can_stand_for_springs() {
    let spec = presets::find("uji-foam-14x6").unwrap();
    let (springs, layer) = (spec.build(None).unwrap(), spec.with_skin(SkinKind::Layer).unwrap().build(None).unwrap());
    let plate = cuboid(0.2, 0.2, 5e-3);
    let force = |sensor| -press(sensor, &plate, &Aim::default(), Goal::Depth(0.5e-3)).unwrap().touch.on_sensor.force.z;
    let ratio = force(&layer) / force(&springs);
    assert!((0.95..1.5).contains(&ratio), "{ratio}");
}

/// Height maps hold the average of a cell under a rim: the force on a punch of 1 mm, five cells wide, does not depend on
/// its place between the cells. Sampled at the middle of each cell it varied by ±4 % and more.
#[test]
fn a_sharp_punch_reads_the_same_at_every_place() {
    let sensor = presets::find("gelsight").unwrap().build(None).unwrap();
    for flag in ["cylinder:radius=0.5mm,length=4mm", "cuboid:size=1mm,1mm,4mm", "prism:sides=6,radius=0.6mm,length=4mm"]
    {
        let punch = ObjectSpec::parse_flag(flag, None).unwrap().object(None, None).unwrap();
        let forces: Vec<f64> = (0..24)
            .map(|i| {
                let i = f64::from(i);
                let aim = Aim { at_m: [i * 0.037e-3, i * 0.029e-3], yaw_rad: 0.11 * i, ..Aim::default() };
                -press(&sensor, &punch, &aim, Goal::Depth(0.2e-3)).unwrap().touch.on_sensor.force.z
            })
            .collect();
        let mean = forces.iter().sum::<f64>() / forces.len() as f64;
        let worst = forces.iter().map(|force| (force / mean - 1.0).abs()).fold(0.0, f64::max);
        println!("{flag}: {mean} N ± {worst}");
        assert!(worst < 0.02, "{flag}: {worst} of {mean} N: {forces:?}");
    }
}

/// The load of a cell is continuous in the place of the object: a motion as small as rounding moves it by no more than the
/// solver's tolerance, also under rims, where the object covers cells in part. So the GPU, which rounds differently, gives
/// the same mean pressures.
#[test]
fn the_load_of_a_cell_under_a_rim_does_not_depend_on_rounding() {
    let placed = |turn: [f64; 3], at_mm: [f64; 3]| {
        let turn = Quat::from_rotation_x(turn[0]) * Quat::from_rotation_y(turn[1]) * Quat::from_rotation_z(turn[2]);
        Pose::new(turn, Vec3::from_array(at_mm) * 1e-3)
    };
    let moon = Object::new(indenters::find("moon").unwrap());
    let block = cuboid(6e-3, 3e-3, 4e-3);
    let cases = [
        ("moon", &moon, placed([0.0, 0.0, 0.5], [0.3, 0.1, -0.5])),
        ("moon tilted", &moon, placed([0.05, 0.03, 2.0], [-1.0, 0.5, -0.4])),
        ("block tilted", &block, placed([0.1, 0.0, 0.3], [0.0, 0.0, 1.9])),
        ("block", &block, placed([0.0; 3], [1.0, -0.6, 1.8])),
    ];
    for name in ["gelsight", "wts0614-layer"] {
        let sensor = presets::find(name).unwrap().build(None).unwrap();
        let mut parameters = sensor.skin_as::<Layer>().unwrap().parameters().clone();
        parameters.contact.tolerance = 1e-7;
        let layer = Layer::new(parameters).unwrap();
        let grid = layer.grid();
        let pressures = |object: &Object, pose: Pose| {
            let touch = layer.settle(&layer.rest(), &Motion { targets: &[Target::at_rest(object, pose)] }).unwrap().0;
            let mut mean = vec![0.0; grid.rows * grid.cols];
            for facet in &touch.facets {
                let row = 0.5 * (grid.rows as f64 - 1.0) - facet.at().y / grid.cell_m;
                let col = facet.at().x / grid.cell_m + 0.5 * (grid.cols as f64 - 1.0);
                mean[row.round() as usize * grid.cols + col.round() as usize] =
                    facet.normal_force() / (grid.cell_m * grid.cell_m);
            }
            mean
        };
        for (shape, object, pose) in &cases {
            let truth = pressures(object, *pose);
            let peak = truth.iter().copied().fold(0.0, f64::max);
            for (x_m, y_m, bound) in [(1e-13, 0.0, 1e-6), (0.0, -1e-13, 1e-6), (1e-9, -1e-9, 1e-4)] {
                let moved = pressures(object, Pose::from_translation(Vec3::new(x_m, y_m, 0.0)) * *pose);
                let gaps = truth.iter().zip(&moved).map(|(a, b)| (a - b).abs());
                let worst = gaps.fold(0.0, f64::max) / peak;
                assert!(worst < bound, "{name}, {shape}, moved by {x_m} m, {y_m} m: {worst:e}");
            }
        }
    }
}
