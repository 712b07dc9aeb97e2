//! Several objects in every environment, of shapes that differ, on the GPU against the CPU.

use crate::gpu;
use dermis_geometry::{Pose, Primitive, Quat, Random, Vec3, shapes};
use dermis_gpu::array::Arrays;
use dermis_gpu::environments::{
    Bindings, Element, Environments, NO_OFFSET, NO_SUCH_OBJECT, NOT_FINITE, ObjectArrays, Randomisation,
    RotationFormat, View,
};
use dermis_gpu::{Gpu, GpuObject};
use dermis_sensor::{Sensor, SensorSpec, presets};
use dermis_skin::Object;
use std::sync::Arc;

const DT_S: f64 = 1e-3;
const COUNT: usize = 70;
/// Numbers of a body: position, quaternion w first, velocity.
const EACH: usize = 13;

/// A ball, a box, a mesh, a capsule and a mesh with other triangles.
fn all_shapes() -> Vec<Arc<Object>> {
    let primitive = |primitive| Object::of_primitive(primitive, 1e-3).unwrap();
    [
        primitive(Primitive::Sphere { radius_m: 7e-3 }),
        primitive(Primitive::Cuboid { half_m: Vec3::new(5e-3, 4e-3, 6e-3) }),
        Object::new(shapes::sphere(7e-3, 0.8e-3).unwrap()),
        primitive(Primitive::Capsule { radius_m: 3e-3, half_length_m: 5e-3 }),
        Object::new(shapes::cuboid(Vec3::splat(9e-3)).unwrap()),
    ]
    .map(Arc::new)
    .to_vec()
}

/// Bodies of all environments: the sensor, then the objects.
fn bodies(random: &mut Random, objects: usize) -> Vec<Vec<f64>> {
    let mut side = || random.uniform() * 2.0 - 1.0;
    let mut vector = |scale: f64| Vec3::new(side(), side(), side()) * scale;
    let mut all = vec![Vec::new(); objects + 1];
    for _ in 0..COUNT {
        let on = Pose::new(Quat::from_scaled_axis(vector(2.0)), vector(1.0));
        for (k, body) in all.iter_mut().enumerate() {
            let at = Pose::new(Quat::from_scaled_axis(vector(2.0)), Vec3::Z * 6e-3 + vector(5e-3));
            let pose = if k == 0 { on } else { on * at };
            let (p, q, v, w) = (pose.translation, pose.rotation, vector(0.1), vector(1.0));
            body.extend([p.x, p.y, p.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z]);
        }
    }
    all
}

/// Addresses of all arrays, in host or GPU memory.
struct Addresses {
    bodies: Vec<u64>,
    indices: Vec<u64>,
    taxels: u64,
    wrench: u64,
    /// Loads on the sensor, then on the objects; the last two objects share an array.
    loads: Vec<u64>,
}

fn bind(to: &mut Environments, at: &Addresses, columns: usize) {
    let mut bindings = Bindings::new(DT_S);
    let body = |k: usize| {
        let view = |first: u64| View::new(at.bodies[k] + 8 * first, &[EACH as i64, 1], Element::F64);
        dermis_gpu::environments::BodyArrays {
            position: view(0),
            rotation: view(3),
            twist: view(7),
            rotation_format: RotationFormat::QuaternionWFirst as i32,
            center: [1e-3, -2e-3, 3e-3],
            load: View::new(at.loads[k], &[6, 1], Element::F64),
            offset: NO_OFFSET,
            ..Default::default()
        }
    };
    bindings.sensor = body(0);
    bindings.taxels = View::new(at.taxels, &[columns as i64, 1], Element::F64);
    bindings.wrench = View::new(at.wrench, &[6, 1], Element::F64);
    let count = at.indices.len();
    let object = |k: usize| ObjectArrays {
        body: body(k + 1),
        shape: View::new(at.indices[k], &[1], if k == 0 { Element::I64 } else { Element::I32 }),
        add: i32::from(count > 1 && k + 1 == count),
        ..ObjectArrays::default()
    };
    let objects: Vec<_> = (0..count).map(object).collect();
    // SAFETY: the arrays have a row per environment and live until the end of the step.
    #[allow(unsafe_code)]
    unsafe { to.bind_objects(bindings, &objects) }.unwrap();
}

