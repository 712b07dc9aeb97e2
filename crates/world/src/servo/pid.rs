//! A PID controller with limits and anti-windup.

/// Anti-windup method: limits the integral while the output saturates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AntiWindup {
    /// No anti-windup, for comparison.
    Off,
    /// Conditional integration: holds the integral while it would push further into a limit.
    Conditional,
    /// Back-calculation: reduces the integral by the saturated part, with this time constant (s).
    BackCalculation(f64),
}

/// Gains and limits of a controller. The error has unit e and the output unit u.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PidParameters {
    /// K_p (u/e).
    pub proportional: f64,
    /// K_i (u/(e s)).
    pub integral: f64,
    /// K_d (u s/e).
    pub derivative: f64,
    /// Time constant (s) of the low-pass filter on the derivative; 0 disables it.
    pub derivative_filter_s: f64,
    /// Limit on the magnitude of the output (u).
    pub output_limit: f64,
    /// Limit on the rate of the output (u/s).
    pub rate_limit: f64,
    /// Anti-windup method.
    pub anti_windup: AntiWindup,
}

impl Default for PidParameters {
    /// No gains, no limits, conditional integration.
    fn default() -> Self {
        Self {
            proportional: 0.0,
            integral: 0.0,
            derivative: 0.0,
            derivative_filter_s: 0.0,
            output_limit: f64::INFINITY,
            rate_limit: f64::INFINITY,
            anti_windup: AntiWindup::Conditional,
        }
    }
}

impl PidParameters {
    /// Proportional gain only.
    pub fn proportional(gain: f64) -> Self {
        Self { proportional: gain, ..Self::default() }
    }
}

/// u = K_p e + K_i ∫e + K_d ė, with ė filtered, |u| and |u̇| limited. The filter is integrated exactly for an error
/// that is linear over a step. Anti-windup also acts while the rate is limited.
#[derive(Clone, Debug)]
pub struct Pid {
    parameters: PidParameters,
    /// K_i ∫e (u).
    integral: f64,
    /// Filtered ė (e/s).
    slope: f64,
    last_error: Option<f64>,
    output: f64,
}

impl Pid {
    /// Creates a controller with zero integral and zero output.
    pub fn new(parameters: PidParameters) -> Self {
        Self { parameters, integral: 0.0, slope: 0.0, last_error: None, output: 0.0 }
    }

    /// Gains and limits of the controller.
    pub fn parameters(&self) -> &PidParameters {
        &self.parameters
    }

    /// The integral part of the output (u).
    pub fn integral(&self) -> f64 {
        self.integral
    }

    /// Resets the errors and the integral; keeps the output, so that its rate stays limited.
    pub fn reset(&mut self) {
        (self.integral, self.slope, self.last_error) = (0.0, 0.0, None);
    }

    /// Advances by `dt_s` and returns the output for an error.
    pub fn update(&mut self, error: f64, dt_s: f64) -> f64 {
        let p = self.parameters;
        if let Some(last) = self.last_error {
            let keep = if p.derivative_filter_s > 0.0 { (-dt_s / p.derivative_filter_s).exp() } else { 0.0 };
            self.slope = self.slope * keep + (error - last) / dt_s * (1.0 - keep);
        }
        self.last_error = Some(error);
        let step = p.integral * error * dt_s;
        let held = p.proportional * error + p.derivative * self.slope + self.integral;
        let wanted = held + step;
        let given = self.limited(wanted, dt_s);
        self.output = match p.anti_windup {
            AntiWindup::Conditional if (wanted - given) * step > 0.0 => self.limited(held, dt_s),
            AntiWindup::BackCalculation(time_s) => {
                let drawn = if time_s > 0.0 { 1.0 - (-dt_s / time_s).exp() } else { 1.0 };
                self.integral += step + (given - wanted) * drawn;
                given
            }
            _ => {
                self.integral += step;
                given
            }
        };
        self.output
    }

