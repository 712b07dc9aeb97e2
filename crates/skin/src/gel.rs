//! A gel that deforms by as much as it must: large strains, shear, slip.
#![allow(clippy::needless_range_loop, reason = "an index runs over several arrays, lanes or axes at once")]

mod base;
mod bonds;
mod carrier;
mod contact;
mod elastic;
mod energy;
mod equilibrium;
mod indenter;
mod kernel;
mod lattice;
mod motion;
mod mpm;
mod parameters;
mod state;
mod tacchi;
mod task;
mod view;

pub use bonds::{Bonds, Face};
pub use contact::Hold;
pub use energy::Energy;
pub use mpm::{Body, Cloud, Flight, Totals};
pub use parameters::{Constitution, GelFriction, GelParameters};
pub use state::GelState;
pub use tacchi::{TacchiGel, TacchiParameters};
pub use task::{Plan, PlanPoint, PlanSpot, PlanSpring, Precision, Pressed, Rest, Task};

use crate::{Facet, Load, Motion, Simd, Skin, SkinError, State, Support, Tangent, Touch};
use base::Base;
use bonds::Held;
use carrier::Carrier;
use contact::{Near, Point, Stiffness, block_points};
use dermis_geometry::{Pose, Surface, TriMesh, Vec3};
use elastic::Elastic;
use equilibrium::{Effort, Equilibrium, LOST, no_equilibrium};
use indenter::Indenter;
use lattice::{Lattice, Place};
use rayon::prelude::*;
use task::Way;
use view::View;

/// Stiffness against sliding by that against penetration: what sticks gives by its inverse.
const STICKING: f64 = 6.0;
/// The deepest press, of the thickness.
const DEEPEST: f64 = 0.75;
/// How well forces are known: the residual that is left, and what updates of the pressures leave.
const PRECISION: f64 = 2e-3;
/// Contact stiffness by that of a confined cell.
const CONTACT: f64 = 2.0;

