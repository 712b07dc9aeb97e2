//! The part of a reading that a fit compares.

use super::gauss_newton::Solution;
use super::model_error::ModelError;
use super::{EstimateError, Measured, squares};
use dermis_geometry::Vec3;
use dermis_sensor::calibration::optics::{INSIDE, find_contact};
use dermis_sensor::calibration::student_975;
use dermis_sensor::optics::{FloatImage, Optics};
use dermis_sensor::{Pressed, Sensor};
use dermis_skin::Motion;
use nalgebra::DMatrix;

/// The part of a reading that is compared.
pub(super) struct View {
    pub measured: Vec<f64>,
    /// The reading without contact.
    pub rest: Vec<f64>,
    /// Position of each value on the sensor (m).
    places_m: Vec<[f64; 2]>,
    pub groups: Vec<usize>,
    /// Middle of the contact (m), where the reading shows it.
    pub center_m: Option<[f64; 2]>,
    pub compared: Compared,
    /// What a model of an image does not know; `None` of other readings.
    model_error: Option<ModelError>,
    /// Variance of all values by the description of the sensor, if they are independent and of one variance; zero if that
    /// is unknown. `None`: the scatter of the residuals between groups.
    pub known_variance: Option<f64>,
}

/// The values of a reading that are compared.
pub(super) enum Compared {
    Pixels(Vec<usize>),
    /// Means over squares of this side (pixels).
    Squares(usize),
    Taxels,
    /// Changes (µT) of these channels: three of each chip.
    Channels(Vec<usize>),
}

/// The part of an image that is compared.
#[derive(Clone, Copy)]
pub(super) enum Window {
    /// Pixels around the contact that the image shows.
    Contact,
    /// All of it, as means over squares whose side is this part of its height.
    Whole(f64),
}

/// Change (levels) that an image without contact does not reach anywhere by rounding.
const MIN_CHANGE: f64 = 1.0;
/// The quantile of 97.5 % of the normal distribution.
const NORMAL_975: f64 = 1.96;
/// Half side of the compared window by the radius of the contact.
const WINDOW: f64 = 2.5;
/// Compared pixels at most.
const MAX_PIXELS: f64 = 20_000.0;
/// Side of a group of pixels by the radius of the contact.
const GROUP: f64 = 0.4;
/// Side of a group of squares of a whole image by its height.
const WHOLE_GROUP: f64 = 0.04;
/// Part of the largest force that a loaded taxel has.
const LOADED: f64 = 0.05;

impl View {
    pub fn of(sensor: &Sensor, measured: Measured<'_>, window: Window) -> Result<Self, EstimateError> {
        match measured {
            Measured::Image(image) => Self::of_image(sensor, image, window),
            Measured::Taxels(forces) => Self::of_taxels(sensor, forces),
            Measured::Magnetic(changes) => Self::of_channels(sensor, changes),
        }
    }

    /// Refuses more unknowns than the channels of magnetometers can determine.
    pub fn check_count(&self, sensor: &Sensor, unknowns: usize) -> Result<(), EstimateError> {
        let (Compared::Channels(channels), variance) = (&self.compared, self.known_variance) else { return Ok(()) };
        // Without a known noise, its size is one more unknown.
        let needed = unknowns + usize::from(variance == Some(0.0));
        if channels.len() >= needed {
            return Ok(());
        }
        Err(EstimateError::FewChannels { sensor: sensor.name().to_owned(), channels: channels.len(), unknowns })
    }

    fn of_channels(sensor: &Sensor, changes: &[Vec3]) -> Result<Self, EstimateError> {
        let name = || sensor.name().to_owned();
        let chips = sensor.magnetics().map_or(0, |magnetics| magnetics.chips().len());
        let other = || EstimateError::OtherChips { sensor: name(), got: changes.len(), expected: chips };
        let magnetics = sensor.magnetics().filter(|_| chips == changes.len()).ok_or_else(other)?;
        let flat: Vec<f64> = changes.iter().flat_map(|change| (*change * 1e6).to_array()).collect();
        let clipped = magnetics.clipped(changes);
        let channels: Vec<usize> = (0..flat.len()).filter(|&i| !clipped[i] && flat[i].is_finite()).collect();
        let sd = magnetics.channel_sd_tesla() * 1e6;
        let measured: Vec<f64> = channels.iter().map(|&i| flat[i]).collect();
        if measured.iter().all(|change| change.abs() <= 3.0 * sd) {
            return Err(EstimateError::NoContact { sensor: name() });
        }
        let count = measured.len();
        Ok(Self {
            measured,
            rest: vec![0.0; count],
            places_m: Vec::new(),
            groups: (0..count).collect(),
            center_m: None,
            compared: Compared::Channels(channels),
            model_error: None,
            known_variance: Some(sd * sd),
        })
    }

