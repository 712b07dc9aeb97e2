//! Distributes polygons exactly over the cells of taxels.
//!
//! The load is linear on each triangle of a polygon (fanned from its first corner, as in [`Facet::force_on_sensor`]). A
//! triangle is clipped at the borders of the cells and each piece is integrated in closed form, without sampling: a
//! reading changes continuously while a contact slides over a border, and the parts sum to the whole.

use dermis_geometry::{Bounds, Vec3};
use dermis_skin::{Corner, Facet};

/// A point of a polygon and the traction (Pa) on the sensor there.
#[derive(Clone, Copy, Debug)]
struct Node {
    at: Vec3,
    traction_pa: Vec3,
}

/// The triangles of a polygon facet.
pub(crate) fn triangles(facet: &Facet, corners: &[Corner]) -> impl Iterator<Item = Triangle> {
    let node = |c: &Corner| Node { at: c.at, traction_pa: c.shear_pa - facet.normal * c.pressure_pa };
    (2..corners.len()).map(move |i| Triangle([node(&corners[0]), node(&corners[i - 1]), node(&corners[i])]))
}

/// A triangle over which the traction is linear.
pub(crate) struct Triangle([Node; 3]);

impl Triangle {
    /// A triangle under a traction of 1 Pa along x, so that forces are areas.
    pub fn under_unit_load(corners: [Vec3; 3]) -> Self {
        Self(corners.map(|at| Node { at, traction_pa: Vec3::X }))
    }

    pub fn piece(&self) -> Piece {
        Piece(self.0.to_vec())
    }

    /// Traction at a point of the triangle. A point outside by rounding is moved back, so that the steep gradient of a
    /// sliver cannot amplify a small error into a large load.
    fn traction_pa(&self, at: Vec3) -> Vec3 {
        let [a, b, c] = &self.0;
        let normal = (b.at - a.at).cross(c.at - a.at);
        let share = |p: Vec3, q: Vec3| ((p - at).cross(q - at).dot(normal) / normal.length_squared()).clamp(0.0, 1.0);
        let parts = [share(b.at, c.at), share(c.at, a.at), share(a.at, b.at)];
        let sum: f64 = parts.iter().sum();
        if sum > 0.0 {
            (a.traction_pa * parts[0] + b.traction_pa * parts[1] + c.traction_pa * parts[2]) / sum
        } else {
            (a.traction_pa + b.traction_pa + c.traction_pa) / 3.0
        }
    }

    /// Force (N) of the part of a piece of this triangle that lies within `radius_m` of `center`.
    ///
    /// The ball intersects the triangle's plane in a disc. Relative to the centre of the disc, each edge of the piece
    /// adds its signed triangle where it is inside and the circular sector where it is outside, to the area A and to
    /// the moment M; a linear traction then gives A t(M/A).
    pub fn force_within(&self, piece: &Piece, center: Vec3, radius_m: f64) -> Vec3 {
        let squared = radius_m * radius_m;
        if piece.0.iter().all(|node| node.at.distance_squared(center) <= squared) {
            return piece.force();
        }
        let [a, b, c] = self.0.map(|node| node.at);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let u = (b - a).normalize_or_zero();
        let v = normal.cross(u);
        let over = (center - a).dot(normal);
        let radius_squared = squared - over * over;
        if normal == Vec3::ZERO || radius_squared <= 0.0 {
            return Vec3::ZERO;
        }
        let middle = center - normal * over;
        let flat = |node: &Node| [(node.at - middle).dot(u), (node.at - middle).dot(v)];
        let mut sum = Moments::default();
        for (i, node) in piece.0.iter().enumerate() {
            sum.add_edge(flat(node), flat(&piece.0[(i + 1) % piece.0.len()]), radius_squared);
        }
        let area = sum.area.min(piece.area_m2());
        if area <= 0.0 {
            return Vec3::ZERO;
        }
        let centroid = middle + (u * sum.moment[0] + v * sum.moment[1]) / sum.area;
        self.traction_pa(centroid) * area
    }
}

/// Area and first moment about the centre of a disc.
#[derive(Default)]
struct Moments {
    area: f64,
    moment: [f64; 2],
}

