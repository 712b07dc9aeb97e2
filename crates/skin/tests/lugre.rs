//! LuGre compared with stiff-ODE solutions for the parameters of Canudas de Wit et al. 1995 (`golden/lugre`, computed
//! with an implicit Radau method at a relative tolerance of 1e-8).
//!
//! Friction takes the same steps as in the skin; the mass takes the symplectic Euler steps of the rigid-body engine.
//! Not tested here: two-dimensional sliding, which the golden set does not contain.

use dermis_geometry::Vec3;
use dermis_skin::Lugre;
use std::path::Path;

/// The parameters of 1995 under a normal force of 1 N, so that μ are the forces in newtons.
fn lugre_1995() -> Lugre {
    Lugre {
        stiffness_newton_per_m: 1e5,
        damping_newton_s_per_m: 1e5f64.sqrt(),
        viscous_newton_s_per_m: 0.4,
        mu_static: 1.5,
        mu_dynamic: 1.0,
        stribeck_m_per_s: 1e-3,
    }
}

fn table(name: &str) -> Vec<Vec<f64>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/lugre").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

/// A 1 kg mass under an external force, with friction; one step of symplectic Euler.
struct Mass {
    x: f64,
    v: f64,
    z: Vec3,
    friction: f64,
}

impl Mass {
    fn at_rest() -> Self {
        Self { x: 0.0, v: 0.0, z: Vec3::ZERO, friction: 0.0 }
    }

    fn step(&mut self, lugre: &Lugre, external: f64, dt: f64) {
        let (z, force) = lugre.step(self.z, Vec3::X * self.v, 1.0, dt);
        self.z = z;
        self.friction = force.x;
        self.v += dt * (external - self.friction);
        self.x += dt * self.v;
    }
}

fn within(got: f64, truth: f64, tolerance: f64, what: &str) {
    assert!((got - truth).abs() <= tolerance * truth.abs(), "{what}: {got} against {truth}");
}

#[test]
fn steady_sliding_is_the_stribeck_curve() {
    for row in table("steady_state.csv") {
        let velocity = Vec3::X * row[0];
        let (mut z, mut force) = (Vec3::ZERO, Vec3::ZERO);
        for _ in 0..2000 {
            (z, force) = lugre_1995().step(z, velocity, 1.0, 1e-3);
        }
        assert!((force.x - row[1]).abs() < 1e-6, "v = {}: {} against {}", row[0], force.x, row[1]);
    }
}

/// A mass pulled through a 2 N/m spring whose end moves at 0.1 m/s sticks and slips.
#[test]
fn stick_slip_has_the_golden_period_and_length() {
    let (lugre, dt) = (lugre_1995(), 2e-5);
    let mut mass = Mass::at_rest();
    let mut slips = Vec::new();
    let (mut sliding, mut peak_speed, mut peak_force) = (false, 0.0f64, 0.0f64);
    for step in 0..(30.0 / dt) as usize {
        let t = step as f64 * dt;
        mass.step(&lugre, 2.0 * (0.1 * t - mass.x), dt);
        peak_speed = peak_speed.max(mass.v);
        peak_force = peak_force.max(mass.friction);
        if mass.v > 0.05 && !sliding {
            slips.push((t, mass.x));
        }
        sliding = if sliding { mass.v > 0.01 } else { mass.v > 0.05 };
    }
    let golden = table("stick_slip.csv");
    let golden_peak_speed = golden.iter().map(|row| row[3]).fold(0.0, f64::max);
    let golden_peak_force = golden.iter().map(|row| row[4]).fold(0.0, f64::max);
    // The golden table is sampled every 20 ms: its slips are detected in the same way, to within a sample.
    let mut golden_slips = Vec::new();
    let mut sliding = false;
    for row in &golden {
        if row[3] > 0.05 && !sliding {
            golden_slips.push((row[0], row[2]));
        }
        sliding = if sliding { row[3] > 0.01 } else { row[3] > 0.05 };
    }
    assert!(slips.len() >= 4 && golden_slips.len() >= 4);
    within(slips[3].0 - slips[1].0, golden_slips[3].0 - golden_slips[1].0, 0.01, "two periods (s)");
    within(slips[2].0 - slips[1].0, 6.36, 0.01, "period (s)");
    within(slips[3].1 - slips[2].1, 0.636, 0.01, "slip length (m)");
    within(slips[0].0, golden_slips[0].0, 0.01, "first slip (s)");
    within(peak_speed, golden_peak_speed, 0.01, "peak speed (m/s)");
    within(peak_force, golden_peak_force, 0.01, "peak friction (N)");
}

