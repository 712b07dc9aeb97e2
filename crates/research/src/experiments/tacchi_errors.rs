//! Effect of speed, density and indenter sampling on the surface: the setting of Chen et al. 2023 and ours.

use super::{ExperimentError, Findings, Options, Progress, report_progress};
use dermis::draw::{LineStyle, Plot, Series};
use dermis::geometry::shapes::sphere;
use dermis::geometry::{Pose, Vec3};
use dermis::skin::gel::{FixedFaces, TacchiGel, TacchiParameters};
use dermis::skin::{Gel, GelParameters, Motion, Object, Skin, SurfaceField, Target};

const RADIUS: f64 = 4e-3;
const DEPTH: f64 = 1e-3;

pub(super) fn run(options: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let partial = (!options.full).then(|| "a quarter of the paper's gel, and cells of 0.5 mm for 0.4 mm".to_owned());
    let mut findings = Findings { partial, ..Findings::default() };
    let ball = Object::new(sphere(RADIUS, 0.25e-3)?);
    let pose = |depth: f64| Pose::from_translation(Vec3::Z * (RADIUS - depth));
    // The paper's gel, or a quarter of it with the same particle spacing and grid.
    let paper = if options.full {
        TacchiParameters::default()
    } else {
        TacchiParameters {
            size_m: Vec3::new(10e-3, 10e-3, 4e-3),
            particles: [51, 51, 21],
            indenter_particles: 50_000,
            ..TacchiParameters::default()
        }
    };
    let press = |p: TacchiParameters| -> Result<SurfaceField, ExperimentError> {
        let (touch, _) = TacchiGel::new(p)?.press(&ball, pose(DEPTH))?;
        Ok(touch.surface.unwrap_or_else(|| unreachable!("a gel always reports its surface")))
    };
    let as_printed = press(paper)?;
    report_progress(progress, 0.2)?;
    let slower = press(TacchiParameters { speed_m_per_s: paper.speed_m_per_s / 4.0, ..paper })?;
    report_progress(progress, 0.5)?;
    let lighter = {
        let mut light = TacchiParameters { step_s: paper.step_s / 2.0, ..paper };
        light.material.density_kg_per_m3 /= 4.0;
        press(light)?
    };
    report_progress(progress, 0.7)?;
    let sparse = press(TacchiParameters { indenter_particles: 202, ..paper })?;
    report_progress(progress, 0.8)?;

    let cell_m = if options.full { 0.4e-3 } else { 0.5e-3 };
    let gel = Gel::block(paper.size_m, FixedFaces::default(), GelParameters { cell_m, ..GelParameters::default() })?;
    let rest = |depths: &[f64]| -> Result<SurfaceField, ExperimentError> {
        let mut state = gel.rest();
        let mut field = None;
        for &depth in depths {
            let (touch, next) = gel.settle(&state, &Motion { targets: &[Target::at_rest(&ball, pose(depth))] })?;
            (state, field) = (next, touch.surface);
        }
        Ok(field.unwrap_or_else(|| unreachable!("a gel always reports its surface")))
    };
    let ours = rest(&[DEPTH])?;
    let slowly = rest(&[0.5 * DEPTH, DEPTH])?;
    report_progress(progress, 1.0)?;

    let rows = [
        (
            "speed_moves_mm",
            "a quarter of the speed moves the surface by at most (mm)",
            apart(&as_printed, &slower),
            apart(&ours, &slowly),
        ),
        (
            "density_moves_mm",
            "a quarter of the density moves the surface by at most (mm)",
            apart(&as_printed, &lighter),
            0.0,
        ),
        (
            "leak_mm",
            "travel that 202 indenter particles lose (mm); ours uses the exact surface",
            lost(&sparse),
            lost(&ours),
        ),
        ("tip_error_mm", "surface under the tip against the travel (mm)", lost(&as_printed), lost(&ours)),
    ];
    let mut table = String::from("what,paper,ours\n");
    for (name, what, theirs, mine) in rows {
        findings.metric(format!("paper_{name}"), theirs);
        findings.metric(format!("our_{name}"), mine);
        table += &format!("{what},{theirs:.4},{mine:.4}\n");
    }
    let cell = paper.grid_edge_m / paper.grid_nodes as f64;
    let spacing = paper.size_m.x / (paper.particles[0] as f64 - 1.0);
    table += &format!("particles in a cell,{:.2},8\n", (cell / spacing).powi(3));
    findings.metric("paper_particles_per_cell", (cell / spacing).powi(3));
    findings.files.add("errors.csv", table);
    findings.note("Our gel is at equilibrium: speed and density do not matter, and a press in one step equals one in two steps. The paper reads the surface while it moves.");
    let plot = Plot::new()
        .title("Surface profile through the centre, 1 mm deep")
        .x_label("x (mm)")
        .y_label("Height (mm)")
        .series(Series::line("paper, 200 mm/s", profile(&as_printed)))
        .series(Series::line("paper, 50 mm/s", profile(&slower)).style(LineStyle::Dashed))
        .series(Series::line("paper, 202 indenter particles", profile(&sparse)).style(LineStyle::Dashed))
        .series(Series::line("ours, at rest", profile(&ours)));
    findings.files.add_image("profiles.png", &plot.render());
    Ok(findings)
}

/// Largest vertical difference (mm).
fn apart(a: &SurfaceField, b: &SurfaceField) -> f64 {
    a.values.iter().zip(&b.values).map(|(a, b)| (a.z - b.z).abs()).fold(0.0, f64::max) * 1e3
}

/// Travel (mm) minus the largest displacement of the surface.
fn lost(field: &SurfaceField) -> f64 {
    (DEPTH - field.values.iter().map(|u| -u.z).fold(0.0, f64::max)) * 1e3
}

/// Heights (mm) along x through the centre.
fn profile(field: &SurfaceField) -> Vec<(f64, f64)> {
    let row = field.rows / 2;
    (0..field.cols)
        .map(|col| {
            let at = field.rest(row, col) + field.values[row * field.cols + col];
            (at.x * 1e3, at.z * 1e3)
        })
        .collect()
}
