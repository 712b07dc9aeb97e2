//! A spring-damper per texel: the soft contact of Moisio et al. 2013.

mod block;
mod elasticity;
mod energy;
mod gradient;
mod mesh_hits;
mod path_gradient;
mod rays;
mod site;
mod site_cells;
mod site_lanes;

pub use elasticity::{Damping, Elasticity, Law, Table};
pub use site::{Site, part_centers};

use crate::friction_lanes::LANES;
use crate::frictions::Frictions;
use crate::point_block::PointBlock;
use crate::resolution::{MIN_FLAT_POINTS, Resolution, SEARCH, flat_on_few_points, unresolved};
use crate::simd::{Kernel, Simd, Vectors};
use crate::spare::{Spare, keep, reuse};
use crate::threads::parallel;
use crate::{
    ContactEnergy, ContactPoints, Friction, ImplicitContact, Motion, PathGradient, PathStep, PointBristles, PointLoads,
    Skin, SkinError, SkinGradient, State, Support, Tangent, Target, Touch, TouchCotangent, Warning, require_positive,
};
use block::Presser;
use dermis_geometry::{Bounds, Bvh, Hit, Mat3, Pose, Primitive, Quat, Ray, Twist, Vec3, Wrench, cut};
use mesh_hits::{MeshHit, MeshHits};
use rayon::prelude::*;
use rays::RayBlock;
use serde::{Deserialize, Serialize};
use site_cells::SiteCells;
use site_lanes::SiteLanes;
use std::cell::RefCell;
use std::sync::Arc;

/// Parameters of every texel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpringParameters {
    /// Force as a function of depth.
    pub elasticity: Elasticity,
    /// Force as a function of the rate of depth.
    pub damping: Damping,
    /// Maximum penetration h (m).
    pub max_penetration_m: f64,
    /// Direction of the force on an inclined face.
    pub law: Law,
    /// Friction.
    pub friction: Friction,
}

impl SpringParameters {
    /// Checks the ranges of the parameters.
    pub fn validate(&self) -> Result<(), SkinError> {
        self.elasticity.validate()?;
        self.damping.validate()?;
        require_positive("max_penetration", "m", self.max_penetration_m)?;
        self.friction.validate()
    }
}

/// A skin of independent spring-dampers with bristle friction (a Winkler foundation), one ray each.
///
/// Moisio et al. 2013, algorithm 1: a ray runs from v − h n to v for each texel v with normal n. If it hits an object
/// at distance t, the depth is d = h − t, the contact normal n_c is the face normal of the object oriented out of the
/// sensor, and the force on the object along n_c is
/// ```text
/// f_n = (k d + c ḋ) / (n·n_c),   ḋ = −v·n_c / (n·n_c)        Law::Conservative: −∂(½ k d²)/∂x, the default
/// f_n =  k d − c v·n_c                                      Law::Paper: eqs (4), (5), (8)
/// ```
/// with n·n_c at least 0.2 and f_n never negative. The paper's law gains energy on closed paths over inclined faces.
/// Friction acts through bristles ([`Friction`]), which rotate with the contact plane and are reset when contact ends
/// or changes to another object.
///
/// Differs from the paper: an object deeper than h keeps the force of depth h and is reported as saturated, whereas the
/// paper's force vanishes. This requires a closed mesh with v − h n inside; an object that has passed this point makes
/// no contact. If several objects overlap at a texel, the deepest one makes contact.
#[derive(Clone, Debug)]
pub struct Springs {
    sites: Arc<[Site]>,
    site_lanes: SiteLanes,
    /// The sites by their place, if their normals are the same.
    cells: Option<SiteCells>,
    parameters: SpringParameters,
    /// Origins of the rays: h below each site.
    starts: Vec<Vec3>,
    /// Bounds of the origins, padded against rounding.
    start_bounds: Bounds,
    /// Bounding volumes of the rays.
    rays: Bvh,
    /// The least upper and the greatest lower corner of those volumes along each axis: a box that reaches beyond both
    /// overlaps all of them.
    core: [Vec3; 2],
    /// Bounds of the cells of all sites, as deep as their rays.
    cell_bounds: Bounds,
    /// Square root of the mean area of a site (m).
    spacing_m: f64,
}

