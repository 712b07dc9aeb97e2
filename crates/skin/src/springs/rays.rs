//! Rays of sites against one object, in vector lanes.
#![allow(clippy::needless_range_loop, reason = "a lane indexes many arrays")]

use super::site_lanes::SiteLanes;
use super::{NearObject, RayContact};
use crate::friction_lanes::{LANES, Lanes, Lanes3, get, set};
use crate::point_block::PointBlock;
use dermis_geometry::{Primitive, Vec3};

const ZERO: Lanes = [0.0; LANES];

/// Up to [`LANES`] sites and the contacts of their rays as a structure of arrays.
pub(super) struct RayBlock {
    count: usize,
    site: [u32; LANES],
    /// Place of the bristles of each site.
    place: [u32; LANES],
    point: Lanes3,
    out: Lanes3,
    area_m2: Lanes,
    share: Lanes,
    /// True for a site in contact.
    hit: [bool; LANES],
    object: [u32; LANES],
    triangle: [u32; LANES],
    saturated: [bool; LANES],
    depth_m: Lanes,
    /// Contact normal, out of the sensor.
    normal: Lanes3,
}

/// Result of a test in lanes: no hit, a hit, or an origin inside the object, which needs the general test.
const MISS: u64 = 0;
const HIT: u64 = 1;
const STARTS_INSIDE: u64 = 2;

impl RayBlock {
    /// A block without sites.
    pub fn new() -> Self {
        Self {
            count: 0,
            site: [0; LANES],
            place: [0; LANES],
            point: [ZERO; 3],
            out: [ZERO; 3],
            area_m2: ZERO,
            share: ZERO,
            hit: [false; LANES],
            object: [0; LANES],
            triangle: [0; LANES],
            saturated: [false; LANES],
            depth_m: ZERO,
            normal: [ZERO; 3],
        }
    }

    /// Loads sites, each with the place of its bristles.
    #[inline(always)]
    pub fn gather(&mut self, sites: &SiteLanes, some: &[(u32, u32)]) {
        self.count = some.len();
        for (lane, &(site, place)) in some.iter().enumerate() {
            (self.site[lane], self.place[lane]) = (site, place);
        }
        let columns =
            [&mut self.point, &mut self.out].into_iter().flatten().chain([&mut self.area_m2, &mut self.share]);
        let (first, last) = (some[0].0 as usize, some[some.len() - 1].0 as usize);
        if some.len() == LANES && last - first + 1 == LANES {
            for (to, from) in columns.zip(&sites.columns) {
                to.copy_from_slice(&from[first..first + LANES]);
            }
        } else {
            for (to, from) in columns.zip(&sites.columns) {
                for (to, &(site, _)) in to.iter_mut().zip(some) {
                    *to = from[site as usize];
                }
            }
        }
    }

    /// Sets the contact of each site to the result of `intersect`.
    #[inline(always)]
    pub fn intersect(&mut self, intersect: impl Fn(usize) -> Option<RayContact>) {
        for lane in 0..self.count {
            self.set_contact(lane, intersect(lane));
        }
    }

    /// Intersects the rays with the only object nearby: in lanes if it is a sphere or a cuboid. `intersect` is the
    /// general test of one ray.
    #[inline(always)]
    pub fn intersect_only(&mut self, only: &NearObject<'_>, h: f64, intersect: impl Fn(usize) -> Option<RayContact>) {
        let outcome = match only.surface.primitive() {
            Some(Primitive::Sphere { radius_m }) => self.intersect_sphere(only, *radius_m, h),
            Some(Primitive::Cuboid { half_m }) => self.intersect_cuboid(only, *half_m, h),
            _ => return self.intersect(intersect),
        };
        self.object = [only.index; LANES];
        (self.triangle, self.saturated) = ([0; LANES], [false; LANES]);
        for lane in 0..LANES {
            self.hit[lane] = outcome[lane] == HIT;
        }
        if outcome[..self.count].contains(&STARTS_INSIDE) {
            for lane in (0..self.count).filter(|&lane| outcome[lane] == STARTS_INSIDE) {
                self.set_contact(lane, intersect(lane));
            }
        }
    }

    /// Intersects the rays with a sphere.
    ///
    /// With the origin o relative to the sphere's centre and the direction d, |d| = 1, a ray is nearest to the centre
    /// at −o·d, at the distance |o − (o·d) d|, and enters the sphere √(r² − |o − (o·d) d|²) before that point.
    #[inline(always)]
    fn intersect_sphere(&mut self, sphere: &NearObject<'_>, radius_m: f64, h: f64) -> [u64; LANES] {
        let mut outcome = [MISS; LANES];
        let shift = sphere.sensor_origin_in_object.to_array();
        let by_radius = radius_m.recip();
        for lane in 0..LANES {
            let d = [self.out[0][lane], self.out[1][lane], self.out[2][lane]];
            let o: [f64; 3] = std::array::from_fn(|axis| (self.point[axis][lane] - d[axis] * h) + shift[axis]);
            let middle = -(o[0] * d[0] + o[1] * d[1] + o[2] * d[2]);
            let nearest: [f64; 3] = std::array::from_fn(|axis| o[axis] + d[axis] * middle);
            let inside =
                radius_m * radius_m - (nearest[0] * nearest[0] + nearest[1] * nearest[1] + nearest[2] * nearest[2]);
            let half = inside.max(0.0).sqrt();
            let distance = middle - half;
            let hits = u64::from(inside >= 0.0) & u64::from(middle >= half) & u64::from(distance <= h);
            let starts_inside = u64::from(inside >= 0.0) & u64::from(middle < half) & u64::from(middle + half >= 0.0);
            outcome[lane] = hits * HIT + starts_inside * STARTS_INSIDE;
            self.depth_m[lane] = h - distance;
            for axis in 0..3 {
                self.normal[axis][lane] = (o[axis] + d[axis] * distance) * -by_radius;
            }
        }
        outcome
    }

