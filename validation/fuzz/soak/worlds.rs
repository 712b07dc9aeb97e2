//! Scenes for an hour of simulated time: bodies that rest or are held neither drift nor gain energy.

use dermis::geometry::{Pose, Quat};
use dermis::scene::{Built, SceneSpec};
use dermis::world::{BodyId, BodyKind};
use std::time::Instant;

/// Head of the table of [`soak`].
pub const HEAD: &str = "Scenes, for an hour of simulated time. Drift is the largest distance and angle of a free body from its pose after 20 s; energy is the largest gain since then, kinetic and potential, as a height to which it could lift the bodies (limits: 10 µm, 0.1°, 1 µm).

| scene | steps | drift (µm) | rotation (°) | energy (µm of lift) | largest speed (µm/s) | time (s) |
|---|---|---|---|---|---|---|
";

/// A scene file, with replaced parts.
pub struct Scene {
    /// Name on the command line.
    pub name: &'static str,
    text: &'static str,
    replaced: &'static [(&'static str, &'static str)],
}

const DEMO: &str = include_str!("../../../apps/cli/scenes/demo.toml");

/// A weight as in the guide, and flat: on soft foam, one of 20 mm that weighs as much falls over.
const WEIGHT: &str = r#"
[world]
duration = "1 s"
time_step = "1 ms"

[[body]]
name = "weight"
motion = "free"
mass = "500 g"
shape.cylinder = { radius = "10 mm", length = "6 mm" }
at = ["0 mm", "0 mm", "3 mm"]

[[sensor]]
name = "scale"
preset = "uji-foam-14x6"
"#;

/// All scenes: the demonstration while the gripper holds the ball and after it has let go, a weight on a sensor, and a cube
/// that falls on a sensor.
pub static SCENES: [Scene; 4] = [
    Scene {
        name: "demo-held",
        text: DEMO,
        replaced: &[("hold_time = \"0.5 s\"", "hold_time = \"70 min\""), LONGER_STEPS],
    },
    Scene { name: "demo-done", text: DEMO, replaced: &[LONGER_STEPS] },
    Scene { name: "weight", text: WEIGHT, replaced: &[] },
    Scene { name: "cube", text: include_str!("../../ros/scene.toml"), replaced: &[] },
];

/// Contact forces of the end of a step then: an hour takes a seventh of the time.
const LONGER_STEPS: (&str, &str) = ("time_step = \"0.15 ms\"", "time_step = \"1 ms\"");

/// Simulated time (s), and the part before the reference.
const DURATION_S: f64 = 3600.0;
const SETTLED_S: f64 = 20.0;
/// Limits: drift (m), rotation (rad), energy by weight (m).
const MAX_DRIFT_M: f64 = 10e-6;
const MAX_ROTATION: f64 = 0.1 * std::f64::consts::PI / 180.0;
const MAX_LIFT_M: f64 = 1e-6;
/// Time between two comparisons (s).
const EVERY_S: f64 = 0.05;

/// The free bodies of a scene, without those of its gripper.
struct Bodies(Vec<BodyId>);

impl Bodies {
    fn of(built: &Built, spec: &SceneSpec) -> Self {
        let world = &built.world;
        let is_free = |id: &BodyId| {
            let body = world.body(*id);
            matches!(body.kind, BodyKind::Free(_)) && spec.bodies.iter().any(|own| own.name == body.name)
        };
        Self(world.bodies().filter(is_free).collect())
    }

    /// Energy by weight (m), and the largest speed (m/s).
    fn energy(&self, built: &Built) -> (f64, f64) {
        let (mut joule, mut weight, mut max_speed) = (0.0, 0.0, 0.0f64);
        let gravity = built.world.parameters().gravity;
        for id in &self.0 {
            let BodyKind::Free(mass) = &built.world.body(*id).kind else { continue };
            let (pose, velocity) = (built.world.pose(*id), built.world.velocity(*id));
            let arm = pose.transform_vector(mass.center_m);
            let (center, speed) = (pose.translation + arm, velocity.at(arm));
            let spin = pose.rotation.inverse() * velocity.angular;
            let kinetic = 0.5 * mass.mass_kg * speed.length_squared() + 0.5 * spin.dot(mass.inertia_kg_m2 * spin);
            joule += kinetic - mass.mass_kg * gravity.dot(center);
            weight += mass.mass_kg * gravity.length();
            max_speed = max_speed.max(speed.length());
        }
        (joule / weight, max_speed)
    }

    fn poses(&self, built: &Built) -> Vec<Pose> {
        self.0.iter().map(|id| built.world.pose(*id)).collect()
    }
}

fn angle(a: Quat, b: Quat) -> f64 {
    2.0 * (a.inverse() * b).xyz().length().min(1.0).asin()
}

/// Runs a scene; returns its row of the table.
pub fn soak(scene: &Scene, scale: f64) -> Result<String, String> {
    let start = Instant::now();
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", scene.name);
    let mut text = scene.text.to_owned();
    for (old, new) in scene.replaced {
        if !text.contains(old) {
            return Err(failed(&format!("the scene has no {old}")));
        }
        text = text.replace(old, new);
    }
    let spec = SceneSpec::parse(scene.name, &text).map_err(|error| failed(&error))?;
    let mut built = spec.build(scene.name, None).map_err(|error| failed(&error))?;
    let bodies = Bodies::of(&built, &spec);
    let step_s = built.world.parameters().step_s;
    let steps = |time_s: f64| (time_s / step_s).round() as u64;
    let advance =
        |built: &mut Built, count: u64| (0..count).try_for_each(|_| built.step()).map_err(|error| failed(&error));
    advance(&mut built, steps(SETTLED_S))?;
    let (first, (first_m, _)) = (bodies.poses(&built), bodies.energy(&built));
    let (mut drift, mut rotation, mut lift, mut speed) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
    let end = steps(SETTLED_S + (DURATION_S - SETTLED_S) * scale);
    while built.world.steps() < end {
        advance(&mut built, steps(EVERY_S))?;
        for (then, now) in first.iter().zip(bodies.poses(&built)) {
            if !now.is_finite() {
                return Err(failed(&format!("a pose is not finite after {} s", built.world.time_s())));
            }
            drift = drift.max((now.translation - then.translation).length());
            rotation = rotation.max(angle(then.rotation, now.rotation));
        }
        let (now_m, fastest) = bodies.energy(&built);
        (lift, speed) = (lift.max(now_m - first_m), speed.max(fastest));
    }
    let row = format!(
        "| {} | {:.2e} | {:.2e} | {:.2e} | {:.2e} | {:.2e} | {:.0} |\n",
        scene.name,
        built.world.steps() as f64,
        1e6 * drift,
        rotation.to_degrees(),
        1e6 * lift,
        1e6 * speed,
        start.elapsed().as_secs_f64()
    );
    if drift > MAX_DRIFT_M || rotation > MAX_ROTATION || lift > MAX_LIFT_M {
        return Err(format!("{} drifts or gains energy: {row}", scene.name));
    }
    Ok(row)
}
