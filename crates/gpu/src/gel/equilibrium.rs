//! Equilibrium of a gel on a GPU.

use super::arena::{Arena, CooperativeKernel};
use super::layout::{self, EquilibriumTask, IndenterPose, MAX_PRESSES, Presses, THREADS, node_order};
use crate::object::GpuObject;
use crate::{DeviceBuffer, Gpu, GpuError, PinnedBuffer};
use dermis_geometry::Surface;
use dermis_skin::gel::{ContactPoint, ContactState, EquilibriumSolution, Gap, LoadPath, SolverStats, inverted_state};
use dermis_skin::threads::{in_place_scope, parallel};
use dermis_skin::{Gel, Motion, Skin, SkinError, State, Support, Touch};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A gel whose equilibrium is solved on a GPU. Its dynamics run on the CPU.
#[derive(Debug)]
pub struct GpuGel {
    gpu: Arc<Gpu>,
    gel: Gel,
    /// For one press.
    kernel: CooperativeKernel,
    /// For several presses in one launch, compiled on first use.
    shared_kernel: OnceLock<Result<CooperativeKernel, GpuError>>,
    /// The problem, without buffers of a press.
    task: EquilibriumTask,
    _problem: Arena,
    /// Buffers of the presses of a launch.
    places: Mutex<Vec<Place>>,
    objects: Mutex<Vec<Arc<KnownObject>>>,
    /// Index on the host of each number of a nodal vector.
    node_order: Vec<usize>,
    /// Index of the stencil of each surface point.
    stencil_of_point: Vec<usize>,
    stencils: usize,
}

/// Buffers of one press.
#[derive(Debug)]
struct Place {
    arena: Arena,
    task: EquilibriumTask,
    results: Results,
}

/// What the GPU computed for a press, in page-locked memory.
#[derive(Debug)]
struct Results {
    outcome: PinnedBuffer<layout::Outcome>,
    displacement: PinnedBuffer<f64>,
    elastic: PinnedBuffer<f64>,
    points: PinnedBuffer<layout::ContactPoint>,
    states: PinnedBuffer<layout::ContactState>,
}

/// An object on the GPU.
#[derive(Debug)]
struct KnownObject {
    surface: Surface,
    on_gpu: GpuObject,
}

/// Maximum number of objects that a gel keeps on the GPU.
const MAX_OBJECTS: usize = 16;

/// A press, ready for the GPU.
struct Prepared<'a> {
    path: LoadPath<'a>,
    objects: Vec<Arc<KnownObject>>,
    poses: Vec<IndenterPose>,
    displacement: Vec<f64>,
    states: Vec<layout::ContactState>,
}

/// The touch, the state and the statistics of a press.
type Settled = (Touch, State, SolverStats);

impl GpuGel {
    /// Uploads a gel.
    pub fn new(gpu: &Arc<Gpu>, gel: Gel) -> Result<Self, GpuError> {
        let kernel = kernel_for(gpu, 1)?;
        let problem = gel.problem();
        let needed_bytes = layout::bytes_needed(problem.grid);
        let larger = |free_bytes: usize| (needed_bytes as f64 / free_bytes as f64).cbrt();
        gpu.require_free(
            needed_bytes,
            || format!("a gel of {} cells", problem.grid.cells.iter().product::<usize>()),
            |free_bytes| format!("cells {:.1} times as large would fit", larger(free_bytes)),
        )?;
        let mut arena = Arena::new(gpu);
        let (task, stencil_of_point) = layout::upload(&mut arena, &problem)?;
        let stencils = problem.points.len() + problem.interfaces.len();
        let node_order = node_order(problem.grid).collect();
        let made = Self {
            gpu: Arc::clone(gpu),
            kernel,
            shared_kernel: OnceLock::new(),
            task,
            _problem: arena,
            places: Mutex::default(),
            objects: Mutex::default(),
            node_order,
            stencil_of_point,
            stencils,
            gel,
        };
        made.places.lock().unwrap_or_else(PoisonError::into_inner).push(made.new_place()?);
        Ok(made)
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
        let prepared = self.prepare(state, motion)?;
        let (solutions, gpu_s) = self.solve(&[&prepared])?;
        let solution = solutions.into_iter().next().flatten().ok_or_else(inverted_state)?;
        let (touch, state, stats) = self.gel.touch_at(motion, solution)?;
        Ok((touch, state, stats, gpu_s))
    }

