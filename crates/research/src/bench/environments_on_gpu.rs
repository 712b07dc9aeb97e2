//! Launches of many environments on a GPU: loads alone, with a response of all stages, and with parameters that differ.

use dermis::geometry::{Primitive, Random, Vec3};
use dermis::gpu::array::Arrays;
use dermis::gpu::environments::{Bindings, Element, Randomisation, RotationFormat, View};
use dermis::gpu::{DeviceBuffer, Environments, Gpu, GpuError, GpuObject};
use dermis::sensor::{Sensor, SensorSpec};
use dermis::skin::Object;
use std::collections::BTreeMap;
use std::slice::from_ref;
use std::sync::Arc;

/// Launches per run.
const LAUNCHES: usize = 50;
/// Number of runs; the median counts.
const RUNS: usize = 7;
const RADIUS_M: f64 = 0.010;

/// A plate of 40 mm with `n` × `n` taxels of one spring each.
fn plate(n: usize) -> String {
    let pitch_mm = 40.0 / n as f64;
    let each = 100.0 * pitch_mm * pitch_mm;
    format!(
        r#"
name = "plate"
contact_points = 1
[surface.grid]
rows = {n}
cols = {n}
pitch = "{pitch_mm} mm"
[skin]
kind = "springs"
stiffness = "{each} N/m"
damping = "{damping} N s/m"
max_penetration = "6 mm"
[skin.friction]
kind = "lugre"
sigma0 = "{each} N/m"
sigma1 = "{sliding} N s/m"
viscous = "{sliding} N s/m"
mu_static = 0.6
mu_dynamic = 0.5
stribeck_speed = "0.01 m/s"
[response]
quantised = true
spread = {{ sigma_taxels = 0.6, kernel = 3 }}
hysteresis = {{ fraction = 0.1 }}
creep = [{{ amplitude = 0.1, time = "1 s" }}]
ageing = {{ loss_by_use = 0.1, presses = 1e4, pressed_above = "1 mN", loss_by_time = 0.1, time = "1000 s" }}
gain = {{ gain_sd = 0.1, seed = 5 }}
threshold = {{ force = "0.1 mN", kind = "dead-band" }}
curve = {{ kind = "polynomial", coefficients = [1.0, -0.05], until = "2 N" }}
saturation = {{ force = "5 N" }}
crosstalk = {{ adjacent = 0.02 }}
noise = {{ sd = "0.1 mN", seed = 1 }}
faults = {{ dead = [3] }}
sampling = {{ rate = "200 Hz" }}
delay = {{ time = "4 ms" }}
"#,
        damping = 5e-3 * each,
        sliding = 1e-3 * each
    )
}

/// A gel of 64 × 64 cells with 9 × 7 markers, seen by a camera of 160 × 120 pixels.
const GEL: &str = r#"
name = "gel"
[surface.grid]
rows = 8
cols = 8
pitch = "2 mm"
[skin]
kind = "layer"
thickness = "4 mm"
young = "200 kPa"
poisson = 0.47
cell = "0.25 mm"
mu = 0.5
[camera]
width = 160
height = 120
pixel = "0.1 mm"
[light]
kind = "phong"
shininess = 5
background = { colour = [76.0, 76.0, 76.0] }
[[light.sources]]
azimuth = "90 deg"
elevation = "14 deg"
diffuse = [153.0, 100.0, 50.0]
specular = [12.0, 12.0, 12.0]
[[light.sources]]
azimuth = "210 deg"
elevation = "14 deg"
diffuse = [50.0, 150.0, 80.0]
specular = [12.0, 12.0, 12.0]
[markers]
radius = "0.2 mm"
colour = [25.0, 25.0, 28.0]
[markers.pattern.grid]
rows = 9
cols = 7
pitch = "1.5 mm"
"#;
/// A hydroelastic pad with as many taxels and bristles.
const PAD: &str = r#"
name = "pad"
[surface.grid]
rows = 8
cols = 8
pitch = "2 mm"
[skin]
kind = "hydroelastic"
thickness = "4 mm"
hydroelastic_modulus = "200 kPa"
[skin.friction]
kind = "lugre"
sigma0 = "3e8 Pa/m"
sigma1 = "1e4 Pa s/m"
viscous = "2e3 Pa s/m"
mu_static = 0.9
mu_dynamic = 0.6
stribeck_speed = "5 mm/s"
"#;
/// Environments of that gel, and radius (m) of the circles on which balls slide; they twist by one turn a circle.
const GELS: usize = 1024;
const CIRCLE_M: f64 = 1.5e-3;

