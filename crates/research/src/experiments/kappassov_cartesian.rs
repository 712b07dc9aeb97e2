//! Kappassov 2020, Fig. 12: a palm follows an object that a human hand moves.

use super::edge_image::edge_image;
use super::hand_script::HandScript;
use super::setting::springs;
use super::{ExperimentError, Findings, Options, Progress, report_progress};
use dermis::draw::{Camera, FigurePage, Image, LineStyle, PALETTE, Plot, Series};
use dermis::geometry::quantity::Force;
use dermis::geometry::shapes::{cylinder, rounded_box};
use dermis::geometry::{Mat3, Pose, Quat, Twist, Vec3};
use dermis::image;
use dermis::sensor::response::Noise;
use dermis::sensor::{FrictionSpec, Sensor, SensorSpec, presets};
use dermis::skin::Object;
use dermis::world::{
    AntiWindup, Body, CartesianHand, CartesianParameters, Dofs, EndEffector, PidParameters, ServoParameters,
    TactileFeatures, TactileImage, TactileJacobian, TactileServo, World, WorldParameters,
};
use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

/// Control period of array and arm: 200 Hz.
const CONTROL_S: f64 = 5e-3;
const STEPS_PER_CONTROL: usize = 2;
/// Width, length and thickness of the bar (m), with rounded edges.
const BAR: Vec3 = Vec3::new(0.015, 0.030, 0.018);
const ROUND: f64 = 2e-3;
/// Desired penetration depth of the bar (m); a press determines the corresponding force.
const DEPTH: f64 = 2.5e-3;
/// Duration of approach and settling (s), and of the hand's motion (s).
const SETTLE_S: f64 = 1.5;
const MOVE_S: f64 = 20.0;

/// A WTS 0614 under a soft foam cover: spread and counts of the preset, a noise of two counts, and no threshold (the
/// paper's threshold was measured on bare rubber).
fn palm_array() -> Result<Sensor, ExperimentError> {
    let mut spec = SensorSpec {
        name: "palm".into(),
        contact_points: Some(4),
        skin: springs(60.0, 0.3, FrictionSpec::None),
        ..presets::find("wts0614")?
    };
    spec.response.noise = Some(Noise { sd: Force::new(0.84e-3), relative: 0.0, seed: 1 });
    (spec.response.quantised, spec.response.threshold) = (true, None);
    Ok(spec.build(None)?)
}

/// Desired pose of the bar: its flat face on the centre of the array, along y.
fn tool_from_bar() -> Pose {
    Pose::from_translation(Vec3::Z * (0.5 * BAR.z - DEPTH))
}

/// Initial pose of the palm: its normal along the world's x axis, its rows downwards.
fn start_of_tool() -> Pose {
    let axes = Mat3::from_cols(Vec3::Y, Vec3::Z, Vec3::X);
    Pose::new(Quat::from_mat3(&axes), Vec3::new(0.0, 0.0, 0.15))
}

fn gains() -> PidParameters {
    PidParameters {
        proportional: 28.0,
        integral: 220.0,
        derivative: 0.4,
        derivative_filter_s: 0.01,
        output_limit: 0.2,
        rate_limit: 10.0,
        anti_windup: AntiWindup::Conditional,
    }
}

fn servo(array: &Sensor, bar: &Object) -> Result<TactileServo, ExperimentError> {
    let placed = [(array.clone(), Pose::IDENTITY)];
    let features = |moved: &Pose| -> Result<Option<TactileFeatures>, ExperimentError> {
        let image = TactileImage::of_press(&placed, bar, &(moved.inverse() * tool_from_bar()))?;
        Ok(TactileFeatures::of(&image))
    };
    let none = dermis::world::ServoError::NothingSelected;
    let target = features(&Pose::IDENTITY)?.ok_or(none)?;
    let jacobian = TactileJacobian::measure([5e-4, 5e-4, 3e-4, 0.02, 0.02, 0.04], features)?;
    // Rotation has its own limits, in rad/s.
    let rotation = PidParameters { output_limit: 1.5, rate_limit: 60.0, ..gains() };
    let pid = [gains(), gains(), gains(), rotation, rotation, rotation];
    let parameters = ServoParameters {
        target,
        dofs: Dofs::all(),
        pid,
        touch_newton: 0.05,
        approach_m_per_s: 0.01,
        least_elongation: 0.1,
    };
    Ok(TactileServo::new(parameters, &jacobian)?)
}

/// The record of one control step.
#[derive(Clone, Copy)]
struct ControlSample {
    time_s: f64,
    force_newton: f64,
    /// Angle between the bar's axis and the palm's (deg).
    direction_deg: f64,
    /// Total rotation error (deg).
    rotation_deg: f64,
    /// Position error of the bar in the palm (m).
    offset_m: Vec3,
    /// Desired displacement of the palm from its start (m).
    wanted_m: Vec3,
    palm_m: Vec3,
}

