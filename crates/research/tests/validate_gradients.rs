//! Gradients of presses against central differences, on a few presses; `cargo xtask validate gradients` runs many.

use dermis_research::validate::gradients;

#[test]
fn gradients_are_those_of_central_differences() {
    let some = [
        "springs, ellipsoid",
        "springs, mesh",
        "springs in time, lugre, ellipsoid",
        "springs in time, coulomb, mesh",
        "hydroelastic pad, cuboid",
        "hydroelastic pad, mesh",
        "layer, capsule",
        "magnets in a layer, ellipsoid",
        "shadows, calibrated, proportional, sphere",
        "replacing shadows, smooth, sphere",
    ];
    let report = gradients::run(2, |name| some.contains(&name), &|_| ()).unwrap();
    assert!(report.errors.len() > 30);
    for errors in &report.errors {
        println!(
            "{:<28} {:<12} {:>3} {:>3} {:.1e}",
            errors.case, errors.parameter, errors.presses, errors.excluded, errors.worst_rel
        );
    }
    for cost in &report.costs {
        println!("{:<28} {:>8.1} {:>8.1} {:.2}", cost.case, cost.press_us, cost.vjp_us, cost.ratio);
    }
    // Of so few presses all may be excluded.
    let wrong: Vec<_> = report.errors.iter().filter(|errors| errors.is_wrong()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
