//! Compares the layer and its camera on a GPU with the CPU.

use crate::gpu;
use dermis_geometry::shapes::{cuboid, indenters, sphere};
use dermis_geometry::{HeightField, TriMesh};
use dermis_geometry::{Pose, Quat, Twist, Vec3};
use dermis_gpu::LayerBatch;
use dermis_gpu::layer::{LayerTouches, Outputs};
use dermis_sensor::SkinSpec;
use dermis_sensor::optics::{CalibratedSpec, CameraSpec, LightSpec, Optics, OpticsSpec};
use dermis_sensor::{Sensor, SensorSource, SensorSpec};
use dermis_skin::layer::{IndenterHeightMap, Ply, Poisson};
use dermis_skin::{Layer, LayerParameters, SkinError};
use dermis_skin::{Motion, Object, Skin, Target, Touch};

pub fn preset(name: &str) -> SensorSpec {
    SensorSpec::find(name).unwrap().0
}

/// The sensor with steps in one increment, as on a GPU.
pub fn at_once(sensor: &Sensor) -> Sensor {
    let parameters = sensor.skin_as::<Layer>().unwrap().parameters().clone();
    sensor.with_skin(Layer::new(LayerParameters { max_increments: 1, ..parameters }).unwrap())
}

/// A preset with a much smaller solver tolerance, so that remaining errors of the solvers do not dominate the
/// difference, and with steps in one increment.
pub fn precise(name: &str) -> Sensor {
    let spec = preset(name);
    let SkinSpec::Layer(skin) = &spec.skin else { panic!("{name} has no layer") };
    let mut parameters = skin.parameters(name, &spec.surface).unwrap();
    (parameters.contact.tolerance, parameters.max_increments) = (1e-7, 1);
    spec.build(None).unwrap().with_skin(Layer::new(parameters).unwrap())
}

fn placed(turn: [f64; 3], at_mm: [f64; 3]) -> Pose {
    let turn = Quat::from_rotation_x(turn[0]) * Quat::from_rotation_y(turn[1]) * Quat::from_rotation_z(turn[2]);
    Pose::new(turn, Vec3::from_array(at_mm) * 1e-3)
}

/// Round, sharp, flat, tilted, near the rim, barely in contact and without contact.
fn cases() -> Vec<(&'static str, TriMesh, Vec<Pose>)> {
    let ball = vec![
        placed([0.3, 0.0, 0.5], [0.3, 0.1, 3.0]),
        placed([0.0, 1.0, 0.0], [-2.2, 3.1, 3.6]),
        placed([0.0; 3], [0.0, 0.0, 3.998]),
        placed([0.0; 3], [0.0, 0.0, 4.2]),
        placed([2.0, 0.0, 0.0], [8.5, -9.0, 3.5]),
        placed([2.0, 0.0, 0.0], [40.0, 0.0, 3.5]),
    ];
    let moon = vec![placed([0.0, 0.0, 0.5], [0.3, 0.1, -0.5]), placed([0.05, 0.03, 2.0], [-1.0, 0.5, -0.4])];
    let block = vec![placed([0.1, 0.0, 0.3], [0.0, 0.0, 1.9]), placed([0.0; 3], [1.0, -0.6, 1.8])];
    vec![
        ("ball", sphere(4e-3, 0.25e-3).unwrap(), ball),
        ("moon", indenters::find("moon").unwrap(), moon),
        ("block", cuboid(Vec3::new(6e-3, 3e-3, 4e-3)).unwrap(), block),
    ]
}

fn settled(sensor: &Sensor, object: &Object, pose: Pose) -> Touch {
    let target = Target::at_rest(object, pose);
    sensor.skin().settle(&sensor.skin().rest(), &Motion { targets: &[target] }).unwrap().0
}

/// Mean pressure (Pa) of each cell: its normal force by its whole area, of which a facet under a rim is a part.
fn pressures(touch: &Touch, layer: &Layer) -> Vec<f64> {
    let grid = layer.grid();
    let mut all = vec![0.0; grid.rows * grid.cols];
    for facet in &touch.facets {
        let at = facet.at();
        let row = 0.5 * (grid.rows as f64 - 1.0) - at.y / grid.cell_m;
        let col = at.x / grid.cell_m + 0.5 * (grid.cols as f64 - 1.0);
        all[row.round() as usize * grid.cols + col.round() as usize] =
            facet.normal_force() / (grid.cell_m * grid.cell_m);
    }
    all
}

fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |most, value| most.max(value.abs()))
}

/// Results on the host.
struct Came {
    images: Vec<u8>,
    pressure: Vec<f32>,
    surface: Vec<f32>,
    forces: Vec<f64>,
    outside: Vec<f64>,
    wrench: Vec<f64>,
    path_errors: Vec<f64>,
}

fn fetched(touches: &LayerTouches) -> Came {
    Came {
        images: touches.images.download().unwrap(),
        pressure: touches.pressure.download().unwrap(),
        surface: touches.surface.download().unwrap(),
        forces: touches.forces.download().unwrap(),
        outside: touches.outside.download().unwrap(),
        wrench: touches.wrench.download().unwrap(),
        path_errors: touches.efforts.iter().map(|effort| effort.path_error).collect(),
    }
}

fn vectors(numbers: &[f64]) -> Vec<Vec3> {
    numbers.chunks_exact(3).map(Vec3::from_slice).collect()
}

/// Pressure, surface, taxels and wrench of every preset with a layer, with friction and without.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn touches_are_those_of_the_cpu() {
    let gpu = gpu();
    let (mut worst_pressure, mut worst_surface, mut worst_force) = (0.0f64, 0.0f64, 0.0f64);
    for name in ["gelsight", "gelsight-mini", "wts0614-layer"] {
        let sensor = precise(name);
        let layer = sensor.skin_as::<Layer>().unwrap();
        for (shape, mesh, poses) in cases() {
            for mu in [None, Some(0.0), Some(1.5)] {
                let object = Object { mu, ..Object::new(mesh.clone()) };
                let batch = LayerBatch::new(&gpu, &sensor, &object).unwrap();
                let came = fetched(&batch.press(&poses, Outputs::ALL).unwrap());
                let cells = layer.grid().rows * layer.grid().cols;
                for (i, &pose) in poses.iter().enumerate() {
                    let touch = settled(&sensor, &object, pose);
                    let (reading, truth) = (sensor.read(&touch), pressures(&touch, layer));
                    let peak = largest(truth.iter().copied()).max(1.0);
                    let own = &came.pressure[i * cells..(i + 1) * cells];
                    let off = largest(truth.iter().zip(own).map(|(a, &b)| a - f64::from(b))) / peak;
                    let surface = touch.surface.as_ref().unwrap();
                    let deepest = largest(surface.values.iter().map(|value| value.length())).max(1e-9);
                    let moved = came.surface[3 * i * cells..3 * (i + 1) * cells].chunks_exact(3);
                    let gap = |(a, b): (&Vec3, &[f32])| {
                        (*a - Vec3::new(b[0].into(), b[1].into(), b[2].into())).length() / deepest
                    };
                    let surface_off = largest(surface.values.iter().zip(moved).map(gap));
                    let taxels = reading.forces_newton.len();
                    let forces = vectors(&came.forces[3 * i * taxels..3 * (i + 1) * taxels]);
                    let net = touch.on_sensor.force.length().max(1e-6);
                    let outside = Vec3::from_slice(&came.outside[3 * i..]);
                    let force_gap = |(a, b): (&Vec3, &Vec3)| (*a - *b).length() / net;
                    let force_off = largest(reading.forces_newton.iter().zip(&forces).map(force_gap))
                        .max((reading.outside_newton - outside).length() / net)
                        .max((touch.on_sensor.force - Vec3::from_slice(&came.wrench[6 * i..])).length() / net)
                        .max(
                            (touch.on_sensor.torque - Vec3::from_slice(&came.wrench[6 * i + 3..])).length()
                                / net
                                / 1e-2,
                        );
                    assert!(off < 1e-4, "{name}, {shape} {i}, mu {mu:?}: pressure {off:e}");
                    assert!(surface_off < 1e-5, "{name}, {shape} {i}, mu {mu:?}: surface {surface_off:e}");
                    assert!(force_off < 1e-5, "{name}, {shape} {i}, mu {mu:?}: forces {force_off:e}");
                    worst_pressure = worst_pressure.max(off);
                    worst_surface = worst_surface.max(surface_off);
                    worst_force = worst_force.max(force_off);
                }
            }
        }
    }
    println!("worst: pressure {worst_pressure:e}, surface {worst_surface:e}, forces {worst_force:e}");
}

