//! How a human hand moves an object about, written down.

use dermis::geometry::{Quat, Vec3};
use std::f64::consts::TAU;

/// Slow waves along and about every axis of the world, that begin at rest.
#[derive(Clone, Copy, Debug)]
pub struct HandScript {
    /// Amplitudes (m) and frequencies (Hz) along x, y, z.
    shift: ([f64; 3], [f64; 3]),
    /// Amplitudes (rad) and frequencies (Hz) about x, y, z.
    turn: ([f64; 3], [f64; 3]),
}

/// The most of a script.
#[derive(Clone, Copy, Debug, Default)]
pub struct Peaks {
    /// Speed (m/s) of the object's middle.
    pub speed_m_per_s: f64,
    /// Angle (rad) about any one axis.
    pub angle_rad: f64,
    /// Rate (rad/s) of the angle about any one axis.
    pub turning_rad_per_s: f64,
}

/// Time (s) in which the waves grow to their size.
const GROW_S: f64 = 3.5;

impl Default for HandScript {
    /// 30 mm/s at most, ±30° about each axis at 20°/s at most.
    fn default() -> Self {
        let full = 30f64.to_radians();
        Self {
            shift: ([0.020, 0.0263, 0.0231], [0.16, 0.125, 0.11]),
            turn: ([full, -full, full], [0.09, 0.104, 0.075]),
        }
    }
}

impl HandScript {
    /// Displacement (m) from the start at a time (s); none before 0.
    pub fn shift_m(&self, time_s: f64) -> Vec3 {
        Vec3::from_array(waves(&self.shift, time_s))
    }

    /// Turn from the start, about the world's axes x, then y, then z.
    pub fn turn(&self, time_s: f64) -> Quat {
        let [x, y, z] = waves(&self.turn, time_s);
        Quat::from_rotation_z(z) * Quat::from_rotation_y(y) * Quat::from_rotation_x(x)
    }

    /// The most that happens until a time (s).
    pub fn peaks(&self, until_s: f64) -> Peaks {
        let dt = 1e-3;
        let mut peaks = Peaks::default();
        for step in 0..(until_s / dt) as usize {
            let t = step as f64 * dt;
            let speed = (self.shift_m(t + dt) - self.shift_m(t)).length() / dt;
            peaks.speed_m_per_s = peaks.speed_m_per_s.max(speed);
            let (now, next) = (waves(&self.turn, t), waves(&self.turn, t + dt));
            for (now, next) in now.into_iter().zip(next) {
                peaks.angle_rad = peaks.angle_rad.max(now.abs());
                peaks.turning_rad_per_s = peaks.turning_rad_per_s.max((next - now).abs() / dt);
            }
        }
        peaks
    }
}

fn waves((amplitude, frequency): &([f64; 3], [f64; 3]), time_s: f64) -> [f64; 3] {
    let s = (time_s / GROW_S).clamp(0.0, 1.0);
    let grown = s * s * (3.0 - 2.0 * s);
    std::array::from_fn(|i| grown * amplitude[i] * (TAU * frequency[i] * time_s).sin())
}