pub(super) fn run(_: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let array = palm_array()?;
    let mesh = rounded_box(BAR, ROUND, 1e-3)?;
    // The handle in the human hand, which the palm does not touch.
    let handle = cylinder(6e-3, 0.07, 1.5e-3)?.transformed(&Pose::from_translation(Vec3::Z * (0.5 * BAR.z + 0.034)));
    let visible = mesh.joined(&handle);
    let object = Arc::new(Object::new(mesh));
    let mut servo = servo(&array, &object)?;
    let wanted_newton = servo.target().total_newton;

    let step_s = CONTROL_S / STEPS_PER_CONTROL as f64;
    let mut world = World::new(WorldParameters { step_s, ..Default::default() })?;
    let start = start_of_tool() * tool_from_bar();
    let bar = world.add_body(Body::driven("bar", start).touchable(object).with_visual_mesh(visible))?;
    let away = start_of_tool() * Pose::from_translation(Vec3::Z * (-DEPTH - 3e-3));
    let mut palm = CartesianHand::build(&mut world, CartesianParameters::default(), array, away)?;

    let script = HandScript::default();
    let mut kept: Vec<ControlSample> = Vec::new();
    let mut frames: Vec<(f64, Image, Image)> = Vec::new();
    let frames_at = [0.0, 3.0, 7.0, 12.5, 17.5];
    let controls = ((SETTLE_S + MOVE_S) / CONTROL_S).round() as usize;
    for control in 0..controls {
        for _ in 0..STEPS_PER_CONTROL {
            let next = start.translation + script.shift_m(world.time_s() + step_s - SETTLE_S);
            let rotation = script.rotation(world.time_s() + step_s - SETTLE_S) * start.rotation;
            world.set_velocity(bar, velocity(&world.pose(bar), &Pose::new(rotation, next), step_s));
            palm.exchange(&mut world);
            world.step()?;
        }
        let sensed = servo.update(&mut palm, CONTROL_S);
        let time_s = world.time_s() - SETTLE_S;
        if time_s < 0.0 {
            continue;
        }
        let (world_from_tool, world_from_bar) = (world.pose(palm.palm()), world.pose(bar));
        let tool_from_object = world_from_tool.inverse() * world_from_bar;
        let along = tool_from_object.transform_vector(Vec3::Y);
        kept.push(ControlSample {
            time_s,
            force_newton: world.reading(palm.sensor()).sum_newton,
            direction_deg: along.y.abs().min(1.0).acos().to_degrees(),
            rotation_deg: (2.0 * tool_from_object.rotation.w.abs().min(1.0).acos()).to_degrees(),
            offset_m: tool_from_object.translation - tool_from_bar().translation,
            wanted_m: (world_from_bar * tool_from_bar().inverse()).translation - start_of_tool().translation,
            palm_m: world_from_tool.translation - start_of_tool().translation,
        });
        if frames_at.get(frames.len()).is_some_and(|&at| time_s >= at) {
            let (size, pitch) = world
                .sensor(palm.sensor())
                .taxels()
                .size()
                .zip(world.sensor(palm.sensor()).taxels().pitch_m())
                .unwrap_or(((1, 1), 1e-3));
            let image = edge_image(size, pitch, &palm.image().newton, sensed.features.as_ref(), FRAC_PI_2, (20, 0.16));
            frames.push((time_s, scene(&world), image));
        }
        if control % 100 == 0 {
            report_progress(progress, control as f64 / controls as f64)?;
        }
    }
    judge(&mut findings, &kept, wanted_newton);
    let peaks = script.peaks(MOVE_S);
    findings.metric("hand_peak_speed_mm_per_s", peaks.speed_m_per_s * 1e3);
    findings.metric("hand_peak_angle_deg", peaks.angle_rad.to_degrees());
    findings.metric("hand_peak_turning_deg_per_s", peaks.angular_rad_per_s.to_degrees());
    draw(&mut findings, &kept, wanted_newton, frames);
    findings.note("A WTS 0614 palm array under foam (60 N/m per taxel, 4 × 4 contact points each); a 15 × 30 mm bar with a flat face, so that all six degrees of freedom show in the image; features at 200 Hz, an arm with 15 ms of lag; the same gains in every degree of freedom. The bar moves with a prescribed velocity, so the hand is infinitely stiff.");
    Ok(findings)
}

/// The velocity that moves a body from one pose to another in a time (s).
fn velocity(from: &Pose, to: &Pose, dt_s: f64) -> Twist {
    let rotation = to.rotation * from.rotation.conjugate();
    let rotation = if rotation.w < 0.0 { -rotation } else { rotation };
    Twist::new((to.translation - from.translation) / dt_s, rotation.to_scaled_axis() / dt_s)
}

