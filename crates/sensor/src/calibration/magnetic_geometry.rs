//! Fits the places of magnets and chips, the remanence and the rotations of the chips to a recording of a probe.

use super::magnetic::{MagneticSample, MagneticScore, score_of};
use super::{Estimate, FitError};
use crate::magnetic::{MagnetShapeSpec, Magnetics, MagnetometersSpec, MagnetsSpec, each};
use crate::{Aim, Goal, PressError, Sensor, SensorSpec, press};
use dermis_geometry::quantity::{Angle, FluxDensity, Length, MagneticMoment};
use dermis_geometry::{Quat, Vec3};
use dermis_skin::layer::MaterialMotion;
use dermis_skin::{Layer, Object, Springs, Touch};
use nalgebra::{DMatrix, DVector};
use std::path::Path;

/// Standard deviations of the described geometry: how far the fitted one may be from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeometryPrior {
    /// Of each coordinate of a magnet and of a chip (m).
    pub position_m: f64,
    /// Of each angle of a chip (rad).
    pub rotation_rad: f64,
    /// Of the remanence or moment of all magnets, relative.
    pub strength: f64,
}

/// Position (m) and rotation of every magnet.
type Places = Vec<(Vec3, Quat)>;

impl Default for GeometryPrior {
    fn default() -> Self {
        Self { position_m: 0.5e-3, rotation_rad: 3f64.to_radians(), strength: 0.2 }
    }
}

/// A fitted geometry.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MagneticGeometry {
    /// Places of the magnets (m).
    pub magnets_m: Vec<[Estimate; 3]>,
    /// Remanence or moment of the magnets, by that of the description.
    pub strength: Estimate,
    /// Places of the chips (m).
    pub chips_m: Vec<[Estimate; 3]>,
    /// Misalignments of the chips about x, y and z (rad).
    pub misalignments_rad: Vec<[Estimate; 3]>,
}

/// The result of a fit with the skin of the sensor.
#[derive(Clone, Debug)]
pub struct MagneticGeometryFit {
    /// The sensor with the fitted geometry and stiffness.
    pub spec: SensorSpec,
    /// The geometry.
    pub geometry: MagneticGeometry,
    /// Stiffness of the skin by that of the description, if loads were measured.
    pub stiffness: Option<Estimate>,
    /// Error on the samples of the fit.
    pub fitted: MagneticScore,
    /// Error on the samples that were kept out.
    pub kept_out: Option<MagneticScore>,
    /// Error of the described sensor on the samples that were kept out, or on all.
    pub described: MagneticScore,
}

/// Iterations of the fit.
const ITERATIONS: usize = 12;
/// Step of the differences, by the standard deviation of the prior.
const STEP: f64 = 0.02;
/// Change of all parameters, by their standard deviations, at which the fit has converged.
const CONVERGED: f64 = 1e-4;

/// Motions of magnets at given places (m) in each sample.
pub(super) type Motions<'a> = &'a dyn Fn(&Magnetics, &[Vec3]) -> Vec<Vec<MaterialMotion>>;

