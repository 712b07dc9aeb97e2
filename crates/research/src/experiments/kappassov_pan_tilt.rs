//! Kappassov 2020, Fig. 11: a pan-tilt platform of three arrays rotates until an edge reaches its desired direction.

use super::edge_image::edge_image;
use super::setting::median;
use super::{ExperimentError, Findings, Options, Progress, report_progress};
use dermis::draw::{Camera, FigurePage, Image, LineStyle, PALETTE, Plot, Series};
use dermis::geometry::shapes::cylinder;
use dermis::geometry::{Pose, Quat, Vec2, Vec3};
use dermis::image;
use dermis::sensor::response::Noise;
use dermis::sensor::{Sensor, SensorSpec, presets};
use dermis::skin::Object;
use dermis::world::{
    AntiWindup, Body, Dof, Dofs, EndEffector, PanTilt, PanTiltParameters, PidParameters, ServoParameters,
    TactileFeatures, TactileImage, TactileJacobian, TactileServo, World, WorldParameters,
};
use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

/// Control period: 100 Hz. The motor model is exact for any time step in between.
const CONTROL_S: f64 = 0.01;
const STEPS_PER_CONTROL: usize = 2;
const ROWS: usize = 6;
const COLS: usize = 4;
const PITCH: f64 = 6e-3;
const RADIUS: f64 = 0.012;
const LENGTH: f64 = 0.130;
/// Penetration depth (m) of the cylinder on a level plate.
const DEPTH: f64 = 0.8e-3;
/// Offset (m) of the cylinder from the pan axis, as a person would place it; it also breaks the symmetry of the image.
const BESIDE: f64 = 2e-3;
/// Error (deg) below which a run has converged.
const CONVERGED_DEG: f64 = 1.0;
/// Initial pan and tilt (deg).
const STARTS: [(f64, f64); 14] = [
    (-75.0, 0.6),
    (-65.0, -0.6),
    (-55.0, 0.8),
    (-45.0, -0.8),
    (-35.0, 0.6),
    (-25.0, -0.6),
    (-15.0, 0.8),
    (15.0, -0.8),
    (25.0, 0.6),
    (35.0, -0.6),
    (45.0, 0.8),
    (55.0, -0.8),
    (65.0, 0.6),
    (75.0, -0.6),
];

/// A DigiTacts array with its own noise seed.
fn array(name: &str, seed: u64) -> Result<Sensor, ExperimentError> {
    let mut spec = SensorSpec { name: name.into(), contact_points: Some(3), ..presets::find("digitacts-6x4")? };
    spec.response.noise = spec.response.noise.map(|noise| Noise { seed, ..noise });
    Ok(spec.build(None)?)
}

fn arrays() -> Result<Vec<Sensor>, ExperimentError> {
    ["left", "middle", "right"].into_iter().zip(1..).map(|(name, seed)| array(name, seed)).collect()
}

/// Pose of the cylinder along x on a level plate.
fn tool_from_cylinder() -> Pose {
    Pose::new(Quat::from_rotation_y(FRAC_PI_2), Vec3::new(0.0, BESIDE, RADIUS - DEPTH))
}

/// Proportional gain only, as in the paper.
fn proportional() -> PidParameters {
    PidParameters::proportional(0.78)
}

/// Tuned PID: as fast as the motors allow without significant overshoot.
fn tuned() -> PidParameters {
    PidParameters {
        proportional: 9.0,
        integral: 1.0,
        derivative: 0.25,
        derivative_filter_s: 0.02,
        output_limit: 4.0,
        rate_limit: 60.0,
        anti_windup: AntiWindup::Conditional,
    }
}

/// One run of the servo: its error over time, and frames.
struct Run {
    /// Time (s), signed pan error (deg), angle in space between the cylinder and its desired direction (deg).
    path: Vec<(f64, f64, f64)>,
    frames: Vec<(f64, Image, Image)>,
}

impl Run {
    /// The time (s) after which the error stays below the bound.
    fn converged_s(&self) -> f64 {
        let last = self.path.iter().rposition(|&(_, _, error)| error > CONVERGED_DEG);
        last.map_or(0.0, |k| self.path.get(k + 1).map_or(f64::INFINITY, |after| after.0))
    }

    /// Largest error (deg) in the last half second.
    fn final_deg(&self) -> f64 {
        let end = self.path.last().map_or(0.0, |last| last.0);
        self.path.iter().filter(|at| at.0 > end - 0.5).map(|at| at.2).fold(0.0, f64::max)
    }
}

