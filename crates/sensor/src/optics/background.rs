//! The camera's image without contact.

use super::position::{ImageCoordinates, MAX_DEGREE, along_row, count, horner};
use super::{FloatImage, OpticsError};
use dermis_geometry::limits::MAX_IMAGE_BYTES;
use dermis_geometry::regular_file;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The description of an image without contact. Levels are those of an 8-bit image (0–255).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum BackgroundSpec {
    /// One colour: red, green, blue.
    Colour([f64; 3]),
    /// PNG image of the camera's size; relative to the folder of the description.
    File(PathBuf),
    /// A polynomial of the pixel position for each of red, green and blue, ordered as in the calibrated light.
    Polynomial {
        /// Degree of the polynomial.
        degree: usize,
        /// Coefficients for red, green and blue.
        levels: [Vec<f64>; 3],
    },
}

impl BackgroundSpec {
    pub(crate) fn file_mut(&mut self) -> Option<&mut PathBuf> {
        if let Self::File(file) = self { Some(file) } else { None }
    }

    /// Builds the image.
    pub fn build(&self, width: usize, height: usize, folder: Option<&Path>) -> Result<FloatImage, OpticsError> {
        match self {
            Self::Colour(colour) => Ok(FloatImage::new(width, height, colour.map(|level| level as f32))),
            Self::File(file) => {
                let path = folder.map_or_else(|| file.clone(), |folder| folder.join(file));
                let name = path.display().to_string();
                let bytes = regular_file::read(&path, MAX_IMAGE_BYTES).map_err(|error| OpticsError::BadImage {
                    path: name.clone(),
                    reason: format!("the image without contact cannot be read: {error}"),
                })?;
                let image = FloatImage::from_png(&name, &bytes)?;
                image.check_size(&name, width, height)?;
                Ok(image)
            }
            Self::Polynomial { degree, levels } => {
                check_polynomial("background", *degree, levels, 1)?;
                let frame = ImageCoordinates::new(width, height, None);
                let mut image = FloatImage::new(width, height, [0.0; 3]);
                for (channel, coefficients) in image.channels.iter_mut().zip(levels) {
                    for (row, line) in channel.chunks_exact_mut(width).enumerate() {
                        let polynomial = along_row(coefficients, *degree, frame.at(0.0, row as f64)[1]);
                        for (column, pixel) in line.iter_mut().enumerate() {
                            *pixel = horner(&polynomial, *degree, frame.at(column as f64, 0.0)[0] as f32);
                        }
                    }
                }
                Ok(image)
            }
        }
    }
}

/// Returns an error for polynomials of the wrong length. Each colour holds `terms` polynomials one after the other.
pub(super) fn check_polynomial(
    key: &'static str,
    degree: usize,
    levels: &[Vec<f64>; 3],
    terms: usize,
) -> Result<(), OpticsError> {
    let bad = |rule: String| Err(OpticsError::Bad { table: "light", key, rule });
    if degree > MAX_DEGREE {
        return bad(format!("must vary over the image with a degree of at most {MAX_DEGREE}, got {degree}"));
    }
    let needed = terms * count(degree);
    for list in levels {
        if list.len() != needed {
            return bad(format!("needs {needed} coefficients for each of red, green and blue, got {}", list.len()));
        }
        if let Some(value) = list.iter().find(|value| !value.is_finite()) {
            return bad(format!("needs finite coefficients, got {value}"));
        }
    }
    Ok(())
}
