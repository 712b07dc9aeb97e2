//! Image similarity.

use crate::array::{Numbers, check};
use crate::error::{Error, IntoPyErr};
use crate::threads::detached;
use dermis::geometry::limits::MAX_ARRAY_VALUES;
use dermis::sensor::metrics::{ChannelImage, Mask, Metrics, Ssim};
use pyo3::prelude::*;

/// Reads an image with levels 0 to 255, shape (height, width) or (height, width, channels).
fn frame(value: &Bound<'_, PyAny>, what: &str) -> PyResult<ChannelImage> {
    let numbers = Numbers::read(value, what)?;
    let (height, width, channels) = match numbers.shape.as_slice() {
        [height, width] => (*height, *width, 1),
        [height, width, channels] => (*height, *width, *channels),
        _ => return Err(numbers.wrong_shape(what, "(height, width) or (height, width, channels)")),
    };
    let channel = |c: usize| numbers.values.iter().skip(c).step_by(channels).copied().collect();
    ChannelImage::new(what, width, height, (0..channels).map(channel).collect()).into_py_err()
}

fn mask_of(value: &Bound<'_, PyAny>) -> PyResult<Mask> {
    let value = value.py().import("numpy")?.call_method1("asarray", (value,))?;
    check("mask", "values", value.getattr("size")?.extract()?, MAX_ARRAY_VALUES)?;
    let value = value.call_method1("astype", ("uint8",))?;
    let numbers = Numbers::read(&value, "mask")?;
    let &[height, width] = numbers.shape.as_slice() else { return Err(numbers.wrong_shape("mask", "(height, width)")) };
    Mask::new("mask", width, height, numbers.values.iter().map(|&value| value != 0.0).collect()).into_py_err()
}

/// Returns SSIM, PSNR (dB), MAE and RMSE (levels, of 255), and the number of compared pixels.
#[pyfunction]
pub fn compare_images(
    py: Python<'_>,
    truth: &Bound<'_, PyAny>,
    image: &Bound<'_, PyAny>,
    mask: Option<&Bound<'_, PyAny>>,
    window: &str,
) -> PyResult<(f64, f64, f64, f64, usize)> {
    let ssim = match window {
        "uniform" => Ssim::default(),
        "gaussian" => Ssim::gaussian(),
        _ => return Err(Error::new_err(format!("`window` must be \"uniform\" or \"gaussian\", got {window:?}"))),
    };
    let (truth, image) = (frame(truth, "truth")?, frame(image, "image")?);
    let mask = mask.map(mask_of).transpose()?;
    let found = detached(py, || Metrics::compare(&truth, &image, mask.as_ref(), &ssim))?.into_py_err()?;
    Ok((found.ssim, found.psnr_db, found.mae_255, found.rmse_255, found.pixels))
}
