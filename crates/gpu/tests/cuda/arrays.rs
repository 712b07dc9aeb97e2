//! Contact loads of arrays on a GPU match those of the CPU.

use crate::gpu;
use dermis_geometry::{Pose, Primitive, Quat, Random, Twist, Vec3, shapes};
use dermis_gpu::array::{Arrays, ExternalArray, PoseFormat, Poses, Presses, Twists};
use dermis_gpu::environments::{Element, View};
use dermis_gpu::{Environments, Gpu, GpuError, GpuObject};
use dermis_sensor::{Sensor, SensorSpec, SkinKind, presets};
use dermis_skin::{Motion, Object, State, Target, Touch};
use std::slice::from_ref;
use std::sync::Arc;

/// Bound on every difference, relative to the press's largest taxel. Measured: zero for springs, 3e-15 for pads.
const CLOSE: f64 = 1e-9;

fn objects() -> Vec<(&'static str, Object)> {
    let primitive = |shape| Object::of_primitive(shape, 2e-3).unwrap();
    vec![
        ("ball", primitive(Primitive::Sphere { radius_m: 8e-3 })),
        ("ellipsoid", primitive(Primitive::Ellipsoid { semi_axes_m: Vec3::new(12e-3, 8e-3, 6e-3) })),
        ("cuboid", primitive(Primitive::Cuboid { half_m: Vec3::new(9e-3, 7e-3, 6e-3) })),
        ("cylinder", primitive(Primitive::Cylinder { radius_m: 6e-3, half_length_m: 8e-3 })),
        ("capsule", primitive(Primitive::Capsule { radius_m: 6e-3, half_length_m: 8e-3 })),
        ("mesh", Object::new(shapes::sphere(8e-3, 1.2e-3).unwrap())),
        ("box of triangles", Object::new(shapes::cuboid(Vec3::new(18e-3, 14e-3, 12e-3)).unwrap())),
    ]
}

/// Shallow and deep, beyond the skin and beside it, level and rotated.
fn places(random: &mut Random, count: usize) -> Vec<Pose> {
    let place = |i: usize| {
        let mut side = || random.uniform() * 2.0 - 1.0;
        let rotation = if i.is_multiple_of(4) {
            Quat::IDENTITY
        } else {
            Quat::from_xyzw(side(), side(), side(), side()).normalize()
        };
        let z = [6e-3, 4e-3, 7.5e-3, -3e-3, 2e-3, -14e-3, 5e-3][i % 7];
        Pose::new(rotation, Vec3::new(side() * 12e-3, side() * 25e-3, z + side() * 1e-3))
    };
    (0..count).map(place).collect()
}

/// Contact loads, downloaded to the host.
struct Fetched {
    forces: Vec<f64>,
    values: Vec<f64>,
    wrench: Vec<f64>,
    outside: Vec<f64>,
    saturated: Vec<u32>,
}

fn fetch(presses: &Presses) -> Fetched {
    Fetched {
        forces: presses.forces_newton.download().unwrap(),
        values: presses.values_newton.download().unwrap(),
        wrench: presses.wrench.download().unwrap(),
        outside: presses.outside_newton.download().unwrap(),
        saturated: presses.saturated.download().unwrap(),
    }
}

fn settled(sensor: &Sensor, object: &Object, place: &Pose) -> Touch {
    let target = Target::at_rest(object, *place);
    sensor.skin().settle(&sensor.skin().rest(), &Motion { targets: &[target] }).unwrap().0
}

/// The largest difference from the CPU, relative to the press's largest taxel (torques: with an arm of 0.1 m).
fn worst(sensor: &Sensor, touches: &[Touch], got: &Fetched) -> f64 {
    let taxels = sensor.taxels().len();
    let mut worst = 0.0f64;
    for (i, touch) in touches.iter().enumerate() {
        let reading = sensor.read(touch);
        let net = touch.on_sensor.force.length();
        let largest = reading.forces_newton.iter().map(|force| force.length()).fold(1e-6f64.max(net * 1e-3), f64::max);
        let mut compare =
            |got: f64, expected: f64, unit: f64| worst = worst.max((got - expected).abs() / (largest * unit));
        for taxel in 0..taxels {
            compare(got.values[i * taxels + taxel], reading.values_newton[taxel], 1.0);
            for axis in 0..3 {
                compare(got.forces[3 * (i * taxels + taxel) + axis], reading.forces_newton[taxel][axis], 1.0);
            }
        }
        for axis in 0..3 {
            compare(got.outside[3 * i + axis], reading.outside_newton[axis], 1.0);
            compare(got.wrench[6 * i + axis], touch.on_sensor.force[axis], 1.0);
            compare(got.wrench[6 * i + 3 + axis], touch.on_sensor.torque[axis], 0.1);
            let sum: f64 = (0..taxels).map(|taxel| got.forces[3 * (i * taxels + taxel) + axis]).sum();
            compare(sum + got.outside[3 * i + axis], got.wrench[6 * i + axis], 1.0);
        }
        assert_eq!(got.saturated[i] as usize, touch.saturated, "press {i}");
    }
    worst
}

