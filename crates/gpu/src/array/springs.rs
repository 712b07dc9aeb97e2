//! Springs on the GPU.

use super::friction::{FRICTION, FrictionLaw};
use super::grid;
use super::poses::Poses;
use super::presses::Presses;
use crate::cuda_struct::{Ptr, cuda_struct};
use crate::environments::{self, Bindings, BodyArrays, Memory, ObjectArrays, View, bounding_spheres};
use crate::memory::launch;
use crate::object::{ObjectView, SurfaceKind};
use crate::precision::Scalar;
use crate::program::{COMMON, Program, UNFUSED};
use crate::{DeviceBuffer, Gpu, GpuError, GpuObject, Precision};
use dermis_geometry::Vec3;
use dermis_sensor::Taxels;
use dermis_skin::{self as skin, Damping, Elasticity, Law};
use std::sync::Arc;

const SOURCE: &[&str] = &[
    COMMON,
    ObjectView::CUDA,
    FrictionLaw::CUDA,
    SpringSkin::CUDA,
    View::CUDA,
    include_str!("../cuda/view.cuh"),
    include_str!("../cuda/ray.cuh"),
    FRICTION,
    include_str!("spring.cuh"),
    include_str!("springs.cu"),
    include_str!("taxel_sums.cu"),
];
const STEP_SOURCE: &[&str] = &[
    COMMON,
    ObjectView::CUDA,
    FrictionLaw::CUDA,
    SpringSkin::CUDA,
    View::CUDA,
    BodyArrays::CUDA,
    ObjectArrays::CUDA,
    Bindings::CUDA,
    Memory::CUDA,
    include_str!("../cuda/view.cuh"),
    include_str!("../cuda/ray.cuh"),
    FRICTION,
    include_str!("spring.cuh"),
    environments::RANDOMISATION,
    environments::FRAMES,
    environments::SPRINGS,
    include_str!("taxel_sums.cu"),
];
/// Presses per block, one warp each; as in the kernel.
const WARPS: usize = 8;
const THREADS: u32 = 32 * WARPS as u32;
/// Size (bytes) of the buffer for forces of springs before they are summed over taxels.
const SCRATCH_BYTES: usize = 1 << 29;
/// Levels of a hierarchy that the small and the large stack of the kernel can traverse.
const LEVELS: [usize; 2] = [13, 82];

/// An array of springs on the GPU.
#[derive(Debug)]
pub(crate) struct Springs<S = f64> {
    gpu: Arc<Gpu>,
    pub(crate) sites: usize,
    pub(crate) taxels: usize,
    pub(crate) skin: SpringSkin<S>,
    pub(crate) weights: Option<TaxelWeights<S>>,
    pub(crate) normals: DeviceBuffer<S>,
    /// Bounding spheres (centre, radius, m) of every 32 springs and their rays.
    pub(crate) spheres: Vec<f64>,
    /// The buffers that `skin` points to.
    numbers: [DeviceBuffer<S>; 2],
}

cuda_struct! {
    /// The springs in the layout of the kernel; see [`skin::SpringParameters`].
    #[derive(Default)]
    pub(crate) struct SpringSkin<Scalar> {
        max_penetration: Scalar,
        stiffness_texel: Scalar,
        stiffness_area: Scalar,
        damping_texel: Scalar,
        damping_area: Scalar,
        /// 1 for the conservative force law, 0 for that of the paper.
        conservative: Scalar,
        friction: FrictionLaw<Scalar>,
        /// Point, normal, area and share of all sites, component by component: (8, sites).
        sites: Ptr<Scalar>,
        /// Outward normals of the taxels, (3, taxels), if site i is taxel i; else null.
        taxel_normals: Ptr<Scalar>,
        /// Depths, then loads, of the elasticity table.
        table: Ptr<Scalar>,
        /// Number of rows of the table; zero without a table.
        table_rows: u32,
        count: u32,
        table_per_area: i32,
        /// Fills the struct to a multiple of 8 bytes.
        unused: i32,
    }
}

/// Weights of the springs' forces in the force of each taxel: a sparse matrix whose last row is the force outside all
/// taxels.
#[derive(Debug)]
pub(crate) struct TaxelWeights<S = f64> {
    pub starts: DeviceBuffer<u32>,
    pub sites: DeviceBuffer<u32>,
    pub weights: DeviceBuffer<S>,
}

