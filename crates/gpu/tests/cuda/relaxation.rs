//! Layers of many environments on the GPU that relax, against closed forms and against those on the CPU.

use crate::gpu;
use crate::layers_in_time::{COUNT, DT_S, RADIUS_M, Run, TEXT, compare_motion, rows_of, sensor};
use dermis_geometry::Primitive;
use dermis_gpu::environments::{Bindings, Element, Environments, ObjectArrays, View};
use dermis_sensor::Sensor;
use dermis_skin::Object;
use std::slice::from_ref;
use std::sync::Arc;

/// Ratio and time (s) of a fast and of a slow branch.
const BRANCHES: [(f64, f64); 2] = [(0.8, 8e-3), (0.4, 60e-3)];

/// The sensor of the other tests with the first `count` branches.
fn relaxing(count: usize, mu: f64, tolerance: f64) -> Sensor {
    let branch = |(ratio, time): &(f64, f64)| format!("{{ ratio = {ratio}, time = \"{time} s\" }}");
    let branches: Vec<String> = BRANCHES[..count].iter().map(branch).collect();
    let skin = format!("mu = {mu}\nrelaxation = [{}]", branches.join(", "));
    sensor(&TEXT.replace("mu = 0.5", &skin), tolerance)
}

fn ball() -> Arc<Object> {
    Arc::new(Object::of_primitive(Primitive::Sphere { radius_m: RADIUS_M }, 2e-3).unwrap())
}

/// A ball that presses, holds, slides and leaves, presses beside its imprint, leaves again and stays away.
fn twice(step: usize) -> Vec<f64> {
    rows_of(step, |i, step| {
        let between = |first: f64, last: f64| ((step - first) / (last - first)).clamp(0.0, 1.0);
        let depth = 3e-4 + 1e-5 * i as f64;
        let first = -depth + 2.0 * depth * between(1.0, 4.0) - 2.0 * depth * between(11.0, 13.0);
        let second = 2.2 * depth * between(13.0, 16.0) - 2.2 * depth * between(18.0, 20.0);
        let (across, angle) = (3e-4 * between(6.0, 11.0), 1e-1 * i as f64);
        let x = -1e-3 + across * angle.cos() + 2e-3 * between(12.5, 13.5);
        ([x, 1e-4 * i as f64 - 1e-3 + across * angle.sin(), RADIUS_M - first - second], 0.1 * between(6.0, 11.0))
    })
}

/// One and two branches, with and without friction: loads, markers and images of every step, also those of an imprint that recovers.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn layers_that_relax_match_the_cpu() {
    let gpu = gpu();
    for (count, mu, tolerance, bar) in
        [(2, 0.5, 1e-7, 1e-5), (1, 0.5, 1e-5, 1e-4), (2, 0.5, 1e-5, 1e-4), (2, 0.0, 1e-5, 1e-4)]
    {
        let label = format!("{count} branches, mu {mu}, tolerance {tolerance}");
        let sensor = relaxing(count, mu, tolerance);
        let sheared = compare_motion(&gpu, &label, &sensor, from_ref(&ball()), false, &twice, bar);
        assert_eq!(sheared > 0.02, mu > 0.0, "{label}: {sheared} N");
    }
    let sensor = relaxing(2, 0.5, 1e-7);
    compare_motion(&gpu, "random", &sensor, from_ref(&ball()), true, &twice, 1e-5);
}

