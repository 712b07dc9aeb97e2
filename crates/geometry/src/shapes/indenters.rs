//! Twenty-one indenters for optical gel sensors.
//!
//! The names are those of Chen et al. 2023 ("Tacchi"), Fig. 4, for the printed set of Gomes et al. 2021. Neither paper
//! gives sizes, so the dimensions are chosen here. Each indenter presses along −z: its tip, or its lowest face,
//! lies at z = 0 with the centre of its footprint at the origin. Features of 1 to 4 mm protrude 3 mm from a plate of 12
//! × 12 mm, so that the plate does not touch a gel at an indentation of 1 or 2 mm.

mod bar;
mod outline;
mod relief;

use super::ShapeError;
use crate::{Random, TriMesh, Vec2};
use bar::bar;
use outline::{AROUND, circle, crescent, cross, pacman, rectangle, regular};
use relief::Relief;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

const MM: f64 = 1e-3;
/// Side of the plate (m).
pub const PLATE_M: f64 = 12.0 * MM;
/// Thickness of the plate (m).
pub const PLATE_THICKNESS_M: f64 = 2.0 * MM;
/// Height of the features above the plate (m).
pub const RELIEF_M: f64 = 3.0 * MM;

/// The indenters, in the order of the paper's figure.
pub const NAMES: [&str; 21] = [
    "cone",
    "cross_lines",
    "curved_surface",
    "cylinder",
    "cylinder_shell",
    "cylinder_side",
    "dot_in",
    "dots",
    "flat_slab",
    "hexagon",
    "line",
    "moon",
    "pacman",
    "parallel_lines",
    "prism",
    "random",
    "sphere",
    "sphere2",
    "torus",
    "triangle",
    "wave1",
];

/// All indenters with their names, as in [`NAMES`].
pub fn all() -> Result<Vec<(&'static str, TriMesh)>, ShapeError> {
    NAMES.into_iter().map(|name| Ok((name, find(name)?))).collect()
}

/// Returns one indenter as a closed mesh of that name.
pub fn find(name: &str) -> Result<TriMesh, ShapeError> {
    let middle = Vec2::ZERO;
    let extruded = |outline| Relief::default().extruded(&outline, 0.0).on_plate(name);
    let revolved = |profile: &[(f64, f64)]| Relief::default().revolved(middle, AROUND, profile).on_plate(name);
    match name {
        "cone" => revolved(&[(3.0 * MM, RELIEF_M), (2.0 * MM, 2.0 * MM), (1.0 * MM, 1.0 * MM), (0.0, 0.0)]),
        "cross_lines" => extruded(cross(10.0 * MM, 1.2 * MM)),
        "curved_surface" => curved_surface(name, 10.0 * MM),
        "cylinder" => extruded(circle(middle, 3.5 * MM)),
        "cylinder_shell" => revolved(&[(4.0 * MM, RELIEF_M), (4.0 * MM, 0.0), (3.0 * MM, 0.0), (3.0 * MM, RELIEF_M)]),
        "cylinder_side" => cylinder_side(name, 2.5 * MM),
        "dot_in" => dot_in(name, 4.0 * MM, 1.5 * MM),
        "dots" => dots(name, 0.8 * MM, 3.0 * MM),
        "flat_slab" => extruded(rectangle(middle, Vec2::new(9.0 * MM, 4.0 * MM))),
        "hexagon" => extruded(regular(middle, 4.0 * MM, 6, 0.0)),
        "line" => extruded(rectangle(middle, Vec2::new(1.2 * MM, 10.0 * MM))),
        "moon" => extruded(crescent(4.5 * MM, 3.8 * MM, 2.0 * MM)),
        "pacman" => extruded(pacman(4.2 * MM, 0.6)),
        "parallel_lines" => parallel_lines(name),
        "prism" => prism(name, 2.5 * MM),
        "random" => random(name),
        "sphere" => ball(name, 4.0 * MM),
        "sphere2" => ball(name, 2.0 * MM),
        "torus" => torus(name, 3.0 * MM, 1.0 * MM),
        "triangle" => extruded(regular(middle, 4.5 * MM, 3, FRAC_PI_2)),
        "wave1" => wave(name, 0.75 * MM, 4.0 * MM),
        _ => Err(ShapeError::UnknownIndenter { name: name.to_owned() }),
    }
}

/// Part of a wide cylinder along y.
fn curved_surface(name: &str, radius_m: f64) -> Result<TriMesh, ShapeError> {
    let x = |k: usize| PLATE_M * (k as f64 / AROUND as f64 - 0.5);
    bar(name, (0..=AROUND).map(|k| Vec2::new(x(k), radius_m - (radius_m * radius_m - x(k) * x(k)).sqrt())))
}

/// A cylinder along y, half embedded in its holder.
fn cylinder_side(name: &str, radius_m: f64) -> Result<TriMesh, ShapeError> {
    let half_turn = (0..=AROUND / 2).map(|k| PI + PI * k as f64 / (AROUND / 2) as f64);
    bar(name, shoulders(half_turn.map(|a| Vec2::new(0.0, radius_m) + radius_m * Vec2::from_angle(a))))
}

/// A ridge along y with a right angle at its edge.
fn prism(name: &str, half_width_m: f64) -> Result<TriMesh, ShapeError> {
    let w = half_width_m;
    bar(name, shoulders([Vec2::new(-w, w), Vec2::ZERO, Vec2::new(w, w)].into_iter()))
}

