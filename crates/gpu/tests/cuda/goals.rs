//! Presses to forces: the depths that are searched with batches on a GPU are those of single presses on the CPU.

use crate::gpu;
use crate::layer::{at_once, precise};
use dermis_geometry::{Pose, Primitive, Vec3, shapes};
use dermis_gpu::array::Arrays;
use dermis_gpu::goals::{PressRequest, final_poses, press_all};
use dermis_gpu::{GelSkin, GpuError, GpuObject, LayerBatch};
use dermis_sensor::{Aim, Goal, Pressed, Sensor, SensorSpec, SkinKind, presets, press, press_to_pose};
use dermis_skin::{Object, Warning};

fn ball(radius_m: f64) -> Object {
    Object::of_primitive(Primitive::Sphere { radius_m }, 1e-3).unwrap()
}

/// Presses of many forces, in the middle and aside, level and tilted; every fifth to a depth.
fn requests(count: usize, max_n: f64) -> Vec<(Aim, Goal)> {
    let request = |i: usize| {
        let part = (i + 1) as f64 / count as f64;
        let (x, y) = ((7.0 * part).sin(), (11.0 * part).cos());
        let tilt_rad = if i.is_multiple_of(3) { [0.0; 2] } else { [0.04 * y, -0.05 * x] };
        let aim = Aim { at_m: [1.5e-3 * x, 2e-3 * y], tilt_rad, yaw_rad: 3.0 * part };
        let goal = if i % 5 == 4 { Goal::Depth(0.3e-3) } else { Goal::Force(max_n * part * part) };
        (aim, goal)
    };
    (0..count).map(request).collect()
}

/// The presses on the CPU.
fn pressed(sensor: &Sensor, object: &Object, requests: &[(Aim, Goal)]) -> Vec<Pressed> {
    requests.iter().map(|(aim, goal)| press(sensor, object, aim, *goal).unwrap()).collect()
}

type Found = Result<Option<Vec<(Pose, f64)>>, GpuError>;

/// The final poses, and the number of batches.
fn found(
    sensor: &Sensor,
    object: &Object,
    requests: &[(Aim, Goal)],
    precision: f64,
    mut forces_at: impl FnMut(&[Pose]) -> Result<Vec<f64>, GpuError>,
) -> (Found, usize) {
    let requests: Vec<_> = requests.iter().map(|(aim, goal)| PressRequest::Press(*aim, *goal)).collect();
    let mut batches = 0;
    let mut counted = |poses: &[Pose]| {
        batches += 1;
        forces_at(poses)
    };
    let found = final_poses(sensor, object, &requests, precision, &mut counted, &|_| true);
    (found, batches)
}

/// Asserts that final poses are those of the CPU to `relative` of the depth, with forces to `force`, both of which GPU and
/// CPU reach at their own depth.
fn assert_same(
    label: &str,
    truth: &[Pressed],
    found: &[(Pose, f64)],
    forces_n: &[f64],
    requests: &[(Aim, Goal)],
    [relative, force]: [f64; 2],
) {
    assert_eq!(truth.len(), found.len());
    let (mut depth_off, mut force_off) = (0.0f64, 0.0f64);
    for (((truth, (pose, depth_m)), force_n), (_, goal)) in truth.iter().zip(found).zip(forces_n).zip(requests) {
        assert_eq!(pose.rotation, truth.sensor_from_object.rotation);
        let below = truth.sensor_from_object.translation.z - pose.translation.z;
        assert!((below - (depth_m - truth.depth_m)).abs() < 1e-12, "{label}: the pose is not that of the depth");
        depth_off = depth_off.max((depth_m / truth.depth_m - 1.0).abs());
        if let Goal::Force(goal_n) = goal {
            force_off = force_off.max((force_n / goal_n - 1.0).abs());
        }
    }
    println!("{label}: depth off by {depth_off:.1e}, force by {force_off:.1e}");
    assert!(depth_off <= relative, "{label}: depth off by {depth_off:e}");
    assert!(force_off <= force, "{label}: force off by {force_off:e}");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn forces_on_arrays_are_reached_at_the_depths_of_the_cpu() {
    let gpu = gpu();
    let spec = presets::find("uji-foam-14x6").unwrap();
    let pad = spec.with_skin(SkinKind::Hydroelastic).unwrap();
    let block = Object::new(shapes::cuboid(Vec3::new(18e-3, 14e-3, 12e-3)).unwrap());
    let (ball, mesh) = (ball(8e-3), Object::new(shapes::sphere(8e-3, 1.2e-3).unwrap()));
    for (label, spec, object, off) in [
        ("springs, ball", &spec, &ball, 1e-6),
        ("springs, mesh", &spec, &mesh, 1e-6),
        ("springs, block", &spec, &block, 1e-6),
        ("pad, mesh", &pad, &mesh, 1e-6),
        ("pad, block", &pad, &block, 1e-6),
        // Triangles of their own on each device.
        ("pad, ball", &pad, &ball, 5e-3),
    ] {
        let (sensor, requests) = (spec.build(None).unwrap(), requests(60, 2.0));
        let (arrays, uploaded) = (Arrays::new(&gpu, &sensor).unwrap(), GpuObject::new(&gpu, object).unwrap());
        let at = |poses: &[Pose]| arrays.normal_forces(&uploaded, poses);
        let (there, batches) = found(&sensor, object, &requests, 0.0, at);
        let there = there.unwrap().unwrap();
        let poses: Vec<Pose> = there.iter().map(|(pose, _)| *pose).collect();
        let (truth, forces_n) = (pressed(&sensor, object, &requests), at(&poses).unwrap());
        println!("{label}: {batches} batches");
        // A face may make the force jump.
        let precision = if object.surface.primitive().is_some() { sensor.skin().precision() } else { 1e-6 };
        assert_same(label, &truth, &there, &forces_n, &requests, [off, precision]);
    }
}

/// The error of the first press that fails, by its number, as on the CPU.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn forces_beyond_the_skin_are_refused_as_on_the_cpu() {
    let gpu = gpu();
    let (sensor, object) = (presets::find("uji-foam-14x6").unwrap().build(None).unwrap(), ball(8e-3));
    let (arrays, uploaded) = (Arrays::new(&gpu, &sensor).unwrap(), GpuObject::new(&gpu, &object).unwrap());
    let mut requests = requests(9, 2.0);
    requests[3].1 = Goal::Force(1e4);
    requests[7].0.at_m = [1.0, 0.0];
    let (refused, _) = found(&sensor, &object, &requests, 0.0, |poses| arrays.normal_forces(&uploaded, poses));
    let error = press(&sensor, &object, &requests[3].0, requests[3].1).unwrap_err();
    assert_eq!(refused, Err(GpuError::Press { press: 3, error: error.clone() }));
    assert_eq!(refused.unwrap_err().to_string(), format!("press 3: {error}"));
}

