//! Rest as a task for a solver elsewhere: plain numbers go there, plain numbers come back.

use super::base::Base;
use super::contact::{Near, Point};
use super::equilibrium::{LOST, no_equilibrium, on_base};
use super::indenter::{Gap, Indenter, between};
use super::lattice::{Lattice, Spot};
use super::{Bonds, Energy, Gel, GelParameters, GelState, Hold, Work, way};
use crate::{Motion, SkinError, State, Touch};
use dermis_geometry::{Pose, Vec3};

/// The gel at rest as an elastic body on a grid. Cells are counted along x first, then y, then z; there are two nodes more than cells along each
/// axis, counted likewise, node `i` in the middle of cell `i − 1`; vectors on the nodes are three numbers a node, component by component.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Cells along x, y, z.
    pub cells: [usize; 3],
    /// Edges of a cell (m).
    pub cell_m: Vec3,
    /// Where it is held. A node outside a held face moves opposite to the one inside it.
    pub bonds: Bonds,
    /// What it is made of.
    pub parameters: GelParameters,
    /// The part of an eighth of a cell that each particle fills: by particle (at ± a quarter of the edges, x first), then by cell.
    pub fill: Vec<f32>,
    /// The diagonal of the stiffness, on the nodes.
    pub diagonal: Vec<f64>,
    /// Points of the surface.
    pub points: Vec<PlanPoint>,
    /// What holds it inside.
    pub springs: Vec<PlanSpring>,
    /// Stiffness against penetration and against sliding (Pa/m).
    pub contact_pa_per_m: [f64; 2],
    /// How near a thing must be to a point to be looked at (m).
    pub reach_m: f64,
}

/// A place in the undeformed gel as the nodes see it: a cell, and the weights of its three nodes along each axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanSpot {
    /// The cell along x, y, z.
    pub cell: [usize; 3],
    /// Weights along x, y, z.
    pub weights: [[f64; 3]; 3],
}

/// A point of the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanPoint {
    /// Where it rests (m).
    pub rest: Vec3,
    /// The area it stands for (m²).
    pub area_m2: f64,
    /// How the nodes move it.
    pub spot: PlanSpot,
}

/// A spring to where it rests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanSpring {
    /// Its stiffness (N/m).
    pub stiffness_newton_per_m: f64,
    /// How the nodes move it.
    pub spot: PlanSpot,
}

/// How well rest must hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Residual force by contact force.
    pub residual: f64,
    /// Mean penetration that is left (m).
    pub gap_m: f64,
}

/// The way to a rest.
#[derive(Clone, Debug)]
pub struct Task {
    /// Where the objects are: at first, and after every load.
    pub poses: Vec<Vec<Pose>>,
    /// How well rest must hold on the way, and at its end.
    pub precision: [Precision; 2],
    /// Displacement (m) of the nodes at first.
    pub nodes: Vec<f64>,
    /// Points that are pressed at first.
    pub holds: Vec<Hold>,
}

/// A point that is near an object at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pressed {
    /// The point, by number.
    pub point: u32,
    /// The object, by number.
    pub object: u32,
    /// Where the point is (m).
    pub at: Vec3,
    /// Distance (m) from the object, negative inside.
    pub distance_m: f64,
    /// The direction out of the object.
    pub normal: Vec3,
    /// Normal force (N).
    pub press_newton: f64,
    /// Tangential force on the gel (N).
    pub rub_newton: Vec3,
}

/// A rest that was found.
#[derive(Clone, Debug)]
pub struct Rest {
    /// Displacement (m) of the nodes.
    pub nodes: Vec<f64>,
    /// Points that are pressed, in their order.
    pub holds: Vec<Hold>,
    /// All points that are near an object, in their order.
    pub pressed: Vec<Pressed>,
    /// The forces (N) with which the strained gel pulls at the nodes, also at those outside held faces.
    pub forces: Vec<f64>,
    /// Energy of the strain (J).
    pub strain_j: f64,
    /// How much work it was.
    pub work: Work,
}

impl Lattice {
    fn plan_spot(&self, spot: &Spot) -> PlanSpot {
        let in_plane = spot.first % self.plane();
        let cell = [in_plane % self.stride, spot.first / self.plane(), in_plane / self.stride];
        PlanSpot { cell, weights: spot.weights }
    }

    /// Every number of a vector on the nodes: where it is here, in the order of a [`Plan`].
    fn plan_order(&self) -> impl Iterator<Item = usize> + use<'_> {
        let [nx, ny, nz] = self.cells.map(|count| count + 2);
        (0..3 * nz * ny * nx).map(move |i| {
            let (x, y, z, c) = (i % nx, i / nx % ny, i / (nx * ny) % nz, i / (nx * ny * nz));
            self.node([x, y, z]) + c * self.component()
        })
    }

    fn packed(&self, values: &[f64]) -> Vec<f64> {
        self.plan_order().map(|at| values[at]).collect()
    }

    fn unpacked(&self, values: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.len()];
        self.plan_order().zip(values).for_each(|(at, value)| all[at] = *value);
        all
    }
}

/// Where things go, load by load.
pub(super) struct Way {
    pub poses: Vec<Vec<Pose>>,
    pub precision: [Precision; 2],
}