/// The profile of a ridge with upright sides up to the plate, and the lower face of the plate on both sides.
fn shoulders(ridge: impl Iterator<Item = Vec2>) -> Vec<Vec2> {
    let ridge: Vec<Vec2> = ridge.collect();
    let lifted = |p: Vec2| Vec2::new(p.x, RELIEF_M);
    let ends = |x: f64| Vec2::new(x, RELIEF_M);
    let (first, last) = (lifted(ridge[0]), lifted(ridge[ridge.len() - 1]));
    [ends(-0.5 * PLATE_M), first].into_iter().chain(ridge).chain([last, ends(0.5 * PLATE_M)]).collect()
}

/// Ripples along y with crests at x = 0 and a wavelength to either side.
fn wave(name: &str, amplitude_m: f64, wavelength_m: f64) -> Result<TriMesh, ShapeError> {
    let x = |k: usize| PLATE_M * (k as f64 / AROUND as f64 - 0.5);
    bar(name, (0..=AROUND).map(|k| Vec2::new(x(k), amplitude_m * (1.0 - (TAU * x(k) / wavelength_m).cos()))))
}

/// The lower part of a ball, with an upright neck if its radius is smaller than the relief.
fn ball(name: &str, radius_m: f64) -> Result<TriMesh, ShapeError> {
    let r = radius_m;
    let mut profile = if r < RELIEF_M { vec![(r, RELIEF_M)] } else { Vec::new() };
    profile.extend(cap(r, RELIEF_M.min(r), AROUND));
    Relief::default().revolved(Vec2::ZERO, AROUND, &profile).on_plate(name)
}

/// Radii and heights of a ball that rests on z = 0, from `height_m` down to the pole, in steps of a full revolution
/// over `around`.
fn cap(radius_m: f64, height_m: f64, around: usize) -> impl Iterator<Item = (f64, f64)> {
    let widest = (1.0 - height_m / radius_m).clamp(-1.0, 1.0).acos();
    let steps = (widest * around as f64 / TAU).ceil() as usize;
    let at = move |k: usize| widest * (1.0 - k as f64 / steps as f64);
    (0..=steps)
        .map(move |k| if k == steps { (0.0, 0.0) } else { (radius_m * at(k).sin(), radius_m * (1.0 - at(k).cos())) })
}

/// A disc with a round dent in its centre.
fn dot_in(name: &str, radius_m: f64, dent_radius_m: f64) -> Result<TriMesh, ShapeError> {
    let dent = cap(dent_radius_m, dent_radius_m, AROUND).map(|(r, z)| (r, dent_radius_m - z));
    let profile: Vec<_> = [(radius_m, RELIEF_M), (radius_m, 0.0)].into_iter().chain(dent).collect();
    Relief::default().revolved(Vec2::ZERO, AROUND, &profile).on_plate(name)
}

/// Three by three pins with round ends.
fn dots(name: &str, radius_m: f64, pitch_m: f64) -> Result<TriMesh, ShapeError> {
    let profile: Vec<_> = std::iter::once((radius_m, RELIEF_M)).chain(cap(radius_m, radius_m, AROUND / 2)).collect();
    let places = (0..9).map(|i| pitch_m * Vec2::new(f64::from(i % 3) - 1.0, f64::from(i / 3) - 1.0));
    places.fold(Relief::default(), |relief, place| relief.revolved(place, AROUND / 2, &profile)).on_plate(name)
}

/// Four bars side by side.
fn parallel_lines(name: &str) -> Result<TriMesh, ShapeError> {
    let places = [-1.5, -0.5, 0.5, 1.5].map(|k| Vec2::new(2.5 * MM * k, 0.0));
    let size = Vec2::new(1.0 * MM, 9.0 * MM);
    places.iter().fold(Relief::default(), |relief, &at| relief.extruded(&rectangle(at, size), 0.0)).on_plate(name)
}

/// The lower half of a ring, with upright walls up to the plate.
fn torus(name: &str, major_m: f64, minor_m: f64) -> Result<TriMesh, ShapeError> {
    let half = AROUND / 2;
    let tube = (0..=half).map(|k| PI * k as f64 / half as f64);
    let tube = tube.map(|a| (major_m + minor_m * a.cos(), minor_m * (1.0 - a.sin())));
    let walls = [major_m + minor_m, major_m - minor_m].map(|r| (r, RELIEF_M));
    let profile: Vec<_> = [walls[0]].into_iter().chain(tube).chain([walls[1]]).collect();
    Relief::default().revolved(Vec2::ZERO, AROUND, &profile).on_plate(name)
}

/// Posts with three to seven corners and random sizes; their ends differ in height by up to 0.5 mm. The seed is fixed.
fn random(name: &str) -> Result<TriMesh, ShapeError> {
    let mut random = Random::new(21);
    let mut discs: Vec<(Vec2, f64)> = Vec::new();
    let mut relief = Relief::default();
    for _ in 0..400 {
        let radius_m = random.between(0.7 * MM, 1.8 * MM);
        let reach_m = 5.4 * MM - radius_m;
        let middle = Vec2::new(random.between(-reach_m, reach_m), random.between(-reach_m, reach_m));
        if discs.iter().any(|&(other, r)| middle.distance(other) < radius_m + r + 0.4 * MM) {
            continue;
        }
        let corners = 3 + random.next_u32() % 5;
        let phase = random.between(0.0, TAU);
        let angles =
            (0..corners).map(|k| phase + TAU * (f64::from(k) + random.between(-0.25, 0.25)) / f64::from(corners));
        let outline = angles.map(|a| middle + radius_m * Vec2::from_angle(a)).collect();
        let end_m = if discs.is_empty() { 0.0 } else { random.between(0.0, 0.5 * MM) };
        relief = relief.extruded(&outline, end_m);
        discs.push((middle, radius_m));
    }
    relief.on_plate(name)
}
