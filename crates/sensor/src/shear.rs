//! Moves a pressed object tangentially.

use crate::{PressError, Pressed, Sensor};
use dermis_geometry::{Pose, Twist, Vec3};
use dermis_skin::{Motion, Object, State, Target};

/// Number of steps of the tangential motion.
const STEPS: u32 = 4;
/// Sliding speed (m/s): slow enough that only the direction of friction matters.
const SPEED_M_PER_S: f64 = 5e-3;

impl Pressed {
    /// The same press after its object has moved slowly along x and y by `shear_m`, at the same height, and stopped:
    /// friction drags the skin along until it slips. `object` is the object pressed on `sensor`.
    pub fn sheared(&self, sensor: &Sensor, object: &Object, shear_m: [f64; 2]) -> Result<Self, PressError> {
        let [x, y] = shear_m;
        let shear = Vec3::new(x, y, 0.0);
        let length_m = shear.length();
        if length_m == 0.0 {
            return Ok(self.clone());
        }
        if !length_m.is_finite() {
            return Err(PressError::BadGoal { what: "shear", got: length_m * 1e3 });
        }
        let skin = sensor.skin();
        // The state of a gel holds the poses of the objects, so it settles step by step; other skins need the velocity.
        let follows = matches!(self.state, State::Gel(_));
        let velocity = Twist { linear: shear * (SPEED_M_PER_S / length_m), ..Twist::ZERO };
        let dt_s = length_m / (SPEED_M_PER_S * f64::from(STEPS));
        let start = self.sensor_from_object;
        let pose = |part: f64| Pose { translation: start.translation + shear * part, ..start };
        let mut state = self.state.clone();
        for step in 1..=STEPS {
            let at = pose(f64::from(step) / f64::from(STEPS));
            let target = Target { velocity, ..Target::at_rest(object, at) };
            let motion = Motion { targets: &[target] };
            state = if follows { skin.settle(&state, &motion)?.1 } else { skin.touch(&state, &motion, dt_s)?.1 };
        }
        let sensor_from_object = pose(1.0);
        let held = Target::at_rest(object, sensor_from_object);
        let (touch, state) = skin.settle(&state, &Motion { targets: &[held] })?;
        let reading = sensor.read(&touch);
        Ok(Self { depth_m: self.depth_m, sensor_from_object, touch, state, reading })
    }
}
