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
