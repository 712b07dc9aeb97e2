//! Random contacts of every skin.
//!
//! A walk moves a random object over a sensor: poses, twists and time steps are random, some steps teleport it, and its size
//! is 1 nm to 10 m. After each step all loads are finite, action equals reaction, and taxels plus `outside` are the load. Some
//! steps are repeated from the state after a trip through JSON, and some walks with two threads: the bytes are the same. Closed
//! paths that start and end without contact take energy from the object, and give none.

use dermis::geometry::{Pose, Primitive, Quat, Random, TriMesh, Twist, Vec3, shapes};
use dermis::sensor::{Sensor, SensorSpec};
use dermis::skin::{Motion, Object, State, Target, Touch};
use std::time::Instant;

/// Head of the table of [`soak`].
pub const HEAD: &str = "Residuals are the worst ones, by the sum of the sizes of all forces; energy is the part of the exchanged work that a ball gains on a closed path (negative: it loses).

| skin | steps | touching | refused in words | force balance | taxels | energy of closed paths | JSON round trips | walks on 1 and 2 threads | time (s) |
|---|---|---|---|---|---|---|---|---|---|
";

/// One skin with the number of its steps.
pub struct Case {
    name: &'static str,
    skin: &'static str,
    /// Contact points, if steps are counted for each of them.
    sites: f64,
    steps: f64,
    /// The largest residuals: of the balance of forces, of the taxels, and of the energy of a closed path.
    bounds: [f64; 3],
}

impl Case {
    /// The kind of its skin.
    pub fn kind(&self) -> &'static str {
        self.name.split(' ').next().unwrap_or_default()
    }
}

/// All skins.
pub static CASES: [Case; 4] = [
    Case {
        name: "springs (site-steps)",
        skin: "kind = \"springs\"\nstiffness_per_area = \"4e6 Pa/m\"\ndamping_per_area = \"4e4 Pa s/m\"\nmax_penetration = \"3 mm\"\n\
               [skin.friction]\nkind = \"lugre\"\nsigma0 = \"10 N/m\"\nsigma1 = \"0.02 N s/m\"\nviscous = \"0 N s/m\"\nmu_static = 0.5\n\
               mu_dynamic = 0.3\nstribeck_speed = \"0.3 m/s\"\n",
        sites: 576.0,
        steps: 1e9,
        bounds: [1e-9, 1e-9, 1e-2],
    },
    Case {
        name: "hydroelastic",
        skin: "kind = \"hydroelastic\"\nhydroelastic_modulus = \"1 MPa\"\nthickness = \"3 mm\"\n",
        sites: 1.0,
        steps: 1e7,
        bounds: [1e-9, 1e-9, 1e-2],
    },
    Case {
        name: "layer",
        skin: "kind = \"layer\"\nthickness = \"3 mm\"\nyoung = \"200 kPa\"\npoisson = 0.4\ncell = \"1 mm\"\nmu = 0.5\n",
        sites: 1.0,
        steps: 1e6,
        bounds: [1e-9, 1e-9, 5e-2],
    },
    Case {
        name: "gel",
        skin: "kind = \"gel\"\nthickness = \"3 mm\"\nyoung = \"200 kPa\"\npoisson = 0.4\ncell = \"2 mm\"\nmass_scaling = 1e4\n",
        sites: 1.0,
        steps: 1e4,
        bounds: [1e-9, 1e-9, 5e-2],
    },
];

/// The worst values of a case.
#[derive(Default)]
struct Worst {
    steps: u64,
    touching: u64,
    refused: u64,
    round_trips: u64,
    paths: u64,
    walks_with_two_threads: u64,
    balance: f64,
    taxels: f64,
    energy: f64,
}