/// A ball without friction that presses in one step and holds: F = F∞ (1 + Σ r γ e^{−t/τ}) after t, with γ = (1 − e^{−dt/τ}) τ/dt. An
/// imprint of a long hold, u, is r/(1 + r) e^{−t/(τ(1 + r))} u after the ball has left at once, of second order in the step: so are the
/// displacements of the markers.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_held_ball_and_its_imprint_have_the_closed_form() {
    let gpu = gpu();
    let at = |depth: f64| rows_of(0, |i, _| ([2e-4 * i as f64 - 2e-3, 0.0, RADIUS_M - depth], 0.0));
    let (pressed, gone) = (at(4e-4), at(-2e-3));
    let force = |run: &Run| -> Vec<f64> { run.download()[2].chunks(6).map(|load| -load[2]).collect() };
    let elastic = sensor(&TEXT.replace("mu = 0.5", "mu = 0"), 1e-7);
    let mut rest = Run::new(&gpu, &elastic, from_ref(&ball()));
    rest.launch(&gpu, &elastic, &pressed);
    let sensor = relaxing(2, 0.0, 1e-7);
    let mut run = Run::new(&gpu, &sensor, from_ref(&ball()));
    let mut worst = 0.0f64;
    for step in 0..30 {
        run.launch(&gpu, &sensor, &pressed);
        let of = |(ratio, time): &(f64, f64)| {
            ratio * (1.0 - (-DT_S / time).exp()) * time / DT_S * (-f64::from(step) * DT_S / time).exp()
        };
        let factor = 1.0 + BRANCHES.iter().map(of).sum::<f64>();
        for (force, rest) in force(&run).iter().zip(force(&rest)) {
            worst = worst.max((force / (factor * rest) - 1.0).abs());
        }
    }
    println!("held ball: largest error of the force {worst:e}");
    assert!(worst < 1e-5, "{worst:e}");

    let (ratio, time) = BRANCHES[0];
    let sensor = relaxing(1, 0.0, 1e-7);
    let mut run = Run::new(&gpu, &sensor, from_ref(&ball()));
    let moved = |run: &Run, still: &[f64]| -> Vec<f64> {
        run.download()[3].iter().zip(still).map(|(marker, still)| marker - still).collect()
    };
    run.launch(&gpu, &sensor, &gone);
    let still = run.download()[3].clone();
    (0..60).for_each(|_| run.launch(&gpu, &sensor, &pressed));
    let held = moved(&run, &still);
    run.launch(&gpu, &sensor, &gone);
    // The ball leaves in the course of the first step; on average half a step has passed since.
    let mut worst = 0.0f64;
    let first = moved(&run, &still);
    let largest = held.iter().fold(0.0f64, |largest, moved| largest.max(moved.abs()));
    let fraction = dot(&first, &held) / dot(&held, &held);
    for step in 1..10 {
        run.launch(&gpu, &sensor, &gone);
        assert_eq!(force(&run), vec![0.0; COUNT]);
        let factor = fraction * (-f64::from(step) * DT_S / (time * (1.0 + ratio))).exp();
        let now = moved(&run, &still);
        worst =
            now.iter().zip(&held).fold(worst, |worst, (now, held)| worst.max((now - factor * held).abs() / largest));
    }
    println!(
        "imprint: {fraction:.4} of the markers' {largest:.3} pixels after the first step, largest error {worst:e}"
    );
    assert!(largest > 0.1 && (fraction / (ratio / (1.0 + ratio)) - 1.0).abs() < 0.1, "{largest} {fraction}");
    assert!(worst < 2e-3, "{worst:e}");
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Two runs have the same bytes. A reset by mask and a fault end the memory of their environments: these then follow one that begins
/// anew. An object that is too deep leaves it as it is.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn layers_that_relax_repeat_and_forget_at_a_reset() {
    let gpu = gpu();
    let sensor = relaxing(2, 0.5, 1e-5);
    let new = || Run::new(&gpu, &sensor, from_ref(&ball()));
    let (mut fine, mut again, mut broken, mut fresh) = (new(), new(), new(), new());
    let (mask, all) = ((0..COUNT).map(|i| u8::from(i == 3)).collect::<Vec<_>>(), vec![1u8; COUNT]);
    let (mask, all) = (gpu.upload(&mask).unwrap(), gpu.upload(&all).unwrap());
    let view = |mask: &dermis_gpu::DeviceBuffer<u8>| View::new(mask.address(), &[1], Element::U8);
    for step in 1..=24 {
        let inputs = twice(step);
        fine.launch(&gpu, &sensor, &inputs);
        again.launch(&gpu, &sensor, &inputs);
        assert_eq!(fine.download(), again.download(), "step {step}");
        assert_eq!(fine.images.download().unwrap(), again.images.download().unwrap(), "step {step}");
        let mut bad = inputs.clone();
        if step == 13 {
            (bad[13], bad[2 * 13 + 2]) = (f64::NAN, RADIUS_M - 3.9e-3);
        }
        if step == 14 {
            // SAFETY: the masks have an element per environment and outlive the work.
            #[allow(unsafe_code)]
            unsafe {
                broken.environments.reset(&view(&mask), 0).unwrap();
                fresh.environments.reset(&view(&all), 0).unwrap();
            }
        }
        broken.launch(&gpu, &sensor, &bad);
        fresh.launch(&gpu, &sensor, &inputs);
        let ([expected, got, anew], sizes) =
            ([fine.download(), broken.download(), fresh.download()], [64, 192, 6, 126]);
        for (k, each) in sizes.into_iter().enumerate() {
            let of = |numbers: &[Vec<f64>; 4], i: usize| numbers[k][each * i..][..each].to_vec();
            for i in (0..COUNT).filter(|i| !(1..4).contains(i)) {
                assert_eq!(of(&expected, i), of(&got, i), "step {step}, environment {i}");
            }
            if step > 13 {
                // The fault and the reset.
                assert_eq!((of(&got, 1), of(&got, 3)), (of(&anew, 1), of(&anew, 3)), "step {step}");
            }
        }
        if step > 13 {
            // The markers move with the imprint, which the environment with the object too deep still has.
            let markers = |numbers: &[Vec<f64>; 4], i: usize| numbers[3][126 * i..][..126].to_vec();
            assert_ne!(markers(&expected, 3), markers(&got, 3), "step {step}");
            assert_ne!(markers(&anew, 2), markers(&got, 2), "step {step}");
        }
        if step == 13 {
            assert_eq!(broken.environments.status().unwrap()[..4], [0, 1, 16, 0]);
        }
    }
}

/// More branches than the kernels take are refused by their number, and several objects in an environment as for elastic layers.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn too_many_branches_and_several_objects_are_refused() {
    let gpu = gpu();
    let skin = format!("mu = 0.5\nrelaxation = [{}]", ["{ ratio = 0.1, time = \"1 s\" }"; 17].join(", "));
    let sensor = sensor(&TEXT.replace("mu = 0.5", &skin), 1e-5);
    let error = Environments::with_layer(&gpu, &sensor, from_ref(&ball()), 1).unwrap_err().to_string();
    assert!(error.contains("17 branches") && error.contains("at most 16"), "{error}");
    let sensor = relaxing(2, 0.5, 1e-5);
    let mut environments = Environments::with_layer(&gpu, &sensor, from_ref(&ball()), 1).unwrap();
    // SAFETY: the arrays are refused before any is read.
    #[allow(unsafe_code)]
    let refused = unsafe { environments.bind_objects(Bindings::new(DT_S), &[ObjectArrays::default(); 2]) };
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("several objects") && error.contains("one object at a time"), "{error}");
}
