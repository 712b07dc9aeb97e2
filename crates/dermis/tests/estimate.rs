//! Pose and size of objects from single readings: simulated readings with noise return what made them.

use dermis::estimate::{
    Estimate, EstimateError, Freedom, Measured, Placement, Unknown, estimate, estimate_pose, press_at,
};
use dermis::geometry::Primitive;
use dermis::prelude::*;
use dermis::sensor::optics::FloatImage;

const OPTICAL: &str = r#"name = "optical"

[surface.grid]
rows = 5
cols = 6
pitch = "2 mm"

[skin]
kind = "layer"
thickness = "4 mm"
young = "150 kPa"
poisson = 0.45
cell = "0.3 mm"

[camera]
width = 160
height = 120
pixel = "0.07 mm"

[light]
kind = "phong"
relative = true
background = { colour = [110.0, 120.0, 100.0] }

[[light.sources]]
azimuth = "20 deg"
elevation = "30 deg"
diffuse = [120.0, 0.0, 0.0]

[[light.sources]]
azimuth = "140 deg"
elevation = "25 deg"
diffuse = [0.0, 110.0, 0.0]

[[light.sources]]
azimuth = "265 deg"
elevation = "40 deg"
diffuse = [0.0, 0.0, 130.0]
"#;

/// Number of fits whose intervals are counted.
const FITS: usize = 40;

fn optical() -> Sensor {
    SensorSpec::parse("optical.toml", OPTICAL).unwrap().build(None).unwrap()
}

fn ball(radius_m: f64) -> Object {
    Object::of_primitive(Primitive::Sphere { radius_m }, radius_m / 20.0).unwrap()
}

/// Noise between −1 and 1.
fn noise(i: usize) -> f64 {
    let mixed = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    mixed as f64 / f64::from(1u32 << 23) - 1.0
}

/// What a camera of 8 bits would give, with noise of two levels.
fn seen(sensor: &Sensor, object: &Object, placement: &Placement) -> FloatImage {
    let pressed = press_at(sensor, object, placement).unwrap().unwrap();
    let mut image = sensor.render(&pressed.touch, 0).unwrap().image;
    for (c, channel) in image.channels.iter_mut().enumerate() {
        let noisy = |(i, level): (usize, &mut f32)| *level = (*level + 2.0 * noise(3 * i + c) as f32).round();
        channel.iter_mut().enumerate().for_each(noisy);
    }
    image
}

const AT_REST: Placement =
    Placement { at_m: [0.0; 2], depth_m: 0.0, tilt_rad: [0.0; 2], yaw_rad: 0.0, shear_m: [0.0; 2], scale: 1.0 };

fn covers(found: &Estimate, unknown: Unknown, truth: f64) -> bool {
    let [low, high] = found.interval(unknown).unwrap();
    // Three standard errors.
    let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
    (truth - middle).abs() <= 3.0 / 1.96 * half
}

/// The radius is known only to 25 %, the position not at all.
#[test]
fn centre_and_radius_of_a_ball_come_from_one_noisy_image() {
    let sensor = optical();
    let (at_m, depth_m, radius_m) = ([1.4e-3, -0.9e-3], 0.5e-3, 2e-3);
    let truth = Placement { at_m, depth_m, ..AT_REST };
    let image = seen(&sensor, &ball(radius_m), &truth);
    let unknowns = [Unknown::X, Unknown::Y, Unknown::Depth, Unknown::Scale];
    let found = estimate(&sensor, &ball(2.5e-3), Measured::Image(&image), AT_REST, &unknowns, &|_| ()).unwrap();
    let placement = found.placement;
    assert!(found.converged && found.rms < 2.0, "{found:?}");
    assert!((placement.at_m[0] - at_m[0]).hypot(placement.at_m[1] - at_m[1]) < 10e-6, "{found:?}");
    assert!((placement.scale * 2.5e-3 / radius_m - 1.0).abs() < 0.01, "{found:?}");
    let scale = radius_m / 2.5e-3;
    for (unknown, truth) in [(Unknown::X, at_m[0]), (Unknown::Y, at_m[1]), (Unknown::Scale, scale)] {
        assert!(covers(&found, unknown, truth), "{unknown:?}: {found:?}");
    }
}

