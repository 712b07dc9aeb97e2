//! Displacement and rotation inside a layer against closed forms.

use dermis_geometry::{HeightField, Vec2, Vec3};
use dermis_skin::layer::{IndenterHeightMap, Interior, Laminate, Layer, LayerParameters, Ply, Poisson};
use dermis_skin::{Skin, Touch};

const YOUNG_PA: f64 = 2e5;

/// Boussinesq's and Cerruti's half-space: displacement (m, z up) at a depth and offset from a unit force (Johnson 1985,
/// eqs 3.18 and 3.75).
fn half_space(nu: f64, at: Vec3, force: Vec3) -> Vec3 {
    let (x, y, z) = (at.x, at.y, -at.z);
    let r = (x * x + y * y + z * z).sqrt();
    let s = 1.0 - 2.0 * nu;
    let scale = (1.0 + nu) / (std::f64::consts::TAU * YOUNG_PA);
    let along = |x: f64, y: f64| {
        let second = s / (r * (r + z).powi(2));
        let own = 1.0 / r + x * x / r.powi(3) + s / (r + z) - x * x * second;
        let other = x * y / r.powi(3) - x * y * second;
        let down = x * z / r.powi(3) + s * x / (r * (r + z));
        (own * scale, other * scale, down * scale)
    };
    let (xx, xy, xz) = along(x, y);
    let (yy, yx, yz) = along(y, x);
    let pressed = -force.z * scale;
    let out = z / r.powi(3) - s / (r * (r + z));
    Vec3::new(xx * force.x + yx * force.y, xy * force.x + yy * force.y, -(xz * force.x + yz * force.y))
        + Vec3::new(out * x, out * y, -(2.0 * (1.0 - nu) / r + z * z / r.powi(3))) * pressed
}

/// Half the curl of the half-space's displacement, by differences.
fn half_space_rotation(nu: f64, at: Vec3, force: Vec3) -> Vec3 {
    let step = 1e-4 * at.z.abs();
    let slope =
        |axis: Vec3| (half_space(nu, at + axis * step, force) - half_space(nu, at - axis * step, force)) / (2.0 * step);
    let (dx, dy, dz) = (slope(Vec3::X), slope(Vec3::Y), slope(Vec3::Z));
    Vec3::new(dy.z - dz.y, dz.x - dx.z, dx.y - dy.x) * 0.5
}

/// A layer 40,000 times as thick as the depth moves as a half-space under forces along every axis.
#[test]
fn a_thick_layer_moves_inside_as_a_half_space() {
    let depth_m = 1e-3;
    for nu in [0.0, 0.3, 0.45] {
        let ply = Ply { thickness_m: 40.0, young_pa: YOUNG_PA, poisson: Poisson::Ratio(nu) };
        let inside = Interior::new(&Laminate::new(vec![ply]).unwrap(), depth_m, 1e-6, 20e-3);
        for offset in [Vec2::new(0.0, 1e-9), Vec2::new(0.7e-3, 0.2e-3), Vec2::new(-2e-3, 3e-3), Vec2::new(4e-3, -8e-3)]
        {
            for force in [Vec3::X, Vec3::Y, -Vec3::Z, Vec3::new(0.3, -0.5, -1.0)] {
                let found = inside.motion(offset, [(Vec2::ZERO, force)]);
                let at = Vec3::new(offset.x, offset.y, -depth_m);
                let truth = half_space(nu, at, force);
                let error = (found.displacement_m - truth).length() / truth.length();
                assert!(error < 1e-3, "nu {nu}, {offset}, {force}: {} for {truth}, {error:e}", found.displacement_m);
                let truth = half_space_rotation(nu, at, force);
                let scale = truth.length().max(1e-3 * half_space(nu, at, force).length() / depth_m);
                let error = (found.rotation_rad - truth).length() / scale;
                assert!(error < 1e-3, "nu {nu}, {offset}, {force}: {} for {truth}, {error:e}", found.rotation_rad);
            }
        }
    }
}

/// Hertz: under a ball the material on the axis sinks by ∫ p(s) g(s, z) 2πs ds with p = p₀√(1 − s²/a²) and Boussinesq's g.
#[test]
fn material_under_a_ball_sinks_as_hertz_says() {
    let (radius_m, a_m, nu) = (10e-3, 1e-3, 0.4);
    let ply = Ply { thickness_m: 3.0, young_pa: YOUNG_PA, poisson: Poisson::Ratio(nu) };
    let layer = Layer::new(LayerParameters::new(ply, [4e-3; 2], 0.04e-3)).unwrap();
    let field = HeightField::from_fn(layer.grid(), |x, y| (x * x + y * y) / (2.0 * radius_m) - a_m * a_m / radius_m);
    let (touch, _) = layer.settle_under(&layer.rest(), &IndenterHeightMap::of_heights(&field)).unwrap();
    let p0 = 2.0 * YOUNG_PA / (1.0 - nu * nu) * a_m / (std::f64::consts::PI * radius_m);
    for depth_m in [0.3e-3, 1e-3, 2.5e-3] {
        let n = 20_000;
        let truth: f64 = (0..n)
            .map(|i| {
                let s = a_m * (i as f64 + 0.5) / n as f64;
                let g = -half_space(nu, Vec3::new(s, 0.0, -depth_m), -Vec3::Z).z;
                p0 * (1.0 - (s / a_m).powi(2)).sqrt() * g * std::f64::consts::TAU * s * a_m / n as f64
            })
            .sum();
        let found = -layer.interior(depth_m).motion(Vec2::ZERO, loads(&touch)).displacement_m.z;
        assert!((found / truth - 1.0).abs() < 1e-3, "{depth_m}: {found} for {truth}");
    }
}

fn loads(touch: &Touch) -> impl Iterator<Item = (Vec2, Vec3)> + '_ {
    touch.facets.iter().map(|facet| (facet.at().truncate(), facet.force_on_sensor()))
}

/// Under the middle of a wide uniform pressure a layer is in confined compression: u = p (h − z)/M, without rotation.
#[test]
fn a_widely_pressed_layer_is_confined_inside() {
    let (thickness_m, nu, cell_m) = (2e-3, 0.3, 0.25e-3);
    let ply = Ply { thickness_m, young_pa: YOUNG_PA, poisson: Poisson::Ratio(nu) };
    let laminate = Laminate::new(vec![ply]).unwrap();
    let confined_pa = YOUNG_PA * (1.0 - nu) / ((1.0 + nu) * (1.0 - 2.0 * nu));
    let pressure_pa = 1e3;
    let place = |i: i32| f64::from(i) * cell_m;
    let cells = (-80..=80).flat_map(|i| (-80..=80).map(move |j| Vec2::new(place(i), place(j))));
    let cells: Vec<_> = cells.map(|at| (at, -Vec3::Z * (pressure_pa * cell_m * cell_m))).collect();
    for depth_m in [0.5e-3, 1e-3, 1.6e-3] {
        let found = Interior::new(&laminate, depth_m, cell_m, 60e-3).motion(Vec2::ZERO, cells.iter().copied());
        let truth = pressure_pa * (thickness_m - depth_m) / confined_pa;
        assert!((-found.displacement_m.z / truth - 1.0).abs() < 1e-3, "{depth_m}: {found:?} for {truth}");
        assert!(found.rotation_rad.length() < 1e-9);
    }
}