impl Gel {
    /// What a solver elsewhere must know of the gel.
    pub fn plan(&self) -> Plan {
        let lattice = &self.elastic.lattice;
        let [cx, cy, cz] = lattice.cells;
        let cells = || (0..cx * cy * cz).map(|i| [i % cx, i / cx % cy, i / (cx * cy)]);
        let stiffness = self.stiffness();
        Plan {
            cells: lattice.cells,
            cell_m: lattice.cell_m,
            bonds: lattice.bonds,
            parameters: self.parameters,
            fill: (0..8).flat_map(|p| cells().map(move |cell| lattice.fill[lattice.particle(cell, p)])).collect(),
            diagonal: lattice.packed(&self.diagonal),
            points: self
                .points
                .iter()
                .map(|&Point { rest, area_m2, ref spot }| PlanPoint { rest, area_m2, spot: lattice.plan_spot(spot) })
                .collect(),
            springs: self
                .held
                .iter()
                .map(|held| PlanSpring {
                    stiffness_newton_per_m: held.stiffness_newton_per_m,
                    spot: lattice.plan_spot(&held.spot),
                })
                .collect(),
            contact_pa_per_m: [stiffness.normal, stiffness.tangential],
            reach_m: stiffness.reach_m,
        }
    }

    /// The way to rest with things held where `motion` has them; the same as that of [`Gel::equilibrium`].
    pub fn task(&self, state: &State, motion: &Motion<'_>) -> Result<Task, SkinError> {
        let state = self.gel_state(state)?;
        let Way { poses, precision } = self.way(state, motion)?;
        Ok(Task { poses, precision, nodes: self.elastic.lattice.packed(&state.nodes), holds: state.holds.clone() })
    }

    /// What is felt at a rest that was found elsewhere, for the motion that its [`Task`] was made for.
    pub fn rested(&self, motion: &Motion<'_>, rest: Rest) -> Result<(Touch, State, Work), SkinError> {
        let lattice = &self.elastic.lattice;
        if rest.nodes.len() != rest.forces.len() || rest.nodes.len() != lattice.plan_order().count() {
            return Err(SkinError::StateMismatch { got: rest.nodes.len(), expected: lattice.plan_order().count() });
        }
        if rest.work.residual > LOST {
            return Err(no_equilibrium(rest.work.residual));
        }
        let mut u = lattice.unpacked(&rest.nodes);
        for &(ghost, inner) in &self.pairs {
            for c in 0..3 {
                u[ghost + c * lattice.component()] = -u[inner + c * lattice.component()];
            }
        }
        let near: Vec<Near> = rest.pressed.iter().map(Near::of_pressed).collect();
        let forces = |base: &Base| on_base(lattice, &self.points, &lattice.unpacked(&rest.forces), &near, base.columns);
        let touch = self.felt(&u, &near, motion, rest.strain_j, forces);
        let poses = motion.targets.iter().map(|target| target.sensor_from_object).collect();
        let state = State::Gel(GelState { nodes: u.into(), holds: rest.holds, poses, moving: None });
        Ok((touch, state, rest.work))
    }

    /// What is felt at rest; `on_base` says what acts on the columns of nodes over the bottom.
    pub(super) fn felt(
        &self,
        u: &[f64],
        near: &[Near],
        motion: &Motion<'_>,
        strain_j: f64,
        on_base: impl FnOnce(&Base) -> Vec<Vec3>,
    ) -> Touch {
        let mut touch = self.touch_of(u, near, motion.targets.len());
        touch.energy = Some(Energy { kinetic_j: 0.0, strain_j });
        touch.base = self.base.as_ref().map(|base| base.field(&self.view, &on_base(base)));
        touch
    }

    pub(super) fn way(&self, state: &GelState, motion: &Motion<'_>) -> Result<Way, SkinError> {
        motion.check()?;
        if self.elastic.lattice.bonds.is_none() && self.held.is_empty() {
            return Err(SkinError::BadGel { key: "bonded", rule: "must name a face, or the gel flies away".into() });
        }
        let ends: Vec<Pose> = motion.targets.iter().map(|target| target.sensor_from_object).collect();
        let lifted = |i: usize| self.lifted(&Indenter::new(motion.targets[i].object, ends[i]), ends[i]);
        let starts: Vec<Pose> =
            (0..ends.len()).map(|i| state.poses.get(i).copied().unwrap_or_else(|| lifted(i))).collect();
        let edge = self.elastic.lattice.cell_m.min_element();
        // Short, so that what is pressed by a sharp edge is not taken for what is beside it.
        let stride = 0.5 * edge;
        let sizes = motion.targets.iter().map(|target| target.object.surface.bounds().size().length());
        let travel_m =
            sizes.zip(starts.iter().zip(&ends)).map(|(size, (start, end))| way(size, start, end)).fold(0.0, f64::max);
        let loads = ((travel_m / stride).ceil() as usize).clamp(1, 200);
        let mut poses = vec![starts.clone()];
        poses.extend((1..loads).map(|load| {
            let part = load as f64 / loads as f64;
            starts.iter().zip(&ends).map(|(start, end)| between(start, end, part)).collect()
        }));
        poses.push(ends);
        let precision = [
            Precision { residual: 1e-2, gap_m: 2e-2 * edge },
            // So that two solvers that come there on ways of their own agree to a thousandth of the depth.
            Precision { residual: 3e-4, gap_m: (1e-4 * edge).min(2e-4 * travel_m).max(1e-9) },
        ];
        Ok(Way { poses, precision })
    }
}

impl Near {
    fn of_pressed(pressed: &Pressed) -> Self {
        Self {
            point: pressed.point,
            object: pressed.object,
            gap: Gap { distance_m: pressed.distance_m, normal: pressed.normal },
            at: pressed.at,
            press_newton: pressed.press_newton,
            rub_newton: pressed.rub_newton,
            rub_stiffness: (0.0, 0.0),
            slip: Vec3::ZERO,
        }
    }
}
