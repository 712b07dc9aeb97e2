//! Uses a skin without a rigid-body engine: poses and velocities in, touch and state out.

use dermis::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sensor = dermis::sensor::presets::find("wts0614")?.build(None)?;
    let block = Object::new(dermis::geometry::shapes::cuboid(Vec3::splat(0.012))?);
    let (speed, dt_s) = (1e-3, 1e-3);
    let mut state = sensor.skin().rest();
    let mut shear = Vec::new();
    for step in 0..2000 {
        let x = speed * dt_s * f64::from(step);
        let target = Target {
            object: &block,
            sensor_from_object: Pose::from_translation(Vec3::new(x - 1e-3, 0.0, 0.006 - 1e-4)),
            velocity: Twist::new(Vec3::X * speed, Vec3::ZERO),
        };
        let (touch, next) = sensor.touch(&state, &Motion { targets: &[target] }, dt_s)?;
        state = next;
        shear.push(touch.on_sensor.force.x / -touch.on_sensor.force.z);
    }
    // The block first sticks, then slides; at this speed friction is still static.
    println!("shear over load: {:.3} after 10 µm, {:.3} at the end", shear[10], shear[1999]);
    assert!(shear[10] > 0.0 && shear[10] < 0.2);
    assert!((shear[1999] - 0.435).abs() < 0.01);
    Ok(())
}
