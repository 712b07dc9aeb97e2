//! Convex shapes with ray intersection in closed form.

mod nearest;
mod solid;

use crate::shapes::{self, ShapeError};
use crate::{Bounds, Mat3, Pose, Ray, TriMesh, Vec3};
use serde::{Deserialize, Serialize};

/// An exact convex shape centred at the origin of its frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Primitive {
    /// A sphere.
    Sphere {
        /// Radius (m).
        radius_m: f64,
    },
    /// An ellipsoid: x²/a² + y²/b² + z²/c² ≤ 1.
    Ellipsoid {
        /// Semi-axes a, b and c (m).
        semi_axes_m: Vec3,
    },
    /// An axis-aligned box.
    Cuboid {
        /// Half extents (m).
        half_m: Vec3,
    },
    /// A cylinder along z with flat ends.
    Cylinder {
        /// Radius (m).
        radius_m: f64,
        /// Half length (m).
        half_length_m: f64,
    },
    /// A capsule along z.
    Capsule {
        /// Radius (m).
        radius_m: f64,
        /// Half length of the straight part (m).
        half_length_m: f64,
    },
}

/// The interval of a line inside a convex shape.
#[derive(Clone, Copy)]
struct Inside {
    enter: f64,
    leave: f64,
}

impl Inside {
    /// The whole line.
    const ALL: Self = Self { enter: f64::NEG_INFINITY, leave: f64::INFINITY };

    /// The interval where |o + t d| ≤ 1; t is in units of |d|. Avoids cancellation: the discriminant is computed from
    /// the distance of the line from the centre.
    fn unit_ball(o: Vec3, d: Vec3) -> Option<Self> {
        let dd = d.length_squared();
        let middle = -o.dot(d) / dd;
        let passes = (o + d * middle).length_squared();
        let half = ((1.0 - passes) / dd).sqrt();
        (passes <= 1.0).then_some(Self { enter: middle - half, leave: middle + half })
    }

    /// The interval where the line is between −half and half along one axis.
    fn slab(o: f64, d: f64, half: f64) -> Option<Self> {
        if d == 0.0 {
            return (o.abs() <= half).then_some(Self::ALL);
        }
        let (a, b) = ((-half - o) / d, (half - o) / d);
        Some(Self { enter: a.min(b), leave: a.max(b) })
    }

    /// The interval where the line is within `radius` of the z axis.
    fn round(o: Vec3, d: Vec3, radius: f64) -> Option<Self> {
        let (o, d) = (Vec3::new(o.x, o.y, 0.0) / radius, Vec3::new(d.x, d.y, 0.0) / radius);
        if d == Vec3::ZERO { (o.length_squared() <= 1.0).then_some(Self::ALL) } else { Self::unit_ball(o, d) }
    }

    fn and(self, other: Self) -> Option<Self> {
        let both = Self { enter: self.enter.max(other.enter), leave: self.leave.min(other.leave) };
        (both.enter <= both.leave).then_some(both)
    }

    /// Smallest interval that contains both: that of the convex union of two shapes.
    fn or(self, other: Self) -> Self {
        Self { enter: self.enter.min(other.enter), leave: self.leave.max(other.leave) }
    }
}

impl Primitive {
    /// The first intersection of the ray with the surface: its distance (m) and the outward unit normal there. A ray
    /// that starts inside intersects where it leaves the shape.
    #[inline(always)]
    pub fn cast(&self, ray: &Ray) -> Option<(f64, Vec3)> {
        match *self {
            Self::Sphere { radius_m } => cast_ball(radius_m, ray),
            _ => self.cast_any(ray),
        }
    }

    fn cast_any(&self, ray: &Ray) -> Option<(f64, Vec3)> {
        let inside = self.inside(ray.origin, ray.direction)?;
        let distance = if inside.enter >= 0.0 { inside.enter } else { inside.leave };
        (distance >= 0.0 && distance <= ray.length)
            .then(|| (distance, self.normal(ray.origin + ray.direction * distance)))
    }

    /// Where a line enters the solid: the distance (m) from `origin` along the unit vector `direction`, negative behind
    /// the origin. `None` if the line misses it.
    pub fn enter(&self, origin: Vec3, direction: Vec3) -> Option<f64> {
        self.inside(origin, direction).map(|inside| inside.enter)
    }

