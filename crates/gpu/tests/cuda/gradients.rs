//! Compares gradients of presses on a layer on a GPU with `Sensor::vjp`.

use crate::gpu;
use crate::layer::{at_once, plain_digit, precise, preset, proportional, seen_by, small_gelsight};
use dermis_geometry::quantity::Length;
use dermis_geometry::shapes::indenters;
use dermis_geometry::{Pose, Primitive, Quat, Random, Vec3, Wrench};
use dermis_gpu::array::Poses;
use dermis_gpu::layer::{LayerCotangents, Outputs};
use dermis_gpu::{Gpu, LayerBatch};
use dermis_sensor::optics::{CameraSpec, LightSpec, ShadowSpec};
use dermis_sensor::{Cotangents, Gradients, Sensor, press_to_pose};
use dermis_skin::Object;
use std::sync::Arc;

fn object(primitive: Primitive) -> Object {
    Object::of_primitive(primitive, 0.5e-3).unwrap()
}

/// Objects, with the height (m) of their origin over their lowest point at any of the rotations of [`poses`].
fn objects() -> Vec<(&'static str, Object, f64)> {
    let mm = |x: f64, y: f64, z: f64| Vec3::new(x, y, z) * 1e-3;
    let moon = Object::new(indenters::find("moon").unwrap());
    vec![
        ("sphere", object(Primitive::Sphere { radius_m: 4e-3 }), 4e-3),
        ("ellipsoid", object(Primitive::Ellipsoid { semi_axes_m: mm(5.0, 4.0, 3.0) }), 3e-3),
        ("capsule", object(Primitive::Capsule { radius_m: 2e-3, half_length_m: 3e-3 }), 5e-3),
        ("cuboid", object(Primitive::Cuboid { half_m: mm(3.0, 2.0, 2.0) }), 2e-3),
        ("cylinder", object(Primitive::Cylinder { radius_m: 2.5e-3, half_length_m: 2e-3 }), 2e-3),
        ("moon", moon, 0.0),
    ]
}

/// Random poses with contact, slightly rotated.
fn poses(height_m: f64, count: usize, seed: u64) -> Vec<Pose> {
    let mut random = Random::new(seed);
    let mut pose = || {
        let around = Quat::from_rotation_z(random.between(-3.0, 3.0));
        let tilt = Quat::from_rotation_x(random.between(-0.1, 0.1)) * Quat::from_rotation_y(random.between(-0.1, 0.1));
        let (x, y) = (random.between(-4e-3, 4e-3), random.between(-4e-3, 4e-3));
        Pose::new(tilt * around, Vec3::new(x, y, height_m - random.between(0.4e-3, 1.0e-3)))
    };
    (0..count).map(|_| pose()).collect()
}

/// The middle of an image.
fn half(camera: CameraSpec) -> CameraSpec {
    CameraSpec { width: camera.width / 2, height: camera.height / 2, ..camera }
}

/// What a scalar depends on.
#[derive(Clone, Copy, Debug)]
enum Of {
    Wrench,
    Forces,
    Image,
    Markers,
}

/// Random derivatives by the results of a press: white noise on wrench, taxels and markers; a smooth wave on images, since the sums of
/// noise over pixels nearly cancel.
fn cotangents(sensor: &Sensor, of: Of, random: &mut Random) -> Cotangents {
    let mut by = Cotangents::default();
    let mut vector = |scale: f64| Vec3::new(random.normal(), random.normal(), random.normal()) * scale;
    match of {
        Of::Wrench => by.on_sensor = Wrench { force: vector(1.0), torque: vector(300.0) },
        Of::Forces => by.forces = (0..sensor.taxels().len()).map(|_| vector(1.0)).collect(),
        Of::Image => {
            let camera = sensor.optics().unwrap().camera();
            let waves = [vector(1.0), vector(1.0), vector(1.0)];
            by.image = waves.map(|wave| {
                let level = |i: usize| {
                    let (x, y) = ((i % camera.width) as f64 * 0.05, (i / camera.width) as f64 * 0.05);
                    (wave.x * x + wave.y * y + 3.0 * wave.z).sin()
                };
                // The levels of the GPU are of single precision.
                (0..camera.width * camera.height).map(|i| f64::from(level(i) as f32)).collect()
            });
        }
        Of::Markers => {
            let count = sensor.optics().unwrap().markers().unwrap().points_m().len();
            by.markers = (0..count).map(|_| [random.normal(), random.normal()]).collect();
        }
    }
    by
}

