//! A block of contact points that advance together in vector lanes.
#![allow(clippy::needless_range_loop, reason = "a lane indexes many arrays")]

use super::rays::{RayBlock, SiteBlock};
use super::{Elasticity, Law, MIN_COSINE, SpringParameters};
use crate::ContactPoints;
use crate::friction_lanes::{LANES, Lanes, Lanes3, Slip, get, set};
use crate::frictions::Frictions;
use crate::lugre::{rotate_into_plane, rotate_lanes_into_plane};
use crate::point_block::PointBlock;
use dermis_geometry::Twist;

const ZERO: Lanes = Lanes::ZERO;

/// Collects the rays that hit in blocks and computes their loads.
pub(super) struct Presser<'a> {
    contact: SpringContact<'a>,
    /// The sites of the open block.
    open: SiteBlock,
    /// The blocks of this step, the last of which is open until it is full; then others of any content.
    blocks: Vec<PointBlock>,
    used: usize,
}

impl<'a> Presser<'a> {
    #[inline(always)]
    pub fn new(
        (parameters, frictions): (&'a SpringParameters, &'a Frictions),
        last: &'a ContactPoints,
        velocities: &'a [Twist],
        dt_s: f64,
    ) -> Self {
        Self {
            contact: SpringContact { parameters, frictions, last, velocities, dt_s },
            open: SiteBlock::EMPTY,
            blocks: ContactPoints::spare_blocks(),
            used: 0,
        }
    }

    /// The block after those in use, of any content: rays are intersected there.
    #[inline(always)]
    pub fn free(&mut self) -> &mut PointBlock {
        if self.used == self.blocks.len() {
            self.blocks.push(PointBlock::EMPTY);
        }
        &mut self.blocks[self.used]
    }

    /// True if the last block in use has room.
    #[inline(always)]
    fn has_open(&self) -> bool {
        self.used > 0 && self.blocks[self.used - 1].count < LANES
    }

    /// Adds the rays of the free block that hit.
    #[inline(always)]
    pub fn add(&mut self, rays: &RayBlock) {
        if rays.is_full() && !self.has_open() {
            self.blocks[self.used].count = LANES;
            self.used += 1;
            return self.contact.press(&mut self.blocks[self.used - 1], &rays.sites);
        }
        let mut kept = 0;
        for lane in rays.hits() {
            let ray = self.blocks[self.used].ray(lane);
            let to = if self.has_open() {
                let open = &mut self.blocks[self.used - 1];
                open.count += 1;
                open.set_ray(open.count - 1, ray);
                open.count - 1
            } else {
                // The free block becomes the open one: its rays that hit are moved to the front.
                self.blocks[self.used].set_ray(kept, ray);
                kept += 1;
                kept - 1
            };
            self.open.set(to, &rays.sites, lane);
            if kept == 0 && to + 1 == LANES {
                self.contact.press(&mut self.blocks[self.used - 1], &self.open);
            }
        }
        if kept > 0 {
            self.blocks[self.used].count = kept;
            self.used += 1;
        }
    }

    /// The blocks of all points.
    #[inline(always)]
    pub fn finish(mut self) -> Vec<PointBlock> {
        self.blocks.truncate(self.used);
        if let Some(last) = self.blocks.last_mut().filter(|last| last.count < LANES) {
            last.clear_rest();
            (last.count..LANES).for_each(|lane| self.open.set(lane, &SiteBlock::EMPTY, lane));
            self.contact.press(last, &self.open);
        }
        self.blocks
    }
}

/// The contact law of a step.
struct SpringContact<'a> {
    parameters: &'a SpringParameters,
    frictions: &'a Frictions,
    /// Contact points of the last step.
    last: &'a ContactPoints,
    /// The velocity of the only object nearby, or those of all objects by target index.
    velocities: &'a [Twist],
    dt_s: f64,
}

