//! Force is conserved between skin and taxels.
//!
//! The force vectors of the taxels plus the force outside them equal the force on the sensor, up to rounding: 1e-12 of
//! Σ|f|. Not tested: the assignment of forces to taxels (unit tests of `taxels.rs`) and the scalar values, which are
//! projections and need not sum to the force on curved sensors.

use crate::common;

use common::{parameters, preset, sphere};
use dermis_geometry::{Pose, Quat, Random, Twist, Vec3, shapes};
use dermis_sensor::{Response, Sensor, Taxels};
use dermis_skin::{Corner, Facet, Load, Motion, Object, Site, Springs, Tangent, Target, Touch};

fn check(sensor: &Sensor, touch: &Touch) -> Vec3 {
    let reading = sensor.read(touch);
    let scale: f64 = touch.facets.iter().map(|facet| facet.force_on_sensor().length()).sum();
    let lost = (reading.net_force_newton() - touch.on_sensor.force).length();
    assert!(lost <= 1e-12 * scale, "{}: {lost} N of {scale} N", sensor.name());
    assert_eq!(reading.forces_newton.len(), sensor.taxels().len());
    reading.outside_newton
}

/// A taxel array on a skin that extends beyond it, flat and curved.
fn narrow_sensors() -> Vec<Sensor> {
    let flat = Springs::new(Site::grid(20, 20, 1e-3, 2), parameters()).unwrap();
    let cap = shapes::spherical_patch(20e-3, 0.9, 1.5e-3).unwrap();
    let curved = Springs::new(Site::from_mesh(&cap, 2), parameters()).unwrap();
    let (normals, areas) = (cap.vertex_normals(), cap.vertex_areas_m2());
    let inner: Vec<usize> = (0..normals.len()).filter(|&v| cap.vertices()[v].x > 0.0).collect();
    let taxels = Taxels::points(
        inner.iter().map(|&v| cap.vertices()[v]).collect(),
        inner.iter().map(|&v| normals[v]).collect(),
        inner.iter().map(|&v| areas[v]).collect(),
        1.2e-3,
    );
    let plate = shapes::grid(2, 2, 20e-3).unwrap();
    vec![
        Sensor::new("narrow", flat, Taxels::grid(4, 6, 2e-3), Response::default(), plate),
        Sensor::new("half a cap", curved, taxels, Response::default(), cap),
    ]
}

/// Objects that slide and spin on every preset, and on skins larger than their taxels, where part of the force is
/// outside.
#[test]
fn taxels_and_outside_add_up_to_the_force() {
    let mut random = Random::new(42);
    let objects = [
        sphere(8e-3, 1.5e-3),
        common::cuboid(9e-3, 14e-3, 8e-3),
        Object::new(shapes::torus(7e-3, 2.5e-3, 1.2e-3).unwrap()),
    ];
    // Objects cannot start deep inside a gel: gels are pressed below.
    let names = dermis_sensor::presets::names().filter(|name| *name != "tacchi");
    let sensors: Vec<Sensor> = names.map(preset).chain(narrow_sensors()).collect();
    let (mut touched, mut fell_outside) = (0, 0);
    for sensor in &sensors {
        // A layer with friction takes a thousand times as long as springs.
        let is_layer = sensor.skin_as::<dermis_skin::Layer>().is_some();
        let deepest_m = if is_layer { 0.9 * sensor.skin().max_depth_m() } else { f64::INFINITY };
        for object in &objects[..if is_layer { 1 } else { objects.len() }] {
            for _ in 0..if is_layer { 1 } else { 8 } {
                let axis = random.direction();
                let turn = Quat::from_axis_angle(axis, random.between(0.0, 3.0));
                let lowest =
                    object.surface.mesh().vertices().iter().map(|&v| (turn * v).z).fold(f64::INFINITY, f64::min);
                let (x, y) = (random.between(-6e-3, 6e-3), random.between(-6e-3, 6e-3));
                let depth_m = random.between(0.0, 2.5e-3).min(deepest_m);
                let pose = Pose::new(turn, Vec3::new(x, y, -lowest - depth_m));
                let velocity = Twist::new(random.direction() * 0.02, random.direction());
                let mut state = sensor.skin().rest();
                for _ in 0..3 {
                    let target = Target { object, sensor_from_object: pose, velocity };
                    let (touch, next) = sensor.touch(&state, &Motion { targets: &[target] }, 1e-3).unwrap();
                    touched += usize::from(!touch.facets.is_empty());
                    fell_outside += usize::from(check(sensor, &touch) != Vec3::ZERO);
                    state = next;
                }
            }
        }
    }
    println!("{touched} touches, {fell_outside} with force outside the taxels");
    assert!(touched > 300 && fell_outside > 50, "{touched}, {fell_outside}");
}