#[test]
fn the_rotation_of_a_cuboid_comes_from_one_image() {
    let sensor = optical();
    let object = Object::of_primitive(Primitive::Cuboid { half_m: Vec3::new(2e-3, 0.8e-3, 1e-3) }, 1e-4).unwrap();
    let truth = Placement { at_m: [0.5e-3, 0.4e-3], depth_m: 0.3e-3, yaw_rad: 0.6, ..AT_REST };
    let image = seen(&sensor, &object, &truth);
    let unknowns = [Unknown::X, Unknown::Y, Unknown::Depth, Unknown::Yaw];
    let found = estimate(&sensor, &object, Measured::Image(&image), AT_REST, &unknowns, &|_| ()).unwrap();
    let turned = (found.placement.yaw_rad - 0.6).rem_euclid(std::f64::consts::PI);
    assert!(turned.min(std::f64::consts::PI - turned) < 1f64.to_radians(), "{found:?}");
    let off = (found.placement.at_m[0] - 0.5e-3).hypot(found.placement.at_m[1] - 0.4e-3);
    assert!(off < 0.05e-3, "{found:?}");
}

#[test]
fn position_and_depth_come_from_taxels() {
    let sensor = dermis::sensor::presets::find("weiss-dsa").unwrap().build(None).unwrap();
    let truth = Placement { at_m: [2.1e-3, -4.3e-3], depth_m: 0.8e-3, ..AT_REST };
    let pressed = press_at(&sensor, &ball(10e-3), &truth).unwrap().unwrap();
    let peak = pressed.reading.values_newton.iter().copied().fold(0.0, f64::max);
    let noisy: Vec<f64> =
        pressed.reading.values_newton.iter().enumerate().map(|(i, v)| v + 0.01 * peak * noise(i)).collect();
    let unknowns = [Unknown::X, Unknown::Y, Unknown::Depth];
    let found = estimate(&sensor, &ball(10e-3), Measured::Taxels(&noisy), AT_REST, &unknowns, &|_| ()).unwrap();
    for (value, truth) in found.placement.at_m.iter().zip(truth.at_m) {
        assert!((value - truth).abs() < 0.1e-3, "{found:?}");
    }
    assert!((found.placement.depth_m / truth.depth_m - 1.0).abs() < 0.03, "{found:?}");
}

/// Few taxels are loaded: intervals of 95 % cover nearly as many of the truths, whether all taxels have the same noise or one in
/// proportion to their load.
#[test]
fn intervals_from_few_taxels_cover_the_truth() {
    let text = OPTICAL.split("[camera]").next().unwrap().replace("0.3 mm", "0.8 mm");
    let sensor = SensorSpec::parse("few.toml", &text).unwrap().build(None).unwrap();
    let object = ball(4e-3);
    let unknowns = [Unknown::X, Unknown::Y, Unknown::Depth];
    let mut random = dermis::geometry::Random::new(5);
    for (sd, relative) in [(3e-3, 0.0), (0.2e-3, 0.03)] {
        let (mut covered, mut all) = ([0; 3], 0);
        for _ in 0..FITS {
            let mut place = || 3e-3 * (2.0 * random.uniform() - 1.0);
            let truth = Placement { at_m: [place(), place()], depth_m: 0.5e-3, ..Placement::default() };
            let forces = press_at(&sensor, &object, &truth).unwrap().unwrap().reading.values_newton;
            let noisy: Vec<f64> =
                forces.iter().map(|force| force + (sd + relative * force) * random.normal()).collect();
            let found = estimate(&sensor, &object, Measured::Taxels(&noisy), truth, &unknowns, &|_| ()).unwrap();
            let truths = [truth.at_m[0], truth.at_m[1], truth.depth_m];
            for (k, (unknown, truth)) in unknowns.into_iter().zip(truths).enumerate() {
                let [low, high] = found.interval(unknown).unwrap();
                covered[k] += i32::from((low..=high).contains(&truth));
            }
            all += 1;
        }
        let part = f64::from(covered.iter().sum::<i32>()) / f64::from(3 * all);
        assert!((0.85..=0.995).contains(&part), "{covered:?} of {all}");
    }
}

#[test]
fn readings_without_contact_or_of_another_sensor_are_refused() {
    let sensor = optical();
    let unknowns = [Unknown::X];
    let blank = FloatImage::new(160, 120, [110.0, 120.0, 100.0]);
    let refused = |measured: Measured<'_>, unknowns: &[Unknown]| {
        estimate(&sensor, &ball(2e-3), measured, AT_REST, unknowns, &|_| ()).unwrap_err()
    };
    assert!(matches!(refused(Measured::Image(&blank), &unknowns), EstimateError::NoContact { .. }));
    assert!(matches!(refused(Measured::Image(&blank), &[]), EstimateError::NothingUnknown));
    let small = FloatImage::new(16, 12, [0.0; 3]);
    assert!(refused(Measured::Image(&small), &unknowns).to_string().contains("16 x 12"));
    assert!(refused(Measured::Taxels(&[1.0]), &unknowns).to_string().contains("1 taxels"));
    assert!(matches!(refused(Measured::Taxels(&[0.0; 30]), &unknowns), EstimateError::NoContact { .. }));
    assert!(matches!(refused(Measured::Taxels(&[f64::NAN; 30]), &unknowns), EstimateError::NoContact { .. }));
}