impl Moments {
    fn add_edge(&mut self, p: [f64; 2], q: [f64; 2], radius_squared: f64) {
        let step = [q[0] - p[0], q[1] - p[1]];
        let at = |s: f64| [p[0] + s * step[0], p[1] + s * step[1]];
        // |p + s (q − p)|² = r², where the edge crosses the circle.
        let a = dot(step, step);
        let (half_b, c) = (dot(p, step), dot(p, p) - radius_squared);
        let root = half_b * half_b - a * c;
        if a <= 0.0 {
            return;
        }
        if root <= 0.0 {
            return self.add_sector(p, q, radius_squared);
        }
        let root = root.sqrt();
        let (enters, leaves) = (((-half_b - root) / a).clamp(0.0, 1.0), ((-half_b + root) / a).clamp(0.0, 1.0));
        if enters > 0.0 {
            self.add_sector(p, at(enters), radius_squared);
        }
        if leaves > enters {
            self.add_triangle(at(enters), at(leaves));
        }
        if leaves < 1.0 {
            self.add_sector(at(leaves), q, radius_squared);
        }
    }

    fn add_triangle(&mut self, p: [f64; 2], q: [f64; 2]) {
        let area = 0.5 * cross(p, q);
        self.area += area;
        self.moment[0] += area * (p[0] + q[0]) / 3.0;
        self.moment[1] += area * (p[1] + q[1]) / 3.0;
    }

    fn add_sector(&mut self, p: [f64; 2], q: [f64; 2], radius_squared: f64) {
        let angle = cross(p, q).atan2(dot(p, q));
        self.area += 0.5 * radius_squared * angle;
        // r³/3 (sin β − sin α, cos α − cos β)
        let cube = radius_squared * radius_squared.sqrt() / 3.0;
        let (from, to) = (dot(p, p).sqrt(), dot(q, q).sqrt());
        if from > 0.0 && to > 0.0 {
            self.moment[0] += cube * (q[1] / to - p[1] / from);
            self.moment[1] += cube * (p[0] / from - q[0] / to);
        }
    }
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

/// A convex part of a triangle.
#[derive(Clone, Debug)]
pub(crate) struct Piece(Vec<Node>);

impl Piece {
    pub fn is_empty(&self) -> bool {
        self.0.len() < 3
    }

    pub fn points(&self) -> impl Iterator<Item = Vec3> {
        self.0.iter().map(|node| node.at)
    }

    pub fn bounds(&self) -> Bounds {
        Bounds::around(self.points())
    }

    /// ∫ t dA (N).
    pub fn force(&self) -> Vec3 {
        self.fan().map(|(area, [a, b, c])| (a.traction_pa + b.traction_pa + c.traction_pa) * (area / 3.0)).sum()
    }

    fn area_m2(&self) -> f64 {
        self.fan().map(|(area, _)| area).sum()
    }

    fn fan(&self) -> impl Iterator<Item = (f64, [Node; 3])> {
        (2..self.0.len()).map(|i| {
            let [a, b, c] = [self.0[0], self.0[i - 1], self.0[i]];
            (0.5 * (b.at - a.at).cross(c.at - a.at).length(), [a, b, c])
        })
    }

    /// The part with a negative linear function, and the rest. A piece on which the function vanishes belongs to the
    /// second.
    pub fn split(self, side: impl Fn(Vec3) -> f64) -> (Self, Self) {
        let sides: Vec<f64> = self.0.iter().map(|node| side(node.at)).collect();
        if sides.iter().all(|&s| s >= 0.0) {
            return (Self(Vec::new()), self);
        }
        if sides.iter().all(|&s| s <= 0.0) {
            return (self, Self(Vec::new()));
        }
        let (mut below, mut above) = (Vec::with_capacity(self.0.len() + 1), Vec::with_capacity(self.0.len() + 1));
        for (i, &node) in self.0.iter().enumerate() {
            let next = (i + 1) % self.0.len();
            let (s, t) = (sides[i], sides[next]);
            if s <= 0.0 {
                below.push(node);
            }
            if s >= 0.0 {
                above.push(node);
            }
            if (s < 0.0 && t > 0.0) || (s > 0.0 && t < 0.0) {
                let (part, to) = (s / (s - t), self.0[next]);
                let cut =
                    Node { at: node.at.lerp(to.at, part), traction_pa: node.traction_pa.lerp(to.traction_pa, part) };
                below.push(cut);
                above.push(cut);
            }
        }
        (Self(below), Self(above))
    }
}

#[cfg(test)]
mod tests {
    use crate::Taxels;
    use dermis_geometry::{Random, Vec3};
    use dermis_skin::{Corner, Facet, Load, Tangent, Touch};

