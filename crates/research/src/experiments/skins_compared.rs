//! The same press simulated with springs, a hydroelastic pad and a layer.

use super::setting::frictionless;
use super::{ExperimentError, Findings, Options, Progress, report_progress};
use dermis::draw::{FigurePage, HeatMap, LineStyle, Plot, Series};
use dermis::geometry::shapes::{cuboid, cylinder, sphere};
use dermis::geometry::{TriMesh, Vec3};
use dermis::sensor::{Aim, Goal, Pressed, Sensor, SensorSpec, SkinKind, SkinSpec, SurfaceSpec, Taxels, presets, press};
use dermis::skin::{Object, Touch};

const FORCE_N: f64 = 10.0;
/// Cells of the pressure maps: eight per side of a tactel.
const ROWS: usize = 112;
const COLS: usize = 48;
const CELL_M: f64 = 0.425e-3;

pub(super) fn run(_: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let sensors = sensors()?;
    let shapes: [(&str, TriMesh); 3] = [
        ("ball", sphere(10e-3, 0.4e-3)?),
        ("punch", cylinder(4e-3, 8e-3, 0.3e-3)?),
        ("edge", cuboid(Vec3::new(14e-3, 1.5e-3, 8e-3))?),
    ];
    let mut sheet = FigurePage::new(3)
        .title("A layer under a ball, a flat punch and an edge: pressure, surface and stress on the base, 10 N each");
    let mut plots = FigurePage::new(3)
        .title("Pressure along the array through the centre, 10 N each: springs, hydroelastic pad, layer");
    let mut table = String::from("object,skin,depth_mm,area_mm2,peak_pressure_kpa\n");
    for (done, (name, mesh)) in shapes.into_iter().enumerate() {
        let object = Object::new(mesh);
        let mut plot = Plot::new().title(name).x_label("y (mm)").y_label("Pressure (kPa)").size(560, 400);
        for (skin, sensor) in &sensors {
            let pressed = press(sensor, &object, &Aim::default(), Goal::Force(FORCE_N))?;
            let pressure = pressures_kpa(&pressed.touch);
            let peak = pressure.iter().copied().fold(0.0, f64::max);
            let (depth_mm, area_mm2) = (pressed.depth_m * 1e3, pressed.touch.area_m2() * 1e6);
            table += &format!("{name},{skin},{depth_mm:.4},{area_mm2:.3},{peak:.3}\n");
            findings.metric(format!("{name}_{skin}_depth_mm"), depth_mm);
            findings.metric(format!("{name}_{skin}_area_mm2"), area_mm2);
            let style = if *skin == "layer" { LineStyle::Solid } else { LineStyle::Dashed };
            plot = plot.series(Series::line(*skin, profile(&pressure)).style(style));
            if *skin == "layer" {
                sheet = layer_row(sheet, name, &pressed, &pressure);
            }
        }
        plots = plots.image(plot.render(), "");
        report_progress(progress, (done + 1) as f64 / 3.0)?;
    }
    let ratio = |findings: &Findings, a: &str, b: &str| findings.metrics[a] / findings.metrics[b];
    let flat = ratio(&findings, "punch_springs_area_mm2", "punch_layer_area_mm2");
    findings.metric("punch_area_springs_over_layer", flat);
    let pads = ratio(&findings, "ball_springs_depth_mm", "ball_hydroelastic_depth_mm");
    findings.metric("ball_depth_springs_over_hydroelastic", pads);
    let ball = ratio(&findings, "ball_layer_depth_mm", "ball_springs_depth_mm");
    findings.metric("ball_depth_layer_over_springs", ball);
    findings.files.add("skins.csv", table);
    findings.files.add_image("layer.png", &sheet.render());
    findings.files.add_image("skins.png", &plots.render());
    findings.note("On a flat array, springs and pad are the same model and agree. The layer spreads load beyond the contact: edges carry more than the centre, and the surrounding surface sinks. All three have the stiffness of confined compression under a wide plate.");
    Ok(findings)
}

/// Three skins with the same stiffness under a wide plate.
fn sensors() -> Result<[(&'static str, Sensor); 3], ExperimentError> {
    let layer = presets::find("wts0614-layer")?;
    let springs = as_springs(&layer)?;
    let pad = springs.with_skin(SkinKind::Hydroelastic)?.build(None)?;
    Ok([("springs", springs.build(None)?), ("hydroelastic", pad), ("layer", frictionless(layer).build(None)?)])
}

/// Springs with the layer's confined stiffness M/h, eight per side of a tactel.
pub(super) fn as_springs(layer: &SensorSpec) -> Result<SensorSpec, ExperimentError> {
    let mut spec = presets::find("wts0614")?;
    if let (SkinSpec::Layer(of), SkinSpec::Springs(springs), SurfaceSpec::Grid { pitch, .. }) =
        (&layer.skin, &mut spec.skin, &spec.surface)
    {
        let parameters = of.parameters(&layer.name, &layer.surface)?;
        let ply = parameters.plies[0];
        let per_area = ply.confined_pa() / ply.thickness_m;
        springs.stiffness = Some(dermis::geometry::quantity::Stiffness::new(per_area * pitch.si() * pitch.si()));
        springs.max_penetration = of.thickness;
        springs.friction = dermis::sensor::FrictionSpec::None;
    }
    spec.contact_points = Some(8);
    Ok(spec)
}

/// Pressure at the surface on fine cells (kPa).
fn pressures_kpa(touch: &Touch) -> Vec<f64> {
    let at_surface = Touch { base: None, ..touch.clone() };
    let (forces, _) = Taxels::grid(ROWS, COLS, CELL_M).bin(&at_surface);
    forces.iter().map(|force| -force.z / (CELL_M * CELL_M) * 1e-3).collect()
}

/// Pressure along y through the centre of the array.
fn profile(values: &[f64]) -> Vec<(f64, f64)> {
    let y_mm = |row: usize| (0.5 * (ROWS as f64 - 1.0) - row as f64) * CELL_M * 1e3;
    let middle = |row: usize| 0.5 * (values[row * COLS + COLS / 2 - 1] + values[row * COLS + COLS / 2]);
    (0..ROWS).rev().map(|row| (y_mm(row), middle(row))).filter(|(y, _)| y.abs() < 12.0).collect()
}

fn layer_row(sheet: FigurePage, name: &str, pressed: &Pressed, pressure_kpa: &[f64]) -> FigurePage {
    let map = |values: &[f64], unit: &str| {
        // The central 20 mm of the array.
        let from = (ROWS - COLS) / 2;
        let part = &values[from * COLS..(from + COLS) * COLS];
        let half = COLS as f64 * CELL_M * 0.5e3;
        HeatMap::new(COLS, COLS, part).unit(unit).extent_mm((-half, half), (-half, half)).cell_px(6).render()
    };
    let down = |field: &Option<dermis::skin::SurfaceField>, scale: f64| -> Vec<f64> {
        field.as_ref().map_or_else(Vec::new, |field| field.values.iter().map(|value| -value.z * scale).collect())
    };
    let surface = down(&pressed.touch.surface, 1e3);
    let base = down(&pressed.touch.base, 1e-3);
    sheet
        .image(map(pressure_kpa, "kPa"), format!("{name}: pressure"))
        .image(map(&surface, "mm"), format!("{name}: surface displacement"))
        .image(map(&base, "kPa"), format!("{name}: pressure on the base"))
}
