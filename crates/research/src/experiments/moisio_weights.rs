//! Moisio 2013, Table 3: the sum of the taxels equals the weight.

use super::setting::{GRAVITY, add, array, finger, free_body, lugre, static_test_skin, world};
use super::{ExperimentError, Findings, Options, Progress, report_progress};
use dermis::geometry::shapes::cuboid;
use dermis::geometry::{Pose, Vec3};
use dermis::image;

/// Side of the cube (m): it covers the whole array.
const SIDE: f64 = 0.060;
/// Time step of the paper (s).
const STEP_S: f64 = 1e-4;
const DURATION_S: f64 = 2.0;

pub(super) fn run(_: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let mut table = String::from("mass_kg,required_n,paper_n,ours_n,relative_error\n");
    for (index, (mass_kg, label, paper)) in
        [(0.1, "0.1kg", 0.98), (1.0, "1kg", 9.7999), (10.0, "10kg", 97.9899)].into_iter().enumerate()
    {
        let mut world = world(STEP_S, None)?;
        let finger = add(&mut world, finger(Pose::IDENTITY)?)?;
        let sensor = world.mount(array("finger", static_test_skin(lugre(1000.0, 1.0)))?, finger, Pose::IDENTITY);
        let cube = cuboid(Vec3::splat(SIDE))?;
        let cube = free_body("cube", cube, mass_kg, Pose::from_translation(Vec3::Z * (0.5 * SIDE)))?;
        add(&mut world, cube)?;
        let steps = (DURATION_S / STEP_S) as u64;
        for step in 0..steps {
            world.step()?;
            if step % 500 == 0 {
                report_progress(progress, (index as f64 + step as f64 / steps as f64) / 3.0)?;
            }
        }
        let sum = world.reading(sensor).sum_newton;
        let required = mass_kg * GRAVITY;
        findings.metric(format!("sum_force_n_{label}"), sum);
        findings.metric(format!("relative_error_{label}"), (sum / required - 1.0).abs());
        table += &format!("{mass_kg},{required},{paper},{sum:.10},{:.3e}\n", sum / required - 1.0);
        if mass_kg == 1.0 {
            findings.files.add_image("weights.png", &image::view(&world, -55.0, 22.0, 900, 640));
        }
    }
    findings.files.add("weights.csv", table);
    findings.note(
        "k = 1000 N/m, c = 10 N s/m, steps of 0.1 ms and g = 9.8 m/s² as in the paper; 60 mm cube, 2 s to settle.",
    );
    Ok(findings)
}