const MAGNETIC: &str = r#"name = "magnetic"

[surface.grid]
rows = 5
cols = 5
pitch = "4 mm"

[skin]
kind = "layer"
thickness = "5 mm"
young = "0.2 MPa"
poisson = 0.45
cell = "0.8 mm"
mu = 0.8

[magnets]
lattice = { rows = 2, cols = 2, pitch = "8 mm", depth = "2.5 mm" }
shape = { kind = "cylinder", diameter = "3 mm", height = "1 mm", remanence = "1.2 T" }

[magnetometers]
positions = [["0 mm", "0 mm", "-7 mm"], ["6 mm", "0 mm", "-7 mm"], ["-6 mm", "0 mm", "-7 mm"], ["0 mm", "6 mm", "-7 mm"], ["0 mm", "-6 mm", "-7 mm"]]
range = "50 mT"
bits = 16
noise = { sd = ["2 uT", "2 uT", "2 uT"] }
"#;

/// Place, normal force and shear force from the channels of five noisy chips, which are rounded to 1.5 µT: the intervals
/// cover the truth.
#[test]
fn place_and_forces_of_a_sheared_contact_come_from_magnetometers() {
    let sensor = SensorSpec::parse("magnetic.toml", MAGNETIC).unwrap().build(None).unwrap();
    let magnetics = sensor.magnetics().unwrap();
    let truth = Placement { at_m: [1.5e-3, -2e-3], depth_m: 0.6e-3, shear_m: [0.12e-3, -0.08e-3], ..AT_REST };
    let pressed = press_at(&sensor, &ball(6e-3), &truth).unwrap().unwrap();
    let force = pressed.touch.on_sensor.force.to_array();
    assert!(force[0].hypot(force[1]) > 0.1 * force[2].abs(), "{force:?}");
    // Nearly normal: the sum of twelve uniform numbers.
    let normal = |i: usize| (0..12).map(|k| 0.5 * noise(12 * i + k + 7)).sum::<f64>();
    let field = pressed.reading.magnetic_tesla.unwrap();
    let noisy = |(chip, (field, rest)): (usize, (&Vec3, &Vec3))| {
        let error = Vec3::new(normal(3 * chip), normal(3 * chip + 1), normal(3 * chip + 2)) * 2e-6;
        *field - *rest + error
    };
    let changes: Vec<Vec3> = field.iter().zip(magnetics.rest()).enumerate().map(noisy).collect();
    let unknowns = [Unknown::X, Unknown::Y, Unknown::Depth, Unknown::ShearX, Unknown::ShearY];
    let measured = Measured::Magnetic(&changes);
    let found = estimate(&sensor, &ball(6e-3), measured, AT_REST, &unknowns, &|_| ()).unwrap();
    assert!(found.converged && found.rms < 5.0 && found.explained > 0.99, "{found:?}");
    for (unknown, truth) in unknowns.iter().zip([1.5e-3, -2e-3, 0.6e-3, 0.12e-3, -0.08e-3]) {
        assert!(covers(&found, *unknown, truth), "{unknown:?}: {found:?}");
        let [low, high] = found.interval(*unknown).unwrap();
        assert!(high - low < 0.4e-3, "{unknown:?}: {found:?}");
    }
    for axis in 0..3 {
        let [low, high] = found.force_interval(axis);
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
        assert!((force[axis] - middle).abs() <= 3.0 / 1.96 * half, "{axis}: {force:?} {found:?}");
        assert!(half < 0.2 * force[2].abs(), "{axis}: {force:?} {found:?}");
    }
    // What cannot be estimated is refused.
    let refused = |changes: &[Vec3], unknowns: &[Unknown]| {
        estimate(&sensor, &ball(6e-3), Measured::Magnetic(changes), AT_REST, unknowns, &|_| ()).unwrap_err()
    };
    assert!(matches!(refused(&changes[..2], &unknowns), EstimateError::OtherChips { got: 2, expected: 5, .. }));
    assert!(matches!(refused(&[Vec3::ZERO; 5], &unknowns), EstimateError::NoContact { .. }));
    let clipped = [Vec3::splat(0.2), Vec3::splat(0.2), Vec3::splat(0.2), Vec3::splat(0.2), changes[4]];
    assert!(matches!(refused(&clipped, &unknowns), EstimateError::FewChannels { channels: 3, unknowns: 5, .. }));
}

