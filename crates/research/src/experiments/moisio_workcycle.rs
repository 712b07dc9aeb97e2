//! Moisio 2013, Fig. 12: the five primitives of a work cycle with a cube, under tactile control.

use super::setting::{add, foam, free_body, world};
use super::{ExperimentError, Findings, Options, Progress, report_progress};
use dermis::draw::{FigurePage, Image, Plot, Series};
use dermis::geometry::shapes::cuboid;
use dermis::geometry::{Pose, Vec3};
use dermis::image;
use dermis::sensor::Reading;
use dermis::world::{Gripper, ParallelGripper, ParallelGripperParameters, Phase, PickAndPlace, PickParameters};

const STEP_S: f64 = 1e-4;
const SIDE: f64 = 0.020;
const HOLD_NEWTON: f64 = 3.0;
const PHASES: [(Phase, &str); 5] = [
    (Phase::Approach, "approach"),
    (Phase::Grasp, "grasp"),
    (Phase::Lift, "lift"),
    (Phase::MoveDown, "move down"),
    (Phase::Release, "release"),
];

/// Greatest relative difference between the pressed texels.
fn unevenness(reading: &Reading) -> f64 {
    let pressed = || reading.values_newton.iter().copied().filter(|&value| value > 0.0);
    let (min, max) = (pressed().fold(f64::INFINITY, f64::min), pressed().fold(0.0, f64::max));
    if max > 0.0 { max / min - 1.0 } else { f64::INFINITY }
}

pub(super) fn run(_: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let mut world = world(STEP_S, Some(0.0))?;
    let cube = free_body("cube", cuboid(Vec3::splat(SIDE))?, 0.05, Pose::from_translation(Vec3::Z * (0.5 * SIDE)))?;
    let cube = add(&mut world, cube.solid())?;
    // The fingertips hold the cube: it covers the lowest rows, about 30 % of the array, as in the paper.
    let (above, low) = (0.04, 0.0215);
    let parameters = ParallelGripperParameters {
        opening_m: 0.05,
        center: Vec3::Z * (0.5 * SIDE + low + above),
        ..Default::default()
    };
    let mut gripper = ParallelGripper::build(&mut world, parameters, foam("left")?, foam("right")?)?;
    let mut controller = PickAndPlace::new(PickParameters {
        grasp_height_m: -above,
        lift_height_m: 0.0,
        hold_newton: HOLD_NEWTON,
        hold_s: 1.0,
        ..Default::default()
    });
    let [left, right] = gripper.sensors();
    let (mut views, mut images) = (Vec::new(), Vec::new());
    let (mut left_sum, mut right_sum) = (Vec::new(), Vec::new());
    let mut reached = 0;
    let mut highest = 0.0f64;
    while controller.phase() != Phase::Done && world.time_s() < 30.0 {
        let phase = controller.phase();
        gripper.exchange(&mut world);
        controller.update(&mut gripper, STEP_S);
        world.step()?;
        highest = highest.max(world.pose(cube).translation.z);
        if world.steps().is_multiple_of(100) {
            let sums = gripper.tactile_sums_newton();
            left_sum.push((world.time_s(), sums[0]));
            right_sum.push((world.time_s(), sums[1]));
            report_progress(progress, world.time_s() / 8.0)?;
        }
        if controller.phase() == phase {
            continue;
        }
        // Each phase is shown at its end.
        if let Some((_, name)) = PHASES.iter().find(|(known, _)| *known == phase) {
            reached += 1;
            views.push((image::view(&world, -68.0, 12.0, 380, 460), (*name).to_owned()));
            let readings = [left, right].map(|id| world.reading(id));
            let bare =
                |k: usize| image::tactile_bare(&readings[k], 0.2, 9).unwrap_or_else(|| Image::new(8, 8, [255; 3]));
            images.push((
                FigurePage::new(2).gap(10).image(bare(0), "left").image(bare(1), "right").render(),
                String::new(),
            ));
            if phase == Phase::Lift {
                let uneven = readings.iter().map(unevenness).fold(0.0, f64::max);
                findings.metric("unevenness_relative", uneven);
                findings.metric("coverage", readings[0].coverage());
                findings.metric("sum_n_left", readings[0].sum_newton);
                findings.metric("sum_n_right", readings[1].sum_newton);
                findings.metric("left_right_difference", (readings[0].sum_newton / readings[1].sum_newton - 1.0).abs());
            }
        }
    }
    findings.metric("phases", f64::from(reached));
    findings.metric("lifted_m", highest - 0.5 * SIDE);
    findings.metric("cycle_s", world.time_s());
    let strip =
        views.into_iter().chain(images).fold(FigurePage::new(5), |sheet, (image, name)| sheet.image(image, name));
    findings.files.add_image(
        "workcycle.png",
        &strip.title("The work cycle: scene and tactile images at the end of each phase").render(),
    );
    let plot = Plot::new()
        .title("Sum of the taxels")
        .x_label("Time (s)")
        .y_label("Force (N)")
        .series(Series::line("left", left_sum))
        .series(Series::line("right", right_sum).style(dermis::draw::LineStyle::Dashed));
    findings.files.add_image("workcycle-force.png", &plot.render());
    findings.note("20 mm cube of 50 g; foam of section 3.4 with bristles of σ₀ = 300 N/m, σ₁ = 0.5 N s/m; 20 mm/s until both fingers are in contact, then force control to 3 N on the tactile sums.");
    Ok(findings)
}
