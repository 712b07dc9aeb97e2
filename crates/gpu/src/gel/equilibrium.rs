//! Equilibrium of a gel on a GPU.

use super::arena::{Arena, CooperativeKernel};
use super::layout::{self, EquilibriumTask, IndenterPose, node_order};
use crate::object::GpuObject;
use crate::{Gpu, GpuError};
use dermis_skin::gel::{ContactPoint, ContactState, EquilibriumSolution, Gap, LoadPath, SolverStats, inverted_state};
use dermis_skin::{Gel, Motion, Skin, SkinError, State, Support, Touch};
use std::sync::{Arc, Mutex, PoisonError};

/// Threads per block, as in the kernel.
const THREADS: u32 = 288;

/// A gel whose equilibrium is solved on a GPU, one press at a time. Its dynamics run on the CPU.
#[derive(Debug)]
pub struct GpuGel {
    gpu: Arc<Gpu>,
    gel: Gel,
    kernel: CooperativeKernel,
    arena: Mutex<Arena>,
    task: EquilibriumTask,
    /// Index of the stencil of each surface point.
    stencil_of_point: Vec<usize>,
    stencils: usize,
}

impl GpuGel {
    /// Uploads a gel.
    pub fn new(gpu: &Arc<Gpu>, gel: Gel) -> Result<Self, GpuError> {
        let kernel = CooperativeKernel::new(gpu, &layout::program(), "solve_equilibrium", THREADS)?;
        let problem = gel.problem();
        let needed_bytes = layout::bytes_needed(problem.grid);
        let larger = |free_bytes: usize| (needed_bytes as f64 / free_bytes as f64).cbrt();
        gpu.require_free(
            needed_bytes,
            || format!("a gel of {} cells", problem.grid.cells.iter().product::<usize>()),
            |free_bytes| format!("cells {:.1} times as large would fit", larger(free_bytes)),
        )?;
        let mut arena = Arena::new(gpu);
        let (task, stencil_of_point) = layout::upload(&mut arena, &problem, kernel.blocks as usize)?;
        let stencils = problem.points.len() + problem.interfaces.len();
        let (gpu, arena) = (Arc::clone(gpu), Mutex::new(arena));
        Ok(Self { gpu, kernel, arena, task, stencil_of_point, stencils, gel })
    }

    /// The gel on the CPU.
    pub fn gel(&self) -> &Gel {
        &self.gel
    }

    /// [`Gel::equilibrium`] on the GPU; also returns the kernel time (s).
    pub fn equilibrium(
        &self,
        state: &State,
        motion: &Motion<'_>,
    ) -> Result<(Touch, State, SolverStats, f64), SkinError> {
        let path = self.gel.load_path(state, motion)?;
        let (solution, gpu_s) = self.solve(&path, motion)?;
        let solution = solution.ok_or_else(inverted_state)?;
        let (touch, state, stats) = self.gel.touch_at(motion, solution)?;
        Ok((touch, state, stats, gpu_s))
    }