/// Fits the geometry of a sensor whose skin moves the magnets, a layer or springs, to a recording with a known probe.
///
/// Levenberg–Marquardt with the description as the prior: the sum of squared errors over the variance of the residual, and of
/// squared differences from the description over the variances of `prior`. The intervals are those of the linear problem at
/// the solution. The deformation under a given depth does not depend on the stiffness, which is scaled to the measured loads.
pub fn fit_magnetic_geometry(
    start: &SensorSpec,
    folder: Option<&Path>,
    probe: &Object,
    samples: &[MagneticSample],
    used: &[bool],
    prior: &GeometryPrior,
) -> Result<MagneticGeometryFit, FitError> {
    let sensor = super::magnetic::built(start, folder)?;
    if sensor.skin_as::<Layer>().is_none() && sensor.skin_as::<Springs>().is_none() {
        let reason = "places of magnets are fitted with a skin of kind \"layer\" or \"springs\", which knows its motion everywhere";
        return Err(FitError::Unusable { reason: reason.to_owned() });
    }
    let touches = samples.iter().map(|sample| touch_of(&sensor, probe, sample)).collect::<Result<Vec<_>, _>>()?;
    let motions = |magnetics: &Magnetics, places: &[Vec3]| -> Vec<Vec<MaterialMotion>> {
        touches.iter().map(|touch| magnetics.motions_at(places, touch)).collect()
    };
    let problem = Problem::new(&sensor, start, samples, used, *prior, &motions)?;
    let zero = DVector::zeros(problem.count());
    let (solution, covariance) = problem.solve()?;
    let mut spec = problem.spec(start, &solution);
    let stiffness = fit_stiffness(&mut spec, &touches, samples, used);
    let score = |theta: &DVector<f64>, wanted: bool| {
        let scored: Vec<usize> = (0..samples.len()).filter(|&i| used[i] == wanted).collect();
        Ok::<_, FitError>(score_of(&problem.left(theta)?, samples, &scored))
    };
    let unknown = || FitError::Unusable { reason: "no samples to score".to_owned() };
    Ok(MagneticGeometryFit {
        spec,
        geometry: problem.geometry(&solution, &covariance),
        stiffness,
        fitted: score(&solution, true)?.ok_or_else(unknown)?,
        kept_out: score(&solution, false)?,
        described: match score(&zero, false)? {
            Some(score) => score,
            None => score(&zero, true)?.ok_or_else(unknown)?,
        },
    })
}

fn touch_of(sensor: &Sensor, probe: &Object, sample: &MagneticSample) -> Result<Touch, FitError> {
    if sample.travel_m < 1e-6 {
        return Ok(Touch::default());
    }
    let aim = Aim { at_m: sample.at_m.to_array(), ..Aim::default() };
    let pressed = press(sensor, probe, &aim, Goal::Depth(sample.travel_m));
    pressed.map(|pressed| pressed.touch).map_err(|error: PressError| FitError::Unusable { reason: error.to_string() })
}

/// Scales the stiffness of the skin to the measured loads.
fn fit_stiffness(
    spec: &mut SensorSpec,
    touches: &[Touch],
    samples: &[MagneticSample],
    used: &[bool],
) -> Option<Estimate> {
    let pairs: Vec<(f64, f64)> = (0..samples.len())
        .filter(|&i| used[i] && samples[i].travel_m > 0.0)
        .filter_map(|i| Some((-touches[i].on_sensor.force.z, samples[i].load_newton?)))
        .collect();
    let squares: f64 = pairs.iter().map(|(model, _)| model * model).sum();
    let value = pairs.iter().map(|(model, load)| model * load).sum::<f64>() / squares;
    let left: f64 = pairs.iter().map(|(model, load)| (load - value * model).powi(2)).sum();
    let sound = pairs.len() >= 3 && value > 0.0 && value.is_finite();
    let ci95 = 1.96 * (left / (pairs.len() as f64 - 1.0) / squares).sqrt();
    (sound && spec.skin.scale_stiffness(value)).then_some(Estimate { value, ci95 })
}

/// The problem of a fit. Parameters are differences from the description in standard deviations of the prior: x, y, z of each
/// magnet; the logarithm of the strength; x, y, z of each chip; misalignments about x, y, z of each chip.
pub(super) struct Problem<'a> {
    sensor: &'a Sensor,
    magnets: MagnetsSpec,
    chips: MagnetometersSpec,
    samples: &'a [MagneticSample],
    used: &'a [bool],
    prior: GeometryPrior,
    motions: Motions<'a>,
}