/// Components of vectors, axis by axis.
fn by_axis(vectors: impl Iterator<Item = Vec3> + Clone) -> impl Iterator<Item = f64> {
    (0..3).flat_map(move |axis| vectors.clone().map(move |vector| vector[axis]))
}

impl Springs {
    /// Uploads springs and the taxels that measure them.
    pub fn new(gpu: &Arc<Gpu>, springs: &skin::Springs, taxels: &Taxels) -> Result<Self, GpuError> {
        let (sites, parameters) = (springs.sites(), springs.parameters());
        let mut numbers: Vec<f64> = by_axis(sites.iter().map(|site| site.point)).collect();
        numbers.extend(by_axis(sites.iter().map(|site| site.normal)));
        numbers.extend(sites.iter().map(|site| site.area_m2));
        numbers.extend(sites.iter().map(|site| site.share));
        let normals = gpu.upload(&by_axis(taxels.normals().iter().copied()).collect::<Vec<_>>())?;
        let table = match &parameters.elasticity {
            Elasticity::TexelTable(table) | Elasticity::AreaTable(table) => [&table.depth_m[..], &table.load].concat(),
            _ => Vec::new(),
        };
        let numbers = [gpu.upload(&numbers)?, gpu.upload(&table)?];
        let weights = TaxelWeights::new(gpu, springs, taxels)?;
        let skin = SpringSkin {
            sites: numbers[0].at(0),
            taxel_normals: if weights.is_none() { normals.at(0) } else { Ptr::default() },
            table: numbers[1].at(0),
            table_rows: table.len() as u32 / 2,
            count: sites.len() as u32,
            ..parameters.into()
        };
        let rays: Vec<_> = sites.iter().map(|site| (site.point, site.normal)).collect();
        let spheres = bounding_spheres(&rays, parameters.max_penetration_m);
        let (sites, taxels) = (sites.len(), taxels.len());
        Ok(Self { gpu: Arc::clone(gpu), sites, taxels, skin, weights, normals, spheres, numbers })
    }

    /// A copy in single precision.
    pub(crate) fn in_single(&self) -> Result<Springs<f32>, GpuError> {
        let numbers = [self.numbers[0].in_single()?, self.numbers[1].in_single()?];
        let normals = self.normals.in_single()?;
        let weights = self.weights.as_ref().map(TaxelWeights::in_single).transpose()?;
        let skin = SpringSkin {
            sites: numbers[0].at(0),
            taxel_normals: if weights.is_none() { normals.at(0) } else { Ptr::default() },
            table: numbers[1].at(0),
            ..self.skin.in_single()
        };
        let (gpu, sites, taxels) = (Arc::clone(&self.gpu), self.sites, self.taxels);
        Ok(Springs { gpu, sites, taxels, skin, weights, normals, spheres: self.spheres.clone(), numbers })
    }

    /// Computes the contact loads of an object at rest at each pose. If a taxel is not a single spring, processes the
    /// presses in parts and sums the forces over taxels.
    pub fn settle(&self, object: &GpuObject, poses: &Poses) -> Result<Presses, GpuError> {
        let (gpu, count) = (&self.gpu, poses.count);
        let program = program(Some(object.cast_kind), object.levels, Time::Rest, Precision::Double);
        let kernel = gpu.kernel(&program, "springs")?;
        let at_once = match self.weights {
            None => count.max(1),
            Some(_) => (SCRATCH_BYTES / (24 * self.sites)).clamp(1, count.max(1)),
        };
        let scratch_bytes = if self.weights.is_some() { 24 * self.sites * at_once } else { 0 };
        let outputs = Presses::allocate(gpu, count, self.taxels, scratch_bytes)?;
        if count == 0 {
            return Ok(outputs);
        }
        let scratch = if self.weights.is_some() { Some(gpu.uninitialised(3 * self.sites * at_once)?) } else { None };
        for first in (0..count).step_by(at_once) {
            let part = at_once.min(count - first);
            let forces = scratch.as_ref().unwrap_or(&outputs.forces_newton).at_mut(0);
            // SAFETY: the buffers have the lengths given in the kernel's comment, for `part` presses starting at
            // `first`.
            unsafe {
                launch!(
                    gpu,
                    &kernel,
                    grid(part, WARPS, THREADS),
                    &self.skin,
                    object.view(),
                    &poses.values.at(7 * first),
                    &(part as u32),
                    &forces,
                    &outputs.values_newton.at_mut(self.taxels * first),
                    &outputs.wrench.at_mut(6 * first),
                    &outputs.points.at_mut(first),
                    &outputs.saturated.at_mut(first),
                )?;
            }
            if let (Some(weights), Some(scratch)) = (&self.weights, &scratch) {
                self.sum_over_taxels(&program, weights, scratch, first, part, &outputs)?;
            }
        }
        Ok(outputs)
    }

