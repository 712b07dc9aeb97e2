//! How far an object is above a skin.

use crate::Sensor;
use dermis_geometry::{Bounds, Pose, Ray, Surface, Vec3};
use dermis_skin::Object;
use std::cell::Cell;

/// Difference of two gaps (m) that are the same but for rounding.
const TIE_M: f64 = 1e-12;

/// Distance (m) by which the object can move down along −z: the smallest height of its vertices and its lowest point over
/// the sensor's surface, of the surface's own vertices under it, and of its edges over those of the surface. Negative if they already
/// overlap. Near the smallest, the gap to a primitive is minimised further.
pub(super) fn clearance(sensor: &Sensor, object: &Object, sensor_from_object: &Pose) -> Option<f64> {
    let skin = sensor.contact_surface();
    let object_from_sensor = sensor_from_object.inverse();
    let direction = object_from_sensor.transform_vector(Vec3::Z);
    let lowest = sensor_from_object.transform_point(object.surface.support(-direction));
    // Rays run from below both meshes to above both.
    let extent = |bounds: &Bounds| bounds.size().length() + bounds.center().length();
    let reach = extent(skin.bounds()) + extent(object.surface.bounds()) + 1.0;
    // Most rays hit the triangle of the ray before them.
    let (last_of_skin, last_of_object) = (Cell::new(None), Cell::new(None));
    let distance = |surface: &Surface, ray: &Ray, last: &Cell<Option<u32>>| {
        let hit = surface.cast(ray, last.get())?;
        last.set(Some(hit.triangle));
        Some(hit.distance)
    };
    let height_of_skin = |at: Vec3| {
        let top = Vec3::new(at.x, at.y, skin.bounds().max.z + reach);
        let down = Ray { origin: top, direction: -Vec3::Z, length: 2.0 * reach };
        distance(skin, &down, &last_of_skin).map(|distance| top.z - distance)
    };
    let (skin_bottom, skin_top) = (skin.bounds().min.z, skin.bounds().max.z);
    let mut smallest: Option<(f64, Vec3)> = height_of_skin(lowest).map(|height| (lowest.z - height, lowest));
    if let Some((gap, _)) = smallest.filter(|_| skin_bottom == skin_top) {
        // No point of the object is nearer to a plane than its lowest one.
        return Some(gap);
    }
    // A point is tested only if it could be nearer than the nearest so far.
    let keep = |smallest: &mut Option<(f64, Vec3)>, least: f64, at: Vec3, gap: &dyn Fn() -> Option<f64>| {
        let nearer = |distance: f64| smallest.is_none_or(|(best, _)| distance < best);
        if let Some(gap) = nearer(least).then(gap).flatten().filter(|&gap| nearer(gap)) {
            *smallest = Some((gap, at));
        }
    };
    let mesh = object.surface.mesh();
    let vertices: Vec<Vec3> =
        mesh.vertices().iter().map(|&vertex| sensor_from_object.transform_point(vertex)).collect();
    for &p in &vertices {
        keep(&mut smallest, p.z - skin_top, p, &|| Some(p.z - height_of_skin(p)?));
    }
    let from_below = |point: Vec3| {
        let origin = object_from_sensor.transform_point(point - Vec3::Z * reach);
        let up = Ray { origin, direction, length: 2.0 * reach };
        distance(&object.surface, &up, &last_of_object).map(|distance| distance - reach)
    };
    let rim = sensor.surface().vertices().iter().copied();
    for point in sensor.taxels().centers().iter().copied().chain(rim).chain(edge_points(sensor)) {
        keep(&mut smallest, lowest.z - point.z, point, &|| from_below(point));
    }
    for triangle in mesh.triangles() {
        keep_crossings(&mut smallest, skin, triangle.map(|vertex| vertices[vertex as usize]));
    }
    let (gap, at) = smallest?;
    if object.surface.primitive().is_none() {
        return Some(gap);
    }
    let gap_at = |at: Vec3| from_below(at.with_z(height_of_skin(at)?));
    Some(minimised(gap, at, 0.1 * object.surface.bounds().size().max_element(), gap_at))
}

