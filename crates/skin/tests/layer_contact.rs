//! Frictionless contact of a layer, compared with closed forms and tables.

use dermis_geometry::{HeightField, Pose, Vec3, shapes};
use dermis_skin::layer::{
    Complementarity, Functions, IndenterHeightMap, Influences, Laminate, LayerContact, Pair, Ply, Poisson, Region,
};
use dermis_skin::{Contact, Contacts, Layer, LayerParameters, Motion, Object, Skin, SkinError, Target, Touch, Warning};
use std::sync::Arc;

fn ply(thickness_m: f64, nu: f64) -> Ply {
    let poisson = if nu == 0.5 { Poisson::Incompressible } else { Poisson::Ratio(nu) };
    Ply { thickness_m, young_pa: 2e5, poisson }
}

fn layer(ply: Ply, side_m: f64, cells: usize) -> Layer {
    Layer::new(LayerParameters::new(ply, [side_m; 2], side_m / cells as f64)).unwrap()
}

fn under(layer: &Layer, height: impl Fn(f64, f64) -> f64) -> Touch {
    let indenter = IndenterHeightMap::of_heights(&HeightField::from_fn(layer.grid(), height));
    layer.settle_under(&layer.rest(), &indenter).unwrap().0
}

fn force(touch: &Touch) -> f64 {
    -touch.on_sensor.force.z
}

/// A layer 4000 contact radii thick is a half-space: F = 4/3 E* √R d^(3/2), at any position on the patch. A kernel that
/// wraps around would have an error of several percent.
#[test]
fn a_thick_layer_is_hertz() {
    let (radius, depth) = (4e-3, 2.5e-4);
    let ply = ply(4.0, 0.3);
    let truth = 4.0 / 3.0 * ply.plane_strain_pa() * f64::sqrt(radius) * f64::powf(depth, 1.5);
    let layer = layer(ply, 8e-3, 256);
    for x0 in [0.0, 2.2e-3] {
        let touch = under(&layer, |x, y| ((x - x0).powi(2) + y * y) / (2.0 * radius) - depth);
        let error = force(&touch) / truth - 1.0;
        println!("hertz at {x0}: {error:e}");
        assert!(error.abs() < 2e-3, "{error}");
    }
}

/// Displacement (m) of the surface away from the centre of the grid, with its distance (m), right of the centre.
fn motion_outwards(touch: &Touch) -> Vec<(f64, f64)> {
    let surface = touch.surface.as_ref().unwrap();
    let row = surface.rows / 2;
    let col = |col: usize| (surface.rest(row, col), surface.values[row * surface.cols + col]);
    let outwards = |(at, moved): (Vec3, Vec3)| (at.truncate().length(), moved.dot(at.with_z(0.0).normalize()));
    (surface.cols / 2 + 1..surface.cols).map(col).map(outwards).collect()
}

/// Under a frictionless ball on a half-space the surface moves inwards by (1 − 2ν)(1 + ν) a² p₀/(3 E r), inside of the contact
/// times 1 − (1 − r²/a²)^(3/2) (Johnson 1985, eqs 3.41b and 3.42b).
#[test]
fn the_surface_moves_towards_a_ball_on_a_half_space() {
    let (radius, depth, nu) = (4e-3, 2.5e-4, 0.3);
    let ply = ply(4.0, nu);
    let touch = under(&layer(ply, 8e-3, 256), |x, y| (x * x + y * y) / (2.0 * radius) - depth);
    let a = f64::sqrt(radius * depth);
    let peak_pa = 2.0 / std::f64::consts::PI * ply.plane_strain_pa() * a / radius;
    let edge_m = (1.0 - 2.0 * nu) * (1.0 + nu) * a * peak_pa / (3.0 * ply.young_pa);
    for (r, found) in motion_outwards(&touch) {
        let inside = 1.0 - (1.0 - (r / a).powi(2)).max(0.0).powf(1.5);
        let truth = -edge_m * a / r * inside;
        assert!((found - truth).abs() < 0.01 * edge_m, "{r}: {found:e} for {truth:e}");
    }
}

