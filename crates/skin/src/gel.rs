//! A gel as a large-deformation continuum: quasi-static equilibrium (total Lagrangian, quadratic B-splines) and
//! explicit dynamics (MLS-MPM).
#![allow(clippy::needless_range_loop, reason = "an index runs over several arrays, lanes or axes at once")]

mod attachment;
mod base_stress;
mod bspline;
mod contact;
mod dynamics;
mod elasticity;
mod energy;
mod equilibrium;
mod fixed_faces;
mod gradient;
mod indenter;
mod mpm;
mod parameters;
mod probe;
mod problem;
mod reference_grid;
mod state;
mod stiffness;
mod surface_grid;
mod tacchi;

pub use contact::{ContactPoint, ContactState, SurfacePoint};
pub use energy::Energy;
pub use equilibrium::inverted_state;
pub use fixed_faces::{Face, FixedFaces, FixedInterface};
pub use indenter::Gap;
pub use mpm::{MpmSetup, MpmSteps, ParticleBlock, ParticleState, Totals, Wall};
pub use parameters::{Coefficients, Constitution, GelFriction, GelParameters, MAX_POISSON, StepConstants};
pub use problem::{EquilibriumProblem, EquilibriumSolution, LoadPath, Precision, SolverStats};
pub use reference_grid::{ReferenceGrid, Stencil};
pub use state::GelState;
pub use tacchi::{TacchiGel, TacchiParameters};

use crate::threads::parallel;
use crate::{
    Facet, Load, Motion, Simd, Skin, SkinError, SkinGradient, State, Support, Tangent, Target, Touch, TouchCotangent,
};
use attachment::Attachment;
use base_stress::BaseStress;
use contact::block_points;
use dermis_geometry::{Surface, TriMesh, Vec3};
use elasticity::Elastic;
use equilibrium::Equilibrium;
use probe::Probe;
use reference_grid::RestParticle;
use surface_grid::SurfaceGrid;

/// Maximum indentation, as a fraction of the thickness.
const MAX_DEPTH: f64 = 0.75;
/// Relative precision of forces: residual and remaining penetration.
const PRECISION: f64 = 2e-3;

/// A block or body of elastomer, fixed at faces of its box or at parts inside it.
#[derive(Clone, Debug)]
pub struct Gel {
    parameters: GelParameters,
    coefficients: Coefficients,
    elastic: Elastic,
    points: Vec<SurfacePoint>,
    diagonal: Vec<f64>,
    surface_grid: SurfaceGrid,
    thickness_m: f64,
    area_m2: f64,
    /// Undeformed particles, and the attachment of each surface point to one.
    rest_particles: Vec<RestParticle>,
    attachments: Vec<Attachment>,
    interfaces: Vec<FixedInterface>,
    interface_attachments: Vec<Attachment>,
    /// Only for a block, whose taxels lie under it. The taxels of other bodies lie on their surface.
    base: Option<BaseStress>,
    /// Places whose motion is reported.
    probes: Vec<Probe>,
    /// Residual to which presses are solved with rigid contact.
    exact: Option<f64>,
}

impl Gel {
    /// Creates a block with its upper face in z = 0, centred at the origin.
    pub fn block(size_m: Vec3, faces: FixedFaces, parameters: GelParameters) -> Result<Self, SkinError> {
        parameters.validate()?;
        for (key, length) in ["length", "width", "thickness"].into_iter().zip(size_m.to_array()) {
            crate::require_positive(key, "m", length)?;
        }
        let grid = ReferenceGrid::block(size_m, faces, &parameters)?;
        let samples = block_points(&grid, faces);
        let surface_grid = SurfaceGrid::of_block(&grid, size_m);
        let base = faces.has(Face::Bottom).then(|| BaseStress::new(&grid, &surface_grid));
        Ok(Self { base, ..Self::new(grid, &samples, surface_grid, size_m.z, parameters) })
    }

    /// Creates the part of a closed mesh above `floor_m` (m). Its bottom is at that height, or at the lowest point of
    /// the mesh if that is higher.
    pub fn solid(
        body: &TriMesh,
        floor_m: f64,
        faces: FixedFaces,
        parameters: GelParameters,
    ) -> Result<Self, SkinError> {
        parameters.validate()?;
        let surface = Surface::new(body.clone());
        let floor_m = floor_m.max(surface.bounds().min.z);
        if surface.bounds().max.z - floor_m < parameters.cell_m {
            return Err(SkinError::BadGel {
                key: "floor",
                rule: format!("must leave a cell of gel above it, got {} mm", floor_m * 1e3),
            });
        }
        let grid = ReferenceGrid::solid(&surface, floor_m, faces, &parameters)?;
        let samples: Vec<_> = ReferenceGrid::surface_samples(body, 0.7 * parameters.cell_m)
            .into_iter()
            .filter(|(point, normal, _)| point.z > floor_m + 1e-3 * parameters.cell_m && normal.z > -0.5)
            .collect();
        let surface_grid = SurfaceGrid::of_solid(&grid, &surface, floor_m);
        let thickness_m = surface.bounds().max.z - floor_m;
        Ok(Self::new(grid, &samples, surface_grid, thickness_m, parameters))
    }

