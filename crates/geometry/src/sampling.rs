//! Random points on a surface.
//!
//! Both methods are deterministic: the same mesh, parameters and seed give the same points in the same order.

use crate::{Random, TriMesh, Vec3};
use std::collections::HashMap;

/// A point on a triangle of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// Position (m).
    pub point: Vec3,
    /// Outward unit normal of its triangle.
    pub normal: Vec3,
    /// Index of its triangle.
    pub triangle: u32,
}

/// Samples `count` independent points, uniform by area.
pub fn area_uniform(mesh: &TriMesh, count: usize, seed: u64) -> Vec<SurfacePoint> {
    let mut random = Random::new(seed);
    let areas = Areas::new(mesh);
    (0..count).map(|_| areas.draw(mesh, &mut random)).collect()
}

/// Samples points with a minimum distance of `spacing_m` that cover the surface: no point of the surface is farther
/// than 1.06 `spacing_m` from the nearest sample. Distances are Euclidean, so the two sides of a plate thinner than the
/// spacing share their points. Their number is about 0.7 area / spacing²; a spacing that is not positive gives none.
///
/// Random darts come first, which gives the irregular pattern. Then the surface is divided into smaller and smaller
/// triangles: those covered by the ball of one point are discarded, and each of the others gets another dart. A
/// triangle with edges of a tenth of the spacing and a covered centre counts as covered, so the division ends, without
/// gaps.
pub fn poisson_disk(mesh: &TriMesh, spacing_m: f64, seed: u64) -> Vec<SurfacePoint> {
    if spacing_m.is_nan() || spacing_m <= 0.0 {
        return Vec::new();
    }
    let mut random = Random::new(seed);
    let areas = Areas::new(mesh);
    let mut disks = Disks::new(spacing_m);
    let darts = DARTS_PER_DISK * areas.total() / (spacing_m * spacing_m);
    for _ in 0..darts.ceil() as usize {
        disks.try_add(areas.draw(mesh, &mut random));
    }
    for triangle in 0..mesh.triangles().len() {
        let mut pieces = vec![mesh.corners(triangle)];
        while let Some(piece) = pieces.pop() {
            disks.fill(mesh, triangle, piece, &mut random, &mut pieces);
        }
    }
    disks.points
}

/// Darts per expected point: enough for about 90 % of the points; the rest come from filling gaps.
const DARTS_PER_DISK: f64 = 6.0;
/// Edge, in spacings, below which a piece is not divided further.
const SMALLEST: f64 = 0.1;

/// Cumulative sum of the triangle areas.
struct Areas(Vec<f64>);

impl Areas {
    fn new(mesh: &TriMesh) -> Self {
        let mut sum = 0.0;
        let add = |t| {
            sum += mesh.area_vector(t).length();
            sum
        };
        Self((0..mesh.triangles().len()).map(add).collect())
    }

    fn total(&self) -> f64 {
        self.0[self.0.len() - 1]
    }

    fn draw(&self, mesh: &TriMesh, random: &mut Random) -> SurfacePoint {
        let at = random.uniform() * self.total();
        let triangle = self.0.partition_point(|&sum| sum <= at).min(self.0.len() - 1);
        on_triangle(mesh, triangle, inside(&mesh.corners(triangle), random))
    }
}

fn on_triangle(mesh: &TriMesh, triangle: usize, point: Vec3) -> SurfacePoint {
    SurfacePoint { point, normal: mesh.face_normal(triangle), triangle: triangle as u32 }
}

/// A uniform point of a triangle: the distance from a corner follows a square root.
fn inside(&[a, b, c]: &[Vec3; 3], random: &mut Random) -> Vec3 {
    let from_a = random.uniform().sqrt();
    let towards_c = random.uniform();
    a + (b - a) * (from_a * (1.0 - towards_c)) + (c - a) * (from_a * towards_c)
}

/// The accepted points, in grid cells as wide as the spacing.
struct Disks {
    spacing_m: f64,
    points: Vec<SurfacePoint>,
    cells: HashMap<[i64; 3], Vec<u32>>,
}

impl Disks {
    fn new(spacing_m: f64) -> Self {
        Self { spacing_m, points: Vec::new(), cells: HashMap::new() }
    }

    fn cell(&self, point: Vec3) -> [i64; 3] {
        (point / self.spacing_m).floor().to_array().map(|x| x as i64)
    }

    /// True when an accepted point near `point` passes the test.
    fn any_near(&self, point: Vec3, test: impl Fn(Vec3) -> bool) -> bool {
        let [x, y, z] = self.cell(point);
        let around = |x: i64| x.saturating_sub(1)..=x.saturating_add(1);
        around(x).flat_map(|x| around(y).flat_map(move |y| around(z).map(move |z| [x, y, z]))).any(|cell| {
            self.cells.get(&cell).is_some_and(|points| points.iter().any(|&i| test(self.points[i as usize].point)))
        })
    }

    fn covers(&self, point: Vec3) -> bool {
        self.any_near(point, |p| p.distance(point) < self.spacing_m)
    }

    fn try_add(&mut self, candidate: SurfacePoint) {
        if !self.covers(candidate.point) {
            self.cells.entry(self.cell(candidate.point)).or_default().push(self.points.len() as u32);
            self.points.push(candidate);
        }
    }

    /// Covers one piece of a triangle, or splits it into four smaller ones.
    fn fill(
        &mut self,
        mesh: &TriMesh,
        triangle: usize,
        piece: [Vec3; 3],
        random: &mut Random,
        left: &mut Vec<[Vec3; 3]>,
    ) {
        let [a, b, c] = piece;
        let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
        if longest < SMALLEST * self.spacing_m {
            // The centre is at most 0.6 edges from any corner.
            self.try_add(on_triangle(mesh, triangle, (a + b + c) / 3.0));
            return;
        }
        // A ball is convex: if it contains the corners, it contains the piece. The centre of such a ball is near every
        // corner.
        let in_ball = |p: Vec3| piece.iter().all(|corner| p.distance(*corner) < self.spacing_m);
        if longest < 2.0 * self.spacing_m && self.any_near(a, in_ball) {
            return;
        }
        self.try_add(on_triangle(mesh, triangle, inside(&piece, random)));
        let (ab, bc, ca) = ((a + b) * 0.5, (b + c) * 0.5, (c + a) * 0.5);
        left.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
}
