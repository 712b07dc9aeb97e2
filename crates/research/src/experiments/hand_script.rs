//! A scripted motion of an object held by a human hand.

use dermis::geometry::{Quat, Vec3};
use std::f64::consts::TAU;

/// Slow sinusoidal translation and rotation along and about every axis of the world, starting at rest.
#[derive(Clone, Copy, Debug)]
pub struct HandScript {
    /// Amplitudes (m) and frequencies (Hz) along x, y, z.
    shift: ([f64; 3], [f64; 3]),
    /// Amplitudes (rad) and frequencies (Hz) about x, y, z.
    rotation: ([f64; 3], [f64; 3]),
}

/// The largest values of a script.
#[derive(Clone, Copy, Debug, Default)]
pub struct HandPeaks {
    /// Speed (m/s) of the object's centre.
    pub speed_m_per_s: f64,
    /// Angle (rad) about any one axis.
    pub angle_rad: f64,
    /// Rate (rad/s) of the angle about any one axis.
    pub angular_rad_per_s: f64,
}

/// Time (s) over which the amplitudes grow from zero.
const RAMP_S: f64 = 3.5;

impl Default for HandScript {
    /// Up to 30 mm/s, and ±30° about each axis at up to 20°/s.
    fn default() -> Self {
        let full = 30f64.to_radians();
        Self {
            shift: ([0.020, 0.0263, 0.0231], [0.16, 0.125, 0.11]),
            rotation: ([full, -full, full], [0.09, 0.104, 0.075]),
        }
    }
}

impl HandScript {
    /// Displacement (m) from the start at a time (s); zero before t = 0.
    pub fn shift_m(&self, time_s: f64) -> Vec3 {
        Vec3::from_array(waves(&self.shift, time_s))
    }

    /// Rotation from the start, about the world's axes x, then y, then z.
    pub fn rotation(&self, time_s: f64) -> Quat {
        let [x, y, z] = waves(&self.rotation, time_s);
        Quat::from_rotation_z(z) * Quat::from_rotation_y(y) * Quat::from_rotation_x(x)
    }

    /// The largest values until a time (s).
    pub fn peaks(&self, until_s: f64) -> HandPeaks {
        let dt = 1e-3;
        let mut peaks = HandPeaks::default();
        for step in 0..(until_s / dt) as usize {
            let t = step as f64 * dt;
            let speed = (self.shift_m(t + dt) - self.shift_m(t)).length() / dt;
            peaks.speed_m_per_s = peaks.speed_m_per_s.max(speed);
            let (now, next) = (waves(&self.rotation, t), waves(&self.rotation, t + dt));
            for (now, next) in now.into_iter().zip(next) {
                peaks.angle_rad = peaks.angle_rad.max(now.abs());
                peaks.angular_rad_per_s = peaks.angular_rad_per_s.max((next - now).abs() / dt);
            }
        }
        peaks
    }
}

fn waves((amplitude, frequency): &([f64; 3], [f64; 3]), time_s: f64) -> [f64; 3] {
    let s = (time_s / RAMP_S).clamp(0.0, 1.0);
    let ramp = s * s * (3.0 - 2.0 * s);
    std::array::from_fn(|i| ramp * amplitude[i] * (TAU * frequency[i] * time_s).sin())
}