/// Poses (w first) and velocities of all balls at one step of a circle of so many steps.
fn circling(step: usize, steps: usize, dt_s: f64) -> Vec<f32> {
    let mut rows = Vec::with_capacity(13 * GELS);
    for i in 0..GELS {
        let turn = std::f64::consts::TAU / steps as f64;
        let (start, angle) = (i as f64, turn * step as f64);
        let (radius_m, speed) = (CIRCLE_M, turn / dt_s);
        let (sine, cosine) = (angle + start).sin_cos();
        let depth_m = 0.3e-3 + 0.3e-3 * (i as f64 / GELS as f64);
        rows.extend([radius_m * cosine, radius_m * sine, 5e-3 - depth_m]);
        rows.extend([(0.5 * angle).cos(), 0.0, 0.0, (0.5 * angle).sin()]);
        rows.extend([-radius_m * sine * speed, radius_m * cosine * speed, 0.0, 0.0, 0.0, speed]);
    }
    rows.into_iter().map(|number| number as f32).collect()
}

/// What is bound besides poses and velocities of the balls, each with a row per environment.
struct Readings {
    taxels: DeviceBuffer<f32>,
    markers: Option<DeviceBuffer<f32>>,
    images: Option<DeviceBuffer<u8>>,
}

/// Steps of environments (1/s) in which objects slide on circles and twist.
fn circles_per_s(
    gpu: &Arc<Gpu>,
    environments: &mut Environments,
    speed_mm_s: f64,
    readings: &Readings,
) -> Result<f64, GpuError> {
    let dt_s = 2e-3;
    let steps = (std::f64::consts::TAU * CIRCLE_M * 1e3 / (speed_mm_s * dt_s)).round() as usize;
    let rows = (0..steps).map(|step| gpu.upload(&circling(step, steps, dt_s))).collect::<Result<Vec<_>, _>>()?;
    let mut times = Vec::new();
    for _ in 0..=RUNS {
        let timer = gpu.timer()?;
        for rows in &rows {
            let mut bindings = Bindings::new(dt_s);
            let view = |first: u64| View::new(rows.address() + 4 * first, &[13, 1], Element::F32);
            (bindings.object.position, bindings.object.rotation, bindings.object.twist) = (view(0), view(3), view(7));
            bindings.object.rotation_format = RotationFormat::QuaternionWFirst as i32;
            bindings.taxels = View::new(readings.taxels.address(), &[64, 1], Element::F32);
            if let Some(markers) = &readings.markers {
                bindings.markers = View::new(markers.address(), &[2 * 63, 2, 1], Element::F32);
            }
            if let Some(images) = &readings.images {
                bindings.image = View::new(images.address(), &[3 * 160 * 120, 3 * 160, 1], Element::U8);
            }
            // SAFETY: the arrays have a row per environment, on this GPU, and live until the work is done.
            #[allow(unsafe_code)]
            unsafe {
                environments.bind(bindings)?;
            }
            environments.launch(gpu.stream_handle())?;
        }
        times.push(timer.stop()? / steps as f64);
    }
    times.remove(0);
    times.sort_by(f64::total_cmp);
    Ok(GELS as f64 / times[RUNS / 2])
}

/// Steps (1/s) of gels, with markers, and with images too, of one that relaxes, and of hydroelastic pads under a block.
fn run_gels(gpu: &Arc<Gpu>, numbers: &mut BTreeMap<String, f64>) -> Result<(), GpuError> {
    let bad = |error: &dyn std::fmt::Display| GpuError::BadInput { reason: error.to_string() };
    let ball = Object::of_primitive(Primitive::Sphere { radius_m: 5e-3 }, 2e-3).map_err(|error| bad(&error))?;
    let ball = Arc::new(ball);
    let sensor = |text: &str| -> Result<Sensor, GpuError> {
        let spec = SensorSpec::parse("the gel of the benchmark", text).map_err(|error| bad(&error))?;
        spec.build(None).map_err(|error| bad(&error))
    };
    let relaxing = format!("{GEL}\n[[skin.relaxation]]\nratio = 0.5\ntime = \"0.1 s\"\n");
    let taxels = || gpu.zeros::<f32>(64 * GELS);
    for (speed_mm_s, text, label, has_images) in [
        (20.0, GEL, "markers", false),
        (20.0, GEL, "images", true),
        (100.0, GEL, "markers", false),
        (100.0, GEL, "images", true),
        (20.0, &relaxing, "relaxing_markers", false),
        (100.0, &relaxing, "relaxing_markers", false),
    ] {
        let mut environments = Environments::with_layer(gpu, &sensor(text)?, from_ref(&ball), GELS)?;
        let markers = Some(gpu.zeros(2 * 63 * GELS)?);
        let images = has_images.then(|| gpu.zeros(3 * 160 * 120 * GELS)).transpose()?;
        let readings = Readings { taxels: taxels()?, markers, images };
        let per_s = circles_per_s(gpu, &mut environments, speed_mm_s, &readings)?;
        numbers.insert(format!("gels_{GELS}_at_{speed_mm_s}_mm_s_{label}_per_s"), per_s);
    }
    let arrays = Arc::new(Arrays::new(gpu, &sensor(PAD)?)?);
    let cuboid = Primitive::Cuboid { half_m: Vec3::new(3e-3, 3e-3, 5e-3) };
    let block = Object::of_primitive(cuboid, 2e-3).map_err(|error| bad(&error))?;
    let block = Arc::new(GpuObject::new(gpu, &block)?);
    for speed_mm_s in [20.0, 100.0] {
        let mut environments = Environments::on_gpu(&arrays, from_ref(&block), GELS)?;
        let readings = Readings { taxels: taxels()?, markers: None, images: None };
        let per_s = circles_per_s(gpu, &mut environments, speed_mm_s, &readings)?;
        numbers.insert(format!("pads_{GELS}_under_a_block_at_{speed_mm_s}_mm_s_per_s"), per_s);
    }
    Ok(())
}

