//! Compares the gel on a GPU with the gel on the CPU, for the cases of the CPU's own tests.

#[path = "../../../skin/tests/common/paraboloid.rs"]
mod paraboloid;

use crate::gpu;
use dermis_geometry::shapes::{self, indenters};
use dermis_geometry::{Mat3, Pose, Primitive, Quat, Vec3};
use dermis_gpu::{GelSkin, Gpu, GpuGel, GpuMpm, GpuTacchiGel, MpmRun};
use dermis_sensor::{Aim, Goal, Sensor, SensorSpec, press};
use dermis_skin::gel::{Face, FixedFaces, MpmSteps, ParticleBlock, ParticleState, TacchiGel, TacchiParameters};
use dermis_skin::{Constitution, Gel, GelFriction, GelParameters, Motion, Object, Simd, Skin, Target, Touch};
use serde_json::Value;
use std::sync::Arc;

const GOLDEN: &str = include_str!("../../../skin/tests/golden/layer/paraboloid_on_bonded_layer.json");
const SIZE: Vec3 = Vec3::new(8e-3, 8e-3, 3e-3);

fn parameters() -> GelParameters {
    GelParameters { cell_m: 0.5e-3, ..GelParameters::default() }
}

fn block(bonds: FixedFaces, parameters: GelParameters) -> Gel {
    Gel::block(SIZE, bonds, parameters).unwrap()
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(Vec3::new(x, y, z))
}

/// The largest difference of the surface relative to the largest displacement, and the relative difference of the
/// force.
fn differences(a: &Touch, b: &Touch) -> (f64, f64) {
    let (fa, fb) = (a.surface.as_ref().unwrap(), b.surface.as_ref().unwrap());
    let deepest = fa.values.iter().map(|u| u.length()).fold(0.0, f64::max);
    let off = fa.values.iter().zip(&fb.values).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
    let force = (a.on_sensor.force - b.on_sensor.force).length() / a.on_sensor.force.length();
    (off / deepest, force)
}

/// Presses at one pose after the other on the GPU and the CPU. Surfaces must agree to 0.1 % of the depth, forces to 0.2
/// %, and two runs on the GPU bit by bit.
fn compare(gpu: &Arc<Gpu>, name: &str, gel: Gel, object: &Object, poses: &[Pose]) -> Touch {
    let gpu = GpuGel::new(gpu, gel).unwrap();
    let (mut on_cpu, mut on_gpu) = (gpu.rest(), gpu.rest());
    let mut last = Touch::default();
    for pose in poses {
        let targets = [Target::at_rest(object, *pose)];
        let motion = Motion { targets: &targets };
        let (cpu, next, _) = gpu.gel().equilibrium(&on_cpu, &motion).unwrap();
        on_cpu = next;
        let (touch, next, work, gpu_s) = gpu.equilibrium(&on_gpu, &motion).unwrap();
        let (again, same) = gpu.settle(&on_gpu, &motion).unwrap();
        assert!(touch == again && next == same, "{name}: two runs on the GPU differ");
        on_gpu = next;
        let (surface, force) = differences(&cpu, &touch);
        println!(
            "{name}: surface off by {surface:.1e} of depth, force by {force:.1e}; {work:?}, {:.1} ms",
            gpu_s * 1e3
        );
        assert!(surface < 1e-3, "{name}: surface off by {surface} of depth");
        assert!(force < 2e-3, "{name}: force off by {force}");
        let strain = touch.energy.unwrap().strain_j / cpu.energy.unwrap().strain_j - 1.0;
        assert!(strain.abs() < 2e-3, "{name}: energy off by {strain}");
        assert!((touch.on_objects[0].force + touch.on_sensor.force).length() < 1e-12);
        if let (Some(a), Some(b)) = (&cpu.base, &touch.base) {
            let peak = a.values.iter().map(|t| t.length()).fold(0.0, f64::max);
            let off = a.values.iter().zip(&b.values).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max) / peak;
            assert!(off < 5e-3, "{name}: stress on the base off by {off} of its peak");
        }
        last = touch;
    }
    last
}

