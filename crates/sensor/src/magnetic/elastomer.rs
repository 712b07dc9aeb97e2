//! A magnetised elastomer as dipoles.

use super::array::place;
use super::field::MU_0;
use super::spec::ElastomerSpec;
use crate::SensorError;
use crate::press::millimetres;
use dermis_geometry::limits::MAX_MAGNETS;
use dermis_geometry::{Vec3, gauss_legendre};

/// Levels beyond those that `pitch` asks for.
const MORE_LEVELS: usize = 2;

/// Mean moment (A m²) of the dipoles of an elastomer, and the place (m) of each with its moment over the mean.
///
/// A layer of dipoles has almost no field outside, so what a chip reads of a press is a small difference of large
/// contributions above each other, and the sum along z must be accurate: it has the points and weights of Gauss and
/// Legendre. Along x and y equal distances are best, as for any sum over a bump.
pub fn cells(name: &str, elastomer: &ElastomerSpec) -> Result<(f64, Vec<(Vec3, f64)>), SensorError> {
    let positive = |key, length| SensorError::check_positive(name, key, length);
    let [x, y, z] = elastomer.size;
    let size = Vec3::new(positive("size", x)?, positive("size", y)?, positive("size", z)?);
    let pitch_m = positive("pitch", elastomer.pitch)?;
    let counts = (size / pitch_m - 1e-9).ceil().max(Vec3::ONE) + Vec3::Z * MORE_LEVELS as f64;
    if counts.element_product() > MAX_MAGNETS as f64 {
        let rule = format!(
            "must have at most {MAX_MAGNETS} cells, got {} × {} × {}: use a larger `pitch`",
            counts.x, counts.y, counts.z
        );
        return Err(SensorError::bad_key(name, "elastomer", rule));
    }
    let remanence = elastomer.remanence.si();
    if remanence <= 0.0 {
        let rule = format!("of the magnets must be positive, got {remanence} T; `directions` sets the poles");
        return Err(SensorError::bad_key(name, "remanence", rule));
    }
    let [columns, rows, levels] = counts.to_array().map(|count| count as usize);
    let middle = |index: usize, count: usize| (index as f64 + 0.5) / count as f64 - 0.5;
    let mut cells = Vec::with_capacity(columns * rows * levels);
    // From the lowest level.
    for (z, weight) in gauss_legendre(levels).into_iter().map(|(z, weight)| (-z, weight)) {
        for i in 0..columns * rows {
            let at = Vec3::new(middle(i % columns, columns), middle(i / columns, rows), 0.5 * z) * size;
            cells.push((at - Vec3::Z * elastomer.depth.si(), 0.5 * weight * levels as f64));
        }
    }
    Ok((remanence * size.element_product() / MU_0 / cells.len() as f64, cells))
}

/// Returns an error for a chip that is nearer to the elastomer than twice its pitch.
pub fn check_distance(
    name: &str,
    elastomer: &ElastomerSpec,
    chips: impl Iterator<Item = Vec3>,
) -> Result<(), SensorError> {
    let half = place(elastomer.size) * 0.5;
    for (index, at) in chips.enumerate() {
        let outside = ((at + Vec3::Z * elastomer.depth.si()).abs() - half).max(Vec3::ZERO).length();
        if outside < 2.0 * elastomer.pitch.si() - 1e-9 {
            let rule = format!(
                "must be at least two of its `pitch` of {} mm from the elastomer: chip {index} is at {} mm; use a `pitch` of at most {} mm",
                millimetres(elastomer.pitch.si()),
                millimetres(outside),
                millimetres(0.5 * outside)
            );
            return Err(SensorError::bad_key(name, "magnetometers", rule));
        }
    }
    Ok(())
}
