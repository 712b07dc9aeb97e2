//! Reads labelled images of a ball pressed into an optical sensor.

use dermis::geometry::limits::{MAX_IMAGE_BYTES, MAX_TABLE_BYTES};
use dermis::geometry::regular_file;
use dermis::sensor::calibration::optics::{Label, find_contact};
use dermis::sensor::did_you_mean;
use dermis::sensor::optics::{FloatImage, OpticsError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An error in labelled presses. Messages name the file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum BallPressesError {
    /// A file cannot be read.
    #[error("{path}: {what} cannot be read: {reason}")]
    Unreadable { path: String, what: &'static str, reason: String },
    /// A column is missing.
    #[error(
        "{path}: has no column `{column}`; a table of presses has file, center_x_px, center_y_px and contact_radius_px, and x_mm together with y_mm"
    )]
    NoColumn { path: String, column: &'static str },
    /// A column that nothing reads, with a name close to a known one.
    #[error("{path}: has an unknown column `{column}`{suggestion}")]
    UnknownColumn { path: String, column: String, suggestion: String },
    /// A column that chooses rows is missing.
    #[error("{path}: has no column `{column}` to choose its rows by")]
    NoColumnOfChoice { path: String, column: String },
    /// A value is not a number.
    #[error("{path}, line {line}: `{column}` must be a finite number, got {got:?}")]
    BadNumber { path: String, line: usize, column: &'static str, got: String },
    /// A contact outside the image.
    #[error(
        "{path}, line {line}: the contact of {file} at column {column}, row {row} with radius {radius} px lies outside the image of {width} x {height} pixels"
    )]
    OutsideFrame {
        path: String,
        line: usize,
        file: String,
        column: f64,
        row: f64,
        radius: f64,
        width: usize,
        height: usize,
    },
    /// A press without a label, in whose image no contact is found.
    #[error(
        "{path}, line {line}: {file} shows no contact that differs clearly from the background; give its center_x_px, center_y_px and contact_radius_px"
    )]
    NoContact { path: String, line: usize, file: String },
    /// A grey image beside a coloured background.
    #[error("{path}: the image of a press is grey, but the image without contact has colours: give both in colour")]
    Grey { path: String },
    /// Two presses with one image.
    #[error("{path}, line {line}: {file} is the same image as {other} above: every press needs its own")]
    Same { path: String, line: usize, file: String, other: String },
    /// A table without presses.
    #[error("{path}: lists no presses")]
    Empty { path: String },
    /// An invalid image, or one of another size.
    #[error(transparent)]
    FloatImage(#[from] OpticsError),
}

/// Columns of a table of presses.
const KNOWN: [&str; 7] = ["file", "center_x_px", "center_y_px", "contact_radius_px", "x_mm", "y_mm", "depth_mm"];

/// A labelled image.
#[derive(Clone, Debug)]
pub struct LabelledPress {
    /// Its file.
    pub file: String,
    /// The image.
    pub image: FloatImage,
    /// Centre and radius of the contact.
    pub label: Label,
    /// Position of the ball on the sensor, x and y (m), if the table gives it.
    pub place_m: Option<[f64; 2]>,
    /// Depth of the ball past first contact (m), if the table gives it.
    pub depth_m: Option<f64>,
}

/// A background image and images of presses.
#[derive(Clone, Debug)]
pub struct BallPresses {
    /// The image without contact.
    pub background: FloatImage,
    /// Images with contact, in the order of the table.
    pub presses: Vec<LabelledPress>,
}

impl BallPresses {
    /// Reads a background and a table of presses with the columns `file` (relative to the table) and, optionally,
    /// `center_x_px`, `center_y_px` and `contact_radius_px` (otherwise the contacts are found in the images), `x_mm`,
    /// `y_mm` and `depth_mm`. All images must have the size of the background and contain their contact.
    pub fn read(background: &Path, table: &Path) -> Result<Self, BallPressesError> {
        Self::read_only(background, table, &BTreeMap::new())
    }