/// A rigid paraboloid on a bonded layer, cases 0, 2 and 4 of the golden file: agrees with the CPU and, to 2 %, with
/// elasticity.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_paraboloid_press_agrees_with_the_cpu() {
    let gpu = gpu();
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    for (index, cell_m) in [(0, 0.5e-3), (2, 0.25e-3), (4, 0.5e-3)] {
        let case = &golden["cases"][index];
        let number = |key: &str| case[key].as_f64().unwrap();
        let (h, a, smaller) = (number("layer_thickness_m"), number("contact_radius_m"), 8.0);
        let parameters = GelParameters {
            young_pa: number("young_pa"),
            poisson: number("poisson"),
            cell_m,
            ..GelParameters::default()
        };
        let side = 2.0 * a + 5.0 * h;
        let gel = Gel::block(Vec3::new(side, side, h), FixedFaces::default(), parameters).unwrap();
        let object = Object::new(paraboloid::paraboloid(number("R_m") * smaller, 1.6 * a));
        let pose = at(0.0, 0.0, -number("depth_m") / smaller);
        let touch = compare(&gpu, &format!("paraboloid {index}"), gel, &object, &[pose]);
        let force = -touch.on_sensor.force.z * smaller / number("force_n");
        assert!((force - 1.0).abs() < 0.02, "case {index}: force {force} of the golden one");
    }
}

/// Balls, primitives, meshes and points, upright and tilted.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn all_kinds_of_objects_agree_with_the_cpu() {
    let gpu = gpu();
    let tilted =
        |z: f64| Pose::new(Quat::from_rotation_y(0.2) * Quat::from_rotation_z(0.4), Vec3::new(0.2e-3, -0.1e-3, z));
    let primitive = |shape: Primitive| Object::of_primitive(shape, 0.3e-3).unwrap();
    let cloud = vec![Vec3::X * 1e-3, Vec3::new(-1e-3, 0.3e-3, 0.1e-3), Vec3::Z * 1e-3];
    let mesh = Object::new(shapes::sphere(3e-3, 0.3e-3).unwrap());
    for (name, object, pose) in [
        ("ball", primitive(Primitive::Sphere { radius_m: 3e-3 }), at(0.0, 0.0, 2.5e-3)),
        ("ball of triangles", mesh, at(0.0, 0.0, 2.5e-3)),
        ("points", Object::of_points(cloud, 2e-3).unwrap(), tilted(1.5e-3)),
        ("ellipsoid", primitive(Primitive::Ellipsoid { semi_axes_m: Vec3::new(4e-3, 3e-3, 2.5e-3) }), tilted(2.2e-3)),
        ("cylinder", primitive(Primitive::Cylinder { radius_m: 2e-3, half_length_m: 2e-3 }), tilted(2.0e-3)),
        ("capsule", primitive(Primitive::Capsule { radius_m: 2e-3, half_length_m: 2e-3 }), tilted(3.5e-3)),
        ("cuboid", primitive(Primitive::Cuboid { half_m: Vec3::new(1.5e-3, 1.5e-3, 2e-3) }), at(0.0, 0.0, 1.6e-3)),
        ("moon", Object::new(indenters::find("moon").unwrap()), at(0.0, 0.0, -0.4e-3)),
        ("line", Object::new(indenters::find("line").unwrap()), at(0.0, 0.0, -0.6e-3)),
    ] {
        compare(&gpu, name, block(FixedFaces::default(), parameters()), &object, &[pose]);
    }
    let coarse = GelParameters { cell_m: 0.8e-3, ..GelParameters::default() };
    let wide = Gel::block(Vec3::new(20e-3, 20e-3, 4e-3), FixedFaces::default(), coarse).unwrap();
    let moon = Object::new(indenters::find("moon").unwrap());
    compare(&gpu, "tilted moon", wide, &moon, &[Pose::new(Quat::from_rotation_y(0.2), Vec3::Z * -0.5e-3)]);
}