impl Worst {
    /// The worst values of two workers.
    fn with(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            touching: self.touching + other.touching,
            refused: self.refused + other.refused,
            round_trips: self.round_trips + other.round_trips,
            paths: self.paths + other.paths,
            walks_with_two_threads: self.walks_with_two_threads + other.walks_with_two_threads,
            balance: self.balance.max(other.balance),
            taxels: self.taxels.max(other.taxels),
            energy: self.energy.max(other.energy),
        }
    }

    fn row(&self, case: &Case, seconds: f64) -> String {
        let Self { touching, refused, balance, taxels, energy, paths, round_trips, walks_with_two_threads, .. } = self;
        let (steps, [a, b, c]) = (self.steps as f64 * case.sites, case.bounds);
        format!(
            "| {} | {steps:.3e} | {touching} | {refused} | {balance:.1e} (limit {a:.0e}) | {taxels:.1e} (limit {b:.0e}) | \
             {energy:.1e} of {paths} (limit {c:.0e}) | {round_trips} | {walks_with_two_threads} | {seconds:.0} |\n",
            case.name
        )
    }
}

fn sensor(case: &Case) -> Result<Sensor, String> {
    let points = if case.sites > 1.0 { "contact_points = 4\n" } else { "" };
    let text = format!(
        "name = \"pad\"\n{points}surface.grid = {{ rows = 6, cols = 6, pitch = \"2 mm\" }}\n[skin]\n{}",
        case.skin
    );
    let spec = SensorSpec::parse(case.name, &text).map_err(|error| error.to_string())?;
    spec.build(None).map_err(|error| error.to_string())
}

fn pick(random: &mut Random, count: u32) -> u32 {
    random.next_u32() % count
}

/// Size (m): mostly that of a fingertip, sometimes 1 nm to 10 m.
fn size_m(random: &mut Random) -> f64 {
    if pick(random, 4) == 0 { 10f64.powf(random.between(-9.0, 1.0)) } else { random.between(1e-3, 8e-3) }
}

/// A sphere in closed form or as a mesh, a box, also inside out, or a soup of triangles: needles, duplicates, inverted ones.
fn object(random: &mut Random) -> Option<Object> {
    let size = size_m(random);
    match pick(random, 32) {
        0 => Object::of_primitive(Primitive::Sphere { radius_m: size }, 0.4 * size).ok(),
        1..=14 => shapes::sphere(size, 0.4 * size).ok().map(Object::new),
        15..=20 => shapes::cuboid(Vec3::new(size, 0.5 * size, 2.0 * size)).ok().map(Object::new),
        21 | 22 => {
            let cuboid = shapes::cuboid(Vec3::splat(size)).ok()?;
            let inverted = cuboid.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
            TriMesh::new("inverted", cuboid.vertices().to_vec(), inverted).ok().map(Object::new)
        }
        _ => {
            let mut vertices = Vec::new();
            let mut triangles: Vec<[u32; 3]> = Vec::new();
            for _ in 0..1 + pick(random, 20) {
                let first = vertices.len() as u32;
                let thin = 10f64.powf(random.between(-8.0, 0.0));
                let corner = |random: &mut Random| random.direction() * size * random.uniform();
                let (a, b) = (corner(random), corner(random));
                vertices.extend([a, b, a + (b - a) * 0.5 + corner(random) * thin]);
                triangles.push([first, first + 1, first + 2]);
                match pick(random, 4) {
                    0 => triangles.push([first, first + 1, first + 2]),
                    1 => triangles.push([first, first + 2, first + 1]),
                    _ => (),
                }
            }
            TriMesh::without_degenerates("soup", vertices, triangles).ok().map(Object::new)
        }
    }
}

fn rotation(random: &mut Random) -> Quat {
    Quat::from_axis_angle(random.direction(), random.between(0.0, std::f64::consts::PI))
}

/// A pose near or in the skin.
fn pose(random: &mut Random, object: &Object) -> Pose {
    let rotation = rotation(random);
    let lowest = (rotation * object.surface.support(rotation.inverse() * Vec3::NEG_Z)).z;
    let depth = random.between(-0.3e-3, 1.2e-3);
    Pose::new(rotation, Vec3::new(random.between(-7e-3, 7e-3), random.between(-7e-3, 7e-3), -lowest - depth))
}

