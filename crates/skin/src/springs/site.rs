//! Contact points of a skin.

use dermis_geometry::{TriMesh, Vec3};

/// One contact point of the skin: a texel, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Site {
    /// Position on the undeformed skin (m).
    pub point: Vec3,
    /// Unit normal, out of the skin.
    pub normal: Vec3,
    /// Area (m²).
    pub area_m2: f64,
    /// Fraction of its texel: 1 for a texel with one contact point.
    pub share: f64,
}

impl Site {
    /// A flat array of `rows` × `cols` texels with spacing `pitch_m`, row 0 at +y, each with `points_per_side`² contact
    /// points at the centres of equal squares.
    pub fn grid(rows: usize, cols: usize, pitch_m: f64, points_per_side: usize) -> Vec<Self> {
        let n = points_per_side.max(1);
        let share = 1.0 / (n * n) as f64;
        let place = |index: usize, part: usize, count: usize| {
            (index as f64 + (part as f64 + 0.5) / n as f64 - count as f64 / 2.0) * pitch_m
        };
        let mut sites = Vec::with_capacity(rows * cols * n * n);
        for row in 0..rows {
            for col in 0..cols {
                for i in 0..n {
                    for j in 0..n {
                        sites.push(Self {
                            point: Vec3::new(place(col, j, cols), -place(row, i, rows), 0.0),
                            normal: Vec3::Z,
                            area_m2: pitch_m * pitch_m * share,
                            share,
                        });
                    }
                }
            }
        }
        sites
    }

    /// The vertices of a mesh, as in the paper: normal = normalised sum of the adjacent face normals. With
    /// `subdivision` n > 1, every triangle is divided into n² parts instead, each a contact point (with interpolated
    /// normal) that belongs to its nearest vertex.
    pub fn from_mesh(mesh: &TriMesh, subdivision: usize) -> Vec<Self> {
        let normals = mesh.vertex_normals();
        if subdivision <= 1 {
            let areas = mesh.vertex_areas_m2();
            return (0..mesh.vertices().len())
                .filter(|&v| areas[v] > 0.0)
                .map(|v| Self { point: mesh.vertices()[v], normal: normals[v], area_m2: areas[v], share: 1.0 })
                .collect();
        }
        let mut owners = Vec::new();
        let mut sites = Vec::new();
        let mut parts_area = vec![0.0; mesh.vertices().len()];
        for (t, &indices) in mesh.triangles().iter().enumerate() {
            let corners = mesh.corners(t);
            let area_m2 = mesh.area_vector(t).length() / (subdivision * subdivision) as f64;
            for weights in part_centers(subdivision) {
                let mix = |values: [Vec3; 3]| values[0] * weights[0] + values[1] * weights[1] + values[2] * weights[2];
                // Ties go to the first corner, independent of rounding.
                let nearest = (0..3).rev().max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(0);
                let owner = indices[nearest] as usize;
                parts_area[owner] += area_m2;
                owners.push(owner);
                let normal = mix(indices.map(|i| normals[i as usize])).normalize_or_zero();
                sites.push(Self { point: mix(corners), normal, area_m2, share: 0.0 });
            }
        }
        for (site, owner) in sites.iter_mut().zip(owners) {
            site.share = site.area_m2 / parts_area[owner];
        }
        sites
    }
}

/// Barycentric centres of the n² equal parts of a triangle.
pub fn part_centers(n: usize) -> Vec<[f64; 3]> {
    let scale = 1.0 / (3 * n) as f64;
    let mut centers = Vec::with_capacity(n * n);
    for i in 0..n {
        for j in 0..n - i {
            let (u, v) = (3 * i + 1, 3 * j + 1);
            centers.push([u as f64 * scale, v as f64 * scale, (3 * n - u - v) as f64 * scale]);
            if i + j + 1 < n {
                let (u, v) = (3 * i + 2, 3 * j + 2);
                centers.push([u as f64 * scale, v as f64 * scale, (3 * n - u - v) as f64 * scale]);
            }
        }
    }
    centers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_triangle_are_n_squared_and_centred() {
        for n in 1..6 {
            let centers = part_centers(n);
            assert_eq!(centers.len(), n * n);
            for k in 0..3 {
                let mean = centers.iter().map(|w| w[k]).sum::<f64>() / centers.len() as f64;
                assert!((mean - 1.0 / 3.0).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn shares_of_a_texel_add_up_to_one() {
        let sites = Site::grid(3, 2, 1e-3, 4);
        assert_eq!(sites.len(), 3 * 2 * 16);
        assert!((sites.iter().map(|s| s.share).sum::<f64>() - 6.0).abs() < 1e-12);
        assert!((sites.iter().map(|s| s.area_m2).sum::<f64>() - 6e-6).abs() < 1e-18);
        assert!(sites[0].point.y > 0.0 && sites[0].point.x < 0.0, "row 0 at the top, column 0 at the left");
    }
}
