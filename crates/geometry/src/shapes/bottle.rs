//! A household spray bottle.

use super::loft::{Loft, mix};
use super::spline::{spline, superellipse};
use super::{ShapeError, check_count};
use crate::{TriMesh, Vec3};
use std::f64::consts::TAU;

/// One cross-section of a part, in millimetres: its centre, its half extents along the part's two axes, and its
/// superellipse exponent (2: an ellipse; 5: a rectangle with rounded corners).
type Slice = ([f64; 3], [f64; 2], f64);

/// A trigger spray bottle, 250 mm tall, standing on z = 0 with its axis on z and its nozzle towards +x: a body of
/// about 80 × 55 mm with shoulder, neck and collar, and a head with nozzle and trigger.
///
/// An original design. The mesh consists of four closed surfaces that overlap where the real parts are joined. The
/// volume therefore counts the overlaps twice, and the signed distance is correct outside but not inside them.
pub fn spray_bottle(edge_m: f64) -> Result<TriMesh, ShapeError> {
    let body = part([Vec3::X, Vec3::Y], BODY, edge_m)?;
    let head = part([Vec3::Y, Vec3::Z], HEAD, edge_m)?;
    let nozzle = part([Vec3::Y, Vec3::Z], NOZZLE, edge_m)?;
    let trigger = part([Vec3::Y, Vec3::X], TRIGGER, edge_m)?;
    let bottle = body.joined(&head).joined(&nozzle).joined(&trigger);
    check_count("spray_bottle", edge_m, bottle.triangles().len() as f64)?;
    Ok(bottle)
}

const fn upright(z: f64, half_x: f64, half_y: f64, power: f64) -> Slice {
    ([0.0, 0.0, z], [half_x, half_y], power)
}

/// The surface is smooth along each list and has a crease between lists.
const BODY: &[&[Slice]] = &[
    &[upright(0.0, 36.0, 23.5, 5.0), upright(1.3, 38.7, 26.2, 5.0), upright(4.5, 40.0, 27.5, 5.0)],
    &[
        upright(4.5, 40.0, 27.5, 5.0),
        upright(40.0, 40.0, 27.5, 5.0),
        upright(90.0, 39.6, 27.3, 5.0),
        upright(114.0, 37.0, 26.3, 4.5),
        upright(136.0, 33.5, 25.0, 4.0),
        upright(156.0, 30.0, 23.5, 3.5),
        upright(169.0, 23.5, 19.8, 2.8),
        upright(177.0, 16.0, 15.3, 2.2),
        upright(182.0, 13.0, 13.0, 2.0),
        upright(186.0, 12.5, 12.5, 2.0),
    ],
    &[upright(186.0, 12.5, 12.5, 2.0), upright(190.0, 12.5, 12.5, 2.0)],
    &[upright(190.0, 12.5, 12.5, 2.0), upright(190.0, 16.6, 16.6, 2.0)],
    &[upright(190.0, 16.6, 16.6, 2.0), upright(191.0, 17.2, 17.2, 2.0), upright(193.0, 17.2, 17.2, 2.0)],
    &[upright(193.0, 17.2, 17.2, 2.0), upright(193.6, 16.4, 16.4, 2.0)],
    &[upright(193.6, 16.4, 16.4, 2.0), upright(206.0, 15.6, 15.6, 2.0), upright(207.5, 14.2, 14.2, 2.0)],
    &[upright(207.5, 14.2, 14.2, 2.0), upright(208.0, 11.0, 11.0, 2.0)],
    &[upright(208.0, 11.0, 11.0, 2.0), upright(218.0, 11.0, 11.0, 2.0)],
];

const HEAD: &[&[Slice]] = &[
    &[
        ([-29.0, 0.0, 229.0], [4.0, 6.5], 2.3),
        ([-27.6, 0.0, 229.0], [7.4, 10.4], 2.6),
        ([-23.5, 0.0, 229.1], [10.2, 14.6], 3.0),
        ([-14.0, 0.0, 229.5], [11.8, 18.0], 3.6),
        ([0.0, 0.0, 230.6], [12.0, 19.4], 4.0),
        ([13.0, 0.0, 233.4], [11.6, 16.2], 4.0),
        ([25.0, 0.0, 236.6], [10.6, 12.2], 4.0),
        ([37.0, 0.0, 238.0], [9.6, 9.8], 4.0),
    ],
    &[([37.0, 0.0, 238.0], [9.6, 9.8], 4.0), ([38.0, 0.0, 238.0], [8.6, 8.8], 4.0)],
];

