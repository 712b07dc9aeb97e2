//! A block of sites that advance together in vector lanes.
#![allow(clippy::needless_range_loop, reason = "a lane indexes many arrays")]

use super::{Elasticity, Law, MIN_COSINE, NearObject, Site, SpringParameters};
use crate::friction_lanes::{FrictionLanes, LANES, Lanes, Lanes3, get, set};
use crate::lugre::{rotate_into_plane, rotate_lanes_into_plane};
use crate::{Bristle, Facet, Load, Tangent};
use dermis_geometry::{Primitive, Twist, Vec3};

const ZERO: Lanes = [0.0; LANES];

/// Up to [`LANES`] sites as a structure of arrays.
pub(super) struct Block {
    count: usize,
    sites: [u32; LANES],
    point: Lanes3,
    out: Lanes3,
    area_m2: Lanes,
    /// The object in contact with each site.
    object: [Option<u32>; LANES],
    triangle: [u32; LANES],
    saturated: [bool; LANES],
    depth_m: Lanes,
    /// Contact normal, out of the sensor.
    normal: Lanes3,
    at: Lanes3,
    /// Deflection (m) of the bristles and contact normal before the step.
    last_deflection_m: Lanes3,
    last_normal: Lanes3,
    stiffness_normal: Lanes,
    damping_normal: Lanes,
    slides: FrictionLanes,
}

/// Contact of a ray with an object.
pub(super) struct RayContact {
    pub object: u32,
    pub depth_m: f64,
    pub triangle: u32,
    /// Contact normal, out of the sensor, in the sensor's frame.
    pub normal: Vec3,
    pub saturated: bool,
}

/// Result of a ray–sphere test: no hit, a hit, or an origin inside the sphere, which needs the general test.
const MISS: u64 = 0;
const HIT: u64 = 1;
const STARTS_INSIDE: u64 = 2;

impl Block {
    /// An empty block.
    pub fn new() -> Self {
        Self {
            count: 0,
            sites: [0; LANES],
            point: [ZERO; 3],
            out: [ZERO; 3],
            area_m2: ZERO,
            object: [None; LANES],
            triangle: [0; LANES],
            saturated: [false; LANES],
            depth_m: ZERO,
            normal: [ZERO; 3],
            at: [ZERO; 3],
            last_deflection_m: [ZERO; 3],
            last_normal: [ZERO; 3],
            stiffness_normal: ZERO,
            damping_normal: ZERO,
            slides: FrictionLanes::new(),
        }
    }

