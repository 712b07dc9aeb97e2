//! Estimates centre and radius of real balls from single images: `dermis validate pose`.
//!
//! The presses of a row are divided into parts; each part is estimated with a light fitted to the other parts. The search
//! starts from the image alone, with a ball of another radius, and knows neither the label nor the true radius.

use super::ball_images::{BallImages, calibrated, chosen};
use super::odd_point::odd_point;
use super::{Data, RealError, RowSpec, Setting, find};
use crate::ball_presses::LabelledPress;
use dermis::estimate::{EstimateError, Measured, Placement, Unknown, estimate};
use dermis::geometry::Primitive;
use dermis::sensor::Sensor;
use dermis::sensor::calibration::optics::background_of_presses;
use dermis::sensor::optics::FloatImage;
use dermis::skin::Object;
use dermis::skin::threads::parallel;
use rayon::prelude::*;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Number of parts of a row.
const PARTS: usize = 4;
/// Radius of the ball with which the search starts, by the true one.
const STARTED_WITH: f64 = 1.2;
/// Part of the presses that an interval should cover.
const CONFIDENCE: f64 = 0.95;
const UNKNOWNS: [Unknown; 4] = [Unknown::X, Unknown::Y, Unknown::Depth, Unknown::Scale];

/// One estimated press.
#[derive(Clone, Debug, Serialize)]
pub struct EstimatedBall {
    /// The image.
    pub file: String,
    /// Estimated minus labelled centre: x and y (mm).
    pub centre_error_mm: [f64; 2],
    /// Estimated centre and label minus the point about which the change of the image is odd: x and y (mm); without that point if
    /// it is not in the image.
    pub from_odd_point_mm: Option<[[f64; 2]; 2]>,
    /// Estimated radius (mm).
    pub radius_mm: f64,
    /// Estimated depth (mm).
    pub depth_mm: f64,
    /// Standard errors of x and y (mm) and of the radius (mm), from the residuals of the fit.
    pub standard_errors_mm: [f64; 3],
    /// Half widths of the 95 % intervals of x, y and the radius (mm): the standard errors times the ratio of error and standard
    /// error that the other presses show.
    pub half_widths_mm: [f64; 3],
    /// Root mean square residual (levels of 255).
    pub rms: f64,
}

/// Figures of some presses.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PoseFigures {
    /// Number of presses.
    pub n: usize,
    /// Median distance (mm) between estimated and labelled centre.
    pub centre_mm_median: f64,
    /// Median distance (mm) of the estimated centre from the point about which the change of the image is odd, which depends neither
    /// on a light nor on a label.
    pub odd_point_mm_median: f64,
    /// Median distance (mm) of the labels from that point.
    pub labels_odd_point_mm_median: f64,
    /// Median relative error of the radius.
    pub radius_rel_median: f64,
    /// Fraction of the intervals (x, y, radius) that contain label and true radius.
    pub coverage: f64,
    /// The same for the intervals of the fits alone, which know nothing of the errors of the light and the labels.
    pub coverage_of_fit: f64,
}

/// The presses of one sensor.
#[derive(Clone, Debug, Serialize)]
pub struct PoseRow {
    /// Data set and row.
    pub name: String,
    /// The true radius (mm).
    pub true_radius_mm: f64,
    /// Figures of the row.
    #[serde(flatten)]
    pub figures: PoseFigures,
    /// The presses.
    pub presses: Vec<EstimatedBall>,
}

/// All rows.
#[derive(Clone, Debug, Serialize)]
pub struct PoseReport {
    /// Figures of all presses.
    #[serde(flatten)]
    pub figures: PoseFigures,
    /// The rows.
    pub rows: Vec<PoseRow>,
}