    fn new(
        grid: ReferenceGrid,
        samples: &[(Vec3, Vec3, f64)],
        surface_grid: SurfaceGrid,
        thickness_m: f64,
        parameters: GelParameters,
    ) -> Self {
        let points: Vec<SurfacePoint> = samples
            .iter()
            .map(|&(rest, normal, area_m2)| SurfacePoint { rest, normal, area_m2, stencil: grid.stencil(rest) })
            .collect();
        let area_m2 = samples.iter().filter(|(_, normal, _)| normal.z > 0.5).map(|(_, _, area)| area).sum();
        let coefficients = parameters.coefficients(grid.cell_m);
        let elastic = Elastic::new(grid, parameters.constitution, &coefficients, Simd::detect());
        let rest_particles = elastic.grid.particles();
        let attachments = Attachment::all(&elastic.grid, &rest_particles, points.iter().map(|point| point.rest));
        Self {
            parameters,
            coefficients,
            diagonal: elastic.diagonal(),
            elastic,
            points,
            surface_grid,
            thickness_m,
            area_m2,
            rest_particles,
            attachments,
            interfaces: Vec::new(),
            interface_attachments: Vec::new(),
            base: None,
            probes: Vec::new(),
            exact: None,
        }
    }

    /// The same gel whose touches have the motion of the material at these places (m) of the undeformed gel.
    pub fn with_probes(mut self, places: &[Vec3]) -> Self {
        self.probes = places.iter().map(|&at| Probe::new(&self.elastic.grid, at)).collect();
        self
    }

    /// The same gel without friction whose equilibria on the CPU end with a residual of at most `residual` of the load, with a
    /// contact pressure in proportion to a small penetration, as [`Skin::vjp`] has it. Usual presses end at 3e-4 and with
    /// pressures of an augmented Lagrangian, which depend on the path; these are smooth functions of pose and material, for
    /// differences.
    pub fn solved_to(mut self, residual: f64) -> Self {
        self.parameters.friction = GelFriction::None;
        self.coefficients.friction = 0.0;
        self.exact = Some(residual);
        self
    }

    /// The lowest and the highest corner (m) of a block; `None` for another body.
    pub fn block_m(&self) -> Option<(Vec3, Vec3)> {
        let grid = &self.elastic.grid;
        let size_m = Vec3::from_array(grid.cells.map(|count| count as f64)) * grid.cell_m;
        (!self.surface_grid.is_curved()).then_some((grid.origin, grid.origin + size_m))
    }

    /// The same gel with all parts fixed whose undeformed position satisfies `held`, such as those near a bone,
    /// accurate to half a cell. Returns an error if no position or every position satisfies it.
    pub fn fixed_where(mut self, held: impl Fn(Vec3) -> bool) -> Result<Self, SkinError> {
        self.interfaces = FixedInterface::cut_out(&mut self.elastic.grid, &self.parameters, &held);
        if self.interfaces.is_empty() {
            let rule = "must hold a part of the gel, and not all of it: check where it is".to_owned();
            return Err(SkinError::BadGel { key: "held", rule });
        }
        let removed: Vec<bool> = self.rest_particles.iter().map(|particle| held(particle.at)).collect();
        let mut attachments = self.attachments.iter();
        self.points.retain(|_| attachments.next().is_some_and(|attachment| !removed[attachment.particle as usize]));
        self.surface_grid.exclude(&held);
        self.rest_particles = self.elastic.grid.particles();
        self.attachments = self.attach(self.points.iter().map(|point| point.rest));
        self.interface_attachments = self.attach(self.interfaces.iter().map(|interface| interface.rest));
        self.diagonal = self.elastic.diagonal();
        for interface in &self.interfaces {
            let stiffness = Vec3::splat(interface.stiffness_newton_per_m);
            self.elastic.grid.spread_squared(&mut self.diagonal, &interface.stencil, stiffness);
        }
        Ok(self)
    }