    /// Loads sites.
    #[inline(always)]
    pub fn gather(&mut self, sites: &[Site], some: &[(u32, u32)]) {
        self.count = some.len();
        for (lane, &(index, _)) in some.iter().enumerate() {
            let site = &sites[index as usize];
            self.sites[lane] = index;
            set(&mut self.point, lane, site.point);
            set(&mut self.out, lane, site.normal);
            self.area_m2[lane] = site.area_m2;
            self.slides.share[lane] = site.share;
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
        for lane in 0..self.count {
            self.object[lane] = (outcome[lane] == HIT).then_some(only.index);
            self.triangle[lane] = 0;
            self.saturated[lane] = false;
        }
        if outcome.contains(&STARTS_INSIDE) {
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
        self.object[lane] = contact.as_ref().map(|contact| contact.object);
        // A lane without contact is computed too, with values that cannot overflow.
        let out = get(&self.out, lane);
        let RayContact { object: _, depth_m, triangle, normal, saturated } =
            contact.unwrap_or(RayContact { object: 0, depth_m: 0.0, triangle: 0, normal: out, saturated: false });
        self.depth_m[lane] = depth_m;
        self.triangle[lane] = triangle;
        self.saturated[lane] = saturated;
        set(&mut self.normal, lane, normal);
    }

    /// Loads the bristles of each site's object from the last step, rotated into the contact plane.
    #[inline(always)]
    pub fn load_bristles(&mut self, some: &[(u32, u32)], bristles: &[Bristle]) {
        for (lane, &(_, place)) in some.iter().enumerate() {
            let held = bristles.get(place as usize).filter(|bristle| Some(bristle.object) == self.object[lane]);
            let (deflection_m, normal) = held.map_or_else(
                || (Vec3::ZERO, get(&self.normal, lane)),
                |bristle| (bristle.deflection_m, bristle.normal),
            );
            set(&mut self.last_deflection_m, lane, deflection_m);
            set(&mut self.last_normal, lane, normal);
        }
        let rotated = &mut self.slides.deflection_m;
        if !rotate_lanes_into_plane(&self.last_deflection_m, &self.last_normal, &self.normal, rotated) {
            for lane in 0..self.count {
                let (last_deflection_m, from) = (get(&self.last_deflection_m, lane), get(&self.last_normal, lane));
                set(rotated, lane, rotate_into_plane(last_deflection_m, from, get(&self.normal, lane)));
            }
        }
    }

    /// Computes normal forces and friction. `velocities` holds the velocity of the only object nearby, or those of all
    /// objects by target index.
    #[inline(always)]
    pub fn press(&mut self, parameters: &SpringParameters, velocities: &[Twist], dt_s: f64) {
        let (mut spring, mut slope) = (ZERO, ZERO);
        self.spring(&parameters.elasticity, &mut spring, &mut slope);
        self.contact_velocity(velocities);
        let slides = &mut self.slides;
        let damping = parameters.damping.per();
        // A factor instead of a branch, so that the loop vectorises.
        let conservative = match parameters.law {
            Law::Conservative => 1.0,
            Law::Paper => 0.0,
        };
        for lane in 0..LANES {
            let n = [self.normal[0][lane], self.normal[1][lane], self.normal[2][lane]];
            let out = [self.out[0][lane], self.out[1][lane], self.out[2][lane]];
            let v = [slides.velocity[0][lane], slides.velocity[1][lane], slides.velocity[2][lane]];
            let cosine = (out[0] * n[0] + out[1] * n[1] + out[2] * n[2]).max(MIN_COSINE);
            let approach = -(v[0] * n[0] + v[1] * n[1] + v[2] * n[2]);
            let by_cosine = cosine.recip();
            let lever = conservative * by_cosine + (1.0 - conservative);
            let damping = damping.of(slides.share[lane], self.area_m2[lane]);
            slides.normal_newton[lane] = ((spring[lane] + damping * approach * lever) * lever).max(0.0);
            for axis in 0..3 {
                slides.velocity[axis][lane] = v[axis] + n[axis] * approach;
            }
            self.stiffness_normal[lane] = slope[lane] * lever * by_cosine;
            self.damping_normal[lane] = damping * lever * lever;
        }
        slides.step(&parameters.friction, dt_s);
    }

    /// Force (N) and stiffness (N/m) along the ray.
    #[inline(always)]
    fn spring(&self, elasticity: &Elasticity, spring: &mut Lanes, slope: &mut Lanes) {
        if let Some(per) = elasticity.linear() {
            for lane in 0..LANES {
                slope[lane] = per.of(self.slides.share[lane], self.area_m2[lane]);
                spring[lane] = slope[lane] * self.depth_m[lane];
            }
        } else {
            for lane in 0..self.count {
                let (share, area_m2) = (self.slides.share[lane], self.area_m2[lane]);
                (spring[lane], slope[lane]) = elasticity.of_part(self.depth_m[lane], share, area_m2);
            }
        }
    }

    /// Computes the contact points and the velocity of the object at them.
    #[inline(always)]
    fn contact_velocity(&mut self, velocities: &[Twist]) {
        for axis in 0..3 {
            for lane in 0..LANES {
                self.at[axis][lane] = self.point[axis][lane] - self.out[axis][lane] * self.depth_m[lane];
            }
        }
        if let [Twist { linear, angular }] = velocities {
            for lane in 0..LANES {
                let [x, y, z] = [self.at[0][lane], self.at[1][lane], self.at[2][lane]];
                self.slides.velocity[0][lane] = linear.x + (angular.y * z - angular.z * y);
                self.slides.velocity[1][lane] = linear.y + (angular.z * x - angular.x * z);
                self.slides.velocity[2][lane] = linear.z + (angular.x * y - angular.y * x);
            }
        } else {
            for lane in 0..self.count {
                let twist = self.object[lane].map_or(Twist::ZERO, |object| velocities[object as usize]);
                set(&mut self.slides.velocity, lane, twist.at(get(&self.at, lane)));
            }
        }
    }

    /// Appends facets and bristles of the sites in contact.
    #[inline(always)]
    pub fn report(&self, parameters: &SpringParameters, facets: &mut Vec<Facet>, bristles: &mut Vec<Bristle>) {
        for lane in 0..self.count {
            let Some(object) = self.object[lane] else { continue };
            let (deflection_m, friction) = self.slides.get(lane);
            let (at, normal) = (get(&self.at, lane), get(&self.normal, lane));
            let normal_newton = self.slides.normal_newton[lane];
            let (stiffness_tangential, damping_tangential) =
                parameters.friction.tangent(normal_newton, self.slides.share[lane]);
            facets.push(Facet {
                object,
                normal,
                depth_m: self.depth_m[lane],
                saturated: self.saturated[lane],
                load: Load::Point {
                    at,
                    anchor: get(&self.point, lane),
                    area_m2: self.area_m2[lane],
                    force: friction - normal * normal_newton,
                },
                tangent: Tangent {
                    stiffness_normal: self.stiffness_normal[lane],
                    stiffness_tangential,
                    damping_normal: self.damping_normal[lane],
                    damping_tangential,
                },
            });
            bristles.push(Bristle {
                site: self.sites[lane],
                object,
                deflection_m,
                normal,
                triangle: self.triangle[lane],
            });
        }
    }
}
