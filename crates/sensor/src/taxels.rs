//! Where a device measures.

use dermis_geometry::Vec3;
use dermis_skin::{Facet, Load, Touch};
use std::collections::HashMap;

/// The cells of a device. Each feels the load that enters the undeformed skin inside it.
#[derive(Clone, Debug)]
pub struct Taxels {
    layout: Layout,
    centers: Vec<Vec3>,
    normals: Vec<Vec3>,
    areas_m2: Vec<f64>,
    /// How far (m) above or below the surface a load may lie and still count.
    height_m: Option<f64>,
}

#[derive(Clone, Debug)]
enum Layout {
    /// Squares side by side in z = 0.
    Grid { rows: usize, cols: usize, pitch_m: f64 },
    /// Nearest centre within `reach_m`; `cells` holds the centres by cubes of that edge.
    Points { reach_m: f64, cells: HashMap<[i64; 3], Vec<u32>> },
}

impl Taxels {
    /// A flat array, row 0 at +y, column 0 at −x.
    pub fn grid(rows: usize, cols: usize, pitch_m: f64) -> Self {
        let centers = (0..rows * cols)
            .map(|i| {
                let (row, col) = (i / cols, i % cols);
                let x = (col as f64 + 0.5 - cols as f64 / 2.0) * pitch_m;
                let y = (rows as f64 / 2.0 - row as f64 - 0.5) * pitch_m;
                Vec3::new(x, y, 0.0)
            })
            .collect();
        Self {
            layout: Layout::Grid { rows, cols, pitch_m },
            centers,
            normals: vec![Vec3::Z; rows * cols],
            areas_m2: vec![pitch_m * pitch_m; rows * cols],
            height_m: None,
        }
    }

    /// Taxels anywhere: a point of the skin belongs to the nearest centre, if that is within `reach_m`.
    pub fn points(centers: Vec<Vec3>, normals: Vec<Vec3>, areas_m2: Vec<f64>, reach_m: f64) -> Self {
        let mut cells: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
        for (i, &center) in centers.iter().enumerate() {
            cells.entry(cell(center, reach_m)).or_default().push(i as u32);
        }
        Self { layout: Layout::Points { reach_m, cells }, centers, normals, areas_m2, height_m: None }
    }

    /// The same taxels with a tolerance in height (Kappassov et al. 2020, eq. 2: |z − z(i, j)| ∈ h): a load farther than
    /// `height_m` from its taxel's tangent plane belongs to no taxel and is reported as outside. For contacts of other engines,
    /// whose points may be anywhere on the sensor's body.
    pub fn with_height(self, height_m: f64) -> Self {
        Self { height_m: Some(height_m), ..self }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.centers.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.centers.is_empty()
    }

    /// Rows and columns, where there are any.
    pub fn size(&self) -> Option<(usize, usize)> {
        match self.layout {
            Layout::Grid { rows, cols, .. } => Some((rows, cols)),
            Layout::Points { .. } => None,
        }
    }

    /// Distance (m) between neighbours on a grid.
    pub fn pitch_m(&self) -> Option<f64> {
        match self.layout {
            Layout::Grid { pitch_m, .. } => Some(pitch_m),
            Layout::Points { .. } => None,
        }
    }

    /// Centres (m).
    pub fn centers(&self) -> &[Vec3] {
        &self.centers
    }

    /// Outward unit normals.
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// Areas (m²).
    pub fn areas_m2(&self) -> &[f64] {
        &self.areas_m2
    }

    /// The taxel that a point of the undeformed skin belongs to.
    pub fn locate(&self, point: Vec3) -> Option<usize> {
        let over = |taxel: &usize| (point - self.centers[*taxel]).dot(self.normals[*taxel]).abs();
        self.locate_at_any_height(point).filter(|taxel| self.height_m.is_none_or(|height_m| over(taxel) <= height_m))
    }

    fn locate_at_any_height(&self, point: Vec3) -> Option<usize> {
        match &self.layout {
            Layout::Grid { rows, cols, pitch_m } => {
                let col = (point.x / pitch_m + *cols as f64 / 2.0).floor();
                let row = (*rows as f64 / 2.0 - point.y / pitch_m).floor();
                let inside = row >= 0.0 && col >= 0.0 && row < *rows as f64 && col < *cols as f64;
                inside.then(|| row as usize * cols + col as usize)
            }
            Layout::Points { reach_m, cells } => {
                let home = cell(point, *reach_m);
                let mut nearest: Option<(f64, u32)> = None;
                for offset in 0..27 {
                    let key = [home[0] + offset % 3 - 1, home[1] + offset / 3 % 3 - 1, home[2] + offset / 9 - 1];
                    for &i in cells.get(&key).into_iter().flatten() {
                        let distance = (self.centers[i as usize] - point).length_squared();
                        if nearest.is_none_or(|best| (distance, i) < best) {
                            nearest = Some((distance, i));
                        }
                    }
                }
                nearest.filter(|(squared, _)| *squared <= reach_m * reach_m).map(|(_, i)| i as usize)
            }
        }
    }

    /// Force vector of every taxel (N), and of what lies outside all of them. Together they are the force on
    /// the sensor. A polygon goes whole to the taxel under its middle.
    pub fn bin(&self, touch: &Touch) -> (Vec<Vec3>, Vec3) {
        let mut forces = vec![Vec3::ZERO; self.len()];
        let mut outside = Vec3::ZERO;
        for facet in &touch.facets {
            match self.locate(anchor(facet)) {
                Some(taxel) => forces[taxel] += facet.force_on_sensor(),
                None => outside += facet.force_on_sensor(),
            }
        }
        (forces, outside)
    }
}

fn anchor(facet: &Facet) -> Vec3 {
    match &facet.load {
        Load::Point { anchor, .. } => *anchor,
        Load::Polygon(corners) => corners.iter().map(|corner| corner.at).sum::<Vec3>() / corners.len().max(1) as f64,
    }
}

fn cell(point: Vec3, edge_m: f64) -> [i64; 3] {
    (point / edge_m).to_array().map(|x| x.floor() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::Random;

    #[test]
    fn every_centre_is_in_its_own_cell() {
        let taxels = Taxels::grid(14, 6, 3.4e-3);
        for (i, &center) in taxels.centers().iter().enumerate() {
            assert_eq!(taxels.locate(center), Some(i));
        }
        assert_eq!(taxels.locate(Vec3::new(0.0, 7.0 * 3.4e-3 + 1e-9, 0.0)), None);
    }

    #[test]
    fn the_nearest_centre_is_found_as_by_trying_all() {
        let mut random = Random::new(3);
        let mut point = || Vec3::new(random.uniform(), random.uniform(), random.uniform()) * 0.05;
        let centers: Vec<Vec3> = (0..200).map(|_| point()).collect();
        let taxels = Taxels::points(centers.clone(), vec![Vec3::Z; 200], vec![1e-6; 200], 4e-3);
        for _ in 0..2000 {
            let p = point();
            let truth = (0..200).min_by(|&a, &b| (centers[a] - p).length().total_cmp(&(centers[b] - p).length()));
            let truth = truth.filter(|&i| (centers[i] - p).length() <= 4e-3);
            assert_eq!(taxels.locate(p), truth);
        }
    }
}
