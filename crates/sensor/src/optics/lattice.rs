//! Computes the surface at every pixel at the cost of computing it at every cell.

use super::wide::widest;
use super::{Camera, Membrane};
use dermis_geometry::Vec3;
use dermis_skin::SurfaceField;

/// Nodes in the image, one for each cell of the undeformed surface. The surface is computed at the nodes and
/// interpolated to pixels by cubic B-splines, with continuous slope and curvature.
#[derive(Clone, Copy, Debug)]
pub struct Lattice {
    /// Cell coordinates of the first node: row and column.
    pub first: [isize; 2],
    /// Cells from node to node; more than one if cells are smaller than pixels.
    pub stride: usize,
    /// Rows of nodes.
    pub rows: usize,
    /// Columns of nodes.
    pub cols: usize,
}

/// The four nodes, starting at `first`, that contribute to a pixel, and their weights.
#[derive(Clone, Copy, Debug)]
pub struct Tap {
    /// Index of the first node.
    pub first: usize,
    /// Weight of each node.
    pub weights: [f32; 4],
}

impl Lattice {
    /// The nodes that cover the image of a camera.
    pub fn over(field: &SurfaceField, camera: &Camera) -> Self {
        let sheet = Membrane::new(field);
        let stride = ((camera.pixel_m / field.cell_m) as isize).max(1);
        let corners = [[0.0, 0.0], [camera.width as f64 - 1.0, camera.height as f64 - 1.0]];
        let [a, b] = corners.map(|pixel| sheet.coordinates(camera.on_plane(pixel)));
        // A cubic needs one node before and two after, sharpening one more on each side.
        let span = |i: usize| {
            let first = (a[i].min(b[i]).floor() as isize).div_euclid(stride) - 2;
            let last = (a[i].max(b[i]).floor() as isize).div_euclid(stride) + 3;
            (first * stride, (last - first + 1) as usize)
        };
        let ((first_row, rows), (first_col, cols)) = (span(0), span(1));
        Self { first: [first_row, first_col], stride: stride as usize, rows, cols }
    }

    /// Height (m) of the surface at every pixel, and a mask of the pixels that see the gel (`None`: all).
    pub fn heights(&self, field: &SurfaceField, camera: &Camera) -> (Vec<f32>, Option<Vec<bool>>) {
        let sheet = Membrane::new(field);
        let count = self.rows * self.cols;
        let (mut heights, mut margins) = (Vec::with_capacity(count), Vec::with_capacity(count));
        self.visit(&sheet, camera, |coordinates| {
            heights.push(sheet.height(coordinates) as f32);
            margins.push(sheet.margin(coordinates) as f32);
        });
        let (across, down) = (self.taps(&sheet, camera, 1), self.taps(&sheet, camera, 0));
        let seen = margins.iter().any(|&margin| margin < 0.0).then(|| {
            let margins = enlarge(&margins, self.cols, &across, &down);
            margins.iter().map(|&margin| margin >= 0.0).collect()
        });
        sharpen(&mut heights, self.cols);
        (enlarge(&heights, self.cols, &across, &down), seen)
    }

    /// Displacement in the image (pixels, right and down) of the gel point that each pixel sees without contact.
    pub fn flow(&self, field: &SurfaceField, camera: &Camera) -> [Vec<f32>; 2] {
        let sheet = Membrane::new(field);
        let still = SurfaceField { values: vec![Vec3::ZERO; field.values.len()], ..field.clone() };
        let (mut right, mut down) = (Vec::new(), Vec::new());
        self.visit(&Membrane::new(&still), camera, |coordinates| {
            let (from, to) = (camera.project(sheet.rest(coordinates)), camera.project(sheet.point(coordinates)));
            right.push((to[0] - from[0]) as f32);
            down.push((to[1] - from[1]) as f32);
        });
        let taps = (self.taps(&sheet, camera, 1), self.taps(&sheet, camera, 0));
        [right, down].map(|mut nodes| {
            sharpen(&mut nodes, self.cols);
            enlarge(&nodes, self.cols, &taps.0, &taps.1)
        })
    }