/// A thin incompressible layer flows out from under a ball as a film does, with a parabola of displacements over its
/// thickness: what the ball displaces, ∫ w 2πs ds, passes through 2πr h with a mean of 2/3 of the motion of the surface. For
/// w = d − s²/2R that is (3/2h)(d r/2 − r³/8R). The error is of the order of the thickness over the contact radius.
#[test]
fn a_thin_incompressible_layer_flows_out_from_under_a_ball() {
    let (radius, depth) = (0.4, 2e-5);
    for h in [2e-4, 1e-4] {
        let touch = under(&layer(ply(h, 0.5), 16e-3, 320), |x, y| (x * x + y * y) / (2.0 * radius) - depth);
        let largest = 1.5 / h * depth * f64::sqrt(2.0 * radius * depth) / 4.0;
        for (r, found) in motion_outwards(&touch).into_iter().filter(|(r, _)| *r < 3e-3) {
            let truth = 1.5 / h * (0.5 * depth * r - r.powi(3) / (8.0 * radius));
            assert!((found - truth).abs() < 250.0 * h * largest, "h = {h}, {r}: {found:e} for {truth:e}");
        }
    }
}

/// Hayes et al. 1972: a flat punch of radius a on a bonded layer, F = 2 E* a κ d, over the whole table. A disc of cells
/// has the area of the punch up to a fraction of a cell, and the infinite pressure at the edge makes its effective
/// radius larger by a constant fraction of a cell; the force grows at most with the fourth power of the radius.
#[test]
fn flat_punches_have_hayes_kappa() {
    let table = include_str!("golden/layer/hayes_kappa_flat_punch.csv");
    let mut lines = table.lines();
    let ratios: Vec<f64> =
        lines.next().unwrap().split(',').skip(1).map(|head| head.trim_start_matches("nu=").parse().unwrap()).collect();
    let mut worst = (0.0f64, 0.0, 0.0);
    for line in lines {
        let numbers: Vec<f64> = line.split(',').map(|number| number.parse().unwrap()).collect();
        let a_over_h = numbers[0];
        for (&nu, &kappa) in ratios.iter().zip(&numbers[1..]) {
            let (a, depth) = (2e-3, 1e-5);
            let ply = ply(a / a_over_h, nu);
            let layer = layer(ply, 2.2 * a, 140);
            let (grid, cells) = (layer.grid(), 140);
            let inside = |i: usize| grid.cell_center(i / cells, i % cells).length() <= a;
            let depths: Vec<f64> = (0..cells * cells).map(|i| if inside(i) { depth } else { -depth }).collect();
            let mut pressure = vec![0.0; cells * cells];
            let region = Region { row: 0, col: 0, rows: cells, cols: cells };
            let product = layer.influences().within(&region);
            let mut contact = Complementarity::new(layer.influences(), &product, region, 1e-6);
            contact.solve(&depths, &mut pressure, 1e-6 * depth);
            let force = pressure.iter().sum::<f64>() * grid.cell_m.powi(2);
            let error = force / (2.0 * ply.plane_strain_pa() * a * kappa * depth) - 1.0;
            if error.abs() > worst.0.abs() {
                worst = (error, a_over_h, nu);
            }
        }
    }
    println!("worst of Hayes' table: {:e} at a/h = {}, nu = {}", worst.0, worst.1, worst.2);
    assert!(worst.0.abs() < 0.01, "{worst:?}");
}

/// Far from the edge of a punch twenty times wider than the layer is thick: p = M d/h, at the surface and at
/// the base.
#[test]
fn a_wide_punch_is_confined_compression() {
    let ply = ply(1e-3, 0.3);
    let layer = layer(ply, 48e-3, 192);
    let depth = 1e-5;
    let touch = under(&layer, |x, y| if x.hypot(y) <= 20e-3 { -depth } else { f64::INFINITY });
    let truth = ply.confined_pa() * depth / ply.thickness_m;
    let base = touch.base.as_ref().unwrap();
    let middle = base.values[96 * 192 + 96];
    assert!((-middle.z / truth - 1.0).abs() < 1e-4, "{} for {truth}", -middle.z);
    let near = |facet: &&dermis_skin::Facet| facet.at().truncate().length() < 0.2e-3;
    let facet = touch.facets.iter().find(near).unwrap();
    let pressure = facet.normal_force() / facet.area_m2();
    assert!((pressure / truth - 1.0).abs() < 1e-4, "{pressure} for {truth}");
}