thread_local! {
    /// Lists of candidate sites.
    static SPARE: Spare<(u32, u32)> = const { RefCell::new(Vec::new()) };
}

/// Number of candidate sites above which a step runs on several threads.
const PARALLEL_SITES: usize = 1024;
/// The place of the bristles of a site without any: beyond all blocks.
const FREE: u32 = u32::MAX;
/// Size of the cells of a curved skin compared with squares of the area of their sites: the corners of a triangle are 1.75 halves of
/// such a square from its centre.
const CURVED_CELL: f64 = 1.8;
/// Lower bound of n·n_c: the force of a grazing ray would be unbounded.
const MIN_COSINE: f64 = 0.2;

impl Springs {
    /// A skin with these sites. Returns an error for sites without area or normal, and for invalid parameters.
    pub fn new(sites: Vec<Site>, parameters: SpringParameters) -> Result<Self, SkinError> {
        parameters.validate()?;
        if sites.is_empty() {
            return Err(SkinError::NoSites);
        }
        for (texel, site) in sites.iter().enumerate() {
            let missing = if !site.point.is_finite() {
                Some("finite position")
            } else if !(site.area_m2 > 0.0 && site.area_m2.is_finite()) {
                Some("area")
            } else if (site.normal.length() - 1.0).abs() > 1e-9 || !site.normal.is_finite() {
                Some("normal")
            } else {
                None
            };
            if let Some(what) = missing {
                return Err(SkinError::BadSite { texel, what });
            }
        }
        let h = parameters.max_penetration_m;
        let starts: Vec<Vec3> = sites.iter().map(|site| site.point - site.normal * h).collect();
        let boxes: Vec<Bounds> =
            sites.iter().zip(&starts).map(|(site, start)| Bounds::around([site.point, *start])).collect();
        let core = boxes.iter().fold([Vec3::INFINITY, Vec3::NEG_INFINITY], |[upper, lower], volume| {
            [upper.min(volume.max), lower.max(volume.min)]
        });
        let spacing_m = (sites.iter().map(|site| site.area_m2).sum::<f64>() / sites.len() as f64).sqrt();
        let (site_lanes, start_bounds) =
            (SiteLanes::new(&sites), Bounds::around(starts.iter().copied()).padded(1e-6 * h));
        let cells = site_lanes.parallel.map(|normal| SiteCells::new(&sites, normal, spacing_m));
        let rays = Bvh::over(&boxes);
        let cell_bounds = sites.iter().zip(&boxes).fold(Bounds::EMPTY, |all, (site, ray)| {
            let [along, across]: [Vec3; 2] = site.normal.any_orthonormal_pair().into();
            let half = (along.abs() + across.abs()) * (0.5 * CURVED_CELL * site.area_m2.sqrt());
            all.union(&Bounds { min: ray.min - half, max: ray.max + half })
        });
        Ok(Self {
            sites: sites.into(),
            site_lanes,
            cells,
            parameters,
            starts,
            start_bounds,
            rays,
            core,
            cell_bounds,
            spacing_m,
        })
    }

    /// The contact points.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// Parameters of every texel.
    pub fn parameters(&self) -> &SpringParameters {
        &self.parameters
    }

    /// Mean distance (m) of neighbouring contact points.
    pub fn spacing_m(&self) -> f64 {
        self.spacing_m
    }

    /// The same sites with other parameters.
    pub fn with_parameters(&self, parameters: SpringParameters) -> Result<Self, SkinError> {
        Self::new(self.sites.to_vec(), parameters)
    }
}

/// Contact of a ray with an object.
struct RayContact {
    object: u32,
    depth_m: f64,
    triangle: u32,
    /// Contact normal, out of the sensor, in the sensor's frame.
    normal: Vec3,
    saturated: bool,
}

