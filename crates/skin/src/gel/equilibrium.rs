//! Where the gel comes to rest: Newton's method on its energy, with contact as an augmented Lagrangian.

use super::bonds::Held;
use super::contact::{Hold, Near, Plane, Point, Stiffness};
use super::elastic::Elastic;
use super::indenter::Indenter;
use super::lattice::Lattice;
use super::task::Precision;
use crate::SkinError;
use dermis_geometry::Vec3;
use rayon::prelude::*;

/// How it went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Effort {
    pub newton: usize,
    pub conjugate: usize,
    pub updates: usize,
    pub residual: f64,
    pub energy_j: f64,
}

/// Finds rest for given places of the objects.
pub(crate) struct Equilibrium<'a> {
    elastic: &'a Elastic,
    points: &'a [Point],
    pairs: &'a [(usize, usize)],
    held: &'a [Held],
    stiffness: Stiffness,
    diagonal: &'a [f64],
    /// Of points that are pressed by a plane: see [`Self::solve`].
    planes: Vec<Option<Plane>>,
    /// With which the gel resists, before what is bonded is folded in.
    force: Vec<f64>,
    tangent: Vec<f32>,
    work: [Vec<f64>; 4],
}

/// Most steps of Newton's method between two updates of the pressures.
const MAX_NEWTON: usize = 15;
/// Most updates of the pressures.
const MAX_UPDATES: usize = 8;
/// Most steps of conjugate gradients in one of Newton's.
const MAX_CONJUGATE: usize = 600;

/// A residual, of the load, that is no rest.
pub(crate) const LOST: f64 = 0.05;

struct Evaluated {
    energy: f64,
    near: Vec<Near>,
    residual: Vec<f64>,
    /// Norm of the contact forces on the nodes.
    load: f64,
}

impl<'a> Equilibrium<'a> {
    pub fn new(
        elastic: &'a Elastic,
        points: &'a [Point],
        pairs: &'a [(usize, usize)],
        held: &'a [Held],
        diagonal: &'a [f64],
        stiffness: Stiffness,
    ) -> Self {
        let len = elastic.lattice.len();
        Self {
            elastic,
            points,
            pairs,
            held,
            stiffness,
            diagonal,
            planes: vec![None; points.len()],
            force: vec![0.0; len],
            tangent: vec![0.0; elastic.tangent_len()],
            work: std::array::from_fn(|_| vec![0.0; len]),
        }
    }