    fn of_image(sensor: &Sensor, image: &FloatImage, window: Window) -> Result<Self, EstimateError> {
        let no_camera = || EstimateError::NoCamera { sensor: sensor.name().to_owned() };
        let no_contact = || EstimateError::NoContact { sensor: sensor.name().to_owned() };
        let camera = sensor.optics().ok_or_else(no_camera)?.camera();
        let light = sensor.optics().and_then(Optics::light_residual);
        image.check_size("the reading", camera.width, camera.height)?;
        let (untouched, _) = sensor.skin().settle(&sensor.skin().rest(), &Motion { targets: &[] })?;
        let rest = sensor.render(&untouched, 0)?.image;
        let contact = find_contact(&rest, image, None);
        // Column, row (pixels) and group of each value of a channel.
        let mut places = Vec::new();
        let (compared, center) = match window {
            Window::Whole(part) => {
                let side = ((part * image.height as f64).round() as usize).max(1);
                let group = (WHOLE_GROUP * image.height as f64 / side as f64).round().max(1.0) as usize;
                let columns = image.width.div_ceil(side);
                for (row, column) in
                    (0..image.height.div_ceil(side)).flat_map(|row| (0..columns).map(move |c| (row, c)))
                {
                    let middle = |square: usize| (square * side) as f64 + 0.5 * (side as f64 - 1.0);
                    places.push(([middle(column), middle(row)], (row / group) * columns + column / group));
                }
                (Compared::Squares(side), [0.5 * image.width as f64, 0.5 * image.height as f64])
            }
            Window::Contact => {
                let contact = contact.ok_or_else(no_contact)?;
                let half = (WINDOW * contact.radius).max(12.0);
                let stride = (2.0 * half / MAX_PIXELS.sqrt()).ceil().max(1.0) as usize;
                let side = (GROUP * contact.radius).max(4.0);
                let range = |middle: f64, count: usize| {
                    let first = (middle - half).max(0.0) as usize;
                    (first..((middle + half) as usize + 1).min(count)).step_by(stride)
                };
                let per_row = (2.0 * half / side) as usize + 2;
                let group = |at: usize, middle: f64| ((at as f64 - middle + half).max(0.0) / side) as usize;
                let mut pixels = Vec::new();
                for row in range(contact.row, image.height) {
                    for column in range(contact.column, image.width) {
                        pixels.push(row * image.width + column);
                        let in_groups = group(row, contact.row) * per_row + group(column, contact.column);
                        places.push(([column as f64, row as f64], in_groups));
                    }
                }
                (Compared::Pixels(pixels), [contact.column, contact.row])
            }
        };
        let (measured, rest) = (compared.levels(image), compared.levels(&rest));
        if measured.iter().zip(&rest).all(|(level, rest)| (level - rest).abs() < MIN_CHANGE) {
            return Err(no_contact());
        }
        let of_channels = || [0; 3].iter().flat_map(|_| &places);
        let is_inside = |at: &[f64; 2]| {
            contact.is_none_or(|label| (at[0] - label.column).hypot(at[1] - label.row) <= INSIDE.to * label.radius)
        };
        let model_error = ModelError { inside: of_channels().map(|(at, _)| is_inside(at)).collect(), light };
        Ok(Self {
            measured,
            rest,
            places_m: of_channels().map(|(at, _)| camera.on_plane(*at)).collect(),
            groups: of_channels().map(|(_, group)| *group).collect(),
            center_m: Some(camera.on_plane(center)),
            compared,
            model_error: Some(model_error),
            known_variance: None,
        })
    }