fn judge(findings: &mut Findings, kept: &[ControlSample], wanted_newton: f64) {
    let rms = |of: &dyn Fn(&ControlSample) -> f64| {
        (kept.iter().map(|k| of(k).powi(2)).sum::<f64>() / kept.len().max(1) as f64).sqrt()
    };
    let max = |of: &dyn Fn(&ControlSample) -> f64| kept.iter().map(of).fold(0.0, f64::max);
    let force_off = |k: &ControlSample| (k.force_newton / wanted_newton - 1.0).abs() * 100.0;
    findings.metric("direction_error_deg_rms", rms(&|k| k.direction_deg));
    findings.metric("direction_error_deg_max", max(&|k| k.direction_deg));
    findings.metric("turn_error_deg_rms", rms(&|k| k.rotation_deg));
    findings.metric("offset_mm_rms", rms(&|k| k.offset_m.length() * 1e3));
    findings.metric("force_target_n", wanted_newton);
    findings.metric("force_error_percent_max", max(&force_off));
    findings.metric("force_error_percent_rms", rms(&force_off));
    let lost = kept.iter().filter(|k| k.force_newton <= 0.0).count();
    findings.metric("contact_lost_s", lost as f64 * CONTROL_S);
}

fn scene(world: &World) -> Image {
    let camera = Camera::look_at(Vec3::new(0.26, -0.30, 0.27), Vec3::new(0.03, 0.0, 0.145), 29.0);
    image::scene(world).render(&camera, 480, 480)
}

fn draw(findings: &mut Findings, kept: &[ControlSample], wanted_newton: f64, frames: Vec<(f64, Image, Image)>) {
    let curve = |of: &dyn Fn(&ControlSample) -> f64| kept.iter().map(|k| (k.time_s, of(k))).collect::<Vec<_>>();
    let mut way = Plot::new()
        .title("The face of the bar, and the palm")
        .x_label("Time (s)")
        .y_label("From the start (mm)")
        .size(620, 400);
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        let colour = PALETTE[axis];
        way = way
            .series(Series::line(format!("bar, {name}"), curve(&|k| k.wanted_m[axis] * 1e3)).colour(colour).width(1.4))
            .series(
                Series::line(format!("palm, {name}"), curve(&|k| k.palm_m[axis] * 1e3))
                    .colour(colour)
                    .style(LineStyle::Dashed)
                    .width(2.2),
            );
    }
    let direction = Plot::new()
        .title("Direction of the edge")
        .x_label("Time (s)")
        .y_label("Error (°)")
        .size(620, 400)
        .series(Series::line("edge", curve(&|k| k.direction_deg)))
        .series(Series::line("total rotation", curve(&|k| k.rotation_deg)).width(1.2));
    let bound = |factor: f64| [(0.0, factor * wanted_newton), (MOVE_S, factor * wanted_newton)];
    let force = Plot::new()
        .title("Normal force")
        .x_label("Time (s)")
        .y_label("Force (N)")
        .size(620, 400)
        .y_range(0.0, 1.4 * wanted_newton)
        .series(Series::line("measured", curve(&|k| k.force_newton)))
        .series(Series::line("target ± 15 %", bound(1.0)).style(LineStyle::Dashed))
        .series(Series::line("", bound(0.85)).style(LineStyle::Dotted).colour(PALETTE[1]))
        .series(Series::line("", bound(1.15)).style(LineStyle::Dotted).colour(PALETTE[1]));
    let plots = [way, direction, force].iter().fold(FigurePage::new(3), |sheet, plot| sheet.image(plot.render(), ""));
    findings.files.add_image("cartesian-tracking.png", &plots.render());
    if let Some((_, view, _)) = frames.first() {
        findings.files.add_image("cartesian-scene.png", view);
    }
    let mut strip = FigurePage::new(frames.len().max(1)).gap(12);
    for (time_s, view, _) in &frames {
        strip = strip.image(view.resize_box(340, 340), format!("{time_s:.1} s"));
    }
    for (_, _, image) in frames {
        strip = strip.image(image, "");
    }
    let title = "A palm follows a bar in a human hand: measured edge (red) and desired edge (green)";
    findings.files.add_image("cartesian.png", &strip.title(title).render());
    let mut table =
        String::from("time_s,force_n,direction_error_deg,turn_error_deg,offset_x_mm,offset_y_mm,offset_z_mm\n");
    for k in kept.iter().step_by(4) {
        let o = k.offset_m * 1e3;
        table += &format!(
            "{:.3},{:.4},{:.3},{:.3},{:.3},{:.3},{:.3}\n",
            k.time_s, k.force_newton, k.direction_deg, k.rotation_deg, o.x, o.y, o.z
        );
    }
    findings.files.add("cartesian.csv", table);
}