    /// Intersects the rays with a cuboid: the part of a ray between the planes of all three axes. The contact normal is
    /// that of the planes that the ray enters last.
    #[inline(always)]
    fn intersect_cuboid(&mut self, cuboid: &NearObject<'_>, half_m: Vec3, h: f64) -> [u64; LANES] {
        let mut outcome = [MISS; LANES];
        let rows = cuboid.sensor_from_object.to_cols_array_2d();
        let (shifts, halves) = (cuboid.sensor_origin_in_object.to_array(), half_m.to_array());
        let (mut enter, mut leave) = ([f64::NEG_INFINITY; LANES], [f64::INFINITY; LANES]);
        self.normal = [ZERO; 3];
        for axis in 0..3 {
            let (row, shift, half) = (rows[axis], shifts[axis], halves[axis]);
            for lane in 0..LANES {
                let out = [self.out[0][lane], self.out[1][lane], self.out[2][lane]];
                let start: [f64; 3] = std::array::from_fn(|i| self.point[i][lane] - out[i] * h);
                let d = row[0] * out[0] + row[1] * out[1] + row[2] * out[2];
                let o = (row[0] * start[0] + row[1] * start[1] + row[2] * start[2]) + shift;
                // Along the axis the ray starts at `from` and moves up, or stays there.
                let side = if d < 0.0 { -1.0 } else { 1.0 };
                let (from, by_size) = (o * side, 1.0 / (d * side));
                let never = if from.abs() <= half { f64::NEG_INFINITY } else { f64::INFINITY };
                let (first, last) = ((-half - from) * by_size, (half - from) * by_size);
                let first = if d == 0.0 { never } else { first };
                let last = if d == 0.0 { f64::INFINITY } else { last };
                let later = first > enter[lane];
                enter[lane] = if later { first } else { enter[lane] };
                leave[lane] = if last < leave[lane] { last } else { leave[lane] };
                for i in 0..3 {
                    let normal = row[i] * side;
                    self.normal[i][lane] = if later { normal } else { self.normal[i][lane] };
                }
            }
        }
        for lane in 0..LANES {
            let (enter, leave) = (enter[lane], leave[lane]);
            let meets = u64::from(enter <= leave);
            let hits = meets & u64::from(enter > 0.0) & u64::from(enter <= h);
            let starts_inside = meets & u64::from(enter <= 0.0) & u64::from(leave >= 0.0);
            outcome[lane] = hits * HIT + starts_inside * STARTS_INSIDE;
            let depth_m = h - enter;
            self.depth_m[lane] = if hits > 0 { depth_m } else { 0.0 };
        }
        outcome
    }

    #[inline(always)]
    fn set_contact(&mut self, lane: usize, contact: Option<RayContact>) {
        self.hit[lane] = contact.is_some();
        if let Some(RayContact { object, depth_m, triangle, normal, saturated }) = contact {
            (self.object[lane], self.triangle[lane], self.saturated[lane]) = (object, triangle, saturated);
            self.depth_m[lane] = depth_m;
            set(&mut self.normal, lane, normal);
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

    /// Makes all rays the points of an empty block; returns the normals of their sites and the places of their bristles.
    #[inline(always)]
    pub fn move_all(&self, points: &mut PointBlock) -> (Lanes3, [u32; LANES]) {
        points.count = LANES;
        (points.site, points.object, points.triangle) = (self.site, self.object, self.triangle);
        (points.saturated, points.anchor, points.normal) = (self.saturated, self.point, self.normal);
        (points.area_m2, points.share, points.depth_m) = (self.area_m2, self.share, self.depth_m);
        (self.out, self.place)
    }

    /// Appends the ray of a lane to a block; returns the normal of its site and the place of its bristles.
    #[inline(always)]
    pub fn push(&self, lane: usize, points: &mut PointBlock) -> (Vec3, u32) {
        let to = points.count;
        points.count += 1;
        (points.site[to], points.object[to], points.triangle[to]) =
            (self.site[lane], self.object[lane], self.triangle[lane]);
        (points.saturated[to], points.area_m2[to]) = (self.saturated[lane], self.area_m2[lane]);
        (points.share[to], points.depth_m[to]) = (self.share[lane], self.depth_m[lane]);
        set(&mut points.anchor, to, get(&self.point, lane));
        set(&mut points.normal, to, get(&self.normal, lane));
        (get(&self.out, lane), self.place[lane])
    }
}