impl<'a> Problem<'a> {
    /// Prepares the fit of the geometry of `start`; `sensor` is built from it.
    pub(super) fn new(
        sensor: &'a Sensor,
        start: &SensorSpec,
        samples: &'a [MagneticSample],
        used: &'a [bool],
        prior: GeometryPrior,
        motions: Motions<'a>,
    ) -> Result<Self, FitError> {
        let unusable = |reason: &str| FitError::Unusable { reason: reason.to_owned() };
        let (Some(magnets), Some(chips), Some(magnetics)) = (&start.magnets, &start.magnetometers, sensor.magnetics())
        else {
            return Err(unusable("the sensor has no `[magnets]` and `[magnetometers]`"));
        };
        if magnets.elastomer.is_some() {
            return Err(unusable(
                "the cells of an `elastomer` have no places of their own: fit magnets with `positions` or a `lattice`",
            ));
        }
        super::magnetic::check_samples(samples, magnetics.chips().len())?;
        let count = magnetics.chips().len();
        let name = sensor.name();
        let listed = |error: crate::SensorError| FitError::Unusable { reason: error.to_string() };
        let misalignments =
            each(name, "misalignments", &chips.misalignments, [Angle::new(0.0); 3], count).map_err(listed)?;
        let positions = magnetics.magnets().iter().map(|at| at.to_array().map(Length::new)).collect();
        Ok(Self {
            sensor,
            magnets: MagnetsSpec { positions, lattice: None, ..magnets.clone() },
            chips: MagnetometersSpec { misalignments, ..chips.clone() },
            samples,
            used,
            prior,
            motions,
        })
    }

    fn count(&self) -> usize {
        3 * self.magnets.positions.len() + 1 + 6 * self.chips.positions.len()
    }

    /// Index of the first parameter of the chips.
    fn first_chip(&self) -> usize {
        3 * self.magnets.positions.len() + 1
    }

    /// The description with fitted parameters.
    fn parts(&self, theta: &DVector<f64>) -> (MagnetsSpec, MagnetometersSpec) {
        let (mut magnets, mut chips) = (self.magnets.clone(), self.chips.clone());
        let GeometryPrior { position_m, rotation_rad, strength } = self.prior;
        let first = self.first_chip();
        let count = chips.positions.len();
        let move_by = |at: &mut [Length; 3], from: usize| {
            at.iter_mut().enumerate().for_each(|(k, at)| *at = Length::new(at.si() + position_m * theta[from + k]));
        };
        magnets.positions.iter_mut().enumerate().for_each(|(i, at)| move_by(at, 3 * i));
        chips.positions.iter_mut().enumerate().for_each(|(i, at)| move_by(at, first + 3 * i));
        for (i, angles) in chips.misalignments.iter_mut().enumerate() {
            let angle =
                |k: usize, angle: Angle| Angle::new(angle.si() + rotation_rad * theta[first + 3 * (count + i) + k]);
            *angles = [angle(0, angles[0]), angle(1, angles[1]), angle(2, angles[2])];
        }
        let factor = (strength * theta[first - 1]).exp();
        match &mut magnets.shape {
            Some(MagnetShapeSpec::Dipole { moment }) => *moment = MagneticMoment::new(moment.si() * factor),
            Some(MagnetShapeSpec::Cylinder { remanence, .. } | MagnetShapeSpec::Cuboid { remanence, .. }) => {
                *remanence = FluxDensity::new(remanence.si() * factor);
            }
            None => (),
        }
        (magnets, chips)
    }

    pub(super) fn spec(&self, start: &SensorSpec, theta: &DVector<f64>) -> SensorSpec {
        // A tenth of a micrometre and a thousandth of a degree.
        let length = |at: Length| Length::new((at.si() * 1e7).round() / 1e7);
        let angle = |angle: Angle| Angle::new(((angle.si().to_degrees() * 1e3).round() / 1e3).to_radians());
        let (mut magnets, mut chips) = self.parts(theta);
        magnets.positions.iter_mut().chain(&mut chips.positions).for_each(|at| *at = at.map(length));
        chips.misalignments.iter_mut().for_each(|angles| *angles = angles.map(angle));
        SensorSpec { magnets: Some(magnets), magnetometers: Some(chips), ..start.clone() }
    }

    fn built(&self, theta: &DVector<f64>) -> Result<Magnetics, FitError> {
        let (magnets, chips) = self.parts(theta);
        Magnetics::new(self.sensor, &magnets, &chips).map_err(|error| FitError::Unusable { reason: error.to_string() })
    }

    /// Change of the flux densities (T) from rest for magnets at given places and rotations in each sample.
    fn changes(magnetics: &Magnetics, places: &[(Vec3, Quat)], moved: &[Vec<(Vec3, Quat)>]) -> Vec<Vec<Vec3>> {
        let rest = magnetics.field_of_moved(places);
        let change = |moved: &Vec<(Vec3, Quat)>| -> Vec<Vec3> {
            magnetics.field_of_moved(moved).iter().zip(&rest).map(|(field, rest)| *field - *rest).collect()
        };
        moved.iter().map(change).collect()
    }

