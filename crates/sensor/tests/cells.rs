//! Loads of polygons on the cells of taxels.

use dermis_geometry::{Random, Vec3};
use dermis_sensor::Taxels;
use dermis_skin::{Corner, Facet, Load, Tangent, Touch};

fn facet(at: &[Vec3], load: impl Fn(Vec3) -> (f64, Vec3)) -> Facet {
    let normal = (at[1] - at[0]).cross(at[2] - at[0]).normalize_or_zero();
    let corner = |&at: &Vec3| {
        let (pressure_pa, shear_pa) = load(at);
        Corner { at, pressure_pa, shear_pa: shear_pa - normal * shear_pa.dot(normal) }
    };
    let load = Load::Polygon(at.iter().map(corner).collect());
    Facet { object: 0, normal, depth_m: 0.0, saturated: false, load, tangent: Tangent::default() }
}

fn rectangle(x: [f64; 2], y: [f64; 2], z: f64) -> [Vec3; 4] {
    [(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])].map(|(x, y)| Vec3::new(x, y, z))
}

fn uniform(at: &[Vec3]) -> Touch {
    Touch::from_facets(vec![facet(at, |_| (1.0, Vec3::ZERO))], 1)
}

/// Under 1 Pa the force on each cell is the area of the rectangle inside it.
#[test]
fn uniform_pressure_gives_area_fractions() {
    let taxels = Taxels::grid(4, 3, 1.0);
    let (x, y) = ([-2.0, 0.75], [-1.25, 1.5]);
    let (forces, outside) = taxels.bin(&uniform(&rectangle(x, y, -0.1)));
    let overlap = |a: [f64; 2], low: f64| (a[1].min(low + 1.0) - a[0].max(low)).max(0.0);
    for (i, force) in forces.iter().enumerate() {
        let center = taxels.centers()[i];
        let area = overlap(x, center.x - 0.5) * overlap(y, center.y - 0.5);
        assert!((*force + Vec3::Z * area).length() < 1e-14, "taxel {i}: {force} against {area}");
    }
    assert!((outside + Vec3::Z * (0.5 * 2.75)).length() < 1e-14, "{outside}");
}

/// A ball of radius r around the only centre, at height h above the plane: area π (r² − h²); and half of it under p
/// = x: 2 ρ³/3.
#[test]
fn the_reach_cuts_a_disc() {
    let taxels = Taxels::points(vec![Vec3::ZERO], vec![Vec3::Z], vec![1.0], 1.0);
    let rho_squared: f64 = 1.0 - 0.36;
    let (forces, outside) = taxels.bin(&uniform(&rectangle([-3.0, 2.0], [-4.0, 1.5], 0.6)));
    let area = std::f64::consts::PI * rho_squared;
    assert!((forces[0].z + area).abs() < 1e-13, "{}", forces[0].z + area);
    assert!((outside.z + 27.5 - area).abs() < 1e-12, "{outside}");
    let half = facet(&rectangle([0.0, 2.0], [-4.0, 1.5], 0.6), |at| (at.x, Vec3::ZERO));
    let (forces, _) = taxels.bin(&Touch::from_facets(vec![half], 1));
    assert!((forces[0].z + 2.0 / 3.0 * rho_squared.powf(1.5)).abs() < 1e-13, "{}", forces[0].z);
}

fn layouts() -> Vec<(&'static str, Taxels)> {
    let mut random = Random::new(5);
    let mut dome = Vec::new();
    for _ in 0..60 {
        let (x, y) = (2.0 * random.uniform() - 1.0, 2.0 * random.uniform() - 1.0);
        dome.push(Vec3::new(2.0 * x, 2.0 * y, -0.3 * (x * x + y * y)));
    }
    let points = |reach: f64| Taxels::points(dome.clone(), vec![Vec3::Z; 60], vec![0.2; 60], reach);
    vec![
        ("grid", Taxels::grid(5, 7, 0.6)),
        ("thin grid", Taxels::grid(5, 7, 0.6).with_height(0.3)),
        ("short reach", points(0.4)),
        ("long reach", points(6.0)),
        ("thin points", points(0.8).with_height(0.2)),
    ]
}