/// Fixed faces, constitutions, friction with the history of an earlier press, held interfaces.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn all_kinds_of_gels_agree_with_the_cpu() {
    let gpu = gpu();
    let ball = Object::of_primitive(Primitive::Sphere { radius_m: 3e-3 }, 0.3e-3).unwrap();
    let sides = FixedFaces::at(&[Face::Bottom, Face::LowX]);
    let made = |constitution| GelParameters { constitution, ..parameters() };
    let rubbing = |friction| GelParameters { friction, ..parameters() };
    let dome = shapes::sphere(6e-3, 0.5e-3).unwrap().transformed(&at(0.0, 0.0, -6e-3));
    let bone = Primitive::Sphere { radius_m: 4e-3 };
    let coarse = GelParameters { cell_m: 0.75e-3, ..parameters() };
    let flesh = Gel::solid(&dome, -6e-3, FixedFaces::default(), coarse).unwrap();
    let boned = flesh.fixed_where(|at| bone.nearest(at + Vec3::Z * 6e-3).0 <= 0.0).unwrap();
    let down = at(0.0, 0.0, 2.6e-3);
    for (name, gel, poses) in [
        ("cup", block(FixedFaces::CUP, parameters()), vec![down]),
        ("held at a side", block(sides, parameters()), vec![at(-2.1e-3, 0.4e-3, 2.6e-3)]),
        ("fixed corotated", block(FixedFaces::default(), made(Constitution::FixedCorotated)), vec![down]),
        ("linear", block(FixedFaces::default(), made(Constitution::Linear)), vec![down]),
        (
            "rubbed",
            block(FixedFaces::default(), rubbing(GelFriction::Coulomb { mu: 0.4 })),
            vec![down, at(0.3e-3, 0.0, 2.6e-3)],
        ),
        ("sticking", block(FixedFaces::default(), rubbing(GelFriction::Sticking)), vec![down, at(0.2e-3, 0.0, 2.6e-3)]),
        ("flesh on a bone", boned, vec![down]),
    ] {
        compare(&gpu, name, gel, &ball, &poses);
    }
}

/// Presses of a batch have the same bytes as single presses: two objects, eleven poses, so more than a launch holds, from the
/// untouched gel and from one that was pressed. An object at no pose fails alone. Two batches agree bit by bit.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn presses_of_a_batch_are_single_presses() {
    let friction = GelFriction::Coulomb { mu: 0.4 };
    let gel = GpuGel::new(&gpu(), block(FixedFaces::default(), GelParameters { friction, ..parameters() })).unwrap();
    let ball = Object::of_primitive(Primitive::Sphere { radius_m: 3e-3 }, 0.3e-3).unwrap();
    let moon = Object::new(indenters::find("moon").unwrap());
    let mut targets: Vec<[Target<'_>; 1]> = (0..10)
        .map(|i| [Target::at_rest(&ball, at(0.1e-3 * f64::from(i), 0.0, 2.4e-3 + 0.04e-3 * f64::from(i)))])
        .collect();
    targets.push([Target::at_rest(&moon, at(0.0, 0.0, -0.4e-3))]);
    targets.push([Target::at_rest(&ball, at(f64::NAN, 0.0, 0.0))]);
    let motions: Vec<Motion<'_>> = targets.iter().map(|targets| Motion { targets }).collect();
    let (rest, (_, pressed)) = (gel.rest(), gel.settle(&gel.rest(), &motions[3]).unwrap());
    let presses: Vec<_> =
        motions.iter().enumerate().map(|(i, motion)| (if i % 3 == 1 { &pressed } else { &rest }, motion)).collect();
    let (batch, again) = (gel.settle_all(&presses), gel.settle_all(&presses));
    assert!(batch[11].is_err() && again[11].is_err());
    for (i, (batch, again)) in batch.iter().zip(&again).take(11).enumerate() {
        let (batch, again) = (batch.as_ref().unwrap(), again.as_ref().unwrap());
        assert!(batch == again, "press {i}: two batches differ");
        assert!(*batch == gel.settle(presses[i].0, presses[i].1).unwrap(), "press {i} differs from a single press");
        assert!(batch.0.on_sensor.force.z < 0.0, "press {i}: {:?}", batch.0.on_sensor);
    }
}

/// Runs all steps on the GPU; returns the particles and the result of the run.
fn solved(gpu: &Arc<Gpu>, steps: &MpmSteps) -> (ParticleState, MpmRun) {
    let mut mpm = GpuMpm::new(gpu, steps).unwrap();
    let run = mpm.run(steps.count).unwrap();
    (mpm.particles().unwrap(), run)
}

