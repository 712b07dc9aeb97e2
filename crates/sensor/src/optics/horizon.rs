//! Cast shadows: how far the surface rises above each point towards a lamp.

use super::{Relief, SideLamp};

/// Distance between the nodes (m), at least one pixel.
const NODE_M: f64 = 0.2e-3;
/// Number of points on a line of sight, and the distance of the last (m).
const POINTS: usize = 32;
const REACH_M: f64 = 8e-3;

/// Distances (m) of the points on a line of sight: denser near its start.
pub fn sight_points_m() -> [f32; POINTS] {
    std::array::from_fn(|i| (REACH_M * ((i + 1) as f64 / POINTS as f64).powf(1.5)) as f32)
}

/// Pixels between the nodes of [`Horizon`].
pub fn node_stride(pixel_m: f64) -> usize {
    ((NODE_M / pixel_m).round() as usize).max(1)
}

/// Nodes along a side of a tile.
const TILE: usize = 8;

/// Horizon of a relief towards one lamp, at every `stride`-th pixel: tangents of elevations, at least that of the lamp's
/// lower edge.
#[derive(Clone, Debug)]
pub struct Horizon {
    stride: usize,
    cols: usize,
    tangents: Vec<f32>,
    /// For each row of nodes, the columns from the first to after the last node above the lamp's lower edge.
    raised: Vec<[usize; 2]>,
}

/// Heights towards the camera (m) at every `stride`-th pixel of a relief.
struct Nodes {
    stride: usize,
    cols: usize,
    rows: usize,
    heights_m: Vec<f32>,
    tiles: Tiles,
    middle: [f32; 2],
    pixel_m: f32,
}

/// Lowest and highest node of square groups of nodes; the highest includes the nodes one column and row farther, so that
/// it bounds what is interpolated from a group on.
struct Tiles {
    cols: usize,
    rows: usize,
    lowest_m: Vec<f32>,
    highest_m: Vec<f32>,
}

impl Tiles {
    fn of(heights_m: &[f32], [cols, rows]: [usize; 2]) -> Self {
        let mut tiles = Self {
            cols: cols.div_ceil(TILE),
            rows: rows.div_ceil(TILE),
            lowest_m: Vec::with_capacity(heights_m.len() / (TILE * TILE)),
            highest_m: Vec::with_capacity(heights_m.len() / (TILE * TILE)),
        };
        for row in (0..rows).step_by(TILE) {
            for col in (0..cols).step_by(TILE) {
                let (mut lowest, mut highest) = (f32::INFINITY, f32::NEG_INFINITY);
                for line in heights_m.chunks_exact(cols).skip(row).take(TILE + 1) {
                    for &height in &line[col..(col + TILE + 1).min(cols)] {
                        lowest = lowest.min(height);
                        highest = highest.max(height);
                    }
                }
                tiles.lowest_m.push(lowest);
                tiles.highest_m.push(highest);
            }
        }
        tiles
    }

    /// Highest node in a range of columns and rows of nodes.
    fn highest_in(&self, [left, right]: [f32; 2], [top, bottom]: [f32; 2]) -> f32 {
        let tile = |at: f32, count: usize| (at.max(0.0) as usize / TILE).min(count - 1);
        let mut highest = f32::NEG_INFINITY;
        for row in tile(top, self.rows)..=tile(bottom, self.rows) {
            let line = &self.highest_m[row * self.cols..(row + 1) * self.cols];
            for height in &line[tile(left, self.cols)..=tile(right, self.cols)] {
                highest = highest.max(*height);
            }
        }
        highest
    }
}

impl Nodes {
    /// The nodes of a relief.
    fn of(relief: &Relief) -> Self {
        let stride = node_stride(relief.pixel_m);
        let count = |pixels: usize| (pixels - 1).div_ceil(stride) + 1;
        let (cols, rows) = (count(relief.width), count(relief.height));
        let mut heights_m = Vec::with_capacity(cols * rows);
        for row in (0..rows).map(|row| (row * stride).min(relief.height - 1)) {
            let line = &relief.z_m[row * relief.width..(row + 1) * relief.width];
            heights_m.extend((0..cols).map(|col| -line[(col * stride).min(relief.width - 1)]));
        }
        let tiles = Tiles::of(&heights_m, [cols, rows]);
        let middle = [0.5 * (relief.width as f32 - 1.0), 0.5 * (relief.height as f32 - 1.0)];
        Self { stride, cols, rows, heights_m, tiles, middle, pixel_m: relief.pixel_m as f32 }
    }