/// Settles an object at many poses on the GPU and on the CPU.
fn compare(gpu: &Arc<Gpu>, label: &str, sensor: &Sensor, object: &Object, count: usize) {
    let poses = places(&mut Random::new(11), count);
    let arrays = Arrays::new(gpu, sensor).unwrap();
    let presses = arrays.settle(&GpuObject::new(gpu, object).unwrap(), &arrays.poses(&poses).unwrap()).unwrap();
    let got = fetch(&presses);
    let touches: Vec<Touch> = poses.iter().map(|place| settled(sensor, object, place)).collect();
    let warnings = presses.warnings(sensor, object, &arrays.poses(&poses).unwrap()).unwrap();
    for (i, (touch, warnings)) in touches.iter().zip(warnings).enumerate() {
        assert_eq!(warnings, touch.all_warnings().collect::<Vec<_>>(), "{label}: press {i}");
    }
    let lit = touches.iter().filter(|touch| !touch.facets.is_empty()).count();
    let worst = worst(sensor, &touches, &got);
    println!("{label}: {lit} of {count} touch, largest difference {worst:.1e}");
    assert!(3 * lit > count, "{label}: {lit} of {count} touch");
    assert!(worst <= CLOSE, "{label}: {worst:e}");
}

fn preset(name: &str) -> Sensor {
    presets::find(name).unwrap().build(None).unwrap()
}

fn described(text: &str) -> Sensor {
    SensorSpec::parse("the test", text).unwrap().build(None).unwrap()
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn springs_match_the_cpu() {
    let gpu = gpu();
    let foam = preset("uji-foam-14x6");
    for (name, object) in objects() {
        compare(&gpu, &format!("foam, {name}"), &foam, &object, 140);
    }
}

/// Several springs per taxel, a cover that spreads loads, a table of the elasticity, the law of the paper, and taxels
/// without a grid.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn other_springs_match_the_cpu() {
    let gpu = gpu();
    let surface = |points: usize| {
        format!("name = \"t\"\ncontact_points = {points}\n[surface.grid]\nrows = 10\ncols = 7\npitch = \"3 mm\"\n")
    };
    let table = "[skin]\nkind = \"springs\"\ndamping = \"1 N s/m\"\nmax_penetration = \"6 mm\"\nlaw = \"paper\"\n\
                 [skin.force_table]\ndepth = [\"0 mm\", \"1 mm\", \"3 mm\"]\nload = [\"0 N\", \"0.2 N\", \"2 N\"]\n";
    let plain =
        "[skin]\nkind = \"springs\"\nstiffness = \"100 N/m\"\ndamping = \"1 N s/m\"\nmax_penetration = \"6 mm\"\n";
    let spread = "[reading]\nkind = \"gaussian\"\nsigma = \"2 mm\"\n";
    let sensors = [
        ("parts", described(&format!("{}{plain}", surface(4)))),
        ("cover", described(&format!("{}{plain}{spread}", surface(2)))),
        ("table", described(&format!("{}{table}", surface(1)))),
    ];
    let ball = Object::new(shapes::sphere(8e-3, 1.2e-3).unwrap());
    for (name, sensor) in &sensors {
        compare(&gpu, name, sensor, &ball, 140);
    }
    for spec in presets::names().map(|name| presets::find(name).unwrap()) {
        let sensor = spec.build(None).unwrap();
        let springs = format!("{:?}", sensor.skin()).starts_with("Springs");
        if springs && sensor.taxels().size().is_none() {
            compare(
                &gpu,
                sensor.name(),
                &sensor,
                &Object::of_primitive(Primitive::Sphere { radius_m: 8e-3 }, 2e-3).unwrap(),
                70,
            );
        }
    }
}