    fn limited(&self, wanted: f64, dt_s: f64) -> f64 {
        let p = &self.parameters;
        let reach = p.rate_limit * dt_s;
        let slewed = wanted.clamp(self.output - reach, self.output + reach);
        slewed.clamp(-p.output_limit, p.output_limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a controller against τ ẏ = u − y, integrated exactly for constant u, after a unit step of the set point;
    /// returns y at each time.
    fn step_response(parameters: PidParameters, tau_s: f64, dt_s: f64, until_s: f64) -> Vec<(f64, f64)> {
        let mut pid = Pid::new(parameters);
        let keep = (-dt_s / tau_s).exp();
        let mut y = 0.0;
        (0..(until_s / dt_s) as usize)
            .map(|k| {
                let u = pid.update(1.0 - y, dt_s);
                y = y * keep + u * (1.0 - keep);
                ((k + 1) as f64 * dt_s, y)
            })
            .collect()
    }

    /// With a proportional gain only, the loop is of first order: y = K/(1+K) (1 − exp(−(1+K) t/τ)). First order in dt.
    #[test]
    fn proportional_control_leaves_an_error_and_is_faster_than_the_plant() {
        let (gain, tau) = (4.0, 0.5);
        for dt in [4e-3, 1e-3, 2.5e-4] {
            for (t, y) in step_response(PidParameters::proportional(gain), tau, dt, 2.0) {
                let truth = gain / (1.0 + gain) * (1.0 - (-(1.0 + gain) * t / tau).exp());
                assert!((y - truth).abs() < 2.0 * dt, "dt = {dt}, t = {t}: {y} for {truth}");
            }
        }
    }

    /// K_p/K_i = τ cancels the plant's pole: y = 1 − exp(−K_p t/τ), without steady-state error. First order in dt.
    #[test]
    fn integral_control_that_cancels_the_pole_is_of_first_order_and_exact() {
        let (gain, tau) = (3.0, 0.4);
        let parameters = PidParameters { integral: gain / tau, ..PidParameters::proportional(gain) };
        for dt in [4e-3, 1e-3, 2.5e-4] {
            for (t, y) in step_response(parameters, tau, dt, 3.0) {
                let truth = 1.0 - (-gain * t / tau).exp();
                assert!((y - truth).abs() < 4.0 * dt, "dt = {dt}, t = {t}: {y} for {truth}");
            }
        }
    }

    /// On a ramp of slope s the filtered derivative is s (1 − exp(−t/T)), at any step.
    #[test]
    fn the_derivative_of_a_ramp_rises_with_the_filters_time() {
        let (filter, slope) = (0.05, 3.0);
        for dt in [2e-2, 1e-3] {
            let mut pid =
                Pid::new(PidParameters { derivative: 1.0, derivative_filter_s: filter, ..Default::default() });
            for k in 0..100 {
                let t = f64::from(k) * dt;
                let truth = slope * (1.0 - (-t / filter).exp());
                assert!((pid.update(slope * t, dt) - truth).abs() < 1e-12);
            }
        }
    }

    /// Time (s) for which the output stays at its limit after an error of 1 for 10 s has changed to −1.
    fn recovery_s(anti_windup: AntiWindup, dt: f64) -> f64 {
        let mut pid = Pid::new(PidParameters { integral: 2.0, output_limit: 1.0, anti_windup, ..Default::default() });
        for _ in 0..(10.0 / dt).round() as usize {
            pid.update(1.0, dt);
        }
        let mut steps = 0;
        while pid.update(-1.0, dt) >= 1.0 {
            steps += 1;
        }
        f64::from(steps) * dt
    }

    /// After a windup of T, an integrator of gain K_i unwinds for T − u_max/K_i. Back-calculation settles K_i T_t above
    /// the limit, and x′ = −K_i − x/T_t crosses the limit after T_t ln 2. Conditional integration recovers at once.
    #[test]
    fn windup_is_recovered_from_in_the_time_that_each_way_takes() {
        for dt in [1e-2, 1e-3] {
            assert!((recovery_s(AntiWindup::Off, dt) - 9.5).abs() <= 2.0 * dt);
            let time = 0.3;
            let back = recovery_s(AntiWindup::BackCalculation(time), dt);
            assert!((back - time * 2f64.ln()).abs() <= 3.0 * dt, "{back}");
            assert!(recovery_s(AntiWindup::Conditional, dt) <= dt);
        }
    }

    #[test]
    fn output_and_its_rate_stay_within_their_limits() {
        let limits = PidParameters { output_limit: 2.0, rate_limit: 5.0, ..PidParameters::proportional(100.0) };
        let (mut pid, dt) = (Pid::new(limits), 0.01);
        for k in 1..100 {
            let truth = (5.0 * f64::from(k) * dt).min(2.0);
            assert!((pid.update(1.0, dt) - truth).abs() < 1e-12);
        }
        for k in 1..100 {
            let truth = (2.0 - 5.0 * f64::from(k) * dt).max(-2.0);
            assert!((pid.update(-1.0, dt) - truth).abs() < 1e-12);
        }
    }
}