/// Estimates every ball image of the data sets in the folders. `progress` is called with each image.
pub fn run(folders: &[PathBuf], progress: &(dyn Fn(&str) + Sync)) -> Result<PoseReport, RealError> {
    let mut rows = Vec::new();
    for found in find::all(folders)? {
        let Some(folder) = &found.folder else { continue };
        for row in &found.set.row {
            if let Data::BallImages { background, labels, only, ball, pixel, loose } = &row.data {
                let (ball_m, pixel_m) = (ball.si(), pixel.si());
                let images = BallImages { background, labels, only, ball_m, pixel_m, loose: *loose };
                let name = format!("{}/{}", found.set.name, row.name());
                rows.push(row_of(name, row, folder, &images, progress)?);
            }
        }
    }
    if rows.is_empty() {
        return Err(RealError::Bad {
            what: folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", "),
            rule: "has no images of balls (`kind = \"ball-images\"` in dataset.toml)".into(),
        });
    }
    let all = || rows.iter().flat_map(|row| row.presses.iter().map(|press| (press, row.true_radius_mm)));
    Ok(PoseReport { figures: figures(&all().collect::<Vec<_>>()), rows })
}

fn row_of(
    name: String,
    row: &RowSpec,
    folder: &Path,
    images: &BallImages<'_>,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<PoseRow, RealError> {
    let setting = Setting { folder, sensor: &row.sensor, skin: row.skin.as_deref(), fit: None };
    let data = images.read(folder)?;
    let (_, sensor) = images.sensor(&setting, &data.background)?;
    let presses = images.presses(&sensor, &data)?;
    let no_surface = || RealError::NoSurface { sensor: sensor.name().to_owned() };
    let optics = sensor.optics().ok_or_else(no_surface)?;
    let true_radius_m = 0.5 * images.ball_m;
    let start_m = STARTED_WITH * true_radius_m;
    let ball = Object::of_primitive(Primitive::Sphere { radius_m: start_m }, start_m / 25.0)?;
    let mut estimated: Vec<Option<EstimatedBall>> = vec![None; presses.len()];
    for part in 0..PARTS.min(presses.len()) {
        let (kept_out, fitted): (Vec<usize>, Vec<usize>) = (0..presses.len()).partition(|i| i % PARTS == part);
        let fitted = chosen(&presses, &fitted);
        let background = background_of_presses(&data.background, &fitted)?;
        let light = calibrated(&background, &fitted)?;
        let light = light.build(background.width, background.height, images.pixel_m, None)?.on_background(background);
        let sensor = sensor.with_optics(optics.clone().with_light(light));
        let of_press = |i: usize| {
            let press = &data.presses[i];
            progress(&press.file);
            Ok((i, estimated_ball(&sensor, &ball, start_m, press, &data.background)?))
        };
        let found: Result<Vec<_>, RealError> = parallel(|| kept_out.into_par_iter().map(of_press).collect());
        for (i, ball) in found? {
            estimated[i] = Some(ball);
        }
    }
    let mut presses: Vec<EstimatedBall> = estimated.into_iter().flatten().collect();
    let true_radius_mm = true_radius_m * 1e3;
    widen(&mut presses, true_radius_mm);
    let listed: Vec<(&EstimatedBall, f64)> = presses.iter().map(|press| (press, true_radius_mm)).collect();
    Ok(PoseRow { name, true_radius_mm, figures: figures(&listed), presses })
}