/// A ball pressed on a gel at rest, partly beside the taxels, and then dragged while the gel moves.
#[test]
fn gels_lose_nothing_either() {
    let preset = dermis_sensor::presets::find("digit").unwrap();
    let mut spec = preset.with_skin(dermis_sensor::SkinKind::Gel).unwrap();
    let dermis_sensor::SkinSpec::Gel(gel) = &mut spec.skin else { unreachable!() };
    gel.cell = Some(dermis_geometry::quantity::Length::new(1e-3));
    let sensor = spec.build(None).unwrap();
    let ball = sphere(5e-3, 0.5e-3);
    let place = |x: f64| Pose::from_translation(Vec3::new(x, 1e-3, 5e-3 - 0.8e-3));
    let pressed = Target::at_rest(&ball, place(9.5e-3));
    let (touch, state) = sensor.skin().settle(&sensor.skin().rest(), &Motion { targets: &[pressed] }).unwrap();
    assert!(check(&sensor, &touch).z < 0.0, "some of it lies beside the taxels");
    let velocity = Twist::new(Vec3::X * -0.05, Vec3::ZERO);
    let dragged = Target { object: &ball, sensor_from_object: place(9.45e-3), velocity };
    let (touch, _) = sensor.touch(&state, &Motion { targets: &[dragged] }, 1e-3).unwrap();
    check(&sensor, &touch);
    assert!(touch.on_objects[0].force.x > 0.0, "friction holds it back: {}", touch.on_objects[0].force);
}

/// Polygons with varying pressure and shear, some over the taxels and some outside: the force of each is conserved.
#[test]
fn polygons_are_not_lost_either() {
    let mut random = Random::new(9);
    let facets: Vec<Facet> = (0..200)
        .map(|_| {
            let middle = Vec3::new(random.between(-9e-3, 9e-3), random.between(-9e-3, 9e-3), -0.2e-3);
            let count = 3 + random.next_u32() as usize % 5;
            let corner = |i: usize, random: &mut Random| {
                let (sin, cos) = (std::f64::consts::TAU * i as f64 / count as f64).sin_cos();
                Corner {
                    at: middle + Vec3::new(cos, sin, 0.0) * 0.4e-3,
                    pressure_pa: random.between(0.0, 1e4),
                    shear_pa: Vec3::new(random.between(-3e3, 3e3), random.between(-3e3, 3e3), 0.0),
                }
            };
            let corners = (0..count).map(|i| corner(i, &mut random)).collect();
            Facet {
                object: random.next_u32() % 2,
                normal: Vec3::Z,
                depth_m: 0.2e-3,
                saturated: false,
                load: Load::Polygon(corners),
                tangent: Tangent::default(),
            }
        })
        .collect();
    let touch = Touch::from_facets(facets, 2);
    let on_objects = touch.on_objects[0].force + touch.on_objects[1].force;
    assert!((on_objects + touch.on_sensor.force).length() < 1e-12 * on_objects.length());
    for sensor in &narrow_sensors() {
        let outside = check(sensor, &touch);
        assert!(outside.z < 0.0 && outside.z > touch.on_sensor.force.z, "{}: {outside}", sensor.name());
    }
}

/// A skin without contact reads zero everywhere.
#[test]
fn nothing_reads_nothing() {
    for sensor in narrow_sensors() {
        let (touch, state) = sensor.touch(&sensor.skin().rest(), &Motion { targets: &[] }, 1e-3).unwrap();
        let reading = sensor.read(&touch);
        assert_eq!((reading.sum_newton, reading.raw_sum, reading.active(), reading.coverage()), (0.0, 0, 0, 0.0));
        assert_eq!(reading.outside_newton, Vec3::ZERO);
        assert_eq!(state, sensor.skin().rest());
    }
}
