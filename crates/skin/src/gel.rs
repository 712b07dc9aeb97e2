//! A gel that deforms by as much as it must: large strains, shear, slip.
#![allow(clippy::needless_range_loop, reason = "an index runs over several arrays, lanes or axes at once")]

#![allow(clippy::needless_range_loop, reason = "components of tensors are named by their indices, several at a time")]

mod contact;
mod doubles;
mod elastic;
mod energy;
mod equilibrium;
mod indenter;
mod kernel;
mod lattice;
mod motion;
mod mpm;
mod paper;
mod parameters;
mod simd;
mod state;

pub use contact::Hold;
pub use energy::Energy;
pub use lattice::Bonds;
pub use mpm::{Cloud, Totals};
pub use paper::{PaperGel, PaperParameters};
pub use parameters::{Constitution, GelFriction, GelParameters};
pub use simd::Simd;
pub use state::GelState;

use crate::{Facet, Field, Load, Motion, Skin, SkinError, State, Tangent, Touch};
use contact::{Near, Point, Stiffness};
use dermis_geometry::{Pose, Surface, TriMesh, Vec3};
use elastic::Elastic;
use equilibrium::{Effort, Equilibrium, LOST, Tolerance, no_equilibrium};
use indenter::{Indenter, between};
use lattice::{Lattice, Place};
use motion::Carrier;
use std::sync::Arc;

/// Stiffness against sliding by that against penetration: what sticks gives by its inverse.
const STICKING: f64 = 6.0;
/// The deepest press, of the thickness.
const DEEPEST: f64 = 0.75;
/// How well forces are known: the residual that is left, and what updates of the pressures leave.
const PRECISION: f64 = 2e-3;
/// Contact stiffness by that of a confined cell.
const CONTACT: f64 = 2.0;

/// A block or body of elastomer, bonded below.
#[derive(Clone, Debug)]
pub struct Gel {
    parameters: GelParameters,
    elastic: Elastic,
    points: Vec<Point>,
    pairs: Vec<(usize, usize)>,
    diagonal: Vec<f64>,
    view: View,
    thickness_m: f64,
    area_m2: f64,
    /// Where the particles rest, and which of them carries each point of the surface.
    rest_places: Vec<Place>,
    carriers: Vec<Carrier>,
}

/// The grid on which the surface is reported.
#[derive(Clone, Debug)]
struct View {
    rows: usize,
    cols: usize,
    cell_m: f64,
    center: Vec3,
    heights_m: Option<Arc<[f64]>>,
    /// None where there is no gel.
    spots: Vec<Option<lattice::Spot>>,
}

/// How much work a press was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Load steps.
    pub loads: usize,
    /// Steps of Newton's method.
    pub newton: usize,
    /// Steps of conjugate gradients.
    pub conjugate: usize,
    /// Updates of the contact pressures.
    pub updates: usize,
    /// Residual force by contact force at the end.
    pub residual: f64,
}

impl Gel {
    /// A block with its upper face in z = 0, centred there, bonded at its bottom.
    pub fn block(size_m: Vec3, bonds: Bonds, parameters: GelParameters) -> Result<Self, SkinError> {
        parameters.validate()?;
        for (key, length) in ["length", "width", "thickness"].into_iter().zip(size_m.to_array()) {
            crate::require_positive(key, "m", length)?;
        }
        let lattice = Lattice::block(size_m, bonds, &parameters)?;
        let samples = block_points(&lattice, bonds);
        let view = View::of_block(&lattice, size_m);
        Ok(Self::new(lattice, &samples, view, size_m.z, parameters))
    }

    /// What of a closed mesh lies above `floor_m`, bonded there; all of it, bonded where it is lowest, where the floor is below it.
    pub fn solid(body: &TriMesh, floor_m: f64, bonds: Bonds, parameters: GelParameters) -> Result<Self, SkinError> {
        parameters.validate()?;
        let surface = Surface::new(body.clone());
        let floor_m = floor_m.max(surface.bounds().min.z);
        if surface.bounds().max.z - floor_m < parameters.cell_m {
            return Err(SkinError::BadGel {
                key: "floor",
                rule: format!("must leave a cell of gel above it, got {} mm", floor_m * 1e3),
            });
        }
        let lattice = Lattice::solid(&surface, floor_m, bonds, &parameters)?;
        let samples: Vec<_> = Lattice::sampled(body, 0.7 * parameters.cell_m)
            .into_iter()
            .filter(|(point, normal, _)| point.z > floor_m + 1e-3 * parameters.cell_m && normal.z > -0.5)
            .collect();
        let view = View::of_solid(&lattice, &surface, floor_m);
        let thickness_m = surface.bounds().max.z - floor_m;
        Ok(Self::new(lattice, &samples, view, thickness_m, parameters))
    }

