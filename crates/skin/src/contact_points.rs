//! The contact points of a skin of springs.

use crate::friction_lanes::{LANES, Lanes3, get};
use crate::frictions::Frictions;
use crate::lane_sums::{WIDTH, total};
use crate::point_block::PointBlock;
use crate::simd::{Kernel, Simd, Vectors};
use crate::spare::{Spare, keep, reuse};
use crate::{Bristle, Facet, Site, Support};
use dermis_geometry::{Vec3, Wrench};
use std::cell::RefCell;
use std::sync::Arc;

/// Contact points as a structure of arrays: what a step computes, reads and writes in vector lanes. They are the facets of
/// a touch and hold the bristles for the next step.
#[derive(Clone, Debug)]
pub struct ContactPoints {
    /// In the order of the sites. Blocks need not be full.
    pub(crate) blocks: Vec<PointBlock>,
    /// Friction of a point of share 1 with each object.
    pub(crate) frictions: Frictions,
    /// The contact points of the skin that computed these; none for others, whose order and numbers are unknown.
    pub(crate) sites: Arc<[Site]>,
}

thread_local! {
    static SPARE: Spare<PointBlock> = const { RefCell::new(Vec::new()) };
}

impl Drop for ContactPoints {
    fn drop(&mut self) {
        keep(&SPARE, std::mem::take(&mut self.blocks));
    }
}

impl ContactPoints {
    /// No points.
    pub(crate) fn none() -> Self {
        Self { blocks: Vec::new(), frictions: Frictions::default(), sites: Arc::default() }
    }

    /// Blocks with any content, to be overwritten.
    pub(crate) fn spare_blocks() -> Vec<PointBlock> {
        reuse(&SPARE)
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(|block| block.count).sum()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(|block| block.count == 0)
    }

    /// Point of the undeformed skin (m) and force on the sensor (N) of each point.
    #[inline]
    pub fn loads(&self) -> impl Iterator<Item = (Vec3, Vec3)> + '_ {
        self.blocks.iter().flat_map(PointBlock::loads).map(|(site, force)| (self.sites[site].point, force))
    }

    /// Calls `add` with the index of the contact point of the skin and the force on the sensor (N) of each point.
    #[inline]
    pub fn each_site_load(&self, mut add: impl FnMut(usize, Vec3)) {
        for block in &self.blocks {
            block.loads().for_each(|(site, force)| add(site, force));
        }
    }

    /// The bristles of each point.
    #[inline]
    pub(crate) fn bristles(&self) -> impl Iterator<Item = Bristle> + '_ {
        self.blocks.iter().flat_map(|block| (0..block.count).map(|lane| block.bristle(lane)))
    }

    /// The object of each point.
    pub fn objects(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocks.iter().flat_map(|block| block.object[..block.count].iter().copied())
    }

    /// The object of each point with its stiffness and damping.
    pub fn supports(&self) -> impl Iterator<Item = (u32, Support)> + '_ {
        self.blocks.iter().flat_map(move |block| {
            let support = |lane: usize| block.support(lane, self.frictions.of(block.object[lane]));
            (0..block.count).map(move |lane| (block.object[lane], support(lane)))
        })
    }

    /// The points as facets.
    pub fn facets(&self) -> impl Iterator<Item = Facet> + '_ {
        let facet =
            |block: &PointBlock, lane: usize| block.facet(lane, self.frictions.of(block.object[lane]), &self.sites);
        self.blocks.iter().flat_map(move |block| (0..block.count).map(move |lane| facet(block, lane)))
    }

    /// The only object in contact; `None` for none or several.
    pub(crate) fn only_object(&self) -> Option<u32> {
        let first = self.blocks.first()?.only_object()?;
        self.blocks[1..].iter().all(|block| block.only_object() == Some(first)).then_some(first)
    }

    /// True if the numbers of the bristles are sound and in the order of `sites` contact points.
    pub(crate) fn are_bristles(&self, sites: usize) -> bool {
        let (mut sound, mut next) = (true, 0);
        for block in &self.blocks {
            sound &= block.are_bristles();
            for &site in &block.site[..block.count] {
                sound &= site as usize >= next;
                next = site as usize + 1;
            }
        }
        sound && next <= sites
    }

    /// Adds to sites in order the place of their bristles (block × lanes + lane).
    pub(crate) fn add_places(&self, found: &mut [(u32, u32)]) {
        let mut next = 0;
        for (index, block) in self.blocks.iter().enumerate() {
            let first = (index * LANES) as u32;
            // Often the same sites touched in the last step.
            let same = found.get(next..next + block.count).is_some_and(|found| {
                found.iter().zip(&block.site).fold(0, |other, (found, site)| other | (found.0 ^ site)) == 0
            });
            if same {
                for (place, found) in (first..).zip(&mut found[next..next + block.count]) {
                    found.1 = place;
                }
                next += block.count;
                continue;
            }
            for (place, &site) in (first..).zip(&block.site[..block.count]) {
                while found.get(next).is_some_and(|found| found.0 < site) {
                    next += 1;
                }
                if let Some(found) = found.get_mut(next).filter(|found| found.0 == site) {
                    found.1 = place;
                    next += 1;
                }
            }
        }
    }

    /// Number of saturated points.
    pub(crate) fn saturated(&self) -> usize {
        self.blocks.iter().map(|block| block.saturated.iter().filter(|&&saturated| saturated).count()).sum()
    }

    /// Load of each of `objects` objects on the sensor, about its origin.
    pub(crate) fn loads_on_sensor(&self, objects: usize) -> Vec<Wrench> {
        let mut loads = vec![Wrench::ZERO; objects];
        if let Some(only) = self.only_object() {
            loads[only as usize] = Simd::detect().run(Sum { points: self });
        } else {
            for block in &self.blocks {
                for lane in 0..block.count {
                    let force = Vec3::from_array(block.force(&block.load, lane));
                    loads[block.object[lane] as usize] += Wrench::from_force_at(force, get(&block.at, lane));
                }
            }
        }
        loads
    }
}

/// Sum of the loads of all points on the sensor, about its origin.
struct Sum<'a> {
    points: &'a ContactPoints,
}

impl Kernel for Sum<'_> {
    type Output = Wrench;
    #[inline(always)]
    fn run<V: Vectors>(self) -> Wrench {
        let mut sum = [[0.0; WIDTH]; 6];
        for block in &self.points.blocks {
            add_loads(&mut sum, |lane| block.force(&block.load, lane), &block.at);
        }
        let [fx, fy, fz, tx, ty, tz] = sum.each_ref().map(total);
        Wrench { force: Vec3::new(fx, fy, fz), torque: Vec3::new(tx, ty, tz) }
    }
}

/// Adds forces at points to the sums of forces and torques. `force` returns that of a lane.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "a lane indexes many arrays")]
pub(crate) fn add_loads(sum: &mut [[f64; WIDTH]; 6], force: impl Fn(usize) -> [f64; 3], arm: &Lanes3) {
    for first in (0..LANES).step_by(WIDTH) {
        for part in 0..WIDTH {
            let lane = first + part;
            let f = force(lane);
            let [x, y, z] = [arm[0][lane], arm[1][lane], arm[2][lane]];
            sum[0][part] += f[0];
            sum[1][part] += f[1];
            sum[2][part] += f[2];
            sum[3][part] += y * f[2] - z * f[1];
            sum[4][part] += z * f[0] - x * f[2];
            sum[5][part] += x * f[1] - y * f[0];
        }
    }
}
