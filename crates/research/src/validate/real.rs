//! The scoreboard of real sensors: `dermis validate real`.
//!
//! A data set is a folder of measurements with a description, `dataset.toml` ([`RealSpec`]); descriptions of public data
//! sets are part of dermis ([`find::shipped`]), their data are not. Each row fits a sensor to some samples, predicts the others,
//! and scores the prediction beside the null model and other simple models.

mod ball_images;
pub mod check;
mod description;
pub mod find;
mod force_depth;
mod free_functions;
mod load_records;
mod marker_fit;
mod markers;
mod mean_shape;
mod neighbours;
mod no_model;
mod odd_point;
mod page;
mod peers;
pub mod pose;
mod row;
mod score;
mod split;
mod stamp;
mod surface;
mod table;
mod taxel_positions;
mod weights;

use ball_images::BallImages;
pub use description::{Data, ForceAtDepth, RealSpec, RowSpec};
pub use peers::Peer;
pub use row::{Comparison, FITTED, Figure, MEAN_SHAPE, Measure, NULL, PRESET, Row, Status};
pub use score::{SEED, Sample, Score, Statistic};
pub use split::Split;
pub use table::Table;

use crate::ball_presses::BallPressesError;
use dermis::sensor::calibration::FitError;
use dermis::sensor::optics::OpticsError;
use dermis::sensor::{PressError, ResponseError, SensorError, SensorSpec, SkinKind};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Errors in real measurements. Messages name the file.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum RealError {
    #[error("{path}: cannot be read: {reason}")]
    Unreadable { path: String, reason: String },
    #[error("{path}, line {line}: must be {columns} finite numbers, got {text:?}")]
    BadRow { path: String, line: usize, columns: usize, text: String },
    #[error("{path}: {reason}")]
    BadRecording { path: String, reason: String },
    #[error("{path}: has no rows")]
    Empty { path: String },
    #[error("{path}: has no column `{column}`; its columns are {found}")]
    NoColumn { path: String, column: String, found: String },
    #[error("{path}: has {found} taxels and the sensor {sensor:?} has {taxels}; give the sensor that was measured")]
    OtherSensor { path: String, found: usize, sensor: String, taxels: usize },
    #[error("{folder}: no file fits `files = {pattern:?}`; {{grams}} stands for the weight, * for any text")]
    NoRecords { folder: String, pattern: String },
    #[error("{what}: {rule}")]
    Bad { what: String, rule: String },
    #[error("the skin of sensor {sensor:?} has no deformed surface: use a `layer`, `gel` or `imprint`")]
    NoSurface { sensor: String },
    #[error(transparent)]
    BallPresses(#[from] BallPressesError),
    #[error(transparent)]
    Sensor(#[from] SensorError),
    #[error(transparent)]
    Press(#[from] PressError),
    #[error(transparent)]
    Skin(#[from] dermis::skin::SkinError),
    #[error(transparent)]
    Fit(#[from] FitError),
    #[error(transparent)]
    Optics(#[from] OpticsError),
    #[error(transparent)]
    Response(#[from] ResponseError),
    #[error(transparent)]
    Shape(#[from] dermis::geometry::shapes::ShapeError),
    #[error(transparent)]
    Toml(#[from] dermis::sensor::TomlError),
    #[error(transparent)]
    Skins(#[from] dermis::sensor::UnknownSkin),
    #[error(transparent)]
    File(#[from] std::io::Error),
}

/// What to compare.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Number of samples to fit in every row, instead of that of the description.
    pub fit: Option<usize>,
    /// Scores of other programs.
    pub peers: Vec<Peer>,
}

/// All rows.
#[derive(Clone, Debug, Serialize)]
pub struct Scoreboard {
    /// Version of dermis.
    pub version: &'static str,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// The rows.
    pub rows: Vec<Row>,
}

/// Where a row finds its data, and what it fits.
pub struct Setting<'a> {
    /// Folder of the data.
    pub folder: &'a Path,
    /// The sensor: a preset, or a file in the folder.
    pub sensor: &'a str,
    /// Another skin.
    pub skin: Option<&'a str>,
    /// Number of samples to fit, if given.
    pub fit: Option<usize>,
}

impl Setting<'_> {
    /// The description of the sensor.
    pub fn spec(&self) -> Result<SensorSpec, RealError> {
        let beside = self.folder.join(self.sensor);
        let path = beside.display().to_string();
        let is_file = self.sensor.ends_with(".toml");
        let (spec, folder) = SensorSpec::find(if is_file { &path } else { self.sensor })?;
        let spec = folder.map_or_else(|| spec.clone(), |folder| spec.with_files_in(folder));
        match self.skin {
            None => Ok(spec),
            Some(name) => Ok(spec.with_skin(name.parse::<SkinKind>()?)?),
        }
    }
}

impl RowSpec {
    /// Compares the sensor with the data in a folder.
    pub fn compare(&self, folder: &Path, options: &Options) -> Result<Comparison, RealError> {
        self.check_bars()?;
        let fit = options.fit.or(self.fit);
        let mut comparison = self.compare_fitted(folder, fit)?;
        let clipped = comparison.clipped(fit);
        comparison.notes.extend(clipped);
        Ok(comparison)
    }

    fn compare_fitted(&self, folder: &Path, fit: Option<usize>) -> Result<Comparison, RealError> {
        let setting = Setting { folder, sensor: &self.sensor, skin: self.skin.as_deref(), fit };
        match &self.data {
            Data::BallImages { background, labels, only, ball, pixel, loose } => {
                let (ball_m, pixel_m) = (ball.si(), pixel.si());
                BallImages { background, labels, only, ball_m, pixel_m, loose: *loose }.compare(&setting)
            }
            Data::Weights { files, stamp, fit_grams } => weights::compare(&setting, files, stamp.si(), fit_grams),
            Data::ForceDepth { table, ball, finite_elements } => {
                force_depth::compare(&setting, table, ball.si(), finite_elements)
            }
            Data::Markers { field, before, ball, center_px, contact_px, pixel, axis_px, sheared } => markers::Field {
                file: field,
                before: before.as_deref(),
                ball_m: ball.si(),
                center_px: *center_px,
                contact_px: *contact_px,
                pixel_m: pixel.si(),
                axis_px: *axis_px,
                sheared: *sheared,
            }
            .compare(&setting),
            Data::Surface { file, normal, ball } => surface::compare(&setting, file, *normal, ball.si()),
            Data::TaxelPositions { file } => taxel_positions::compare(&setting, file),
            Data::NoModel { table, columns, unit, .. } => no_model::compare(&setting, table, *columns, unit),
        }
    }

    /// The row of this comparison. A failure becomes a row with its reason.
    fn row(&self, set: &RealSpec, folder: Option<&Path>, options: &Options) -> Row {
        let start = Instant::now();
        let result = folder.map(|folder| self.compare(folder, options));
        let (status, reason, mut comparison) = match (result, &self.data) {
            (None, _) => (Status::NoData, Some(set.get.clone()), Comparison::default()),
            (Some(Err(error)), _) => (Status::Failed, Some(error.to_string()), Comparison::default()),
            (Some(Ok(done)), Data::NoModel { reason, .. }) => (Status::NoModel, Some(reason.clone()), done),
            (Some(Ok(done)), _) => (Status::Scored, None, done),
        };
        let name = format!("{}/{}", set.name, self.name());
        for measure in &mut comparison.measures {
            let mine = options.peers.iter().filter(|peer| peer.row == name && peer.measure == measure.name);
            measure.scores.extend(mine.map(Peer::score));
            if let Some(&bar) = self.bars.get(measure.name) {
                measure.judge(bar);
            }
        }
        comparison.notes.extend(self.note.clone());
        Row {
            name,
            sensor: self.sensor.clone(),
            kind: self.data.kind(),
            folder: folder.map(|folder| folder.display().to_string()),
            status,
            reason,
            comparison,
            source: set.source.clone(),
            seconds: start.elapsed().as_secs_f64(),
        }
    }
}

/// Compares every data set that the folders contain. `progress` is called with the name of each row before it runs.
pub fn run(folders: &[PathBuf], options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Scoreboard, RealError> {
    let mut rows = Vec::new();
    for found in find::all(folders)? {
        for row in &found.set.row {
            progress(&format!("{}/{}", found.set.name, row.name()));
            let mut scored = row.row(&found.set, found.folder.as_deref(), options);
            scored.comparison.notes.extend(found.note.clone());
            rows.push(scored);
        }
    }
    Ok(Scoreboard { version: env!("CARGO_PKG_VERSION"), seed: SEED, rows })
}

impl Scoreboard {
    /// One self-contained HTML page.
    pub fn html(&self, date: &str) -> String {
        page::write(self, date)
    }
}
