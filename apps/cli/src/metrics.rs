//! `dermis metrics`: image similarity.

use crate::console::{say, say_json, short};
use anyhow::Context;
use clap::ValueEnum;
use dermis::geometry::limits::MAX_IMAGE_BYTES;
use dermis::geometry::regular_file;
use dermis::sensor::metrics::{ChannelImage, ImageScore, Mask, Metrics, Ssim};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Compare an image with a reference image: SSIM, PSNR, MAE and RMSE, and the same scores of the background alone.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  dermis metrics truth.png image.png --background rest.png")]
pub struct Arguments {
    /// The reference image, a PNG file.
    #[arg(value_name = "TRUTH.png")]
    truth: PathBuf,
    /// The image to evaluate.
    #[arg(value_name = "IMAGE.png")]
    image: PathBuf,
    /// The image without contact, whose scores serve as a baseline.
    #[arg(long, value_name = "FILE.png")]
    background: Option<PathBuf>,
    /// A mask, white where pixels count; scores inside it are printed as well.
    #[arg(long, value_name = "FILE.png")]
    mask: Option<PathBuf>,
    /// Window of SSIM.
    #[arg(long, value_enum, default_value = "uniform")]
    window: WindowKind,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Windows of SSIM.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum WindowKind {
    /// 7 x 7 pixels, scikit-image's default.
    Uniform,
    /// A Gaussian of 1.5 pixels, as in Wang et al. 2004.
    Gaussian,
}

fn frame(path: &Path) -> anyhow::Result<ChannelImage> {
    let name = path.display().to_string();
    let bytes = regular_file::read(path, MAX_IMAGE_BYTES).with_context(|| format!("{name}: cannot be read"))?;
    Ok(ChannelImage::from_png(name, &bytes)?)
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let (truth, image) = (frame(&arguments.truth)?, frame(&arguments.image)?);
    let background = arguments.background.as_deref().map(frame).transpose()?;
    let mask = arguments.mask.as_deref().map(frame).transpose()?;
    let mask = mask.as_ref().map(Mask::from_frame).transpose()?;
    let ssim = match arguments.window {
        WindowKind::Uniform => Ssim::default(),
        WindowKind::Gaussian => Ssim::gaussian(),
    };
    let score = |mask: Option<&Mask>| -> anyhow::Result<(Metrics, Option<Metrics>)> {
        Ok(match &background {
            Some(background) => {
                let both = ImageScore::new(&truth, &image, background, mask, &ssim)?;
                (both.score, Some(both.null))
            }
            None => (Metrics::compare(&truth, &image, mask, &ssim)?, None),
        })
    };
    let full = score(None)?;
    let masked = mask.as_ref().map(|mask| score(Some(mask))).transpose()?;
    if arguments.json {
        let both = |(score, empty): (Metrics, Option<Metrics>)| json!({ "score": score, "null": empty });
        return say_json(&json!({
            "truth": truth.name(),
            "image": image.name(),
            "full": both(full),
            "mask": masked.map_or(Value::Null, both),
        }));
    }
    say(format!("{:<28} {:>8} {:>9} {:>9} {:>9}", "", "SSIM", "PSNR (dB)", "MAE/255", "RMSE/255"));
    for (place, scores) in [("whole frame", Some(full)), ("inside the mask", masked)] {
        let Some((score, null)) = scores else { continue };
        line(place, &score);
        match null {
            Some(null) => line("  background alone", &null),
            None => say("  background alone             give --background for its scores"),
        }
    }
    Ok(())
}

fn line(what: &str, got: &Metrics) {
    let psnr = if got.psnr_db.is_finite() { format!("{:.2}", got.psnr_db) } else { "equal".into() };
    let (mae, rmse) = (short(got.mae_255), short(got.rmse_255));
    say(format!("{what:<28} {:>8.4} {psnr:>9} {mae:>9} {rmse:>9}", got.ssim));
}