/// The base carries the whole load: on a patch that extends 30 thicknesses beyond the contact, no load is lost.
#[test]
fn the_base_carries_the_load() {
    for nu in [0.0, 0.3, 0.45, 0.5] {
        let layer = layer(ply(0.6e-3, nu), 44e-3, 384);
        let touch = under(&layer, |x, y| (x * x + 2.0 * y * y) / 0.02 - 1e-4);
        let base = touch.base.as_ref().unwrap();
        let sum: Vec3 = base.values.iter().sum::<Vec3>() * (base.cell_m * base.cell_m);
        let gap = (sum - touch.on_sensor.force).length() / force(&touch);
        println!("load balance, nu = {nu}: {gap:e}");
        assert!(gap < 1e-9, "{gap:e}");
    }
}

/// Betti: the mutual work of two presses is equal, at any two positions of the grid.
#[test]
fn influences_are_reciprocal() {
    let layer = layer(ply(2e-3, 0.45), 20e-3, 96);
    let region = Region { row: 20, col: 10, rows: 40, cols: 60 };
    let product = layer.influences().within(&region);
    let mut contact = Complementarity::new(layer.influences(), &product, region, 0.0);
    let mut random = dermis_geometry::Random::new(4);
    let (mut a, mut b) = (vec![0.0; region.len()], vec![0.0; region.len()]);
    a.iter_mut().chain(&mut b).for_each(|p| *p = random.uniform());
    let (mut by_a, mut by_b) = (a.clone(), b.clone());
    contact.displacement(&a, &mut by_a);
    contact.displacement(&b, &mut by_b);
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let (one, other) = (dot(&b, &by_a), dot(&a, &by_b));
    assert!((one / other - 1.0).abs() < 1e-12, "{one} {other}");
}

/// A square grid has coefficients of y from those of x with the axes exchanged, and half of those that are symmetric; grids that are not square
/// compute them.
#[test]
fn influences_of_a_square_grid_are_those_of_others() {
    let laminate = Laminate::new(vec![ply(2e-3, 0.45)]).unwrap();
    let functions = Arc::new(Functions::new(&laminate, 2e-3, 20e-3));
    let of = |cols: usize| Influences::new(functions.clone(), 12, cols, 0.4e-3);
    let square = of(12);
    for other in [of(11), of(13)] {
        for pair in Pair::ALL {
            let (a, b) = (square.get(pair), other.get(pair));
            assert_eq!(a.parity, b.parity);
            let largest = b.values.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
            for i in (0..12 * 12).filter(|i| i % 12 < other.cols) {
                let (one, two) = (a.values[i], b.values[i / 12 * other.cols + i % 12]);
                assert!((one - two).abs() < 1e-12 * largest, "{pair:?}, cell {i}: {one:e} for {two:e}");
            }
        }
    }
}

/// The contact conditions hold on the whole grid: no tension, no overlap, no pressure across a gap.
#[test]
fn nothing_overlaps_and_nothing_pulls() {
    let layer = layer(ply(2e-3, 0.5), 24e-3, 96);
    let height = |x: f64, y: f64| (x * x + y * y) / 0.02 + 2e-5 * (3e3 * x).sin() * (2e3 * y).cos() - 4e-4;
    let field = HeightField::from_fn(layer.grid(), height);
    let touch = under(&layer, height);
    let surface = touch.surface.as_ref().unwrap();
    let tolerance = 1.2e-5 * 4e-4;
    for (value, height) in surface.values.iter().zip(&field.heights_m) {
        assert!(value.z <= height + tolerance, "{} over {height}", value.z);
    }
    for facet in &touch.facets {
        assert!(facet.normal_force() > 0.0);
        let at = facet.at();
        assert!((at.z - height(at.x, at.y)).abs() < tolerance, "{at}");
    }
}