fn ranges() -> Result<Randomisation, GpuError> {
    let mut ranges = Randomisation::new(1);
    for name in ["stiffness", "friction", "gain", "threshold", "noise", "spread"] {
        ranges.set(name, [0.9, 1.1])?;
    }
    ranges.set("position", [-1e-4, 1e-4])?;
    ranges.set("rotation", [-1e-3, 1e-3])?;
    Ok(ranges)
}

/// Time of a launch (s): the median of several runs after a warm-up.
fn launch_s(gpu: &Arc<Gpu>, environments: &mut Environments) -> Result<f64, GpuError> {
    let mut times = Vec::new();
    for _ in 0..=RUNS {
        let timer = gpu.timer()?;
        for _ in 0..LAUNCHES {
            environments.launch(gpu.stream_handle())?;
        }
        times.push(timer.stop()? / LAUNCHES as f64);
    }
    times.remove(0);
    times.sort_by(f64::total_cmp);
    Ok(times[RUNS / 2])
}

/// Times of launches (µs) by name, with readings as `f32`, as a simulator of robots has them.
pub(super) fn run(gpu: &Arc<Gpu>) -> Result<BTreeMap<String, f64>, GpuError> {
    let bad = |error: &dyn std::fmt::Display| GpuError::BadInput { reason: error.to_string() };
    let mut numbers = BTreeMap::new();
    let ball = Object::of_primitive(Primitive::Sphere { radius_m: RADIUS_M }, 2e-3).map_err(|error| bad(&error))?;
    let ball = Arc::new(GpuObject::new(gpu, &ball)?);
    for side in [10, 40] {
        let text = plate(side);
        let spec = SensorSpec::parse("the plate of the benchmark", &text).map_err(|error| bad(&error))?;
        let sensor = spec.build(None).map_err(|error| bad(&error))?;
        let arrays = Arc::new(Arrays::new(gpu, &sensor)?);
        let columns = side * side;
        for count in [4096, 16_384] {
            let mut random = Random::new(2);
            let mut pose =
                || [random.between(-5e-3, 5e-3), random.between(-5e-3, 5e-3), RADIUS_M - 0.3e-3, 1.0, 0.0, 0.0, 0.0];
            let poses: Vec<f32> = (0..count).flat_map(|_| pose()).map(|number: f64| number as f32).collect();
            let poses = gpu.upload(&poses)?;
            let [taxels, reported] = [gpu.zeros::<f32>(columns * count)?, gpu.zeros::<f32>(columns * count)?];
            let wrench = gpu.zeros::<f32>(6 * count)?;
            let mut bindings = Bindings::new(2e-3);
            bindings.object.position = View::new(poses.address(), &[7, 1], Element::F32);
            bindings.object.rotation = View::new(poses.address() + 12, &[7, 1], Element::F32);
            bindings.object.rotation_format = RotationFormat::QuaternionWFirst as i32;
            bindings.taxels = View::new(taxels.address(), &[columns as i64, 1], Element::F32);
            bindings.wrench = View::new(wrench.address(), &[6, 1], Element::F32);
            gpu.finish()?;
            for (label, has_response, is_random) in [
                ("loads", false, false),
                ("response", true, false),
                ("random", false, true),
                ("response_random", true, true),
            ] {
                let mut environments = Environments::on_gpu(&arrays, from_ref(&ball), count)?;
                if is_random {
                    environments.randomise(ranges()?)?;
                }
                bindings.reported = if has_response {
                    View::new(reported.address(), &[columns as i64, 1], Element::F32)
                } else {
                    View::default()
                };
                // SAFETY: the arrays have a row per environment, on this GPU, and live until the work is done.
                #[allow(unsafe_code)]
                unsafe {
                    environments.bind(bindings)?;
                }
                let time_s = launch_s(gpu, &mut environments)?;
                numbers.insert(format!("environments_{count}_taxels_{columns}_{label}_us"), 1e6 * time_s);
            }
        }
    }
    run_gels(gpu, &mut numbers)?;
    Ok(numbers)
}
