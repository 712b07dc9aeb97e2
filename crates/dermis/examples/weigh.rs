//! Uses a sensor as a scale in a rigid-body world: a cube settles and the taxels read its weight.

use dermis::prelude::*;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new(WorldParameters { step_s: 1e-4, ..Default::default() })?;
    let table = world.add_body(Body::fixed("table", Pose::IDENTITY))?;
    let sensor = dermis::sensor::presets::find("wts0614")?.build(None)?;
    let scale = world.mount(sensor, table, Pose::IDENTITY);
    let cube = dermis::geometry::shapes::cuboid(Vec3::splat(0.05))?;
    let mass = cube.mass_properties(0.5)?;
    let above = Pose::from_translation(Vec3::Z * 0.025);
    world.add_body(Body::free("cube", above, mass).touchable(Arc::new(Object::new(cube))))?;
    world.run_until(2.0, |_| Ok(true))?;
    let newton = world.reading(scale).sum_newton;
    println!("500 g weigh {newton:.6} N");
    assert!((newton / (0.5 * 9.81) - 1.0).abs() < 1e-6);
    Ok(())
}
