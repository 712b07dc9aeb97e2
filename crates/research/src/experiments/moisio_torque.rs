//! Moisio 2013, section 1: area contact resists a torque about its normal; a point contact does not.

use super::setting::lugre;
use super::{ExperimentError, Findings, Options, Progress, report_progress};
use dermis::draw::{LineStyle, Plot, Series};
use dermis::geometry::shapes::cylinder;
use dermis::geometry::{Pose, Twist, Vec3};
use dermis::skin::{Damping, Elasticity, Law, Motion, Object, Site, Skin, SpringParameters, Springs, Target};

/// Radius of the disc (m).
const RADIUS: f64 = 0.010;
/// Penetration depth (m).
const DEPTH: f64 = 1e-3;
const MU: f64 = 0.435;
const STIFFNESS_PA_PER_M: f64 = 3.93e6;

/// Twists a disc slowly on `n` × `n` texels over a square of 1.2 times its diameter (`n` = 1 is a point contact).
/// Returns the curve of angle (rad) and torque about the normal (N m), and the load (N).
fn twist(n: usize, progress: &mut dyn FnMut(f64) -> bool) -> Result<(Vec<(f64, f64)>, f64), ExperimentError> {
    let side = 2.4 * RADIUS;
    let pitch = side / n as f64;
    // Bristle stiffness per texel scales with its area.
    let share = pitch * pitch / (3.85758e-3f64).powi(2);
    let skin = Springs::new(
        Site::grid(n, n, pitch, 1),
        SpringParameters {
            elasticity: Elasticity::PerArea(STIFFNESS_PA_PER_M),
            damping: Damping::PerArea(0.0),
            max_penetration_m: 0.012,
            law: Law::Conservative,
            friction: match lugre(1000.0 * share, 1.0 * share).build("array")? {
                dermis::skin::Friction::Lugre(lugre) => {
                    dermis::skin::Friction::Lugre(dermis::skin::Lugre { viscous_newton_s_per_m: 0.0, ..lugre })
                }
                other => other,
            },
        },
    )?;
    let disc = Object::new(cylinder(RADIUS, 0.02, 2.5e-4)?);
    let place = Pose::from_translation(Vec3::Z * (0.01 - DEPTH));
    // Slow compared with the Stribeck speed of 0.3 m/s, so friction stays static.
    let (rate, dt_s, steps) = (0.02, 5e-3, 1200);
    let velocity = Twist::new(Vec3::ZERO, Vec3::Z * rate);
    let mut state = skin.rest();
    let mut curve = Vec::with_capacity(steps);
    let mut load = 0.0;
    for step in 0..steps {
        let angle = rate * dt_s * step as f64;
        let rotated = Pose::from_rotation(dermis::geometry::Quat::from_rotation_z(angle)) * place;
        let target = Target { object: &disc, sensor_from_object: rotated, velocity };
        let (touch, next) = skin.touch(&state, &Motion { targets: &[target] }, dt_s)?;
        state = next;
        load = -touch.on_sensor.force.z;
        curve.push((angle, touch.on_sensor.torque.z));
        if step % 100 == 0 {
            report_progress(progress, step as f64 / steps as f64)?;
        }
    }
    Ok((curve, load))
}

pub(super) fn run(_: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let mut plot = Plot::new()
        .title("Twisting a pressed disc about its normal")
        .x_label("Angle (°)")
        .y_label("Torque / (μ P a)")
        .series(Series::line("closed form, 2/3", [(0.0, 2.0 / 3.0), (6.8, 2.0 / 3.0)]).style(LineStyle::Dashed));
    let mut table = String::from("texels_per_side,load_n,torque_nm,torque_over_mu_p_a,relative_error\n");
    let sizes = [8, 16, 32, 64, 1];
    for (index, n) in sizes.into_iter().enumerate() {
        let (curve, load) = twist(n, &mut |done| progress((index as f64 + done) / sizes.len() as f64))?;
        let torque = curve.last().map_or(0.0, |point| point.1);
        let held = torque / (MU * load * RADIUS);
        let error = held * 1.5 - 1.0;
        table += &format!("{n},{load:.6},{torque:.6e},{held:.6},{error:.3e}\n");
        let label = if n == 1 { "one point".to_owned() } else { format!("{n} × {n} texels") };
        let scaled = curve.iter().map(|(angle, torque)| (angle.to_degrees(), torque / (MU * load * RADIUS)));
        if n != 16 {
            plot = plot.series(Series::line(label, scaled));
        }
        match n {
            64 => {
                findings.metric("torque_ratio", held * 1.5);
                findings.metric("relative_error", error.abs());
            }
            1 => findings.metric("point_torque_ratio", held.abs()),
            _ => findings.metric(format!("relative_error_{n}"), error.abs()),
        }
    }
    findings.files.add_image("torque.png", &plot.render());
    findings.files.add("torque.csv", table);
    findings.note("An evenly pressed disc at the limit of friction carries ∫ μ p r dA = ⅔ μ P a; a single contact point carries no torque. Twisted at 0.02 rad/s, so that friction stays static (μ = 0.435).");
    Ok(findings)
}