/// Particles that translate, rotate and oscillate: after 60 steps positions agree to 1e-4 of the distance travelled,
/// and two runs agree bit by bit.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn mpm_steps_agree_with_the_cpu() {
    let gpu = gpu();
    let motion = |rest: Vec3| {
        (Vec3::new(1.5, 0.5, 0.2) + Vec3::Z.cross(rest) * 10.0, Mat3::from_diagonal(Vec3::new(1.02, 0.99, 1.0)))
    };
    for bonded in [false, true] {
        let mut block =
            ParticleBlock::new([30, 26, 18], GelParameters::default(), bonded, 0.3, Simd::detect(), motion).unwrap();
        let steps = block.steps(60);
        let (particles, run) = solved(&gpu, &steps);
        assert_eq!((particles.clone(), run.failed), (solved(&gpu, &steps).0, None));
        block.run(60).unwrap();
        let positions = block.positions();
        let max = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
        let off = max(&particles.position, &positions) / max(&steps.particles.position, &positions);
        println!("bonded {bonded}: off by {off:.1e} of the distance travelled, sorted {} times", run.sorts);
        assert!(off < 1e-4, "{off}");
    }
}

/// The press of Chen et al. 2023 at a smaller size: surface within 0.1 % of the depth, force within 0.1 %, and two runs
/// agree bit by bit.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn tacchi_s_press_agrees_with_the_cpu() {
    let gpu = gpu();
    let parameters = TacchiParameters {
        size_m: Vec3::new(8e-3, 8e-3, 2e-3),
        particles: [41, 41, 11],
        indenter_particles: 20_000,
        ..TacchiParameters::default()
    };
    let paper = TacchiGel::new(parameters).unwrap();
    let ball = Object::new(shapes::sphere(2e-3, 0.15e-3).unwrap());
    let pose = at(0.0, 0.0, 1.5e-3);
    let (cpu, _) = paper.press(&ball, pose).unwrap();
    let gpu = GpuTacchiGel::new(&gpu, paper);
    let (touch, run) = gpu.press(&ball, pose).unwrap();
    let (surface, force) = differences(&cpu, &touch);
    println!("paper: surface off by {surface:.1e} of depth, force by {force:.1e}, sorted {} times", run.sorts);
    assert!(surface < 1e-3 && force < 1e-3, "{surface} {force}");
    assert_eq!(touch, gpu.press(&ball, pose).unwrap().0);
}

/// An inverted particle is reported, as on the CPU.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn an_inverted_particle_is_reported() {
    let gpu = gpu();
    let motion = |rest: Vec3| (Vec3::Z * if rest.z > 0.0 { -40.0 } else { 40.0 }, Mat3::IDENTITY);
    let mut block =
        ParticleBlock::new([12, 12, 12], GelParameters::default(), false, 0.3, Simd::detect(), motion).unwrap();
    let (_, run) = solved(&gpu, &block.steps(200));
    assert!(run.failed.is_some() == block.run(200).is_err(), "{run:?}");
    assert!(run.failed.is_some(), "{run:?}");
}

/// A sensor with a gel gives the same reading on the GPU; a sensor without a gel is not moved to the GPU.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_sensor_with_a_gel_reads_the_same_on_the_gpu() {
    let gpu = gpu();
    let spec = r#"
        name = "a gel"
        [surface.grid]
        rows = 10
        cols = 10
        pitch = "1 mm"
        [skin]
        kind = "gel"
        young = "145 kPa"
        poisson = 0.45
        thickness = "3 mm"
        size = ["14 mm", "14 mm"]
        cell = "0.75 mm"
    "#;
    let built = |text: &str| SensorSpec::parse("sensor.toml", text).unwrap().build(None).unwrap();
    let on_cpu = built(spec);
    let on_gpu = GelSkin::of(&on_cpu).unwrap().on(&gpu, &on_cpu).unwrap();
    let ball = Object::of_primitive(Primitive::Sphere { radius_m: 5e-3 }, 0.5e-3).unwrap();
    let read = |sensor: &Sensor| press(sensor, &ball, &Aim::default(), Goal::Depth(0.4e-3)).unwrap().reading;
    let (cpu, gpu_reading) = (read(&on_cpu), read(&on_gpu));
    let max = cpu.values_newton.iter().copied().fold(0.0, f64::max);
    for (a, b) in cpu.values_newton.iter().zip(&gpu_reading.values_newton) {
        assert!((a - b).abs() < 5e-3 * max, "{a} N and {b} N of {max} N");
    }
    let layer = spec.replace("\"gel\"", "\"layer\"");
    assert!(GelSkin::of(&built(&layer)).is_none());
}