fn compare(gpu: &Arc<Gpu>, label: &str, sensor: &Sensor, objects: usize, is_random: bool) {
    let (shapes, columns) = (all_shapes(), sensor.taxels().len());
    let arrays = Arc::new(Arrays::new(gpu, sensor).unwrap());
    let uploaded: Vec<_> = shapes.iter().map(|shape| Arc::new(GpuObject::new(gpu, shape).unwrap())).collect();
    let mut there = Environments::on_gpu(&arrays, &uploaded, COUNT).unwrap();
    let mut here = Environments::on_cpu(sensor, &shapes, COUNT).unwrap();
    if is_random {
        let mut ranges = Randomisation::new(5);
        for name in ["stiffness", "friction"] {
            ranges.set(name, [0.5, 1.5]).unwrap();
        }
        there.randomise(ranges).unwrap();
        here.randomise(ranges).unwrap();
    }
    let (mut random, mut farthest, mut largest, mut both) = (Random::new(31), 0.0f64, 0.0f64, 0);
    let mut inputs = bodies(&mut random, objects);
    let mut taxels = vec![7.0f64; columns * COUNT];
    let mut wrench = vec![7.0f64; 6 * COUNT];
    // Two objects of one body add to the same array.
    let arrays_of_loads = objects.max(2);
    let mut loads = vec![vec![7.0f64; 6 * COUNT]; arrays_of_loads];
    let place = |k: usize| k.min(arrays_of_loads - 1);
    let on_gpu: Vec<_> =
        [&taxels, &wrench].into_iter().chain(&loads).map(|values| gpu.upload(values).unwrap()).collect();
    let mask: Vec<u8> = (0..COUNT).map(|i| u8::from(i % 4 == 0)).collect();
    let mask_there = gpu.upload(&mask).unwrap();
    for step in 0..16 {
        let shape = |i: usize, k: usize| (i + k + step / 6) % shapes.len();
        // The first indices have 64 bits.
        let mut wide: Vec<i64> = (0..COUNT).map(|i| shape(i, 0) as i64).collect();
        let mut narrow: Vec<Vec<i32>> =
            (1..objects).map(|k| (0..COUNT).map(|i| shape(i, k) as i32).collect()).collect();
        if step == 8 {
            (wide[1], wide[2]) = (-1, i64::MAX);
            if let Some(last) = narrow.last_mut() {
                last[3] = shapes.len() as i32;
            }
            inputs[objects][4 * EACH] = f64::NAN;
        }
        if step == 9 {
            inputs[objects][4 * EACH] = inputs[0][4 * EACH];
        }
        if step == 11 {
            // SAFETY: the masks have an element per environment and live until the work is done.
            #[allow(unsafe_code)]
            unsafe {
                there.reset(&View::new(mask_there.address(), &[1], Element::U8), 0).unwrap();
                here.reset(&View::new(mask.as_ptr() as u64, &[1], Element::U8), 0).unwrap();
            }
        }
        let moved: Vec<_> = inputs.iter().map(|body| gpu.upload(body).unwrap()).collect();
        let (wide_there, narrow_there) =
            (gpu.upload(&wide).unwrap(), narrow.iter().map(|k| gpu.upload(k).unwrap()).collect::<Vec<_>>());
        gpu.finish().unwrap();
        let indices = |first: u64, others: Vec<u64>| [vec![first], others].concat();
        bind(
            &mut there,
            &Addresses {
                bodies: moved.iter().map(|buffer| buffer.address()).collect(),
                indices: indices(wide_there.address(), narrow_there.iter().map(|b| b.address()).collect()),
                taxels: on_gpu[0].address(),
                wrench: on_gpu[1].address(),
                loads: (0..=objects).map(|k| on_gpu[2 + place(k)].address()).collect(),
            },
            columns,
        );
        bind(
            &mut here,
            &Addresses {
                bodies: inputs.iter().map(|body| body.as_ptr() as u64).collect(),
                indices: indices(wide.as_ptr() as u64, narrow.iter().map(|k| k.as_ptr() as u64).collect()),
                taxels: taxels.as_mut_ptr() as u64,
                wrench: wrench.as_mut_ptr() as u64,
                loads: (0..=objects).map(|k| loads[place(k)].as_mut_ptr() as u64).collect(),
            },
            columns,
        );
        there.launch(0).unwrap();
        here.launch(0).unwrap();
        gpu.finish_all_streams().unwrap();
        let expected: Vec<&[f64]> =
            [&taxels[..], &wrench[..]].into_iter().chain(loads.iter().map(|load| &load[..])).collect();
        for (expected, got) in expected.into_iter().zip(&on_gpu) {
            for (expected, got) in expected.iter().zip(got.download().unwrap()) {
                assert!(got.is_finite());
                farthest = farthest.max((expected - got).abs());
                largest = largest.max(expected.abs());
            }
        }
        let acts = |load: &[f64]| load[..3].iter().any(|force| *force != 0.0);
        both += (0..COUNT).filter(|i| loads[1..].iter().all(|load| acts(&load[6 * i..]))).count();
        assert_eq!(there.status().unwrap(), here.status().unwrap(), "{label}, step {step}");
        if step == 8 {
            let expected = if objects > 1 {
                [NO_SUCH_OBJECT, NO_SUCH_OBJECT, NO_SUCH_OBJECT, NOT_FINITE]
            } else {
                [NO_SUCH_OBJECT, NO_SUCH_OBJECT, 0, NOT_FINITE]
            };
            let got = there.status().unwrap();
            assert!((0..4).all(|i| got[i + 1] & !8 == expected[i]), "{label}: {:?}", &got[..5]);
        }
        for body in &mut inputs {
            for row in body.chunks_mut(EACH) {
                (0..3).for_each(|axis| row[axis] += DT_S * row[7 + axis]);
            }
        }
    }
    println!("{label}: largest {largest:.2e}, largest difference {farthest:.1e}, all objects touch in {both} steps");
    assert!(largest > 0.01 && farthest <= 1e-9 * largest.max(1.0), "{label}: {farthest:e} of {largest}");
    assert!(both > COUNT, "{label}: {both}");
    let refused = there.check().unwrap_err().to_string();
    assert!(refused.contains("not in the list of objects"), "{refused}");
}

