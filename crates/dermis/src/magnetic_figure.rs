//! Figures of magnets and magnetometers.

use crate::image::FORCE;
use crate::run::SensorRow;
use dermis_draw::colour::{INK, SOFT};
use dermis_draw::{FigurePage, Image, LineStyle, Marker, PALETTE, Plot, Series};
use dermis_geometry::{Pose, Quat, TriMesh, Vec3};
use dermis_sensor::magnetic::Magnetics;
use dermis_skin::{Load, Touch};

/// Lines that start above the magnets, and as many below; fewer where there are thousands of dipoles.
const LINES: usize = 15;
const MIN_LINES: usize = 3;
/// Length of a field line (m) in the figure, at most, by the width of the figure.
const LENGTH: f64 = 1.5;
/// Number of steps along a field line.
const STEPS: usize = 240;
/// Distance (m) across the cut of contact points in one row.
const SAME_ROW: f64 = 1e-6;
/// Width of the plot (px), and the part of it and of its height that the axes take.
const WIDTH_PX: f64 = 760.0;
const AXES_PX: [f64; 2] = [82.0, 96.0];

/// Magnets, chips and field lines in a cut along x and z through the magnet that a touch moves most.
///
/// A field line follows the part of the flux density of the magnets that lies in the cut, where the magnets are under the
/// touch; dashes show where they are without contact. The surface is that under the touch; objects, each a mesh with its pose in the sensor
/// frame, are drawn where they cross the cut.
pub fn cut(magnetics: &Magnetics, touch: &Touch, objects: &[(&TriMesh, Pose)], title: &str) -> Image {
    let (moved, rest) = (magnetics.moved(touch), magnetics.magnets());
    let shift = |(i, (at, _)): &(usize, &(Vec3, Quat))| (*at - rest[*i]).length();
    let largest = moved.iter().enumerate().max_by(|a, b| shift(a).total_cmp(&shift(b)));
    let y = largest.map_or(0.0, |(i, _)| rest[i].y);
    let half = magnetics.half_m();
    let chips: Vec<Vec3> = magnetics.chips().collect();
    let ends = |axis: usize| {
        let all = rest.iter().chain(&chips).map(|at| at[axis]);
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)))
    };
    let ((x0, x1), (z0, z1)) = (ends(0), ends(2));
    let margin = (0.25 * (x1 - x0)).max(0.6 * (z1 - z0)).max(2e-3) + half.max_element();
    let (x0, x1, z0, z1) = (x0 - margin, x1 + margin, z0 - 0.9 * margin, z1 + 0.7 * margin);
    let inside = |at: Vec3| (x0..=x1).contains(&at.x) && (z0..=z1).contains(&at.z);
    let direction = |at: Vec3| {
        let field = magnetics.field_at(&moved, at)?;
        Vec3::new(field.x, 0.0, field.z).try_normalize()
    };
    let step_m = LENGTH * (x1 - x0) / STEPS as f64;
    let line = |start: Vec3, sign: f64| {
        let mut points = vec![start];
        for _ in 0..STEPS {
            let at = points[points.len() - 1];
            // The midpoint rule.
            let next = direction(at).and_then(|here| direction(at + here * (0.5 * sign * step_m)));
            let Some(next) = next.map(|along| at + along * (sign * step_m)) else { break };
            points.push(next);
            if !inside(next) {
                break;
            }
        }
        points
    };
    let mm = |points: Vec<Vec3>| points.into_iter().map(|at| (at.x * 1e3, at.z * 1e3)).collect::<Vec<_>>();
    let height_px = (WIDTH_PX - AXES_PX[0]) * (z1 - z0) / (x1 - x0) + AXES_PX[1];
    let mut plot = Plot::new()
        .title(title)
        .x_label(format!("x (mm), in the cut at y = {} mm", (y * 1e6).round() / 1e3))
        .y_label("z (mm)")
        .x_range(x0 * 1e3, x1 * 1e3)
        .y_range(z0 * 1e3, z1 * 1e3)
        .size(WIDTH_PX as usize, height_px as usize);
    let (low, high) = moved.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (at, _)| {
        (low.min(at.z - half.z), high.max(at.z + half.z))
    });
    let mut label = "Field lines";
    let lines = (LINES * 1000 / moved.len().max(1)).clamp(MIN_LINES, LINES);
    for z in [high + 0.08 * margin, low - 0.08 * margin] {
        for i in 0..lines {
            let start = Vec3::new(x0 + (x1 - x0) * (i as f64 + 0.5) / lines as f64, y, z);
            let points: Vec<Vec3> = line(start, -1.0).into_iter().rev().chain(line(start, 1.0)).collect();
            plot = plot.series(Series::line(label, mm(points)).colour(SOFT).width(1.0));
            label = "";
        }
    }
    let mut name = "Object";
    for (mesh, pose) in objects {
        let outline = outline(mesh, pose, y);
        if outline.iter().any(|at| inside(*at)) {
            plot = plot.series(Series::line(name, mm(outline)).colour(PALETTE[1]).width(1.5));
            name = "";
        }
    }
    let pressed = [Vec3::new(x0, y, 0.0)].into_iter().chain(surface(touch, y)).chain([Vec3::new(x1, y, 0.0)]);
    plot = plot.series(Series::line("Surface", mm(pressed.collect())).colour(PALETTE[2]).width(1.5));
    let shown = |at: &Vec3| (at.y - y).abs() <= half.y + 1e-6;
    let mut labels = ["Magnets", "Without contact", "North"];
    for (i, (at, rotation)) in moved.iter().enumerate().filter(|(i, _)| shown(&rest[*i])) {
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0)];
        let outline = |at: Vec3, rotation: Quat| {
            corners.map(|(x, z)| at + rotation * Vec3::new(x * half.x, 0.0, z * half.z)).to_vec()
        };
        let along = *rotation * magnetics.directions()[i] * half.max_element().max(0.02 * (x1 - x0));
        plot = plot
            .series(Series::line(labels[1], mm(outline(rest[i], Quat::IDENTITY))).colour(SOFT).style(LineStyle::Dashed))
            .series(Series::line(labels[0], mm(outline(*at, *rotation))).colour(INK).width(2.0))
            .series(Series::line("", mm(vec![*at - along, *at + along])).colour(FORCE).width(2.0))
            .series(Series::scatter(labels[2], mm(vec![*at + along])).marker(Marker::Disc).colour(FORCE));
        labels = [""; 3];
    }
    let places = chips.iter().map(|at| (at.x * 1e3, at.z * 1e3));
    plot.series(Series::scatter("Chips", places).marker(Marker::Square).colour(PALETTE[0])).render()
}