    fn facet(at: &[Vec3], load: impl Fn(Vec3) -> (f64, Vec3)) -> Facet {
        let normal = (at[1] - at[0]).cross(at[2] - at[0]).normalize_or_zero();
        let corner = |&at: &Vec3| {
            let (pressure_pa, shear_pa) = load(at);
            Corner { at, pressure_pa, shear_pa: shear_pa - normal * shear_pa.dot(normal) }
        };
        let load = Load::Polygon(at.iter().map(corner).collect());
        Facet { object: 0, normal, depth_m: 0.0, saturated: false, load, tangent: Tangent::default() }
    }

    fn rectangle(x: [f64; 2], y: [f64; 2], z: f64) -> [Vec3; 4] {
        [(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])].map(|(x, y)| Vec3::new(x, y, z))
    }

    fn uniform(at: &[Vec3]) -> Touch {
        Touch::from_facets(vec![facet(at, |_| (1.0, Vec3::ZERO))], 1)
    }

    /// Under 1 Pa the force on each cell is the area of the rectangle inside it.
    #[test]
    fn uniform_pressure_gives_area_fractions() {
        let taxels = Taxels::grid(4, 3, 1.0);
        let (x, y) = ([-2.0, 0.75], [-1.25, 1.5]);
        let (forces, outside) = taxels.bin(&uniform(&rectangle(x, y, -0.1)));
        let overlap = |a: [f64; 2], low: f64| (a[1].min(low + 1.0) - a[0].max(low)).max(0.0);
        for (i, force) in forces.iter().enumerate() {
            let center = taxels.centers()[i];
            let area = overlap(x, center.x - 0.5) * overlap(y, center.y - 0.5);
            assert!((*force + Vec3::Z * area).length() < 1e-14, "taxel {i}: {force} against {area}");
        }
        assert!((outside + Vec3::Z * (0.5 * 2.75)).length() < 1e-14, "{outside}");
    }

    /// A ball of radius r around the only centre, at height h above the plane: area π (r² − h²); and half of it under p
    /// = x: 2 ρ³/3.
    #[test]
    fn the_reach_cuts_a_disc() {
        let taxels = Taxels::points(vec![Vec3::ZERO], vec![Vec3::Z], vec![1.0], 1.0);
        let rho_squared: f64 = 1.0 - 0.36;
        let (forces, outside) = taxels.bin(&uniform(&rectangle([-3.0, 2.0], [-4.0, 1.5], 0.6)));
        let area = std::f64::consts::PI * rho_squared;
        assert!((forces[0].z + area).abs() < 1e-13, "{}", forces[0].z + area);
        assert!((outside.z + 27.5 - area).abs() < 1e-12, "{outside}");
        let half = facet(&rectangle([0.0, 2.0], [-4.0, 1.5], 0.6), |at| (at.x, Vec3::ZERO));
        let (forces, _) = taxels.bin(&Touch::from_facets(vec![half], 1));
        assert!((forces[0].z + 2.0 / 3.0 * rho_squared.powf(1.5)).abs() < 1e-13, "{}", forces[0].z);
    }

    fn layouts() -> Vec<(&'static str, Taxels)> {
        let mut random = Random::new(5);
        let mut dome = Vec::new();
        for _ in 0..60 {
            let (x, y) = (2.0 * random.uniform() - 1.0, 2.0 * random.uniform() - 1.0);
            dome.push(Vec3::new(2.0 * x, 2.0 * y, -0.3 * (x * x + y * y)));
        }
        let points = |reach: f64| Taxels::points(dome.clone(), vec![Vec3::Z; 60], vec![0.2; 60], reach);
        vec![
            ("grid", Taxels::grid(5, 7, 0.6)),
            ("thin grid", Taxels::grid(5, 7, 0.6).with_height(0.3)),
            ("short reach", points(0.4)),
            ("long reach", points(6.0)),
            ("thin points", points(0.8).with_height(0.2)),
        ]
    }