    /// Adds derivatives by the displacement (1/m) of each cell, from those by the height of each pixel: the transpose of
    /// [`Lattice::heights`].
    pub(super) fn add_by_surface(
        &self,
        field: &SurfaceField,
        camera: &Camera,
        by_heights: &[f64],
        by_surface: &mut [Vec3],
    ) {
        let sheet = Membrane::new(field);
        let (across, down) = (self.taps(&sheet, camera, 1), self.taps(&sheet, camera, 0));
        let mut by_nodes = shrink(by_heights, self.rows, self.cols, &across, &down);
        unsharpen(&mut by_nodes, self.cols);
        let mut node = 0;
        self.visit(&sheet, camera, |coordinates| {
            let by_height = by_nodes[node];
            let place = [node / self.cols, node % self.cols];
            node += 1;
            if by_height == 0.0 {
                return;
            }
            let [row, col] = [0, 1].map(|axis| (self.first[axis] + (place[axis] * self.stride) as isize) as f64);
            // The coordinates at which the line of sight meets the surface move with it.
            let slope = sheet.add_by_height(coordinates, by_height, by_surface);
            let (lean_x, lean_y) = lean(camera, sheet.plane([row, col]));
            let patch = sheet.patch(coordinates);
            let miss = |point: Vec3| (point.x - lean_x * point.z, point.y - lean_y * point.z);
            let ((row_x, row_y), (col_x, col_y)) = (miss(patch.by_row), miss(patch.by_col));
            let determinant = row_x * col_y - row_y * col_x;
            if determinant != 0.0 {
                let by_x = -by_height * (slope[0] * col_y - slope[1] * row_y) / determinant;
                let by_y = -by_height * (slope[1] * row_x - slope[0] * col_x) / determinant;
                let by_point = Vec3::new(by_x, by_y, -by_x * lean_x - by_y * lean_y);
                sheet.add_by_patch(coordinates, by_point, by_surface);
            }
        });
    }

    /// Calls `found` with the cell coordinates of the surface point seen at each node, row by row.
    fn visit(&self, sheet: &Membrane<'_>, camera: &Camera, mut found: impl FnMut([f64; 2])) {
        for row in 0..self.rows {
            // Neighbouring nodes have nearly the same offset, which gives a good first guess.
            let mut drift = [0.0; 2];
            for col in 0..self.cols {
                let [row, col] = [(row, self.first[0]), (col, self.first[1])]
                    .map(|(index, first)| (first + (index * self.stride) as isize) as f64);
                let seen = seen_at(sheet, camera, [row, col], drift);
                drift = [seen[0] - row, seen[1] - col];
                found(seen);
            }
        }
    }

    /// The nodes that contribute to each pixel along one axis of the image: 0 down, 1 across.
    pub fn taps(&self, sheet: &Membrane<'_>, camera: &Camera, axis: usize) -> Vec<Tap> {
        let count = [camera.height, camera.width][axis];
        let last = [self.rows, self.cols][axis] - 4;
        let tap = |pixel: usize| {
            let at = if axis == 0 { [0.0, pixel as f64] } else { [pixel as f64, 0.0] };
            let coordinate = sheet.coordinates(camera.on_plane(at))[axis];
            let node = (coordinate - self.first[axis] as f64) / self.stride as f64;
            let first = (node.floor() as usize).saturating_sub(1).min(last);
            let weights = spline((node - 1.0 - first as f64).clamp(0.0, 1.0)).map(|weight| weight as f32);
            Tap { first, weights }
        };
        (0..count).map(tap).collect()
    }
}

/// Sideways shift of the line of sight through a point of the undeformed plane per metre of height.
fn lean(camera: &Camera, target: Vec3) -> (f64, f64) {
    let along = |at: f64, axis: f64| camera.distance_m.map_or(0.0, |distance| (at - axis) / distance);
    (along(target.x, camera.axis_m[0]), along(target.y, camera.axis_m[1]))
}

/// Cell coordinates of the surface point on the line of sight through `node` of the undeformed plane: Newton's method
/// on the surface, interpolated linearly between cells.
fn seen_at(sheet: &Membrane<'_>, camera: &Camera, node: [f64; 2], drift: [f64; 2]) -> [f64; 2] {
    let target = sheet.plane(node);
    let (lean_x, lean_y) = lean(camera, target);
    let miss = |point: Vec3| (point.x - lean_x * point.z, point.y - lean_y * point.z);
    let mut at = [node[0] + drift[0], node[1] + drift[1]];
    for _ in 0..12 {
        let patch = sheet.patch(at);
        let (x, y) = miss(patch.at);
        let (x, y) = (x - target.x, y - target.y);
        let ((row_x, row_y), (col_x, col_y)) = (miss(patch.by_row), miss(patch.by_col));
        let determinant = row_x * col_y - row_y * col_x;
        if determinant == 0.0 {
            break;
        }
        let step = [(x * col_y - y * col_x) / determinant, (row_x * y - row_y * x) / determinant];
        // Limits the step at folds of the surface.
        at = [0, 1].map(|i| at[i] - step[i].clamp(-2.0, 2.0));
        if step[0].abs() + step[1].abs() < camera.sight_step {
            break;
        }
    }
    at
}