    fn of_taxels(sensor: &Sensor, forces: &[f64]) -> Result<Self, EstimateError> {
        let (name, centers) = (sensor.name().to_owned(), sensor.taxels().centers());
        if forces.len() != centers.len() {
            return Err(EstimateError::OtherSensor { sensor: name, got: forces.len(), expected: centers.len() });
        }
        let peak = forces.iter().copied().fold(0.0, f64::max);
        let loaded = || centers.iter().zip(forces).filter(|(_, force)| **force > LOADED * peak);
        let sum: f64 = loaded().map(|(_, force)| force).sum();
        if sum.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) || !sum.is_finite() {
            return Err(EstimateError::NoContact { sensor: name });
        }
        let mean = |axis: usize| loaded().map(|(at, force)| at[axis] * force).sum::<f64>() / sum;
        Ok(Self {
            measured: forces.to_vec(),
            rest: vec![0.0; forces.len()],
            places_m: centers.iter().map(|at| [at.x, at.y]).collect(),
            groups: (0..forces.len()).collect(),
            center_m: Some([mean(0), mean(1)]),
            compared: Compared::Taxels,
            model_error: None,
            known_variance: None,
        })
    }

    /// Centre of the squared changes from the reading without contact; `None` without a change.
    pub fn center_of(&self, values: &[f64]) -> Option<[f64; 2]> {
        let (mut sum, mut moments) = (0.0, [0.0; 2]);
        for ((value, rest), place) in values.iter().zip(&self.rest).zip(&self.places_m) {
            let weight = (value - rest).powi(2);
            sum += weight;
            moments[0] += weight * place[0];
            moments[1] += weight * place[1];
        }
        (sum > 0.0).then(|| moments.map(|moment| moment / sum))
    }

    /// The compared values of a press.
    pub fn read(&self, sensor: &Sensor, pressed: Pressed) -> Result<Vec<f64>, EstimateError> {
        Ok(match &self.compared {
            Compared::Pixels(_) | Compared::Squares(_) => {
                self.compared.levels(&sensor.render(&pressed.touch, 0)?.image)
            }
            Compared::Taxels => pressed.reading.values_newton,
            Compared::Channels(channels) => {
                let changes = sensor.magnetics().map_or_else(Vec::new, |magnetics| magnetics.changes(&pressed.touch));
                channels.iter().map(|&i| changes[i / 3][i % 3] * 1e6).collect()
            }
        })
    }

    /// Covariance of the values of a fit, and the standard errors in half a 95 % interval.
    pub fn covariance(&self, fit: &Solution) -> (DMatrix<f64>, f64) {
        match (&self.compared, self.known_variance) {
            (Compared::Taxels, _) => self.covariance_of_taxels(fit),
            (_, None) => {
                let model = self.model_error.as_ref().map(|error| error.covariance(fit, &self.groups));
                let noise = fit.covariance.clone();
                (model.map_or(noise.clone(), |model| noise + model), NORMAL_975)
            }
            (_, Some(variance)) => {
                let degrees = self.measured.len() - fit.values.len();
                let found = fit.rms().powi(2) * self.measured.len() as f64 / degrees.max(1) as f64;
                let quantile = if variance > 0.0 { NORMAL_975 } else { student_975(degrees) };
                (&fit.homogeneous * variance.max(if degrees > 0 { found } else { 0.0 }), quantile)
            }
        }
    }

    /// Few taxels may be loaded, and the values follow their errors, so that little of them is left in the residuals. Errors are those
    /// of all taxels that read something, or those of the loaded ones where they are larger, such as in proportion to the load.
    fn covariance_of_taxels(&self, fit: &Solution) -> (DMatrix<f64>, f64) {
        let (count, squares) = self
            .measured
            .iter()
            .zip(&fit.residuals)
            .filter(|(force, residual)| **force != 0.0 || **residual != 0.0)
            .fold((0_usize, 0.0), |(count, sum), (_, residual)| (count + 1, sum + residual * residual));
        let degrees = count.saturating_sub(fit.values.len());
        let size = fit.values.len();
        if degrees == 0 || !fit.homogeneous.iter().all(|entry| entry.is_finite()) {
            return (DMatrix::from_element(size, size, f64::INFINITY), NORMAL_975);
        }
        let alike = &fit.homogeneous * (squares / degrees as f64);
        let factor = |k: usize| match (fit.covariance[(k, k)] / alike[(k, k)]).sqrt() {
            larger if larger.is_finite() => larger.max(1.0),
            _ => 1.0,
        };
        (DMatrix::from_fn(size, size, |i, j| alike[(i, j)] * factor(i) * factor(j)), student_975(degrees))
    }

    /// Part of the squared change of the reading that a fit with this root mean square residual explains.
    pub fn explained(&self, rms: f64) -> f64 {
        1.0 - rms * rms * self.measured.len() as f64 / squares(&self.measured, &self.rest)
    }
}

impl Compared {
    /// The compared levels of an image, all of a channel after each other.
    fn levels(&self, image: &FloatImage) -> Vec<f64> {
        let level = |level: &f32| f64::from(level.clamp(0.0, 255.0));
        let of_channel = |channel: &Vec<f32>| match self {
            Self::Pixels(pixels) => pixels.iter().map(|&i| level(&channel[i])).collect(),
            Self::Squares(side) => {
                let mut means = Vec::new();
                for rows in channel.chunks(side * image.width) {
                    let mut sums = vec![0.0; image.width.div_ceil(*side)];
                    for row in rows.chunks(image.width) {
                        let parts = row.chunks(*side).map(|part| part.iter().map(level).sum::<f64>());
                        sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
                    }
                    let height = (rows.len() / image.width) as f64;
                    let width = |square: usize| (image.width - square * side).min(*side) as f64;
                    means.extend(sums.iter().enumerate().map(|(square, sum)| sum / (height * width(square))));
                }
                means
            }
            Self::Taxels | Self::Channels(_) => Vec::new(),
        };
        image.channels.iter().flat_map(of_channel).collect()
    }
}