/// The presets' own tolerance, with transforms in single precision, against much more accurate solutions: the
/// difference is within the tolerance.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn single_precision_is_enough_for_its_tolerance() {
    let gpu = gpu();
    let mut worst = 0.0f64;
    for name in ["gelsight", "gelsight-mini", "wts0614-layer"] {
        let (sensor, truth) = (preset(name).build(None).unwrap(), precise(name));
        let layer = truth.skin_as::<Layer>().unwrap();
        let cells = layer.grid().rows * layer.grid().cols;
        for (shape, mesh, poses) in cases() {
            let object = Object::new(mesh);
            let batch = LayerBatch::new(&gpu, &sensor, &object).unwrap();
            let came = fetched(&batch.press(&poses, Outputs::ALL).unwrap());
            for (i, &pose) in poses.iter().enumerate() {
                let touch = settled(&truth, &object, pose);
                let pressure = pressures(&touch, layer);
                let peak = largest(pressure.iter().copied()).max(1.0);
                let own = &came.pressure[i * cells..(i + 1) * cells];
                let off = largest(pressure.iter().zip(own).map(|(a, &b)| a - f64::from(b))) / peak;
                let force = (touch.on_sensor.force - Vec3::from_slice(&came.wrench[6 * i..])).length();
                let force_off = force / touch.on_sensor.force.length().max(1e-6);
                assert!(off < 1e-3 && force_off < 1e-4, "{name}, {shape} {i}: pressure {off:e}, force {force_off:e}");
                worst = worst.max(off);
            }
        }
    }
    println!("worst in single precision: pressure {worst:e}");
}

/// The tests of the CPU's layer, whose objects are functions: Hertz, a flat punch, stacks, roughness, thin and
/// incompressible layers; up to 384 cells along a side, and regions too large for shared memory.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn layers_under_heights_are_those_of_the_cpu() {
    let gpu = gpu();
    let ply = |thickness_m: f64, nu: f64| {
        let poisson = if nu == 0.5 { Poisson::Incompressible } else { Poisson::Ratio(nu) };
        Ply { thickness_m, young_pa: 2e5, poisson }
    };
    type Height = Box<dyn Fn(f64, f64) -> f64>;
    let of = |height: fn(f64, f64) -> f64| -> Height { Box::new(height) };
    let cases: Vec<(&str, Vec<Ply>, f64, usize, Height)> = vec![
        ("hertz", vec![ply(4.0, 0.3)], 8e-3, 256, of(|x, y| (x * x + y * y) / 8e-3 - 2.5e-4)),
        ("hertz aside", vec![ply(4.0, 0.3)], 8e-3, 256, of(|x, y| ((x - 2.2e-3).powi(2) + y * y) / 8e-3 - 2.5e-4)),
        (
            "wide punch",
            vec![ply(1e-3, 0.3)],
            48e-3,
            192,
            of(|x, y| if x.hypot(y) <= 20e-3 { -1e-5 } else { f64::INFINITY }),
        ),
        ("thin", vec![ply(0.6e-3, 0.0)], 44e-3, 384, of(|x, y| (x * x + 2.0 * y * y) / 0.02 - 1e-4)),
        ("thin and incompressible", vec![ply(0.6e-3, 0.5)], 44e-3, 384, of(|x, y| (x * x + 2.0 * y * y) / 0.02 - 1e-4)),
        (
            "rough",
            vec![ply(2e-3, 0.5)],
            24e-3,
            96,
            of(|x, y| (x * x + y * y) / 0.02 + 2e-5 * (3e3 * x).sin() * (2e3 * y).cos() - 4e-4),
        ),
        (
            "coated",
            vec![Ply { young_pa: 2e6, ..ply(0.2e-3, 0.45) }, ply(2e-3, 0.45)],
            16e-3,
            128,
            of(|x, y| (x * x + y * y) / 0.02 - 2e-4),
        ),
    ];
    let plate = preset("gelsight").build(None).unwrap();
    for (name, plies, side_m, cells, height) in cases {
        for mu in [0.0, 0.5] {
            let mut parameters = LayerParameters::new(plies[0], [side_m; 2], side_m / cells as f64);
            parameters.plies = plies.clone();
            (parameters.contact.mu, parameters.contact.tolerance, parameters.max_increments) = (mu, 1e-7, 1);
            let layer = Layer::new(parameters).unwrap();
            let field = HeightField::from_fn(layer.grid(), &height);
            let indenter = IndenterHeightMap::of_heights(&field);
            let truth = layer.solve_under(&layer.rest(), &indenter, &Twist::ZERO, None).unwrap();
            let mut whole = vec![0.0; cells * cells];
            truth.region.paste(&truth.tractions.parts[2], &mut whole, cells);
            let sensor = plate.with_skin(layer);
            let batch = LayerBatch::new(&gpu, &sensor, &Object::new(sphere(1e-3, 1e-3).unwrap())).unwrap();
            let outputs = Outputs { images: false, ..Outputs::ALL };
            let came = fetched(&batch.press_height_maps(&field.heights_m, outputs).unwrap());
            let (peak, deepest) = (largest(whole.iter().copied()), largest(truth.surface_m[2].iter().copied()));
            let off = largest(whole.iter().zip(&came.pressure).map(|(a, &b)| a - f64::from(b))) / peak;
            let sunk = truth.surface_m[2].iter().zip(came.surface.chunks_exact(3));
            let surface_off = largest(sunk.map(|(a, b)| a + f64::from(b[2]))) / deepest;
            println!("{name}, mu {mu}: pressure {off:e}, surface {surface_off:e}");
            let (own, error) = (came.path_errors[0], truth.effort.path_error);
            assert!((own - error).abs() < 1e-3 * error.max(1e-6), "{name}, mu {mu}: path error {own} for {error}");
            assert!(off < 1e-4, "{name}, mu {mu}: pressure {off:e}");
            assert!(surface_off < 1e-5, "{name}, mu {mu}: surface {surface_off:e}");
        }
    }
}

