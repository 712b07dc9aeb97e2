//! Compares the layer with the closed-form solution of a paraboloid on a bonded layer.

use dermis_research::validate::layer;
use std::path::Path;

/// On 256 × 256 cells: force within 0.1 %, contact radius within half a cell, surface within 0.2 % of the depth, stress
/// on the base within 0.5 % of its peak. The force error decreases at least linearly with the cell size, fitted over 64
/// to 512 cells.
#[test]
fn every_golden_case_is_within_its_bars() {
    let golden =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../skin/tests/golden/layer/paraboloid_on_bonded_layer.json");
    let mut points = Vec::new();
    for cells in [64, 128, 256] {
        let report = layer::run(&golden, cells).unwrap();
        assert_eq!(report.cases.len(), 6);
        let worst = report.worst;
        println!("{cells}: {}", serde_json::to_string(&worst).unwrap());
        if cells == 256 {
            assert!(worst.force_rel < 1e-3 && worst.radius_cells < 0.5, "{worst:?}");
            assert!(worst.surface_rel < 2e-3 && worst.base_rel < 5e-3, "{worst:?}");
        }
        points.push((f64::from(cells as u32).ln(), worst.force_rel.ln()));
    }
    let mean = |part: fn(&(f64, f64)) -> f64| points.iter().map(part).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>()
        / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
    println!("slope {slope}");
    assert!(slope < -1.0, "{slope}");
}
