//! Presses to forces: the depths that are searched with batches on a GPU are those of single presses on the CPU. The search
//! of a batch is also compared on the skins of the CPU.

use crate::gpu;
use crate::layer::{at_once, precise};
use dermis_geometry::{Pose, Primitive, Vec3, shapes};
use dermis_gpu::array::Arrays;
use dermis_gpu::goals::{FinalPoses, PressRequest, final_poses, press_all};
use dermis_gpu::{GelSkin, GpuError, GpuObject, LayerBatch};
use dermis_sensor::{Aim, Goal, Pressed, Sensor, SensorSpec, SkinKind, presets, press, press_to_pose};
use dermis_skin::{Object, Warning};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

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
    (found.map(|found| found.map(|found| found.poses)), batches)
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
        ("springs, ball", &spec, &ball, 1e-9),
        ("springs, mesh", &spec, &mesh, 1e-9),
        ("springs, block", &spec, &block, 1e-9),
        ("pad, mesh", &pad, &mesh, 1e-9),
        ("pad, block", &pad, &block, 1e-9),
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
        // The last trial from below ends a search, with a rounding error beside the precision.
        let precision = 1.01 * sensor.skin().precision();
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
/// from rest, the CPU follows the path: depths differ by up to 1.7 % on the thin layer, and the warning about the shear is
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
            ("ball", usual.clone(), ball(4e-3), 0.0, 2e-5),
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

/// Many presses, more than one chunk of a layer: every force is reached, and a larger force is deeper. Prints the time.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn many_forces_are_reached() {
    let gpu = gpu();
    let goals = |count: usize| -> Vec<(Aim, Goal)> {
        (1..=count).map(|i| (Aim::default(), Goal::Force(1.5 * i as f64 / count as f64))).collect()
    };
    let check = |label: &str, start: Instant, (there, batches): (Found, usize), forces_n: &[f64], precision: f64| {
        let (there, count) = (there.unwrap().unwrap(), forces_n.len());
        println!("{label}: {count} presses, {batches} batches, {:.3} s", start.elapsed().as_secs_f64());
        assert!(there.is_sorted_by(|a, b| a.1 < b.1), "{label}: a larger force is not deeper");
        for (i, force_n) in forces_n.iter().enumerate() {
            let goal_n = 1.5 * (i + 1) as f64 / count as f64;
            assert!((force_n / goal_n - 1.0).abs() <= precision, "{label}, press {i}: {force_n} of {goal_n} N");
        }
    };
    let poses =
        |found: &Found| -> Vec<Pose> { found.clone().unwrap().unwrap().iter().map(|(pose, _)| *pose).collect() };
    let (foam, object) = (presets::find("uji-foam-14x6").unwrap().build(None).unwrap(), ball(8e-3));
    let (arrays, uploaded) = (Arrays::new(&gpu, &foam).unwrap(), GpuObject::new(&gpu, &object).unwrap());
    let at = |poses: &[Pose]| arrays.normal_forces(&uploaded, poses);
    let start = Instant::now();
    let there = found(&foam, &object, &goals(100_000), 0.0, at);
    let forces_n = at(&poses(&there.0)).unwrap();
    check("springs", start, there, &forces_n, 1e-9);
    let layer = SensorSpec::find("wts0614-layer").unwrap().0.build(None).unwrap();
    let object = Object { mu: Some(0.0), ..ball(4e-3) };
    let batch = LayerBatch::new(&gpu, &layer, &object).unwrap();
    let start = Instant::now();
    let there = found(&layer, &object, &goals(5000), batch.force_precision(), |poses| batch.normal_forces(poses));
    let forces_n = batch.normal_forces(&poses(&there.0)).unwrap();
    check("layer", start, there, &forces_n, 1.01 * batch.force_precision());
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
    assert_same("gel", &truth, &found, &forces_n, &requests, [1e-3, sensor.skin().precision()]);
    for (here, there) in truth.iter().zip(&there) {
        let (scale, pairs) = (here.reading.net_force_newton().length(), here.reading.values_newton.iter());
        let off = pairs.zip(&there.reading.values_newton).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / scale;
        assert!(off < 4e-3, "a taxel is off by {off:e} of the force");
    }
    requests[2].1 = Goal::Force(1e4);
    let refused = press_all(&on_gpu, &object, &wanted(&requests), |_, _| (), &|_| true).unwrap_err().to_string();
    assert!(refused.starts_with("press 2: sensor \"gel\" cannot carry 10000 N"), "{refused}");
}

/// Presses in a batch that needs no GPU: three to forces, one to a depth.
fn few_requests() -> Vec<PressRequest> {
    let aim = |i: f64| Aim { at_m: [0.5e-3 * i, -0.3e-3 * i], tilt_rad: [0.02 * i, 0.01], yaw_rad: 0.2 * i };
    let press = |(i, goal)| PressRequest::Press(aim(f64::from(i)), goal);
    let goals = [0.02, 0.3, 0.6].map(Goal::Force).into_iter().chain([Goal::Depth(0.4e-3)]);
    (0..).zip(goals).map(press).collect()
}

fn one(sensor: &Sensor, object: &Object, request: &PressRequest) -> Pressed {
    match request {
        PressRequest::Press(aim, goal) => press(sensor, object, aim, *goal).unwrap(),
        PressRequest::Hold(pose) => press_to_pose(sensor, object, pose).unwrap(),
    }
}

