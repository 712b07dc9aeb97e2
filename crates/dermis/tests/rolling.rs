//! Bodies that roll down an incline of 10 degrees, on every skin and on the ground.
//!
//! A rigid body with the moment k m r² rolls at g sin α / (1 + k). Where it sinks into a skin, its surface is not level: not all of
//! it can roll without slip, and friction takes part of the energy. The loss on springs and on hydroelastic skins is that of
//! their law, integrated here.

use dermis::geometry::Vec3;
use dermis::scene::SceneSpec;
use dermis::world::{BodyId, World};

const RADIUS_M: f64 = 8e-3;
const MASS_KG: f64 = 0.05;
const SLOPE_DEG: f64 = 10.0;
const FRICTION: f64 = 0.6;
/// Speed of the regularised friction (m/s), and load per depth (Pa/m) of springs and of the hydroelastic skin.
const SPEED: f64 = 1e-3;
const FOUNDATION: f64 = 100e6;
/// Duration (s), before the edge of the skin.
const DURATION_S: f64 = 0.25;

/// A cylinder of a length (m), or a sphere.
#[derive(Clone, Copy, Debug)]
enum Roller {
    Cylinder(f64),
    Sphere,
}

impl Roller {
    fn keys(self) -> String {
        let radius_mm = 1e3 * RADIUS_M;
        match self {
            Self::Cylinder(length_m) => {
                format!("shape.cylinder = {{ radius = \"{radius_mm} mm\", length = \"{} mm\" }}", 1e3 * length_m)
            }
            Self::Sphere => format!("shape.sphere.radius = \"{radius_mm} mm\""),
        }
    }

    fn moment(self) -> f64 {
        MASS_KG * RADIUS_M.powi(2) * if matches!(self, Self::Cylinder(_)) { 0.5 } else { 0.4 }
    }

    fn rigid(self) -> f64 {
        9.81 * SLOPE_DEG.to_radians().sin() / (1.0 + self.moment() / (MASS_KG * RADIUS_M.powi(2)))
    }

    /// The cells of a contact that is `depth_m` deep: the load (N) along the normal, and the arm (m) from the centre.
    fn cells(self, depth_m: f64) -> Vec<(f64, Vec3)> {
        const CELLS: i32 = 60;
        let half_m = (RADIUS_M.powi(2) - (RADIUS_M - depth_m).powi(2)).sqrt();
        let middle = |i: i32| half_m * ((f64::from(i) + 0.5) / f64::from(CELLS) * 2.0 - 1.0);
        let edge_m = 2.0 * half_m / f64::from(CELLS);
        let lanes = match self {
            Self::Sphere => (0..CELLS).map(|i| (middle(i), edge_m)).collect(),
            Self::Cylinder(length_m) => vec![(0.0, length_m)],
        };
        let mut cells = Vec::new();
        for x in (0..CELLS).map(middle) {
            for &(y, width_m) in &lanes {
                let below = (RADIUS_M.powi(2) - x * x - y * y).max(0.0).sqrt();
                let depth = below - (RADIUS_M - depth_m);
                if depth > 0.0 {
                    let upwards = FOUNDATION * depth * edge_m * width_m;
                    cells.push((upwards * RADIUS_M / below, Vec3::new(x, y, -below)));
                }
            }
        }
        cells
    }

    /// Acceleration (m/s²) on springs: the equations of motion with the friction of all cells of the contact.
    fn on_springs(self) -> f64 {
        let (sine, cosine) = SLOPE_DEG.to_radians().sin_cos();
        let (mut low, mut high) = (0.0, 0.5 * RADIUS_M);
        for _ in 0..50 {
            let depth = 0.5 * (low + high);
            let upwards: f64 = self.cells(depth).iter().map(|(load, arm)| -load * arm.z / RADIUS_M).sum();
            if upwards < MASS_KG * 9.81 * cosine { low = depth } else { high = depth }
        }
        let (cells, dt_s) = (self.cells(low), 2e-5);
        let (mut x, mut v, mut w) = (0.0, 0.0, 0.0);
        for _ in 0..(DURATION_S / dt_s).round() as usize {
            let (mut force, mut torque) = (0.0, 0.0);
            for &(load, arm) in &cells {
                let moves = Vec3::X * v + (Vec3::Y * w).cross(arm);
                let slip = moves.reject_from(arm);
                let friction = slip * (-FRICTION * load / slip.length().max(SPEED));
                force += friction.x;
                torque += arm.cross(friction).y;
            }
            v += dt_s * (9.81 * sine + force / MASS_KG);
            w += dt_s * torque / self.moment();
            x += dt_s * v;
        }
        2.0 * x / DURATION_S.powi(2)
    }
}

/// A roller `sunk_m` deep in a skin or on the ground; gravity is inclined instead of the skin.
fn scene(roller: Roller, sunk_m: f64, step: &str, ground: &str, sensor: &str) -> (World, BodyId) {
    let (sine, cosine) = SLOPE_DEG.to_radians().sin_cos();
    let text = format!(
        r#"
        [world]
        duration = "0.25 s"
        time_step = "{step}"
        gravity = ["{} m/s^2", "0 m/s^2", "{} m/s^2"]
        {ground}
        [[body]]
        name = "roller"
        motion = "free"
        mass = "{MASS_KG} kg"
        {}
        at = ["-50 mm", "0 mm", "{} mm"]
        rotate = {{ axis = [1, 0, 0], angle = "90 deg" }}
        [[sensor]]
        name = "pad"
        {sensor}
        "#,
        9.81 * sine,
        -9.81 * cosine,
        roller.keys(),
        1e3 * (RADIUS_M - sunk_m),
    );
    let built = SceneSpec::parse("roll.toml", &text).unwrap().build("roll.toml", None).unwrap();
    let id = built.body("roller").unwrap();
    (built.world, id)
}

