//! Threads: skins use those of their process, not rayon's global ones, which a forked process lacks.

use crate::common::{cuboid, grid_skin, held, plain, pressed};
use dermis_skin::{Motion, Skin, Target, threads};

#[test]
fn parallel_work_uses_no_global_threads() {
    threads::forbid_global();
    assert!(std::panic::catch_unwind(rayon::current_num_threads).is_err(), "the guard must refuse");
    let (skin, block) = (grid_skin(60, 60, 1e-3, plain(100.0, 3e-3)), cuboid(80e-3, 80e-3, 10e-3));
    let at = pressed(10e-3, 1e-3);
    let touch = held(&skin, &block, at);
    assert!((touch.on_sensor.force.z + 3600.0 * 0.1).abs() < 1e-9);
    let (rest, targets) = (skin.rest(), [Target::at_rest(&block, at)]);
    let motion = Motion { targets: &targets };
    for settled in skin.settle_all(&[(&rest, &motion), (&rest, &motion)]) {
        assert_eq!(settled.unwrap().0.on_sensor, touch.on_sensor);
    }
}

/// Work on a thread of a pool stays in it.
#[test]
fn a_pool_of_the_caller_is_used() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    assert_eq!(pool.install(|| threads::parallel(rayon::current_num_threads)), 3);
    assert_eq!(pool.install(threads::count), 3);
    assert_eq!(threads::parallel(rayon::current_num_threads), threads::count());
}
