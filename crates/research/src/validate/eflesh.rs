//! Recordings of eFlesh, a real magnetic skin, against its presets.

use super::real::RealError;
use crate::magnetic_recording::MagneticRecording;
use dermis::sensor::calibration::{MagneticSample, MagneticScore, score_magnetic};
use dermis::sensor::{SensorError, SensorSpec};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// An error of the comparison.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum EfleshError {
    #[error("{folder}: cannot be read: {reason}")]
    Unreadable { folder: String, reason: String },
    #[error("{folder}: has no file normal-N-sensor.csv.gz, shear-N-sensor.csv.gz or spatial-N-sensor.csv.gz")]
    NoRuns { folder: String },
    #[error(transparent)]
    Recording(#[from] RealError),
    #[error(transparent)]
    Sensor(#[from] SensorError),
    #[error("{run}: has {found} chips, and the preset {preset:?} has {chips}")]
    OtherChips { run: String, found: usize, preset: &'static str, chips: usize },
}

/// A kind of recording, each of another specimen of the skin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A probe that presses the whole skin.
    Normal,
    /// A probe that shears the skin.
    Shear,
    /// Presses at many places.
    Spatial,
}

/// Depth (m) of the highest presses of a spatial recording: the height of first contact was not recorded, and this depth fits best.
const FIRST_DEPTH_M: f64 = 1.5e-3;

impl Kind {
    /// The kind of a recording by the name of its run.
    pub fn of(run: &str) -> Option<Self> {
        let kinds = [("normal-", Self::Normal), ("shear-", Self::Shear), ("spatial-", Self::Spatial)];
        kinds.into_iter().find(|(prefix, _)| run.starts_with(prefix)).map(|(_, kind)| kind)
    }

    /// The name of the fitted sensor: the preset `eflesh`, or another specimen in crates/research/eflesh.
    pub fn preset(self) -> &'static str {
        match self {
            Self::Normal => "eflesh-normal",
            Self::Shear => "eflesh-shear",
            Self::Spatial => "eflesh",
        }
    }

    /// The fitted sensor.
    pub fn spec(self) -> Result<SensorSpec, SensorError> {
        match self {
            Self::Normal => SensorSpec::parse("eflesh-normal.toml", include_str!("../../eflesh/normal.toml")),
            Self::Shear => SensorSpec::parse("eflesh-shear.toml", include_str!("../../eflesh/shear.toml")),
            Self::Spatial => dermis::sensor::presets::find("eflesh"),
        }
    }

    /// The samples of a recording in the sensor frame. The sensor's middle is the middle of the places.
    pub fn samples(self, recording: &MagneticRecording) -> Vec<MagneticSample> {
        let (low, high) = recording.extent();
        let contact_m = match self {
            Self::Normal | Self::Shear => high.z,
            Self::Spatial => (high.z * 1e3).round() * 1e-3 + FIRST_DEPTH_M,
        };
        recording.samples((low + high).truncate() * 0.5, contact_m)
    }

    /// The samples that the presets were not fitted to: every second cycle, or one colour of a checkerboard of places.
    pub fn kept_out(self, recording: &MagneticRecording) -> Vec<bool> {
        match self {
            Self::Normal | Self::Shear => recording.cycles().iter().map(|cycle| cycle % 2 == 0).collect(),
            Self::Spatial => recording.checkerboard(),
        }
    }
}

/// The comparison with all recordings of a folder.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EfleshReport {
    /// The runs, in the order of their names.
    pub runs: Vec<EfleshRun>,
    /// Root mean square error (N) of the load found from the field, over all `normal` runs; `None` without one.
    pub force_rmse_n: Option<f64>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EfleshRun {
    /// Name, such as "normal-2".
    pub name: String,
    /// The preset that predicts it.
    pub preset: &'static str,
    /// Number of samples.
    pub samples: usize,
    /// Root mean square error over the standard deviation of the change, over all samples.
    pub nrmse: f64,
    /// The same of the null model, the mean of each channel.
    pub null: f64,
    /// Standard deviation of the change (µT).
    pub sd_ut: f64,
    /// `nrmse` over every second cycle, or one colour of a checkerboard of places: in the recordings with number 1, the samples
    /// that the presets were not fitted to.
    pub kept_out_nrmse: Option<f64>,
    /// Error (N) of the load found from the field, and its null model.
    pub force_rmse_n: Option<f64>,
    /// Standard deviation of the load (N).
    pub force_null_n: Option<f64>,
    /// `force_rmse_n` over the samples of `kept_out_nrmse`.
    pub kept_out_force_rmse_n: Option<f64>,
}

/// Compares all recordings of a folder.
pub fn run(folder: &Path) -> Result<EfleshReport, EfleshError> {
    let shown = folder.display().to_string();
    let unreadable =
        |error: std::io::Error| EfleshError::Unreadable { folder: shown.clone(), reason: error.to_string() };
    let mut found: Vec<(String, Kind, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some(run) = name.strip_suffix("-sensor.csv.gz").or_else(|| name.strip_suffix("-sensor.csv"))
            && let Some(kind) = Kind::of(run)
        {
            found.push((run.to_owned(), kind, path));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    if found.is_empty() {
        return Err(EfleshError::NoRuns { folder: shown });
    }
    let runs = found.iter().map(|(name, kind, path)| compare(name, *kind, path)).collect::<Result<Vec<_>, _>>()?;
    let pressed = || runs.iter().filter(|run| run.preset == Kind::Normal.preset());
    let squares: Vec<(f64, f64)> =
        pressed().filter_map(|run| Some((run.force_rmse_n?.powi(2), run.samples as f64))).collect();
    let weight: f64 = squares.iter().map(|(_, samples)| samples).sum();
    let mean = squares.iter().map(|(square, samples)| square * samples).sum::<f64>() / weight;
    Ok(EfleshReport { runs, force_rmse_n: (weight > 0.0).then(|| mean.sqrt()) })
}

fn compare(name: &str, kind: Kind, field: &Path) -> Result<EfleshRun, EfleshError> {
    let states = field.to_string_lossy().replace("-sensor.csv", "-states.csv");
    let recording = MagneticRecording::read(Path::new(&states), field)?;
    let preset = kind.preset();
    let sensor = kind.spec()?.build(None)?;
    let chips = sensor.magnetics().map_or(0, |magnetics| magnetics.chips().len());
    let found = recording.field_tesla.first().map_or(0, Vec::len);
    let other = || EfleshError::OtherChips { run: name.to_owned(), found, preset, chips };
    let magnetics = sensor.magnetics().filter(|_| chips == found).ok_or_else(other)?;
    let (samples, kept_out) = (kind.samples(&recording), kind.kept_out(&recording));
    let all = score_magnetic(magnetics, &samples, |_| true).ok_or_else(other)?;
    let half = score_magnetic(magnetics, &samples, |i| kept_out[i]);
    let MagneticScore { nrmse, null, sd_tesla, load_rmse_newton, load_sd_newton, .. } = all;
    Ok(EfleshRun {
        name: name.to_owned(),
        preset,
        samples: all.samples,
        nrmse,
        null,
        sd_ut: sd_tesla * 1e6,
        kept_out_nrmse: half.map(|half| half.nrmse),
        force_rmse_n: load_rmse_newton,
        force_null_n: load_sd_newton,
        kept_out_force_rmse_n: half.and_then(|half| half.load_rmse_newton),
    })
}