/// Refuses what a step must never give.
fn check(case: &Case, sensor: &Sensor, touch: &Touch, worst: &mut Worst) -> Result<(), String> {
    let (force, torque) = (touch.on_sensor.force, touch.on_sensor.torque);
    let facets: f64 = touch.facets.iter().map(|facet| facet.force_on_sensor().length()).sum();
    if !force.is_finite() || !torque.is_finite() || !facets.is_finite() {
        return Err(format!("{}: a load is not finite: {force} {torque}", case.name));
    }
    let scale = facets.max(force.length());
    if scale < 1e-12 {
        return Ok(());
    }
    worst.touching += 1;
    let objects: Vec3 = touch.on_objects.iter().map(|wrench| wrench.force).sum();
    let balance = (force + objects).length() / scale;
    let reading = sensor.read(touch);
    let taxels = (reading.forces_newton.iter().sum::<Vec3>() + reading.outside_newton - force).length() / scale;
    worst.balance = worst.balance.max(balance);
    worst.taxels = worst.taxels.max(taxels);
    if !(balance <= case.bounds[0] && taxels <= case.bounds[1]) {
        return Err(format!("{}: action and reaction differ by {balance:e}, taxels and load by {taxels:e}", case.name));
    }
    Ok(())
}

/// A walk of random steps; returns the bits of its loads.
fn walk(case: &Case, sensor: &Sensor, seed: u64, steps: u32, worst: &mut Worst) -> Result<Vec<u64>, String> {
    let mut random = Random::new(seed);
    let Some(object) = object(&mut random) else { return Ok(Vec::new()) };
    let (mut state, mut bits) = (sensor.skin().rest(), Vec::new());
    let mut at = pose(&mut random, &object);
    let dt_s = if pick(&mut random, 8) == 0 { 10f64.powf(random.between(-9.0, 2.0)) } else { 1e-3 };
    for step in 0..steps {
        let velocity = Twist {
            linear: random.direction() * random.between(0.0, 0.05),
            angular: random.direction() * random.between(0.0, 2.0),
        };
        if pick(&mut random, 16) == 0 {
            at = pose(&mut random, &object);
        } else {
            at.translation += velocity.linear * dt_s.min(1e-2);
        }
        let motion = Motion { targets: &[Target { object: &object, sensor_from_object: at, velocity }] };
        worst.steps += 1;
        let Ok((touch, next)) = sensor.touch(&state, &motion, dt_s) else {
            // Said in words: such as an object beyond the range of the skin.
            worst.refused += 1;
            return Ok(bits);
        };
        check(case, sensor, &touch, worst)?;
        bits.extend(touch.on_sensor.force.to_array().map(f64::to_bits));
        if step % 16 == 7 {
            let text = serde_json::to_string(&state).map_err(|error| error.to_string())?;
            let read: State = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            let again = sensor.touch(&read, &motion, dt_s).map_err(|error| error.to_string())?;
            if again.0 != touch || again.1 != next {
                return Err(format!("{}, seed {seed}: a state changed on its way through JSON", case.name));
            }
            worst.round_trips += 1;
        }
        state = next;
    }
    for wrong in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
        let motion = Motion { targets: &[Target::at_rest(&object, at)] };
        if sensor.touch(&state, &motion, wrong).is_ok_and(|(touch, _)| !touch.on_sensor.force.is_finite()) {
            return Err(format!("{}: a step of {wrong} s gives a load that is not finite", case.name));
        }
    }
    Ok(bits)
}

