//! The contact surface as a target of rays.

use dermis_geometry::{Ray, TriangleSet, Vec3};
use dermis_skin::{Facet, Load, Touch};

/// The facets of a touch as triangles with linear pressure.
pub(super) struct Targets {
    set: TriangleSet,
    corners: Vec<[Vec3; 3]>,
    pressures_pa: Vec<[f64; 3]>,
    normals: Vec<Vec3>,
}

impl Targets {
    pub fn new(touch: &Touch) -> Self {
        let (mut corners, mut pressures_pa, mut normals) = (Vec::new(), Vec::new(), Vec::new());
        let mut fan = |facet: &Facet, polygon: &[(Vec3, f64)]| {
            for i in 2..polygon.len() {
                let three = [polygon[0], polygon[i - 1], polygon[i]];
                corners.push(three.map(|corner| corner.0));
                pressures_pa.push(three.map(|corner| corner.1));
                normals.push(facet.normal);
            }
        };
        let mut polygon = Vec::new();
        for facet in &touch.facets {
            polygon.clear();
            match &facet.load {
                Load::Polygon(corners) => polygon.extend(corners.iter().map(|c| (c.at, c.pressure_pa))),
                Load::Point { at, area_m2, .. } if *area_m2 > 0.0 => {
                    let pressure_pa = facet.normal_force() / area_m2;
                    polygon.extend(tile(*at, facet.normal, *area_m2).map(|corner| (corner, pressure_pa)));
                }
                Load::Point { .. } => {}
            }
            fan(facet, &polygon);
        }
        Self { set: TriangleSet::new(&corners), corners, pressures_pa, normals }
    }

    pub fn is_empty(&self) -> bool {
        self.corners.is_empty()
    }

    /// Pressure (Pa) at the first intersection of a ray from outside with the surface; zero without intersection or on
    /// a back face.
    pub fn pressure_pa(&self, ray: &Ray) -> f64 {
        let Some((distance, triangle)) = self.set.cast(ray) else { return 0.0 };
        let triangle = triangle as usize;
        if self.normals[triangle].dot(ray.direction) >= 0.0 {
            return 0.0;
        }
        let at = ray.origin + ray.direction * distance;
        let [a, b, c] = self.corners[triangle];
        let normal = (b - a).cross(c - a);
        let share = |p: Vec3, q: Vec3| ((p - at).cross(q - at).dot(normal)).max(0.0);
        let parts = [share(b, c), share(c, a), share(a, b)];
        let sum: f64 = parts.iter().sum();
        let [p, q, r] = self.pressures_pa[triangle];
        if sum > 0.0 { (parts[0] * p + parts[1] * q + parts[2] * r) / sum } else { (p + q + r) / 3.0 }
    }
}

/// A square of an area about a point, perpendicular to a normal; for a normal along z its sides are along x and y.
fn tile(at: Vec3, normal: Vec3, area_m2: f64) -> [Vec3; 4] {
    let along = if normal.x.abs() < 0.9 { Vec3::X } else { Vec3::Y };
    let u = (along - normal * along.dot(normal)).normalize_or_zero();
    let v = normal.cross(u);
    let half_m = 0.5 * area_m2.sqrt();
    [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| at + (u * x + v * y) * half_m)
}