/// Thirty steps of many environments, some of which are reset and touched again, match single simulations.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn steps_of_springs_match_the_cpu() {
    let gpu = gpu();
    for (sensor, object) in
        [(preset("uji-foam-14x6"), objects().swap_remove(0).1), (preset("wts0614"), objects().swap_remove(5).1)]
    {
        let (count, dt_s) = (24, 1e-3);
        let mut random = Random::new(3);
        let mut poses = places(&mut random, count);
        let mut states: Vec<State> = vec![sensor.skin().rest(); count];
        let arrays = Arc::new(Arrays::new(&gpu, &sensor).unwrap());
        let object_on_gpu = Arc::new(GpuObject::new(&gpu, &object).unwrap());
        let mut environments = Environments::on_gpu(&arrays, from_ref(&object_on_gpu), count).unwrap();
        let mut farthest = 0.0f64;
        for step in 0..30 {
            let mut side = || random.uniform() * 2.0 - 1.0;
            let mut vector = |scale: f64| Vec3::new(side(), side(), side()) * scale;
            let twists: Vec<Twist> = (0..count).map(|_| Twist::new(vector(0.3), vector(5.0))).collect();
            if step == 15 {
                let which: Vec<bool> = (0..count).map(|i: usize| i.is_multiple_of(5)).collect();
                let mask = gpu.upload(&which.iter().map(|&reset| u8::from(reset)).collect::<Vec<_>>()).unwrap();
                gpu.finish().unwrap();
                // SAFETY: the mask has a flag per environment and lives until the stream has read it.
                #[allow(unsafe_code)]
                unsafe { environments.reset(&View::new(mask.address(), &[1], Element::U8), 0) }.unwrap();
                gpu.finish_all_streams().unwrap();
                states
                    .iter_mut()
                    .zip(&which)
                    .filter(|(_, reset)| **reset)
                    .for_each(|(state, _)| *state = sensor.skin().rest());
            }
            let place =
                |i: usize| if step == 20 && i.is_multiple_of(3) { Pose::from_translation(Vec3::Z) } else { poses[i] };
            let here: Vec<Pose> = (0..count).map(place).collect();
            let presses = environments
                .step(&arrays.poses(&here).unwrap(), &Twists::of_host(&gpu, &twists).unwrap(), dt_s)
                .unwrap();
            let mut touches = Vec::new();
            for i in 0..count {
                let target = Target { object: &object, sensor_from_object: here[i], velocity: twists[i] };
                let (touch, next) = sensor.skin().touch(&states[i], &Motion { targets: &[target] }, dt_s).unwrap();
                states[i] = next;
                touches.push(touch);
            }
            farthest = farthest.max(worst(&sensor, &touches, &fetch(&presses)));
            poses.iter_mut().zip(&twists).for_each(|(pose, twist)| pose.translation += twist.linear * dt_s);
        }
        println!("{}: largest difference in 30 steps {farthest:.1e}", sensor.name());
        assert!(farthest <= CLOSE, "{farthest:e}");
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn pads_match_the_cpu() {
    let gpu = gpu();
    for name in ["uji-foam-14x6", "wts0614"] {
        let sensor = presets::find(name).unwrap().with_skin(SkinKind::Hydroelastic).unwrap().build(None).unwrap();
        let is_round = |object: &Object| object.surface.primitive().is_some_and(|primitive| primitive.is_round());
        for (what, object) in objects().into_iter().filter(|(_, object)| !is_round(object)) {
            compare(&gpu, &format!("pad of {name}, {what}"), &sensor, &object, 140);
        }
    }
}

/// Taxels at points have the parts that are nearest to them and within reach.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn pressure_fields_under_points_match_the_cpu() {
    let gpu = gpu();
    let ball = "name = \"ball\"\n[surface.spherical-patch]\nradius = \"12 mm\"\nhalf_angle = \"60 deg\"\nspacing = \"3 mm\"\n[skin]\nkind = \"hydroelastic\"\n\
                hydroelastic_modulus = \"0.2 MPa\"\n";
    for sensor in [preset("shadow-fingertip"), described(ball)] {
        for (what, object) in objects().into_iter().filter(|(what, _)| ["cuboid", "mesh"].contains(what)) {
            compare(&gpu, &format!("field of {}, {what}", sensor.name()), &sensor, &object, 70);
        }
    }
}

