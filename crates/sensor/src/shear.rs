//! Moves a pressed object tangentially.

use crate::{Goal, PressError, Pressed, Sensor};
use dermis_geometry::{Pose, Twist, Vec3};
use dermis_skin::{Motion, Object, State, Target, Touch, Warning};

/// Number of steps of the tangential motion.
const STEPS: u32 = 4;
/// Sliding speed (m/s): slow enough that only the direction of friction matters.
const SPEED_M_PER_S: f64 = 5e-3;

/// Relative deviation of a held force, unless the skin is less precise.
const HOLD_TOLERANCE: f64 = 1e-6;
/// Maximum number of corrections of the depth that hold a force.
const MAX_CORRECTIONS: usize = 24;

impl Pressed {
    /// The same press after its object has moved slowly along x and y by `shear_m` and stopped: friction drags the skin
    /// along until it slips. `object` is the object pressed on `sensor`. A press to a depth stays at its height; a press
    /// to a force holds the force, and the depth changes.
    pub fn sheared(&self, sensor: &Sensor, object: &Object, shear_m: [f64; 2], goal: Goal) -> Result<Self, PressError> {
        let [x, y] = shear_m;
        let shear = Vec3::new(x, y, 0.0);
        let length_m = shear.length();
        if length_m == 0.0 {
            return Ok(self.clone());
        }
        if !length_m.is_finite() {
            return Err(PressError::BadGoal { what: "shear", got: length_m * 1e3, unit: "mm" });
        }
        let skin = sensor.skin();
        // The state of a gel holds the poses of the objects, so it settles step by step; other skins need the velocity.
        let follows = matches!(self.state, State::Gel(_));
        let velocity = Twist { linear: shear * (SPEED_M_PER_S / length_m), ..Twist::ZERO };
        let dt_s = length_m / (SPEED_M_PER_S * f64::from(STEPS));
        let start = self.sensor_from_object;
        let pose =
            |part: f64, sunk_m: f64| Pose { translation: start.translation + shear * part - Vec3::Z * sunk_m, ..start };
        let missing_newton = |touch: &Touch| match goal {
            Goal::Depth(_) => 0.0,
            Goal::Force(force_n) => force_n + touch.on_sensor.force.z,
        };
        // Twice the secant stiffness: a correction that is too small needs another, one too large may diverge.
        let mut stiffness = 2.0 * -self.touch.on_sensor.force.z / self.depth_m;
        let (mut state, mut sunk_m) = (self.state.clone(), 0.0);
        for step in 1..=STEPS {
            let at = pose(f64::from(step) / f64::from(STEPS), sunk_m);
            let target = Target { velocity, ..Target::at_rest(object, at) };
            let motion = Motion { targets: &[target] };
            let (touch, next) =
                if follows { skin.settle(&state, &motion)? } else { skin.touch(&state, &motion, dt_s)? };
            state = next;
            sunk_m += missing_newton(&touch) / stiffness;
        }
        let mut before: Option<(f64, f64)> = None;
        for _ in 0..MAX_CORRECTIONS {
            let sensor_from_object = pose(1.0, sunk_m);
            let held = Target::at_rest(object, sensor_from_object);
            let (mut touch, next) = skin.settle(&state, &Motion { targets: &[held] })?;
            state = next;
            if matches!(goal, Goal::Depth(_)) && touch.on_sensor.force.z >= 0.0 {
                return Err(PressError::SlidOff { sensor: sensor.name().to_owned(), shear_mm: length_m * 1e3 });
            }
            let missing = missing_newton(&touch);
            if missing.abs() <= skin.precision().max(HOLD_TOLERANCE) * touch.on_sensor.force.length() {
                if !skin.holds_shear(object) {
                    touch.warnings.push(Warning::NoFrictionAtRest);
                }
                let reading = sensor.read(&touch);
                touch.warnings.extend_from_slice(&reading.warnings);
                return Ok(Self { depth_m: self.depth_m + sunk_m, sensor_from_object, touch, state, reading });
            }
            if let Some((sunk_before, missing_before)) = before {
                let secant = (missing_before - missing) / (sunk_m - sunk_before);
                stiffness = if secant > 0.0 && secant.is_finite() { secant } else { stiffness };
            }
            before = Some((sunk_m, missing));
            sunk_m = (sunk_m + missing / stiffness).min(skin.max_depth_m() - self.depth_m);
        }
        Err(PressError::NotHeld { sensor: sensor.name().to_owned(), shear_mm: length_m * 1e3 })
    }
}
