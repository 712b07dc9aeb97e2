//! Fig. 4 of Chen et al. 2023: the gel under each of 21 indenters.

use super::{ExperimentError, Findings, Options, Progress, report_progress};
use dermis::draw::{ColourMap, FigurePage, HeatMap};
use dermis::geometry::shapes::indenters;
use dermis::geometry::{Pose, Vec3};
use dermis::skin::gel::FixedFaces;
use dermis::skin::{Gel, GelParameters, Motion, Object, Skin, SurfaceField, Target};

const DEPTH: f64 = 1e-3;

pub(super) fn run(options: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let partial = (!options.full).then(|| "cells of 1 mm for 0.4 mm".to_owned());
    let mut findings = Findings { partial, ..Findings::default() };
    let cell_m = if options.full { 0.4e-3 } else { 1e-3 };
    let gel = Gel::block(
        Vec3::new(20e-3, 20e-3, 4e-3),
        FixedFaces::default(),
        GelParameters { cell_m, ..GelParameters::default() },
    )?;
    let mut sheet = FigurePage::new(7).title("The gel's surface under 21 indenters, 1 mm deep (mm)");
    let mut table = String::from("indenter,force_n,contact_mm2,deepest_mm,bulge_mm,residual\n");
    let (mut residual, mut balance, mut min_force, mut max_force, mut shallowest) =
        (0.0f64, 0.0f64, f64::INFINITY, 0.0f64, 1.0f64);
    for (index, name) in indenters::NAMES.iter().enumerate() {
        let object = Object::new(indenters::find(name)?);
        let target = Target::at_rest(&object, Pose::from_translation(Vec3::Z * -DEPTH));
        let (touch, _, work) = gel.equilibrium(&gel.rest(), &Motion { targets: &[target] })?;
        let force = -touch.on_sensor.force.z;
        let lost = (touch.on_objects[0].force + touch.on_sensor.force).length() / force;
        let Some(field) = &touch.surface else { continue };
        let deepest = field.values.iter().map(|u| -u.z).fold(0.0, f64::max);
        let bulge = field.values.iter().map(|u| u.z).fold(0.0, f64::max);
        table += &format!(
            "{name},{force:.4},{:.3},{:.4},{:.4},{:.1e}\n",
            touch.area_m2() * 1e6,
            deepest * 1e3,
            bulge * 1e3,
            work.residual
        );
        residual = residual.max(work.residual);
        balance = balance.max(lost);
        min_force = min_force.min(force);
        max_force = max_force.max(force);
        shallowest = shallowest.min(deepest / DEPTH);
        match *name {
            "sphere" => findings.metric("sphere_depth_error", (deepest / DEPTH - 1.0).abs()),
            "cone" => findings.metric("cone_depth", deepest / DEPTH),
            _ => (),
        }
        sheet = sheet.image(image(field), *name);
        report_progress(progress, (index + 1) as f64 / indenters::NAMES.len() as f64)?;
    }
    findings.metric("worst_residual", residual);
    findings.metric("worst_balance", balance);
    findings.metric("least_force_n", min_force);
    findings.metric("most_force_n", max_force);
    findings.metric("shallowest_of_depth", shallowest);
    findings.note(format!(
        "{} particles, cells of {} mm, equilibrium without friction. A cone's tip is smaller than a cell, so the surface does not reach it.",
        gel.particles(),
        cell_m * 1e3
    ));
    findings.files.add("presses.csv", table);
    findings.files.add_image("surfaces.png", &sheet.render());
    Ok(findings)
}

/// Depth (mm), positive where the gel is pressed in.
fn image(field: &SurfaceField) -> dermis::draw::Image {
    let depths: Vec<f64> = field.values.iter().map(|u| -u.z * 1e3).collect();
    let side = (220 / field.cols.max(1)).max(1);
    HeatMap::new(field.rows, field.cols, &depths).map(ColourMap::Ember).range(-0.2, 1.0).cell_px(side).bare().render()
}