    /// Many equilibria, each from its own state to its own poses: several in one launch, each on its share of the GPU.
    /// Every result has the same bytes as that of [`Self::equilibrium`].
    pub fn equilibria(&self, presses: &[(&State, &Motion<'_>)]) -> Vec<Result<Settled, SkinError>> {
        let prepared: Vec<Result<Prepared<'_>, SkinError>> =
            parallel(|| presses.par_iter().map(|(state, motion)| self.prepare(state, motion)).collect());
        let settled: Vec<OnceLock<Result<Settled, SkinError>>> = presses.iter().map(|_| OnceLock::new()).collect();
        // Presses with equally many load steps take about as long: a launch ends with its last press.
        let mut order: Vec<(usize, &Prepared<'_>)> =
            prepared.iter().enumerate().filter_map(|(i, prepared)| Some((i, prepared.as_ref().ok()?))).collect();
        order.sort_by_key(|(_, prepared)| std::cmp::Reverse(prepared.path.poses.len()));
        let together = self.places_for(order.len());
        in_place_scope(|scope| {
            for group in order.chunks(together) {
                let tasks: Vec<&Prepared<'_>> = group.iter().map(|(_, prepared)| *prepared).collect();
                match self.solve(&tasks) {
                    Ok((solutions, _)) => {
                        for (&(press, _), solution) in group.iter().zip(solutions) {
                            let settled = &settled;
                            // Runs beside the next launch.
                            scope.spawn(move |_| {
                                let solution = solution.ok_or_else(inverted_state);
                                let touch = solution.and_then(|found| self.gel.touch_at(presses[press].1, found));
                                let _ = settled[press].set(touch);
                            });
                        }
                    }
                    Err(error) => {
                        for (press, _) in group {
                            let _ = settled[*press].set(Err(error.clone().into()));
                        }
                    }
                }
            }
        });
        let outcome = |(settled, prepared): (OnceLock<_>, Result<_, SkinError>)| match (prepared, settled.into_inner())
        {
            (Err(error), _) => Err(error),
            (Ok(_), Some(settled)) => settled,
            (Ok(_), None) => Err(inverted_state()),
        };
        settled.into_iter().zip(prepared).map(outcome).collect()
    }

    /// Load path, poses and initial state of a press.
    fn prepare<'s>(&self, state: &'s State, motion: &Motion<'_>) -> Result<Prepared<'s>, SkinError> {
        let path = self.gel.load_path(state, motion)?;
        let surfaces = || motion.targets.iter().map(|target| &target.object.surface);
        let objects = surfaces().map(|surface| self.known(surface)).collect::<Result<_, _>>()?;
        let poses = path.poses.iter();
        let poses =
            poses.flat_map(|poses| surfaces().zip(poses).map(|(surface, pose)| IndenterPose::new(surface, pose)));
        Ok(Prepared {
            objects,
            poses: poses.collect(),
            displacement: self.node_order.iter().map(|&at| path.displacement_m[at]).collect(),
            states: self.initial_states(path.contacts),
            path,
        })
    }

    /// The object on the GPU; uploads it if no recent press had an equal one.
    fn known(&self, surface: &Surface) -> Result<Arc<KnownObject>, GpuError> {
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = objects.iter().find(|known| same_shape(&known.surface, surface)) {
            return Ok(Arc::clone(known));
        }
        self.gpu.context.bind_to_thread()?;
        let on_gpu = GpuObject::for_distances(&self.gpu, surface)?;
        let known = Arc::new(KnownObject { surface: surface.clone(), on_gpu });
        if objects.len() == MAX_OBJECTS {
            objects.remove(0);
        }
        objects.push(Arc::clone(&known));
        Ok(known)
    }

    fn new_place(&self) -> Result<Place, GpuError> {
        let mut arena = Arena::new(&self.gpu);
        let task = self.task.with_buffers(&mut arena)?;
        let (gpu, nodal) = (&self.gpu, self.node_order.len());
        let results = Results {
            outcome: PinnedBuffer::new(gpu, 1)?,
            displacement: PinnedBuffer::new(gpu, nodal)?,
            elastic: PinnedBuffer::new(gpu, nodal)?,
            points: PinnedBuffer::new(gpu, self.stencils)?,
            states: PinnedBuffer::new(gpu, self.stencils)?,
        };
        Ok(Place { arena, task, results })
    }

    /// Number of presses to solve in one launch: at most as many as have room on the GPU.
    fn places_for(&self, presses: usize) -> usize {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        while places.len() < presses.min(MAX_PRESSES) {
            let Ok(place) = self.new_place() else { break };
            places.push(place);
        }
        places.len().max(1)
    }

    /// Follows the load paths of as many presses as there are places; `None` where one failed. Also returns the kernel time (s).
    fn solve(&self, presses: &[&Prepared<'_>]) -> Result<(Vec<Option<EquilibriumSolution>>, f64), GpuError> {
        self.gpu.context.bind_to_thread()?;
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let kernel = match presses.len() {
            1 => &self.kernel,
            count => {
                self.shared_kernel.get_or_init(|| kernel_for(&self.gpu, count)).as_ref().map_err(GpuError::clone)?
            }
        };
        let blocks = kernel.blocks / presses.len() as u32;
        let mut tasks = Presses::default();
        let mut uploaded: Vec<(DeviceBuffer<_>, DeviceBuffer<_>)> = Vec::new();
        for (i, (prepared, place)) in presses.iter().zip(places.iter_mut()).enumerate() {
            let shapes: Vec<_> = prepared.objects.iter().map(|object| *object.on_gpu.view()).collect();
            let (shapes, poses) = (self.gpu.upload(&shapes)?, self.gpu.upload(&prepared.poses)?);
            let mut task = place.task;
            task.objects = prepared.objects.len() as i32;
            task.loads = prepared.path.poses.len() as i32 - 1;
            task.first_block = i as i32 * blocks as i32;
            task.blocks = blocks as i32;
            [task.path_precision, task.final_precision] =
                prepared.path.precision.map(|precision| [precision.residual, precision.gap_m]);
            (task.shapes, task.poses) = (shapes.at(0), poses.at(0));
            place.arena.write(task.displacement, &prepared.displacement)?;
            place.arena.write(task.states, &prepared.states)?;
            place.arena.write(task.barrier, &[0])?;
            uploaded.push((shapes, poses));
            tasks.press[i] = task;
        }
        // SAFETY: the tasks belong to the kernel; their addresses are in `places`, in objects of `presses` and in
        // `uploaded`, which outlive the launch.
        let gpu_s = unsafe { kernel.launch(&tasks, blocks * presses.len() as u32)? };
        let places = &mut places[..presses.len()];
        for Place { arena, task, results } in &mut *places {
            arena.queue_read(task.outcome, &mut results.outcome)?;
            arena.queue_read(task.displacement, &mut results.displacement)?;
            arena.queue_read(task.residual, &mut results.elastic)?;
            arena.queue_read(task.points, &mut results.points)?;
            arena.queue_read(task.states, &mut results.states)?;
        }
        self.gpu.finish()?;
        let of_press = |(place, prepared): (&Place, &&Prepared<'_>)| self.solution(&place.results, prepared);
        let places = &*places;
        let solutions = parallel(|| places.par_iter().zip(presses).map(of_press).collect::<Result<_, _>>())?;
        Ok((solutions, gpu_s))
    }

    /// The solution that the GPU computed; `None` if it failed.
    fn solution(&self, results: &Results, prepared: &Prepared<'_>) -> Result<Option<EquilibriumSolution>, GpuError> {
        let outcome = results.outcome.values()?[0];
        let (displacement, elastic) = (results.displacement.values()?, results.elastic.values()?);
        let (points, states) = (results.points.values()?, results.states.values()?);
        if outcome.failed != 0 {
            return Ok(None);
        }
        let grid = self.gel.problem().grid;
        let nodal = |values: &[f64]| {
            let mut all = vec![0.0; grid.len()];
            self.node_order.iter().zip(values).for_each(|(&at, value)| all[at] = *value);
            all
        };
        let displaced = || {
            let mut all = nodal(displacement);
            grid.set_ghosts(&mut all);
            all
        };
        let numbered = || (0..).zip(&self.stencil_of_point);
        let near = || numbered().filter_map(|(point, &at)| points[at].on_host(point)).collect();
        let pressed = || numbered().filter_map(|(point, &at)| states[at].on_host(point)).collect();
        let ((displacement_m, elastic_newton), (points, contacts)) =
            rayon::join(|| rayon::join(displaced, || nodal(elastic)), || rayon::join(near, pressed));
        let stats = SolverStats {
            loads: prepared.path.poses.len() - 1,
            newton: outcome.newton as usize,
            conjugate: outcome.conjugate as usize,
            updates: outcome.updates as usize,
            residual: outcome.residual,
        };
        let strain_j = outcome.strain_j;
        Ok(Some(EquilibriumSolution { displacement_m, elastic_newton, strain_j, points, contacts, stats }))
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

/// The kernel for a number of presses in a launch.
fn kernel_for(gpu: &Arc<Gpu>, presses: usize) -> Result<CooperativeKernel, GpuError> {
    let program = layout::program(layout::BLOCKS[usize::from(presses > 1)]);
    CooperativeKernel::new(gpu, &program, "solve_equilibrium", THREADS as u32)
}

/// True if distances to two surfaces are equal everywhere.
fn same_shape(a: &Surface, b: &Surface) -> bool {
    a.primitive() == b.primitive() && a.balls() == b.balls() && a.mesh() == b.mesh()
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

    fn settle_all(&self, presses: &[(&State, &Motion<'_>)]) -> Vec<Result<(Touch, State), SkinError>> {
        let settled = self.equilibria(presses).into_iter();
        settled.map(|settled| settled.map(|(touch, state, _)| (touch, state))).collect()
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