    /// Like [`BallPresses::read`], for the rows whose columns have the values of `only`.
    pub fn read_only(
        background: &Path,
        table: &Path,
        only: &BTreeMap<String, String>,
    ) -> Result<Self, BallPressesError> {
        let background = read_image(background, "the image without contact")?;
        let path = table.display().to_string();
        let text = regular_file::read_text(table, MAX_TABLE_BYTES)
            .map_err(|error| unreadable(table, "the table of presses", &error))?;
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let heads: Vec<String> =
            lines.next().map_or("", |(_, line)| line).split(',').map(|head| head.trim().to_lowercase()).collect();
        let find = |column: &'static str| heads.iter().position(|head| head == column);
        let need = |column| find(column).ok_or(BallPressesError::NoColumn { path: path.clone(), column });
        let file = need("file")?;
        // Tables may have columns of their own, but a misspelt one would be ignored silently.
        let is_known = |head: &&String| KNOWN.contains(&head.as_str()) || only.contains_key(head.as_str());
        for column in heads.iter().filter(|head| !is_known(head)) {
            // `z_mm` is no misspelt `x_mm`.
            let suggestion =
                did_you_mean(column, KNOWN.into_iter().filter(|known| known.len() > 4 || column.len() > 4));
            if !suggestion.is_empty() {
                return Err(BallPressesError::UnknownColumn { path, column: column.clone(), suggestion });
            }
        }
        for (own, other) in [("x_mm", "y_mm"), ("y_mm", "x_mm")] {
            if find(own).is_some() {
                need(other)?;
            }
        }
        let numbers = ["center_x_px", "center_y_px", "contact_radius_px"];
        // Without any of these columns, the contacts are found in the images.
        let labelled = numbers.iter().any(|column| find(column).is_some());
        let columns = match numbers.map(need) {
            _ if !labelled => None,
            [column, row, radius] => Some([column?, row?, radius?]),
        };
        let places = find("x_mm").zip(find("y_mm"));
        let depth = find("depth_mm");
        let chosen = |(column, value): (&String, &String)| {
            let at = heads.iter().position(|head| head == column);
            at.map(|at| (at, value.clone()))
                .ok_or_else(|| BallPressesError::NoColumnOfChoice { path: path.clone(), column: column.clone() })
        };
        let wanted = only.iter().map(chosen).collect::<Result<Vec<_>, _>>()?;
        let mut presses: Vec<LabelledPress> = Vec::new();
        for (index, line) in lines {
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            let number = |at: usize, column: &'static str| {
                let got = fields.get(at).copied().unwrap_or_default();
                let bad =
                    || BallPressesError::BadNumber { path: path.clone(), line: index + 1, column, got: got.to_owned() };
                got.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(bad)
            };
            let name = fields.get(file).copied().unwrap_or_default();
            if wanted.iter().any(|(at, value)| fields.get(*at) != Some(&value.as_str())) {
                continue;
            }
            let shown = beside(table, name);
            let image = read_image(&shown, "the image of a press")?;
            if image.is_grey() && !background.is_grey() {
                return Err(BallPressesError::Grey { path: shown.display().to_string() });
            }
            image.check_size(&shown.display().to_string(), background.width, background.height)?;
            let label = match columns {
                Some([column, row, radius]) => Label {
                    column: number(column, numbers[0])?,
                    row: number(row, numbers[1])?,
                    radius: number(radius, numbers[2])?,
                },
                None => find_contact(&background, &image, None).ok_or_else(|| BallPressesError::NoContact {
                    path: path.clone(),
                    line: index + 1,
                    file: name.to_owned(),
                })?,
            };
            let inside = |at: f64, count: usize| (0.0..=count as f64 - 1.0).contains(&at);
            if !inside(label.column, background.width) || !inside(label.row, background.height) || label.radius <= 0.0 {
                return Err(BallPressesError::OutsideFrame {
                    path,
                    line: index + 1,
                    file: name.to_owned(),
                    column: label.column,
                    row: label.row,
                    radius: label.radius,
                    width: background.width,
                    height: background.height,
                });
            }
            let place_m = match places {
                None => None,
                Some((x, y)) => Some([number(x, "x_mm")? * 1e-3, number(y, "y_mm")? * 1e-3]),
            };
            let depth_m = depth.map(|at| number(at, "depth_mm")).transpose()?.map(|depth_mm| 1e-3 * depth_mm);
            if let Some(depth_m) = depth_m.filter(|depth_m| *depth_m <= 0.0) {
                let got = format!("{} (a depth past first contact is positive)", depth_m * 1e3);
                return Err(BallPressesError::BadNumber { path, line: index + 1, column: "depth_mm", got });
            }
            if let Some(LabelledPress { file: other, .. }) = presses.iter().find(|other| other.image == image) {
                let (file, other) = (name.to_owned(), other.clone());
                return Err(BallPressesError::Same { path, line: index + 1, file, other });
            }
            presses.push(LabelledPress { file: name.to_owned(), image, label, place_m, depth_m });
        }
        if presses.is_empty() {
            return Err(BallPressesError::Empty { path });
        }
        Ok(Self { background, presses })
    }
}

fn beside(table: &Path, name: &str) -> PathBuf {
    table.parent().map_or_else(|| PathBuf::from(name), |folder| folder.join(name))
}

fn unreadable(path: &Path, what: &'static str, error: &std::io::Error) -> BallPressesError {
    BallPressesError::Unreadable { path: path.display().to_string(), what, reason: error.to_string() }
}

fn read_image(path: &Path, what: &'static str) -> Result<FloatImage, BallPressesError> {
    let bytes = regular_file::read(path, MAX_IMAGE_BYTES).map_err(|error| unreadable(path, what, &error))?;
    Ok(FloatImage::from_png(&path.display().to_string(), &bytes)?)
}
