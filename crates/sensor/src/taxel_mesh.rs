//! The sensing surface as a mesh coloured by taxel.

use crate::Sensor;
use dermis_geometry::Vec3;

/// A mesh with the taxel of every vertex, if any.
#[derive(Clone, Debug, PartialEq)]
pub struct TaxelMesh {
    /// Vertices (m), in the sensor's frame.
    pub vertices: Vec<Vec3>,
    /// Triangles, by the indices of their corners.
    pub triangles: Vec<[u32; 3]>,
    /// Taxel of each vertex.
    pub taxels: Vec<Option<usize>>,
}

/// Half side of a tile, divided by the pitch; leaves a gap between neighbours.
const HALF_TILE: f64 = 0.46;

impl Sensor {
    /// The sensor's surface for rendering: a tile for each taxel of a grid, otherwise the surface itself.
    pub fn taxel_mesh(&self) -> TaxelMesh {
        match self.taxels().pitch_m() {
            Some(pitch_m) => tiles(self.taxels().centers(), HALF_TILE * pitch_m),
            None => self.own_surface(),
        }
    }

    /// Taxels without a grid are either the used vertices of the surface, in order, or lie anywhere on it.
    fn own_surface(&self) -> TaxelMesh {
        let (surface, taxels) = (self.surface(), self.taxels());
        let areas = surface.vertex_areas_m2();
        let in_order = areas.iter().filter(|&&area| area > 0.0).count() == taxels.len();
        let mut next = 0..taxels.len();
        let taxel = |(vertex, area): (&Vec3, &f64)| match in_order {
            true if *area > 0.0 => next.next(),
            true => None,
            false => taxels.locate(*vertex),
        };
        TaxelMesh {
            taxels: surface.vertices().iter().zip(&areas).map(taxel).collect(),
            vertices: surface.vertices().to_vec(),
            triangles: surface.triangles().to_vec(),
        }
    }
}

fn tiles(centers: &[Vec3], half_m: f64) -> TaxelMesh {
    let corners = [(-half_m, -half_m), (half_m, -half_m), (half_m, half_m), (-half_m, half_m)];
    let tile = |center: &Vec3| corners.map(|(x, y)| *center + Vec3::new(x, y, 0.0));
    let halves = |taxel: u32| [[0, 1, 2], [0, 2, 3]].map(|half: [u32; 3]| half.map(|corner| 4 * taxel + corner));
    TaxelMesh {
        vertices: centers.iter().flat_map(tile).collect(),
        triangles: (0..centers.len() as u32).flat_map(halves).collect(),
        taxels: (0..centers.len()).flat_map(|taxel| [Some(taxel); 4]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::presets;

    /// Every taxel has vertices, and they are near it.
    #[test]
    fn every_taxel_is_painted_where_it_is() {
        for name in ["wts0614", "fingertip", "shadow-fingertip"] {
            let sensor = presets::find(name).unwrap().build(None).unwrap();
            let mesh = sensor.taxel_mesh();
            let centers = sensor.taxels().centers();
            let mut nearest = vec![f64::INFINITY; centers.len()];
            for (vertex, taxel) in mesh.vertices.iter().zip(&mesh.taxels) {
                if let Some(taxel) = *taxel {
                    nearest[taxel] = nearest[taxel].min((*vertex - centers[taxel]).length());
                }
            }
            assert!(nearest.iter().all(|&distance_m| distance_m < 3e-3), "{name}: {nearest:?}");
        }
    }
}
