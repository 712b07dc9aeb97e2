//! Reading through a cover that spreads loads: closed-form shares, conservation, unsupported layouts.

use dermis_geometry::{Pose, Vec3, shapes};
use dermis_sensor::{Aim, Goal, Sensor, SensorSpec, press};
use dermis_skin::{Motion, Object, Target};

fn array(skin: &str, reading: &str) -> SensorSpec {
    let text = format!(
        "name = \"array\"\ncontact_points = 4\n[surface.grid]\nrows = 6\ncols = 8\npitch = \"2 mm\"\n[skin]\n{skin}\n[reading]\n{reading}\n"
    );
    SensorSpec::parse("array.toml", &text).unwrap()
}

const SPRINGS: &str = "kind = \"springs\"\nstiffness = \"200 N/m\"\nmax_penetration = \"3 mm\"";

fn spread(sigma_mm: f64) -> Sensor {
    array(SPRINGS, &format!("kind = \"gaussian\"\nsigma = \"{sigma_mm} mm\"")).build(None).unwrap()
}

/// A needle on one contact point: cell (i, j) reads the integral of the Gaussian over it, ¼ Δerf Δerf.
#[test]
fn a_needle_is_felt_as_the_bell_over_each_cell() {
    let sensor = spread(1.3);
    let needle = Object::new(shapes::cuboid(Vec3::new(0.3e-3, 0.3e-3, 5e-3)).unwrap());
    let at = Vec3::new(0.75e-3, 0.25e-3, 0.0);
    let place = Pose::from_translation(at + Vec3::Z * 1.5e-3);
    let motion = Motion { targets: &[Target::at_rest(&needle, place)] };
    let (touch, _) = sensor.skin().touch(&sensor.skin().rest(), &motion, 1e-3).unwrap();
    assert_eq!(touch.facets.len(), 1);
    let reading = sensor.read(&touch);
    let below = |border_m: f64, x: f64| 0.5 * erf((border_m - x) / (1.3e-3 * 2f64.sqrt()));
    for (i, value) in reading.values_newton.iter().enumerate() {
        let (row, col) = ((i / 8) as f64, (i % 8) as f64);
        let across = below((col - 3.0) * 2e-3, at.x) - below((col - 4.0) * 2e-3, at.x);
        let down = below((3.0 - row) * 2e-3, at.y) - below((2.0 - row) * 2e-3, at.y);
        let expected = -touch.on_sensor.force.z * across * down;
        assert!((value - expected).abs() < 1e-9 * touch.on_sensor.force.length(), "{i}: {value} {expected}");
    }
}

/// erf by Simpson's rule on its integral, independent of the library.
fn erf(x: f64) -> f64 {
    let n = 2000;
    let f = |i: usize| (-(x * i as f64 / n as f64).powi(2)).exp();
    let inner: f64 = (1..n).map(|i| f(i) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
    (f(0) + inner + f(n)) * x / (3.0 * n as f64) * 2.0 / std::f64::consts::PI.sqrt()
}

/// Cells and outside sum to the net force while a ball slides; near the rim a part is outside. A very narrow Gaussian
/// has no effect.
#[test]
fn nothing_is_lost() {
    let ball = Object::new(shapes::sphere(4e-3, 0.5e-3).unwrap());
    for x in [0.0, 5e-3, 8e-3] {
        let aim = Aim { at_m: [x, -1e-3], ..Aim::default() };
        let pressed = press(&spread(1.0), &ball, &aim, Goal::Depth(1e-3)).unwrap();
        let net = pressed.touch.on_sensor.force;
        assert!((pressed.reading.net_force_newton() - net).length() < 1e-12 * net.length());
        assert_eq!(pressed.reading.outside_newton.length() > 0.05 * net.length(), x > 6e-3, "{x}");

        let exact = array(SPRINGS, "kind = \"exact\"").build(None).unwrap().read(&pressed.touch);
        let narrow = spread(1e-3).read(&pressed.touch);
        for (a, b) in exact.values_newton.iter().zip(&narrow.values_newton) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
    }
}

#[test]
fn what_it_is_not_for_is_refused() {
    let refusal = |spec: SensorSpec| spec.build(None).unwrap_err().to_string();
    let gaussian = "kind = \"gaussian\"\nsigma = \"1 mm\"";
    let pad =
        refusal(array("kind = \"hydroelastic\"\nhydroelastic_modulus = \"50 kPa\"\nthickness = \"4 mm\"", gaussian));
    assert!(pad.contains("`reading`") && pad.contains("springs"), "{pad}");
    let zero = refusal(array(SPRINGS, "kind = \"gaussian\"\nsigma = \"0 mm\""));
    assert!(zero.contains("`sigma`") && zero.contains("positive"), "{zero}");
}
