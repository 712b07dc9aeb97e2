//! Sites in vector lanes.

use super::Site;

/// The numbers of all sites, column by column, so that a block of sites is loaded by a few copies.
#[derive(Clone, Debug)]
pub(super) struct SiteLanes {
    /// Position (m) and normal by axis, area (m²), share.
    pub columns: [Vec<f64>; 8],
}

impl SiteLanes {
    pub fn new(sites: &[Site]) -> Self {
        let numbers = |site: &Site| {
            let (p, n) = (site.point, site.normal);
            [p.x, p.y, p.z, n.x, n.y, n.z, site.area_m2, site.share]
        };
        Self { columns: std::array::from_fn(|column| sites.iter().map(|site| numbers(site)[column]).collect()) }
    }
}
