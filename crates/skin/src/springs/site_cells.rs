//! Sites of one normal in the cells of a grid across it.

use super::Site;
use dermis_geometry::Vec3;

/// The sites of a skin whose normals are the same, found by their place across the normal.
#[derive(Clone, Debug)]
pub(super) struct SiteCells {
    normal: Vec3,
    /// The highest site (m) along the normal.
    top_m: f64,
    /// Two directions across the normal.
    axes: [Vec3; 2],
    /// Coordinates (m) of the corner of the first cell.
    low: [f64; 2],
    cells_per_m: f64,
    counts: [usize; 2],
    /// The first entry of each cell in `sites`, and the end.
    first: Vec<u32>,
    /// The sites with their coordinates (m), cell by cell.
    sites: Vec<(u32, [f64; 2])>,
}

impl SiteCells {
    /// Cells as large as a site, `spacing_m` wide, but no more than 16 for each site.
    pub fn new(sites: &[Site], normal: Vec3, spacing_m: f64) -> Self {
        let axes: [Vec3; 2] = normal.any_orthonormal_pair().into();
        let places: Vec<[f64; 2]> = sites.iter().map(|site| axes.map(|axis| axis.dot(site.point))).collect();
        let low = [0, 1].map(|i| places.iter().map(|place| place[i]).fold(f64::INFINITY, f64::min));
        let high = [0, 1].map(|i| places.iter().map(|place| place[i]).fold(f64::NEG_INFINITY, f64::max));
        let longest_m = (high[0] - low[0]).max(high[1] - low[1]);
        let cells_per_m = spacing_m.max(longest_m / (3.0 * (sites.len() as f64).sqrt())).recip();
        let counts = [0, 1].map(|i| ((high[i] - low[i]) * cells_per_m) as usize + 1);
        let cell = |place: &[f64; 2]| {
            let [col, row] = [0, 1].map(|i| ((place[i] - low[i]) * cells_per_m) as usize);
            row * counts[0] + col
        };
        let mut order: Vec<u32> = (0..sites.len() as u32).collect();
        order.sort_by_key(|&site| cell(&places[site as usize]));
        let mut first = vec![0; counts[0] * counts[1] + 1];
        places.iter().for_each(|place| first[cell(place) + 1] += 1);
        (1..first.len()).for_each(|i| first[i] += first[i - 1]);
        let top_m = sites.iter().map(|site| site.point.dot(normal)).fold(f64::NEG_INFINITY, f64::max);
        let sites = order.into_iter().map(|site| (site, places[site as usize])).collect();
        Self { normal, top_m, axes, low, cells_per_m, counts, first, sites }
    }

    /// The cells between two coordinates; `None` if there are none.
    fn span(&self, axis: usize, from: f64, to: f64) -> Option<[usize; 2]> {
        let [from, to] = [from, to].map(|place| (place - self.low[axis]) * self.cells_per_m);
        let last = self.counts[axis] - 1;
        (to >= 0.0 && from <= last as f64 + 1.0).then(|| [from as usize, (to as usize).min(last)])
    }

    /// Calls `visit` with the sites, and their coordinates (m), in the cells of a box.
    #[inline(always)]
    fn each_in_box(&self, low: [f64; 2], high: [f64; 2], mut visit: impl FnMut(u32, [f64; 2])) {
        let spans = [0, 1].map(|axis| self.span(axis, low[axis], high[axis]));
        let [Some([left, right]), Some([bottom, top])] = spans else { return };
        for row in bottom..=top {
            let cells = &self.first[row * self.counts[0]..];
            for (site, place) in &self.sites[cells[left] as usize..cells[right + 1] as usize] {
                visit(*site, *place);
            }
        }
    }

    /// Calls `visit` with all sites whose rays may hit a sphere. A ray ends at its site; if the centre lies beyond, that
    /// end is nearest to it.
    pub fn each_in_sphere(&self, center: Vec3, radius_m: f64, mut visit: impl FnMut(u32)) {
        let above = (center.dot(self.normal) - self.top_m).max(0.0);
        let square = radius_m * radius_m * (1.0 + 1e-9) - above * above;
        let (middle, reach) = (self.axes.map(|axis| axis.dot(center)), square.max(0.0).sqrt());
        self.each_in_box(middle.map(|x| x - reach), middle.map(|x| x + reach), |site, place| {
            let [x, y] = [place[0] - middle[0], place[1] - middle[1]];
            if x * x + y * y <= square {
                visit(site);
            }
        });
    }

    /// Calls `visit` with all sites that are less than `slack_m` outside a triangle, seen along the normal.
    #[inline(always)]
    pub fn each_over(&self, corners: [Vec3; 3], slack_m: f64, mut visit: impl FnMut(u32)) {
        let [a, b, c] = corners.map(|corner| self.axes.map(|axis| axis.dot(corner)));
        let low = [0, 1].map(|i| a[i].min(b[i]).min(c[i]) - slack_m);
        let high = [0, 1].map(|i| a[i].max(b[i]).max(c[i]) + slack_m);
        // Inside the triangle n·x ≥ n·p for each edge with an inward normal n at its corner p.
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        let side = if area < 0.0 { -1.0 } else { 1.0 };
        let edges = [(a, b), (b, c), (c, a)].map(|(p, q): ([f64; 2], [f64; 2])| {
            let n = [(p[1] - q[1]) * side, (q[0] - p[0]) * side];
            (n, n[0] * p[0] + n[1] * p[1] - slack_m * (n[0].abs() + n[1].abs()))
        });
        self.each_in_box(low, high, |site, [x, y]| {
            if edges.iter().all(|(n, limit)| n[0] * x + n[1] * y >= *limit) {
                visit(site);
            }
        });
    }
}
