//! What a gripper has carried.

use super::Recording;
use dermis_world::Phase;
use serde::Serialize;

/// The outcome of a gripper's task for the body that it was to carry: the free body that rose most, or the first one.
///
/// ```
/// # use dermis::run::{Continue, run};
/// # use dermis::scene::SceneSpec;
/// # let text = r#"
/// # world.duration = "20 ms"
/// # sensor = [{ name = "pad", preset = "uji-foam-14x6" }]
/// # [[body]]
/// # name = "ball"
/// # motion = "driven"
/// # shape.sphere.radius = "10 mm"
/// # at = ["0 mm", "0 mm", "9 mm"]
/// # "#;
/// let mut built = SceneSpec::parse("press.toml", text)?.build("press.toml", None)?;
/// assert!(run(&mut built, &mut |_| Continue::Yes)?.carried().is_none()); // without a gripper
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Carried {
    /// The body.
    pub body: String,
    /// How far it rose above its first place (m).
    pub lifted_m: f64,
    /// How far the fingers rose with it or without it (m).
    pub hand_lifted_m: f64,
    /// Distance of its last place from the first (m).
    pub from_start_m: f64,
}

/// Part of the way of the hand that a body must follow to count as lifted.
const LIFTED: f64 = 0.5;

impl Carried {
    /// Whether the body went up with the hand.
    pub fn is_lifted(&self) -> bool {
        self.lifted_m > LIFTED * self.hand_lifted_m && self.hand_lifted_m > 0.0
    }
}

impl Recording {
    /// The outcome of a gripper's task; `None` without one, before the fingers have closed, or without a free body.
    pub fn carried(&self) -> Option<Carried> {
        let (start_s, _) = self.phases.iter().find(|(_, phase)| *phase == Phase::Lift)?;
        let first = self.times_s.iter().rposition(|time_s| time_s <= start_s)?;
        let rise = |track: &super::BodyTrack| {
            let heights = track.poses[first..].iter().map(|pose| pose.translation.z);
            heights.fold(f64::MIN, f64::max) - track.poses[first].translation.z
        };
        let hand_lifted_m = self.bodies.iter().filter(|track| track.is_of_hand).map(rise).fold(0.0, f64::max);
        let free = self.bodies.iter().filter(|track| track.is_object);
        let track = free.reduce(|best, track| if rise(track) > rise(best) { track } else { best })?;
        let (from, to) = (track.poses.first()?.translation, track.poses.last()?.translation);
        Some(Carried {
            body: track.name.clone(),
            lifted_m: rise(track),
            hand_lifted_m,
            from_start_m: (to - from).length(),
        })
    }
}
