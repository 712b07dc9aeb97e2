//! Compares contact surfaces with those of Drake, on Drake's own meshes.

use dermis_research::validate::hydroelastic;
use std::path::Path;

/// 33 pairs of every kind; integrals of a piecewise linear pressure over the same polygons differ by rounding only.
#[test]
fn every_golden_case_agrees_to_rounding() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../skin/tests/golden/hydroelastic/golden.json");
    let report = hydroelastic::run(&golden, false).unwrap();
    assert_eq!(report.cases.len(), 33);
    for case in &report.cases {
        println!(
            "{:28} force {:8.1e} torque {:8.1e} area {:8.1e} centroid {:8.1e}",
            case.id, case.force_rel, case.torque_rel, case.area_rel, case.centroid_rel
        );
    }
    println!("{}", serde_json::to_string(&report.worst).unwrap());
    let worst = report.worst;
    for (what, error) in [
        ("force", worst.force_rel),
        ("torque", worst.torque_rel),
        ("area", worst.area_rel),
        ("centroid", worst.centroid_rel),
    ] {
        assert!(error < 1e-11, "{what}: {error:e}");
    }
}