/// The depth (m) at which the skin carries the body, so that it does not bounce.
fn depth_at_rest(roller: Roller, step: &str, sensor: &str) -> f64 {
    let (mut low, mut high) = (0.0, 0.5e-3);
    for _ in 0..12 {
        let depth = 0.5 * (low + high);
        let (mut world, _) = scene(roller, depth, step, "", sensor);
        world.step().unwrap();
        let pad = world.sensors().next().unwrap();
        let load = -world.touch(pad).on_sensor.force.z;
        if load < MASS_KG * 9.81 * SLOPE_DEG.to_radians().cos() { low = depth } else { high = depth }
    }
    0.5 * (low + high)
}

/// Mean acceleration (m/s²), from the way that it has rolled; its energy is balanced.
fn acceleration((mut world, id): (World, BodyId)) -> f64 {
    world.track_energy();
    let start = world.pose(id).translation.x;
    world.run_until(DURATION_S, |_| Ok(true)).unwrap();
    let energy = world.energy().unwrap();
    println!("{energy:?} {}", energy.relative_residual());
    assert!(energy.relative_residual().abs() < 0.02, "{}: {energy:?}", energy.relative_residual());
    2.0 * (world.pose(id).translation.x - start) / DURATION_S.powi(2)
}

const GRID: &str = r#"surface.grid = { rows = 8, cols = 20, pitch = "6 mm" }"#;
const COULOMB: &str = r#"friction = { kind = "coulomb", mu = 0.6, regularisation_speed = "1 mm/s" }"#;

fn check(name: &str, roller: Roller, found: f64, expected: f64, tolerance: f64) {
    let error = found / expected - 1.0;
    assert!(error.abs() < tolerance, "{roller:?} on {name}: {found} m/s^2 instead of {expected}");
}

const ROLLERS: [Roller; 4] = [Roller::Cylinder(5e-3), Roller::Cylinder(20e-3), Roller::Cylinder(40e-3), Roller::Sphere];

/// A cylinder of 40 mm accelerated at 0.517 m/s² instead of 1.136: it turned with its transverse moment.
#[test]
fn rollers_on_the_ground_roll_as_rigid_bodies() {
    let far = format!(
        "at = [\"0 mm\", \"500 mm\", \"0 mm\"]\n{GRID}\nskin = {{ kind = \"springs\", stiffness_per_area = \"1 MPa/m\", max_penetration = \"4 mm\" }}"
    );
    for roller in ROLLERS {
        for step in ["0.25 ms", "2 ms"] {
            let solid = scene(roller, 0.0, step, "ground = \"0 mm\"\nground_friction = 0.6", &far);
            assert!(solid.0.body(solid.1).solid);
            check("the ground", roller, acceleration(solid), roller.rigid(), 0.01);
        }
    }
}

#[test]
fn rollers_on_springs_lose_what_friction_takes() {
    let springs = format!(
        "{GRID}\ncontact_points = 12\n[sensor.skin]\nkind = \"springs\"\nstiffness_per_area = \"100 MPa/m\"\nmax_penetration = \"4 mm\"\n{COULOMB}"
    );
    for roller in ROLLERS {
        let expected = roller.on_springs();
        // Explicit, and implicit coupling.
        for step in ["0.2 ms", "1 ms"] {
            let depth = depth_at_rest(roller, step, &springs);
            check("springs", roller, acceleration(scene(roller, depth, step, "", &springs)), expected, 0.01);
        }
    }
}

#[test]
fn rollers_on_a_hydroelastic_skin_lose_what_friction_takes() {
    let skin = format!(
        "{GRID}\n[sensor.skin]\nkind = \"hydroelastic\"\nhydroelastic_modulus = \"400 kPa\"\nthickness = \"4 mm\"\n{COULOMB}"
    );
    for roller in ROLLERS {
        let depth = depth_at_rest(roller, "0.5 ms", &skin);
        // The ends of the shortest cylinder rub too: pressure acts on all sides of what is in the skin.
        let tolerance = if matches!(roller, Roller::Cylinder(length_m) if length_m < 0.01) { 0.02 } else { 0.01 };
        let found = acceleration(scene(roller, depth, "0.5 ms", "", &skin));
        check("a hydroelastic skin", roller, found, roller.on_springs(), tolerance);
    }
}

/// The bristles of a layer stick in the middle of the contact.
#[test]
fn rollers_on_a_layer_roll_as_rigid_bodies() {
    let skin = "surface.grid = { rows = 4, cols = 20, pitch = \"6 mm\" }\n[sensor.skin]\nkind = \"layer\"\nthickness = \"3 mm\"\nyoung = \"1.65 MPa\"\npoisson = 0.2\ncell = \"0.5 mm\"\nmu = 0.6";
    for roller in [Roller::Cylinder(5e-3), Roller::Cylinder(10e-3), Roller::Cylinder(20e-3), Roller::Sphere] {
        let depth = depth_at_rest(roller, "0.2 ms", skin);
        check("a layer", roller, acceleration(scene(roller, depth, "0.2 ms", "", skin)), roller.rigid(), 0.012);
    }
}
