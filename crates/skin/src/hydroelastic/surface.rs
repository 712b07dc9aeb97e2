//! Contact surfaces: polygons with linear pressure.

use super::polygon::{MAX_CORNERS, Polygon};
use dermis_geometry::{Mat3, Pose, Vec3, Wrench};

/// A contact surface between bodies A and B, in A's frame: plane convex polygons with linear pressure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactSurface {
    corners: Vec<Vec3>,
    pressures_pa: Vec<f64>,
    faces: Vec<Face>,
}

/// A polygon of a contact surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    first: u32,
    count: u32,
    /// Unit normal, out of A into B.
    pub normal: Vec3,
    /// Increase of pressure per approach of the bodies (Pa/m).
    pub stiffness_pa_per_m: f64,
    /// Identifies, across steps, the pair of elements from which the polygon was cut.
    pub key: [u32; 3],
}

impl ContactSurface {
    /// The polygons.
    pub fn faces(&self) -> &[Face] {
        &self.faces
    }

    /// Corners (m) of a polygon, counter-clockwise as seen against its normal.
    pub fn corners(&self, face: &Face) -> &[Vec3] {
        &self.corners[face.first as usize..(face.first + face.count) as usize]
    }

    /// Pressures (Pa) at the corners of a polygon.
    pub fn pressures_pa(&self, face: &Face) -> &[f64] {
        &self.pressures_pa[face.first as usize..(face.first + face.count) as usize]
    }

    /// The triangles of a polygon: area (m²), corners (m) and pressures (Pa).
    pub fn triangles(&self, face: &Face) -> impl Iterator<Item = (f64, [Vec3; 3], [f64; 3])> + '_ {
        let (corners, pressures) = (self.corners(face), self.pressures_pa(face));
        (2..corners.len()).map(move |i| {
            let at = [corners[0], corners[i - 1], corners[i]];
            let area = 0.5 * (at[1] - at[0]).cross(at[2] - at[0]).length();
            (area, at, [pressures[0], pressures[i - 1], pressures[i]])
        })
    }

    /// Area (m²).
    pub fn area_m2(&self) -> f64 {
        self.faces.iter().flat_map(|face| self.triangles(face)).map(|(area, ..)| area).sum()
    }

    /// Centroid (m); zero without contact.
    pub fn centroid(&self) -> Vec3 {
        let triangles = || self.faces.iter().flat_map(|face| self.triangles(face));
        let moment: Vec3 = triangles().map(|(area, at, _)| (at[0] + at[1] + at[2]) * (area / 3.0)).sum();
        let area = self.area_m2();
        if area > 0.0 { moment / area } else { Vec3::ZERO }
    }

    /// ∫ p dA (N) and the centre of pressure (m).
    pub fn pressure_integral(&self) -> (f64, Vec3) {
        let (mut sum, mut moment) = (0.0, Vec3::ZERO);
        for (area, at, p) in self.faces.iter().flat_map(|face| self.triangles(face)) {
            for (i, j) in [(0, 1), (1, 2), (2, 0)] {
                let part = (p[i] + p[j]) * (0.5 * area / 3.0);
                sum += part;
                moment += (at[i] + at[j]) * (0.5 * part);
            }
        }
        (sum, if sum > 0.0 { moment / sum } else { Vec3::ZERO })
    }

    /// Wrench of the pressure on A, about the origin of its frame.
    pub fn wrench_on_a(&self) -> Wrench {
        let mut sum = Wrench::ZERO;
        for face in &self.faces {
            // Exact for linear pressure: its moment is quadratic, which the midpoints of the edges integrate.
            for (area, at, p) in self.triangles(face) {
                for (i, j) in [(0, 1), (1, 2), (2, 0)] {
                    let force = face.normal * (-(p[i] + p[j]) * (0.5 * area / 3.0));
                    sum += Wrench::from_force_at(force, (at[i] + at[j]) * 0.5);
                }
            }
        }
        sum
    }
}

