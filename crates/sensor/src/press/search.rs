//! Search for the depth of a press.

use super::{Aim, Goal, PressError, allowed, first_contact, millimetres};
use crate::Sensor;
use dermis_geometry::{Pose, Vec3};
use dermis_skin::{Object, Warning};

/// Relative width at which the bracket of the depth has converged.
const BRACKET_TOLERANCE: f64 = 1e-14;
/// Maximum number of trials.
const MAX_TRIALS: usize = 80;
/// Relative error of the force beyond which a press has not reached it.
const MAX_MISS: f64 = 0.01;

/// A press along −z, whose depth is searched by trials: hold the object at the pose of [`PressSearch::trial`] and pass the
/// force to [`PressSearch::found`], until there is no further trial. A press to a depth takes one trial.
///
/// False position (Illinois method), with bisection where it stalls: the force of a skin increases with depth, not always
/// smoothly. A skin with a history starts each trial from the state of the last [`Trial::Weaker`], so that it is only
/// loaded, never unloaded, and an expensive solver starts warm.
///
/// ```
/// use dermis_sensor::{Aim, Goal, PressSearch, press, press_to_pose};
/// # use dermis_skin::Object;
/// # let sensor = dermis_sensor::presets::find("wts0614")?.build(None)?;
/// # let ball = Object::new(dermis_geometry::shapes::sphere(0.010, 0.001)?);
/// let mut search = PressSearch::new(&sensor, &ball, &Aim::default(), Goal::Force(2.0))?;
/// while let Some((pose, _)) = search.trial() {
///     search.found(-press_to_pose(&sensor, &ball, &pose)?.touch.on_sensor.force.z);
/// }
/// let (_, depth_m) = search.end(&sensor, &ball)?;
/// assert_eq!(depth_m, press(&sensor, &ball, &Aim::default(), Goal::Force(2.0))?.depth_m);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PressSearch {
    contact: Pose,
    /// The force to reach (N); `None` for a depth.
    goal_n: Option<f64>,
    max_m: f64,
    /// Relative error of the force at which the search ends.
    precision: f64,
    trial_m: Option<f64>,
    best_m: Option<f64>,
    /// The force (N) of the last trial.
    last_n: f64,
    trials: usize,
    is_from_rest: bool,
    /// Depth and missing force, negative, of the deepest trial below the force.
    low: (f64, f64),
    bracket: Option<Bracket>,
}

/// The upper end of the depths between which the force is reached, at the best depth.
#[derive(Clone, Copy, Debug)]
struct Bracket {
    /// Excess of force (N) there; negative if the search ended just below the force.
    excess_n: f64,
    /// The same, halved each time the end is retained.
    weighted_n: f64,
    /// True if the last trial moved this end.
    has_moved: Option<bool>,
    width_m: f64,
    /// Number of trials that did not halve the width.
    stalled: usize,
}

/// What a trial was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trial {
    /// Below the force: later trials are deeper.
    Weaker,
    /// The best one so far.
    Best,
}

impl PressSearch {
    /// A press from first contact. Returns an error in the cases in which [`super::press`] returns one before the skin is
    /// touched.
    pub fn new(sensor: &Sensor, object: &Object, aim: &Aim, goal: Goal) -> Result<Self, PressError> {
        let (what, got, unit) = match goal {
            Goal::Depth(depth_m) => ("depth", depth_m * 1e3, "mm"),
            Goal::Force(force_n) => ("force", force_n, "N"),
        };
        if !(got > 0.0 && got.is_finite()) {
            return Err(PressError::BadGoal { what, got, unit });
        }
        let contact = first_contact(sensor, object, aim)?;
        let whole_m = sensor.skin().max_depth_m();
        let max_m = allowed(sensor, whole_m)?;
        let search = Self { max_m, precision: sensor.skin().precision(), ..Self::held(contact) };
        Ok(match goal {
            Goal::Depth(depth_m) => {
                let depth_m = Some(allowed(sensor, depth_m)?);
                Self { trial_m: depth_m, best_m: depth_m, ..search }
            }
            Goal::Force(force_n) => {
                let (trial_m, low) = (Some(whole_m / 16.0), (0.0, -force_n));
                Self { goal_n: Some(force_n), trial_m, best_m: None, low, ..search }
            }
        })
    }

    /// An object held at a pose in the sensor's frame: one trial, with a travel of zero.
    pub fn held(sensor_from_object: Pose) -> Self {
        Self {
            contact: sensor_from_object,
            goal_n: None,
            max_m: 0.0,
            precision: 0.0,
            trial_m: Some(0.0),
            best_m: Some(0.0),
            last_n: 0.0,
            trials: 0,
            is_from_rest: false,
            low: (0.0, 0.0),
            bracket: None,
        }
    }

    /// The same search with trials from rest, of forces with a relative error of at least `precision`. It takes a quarter
    /// of the trials: an end of the bracket is weighted only if it is retained twice in succession. A press keeps its own
    /// trials, because friction depends on them.
    #[must_use]
    pub fn from_rest(self, precision: f64) -> Self {
        Self { precision: self.precision.max(precision), is_from_rest: true, ..self }
    }