/// A target near the skin, with its transforms as matrices.
struct NearObject<'a> {
    surface: &'a dermis_geometry::Surface,
    object_from_sensor: Mat3,
    sensor_from_object: Mat3,
    sensor_origin_in_object: Vec3,
    /// Bounds in the sensor's frame.
    reach: Bounds,
    /// Radius (m) of a sphere, whose rotation is ignored: its axes are those of the sensor.
    sphere_radius_m: Option<f64>,
    /// Upper bound of the length (m) of a ray inside the object.
    diameter_m: f64,
    closed: bool,
    index: u32,
    velocity: Twist,
    /// The hits of all rays at a mesh; `None` if each ray has to be cast.
    hits: Option<MeshHits>,
}

impl Springs {
    /// Objects whose bounds overlap those of the rays.
    fn near<'a>(&self, motion: &Motion<'a>) -> Vec<NearObject<'a>> {
        // Padded, so that rounding does not lose a ray that just touches.
        let rays = self.rays.bounds();
        let slack = 1e-9 * rays.size().length();
        let rays = rays.padded(slack);
        motion
            .targets
            .iter()
            .enumerate()
            .filter_map(|(index, target)| {
                let surface = &target.object.surface;
                let reach = surface.bounds_in(&target.sensor_from_object, &rays)?;
                let sphere_radius_m = match surface.primitive() {
                    Some(Primitive::Sphere { radius_m }) => Some(*radius_m),
                    _ => None,
                };
                let object_from_sensor = if sphere_radius_m.is_some() {
                    Pose::from_translation(-target.sensor_from_object.translation)
                } else {
                    target.sensor_from_object.inverse()
                };
                let rotation = Mat3::from_quat(object_from_sensor.rotation);
                let mut seen = NearObject {
                    surface,
                    object_from_sensor: rotation,
                    sensor_from_object: rotation.transpose(),
                    sensor_origin_in_object: object_from_sensor.translation,
                    reach,
                    sphere_radius_m,
                    diameter_m: surface.bounds().size().length(),
                    closed: surface.is_closed(),
                    index: index as u32,
                    velocity: target.velocity,
                    hits: None,
                };
                self.tighten(target, &mut seen, &rays)?;
                seen.reach = seen.reach.padded(slack);
                Some(seen)
            })
            .collect()
    }

    /// Finds the hits of parallel rays at a mesh, or reduces its bounds to those of its triangles there; `None` without
    /// any. Not if a ray may start inside the mesh, which it may hit anywhere.
    fn tighten(&self, target: &Target<'_>, seen: &mut NearObject<'_>, rays: &Bounds) -> Option<()> {
        let pose = &target.sensor_from_object;
        let starts = seen.closed && seen.surface.bounds_in(pose, &self.start_bounds).is_some();
        if seen.surface.primitive().is_some() || starts {
            return Some(());
        }
        if let Some(cells) = &self.cells {
            seen.hits = MeshHits::find(self, cells, target, seen, rays);
            return seen.hits.as_ref().is_none_or(|hits| !hits.all().is_empty()).then_some(());
        }
        let tight = seen.surface.triangle_bounds_in(pose, rays, self.sites.len());
        seen.reach = tight.unwrap_or(seen.reach);
        (seen.reach != Bounds::EMPTY).then_some(())
    }

    /// The sites whose rays may hit an object, in order, each with the place of its bristles (block × lanes + lane) or
    /// [`FREE`].
    fn reached(&self, near: &[NearObject<'_>], last: &ContactPoints) -> Vec<(u32, u32)> {
        let mut found = reuse(&SPARE);
        found.clear();
        let [upper, lower] = self.core;
        let covers = |seen: &NearObject<'_>| seen.reach.min.cmple(upper).all() && seen.reach.max.cmpge(lower).all();
        if near.iter().any(|seen| seen.hits.is_none() && covers(seen)) {
            found.extend((0..self.sites.len() as u32).map(|site| (site, FREE)));
            last.add_places(&mut found);
            return found;
        }
        let mut marked = vec![0u64; self.sites.len().div_ceil(64)];
        let order = self.rays.order();
        let mut mark = |site: u32| marked[site as usize / 64] |= 1 << (site % 64);
        for seen in near {
            match (&seen.hits, &self.cells, seen.sphere_radius_m) {
                (Some(hits), ..) => hits.all().iter().for_each(|hit| mark(hit.site)),
                (_, Some(cells), Some(radius_m)) => {
                    cells.each_in_sphere(-seen.sensor_origin_in_object, radius_m, &mut mark);
                }
                _ => self.rays.overlapping(&seen.reach, |position| mark(order[position])),
            }
        }
        for (word, &bits) in marked.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let site = word as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                found.push((site, FREE));
            }
        }
        last.add_places(&mut found);
        found
    }

    /// The warning of [`Skin::settle`] for one object that touches this number of contact points, computed elsewhere, as
    /// on a GPU: too few, or none although it indents the skin.
    pub fn unresolved_points(&self, points: usize, target: Target<'_>) -> Option<Warning> {
        match points {
            0 => self.missed(&Touch::default(), &Motion { targets: &[target] }).pop(),
            // Whether the object is flat is computed here.
            _ if points < MIN_FLAT_POINTS => {
                self.settle(&self.rest(), &Motion { targets: &[target] }).ok()?.0.warnings.pop()
            }
            _ => None,
        }
    }

    fn resolution(&self) -> (Resolution, f64, usize) {
        (Resolution::ContactPoints, self.spacing_m, self.sites.len())
    }

    /// Warnings for objects that cover few contact points, and those for which `between` returns true.
    fn unresolved(&self, touch: &Touch, objects: usize, between: impl Fn(u32) -> bool) -> Vec<Warning> {
        unresolved(&touch.facets, 0..objects as u32, self.resolution(), between)
    }

    /// True if an object crosses the cell of a site: a square with the site's area about it, as deep as its ray. On a curved skin
    /// squares leave gaps, so cells there are larger and end at the tangent planes of their neighbours.
    fn lies_between(&self, target: &Target<'_>) -> bool {
        let (h, surface) = (self.parameters.max_penetration_m, &target.object.surface);
        let Some(reach) = surface.part_bounds_in(&target.sensor_from_object, &self.cell_bounds) else { return false };
        let mut cells = Vec::new();
        self.rays.overlapping(&reach.padded(self.spacing_m), |position| cells.push(self.rays.order()[position]));
        if surface.is_polyhedron() {
            return cells.into_iter().any(|site| {
                let Site { point, normal, .. } = self.sites[site as usize];
                let (along, across) = normal.any_orthonormal_pair();
                let sensor_from_site = Pose::new(Quat::from_mat3(&Mat3::from_cols(along, across, normal)), point);
                let half_m = self.half_cell_m(site) * (1.0 - 1e-6);
                let cell = Bounds { min: Vec3::new(-half_m, -half_m, -h), max: Vec3::new(half_m, half_m, -1e-9 * h) };
                let (planes, mut crosses) = (self.neighbour_planes(site), false);
                surface.each_part_in(&(sensor_from_site.inverse() * target.sensor_from_object), &cell, |part| {
                    if crosses {
                        return;
                    }
                    let mut part: Vec<Vec3> = part.iter().map(|&at| sensor_from_site.transform_point(at)).collect();
                    for &(at, out) in &planes {
                        cut(&mut part, |corner| (at - corner).dot(out) - 1e-9 * h);
                    }
                    crosses = !part.is_empty();
                });
                crosses
            });
        }
        // About SEARCH² rays in all: many per cell if the object covers few cells, some in some of the cells if many.
        let samples = (SEARCH as f64 / (cells.len() as f64).sqrt()).ceil().max(2.0) as usize;
        let stride = cells.len().div_ceil(SEARCH * SEARCH).max(1);
        let object_from_sensor = target.sensor_from_object.inverse();
        cells.into_iter().step_by(stride).any(|site| {
            let (Site { point, normal, .. }, planes) = (self.sites[site as usize], self.neighbour_planes(site));
            let tangents: [Vec3; 2] = normal.any_orthonormal_pair().into();
            // Samples only the part of the square within the bounds of the object.
            let [across, along] = tangents.map(|tangent| {
                let middle = (reach.center() - point).dot(tangent);
                let (extent, half_m) = (0.5 * reach.size().dot(tangent.abs()), self.half_cell_m(site));
                let (low, high) = ((middle - extent).max(-half_m), (middle + extent).min(half_m));
                (0..if low <= high { samples } else { 0 })
                    .map(move |i| tangent * (low + (high - low) * (i as f64 + 0.5) / samples as f64))
            });
            across.flat_map(|offset| along.clone().map(move |other| offset + other)).any(|offset| {
                let start = point + offset - normal * h;
                let origin = object_from_sensor.transform_point(start);
                let direction = object_from_sensor.transform_vector(normal);
                let hit = surface.cast(&Ray { origin, direction, length: h * (1.0 - 1e-9) }, None);
                hit.is_some_and(|hit| {
                    let found = start + normal * hit.distance;
                    planes.iter().all(|&(at, out)| (at - found).dot(out) > 1e-9 * h)
                })
            })
        })
    }

    /// Half the side (m) of the cell of a site.
    fn half_cell_m(&self, site: u32) -> f64 {
        let factor = if self.cells.is_some() { 1.0 } else { CURVED_CELL };
        0.5 * self.sites[site as usize].area_m2.sqrt() * factor
    }

    /// Points and normals of the sites around one of a curved skin; none on a flat skin.
    fn neighbour_planes(&self, site: u32) -> Vec<(Vec3, Vec3)> {
        let mut planes = Vec::new();
        if self.cells.is_none() {
            let near = Bounds::around([self.sites[site as usize].point]).padded(CURVED_CELL * self.spacing_m);
            self.rays.overlapping(&near, |position| {
                let Site { point, normal, .. } = self.sites[self.rays.order()[position] as usize];
                planes.push((point, normal));
            });
        }
        planes
    }

    /// The contact of the object that is deepest at a site; ties go to the first. `held` is the object of the site's
    /// bristles and its triangle.
    #[inline(always)]
    fn intersect(&self, site: u32, held: Option<(u32, u32)>, near: &[NearObject<'_>]) -> Option<RayContact> {
        let (first, others) = near.split_first()?;
        let mut deepest = self.intersect_object(site, held, first, 0.0);
        for seen in others {
            let min_depth_m = deepest.as_ref().map_or(0.0, |contact| contact.depth_m);
            if let Some(contact) = self.intersect_object(site, held, seen, min_depth_m)
                && deepest.as_ref().is_none_or(|known| contact.depth_m > known.depth_m)
            {
                deepest = Some(contact);
            }
        }
        deepest
    }

    /// The contact of one object with a site, if it is at least `min_depth_m` deep.
    #[inline(always)]
    fn intersect_object(
        &self,
        site: u32,
        held: Option<(u32, u32)>,
        seen: &NearObject<'_>,
        min_depth_m: f64,
    ) -> Option<RayContact> {
        let h = self.parameters.max_penetration_m;
        let surface = seen.surface;
        let out_of_skin = self.sites[site as usize].normal;
        let is_sphere = seen.sphere_radius_m.is_some();
        let to_object = |vector: Vec3| if is_sphere { vector } else { seen.object_from_sensor * vector };
        let in_sensor = |normal: Vec3| if is_sphere { normal } else { seen.sensor_from_object * normal };
        let origin = to_object(self.starts[site as usize]) + seen.sensor_origin_in_object;
        let direction = to_object(out_of_skin);
        // A ray that starts inside a thick object may also end inside it: extend it until it leaves. Only a ray that
        // starts in the bounds of the object can do so, so shallow contact has no extra cost.
        let may_start_inside = seen.closed && surface.bounds().contains(origin);
        let length = if may_start_inside { h.max(seen.diameter_m) } else { h - min_depth_m };
        let hit = if let Some(hits) = &seen.hits {
            let MeshHit { triangle, distance_m: distance, .. } = hits.of(site)?;
            Hit { distance, triangle, normal: surface.normal(triangle) }
        } else {
            let hint = held.filter(|(object, _)| *object == seen.index).map(|(_, triangle)| triangle);
            surface.cast(&Ray { origin, direction, length }, hint)?
        };
        let contact = |depth_m, normal, saturated| RayContact {
            object: seen.index,
            depth_m,
            triangle: hit.triangle,
            normal,
            saturated,
        };
        let leaving = hit.normal.dot(direction) > 0.0;
        if leaving && seen.closed {
            // The origin is inside if the opposite ray also leaves the object. The face behind is the one that passed
            // the skin: with its normal the force is continuous with that of depth h. A ray that only grazes an edge is
            // not inside.
            let back = Ray { origin, direction: -direction, length: seen.diameter_m };
            let behind = surface.cast(&back, None).filter(|behind| behind.normal.dot(direction) <= 0.0);
            return match behind {
                Some(behind) => Some(contact(h, -in_sensor(behind.normal), true)),
                None => (hit.distance <= h).then(|| contact(h - hit.distance, out_of_skin, false)),
            };
        }
        let normal = in_sensor(if leaving { hit.normal } else { -hit.normal });
        (hit.distance <= h).then(|| contact(h - hit.distance, normal, false))
    }
}

