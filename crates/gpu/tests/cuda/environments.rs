//! Environments on the GPU, in arrays of the caller, against those on the CPU.

use crate::{gpu, motion};
use dermis_geometry::{Pose, Primitive, Quat, Random, Vec3, shapes};
use dermis_gpu::array::Arrays;
use dermis_gpu::environments::{Bindings, Element, Environments, Randomisation, View};
use dermis_gpu::{Gpu, GpuObject};
use dermis_sensor::{Sensor, SensorSpec, presets};
use dermis_skin::Object;
use std::slice::from_ref;
use std::sync::Arc;

const DT_S: f64 = 1e-3;

/// Motion of `count` environments at one step: 13 numbers per body, position, quaternion w first, velocity.
pub(crate) fn bodies(random: &mut Random, count: usize) -> [Vec<f64>; 2] {
    let mut side = || random.uniform() * 2.0 - 1.0;
    let mut vector = |scale: f64| Vec3::new(side(), side(), side()) * scale;
    let mut all = [Vec::new(), Vec::new()];
    for _ in 0..count {
        let on = Pose::new(Quat::from_scaled_axis(vector(2.0)), vector(1.0));
        let other = on * Pose::new(Quat::from_scaled_axis(vector(2.0)), Vec3::Z * 7e-3 + vector(4e-3));
        for (body, pose) in all.iter_mut().zip([other, on]) {
            let (p, q, v, w) = (pose.translation, pose.rotation, vector(0.1), vector(1.0));
            body.extend([p.x, p.y, p.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z]);
        }
    }
    all
}

/// Addresses of inputs and outputs, in host or GPU memory.
fn bindings(bodies: [u64; 2], taxels: u64, wrench: u64, loads: u64, count: usize, columns: usize) -> Bindings {
    let mut bindings = Bindings::new(DT_S);
    for (body, address) in bodies.into_iter().enumerate() {
        let arrays = if body == 0 { &mut bindings.object } else { &mut bindings.sensor };
        motion::bind_rows(arrays, address);
        arrays.center = [1e-3, 2e-3, -3e-3];
        arrays.load = View::new(loads + 48 * (body * count) as u64, &[6, 1], Element::F64);
    }
    bindings.taxels = View::new(taxels, &[columns as i64, 1], Element::F64);
    bindings.wrench = View::new(wrench, &[6, 1], Element::F64);
    bindings
}

fn compare(gpu: &Arc<Gpu>, label: &str, sensor: &Sensor, object: &Arc<Object>, count: usize, steps: usize) {
    let columns = sensor.taxels().len();
    let arrays = Arc::new(Arrays::new(gpu, sensor).unwrap());
    let uploaded = Arc::new(GpuObject::new(gpu, object).unwrap());
    let mut there = Environments::on_gpu(&arrays, from_ref(&uploaded), count).unwrap();
    let mut here = Environments::on_cpu(sensor, from_ref(object), count).unwrap();
    let (mut taxels, mut wrench, mut loads) =
        (vec![7.0f64; columns * count], vec![7.0f64; 6 * count], vec![7.0f64; 12 * count]);
    let outputs = [gpu.upload(&taxels).unwrap(), gpu.upload(&wrench).unwrap(), gpu.upload(&loads).unwrap()];
    let (mut random, mut farthest, mut largest) = (Random::new(7), 0.0f64, 0.0f64);
    let mut inputs = bodies(&mut random, count);
    for step in 0..steps {
        if step == steps / 2 {
            inputs[0][13 + 2] = f64::NAN;
            inputs[0][2 * 13] = 1e9;
        }
        let on_gpu = [gpu.upload(&inputs[0]).unwrap(), gpu.upload(&inputs[1]).unwrap()];
        gpu.finish().unwrap();
        let [a, b, c] = outputs.each_ref().map(|buffer| buffer.address());
        let out = bindings([on_gpu[0].address(), on_gpu[1].address()], a, b, c, count, columns);
        let addresses = [taxels.as_mut_ptr() as u64, wrench.as_mut_ptr() as u64, loads.as_mut_ptr() as u64];
        let [a, b, c] = addresses;
        let own = bindings([inputs[0].as_ptr() as u64, inputs[1].as_ptr() as u64], a, b, c, count, columns);
        // SAFETY: the arrays have a row per environment and live until the end of the step.
        #[allow(unsafe_code)]
        unsafe {
            there.bind(out).unwrap();
            here.bind(own).unwrap();
        }
        there.launch(0).unwrap();
        here.launch(0).unwrap();
        gpu.finish_all_streams().unwrap();
        for (expected, got) in [&taxels, &wrench, &loads].into_iter().zip(&outputs) {
            for (expected, got) in expected.iter().zip(got.download().unwrap()) {
                assert!(got.is_finite());
                farthest = farthest.max((expected - got).abs());
                largest = largest.max(expected.abs());
            }
        }
        // The bodies move by their own velocity.
        for body in &mut inputs {
            for row in body.chunks_mut(13) {
                (0..3).for_each(|axis| row[axis] += DT_S * row[7 + axis]);
            }
        }
    }
    println!("{label}: largest {largest:.2e}, largest difference in {steps} steps {farthest:.1e}");
    assert!(largest > 0.01 && farthest <= 1e-9 * largest.max(1.0), "{label}: {farthest:e} of {largest}");
    assert_eq!(there.status().unwrap(), here.status().unwrap(), "{label}");
    assert!(there.check().unwrap_err().to_string().contains("environment 1 (1 others"));
}