impl SpringContact<'_> {
    /// Computes the loads of the points of a block of sites.
    #[inline(always)]
    fn press(&self, points: &mut PointBlock, sites: &SiteBlock) {
        load_bristles(points, &sites.place, self.last);
        let (mut spring, mut slope, mut velocity) = (ZERO, ZERO, [ZERO; 3]);
        load_springs(points, &sites.area_m2, &self.parameters.elasticity, &mut spring, &mut slope);
        contact_velocity(points, sites, self.velocities, &mut velocity);
        let SiteBlock { out, area_m2, .. } = sites;
        let damping = self.parameters.damping.per();
        // A factor instead of a branch, so that the loop vectorises.
        let conservative = match self.parameters.law {
            Law::Conservative => 1.0,
            Law::Paper => 0.0,
        };
        for lane in 0..LANES {
            let n = [points.normal[0][lane], points.normal[1][lane], points.normal[2][lane]];
            let out = [out[0][lane], out[1][lane], out[2][lane]];
            let v = [velocity[0][lane], velocity[1][lane], velocity[2][lane]];
            let cosine = (out[0] * n[0] + out[1] * n[1] + out[2] * n[2]).max(MIN_COSINE);
            let approach = -(v[0] * n[0] + v[1] * n[1] + v[2] * n[2]);
            let by_cosine = cosine.recip();
            let lever = conservative * by_cosine + (1.0 - conservative);
            let damping = damping.of(points.share[lane], area_m2[lane]);
            points.load.normal_newton[lane] = ((spring[lane] + damping * approach * lever) * lever).max(0.0);
            for axis in 0..3 {
                velocity[axis][lane] = v[axis] + n[axis] * approach;
            }
            points.stiffness[lane] = slope[lane] * lever * by_cosine;
            points.damping[lane] = damping * lever * lever;
        }
        let slip = Slip { velocity: &velocity, share: &points.share };
        match self.frictions.only() {
            Some(friction) => points.load.step(friction, slip, self.dt_s),
            None => points.load.step_each(|lane| self.frictions.of(points.object[lane]), slip, self.dt_s),
        }
    }
}

/// Sets the deflections to those of the bristles of each point's object from the last step, rotated into the contact
/// plane. Lanes beyond the points are zero.
#[inline(always)]
fn load_bristles(points: &mut PointBlock, place: &[u32; LANES], last: &ContactPoints) {
    let deflection_m = &mut points.load.deflection_m;
    // Often the same points touched in the last step: a whole block is loaded at once.
    let block = last.blocks.get(place[0] as usize / LANES);
    if let Some(block) = block.filter(|block| block.site == points.site && block.object == points.object)
        && points.count == block.count
        && rotate_lanes_into_plane(&block.load.deflection_m, &block.normal, &points.normal, deflection_m)
    {
        return;
    }
    let (mut last_deflection_m, mut last_normal) = ([ZERO; 3], points.normal);
    for lane in 0..points.count {
        let place = place[lane] as usize;
        if let Some(block) = last.blocks.get(place / LANES)
            && block.object[place % LANES] == points.object[lane]
        {
            set(&mut last_deflection_m, lane, get(&block.load.deflection_m, place % LANES));
            set(&mut last_normal, lane, get(&block.normal, place % LANES));
        }
    }
    if !rotate_lanes_into_plane(&last_deflection_m, &last_normal, &points.normal, deflection_m) {
        *deflection_m = [ZERO; 3];
        for lane in 0..points.count {
            let (held, from) = (get(&last_deflection_m, lane), get(&last_normal, lane));
            set(deflection_m, lane, rotate_into_plane(held, from, get(&points.normal, lane)));
        }
    }
}

/// Force (N) and stiffness (N/m) along the ray.
#[inline(always)]
fn load_springs(points: &PointBlock, area_m2: &Lanes, elasticity: &Elasticity, spring: &mut Lanes, slope: &mut Lanes) {
    if let Some(per) = elasticity.linear() {
        for lane in 0..LANES {
            slope[lane] = per.of(points.share[lane], area_m2[lane]);
            spring[lane] = slope[lane] * points.depth_m[lane];
        }
    } else {
        for lane in 0..points.count {
            let (depth_m, share) = (points.depth_m[lane], points.share[lane]);
            (spring[lane], slope[lane]) = elasticity.of_part(depth_m, share, area_m2[lane]);
        }
    }
}

/// Computes the contact points and the velocity of the object at them.
#[inline(always)]
fn contact_velocity(points: &mut PointBlock, sites: &SiteBlock, velocities: &[Twist], velocity: &mut Lanes3) {
    for axis in 0..3 {
        for lane in 0..LANES {
            points.at[axis][lane] = sites.anchor[axis][lane] - sites.out[axis][lane] * points.depth_m[lane];
        }
    }
    if let [Twist { linear, angular }] = velocities {
        for lane in 0..LANES {
            let [x, y, z] = [points.at[0][lane], points.at[1][lane], points.at[2][lane]];
            velocity[0][lane] = linear.x + (angular.y * z - angular.z * y);
            velocity[1][lane] = linear.y + (angular.z * x - angular.x * z);
            velocity[2][lane] = linear.z + (angular.x * y - angular.y * x);
        }
    } else {
        for lane in 0..points.count {
            let twist: &Twist = &velocities[points.object[lane] as usize];
            set(velocity, lane, twist.at(get(&points.at, lane)));
        }
    }
}