/// A mesh gives the same contact as its height field: a fine ball compared with the exact sphere, tilted or not, and
/// two balls at once.
#[test]
fn meshes_press_as_their_shapes_do() {
    let layer = layer(ply(3e-3, 0.45), 24e-3, 128);
    let ball = Object::new(shapes::sphere(5e-3, 0.15e-3).unwrap());
    let depth = 0.5e-3;
    let exact = under(&layer, |x, y| {
        let rho = x.hypot(y);
        if rho < 5e-3 { 5e-3 - (25e-6 - rho * rho).sqrt() - depth } else { f64::INFINITY }
    });
    let at = |x: f64, turn: f64| {
        let rotation = dermis_geometry::Quat::from_rotation_x(turn);
        Pose::new(rotation, Vec3::new(x, 0.0, 5e-3 - depth))
    };
    for turn in [0.0, 0.7] {
        let target = Target::at_rest(&ball, at(0.0, turn));
        let (touch, _) = layer.settle(&layer.rest(), &Motion { targets: &[target] }).unwrap();
        // The chords of the mesh are up to 0.15²/(8·5) mm = 0.6 µm inside the sphere.
        assert!((force(&touch) / force(&exact) - 1.0).abs() < 3e-3, "{} {}", force(&touch), force(&exact));
        assert!((touch.on_objects[0].force + touch.on_sensor.force).length() < 1e-12 * force(&touch));
    }
    let apart = [Target::at_rest(&ball, at(-6e-3, 0.0)), Target::at_rest(&ball, at(6e-3, 0.0))];
    let (touch, _) = layer.settle(&layer.rest(), &Motion { targets: &apart }).unwrap();
    let [left, right] = [touch.on_objects[0].force.z, touch.on_objects[1].force.z];
    assert!((left / right - 1.0).abs() < 1e-4, "{left} {right}");
    assert!((left + right - force(&touch)).abs() < 1e-12);
    // Each ball is in the bulge or the dip of the other, four thicknesses away.
    assert!((left / force(&exact) - 1.0).abs() < 0.05);
}

/// A warm start changes the cost, not the result.
#[test]
fn warm_starts_change_nothing() {
    let layer = layer(ply(3e-3, 0.45), 24e-3, 96);
    let indenter = |depth: f64, x0: f64| {
        let height = |x: f64, y: f64| ((x - x0).powi(2) + y * y) / 0.012 - depth;
        IndenterHeightMap::of_heights(&HeightField::from_fn(layer.grid(), height))
    };
    let mut state = layer.rest();
    for (depth, x) in [(2e-4, 0.0), (4e-4, 1e-3), (9e-4, 1e-3), (3e-4, -4e-3)] {
        let (warm, next) = layer.settle_under(&state, &indenter(depth, x)).unwrap();
        let (cold, _) = layer.settle_under(&layer.rest(), &indenter(depth, x)).unwrap();
        assert!((force(&warm) / force(&cold) - 1.0).abs() < 1e-5, "{} {}", force(&warm), force(&cold));
        state = next;
    }
    let text = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<dermis_skin::State>(&text).unwrap(), state);
}

/// A stiff coating over a soft gel is between the two materials; a coating of the same material has no effect.
#[test]
fn a_coat_stiffens() {
    let gel = ply(3e-3, 0.45);
    let press = |plies: Vec<Ply>| {
        let parameters = LayerParameters { plies, ..LayerParameters::new(gel, [24e-3; 2], 0.25e-3) };
        force(&under(&Layer::new(parameters).unwrap(), |x, y| (x * x + y * y) / 0.01 - 3e-4))
    };
    let cut = |thickness_m: f64, young_pa: f64| Ply { thickness_m, young_pa, ..gel };
    let alone = press(vec![gel]);
    let same = press(vec![cut(0.5e-3, gel.young_pa), cut(2.5e-3, gel.young_pa)]);
    assert!((same / alone - 1.0).abs() < 1e-4, "{same} {alone}");
    let coated = press(vec![cut(0.2e-3, 10.0 * gel.young_pa), cut(2.8e-3, gel.young_pa)]);
    assert!(coated > 1.05 * alone && coated < 10.0 * alone, "{coated} {alone}");
}