    /// Pose of the object in the next trial, and its travel (m) past first contact; `None` if the search has ended.
    pub fn trial(&self) -> Option<(Pose, f64)> {
        self.trial_m.map(|depth_m| (self.pose(depth_m), depth_m))
    }

    /// True if the final depth is known: for a depth from the beginning, for a force after the last trial.
    pub fn is_known(&self) -> bool {
        self.trial_m.is_none() || self.goal_n.is_none()
    }

    /// Final pose, and travel (m) past first contact. `object` is the one pressed on `sensor`. Returns an error if the
    /// skin cannot carry the force.
    pub fn end(&self, sensor: &Sensor, object: &Object) -> Result<(Pose, f64), PressError> {
        let depth_m = self.best_m.ok_or_else(|| self.too_strong(sensor, object))?;
        Ok((self.pose(depth_m), depth_m))
    }

    /// The warning if the force of the best trial is more than 1 % too large: the force of the skin jumps there, or it is
    /// too small to be resolved by numbers.
    pub fn warning(&self) -> Option<Warning> {
        let (wanted_n, miss_n) = (self.goal_n?, self.bracket?.excess_n);
        let is_missed = miss_n > MAX_MISS.max(self.precision) * wanted_n;
        is_missed.then_some(Warning::ForceNotReached { wanted_n, got_n: wanted_n + miss_n })
    }

    /// The error of a search that ended without a best trial.
    pub fn too_strong(&self, sensor: &Sensor, object: &Object) -> PressError {
        PressError::TooStrong {
            sensor: sensor.name().to_owned(),
            object: object.surface.mesh().name().to_owned(),
            force_n: self.goal_n.unwrap_or_default(),
            max_mm: millimetres(self.max_m),
            max_n: self.last_n,
        }
    }

    /// Accepts the force (N) along −z on the sensor at the pose of the trial.
    pub fn found(&mut self, force_n: f64) -> Trial {
        let Some(trial_m) = self.trial_m.take() else { return Trial::Weaker };
        (self.last_n, self.trials) = (force_n, self.trials + 1);
        let Some(goal_n) = self.goal_n else { return Trial::Best };
        let miss_n = force_n - goal_n;
        match &mut self.bracket {
            None if miss_n >= 0.0 => {
                let width_m = trial_m - self.low.0;
                self.bracket =
                    Some(Bracket { excess_n: miss_n, weighted_n: miss_n, has_moved: None, width_m, stalled: 0 });
                self.best_m = Some(trial_m);
            }
            None if trial_m >= self.max_m => return Trial::Weaker,
            None => {
                self.low = (trial_m, miss_n);
                // Deeper until the force is too large, with steps extrapolated from the forces so far.
                let grow = if miss_n + goal_n > 0.0 { (goal_n / (miss_n + goal_n)).clamp(1.2, 4.0) } else { 4.0 };
                self.trial_m = Some((trial_m * grow).min(self.max_m));
                return Trial::Weaker;
            }
            Some(bracket) if miss_n < 0.0 && miss_n > -self.precision * goal_n => {
                bracket.excess_n = miss_n;
                self.best_m = Some(trial_m);
                return Trial::Best;
            }
            Some(bracket) => {
                // Illinois: halves the value at the retained end.
                let moves = miss_n >= 0.0;
                let weight = if self.is_from_rest && bracket.has_moved != Some(moves) { 1.0 } else { 0.5 };
                bracket.has_moved = Some(moves);
                if !moves {
                    bracket.weighted_n *= weight;
                    self.low = (trial_m, miss_n);
                } else {
                    self.low.1 *= weight;
                    (bracket.excess_n, bracket.weighted_n) = (miss_n, miss_n);
                    self.best_m = Some(trial_m);
                }
                let narrowed_m = self.best_m.unwrap_or(trial_m) - self.low.0;
                bracket.stalled = if narrowed_m < 0.5 * bracket.width_m { 0 } else { bracket.stalled + 1 };
                bracket.width_m = if bracket.stalled == 0 { narrowed_m } else { bracket.width_m.min(2.0 * narrowed_m) };
            }
        }
        self.trial_m = self.inside(goal_n);
        if self.best_m == Some(trial_m) { Trial::Best } else { Trial::Weaker }
    }

    /// The next depth (m) inside the bracket; `None` if the best one is near enough.
    fn inside(&self, goal_n: f64) -> Option<f64> {
        let ((low_m, low_n), high_m, bracket) = (self.low, self.best_m?, self.bracket?);
        let is_near = bracket.excess_n <= self.precision * goal_n;
        if self.trials >= MAX_TRIALS || is_near || high_m - low_m <= BRACKET_TOLERANCE * high_m {
            return None;
        }
        let secant_m = high_m - (high_m - low_m) * bracket.weighted_n / (bracket.weighted_n - low_n);
        let is_inside = secant_m > low_m && secant_m < high_m && bracket.stalled < 3;
        let trial_m = if is_inside { secant_m } else { 0.5 * (low_m + high_m) };
        (trial_m > low_m && trial_m < high_m).then_some(trial_m)
    }

    fn pose(&self, depth_m: f64) -> Pose {
        Pose { translation: self.contact.translation - Vec3::Z * depth_m, ..self.contact }
    }
}
