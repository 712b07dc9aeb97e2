//! The warnings of one skin over many steps.

use crate::{Touch, Warning};
use serde::{Deserialize, Serialize};

/// Every contact begins and ends with few contact points: that is reported if it comes with this part of the largest
/// force on the sensor.
const MIN_UNRESOLVED: f64 = 0.1;

/// The warnings of one sensor's skin over the steps of a simulation, each kind once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WarningLog {
    kinds: Vec<LoggedWarning>,
    /// Largest force (N) on the sensor.
    peak_newton: f64,
    /// True while each step raises the largest force.
    rising: bool,
}

/// A kind of warning: its text at the largest force, the time of its first step, and its steps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoggedWarning {
    /// The warning at the largest force with which it came.
    pub warning: Warning,
    /// Time (s) of the first step with it.
    pub first_s: f64,
    /// Number of steps with it.
    pub steps: u64,
    /// That largest force (N).
    force_newton: f64,
    issued: bool,
}

impl WarningLog {
    /// Adds the warnings of a step that ends at `time_s`.
    pub fn add(&mut self, touch: &Touch, time_s: f64) {
        let force_newton = touch.on_sensor.force.length();
        self.rising = force_newton > self.peak_newton;
        self.peak_newton = self.peak_newton.max(force_newton);
        for warning in touch.all_warnings() {
            match self.kinds.iter_mut().find(|known| known.is_like(&warning)) {
                Some(known) => {
                    known.steps += 1;
                    if force_newton > known.force_newton {
                        (known.warning, known.force_newton) = (warning, force_newton);
                    }
                }
                None => {
                    self.kinds.push(LoggedWarning { warning, first_s: time_s, steps: 1, force_newton, issued: false })
                }
            }
        }
    }

    /// The warnings so far. Few contact points count only with a tenth of the largest force or more.
    pub fn warnings(&self) -> impl Iterator<Item = &LoggedWarning> {
        self.kinds.iter().filter(|known| known.matters(self.peak_newton))
    }

    /// The warnings that this method did not return before, for a program that shows them while it runs. Few contact
    /// points wait until the force no longer rises: only then is it known whether they matter.
    pub fn take_new(&mut self) -> Vec<Warning> {
        let rising = self.rising;
        self.take(|known| !(rising && known.is_unresolved()))
    }

    /// Like [`WarningLog::take_new`], after a touch in static equilibrium, whose force rises no further.
    pub fn take_settled(&mut self) -> Vec<Warning> {
        self.take(|_| true)
    }

    fn take(&mut self, is_due: impl Fn(&LoggedWarning) -> bool) -> Vec<Warning> {
        let peak_newton = self.peak_newton;
        let due = |known: &&mut LoggedWarning| !known.issued && known.matters(peak_newton) && is_due(known);
        let issue = |known: &mut LoggedWarning| {
            known.issued = true;
            known.warning.clone()
        };
        self.kinds.iter_mut().filter(due).map(issue).collect()
    }
}

impl LoggedWarning {
    /// True for a warning of the same kind. A contact with few contact points begins between them: that is one warning.
    fn is_like(&self, warning: &Warning) -> bool {
        self.warning.is_like(warning) || (lacks_points(&self.warning) && lacks_points(warning))
    }

    fn is_unresolved(&self) -> bool {
        lacks_points(&self.warning) || matches!(self.warning, Warning::Narrow { .. })
    }

    fn matters(&self, peak_newton: f64) -> bool {
        !self.is_unresolved() || self.force_newton >= MIN_UNRESOLVED * peak_newton
    }
}

fn lacks_points(warning: &Warning) -> bool {
    matches!(warning, Warning::Missed { .. } | Warning::Unresolved { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Resolution;
    use dermis_geometry::{Vec3, Wrench};

    fn touch(force_newton: f64, points: Option<usize>, saturated: usize) -> Touch {
        let key = Resolution::ContactPoints;
        let few = points.map(|points| match points {
            0 => Warning::Missed { object: 0, spacing_mm: 1.0, key },
            _ => Warning::Unresolved { object: 0, points, wanted: 12, spacing_mm: 1.0, key },
        });
        let on_sensor = Wrench::from_force_at(Vec3::Z * -force_newton, Vec3::ZERO);
        Touch { on_sensor, saturated, warnings: few.into_iter().collect(), ..Touch::default() }
    }

    /// A ball that is pressed down and lifted touches few contact points at the start and at the end.
    #[test]
    fn the_beginning_and_the_end_of_a_contact_are_not_reported() {
        let mut log = WarningLog::default();
        let forces = [0.01, 0.1, 0.5, 1.0, 1.0, 0.5, 0.01, 0.0];
        for (step, force) in forces.into_iter().enumerate() {
            log.add(&touch(force, (force < 0.05 && force > 0.0).then_some(3), 0), step as f64);
            assert_eq!(log.take_new(), [], "step {step}");
        }
        assert_eq!(log.warnings().count(), 0);
    }

    #[test]
    fn a_held_contact_of_few_points_is_reported_once() {
        let mut log = WarningLog::default();
        let mut issued = Vec::new();
        for (step, force) in [0.1, 0.2, 0.3, 0.3, 0.3].into_iter().enumerate() {
            log.add(&touch(force, Some(3), 0), step as f64);
            issued.push(log.take_new().len());
        }
        assert_eq!(issued, [0, 0, 0, 1, 0]);
        let logged: Vec<_> = log.warnings().map(|known| (known.first_s, known.steps)).collect();
        assert_eq!(logged, [(0.0, 5)]);
        // An object between the points has no force at all, and may touch a few of them later.
        let mut log = WarningLog::default();
        log.add(&touch(0.0, Some(0), 0), 0.0);
        assert_eq!(log.take_new().len(), 1);
        log.add(&touch(0.1, Some(3), 0), 1.0);
        log.add(&touch(0.1, Some(3), 0), 2.0);
        assert_eq!(log.take_new(), []);
        let logged = log.warnings().map(|known| known.warning.to_string()).collect::<Vec<_>>();
        assert!(logged.len() == 1 && logged[0].contains("touches only 3"), "{logged:?}");
    }

    #[test]
    fn each_kind_comes_at_once_and_with_its_largest_force() {
        let mut log = WarningLog::default();
        log.add(&touch(1.0, None, 2), 0.5);
        assert_eq!(log.take_new(), [Warning::Saturated { points: 2 }]);
        log.add(&touch(2.0, None, 7), 0.6);
        assert_eq!((log.take_new(), log.take_settled()), (vec![], vec![]));
        let worst: Vec<_> = log.warnings().map(|known| known.warning.clone()).collect();
        assert_eq!(worst, [Warning::Saturated { points: 7 }]);
        log.add(&touch(3.0, Some(4), 0), 0.7);
        assert_eq!((log.take_new().len(), log.take_settled().len()), (0, 1));
    }
}
