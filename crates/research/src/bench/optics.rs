//! Time from a pose to a camera image.

use super::cpu_clock::best_cpu_nanoseconds as nanoseconds;
use dermis::geometry::shapes::sphere;
use dermis::geometry::{Pose, Vec3};
use dermis::sensor::optics::{Light, Optics, Relief};
use dermis::sensor::{Sensor, SensorSpec};
use dermis::skin::{Motion, Object, State, Target, Touch};
use std::collections::BTreeMap;
use std::hint::black_box;

/// A ball of 4 mm radius, pressed by a millimetre into the middle of a preset.
struct Case {
    sensor: Sensor,
    ball: Object,
}

impl Case {
    fn new(preset: &str) -> Option<Self> {
        let sensor = SensorSpec::find(preset).ok()?.0.build(None).ok()?;
        Some(Self { sensor, ball: Object::new(sphere(4e-3, 0.1e-3).ok()?) })
    }

    /// The touch at rest at a depth (m), from a state.
    fn settle(&self, state: &State, depth_m: f64) -> Option<(Touch, State)> {
        let pose = Pose::from_translation(Vec3::new(0.0, 0.0, 4e-3 - depth_m));
        let target = Target::at_rest(&self.ball, pose);
        self.sensor.skin().settle(state, &Motion { targets: &[target] }).ok()
    }
}

/// Runs on one core.
pub(super) fn run() -> BTreeMap<String, f64> {
    match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(measure),
        Err(_) => measure(),
    }
}

fn measure() -> BTreeMap<String, f64> {
    let mut numbers = BTreeMap::new();
    for preset in ["gelsight", "gelsight-mini"] {
        let Some(case) = Case::new(preset) else { continue };
        let (Some((touch, state)), Some(optics)) =
            (case.settle(&case.sensor.skin().rest(), 1e-3), case.sensor.optics())
        else {
            continue;
        };
        let Some(surface) = &touch.surface else { continue };
        let mut keep = |name: &str, ns: f64| numbers.insert(format!("{preset}_{name}_ms"), ns * 1e-6);
        let relief = Relief::of(surface, optics.camera());
        let depth = nanoseconds(|_| {
            black_box(Relief::of(black_box(surface), optics.camera()));
        });
        let light = nanoseconds(|_| {
            black_box(shaded(optics, black_box(&relief)));
        });
        keep("depth", depth);
        keep("light", light);
        keep("depth_and_light", depth + light);
        let from_rest = nanoseconds(|step| pose_to_rgb(&case, &case.sensor.skin().rest(), step));
        keep("pose_to_rgb_from_rest", from_rest);
        let moving = nanoseconds(|step| pose_to_rgb(&case, &state, step));
        keep("pose_to_rgb_moving", moving);
    }
    numbers
}

fn shaded(optics: &Optics, relief: &Relief) -> dermis::sensor::optics::FloatImage {
    match optics.light() {
        Light::Phong(phong) => phong.shade(relief),
        Light::Calibrated(calibrated) => calibrated.shade(relief, None),
    }
}

/// The full chain: height field, contact, surface, depth, light, 8 bits. The depth differs slightly from step to step.
fn pose_to_rgb(case: &Case, state: &State, step: usize) {
    let depth_m = 1e-3 + 1e-6 * (step % 7) as f64;
    if let Some((touch, _)) = case.settle(state, depth_m)
        && let Ok(frame) = case.sensor.render(&touch, 0)
    {
        black_box(frame.image.to_rgb8());
    }
}