    fn new(
        lattice: Lattice,
        samples: &[(Vec3, Vec3, f64)],
        view: View,
        thickness_m: f64,
        parameters: GelParameters,
    ) -> Self {
        let points = contact::points(&lattice, samples);
        let area_m2 = samples.iter().filter(|(_, normal, _)| normal.z > 0.5).map(|(_, _, area)| area).sum();
        let pairs = lattice.bonded_pairs();
        let elastic = Elastic::new(lattice, &parameters, Simd::detect());
        let mut diagonal = elastic.diagonal();
        let component = elastic.lattice.component();
        for &(ghost, inner) in pairs.iter().rev() {
            for c in 0..3 {
                diagonal[inner + c * component] += diagonal[ghost + c * component];
                diagonal[ghost + c * component] = 0.0;
            }
        }
        let rest_places = elastic.lattice.particles();
        let carriers = carriers(&elastic.lattice, &rest_places, &points);
        Self { parameters, elastic, points, pairs, diagonal, view, thickness_m, area_m2, rest_places, carriers }
    }

    /// What it is made of.
    pub fn parameters(&self) -> &GelParameters {
        &self.parameters
    }

    /// How many particles it has.
    pub fn particles(&self) -> usize {
        self.rest_places.len()
    }

    fn stiffness(&self) -> Stiffness {
        let edge = self.elastic.lattice.cell_m.min_element();
        let normal = CONTACT * self.parameters.confined_pa() / edge;
        Stiffness { normal, tangential: STICKING * normal, mu: self.parameters.friction.mu(), reach_m: edge }
    }

    fn gel_state<'s>(&self, state: &'s State) -> Result<&'s GelState, SkinError> {
        let State::Gel(state) = state else { return Err(SkinError::OtherSkin { expected: "gel" }) };
        if state.nodes.len() != self.elastic.lattice.len() {
            return Err(SkinError::StateMismatch { got: state.nodes.len(), expected: self.elastic.lattice.len() });
        }
        Ok(state)
    }

    /// Equilibrium with things held where `motion` has them, and how much work it was. The way there is straight from where they
    /// were last, or from above; friction depends on it.
    pub fn equilibrium(&self, state: &State, motion: &Motion<'_>) -> Result<(Touch, State, Work), SkinError> {
        motion.check()?;
        let state = self.gel_state(state)?;
        let stiffness = self.stiffness();
        let ends: Vec<Pose> = motion.targets.iter().map(|target| target.sensor_from_object).collect();
        let starts: Vec<Pose> = motion
            .targets
            .iter()
            .enumerate()
            .map(|(i, target)| match state.poses.get(i) {
                Some(pose) => *pose,
                None => {
                    self.lifted(&Indenter::new(target.object, target.sensor_from_object), target.sensor_from_object)
                }
            })
            .collect();
        let edge = self.elastic.lattice.cell_m.min_element();
        // Short, so that what is pressed by a sharp edge is not taken for what is beside it.
        let stride = 0.5 * edge;
        let travel = motion
            .targets
            .iter()
            .zip(&starts)
            .map(|(target, start)| {
                way(target.object.surface.bounds().size().length(), start, &target.sensor_from_object)
            })
            .fold(0.0, f64::max);
        let loads = ((travel / stride).ceil() as usize).clamp(1, 200);
        let mut solver = Equilibrium::new(&self.elastic, &self.points, &self.pairs, &self.diagonal, stiffness);
        let mut u = state.nodes.to_vec();
        let mut holds = state.holds.clone();
        let mut effort = Effort::default();
        let mut near = Vec::new();
        for load in 1..=loads {
            let last = load == loads;
            let part = load as f64 / loads as f64;
            let poses: Vec<Pose> = starts
                .iter()
                .zip(&ends)
                .map(|(start, end)| if last { *end } else { between(start, end, part) })
                .collect();
            let indenters = Indenter::all(motion, &poses);
            let tolerance = if last {
                Tolerance { residual: 1e-3, gap_m: (1e-3 * edge).min(2e-3 * travel).max(1e-9) }
            } else {
                Tolerance { residual: 1e-2, gap_m: 2e-2 * edge }
            };
            near = solver.solve(&mut u, &mut holds, &indenters, &tolerance, &mut effort)?;
        }
        if effort.residual > LOST {
            return Err(no_equilibrium(effort.residual));
        }
        let touch = self.touch_of(&u, &near, motion.targets.len());
        let work = Work {
            loads,
            newton: effort.newton,
            conjugate: effort.conjugate,
            updates: effort.updates,
            residual: effort.residual,
        };
        Ok((touch, State::Gel(GelState { nodes: u.into(), holds, poses: ends, moving: None }), work))
    }

    /// The object raised until it just touches nothing.
    fn lifted(&self, indenter: &Indenter<'_>, pose: Pose) -> Pose {
        let mut indenter = *indenter;
        let mut pose = pose;
        for _ in 0..100 {
            let deepest = self
                .points
                .iter()
                .filter_map(|point| indenter.gap(point.rest, 0.0))
                .map(|gap| gap.distance_m)
                .fold(0.0, f64::min);
            if deepest > -1e-3 * self.parameters.cell_m {
                break;
            }
            pose.translation.z -= deepest;
            indenter = indenter.placed(pose);
        }
        pose
    }

    fn touch_of(&self, u: &[f64], near: &[Near], objects: usize) -> Touch {
        let thickness = self.thickness_m;
        let facets = near
            .iter()
            .filter(|near| near.press_newton > 0.0)
            .map(|near| {
                let point = &self.points[near.point as usize];
                let stiffness = self.parameters.confined_pa() * point.area_m2 / thickness;
                let normal = -near.gap.normal;
                Facet {
                    object: near.object,
                    normal,
                    depth_m: (near.at - point.rest).dot(near.gap.normal).max(0.0),
                    saturated: false,
                    load: Load::Point { at: near.at, anchor: point.rest, area_m2: point.area_m2, force: near.force() },
                    tangent: Tangent {
                        at: near.at,
                        normal,
                        stiffness_normal: stiffness,
                        stiffness_tangential: if self.parameters.friction.mu() > 0.0 { stiffness } else { 0.0 },
                        damping_normal: 0.0,
                        damping_tangential: 0.0,
                    },
                }
            })
            .collect();
        let mut touch = Touch::from_facets(facets, objects);
        touch.surface = Some(self.view.field(&self.elastic.lattice, u));
        touch
    }
}