/// The triangle of a rigid object from which a polygon was cut, and the pressure around it, in A's frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// Corners of the triangle (m).
    pub corners: [Vec3; 3],
    /// Gradient of the pressure (Pa/m).
    pub gradient_pa_per_m: Vec3,
}

/// Number of polygons for which memory is reserved.
const USUAL: usize = 64;

/// Collects polygons, converting them from the frame of computation to that of A.
pub(super) struct Builder {
    surface: ContactSurface,
    rotation: Mat3,
    shift: Vec3,
    moved: bool,
    /// Polygons below this area (m²) are rounding errors and are dropped.
    min_area: f64,
    /// The origin of each polygon cut from a triangle, if they are traced.
    origins: Option<Vec<Origin>>,
}

impl Builder {
    /// `size_m` is the length scale of the bodies. `a_from_home` = `None` computes in the frame of A.
    pub fn new(a_from_home: Option<Pose>, size_m: f64) -> Self {
        let pose = a_from_home.unwrap_or(Pose::IDENTITY);
        Self {
            surface: ContactSurface {
                corners: Vec::with_capacity(4 * USUAL),
                pressures_pa: Vec::with_capacity(4 * USUAL),
                faces: Vec::with_capacity(USUAL),
            },
            rotation: Mat3::from_quat(pose.rotation),
            shift: pose.translation,
            moved: a_from_home.is_some(),
            min_area: 1e-26 * size_m * size_m,
            origins: None,
        }
    }

    /// The same in the frame of A, with the origins of its polygons.
    pub fn traced(size_m: f64) -> Self {
        Self { origins: Some(Vec::new()), ..Self::new(None, size_m) }
    }

    /// Adds a polygon over `points` with linear `pressures` and unit `normal`; returns false if it is dropped.
    pub fn add<const N: usize>(
        &mut self,
        polygon: &Polygon<N>,
        points: &[Vec3; N],
        pressures: &[f64; N],
        normal: Vec3,
        stiffness_pa_per_m: f64,
        key: [u32; 3],
    ) -> bool {
        let count = polygon.len();
        let mut corners = [Vec3::ZERO; MAX_CORNERS];
        for (i, corner) in corners[..count].iter_mut().enumerate() {
            *corner = polygon.point(i, points);
        }
        let doubled: Vec3 = (2..count).map(|i| (corners[i - 1] - corners[0]).cross(corners[i] - corners[0])).sum();
        // Written so that NaN is also dropped.
        let big_enough = doubled.length_squared() > 4.0 * self.min_area * self.min_area;
        if !big_enough {
            return false;
        }
        let forward = doubled.dot(normal) >= 0.0;
        let first = self.surface.corners.len() as u32;
        let order = |k: usize| if forward { k } else { count - 1 - k };
        if self.moved {
            self.surface.corners.extend((0..count).map(|k| self.rotation * corners[order(k)] + self.shift));
        } else {
            self.surface.corners.extend((0..count).map(|k| corners[order(k)]));
        }
        // Clipping at p = 0 may leave a slightly negative value.
        self.surface.pressures_pa.extend((0..count).map(|k| polygon.value(order(k), pressures).max(0.0)));
        let normal = if self.moved { self.rotation * normal } else { normal };
        self.surface.faces.push(Face { first, count: count as u32, normal, stiffness_pa_per_m, key });
        true
    }

    /// Notes the origin of the polygon that was added last, if origins are traced.
    pub fn trace(&mut self, origin: impl FnOnce() -> Option<Origin>) {
        if let Some(origins) = &mut self.origins {
            origins.extend(origin());
        }
    }

    pub fn finish(self) -> ContactSurface {
        self.surface
    }

    /// The surface with the origins of its polygons.
    pub fn finish_traced(self) -> (ContactSurface, Vec<Origin>) {
        (self.surface, self.origins.unwrap_or_default())
    }
}
