//! Displacements that any skin without a preferred direction can have under a ball: free functions of the distance from it.

use super::marker_fit::Pixels;

/// What moves the markers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// A press.
    Press,
    /// A shear of this direction.
    Shear(Pixels),
    /// A press, then a shear of this direction.
    Both(Pixels),
}

/// Distances (contact radii) between which the functions are linear. At the last they are zero.
const KNOTS: [f64; 7] = [0.0, 0.5, 0.9, 1.3, 1.7, 2.4, 3.4];

/// Displacements at a position relative to the contact, whose sums are those of any isotropic skin, shifted and dilated.
///
/// By symmetry a press moves the surface by f(r) **n**, and a shear **s** by g(r) **s** + h(r) (**n**·**s**) **n**, with **n** the
/// direction from the ball. f and h are zero at its centre, where **n** is not defined.
pub fn free_functions(source: Source, at: Pixels, contact_px: f64) -> Vec<Pixels> {
    let distance = at[0].hypot(at[1]);
    let away = if distance > 0.0 { at.map(|part| part / distance) } else { [0.0; 2] };
    let hats = hats(distance / contact_px);
    let mut columns = vec![[1.0, 0.0], [0.0, 1.0], at.map(|part| 0.01 * part)];
    let mut add = |hats: &[f64], along: Pixels| columns.extend(hats.iter().map(|hat| along.map(|part| part * hat)));
    if let Source::Press | Source::Both(_) = source {
        add(&hats[1..], away);
    }
    if let Source::Shear(shear) | Source::Both(shear) = source {
        add(&hats, shear);
        add(&hats[1..], away.map(|part| part * (away[0] * shear[0] + away[1] * shear[1])));
    }
    columns
}

/// Piecewise linear functions that are 1 at one knot and 0 at all others, for all knots but the last.
fn hats(radii: f64) -> [f64; KNOTS.len() - 1] {
    std::array::from_fn(|i| {
        let rise = if i == 0 { 1.0 } else { (radii - KNOTS[i - 1]) / (KNOTS[i] - KNOTS[i - 1]) };
        let fall = (KNOTS[i + 1] - radii) / (KNOTS[i + 1] - KNOTS[i]);
        rise.min(fall).clamp(0.0, 1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The functions of the distance sum to 1 up to the last but one knot, and vanish beyond the last.
    #[test]
    fn hats_interpolate() {
        for radii in [0.0, 0.2, 0.5, 1.1, 2.39] {
            assert!((hats(radii).iter().sum::<f64>() - 1.0).abs() < 1e-12, "{radii}");
        }
        assert_eq!(hats(3.4), [0.0; 6]);
        assert_eq!(hats(0.9)[2], 1.0);
    }

    /// Rotated with the shear, the field rotates: no direction is preferred.
    #[test]
    fn isotropic() {
        let rotated = |[x, y]: Pixels| [-y, x];
        let (at, shear) = ([21.0, -34.0], [2.0, 1.0]);
        let here = free_functions(Source::Both(shear), at, 38.0);
        let there = free_functions(Source::Both(rotated(shear)), rotated(at), 38.0);
        // The first two are the shift of the whole image.
        for (here, there) in here.iter().zip(&there).skip(2) {
            let off = [0, 1].map(|c| (rotated(*here)[c] - there[c]).abs());
            assert!(off[0].max(off[1]) < 1e-12, "{here:?} {there:?}");
        }
        assert_eq!(here.len(), 3 + 5 + 6 + 5);
    }
}
