//! A gel that comes to rest on a GPU.

use super::tacchi::GpuTacchiGel;
use crate::gel::{Body, Constitution, Hold, Level, Outcome, Point, Press, Spot, Spring, Way};
use crate::{Gpu, GpuError};
use dermis_geometry::Surface;
use dermis_sensor::Sensor;
use dermis_skin::gel::{self, Face, Plan, PlanSpot, Precision, Pressed, Rest, TacchiGel, Work};
use dermis_skin::{Gel, Motion, Skin, SkinError, State, Support, Touch};
use std::any::Any;
use std::sync::Arc;

/// A gel whose rest is looked for on a GPU; where it moves, it does so on the CPU.
#[derive(Debug)]
pub struct GpuGel {
    gel: Gel,
    press: Press,
}

/// True when a sensor's skin is a gel.
pub fn has_gel(sensor: &Sensor) -> bool {
    let skin: &dyn Any = sensor.skin();
    skin.is::<TacchiGel>() || skin.is::<Gel>()
}

/// A sensor with its gel on a GPU; none where its skin is no gel.
pub fn with_gel_on(gpu: &Arc<Gpu>, sensor: &Sensor) -> Result<Option<Sensor>, GpuError> {
    let skin: &dyn Any = sensor.skin();
    if let Some(paper) = skin.downcast_ref::<TacchiGel>() {
        return Ok(Some(sensor.with_skin(GpuTacchiGel::new(gpu, paper.clone()))));
    }
    let Some(gel) = skin.downcast_ref::<Gel>() else { return Ok(None) };
    Ok(Some(sensor.with_skin(GpuGel::new(gpu, gel.clone())?)))
}

impl GpuGel {
    /// Puts a gel on a GPU.
    pub fn new(gpu: &Arc<Gpu>, gel: Gel) -> Result<Self, GpuError> {
        Ok(Self { press: Press::new(gpu, &body(&gel.plan()))?, gel })
    }

    /// The gel.
    pub fn gel(&self) -> &Gel {
        &self.gel
    }

    /// [`Gel::equilibrium`] on the GPU, and how long (s) the GPU took.
    pub fn equilibrium(&self, state: &State, motion: &Motion<'_>) -> Result<(Touch, State, Work, f64), SkinError> {
        let task = self.gel.task(state, motion)?;
        let holds: Vec<Hold> = task.holds.iter().map(hold_there).collect();
        let surfaces: Vec<&Surface> = motion.targets.iter().map(|target| &target.object.surface).collect();
        let level = |precision: Precision| Level { residual: precision.residual, gap_m: precision.gap_m };
        let way = Way {
            surfaces: &surfaces,
            poses: &task.poses,
            levels: task.precision.map(level),
            nodes: &task.nodes,
            holds: &holds,
        };
        let outcome = self.press.rest(&way)?;
        if outcome.inverted {
            return Err(SkinError::BadGel { key: "state", rule: "holds a gel that is turned inside out".to_owned() });
        }
        let gpu_s = outcome.gpu_s;
        let (touch, state, work) = self.gel.rested(motion, rest(outcome, task.poses.len() - 1))?;
        Ok((touch, state, work, gpu_s))
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
}

fn spot(spot: &PlanSpot) -> Spot {
    Spot { cell: spot.cell, weights: spot.weights }
}

fn body(plan: &Plan) -> Body {
    let (lambda, mu) = plan.parameters.lame_pa();
    let faces = [Face::LowX, Face::HighX, Face::LowY, Face::HighY, Face::Bottom];
    Body {
        cells: plan.cells,
        cell_m: plan.cell_m,
        bonded: faces.map(|face| plan.bonds.holds(face)),
        constitution: match plan.parameters.constitution {
            gel::Constitution::NeoHookean => Constitution::NeoHookean,
            gel::Constitution::FixedCorotated => Constitution::FixedCorotated,
            gel::Constitution::Linear => Constitution::Linear,
        },
        lame_pa: [lambda, mu],
        fill: plan.fill.clone(),
        diagonal: plan.diagonal.clone(),
        points: plan
            .points
            .iter()
            .map(|point| Point { rest: point.rest, area_m2: point.area_m2, spot: spot(&point.spot) })
            .collect(),
        springs: plan
            .springs
            .iter()
            .map(|spring| Spring { newton_per_m: spring.stiffness_newton_per_m, spot: spot(&spring.spot) })
            .collect(),
        contact_pa_per_m: plan.contact_pa_per_m,
        friction: plan.parameters.friction.mu(),
        reach_m: plan.reach_m,
    }
}

fn hold_there(hold: &gel::Hold) -> Hold {
    let gel::Hold { point, object, pressure_pa, anchor } = *hold;
    Hold { point, object, pressure_pa, anchor }
}

fn rest(outcome: Outcome, loads: usize) -> Rest {
    let [newton, conjugate, updates] = outcome.steps;
    Rest {
        nodes: outcome.nodes,
        holds: outcome
            .holds
            .iter()
            .map(|&Hold { point, object, pressure_pa, anchor }| gel::Hold { point, object, pressure_pa, anchor })
            .collect(),
        pressed: outcome
            .near
            .iter()
            .map(|near| Pressed {
                point: near.point,
                object: near.object,
                at: near.at,
                distance_m: near.distance_m,
                normal: near.normal,
                press_newton: near.press_newton,
                rub_newton: near.rub_newton,
            })
            .collect(),
        forces: outcome.forces,
        strain_j: outcome.strain_j,
        work: Work { loads, newton, conjugate, updates, residual: outcome.residual },
    }
}
