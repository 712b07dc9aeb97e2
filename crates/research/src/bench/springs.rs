//! Time of one step of the spring skin.

use super::nanoseconds;
use dermis::geometry::shapes::sphere;
use dermis::geometry::{Pose, Quat, Ray, Twist, Vec3};
use dermis::skin::{
    Damping, Elasticity, Friction, Law, Lugre, Motion, Object, Site, Skin, SpringParameters, Springs, State, Target,
};
use std::collections::BTreeMap;
use std::hint::black_box;

const RADIUS: f64 = 0.020;
const DEPTH: f64 = 3e-3;
/// Side of the array (m); the number of texels varies.
const SIDE: f64 = 0.036;
const MAX_PENETRATION: f64 = 0.012;

pub(super) fn skin(rows: usize, cols: usize, pitch: f64) -> Option<Springs> {
    let friction = Friction::Lugre(Lugre {
        stiffness_newton_per_m: 300.0,
        damping_newton_s_per_m: 0.5,
        viscous_newton_s_per_m: 0.01,
        mu_static: 0.435,
        mu_dynamic: 0.23,
        stribeck_m_per_s: 0.3,
    });
    let parameters = SpringParameters {
        elasticity: Elasticity::PerArea(3.93e6),
        damping: Damping::PerArea(3.93e4),
        max_penetration_m: MAX_PENETRATION,
        law: Law::Conservative,
        friction,
    };
    Springs::new(Site::grid(rows, cols, pitch, 1), parameters).ok()
}

/// A ball with about this many triangles.
pub(super) fn ball(triangles: usize) -> Option<Object> {
    // An equilateral triangle of edge e covers √3/4 e².
    let edge = (4.0 * std::f64::consts::PI * RADIUS * RADIUS / triangles as f64 * 4.0 / 3f64.sqrt()).sqrt();
    // The generator takes an upper bound on the edge, hence the factor.
    sphere(RADIUS, edge * 1.15).ok().map(Object::new)
}

/// The ball rolls and slides a little at every step, so that no two steps are equal.
fn place(step: usize) -> (Pose, Twist) {
    let phase = step as f64 * 0.01;
    let rotation = Quat::from_rotation_y(phase) * Quat::from_rotation_x(0.7 * phase);
    let at = Vec3::new(1e-3 * phase.sin(), 1e-3 * phase.cos(), RADIUS - DEPTH);
    (Pose::new(rotation, at), Twist::new(Vec3::new(0.01, -0.02, 0.001), Vec3::new(0.1, 0.2, 0.3)))
}

/// Time of a step (ns).
pub(super) fn step_ns(skin: &Springs, object: &Object) -> f64 {
    let mut state: State = skin.rest();
    nanoseconds(|step| {
        let (sensor_from_object, velocity) = place(step);
        let target = Target { object, sensor_from_object, velocity };
        if let Ok((touch, next)) = skin.touch(&state, &Motion { targets: &[target] }, 1e-3) {
            state = next;
            black_box(touch.on_sensor);
        }
    })
}

/// Time (ns) to find the same contacts by testing every triangle for every texel, as in the paper.
fn brute_force_ns(skin: &Springs, object: &Object) -> f64 {
    nanoseconds(|step| {
        let (sensor_from_object, _) = place(step);
        let object_from_sensor = sensor_from_object.inverse();
        for site in skin.sites() {
            let ray = Ray {
                origin: object_from_sensor.transform_point(site.point - site.normal * MAX_PENETRATION),
                direction: object_from_sensor.transform_vector(site.normal),
                length: MAX_PENETRATION,
            };
            black_box(object.surface.cast_brute_force(&ray));
        }
    })
}

pub(super) fn run() -> BTreeMap<String, f64> {
    let mut numbers = BTreeMap::new();
    let (Some(array), Some(object)) = (skin(14, 6, 3.85758e-3), ball(10_000)) else { return numbers };
    numbers.insert("triangles".into(), object.surface.mesh().triangles().len() as f64);
    let fast = step_ns(&array, &object);
    let brute = brute_force_ns(&array, &object);
    numbers.insert("ns_per_step_84_texels_10k_triangles".into(), fast);
    numbers.insert("brute_force_ns_84_texels_10k_triangles".into(), brute);
    numbers.insert("brute_force_ratio".into(), brute / fast);
    let mut per_texel = Vec::new();
    for side in [20usize, 40, 100] {
        if let Some(skin) = skin(side, side, SIDE / side as f64) {
            let ns = step_ns(&skin, &object);
            numbers.insert(format!("ns_per_step_{}_texels_10k_triangles", side * side), ns);
            per_texel.push(((side * side) as f64, ns));
        }
    }
    let mut per_triangle = Vec::new();
    for (triangles, label) in [(1_000, "1k"), (10_000, "10k"), (100_000, "100k"), (1_000_000, "1M")] {
        if let Some(object) = ball(triangles) {
            let ns = step_ns(&array, &object);
            numbers.insert(format!("ns_per_step_84_texels_{label}_triangles_grown"), ns);
            per_triangle.push((object.surface.mesh().triangles().len() as f64, ns));
        }
    }
    // Growth exponents (1 is linear), and the time added by each factor of ten in triangles.
    if let ([first, .., last], [small, .., large]) = (&per_texel[..], &per_triangle[..]) {
        numbers.insert("growth_exponent_in_texels".into(), (last.1 / first.1).ln() / (last.0 / first.0).ln());
        numbers.insert("growth_exponent_in_triangles".into(), (large.1 / small.1).ln() / (large.0 / small.0).ln());
        let tenfolds = (large.0 / small.0).log10();
        numbers.insert("ns_per_tenfold_of_triangles".into(), (large.1 - small.1) / tenfolds);
    }
    numbers
}
