//! Rays of sites against one object, in vector lanes.
#![allow(clippy::needless_range_loop, reason = "a lane indexes many arrays")]

use super::site_lanes::SiteLanes;
use super::{FREE, NearObject, RayContact};
use crate::friction_lanes::{LANES, Lanes, Lanes3, get, set};
use crate::point_block::PointBlock;
use dermis_geometry::{Primitive, Vec3};

/// Numbers of [`LANES`] sites that their contact points do not keep.
#[derive(Clone, Copy)]
pub(super) struct SiteBlock {
    /// Place of the bristles.
    pub place: [u32; LANES],
    /// Position (m).
    pub anchor: Lanes3,
    /// Normal: the direction of the ray.
    pub out: Lanes3,
    pub area_m2: Lanes,
}

impl SiteBlock {
    pub const EMPTY: Self =
        Self { place: [FREE; LANES], anchor: [Lanes::ZERO; 3], out: [Lanes::ZERO; 3], area_m2: Lanes::ZERO };

    /// Sets the site of a lane to that of another block.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, other: &Self, from: usize) {
        (self.place[lane], self.area_m2[lane]) = (other.place[from], other.area_m2[from]);
        set(&mut self.anchor, lane, get(&other.anchor, from));
        set(&mut self.out, lane, get(&other.out, from));
    }
}

/// Up to [`LANES`] rays of sites. The numbers of their contacts are written to a block of points, a lane for each ray.
pub(super) struct RayBlock {
    count: usize,
    pub sites: SiteBlock,
    /// True for a site in contact.
    hit: [bool; LANES],
}

/// Result of a test in lanes: no hit, a hit, or an origin inside the object, which needs the general test.
const MISS: u64 = 0;
const HIT: u64 = 1;
const STARTS_INSIDE: u64 = 2;

impl RayBlock {
    /// A block without sites.
    pub fn new(sites: &SiteLanes) -> Self {
        let out = sites.parallel.unwrap_or_default().to_array().map(Lanes::all);
        Self { count: 0, sites: SiteBlock { out, ..SiteBlock::EMPTY }, hit: [false; LANES] }
    }

    /// Loads sites, each with the place of its bristles.
    #[inline(always)]
    pub fn gather(&mut self, sites: &SiteLanes, some: &[(u32, u32)], points: &mut PointBlock) {
        self.count = some.len();
        for (lane, &(site, place)) in some.iter().enumerate() {
            (points.site[lane], self.sites.place[lane]) = (site, place);
        }
        let SiteBlock { anchor, out, area_m2, .. } = &mut self.sites;
        let columns = anchor.iter_mut().chain([area_m2, &mut points.share]);
        let (first, last) = (some[0].0 as usize, some[some.len() - 1].0 as usize);
        let run = (some.len() == LANES && last - first + 1 == LANES).then_some(first);
        // Loops: the closure of `for_each` would not be compiled for the wide instructions.
        for (to, from) in columns.zip(&sites.columns) {
            load(to, from, some, run);
        }
        if sites.parallel.is_none() {
            for (to, from) in out.iter_mut().zip(&sites.normals) {
                load(to, from, some, run);
            }
        }
    }

    /// Sets the contact of each site to the result of `intersect`.
    #[inline(always)]
    pub fn intersect(&mut self, points: &mut PointBlock, intersect: impl Fn(usize) -> Option<RayContact>) {
        for lane in 0..self.count {
            self.set_contact(lane, intersect(lane), points);
        }
    }

    /// Intersects the rays with the only object nearby: in lanes if it is a sphere or a cuboid. `intersect` is the
    /// general test of one ray.
    #[inline(always)]
    pub fn intersect_only(
        &mut self,
        only: &NearObject<'_>,
        h: f64,
        parallel: Option<Vec3>,
        points: &mut PointBlock,
        intersect: impl Fn(usize) -> Option<RayContact>,
    ) {
        let outcome = match (only.surface.primitive(), parallel) {
            (Some(Primitive::Sphere { radius_m }), _) => self.intersect_sphere(only, *radius_m, h, points),
            (Some(Primitive::Cuboid { half_m }), Some(out)) => self.intersect_slabs(only, *half_m, h, out, points),
            (Some(Primitive::Cuboid { half_m }), None) => self.intersect_cuboid(only, *half_m, h, points),
            _ => return self.intersect(points, intersect),
        };
        points.object = [only.index; LANES];
        (points.triangle, points.saturated) = ([0; LANES], [false; LANES]);
        let mut any = 0;
        for lane in 0..LANES {
            self.hit[lane] = outcome[lane] == HIT;
            any |= outcome[lane];
        }
        if any & STARTS_INSIDE != 0 {
            for lane in (0..self.count).filter(|&lane| outcome[lane] == STARTS_INSIDE) {
                self.set_contact(lane, intersect(lane), points);
            }
        }
    }

