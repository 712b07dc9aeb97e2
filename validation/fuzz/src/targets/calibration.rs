//! Images and tables of the calibrators.

use super::said;
use crate::limits::skip_beyond;
use dermis::sensor::metrics::ChannelImage;
use dermis::sensor::optics::FloatImage;
use dermis::sensor::{Image, image};
use dermis_research::ball_presses::BallPresses;
use std::path::Path;

pub fn png(bytes: &[u8], _: &Path) -> Result<(), String> {
    let _ = (FloatImage::from_png("a.png", bytes), ChannelImage::from_png("a.png", bytes));
    let decoded = Image::decode_png(bytes).map_err(said)?;
    assert_eq!(decoded.pixels().len(), decoded.width() * decoded.height(), "pixels are missing");
    if decoded.pixels().len() < 1 << 16 {
        for file in [decoded.encode_png(), decoded.encode_png_fast(), decoded.encode_png_figure()] {
            let again = Image::decode_png(&file).expect("an image of our own is read");
            assert_eq!(again.pixels(), decoded.pixels(), "an image does not round-trip");
        }
        let grey: Vec<u8> = decoded.pixels().iter().map(|pixel| pixel[0]).collect();
        assert!(image::encode_grey8(decoded.width(), decoded.height(), &grey).is_some());
    }
    Ok(())
}

/// Runs a command of the program; its sentence went to the terminal, which a campaign closes.
fn command(bytes: &[u8], folder: &Path, before: &[&str], after: &[&str]) -> Result<(), String> {
    let path = folder.join("table.csv");
    std::fs::write(&path, bytes).map_err(said)?;
    skip_beyond();
    let mut words = vec!["dermis".into()];
    words.extend(before.iter().map(Into::into));
    words.push(path.into_os_string());
    words.extend(after.iter().map(Into::into));
    match dermis_cli::run_command(words) {
        0 => Ok(()),
        code => Err(format!("exit code {}", char::from(b'0' + code % 10))),
    }
}

pub fn stiffness(bytes: &[u8], folder: &Path) -> Result<(), String> {
    command(bytes, folder, &["calibrate", "stiffness"], &["--json"])
}

pub fn friction(bytes: &[u8], folder: &Path) -> Result<(), String> {
    command(bytes, folder, &["calibrate", "friction"], &["--normal-force", "5N", "--json"])
}

pub fn taxels(bytes: &[u8], folder: &Path) -> Result<(), String> {
    command(bytes, folder, &["calibrate", "taxels"], &["--sensor", "wts0614", "--json"])
}

pub fn creep(bytes: &[u8], folder: &Path) -> Result<(), String> {
    command(bytes, folder, &["calibrate", "creep"], &["--sensor", "wts0614", "--json"])
}

pub fn labels(bytes: &[u8], folder: &Path) -> Result<(), String> {
    let (background, table) = (folder.join("ball.png"), folder.join("labels.csv"));
    if !background.exists() {
        std::fs::write(&background, Image::new(24, 16, [90, 100, 110]).encode_png()).map_err(said)?;
    }
    std::fs::write(&table, bytes).map_err(said)?;
    let read = BallPresses::read(&background, &table).map_err(said)?;
    for press in &read.presses {
        let label = press.label;
        assert!(label.column.is_finite() && label.row.is_finite() && label.radius > 0.0, "a label is not finite");
    }
    Ok(())
}
