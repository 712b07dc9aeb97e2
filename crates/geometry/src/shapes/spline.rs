//! Smooth curves through a few given values.

/// A cubic through every knot `(x, values)` with increasing `x`. Its slopes follow from the neighbours (Catmull–Rom for
/// uneven knots); it is constant beyond the ends.
pub(super) fn spline<const N: usize>(knots: &[(f64, [f64; N])], x: f64) -> [f64; N] {
    let last = knots.len() - 1;
    let after = knots.partition_point(|knot| knot.0 <= x);
    if after == 0 {
        return knots[0].1;
    }
    if after > last {
        return knots[last].1;
    }
    let (left, right) = (knots[after - 1], knots[after]);
    let width = right.0 - left.0;
    let part = (x - left.0) / width;
    std::array::from_fn(|value| {
        let slope = |i: usize| {
            let (before, behind) = (knots[i.saturating_sub(1)], knots[(i + 1).min(last)]);
            (behind.1[value] - before.1[value]) / (behind.0 - before.0) * width
        };
        let (from, to) = (left.1[value], right.1[value]);
        let (start, end) = (slope(after - 1), slope(after));
        let rise = to - from;
        from + part * (start + part * ((3.0 * rise - 2.0 * start - end) + part * (start + end - 2.0 * rise)))
    })
}

/// Smooth step from 0 at `from` to 1 at `to` with zero slope at both ends; `from` may be the larger.
pub(super) fn smooth_step(from: f64, to: f64, x: f64) -> f64 {
    let part = ((x - from) / (to - from)).clamp(0.0, 1.0);
    part * part * (3.0 - 2.0 * part)
}

/// Distance from the centre to the superellipse |u/a|ᵖ + |v/b|ᵖ = 1 in the unit direction (u, v).
pub(super) fn superellipse(a: f64, b: f64, power: f64, u: f64, v: f64) -> f64 {
    ((u / a).abs().powf(power) + (v / b).abs().powf(power)).powf(-1.0 / power)
}
