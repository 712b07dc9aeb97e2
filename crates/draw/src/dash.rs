//! Dashed lines.

use crate::rect::Rect;
use dermis_geometry::Vec2;

/// Divides a line into dashes and drops those that are not near `reach`.
pub(crate) fn dashes(points: &[Vec2], pattern: &[f64], reach: Rect) -> Vec<Vec<Vec2>> {
    let period: f64 = pattern.iter().sum();
    let (mut done, mut travelled) = (Vec::new(), 0.0);
    let mut current: Vec<Vec2> = Vec::new();
    for ends in points.windows(2) {
        let (from, to) = (ends[0], ends[1]);
        let length = (to - from).length();
        let away = from.x.max(to.x) < reach.left
            || from.x.min(to.x) > reach.right
            || from.y.max(to.y) < reach.top
            || from.y.min(to.y) > reach.bottom;
        if !length.is_finite() || away || length > 1e5 {
            done.push(std::mem::take(&mut current));
            continue;
        }
        let mut position = 0.0;
        while position < length {
            let (on, left) = place_in(pattern, (travelled + position).rem_euclid(period));
            let next = (position + left.max(1e-3)).min(length);
            if on {
                if current.is_empty() {
                    current.push(from + (to - from) * (position / length));
                }
                current.push(from + (to - from) * (next / length));
            } else {
                done.push(std::mem::take(&mut current));
            }
            position = next;
        }
        travelled += length;
    }
    done.push(current);
    done.retain(|dash| dash.len() > 1);
    done
}

/// Whether the pattern is on at a distance (px), and the remaining length (px) of that state.
fn place_in(pattern: &[f64], mut distance: f64) -> (bool, f64) {
    for (i, &part) in pattern.iter().enumerate() {
        if distance < part {
            return (i % 2 == 0, part - distance);
        }
        distance -= part;
    }
    (true, pattern[0])
}