#[test]
fn warnings_say_when_the_theory_ends() {
    let layer = layer(ply(2e-3, 0.45), 18e-3, 72);
    let ball = |x0: f64, depth: f64| under(&layer, move |x, y| ((x - x0).powi(2) + y * y) / 0.02 - depth).warnings;
    assert!(ball(0.0, 1e-4).is_empty());
    assert!(matches!(ball(0.0, 7e-4)[..], [Warning::BeyondLinear { strain_max }] if (0.3..0.4).contains(&strain_max)));
    assert!(matches!(ball(5.5e-3, 1e-4)[..], [Warning::NearRim { distance_mm, .. }] if distance_mm < 4.0));
    let deep = HeightField::from_fn(layer.grid(), |x, y| (x * x + y * y) / 0.02 - 1.7e-3);
    let refused = layer.settle_under(&layer.rest(), &IndenterHeightMap::of_heights(&deep)).unwrap_err();
    assert!(matches!(refused, SkinError::TooDeep { .. }) && refused.to_string().contains("gel"), "{refused}");
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let good = LayerParameters::new(ply(2e-3, 0.45), [16e-3; 2], 0.25e-3);
    let refusal = |parameters: LayerParameters| Layer::new(parameters).unwrap_err().to_string();
    let with = |ply: Ply| LayerParameters { plies: vec![ply], ..good.clone() };
    let base = ply(2e-3, 0.45);
    for nu in [0.5, 0.7, -1.0, f64::NAN] {
        let text = refusal(with(Ply { poisson: Poisson::Ratio(nu), ..base }));
        assert!(text.contains("poisson") && text.contains("incompressible"), "{text}");
    }
    for thickness_m in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
        assert!(refusal(with(Ply { thickness_m, ..base })).contains("thickness"));
    }
    assert!(refusal(with(Ply { young_pa: f64::NAN, ..base })).contains("young"));
    assert!(refusal(LayerParameters { cell_m: 0.0, ..good.clone() }).contains("cell"));
    assert!(refusal(LayerParameters { cell_m: 1e-9, ..good.clone() }).contains("cells"));
    assert!(
        refusal(LayerParameters { contact: LayerContact { mu: -0.1, ..good.contact }, ..good.clone() }).contains("mu")
    );
    assert!(refusal(LayerParameters { sense_depth_m: Some(3e-3), ..good.clone() }).contains("sense_depth"));
    assert!(refusal(LayerParameters { plies: Vec::new(), ..good }).contains("ply"));
}

/// Contact solved with single-precision products equals that with double-precision products, within the tolerance.
#[test]
fn single_precision_is_enough_for_its_tolerance() {
    let ply = ply(4e-3, 0.45);
    let ball = |x: f64, y: f64| (x * x + y * y) / 2.0 / 15e-3 - 1e-3;
    let with = |tolerance: f64| {
        let parameters = LayerParameters::new(ply, [20e-3; 2], 20e-3 / 96.0);
        under(
            &Layer::new(LayerParameters { contact: LayerContact { tolerance, ..parameters.contact }, ..parameters })
                .unwrap(),
            ball,
        )
    };
    let (single, double) = (with(1e-5), with(1e-9));
    let (a, b) = (single.on_sensor.force.z, double.on_sensor.force.z);
    println!("force differs by {:e}", a / b - 1.0);
    assert!((a / b - 1.0).abs() < 2e-5, "{a} {b}");
}

/// The stated stiffness F′(δ) of a thick to thin layer under a ball is never below the true one, at most 80 % above it
/// (thick and incompressible), and continuous up to ν = 1/2.
#[test]
fn the_stated_stiffness_is_an_upper_bound_up_to_incompressible() {
    let (depth_m, radius_m) = (0.03e-3, 30e-3);
    let stiffness = |poisson: Poisson, thickness_m: f64| {
        let ply = Ply { thickness_m, young_pa: 2e5, poisson };
        let layer = Layer::new(LayerParameters::new(ply, [4e-3; 2], 4e-3 / 64.0)).unwrap();
        let at = |depth_m: f64| {
            let height = |x: f64, y: f64| (x * x + y * y) / (2.0 * radius_m) - depth_m;
            let indenter = IndenterHeightMap::of_heights(&HeightField::from_fn(layer.grid(), height));
            layer.settle_under(&layer.rest(), &indenter).unwrap().0
        };
        let stated: f64 = at(depth_m).facets.iter().map(|facet| facet.tangent.stiffness_normal).sum();
        let newton = [0.98, 1.02].map(|part| -at(part * depth_m).on_sensor.force.z);
        (stated, (newton[1] - newton[0]) / (0.04 * depth_m))
    };
    let cases = [0.2, 0.4, 0.45, 0.48, 0.49, 0.495].map(Poisson::Ratio);
    for poisson in cases.into_iter().chain([Poisson::Incompressible]) {
        for thickness_m in [4e-3, 1e-3, 0.5e-3, 0.2e-3] {
            let (stated, truth) = stiffness(poisson, thickness_m);
            let ratio = stated / truth;
            println!("{poisson:?}, {thickness_m} m: {ratio:.3}");
            assert!((0.97..1.8).contains(&ratio), "{poisson:?}, {thickness_m} m: {ratio}");
        }
    }
    let (near, at) = (stiffness(Poisson::Ratio(0.499_999), 1e-3).0, stiffness(Poisson::Incompressible, 1e-3).0);
    assert!((near / at - 1.0).abs() < 0.01, "{near} {at}");
}