/// The sensor with the camera, light and markers of another sensor.
pub fn seen_by(sensor: &Sensor, spec: &SensorSpec, change: impl Fn(CameraSpec) -> CameraSpec) -> Sensor {
    let optics = OpticsSpec {
        camera: change(spec.camera.clone().unwrap()),
        light: spec.light.clone().unwrap_or_default(),
        markers: spec.markers.clone(),
    };
    sensor.with_optics(Optics::new(&optics, None).unwrap())
}

/// The DIGIT without smoothing, and with shadows that add to the light.
pub fn plain_digit() -> SensorSpec {
    let spec = preset("digit");
    let Some(LightSpec::Calibrated(mut light)) = spec.light else { panic!("{} has no calibrated light", spec.name) };
    light.shadow.iter_mut().for_each(|shadow| shadow.replaces = false);
    let camera = spec.camera.map(|camera| CameraSpec { smoothing: None, ..camera });
    SensorSpec { camera, light: Some(LightSpec::Calibrated(light)), ..spec }
}

/// The same light, proportional to the image without contact.
pub fn proportional(spec: SensorSpec) -> SensorSpec {
    let Some(LightSpec::Calibrated(light)) = spec.light else { panic!("{} has no calibrated light", spec.name) };
    SensorSpec { light: Some(LightSpec::Calibrated(CalibratedSpec { proportional: true, ..light })), ..spec }
}

/// Calibrated light, proportional or not, lamps, markers, shadows that add to the light or replace it, a smooth surface, a near camera, a
/// mirrored one and one that sees beyond the gel: all pixels agree within one level.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn images_are_those_of_the_cpu() {
    let gpu = gpu();
    let build = |name: &str| preset(name).build(None).unwrap();
    let gelsight = build("gelsight");
    let small = small_gelsight();
    let whole = |camera: CameraSpec| camera;
    let sensors = [
        ("gelsight", gelsight.clone()),
        ("gelsight 320 x 240", small),
        ("gelsight-mini", build("gelsight-mini")),
        ("gelsight-dots", build("gelsight-dots")),
        ("digit", build("digit")),
        ("digit's camera on a gelsight", seen_by(&gelsight, &preset("digit"), whole)),
        ("shadows that add", seen_by(&gelsight, &plain_digit(), whole)),
        ("proportional light and replacing shadows", seen_by(&gelsight, &proportional(preset("digit")), whole)),
        (
            "smooth beyond the gel",
            seen_by(&gelsight, &preset("digit"), |camera| CameraSpec { width: 400, height: 400, ..camera }),
        ),
        ("proportional light", seen_by(&gelsight, &proportional(plain_digit()), whole)),
        ("mirrored", seen_by(&gelsight, &plain_digit(), |camera| CameraSpec { mirror: true, exposure: 1.3, ..camera })),
        (
            "beyond the gel",
            seen_by(&gelsight, &plain_digit(), |camera| CameraSpec { width: 400, height: 400, ..camera }),
        ),
        (
            "coarse",
            seen_by(&gelsight, &preset("tacchi"), |camera| CameraSpec {
                width: 24,
                height: 18,
                pixel: dermis_geometry::quantity::Length::new(0.7e-3),
                ..camera
            }),
        ),
    ];
    for (name, sensor) in sensors {
        let sensor = at_once(&sensor);
        for (shape, mesh, poses) in cases() {
            let object = Object::new(mesh);
            let batch = LayerBatch::new(&gpu, &sensor, &object).unwrap();
            let [height, width] = batch.image_size().unwrap();
            let came = fetched(&batch.press(&poses, Outputs::IMAGES).unwrap());
            let mut worst = 0;
            for (i, &pose) in poses.iter().enumerate() {
                let truth = sensor.render(&settled(&sensor, &object, pose), 0).unwrap().image.to_rgb8();
                let own = &came.images[i * 3 * height * width..(i + 1) * 3 * height * width];
                let off = truth.pixels().as_flattened().iter().zip(own).map(|(&a, &b)| a.abs_diff(b));
                let count = off.clone().filter(|&off| off > 1).count();
                worst = worst.max(off.max().unwrap_or(0));
                assert!(count == 0, "{name}, {shape} {i}: {count} of {} levels are off by up to {worst}", own.len());
            }
            println!("{name}, {shape}: off by {worst} at most");
        }
    }
}