    /// The places of magnets without contact, and in each sample.
    fn moved(&self, magnetics: &Magnetics) -> (Places, Vec<Places>) {
        let still = magnetics.magnets().iter().map(|at| (*at, Quat::IDENTITY)).collect();
        let motions = (self.motions)(magnetics, magnetics.magnets());
        (still, motions.iter().map(|motions| magnetics.moved_by(motions)).collect())
    }

    /// Measured less predicted change (T) of each sample.
    pub(super) fn left(&self, theta: &DVector<f64>) -> Result<Vec<Vec<Vec3>>, FitError> {
        let magnetics = self.built(theta)?;
        let (still, moved) = self.moved(&magnetics);
        let changes = Self::changes(&magnetics, &still, &moved);
        Ok(self.left_of(&changes))
    }

    fn left_of(&self, changes: &[Vec<Vec3>]) -> Vec<Vec<Vec3>> {
        let row = |(sample, change): (&MagneticSample, &Vec<Vec3>)| -> Vec<Vec3> {
            sample.field_tesla.iter().zip(change).map(|(field, change)| *field - *change).collect()
        };
        self.centred(self.samples.iter().zip(changes).map(row).collect())
    }

    /// The rows less the mean of each channel over the rows of the fit: the offset of a channel is one more unknown.
    fn centred(&self, mut rows: Vec<Vec<Vec3>>) -> Vec<Vec<Vec3>> {
        let used: Vec<usize> = (0..rows.len()).filter(|&i| self.used[i]).collect();
        let mean = |chip: usize| used.iter().map(|&i| rows[i][chip]).sum::<Vec3>() / used.len().max(1) as f64;
        let means: Vec<Vec3> = (0..self.chips.positions.len()).map(mean).collect();
        rows.iter_mut().for_each(|row| std::iter::zip(row, &means).for_each(|(value, mean)| *value -= *mean));
        rows
    }

    /// The rows of the fit, centred, as one vector.
    fn flat(&self, rows: Vec<Vec<Vec3>>) -> DVector<f64> {
        let rows = self.centred(rows);
        let used = rows.iter().zip(self.used).filter(|(_, used)| **used);
        DVector::from_vec(used.flat_map(|(row, _)| row.iter().flat_map(|value| value.to_array())).collect())
    }

    /// Derivatives of the changes (T) of the used rows by the parameters.
    fn jacobian(&self, theta: &DVector<f64>) -> Result<(DVector<f64>, DMatrix<f64>), FitError> {
        let magnetics = self.built(theta)?;
        let (still, moved) = self.moved(&magnetics);
        let base = Self::changes(&magnetics, &still, &moved);
        let left = self.flat(self.left_of(&base));
        let flat = self.flat(base);
        let (magnets, chips, first) = (still.len(), self.chips.positions.len(), self.first_chip());
        let mut jacobian = DMatrix::zeros(flat.len(), self.count());
        // Magnets move independently, and a chip reads nothing of the others: one shift of all gives the motions of each
        // magnet, and the columns of each chip.
        for axis in 0..3 {
            let mut shifted = theta.clone();
            (0..magnets).for_each(|i| shifted[3 * i + axis] += STEP);
            // A layer knows its motion everywhere at the depths of its magnets; others, and other depths, are prepared anew.
            let (still_there, moved_there) = if axis < 2 && self.sensor.skin_as::<Layer>().is_some() {
                let shift = Vec3::AXES[axis] * (STEP * self.prior.position_m);
                let places: Vec<Vec3> = magnetics.magnets().iter().map(|at| *at + shift).collect();
                let motions = (self.motions)(&magnetics, &places);
                let mut there: Vec<_> = motions.iter().map(|motions| magnetics.moved_by(motions)).collect();
                there.iter_mut().flatten().for_each(|(at, _)| *at += shift);
                (places.into_iter().map(|at| (at, Quat::IDENTITY)).collect(), there)
            } else {
                self.moved(&self.built(&shifted)?)
            };
            for magnet in 0..magnets {
                let with = |all: &[(Vec3, Quat)], there: &[(Vec3, Quat)]| {
                    let mut all = all.to_vec();
                    all[magnet] = there[magnet];
                    all
                };
                let still = with(&still, &still_there);
                let moved: Vec<_> = moved.iter().zip(&moved_there).map(|(all, there)| with(all, there)).collect();
                let column = (self.flat(Self::changes(&magnetics, &still, &moved)) - &flat) / STEP;
                jacobian.set_column(3 * magnet + axis, &column);
            }
        }
        jacobian.set_column(first - 1, &(&flat * self.prior.strength));
        for block in 0..6 {
            let mut shifted = theta.clone();
            let entry = |chip: usize| first + 3 * (chip + if block < 3 { 0 } else { chips }) + block % 3;
            (0..chips).for_each(|chip| shifted[entry(chip)] += STEP);
            let (_, spec) = self.parts(&shifted);
            let other = magnetics
                .with_chips(self.sensor.name(), &spec)
                .map_err(|error| FitError::Unusable { reason: error.to_string() })?;
            let slope = (self.flat(Self::changes(&other, &still, &moved)) - &flat) / STEP;
            for (row, value) in slope.iter().enumerate() {
                jacobian[(row, entry(row / 3 % chips))] = *value;
            }
        }
        Ok((left, jacobian))
    }