/// Without friction a press does not depend on its path: the same depth. With friction the GPU presses in one increment
/// from rest, the CPU follows the path: depths differ by up to 1.5 % on the thin layer, and the warning about the shear is
/// that of the CPU in one increment.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn forces_on_layers_are_reached_at_the_depths_of_the_cpu() {
    let gpu = gpu();
    let block = Object::new(shapes::cuboid(Vec3::new(6e-3, 3e-3, 4e-3)).unwrap());
    for name in ["gelsight", "wts0614-layer"] {
        let usual = SensorSpec::find(name).unwrap().0.build(None).unwrap();
        for (label, sensor, object, mu, off) in [
            ("precise ball", precise(name), ball(4e-3), 0.0, 1e-6),
            ("precise block", precise(name), block.clone(), 0.0, 1e-6),
            ("ball", usual.clone(), ball(4e-3), 0.0, 1e-4),
            ("ball with friction", usual.clone(), ball(4e-3), 1.0, 2e-2),
            ("block with friction", usual.clone(), block.clone(), 1.0, 2e-2),
        ] {
            let object = Object { mu: Some(mu), ..object };
            let (label, requests) = (format!("{name}, {label}"), requests(10, 1.5));
            let batch = LayerBatch::new(&gpu, &sensor, &object).unwrap();
            let at = |poses: &[Pose]| batch.normal_forces(poses);
            let (there, batches) = found(&sensor, &object, &requests, batch.force_precision(), at);
            let there = there.unwrap().unwrap();
            let poses: Vec<Pose> = there.iter().map(|(pose, _)| *pose).collect();
            let (truth, forces_n) = (pressed(&sensor, &object, &requests), at(&poses).unwrap());
            println!("{label}: {batches} batches");
            assert_same(&label, &truth, &there, &forces_n, &requests, [off, batch.force_precision()]);
            let touches = batch.press(&poses, dermis_gpu::layer::Outputs::NONE).unwrap();
            let (once, layer) = (at_once(&sensor), sensor.skin_as().unwrap());
            let kinds = |warnings: &[Warning]| warnings.iter().map(std::mem::discriminant).collect::<Vec<_>>();
            for (i, warnings) in touches.warnings(layer, &object, &poses).iter().enumerate() {
                let known = press_to_pose(&once, &object, &poses[i]).unwrap().touch.warnings;
                assert_eq!(kinds(warnings), kinds(&known), "{label}, press {i}: {warnings:?} and {known:?}");
            }
        }
    }
}

/// A gel starts each trial from the deepest state below the force, as on the CPU.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn forces_on_gels_are_reached_at_the_depths_of_the_cpu() {
    let gpu = gpu();
    let text = "name = \"gel\"\n[surface.grid]\nrows = 6\ncols = 6\npitch = \"2 mm\"\n[skin]\nkind = \"gel\"\nyoung = \"145 kPa\"\n\
                poisson = 0.45\nthickness = \"3 mm\"\nsize = [\"14 mm\", \"14 mm\"]\ncell = \"1 mm\"\n";
    let sensor = SensorSpec::parse("the test", text).unwrap().build(None).unwrap();
    let on_gpu = GelSkin::of(&sensor).unwrap().on(&gpu, &sensor).unwrap();
    let (object, mut requests) = (ball(5e-3), requests(6, 1.0));
    let wanted = |requests: &[(Aim, Goal)]| -> Vec<PressRequest> {
        requests.iter().map(|(aim, goal)| PressRequest::Press(*aim, *goal)).collect()
    };
    let there = press_all(&on_gpu, &object, &wanted(&requests), |_, pressed| pressed, &|_| true).unwrap().unwrap();
    let found: Vec<_> = there.iter().map(|one| (one.sensor_from_object, one.depth_m)).collect();
    let forces_n: Vec<f64> = there.iter().map(|one| -one.touch.on_sensor.force.z).collect();
    let truth = pressed(&sensor, &object, &requests);
    assert_same("gel", &truth, &found, &forces_n, &requests, [4e-3, sensor.skin().precision()]);
    for (here, there) in truth.iter().zip(&there) {
        let (scale, pairs) = (here.reading.net_force_newton().length(), here.reading.values_newton.iter());
        let off = pairs.zip(&there.reading.values_newton).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / scale;
        assert!(off < 4e-3, "a taxel is off by {off:e} of the force");
    }
    requests[2].1 = Goal::Force(1e4);
    let refused = press_all(&on_gpu, &object, &wanted(&requests), |_, _| (), &|_| true).unwrap_err().to_string();
    assert!(refused.starts_with("press 2: sensor \"gel\" cannot carry 10000 N"), "{refused}");
}