fn random_triangle(random: &mut Random, size: f64) -> [Vec3; 3] {
    let mut point =
        |scale: f64| Vec3::new(random.uniform() - 0.5, random.uniform() - 0.5, 0.3 * (random.uniform() - 0.5)) * scale;
    let middle = point(4.0);
    std::array::from_fn(|_| middle + point(size))
}

#[test]
fn nothing_is_lost_or_counted_twice() {
    let mut random = Random::new(11);
    for (name, taxels) in layouts() {
        for k in 0..300 {
            let corners = random_triangle(&mut random, [0.1, 1.0, 5.0][k % 3]);
            let one = facet(&corners, |at| (2.0 + at.x - 0.5 * at.y, Vec3::new(at.y, 1.0, at.x)));
            let touch = Touch::from_facets(vec![one], 1);
            let (forces, outside) = taxels.bin(&touch);
            let (sum, whole) = (forces.iter().sum::<Vec3>(), touch.on_sensor.force);
            let scale: f64 = touch.area_m2() * 10.0;
            assert!((sum + outside - whole).length() <= 1e-13 * scale, "{name}: {sum} + {outside} = {whole}");
            if name == "long reach" {
                assert!(outside.length() <= 1e-13 * scale, "{outside} outside of cells without end");
            }
        }
    }
}

/// Brute-force reference: the triangle in 200² small ones, each assigned to the taxel under its centroid.
#[test]
fn cells_are_those_of_locate() {
    let mut random = Random::new(2);
    let n = 200;
    for (name, taxels) in layouts() {
        let [a, b, c] = random_triangle(&mut random, 3.0);
        let touch = uniform(&[a, b, c]);
        let (forces, outside) = taxels.bin(&touch);
        let mut counted = vec![0.0; taxels.len() + 1];
        let small = touch.area_m2() / f64::from(n * n);
        for i in 0..n {
            for j in 0..2 * (n - i) - 1 {
                let third = if j % 2 == 0 { 1.0 } else { 2.0 } / 3.0;
                let (s, t) = ((f64::from(i) + third) / f64::from(n), (f64::from(j / 2) + third) / f64::from(n));
                counted[taxels.locate(a + (b - a) * s + (c - a) * t).unwrap_or(taxels.len())] += small;
            }
        }
        for (i, force) in forces.iter().chain([&outside]).enumerate() {
            let gap = (force.length() - counted[i]).abs();
            assert!(gap < 0.01 * touch.area_m2(), "{name}, taxel {i}: {} against {}", force.length(), counted[i]);
        }
    }
}

/// In steps of 4e-4 no cell may gain more than the area that the edge of the polygon sweeps in a step.
#[test]
fn a_reading_is_continuous_as_a_polygon_slides() {
    for (name, taxels) in layouts() {
        let at = |k: u32| rectangle([0.0, 0.5], [-0.25, 0.25], -0.01).map(|p| p + Vec3::X * (f64::from(k) * 4e-4));
        let mut before = taxels.bin(&uniform(&at(0))).0;
        for k in 1..1250 {
            let now = taxels.bin(&uniform(&at(k))).0;
            for (i, (a, b)) in before.iter().zip(&now).enumerate() {
                assert!((*a - *b).length() < 1.01 * 0.5 * 4e-4, "{name}: taxel {i} at step {k}");
            }
            before = now;
        }
    }
}

/// A wall exactly on a border belongs to one cell.
#[test]
fn a_polygon_in_a_border_is_counted_once() {
    let wall = [Vec3::new(0.0, 0.2, 0.0), Vec3::new(0.0, 0.4, 0.0), Vec3::new(0.0, 0.4, 0.3)];
    let points = Taxels::points(vec![-Vec3::X, Vec3::X, Vec3::X], vec![Vec3::Z; 3], vec![1.0; 3], 3.0);
    for taxels in [Taxels::grid(2, 2, 1.0), points] {
        let (forces, outside) = taxels.bin(&uniform(&wall));
        let lit: Vec<usize> = (0..taxels.len()).filter(|&i| forces[i].length() > 0.0).collect();
        assert_eq!((lit.len(), taxels.locate(wall[2] * 0.9)), (1, Some(lit[0])));
        assert!(outside.length() < 1e-16);
    }
}
