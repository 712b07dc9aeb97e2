//! Friction on a layer, compared with Cattaneo, Mindlin and Lubkin.

use dermis_geometry::{HeightField, Twist, Vec3};
use dermis_skin::layer::{IndenterHeightMap, LayerContact, Ply, Poisson};
use dermis_skin::{Layer, LayerParameters, Load, Skin, State, Touch};
use std::f64::consts::PI;

const RADIUS: f64 = 5e-3;
const DEPTH: f64 = 2e-4;
const MU: f64 = 0.4;

fn thick(nu: f64, coupled: bool, cells: usize) -> Layer {
    let ply = Ply { thickness_m: 1.0, young_pa: 2e5, poisson: Poisson::Ratio(nu) };
    // The contact radius is √(RD) = 1 mm.
    let parameters = LayerParameters::new(ply, [3e-3; 2], 3e-3 / cells as f64);
    Layer::new(LayerParameters { contact: LayerContact { mu: MU, ..parameters.contact }, coupled, ..parameters })
        .unwrap()
}

fn ball(layer: &Layer) -> IndenterHeightMap {
    let height = |x: f64, y: f64| (x * x + y * y) / (2.0 * RADIUS) - DEPTH;
    IndenterHeightMap::of_heights(&HeightField::from_fn(layer.grid(), height))
}

/// Pressed, then moved by `slide_m` along x in `steps`.
fn slid(layer: &Layer, slide_m: f64, steps: usize) -> (Touch, State) {
    let indenter = ball(layer);
    let mut now = layer.settle_under(&layer.rest(), &indenter).unwrap();
    let velocity = Twist { linear: Vec3::X * (slide_m / steps as f64), angular: Vec3::ZERO };
    for _ in 0..steps {
        now = layer.step_under(&now.1, &indenter, &velocity, Some(1.0)).unwrap();
    }
    now
}

/// Radius (m) of the disc with the area of the cells whose shear is below the bound.
fn stick_radius(touch: &Touch) -> f64 {
    let sticks = |facet: &&dermis_skin::Facet| {
        let Load::Point { force, .. } = facet.load else { return false };
        force.truncate().length() < (1.0 - 1e-6) * MU * -force.z
    };
    (touch.facets.iter().filter(sticks).map(|facet| facet.area_m2()).sum::<f64>() / PI).sqrt()
}

/// Cattaneo 1938 and Mindlin 1949 on a half-space at ν = 0 without coupling: under a ball of contact radius a and load
/// P, moved by δ = 3μP(2 − ν)/(16 a G) (1 − (1 − Q/μP)^(2/3)), the sticking disc has the radius a (1 − Q/μP)^(1/3).
#[test]
fn partial_slip_is_cattaneos() {
    let layer = thick(0.0, false, 96);
    let shear_pa = layer.laminate().top().shear_pa();
    let contact = (RADIUS * DEPTH).sqrt();
    let load = 4.0 / 3.0 * layer.laminate().top().plane_strain_pa() * RADIUS.sqrt() * DEPTH.powf(1.5);
    let slide = |part: f64| 3.0 * MU * load * 2.0 / (16.0 * contact * shear_pa) * (1.0 - (1.0 - part).powf(2.0 / 3.0));
    for part in [0.2, 0.5, 0.8] {
        let (touch, _) = slid(&layer, slide(part), 1);
        let force = touch.on_sensor.force;
        println!("Q/(mu P) = {part}: {} N for {}", force.x, part * MU * load);
        assert!((force.x / (part * MU * load) - 1.0).abs() < 5e-3, "{} {}", force.x, part * MU * load);
        let truth = contact * (1.0 - part).cbrt();
        let cells = (stick_radius(&touch) - truth) / layer.grid().cell_m;
        println!("  stick radius off by {cells} cells");
        assert!(cells.abs() < 1.0, "{cells}");
        assert!(force.y.abs() < 1e-6 * force.x);
        assert!((touch.on_objects[0].force + force).length() < 1e-12);
        // The same in ten steps: monotonic loading does not depend on them, up to the error of the solver (0.2 % at
        // half).
        let (steps, _) = slid(&layer, slide(part), 10);
        assert!((steps.on_sensor.force.x / force.x - 1.0).abs() < 5e-3, "{}", steps.on_sensor.force.x);
    }
    // Before the onset of slip: 8 a G/(2 − ν).
    let tiny = slide(0.004);
    let (touch, _) = slid(&layer, tiny, 1);
    let stiffness = touch.on_sensor.force.x / tiny;
    let truth = 8.0 * contact * shear_pa / 2.0;
    println!("tangential stiffness off by {:e}", stiffness / truth - 1.0);
    assert!((stiffness / truth - 1.0).abs() < 0.02, "{stiffness} {truth}");
    let (touch, _) = slid(&layer, 20.0 * slide(1.0), 1);
    assert!((touch.on_sensor.force.x / (MU * -touch.on_sensor.force.z) - 1.0).abs() < 1e-9);
}

