//! Arrays of springs and pads on a GPU: many presses of one object at once.

use crate::array::{
    Cells, PadDescription, Pads, Poses, Presses, Rubbing, Shape, SpringDescription, SpringSite, Springs, Steps,
    Stiffness, Stretch, Tetrahedron, Twists,
};
use crate::{Gpu, GpuError};
use dermis_geometry::{Pose, Twist};
use dermis_sensor::Sensor;
use dermis_skin::hydroelastic::{
    Cell, Compliance, DEEPEST, Hydroelastic, Piece, PressureFieldShape as FieldShape, TetField,
};
use dermis_skin::{self as skin, Damping, Elasticity, Friction, Law, Object};
use std::any::Any;
use std::sync::Arc;

/// The taxels of a sensor on a GPU.
#[derive(Debug)]
pub struct Arrays {
    gpu: Arc<Gpu>,
    sensor: String,
    skin: OnGpu,
}

#[derive(Debug)]
enum OnGpu {
    Springs(Springs),
    Pads(Pads),
}

/// An object on a GPU, for [`Arrays`].
#[derive(Debug)]
pub struct Thing {
    shape: Shape,
    rigid: bool,
}

impl Thing {
    /// Puts an object on the GPU.
    pub fn new(gpu: &Arc<Gpu>, object: &Object) -> Result<Self, GpuError> {
        Ok(Self { shape: Shape::new(gpu, &object.surface)?, rigid: object.compliance.is_none() })
    }
}

impl Arrays {
    /// Puts a sensor on the GPU: springs of any shape, or a hydroelastic pad over a grid. Refuses others.
    pub fn new(gpu: &Arc<Gpu>, sensor: &Sensor) -> Result<Self, GpuError> {
        let refuse = |why: &str| unsupported(sensor.name(), why);
        if sensor.rays().is_some() {
            return Err(refuse("its taxels read by rays"));
        }
        let found: &dyn Any = sensor.skin();
        let skin = if let Some(springs) = found.downcast_ref::<skin::Springs>() {
            OnGpu::Springs(Springs::new(gpu, &springs_of(springs, sensor))?)
        } else if let Some(pad) = found.downcast_ref::<Hydroelastic>() {
            let (description, depth_m) = pad_of(pad, sensor)?;
            OnGpu::Pads(Pads::new(gpu, &description, depth_m)?)
        } else {
            return Err(refuse("its skin has neither springs nor a pressure field"));
        };
        Ok(Self { gpu: Arc::clone(gpu), sensor: sensor.name().to_owned(), skin })
    }

    /// The GPU.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// Holds an object at each pose until nothing changes any more, from rest: what [`dermis_skin::Skin::settle`] does at each.
    pub fn settle(&self, thing: &Thing, poses: &Poses) -> Result<Presses, GpuError> {
        match &self.skin {
            OnGpu::Springs(springs) => springs.settle(&thing.shape, poses),
            OnGpu::Pads(pads) => {
                if !thing.rigid {
                    return Err(unsupported(&self.sensor, "the object gives too, and pads take rigid ones there"));
                }
                pads.settle(&thing.shape, poses)
            }
        }
    }

    /// Poses of the host. Refuses those that are not finite.
    pub fn poses(&self, poses: &[Pose]) -> Result<Poses, GpuError> {
        Poses::of_host(&self.gpu, poses)
    }

    /// Environments that go on in time, in which nothing has been touched yet. For springs.
    pub fn environments(self: &Arc<Self>, count: usize) -> Result<Environments, GpuError> {
        let OnGpu::Springs(springs) = &self.skin else {
            return Err(unsupported(&self.sensor, "steps in time are for springs there"));
        };
        Ok(Environments { steps: Steps::at_rest(springs, count)?, arrays: Arc::clone(self) })
    }
}

/// Many simulations of one sensor with one object each, whose history stays on the GPU.
#[derive(Debug)]
pub struct Environments {
    arrays: Arc<Arrays>,
    steps: Steps,
}

impl Environments {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.steps.environments()
    }

    /// Lets the object of each environment move for `dt_s`: what [`dermis_skin::Skin::touch`] does in each.
    pub fn step(&mut self, thing: &Thing, poses: &Poses, twists: &Twists, dt_s: f64) -> Result<Presses, GpuError> {
        let arrays = Arc::clone(&self.arrays);
        match &arrays.skin {
            OnGpu::Springs(springs) => self.steps.step(springs, &thing.shape, poses, twists, dt_s),
            OnGpu::Pads(_) => Err(unsupported(&arrays.sensor, "steps in time are for springs there")),
        }
    }

    /// Velocities of the host, relative to the sensor and at its origin.
    pub fn twists(&self, twists: &[Twist]) -> Result<Twists, GpuError> {
        if let Some(bad) = twists.iter().position(|twist| !twist.is_finite()) {
            return Err(GpuError::BadInput { reason: format!("twist {bad} is not finite") });
        }
        Twists::of_host(&self.arrays.gpu, twists)
    }

    /// Lets go in the environments for which `which` says so.
    pub fn reset(&mut self, which: &[bool]) -> Result<(), GpuError> {
        match &self.arrays.skin {
            OnGpu::Springs(springs) => self.steps.reset(springs, which),
            OnGpu::Pads(_) => Ok(()),
        }
    }
}