/// The minimum of a function of x and y near a point, by a search over the eight neighbours whose distance is halved, from
/// `step_m`, when none of them is lower.
fn minimised(mut best: f64, mut at: Vec3, mut step_m: f64, value: impl Fn(Vec3) -> Option<f64>) -> f64 {
    const MAX_VALUES: usize = 2000;
    let last_m = 1e-7 * step_m;
    let mut values = 0;
    while step_m > last_m && values < MAX_VALUES {
        let around = (-1..=1).flat_map(|i| (-1..=1).map(move |j| Vec3::new(f64::from(i), f64::from(j), 0.0)));
        // The value in the middle is known, except in the first round.
        let is_first = values == 0;
        let around = around.filter(|&offset| is_first || offset != Vec3::ZERO);
        let lower = around.map(|offset| at + offset * step_m).filter_map(|near| Some((value(near)?, near)));
        values += 9;
        match lower.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(gap, _)| *gap < best) {
            Some((gap, near)) => (best, at) = (gap, near),
            None => step_m *= 0.5,
        }
    }
    best
}

/// Points along the edges of a flat sensor, where a tilted object may meet it first.
fn edge_points(sensor: &Sensor) -> impl Iterator<Item = Vec3> + '_ {
    let mesh = sensor.surface();
    let flat = mesh.triangles().len() <= 2;
    let corners = if flat { mesh.vertices() } else { &[] };
    (0..corners.len()).flat_map(move |i| {
        let (a, b) = (corners[i], corners[(i + 1) % corners.len()]);
        (1..64).map(move |k| a.lerp(b, f64::from(k) / 64.0))
    })
}

/// The sides of a triangle.
fn sides([a, b, c]: [Vec3; 3]) -> [(Vec3, Vec3); 3] {
    [(a, b), (b, c), (c, a)]
}

/// Keeps the smallest gap (m) of the sides of a triangle of the object over the edges of the skin, and where it is, if it is smaller
/// than the smallest so far.
fn keep_crossings(smallest: &mut Option<(f64, Vec3)>, skin: &Surface, corners: [Vec3; 3]) {
    let (own, skin_top) = (Bounds::around(corners), skin.bounds().max.z);
    let best = smallest.map_or(f64::INFINITY, |(gap, _)| gap);
    // A tie, as of all triangles of a flat face, is not worth a search.
    if own.min.z - skin_top >= best - TIE_M {
        return;
    }
    // What is lower leaves a larger gap.
    let bottom = (own.min.z - best).max(skin.bounds().min.z);
    let query = Bounds { min: own.min.with_z(bottom), max: own.max.with_z(skin_top) };
    skin.bvh().overlapping(&query, |position| {
        for upper in sides(corners) {
            for lower in sides(*skin.leaf_corners(position)) {
                let nearer = |(gap, _): &(f64, Vec3)| smallest.is_none_or(|(best, _)| *gap < best);
                if let Some(found) = gap_of_edges(upper, lower).filter(nearer) {
                    *smallest = Some(found);
                }
            }
        }
    });
}

/// The gap (m) along z between two edges that cross when seen from above, and the point of the upper one there.
fn gap_of_edges((from, to): (Vec3, Vec3), (start, end): (Vec3, Vec3)) -> Option<(f64, Vec3)> {
    let (along, side, apart) = (to - from, end - start, start - from);
    let cross = |a: Vec3, b: Vec3| a.truncate().perp_dot(b.truncate());
    let area = cross(along, side);
    let (s, t) = (cross(apart, side) / area, cross(apart, along) / area);
    // Not true of parallel edges, which have no numbers: their ends are vertices.
    let is_crossing = (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t);
    is_crossing.then(|| {
        let at = from + along * s;
        (at.z - (start.z + side.z * t), at)
    })
}