/// Runs the servo from an initial pan and tilt.
fn run_from(
    start_deg: (f64, f64),
    pid: PidParameters,
    duration_s: f64,
    object: &Arc<Object>,
    jacobian: &TactileJacobian,
    frames_at_s: &[f64],
) -> Result<Run, ExperimentError> {
    let step_s = CONTROL_S / STEPS_PER_CONTROL as f64;
    let mut world = World::new(WorldParameters { step_s, ground_z_m: Some(0.0), ..Default::default() })?;
    let parameters = PanTiltParameters {
        pan_rad: start_deg.0.to_radians(),
        tilt_rad: start_deg.1.to_radians(),
        ..Default::default()
    };
    let surface_z = parameters.axis_height_m + parameters.surface_over_axis_m;
    let held = Pose::from_translation(Vec3::Z * surface_z) * tool_from_cylinder();
    let cylinder = world.add_body(Body::fixed("cylinder", held).touchable(object.clone()))?;
    let mut platform = PanTilt::build(&mut world, parameters, arrays()?)?;
    let target = TactileFeatures {
        total_newton: 0.0,
        center_m: Vec2::ZERO,
        lean_m: Vec2::ZERO,
        direction_rad: 0.0,
        elongation: 1.0,
    };
    let servo = ServoParameters {
        target,
        dofs: Dofs::of(&[Dof::Ry, Dof::Rz]),
        pid: [pid; 6],
        touch_newton: 0.05,
        approach_m_per_s: 0.0,
        least_elongation: 0.1,
    };
    let mut servo = TactileServo::new(servo, jacobian)?;
    let mut run = Run { path: Vec::new(), frames: Vec::new() };
    let mut pending = frames_at_s.iter().copied().peekable();
    let controls = (duration_s / CONTROL_S).round() as usize;
    for control in 0..controls {
        for _ in 0..STEPS_PER_CONTROL {
            platform.exchange(&mut world);
            world.step()?;
        }
        let sensed = servo.update(&mut platform, CONTROL_S);
        let time_s = control as f64 * CONTROL_S;
        let axis =
            platform.world_from_tool().inverse().transform_vector(world.pose(cylinder).transform_vector(Vec3::Z));
        let pan = axis.y.atan2(axis.x);
        let pan = pan - PI * (pan / PI).round();
        let error = axis.x.abs().min(1.0).acos();
        run.path.push((time_s, pan.to_degrees(), error.to_degrees()));
        if pending.next_if(|&at| time_s >= at - 1e-9).is_some() {
            let shown = edge_image(
                (ROWS, 3 * COLS),
                PITCH,
                &side_by_side(platform.image()),
                sensed.features.as_ref(),
                0.0,
                (33, 0.3),
            );
            run.frames.push((time_s, scene(&world), shown));
        }
    }
    Ok(run)
}

/// Combines the images of three arrays into one row-major grid.
fn side_by_side(image: &TactileImage) -> Vec<f64> {
    let each = ROWS * COLS;
    let cell = |row: usize, col: usize| col / COLS * each + row * COLS + col % COLS;
    (0..ROWS * 3 * COLS)
        .map(|i| image.newton.get(cell(i / (3 * COLS), i % (3 * COLS))).copied().unwrap_or(0.0))
        .collect()
}

fn scene(world: &World) -> Image {
    let scene = image::scene(world);
    let camera = Camera::look_at(Vec3::new(0.16, -0.26, 0.34), Vec3::new(0.0, 0.0, 0.060), 24.0);
    scene.render(&camera, 640, 480)
}

/// Measures the Jacobian as on a bench, by small motions of the plate under the cylinder. Only its diagonal is kept: an
/// edge that crosses a few large taxels obliquely loads them unevenly, which would be mistaken for a tilt.
fn measured_jacobian(object: &Object) -> Result<TactileJacobian, ExperimentError> {
    let pitch = COLS as f64 * PITCH + PanTiltParameters::default().gap_m;
    let placed: Vec<(Sensor, Pose)> = arrays()?
        .into_iter()
        .zip([-1.0, 0.0, 1.0])
        .map(|(array, side)| (array, Pose::from_translation(Vec3::X * (side * pitch))))
        .collect();
    let steps = [5e-4, 5e-4, 2e-4, 0.01, 0.01, 0.05];
    let measured: Result<_, ExperimentError> = TactileJacobian::measure(steps, |moved| {
        let image = TactileImage::of_press(&placed, object, &(moved.inverse() * tool_from_cylinder()))?;
        Ok(TactileFeatures::of(&image))
    });
    Ok(measured?.decoupled())
}

