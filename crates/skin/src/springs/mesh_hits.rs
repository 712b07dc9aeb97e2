//! Rays of one direction at a mesh: every triangle nearby is compared with the rays that pass it.

use super::site_cells::SiteCells;
use super::{NearObject, Springs};
use crate::Target;
use crate::spare::{Spare, keep, reuse};
use dermis_geometry::{Bounds, Ray};
use std::cell::RefCell;

/// The first hit of a ray.
#[derive(Clone, Copy)]
pub(super) struct MeshHit {
    pub site: u32,
    pub triangle: u32,
    pub distance_m: f64,
}

/// The first hits of all rays at one mesh: the results of [`dermis_geometry::Surface::cast`].
pub(super) struct MeshHits {
    hits: Vec<MeshHit>,
    /// For each site, the number of hits when its own was the last one, or 0.
    place: Vec<u32>,
}

thread_local! {
    static SPARE_HITS: Spare<MeshHit> = const { RefCell::new(Vec::new()) };
    static SPARE_PLACES: Spare<u32> = const { RefCell::new(Vec::new()) };
}

impl Drop for MeshHits {
    fn drop(&mut self) {
        keep(&SPARE_HITS, std::mem::take(&mut self.hits));
        keep(&SPARE_PLACES, std::mem::take(&mut self.place));
    }
}

impl MeshHits {
    /// Searches the triangles in the bounds of the rays; `None` if these are more than the sites. No ray may start in
    /// the bounds of a closed mesh.
    pub fn find(
        springs: &Springs,
        cells: &SiteCells,
        target: &Target<'_>,
        seen: &NearObject<'_>,
        rays: &Bounds,
    ) -> Option<Self> {
        let (mut hits, mut place) = (reuse(&SPARE_HITS), reuse(&SPARE_PLACES));
        hits.clear();
        place.clear();
        place.resize(springs.sites.len(), 0);
        let mut found = Self { hits, place };
        let (surface, length) = (seen.surface, springs.parameters.max_penetration_m);
        let direction = seen.object_from_sensor * springs.sites[0].normal;
        let slack_m = 1e-9 * rays.size().length();
        let mut visited = 0;
        surface.each_triangle_in(&target.sensor_from_object, rays, |position, corners| {
            visited += 1;
            if visited > springs.sites.len() {
                return;
            }
            let triangle = surface.bvh().order()[position];
            cells.each_over(corners, slack_m, |site| {
                let origin = seen.object_from_sensor * springs.starts[site as usize] + seen.sensor_origin_in_object;
                let hit = surface.cast_at_position(&Ray { origin, direction, length }, position);
                if let Some(distance_m) = hit.filter(|&distance_m| distance_m <= length) {
                    found.add(MeshHit { site, triangle, distance_m });
                }
            });
        });
        (visited <= springs.sites.len()).then_some(found)
    }

    /// Keeps the nearer hit of a ray; the triangle of the lower index of two at the same distance.
    fn add(&mut self, hit: MeshHit) {
        let place = &mut self.place[hit.site as usize];
        if *place == 0 {
            self.hits.push(hit);
            *place = self.hits.len() as u32;
            return;
        }
        let known = &mut self.hits[*place as usize - 1];
        if (hit.distance_m, hit.triangle) < (known.distance_m, known.triangle) {
            *known = hit;
        }
    }

    /// All hits, in any order.
    pub fn all(&self) -> &[MeshHit] {
        &self.hits
    }

    /// The hit of a site's ray.
    pub fn of(&self, site: u32) -> Option<MeshHit> {
        let place = self.place[site as usize].checked_sub(1)?;
        Some(self.hits[place as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Damping, Elasticity, Friction, Law, Motion, Object, Site, Skin, SpringParameters};
    use dermis_geometry::{Pose, Quat, Random, TriMesh, Vec3, shapes};

    /// The contact is the same, to the last bit, as with a ray cast for every site: round, flat and open meshes, edges
    /// of triangles along the rows of the sites, and an object so deep that rays start inside it.
    #[test]
    fn contact_is_that_of_single_rays() {
        let parameters = SpringParameters {
            elasticity: Elasticity::PerTexel(1000.0),
            damping: Damping::PerTexel(1.0),
            max_penetration_m: 2e-3,
            law: Law::Conservative,
            friction: Friction::None,
        };
        let springs = Springs::new(Site::grid(12, 10, 1e-3, 2), parameters).unwrap();
        let single = Springs { cells: None, ..springs.clone() };
        let corners = [Vec3::new(-4e-3, -4e-3, 0.0), Vec3::new(4e-3, -4e-3, 0.0), Vec3::new(0.0, 5e-3, 0.0)];
        let sheet = TriMesh::new("sheet", corners.to_vec(), vec![[0, 1, 2]]).unwrap();
        let objects = [shapes::sphere(4e-3, 0.8e-3).unwrap(), shapes::cuboid(Vec3::splat(6e-3)).unwrap(), sheet];
        let (mut random, mut points) = (Random::new(8), 0);
        for (height_m, object) in [3e-3, 2.5e-3, -1e-3].into_iter().zip(objects.map(Object::new)) {
            for i in 0..60 {
                let aside = Vec3::new(random.between(-6e-3, 6e-3), random.between(-6e-3, 6e-3), 0.0);
                // Every fourth is aligned with the sites.
                let (aside, angle) = if i % 4 == 0 { (Vec3::ZERO, 0.0) } else { (aside, random.between(-0.2, 0.2)) };
                let lift = Vec3::Z * (height_m + random.between(-1e-3, 1e-3));
                let pose = Pose::new(Quat::from_axis_angle(random.direction(), angle), aside + lift);
                let targets = [Target::at_rest(&object, pose)];
                let touch = |skin: &Springs| skin.touch(&skin.rest(), &Motion { targets: &targets }, 1e-3).unwrap();
                let ((one, state), (other, expected)) = (touch(&springs), touch(&single));
                assert_eq!(state, expected);
                let depths = |touch: &crate::Touch| -> Vec<f64> { touch.facets.iter().map(|f| f.depth_m).collect() };
                assert_eq!((depths(&one), one.on_sensor), (depths(&other), other.on_sensor));
                points += one.facets.len();
            }
        }
        assert!(points > 3000, "{points}");
    }
}