/// World poses, velocities, readings and loads of both bodies, with springs that are taxels and sums over springs.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn bound_environments_match_the_cpu() {
    let gpu = gpu();
    let ball = Arc::new(Object::of_primitive(Primitive::Sphere { radius_m: 8e-3 }, 2e-3).unwrap());
    let mesh = Arc::new(Object::new(shapes::sphere(8e-3, 1.2e-3).unwrap()));
    let foam = presets::find("uji-foam-14x6").unwrap().build(None).unwrap();
    let text = "name = \"t\"\ncontact_points = 4\n[surface.grid]\nrows = 10\ncols = 7\npitch = \"3 mm\"\n[skin]\nkind = \"springs\"\n\
                stiffness = \"100 N/m\"\ndamping = \"1 N s/m\"\nmax_penetration = \"6 mm\"\n[reading]\nkind = \"gaussian\"\nsigma = \"2 mm\"\n";
    let spread = SensorSpec::parse("the test", text).unwrap().build(None).unwrap();
    for (label, sensor, object) in
        [("foam, ball", &foam, &ball), ("foam, mesh", &foam, &mesh), ("cover, ball", &spread, &ball)]
    {
        compare(&gpu, label, sensor, object, 70, 12);
    }
}

/// 16,384 environments of 1,600 taxels need at most 2 GB; more than fits is refused with the number that does.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn many_environments_fit_and_too_many_are_refused() {
    let gpu = gpu();
    let text = "name = \"wide\"\ncontact_points = 1\n[surface.grid]\nrows = 40\ncols = 40\npitch = \"1 mm\"\n[skin]\nkind = \"springs\"\n\
                stiffness = \"100 N/m\"\ndamping = \"1 N s/m\"\nmax_penetration = \"6 mm\"\n";
    let sensor = SensorSpec::parse("the test", text).unwrap().build(None).unwrap();
    let arrays = Arc::new(Arrays::new(&gpu, &sensor).unwrap());
    let ball = Object::of_primitive(Primitive::Sphere { radius_m: 8e-3 }, 2e-3).unwrap();
    let ball = Arc::new(GpuObject::new(&gpu, &ball).unwrap());
    let before = gpu.free_bytes().unwrap();
    let many = Environments::on_gpu(&arrays, from_ref(&ball), 16_384).unwrap();
    let used = before - gpu.free_bytes().unwrap();
    println!("16,384 environments of 1,600 taxels: {:.2} GB", used as f64 / 1e9);
    assert!(used < 1_900_000_000, "{used}");
    drop(many);
    let refused = Environments::on_gpu(&arrays, from_ref(&ball), 10_000_000).unwrap_err().to_string();
    assert!(refused.contains("at most") && refused.contains("10000000 environments"), "{refused}");
}