/// A ball goes down, around and up again; the share of the exchanged work that it gains.
fn path(case: &Case, sensor: &Sensor, seed: u64, worst: &mut Worst) -> Result<(), String> {
    const STEPS: u32 = 200;
    let mut random = Random::new(seed);
    let radius = random.between(3e-3, 6e-3);
    // Exact balls take the hydroelastic skin milliseconds a step: one of four.
    let ball = match worst.paths % 4 {
        0 => Object::of_primitive(Primitive::Sphere { radius_m: radius }, 0.3 * radius),
        _ => shapes::sphere(radius, 0.3 * radius).map(Object::new),
    };
    let ball = ball.map_err(|error| error.to_string())?;
    let (depth, side) = (random.between(0.1e-3, 0.5e-3), random.between(0.0, 0.5e-3));
    let (x, y) = (random.between(-2e-3, 2e-3), random.between(-2e-3, 2e-3));
    let duration_s = random.between(0.2, 2.0);
    let place = |part: f64| {
        let angle = part * std::f64::consts::TAU;
        let down = (depth + 0.05e-3) * 0.5 * (1.0 - angle.cos()) - 0.05e-3;
        Vec3::new(x + side * angle.sin(), y + side * (2.0 * angle).sin(), radius - down)
    };
    let (mut state, mut last) = (sensor.skin().rest(), Vec3::ZERO);
    let (mut gained, mut exchanged, dt_s) = (0.0, 0.0, duration_s / f64::from(STEPS));
    for step in 1..=STEPS {
        let (from, to) = (place(f64::from(step - 1) / f64::from(STEPS)), place(f64::from(step) / f64::from(STEPS)));
        let velocity = Twist { linear: (to - from) / dt_s, angular: Vec3::ZERO };
        let motion =
            Motion { targets: &[Target { object: &ball, sensor_from_object: Pose::from_translation(to), velocity }] };
        let (touch, next) = sensor.touch(&state, &motion, dt_s).map_err(|error| error.to_string())?;
        check(case, sensor, &touch, worst)?;
        let force = -touch.on_sensor.force;
        let work = 0.5 * (force + last).dot(to - from);
        gained += work;
        exchanged += work.abs();
        (state, last) = (next, force);
        worst.steps += 1;
    }
    worst.paths += 1;
    if exchanged > 0.0 {
        worst.energy = worst.energy.max(gained / exchanged);
    }
    if worst.energy > case.bounds[2] {
        return Err(format!("{}, seed {seed}: a closed path gains {:e} of its work", case.name, worst.energy));
    }
    Ok(())
}

/// The walks and paths of one worker: seeds `first`, `first + stride` … until `steps` are done.
fn work(case: &Case, steps: u64, first: u64, stride: u64) -> Result<Worst, String> {
    let pool =
        |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| error.to_string());
    let (one, two, sensor) = (pool(1)?, pool(2)?, sensor(case)?);
    let mut worst = Worst { energy: -1.0, ..Worst::default() };
    let (mut seed, mut count) = (first, 0);
    while worst.steps < steps {
        let of_seed = |error: String| format!("{error} (seed {seed})");
        let bits = one.install(|| walk(case, &sensor, seed, 64, &mut worst)).map_err(of_seed)?;
        count += 1;
        if count % 8 == 0 {
            let again = two.install(|| walk(case, &sensor, seed, 64, &mut Worst::default())).map_err(of_seed)?;
            if again != bits {
                return Err(format!("{}, seed {seed}: two threads give other bytes than one", case.name));
            }
            worst.walks_with_two_threads += 1;
        }
        if count % 64 == 0 {
            one.install(|| path(case, &sensor, seed, &mut worst)).map_err(of_seed)?;
        }
        seed += stride;
    }
    Ok(worst)
}

/// Soaks one skin on several workers; returns its row of the table. Each part has seeds of its own.
pub fn soak(case: &Case, scale: f64, part: u64, workers: u64) -> Result<String, String> {
    let (start, base) = (Instant::now(), part << 40);
    let steps = (case.steps * scale / case.sites / workers as f64).ceil() as u64;
    let all: Vec<Result<Worst, String>> = std::thread::scope(|scope| {
        let started: Vec<_> =
            (1..=workers).map(|first| scope.spawn(move || work(case, steps, base + first, workers))).collect();
        let died = |_| Err(format!("{}: a worker panicked", case.name));
        started.into_iter().map(|worker| worker.join().unwrap_or_else(died)).collect()
    });
    let first = Worst { energy: -1.0, ..Worst::default() };
    let worst = all.into_iter().try_fold(first, |worst, next| Ok::<_, String>(worst.with(next?)))?;
    Ok(worst.row(case, start.elapsed().as_secs_f64()))
}