/// All six freedoms of a tilted object with three unequal edges, started 0.9 mm and 10 degrees away and above the sensor.
#[test]
fn the_whole_pose_comes_from_one_noisy_image() {
    let sensor = optical();
    let object = Object::of_primitive(Primitive::Cuboid { half_m: Vec3::new(2e-3, 1.2e-3, 1e-3) }, 1e-4).unwrap();
    let truth = Placement { at_m: [0.5e-3, 0.4e-3], depth_m: 0.5e-3, yaw_rad: 0.6, tilt_rad: [0.05, -0.08], ..AT_REST };
    let image = seen(&sensor, &object, &truth);
    let truth = press_at(&sensor, &object, &truth).unwrap().unwrap().sensor_from_object;
    let away = Pose::new(
        Quat::from_scaled_axis(Vec3::new(1.0, -1.0, 1.0).normalize() * 10f64.to_radians()) * truth.rotation,
        truth.translation + Vec3::new(0.4e-3, -0.4e-3, 0.7e-3),
    );
    let measured = Measured::Image(&image);
    let found = estimate_pose(&sensor, &object, measured, &away, &Freedom::ALL, &|_| ()).unwrap();
    let off_m = found.sensor_from_object.translation - truth.translation;
    let off_rad = (found.sensor_from_object.rotation * truth.rotation.conjugate()).to_scaled_axis();
    assert!(off_m.length() < 20e-6 && off_rad.length() < 0.5f64.to_radians(), "{off_m} {off_rad} {found:?}");
    for axis in 0..3 {
        assert!(off_m[axis].abs() < 4.0 * found.position_errors_m[axis], "{axis}: {off_m} {found:?}");
        assert!(off_rad[axis].abs() < 4.0 * found.rotation_errors_rad[axis], "{axis}: {off_rad} {found:?}");
    }
}

/// The reading of an object with edges on discrete contact points has steps, which the result says; and an image without contact
/// has no pose.
#[test]
fn doubtful_poses_are_told() {
    let foam = dermis::sensor::presets::find("uji-foam-14x6").unwrap().build(None).unwrap();
    let size = Vec3::new(6e-3, 4e-3, 3e-3);
    for (shape, warned) in
        [(Primitive::Cuboid { half_m: size }, true), (Primitive::Ellipsoid { semi_axes_m: 2.0 * size }, false)]
    {
        let object = Object::of_primitive(shape, 5e-4).unwrap();
        let pressed = press(&foam, &object, &Aim::default(), Goal::Depth(1e-3)).unwrap();
        let (start, measured) = (pressed.sensor_from_object, Measured::Taxels(&pressed.reading.values_newton));
        let found = estimate_pose(&foam, &object, measured, &start, &Freedom::ALL, &|_| ()).unwrap();
        assert_eq!(found.warnings.iter().any(|warning| warning.contains("increase `contact_points`")), warned);
    }
    let sensor = optical();
    let (touch, _) = sensor.skin().settle(&sensor.skin().rest(), &Motion { targets: &[] }).unwrap();
    let image = sensor.render(&touch, 0).unwrap().image;
    let start = press_at(&sensor, &ball(2e-3), &Placement { depth_m: 0.3e-3, ..AT_REST }).unwrap().unwrap();
    let measured = Measured::Image(&image);
    let none = estimate_pose(&sensor, &ball(2e-3), measured, &start.sensor_from_object, &Freedom::ALL, &|_| ());
    assert!(matches!(none, Err(EstimateError::NoContact { .. })), "{none:?}");
}

/// No reading shows the rotation of a ball: it stays, and with it as an unknown nothing is determined.
#[test]
fn the_rotation_of_a_ball_is_left_out() {
    let sensor = optical();
    let truth = Placement { at_m: [0.5e-3, 0.4e-3], depth_m: 0.5e-3, ..AT_REST };
    let image = seen(&sensor, &ball(2e-3), &truth);
    let truth = press_at(&sensor, &ball(2e-3), &truth).unwrap().unwrap().sensor_from_object;
    let start = Pose::new(Quat::from_rotation_x(0.3), truth.translation + Vec3::new(-0.5e-3, 0.6e-3, -0.3e-3));
    let along = [Freedom::AlongX, Freedom::AlongY, Freedom::AlongZ];
    let measured = Measured::Image(&image);
    let found = estimate_pose(&sensor, &ball(2e-3), measured, &start, &along, &|_| ()).unwrap();
    assert!(found.sensor_from_object.rotation.angle_between(start.rotation) < 1e-6);
    assert!((found.sensor_from_object.translation - truth.translation).length() < 10e-6, "{found:?}");
    assert_eq!(found.rotation_errors_rad, [0.0; 3]);
    let found = estimate_pose(&sensor, &ball(2e-3), measured, &start, &Freedom::ALL, &|_| ()).unwrap();
    assert!(found.rotation_errors_rad.iter().all(|error| error.is_infinite()), "{found:?}");
    let none = estimate_pose(&sensor, &ball(2e-3), measured, &start, &[], &|_| ());
    assert!(matches!(none, Err(EstimateError::NothingUnknown)));
}