/// A block or body of elastomer, bonded below or elsewhere.
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
    held: Vec<Held>,
    held_carriers: Vec<Carrier>,
    /// Of a block: taxels lie under it. Those of other bodies lie on their surface.
    base: Option<Base>,
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
        let base = bonds.holds(Face::Bottom).then(|| Base::new(&lattice, &view));
        Ok(Self { base, ..Self::new(lattice, &samples, view, size_m.z, parameters) })
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
        let diagonal = folded_diagonal(&elastic, &pairs);
        let rest_places = elastic.lattice.particles();
        let carriers = Carrier::all(&elastic.lattice, &rest_places, points.iter().map(|point| point.rest));
        Self {
            parameters,
            elastic,
            points,
            pairs,
            diagonal,
            view,
            thickness_m,
            area_m2,
            rest_places,
            carriers,
            held: Vec::new(),
            held_carriers: Vec::new(),
            base: None,
        }
    }

    /// The same gel with everything held that rests where `held` says, such as near a bone in it, to half a cell. Refuses where that is
    /// nowhere, or everywhere.
    pub fn held_where(mut self, held: impl Fn(Vec3) -> bool) -> Result<Self, SkinError> {
        self.held = Held::cut_out(&mut self.elastic.lattice, &self.parameters, &held);
        if self.held.is_empty() {
            let rule = "must hold a part of the gel, and not all of it: check where it is".to_owned();
            return Err(SkinError::BadGel { key: "held", rule });
        }
        let gone: Vec<bool> = self.rest_places.iter().map(|place| held(place.at)).collect();
        let mut carriers = self.carriers.iter();
        self.points.retain(|_| carriers.next().is_some_and(|carrier| !gone[carrier.particle as usize]));
        self.view.hold(&held);
        self.rest_places = self.elastic.lattice.particles();
        self.carriers = self.carriers_of(self.points.iter().map(|point| point.rest));
        self.held_carriers = self.carriers_of(self.held.iter().map(|held| held.rest));
        self.diagonal = folded_diagonal(&self.elastic, &self.pairs);
        for held in &self.held {
            let stiffness = Vec3::splat(held.stiffness_newton_per_m);
            self.elastic.lattice.spread_squared(&mut self.diagonal, &held.spot, stiffness);
        }
        Ok(self)
    }

    fn carriers_of(&self, points: impl Iterator<Item = Vec3>) -> Vec<Carrier> {
        Carrier::all(&self.elastic.lattice, &self.rest_places, points)
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
        // A gel of the same size may have less in it: parts of it are held.
        let moving = state.moving.as_ref().map_or(self.rest_places.len(), |moving| moving.velocity.len());
        if moving != self.rest_places.len() {
            return Err(SkinError::StateMismatch { got: moving, expected: self.rest_places.len() });
        }
        let points = state.holds.iter().map(|hold| hold.point as usize + 1).max().unwrap_or(0);
        if points > self.points.len() {
            return Err(SkinError::StateMismatch { got: points, expected: self.points.len() });
        }
        Ok(state)
    }

    /// Equilibrium with things held where `motion` has them, and how much work it was. The way there is straight from where they
    /// were last, or from above; friction depends on it.
    pub fn equilibrium(&self, state: &State, motion: &Motion<'_>) -> Result<(Touch, State, Work), SkinError> {
        let state = self.gel_state(state)?;
        let Way { poses, precision } = self.way(state, motion)?;
        let mut solver =
            Equilibrium::new(&self.elastic, &self.points, &self.pairs, &self.held, &self.diagonal, self.stiffness());
        let mut u = state.nodes.to_vec();
        let mut holds = state.holds.clone();
        let mut effort = Effort::default();
        let mut near = Vec::new();
        let mut before = Indenter::all(motion, &poses[0]);
        let loads = poses.len() - 1;
        for (load, poses) in (1..).zip(&poses[1..]) {
            let indenters = Indenter::all(motion, poses);
            let precision = &precision[usize::from(load == loads)];
            near = solver.solve(&mut u, &mut holds, [&before, &indenters], precision, &mut effort)?;
            before = indenters;
        }
        if effort.residual > LOST {
            return Err(no_equilibrium(effort.residual));
        }
        let strain_j = solver.strain_j(&u);
        let touch = self.felt(&u, &near, motion, strain_j, |base| solver.on_base(&near, base.columns));
        let work = Work {
            loads,
            newton: effort.newton,
            conjugate: effort.conjugate,
            updates: effort.updates,
            residual: effort.residual,
        };
        let poses = motion.targets.iter().map(|target| target.sensor_from_object).collect();
        Ok((touch, State::Gel(GelState { nodes: u.into(), holds, poses, moving: None }), work))
    }

    /// The object raised until it just touches nothing.
    fn lifted(&self, indenter: &Indenter<'_>, pose: Pose) -> Pose {
        let mut indenter = *indenter;
        let mut pose = pose;
        for _ in 0..100 {
            let deepest = self
                .points
                .par_iter()
                .filter_map(|point| indenter.gap(point.rest, 0.0))
                .map(|gap| gap.distance_m)
                .reduce(|| 0.0, f64::min);
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

/// The diagonal of the stiffness, with what is outside bonded faces added to what is inside them.
fn folded_diagonal(elastic: &Elastic, pairs: &[(usize, usize)]) -> Vec<f64> {
    let mut diagonal = elastic.diagonal();
    let component = elastic.lattice.component();
    for &(ghost, inner) in pairs.iter().rev() {
        for c in 0..3 {
            diagonal[inner + c * component] += diagonal[ghost + c * component];
            diagonal[ghost + c * component] = 0.0;
        }
    }
    diagonal
}

/// How far (m) a body of a size goes between two poses.
fn way(size_m: f64, from: &Pose, to: &Pose) -> f64 {
    (to.translation - from.translation).length() + 0.5 * size_m * from.rotation.angle_between(to.rotation)
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

    fn fully_pressed(&self) -> Vec<Support> {
        let stiffness = self.parameters.confined_pa() * self.area_m2 / self.thickness_m;
        let tangential = if self.parameters.friction.mu() > 0.0 {
            self.parameters.lame_pa().1 * self.area_m2 / self.thickness_m
        } else {
            0.0
        };
        let tangent = Tangent {
            stiffness_normal: stiffness,
            stiffness_tangential: tangential,
            damping_normal: 0.0,
            damping_tangential: 0.0,
        };
        vec![Support { at: Vec3::ZERO, normal: Vec3::Z, tangent }]
    }

    fn max_depth_m(&self) -> f64 {
        DEEPEST * self.thickness_m
    }

    fn precision(&self) -> f64 {
        PRECISION
    }
}
