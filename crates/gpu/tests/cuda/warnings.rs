//! Warnings of batches on a GPU are those of the CPU.

use crate::gpu;
use dermis_geometry::{Pose, Primitive, Vec3, shapes::sphere};
use dermis_gpu::array::Arrays;
use dermis_gpu::layer::Outputs;
use dermis_gpu::{GpuObject, LayerBatch};
use dermis_sensor::optics::Optics;
use dermis_sensor::{Sensor, SensorSource, SensorSpec, presets};
use dermis_skin::{Layer, LayerParameters, Motion, Object, Target, Touch, Warning};

fn ball(radius_m: f64) -> Object {
    Object::of_primitive(Primitive::Sphere { radius_m }, 0.1 * radius_m).unwrap()
}

/// A wall of a width (mm), 6 mm long and 4 mm high.
fn wall(width_mm: f64) -> Object {
    let half_m = 0.5e-3 * Vec3::new(width_mm, 6.0, 4.0);
    Object::of_primitive(Primitive::Cuboid { half_m }, 1e-3).unwrap()
}

fn at(x_mm: f64, y_mm: f64, z_mm: f64) -> Pose {
    Pose::from_translation(Vec3::new(x_mm, y_mm, z_mm) * 1e-3)
}

fn settled(sensor: &Sensor, object: &Object, pose: Pose) -> Touch {
    let target = Target::at_rest(object, pose);
    sensor.skin().settle(&sensor.skin().rest(), &Motion { targets: &[target] }).unwrap().0
}

fn texts(warnings: impl IntoIterator<Item = Warning>) -> Vec<String> {
    warnings.into_iter().map(|warning| warning.to_string()).collect()
}

/// Beyond the linear range, near the rim, few cells, a narrow strip, between the cells, a coarse path, and none; with the
/// light of the images.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn warnings_of_layers_are_those_of_the_cpu() {
    let gpu = gpu();
    let (mut kinds, mut steep_images) = (Vec::new(), 0);
    for name in ["gelsight", "gelsight-mini", "wts0614-layer"] {
        // A light that was fitted to shallow presses only.
        let shallow =
            |line: &str| if line.starts_with("steepest = ") { "steepest = 0.2".to_owned() } else { line.to_owned() };
        let text = presets::text(name).unwrap().lines().map(shallow).collect::<Vec<_>>().join("\n");
        let built = SensorSpec::parse(name, &text).unwrap().build(None).unwrap();
        let parameters = built.skin_as::<Layer>().unwrap().parameters().clone();
        let parameters = LayerParameters { max_increments: 1, ..parameters };
        let sensor = built.with_skin(Layer::new(parameters).unwrap());
        let layer = sensor.skin_as::<Layer>().unwrap();
        let cell_mm = layer.grid().cell_m * 1e3;
        let tiny = 0.1 * cell_mm;
        let large =
            vec![at(0.0, 0.0, 3.98), at(0.1, 0.3, 3.2), at(8.0, 0.0, 3.7), at(0.0, 0.0, 5.0), at(40.0, 0.0, 3.5)];
        let cases = [
            (Object { mu: Some(1.0), ..ball(4e-3) }, large.clone()),
            (Object { mu: Some(0.0), ..Object::new(sphere(4e-3, 0.3e-3).unwrap()) }, large),
            (ball(tiny * 1e-3), vec![at(0.0, 0.0, 0.5 * tiny), at(0.5 * cell_mm, 0.5 * cell_mm, 0.5 * tiny)]),
            (wall(1.8 * cell_mm), vec![at(0.0, 0.0, 1.99), at(0.3 * cell_mm, 0.1, 1.98)]),
        ];
        for (case, (object, poses)) in cases.into_iter().enumerate() {
            let touches = LayerBatch::new(&gpu, &sensor, &object).unwrap().press(&poses, Outputs::ALL).unwrap();
            let warnings = touches.warnings(layer, &object, &poses);
            for (i, &pose) in poses.iter().enumerate() {
                let touch = settled(&sensor, &object, pose);
                assert_eq!(texts(warnings[i].clone()), texts(touch.all_warnings()), "{name}, case {case}, press {i}");
                kinds.extend(touch.all_warnings());
                let Some(optics) = sensor.optics() else { continue };
                let expected = optics.warning(&sensor.render(&touch, 0).unwrap().relief);
                assert_eq!(Optics::steep_warning(touches.steep[i]), expected, "{name}, case {case}, press {i}");
                steep_images += usize::from(expected.is_some());
            }
        }
    }
    let kinds = Warning::first_of_each_kind(kinds);
    assert!(kinds.iter().any(|warning| matches!(warning, Warning::Narrow { .. })), "{kinds:?}");
    assert!(kinds.len() >= 4 && steep_images > 0, "{kinds:?}, {steep_images} steep images");
}

/// Beyond the largest penetration, few contact points, between the points, and none.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn warnings_of_springs_are_those_of_the_cpu() {
    let gpu = gpu();
    let mut kinds = Vec::new();
    for (name, max_mm) in [("uji-foam-14x6", Some(0.2)), ("uji-foam-14x6", None), ("wts0614", None)] {
        let skin = max_mm.map(|max: f64| {
            let max = serde_json::json!({ "max_penetration": format!("{max} mm") });
            serde_json::from_value(max).unwrap()
        });
        let source = SensorSource { preset: Some(name.to_owned()), skin, ..SensorSource::default() };
        let sensor = source.resolve(name, None).unwrap().0.build(None).unwrap();
        let arrays = Arrays::new(&gpu, &sensor).unwrap();
        for radius_mm in [0.05, 2.0, 12.0] {
            let object = ball(radius_mm * 1e-3);
            let poses: Vec<Pose> = (0..24)
                .map(|i| at(0.31 * f64::from(i), 0.17 * f64::from(i), radius_mm - 0.02 * f64::from(i % 6) * radius_mm))
                .collect();
            let on_gpu = arrays.poses(&poses).unwrap();
            let presses = arrays.settle(&GpuObject::new(&gpu, &object).unwrap(), &on_gpu).unwrap();
            let warnings = presses.warnings(&sensor, &object, &on_gpu).unwrap();
            for (i, &pose) in poses.iter().enumerate() {
                let expected: Vec<Warning> = settled(&sensor, &object, pose).all_warnings().collect();
                assert_eq!(warnings[i], expected, "{name}, {radius_mm} mm, press {i}");
                kinds.extend(expected);
            }
        }
    }
    let between = kinds.iter().filter(|warning| matches!(warning, Warning::Missed { .. })).count();
    let kinds = Warning::first_of_each_kind(kinds);
    assert!(kinds.len() >= 2 && between > 0, "{kinds:?}, {between} between the points");
}
