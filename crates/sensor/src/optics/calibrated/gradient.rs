//! Derivatives through a calibrated light.

use super::super::gradient::ByRelief;
use super::super::horizon::HorizonAdjoint;
use super::super::position::{count, monomials};
use super::{BLOCK, Calibrated, MIN_HIDDEN, MIN_PRESSED_MM, MIN_SLOPE, SHADOW_POSITION_DEGREE, relative};
use crate::optics::{Horizon, ImageCoordinates, Relief};

impl Calibrated {
    /// Derivatives of a scalar by a relief and by the coefficients `levels` (red, then green, then blue), from those by the
    /// levels of its image. Levels at their limits have none.
    ///
    /// A change f F + g G of a colour, whose factors depend on the hidden part s, has the derivatives f q_k + g r_k by
    /// the monomials of the slope and f' F + g' G by s.
    #[allow(clippy::type_complexity, reason = "a list of named lists")]
    pub(in crate::optics) fn vjp(
        &self,
        relief: &Relief,
        rest: Option<&Relief>,
        by_image: &[Vec<f64>; 3],
    ) -> (ByRelief, Vec<(&'static str, Vec<f64>)>) {
        let pressed = rest.map(|rest| relief.above(rest));
        let relief = pressed.as_ref().unwrap_or(relief);
        let frame = ImageCoordinates::new(relief.width, relief.height, self.area);
        let per = count(self.position_degree);
        let per_shadow = count(SHADOW_POSITION_DEGREE);
        let mut by_relief = ByRelief::zero(relief.z_m.len());
        let mut by_levels = self.levels.each_ref().map(|levels| vec![0.0; levels.len()]);
        let horizons = self.shadow.as_ref().map(|shadow| Horizon::of(relief, &shadow.lamps));
        let mut by_horizons = horizons.as_ref().map(|all| all.each_ref().map(HorizonAdjoint::new));
        let mut values = vec![0.0; self.monomials.len()];
        let places = |at: [f64; 2], degree: usize| -> Vec<f64> {
            monomials(degree).map(|(a, b)| at[0].powi(a as i32) * at[1].powi(b as i32)).collect()
        };
        let weigh = |q: &[f64], place: &[f64]| q.iter().zip(place).map(|(q, place)| q * place).sum::<f64>();
        for start in (0..relief.height).flat_map(|row| (0..relief.width).step_by(BLOCK).map(move |col| (row, col))) {
            let (row, first) = start;
            let last = (first + BLOCK).min(relief.width);
            let pixels = row * relief.width + first..row * relief.width + last;
            let seen = self.seen(relief, pixels.clone());
            let mut horizon = [[0.0; BLOCK]; 3];
            let mut hidden = [[0.0; BLOCK]; 3];
            for (c, (lamp, all)) in
                self.shadow.iter().flat_map(|shadow| &shadow.lamps).zip(horizons.iter().flatten()).enumerate()
            {
                all.row(row, first, &mut horizon[c][..last - first]);
                hidden[c] = horizon[c].map(|tangent| lamp.hidden(tangent));
            }
            // As in `shade`: there the light does not change.
            let is_dark = hidden.iter().flatten().any(|part| *part >= MIN_HIDDEN);
            let depth_mm = |i: usize| self.depth.as_ref().map_or(0.0, |depth| depth.depth_mm(relief, i));
            let is_deep = pixels.clone().any(|i| depth_mm(i).abs() >= MIN_PRESSED_MM);
            if !is_dark && !is_deep && seen.iter().flatten().all(|part| part.abs() < MIN_SLOPE) {
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
                let place = places(at, self.position_degree);
                for (k, product) in self.monomials.iter().enumerate() {
                    values[k] = n[product.factor] * product.earlier.map_or(1.0, |earlier| values[earlier]);
                }
                // Derivatives by the monomials.
                let mut by_values = vec![0.0; self.monomials.len()];
                for c in 0..3 {
                    let q: Vec<f64> = self.levels[c].chunks_exact(per).map(|q| weigh(q, &place)).collect();
                    let lit = weigh(&q, &values);
                    let shadow = self.shadow.as_ref().map(|shadow| {
                        let coarse = places(at, SHADOW_POSITION_DEGREE);
                        let r = shadow.levels[c].chunks_exact(per_shadow).map(|r| weigh(r, &coarse));
                        (&shadow.lamps[c], r.collect::<Vec<f64>>())
                    });
                    let darker = shadow.as_ref().map_or(0.0, |(_, r)| r[0] + weigh(&r[1..], &values));
                    let background = self.background.channels[c][i];
                    let [of_lit, of_darker] = self.composition.factors(background, hidden[c][lane]).map(f64::from);
                    let unhidden = f64::from(self.composition.unhidden(hidden[c][lane]));
                    // D + (I₀/128) E: its coefficients of the monomials, and its value.
                    let relative = f64::from(relative(background));
                    let d: Vec<f64> = self.depth.as_ref().map_or_else(Vec::new, |depth| {
                        let coarse = places(at, SHADOW_POSITION_DEGREE);
                        let [of_d, of_e] = depth.levels.each_ref().map(|levels| levels[c].chunks_exact(per_shadow));
                        of_d.zip(of_e).map(|(d, e)| weigh(d, &coarse) + relative * weigh(e, &coarse)).collect()
                    });
                    let deeper = d.first().map_or(0.0, |first| first + weigh(&d[1..], &values));
                    let depth_mm = f64::from(depth_mm(i));
                    if !self.is_free(c, i, of_lit * lit + of_darker * darker + unhidden * depth_mm * deeper) {
                        continue;
                    }
                    if let Some(depth) = &self.depth {
                        by_values.iter_mut().zip(&d[1..]).for_each(|(sum, d)| *sum += by[c] * unhidden * depth_mm * d);
                        by_relief.z[i] += by[c] * unhidden * deeper * depth.depth_by_height(relief, i);
                    }
                    let [by_lit, by_darker] = [of_lit * by[c], of_darker * by[c]];
                    for (k, by_coefficients) in by_levels[c].chunks_exact_mut(per).enumerate() {
                        by_values[k] += by_lit * q[k];
                        let by_place = by_lit * values[k];
                        by_coefficients.iter_mut().zip(&place).for_each(|(sum, place)| *sum += by_place * place);
                    }
                    if let (Some((lamp, r)), Some(by_horizons)) = (shadow, &mut by_horizons) {
                        by_values.iter_mut().zip(&r[1..]).for_each(|(sum, r)| *sum += by_darker * r);
                        let [more_lit, more_darker] = self.composition.factors_by_hidden(background).map(f64::from);
                        let more_deeper = f64::from(self.composition.unhidden(1.0)) - 1.0;
                        let by_hidden =
                            by[c] * (more_lit * lit + more_darker * darker + more_deeper * depth_mm * deeper);
                        by_horizons[c].add(row, first + lane, by_hidden * lamp.hidden_slope(horizon[c][lane]));
                    }
                }
                let mut by_n = [0.0; 2];
                for (k, product) in self.monomials.iter().enumerate().rev() {
                    by_n[product.factor] += by_values[k] * product.earlier.map_or(1.0, |earlier| values[earlier]);
                    if let Some(earlier) = product.earlier {
                        by_values[earlier] += by_values[k] * n[product.factor];
                    }
                }
                let slope = [f64::from(relief.slope_right[i]), f64::from(relief.slope_down[i])];
                [by_relief.right[i], by_relief.down[i]] = self.by_slope(slope, by_n);
            }
        }
        for (lamp, by_horizon) in self.shadow.iter().flat_map(|shadow| &shadow.lamps).zip(by_horizons.iter().flatten())
        {
            by_horizon.add_by_heights(relief, lamp, &mut by_relief.z);
        }
        (by_relief, vec![("levels", by_levels.concat())])
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