/// A round primitive on a pressure field has a fine mesh on the GPU, and triangles divided where they are in contact on the
/// CPU: both deviate from the shape by less than 0.5 % of the force at depths of a few tenths of a millimetre and more.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn round_shapes_on_pads_are_near_the_cpu() {
    let gpu = gpu();
    let sensor = presets::find("wts0614").unwrap().with_skin(SkinKind::Hydroelastic).unwrap().build(None).unwrap();
    let arrays = Arrays::new(&gpu, &sensor).unwrap();
    for (what, object) in objects() {
        let Some(primitive) = object.surface.primitive().filter(|primitive| primitive.is_round()) else { continue };
        let lowest = -primitive.support(Vec3::NEG_Z).z;
        let poses: Vec<Pose> =
            [0.3e-3, 0.6e-3, 1e-3].map(|depth| Pose::from_translation(Vec3::Z * (lowest - depth))).to_vec();
        let uploaded = GpuObject::new(&gpu, &object).unwrap();
        let got = fetch(&arrays.settle(&uploaded, &arrays.poses(&poses).unwrap()).unwrap());
        for (i, place) in poses.iter().enumerate() {
            let truth = settled(&sensor, &object, place).on_sensor.force.z;
            let error = (got.wrench[6 * i + 2] / truth - 1.0).abs();
            println!("{what}: {truth} N, {error:.1e}");
            assert!(truth < 0.0 && error < 5e-3, "{what}: {truth} N and {} N", got.wrench[6 * i + 2]);
        }
    }
}

/// Sums have a fixed order, whichever thread finishes first.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn two_runs_give_the_same_bytes() {
    let gpu = gpu();
    let foam = presets::find("uji-foam-14x6").unwrap();
    let poses = places(&mut Random::new(2), 5000);
    let mesh = Object::new(shapes::sphere(8e-3, 1.2e-3).unwrap());
    for spec in [foam.clone(), foam.with_skin(SkinKind::Hydroelastic).unwrap()] {
        let run = || {
            let arrays = Arrays::new(&gpu, &spec.build(None).unwrap()).unwrap();
            let got =
                fetch(&arrays.settle(&GpuObject::new(&gpu, &mesh).unwrap(), &arrays.poses(&poses).unwrap()).unwrap());
            let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            (bits(&got.forces), bits(&got.values), bits(&got.wrench), bits(&got.outside), got.saturated)
        };
        assert!(run() == run());
    }
}

/// Forces that another kernel computed become presses.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn external_forces_are_projected_on_the_normals() {
    let gpu = gpu();
    let sensor = preset("fingertip");
    let ball = objects().swap_remove(0).1;
    let places = places(&mut Random::new(8), 40);
    let arrays = Arrays::new(&gpu, &sensor).unwrap();
    let poses = arrays.poses(&places).unwrap();
    let presses = arrays.settle(&GpuObject::new(&gpu, &ball).unwrap(), &poses).unwrap();
    let (forces, outside, wrench) = (&presses.forces_newton, &presses.outside_newton, &presses.wrench);
    let copy = || (forces.duplicate().unwrap(), outside.duplicate().unwrap(), wrench.duplicate().unwrap());
    let (own_forces, own_outside, own_wrench) = copy();
    let normals = sensor.taxels().normals();
    let again = Presses::of_forces(&gpu, 40, normals, own_forces, own_outside, own_wrench).unwrap();
    assert_eq!(fetch(&again).values, fetch(&presses).values);
    let (_, own_outside, own_wrench) = copy();
    let short = gpu.zeros(3).unwrap();
    let refused = Presses::of_forces(&gpu, 40, normals, short, own_outside, own_wrench).unwrap_err();
    assert!(refused.to_string().contains("`forces` of 40 presses"), "{refused}");
}

