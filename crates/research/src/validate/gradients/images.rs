//! Derivatives of images against differences.

use super::super::ValidateError;
use super::differences::without_square;
use super::{Setup, Touched, Trial, bad_press, touched};
use dermis::geometry::{Pose, Random, Vec3};
use dermis::sensor::optics::{Light, Optics, Relief};
use dermis::sensor::{Cotangents, Pressed, Sensor, press_to_pose};
use dermis::skin::{Object, SurfaceField};

/// Derivatives of images along displacements of the surface.
pub(super) struct ImageSlopes<'a> {
    pub setup: &'a Setup,
    pub sensor: &'a Sensor,
    pub object: &'a Object,
    /// The camera of the sensor with exact lines of sight, so that differences are smooth.
    pub optics: Optics,
}

/// A derivative of the scalar of an image.
pub(super) struct ImageSlope {
    /// By the gradients, and by differences with the sum of the sizes of their terms.
    pub got: f64,
    pub truth: Option<(f64, f64)>,
    /// Share of the pixels whose shadow another point casts within the differences, or with another kink.
    pub kinked: f64,
}

/// Difference of the derivatives of a level from larger and smaller steps, by the root mean square of all levels, from which a
/// pixel has a kink: several times that of rounding.
const KINK: f64 = 2e-3;
/// Steps of the differences, by the first: none is small, because of rounding.
const PARTS: [f64; 4] = [1.0, 0.8, 0.6, 0.4];
/// Largest difference of an extrapolation from their mean, by the tolerance.
const CERTAIN: f64 = 0.5;

