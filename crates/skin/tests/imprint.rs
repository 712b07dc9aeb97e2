//! The imprint: exact in contact, smooth around it, balanced forces.

use dermis_geometry::{Pose, Vec3, shapes};
use dermis_skin::{Imprint, ImprintParameters, Motion, Object, Skin, Target, Touch};
use std::sync::Arc;

fn parameters() -> ImprintParameters {
    ImprintParameters {
        size_m: [16e-3, 12e-3],
        center_m: [0.0; 2],
        cell_m: 1e-4,
        thickness_m: 3e-3,
        stiffness_pa_per_m: 1e8,
        narrow_m: 2e-4,
        wide_m: 8e-4,
        bulge: 0.1,
        rest_heights_m: None,
    }
}

fn press(skin: &Imprint, object: &Object, pose: Pose) -> Touch {
    skin.touch(&skin.rest(), &Motion { targets: &[Target::at_rest(object, pose)] }, 1e-3).unwrap().0
}

fn opposite(touch: &Touch) {
    let on_objects = touch.on_objects.iter().fold(Vec3::ZERO, |sum, wrench| sum + wrench.force);
    let by_facets = touch.facets.iter().fold(Vec3::ZERO, |sum, facet| sum + facet.force_on_sensor());
    assert!((on_objects + touch.on_sensor.force).length() < 1e-12);
    assert!((by_facets - touch.on_sensor.force).length() < 1e-12);
}

/// A ball of radius R pressed by d into springs of k Pa/m: F = k π d² (R − d/3), the volume of the cap.
#[test]
fn a_ball_leaves_its_shape_and_its_force() {
    let skin = Imprint::new(parameters()).unwrap();
    let (radius, depth) = (4e-3, 1e-3);
    let ball = Object::new(shapes::sphere(radius, 0.1e-3).unwrap());
    let touch = press(&skin, &ball, Pose::from_translation(Vec3::new(0.5e-3, 0.0, radius - depth)));
    opposite(&touch);
    let expected = 1e8 * std::f64::consts::PI * depth * depth * (radius - depth / 3.0);
    assert!((-touch.on_sensor.force.z / expected - 1.0).abs() < 5e-3, "{} {expected}", touch.on_sensor.force.z);
    let surface = touch.surface.unwrap();
    let contact = (2.0 * radius * depth - depth * depth).sqrt();
    let (mut inside, mut low, mut high) = (0.0f64, 0.0f64, 0.0f64);
    for (i, value) in surface.values.iter().enumerate() {
        let rest = surface.rest(i / surface.cols, i % surface.cols);
        let r = (rest.x - 0.5e-3).hypot(rest.y);
        if r < 0.4 * contact {
            let truth = radius - depth - (radius * radius - r * r).sqrt();
            inside = inside.max((value.z - truth).abs());
        } else if r > contact {
            (low, high) = (low.min(value.z), high.max(value.z));
        }
    }
    assert!(inside < 3e-6, "{inside}");
    // Pulled down beside the contact, bulging farther away.
    assert!(low < -2e-5 && high > 1e-6, "{low} {high}");
}

/// The same ball on a dome of radius S: it touches the apex of the dome first, and the force acts along the normals of
/// the dome.
#[test]
fn a_dome_is_pressed_where_it_is() {
    let big = 10e-3f64;
    let grid = Imprint::cells([16e-3, 12e-3], [0.0; 2], 1e-4);
    let heights: Vec<f64> = (0..grid.rows * grid.cols)
        .map(|cell| {
            let at = grid.cell_center(cell / grid.cols, cell % grid.cols);
            (big * big - at.length_squared().min(0.9 * big * big)).sqrt() - big
        })
        .collect();
    let skin = Imprint::new(ImprintParameters { rest_heights_m: Some(Arc::from(heights)), ..parameters() }).unwrap();
    let (radius, depth) = (4e-3, 0.5e-3);
    let ball = Object::new(shapes::sphere(radius, 0.1e-3).unwrap());
    let touch = press(&skin, &ball, Pose::from_translation(Vec3::Z * (radius - depth)));
    opposite(&touch);
    // Two balls that overlap by d intersect in a circle of about a² = 2 d R S / (R + S).
    let contact = (2.0 * depth * radius * big / (radius + big)).sqrt();
    let area = std::f64::consts::PI * contact * contact;
    assert!((touch.area_m2() / area - 1.0).abs() < 0.08, "{} {area}", touch.area_m2());
    assert!(touch.on_sensor.force.x.abs() + touch.on_sensor.force.y.abs() < 1e-6);
    let leaning = touch.facets.iter().find(|facet| facet.at().x > 1e-3).unwrap();
    assert!(leaning.normal.x > 0.08, "{}", leaning.normal);
}

#[test]
fn nonsense_is_refused() {
    for (parameters, key) in [
        (ImprintParameters { cell_m: 0.0, ..parameters() }, "cell"),
        (ImprintParameters { bulge: -0.1, ..parameters() }, "bulge"),
        (ImprintParameters { stiffness_pa_per_m: f64::NAN, ..parameters() }, "stiffness_per_area"),
    ] {
        let message = Imprint::new(parameters).unwrap_err().to_string();
        assert!(message.contains(key), "{message}");
    }
    let ball = Object::new(shapes::sphere(1e-3, 0.3e-3).unwrap());
    let skin = Imprint::new(parameters()).unwrap();
    let far = press(&skin, &ball, Pose::from_translation(Vec3::Z * 5e-3));
    assert!(far.facets.is_empty() && far.surface.unwrap().values.iter().all(|value| *value == Vec3::ZERO));
}