/// Poses and velocities in the memory of another library, in every format, give the same presses as those of the host.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn external_poses_are_read_in_every_format() {
    let gpu = gpu();
    let sensor = preset("uji-foam-14x6");
    let object = Arc::new(GpuObject::new(&gpu, &objects().swap_remove(2).1).unwrap());
    let places = places(&mut Random::new(8), 40);
    let arrays = Arc::new(Arrays::new(&gpu, &sensor).unwrap());
    let expected = fetch(&arrays.settle(&object, &arrays.poses(&places).unwrap()).unwrap());
    let close = |got: &[f64], expected: &[f64]| {
        got.iter().zip(expected).for_each(|(got, expected)| assert!((got - expected).abs() < 1e-9, "{got} {expected}"));
    };
    let seven = |pose: &Pose| {
        let (p, q) = (pose.translation, pose.rotation);
        vec![p.x, p.y, p.z, q.w, q.x, q.y, q.z]
    };
    let matrix = |pose: &Pose| {
        let columns = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| pose.rotation * axis);
        let row = |i: usize| vec![columns[0][i], columns[1][i], columns[2][i], pose.translation[i]];
        [row(0), row(1), row(2), vec![0.0, 0.0, 0.0, 1.0]].concat()
    };
    let read = |numbers: Vec<f64>, format: PoseFormat| {
        let memory = gpu.upload(&numbers).unwrap();
        let array = ExternalArray { address: memory.address(), count: numbers.len() / format as usize, is_f32: false };
        // SAFETY: the buffer holds that number of poses and lives until they are read.
        #[allow(unsafe_code)]
        unsafe {
            Poses::of_device(&gpu, array, format)
        }
    };
    for (format, numbers) in [
        (PoseFormat::Quaternion, places.iter().flat_map(seven).collect::<Vec<_>>()),
        (PoseFormat::Matrix, places.iter().flat_map(matrix).collect()),
    ] {
        let got = fetch(&arrays.settle(&object, &read(numbers, format).unwrap()).unwrap());
        close(&got.forces, &expected.forces);
    }
    let refused = read(vec![0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0], PoseFormat::Quaternion).unwrap_err();
    assert!(refused.to_string().contains("pose 0 is no rigid transform"), "{refused}");
    // A velocity at the object's origin, and the same at the sensor's origin.
    let twists = vec![Twist::new(Vec3::new(0.1, -0.2, 0.05), Vec3::new(1.0, 2.0, 3.0)); 40];
    let numbers: Vec<f64> =
        twists.iter().flat_map(|twist| [twist.linear.to_array(), twist.angular.to_array()].concat()).collect();
    let memory = gpu.upload(&numbers).unwrap();
    let poses = arrays.poses(&places).unwrap();
    let array = ExternalArray { address: memory.address(), count: 40, is_f32: false };
    // SAFETY: the buffer holds that number of velocities and lives until they are read.
    #[allow(unsafe_code)]
    let external = unsafe { Twists::of_device(&gpu, array, &poses) }.unwrap();
    let at_sensor: Vec<Twist> =
        twists.iter().zip(&places).map(|(twist, pose)| twist.moved(-pose.translation)).collect();
    let step = |twists: &Twists| {
        fetch(&Environments::on_gpu(&arrays, from_ref(&object), 40).unwrap().step(&poses, twists, 1e-3).unwrap())
    };
    close(&step(&external).forces, &step(&Twists::of_host(&gpu, &at_sensor).unwrap()).forces);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn unsupported_input_is_refused_with_a_reason() {
    let gpu = gpu();
    let layer = Arrays::new(&gpu, &preset("wts0614-layer")).unwrap_err().to_string();
    assert!(layer.contains("wts0614-layer") && layer.contains("device cpu"), "{layer}");
    let text = "name = \"wide\"\n[surface.grid]\nrows = 120\ncols = 120\npitch = \"1 mm\"\n[skin]\nkind = \"springs\"\n\
                stiffness = \"100 N/m\"\ndamping = \"1 N s/m\"\nmax_penetration = \"6 mm\"\n";
    let arrays = Arrays::new(&gpu, &described(text)).unwrap();
    let object_on_gpu = GpuObject::new(&gpu, &objects().swap_remove(0).1).unwrap();
    let poses = Poses::of_host(&gpu, &vec![Pose::IDENTITY; 1_000_000]).unwrap();
    let error = arrays.settle(&object_on_gpu, &poses).unwrap_err();
    assert!(matches!(error, GpuError::OutOfMemory { .. }) && error.to_string().contains("at most"), "{error}");
    let nowhere = [Pose::from_translation(Vec3::new(f64::NAN, 0.0, 0.0))];
    assert!(arrays.poses(&nowhere).unwrap_err().to_string().contains("pose 0 is not finite"));
    assert_eq!(arrays.settle(&object_on_gpu, &arrays.poses(&[]).unwrap()).unwrap().count, 0);
}
