//! Material from simulated forces with noise; `dermis validate inverse` fits many.

use dermis_research::validate::inverse;

#[test]
fn young_and_friction_return_from_forces_with_noise() {
    let report = inverse::run(1).unwrap();
    assert!(report.is_good(), "{report:?}");
}