    /// Intersects the rays with a sphere.
    ///
    /// With the origin o relative to the sphere's centre and the direction d, |d| = 1, a ray is nearest to the centre
    /// at −o·d, at the distance |o − (o·d) d|, and enters the sphere √(r² − |o − (o·d) d|²) before that point.
    #[inline(always)]
    fn intersect_sphere(
        &self,
        sphere: &NearObject<'_>,
        radius_m: f64,
        h: f64,
        points: &mut PointBlock,
    ) -> [u64; LANES] {
        let mut outcome = [MISS; LANES];
        let shift = sphere.sensor_origin_in_object.to_array();
        let by_radius = radius_m.recip();
        let SiteBlock { anchor, out, .. } = &self.sites;
        for lane in 0..LANES {
            let d = [out[0][lane], out[1][lane], out[2][lane]];
            let o: [f64; 3] = std::array::from_fn(|axis| (anchor[axis][lane] - d[axis] * h) + shift[axis]);
            let middle = -(o[0] * d[0] + o[1] * d[1] + o[2] * d[2]);
            let nearest: [f64; 3] = std::array::from_fn(|axis| o[axis] + d[axis] * middle);
            let inside =
                radius_m * radius_m - (nearest[0] * nearest[0] + nearest[1] * nearest[1] + nearest[2] * nearest[2]);
            let half = inside.max(0.0).sqrt();
            let distance = middle - half;
            let hits = u64::from(inside >= 0.0) & u64::from(middle >= half) & u64::from(distance <= h);
            let starts_inside = u64::from(inside >= 0.0) & u64::from(middle < half) & u64::from(middle + half >= 0.0);
            outcome[lane] = hits * HIT + starts_inside * STARTS_INSIDE;
            points.depth_m[lane] = h - distance;
            for axis in 0..3 {
                points.normal[axis][lane] = (o[axis] + d[axis] * distance) * -by_radius;
            }
        }
        outcome
    }

    /// Intersects the rays with a cuboid: the part of a ray between the planes of all three axes. The contact normal is
    /// that of the planes that the ray enters last.
    #[inline(always)]
    fn intersect_cuboid(&self, cuboid: &NearObject<'_>, half_m: Vec3, h: f64, points: &mut PointBlock) -> [u64; LANES] {
        let rows = cuboid.sensor_from_object.to_cols_array_2d();
        let (shifts, halves) = (cuboid.sensor_origin_in_object.to_array(), half_m.to_array());
        let SiteBlock { anchor, out, .. } = &self.sites;
        let mut outcome = [MISS; LANES];
        for lane in 0..LANES {
            let out = [out[0][lane], out[1][lane], out[2][lane]];
            let start: [f64; 3] = std::array::from_fn(|i| anchor[i][lane] - out[i] * h);
            let mut passage = Passage::WHOLE;
            for axis in 0..3 {
                let row = rows[axis];
                let d = row[0] * out[0] + row[1] * out[1] + row[2] * out[2];
                let o = (row[0] * start[0] + row[1] * start[1] + row[2] * start[2]) + shifts[axis];
                let side = if d < 0.0 { -1.0 } else { 1.0 };
                passage = passage.cross(o * side, halves[axis], d.abs().recip(), row.map(|c| c * side));
            }
            outcome[lane] = passage.outcome(h, lane, points);
        }
        outcome
    }