/// Boussinesq 1885: a point force F on a half-space presses at depth z and distance r with 3 F z³/(2π (r² + z²)^(5/2)),
/// whatever the material.
#[test]
fn a_point_force_of_another_engine_spreads_as_boussinesqs() {
    let (depth_m, x0, y0) = (2e-3, 0.1e-3, -0.3e-3);
    let mut parameters = LayerParameters::new(ply(4.0, 0.3), [16e-3; 2], 0.125e-3);
    parameters.sense_depth_m = Some(depth_m);
    let layer = Layer::new(parameters).unwrap();
    let contact = Contact::new(Vec3::new(x0, y0, -1e-5), Vec3::NEG_Z);
    let touch = layer.carry(&Contacts::new([contact])).unwrap();
    let base = touch.base.unwrap();
    let peak = 1.5 / (std::f64::consts::PI * depth_m.powi(2));
    let mut largest = 0.0f64;
    for (i, stress) in base.values.iter().enumerate() {
        let at = layer.grid().cell_center(i / base.cols, i % base.cols);
        let distance = (at.x - x0).hypot(at.y - y0);
        let truth = peak * depth_m.powi(5) / (distance.powi(2) + depth_m.powi(2)).powf(2.5);
        largest = largest.max((-stress.z - truth).abs() / peak);
    }
    println!("largest difference {largest:e} of the peak");
    assert!(largest < 0.01, "{largest}");
    assert_eq!(touch.on_sensor.force, Vec3::NEG_Z);
    assert!(matches!(touch.warnings[..], [Warning::NearRim { .. }]), "{:?}", touch.warnings);
}

/// The forces on the cells of a press, given as contact points, have the stress and surface of the press. A point beside
/// the layer and one that pulls change neither.
#[test]
fn contact_points_of_a_press_have_its_fields() {
    let mut parameters = LayerParameters::new(ply(2e-3, 0.45), [16e-3; 2], 0.25e-3);
    parameters.contact.mu = 0.4;
    let layer = Layer::new(parameters).unwrap();
    let press = under(&layer, |x, y| (x * x + y * y) / 8e-3 - 1e-4);
    let mut points: Vec<Contact> =
        press.facets.iter().map(|facet| Contact::new(facet.at(), facet.force_on_sensor())).collect();
    points.push(Contact::new(Vec3::new(9e-3, 0.0, 0.0), Vec3::NEG_Z));
    points.push(Contact::new(Vec3::ZERO, Vec3::Z));
    let touch = layer.carry(&Contacts::new(points)).unwrap();
    for (got, expected) in [(touch.base, press.base), (touch.surface, press.surface)] {
        let (got, expected) = (got.unwrap().values, expected.unwrap().values);
        let scale = expected.iter().map(|v| v.length()).fold(0.0, f64::max);
        let error = got.iter().zip(&expected).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
        assert!(error < 1e-9 * scale, "{error} of {scale}");
    }
    assert!((touch.on_sensor.force - press.on_sensor.force).length() < 1e-12, "{:?}", touch.on_sensor);
    let nothing = layer.carry(&Contacts::default()).unwrap();
    assert!(nothing.base.unwrap().values.iter().all(|stress| *stress == Vec3::ZERO));
}
