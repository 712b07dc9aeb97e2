//! Material and pose from simulated readings with noise; `dermis validate inverse` fits many.

use dermis_research::validate::inverse::{self, FitCounts};

#[test]
fn a_material_and_a_pose_return_from_readings_with_noise() {
    let report = inverse::run(FitCounts { materials: 1, starts: 1, only: "moon" }, &|| ()).unwrap();
    assert!(report.has_materials() && report.has_poses(), "{report:?}");
    assert_eq!((report.fits.len(), report.indenters.len(), report.indenters[0].hidden), (1, 1, 0));
}