/// Two runs give the same bytes, which do not depend on the other presses of the batch or on its size.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_same_poses_give_the_same_bytes() {
    let gpu = gpu();
    let sensor = small_gelsight();
    let ball = Object::new(sphere(4e-3, 0.3e-3).unwrap());
    let batch = LayerBatch::new(&gpu, &sensor, &ball).unwrap();
    // A ball of 4 mm radius, rotated, 0.3 to 1.2 mm deep, within the central 8 mm.
    let pose = |i: i32| {
        let t = f64::from(i);
        placed([t, 0.0, 2.0 * t], [4.0 * (0.7 * t).sin(), 4.0 * (1.3 * t).cos(), 3.25 + 0.45 * (2.1 * t).sin()])
    };
    let poses: Vec<Pose> = (0..700).map(pose).collect();
    let one = fetched(&batch.press(&poses, Outputs::ALL).unwrap());
    let other = fetched(&batch.press(&poses, Outputs::ALL).unwrap());
    let alone = fetched(&batch.press(&poses[695..696], Outputs::ALL).unwrap());
    assert!(one.images == other.images && one.pressure == other.pressure && one.surface == other.surface);
    assert!(one.forces == other.forces && one.outside == other.outside && one.wrench == other.wrench);
    let each = one.images.len() / poses.len();
    assert!(one.images[695 * each..696 * each] == alone.images[..], "an image depends on the batch");
    assert_eq!(one.wrench[695 * 6..696 * 6], alone.wrench[..]);
}

/// Presses that are too deep or not finite are reported by their index in the batch, with the CPU's message.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn impossible_presses_are_refused_by_number() {
    let gpu = gpu();
    let sensor = preset("gelsight").build(None).unwrap();
    let ball = Object::new(sphere(4e-3, 0.5e-3).unwrap());
    let batch = LayerBatch::new(&gpu, &sensor, &ball).unwrap();
    let good = placed([0.0; 3], [0.0, 0.0, 3.5]);
    let deep = placed([0.0; 3], [0.0, 0.0, 0.5]);
    let message = batch.press(&[good, deep], Outputs::IMAGES).unwrap_err().to_string();
    assert!(message.contains("press 1") && message.contains("gelsight") && message.contains("3.2 mm"), "{message}");
    let target = Target::at_rest(&ball, deep);
    let refusal = sensor.skin().settle(&sensor.skin().rest(), &Motion { targets: &[target] }).unwrap_err();
    assert!(matches!(refusal, SkinError::TooDeep { .. }), "{refusal}");
    let none = batch.press(&[], Outputs::ALL).unwrap();
    assert_eq!(none.count, 0);
    let nowhere = Pose::from_translation(Vec3::new(f64::NAN, 0.0, 0.0));
    let message = batch.press(&[good, good, nowhere], Outputs::IMAGES).unwrap_err().to_string();
    assert!(message.contains("pose 2") && message.contains("not finite"), "{message}");
}

/// The preset `gelsight` with half as many pixels along each side: 320 × 240.
pub fn small_gelsight() -> Sensor {
    let source = SensorSource { preset: Some("gelsight".to_owned()), resolution: Some(0.5), ..SensorSource::default() };
    source.resolve("gelsight", None).unwrap().0.build(None).unwrap()
}
