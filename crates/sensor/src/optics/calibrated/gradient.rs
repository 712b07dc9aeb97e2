//! Derivatives through a calibrated light.

use super::super::gradient::BySlopes;
use super::super::position::{count, monomials};
use super::{BLOCK, Calibrated, MIN_SLOPE};
use crate::optics::{ImageCoordinates, OpticsError, Relief};

impl Calibrated {
    /// Derivatives of a scalar by the slopes of a relief and by the coefficients `levels` (red, then green, then blue), from
    /// those by the levels of its image. Levels at their limits have none.
    #[allow(clippy::type_complexity, reason = "a list of named lists")]
    pub(in crate::optics) fn vjp(
        &self,
        relief: &Relief,
        rest: Option<&Relief>,
        by_image: &[Vec<f64>; 3],
    ) -> Result<(BySlopes, Vec<(&'static str, Vec<f64>)>), OpticsError> {
        if self.shadow.is_some() {
            return Err(OpticsError::NoGradient);
        }
        let pressed = rest.map(|rest| relief.above(rest));
        let relief = pressed.as_ref().unwrap_or(relief);
        let frame = ImageCoordinates::new(relief.width, relief.height, self.area);
        let per = count(self.position_degree);
        let mut by_slopes = BySlopes::zero(relief.z_m.len());
        let mut by_levels = self.levels.each_ref().map(|levels| vec![0.0; levels.len()]);
        let mut values = vec![0.0; self.lit];
        let mut place = vec![0.0; per];
        for start in (0..relief.height).flat_map(|row| (0..relief.width).step_by(BLOCK).map(move |col| (row, col))) {
            let (row, first) = start;
            let last = (first + BLOCK).min(relief.width);
            let pixels = row * relief.width + first..row * relief.width + last;
            let seen = self.seen(relief, pixels.clone());
            // As in `shade`: there the light does not change.
            if seen.iter().flatten().all(|part| part.abs() < MIN_SLOPE) {
                continue;
            }
            for i in pixels {
                let by = [0, 1, 2].map(|c| by_image[c][i]);
                if by == [0.0; 3] {
                    continue;
                }
                let lane = i - row * relief.width - first;
                let n = [f64::from(seen[0][lane]), f64::from(seen[1][lane])];
                let at = frame.at((i % relief.width) as f64, row as f64);
                for (value, (a, b)) in place.iter_mut().zip(monomials(self.position_degree)) {
                    *value = at[0].powi(a as i32) * at[1].powi(b as i32);
                }
                for (k, product) in self.monomials[..self.lit].iter().enumerate() {
                    values[k] = n[product.factor] * product.earlier.map_or(1.0, |earlier| values[earlier]);
                }
                // Derivatives by the monomials.
                let mut by_values = vec![0.0; self.lit];
                for c in 0..3 {
                    let coefficients = self.levels[c].chunks_exact(per);
                    let q: Vec<f64> =
                        coefficients.map(|q| q.iter().zip(&place).map(|(q, place)| q * place).sum()).collect();
                    let change: f64 = q.iter().zip(&values).map(|(q, value)| q * value).sum();
                    if !self.is_free(c, i, change) {
                        continue;
                    }
                    for (k, by_coefficients) in by_levels[c].chunks_exact_mut(per).enumerate() {
                        by_values[k] += by[c] * q[k];
                        let factor = by[c] * values[k];
                        by_coefficients.iter_mut().zip(&place).for_each(|(sum, place)| *sum += factor * place);
                    }
                }
                let mut by_n = [0.0; 2];
                for (k, product) in self.monomials[..self.lit].iter().enumerate().rev() {
                    by_n[product.factor] += by_values[k] * product.earlier.map_or(1.0, |earlier| values[earlier]);
                    if let Some(earlier) = product.earlier {
                        by_values[earlier] += by_values[k] * n[product.factor];
                    }
                }
                let slope = [f64::from(relief.slope_right[i]), f64::from(relief.slope_down[i])];
                [by_slopes.right[i], by_slopes.down[i]] = self.by_slope(slope, by_n);
            }
        }
        Ok((by_slopes, vec![("levels", by_levels.concat())]))
    }

    /// True if neither the change of a level nor the level is at its limit.
    fn is_free(&self, colour: usize, pixel: usize, change: f64) -> bool {
        let [[least, most], [darkest, brightest]] =
            [self.change[colour], self.range[colour]].map(|ends| ends.map(f64::from));
        let background = f64::from(self.background.channels[colour][pixel]);
        let level = background + change;
        change > least && change < most && level > darkest.min(background) && level < brightest.max(background)
    }

    /// Derivatives by the slopes s from those by n = s/√max(1 + s², s²/steepest²).
    fn by_slope(&self, [right, down]: [f64; 2], [by_right, by_down]: [f64; 2]) -> [f64; 2] {
        let squared = right * right + down * down;
        let steep = squared / f64::from(self.steepest).powi(2);
        let is_steep = steep > 1.0 + squared;
        let inner = if is_steep { steep } else { 1.0 + squared };
        let scale = 1.0 / inner.sqrt();
        // d inner = 2 s·ds times this.
        let grows = if is_steep { f64::from(self.steepest).powi(-2) } else { 1.0 };
        let along = (by_right * right + by_down * down) * scale.powi(3) * grows;
        [by_right * scale - right * along, by_down * scale - down * along]
    }
}