/// The largest difference of two gradients, by the largest derivative of the same kind: positions, rotations, sizes.
fn difference(own: &Gradients, truth: &Gradients) -> f64 {
    let off = |own: &[f64], truth: &[f64], scale: f64| {
        own.iter().zip(truth).map(|(a, b)| (a - b).abs() / scale.max(1e-300)).fold(0.0, f64::max)
    };
    let largest = |values: &[f64]| values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let (position, rotation) = (truth.position.to_array(), truth.rotation.to_array());
    // A rotation by 1 rad moves a point of these objects by millimetres.
    let at = largest(&position);
    let mut worst = off(&own.position.to_array(), &position, at).max(off(
        &own.rotation.to_array(),
        &rotation,
        largest(&rotation).max(1e-3 * at),
    ));
    for (name, values) in own.parameters() {
        let truth = truth.get(name).unwrap_or_else(|| panic!("the CPU has no {name}"));
        let moves = if name == "scale" { 1e-3 } else { 1.0 };
        // Young's modulus does not move anything.
        let scale = if name == "young" { 0.0 } else { moves * at };
        worst = worst.max(off(values, truth, largest(truth).max(scale)));
    }
    worst
}

/// The differences of random presses with a coefficient of friction, in order.
fn differences(gpu: &Arc<Gpu>, sensor: &Sensor, object: &Object, mu: f64, poses: &[Pose], of: Of) -> Vec<f64> {
    let object = &Object { mu: Some(mu), ..object.clone() };
    let mut random = Random::new(5);
    let all: Vec<Cotangents> = poses.iter().map(|_| cotangents(sensor, of, &mut random)).collect();
    let batch = LayerBatch::new(gpu, sensor, object).unwrap();
    let by = LayerCotangents::of_host(gpu, sensor, &all).unwrap();
    let found = batch.vjp(&Poses::of_host(gpu, poses).unwrap(), &by).unwrap();
    assert_eq!(found.len(), poses.len());
    let mut off: Vec<f64> = (0..poses.len())
        .map(|i| {
            let pressed = press_to_pose(sensor, object, &poses[i]).unwrap();
            difference(&found[i], &sensor.vjp(object, &pressed, &all[i]).unwrap())
        })
        .collect();
    off.sort_by(f64::total_cmp);
    off
}

/// Prints the largest and the median of ordered differences.
fn say(what: &str, off: &[f64]) {
    println!("{what}: {:e} at most, median {:e}", off[off.len() - 1], off[off.len() / 2]);
}

/// Requires a share of the differences to be below 1e-4. Derivatives are one-sided where a set changes: cells in contact, cells that slip, pixels at
/// the limit of their light or at the edge of a marker, and points that cast a shadow. Rounding puts few presses on the other side.
fn require(share: f64, off: &[f64]) {
    let close = off.iter().filter(|&&off| off < 1e-4).count();
    println!("{close} of {} within 1e-4", off.len());
    assert!(close as f64 >= share * off.len() as f64, "{close} of {}", off.len());
}

/// Wrench and taxels of every kind of object, with an accurate solution: the same cells touch on both sides.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gradients_of_forces_are_those_of_the_cpu() {
    let gpu = gpu();
    let sensor = precise("gelsight");
    let mut all = Vec::new();
    for (name, object, height_m) in objects() {
        for of in [Of::Wrench, Of::Forces] {
            let off = differences(&gpu, &sensor, &object, 0.0, &poses(height_m, 16, 3), of);
            say(&format!("{name}, {of:?}"), &off);
            all.extend(off);
        }
    }
    require(1.0, &all);
}

/// Images and markers: calibrated light, proportional or not, with shadows that add to it or replace it, a smooth surface, lamps without
/// shadows, a near camera, a mirrored one and one that sees beyond the gel.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gradients_of_images_are_those_of_the_cpu() {
    let gpu = gpu();
    let gelsight = precise("gelsight");
    let cameras = [
        ("gelsight", seen_by(&gelsight, &preset("gelsight"), half)),
        ("gelsight-mini", seen_by(&gelsight, &preset("gelsight-mini"), half)),
        ("dots", seen_by(&gelsight, &preset("gelsight-dots"), half)),
        ("digit", seen_by(&gelsight, &preset("digit"), |camera| camera)),
        ("shadows that add", seen_by(&gelsight, &plain_digit(), |camera| camera)),
        ("proportional", seen_by(&gelsight, &proportional(preset("digit")), |camera| camera)),
        (
            "mirrored",
            seen_by(&gelsight, &preset("digit"), |camera| CameraSpec { mirror: true, exposure: 1.3, ..camera }),
        ),
        (
            "beyond the gel",
            seen_by(&gelsight, &preset("digit"), |camera| CameraSpec { width: 400, height: 400, ..camera }),
        ),
        ("lamps", seen_by(&gelsight, &preset("tacchi"), half)),
    ];
    let mut all = Vec::new();
    for (camera, sensor) in &cameras {
        for (name, object, height_m) in objects().into_iter().take(4) {
            let both = if *camera == "dots" { &[Of::Image, Of::Markers][..] } else { &[Of::Image][..] };
            for &of in both {
                let off = differences(&gpu, sensor, &object, 0.0, &poses(height_m, 8, 4), of);
                say(&format!("{camera}, {name}, {of:?}"), &off);
                all.extend(off);
            }
        }
    }
    require(0.95, &all);
}

