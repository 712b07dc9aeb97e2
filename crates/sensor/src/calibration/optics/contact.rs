//! Finds the contact of a ball in an image by geometry alone, without a model of the light.

use super::{Dent, Label};
use crate::optics::FloatImage;

/// Part of the radius within which opposite points are compared.
const SYMMETRIC: f64 = 0.45;
/// Part of the radius by which a label may be off.
const SEARCHED: f64 = 0.4;
/// Part of the largest change from which a ring belongs to the edge of the contact.
const EDGE: f64 = 0.75;
/// Directions of a ring.
const DIRECTIONS: usize = 64;
/// Side of the blocks of pixels (pixels) among which a contact is looked for, and how many times the change of the
/// median block it must show.
const BLOCK: usize = 8;
const MIN_CONTRAST: f64 = 4.0;

/// Centre and edge of the contact near a label, or anywhere without one; `None` if the image shows no contact.
///
/// The centre is the point about which the change from the background is closest to odd: the two flanks of a ball have
/// opposite slopes, so a lamp that brightens one darkens the other. The edge is the ring of the largest mean change, where
/// the surface is steepest. Both use the image alone; no light is fitted, so that an error of a light cannot move them.
pub fn find_contact(background: &FloatImage, image: &FloatImage, label: Option<Label>) -> Option<Label> {
    let change = Change { background, image };
    let start = match label {
        Some(label) => label,
        None => change.brightest()?,
    };
    let [column, row] = change.center(start);
    let profile: Vec<f64> =
        (0..(2.0 * start.radius) as usize).map(|far| change.ring(column, row, far as f64)).collect();
    Some(Label { column, row, radius: edge(&profile)? })
}

/// Depth (m) of the dent whose edge has a radius (pixels), among those between the dents of a series.
pub fn depth_of_contact(dents: &[Dent], radius_px: f64) -> f64 {
    const STEPS: usize = 20;
    let Some(deepest) = dents.last() else { return 1e-9 };
    let count = STEPS * dents.len();
    let depths = (1..=count).map(|i| deepest.depth_m * i as f64 / count as f64);
    let off = |depth_m: f64| (contact_of_depth(dents, depth_m) - radius_px).abs();
    depths
        .map(|depth_m| (off(depth_m), depth_m))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(deepest.depth_m, |best| best.1)
}

/// Radius (pixels) of the edge that [`find_contact`] sees of a dent at a depth (m).
pub fn contact_of_depth(dents: &[Dent], depth_m: f64) -> f64 {
    let sines: Vec<f64> = Dent::at_depth(dents, depth_m).slopes().map(|slope| slope / slope.hypot(1.0)).collect();
    edge(&sines).unwrap_or(0.0)
}

/// Centroid of the part of a profile (one value per pixel from the centre) near its maximum.
fn edge(profile: &[f64]) -> Option<f64> {
    let (peak, most) = profile.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if most.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
        return None;
    }
    let weight = |i: usize| (profile[i] / most - EDGE).max(0.0);
    // Only the values connected to the peak: shadows farther away may be as strong.
    let first = (0..peak).rfind(|&i| weight(i) == 0.0).map_or(0, |i| i + 1);
    let last = (peak..profile.len()).find(|&i| weight(i) == 0.0).unwrap_or(profile.len());
    let sum: f64 = (first..last).map(weight).sum();
    Some((first..last).map(|i| i as f64 * weight(i)).sum::<f64>() / sum)
}

/// The change of an image from the background.
struct Change<'a> {
    background: &'a FloatImage,
    image: &'a FloatImage,
}

