//! Time of the flux densities of magnets.

use super::nanoseconds;
use dermis::geometry::{Pose, Primitive};
use dermis::sensor::{Aim, Goal, SensorSpec, press};
use dermis::skin::Object;
use dermis::skin::layer::MaterialMotion;
use std::collections::BTreeMap;
use std::hint::black_box;

const LAYER: &str = r#"
name = "magnetic"
surface = { grid = { rows = 4, cols = 4, pitch = "5 mm" } }
skin = { kind = "layer", thickness = "6 mm", young = "0.2 MPa", poisson = 0.45, cell = "0.2 mm" }
"#;
const FOUR: &str = r#"
[magnets]
lattice = { rows = 2, cols = 2, pitch = "10 mm", depth = "3 mm" }
shape = { kind = "cylinder", diameter = "3 mm", height = "1 mm", remanence = "1.2 T" }
[magnetometers]
positions = [["0 mm", "0 mm", "-8 mm"], ["7 mm", "0 mm", "-8 mm"], ["-7 mm", "0 mm", "-8 mm"], ["0 mm", "7 mm", "-8 mm"], ["0 mm", "-7 mm", "-8 mm"]]
"#;

pub(super) fn run() -> BTreeMap<String, f64> {
    let mut numbers = BTreeMap::new();
    let five = SensorSpec::parse("magnetic.toml", &format!("{LAYER}{FOUR}")).and_then(|spec| spec.build(None));
    let ball = Object::of_primitive(Primitive::Sphere { radius_m: 6e-3 }, 1e-3);
    if let (Ok(sensor), Ok(ball)) = (five, ball)
        && let Ok(pressed) = press(&sensor, &ball, &Aim::default(), Goal::Depth(0.8e-3))
        && let Some(magnetics) = sensor.magnetics()
    {
        let whole = nanoseconds(|_| {
            black_box(press(&sensor, &ball, &Aim::default(), Goal::Depth(0.8e-3)).ok());
        });
        let read = nanoseconds(|_| {
            black_box(magnetics.read(&pressed.touch, &Pose::IDENTITY));
        });
        numbers.insert("us_per_press_with_4_magnets_5_chips".into(), whole * 1e-3);
        numbers.insert("us_per_reading_of_4_magnets_5_chips".into(), read * 1e-3);
        numbers.insert("reading_over_rest_of_the_press_ratio".into(), read / (whole - read));
    }
    let many = dermis::sensor::presets::find("uskin-4x4").and_then(|spec| spec.build(None));
    if let Ok(sensor) = many
        && let Some(magnetics) = sensor.magnetics()
    {
        let motions = vec![MaterialMotion::default(); magnetics.magnets().len()];
        let field = nanoseconds(|_| {
            black_box(magnetics.field_of(&motions));
        });
        numbers.insert("us_per_field_of_16_cylinders_16_chips".into(), field * 1e-3);
    }
    numbers
}
