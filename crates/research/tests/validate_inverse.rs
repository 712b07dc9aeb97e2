//! Material and pose from simulated readings with noise; `dermis validate inverse` fits many.

use dermis::estimate::Freedom;
use dermis::geometry::shapes::indenters;
use dermis::geometry::{Pose, Quat, Vec3};
use dermis::sensor::{Aim, Goal, Sensor, press, press_to_pose};
use dermis::skin::Object;
use dermis_research::validate::inverse::indenters::{NOISE, Symmetry, sensor_of};
use dermis_research::validate::inverse::{self, FitCounts};

#[test]
fn a_material_and_a_pose_return_from_readings_with_noise() {
    let report = inverse::run(FitCounts { materials: 1, starts: 1, only: "moon" }, &|| ()).unwrap();
    assert!(report.has_materials() && report.has_poses(), "{report:?}");
    assert_eq!((report.fits.len(), report.indenters.len(), report.indenters[0].hidden), (1, 1, 0));
}

/// Root mean square change of the levels as the object moves by a freedom about the point of its symmetry.
fn change(sensor: &Sensor, object: &Object, symmetry: Symmetry, truth: &Pose, freedom: Freedom) -> f64 {
    let seen = |pose: &Pose| {
        let frictionless = Object { mu: Some(0.0), ..object.clone() };
        let pressed = press_to_pose(sensor, &frictionless, pose).unwrap();
        sensor.render(&pressed.touch, 0).unwrap().image
    };
    let axis = [Vec3::X, Vec3::Y, Vec3::Z][Freedom::ALL.iter().position(|one| *one == freedom).unwrap() % 3];
    let moved = if freedom.is_rotation() {
        let there = Pose::from_translation(symmetry.point_m());
        there * Pose::from_rotation(Quat::from_scaled_axis(axis * 5f64.to_radians())) * there.inverse()
    } else {
        Pose::from_translation(axis * 0.3e-3)
    };
    let (before, after) = (seen(truth), seen(&(*truth * moved)));
    let levels = before.channels.iter().flatten().zip(after.channels.iter().flatten());
    let squares: f64 = levels.map(|(a, b)| f64::from(a - b).powi(2)).sum();
    (squares / (3 * before.width * before.height) as f64).sqrt()
}

/// Five degrees of a hidden freedom change an image by less than a tenth of the noise (the meshes of round indenters have
/// facets), five degrees or 0.3 mm of any other by more.
#[test]
fn only_hidden_freedoms_do_not_show() {
    let sensor = sensor_of(None).unwrap();
    for name in indenters::NAMES {
        let (object, symmetry) = (Object::new(indenters::find(name).unwrap()), Symmetry::of(name));
        let aim = Aim { at_m: [0.2e-3, -0.3e-3], tilt_rad: [0.03, -0.02], yaw_rad: 0.3 };
        let truth = press(&sensor, &object, &aim, Goal::Depth(0.7e-3)).unwrap().sensor_from_object;
        let shown = symmetry.freedoms();
        for freedom in Freedom::ALL {
            let change = change(&sensor, &object, symmetry, &truth, freedom);
            assert_eq!(change > 0.1 * NOISE, shown.contains(&freedom), "{name} {freedom:?}: {change}");
        }
    }
}