impl Change<'_> {
    /// Change (levels) at a point, by linear interpolation; `None` outside the image.
    fn at(&self, column: f64, row: f64) -> Option<[f64; 3]> {
        let (width, height) = (self.image.width, self.image.height);
        if !(column >= 0.0 && row >= 0.0 && column < width as f64 - 1.0 && row < height as f64 - 1.0) {
            return None;
        }
        let (i, right, down) = (row as usize * width + column as usize, column.fract(), row.fract());
        let mix = |values: &[f32]| {
            let value = |i: usize| f64::from(values[i]);
            let top = value(i) + (value(i + 1) - value(i)) * right;
            let bottom = value(i + width) + (value(i + width + 1) - value(i + width)) * right;
            top + (bottom - top) * down
        };
        Some([0, 1, 2].map(|c| mix(&self.image.channels[c]) - mix(&self.background.channels[c])))
    }

    /// Root mean square change on a ring.
    fn ring(&self, column: f64, row: f64, radius: f64) -> f64 {
        let (mut sum, mut count) = (0.0, 0usize);
        for k in 0..DIRECTIONS {
            let (sin, cos) = (std::f64::consts::TAU * k as f64 / DIRECTIONS as f64).sin_cos();
            if let Some(change) = self.at(column + radius * cos, row + radius * sin) {
                sum += change.iter().map(|part| part * part).sum::<f64>();
                count += 1;
            }
        }
        // A ring that is mostly outside the image says little.
        if count < DIRECTIONS / 4 { 0.0 } else { (sum / count as f64).sqrt() }
    }

    /// The point about which the change is closest to odd: it minimises Σ(a + b)² / Σ(a² + b²) over opposite points.
    fn center(&self, label: Label) -> [f64; 2] {
        let reach = (SYMMETRIC * label.radius).max(2.0);
        let step = (reach / 12.0).max(1.0);
        let count = (reach / step) as i32;
        let offsets: Vec<[f64; 2]> = (0..=count)
            .flat_map(|down| (-count..=count).map(move |right| [f64::from(right) * step, f64::from(down) * step]))
            // Half a disc is enough: each pair is visited once.
            .filter(|[right, down]| right.hypot(*down) <= reach && (*down > 0.0 || *right > 0.0))
            .collect();
        let odd = |[column, row]: [f64; 2]| {
            let (mut sum, mut squares) = (0.0, 0.0);
            for [right, down] in &offsets {
                let pair = self.at(column + right, row + down).zip(self.at(column - right, row - down));
                let Some((a, b)) = pair else { continue };
                for c in 0..3 {
                    sum += (a[c] + b[c]).powi(2);
                    squares += a[c] * a[c] + b[c] * b[c];
                }
            }
            if squares > 0.0 { sum / squares } else { f64::INFINITY }
        };
        let mut best = [label.column, label.row];
        let mut span = (SEARCHED * label.radius).max(4.0);
        while span > 0.2 {
            let from = best;
            let steps = -3..=3;
            let places = steps.clone().flat_map(|down| steps.clone().map(move |right| [right, down]));
            let scored =
                places.map(|at| [0, 1].map(|k| from[k] + span * f64::from(at[k]) / 3.0)).map(|at| (odd(at), at));
            best = scored.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(best, |(_, at)| at);
            span /= 3.0;
        }
        best
    }

    /// A label at the blocks that change most; `None` if none stands out.
    fn brightest(&self) -> Option<Label> {
        let (cols, rows) = (self.image.width / BLOCK, self.image.height / BLOCK);
        let change = |i: usize| {
            let middle = |at: usize| (at * BLOCK) as f64;
            let points = (0..BLOCK * BLOCK)
                .map(|k| (middle(i % cols) + (k % BLOCK) as f64, middle(i / cols) + (k / BLOCK) as f64));
            // The mean of a block has little noise.
            let mut mean = [0.0; 3];
            for change in points.filter_map(|(column, row)| self.at(column, row)) {
                (0..3).for_each(|c| mean[c] += change[c] / (BLOCK * BLOCK) as f64);
            }
            mean.iter().map(|part| part * part).sum::<f64>().sqrt()
        };
        let changes: Vec<f64> = (0..cols * rows).map(change).collect();
        let mut sorted = changes.clone();
        sorted.sort_by(f64::total_cmp);
        let (median, most) = (*sorted.get(sorted.len() / 2)?, *sorted.last()?);
        // Half a level: an image without any change has no contact either.
        if most < MIN_CONTRAST * median.max(0.5) {
            return None;
        }
        let changed = |i: &usize| changes[*i] > 0.4 * most;
        let count = (0..changes.len()).filter(changed).count() as f64;
        let mean = |at: &dyn Fn(usize) -> usize| {
            (0..changes.len()).filter(changed).map(|i| (at(i) * BLOCK) as f64 + 0.5 * BLOCK as f64).sum::<f64>() / count
        };
        let radius = BLOCK as f64 * (count / std::f64::consts::PI).sqrt();
        Some(Label { column: mean(&|i| i % cols), row: mean(&|i| i / cols), radius })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ball in a light that is no polynomial of the slope: three lamps, clamped.
    fn pressed(column: f64, row: f64, radius: f64) -> (FloatImage, FloatImage) {
        let background = FloatImage::new(240, 200, [120.0, 100.0, 90.0]);
        let mut image = background.clone();
        for i in 0..240 * 200 {
            let (x, y) = ((i % 240) as f64 - column, (i / 240) as f64 - row);
            let far = x.hypot(y) / radius;
            let sine = if far < 1.0 { 0.8 * far } else { 0.8 * (-(far - 1.0) / 0.3).exp() };
            for (c, channel) in image.channels.iter_mut().enumerate() {
                let turn = 0.4 + std::f64::consts::TAU * c as f64 / 3.0;
                let towards = sine * (x * turn.cos() + y * turn.sin()) / x.hypot(y).max(1e-9);
                let noise = ((i * 7919 + c * 104_729) % 13) as f64 / 6.0 - 1.0;
                channel[i] += (70.0 * towards + 12.0 * towards * towards + noise) as f32;
            }
        }
        (background, image)
    }

    #[test]
    fn a_contact_is_found_from_a_loose_label_and_without_one() {
        for (column, row, radius) in [(110.0, 90.0, 30.0), (60.5, 140.25, 22.0), (170.0, 60.0, 40.0)] {
            let (background, image) = pressed(column, row, radius);
            let loose = Label { column: column + 5.0, row: row - 6.0, radius: 1.2 * radius };
            for label in [Some(loose), None] {
                let found = find_contact(&background, &image, label).unwrap();
                let off = (found.column - column).hypot(found.row - row);
                assert!(off < 1.0 && (found.radius / radius - 1.0).abs() < 0.08, "{label:?}: {found:?}");
            }
        }
    }

    #[test]
    fn an_image_without_contact_has_none() {
        let (background, _) = pressed(100.0, 100.0, 30.0);
        assert_eq!(find_contact(&background, &background, None), None);
        let (_, flat) = pressed(-500.0, -500.0, 10.0);
        assert_eq!(find_contact(&background, &flat, None), None);
    }
}