    /// Sums the forces of springs over taxels, for `count` presses starting at `first`.
    fn sum_over_taxels(
        &self,
        program: &Program,
        matrix: &TaxelWeights,
        site_forces: &DeviceBuffer<f64>,
        first: usize,
        count: usize,
        outputs: &Presses,
    ) -> Result<(), GpuError> {
        let kernel = self.gpu.kernel(program, "sum_over_taxels")?;
        // SAFETY: the indices of the matrix are below `sites`, and the buffers hold `count` presses starting at
        // `first`.
        unsafe {
            launch!(
                self.gpu,
                &kernel,
                grid(count * (self.taxels + 1), THREADS as usize, THREADS),
                &matrix.starts,
                &matrix.sites,
                &matrix.weights,
                &(self.taxels as u32),
                &(self.sites as u32),
                &(first as u32),
                &(count as u32),
                site_forces,
                &self.normals,
                &View::of_vectors(&outputs.forces_newton, self.taxels),
                &View::of_rows(&outputs.values_newton, self.taxels),
                &View::of_rows(&outputs.outside_newton, 3),
            )?;
        }
        Ok(())
    }
}

impl<S: Scalar> Springs<S> {
    /// The GPU.
    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// True if the springs have friction.
    pub(crate) fn has_friction(&self) -> bool {
        self.skin.friction.is_some()
    }

    /// The program that steps environments with an object; with `is_random` their parameters differ.
    pub(crate) fn step_program(&self, object: &GpuObject, is_random: bool) -> Program {
        program(Some(object.cast_kind), object.levels, Time::steps(is_random), S::PRECISION)
    }

    /// The program that steps environments with several objects, or objects of different shapes, whose hierarchies have at most
    /// that number of levels.
    pub(crate) fn objects_program(&self, levels: usize, is_random: bool) -> Program {
        program(None, levels, Time::steps(is_random), S::PRECISION)
    }
}

impl SpringSkin {
    /// The numbers in single precision; the arrays are missing.
    fn in_single(&self) -> SpringSkin<f32> {
        SpringSkin {
            max_penetration: f32::rounded(self.max_penetration),
            stiffness_texel: f32::rounded(self.stiffness_texel),
            stiffness_area: f32::rounded(self.stiffness_area),
            damping_texel: f32::rounded(self.damping_texel),
            damping_area: f32::rounded(self.damping_area),
            conservative: f32::rounded(self.conservative),
            friction: self.friction.in_single(),
            table_rows: self.table_rows,
            count: self.count,
            table_per_area: self.table_per_area,
            ..SpringSkin::default()
        }
    }
}

impl From<&skin::SpringParameters> for SpringSkin {
    fn from(parameters: &skin::SpringParameters) -> Self {
        let mut skin = Self {
            max_penetration: parameters.max_penetration_m,
            conservative: if parameters.law == Law::Conservative { 1.0 } else { 0.0 },
            friction: parameters.friction.into(),
            ..Self::default()
        };
        match parameters.elasticity {
            Elasticity::PerTexel(k) => skin.stiffness_texel = k,
            Elasticity::PerArea(k) => skin.stiffness_area = k,
            Elasticity::TexelTable(_) => {}
            Elasticity::AreaTable(_) => skin.table_per_area = 1,
        }
        match parameters.damping {
            Damping::PerTexel(c) => skin.damping_texel = c,
            Damping::PerArea(c) => skin.damping_area = c,
        }
        skin
    }
}

