//! Normal displacements of a surface under a small indenter, by finite elements: the shape of their decay.

use super::row::{Comparison, Figure, Measure, NULL, PRESET};
use super::score::{Sample, Statistic};
use super::table::Table;
use super::{RealError, Setting};
use dermis::draw::{Plot, Series};
use dermis::geometry::shapes::sphere;
use dermis::sensor::{Aim, Goal, press};
use dermis::skin::Object;
use std::path::Path;

/// Radii (mm) between which the profiles are compared, and the number of rings.
const RINGS_MM: [f64; 2] = [0.15, 5.0];
const RINGS: usize = 24;

/// Compares profiles of normal displacement over the distance from the peak, each divided by its peak. The file has the
/// columns node, x, y, z and displacement (m); `normal` is the axis of the displacement. The ball is pressed until
/// its peak is that of the finite elements, so nothing is fitted.
pub fn compare(setting: &Setting<'_>, file: &Path, normal: usize, ball_m: f64) -> Result<Comparison, RealError> {
    let path = setting.folder.join(file);
    let rows = Table::read(&path)?.rows;
    let bad = |rule: &str| RealError::Bad { what: path.display().to_string(), rule: rule.to_owned() };
    if rows[0].len() != 5 || normal > 2 {
        return Err(bad(
            "must have five columns: node, x, y, z and the displacement (m), and `normal` must be 0, 1 or 2",
        ));
    }
    let Some(peak) = rows.iter().max_by(|a, b| a[4].abs().total_cmp(&b[4].abs())) else { return Err(bad("is empty")) };
    let (peak, depth_m) = (peak.clone(), peak[4].abs());
    let across: Vec<usize> = (1..4).filter(|axis| *axis != normal + 1).collect();
    let radius_mm = |row: &Vec<f64>| 1e3 * (row[across[0]] - peak[across[0]]).hypot(row[across[1]] - peak[across[1]]);
    // The far side of a body that was exported with its surface is left out.
    let near = |row: &&Vec<f64>| (row[normal + 1] - peak[normal + 1]).abs() < 1e-3;
    let nodes: Vec<(f64, f64)> = rows.iter().filter(near).map(|row| (radius_mm(row), row[4].abs() / depth_m)).collect();
    let sensor = setting.spec()?.build(None)?;
    let ball = Object::new(sphere(0.5 * ball_m, ball_m / 100.0)?);
    let pressed = press(&sensor, &ball, &Aim::default(), Goal::Depth(depth_m))?;
    let Some(field) = pressed.touch.surface else {
        return Err(RealError::NoSurface { sensor: sensor.name().to_owned() });
    };
    let middle = pressed.sensor_from_object.translation;
    let mut ours: Vec<(f64, f64)> = (0..field.rows * field.cols)
        .map(|i| {
            let at = field.rest(i / field.cols, i % field.cols) - middle;
            (1e3 * at.x.hypot(at.y), -field.values[i].z / depth_m)
        })
        .collect();
    ours.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [low, high] = RINGS_MM;
    let edge = |ring: usize| low * (high / low).powf(ring as f64 / RINGS as f64);
    let mean = |points: &[(f64, f64)], ring: usize| {
        let inside = points.iter().filter(|point| (edge(ring)..edge(ring + 1)).contains(&point.0));
        let (sum, count) = inside.fold((0.0, 0), |(sum, count), point| (sum + point.1, count + 1));
        (count > 0).then(|| sum / f64::from(count))
    };
    // (radius, finite elements, ours) of every ring that both have.
    let profile: Vec<(f64, f64, f64)> = (0..RINGS)
        .filter_map(|ring| Some(((edge(ring) * edge(ring + 1)).sqrt(), mean(&nodes, ring)?, mean(&ours, ring)?)))
        .collect();
    if profile.is_empty() {
        return Err(bad("no node of the surface lies between 0.15 and 5 mm from the peak"));
    }
    let mut measure =
        Measure::new("decay", "displacement by its peak, 0.15 to 5 mm from the peak: rms error", Statistic::Rms);
    let samples = |of: &dyn Fn(&(f64, f64, f64)) -> f64| -> Vec<Sample> {
        profile.iter().map(|ring| Sample { error: (of(ring) - ring.1).powi(2), weight: 1.0 }).collect()
    };
    measure.add(PRESET, &samples(&|ring| ring.2));
    measure.add(NULL, &samples(&|_| 0.0));
    let lines = [("finite elements", 1), ("dermis", 2)].map(|(name, which)| {
        Series::line(name, profile.iter().map(move |ring| (ring.0, if which == 1 { ring.1 } else { ring.2 })))
    });
    let [first, second] = lines;
    let plot =
        Plot::new().x_label("Distance from the peak (mm)").y_label("Displacement by peak").series(first).series(second);
    Ok(Comparison {
        samples: profile.len(),
        fitted: "nothing".into(),
        kept_out: profile.iter().map(|ring| format!("{:.2} mm", ring.0)).collect(),
        measures: vec![measure],
        notes: vec![format!("peak {:.3} mm; {} nodes in {} rings", 1e3 * depth_m, nodes.len(), profile.len())],
        figures: vec![Figure {
            caption: "Decay of the normal displacement".into(),
            image: plot.size(720, 460).render(),
        }],
        ..Comparison::default()
    })
}