    /// The four nodes around coordinates of nodes, and the parts of the second column and row.
    #[inline(always)]
    fn around(&self, x: f32, y: f32) -> ([usize; 4], [f32; 2]) {
        let (x, y) = (x.clamp(0.0, (self.cols - 1) as f32), y.clamp(0.0, (self.rows - 1) as f32));
        let (col, row) = ((x as usize).min(self.cols.max(2) - 2), (y as usize).min(self.rows.max(2) - 2));
        let (beside, below) = ((col + 1).min(self.cols - 1), (row + 1).min(self.rows - 1));
        let (above, below) = (row * self.cols, below * self.cols);
        ([above + col, above + beside, below + col, below + beside], [x - col as f32, y - row as f32])
    }

    /// Linear interpolation at coordinates of nodes.
    #[inline(always)]
    fn at(&self, x: f32, y: f32) -> f32 {
        let (nodes, [right, down]) = self.around(x, y);
        let [a, b, c, d] = nodes.map(|node| self.heights_m[node]);
        let (top, bottom) = (a + (b - a) * right, c + (d - c) * right);
        top + (bottom - top) * down
    }

    /// The pixel of a node of a relief.
    fn pixel(&self, node: usize, relief: &Relief) -> usize {
        let [row, col] = [node / self.cols, node % self.cols].map(|index| index * self.stride);
        row.min(relief.height - 1) * relief.width + col.min(relief.width - 1)
    }

    /// Unit vector (right, down) from a node to a lamp.
    #[inline(always)]
    fn towards(&self, lamp: &SideLamp, [col, row]: [usize; 2]) -> [f32; 2] {
        let from = [
            (col as f32 * self.stride as f32 - self.middle[0]) * self.pixel_m,
            (row as f32 * self.stride as f32 - self.middle[1]) * self.pixel_m,
        ];
        lamp.seen_from(from).direction
    }

    /// Upper bound of the height at each point of the lines of sight from a tile (first and last column and row).
    fn bounds_m(&self, lamp: &SideLamp, cols: [usize; 2], rows: [usize; 2], points: &[f32; POINTS]) -> [f32; POINTS] {
        let corners = [0, 1, 2, 3].map(|i| self.towards(lamp, [cols[i % 2], rows[i / 2]]));
        let [mut right, mut down] = [0, 1].map(|axis| {
            let along = corners.map(|corner| corner[axis]);
            [along.into_iter().fold(f32::INFINITY, f32::min), along.into_iter().fold(f32::NEG_INFINITY, f32::max)]
        });
        // Between directions that differ by an angle a, a component exceeds both ends by up to 1 − cos(a/2).
        let apart = (right[1] - right[0]).hypot(down[1] - down[0]);
        let more = if apart < 0.5 { 0.2 * apart * apart } else { 2.0 };
        [right[0], right[1], down[0], down[1]] = [right[0] - more, right[1] + more, down[0] - more, down[1] + more];
        let ends = |ends: [usize; 2], along: [f32; 2], far: f32| {
            [ends[0] as f32 + along[0] * far - 0.01, ends[1] as f32 + along[1] * far + 0.01]
        };
        let node_m = self.pixel_m * self.stride as f32;
        points.map(|distance| {
            let far = distance / node_m;
            self.tiles.highest_in(ends(cols, right, far), ends(rows, down, far))
        })
    }

