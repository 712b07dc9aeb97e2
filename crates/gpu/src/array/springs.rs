//! Springs on the GPU.

use super::description::{Rubbing, SpringDescription, Stiffness};
use super::poses::Poses;
use super::presses::{Presses, Rooms};
use super::shape::{RawShape, Shape};
use super::{UNFUSED, address, grid, room, upload};
use crate::kind::Kind;
use crate::{Gpu, GpuError};
use cudarc::driver::{CudaFunction, CudaSlice, CudaView, DeviceRepr, LaunchConfig, PushKernelArg};
use dermis_geometry::Vec3;
use std::sync::Arc;

const SOURCE: &str = concat!(include_str!("shape.cu"), include_str!("springs.cu"));
/// Presses of a block, a warp each.
const WARPS: usize = 8;
const THREADS: u32 = 32 * WARPS as u32;
/// What forces of springs may take besides (bytes) while they are shared out.
const SCRATCH_BYTES: usize = 1 << 29;

/// An array of springs, ready to be pressed.
#[derive(Debug)]
pub struct Springs {
    pub(super) gpu: Arc<Gpu>,
    pub(super) sites: usize,
    pub(super) taxels: usize,
    raw: RawSkin,
    sharing: Option<Sharing>,
    normals: CudaSlice<f64>,
    /// What `raw` points to.
    _held: [CudaSlice<f64>; 2],
}

/// Which springs a taxel feels.
#[derive(Debug)]
struct Sharing {
    starts: CudaSlice<u32>,
    from: CudaSlice<u32>,
    weights: CudaSlice<f64>,
}

/// `Skin` of the kernels.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct RawSkin {
    depth: f64,
    stiffness_texel: f64,
    stiffness_area: f64,
    damping_texel: f64,
    damping_area: f64,
    slanted: f64,
    sigma0: f64,
    sigma1: f64,
    viscous: f64,
    mu_static: f64,
    mu_dynamic: f64,
    speed: f64,
    sites: u64,
    taxel_normals: u64,
    table: u64,
    rows: u32,
    count: u32,
    table_per_area: i32,
    friction: i32,
}

// SAFETY: numbers and addresses, laid out as in C.
#[allow(unsafe_code)]
unsafe impl DeviceRepr for RawSkin {}

/// Vectors axis by axis.
fn by_axis(vectors: impl Iterator<Item = Vec3> + Clone) -> impl Iterator<Item = f64> {
    (0..3).flat_map(move |axis| vectors.clone().map(move |vector| vector[axis]))
}

impl Springs {
    /// Puts an array on the GPU.
    pub fn new(gpu: &Arc<Gpu>, description: &SpringDescription) -> Result<Self, GpuError> {
        let SpringDescription { sites, cells, .. } = description;
        let mut numbers: Vec<f64> = by_axis(sites.iter().map(|site| site.point)).collect();
        numbers.extend(by_axis(sites.iter().map(|site| site.normal)));
        numbers.extend(sites.iter().map(|site| site.area_m2));
        numbers.extend(sites.iter().map(|site| site.share));
        let normals = upload(gpu, &by_axis(cells.normals.iter().copied()).collect::<Vec<_>>())?;
        let table = match &description.stiffness {
            Stiffness::Table { depth_m, load, .. } => [&depth_m[..], &load[..]].concat(),
            _ => Vec::new(),
        };
        let held = [upload(gpu, &numbers)?, upload(gpu, &table)?];
        let one_to_one = cells.is_one_to_one();
        let sharing = if one_to_one { None } else { Some(Sharing::new(gpu, description)?) };
        let raw = RawSkin {
            sites: address(gpu, &held[0]),
            taxel_normals: if one_to_one { address(gpu, &normals) } else { 0 },
            table: address(gpu, &held[1]),
            ..numbers_of(description)
        };
        Ok(Self {
            gpu: Arc::clone(gpu),
            sites: sites.len(),
            taxels: cells.normals.len(),
            raw,
            sharing,
            normals,
            _held: held,
        })
    }