pub(super) fn run(_: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let object = Arc::new(Object::new(cylinder(RADIUS, LENGTH, 2e-3)?));
    let jacobian = measured_jacobian(&object)?;
    let mut table = String::from("controller,start_pan_deg,start_tilt_deg,converged_s,final_error_deg\n");
    let mut plots = Vec::new();
    let mut strip = FigurePage::new(3).gap(14);
    let mut worst_final = 0.0f64;
    let mut done = 0;
    for (name, pid, duration_s, frames) in
        [("P", proportional(), 9.0, &[0.0, 1.2, 8.9][..]), ("PID", tuned(), 2.5, &[][..])]
    {
        let until_s = if name == "P" { 9.0 } else { 1.5 };
        let base = || Plot::new().x_label("Time (s)").size(560, 400).x_range(0.0, until_s).without_legend();
        let mut plot = base()
            .title(if name == "P" { "Proportional gain only" } else { "Tuned PID" })
            .y_label("Edge minus desired direction, in the plate (°)")
            .y_range(-80.0, 80.0);
        let bound = [(0.0, CONVERGED_DEG), (until_s, CONVERGED_DEG)];
        let mut in_space = base()
            .y_label("Angle between edge and desired direction, in space (°)")
            .log_y()
            .y_range(0.05, 100.0)
            .series(Series::line("", bound).style(LineStyle::Dashed).colour([38, 42, 48]));
        let mut times = Vec::new();
        for (index, start) in STARTS.into_iter().enumerate() {
            let frames_at = if start.0 == 55.0 { frames } else { &[] };
            let run = run_from(start, pid, duration_s, &object, &jacobian, frames_at)?;
            let (converged, last) = (run.converged_s(), run.final_deg());
            table += &format!("{name},{},{},{converged:.2},{last:.3}\n", start.0, start.1);
            times.push(converged);
            worst_final = worst_final.max(last);
            let colour = PALETTE[index % PALETTE.len()];
            let curve = run.path.iter().map(|&(t, pan, _)| (t, pan));
            plot = plot.series(Series::line("", curve).colour(colour).width(1.6));
            // The logarithmic axis has no zero.
            let size = run.path.iter().map(|&(t, _, error)| (t, error.max(1e-3)));
            in_space = in_space.series(Series::line("", size).colour(colour).width(1.2));
            if let [(_, view, _), ..] = &run.frames[..] {
                findings.files.add_image("pan-tilt-scene.png", view);
            }
            let labels = ["I, at the start", "II, on the way", "III, at the end"];
            for ((time_s, view, _), label) in run.frames.iter().zip(labels) {
                strip = strip.image(view.resize_box(400, 300), format!("{label} ({time_s:.1} s)"));
            }
            for (_, _, image) in &run.frames {
                strip = strip.image(image.clone(), "");
            }
            done += 1;
            report_progress(progress, f64::from(done) / (2 * STARTS.len()) as f64)?;
        }
        let key = if name == "P" { "p_only" } else { "pid" };
        findings.metric(format!("{key}_converged_s_max"), times.iter().copied().fold(0.0, f64::max));
        findings.metric(format!("{key}_converged_s_min"), times.iter().copied().fold(f64::INFINITY, f64::min));
        findings.metric(format!("{key}_converged_s_median"), median(times));
        plots.push([plot.render(), in_space.render()]);
    }
    findings.metric("final_error_deg", worst_final);
    let rows = (0..2).flat_map(|row| plots.iter().map(move |column| &column[row]));
    let curves = rows.fold(FigurePage::new(2), |sheet, plot| sheet.image(plot.clone(), ""));
    findings.files.add_image("pan-tilt.png", &curves.title("Fourteen starts; dashed: convergence bound").render());
    findings.files.add_image(
        "pan-tilt-phases.png",
        &strip.title("Proportional gain only: measured edge (red) and desired edge (green)").render(),
    );
    findings.files.add("pan-tilt.csv", table);
    findings.note("Three DigiTacts of 6 × 4 taxels with 3 × 3 contact points each, with their spread, noise, counts and 100 Hz (preset `digitacts-6x4`); the cylinder (24 mm diameter) is held 2 mm beside the pan axis and 0.8 mm deep; motors near an AX-12 (0.29° per position, 59 rpm, 30 ms); pan follows the direction of the edge, tilt levels the load. The convergence time is the last time at which the cylinder is more than 1° from its desired direction, in space.");
    Ok(findings)
}