    fn attach(&self, points: impl Iterator<Item = Vec3>) -> Vec<Attachment> {
        Attachment::all(&self.elastic.grid, &self.rest_particles, points)
    }

    /// Material and resolution.
    pub fn parameters(&self) -> &GelParameters {
        &self.parameters
    }

    /// Number of particles.
    pub fn particles(&self) -> usize {
        self.rest_particles.len()
    }

    fn gel_state<'s>(&self, state: &'s State) -> Result<&'s GelState, SkinError> {
        let State::Gel(state) = state else { return Err(SkinError::OtherSkin { expected: "gel" }) };
        if state.nodes.len() != self.elastic.grid.len() {
            return Err(SkinError::StateMismatch { got: state.nodes.len(), expected: self.elastic.grid.len() });
        }
        let grid = &self.elastic.grid;
        let size_m = (Vec3::from_array(grid.cells.map(|count| count as f64)) * grid.cell_m).length();
        state.check(self.rest_particles.len(), self.points.len(), size_m)?;
        if self.points.iter().any(|point| grid.at(&state.nodes, &point.stencil).length() > size_m) {
            let what = "a point has moved farther than the gel is wide";
            return Err(SkinError::DamagedState { skin: "gel", what });
        }
        Ok(state)
    }

    /// Computes the equilibrium with objects at the poses of `motion`; also returns solver statistics. The load path is
    /// straight from their last poses or, for new objects, from above; friction depends on it.
    pub fn equilibrium(&self, state: &State, motion: &Motion<'_>) -> Result<(Touch, State, SolverStats), SkinError> {
        parallel(|| {
            let path = self.load_path(state, motion)?;
            let solution = Equilibrium::new(&self.elastic, self.problem()).solve(&path, motion, self.exact)?;
            self.touch_at(motion, solution)
        })
    }

    fn touch_of(&self, u: &[f64], found: &[ContactPoint], motion: &Motion<'_>) -> Touch {
        let thickness = self.thickness_m;
        let facets = found
            .iter()
            .filter(|found| found.normal_newton > 0.0)
            .map(|found| {
                let point = &self.points[found.point as usize];
                let stiffness = self.parameters.confined_pa() * point.area_m2 / thickness;
                let normal = -found.gap.normal;
                Facet {
                    object: found.object,
                    normal,
                    depth_m: (found.at - point.rest).dot(found.gap.normal).max(0.0),
                    saturated: false,
                    load: Load::Point {
                        at: found.at,
                        anchor: point.rest,
                        area_m2: point.area_m2 * self.elastic.grid.stretch(u, point),
                        force: found.force(),
                    },
                    tangent: Tangent {
                        stiffness_normal: stiffness,
                        stiffness_tangential: if self.parameters.friction.mu() > 0.0 { stiffness } else { 0.0 },
                        damping_normal: 0.0,
                        damping_tangential: 0.0,
                    },
                }
            })
            .collect();
        let mut touch = Touch::from_facets(facets, motion.targets.len());
        touch.warnings = self.surface_grid.unresolved(&touch.facets, motion);
        touch.surface = Some(self.surface_grid.field(&self.elastic.grid, u));
        touch.inside = self.probes.iter().map(|probe| probe.motion(&self.elastic.grid, u)).collect();
        touch
    }
}

impl Skin for Gel {
    fn rest(&self) -> State {
        let nodes = vec![0.0; self.elastic.grid.len()].into();
        State::Gel(GelState { nodes, contacts: Vec::new(), poses: Vec::new(), moving: None })
    }

    fn touch(&self, state: &State, motion: &Motion<'_>, dt_s: f64) -> Result<(Touch, State), SkinError> {
        crate::require_positive("dt", "s", dt_s)?;
        motion.check()?;
        let (touch, state) = parallel(|| self.advance(self.gel_state(state)?, motion, dt_s))?;
        Ok((touch, State::Gel(state)))
    }

    fn settle(&self, state: &State, motion: &Motion<'_>) -> Result<(Touch, State), SkinError> {
        let (touch, state, _) = self.equilibrium(state, motion)?;
        Ok((touch, state))
    }

    fn vjp(
        &self,
        touch: &Touch,
        state: &State,
        target: &Target<'_>,
        cotangent: &TouchCotangent,
    ) -> Result<SkinGradient, SkinError> {
        parallel(|| self.gradient(touch, self.gel_state(state)?, target, cotangent))
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
        MAX_DEPTH * self.thickness_m
    }

    fn precision(&self) -> f64 {
        PRECISION
    }

    fn holds_shear(&self, _object: &crate::Object) -> bool {
        self.parameters.friction.mu() > 0.0
    }
}