    fn random_triangle(random: &mut Random, size: f64) -> [Vec3; 3] {
        let mut point = |scale: f64| {
            Vec3::new(random.uniform() - 0.5, random.uniform() - 0.5, 0.3 * (random.uniform() - 0.5)) * scale
        };
        let middle = point(4.0);
        std::array::from_fn(|_| middle + point(size))
    }

    #[test]
    fn nothing_is_lost_or_counted_twice() {
        let mut random = Random::new(11);
        for (name, taxels) in layouts() {
            for k in 0..300 {
                let corners = random_triangle(&mut random, [0.1, 1.0, 5.0][k % 3]);
                let one = facet(&corners, |at| (2.0 + at.x - 0.5 * at.y, Vec3::new(at.y, 1.0, at.x)));
                let touch = Touch::from_facets(vec![one], 1);
                let (forces, outside) = taxels.bin(&touch);
                let (sum, whole) = (forces.iter().sum::<Vec3>(), touch.on_sensor.force);
                let scale: f64 = touch.area_m2() * 10.0;
                assert!((sum + outside - whole).length() <= 1e-13 * scale, "{name}: {sum} + {outside} = {whole}");
                if name == "long reach" {
                    assert!(outside.length() <= 1e-13 * scale, "{outside} outside of cells without end");
                }
            }
        }
    }

    /// Brute-force reference: the triangle in 200² small ones, each assigned to the taxel under its centroid.
    #[test]
    fn cells_are_those_of_locate() {
        let mut random = Random::new(2);
        let n = 200;
        for (name, taxels) in layouts() {
            let [a, b, c] = random_triangle(&mut random, 3.0);
            let touch = uniform(&[a, b, c]);
            let (forces, outside) = taxels.bin(&touch);
            let mut counted = vec![0.0; taxels.len() + 1];
            let small = touch.area_m2() / f64::from(n * n);
            for i in 0..n {
                for j in 0..2 * (n - i) - 1 {
                    let third = if j % 2 == 0 { 1.0 } else { 2.0 } / 3.0;
                    let (s, t) = ((f64::from(i) + third) / f64::from(n), (f64::from(j / 2) + third) / f64::from(n));
                    counted[taxels.locate(a + (b - a) * s + (c - a) * t).unwrap_or(taxels.len())] += small;
                }
            }
            for (i, force) in forces.iter().chain([&outside]).enumerate() {
                let gap = (force.length() - counted[i]).abs();
                assert!(gap < 0.01 * touch.area_m2(), "{name}, taxel {i}: {} against {}", force.length(), counted[i]);
            }
        }
    }

    /// In steps of 4e-4 no cell may gain more than the area that the edge of the polygon sweeps in a step.
    #[test]
    fn a_reading_is_continuous_as_a_polygon_slides() {
        for (name, taxels) in layouts() {
            let at = |k: u32| rectangle([0.0, 0.5], [-0.25, 0.25], -0.01).map(|p| p + Vec3::X * (f64::from(k) * 4e-4));
            let mut before = taxels.bin(&uniform(&at(0))).0;
            for k in 1..1250 {
                let now = taxels.bin(&uniform(&at(k))).0;
                for (i, (a, b)) in before.iter().zip(&now).enumerate() {
                    assert!((*a - *b).length() < 1.01 * 0.5 * 4e-4, "{name}: taxel {i} at step {k}");
                }
                before = now;
            }
        }
    }

    /// A wall exactly on a border belongs to one cell.
    #[test]
    fn a_polygon_in_a_border_is_counted_once() {
        let wall = [Vec3::new(0.0, 0.2, 0.0), Vec3::new(0.0, 0.4, 0.0), Vec3::new(0.0, 0.4, 0.3)];
        let points = Taxels::points(vec![-Vec3::X, Vec3::X, Vec3::X], vec![Vec3::Z; 3], vec![1.0; 3], 3.0);
        for taxels in [Taxels::grid(2, 2, 1.0), points] {
            let (forces, outside) = taxels.bin(&uniform(&wall));
            let lit: Vec<usize> = (0..taxels.len()).filter(|&i| forces[i].length() > 0.0).collect();
            assert_eq!((lit.len(), taxels.locate(wall[2] * 0.9)), (1, Some(lit[0])));
            assert!(outside.length() < 1e-16);
        }
    }
}