/// Estimates a ball from an image, started with the radius of `ball`.
fn estimated_ball(
    sensor: &Sensor,
    ball: &Object,
    start_m: f64,
    press: &LabelledPress,
    background: &FloatImage,
) -> Result<EstimatedBall, RealError> {
    let no_surface = || RealError::NoSurface { sensor: sensor.name().to_owned() };
    let camera = sensor.optics().ok_or_else(no_surface)?.camera();
    let result = estimate(sensor, ball, Measured::Image(&press.image), Placement::default(), &UNKNOWNS, &|_| ());
    let found = match result {
        Ok(found) => found,
        Err(EstimateError::Skin(error)) => return Err(error.into()),
        Err(EstimateError::Optics(error)) => return Err(error.into()),
        Err(error) => return Err(RealError::Bad { what: press.file.clone(), rule: error.to_string() }),
    };
    let truth = camera.on_plane([press.label.column, press.label.row]);
    let odd_m = odd_point(background, &press.image, &press.label).map(|at| camera.on_plane(at));
    let errors = &found.standard_errors;
    let error =
        |unknown: Unknown| errors.iter().find(|(name, _)| *name == unknown).map_or(f64::INFINITY, |(_, error)| *error);
    Ok(EstimatedBall {
        file: press.file.clone(),
        centre_error_mm: [0, 1].map(|k| (found.placement.at_m[k] - truth[k]) * 1e3),
        from_odd_point_mm: odd_m
            .map(|odd| [found.placement.at_m, truth].map(|place| [0, 1].map(|k| (place[k] - odd[k]) * 1e3))),
        radius_mm: found.placement.scale * start_m * 1e3,
        depth_mm: found.placement.depth_m * 1e3,
        standard_errors_mm: [error(Unknown::X) * 1e3, error(Unknown::Y) * 1e3, error(Unknown::Scale) * start_m * 1e3],
        half_widths_mm: [0.0; 3],
        rms: found.rms,
    })
}

impl EstimatedBall {
    /// Errors of x, y and the radius (mm).
    fn errors_mm(&self, true_radius_mm: f64) -> [f64; 3] {
        [self.centre_error_mm[0], self.centre_error_mm[1], self.radius_mm - true_radius_mm]
    }
}

/// Sets the intervals of each press from the errors of the other presses, relative to their standard errors.
fn widen(presses: &mut [EstimatedBall], true_radius_mm: f64) {
    let ratios: Vec<[f64; 3]> = presses
        .iter()
        .map(|press| {
            let errors = press.errors_mm(true_radius_mm);
            [0, 1, 2].map(|k| errors[k].abs() / press.standard_errors_mm[k].max(f64::MIN_POSITIVE))
        })
        .collect();
    for (i, press) in presses.iter_mut().enumerate() {
        press.half_widths_mm = [0, 1, 2].map(|k| {
            let mut others: Vec<f64> = ratios.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, r)| r[k]).collect();
            others.sort_by(f64::total_cmp);
            let rank = (CONFIDENCE * (others.len() + 1) as f64).ceil() as usize;
            let ratio = others.get(rank.max(1) - 1).or(others.last()).copied().unwrap_or(f64::INFINITY);
            ratio * press.standard_errors_mm[k]
        });
    }
}

fn figures(presses: &[(&EstimatedBall, f64)]) -> PoseFigures {
    const NORMAL_975: f64 = 1.96;
    let covered = |half_width: &dyn Fn(&EstimatedBall, usize) -> f64| {
        let inside = |(press, radius): &(&EstimatedBall, f64)| {
            let errors = press.errors_mm(*radius);
            (0..3).filter(|&k| errors[k].abs() <= half_width(press, k)).count()
        };
        presses.iter().map(inside).sum::<usize>() as f64 / (3 * presses.len()).max(1) as f64
    };
    let from_odd_point = |k: usize| {
        let places = presses.iter().filter_map(|(press, _)| press.from_odd_point_mm);
        median(places.map(|from| from[k][0].hypot(from[k][1])))
    };
    PoseFigures {
        n: presses.len(),
        centre_mm_median: median(
            presses.iter().map(|(press, _)| press.centre_error_mm[0].hypot(press.centre_error_mm[1])),
        ),
        odd_point_mm_median: from_odd_point(0),
        labels_odd_point_mm_median: from_odd_point(1),
        radius_rel_median: median(presses.iter().map(|(press, radius)| (press.radius_mm / radius - 1.0).abs())),
        coverage: covered(&|press, k| press.half_widths_mm[k]),
        coverage_of_fit: covered(&|press, k| NORMAL_975 * press.standard_errors_mm[k]),
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    if count == 0 { f64::NAN } else { 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]) }
}
