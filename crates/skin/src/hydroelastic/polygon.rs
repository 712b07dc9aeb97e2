//! Convex polygons clipped by planes, without allocation.

use dermis_geometry::Vec3;

/// Maximum number of corners: a triangle or a slice of a tetrahedron has up to 4; each plane of a tetrahedron (4), the
/// surface of a field (1) and the ends of a piece of either pressure law (2 + 2) add one.
pub(super) const MAX_CORNERS: usize = 16;

/// A convex polygon whose corners are weighted sums of N fixed points.
///
/// Clipping needs only the values of a linear function at those N points. Two elements that share a plane compute the
/// same values with opposite signs, so the remaining parts fit together exactly, however thin they are.
///
/// One polygon is reused for all pairs of elements. The corners are in one of two lists; clipping writes the remaining
/// corners to the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polygon<const N: usize> {
    len: usize,
    now: usize,
    weights: [[[f64; N]; MAX_CORNERS]; 2],
}

impl Polygon<3> {
    /// Sets the triangle of the three points.
    pub fn set_triangle(&mut self) {
        (self.len, self.now) = (3, 0);
        self.weights[0][..3].copy_from_slice(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    }
}

impl Polygon<4> {
    /// Sets the zero set of a linear function with these values at the corners of a tetrahedron; returns false if it is
    /// empty. A corner at zero counts as below: of two tetrahedra that share a face on the plane, the one above owns
    /// it.
    pub fn set_slice(&mut self, values: [f64; 4]) -> bool {
        (self.len, self.now) = (0, 0);
        let mut above = [0; 4];
        let mut below = [0; 4];
        let (mut up, mut down) = (0, 0);
        for (corner, &value) in values.iter().enumerate() {
            if value > 0.0 {
                above[up] = corner;
                up += 1;
            } else {
                below[down] = corner;
                down += 1;
            }
        }
        let mut push = |a: usize, b: usize| {
            let t = values[a] / (values[a] - values[b]);
            let mut corner = [0.0; 4];
            corner[a] = 1.0 - t;
            corner[b] = t;
            self.weights[0][self.len] = corner;
            self.len += 1;
        };
        match (up, down) {
            (1, 3) => below[..3].iter().for_each(|&b| push(above[0], b)),
            (3, 1) => above[..3].iter().for_each(|&a| push(a, below[0])),
            (2, 2) => {
                push(above[0], below[0]);
                push(above[0], below[1]);
                push(above[1], below[1]);
                push(above[1], below[0]);
            }
            _ => return false,
        }
        true
    }
}

impl<const N: usize> Polygon<N> {
    /// A polygon without corners.
    pub fn new() -> Self {
        Self { len: 0, now: 0, weights: [[[0.0; N]; MAX_CORNERS]; 2] }
    }

    /// Number of corners.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Value of a linear function at a corner.
    pub fn value(&self, corner: usize, values: &[f64; N]) -> f64 {
        let weights = &self.weights[self.now][corner];
        let mut sum = 0.0;
        for k in 0..N {
            sum += weights[k] * values[k];
        }
        sum
    }

    /// Position of a corner.
    pub fn point(&self, corner: usize, points: &[Vec3; N]) -> Vec3 {
        let weights = &self.weights[self.now][corner];
        let mut sum = Vec3::ZERO;
        for k in 0..N {
            sum += points[k] * weights[k];
        }
        sum
    }

    /// Clips to the half-plane where the linear function with these values at the points is not negative. Returns false
    /// if nothing remains.
    pub fn keep(&mut self, values: &[f64; N]) -> bool {
        let mut heights = [0.0; MAX_CORNERS];
        let (mut inside, mut outside) = (false, false);
        for (corner, height) in heights[..self.len].iter_mut().enumerate() {
            *height = self.value(corner, values);
            inside |= *height > 0.0;
            outside |= *height < 0.0;
        }
        if !outside {
            return self.len > 2;
        }
        if !inside {
            self.len = 0;
            return false;
        }
        let count = self.len;
        let [first, second] = &mut self.weights;
        let (whole, kept) = if self.now == 0 { (&*first, second) } else { (&*second, first) };
        let mut len = 0;
        let mut push = |weights: [f64; N]| {
            if len < MAX_CORNERS {
                kept[len] = weights;
                len += 1;
            }
        };
        let mut last = count - 1;
        for corner in 0..count {
            let (a, b) = (heights[last], heights[corner]);
            if (a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0) {
                let t = a / (a - b);
                let (from, to) = (&whole[last], &whole[corner]);
                push(std::array::from_fn(|k| from[k] + t * (to[k] - from[k])));
            }
            if b >= 0.0 {
                push(whole[corner]);
            }
            last = corner;
        }
        (self.len, self.now) = (len, 1 - self.now);
        self.len > 2
    }

    /// Like [`Self::keep`], but drops a polygon that lies in the plane.
    pub fn keep_above(&mut self, values: &[f64; N]) -> bool {
        (0..self.len).any(|corner| self.value(corner, values) > 0.0) && self.keep(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(polygon: &Polygon<3>) -> f64 {
        let points = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let at = |i: usize| polygon.point(i, &points);
        (2..polygon.len()).map(|i| 0.5 * (at(i - 1) - at(0)).cross(at(i) - at(0)).z).sum()
    }

    /// The parts on both sides of a cut sum to the whole.
    #[test]
    fn a_cut_loses_nothing() {
        for values in [[1.0, -2.0, 0.5], [1e-9, -1e-9, 3e-10], [0.0, 1.0, -1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 2.0]] {
            let (mut left, mut right) = (Polygon::new(), Polygon::new());
            left.set_triangle();
            right.set_triangle();
            let kept = [left.keep(&values), right.keep(&values.map(|v: f64| -v))];
            let sum = f64::from(kept[0]) * area(&left) + f64::from(kept[1]) * area(&right);
            assert!((sum - 0.5).abs() < 1e-15, "{values:?}: {sum}");
        }
    }

    #[test]
    fn slices_of_a_tetrahedron() {
        let slice = |values| {
            let mut polygon = Polygon::<4>::new();
            polygon.set_slice(values).then_some(polygon.len())
        };
        assert_eq!(slice([1.0, -1.0, -1.0, -1.0]), Some(3));
        assert_eq!(slice([1.0, 1.0, -1.0, -1.0]), Some(4));
        assert!(slice([1.0, 2.0, 3.0, 4.0]).is_none());
        assert!(slice([0.0, 0.0, 0.0, -1.0]).is_none(), "the face belongs to the tetrahedron above it");
        assert!(slice([0.0, 0.0, 0.0, 1.0]).is_some());
    }
}
