//! The check that every test of a scene makes.

use dermis_world::{World, WorldParameters};

/// A world whose energy is balanced.
pub fn tracked(parameters: WorldParameters) -> World {
    let mut world = World::new(parameters).unwrap();
    world.track_energy();
    world
}

/// Requires a residual of at most this part of the largest energy.
pub fn balanced(world: &World, bound: f64, scene: &str) {
    let balance = world.energy().unwrap();
    let part = balance.relative_residual();
    println!("{scene}: {:+.4} % of {:.2e} J", 100.0 * part, balance.largest_joule);
    assert!(part.abs() <= bound, "{scene}: residual {part:+.2e}, {balance:?}");
}