    /// The point on the line of sight from a node to a lamp that has this tangent: its index, its distance (m) and its
    /// coordinates of nodes. `None` at the lamp's lower edge.
    fn caster(&self, lamp: &SideLamp, node: usize, tangent: f32) -> Option<(usize, f32, [f32; 2])> {
        if tangent <= lamp.lower {
            return None;
        }
        let (col, row) = (node % self.cols, node / self.cols);
        let [right, down] = self.towards(lamp, [col, row]);
        let (node_m, own) = (self.pixel_m * self.stride as f32, self.heights_m[node]);
        let point = |(i, distance): (usize, f32)| {
            let (x, y) = (col as f32 + right * distance / node_m, row as f32 + down * distance / node_m);
            ((self.at(x, y) - own) / distance == tangent).then_some((i, distance, [x, y]))
        };
        sight_points_m().into_iter().enumerate().find_map(point)
    }

    /// The horizon towards a lamp. Tiles from which no line of sight can rise above the lamp's lower edge are left out.
    fn horizon(&self, lamp: &SideLamp) -> Horizon {
        let points_m = sight_points_m();
        let node_m = self.pixel_m * self.stride as f32;
        let mut tangents = vec![lamp.lower; self.cols * self.rows];
        for (tile, lowest) in self.tiles.lowest_m.iter().enumerate() {
            let ends = |first: usize, count: usize| [first * TILE, (first * TILE + TILE - 1).min(count - 1)];
            let cols = ends(tile % self.tiles.cols, self.cols);
            let rows = ends(tile / self.tiles.cols, self.rows);
            let bounds = self.bounds_m(lamp, cols, rows, &points_m);
            let Some(last) = (0..POINTS).rfind(|&k| bounds[k] - lowest > lamp.lower * points_m[k]) else { continue };
            let mut beyond = bounds;
            (0..last).rev().for_each(|k| beyond[k] = beyond[k].max(beyond[k + 1]));
            for (col, row) in (rows[0]..=rows[1]).flat_map(|row| (cols[0]..=cols[1]).map(move |col| (col, row))) {
                let [right, down] = self.towards(lamp, [col, row]);
                let i = row * self.cols + col;
                let own = self.heights_m[i];
                let mut tangent = lamp.lower;
                for k in 0..=last {
                    let distance = points_m[k];
                    // Nothing farther away rises above the horizon found.
                    if beyond[k] - own <= tangent * distance {
                        break;
                    }
                    if bounds[k] - own > tangent * distance {
                        let there =
                            self.at(col as f32 + right * distance / node_m, row as f32 + down * distance / node_m);
                        tangent = tangent.max((there - own) / distance);
                    }
                }
                tangents[i] = tangent;
            }
        }
        let raised = |line: &[f32]| {
            let first = line.iter().position(|tangent| *tangent > lamp.lower);
            let last = line.iter().rposition(|tangent| *tangent > lamp.lower);
            [first.unwrap_or(usize::MAX), last.map_or(0, |last| last + 1)]
        };
        let raised = tangents.chunks_exact(self.cols).map(raised).collect();
        Horizon { stride: self.stride, cols: self.cols, tangents, raised }
    }
}

impl Horizon {
    /// Horizons (tangents) of a relief towards several lamps.
    pub fn of<const N: usize>(relief: &Relief, lamps: &[SideLamp; N]) -> [Self; N] {
        let nodes = Nodes::of(relief);
        std::array::from_fn(|i| nodes.horizon(&lamps[i]))
    }

    /// The rows of nodes above and below a row of pixels.
    fn rows_around(&self, row: usize) -> [usize; 2] {
        let above = (row / self.stride).min(self.raised.len().max(2) - 2);
        [above, (above + 1).min(self.raised.len() - 1)]
    }

    /// For each node, a number of the point on its line of sight that is the horizon; zero at the lamp's lower edge.
    pub(super) fn casters(&self, relief: &Relief, lamp: &SideLamp) -> Vec<u64> {
        let nodes = Nodes::of(relief);
        let caster = |(node, &tangent)| nodes.caster(lamp, node, tangent).map_or(0, |(point, ..)| point as u64 + 1);
        self.tangents.iter().enumerate().map(caster).collect()
    }

    /// The nodes between which the horizon of a pixel is interpolated.
    pub(super) fn nodes_around(&self, row: usize, col: usize) -> [usize; 4] {
        let left = (col / self.stride).min(self.cols.max(2) - 2);
        let [above, below] = self.rows_around(row).map(|row| row * self.cols);
        let beside = (left + 1).min(self.cols - 1);
        [above + left, above + beside, below + left, below + beside]
    }