    /// Holds an object at each pose until nothing changes any more, from rest.
    pub fn settle(&self, shape: &Shape, poses: &Poses) -> Result<Presses, GpuError> {
        self.press(shape, poses, false, |kernel, launch| {
            let Launch { raw, shape, poses, count, forces, values, wrench, saturated, config } = launch;
            // SAFETY: the buffers are as long as the kernel's first comment says, for `count` presses.
            #[allow(unsafe_code)]
            unsafe {
                self.gpu
                    .stream
                    .launch_builder(kernel)
                    .arg(raw)
                    .arg(shape)
                    .arg(&poses)
                    .arg(&count)
                    .arg(&forces)
                    .arg(&values)
                    .arg(&wrench)
                    .arg(&saturated)
                    .launch(config)?;
            }
            Ok(())
        })
    }

    /// Runs the kernel over all presses, at once or part by part, and shares the forces out.
    pub(super) fn press(
        &self,
        shape: &Shape,
        poses: &Poses,
        in_time: bool,
        launch: impl Fn(&CudaFunction, Launch<'_>) -> Result<(), GpuError>,
    ) -> Result<Presses, GpuError> {
        let (gpu, count) = (&self.gpu, poses.count);
        let program = program(gpu, shape, in_time)?;
        let kernel = program.load_function("springs")?;
        let at_once = match self.sharing {
            None => count,
            Some(_) => (SCRATCH_BYTES / (24 * self.sites)).clamp(1, count.max(1)),
        };
        let scratch_bytes = if self.sharing.is_some() { 24 * self.sites * at_once } else { 0 };
        let mut rooms = Rooms::new(gpu, count, self.taxels, scratch_bytes)?;
        if count == 0 {
            return Ok(rooms.done(gpu, 0, self.taxels));
        }
        let scratch = if self.sharing.is_some() { Some(room(gpu, 3 * self.sites * at_once)?) } else { None };
        if self.sharing.is_none() {
            gpu.stream.memset_zeros(&mut rooms.outside)?;
        }
        for first in (0..count).step_by(at_once.max(1)) {
            let part = at_once.min(count - first);
            let forces = scratch.as_ref().unwrap_or(&rooms.forces);
            launch(
                &kernel,
                Launch {
                    raw: &self.raw,
                    shape: &shape.raw(),
                    poses: poses.values.slice(7 * first..),
                    count: part as u32,
                    forces: forces.as_view(),
                    values: rooms.values.slice(self.taxels * first..),
                    wrench: rooms.wrench.slice(6 * first..),
                    saturated: rooms.saturated.slice(first..),
                    config: grid(part, WARPS, THREADS),
                },
            )?;
            if let (Some(sharing), Some(scratch)) = (&self.sharing, &scratch) {
                let share_out = program.load_function("share_out")?;
                let (taxels, sites, n) = (self.taxels as u32, self.sites as u32, part as u32);
                let (forces, values) =
                    (rooms.forces.slice(3 * self.taxels * first..), rooms.values.slice(self.taxels * first..));
                let outside = rooms.outside.slice(3 * first..);
                // SAFETY: the rows of the sharing name springs below `sites`, and the buffers hold `part` presses from here on.
                #[allow(unsafe_code)]
                unsafe {
                    gpu.stream
                        .launch_builder(&share_out)
                        .arg(&sharing.starts)
                        .arg(&sharing.from)
                        .arg(&sharing.weights)
                        .arg(&taxels)
                        .arg(&sites)
                        .arg(&n)
                        .arg(scratch)
                        .arg(&self.normals)
                        .arg(&forces)
                        .arg(&values)
                        .arg(&outside)
                        .launch(grid(part * (self.taxels + 1), THREADS as usize, THREADS))?;
                }
            }
        }
        Ok(rooms.done(gpu, count, self.taxels))
    }
}

/// What a launch of the kernel is given.
pub(super) struct Launch<'a> {
    pub raw: &'a RawSkin,
    pub shape: &'a RawShape,
    pub poses: CudaView<'a, f64>,
    pub count: u32,
    pub forces: CudaView<'a, f64>,
    pub values: CudaView<'a, f64>,
    pub wrench: CudaView<'a, f64>,
    pub saturated: CudaView<'a, u32>,
    pub config: LaunchConfig,
}