/// With coupling, a ball at ν = 0 sticks while it is pressed, which adds 3 % to the load and reduces the shear by 12 %
/// (the press has already used a part of the friction); at ν = 0.45 both are below 1.5 %.
#[test]
fn coupling_is_a_small_correction() {
    for nu in [0.0, 0.3, 0.45] {
        let (free, bound) = (thick(nu, false, 64), thick(nu, true, 64));
        let slide = 2e-5;
        let ((free, _), (bound, _)) = (slid(&free, slide, 1), slid(&bound, slide, 1));
        let (a, b) = (free.on_sensor.force, bound.on_sensor.force);
        let (normal, along) = (b.z / a.z - 1.0, b.x / a.x - 1.0);
        println!("nu = {nu}: coupling changes the load by {normal:.4} and the shear by {along:.4}");
        assert!(normal.abs() < 0.05 && along.abs() < 0.15, "{normal} {along}");
        assert!(nu < 0.4 || (normal.abs() < 0.01 && along.abs() < 0.03), "{along}");
    }
}

/// Twisted until all of it slips, Hertz's pressure resists with 3π/16 μPa (Lubkin 1951).
#[test]
fn twisting_is_lubkins() {
    let layer = thick(0.0, false, 64);
    let indenter = ball(&layer);
    let (touch, state) = layer.settle_under(&layer.rest(), &indenter).unwrap();
    let load = -touch.on_sensor.force.z;
    let velocity = Twist { linear: Vec3::ZERO, angular: Vec3::Z };
    let (touch, _) = layer.step_under(&state, &indenter, &velocity, Some(0.5)).unwrap();
    let truth = 3.0 * PI / 16.0 * MU * load * (RADIUS * DEPTH).sqrt();
    let torque = touch.on_sensor.torque.z;
    assert!((torque / truth - 1.0).abs() < 0.01, "{torque} {truth}");
    assert!(touch.on_sensor.force.truncate().length() < 1e-3 * load);
}

/// Back and forth motion gives a loop: after a full return the force differs from its initial value, and no cell
/// exceeds its bound.
#[test]
fn rubbing_has_a_memory() {
    let layer = thick(0.3, true, 48);
    let (there, state) = slid(&layer, 3e-5, 2);
    let indenter = ball(&layer);
    let back = Twist { linear: Vec3::X * -3e-5, angular: Vec3::ZERO };
    let (back, _) = layer.step_under(&state, &indenter, &back, Some(1.0)).unwrap();
    assert!(back.on_sensor.force.x < -0.05 * there.on_sensor.force.x, "{}", back.on_sensor.force.x);
    for facet in there.facets.iter().chain(&back.facets) {
        let Load::Point { force, .. } = facet.load else { panic!("a layer gives points") };
        assert!(force.truncate().length() <= MU * -force.z * (1.0 + 1e-4) + 1e-12);
    }
    // Sticking cells have moved with the ball, as markers show.
    let surface = there.surface.as_ref().unwrap();
    let middle = surface.values[24 * 48 + 24];
    assert!((middle.x - 3e-5).abs() < 2e-6, "{middle}");
}

/// Sum of the shear forces (N) and largest tangential displacement (m).
fn shear_and_motion(touch: &Touch) -> (f64, f64) {
    let shear = |facet: &dermis_skin::Facet| match facet.load {
        Load::Point { force, .. } => force.truncate().length(),
        _ => 0.0,
    };
    let motion = touch.surface.as_ref().unwrap().values.iter().map(|value| value.truncate().length());
    (touch.facets.iter().map(shear).sum(), motion.fold(0.0, f64::max))
}

/// A layer with friction and at most `increments` per step.
fn divided(nu: f64, mu: f64, increments: usize) -> Layer {
    let ply = Ply { thickness_m: 1.0, young_pa: 2e5, poisson: Poisson::Ratio(nu) };
    let mut parameters = LayerParameters::new(ply, [4e-3; 2], 4e-3 / 64.0);
    (parameters.contact.mu, parameters.max_increments) = (mu, increments);
    Layer::new(parameters).unwrap()
}

/// Stated error of a ball pressed from rest.
fn stated_error(nu: f64, mu: f64, increments: usize) -> f64 {
    let layer = divided(nu, mu, increments);
    layer.solve_under(&layer.rest(), &ball(&layer), &Twist::ZERO, None).unwrap().effort.path_error
}

/// Shear as a fraction of the friction limit, and largest motion (m), of a ball pressed from rest.
fn pressed(nu: f64, mu: f64, increments: usize) -> (f64, f64) {
    let layer = divided(nu, mu, increments);
    let touch = layer.settle_under(&layer.rest(), &ball(&layer)).unwrap().0;
    let (shear, motion) = shear_and_motion(&touch);
    (shear / (mu * -touch.on_sensor.force.z), motion)
}