    /// The parameters, and their covariance.
    pub(super) fn solve(&self) -> Result<(DVector<f64>, DMatrix<f64>), FitError> {
        let count = self.count();
        let channels = 3 * self.chips.positions.len();
        let needed = count / channels + 1;
        let rows = self.used.iter().filter(|used| **used).count();
        if rows < needed {
            return Err(FitError::TooFew { what: "places, remanence and rotations", got: rows, needed });
        }
        let mut theta = DVector::zeros(count);
        let mut covariance = DMatrix::identity(count, count);
        for _ in 0..ITERATIONS {
            let (left, jacobian) = self.jacobian(&theta)?;
            // The variance of the residual, with the parameters that the data determine counted at most.
            let degrees = (left.len() as f64 - (count + channels) as f64).max(0.1 * left.len() as f64);
            let variance = (left.norm_squared() / degrees).max(1e-24);
            let normal = jacobian.tr_mul(&jacobian) / variance + DMatrix::identity(count, count);
            let factor = normal.cholesky().ok_or(FitError::NoSpread { what: "place and depth" })?;
            let step = factor.solve(&(jacobian.tr_mul(&left) / variance - &theta));
            covariance = factor.inverse();
            // Within one standard deviation of the prior in a step.
            let part = (1.0 / step.amax().max(1e-12)).min(1.0);
            theta += &step * part;
            if step.amax() < CONVERGED {
                break;
            }
        }
        Ok((theta, covariance))
    }

    pub(super) fn geometry(&self, theta: &DVector<f64>, covariance: &DMatrix<f64>) -> MagneticGeometry {
        let (magnets, chips) = self.parts(theta);
        let GeometryPrior { position_m, rotation_rad, strength } = self.prior;
        let first = self.first_chip();
        let ci95 = |i: usize, scale: f64| 1.96 * scale * covariance[(i, i)].max(0.0).sqrt();
        let places = |all: &[[Length; 3]], first: usize| -> Vec<[Estimate; 3]> {
            let one =
                |i: usize, k: usize| Estimate { value: all[i][k].si(), ci95: ci95(first + 3 * i + k, position_m) };
            (0..all.len()).map(|i| [one(i, 0), one(i, 1), one(i, 2)]).collect()
        };
        let count = chips.positions.len();
        let angle = |i: usize, k: usize| Estimate {
            value: chips.misalignments[i][k].si(),
            ci95: ci95(first + 3 * (count + i) + k, rotation_rad),
        };
        let factor = (strength * theta[first - 1]).exp();
        MagneticGeometry {
            magnets_m: places(&magnets.positions, 0),
            strength: Estimate { value: factor, ci95: ci95(first - 1, strength) * factor },
            chips_m: places(&chips.positions, first),
            misalignments_rad: (0..count).map(|i| [angle(i, 0), angle(i, 1), angle(i, 2)]).collect(),
        }
    }
}