impl TaxelWeights {
    /// The weights; `None` if spring i is taxel i and no force is outside the taxels.
    fn new(gpu: &Arc<Gpu>, springs: &skin::Springs, taxels: &Taxels) -> Result<Option<Self>, GpuError> {
        let mut rows = vec![Vec::new(); taxels.len() + 1];
        for (site, place) in springs.sites().iter().enumerate() {
            let (parts, outside) = taxels.shares(place.point);
            for (taxel, weight) in parts {
                rows[taxel].push((site as u32, weight));
            }
            if outside != 0.0 {
                rows[taxels.len()].push((site as u32, outside));
            }
        }
        let (outside, own) = (&rows[taxels.len()], &rows[..taxels.len()]);
        if outside.is_empty() && own.iter().enumerate().all(|(taxel, row)| row[..] == [(taxel as u32, 1.0)]) {
            return Ok(None);
        }
        let (mut starts, mut sites, mut weights) = (vec![0u32], Vec::new(), Vec::new());
        for row in &rows {
            sites.extend(row.iter().map(|part| part.0));
            weights.extend(row.iter().map(|part| part.1));
            starts.push(sites.len() as u32);
        }
        Ok(Some(Self { starts: gpu.upload(&starts)?, sites: gpu.upload(&sites)?, weights: gpu.upload(&weights)? }))
    }

    /// A copy in single precision.
    fn in_single(&self) -> Result<TaxelWeights<f32>, GpuError> {
        let (starts, sites) = (self.starts.duplicate()?, self.sites.duplicate()?);
        Ok(TaxelWeights { starts, sites, weights: self.weights.in_single()? })
    }
}

/// Objects at rest, or in time in equal environments or in environments with parameters of their own.
#[derive(Clone, Copy, PartialEq)]
enum Time {
    Rest,
    Steps,
    RandomSteps,
}

impl Time {
    fn steps(is_random: bool) -> Self {
        if is_random { Self::RandomSteps } else { Self::Steps }
    }
}

/// The value of KIND for all kinds of objects, as in common.cuh.
const ANY: i32 = 7;

/// The kernels for one kind of object, or for all, at rest or in time. Meshes with a deep hierarchy need the large stack.
fn program(kind: Option<SurfaceKind>, levels: usize, time: Time, precision: Precision) -> Program {
    let is_deep = kind.is_none_or(|kind| kind == SurfaceKind::Mesh) && levels > LEVELS[0];
    let (kind, name) = kind.map_or((ANY, "objects"), |kind| (kind as i32, SurfaceKind::CAST[kind as usize].1));
    let deep = if is_deep { "deep-" } else { "" };
    let (steps, is_random) = match time {
        Time::Rest => ("", 0),
        Time::Steps => ("-steps", 0),
        Time::RandomSteps => ("-random-steps", 1),
    };
    // Each level leaves three children on the stack, and the last level four.
    let stack = 3 * LEVELS[usize::from(is_deep)] + 4;
    let in_time = time != Time::Rest;
    let [kind_option, step, random, stack] = [
        format!("-DKIND={kind}"),
        format!("-DSTEP={}", i32::from(in_time)),
        format!("-DRANDOM={is_random}"),
        format!("-DSTACK={stack}"),
    ];
    let single = if precision == Precision::Single { "-single" } else { "" };
    let name = format!("springs-{deep}{name}{steps}{single}");
    let source = if in_time { STEP_SOURCE } else { SOURCE };
    // Unfused also in single precision: neighbouring triangles must agree on which side of their edge a ray passes.
    Program::new(name, source, &[&kind_option, &step, &random, &stack, &precision.option(), UNFUSED])
}

#[cfg(test)]
pub(super) fn programs() -> Vec<Program> {
    let kinds = SurfaceKind::CAST.map(|(kind, _)| (kind, 0)).into_iter().chain([(SurfaceKind::Mesh, LEVELS[1])]);
    let shapes: Vec<_> =
        kinds.map(|(kind, levels)| (Some(kind), levels)).chain(LEVELS.map(|levels| (None, levels))).collect();
    let rest = shapes
        .iter()
        .filter(|(kind, _)| kind.is_some())
        .map(|&(kind, levels)| program(kind, levels, Time::Rest, Precision::Double));
    let steps = shapes.iter().flat_map(|&(kind, levels)| {
        [Time::Steps, Time::RandomSteps].into_iter().flat_map(move |time| {
            [Precision::Single, Precision::Double].map(|precision| program(kind, levels, time, precision))
        })
    });
    rest.chain(steps).collect()
}