    fn inside(&self, o: Vec3, d: Vec3) -> Option<Inside> {
        match *self {
            Self::Sphere { radius_m } => Inside::unit_ball(o / radius_m, d / radius_m),
            Self::Ellipsoid { semi_axes_m } => Inside::unit_ball(o / semi_axes_m, d / semi_axes_m),
            Self::Cuboid { half_m } => {
                let [x, y, z] = [0, 1, 2].map(|axis| Inside::slab(o[axis], d[axis], half_m[axis]));
                x?.and(y?)?.and(z?)
            }
            Self::Cylinder { radius_m, half_length_m } => {
                Inside::round(o, d, radius_m)?.and(Inside::slab(o.z, d.z, half_length_m)?)
            }
            Self::Capsule { radius_m, half_length_m } => {
                let ball = |z: f64| Inside::unit_ball((o - Vec3::Z * z) / radius_m, d / radius_m);
                let side =
                    Inside::round(o, d, radius_m).and_then(|round| round.and(Inside::slab(o.z, d.z, half_length_m)?));
                [ball(-half_length_m), side, ball(half_length_m)].into_iter().flatten().reduce(Inside::or)
            }
        }
    }

    /// Outward unit normal at a point of the surface. On an edge it is the normal of one of the adjacent faces.
    fn normal(&self, at: Vec3) -> Vec3 {
        match *self {
            Self::Sphere { .. } => at.normalize_or_zero(),
            Self::Ellipsoid { semi_axes_m } => (at / (semi_axes_m * semi_axes_m)).normalize_or_zero(),
            Self::Cuboid { half_m } => {
                // The face nearest to the point.
                let gap = (at.abs() - half_m).to_array();
                let axis = (0..3).fold(0, |best, axis| if gap[axis] > gap[best] { axis } else { best });
                Vec3::AXES[axis] * at[axis].signum()
            }
            Self::Cylinder { radius_m, half_length_m } => {
                let out = Vec3::new(at.x, at.y, 0.0);
                if at.z.abs() - half_length_m > out.length() - radius_m {
                    Vec3::Z * at.z.signum()
                } else {
                    out.normalize_or_zero()
                }
            }
            Self::Capsule { half_length_m, .. } => {
                (at - Vec3::Z * at.z.clamp(-half_length_m, half_length_m)).normalize_or_zero()
            }
        }
    }

    /// Bounding box.
    pub fn bounds(&self) -> Bounds {
        let half = self.extent(&Mat3::IDENTITY);
        Bounds { min: -half, max: half }
    }

    /// Half extents (m) along the axes of a rotated frame.
    fn extent(&self, rotation: &Mat3) -> Vec3 {
        let rows = rotation.transpose();
        let rows = [rows.x_axis, rows.y_axis, rows.z_axis];
        let along = |of: &dyn Fn(Vec3) -> f64| Vec3::from_array(rows.map(of));
        match *self {
            Self::Sphere { radius_m } => Vec3::splat(radius_m),
            Self::Ellipsoid { semi_axes_m } => along(&|row| (row * semi_axes_m).length()),
            Self::Cuboid { half_m } => along(&|row| row.abs().dot(half_m)),
            Self::Cylinder { radius_m, half_length_m } => {
                along(&|row| half_length_m * row.z.abs() + radius_m * row.x.hypot(row.y))
            }
            Self::Capsule { radius_m, half_length_m } => along(&|row| half_length_m * row.z.abs() + radius_m),
        }
    }

    /// Bounds, in another frame, of the part of the solid inside the box `within` of that frame; `None` if there is
    /// none.
    pub fn bounds_in(&self, frame_from_shape: &Pose, within: &Bounds) -> Option<Bounds> {
        let center = frame_from_shape.translation;
        let half = self.extent(&Mat3::from_quat(frame_from_shape.rotation));
        let half = match *self {
            // For a sphere only a cap may lie inside the box, which is narrower.
            Self::Sphere { radius_m } => cap(radius_m, center, within)?,
            _ => half,
        };
        let found = Bounds { min: (center - half).max(within.min), max: (center + half).min(within.max) };
        found.min.cmple(found.max).all().then_some(found)
    }

    /// Default longest edge (m) of the mesh of a primitive that is exact in contact: a fortieth of its size, for drawing.
    pub fn default_edge_m(&self) -> f64 {
        let edge_m = self.bounds().size().max_element() / 40.0;
        if edge_m > 0.0 && edge_m.is_finite() { edge_m } else { 1e-3 }
    }

    /// A triangle mesh of the shape; round parts have edges of at most `edge_m`. Refuses sizes that are not positive.
    pub fn mesh(&self, edge_m: f64) -> Result<TriMesh, ShapeError> {
        match *self {
            Self::Sphere { radius_m } => shapes::sphere(radius_m, edge_m),
            Self::Ellipsoid { semi_axes_m } => shapes::ellipsoid(semi_axes_m, edge_m),
            Self::Cuboid { half_m } => shapes::cuboid(half_m * 2.0),
            Self::Cylinder { radius_m, half_length_m } => shapes::cylinder(radius_m, 2.0 * half_length_m, edge_m),
            Self::Capsule { radius_m, half_length_m } => shapes::capsule(radius_m, 2.0 * half_length_m, edge_m),
        }
    }
}

