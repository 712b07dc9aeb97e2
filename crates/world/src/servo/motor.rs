//! A hobby servo: a geared motor with position control.

/// Parameters of the motor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotorParameters {
    /// Time constant (s) of the position loop.
    pub lag_s: f64,
    /// Maximum speed (rad/s).
    pub speed_rad_per_s: f64,
    /// Resolution (rad) of the commands.
    pub resolution_rad: f64,
    /// The motor rotates from minus to plus this angle (rad).
    pub range_rad: f64,
}

impl Default for MotorParameters {
    /// Approximates a Dynamixel AX-12: 1024 positions over 300°, 59 rpm without load. Its position loop is not
    /// documented; 30 ms is an assumption.
    fn default() -> Self {
        Self {
            lag_s: 0.03,
            speed_rad_per_s: 59.0 * std::f64::consts::TAU / 60.0,
            resolution_rad: 300f64.to_radians() / 1023.0,
            range_rad: 150f64.to_radians(),
        }
    }
}

/// A motor with a first-order lag and a limited speed, θ̇ = clamp((θ_set − θ)/τ). The integration over a step is exact,
/// except in the step in which the speed limit ends. The load does not move the motor: the 254:1 gear of an AX-12 holds
/// a hundred times the load of a tactile array.
#[derive(Clone, Debug)]
pub struct Motor {
    parameters: MotorParameters,
    set_rad: f64,
    angle_rad: f64,
}

impl Motor {
    /// Creates a motor at rest at an angle (rad).
    pub fn new(parameters: MotorParameters, angle_rad: f64) -> Self {
        Self { parameters, set_rad: angle_rad, angle_rad }
    }

    /// Angle (rad).
    pub fn angle_rad(&self) -> f64 {
        self.angle_rad
    }

    /// Sets the target angle (rad); returns it clamped to the range. The motor moves to the nearest of its positions,
    /// but the returned angle is not rounded, so that small changes of the command add up.
    pub fn command(&mut self, angle_rad: f64) -> f64 {
        let p = &self.parameters;
        let within = angle_rad.clamp(-p.range_rad, p.range_rad);
        let rounded = (within / p.resolution_rad).round() * p.resolution_rad;
        self.set_rad = if p.resolution_rad > 0.0 { rounded } else { within };
        within
    }

    /// Advances the motor by `dt_s`.
    pub fn step(&mut self, dt_s: f64) {
        let p = &self.parameters;
        let share = if p.lag_s > 0.0 { 1.0 - (-dt_s / p.lag_s).exp() } else { 1.0 };
        let most = p.speed_rad_per_s * dt_s;
        self.angle_rad += ((self.set_rad - self.angle_rad) * share).clamp(-most, most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// θ = θ_set (1 − exp(−t/τ)) at any step, and a ramp at the speed limit.
    #[test]
    fn a_motor_lags_and_is_no_faster_than_it_can() {
        let parameters = MotorParameters { lag_s: 0.05, speed_rad_per_s: 1e9, resolution_rad: 0.0, range_rad: 10.0 };
        for dt in [1e-2, 1e-3] {
            let mut motor = Motor::new(parameters, 0.0);
            motor.command(2.0);
            for k in 1..50 {
                motor.step(dt);
                let truth = 2.0 * (1.0 - (-f64::from(k) * dt / 0.05).exp());
                assert!((motor.angle_rad() - truth).abs() < 1e-12);
            }
        }
        let mut slow = Motor::new(MotorParameters { speed_rad_per_s: 0.5, ..parameters }, 0.0);
        slow.command(5.0);
        (0..100).for_each(|_| slow.step(0.01));
        assert!((slow.angle_rad() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn commands_are_rounded_to_positions_and_kept_in_range() {
        let mut motor = Motor::new(MotorParameters::default(), 0.0);
        assert!((motor.command(10.0) - 150f64.to_radians()).abs() < 1e-12);
        assert_eq!(motor.command(0.3), 0.3);
        (0..1000).for_each(|_| motor.step(0.01));
        let off = (motor.angle_rad() - 0.3).abs();
        assert!(off > 1e-6 && off <= 0.5 * 300f64.to_radians() / 1023.0 + 1e-12, "{off}");
    }
}