/// With friction, at constant sets of cells that stick and slip, of the press in one increment.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gradients_with_friction_are_those_of_the_cpu() {
    let gpu = gpu();
    let sensor = seen_by(&precise("gelsight"), &preset("gelsight"), half);
    let mut all = Vec::new();
    for (name, object, height_m) in objects() {
        for of in [Of::Wrench, Of::Forces, Of::Image] {
            let off = differences(&gpu, &sensor, &object, 0.4, &poses(height_m, 12, 8), of);
            say(&format!("{name}, friction, {of:?}"), &off);
            all.extend(off);
        }
    }
    require(0.95, &all);
}

/// With the presets' own tolerance of 1e-5 transforms are in single precision.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gradients_in_single_precision_are_close() {
    let gpu = gpu();
    let sensor = at_once(&preset("gelsight").build(None).unwrap());
    let (_, ball, height_m) = objects().swap_remove(0);
    let mut all = Vec::new();
    for of in [Of::Wrench, Of::Forces, Of::Image] {
        for mu in [0.0, 0.4] {
            let off = differences(&gpu, &sensor, &ball, mu, &poses(height_m, 16, 6), of);
            say(&format!("single precision, mu {mu}, {of:?}"), &off);
            all.extend(off);
        }
    }
    require(0.8, &all);
}

/// A press has the same gradient alone and among 4,096, to the rounding of sums in another order.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gradients_do_not_depend_on_the_batch() {
    let gpu = gpu();
    let sensor = small_gelsight();
    let (_, ball, height_m) = objects().swap_remove(0);
    let places = poses(height_m, 4096, 9);
    for mu in [0.0, 0.6] {
        let batch = LayerBatch::new(&gpu, &sensor, &Object { mu: Some(mu), ..ball.clone() }).unwrap();
        let gradients = |places: &[Pose]| {
            let poses = Poses::of_host(&gpu, places).unwrap();
            let levels = batch.press_on_device(&poses, Outputs { levels: true, ..Outputs::NONE }).unwrap().levels;
            let by = LayerCotangents { levels, ..LayerCotangents::none(&gpu).unwrap() };
            let clock = std::time::Instant::now();
            let found = batch.vjp(&poses, &by).unwrap();
            println!("mu {mu}: {} gradients in {:.1} ms", places.len(), 1e3 * clock.elapsed().as_secs_f64());
            found
        };
        gradients(&places);
        let all = gradients(&places);
        for i in [0, 1234, 4095] {
            let off = difference(&all[i], &gradients(&places[i..=i])[0]);
            assert!(off < 1e-5, "press {i}, mu {mu}: {off:e}");
        }
    }
}

/// Objects without contact have derivatives of zero; shadows of lamps, other sizes and NaN are refused in one sentence.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gradients_that_do_not_exist_are_refused() {
    let gpu = gpu();
    let sensor = preset("gelsight").build(None).unwrap();
    let (_, ball, height_m) = objects().swap_remove(0);
    let batch = LayerBatch::new(&gpu, &sensor, &ball).unwrap();
    let away = Poses::of_host(&gpu, &[Pose::from_translation(Vec3::new(0.0, 0.0, 2.0 * height_m))]).unwrap();
    let mut by = LayerCotangents::none(&gpu).unwrap();
    by.wrench = gpu.upload(&[1.0; 6]).unwrap();
    let none = batch.vjp(&away, &by).unwrap();
    assert_eq!((none[0].position, none[0].rotation, none[0].get("radius")), (Vec3::ZERO, Vec3::ZERO, Some(&[0.0][..])));
    by.wrench = gpu.upload(&[1.0; 5]).unwrap();
    let message = batch.vjp(&away, &by).unwrap_err().to_string();
    assert!(message.contains("the wrench has 5 values and 1 presses have 6"), "{message}");
    by.wrench = gpu.upload(&[0.0, 0.0, f64::NAN, 0.0, 0.0, 0.0]).unwrap();
    let message = batch.vjp(&away, &by).unwrap_err().to_string();
    assert!(message.contains("the wrench is not finite at index 2"), "{message}");
    let mut lamps = preset("tacchi");
    let Some(LightSpec::Phong(light)) = &mut lamps.light else { panic!("{} has no lamps", lamps.name) };
    light.shadow = Some(ShadowSpec { strength: 0.5, softness: Length::new(0.1e-3) });
    let batch = LayerBatch::new(&gpu, &seen_by(&sensor, &lamps, half), &ball).unwrap();
    let [height, width] = batch.image_size().unwrap();
    by = LayerCotangents { levels: gpu.zeros(3 * height * width).unwrap(), ..LayerCotangents::none(&gpu).unwrap() };
    let message = batch.vjp(&away, &by).unwrap_err().to_string();
    assert!(message.contains("shadows") && message.contains("gelsight"), "{message}");
}