/// Weights of four neighbours in a cubic B-spline.
fn spline(t: f64) -> [f64; 4] {
    let s = 1.0 - t;
    let inner = |t: f64| (3.0 * t - 6.0) * t * t + 4.0;
    [s * s * s, inner(t), inner(s), t * t * t].map(|weight| weight / 6.0)
}

/// Subtracts a sixth of the second difference in each direction, which a B-spline adds to a smooth surface. Cubics are
/// then exact, while waves of two nodes, such as the steps of a round rim on square cells, are halved. Nodes at the
/// border are unchanged.
fn sharpen(nodes: &mut [f32], cols: usize) {
    let second = |before: f32, at: f32, after: f32| at - (before - 2.0 * at + after) * (1.0 / 6.0);
    for line in nodes.chunks_exact_mut(cols) {
        let mut before = line[0];
        for i in 1..cols - 1 {
            let at = line[i];
            line[i] = second(before, at, line[i + 1]);
            before = at;
        }
    }
    let mut before = nodes[..cols].to_vec();
    for start in (cols..nodes.len() - cols).step_by(cols) {
        let (head, below) = nodes.split_at_mut(start + cols);
        for ((at, before), after) in head[start..].iter_mut().zip(&mut before).zip(&*below) {
            let own = *at;
            *at = second(*before, own, *after);
            *before = own;
        }
    }
}

/// The transpose of [`sharpen`].
fn unsharpen(nodes: &mut [f64], cols: usize) {
    let rows = nodes.len() / cols;
    let mut transpose = |count: usize, stride: usize, start: usize| {
        let line: Vec<f64> = (0..count).map(|i| nodes[start + i * stride]).collect();
        let inner = |i: usize| if (1..count - 1).contains(&i) { line[i] } else { 0.0 };
        for i in 0..count {
            let beside = if i > 0 { inner(i - 1) } else { 0.0 } + inner(i + 1);
            nodes[start + i * stride] = line[i] + inner(i) / 3.0 - beside / 6.0;
        }
    };
    (0..cols).for_each(|col| transpose(rows, cols, col));
    (0..rows).for_each(|row| transpose(cols, 1, row * cols));
}

/// The transpose of [`enlarge`].
fn shrink(pixels: &[f64], rows: usize, cols: usize, across: &[Tap], down: &[Tap]) -> Vec<f64> {
    let width = across.len();
    let mut wide = vec![0.0; rows * width];
    for (line, tap) in pixels.chunks_exact(width).zip(down) {
        for (i, weight) in tap.weights.into_iter().enumerate() {
            let out = &mut wide[(tap.first + i) * width..][..width];
            out.iter_mut().zip(line).for_each(|(sum, by)| *sum += f64::from(weight) * by);
        }
    }
    let mut nodes = vec![0.0; rows * cols];
    for (line, out) in wide.chunks_exact(width).zip(nodes.chunks_exact_mut(cols)) {
        for (by, tap) in line.iter().zip(across) {
            for (i, weight) in tap.weights.into_iter().enumerate() {
                out[tap.first + i] += f64::from(weight) * by;
            }
        }
    }
    nodes
}

/// Interpolates nodes to pixels: rows first, then columns.
fn enlarge(nodes: &[f32], cols: usize, across: &[Tap], down: &[Tap]) -> Vec<f32> {
    let width = across.len();
    let mut wide = Vec::with_capacity(nodes.len() / cols * width);
    for line in nodes.chunks_exact(cols) {
        wide.extend(across.iter().map(|tap| {
            let four = &line[tap.first..tap.first + 4];
            four[0] * tap.weights[0] + four[1] * tap.weights[1] + four[2] * tap.weights[2] + four[3] * tap.weights[3]
        }));
    }
    let mut pixels = vec![0.0; width * down.len()];
    for (line, tap) in pixels.chunks_exact_mut(width).zip(down) {
        mix(&wide[tap.first * width..(tap.first + 4) * width], tap.weights, line);
    }
    pixels
}

widest! {
    /// Weighted sum of four consecutive lines.
    fn mix(lines: &[f32], weights: [f32; 4], out: &mut [f32]) {
        let [wa, wb, wc, wd] = weights;
        let (a, rest) = lines.split_at(out.len());
        let (b, rest) = rest.split_at(out.len());
        let (c, d) = rest.split_at(out.len());
        for ((((pixel, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *pixel = a * wa + b * wb + c * wc + d * wd;
        }
    }
}