/// Ray–sphere intersection with one division: the direction is a unit vector. This is the most frequent case.
#[inline(always)]
fn cast_ball(radius_m: f64, ray: &Ray) -> Option<(f64, Vec3)> {
    let middle = -ray.origin.dot(ray.direction);
    let passes = (ray.origin + ray.direction * middle).length_squared();
    let inside = radius_m * radius_m - passes;
    if inside < 0.0 {
        return None;
    }
    let half = inside.sqrt();
    let distance = if middle >= half { middle - half } else { middle + half };
    (distance >= 0.0 && distance <= ray.length)
        .then(|| (distance, (ray.origin + ray.direction * distance) * radius_m.recip()))
}

/// Half extents of the intersection of a ball and a box: between two planes along one axis the ball is no wider than
/// its section by the nearer plane.
fn cap(radius_m: f64, center: Vec3, within: &Bounds) -> Option<Vec3> {
    let mut half = Vec3::splat(radius_m);
    for axis in 0..3 {
        let away = (within.min[axis] - center[axis]).max(center[axis] - within.max[axis]).max(0.0);
        if away > radius_m {
            return None;
        }
        let width = (radius_m * radius_m - away * away).sqrt();
        for other in (0..3).filter(|&other| other != axis) {
            half[other] = half[other].min(width);
        }
    }
    Some(half)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Quat, Random};

    const ALL: [Primitive; 5] = [
        Primitive::Sphere { radius_m: 0.7 },
        Primitive::Ellipsoid { semi_axes_m: Vec3::new(0.9, 0.5, 0.3) },
        Primitive::Cuboid { half_m: Vec3::new(0.3, 0.5, 0.8) },
        Primitive::Cylinder { radius_m: 0.4, half_length_m: 0.6 },
        Primitive::Capsule { radius_m: 0.3, half_length_m: 0.5 },
    ];

    /// Level-set value of a point from an independent formula: zero on the surface, positive outside. Not a distance
    /// for ellipsoids.
    fn level(shape: &Primitive, p: Vec3) -> f64 {
        match *shape {
            Primitive::Sphere { radius_m } => p.length() - radius_m,
            Primitive::Ellipsoid { semi_axes_m } => (p / semi_axes_m).length() - 1.0,
            Primitive::Cuboid { half_m } => (p.abs() - half_m).max_element(),
            Primitive::Cylinder { radius_m, half_length_m } => {
                (p.x.hypot(p.y) - radius_m).max(p.z.abs() - half_length_m)
            }
            Primitive::Capsule { radius_m, half_length_m } => {
                let on_axis = Vec3::Z * p.z.clamp(-half_length_m, half_length_m);
                (p - on_axis).length() - radius_m
            }
        }
    }

    fn random_ray(random: &mut Random) -> Ray {
        let mut point =
            |scale: f64| (Vec3::new(random.uniform(), random.uniform(), random.uniform()) * 2.0 - Vec3::ONE) * scale;
        Ray { origin: point(1.2), direction: point(1.0).normalize(), length: 3.0 }
    }

    /// A hit lies on the surface, no earlier point of the ray does, and its normal is the gradient of the level set. A
    /// ray that misses does not cross the surface.
    #[test]
    fn a_ray_meets_the_surface_and_nothing_before_it() {
        let mut random = Random::new(5);
        for shape in ALL {
            let (mut hits, mut misses) = (0, 0);
            for _ in 0..4000 {
                let ray = random_ray(&mut random);
                let at = |t: f64| ray.origin + ray.direction * t;
                let side = level(&shape, ray.origin).signum();
                let Some((distance, normal)) = shape.cast(&ray) else {
                    assert!((0..200).all(|i| level(&shape, at(f64::from(i) * 0.015)) > 0.0), "{shape:?} {ray:?}");
                    misses += 1;
                    continue;
                };
                hits += 1;
                assert!(level(&shape, at(distance)).abs() < 1e-14, "{shape:?} {ray:?}");
                assert!((0..50).all(|i| level(&shape, at(distance * f64::from(i) / 50.0)) * side > 0.0), "{shape:?}");
                let step = 1e-6;
                let slope = |axis: Vec3| {
                    (level(&shape, at(distance) + axis * step) - level(&shape, at(distance) - axis * step))
                        / (2.0 * step)
                };
                let gradient = Vec3::new(slope(Vec3::X), slope(Vec3::Y), slope(Vec3::Z));
                assert!(gradient.normalize().dot(normal) > 1.0 - 1e-6, "{shape:?} {gradient} {normal}");
            }
            assert!(hits > 300 && misses > 300, "{shape:?}: {hits} hits, {misses} misses");
        }
    }

    /// The distance is zero on the surface, has the sign of the level set, and grows by one along the normal. Moving a
    /// point by its distance against the normal leads to the surface. No surface point that rays find is nearer. Points
    /// on axes and planes of symmetry are included.
    #[test]
    fn the_nearest_point_is_on_the_surface_and_none_is_nearer() {
        let mut random = Random::new(7);
        for shape in ALL {
            let surface: Vec<Vec3> = (0..4000)
                .filter_map(|_| {
                    let ray = random_ray(&mut random);
                    shape.cast(&ray).map(|(t, _)| ray.origin + ray.direction * t)
                })
                .collect();
            for i in 0..600 {
                let mut p = random_ray(&mut random).origin;
                for axis in 0..3 {
                    if i >> axis & 1 == 1 && i % 3 == 0 {
                        p[axis] = 0.0;
                    }
                }
                let (distance, normal) = shape.nearest(p);
                assert!((normal.length() - 1.0).abs() < 1e-12 && distance.is_finite(), "{shape:?} {p}");
                assert!(level(&shape, p) * distance >= 0.0, "{shape:?} {p} {distance}");
                let foot = p - normal * distance;
                assert!(level(&shape, foot).abs() < 1e-9, "{shape:?} {p}: {distance} leads to {foot}");
                let least = surface.iter().map(|s| (*s - p).length()).fold(f64::INFINITY, f64::min);
                assert!(least >= distance.abs() - 1e-9, "{shape:?} {p}: {distance}, but {least}");
            }
        }
    }

    /// Rays along an axis, on a face or an edge of a box or a cylinder, give finite results.
    #[test]
    fn rays_along_the_axes_have_finite_answers() {
        for shape in ALL {
            let half = shape.bounds().max;
            for axis in Vec3::AXES {
                for origin in [Vec3::ZERO, half, half * Vec3::new(1.0, 0.0, 0.0), -axis * 2.0] {
                    let hit = shape.cast(&Ray { origin, direction: axis, length: 10.0 });
                    assert!(hit.is_none_or(|(t, n)| t.is_finite() && (n.length() - 1.0).abs() < 1e-12), "{shape:?}");
                }
                let (distance, normal) =
                    shape.cast(&Ray { origin: -axis * 2.0, direction: axis, length: 10.0 }).unwrap();
                assert!((distance - (2.0 - half.dot(axis))).abs() < 1e-14, "{shape:?}");
                assert_eq!(normal, -axis, "{shape:?}");
            }
        }
    }

    /// Every hit inside a box of another frame lies in the returned bounds; those of a sphere are tight.
    #[test]
    fn a_box_in_another_frame_holds_what_is_there() {
        let mut random = Random::new(8);
        for shape in ALL {
            for _ in 0..300 {
                let mut uniform = || random.uniform() * 2.0 - 1.0;
                let rotation = Quat::from_xyzw(uniform(), uniform(), uniform(), uniform()).normalize();
                let frame_from_shape = Pose::new(rotation, Vec3::new(uniform(), uniform(), uniform()));
                let corner = Vec3::new(uniform(), uniform(), uniform());
                let within = Bounds { min: corner, max: corner + Vec3::splat(0.6) };
                let found = shape.bounds_in(&frame_from_shape, &within);
                for _ in 0..20 {
                    let ray = random_ray(&mut random);
                    let Some((distance, _)) = shape.cast(&ray) else { continue };
                    let at = frame_from_shape.transform_point(ray.origin + ray.direction * distance);
                    if within.distance_squared(at) == 0.0 {
                        let found = found.expect("what is met is there");
                        assert!(found.padded(1e-12).distance_squared(at) == 0.0, "{shape:?} {at} {found:?}");
                    }
                }
            }
        }
        let pressed = Bounds { min: Vec3::new(-9.0, -9.0, -9.0), max: Vec3::new(9.0, 9.0, -0.5) };
        let cap = Primitive::Sphere { radius_m: 0.7 }.bounds_in(&Pose::IDENTITY, &pressed).unwrap();
        let width = (0.49f64 - 0.25).sqrt();
        assert!((cap.max - Vec3::new(width, width, -0.5)).length() < 1e-15);
    }
}