/// Every stage of the response, and parameters that differ, in 40 steps with a reset of some environments.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn responses_and_random_parameters_match_the_cpu() {
    const FEW: usize = 70;
    let gpu = gpu();
    let ball = Arc::new(Object::of_primitive(Primitive::Sphere { radius_m: 8e-3 }, 2e-3).unwrap());
    let text = include_str!("../all-stages.toml");
    // Few environments have several warps each.
    let of_size = |n: usize| {
        let (pitch, stiffness) = (40.0 / n as f64, 600.0 * (40.0 / n as f64 / 3.4).powi(2));
        let sizes = [("rows = 14", format!("rows = {n}")), ("cols = 6", format!("cols = {n}"))];
        let others = [("3.4 mm", format!("{pitch} mm")), ("600 N/m", format!("{stiffness} N/m"))];
        sizes.iter().chain(&others).fold(text.to_owned(), |text, (from, to)| text.replacen(from, to, 1))
    };
    let without = |start: &str| text.lines().filter(|line| !line.starts_with(start)).collect::<Vec<_>>().join("\n");
    let at_rest = |text: &str| text.replace(", offset_sd = \"3 mN\"", "");
    let list = |exponent: f64| {
        (1..2000).map(|k| format!("\"{} mN\"", f64::from(k).powf(exponent))).collect::<Vec<_>>().join(",")
    };
    let table = format!("\ncurve = {{ kind = \"table\", load = [{}], reads = [{}] }}", list(1.0), list(0.95));
    let long_table = text.replace("curve = ", "# ") + &table;
    for (label, text, count, is_random, is_narrow) in [
        ("response", text.to_owned(), FEW, false, false),
        ("random", text.to_owned(), FEW, true, false),
        ("random, f32", text.to_owned(), FEW, true, true),
        ("all taxels at once", text.replace(", scan = \"rows\"", ""), FEW, true, true),
        ("more frames than steps", text.replace("400 Hz", "2500 Hz"), FEW, false, true),
        ("no sampling", without("sampling = "), FEW, false, true),
        ("no delay", without("delay = ").replace(", scan = \"rows\"", ""), FEW, false, true),
        ("no crosstalk, no ageing", without("crosstalk = ").replace("ageing = ", "# "), FEW, false, true),
        ("a long table", long_table, FEW, false, true),
        ("40 x 40", of_size(40).replace(", scan = \"rows\"", ""), FEW, true, true),
        ("40 x 40 by rows", of_size(40), FEW, false, false),
        ("56 x 56", of_size(56), FEW, true, true),
        // Taxels far from the ball stay at rest.
        ("no offsets", at_rest(text), FEW, true, true),
        ("no offsets, one taxel a thread", at_rest(text), FEW, false, false),
        ("no offsets, sums over springs", at_rest(text).replace("points = 1", "points = 2"), FEW, false, true),
        ("no offsets, 40 x 40", at_rest(&of_size(40)).replace(", scan = \"rows\"", ""), FEW, true, true),
        (
            "no offsets, 40 x 40, sums over springs",
            at_rest(&of_size(40)).replace("points = 1", "points = 2"),
            FEW,
            false,
            true,
        ),
        ("no offsets, 56 x 56", at_rest(&of_size(56)), FEW, false, true),
        ("no offsets, no delay", at_rest(&without("delay = ")).replace(", scan = \"rows\"", ""), FEW, false, true),
        ("no offsets, no sampling", at_rest(&without("sampling = ")), FEW, false, true),
        ("no offsets, an odd number of taxels", at_rest(&of_size(9)).replace(", scan = \"rows\"", ""), FEW, true, true),
        ("many environments", text.to_owned(), 2100, true, true),
        ("many environments, no offsets", at_rest(text), 2100, true, false),
        (
            "many environments, no offsets, by columns",
            at_rest(text).replace(", scan = \"rows\"", ""),
            2100,
            false,
            true,
        ),
    ] {
        let sensor = SensorSpec::parse("all-stages.toml", &text).unwrap().build(None).unwrap();
        let columns = sensor.taxels().len();
        let arrays = Arc::new(Arrays::new(&gpu, &sensor).unwrap());
        let uploaded = Arc::new(GpuObject::new(&gpu, &ball).unwrap());
        let mut there = Environments::on_gpu(&arrays, from_ref(&uploaded), count).unwrap();
        let mut here = Environments::on_cpu(&sensor, from_ref(&ball), count).unwrap();
        if is_random {
            let mut ranges = Randomisation::new(9);
            for name in ["stiffness", "friction", "gain", "threshold", "noise", "spread"] {
                ranges.set(name, [0.5, 1.5]).unwrap();
            }
            ranges.set("position", [-1e-3, 1e-3]).unwrap();
            ranges.set("rotation", [-0.1, 0.1]).unwrap();
            there.randomise(ranges).unwrap();
            here.randomise(ranges).unwrap();
            assert_eq!(there.parameters().unwrap(), here.parameters().unwrap());
        }
        let (mut taxels, mut wrench, mut loads) =
            (vec![7.0f64; columns * count], vec![7.0f64; 6 * count], vec![7.0f64; 12 * count]);
        let mut reported = vec![7.0f64; columns * count];
        let outputs = [&taxels, &wrench, &loads, &reported].map(|values| gpu.upload(values).unwrap());
        let mut inputs = bodies(&mut Random::new(17), count);
        let (mut counts_off, mut most, mut off) = (0usize, 0.0f64, 0.0f64);
        for step in 0..40 {
            if step == 25 {
                let mask: Vec<i32> = (0..count as i32).map(|i| i % 3).collect();
                let on_gpu = gpu.upload(&mask).unwrap();
                gpu.finish().unwrap();
                // SAFETY: the masks have an element per environment and live until the work is done.
                #[allow(unsafe_code)]
                unsafe {
                    there.reset(&View::new(on_gpu.address(), &[1], Element::I32), 0).unwrap();
                    here.reset(&View::new(mask.as_ptr() as u64, &[1], Element::I32), 0).unwrap();
                }
                gpu.finish_all_streams().unwrap();
                assert_eq!(there.parameters().unwrap(), here.parameters().unwrap());
            }
            let on_gpu = [gpu.upload(&inputs[0]).unwrap(), gpu.upload(&inputs[1]).unwrap()];
            gpu.finish().unwrap();
            let [a, b, c, d] = outputs.each_ref().map(|buffer| buffer.address());
            let view = |address: u64| View::new(address, &[columns as i64, 1], Element::F64);
            let narrow_view = |address: u64| View::new(address, &[columns as i64, 1], Element::F32);
            let mut out = bindings([on_gpu[0].address(), on_gpu[1].address()], a, b, c, count, columns);
            out.reported = view(d);
            if is_narrow {
                // The response computes with the narrow loads, four taxels at once.
                (out.taxels, out.reported) = (narrow_view(a), narrow_view(d));
            }
            let [a, b, c] = [taxels.as_mut_ptr() as u64, wrench.as_mut_ptr() as u64, loads.as_mut_ptr() as u64];
            let mut own = bindings([inputs[0].as_ptr() as u64, inputs[1].as_ptr() as u64], a, b, c, count, columns);
            own.reported = view(reported.as_mut_ptr() as u64);
            // SAFETY: the arrays have a row per environment and live until the end of the step.
            #[allow(unsafe_code)]
            unsafe {
                there.bind(out).unwrap();
                here.bind(own).unwrap();
            }
            there.launch(0).unwrap();
            here.launch(0).unwrap();
            gpu.finish_all_streams().unwrap();
            let numbers = |output: usize| {
                let wide = outputs[output].download().unwrap();
                let narrow = wide.iter().flat_map(|pair| [pair.to_bits() as u32, (pair.to_bits() >> 32) as u32]);
                if is_narrow { narrow.map(|bits| f64::from(f32::from_bits(bits))).collect() } else { wide }
            };
            let tolerance = if is_narrow { 1e-6 } else { 1e-9 };
            for (expected, got) in reported.iter().zip(&numbers(3)) {
                // Noise in single precision: rounding to counts of 0.1 mN can fall to the other side.
                counts_off += usize::from((expected - got).abs() > tolerance);
                off = off.max((expected - got).abs());
                most = most.max(*expected);
            }
            for (expected, got) in wrench.iter().zip(&outputs[1].download().unwrap()) {
                assert!((expected - got).abs() <= 1e-9 * expected.abs().max(1.0), "{label} {step}: {expected} {got}");
            }
            let close = |(expected, got): (&f64, &f64)| (expected - got).abs() <= tolerance * expected.abs().max(1e-3);
            assert!(taxels.iter().zip(&numbers(0)).all(close), "{label} {step}");
            for body in &mut inputs {
                for row in body.chunks_mut(13) {
                    (0..3).for_each(|axis| row[axis] += DT_S * row[7 + axis]);
                }
            }
        }
        println!("{label}: largest reading {most:.3} N, largest difference {off:.1e} N in {counts_off} readings");
        assert!(
            most > 25.0 / columns as f64 && off < 1.1e-4 && counts_off < 40 * columns * count / 10_000,
            "{label}: {off} {counts_off}"
        );
    }
}
