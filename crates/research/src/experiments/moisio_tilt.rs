//! Moisio 2013, Fig. 9: LuGre friction holds a load without creep; regularised Coulomb friction creeps.

use super::setting::{add, array, finger, free_body, lugre, static_test_skin, world};
use super::{ExperimentError, Findings, Options, Progress, report_progress};
use dermis::draw::{LineStyle, Plot, Series};
use dermis::geometry::quantity::Speed;
use dermis::geometry::shapes::cuboid;
use dermis::geometry::{Pose, Quat, Vec3};
use dermis::image;
use dermis::sensor::FrictionSpec;
use dermis::world::{BodyId, World};

const SIDE: f64 = 0.060;
const STEP_S: f64 = 5e-4;
/// Regularised Coulomb friction is a stiff damper near rest, so it needs shorter steps.
const COULOMB_STEP_S: f64 = 1e-4;
const COULOMB_DURATION_S: f64 = 10.0;
const COULOMB_SPEED: f64 = 1e-3;
const SIGMA0: f64 = 1000.0;
const SIGMA1: f64 = 5.0;

/// Distance from the final position above which the cube has not settled (m).
const SETTLED_M: f64 = 5e-11;

fn tilted(friction: FrictionSpec, step_s: f64) -> Result<(World, BodyId), ExperimentError> {
    let mut world = world(step_s, None)?;
    // The tilt points along the rows, the long side of the array.
    let world_from_sensor = Pose::from_rotation(Quat::from_rotation_x(10f64.to_radians()));
    let finger = add(&mut world, finger(world_from_sensor)?)?;
    world.mount(array("finger", static_test_skin(friction))?, finger, Pose::IDENTITY);
    let resting = world_from_sensor * Pose::from_translation(Vec3::Z * (0.5 * SIDE));
    let cube = add(&mut world, free_body("cube", cuboid(Vec3::splat(SIDE))?, 1.0, resting)?)?;
    Ok((world, cube))
}

pub(super) fn run(options: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let duration_s = if options.full { 1200.0 } else { 30.0 };
    let partial = (!options.full).then(|| "30 s of the paper's 20 minutes".to_owned());
    let mut findings = Findings { partial, ..Findings::default() };

    let (mut world, cube) = tilted(lugre(SIGMA0, SIGMA1), STEP_S)?;
    let start = world.pose(cube).translation;
    let steps = (duration_s / STEP_S) as usize;
    let mut path = Vec::with_capacity(steps);
    for step in 0..steps {
        world.step()?;
        path.push(world.pose(cube).translation);
        if step % 2000 == 0 {
            report_progress(progress, 0.8 * step as f64 / steps as f64)?;
        }
    }
    let end = path[steps - 1];
    let unsettled = path.iter().rposition(|p| (*p - end).length() > SETTLED_M);
    let settled = unsettled.map_or(0, |step| step + 1);
    let creep_m = path[settled..].iter().map(|p| (*p - path[settled]).length()).fold(0.0, f64::max);
    findings.metric("settle_s", (settled + 1) as f64 * STEP_S);
    findings.metric("creep_m_after_settle", creep_m);
    findings.metric("moved_m", (end - start).length());
    findings.metric("duration_s", duration_s);
    findings.files.add_image("tilt-scene.png", &image::view(&world, -35.0, 14.0, 900, 640));

    let (mut coulomb_world, slider) = tilted(
        FrictionSpec::Coulomb { mu: 0.435, regularisation_speed: Some(Speed::new(COULOMB_SPEED)) },
        COULOMB_STEP_S,
    )?;
    let coulomb_start = coulomb_world.pose(slider).translation;
    let coulomb_steps = (COULOMB_DURATION_S / COULOMB_STEP_S) as usize;
    let mut coulomb = Vec::new();
    for step in 0..coulomb_steps {
        coulomb_world.step()?;
        if step % 100 == 0 {
            coulomb.push((coulomb_world.time_s(), (coulomb_world.pose(slider).translation - coulomb_start).length()));
            report_progress(progress, 0.8 + 0.2 * step as f64 / coulomb_steps as f64)?;
        }
    }
    let half = coulomb.len() / 2;
    let (early, late) = (coulomb[half], coulomb[coulomb.len() - 1]);
    findings.metric("coulomb_creep_m_per_s", (late.1 - early.1) / (late.0 - early.0));

    // About a thousand points, denser at the start.
    let shown = |k: usize| ((k as f64 / 1000.0).powi(3) * (steps - 1) as f64) as usize;
    let creep = (0..=1000).map(|k| ((shown(k) + 1) as f64 * STEP_S, (path[shown(k)] - start).length()));
    let plot = Plot::new()
        .title("1 kg cube on a sensor tilted by 10°")
        .x_label("Time (s)")
        .y_label("Distance from the start (m)")
        .log_x()
        .log_y()
        .series(Series::line("LuGre bristles", creep))
        .series(Series::line("regularised Coulomb, 1 mm/s", coulomb).style(LineStyle::Dashed));
    findings.files.add_image("tilt.png", &plot.render());
    findings.note(format!(
        "Bristles σ₀ = {SIGMA0} N/m, σ₁ = {SIGMA1} N s/m per texel (the paper's 1 N/m would let the cube sag by 2 cm), k = 1000 N/m, c = 10 N s/m, steps of 0.5 ms; Coulomb regularised at 1 mm/s, steps of 0.1 ms."
    ));
    Ok(findings)
}
