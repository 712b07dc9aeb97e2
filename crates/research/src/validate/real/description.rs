//! The description of a set of real measurements: `dataset.toml`.

use super::RealError;
use dermis::geometry::quantity::{Force, Length};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A set of measurements of real sensors. Files are relative to the folder of the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RealSpec {
    /// Name of the data set.
    pub name: String,
    /// Who measured it, where it is published, and its licence.
    #[serde(default)]
    pub source: String,
    /// How to get the data; shown where the data are not at hand.
    #[serde(default)]
    pub get: String,
    /// The comparisons, one per sensor or kind of data.
    pub row: Vec<RowSpec>,
}

/// One comparison of a sensor with measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RowSpec {
    /// The sensor: a preset, or a file beside the description.
    pub sensor: String,
    /// Name of the row; defaults to the sensor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Another skin for the sensor: `layer`, `gel` or `imprint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skin: Option<String>,
    /// Number of samples to fit, distributed evenly; the others are kept out. 0 fits nothing; `--fit` replaces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<usize>,
    /// Bars by the name of a measure, such as `inside = 4.5`; the page says whether they hold.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bars: BTreeMap<String, f64>,
    /// What a reader must know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The measurements.
    pub data: Data,
}

/// The measurements of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Data {
    /// Camera images of a ball pressed into an optical sensor.
    BallImages {
        /// Image without contact.
        background: PathBuf,
        /// CSV table: file, `center_x_px`, `center_y_px`, `contact_radius_px` and, optionally, `depth_mm`.
        labels: PathBuf,
        /// Rows of the table to use: the value of a column, such as `sensor = "gelsight"`.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        only: BTreeMap<String, String>,
        /// Diameter of the ball.
        ball: Length,
        /// Size of a pixel on the gel.
        pixel: Length,
        /// True if centre and radius of the labels are inaccurate: position and depth of every ball, also of those kept
        /// out, are then found from its image by geometry alone (no light is used), and the errors are given for these
        /// and for the labelled positions.
        #[serde(default)]
        loose: bool,
    },
    /// Counts of a taxel array over time under a stamp with weights.
    Weights {
        /// Files, one per record, such as `room-{grams}g-*.csv.gz`: `{grams}` is the weight, `*` any text. Columns: time since
        /// contact (s), then the counts of every taxel, row by row.
        files: String,
        /// Diameter of the flat, round stamp.
        stamp: Length,
        /// Weights of the records to fit (g), unless `fit` or `--fit` gives their number.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        fit_grams: Vec<f64>,
    },
    /// Force against depth of a ball.
    ForceDepth {
        /// CSV table with the columns `depth_mm` and `force_N`.
        table: PathBuf,
        /// Diameter of the ball.
        ball: Length,
        /// Forces of the authors' own finite elements at some of the depths.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        finite_elements: Vec<ForceAtDepth>,
    },
    /// Displacements of the markers of an optical sensor under a ball.
    Markers {
        /// CSV table: `Mx`, `My` (pixel of a marker at rest), `dx`, `dy` (its displacement in pixels).
        field: PathBuf,
        /// For a sheared field: the table of the same markers before the shear. Dilation and distance of the camera are then
        /// fitted to it, and the displacements by the shear alone, `field` minus `before`, are a second measure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<PathBuf>,
        /// Diameter of the ball.
        ball: Length,
        /// Centre of the contact (pixels).
        center_px: [f64; 2],
        /// Radius of the contact (pixels). It sets the depth of the press: that at which the simulated contact has this radius.
        contact_px: f64,
        /// Size of a pixel on the gel.
        pixel: Length,
        /// Intersection of the optical axis with the image (pixels). With it the distance of the camera (`camera.distance`) is
        /// fitted to the press; otherwise the camera is orthographic.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        axis_px: Option<[f64; 2]>,
        /// True if the ball was moved along the gel after the press.
        #[serde(default)]
        sheared: bool,
    },
    /// Normal displacements of a surface by finite elements, under a small indenter.
    Surface {
        /// Table of node, x, y, z and the displacement along the normal (m).
        file: PathBuf,
        /// Axis of the normal: 0, 1 or 2 for x, y or z.
        normal: usize,
        /// Diameter of the ball that dermis presses in.
        ball: Length,
    },
    /// Published positions and normals of taxels (YAML lists `taxels` and `normals`, m).
    TaxelPositions {
        /// The file.
        file: PathBuf,
    },
    /// A sensor of which dermis has no model: only the null model is scored.
    NoModel {
        /// CSV table of readings without a header.
        table: PathBuf,
        /// Columns of the readings: the first and the last, from 0.
        columns: [usize; 2],
        /// Unit of the readings.
        unit: String,
        /// What is missing.
        reason: String,
    },
}

/// A force at a depth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForceAtDepth {
    /// Depth of the ball.
    pub depth: Length,
    /// Force on the ball.
    pub force: Force,
}

impl Data {
    /// Name of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::BallImages { .. } => "ball-images",
            Self::Weights { .. } => "weights",
            Self::ForceDepth { .. } => "force-depth",
            Self::Markers { .. } => "markers",
            Self::Surface { .. } => "surface",
            Self::TaxelPositions { .. } => "taxel-positions",
            Self::NoModel { .. } => "no-model",
        }
    }

    /// Names of the measures, the keys of bars.
    pub fn measures(&self) -> &'static [&'static str] {
        match self {
            Self::BallImages { .. } => &["inside", "ring", "far"],
            Self::Weights { .. } => &["taxels", "totals", "creep"],
            Self::ForceDepth { .. } => &["force"],
            Self::Markers { before: Some(_), .. } => &["markers", "shear"],
            Self::Markers { .. } => &["markers"],
            Self::Surface { .. } => &["decay"],
            Self::TaxelPositions { .. } => &["places", "normals"],
            Self::NoModel { .. } => &["readings"],
        }
    }

    /// Files that must exist; none for a pattern.
    pub fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::BallImages { background, labels, .. } => vec![background.clone(), labels.clone()],
            Self::Weights { .. } => Vec::new(),
            Self::ForceDepth { table, .. } | Self::NoModel { table, .. } => vec![table.clone()],
            Self::Markers { field, before, .. } => std::iter::once(field).chain(before).cloned().collect(),
            Self::Surface { file, .. } | Self::TaxelPositions { file } => vec![file.clone()],
        }
    }
}

impl RowSpec {
    /// Name of the row.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.sensor)
    }

    /// Returns an error for a bar that is no measure of the row.
    pub fn check_bars(&self) -> Result<(), RealError> {
        let known = self.data.measures();
        let Some(bar) = self.bars.keys().find(|bar| !known.contains(&bar.as_str())) else { return Ok(()) };
        let meant = dermis::sensor::did_you_mean(bar, known.iter().copied());
        Err(RealError::Bad {
            what: format!("row {:?}: `bars.{bar}`", self.name()),
            rule: format!("is no measure of `{}`, which has {}{meant}", self.data.kind(), known.join(", ")),
        })
    }
}
