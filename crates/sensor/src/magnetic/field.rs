//! Flux density of permanent magnets, in closed form.

use super::elliptic::cel;
use dermis_geometry::Vec3;
use std::f64::consts::PI;

/// The magnetic constant (T m/A), CODATA 2022.
pub const MU_0: f64 = 1.256_637_061_27e-6;

/// Distance, in diameters of the magnet, from which it is a dipole: the closed forms lose digits with the cube of the
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

/// Flux density (T) outside a cylinder of given diameter and height (m) along z, centred at the origin and magnetised
/// uniformly with `polarisation` (T), at `r` (m).
pub fn cylinder(diameter_m: f64, height_m: f64, polarisation: Vec3, r: Vec3) -> Vec3 {
    if r.length() > FAR * diameter_m.max(height_m) {
        let volume_m3 = 0.25 * PI * diameter_m * diameter_m * height_m;
        return dipole(polarisation * (volume_m3 / MU_0), r);
    }
    let radius = 0.5 * diameter_m;
    let (x, y, z, half) = (r.x / radius, r.y / radius, r.z / radius, 0.5 * height_m / radius);
    let rho = x.hypot(y);
    let (cos, sin) = if rho > 0.0 { (x / rho, y / rho) } else { (1.0, 0.0) };
    let mut field = Vec3::ZERO;
    if polarisation.z != 0.0 {
        let [radial, axial] = axial_cylinder(half, rho, z);
        field += Vec3::new(radial * cos, radial * sin, axial) * polarisation.z;
    }
    let across = polarisation.x.hypot(polarisation.y);
    if across > 0.0 {
        let (px, py) = (polarisation.x / across, polarisation.y / across);
        // Cosine and sine of the angle from the magnetisation to the place.
        let (cos_phi, sin_phi) = (cos * px + sin * py, sin * px - cos * py);
        let [radial, around, axial] = diametral_cylinder(half, rho, z);
        let (radial, around) = (radial * cos_phi, around * sin_phi);
        field += Vec3::new(radial * cos - around * sin, radial * sin + around * cos, axial * cos_phi) * across;
    }
    field
}

/// Radial and axial flux density of a cylinder of unit radius and unit polarisation along its axis (Derby and Olbert
/// 2010, Am. J. Phys. 78, 229, eqs 5 and 6).
fn axial_cylinder(half: f64, rho: f64, z: f64) -> [f64; 2] {
    let gamma = (1.0 - rho) / (1.0 + rho);
    let [upper, lower] = [z + half, z - half].map(|along| {
        let outer2 = along * along + (1.0 + rho).powi(2);
        let kc = ((along * along + (1.0 - rho).powi(2)) / outer2).sqrt();
        let outer = outer2.sqrt();
        let radial = cel(kc, 1.0, 1.0, -1.0) / outer;
        let axial = along * cel(kc, (gamma * gamma).max(f64::MIN_POSITIVE), 1.0, gamma) / outer;
        [radial, axial]
    });
    [(upper[0] - lower[0]) / PI, (upper[1] - lower[1]) / (PI * (1.0 + rho))]
}

/// Field of a cylinder of unit radius and unit polarisation across its axis, without the factors cos φ, sin φ and cos φ
/// of its radial, azimuthal and axial components (Caciagli et al. 2018, J. Magn. Magn. Mater. 456, 423; near the axis
/// the series of Ortner's magpylib). Outside the magnet; inside, the polarisation is missing.
fn diametral_cylinder(half: f64, rho: f64, z: f64) -> [f64; 3] {
    let (upper, lower) = (diametral_end(rho, z + half), diametral_end(rho, z - half));
    std::array::from_fn(|i| upper[i] - lower[i])
}

/// The part of one end face at a distance `t` along the axis.
fn diametral_end(rho: f64, t: f64) -> [f64; 3] {
    let (t2, rho2) = (t * t, rho * rho);
    if rho < 0.05 {
        let q = t2 + 1.0;
        let f = t / q.sqrt();
        let first = f / (q * q) * rho2 / 8.0;
        let second = (3.0 - 4.0 * t2) * f / q.powi(4) / 64.0 * rho2 * rho2;
        let axial = rho / (q * q.sqrt())
            + 3.0 / 8.0 * rho * rho2 * (1.0 - 4.0 * t2) / (q.powi(3) * q.sqrt())
            + 15.0 / 64.0 * rho * rho2 * rho2 * (1.0 - 12.0 * t2 + 8.0 * t2 * t2) / (q.powi(5) * q.sqrt());
        return [-(f + 9.0 * first + 25.0 * second) / 4.0, (f + 3.0 * first + 5.0 * second) / 4.0, -axial / 4.0];
    }
    let (plus, minus) = (rho + 1.0, rho - 1.0);
    let a2 = t2 + minus * minus;
    let a = a2.sqrt();
    let m = -4.0 * rho / a2;
    let kc = (1.0 - m).sqrt();
    let first = cel(kc, 1.0, 1.0, 1.0);
    let second = cel(kc, 1.0, 1.0, kc * kc);
    let (n, by_minus) = if minus == 0.0 { (1e16, 0.0) } else { (-4.0 * rho / (minus * minus), 1.0 / minus) };
    let third = cel(kc, 1.0 - if minus == 0.0 { -n } else { n }, 1.0, 1.0);
    let radial = t * a * second - t / a * (2.0 + t2) * first - t / a * third * plus * (rho2 + 1.0) * by_minus;
    let around = -t * a * second + t / a * (2.0 + t2 + 2.0 * rho2) * first - t / a * plus * plus * third;
    let axial = -a * second + (1.0 + t2 + rho2) / a * first;
    [-radial / (4.0 * PI * rho2), around / (4.0 * PI * rho2), -axial / (2.0 * PI * rho)]
}
