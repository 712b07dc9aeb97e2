//! Defines a custom sensor with a few lines of TOML.

use dermis::prelude::*;

const DESCRIPTION: &str = r#"
name = "dome"
surface.spherical-patch = { radius = "12 mm", half_angle = "70 deg", spacing = "1.5 mm" }

[skin]
kind = "springs"
stiffness_per_area = "2e7 Pa/m"
damping_per_area = "1e4 Pa s/m"
max_penetration = "3 mm"
friction = { kind = "coulomb", mu = 0.8, regularisation_speed = "1 mm/s" }
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dome = SensorSpec::parse("dome.toml", DESCRIPTION)?.build(None)?;
    let plate = Object::new(dermis::geometry::shapes::cuboid(Vec3::new(0.03, 0.03, 0.005))?);
    let pressed = press(&dome, &plate, &Aim::default(), Goal::Depth(1e-3))?;
    let lit = pressed.reading.active();
    println!(
        "a plate loads {lit} of {} taxels of a dome with {:.2} N",
        dome.taxels().len(),
        pressed.reading.sum_newton
    );
    assert!(lit > 10 && lit < dome.taxels().len());

    // An input error names its key.
    let error = SensorSpec::parse("dome.toml", &DESCRIPTION.replace("2e7 Pa/m", "2e7")).expect_err("no unit");
    println!("{error}");
    assert!(error.to_string().contains("stiffness_per_area"));
    Ok(())
}