/// A batch on the skin of the CPU has the same bytes as single presses: springs, and a layer whose friction depends on
/// the trials.
#[test]
fn presses_of_a_batch_are_single_presses() {
    let ball = ball(5e-3);
    for name in ["uji-foam-14x6", "wts0614-layer"] {
        let sensor = SensorSpec::find(name).unwrap().0.build(None).unwrap();
        let mut requests = few_requests();
        let known = AtomicUsize::new(0);
        let goes_on = |count: usize| {
            assert!(known.swap(count, Ordering::Relaxed) <= count);
            true
        };
        let all = press_all(&sensor, &ball, &requests, |number, pressed| (number, pressed), &goes_on);
        for ((request, (number, pressed)), place) in requests.iter().zip(all.unwrap().unwrap()).zip(0..) {
            let alone = one(&sensor, &ball, request);
            assert_eq!((number, pressed.depth_m, &pressed.touch), (place, alone.depth_m, &alone.touch), "{name}");
            assert_eq!((&pressed.reading, &pressed.state), (&alone.reading, &alone.state), "{name}");
        }
        assert_eq!(known.into_inner(), requests.len());
        requests.insert(1, PressRequest::Press(Aim::default(), Goal::Force(1e5)));
        let refused = press_all(&sensor, &ball, &requests, |_, _| (), &|_| true).unwrap_err().to_string();
        assert!(refused.starts_with("press 1: sensor") && refused.contains("cannot carry 100000 N"), "{refused}");
        assert_eq!(press_all(&sensor, &ball, &requests, |_, _| (), &|_| false), Ok(None));
    }
}

/// Trials from rest end at the depths of single presses: to the last digits on springs, on a layer to the tolerance of
/// its solver, with friction to 0.5 %.
#[test]
fn final_poses_are_those_of_single_presses() {
    let block = Object::new(shapes::cuboid(Vec3::new(5e-3, 4e-3, 6e-3)).unwrap());
    for (name, mu, precision, off) in
        [("uji-foam-14x6", 0.5, 0.0, 1e-9), ("wts0614-layer", 0.0, 1e-6, 1e-4), ("wts0614-layer", 1.0, 1e-6, 5e-3)]
    {
        let (sensor, object) = (SensorSpec::find(name).unwrap().0.build(None).unwrap(), block.clone());
        let object = Object { mu: Some(mu), ..object };
        let force_at = |pose: &Pose| -press_to_pose(&sensor, &object, pose).unwrap().touch.on_sensor.force.z;
        let mut batches = Vec::new();
        let mut forces_at = |poses: &[Pose]| {
            batches.push(poses.len());
            Ok(poses.iter().map(force_at).collect())
        };
        let mut requests = few_requests();
        let hold = Pose::from_translation(Vec3::new(0.0, 0.0, 2e-3));
        requests.push(PressRequest::Hold(hold));
        let found = final_poses(&sensor, &object, &requests, precision, &mut forces_at, &|_| true);
        let FinalPoses { poses: found, warnings } = found.unwrap().unwrap();
        assert_eq!((found.len(), found[4], warnings), (5, (hold, 0.0), vec![]));
        for (request, (pose, depth_m)) in requests.iter().zip(&found).take(4) {
            let alone = one(&sensor, &object, request);
            assert!((depth_m / alone.depth_m - 1.0).abs() < off, "{name}: {depth_m} and {}", alone.depth_m);
            assert!((pose.translation - alone.sensor_from_object.translation).length() < off * 1e-3, "{name}");
            if let PressRequest::Press(_, Goal::Force(goal_n)) = request {
                let force_n = force_at(pose);
                assert!((force_n / goal_n - 1.0).abs() < precision.max(1e-9), "{name}: {force_n} of {goal_n} N");
            }
        }
        // Only the presses to forces take part, and only until they are known.
        assert!(batches[0] == 3 && batches.iter().rev().is_sorted() && batches.len() < 20, "{name}: {batches:?}");
    }
}

/// The error is that of the first press that fails, whichever search ends first.
#[test]
fn the_first_press_that_fails_is_named() {
    let sensor = SensorSpec::find("uji-foam-14x6").unwrap().0.build(None).unwrap();
    let ball = ball(5e-3);
    let mut forces_at = |poses: &[Pose]| -> Result<Vec<f64>, GpuError> {
        Ok(poses.iter().map(|pose| 1e3 * (5e-3 - pose.translation.z)).collect())
    };
    let aside = Aim { at_m: [1.0, 0.0], ..Aim::default() };
    let mut requests =
        [(Aim::default(), 0.5), (Aim::default(), 1e5), (Aim::default(), 1.0), (aside, 1.0), (aside, -1.0)]
            .map(|(aim, force_n)| PressRequest::Press(aim, Goal::Force(force_n)));
    let mut message = |requests: &[PressRequest]| {
        final_poses(&sensor, &ball, requests, 0.0, &mut forces_at, &|_| true).unwrap_err().to_string()
    };
    let refused = message(&requests);
    assert!(refused.starts_with("press 1: ") && refused.contains("cannot carry 100000 N"), "{refused}");
    requests[1] = requests[0];
    let refused = message(&requests);
    assert!(refused.starts_with("press 3: ") && refused.contains("is not above sensor"), "{refused}");
    let mut too_deep =
        |_: &[Pose]| Err(GpuError::TooDeep { press: 1, name: "it".to_owned(), depth_mm: 2.0, max_mm: 1.0 });
    let requests = [requests[0], PressRequest::Press(Aim::default(), Goal::Depth(1e-3)), requests[2]];
    let refused = final_poses(&sensor, &ball, &requests, 0.0, &mut too_deep, &|_| true).unwrap_err().to_string();
    assert!(refused.starts_with("press 2: a depth of 2 mm"), "{refused}");
}