/// The nearest particle to each point of the surface.
fn carriers(lattice: &Lattice, places: &[Place], points: &[Point]) -> Vec<Carrier> {
    use std::collections::HashMap;
    let cell = |at: Vec3| ((at - lattice.origin) / lattice.cell_m).floor().to_array().map(|x| x as i32);
    let mut cells: HashMap<[i32; 3], Vec<u32>> = HashMap::new();
    for (particle, place) in places.iter().enumerate() {
        cells.entry(cell(place.at)).or_default().push(particle as u32);
    }
    points
        .iter()
        .map(|point| {
            let home = cell(point.rest);
            let mut best = (f64::INFINITY, 0);
            for offset in 0..27 {
                let key = [home[0] + offset % 3 - 1, home[1] + offset / 3 % 3 - 1, home[2] + offset / 9 - 1];
                for &particle in cells.get(&key).into_iter().flatten() {
                    let distance = (places[particle as usize].at - point.rest).length_squared();
                    if distance < best.0 {
                        best = (distance, particle);
                    }
                }
            }
            Carrier { particle: best.1, arm: point.rest - places[best.1 as usize].at }
        })
        .collect()
}

/// How far (m) a body of a size goes between two poses.
fn way(size_m: f64, from: &Pose, to: &Pose) -> f64 {
    (to.translation - from.translation).length() + 0.5 * size_m * from.rotation.angle_between(to.rotation)
}

/// Points at ± a quarter of the cells' faces: the top, and the sides where they are free.
fn block_points(lattice: &Lattice, bonds: Bonds) -> Vec<(Vec3, Vec3, f64)> {
    let mut points = Vec::new();
    let edges = lattice.cell_m;
    let mut face = |axis: usize, high: bool| {
        let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
        let level = if high { lattice.cells[axis] as f64 } else { 0.0 };
        let mut normal = Vec3::ZERO;
        normal[axis] = if high { 1.0 } else { -1.0 };
        for j in 0..2 * lattice.cells[b] {
            for i in 0..2 * lattice.cells[a] {
                let mut at = Vec3::ZERO;
                at[axis] = level;
                at[a] = 0.25 + 0.5 * i as f64;
                at[b] = 0.25 + 0.5 * j as f64;
                points.push((lattice.origin + at * edges, normal, 0.25 * edges[a] * edges[b]));
            }
        }
    };
    face(2, true);
    if !bonds.sides {
        for axis in 0..2 {
            face(axis, false);
            face(axis, true);
        }
    }
    points
}