/// A ball pressed from rest at ν = 0.3 and μ = 0.6: cells stick where the ball touches them, after it has pushed them
/// aside. Solved at once, the shear is 45 % too large and the motion of the surface 20 % too small; in eight increments
/// 6 % and 3 %. The stated error covers the difference, also with slip (μ = 0.2), with little shear (ν = 0.45), and with
/// much friction (μ = 2), where the shear is far below the friction limit but the motion is just as wrong.
#[test]
#[ignore = "slow: cargo xtask validate slow"]
fn a_press_with_friction_hardly_depends_on_its_number_of_steps() {
    for (nu, mu) in [(0.3, 0.6), (0.45, 2.0)] {
        let (truth, once, eight) = (pressed(nu, mu, 24), pressed(nu, mu, 1), pressed(nu, mu, 8));
        println!("nu {nu}, mu {mu}: 24 increments {truth:?}, 1 {once:?}, 8 {eight:?}");
        let (shear, motion) = ((eight.0 - truth.0).abs(), (eight.1 / truth.1 - 1.0).abs());
        assert!(shear < 0.025 && motion < 0.06, "nu {nu}, mu {mu}: {shear} {motion}");
        let stated = stated_error(nu, mu, 8);
        assert!(shear.max(motion) < stated && stated < 0.1, "nu {nu}, mu {mu}: {shear} {motion} {stated}");
        assert!(stated_error(nu, mu, 1) > 0.1, "one increment is not said to be coarse: {once:?}");
        if (nu, mu) == (0.3, 0.6) {
            assert!(once.0 > 1.3 * truth.0 && once.1 < 0.9 * truth.1, "{once:?} {truth:?}");
        }
    }
}

/// Spence 1975: under a ball on a half-space the sticking disc keeps its share c/a of the contact radius during the press,
/// ```text
/// (a/2c) ln((a + c)/(a − c)) = (μ/β) K(√(1 − c²/a²)),   β = (1 − 2ν)/(2(1 − ν))
/// ```
/// with the complete elliptic integral K: 0.727 at ν = 0.3 and μ = 0.2. He neglects the pressure due to the shear.
#[test]
fn a_press_sticks_within_spences_radius() {
    let share = |increments: usize| {
        let layer = divided(0.3, 0.2, increments);
        let touch = layer.settle_under(&layer.rest(), &ball(&layer)).unwrap().0;
        let sticks = |facet: &&dermis_skin::Facet| {
            let Load::Point { force, .. } = facet.load else { return false };
            force.truncate().length() < 0.999 * 0.2 * -force.z
        };
        let area = |facets: &mut dyn Iterator<Item = &dermis_skin::Facet>| facets.map(|f| f.area_m2()).sum::<f64>();
        (area(&mut touch.facets.iter().filter(sticks)) / area(&mut touch.facets.iter())).sqrt()
    };
    let (once, many) = (share(1), share(48));
    println!("c/a: {once} in one increment, {many} in 48, Spence 0.727");
    assert!((many - 0.727).abs() < 0.05, "{many}");
    assert!(once < 0.5, "{once}");
}

/// Without friction, under a flat punch, and where the shear and the motion in contact are small, a press takes one
/// increment.
#[test]
fn a_press_whose_path_does_not_matter_is_solved_at_once() {
    let flat = |layer: &Layer| {
        let height = |x: f64, y: f64| if x.hypot(y) <= 1e-3 { -DEPTH } else { f64::INFINITY };
        IndenterHeightMap::of_heights(&HeightField::from_fn(layer.grid(), height))
    };
    for (nu, mu, indenter) in
        [(0.3, 0.0, ball as fn(&Layer) -> IndenterHeightMap), (0.3, 0.6, flat as fn(&Layer) -> IndenterHeightMap)]
    {
        let efforts = [1, 8].map(|increments| {
            let layer = divided(nu, mu, increments);
            layer.solve_under(&layer.rest(), &indenter(&layer), &Twist::ZERO, None).unwrap().effort
        });
        assert_eq!(efforts[0], efforts[1], "{nu} {mu}");
        assert_eq!(efforts[1].path_error, 0.0, "{efforts:?}");
    }
}

/// A press in one increment where the path matters warns, in the touch.
#[test]
fn a_coarse_path_is_said_in_the_touch() {
    let warns = |increments: usize| {
        let layer = divided(0.3, 0.6, increments);
        let touch = layer.settle_under(&layer.rest(), &ball(&layer)).unwrap().0;
        touch.warnings.iter().any(|warning| matches!(warning, dermis_skin::Warning::CoarsePath { .. }))
    };
    assert!(warns(1) && !warns(8));
}