/// Where a mesh crosses the plane of constant y: pairs of points with a gap after each.
fn outline(mesh: &TriMesh, pose: &Pose, y: f64) -> Vec<Vec3> {
    let mut points = Vec::new();
    for triangle in mesh.triangles() {
        let corners = triangle.map(|index| pose.transform_point(mesh.vertices()[index as usize]));
        let crossings = (0..3).filter_map(|i| {
            let (a, b) = (corners[i], corners[(i + 1) % 3]);
            ((a.y < y) != (b.y < y)).then(|| a + (b - a) * ((y - a.y) / (b.y - a.y)))
        });
        let crossings: Vec<Vec3> = crossings.collect();
        if let [from, to] = crossings[..] {
            points.extend([from, to, Vec3::NAN]);
        }
    }
    points
}

/// The pressed surface along the row of cells or contact points next to y, in the order of x.
fn surface(touch: &Touch, y: f64) -> Vec<Vec3> {
    if let Some(field) = &touch.surface {
        let off = |row: &usize| (field.rest(*row, 0).y - y).abs();
        let Some(row) = (0..field.rows).min_by(|a, b| off(a).total_cmp(&off(b))) else { return Vec::new() };
        return (0..field.cols).map(|col| field.rest(row, col) + field.values[row * field.cols + col]).collect();
    }
    let points = touch.facets.iter().filter_map(|facet| match &facet.load {
        Load::Point { anchor, .. } => Some((*anchor, facet.depth_m)),
        Load::Polygon(_) => None,
    });
    let points: Vec<(Vec3, f64)> = points.collect();
    let nearest = points.iter().map(|(at, _)| (at.y - y).abs()).fold(f64::INFINITY, f64::min);
    let row = points.iter().filter(|(at, _)| (at.y - y).abs() < nearest + SAME_ROW);
    let mut row: Vec<Vec3> = row.map(|(at, depth_m)| *at - Vec3::Z * *depth_m).collect();
    row.sort_by(|a, b| a.x.total_cmp(&b.x));
    row
}

/// The cut at the end of a run beside the change of the channels from the first row, over time (s).
pub fn run(
    magnetics: &Magnetics,
    touch: &Touch,
    objects: &[(&TriMesh, Pose)],
    times_s: &[f64],
    rows: &[SensorRow],
    title: &str,
) -> Image {
    let end = times_s.last().copied().unwrap_or_default();
    let mut page = FigurePage::new(2).title(title).image(cut(magnetics, touch, objects, &format!("At {end:.3} s")), "");
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        let mut plot = Plot::new()
            .title(format!("Flux density along {name} of the chips"))
            .x_label("Time (s)")
            .y_label("Change from the first row (µT)");
        for chip in 0..rows.first().map_or(0, |row| row.magnetic_tesla.len()) {
            let change = |row: &SensorRow| (row.magnetic_tesla[chip] - rows[0].magnetic_tesla[chip])[axis] * 1e6;
            let label = if chip < PALETTE.len() { format!("Chip {chip}") } else { String::new() };
            let points = times_s.iter().zip(rows).map(|(time_s, row)| (*time_s, change(row)));
            plot = plot.series(Series::line(label, points));
        }
        page = page.image(plot.render(), "");
    }
    page.render()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::shapes::sphere;
    use dermis_sensor::{Aim, Goal, press};
    use dermis_skin::Object;

    /// The figure showed a flat surface and no object, whatever was pressed.
    #[test]
    fn the_cut_shows_the_pressed_surface_and_the_object() {
        for name in ["anyskin", "uskin-4x4", "reskin"] {
            let sensor = dermis_sensor::presets::find(name).unwrap().build(None).unwrap();
            let object = Object::new(sphere(6e-3, 0.2e-3).unwrap());
            let depth_m = 0.8e-3;
            let pressed = press(&sensor, &object, &Aim::default(), Goal::Depth(depth_m)).unwrap();
            let lowest =
                |points: &[Vec3]| points.iter().filter(|at| at.is_finite()).map(|at| at.z).fold(f64::MAX, f64::min);
            let (skin, ball) =
                (surface(&pressed.touch, 0.0), outline(object.surface.mesh(), &pressed.sensor_from_object, 1e-6));
            assert!(skin.len() > 2 && skin.is_sorted_by(|a, b| a.x < b.x), "{name}: {skin:?}");
            for deepest in [lowest(&skin), lowest(&ball)] {
                assert!((deepest + depth_m).abs() < 0.15e-3, "{name}: {deepest}");
            }
            let widest = ball.iter().filter(|at| at.is_finite()).map(|at| at.x).fold(f64::MIN, f64::max);
            assert!((widest - 6e-3).abs() < 0.1e-3, "{name}: {widest}");
        }
    }
}
