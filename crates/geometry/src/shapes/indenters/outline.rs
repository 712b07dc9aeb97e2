//! Planar outlines, counter-clockwise, in metres.

use crate::Vec2;
use std::f64::consts::TAU;

/// Number of points on a full circle; the chords deviate by at most 0.06 % of the radius.
pub(super) const AROUND: usize = 96;

pub(super) type Outline = Vec<Vec2>;

/// Points on an arc from one angle to another (rad), both ends included.
fn arc(middle: Vec2, radius_m: f64, from: f64, to: f64) -> impl Iterator<Item = Vec2> {
    let count = (AROUND as f64 * (to - from).abs() / TAU).ceil().max(2.0) as usize;
    (0..=count).map(move |k| middle + radius_m * Vec2::from_angle(from + (to - from) * k as f64 / count as f64))
}

/// A regular polygon whose first corner lies at `phase` (rad).
pub(super) fn regular(middle: Vec2, radius_m: f64, corners: usize, phase: f64) -> Outline {
    (0..corners).map(|k| middle + radius_m * Vec2::from_angle(phase + TAU * k as f64 / corners as f64)).collect()
}

pub(super) fn circle(middle: Vec2, radius_m: f64) -> Outline {
    regular(middle, radius_m, AROUND, 0.0)
}

pub(super) fn rectangle(middle: Vec2, size_m: Vec2) -> Outline {
    [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)].map(|(x, y)| middle + Vec2::new(x, y) * size_m).to_vec()
}

/// Two bars of equal length and width that cross at right angles.
pub(super) fn cross(length_m: f64, width_m: f64) -> Outline {
    let (far, near) = (0.5 * length_m, 0.5 * width_m);
    let arm = [Vec2::new(far, -near), Vec2::new(far, near), Vec2::new(near, near)];
    (0..4).flat_map(|quarter| arm.map(|p| (0..quarter).fold(p, |p, _| p.perp()))).collect()
}

/// A disc minus a second disc whose centre lies `apart_m` to its right, translated so that its width is centred.
pub(super) fn crescent(radius_m: f64, bite_radius_m: f64, apart_m: f64) -> Outline {
    let (big, bite) = (radius_m, bite_radius_m);
    let tip_x = (apart_m * apart_m + big * big - bite * bite) / (2.0 * apart_m);
    let tip = Vec2::new(tip_x, (big * big - tip_x * tip_x).max(0.0).sqrt());
    let bite_middle = Vec2::new(apart_m, 0.0);
    let (outer, inner) = (tip.to_angle(), (tip - bite_middle).to_angle());
    let mut outline: Outline = arc(Vec2::ZERO, big, outer, TAU - outer).collect();
    outline.extend(arc(bite_middle, bite, TAU - inner, inner).skip(1));
    outline.pop();
    let shift = Vec2::new(0.5 * (big - tip_x), 0.0);
    outline.iter().map(|&p| p + shift).collect()
}

/// A disc with a wedge cut out to its centre, opening to the right by `mouth_rad` on either side.
pub(super) fn pacman(radius_m: f64, mouth_rad: f64) -> Outline {
    std::iter::once(Vec2::ZERO).chain(arc(Vec2::ZERO, radius_m, mouth_rad, TAU - mouth_rad)).collect()
}