#[test]
fn presliding_moves_and_returns_as_the_golden_curve() {
    let corners =
        [(0.0, 0.0), (10.0, 1.425), (15.0, 1.425), (35.0, -1.425), (40.0, -1.425), (60.0, 1.425), (65.0, 1.425)];
    let applied = |t: f64| {
        let after = corners.iter().position(|&(time, _)| time >= t).unwrap_or(corners.len() - 1).max(1);
        let ((t0, u0), (t1, u1)) = (corners[after - 1], corners[after]);
        u0 + (u1 - u0) * (t - t0) / (t1 - t0)
    };
    let golden = table("presliding.csv");
    let swing = golden.iter().map(|row| row[2].abs()).fold(0.0, f64::max);
    let (lugre, dt) = (lugre_1995(), 1e-4);
    let mut mass = Mass::at_rest();
    let mut worst = 0.0f64;
    let mut next = 1;
    for step in 1..=(65.0 / dt) as usize {
        mass.step(&lugre, applied((step - 1) as f64 * dt), dt);
        let t = step as f64 * dt;
        if next < golden.len() && t >= golden[next][0] - 0.5 * dt {
            worst = worst.max((mass.x - golden[next][2]).abs());
            next += 1;
        }
    }
    assert_eq!(next, golden.len());
    assert!(worst < 0.01 * swing, "off by {worst} m of a swing of {swing} m");
}

/// The breakaway force decreases with the rate of the applied force.
#[test]
fn breakaway_falls_with_the_rate_of_force() {
    for row in table("breakaway_peak_friction.csv") {
        let (rate, golden) = (row[0], row[1]);
        let (lugre, dt) = (lugre_1995(), 1e-6);
        let mut mass = Mass::at_rest();
        let mut peak = 0.0f64;
        for step in 0..(2.0 / rate / dt) as usize {
            mass.step(&lugre, rate * step as f64 * dt, dt);
            peak = peak.max(mass.friction);
        }
        within(peak, golden, 0.01, &format!("peak friction at {rate} N/s"));
    }
}

/// Area of the loop in the force–velocity plane under a prescribed, unidirectional oscillation.
#[test]
fn hysteresis_loops_have_the_golden_area() {
    let area = |points: &[(f64, f64)]| {
        let turned = |i: usize| {
            let ((v0, f0), (v1, f1)) = (points[i], points[(i + 1) % points.len()]);
            0.5 * (v0 * f1 - v1 * f0)
        };
        (0..points.len()).map(turned).sum::<f64>().abs()
    };
    for (name, omega) in [("hysteresis_w1.csv", 1.0), ("hysteresis_w10.csv", 10.0), ("hysteresis_w25.csv", 25.0)] {
        let golden: Vec<(f64, f64)> = table(name).iter().map(|row| (row[1], row[2])).collect();
        // The velocity is constant over a step, so the loop lags by half a step, which must be small compared with 1/a
        // = 10 ms.
        let steps = (std::f64::consts::TAU / omega / 2e-5) as usize;
        let dt = std::f64::consts::TAU / omega / steps as f64;
        let mut z = Vec3::ZERO;
        let mut points = Vec::with_capacity(steps);
        for step in 0..4 * steps {
            let v = 1e-3 * ((omega * step as f64 * dt).cos() + 1.5);
            let force;
            (z, force) = lugre_1995().step(z, Vec3::X * v, 1.0, dt);
            if step >= 3 * steps {
                points.push((v, force.x));
            }
        }
        within(area(&points), area(&golden), 0.01, &format!("loop area at {omega} rad/s"));
    }
}

/// At steps for which the explicit update diverges (σ₀|v|Δt far above g), the exact update reaches steady sliding.
#[test]
fn a_huge_step_is_stable() {
    let (z, force) = lugre_1995().step(Vec3::ZERO, Vec3::X * 1.0, 1.0, 1.0);
    assert!((z.x - 1e-5).abs() < 1e-12 && (force.x - 1.4).abs() < 1e-9, "{z} {force}");
}

/// Passivity of the bristles: over a closed path the work against friction is never negative.
#[test]
fn friction_takes_energy_on_closed_paths() {
    let lugre = Lugre { viscous_newton_s_per_m: 200.0, ..lugre_1995() };
    assert!(lugre.is_provably_passive());
    let dt = 1e-5;
    for (omega, size) in [(1.0, 1e-6), (10.0, 1e-5), (100.0, 1e-4)] {
        let mut z = Vec3::ZERO;
        let mut work = 0.0;
        for step in 0..(2.0 * std::f64::consts::TAU / omega / dt) as usize {
            let t = step as f64 * dt;
            let v = Vec3::new((omega * t).sin(), (2.0 * omega * t).cos(), 0.0) * (size * omega);
            let force;
            (z, force) = lugre.step(z, v, 1.0, dt);
            work += force.dot(v) * dt;
        }
        assert!(work > 0.0, "{work}");
    }
}