impl ImageSlopes<'_> {
    /// The object pressed at a pose, the surface, and the contact.
    fn pressed(&self, pose: &Pose) -> Result<(Pressed, SurfaceField, Vec<Touched>), ValidateError> {
        let pressed = press_to_pose(self.sensor, self.object, pose).map_err(bad_press)?;
        let surface = self.sensor.camera_view(&pressed.touch).map_err(bad_press)?.1.into_owned();
        let contact = touched(self.sensor, self.object, pose, &pressed.touch);
        Ok((pressed, surface, contact))
    }

    /// Along a smooth vertical displacement of 1 m.
    pub fn along_wave(&self, trial: &Trial, random: &mut Random) -> Result<ImageSlope, ValidateError> {
        let (_, surface, _) = self.pressed(&trial.pose)?;
        let [a, b, c]: [f64; 3] = std::array::from_fn(|_| random.between(-0.3, 0.3));
        let wave = |i: usize| (a * (i % surface.cols) as f64 + b * (i / surface.cols) as f64 + 20.0 * c).sin();
        let along: Vec<Vec3> = (0..surface.values.len()).map(|i| Vec3::Z * wave(i)).collect();
        self.along(trial, &surface, &along)
    }

    /// Along a displacement of each cell (m per unit).
    fn along(&self, trial: &Trial, surface: &SurfaceField, along: &[Vec3]) -> Result<ImageSlope, ValidateError> {
        self.compare(trial, surface, along, |weights| {
            let found = self.optics.vjp(surface, weights, &[]).map_err(bad_press)?;
            Ok(found.surface.iter().zip(along).map(|(by, along)| by.dot(*along)).sum())
        })
    }

    /// Along the height of the surface itself: all heights grow in proportion, so that every shadow of a lamp at a given elevation
    /// is cast by the same point.
    pub fn along_heights(&self, trial: &Trial) -> Result<ImageSlope, ValidateError> {
        let (_, surface, _) = self.pressed(&trial.pose)?;
        let heights: Vec<Vec3> = surface.values.iter().map(|value| Vec3::Z * value.z).collect();
        self.along(trial, &surface, &heights)
    }

    /// By a motion of the object along an axis: the differences are first those of the surface, then those of the image.
    pub fn along_motion(&self, trial: &Trial, axis: Vec3) -> Result<ImageSlope, ValidateError> {
        const STEP_M: f64 = 1e-7;
        let (pressed, surface, _) = self.pressed(&trial.pose)?;
        let mut slopes = Vec::new();
        for part in [1.0, 0.5] {
            let at =
                |step: f64| self.pressed(&Pose { translation: trial.pose.translation + axis * step, ..trial.pose });
            let [(_, above, touched), (_, below, other)] = [at(part * STEP_M)?, at(-part * STEP_M)?];
            if touched != trial.contact || other != trial.contact {
                return Ok(ImageSlope { got: 0.0, truth: None, kinked: 0.0 });
            }
            let pairs = above.values.iter().zip(&below.values);
            slopes.push(pairs.map(|(a, b)| (*a - *b) / (2.0 * part * STEP_M)).collect::<Vec<Vec3>>());
        }
        let pairs = slopes[1].iter().zip(&slopes[0]);
        let along: Vec<Vec3> = pairs.map(|(fine, coarse)| (*fine * 4.0 - *coarse) / 3.0).collect();
        self.compare(trial, &surface, &along, |weights| {
            let weights = Cotangents { image: weights.clone(), ..Cotangents::default() };
            let found = self.sensor.vjp(self.object, &pressed, &weights).map_err(bad_press)?;
            Ok(found.position.dot(axis))
        })
    }

    /// Compares the derivative along a displacement of each cell (m per unit) with differences; `got` returns it for the weights
    /// of the pixels without a kink.
    fn compare(
        &self,
        trial: &Trial,
        surface: &SurfaceField,
        along: &[Vec3],
        got: impl Fn(&[Vec<f64>; 3]) -> Result<f64, ValidateError>,
    ) -> Result<ImageSlope, ValidateError> {
        let longest = along.iter().map(|along| along.length()).fold(0.0, f64::max);
        let first = self.setup.step_m / longest;
        let casters = self.optics.shadow_casters(surface);
        let sides = sides(&self.optics, &self.optics.render(surface, 0).relief);
        let mut recast = vec![false; sides.len()];
        let mut levels = |step: f64| {
            let mut changed = surface.clone();
            changed.values.iter_mut().zip(along).for_each(|(value, along)| *value += *along * step);
            let now = self.optics.shadow_casters(&changed);
            recast.iter_mut().zip(casters.iter().zip(&now)).for_each(|(recast, (was, is))| *recast |= was != is);
            let frame = self.optics.render(&changed, 0);
            let now = self::sides(&self.optics, &frame.relief);
            recast.iter_mut().zip(sides.iter().zip(&now)).for_each(|(recast, (was, is))| *recast |= was != is);
            frame.image.channels.concat()
        };
        let steps = PARTS.map(|part| part * first);
        let slopes = steps.map(|step| {
            let (above, below) = (levels(step), levels(-step));
            above.iter().zip(&below).map(|(a, b)| f64::from(a - b) / (2.0 * step)).collect::<Vec<f64>>()
        });
        let once = |i: usize, k: usize| without_square([PARTS[k], PARTS[k + 1]], [slopes[k][i], slopes[k + 1][i]]);
        let all = trial.weights.image.concat();
        let count = all.iter().filter(|by| **by != 0.0).count().max(1) as f64;
        let squares = (0..all.len()).filter(|&i| all[i] != 0.0).map(|i| once(i, 2).powi(2));
        let typical = (squares.sum::<f64>() / count).sqrt();
        let pixels = all.len() / 3;
        let has_kink = |i: usize| {
            let mut colours = [i, i + pixels, i + 2 * pixels].into_iter();
            recast[i]
                || colours.any(|i| {
                    let limit = KINK * typical.max(once(i, 2).abs());
                    (once(i, 1) - once(i, 0)).abs() > limit || (once(i, 2) - once(i, 1)).abs() > limit
                })
        };
        let kinks: Vec<bool> = (0..pixels).map(has_kink).collect();
        let weights = trial.weights.image.each_ref().map(|channel| -> Vec<f64> {
            channel.iter().zip(&kinks).map(|(by, kink)| if *kink { 0.0 } else { *by }).collect()
        });
        let kept = weights.concat();
        let left = kept.iter().filter(|by| **by != 0.0).count() as f64;
        let sum = |of: &dyn Fn(usize) -> f64| (0..kept.len()).map(|i| kept[i] * of(i)).sum::<f64>();
        let sums = [0, 1, 2].map(|k| sum(&|i| once(i, k)));
        let mean = sums.iter().sum::<f64>() / 3.0;
        let size = (0..kept.len()).map(|i| (kept[i] * once(i, 2)).abs()).sum::<f64>();
        let limit = CERTAIN * self.setup.tolerance * mean.abs().max(0.1 * size);
        let truth = sums.iter().all(|sum| (sum - mean).abs() <= limit).then_some((mean, size));
        Ok(ImageSlope { got: got(&weights)?, truth, kinked: 1.0 - left / count })
    }
}

/// For each pixel, two bits per lamp of a Phong light: whether the surface faces the lamp, and whether it reflects it towards the
/// camera. The level has a kink where one of them changes.
fn sides(optics: &Optics, relief: &Relief) -> Vec<u64> {
    let Light::Phong(phong) = optics.light() else { return vec![0; relief.z_m.len()] };
    let of = |normal: [f32; 3]| {
        phong.sources().fold(0, |bits, (source, _)| {
            let facing: f32 = source.direction.iter().zip(normal).map(|(light, normal)| light * normal).sum();
            let reflected = 2.0 * facing * normal[2] - source.direction[2];
            bits << 2 | u64::from(facing > 0.0) << 1 | u64::from(reflected > 0.0)
        })
    };
    relief.normals().into_iter().map(of).collect()
}