/// One object whose shape differs and changes, and two and four objects at once, with springs that are taxels and sums over
/// springs; indices out of range and a pose that is not finite; a reset by mask.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn several_objects_match_the_cpu() {
    let gpu = gpu();
    let foam = presets::find("uji-foam-14x6").unwrap().build(None).unwrap();
    let text = "name = \"t\"\ncontact_points = 4\n[surface.grid]\nrows = 10\ncols = 7\npitch = \"3 mm\"\n[skin]\nkind = \"springs\"\n\
                stiffness = \"100 N/m\"\ndamping = \"1 N s/m\"\nmax_penetration = \"6 mm\"\n[reading]\nkind = \"gaussian\"\nsigma = \"2 mm\"\n";
    let spread = SensorSpec::parse("the test", text).unwrap().build(None).unwrap();
    let text = "name = \"u\"\ncontact_points = 1\n[surface.grid]\nrows = 20\ncols = 15\npitch = \"1.5 mm\"\n[skin]\nkind = \"springs\"\n\
                stiffness = \"30 N/m\"\ndamping = \"0.1 N s/m\"\nmax_penetration = \"6 mm\"\n[skin.friction]\nkind = \"lugre\"\n\
                sigma0 = \"20 N/m\"\nsigma1 = \"0.1 N s/m\"\nviscous = \"0.1 N s/m\"\nmu_static = 0.6\nmu_dynamic = 0.5\n\
                stribeck_speed = \"0.01 m/s\"\n";
    let plain = SensorSpec::parse("the test", text).unwrap().build(None).unwrap();
    for (label, sensor, objects, is_random) in [
        ("plain, one object", &plain, 1, false),
        ("plain, two objects", &plain, 2, false),
        ("plain, five objects", &plain, 5, true),
        ("foam, one object", &foam, 1, false),
        ("foam, two objects", &foam, 2, false),
        ("foam, four objects, random", &foam, 4, true),
        ("cover, three objects", &spread, 3, false),
    ] {
        compare(&gpu, label, sensor, objects, is_random);
    }
}
