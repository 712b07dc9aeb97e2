//! Presses a ball on a foam array: the taxel forces sum to the load.

use dermis::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sensor = dermis::sensor::presets::find("uji-foam-14x6")?.build(None)?;
    let ball = Object::new(dermis::geometry::shapes::sphere(0.020, 0.001)?);
    let pressed = press(&sensor, &ball, &Aim::default(), Goal::Force(2.0))?;
    println!("2 N press the ball in by {:.2} mm and load {} taxels", pressed.depth_m * 1e3, pressed.reading.active());

    // The closed form of a ball on springs of stiffness κ per area: F = κ π (R d² − d³/3).
    let (kappa, r, d) = (58.5 / 3.85758e-3f64.powi(2), 0.020, pressed.depth_m);
    let closed_form = kappa * std::f64::consts::PI * (r * d * d - d * d * d / 3.0);
    assert!((closed_form / 2.0 - 1.0).abs() < 0.02, "{closed_form}");
    assert!((pressed.reading.net_force_newton() - pressed.touch.on_sensor.force).length() < 1e-12);
    Ok(())
}