const NOZZLE: &[&[Slice]] = &[
    &[([34.0, 0.0, 238.0], [6.2, 6.2], 2.0), ([40.5, 0.0, 238.0], [6.2, 6.2], 2.0)],
    &[([40.5, 0.0, 238.0], [6.2, 6.2], 2.0), ([40.5, 0.0, 238.0], [8.8, 8.8], 5.0)],
    &[([40.5, 0.0, 238.0], [8.8, 8.8], 5.0), ([49.0, 0.0, 238.0], [8.2, 8.2], 5.0)],
    &[([49.0, 0.0, 238.0], [8.2, 8.2], 5.0), ([50.0, 0.0, 238.0], [7.2, 7.2], 4.5)],
    &[([50.0, 0.0, 238.0], [7.2, 7.2], 4.5), ([50.0, 0.0, 238.0], [3.0, 3.0], 2.0)],
    &[([50.0, 0.0, 238.0], [3.0, 3.0], 2.0), ([48.0, 0.0, 238.0], [2.2, 2.2], 2.0)],
];

const TRIGGER: &[&[Slice]] = &[&[
    ([23.0, 0.0, 234.0], [6.0, 4.0], 3.0),
    ([26.0, 0.0, 224.0], [6.6, 4.2], 3.0),
    ([31.5, 0.0, 211.0], [6.8, 3.7], 3.0),
    ([35.8, 0.0, 197.0], [6.6, 3.0], 3.0),
    ([37.2, 0.0, 183.0], [6.4, 2.6], 3.0),
    ([36.6, 0.0, 171.0], [6.2, 2.4], 3.0),
    ([38.6, 0.0, 161.0], [5.8, 2.4], 3.0),
    ([40.2, 0.0, 157.2], [4.8, 1.9], 2.6),
    ([40.8, 0.0, 155.8], [2.6, 1.0], 2.2),
]];

/// Builds one closed part. `axes` are the axes of its slices; their cross product points from the first slice to the
/// last.
fn part(axes: [Vec3; 2], smooth_lists: &[&[Slice]], edge_m: f64) -> Result<TriMesh, ShapeError> {
    let lists: Vec<Vec<(f64, [f64; 6])>> = smooth_lists.iter().map(|list| knots(list)).collect();
    let at = |list: usize, along: f64, t: f64| {
        let [x, y, z, a, b, power] = spline(&lists[list], along);
        let (v, u) = (TAU * t).sin_cos();
        let middle = Vec3::new(x, y, z);
        (middle, middle + (axes[0] * u + axes[1] * v) * superellipse(a, b, power, u, v))
    };
    // Stations 0 to 1 are the first cap, then follow one unit per list and the last cap.
    let surface = |s: f64, t: f64| {
        let list = s.floor();
        let point = if list < 1.0 {
            let (middle, rim) = at(0, 0.0, t);
            middle.lerp(rim, s)
        } else if list > lists.len() as f64 {
            let (middle, rim) = at(lists.len() - 1, 1.0, t);
            rim.lerp(middle, s - list)
        } else {
            at(list as usize - 1, s - list, t).1
        };
        point * 1e-3
    };
    // The end of a list is the start of the next, so that `floor` selects the right list; the last pole lies just
    // before the end.
    let mut breaks: Vec<f64> = (0..=lists.len() + 1).map(|s| s as f64).collect();
    breaks.push(mix(lists.len() as f64 + 1.0, lists.len() as f64 + 2.0, 1.0 - 1e-12));
    Loft { name: "spray_bottle", surface, breaks: &breaks, edge_m }.mesh()
}

/// The slices of one list, each with its position as a fraction of the list's length.
fn knots(list: &[Slice]) -> Vec<(f64, [f64; 6])> {
    let mut length = 0.0;
    let mut knots: Vec<(f64, [f64; 6])> = Vec::with_capacity(list.len());
    for &([x, y, z], [a, b], power) in list {
        let value = [x, y, z, a, b, power];
        if let Some((_, last)) = knots.last() {
            length += (0..5).map(|i| (value[i] - last[i]).powi(2)).sum::<f64>().sqrt();
        }
        knots.push((length, value));
    }
    knots.iter_mut().for_each(|knot| knot.0 /= length);
    knots
}