    /// Follows a load path; `None` if the initial state has an inverted particle. Also returns the kernel time (s).
    fn solve(&self, path: &LoadPath<'_>, motion: &Motion<'_>) -> Result<(Option<EquilibriumSolution>, f64), GpuError> {
        self.gpu.context.bind_to_thread()?;
        let surfaces = || motion.targets.iter().map(|target| &target.object.surface);
        let objects: Vec<GpuObject> =
            surfaces().map(|surface| GpuObject::for_distances(&self.gpu, surface)).collect::<Result<_, _>>()?;
        let poses: Vec<IndenterPose> = path
            .poses
            .iter()
            .flat_map(|poses| surfaces().zip(poses).map(|(surface, pose)| IndenterPose::new(surface, pose)))
            .collect();
        let shapes = self.gpu.upload(&objects.iter().map(|object| *object.view()).collect::<Vec<_>>())?;
        let poses = self.gpu.upload(&poses)?;
        let mut task = self.task;
        task.objects = objects.len() as i32;
        task.loads = path.poses.len() as i32 - 1;
        [task.path_precision, task.final_precision] =
            path.precision.map(|precision| [precision.residual, precision.gap_m]);
        (task.shapes, task.poses) = (shapes.at(0), poses.at(0));
        let grid = self.gel.problem().grid;
        let displacement: Vec<f64> = node_order(grid).map(|at| path.displacement_m[at]).collect();
        let mut arena = self.arena.lock().unwrap_or_else(PoisonError::into_inner);
        arena.write(task.displacement, &displacement)?;
        arena.write(task.step, &vec![0.0; displacement.len()])?;
        arena.write(task.states, &self.initial_states(path.contacts))?;
        arena.write(task.barrier, &[0])?;
        // SAFETY: the task belongs to the kernel; its addresses are in `arena`, `objects`, `shapes` and `poses`, which
        // outlive the launch.
        let gpu_s = unsafe { self.kernel.launch(&task)? };
        let outcome = arena.read(task.outcome, 1)?[0];
        if outcome.failed != 0 {
            return Ok((None, gpu_s));
        }
        let nodal = |values: Vec<f64>| {
            let mut all = vec![0.0; grid.len()];
            node_order(grid).zip(values).for_each(|(at, value)| all[at] = value);
            all
        };
        let mut displacement_m = nodal(arena.read(task.displacement, displacement.len())?);
        grid.set_ghosts(&mut displacement_m);
        let points = arena.read(task.points, self.stencils)?;
        let states = arena.read(task.states, self.stencils)?;
        let numbered = || (0..).zip(&self.stencil_of_point);
        let solution = EquilibriumSolution {
            displacement_m,
            elastic_newton: nodal(arena.read(task.residual, displacement.len())?),
            strain_j: outcome.strain_j,
            points: numbered().filter_map(|(point, &at)| points[at].on_host(point)).collect(),
            contacts: numbered().filter_map(|(point, &at)| states[at].on_host(point)).collect(),
            stats: SolverStats {
                loads: path.poses.len() - 1,
                newton: outcome.newton as usize,
                conjugate: outcome.conjugate as usize,
                updates: outcome.updates as usize,
                residual: outcome.residual,
            },
        };
        Ok((Some(solution), gpu_s))
    }

    /// Contact states of all stencils.
    fn initial_states(&self, contacts: &[ContactState]) -> Vec<layout::ContactState> {
        let none = layout::ContactState { pressure: 0.0, anchor: dermis_geometry::Vec3::ZERO, object: -1 };
        let mut states = vec![none; self.stencils];
        for &ContactState { point, object, pressure_pa, anchor } in contacts {
            let at = self.stencil_of_point[point as usize];
            states[at] = layout::ContactState { pressure: pressure_pa, anchor, object: i64::from(object) };
        }
        states
    }
}

impl layout::ContactPoint {
    /// The contact point of a surface point; `None` if no object is near.
    fn on_host(&self, point: u32) -> Option<ContactPoint> {
        Some(ContactPoint {
            point,
            object: u32::try_from(self.object).ok()?,
            gap: Gap { distance_m: self.distance, normal: self.normal },
            at: self.at,
            normal_newton: self.normal_force,
            friction_newton: self.friction,
            friction_stiffness: [self.plane_stiffness, self.slip_stiffness],
            slip: self.slip,
        })
    }
}

impl layout::ContactState {
    /// The contact state of a surface point; `None` without contact.
    fn on_host(&self, point: u32) -> Option<ContactState> {
        let object = u32::try_from(self.object).ok()?;
        Some(ContactState { point, object, pressure_pa: self.pressure, anchor: self.anchor })
    }
}

impl Skin for GpuGel {
    fn rest(&self) -> State {
        self.gel.rest()
    }

    fn touch(&self, state: &State, motion: &Motion<'_>, dt_s: f64) -> Result<(Touch, State), SkinError> {
        self.gel.touch(state, motion, dt_s)
    }

    fn settle(&self, state: &State, motion: &Motion<'_>) -> Result<(Touch, State), SkinError> {
        let (touch, state, ..) = self.equilibrium(state, motion)?;
        Ok((touch, state))
    }

    fn fully_pressed(&self) -> Vec<Support> {
        self.gel.fully_pressed()
    }

    fn max_depth_m(&self) -> f64 {
        self.gel.max_depth_m()
    }

    fn precision(&self) -> f64 {
        self.gel.precision()
    }

    fn holds_shear(&self, object: &dermis_skin::Object) -> bool {
        self.gel.holds_shear(object)
    }
}