    /// False if `count` pixels of a row from a column on all have the horizon of the lamp's lower edge.
    pub fn is_raised(&self, row: usize, first: usize, count: usize) -> bool {
        // One node more on the left, because positions between nodes are rounded.
        let (from, to) = ((first / self.stride).saturating_sub(1), (first + count) / self.stride + 2);
        self.rows_around(row).iter().any(|&row| self.raised[row][0] < to && self.raised[row][1] > from)
    }

    /// Writes the horizon of `out.len()` pixels from a column on, by linear interpolation between nodes.
    pub fn row(&self, row: usize, first: usize, out: &mut [f32]) {
        let [above, below] = self.rows_around(row);
        let down = (row - above * self.stride) as f32 / self.stride as f32;
        let per_stride = 1.0 / self.stride as f32;
        let line = |row: usize| &self.tangents[row * self.cols..(row + 1) * self.cols];
        let (above, below) = (line(above), line(below));
        for (i, out) in out.iter_mut().enumerate() {
            let x = (first + i) as f32 * per_stride;
            let col = (x as usize).min(self.cols.max(2) - 2);
            let beside = (col + 1).min(self.cols - 1);
            let right = x - col as f32;
            let top = above[col] + (above[beside] - above[col]) * right;
            let bottom = below[col] + (below[beside] - below[col]) * right;
            *out = top + (bottom - top) * down;
        }
    }
}

/// Derivatives of a scalar by the tangents of a horizon.
pub(super) struct HorizonAdjoint<'a> {
    horizon: &'a Horizon,
    by_tangents: Vec<f64>,
}

impl<'a> HorizonAdjoint<'a> {
    pub fn new(horizon: &'a Horizon) -> Self {
        Self { horizon, by_tangents: vec![0.0; horizon.tangents.len()] }
    }

    /// Adds the derivative by the horizon of a pixel: the transpose of [`Horizon::row`].
    pub fn add(&mut self, row: usize, col: usize, by: f64) {
        let Horizon { stride, cols, .. } = *self.horizon;
        let [above, below] = self.horizon.rows_around(row);
        let down = (row - above * stride) as f64 / stride as f64;
        let x = col as f64 / stride as f64;
        let left = (x as usize).min(cols.max(2) - 2);
        let beside = (left + 1).min(cols - 1);
        let right = x - left as f64;
        for (row, part) in [(above, 1.0 - down), (below, down)] {
            self.by_tangents[row * cols + left] += by * part * (1.0 - right);
            self.by_tangents[row * cols + beside] += by * part * right;
        }
    }

