//! Sites that are stepped together.
#![allow(clippy::needless_range_loop, reason = "a lane is a place in many arrays at once")]

use super::{Elasticity, Law, MIN_COSINE, NearObject, Site, SpringParameters};
use crate::friction_lanes::{FrictionLanes, LANES, Lanes, Lanes3, get, set};
use crate::lugre::{rotate_into_plane, rotate_lanes_into_plane};
use crate::{Bristle, Facet, Load, Tangent};
use dermis_geometry::{Twist, Vec3};

const ZERO: Lanes = [0.0; LANES];

/// Up to [`LANES`] sites, number by number, so that one instruction can step several.
pub(super) struct Block {
    count: usize,
    sites: [u32; LANES],
    point: Lanes3,
    out: Lanes3,
    area_m2: Lanes,
    /// What each meets; no object where nothing does.
    object: [Option<u32>; LANES],
    triangle: [u32; LANES],
    saturated: [bool; LANES],
    depth_m: Lanes,
    /// Contact normal, out of the sensor.
    normal: Lanes3,
    at: Lanes3,
    /// Deflection (m) and contact normal of the bristles before the step.
    held_m: Lanes3,
    held_normal: Lanes3,
    stiffness_normal: Lanes,
    damping_normal: Lanes,
    slides: FrictionLanes,
}

/// What a ray meets first among all objects.
pub(super) struct RayContact {
    pub object: u32,
    pub depth_m: f64,
    pub triangle: u32,
    /// Contact normal, out of the sensor, in the sensor's frame.
    pub normal: Vec3,
    pub saturated: bool,
}

/// What a ray says about a ball.
const MISSES: u64 = 0;
const MEETS: u64 = 1;
/// It starts inside: that takes more than a formula.
const BEGINS_INSIDE: u64 = 2;

impl Block {
    /// No sites yet.
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
            held_m: [ZERO; 3],
            held_normal: [ZERO; 3],
            stiffness_normal: ZERO,
            damping_normal: ZERO,
            slides: FrictionLanes::new(),
        }
    }

    /// Takes these sites instead of those before.
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

    /// Lets each site meet what `meet` says.
    #[inline(always)]
    pub fn intersect(&mut self, intersect: impl Fn(usize) -> Option<RayContact>) {
        for lane in 0..self.count {
            self.set_contact(lane, intersect(lane));
        }
    }

    /// Lets each site meet the one ball that is near; `meet` is asked about rays that begin inside it.
    ///
    /// With the ray's start o and direction d, |d| = 1, seen from the ball's middle: it passes the middle at −o·d, at the distance
    /// |o − (o·d) d|, and enters √(r² − that²) before.
    #[inline(always)]
    pub fn intersect_sphere(
        &mut self,
        ball: &NearObject<'_>,
        radius_m: f64,
        h: f64,
        intersect: impl Fn(usize) -> Option<RayContact>,
    ) {
        let mut says = [MISSES; LANES];
        let shift = ball.sensor_origin_in_object.to_array();
        let by_radius = radius_m.recip();
        let mut inside_any = 0;
        for lane in 0..LANES {
            let d = [self.out[0][lane], self.out[1][lane], self.out[2][lane]];
            let o: [f64; 3] = std::array::from_fn(|axis| (self.point[axis][lane] - d[axis] * h) + shift[axis]);
            let middle = -(o[0] * d[0] + o[1] * d[1] + o[2] * d[2]);
            let passes: [f64; 3] = std::array::from_fn(|axis| o[axis] + d[axis] * middle);
            let inside = radius_m * radius_m - (passes[0] * passes[0] + passes[1] * passes[1] + passes[2] * passes[2]);
            let half = inside.max(0.0).sqrt();
            let distance = middle - half;
            let meets = u64::from(inside >= 0.0) & u64::from(middle >= half) & u64::from(distance <= h);
            let begins_inside = u64::from(inside >= 0.0) & u64::from(middle < half) & u64::from(middle + half >= 0.0);
            says[lane] = meets * MEETS + begins_inside * BEGINS_INSIDE;
            inside_any |= begins_inside;
            self.depth_m[lane] = h - distance;
            for axis in 0..3 {
                self.normal[axis][lane] = (o[axis] + d[axis] * distance) * -by_radius;
            }
        }
        for lane in 0..self.count {
            self.object[lane] = (says[lane] == MEETS).then_some(ball.index);
            self.triangle[lane] = 0;
            self.saturated[lane] = false;
        }
        if inside_any != 0 {
            for lane in (0..self.count).filter(|&lane| says[lane] == BEGINS_INSIDE) {
                self.set_contact(lane, intersect(lane));
            }
        }
    }

    #[inline(always)]
    fn set_contact(&mut self, lane: usize, met: Option<RayContact>) {
        self.object[lane] = met.as_ref().map(|met| met.object);
        // A lane that meets nothing goes through the sums as well: with numbers that cannot overflow.
        let out = get(&self.out, lane);
        let RayContact { object: _, depth_m, triangle, normal, saturated } =
            met.unwrap_or(RayContact { object: 0, depth_m: 0.0, triangle: 0, normal: out, saturated: false });
        self.depth_m[lane] = depth_m;
        self.triangle[lane] = triangle;
        self.saturated[lane] = saturated;
        set(&mut self.normal, lane, normal);
    }

    /// Takes up the bristles that each site's object held before, turned into the plane of contact.
    #[inline(always)]
    pub fn load_bristles(&mut self, some: &[(u32, u32)], bristles: &[Bristle]) {
        for (lane, &(_, place)) in some.iter().enumerate() {
            let held = bristles.get(place as usize).filter(|bristle| Some(bristle.object) == self.object[lane]);
            let (deflection_m, normal) = held.map_or_else(
                || (Vec3::ZERO, get(&self.normal, lane)),
                |bristle| (bristle.deflection_m, bristle.normal),
            );
            set(&mut self.held_m, lane, deflection_m);
            set(&mut self.held_normal, lane, normal);
        }
        let turned = &mut self.slides.deflection_m;
        if !rotate_lanes_into_plane(&self.held_m, &self.held_normal, &self.normal, turned) {
            for lane in 0..self.count {
                let (held_m, from) = (get(&self.held_m, lane), get(&self.held_normal, lane));
                set(turned, lane, rotate_into_plane(held_m, from, get(&self.normal, lane)));
            }
        }
    }

    /// Forces, with friction. `velocity` is that of the one object near, or asked for each site where there are several.
    #[inline(always)]
    pub fn press(&mut self, parameters: &SpringParameters, velocities: &[Twist], dt_s: f64) {
        let (mut spring, mut slope) = (ZERO, ZERO);
        self.spring(&parameters.elasticity, &mut spring, &mut slope);
        self.contact_velocity(velocities);
        let slides = &mut self.slides;
        let damping = parameters.damping.per();
        // A number instead of a choice: a loop with choices in it is not made of vector instructions.
        let slanted = match parameters.law {
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
            let lever = slanted * by_cosine + (1.0 - slanted);
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

    /// Where the skin is pressed to, and the object's velocity there.
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

    /// Adds what is reported of the sites that meet something.
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