    /// [`RayBlock::intersect_cuboid`] for rays of one direction; the same numbers, with those of the direction computed once.
    #[inline(always)]
    fn intersect_slabs(
        &self,
        cuboid: &NearObject<'_>,
        half_m: Vec3,
        h: f64,
        out: Vec3,
        points: &mut PointBlock,
    ) -> [u64; LANES] {
        let rows = cuboid.sensor_from_object.to_cols_array_2d();
        let (shifts, halves, out) = (cuboid.sensor_origin_in_object.to_array(), half_m.to_array(), out.to_array());
        let below = out.map(|out| out * h);
        let along = rows.map(|row| row[0] * out[0] + row[1] * out[1] + row[2] * out[2]);
        let sides = along.map(|d| if d < 0.0 { -1.0 } else { 1.0 });
        let by_size = along.map(|d| d.abs().recip());
        let normals: [[f64; 3]; 3] = std::array::from_fn(|axis| rows[axis].map(|c| c * sides[axis]));
        let mut outcome = [MISS; LANES];
        for lane in 0..LANES {
            let start: [f64; 3] = std::array::from_fn(|i| self.sites.anchor[i][lane] - below[i]);
            let mut passage = Passage::WHOLE;
            for axis in 0..3 {
                let row = rows[axis];
                let o = (row[0] * start[0] + row[1] * start[1] + row[2] * start[2]) + shifts[axis];
                passage = passage.cross(o * sides[axis], halves[axis], by_size[axis], normals[axis]);
            }
            outcome[lane] = passage.outcome(h, lane, points);
        }
        outcome
    }

    #[inline(always)]
    fn set_contact(&mut self, lane: usize, contact: Option<RayContact>, points: &mut PointBlock) {
        self.hit[lane] = contact.is_some();
        if let Some(RayContact { object, depth_m, triangle, normal, saturated }) = contact {
            (points.object[lane], points.triangle[lane], points.saturated[lane]) = (object, triangle, saturated);
            points.depth_m[lane] = depth_m;
            set(&mut points.normal, lane, normal);
        }
    }

    /// True if the rays of a full block all hit.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.count == LANES && self.hit == [true; LANES]
    }

    /// The lanes of the rays that hit.
    #[inline(always)]
    pub fn hits(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.count).filter(|&lane| self.hit[lane])
    }
}

/// Loads a number of each site: of `LANES` sites that follow each other, or of any.
#[inline(always)]
fn load(to: &mut Lanes, from: &[f64], some: &[(u32, u32)], run: Option<usize>) {
    if let Some(from) = run.and_then(|first| from[first..].first_chunk()) {
        **to = *from;
    } else {
        for (to, &(site, _)) in to.iter_mut().zip(some) {
            *to = from[site as usize];
        }
    }
}

/// The part of a ray between the planes of a cuboid, and the normal of the planes that it enters last.
#[derive(Clone, Copy)]
struct Passage {
    enter: f64,
    leave: f64,
    normal: [f64; 3],
}

impl Passage {
    const WHOLE: Self = Self { enter: f64::NEG_INFINITY, leave: f64::INFINITY, normal: [0.0; 3] };

    /// Cuts a ray at the two planes of an axis, along which it starts at `from` and rises; `by_size` is 1/|d| for its
    /// direction d. A ray along the planes (`by_size` = ∞) is between them or misses; in one of them its distance is NaN,
    /// for which both comparisons are false, so it is between them.
    #[inline(always)]
    fn cross(self, from: f64, half: f64, by_size: f64, normal: [f64; 3]) -> Self {
        let (first, last) = ((-half - from) * by_size, (half - from) * by_size);
        let later = first > self.enter;
        // Takes numbers: a choice between two arrays would be one between their addresses.
        let pick = |new: f64, old: f64| if later { new } else { old };
        let ([x, y, z], [old_x, old_y, old_z]) = (normal, self.normal);
        Self {
            enter: pick(first, self.enter),
            leave: if last < self.leave { last } else { self.leave },
            normal: [pick(x, old_x), pick(y, old_y), pick(z, old_z)],
        }
    }

    /// Sets normal and depth of the ray of a lane.
    #[inline(always)]
    fn outcome(&self, h: f64, lane: usize, points: &mut PointBlock) -> u64 {
        let meets = u64::from(self.enter <= self.leave);
        let hits = meets & u64::from(self.enter > 0.0) & u64::from(self.enter <= h);
        let starts_inside = meets & u64::from(self.enter <= 0.0) & u64::from(self.leave >= 0.0);
        let depth_m = h - self.enter;
        points.depth_m[lane] = if hits > 0 { depth_m } else { 0.0 };
        for i in 0..3 {
            points.normal[i][lane] = self.normal[i];
        }
        hits * HIT + starts_inside * STARTS_INSIDE
    }
}