impl View {
    fn of_block(lattice: &Lattice, size_m: Vec3) -> Self {
        let cell_m = 0.5 * lattice.cell_m.x;
        let count = |length: f64| ((length / cell_m).round() as usize).max(1);
        let mut view = Self {
            rows: count(size_m.y),
            cols: count(size_m.x),
            cell_m,
            center: Vec3::ZERO,
            heights_m: None,
            spots: Vec::new(),
        };
        view.spots = view.places().map(|place| Some(lattice.spot(place))).collect();
        view
    }

    fn of_solid(lattice: &Lattice, surface: &Surface, floor_m: f64) -> Self {
        let bounds = surface.bounds();
        let cell_m = 0.5 * lattice.cell_m.x;
        let count = |length: f64| ((length / cell_m).floor() as usize).max(1);
        let middle = bounds.center();
        let mut view = Self {
            rows: count(bounds.size().y),
            cols: count(bounds.size().x),
            cell_m,
            center: Vec3::new(middle.x, middle.y, 0.0),
            heights_m: None,
            spots: Vec::new(),
        };
        let heights: Vec<Option<f64>> = view
            .places()
            .map(|place| {
                let origin = Vec3::new(place.x, place.y, bounds.max.z + 1e-3);
                let ray = dermis_geometry::Ray { origin, direction: -Vec3::Z, length: bounds.size().z + 2e-3 };
                surface.cast(&ray, None).map(|hit| origin.z - hit.distance).filter(|height| *height > floor_m)
            })
            .collect();
        let spots = view
            .places()
            .zip(&heights)
            .map(|(place, height)| height.map(|z| lattice.spot(Vec3::new(place.x, place.y, z))))
            .collect();
        view.spots = spots;
        view.heights_m = Some(heights.into_iter().map(|height| height.unwrap_or(floor_m)).collect());
        view
    }

    fn places(&self) -> impl Iterator<Item = Vec3> + use<> {
        let field = Field {
            rows: self.rows,
            cols: self.cols,
            cell_m: self.cell_m,
            center: self.center,
            values: Vec::new(),
            rest_heights_m: None,
        };
        (0..self.rows * self.cols).map(move |i| field.rest(i / field.cols, i % field.cols))
    }

    fn field(&self, lattice: &Lattice, u: &[f64]) -> Field {
        Field {
            rows: self.rows,
            cols: self.cols,
            cell_m: self.cell_m,
            center: self.center,
            values: self.spots.iter().map(|spot| spot.map_or(Vec3::ZERO, |spot| lattice.at(u, &spot))).collect(),
            rest_heights_m: self.heights_m.clone(),
        }
    }
}

impl Skin for Gel {
    fn rest(&self) -> State {
        let nodes = vec![0.0; self.elastic.lattice.len()].into();
        State::Gel(GelState { nodes, holds: Vec::new(), poses: Vec::new(), moving: None })
    }

    fn touch(&self, state: &State, motion: &Motion<'_>, dt_s: f64) -> Result<(Touch, State), SkinError> {
        crate::require_positive("dt", "s", dt_s)?;
        motion.check()?;
        let (touch, state) = self.moved(self.gel_state(state)?, motion, dt_s)?;
        Ok((touch, State::Gel(state)))
    }

    fn settle(&self, state: &State, motion: &Motion<'_>) -> Result<(Touch, State), SkinError> {
        let (touch, state, _) = self.equilibrium(state, motion)?;
        Ok((touch, state))
    }

    fn fully_pressed(&self) -> Vec<Tangent> {
        let stiffness = self.parameters.confined_pa() * self.area_m2 / self.thickness_m;
        let tangential = if self.parameters.friction.mu() > 0.0 {
            self.parameters.lame_pa().1 * self.area_m2 / self.thickness_m
        } else {
            0.0
        };
        vec![Tangent {
            at: Vec3::ZERO,
            normal: Vec3::Z,
            stiffness_normal: stiffness,
            stiffness_tangential: tangential,
            damping_normal: 0.0,
            damping_tangential: 0.0,
        }]
    }

    fn max_depth_m(&self) -> f64 {
        DEEPEST * self.thickness_m
    }

    fn precision(&self) -> f64 {
        PRECISION
    }
}
