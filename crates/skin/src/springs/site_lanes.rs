//! Sites in vector lanes.

use super::Site;
use dermis_geometry::Vec3;

/// The numbers of all sites, column by column, so that a block of sites is loaded by a few copies.
#[derive(Clone, Debug)]
pub(super) struct SiteLanes {
    /// Position (m) by axis, area (m²), share.
    pub columns: [Vec<f64>; 5],
    /// Normal by axis.
    pub normals: [Vec<f64>; 3],
    /// The normal of all sites, if they have the same.
    pub parallel: Option<Vec3>,
}

impl SiteLanes {
    pub fn new(sites: &[Site]) -> Self {
        let column = |number: &dyn Fn(&Site) -> f64| -> Vec<f64> { sites.iter().map(number).collect() };
        let columns = [
            column(&|site| site.point.x),
            column(&|site| site.point.y),
            column(&|site| site.point.z),
            column(&|site| site.area_m2),
            column(&|site| site.share),
        ];
        let normals = [0, 1, 2].map(|axis| column(&|site| site.normal[axis]));
        let first = sites.first().map(|site| site.normal);
        let parallel = first.filter(|first| sites.iter().all(|site| site.normal == *first));
        Self { columns, normals, parallel }
    }
}