    /// Moves the nodes (`u`) to equilibrium and the points' memory with them, as objects go from where they were to where they are.
    ///
    /// What is pressed by a face when an object comes stays before that face: a narrow thing must not pass between two points, each of which
    /// is nearer to one of its sides. So the first rest is looked for between the planes that the points were before, and these stay where
    /// they are needed. At a sharp edge the nearest face changes, and with it the direction of the force: Newton's method can come to a halt
    /// there. From then on every point has a plane, that of the object where the point was at the last update.
    pub fn solve(
        &mut self,
        u: &mut [f64],
        holds: &mut Vec<Hold>,
        [before, indenters]: [&[Indenter<'_>]; 2],
        tolerance: &Precision,
        effort: &mut Effort,
    ) -> Result<Vec<Near>, SkinError> {
        self.planes = self.nearest_planes(u, before);
        self.planes.par_iter_mut().flatten().for_each(|plane| *plane = plane.moved(before, indenters));
        let mut most = MAX_UPDATES;
        let mut was_stuck = false;
        let mut update = 0;
        loop {
            // The first pressures are guesses: no need to rest on them long.
            let residual = if update == 0 { tolerance.residual.max(1e-2) } else { tolerance.residual };
            let near = self.newton(u, holds, indenters, residual, effort)?;
            effort.updates += 1;
            update += 1;
            let stuck = effort.residual > residual;
            let left = mean_gap_m(&near);
            let slack = self.friction_lag(&near, holds);
            let done = (left <= tolerance.gap_m && slack <= 0.01 && !stuck) || update >= most;
            *holds = self.remember(&near, holds, indenters, done);
            if done && update > 1 {
                return Ok(near);
            }
            if stuck && !was_stuck {
                was_stuck = true;
                most = update + MAX_UPDATES;
            }
            self.planes = self.next_planes(u, indenters, was_stuck);
        }
    }

    /// The planes of the objects where the points are.
    fn nearest_planes(&self, u: &[f64], indenters: &[Indenter<'_>]) -> Vec<Option<Plane>> {
        let (lattice, stiffness) = (&self.elastic.lattice, &self.stiffness);
        let plane = |(index, point): (usize, &Point)| {
            let at = point.rest + lattice.at(u, &point.spot);
            let (near, _) = Near::look(index as u32, point.area_m2, at, indenters, None, stiffness)?;
            Some(near.plane())
        };
        self.points.par_iter().enumerate().map(plane).collect()
    }

    /// The planes for the next update: those that stay, and, where `all` is wanted, the nearest of the other points.
    fn next_planes(&self, u: &[f64], indenters: &[Indenter<'_>], all: bool) -> Vec<Option<Plane>> {
        let (lattice, reach_m) = (&self.elastic.lattice, self.stiffness.reach_m);
        let next = |(index, nearest): (usize, Option<Plane>)| {
            let nearest = nearest?;
            let point = &self.points[index];
            let at = point.rest + lattice.at(u, &point.spot);
            match self.planes[index] {
                Some(plane) if plane.stays(at, &nearest, indenters, reach_m) => Some(plane),
                _ => all.then_some(nearest),
            }
        };
        self.nearest_planes(u, indenters).into_par_iter().enumerate().map(next).collect()
    }

    /// By how much the bounds of friction lag behind the pressures, of the whole load.
    fn friction_lag(&self, near: &[Near], holds: &[Hold]) -> f64 {
        if self.stiffness.mu == 0.0 || near.is_empty() {
            return 0.0;
        }
        let (mut lag, mut load) = (0.0, 0.0);
        for near in near {
            let area = self.points[near.point as usize].area_m2;
            let known = find(holds, near.point).map_or(0.0, |hold| hold.pressure_pa * area);
            lag += (near.press_newton - known).abs();
            load += near.press_newton;
        }
        if load > 0.0 { lag / load } else { 0.0 }
    }

    fn remember(&self, near: &[Near], holds: &[Hold], indenters: &[Indenter<'_>], settled: bool) -> Vec<Hold> {
        near.iter()
            .filter_map(|near| {
                let area = self.points[near.point as usize].area_m2;
                near.hold(area, find(holds, near.point), indenters, &self.stiffness, settled)
            })
            .collect()
    }

    fn newton(
        &mut self,
        u: &mut [f64],
        holds: &[Hold],
        indenters: &[Indenter<'_>],
        tolerance: f64,
        effort: &mut Effort,
    ) -> Result<Vec<Near>, SkinError> {
        let mut here = self.evaluate(u, holds, indenters);
        if !here.energy.is_finite() {
            return Err(SkinError::BadGel { key: "state", rule: "holds a gel that is turned inside out".to_owned() });
        }
        let mut trial = vec![0.0; u.len()];
        for _ in 0..MAX_NEWTON {
            let norm = norm(&here.residual);
            effort.residual = if here.load > 0.0 { norm / here.load } else { 0.0 };
            effort.energy_j = here.energy;
            if norm <= tolerance * here.load.max(f64::MIN_POSITIVE) || norm == 0.0 {
                return Ok(here.near);
            }
            let forcing = (0.3 * tolerance * here.load / norm).clamp(1e-2, 0.2);
            let (step, slope) = self.conjugate(&here, forcing, effort);
            effort.newton += 1;
            let mut part = 1.0;
            let next = loop {
                for ((trial, u), step) in trial.iter_mut().zip(u.iter()).zip(&step) {
                    *trial = u + part * step;
                }
                let there = self.evaluate(&trial, holds, indenters);
                // Close to rest the change of energy drowns in rounding.
                let rounding = 1e-13 * here.energy.abs();
                if there.energy <= here.energy - 1e-4 * part * slope + rounding {
                    break Some(there);
                }
                part *= 0.5;
                if part < 1e-4 {
                    break None;
                }
            };
            match next {
                Some(there) => {
                    u.copy_from_slice(&trial);
                    here = there;
                }
                None => {
                    // No way down: as far as rounding lets it go, or an edge on which contact cannot decide.
                    return Ok(here.near);
                }
            }
        }
        Ok(here.near)
    }

    fn evaluate(&mut self, u: &[f64], holds: &[Hold], indenters: &[Indenter<'_>]) -> Evaluated {
        let lattice = &self.elastic.lattice;
        let looked: Vec<Option<(Near, f64)>> = self
            .points
            .par_iter()
            .enumerate()
            .map(|(index, point)| {
                let at = point.rest + lattice.at(u, &point.spot);
                let (hold, number) = (find(holds, index as u32), index as u32);
                match &self.planes[index] {
                    None => Near::look(number, point.area_m2, at, indenters, hold, &self.stiffness),
                    Some(plane) => {
                        Some(Near::look_at_plane(number, point.area_m2, at, plane, indenters, hold, &self.stiffness))
                    }
                }
            })
            .collect();
        let mut residual = vec![0.0; u.len()];
        let mut near = Vec::new();
        let mut energy = 0.0;
        for (found, part) in looked.into_iter().flatten() {
            energy += part;
            if found.press_newton > 0.0 || found.rub_newton != Vec3::ZERO {
                lattice.spread(&mut residual, &self.points[found.point as usize].spot, found.force());
            }
            near.push(found);
        }
        self.fold(&mut residual);
        let load = norm(&residual);
        for held in self.held {
            let away = lattice.at(u, &held.spot);
            energy += 0.5 * held.stiffness_newton_per_m * away.length_squared();
            lattice.spread(&mut residual, &held.spot, away * -held.stiffness_newton_per_m);
        }
        self.force.fill(0.0);
        energy += self.elastic.stress(u, &mut self.force, &mut self.tangent);
        for (residual, force) in residual.iter_mut().zip(&self.force) {
            *residual -= force;
        }
        self.fold(&mut residual);
        Evaluated { energy, near, residual, load }
    }

    /// Strain energy (J) of displacements `u`.
    pub fn strain_j(&mut self, u: &[f64]) -> f64 {
        self.force.fill(0.0);
        self.elastic.stress(u, &mut self.force, &mut self.tangent)
    }

    /// The force (N) on what the bottom is bonded to, for the displacements of which [`Self::strain_j`] was asked last.
    pub fn on_base(&self, near: &[Near], columns: [usize; 2]) -> Vec<Vec3> {
        on_base(&self.elastic.lattice, self.points, &self.force, near, columns)
    }

    /// Conjugate gradients with the diagonal of the undeformed gel and of the contact. Returns the step and its slope.
    fn conjugate(&mut self, here: &Evaluated, forcing: f64, effort: &mut Effort) -> (Vec<f64>, f64) {
        let lattice = &self.elastic.lattice;
        let touching: Vec<&Near> =
            here.near.iter().filter(|near| near.press_newton > 0.0 || near.rub_stiffness.0 > 0.0).collect();
        let mut inverse = self.diagonal.to_vec();
        for near in &touching {
            let point = &self.points[near.point as usize];
            let n = near.gap.normal;
            let k = self.stiffness.normal * point.area_m2;
            lattice.spread_squared(&mut inverse, &point.spot, n * n * k + near.rub_stiffness.0 * (1.0 - n * n));
        }
        for value in &mut inverse {
            *value = if *value > 0.0 { 1.0 / *value } else { 0.0 };
        }
        for &(ghost, _) in self.pairs {
            for c in 0..3 {
                inverse[ghost + c * lattice.component()] = 0.0;
            }
        }
        let [mut r, mut p, mut q, mut z] = std::mem::take(&mut self.work);
        let mut step = vec![0.0; r.len()];
        r.copy_from_slice(&here.residual);
        multiply(&mut z, &inverse, &r);
        p.copy_from_slice(&z);
        let mut rho = dot(&r, &z);
        let goal = forcing * forcing * rho;
        for _ in 0..MAX_CONJUGATE {
            self.unfold(&mut p);
            q.fill(0.0);
            self.elastic.product(&self.tangent, &p, &mut q);
            for near in &touching {
                let point = &self.points[near.point as usize];
                let force = near.resist(lattice.at(&p, &point.spot), point.area_m2, &self.stiffness);
                lattice.spread(&mut q, &point.spot, force);
            }
            for held in self.held {
                lattice.spread(&mut q, &held.spot, lattice.at(&p, &held.spot) * held.stiffness_newton_per_m);
            }
            self.fold(&mut q);
            let curvature = dot(&p, &q);
            effort.conjugate += 1;
            if curvature <= 0.0 {
                if step.iter().all(|s| *s == 0.0) {
                    step.copy_from_slice(&p);
                }
                break;
            }
            let alpha = rho / curvature;
            axpy(&mut step, alpha, &p);
            axpy(&mut r, -alpha, &q);
            multiply(&mut z, &inverse, &r);
            let next = dot(&r, &z);
            if next <= goal {
                break;
            }
            let beta = next / rho;
            rho = next;
            p.par_iter_mut().with_min_len(CHUNK).zip(&z).for_each(|(p, z)| *p = z + beta * *p);
        }
        self.work = [r, p, q, z];
        self.unfold(&mut step);
        let slope = dot(&step, &here.residual);
        (step, slope)
    }

    /// Gives the nodes outside bonded borders the values that keep the border still.
    fn unfold(&self, values: &mut [f64]) {
        let component = self.elastic.lattice.component();
        for &(ghost, inner) in self.pairs {
            for c in 0..3 {
                values[ghost + c * component] = -values[inner + c * component];
            }
        }
    }

    /// The transpose of [`Self::unfold`].
    fn fold(&self, values: &mut [f64]) {
        let component = self.elastic.lattice.component();
        for &(ghost, inner) in self.pairs.iter().rev() {
            for c in 0..3 {
                values[inner + c * component] -= values[ghost + c * component];
                values[ghost + c * component] = 0.0;
            }
        }
    }
}

/// The force (N) on what the bottom is bonded to, by columns of nodes, from the forces of the strain on the nodes: what is out of balance at
/// those on both sides of the bottom.
pub(super) fn on_base(
    lattice: &Lattice,
    points: &[Point],
    strain: &[f64],
    near: &[Near],
    [along_x, along_y]: [usize; 2],
) -> Vec<Vec3> {
    let mut residual: Vec<f64> = strain.iter().map(|force| -force).collect();
    for near in near {
        lattice.spread(&mut residual, &points[near.point as usize].spot, near.force());
    }
    let mut forces = Vec::with_capacity(along_x * along_y);
    for y in 0..along_y {
        for x in 0..along_x {
            let (outer, inner) = (lattice.node([x, y, 0]), lattice.node([x, y, 1]));
            forces.push(Vec3::from_array(std::array::from_fn(|c| {
                residual[outer + c * lattice.component()] + residual[inner + c * lattice.component()]
            })));
        }
    }
    forces
}

/// How deep (m) points are in the objects, weighted by their loads. There are more points than the splines can follow one by one, so it
/// is the mean that can vanish.
fn mean_gap_m(near: &[Near]) -> f64 {
    let (mut sum, mut load) = (0.0, 0.0);
    for near in near {
        sum += near.press_newton * near.gap.distance_m;
        load += near.press_newton;
    }
    if load > 0.0 { (sum / load).abs() } else { 0.0 }
}

/// What is said of a gel that does not come to rest.
pub(crate) fn no_equilibrium(residual: f64) -> SkinError {
    SkinError::BadGel {
        key: "cell",
        rule: format!(
            "leaves the gel without equilibrium (forces are out of balance by {residual:.1e}): make it larger, press in smaller steps, or bond more of the gel"
        ),
    }
}

fn find(holds: &[Hold], point: u32) -> Option<&Hold> {
    holds.binary_search_by_key(&point, |hold| hold.point).ok().map(|index| &holds[index])
}

/// Sums are made chunk by chunk, so that they do not depend on the number of threads.
const CHUNK: usize = 8192;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let parts: Vec<f64> =
        a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK)).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum()).collect();
    parts.iter().sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn multiply(out: &mut [f64], a: &[f64], b: &[f64]) {
    out.par_iter_mut().with_min_len(CHUNK).zip(a).zip(b).for_each(|((out, a), b)| *out = a * b);
}

fn axpy(out: &mut [f64], factor: f64, a: &[f64]) {
    out.par_iter_mut().with_min_len(CHUNK).zip(a).for_each(|(out, a)| *out += factor * a);
}
