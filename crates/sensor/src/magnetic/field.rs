//! Flux density of permanent magnets, in closed form.

use dermis_geometry::Vec3;
use std::f64::consts::PI;

/// The magnetic constant (T m/A), CODATA 2022.
pub const MU_0: f64 = 1.256_637_061_27e-6;

/// Distance, in diagonals of a cuboid, from which it is a dipole: its closed form loses digits with the cube of the
/// distance, and the dipole differs by the inverse square, here 1e-5 at most.
const FAR: f64 = 300.0;

/// Flux density (T) of a point dipole of `moment` (A m²), at `r` (m) from it.
pub fn dipole(moment: Vec3, r: Vec3) -> Vec3 {
    let distance2 = r.length_squared();
    let scale = MU_0 / (4.0 * PI) / (distance2 * distance2.sqrt());
    (r * (3.0 * moment.dot(r) / distance2) - moment) * scale
}

/// Flux density (T) outside a cuboid with edges `size` (m) along the axes, centred at the origin and magnetised
/// uniformly with `polarisation` (T, the remanence times its direction), at `r` (m).
///
/// The potential of the charged faces (Yang et al. 1990, Supercond. Sci. Technol. 3, 591; Engel-Herbert and Hesjedal
/// 2005, J. Appl. Phys. 97, 074504): sums over the corners of arctangents and logarithms. The place is mirrored into
/// x ≥ 0, y, z ≤ 0, and logarithms of differences are those of quotients, so that no place near the extension of an
/// edge cancels (Cichon et al. 2019, IEEE Sens. J. 19, 2509).
pub fn cuboid(size: Vec3, polarisation: Vec3, r: Vec3) -> Vec3 {
    if r.length() > FAR * size.length() {
        return dipole(polarisation * (size.x * size.y * size.z / MU_0), r);
    }
    let flip = Vec3::new(
        if r.x < 0.0 { -1.0 } else { 1.0 },
        if r.y > 0.0 { -1.0 } else { 1.0 },
        if r.z > 0.0 { -1.0 } else { 1.0 },
    );
    let (r, j) = (r * flip, polarisation * flip);
    let (mut angle, mut log) = (Vec3::ZERO, Vec3::ZERO);
    for corner in 0..8u32 {
        let side = |axis: u32| if corner >> axis & 1 == 0 { -0.5 } else { 0.5 };
        let d = r + Vec3::new(side(0) * size.x, side(1) * size.y, side(2) * size.z);
        let sign = if corner.count_ones() % 2 == 0 { 1.0 } else { -1.0 };
        let distance = d.length();
        let atan = |a: f64, b: f64, along: f64| (a * b).atan2(along * distance);
        angle += Vec3::new(atan(d.y, d.z, d.x), atan(d.x, d.z, d.y), atan(d.x, d.y, d.z)) * sign;
        log += Vec3::new(log_sum(d.x, d), log_sum(-d.y, d), log_sum(-d.z, d)) * sign;
    }
    let b = Vec3::new(
        j.x * angle.x + j.y * log.z + j.z * log.y,
        j.x * log.z + j.y * angle.y - j.z * log.x,
        j.x * log.y - j.y * log.x + j.z * angle.z,
    );
    b * flip / (4.0 * PI)
}

/// ln(a + |d|), where ±a is a component of d.
fn log_sum(a: f64, d: Vec3) -> f64 {
    let distance = d.length();
    if a >= 0.0 {
        return (a + distance).ln();
    }
    let across2 = (d.length_squared() - a * a).max(f64::MIN_POSITIVE);
    (across2 / (distance - a)).ln()
}