/// Advances candidate sites, block by block.
///
/// Compiled for every instruction set. Products and sums are not fused, so all versions give the same bits.
struct Walk<'a, 'b> {
    springs: &'a Springs,
    reached: &'a [(u32, u32)],
    last: &'a ContactPoints,
    near: &'a [NearObject<'b>],
    frictions: &'a Frictions,
    dt_s: f64,
}

impl Kernel for Walk<'_, '_> {
    type Output = Vec<PointBlock>;
    #[inline(always)]
    fn run<V: Vectors>(self) -> Self::Output {
        let Self { springs, reached, last, near, frictions, dt_s } = self;
        // Indexed by target; a single velocity if only one object is near.
        let velocities: Vec<Twist> = match near {
            [only] => vec![only.velocity],
            several => several_velocities(several),
        };
        let mut presser = Presser::new((&springs.parameters, frictions), last, &velocities, dt_s);
        let mut rays = RayBlock::new(&springs.site_lanes);
        for some in reached.chunks(LANES) {
            let intersect = |lane: usize| {
                let (site, place) = (some[lane].0, some[lane].1 as usize);
                let block = last.blocks.get(place / LANES);
                let held = block.map(|block| (block.object[place % LANES], block.triangle[place % LANES]));
                springs.intersect(site, held, near)
            };
            let points = presser.free();
            rays.gather(&springs.site_lanes, some, points);
            let (h, parallel) = (springs.parameters.max_penetration_m, springs.site_lanes.parallel);
            match near {
                [only] => rays.intersect_only(only, h, parallel, points, intersect),
                _ => rays.intersect(points, intersect),
            }
            presser.add(&rays);
        }
        presser.finish()
    }
}