fn unsupported(sensor: &str, why: &str) -> GpuError {
    GpuError::Unsupported { what: format!("a press on sensor {sensor:?}"), why: why.to_owned() }
}

/// The springs of a sensor in plain numbers.
pub fn springs_of(springs: &skin::Springs, sensor: &Sensor) -> SpringDescription {
    let parameters = springs.parameters();
    let (damping_per_texel, damping_per_area) = match parameters.damping {
        Damping::PerTexel(c) => (c, 0.0),
        Damping::PerArea(c) => (0.0, c),
    };
    let table = |table: &skin::Table, per_area| Stiffness::Table {
        depth_m: table.depth_m.clone(),
        load: table.load.clone(),
        per_area,
    };
    let stiffness = match &parameters.elasticity {
        Elasticity::PerTexel(k) => Stiffness::PerTexel(*k),
        Elasticity::PerArea(k) => Stiffness::PerArea(*k),
        Elasticity::TexelTable(rows) => table(rows, false),
        Elasticity::AreaTable(rows) => table(rows, true),
    };
    let site = |site: &skin::Site| SpringSite {
        point: site.point,
        normal: site.normal,
        area_m2: site.area_m2,
        share: site.share,
    };
    SpringDescription {
        sites: springs.sites().iter().map(site).collect(),
        depth_m: parameters.max_penetration_m,
        stiffness,
        damping_per_texel,
        damping_per_area,
        conservative: parameters.law == Law::Conservative,
        rubbing: rubbing(&parameters.friction),
        cells: cells(springs, sensor),
    }
}

fn rubbing(friction: &Friction) -> Rubbing {
    match *friction {
        Friction::None => Rubbing::None,
        Friction::Lugre(l) => Rubbing::Lugre {
            stiffness_newton_per_m: l.stiffness_newton_per_m,
            damping_newton_s_per_m: l.damping_newton_s_per_m,
            viscous_newton_s_per_m: l.viscous_newton_s_per_m,
            mu_static: l.mu_static,
            mu_dynamic: l.mu_dynamic,
            stribeck_m_per_s: l.stribeck_m_per_s,
        },
        Friction::Coulomb(c) => Rubbing::Coulomb { mu: c.mu, regularisation_m_per_s: c.regularisation_m_per_s },
    }
}

/// Which taxel feels which spring.
fn cells(springs: &skin::Springs, sensor: &Sensor) -> Cells {
    let taxels = sensor.taxels();
    let mut cells =
        Cells { normals: taxels.normals().to_vec(), felt: vec![Vec::new(); taxels.len()], outside: Vec::new() };
    for (index, site) in springs.sites().iter().enumerate() {
        let (parts, rest) = taxels.shares(site.point);
        for (taxel, part) in parts {
            cells.felt[taxel].push((index as u32, part));
        }
        if rest != 0.0 {
            cells.outside.push((index as u32, rest));
        }
    }
    cells
}

/// The pad of a sensor in plain numbers, and how deep (m) it is. Refuses what is no pad over a grid.
pub fn pad_of(pad: &Hydroelastic, sensor: &Sensor) -> Result<(PadDescription, f64), GpuError> {
    let refuse = |why: &str| unsupported(sensor.name(), why);
    let taxels = sensor.taxels();
    let (Some((rows, cols)), Some(pitch_m)) = (taxels.size(), taxels.pitch_m()) else {
        return Err(refuse("pressure fields are for grids of taxels there"));
    };
    let field = pad.compliance().ok_or_else(|| refuse("it is rigid"))?;
    let FieldShape::Tets(tets) = field.shape() else {
        return Err(refuse("its pressure field is not of tetrahedra"));
    };
    let description = PadDescription {
        tetrahedra: tets.cells().iter().map(tetrahedron).collect(),
        is_cut: tets.is_cut(),
        stretches: field.pieces().iter().map(stretch).collect(),
        most_pa: most_pa(field, tets),
        least_cosine: pad.parameters().angle_limit.cosine(),
        deepest: DEEPEST,
        rows,
        cols,
        pitch_m,
        height_m: taxels.height_m().unwrap_or(f64::INFINITY),
    };
    Ok((description, field.depth_m()))
}

fn tetrahedron(cell: &Cell) -> Tetrahedron {
    Tetrahedron {
        corners: cell.corners,
        extent: cell.extent[0],
        gradient: cell.gradient,
        inward: cell.inward,
        height: cell.height,
    }
}

fn stretch(piece: &Piece) -> Stretch {
    Stretch { from: piece.from, to: piece.to, at_pa: piece.at_pa, slope_pa: piece.slope_pa }
}

/// The greatest pressure (Pa) in a field.
fn most_pa(field: &Compliance, tets: &TetField) -> f64 {
    let most = tets.cells().iter().map(|cell| cell.max_extent).fold(0.0, f64::max);
    let reached = field.pieces().iter().filter(|piece| piece.from <= most);
    reached.map(|piece| piece.pressure(most)).fold(f64::MIN_POSITIVE, f64::max)
}