fn numbers_of(description: &SpringDescription) -> RawSkin {
    let (stiffness_texel, stiffness_area, rows, table_per_area) = match &description.stiffness {
        Stiffness::PerTexel(k) => (*k, 0.0, 0, false),
        Stiffness::PerArea(k) => (0.0, *k, 0, false),
        Stiffness::Table { depth_m, per_area, .. } => (0.0, 0.0, depth_m.len(), *per_area),
    };
    let (friction, [sigma0, sigma1, viscous, mu_static, mu_dynamic, speed]) = match description.rubbing {
        Rubbing::None => (0, [0.0; 6]),
        Rubbing::Lugre {
            stiffness_newton_per_m,
            damping_newton_s_per_m,
            viscous_newton_s_per_m,
            mu_static,
            mu_dynamic,
            stribeck_m_per_s,
        } => (
            1,
            [
                stiffness_newton_per_m,
                damping_newton_s_per_m,
                viscous_newton_s_per_m,
                mu_static,
                mu_dynamic,
                stribeck_m_per_s,
            ],
        ),
        Rubbing::Coulomb { mu, regularisation_m_per_s } => (2, [0.0, 0.0, 0.0, mu, mu, regularisation_m_per_s]),
    };
    RawSkin {
        depth: description.depth_m,
        stiffness_texel,
        stiffness_area,
        damping_texel: description.damping_per_texel,
        damping_area: description.damping_per_area,
        slanted: if description.conservative { 1.0 } else { 0.0 },
        sigma0,
        sigma1,
        viscous,
        mu_static,
        mu_dynamic,
        speed,
        sites: 0,
        taxel_normals: 0,
        table: 0,
        rows: rows as u32,
        count: description.sites.len() as u32,
        table_per_area: i32::from(table_per_area),
        friction,
    }
}

impl Sharing {
    fn new(gpu: &Gpu, description: &SpringDescription) -> Result<Self, GpuError> {
        let cells = &description.cells;
        let (mut starts, mut from, mut weights) = (vec![0u32], Vec::new(), Vec::new());
        for row in cells.felt.iter().chain([&cells.outside]) {
            from.extend(row.iter().map(|part| part.0));
            weights.extend(row.iter().map(|part| part.1));
            starts.push(from.len() as u32);
        }
        Ok(Self { starts: upload(gpu, &starts)?, from: upload(gpu, &from)?, weights: upload(gpu, &weights)? })
    }
}

/// The kernels for one kind of object: what is not needed would only take registers.
fn program(gpu: &Gpu, shape: &Shape, in_time: bool) -> Result<Arc<cudarc::driver::CudaModule>, GpuError> {
    /// Levels of a hierarchy whose walk fits into the small stack.
    const SHALLOW: usize = 13;
    let deep = shape.kind == Kind::Mesh && shape.tree.levels > SHALLOW;
    let name = NAMES[2 * usize::from(deep) + usize::from(in_time)][shape.kind as usize];
    // Three wait at each level, and the four of the last.
    let stack = if deep { 3 * 82 + 4 } else { 3 * SHALLOW + 4 };
    let options =
        [format!("-DKIND={}", shape.kind as i32), format!("-DSTEP={}", i32::from(in_time)), format!("-DSTACK={stack}")];
    let options: Vec<&str> = options.iter().map(String::as_str).chain([UNFUSED]).collect();
    gpu.program(name, SOURCE, &options)
}

const NAMES: [[&str; 6]; 4] = [
    ["springs-ball", "springs-ellipsoid", "springs-cuboid", "springs-cylinder", "springs-capsule", "springs-mesh"],
    [
        "springs-ball-steps",
        "springs-ellipsoid-steps",
        "springs-cuboid-steps",
        "springs-cylinder-steps",
        "springs-capsule-steps",
        "springs-mesh-steps",
    ],
    ["", "", "", "", "", "springs-deep-mesh"],
    ["", "", "", "", "", "springs-deep-mesh-steps"],
];