/// Velocities of the objects by their target index.
fn several_velocities(near: &[NearObject<'_>]) -> Vec<Twist> {
    let count = near.iter().map(|seen| seen.index as usize + 1).max().unwrap_or(0);
    let mut velocities = vec![Twist::ZERO; count];
    near.iter().for_each(|seen| velocities[seen.index as usize] = seen.velocity);
    velocities
}

impl Skin for Springs {
    fn rest(&self) -> State {
        State::Springs { sites: self.sites.len(), bristles: PointBristles::default() }
    }

    fn touch(&self, state: &State, motion: &Motion<'_>, dt_s: f64) -> Result<(Touch, State), SkinError> {
        require_positive("dt", "s", dt_s)?;
        motion.check()?;
        let State::Springs { sites, bristles } = state else {
            return Err(SkinError::OtherSkin { expected: "springs" });
        };
        if *sites != self.sites.len() {
            return Err(SkinError::StateMismatch { got: *sites, expected: self.sites.len() });
        }
        let last = &*bristles.0;
        if last.sites.len() != *sites && !last.are_bristles(*sites) {
            let what = "its bristles are not in the order of the contact points, or not finite";
            return Err(SkinError::DamagedState { skin: "springs", what });
        }
        let (near, frictions) = (self.near(motion), Frictions::new(self.parameters.friction, motion));
        let reached = if near.is_empty() { Vec::new() } else { self.reached(&near, last) };
        let walk = |reached: &[(u32, u32)]| {
            Simd::detect().run(Walk { springs: self, reached, last, near: &near, frictions: &frictions, dt_s })
        };
        let blocks = if reached.len() < PARALLEL_SITES {
            walk(&reached)
        } else {
            // Sites are independent and collected in order, so the sums do not depend on the number of threads.
            let walks = || reached.par_chunks(PARALLEL_SITES / 4).map(walk).collect::<Vec<_>>();
            parallel(walks).concat()
        };
        keep(&SPARE, reached);
        let points = Arc::new(ContactPoints { blocks, frictions, sites: Arc::clone(&self.sites) });
        let next = State::Springs { sites: *sites, bristles: PointBristles(Arc::clone(&points)) };
        let mut touch = Touch::from_points(points, motion.targets.len());
        touch.warnings = self.unresolved(&touch, motion.targets.len(), |_| false);
        Ok((touch, next))
    }

    fn vjp(
        &self,
        touch: &Touch,
        _state: &State,
        target: &Target<'_>,
        cotangent: &TouchCotangent,
    ) -> Result<SkinGradient, SkinError> {
        self.gradient(touch, target, cotangent)
    }

    fn vjp_path(
        &self,
        state: &State,
        object: &crate::Object,
        steps: &[PathStep],
        cotangents: &[TouchCotangent],
        dt_s: f64,
    ) -> Result<PathGradient, SkinError> {
        self.path_gradient(state, object, steps, cotangents, dt_s)
    }

    fn hold(&self, (touch, state): &(Touch, State)) -> Option<ImplicitContact> {
        let State::Springs { bristles, .. } = state else { return None };
        let static_loads = touch.on_objects.iter().map(|load| -*load).collect();
        Some(ImplicitContact::of_springs(&bristles.0, static_loads))
    }

    fn release(&self, still: (Touch, State), contact: ImplicitContact, loads: &PointLoads) -> (Touch, State) {
        let (mut touch, state) = still;
        let Some(mut points) = touch.facets.take_points() else { return (touch, state) };
        drop(state);
        contact.finish_springs(&mut points, loads);
        let state = State::Springs { sites: self.sites.len(), bristles: PointBristles(Arc::clone(&points)) };
        touch.facets = points.into();
        touch.on_sensor = loads.on_sensor.iter().fold(Wrench::ZERO, |sum, load| sum + *load);
        touch.on_objects = loads.on_sensor.iter().map(|load| -*load).collect();
        (touch, state)
    }

    fn contact_energy(&self, touch: &Touch, velocities: &[Twist]) -> ContactEnergy {
        self.energy(touch, velocities)
    }

    fn settled_warnings(&self, touch: &Touch, motion: &Motion<'_>) -> Vec<Warning> {
        let missed = self.missed(touch, motion);
        // The depth of saturated points is cut off.
        if !missed.is_empty() || !touch.warnings.is_empty() || touch.saturated > 0 {
            return missed;
        }
        flat_on_few_points(&touch.facets, motion.targets.len(), self.resolution())
    }

    fn missed(&self, touch: &Touch, motion: &Motion<'_>) -> Vec<Warning> {
        let between = |object: u32| self.lies_between(&motion.targets[object as usize]);
        let mut found = self.unresolved(touch, motion.targets.len(), between);
        found.retain(|warning| matches!(warning, Warning::Missed { .. }));
        found
    }

    fn fully_pressed(&self) -> Vec<Support> {
        let p = &self.parameters;
        let steepest = p.elasticity.steepest(p.max_penetration_m);
        self.sites
            .iter()
            .map(|site| {
                // Excludes Coulomb damping, which depends on the unknown load.
                let (stiffness_tangential, damping_tangential) = p.friction.tangent(0.0, site.share);
                let tangent = Tangent {
                    stiffness_normal: p.elasticity.of_part(steepest, site.share, site.area_m2).1,
                    stiffness_tangential,
                    damping_normal: p.damping.of_part(site.share, site.area_m2),
                    damping_tangential,
                };
                Support { at: site.point, normal: site.normal, tangent }
            })
            .collect()
    }

    fn max_depth_m(&self) -> f64 {
        self.parameters.max_penetration_m
    }

    fn mu(&self) -> Option<f64> {
        self.parameters.friction.mu()
    }

    fn holds_shear(&self, _object: &crate::Object) -> bool {
        matches!(self.parameters.friction, Friction::Lugre(_))
    }
}