    /// Adds derivatives by the height (1/m) of each pixel, at the points of the lines of sight that are the horizon.
    pub fn add_by_heights(&self, relief: &Relief, lamp: &SideLamp, by_z: &mut [f64]) {
        let nodes = Nodes::of(relief);
        for (node, &by) in self.by_tangents.iter().enumerate().filter(|(_, by)| **by != 0.0) {
            let tangent = self.horizon.tangents[node];
            let Some((distance, [x, y])) = nodes.caster(lamp, node, tangent).map(|(_, distance, at)| (distance, at))
            else {
                continue;
            };
            let by_height = by / f64::from(distance);
            // A height towards the camera is −z.
            by_z[nodes.pixel(node, relief)] += by_height;
            let (around, [right, down]) = nodes.around(x, y);
            let parts = [(1.0 - right) * (1.0 - down), right * (1.0 - down), (1.0 - right) * down, right * down];
            for (there, part) in around.into_iter().zip(parts) {
                by_z[nodes.pixel(there, relief)] -= by_height * f64::from(part);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optics::SideLampSpec;
    use dermis_geometry::quantity::{Angle, Length};

    fn lamp(azimuth_deg: f64, distance_m: Option<f64>) -> SideLamp {
        SideLampSpec {
            azimuth: Angle::new(azimuth_deg.to_radians()),
            distance: distance_m.map(Length::new),
            elevation: [10f64, 20.0].map(|degrees| Angle::new(degrees.to_radians())),
        }
        .build()
        .unwrap()
    }

    /// A plateau of height H hides a lamp of elevation e from the points closer than H / tan e behind it.
    #[test]
    fn a_plateau_hides_the_lamp_behind_it() {
        let (width, height, pixel_m, high_m) = (240, 60, 1e-4, 4e-4f32);
        let z_m = (0..width * height).map(|i| if i % width >= 150 { -high_m } else { 0.0 }).collect::<Vec<_>>();
        let relief = Relief {
            width,
            height,
            pixel_m,
            slope_right: vec![0.0; z_m.len()],
            slope_down: vec![0.0; z_m.len()],
            z_m,
            seen: None,
        };
        let [from_right, from_left] = Horizon::of(&relief, &[lamp(0.0, None), lamp(180.0, Some(0.5))]);
        let mut line = vec![0.0; width];
        from_right.row(30, 0, &mut line);
        for (col, tangent) in line.iter().enumerate().take(145).skip(90) {
            let expected = f64::from(high_m) / ((150 - col) as f64 * pixel_m);
            let expected = expected.max(10f64.to_radians().tan());
            assert!((f64::from(*tangent) - expected).abs() < 0.08 + 0.1 * expected, "{col}: {tangent} {expected}");
        }
        from_left.row(30, 0, &mut line);
        assert!(line[..150].iter().all(|tangent| *tangent == lamp(0.0, None).lower));
        let lamp = lamp(0.0, None);
        assert_eq!([lamp.hidden(0.1), lamp.hidden(0.4)], [0.0, 1.0]);
        assert!((lamp.hidden(0.5 * (10f32.to_radians().tan() + 20f32.to_radians().tan())) - 0.5).abs() < 1e-5);
    }

    /// Tiles that are left out change nothing: every node has the horizon of its whole line of sight.
    #[test]
    fn horizons_are_those_of_every_point_on_the_lines_of_sight() {
        let (width, height, pixel_m) = (300, 200, 0.6e-4);
        let bump = |x: f64, y: f64, col: f64, row: f64| (-((x - col).powi(2) + (y - row).powi(2)) / 300.0).exp();
        let z = |i: usize| {
            let (x, y) = ((i % width) as f64, (i / width) as f64);
            (-6e-4 * bump(x, y, 90.0, 60.0) + 3e-4 * bump(x, y, 200.0, 40.0) - 2e-4 * bump(x, y, 290.0, 190.0)) as f32
        };
        let z_m: Vec<f32> = (0..width * height).map(z).collect();
        let flat = vec![0.0; z_m.len()];
        let relief = Relief { width, height, pixel_m, slope_right: flat.clone(), slope_down: flat, z_m, seen: None };
        let nodes = Nodes::of(&relief);
        let node_m = nodes.pixel_m * nodes.stride as f32;
        // Far away, beside the image, and above the image itself.
        for (azimuth, distance_m) in [(20.0, None), (140.0, Some(12e-3)), (250.0, Some(9e-3)), (0.0, Some(3e-3))] {
            let lamp = lamp(azimuth, distance_m);
            let horizon = nodes.horizon(&lamp);
            let mut raised = 0;
            for (i, tangent) in horizon.tangents.iter().enumerate() {
                let (col, row) = (i % nodes.cols, i / nodes.cols);
                let [right, down] = nodes.towards(&lamp, [col, row]);
                let to = |far: f32| nodes.at(col as f32 + right * far / node_m, row as f32 + down * far / node_m);
                let seen = sight_points_m().map(|far| (to(far) - nodes.heights_m[i]) / far);
                let expected = seen.into_iter().fold(lamp.lower, f32::max);
                assert_eq!(*tangent, expected, "{azimuth} {col} {row}");
                raised += usize::from(expected > lamp.lower);
                // Pixels beside a raised node are not left out.
                let pixel = [(col * nodes.stride).min(width - 1), (row * nodes.stride).min(height - 1)];
                assert!(expected == lamp.lower || horizon.is_raised(pixel[1], pixel[0], 1), "{azimuth} {col} {row}");
            }
            assert!(raised > 50 && raised < nodes.heights_m.len() / 2, "{raised}");
        }
    }
}
