//! Images and tables of the calibrators.

use super::said;
use crate::limits::skip_beyond;
use dermis::sensor::metrics::ChannelImage;
use dermis::sensor::optics::FloatImage;
use dermis::sensor::{Image, SensorSpec, image};
use dermis_research::ball_presses::BallPresses;
use std::ffi::OsString;
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

/// A pad of 2 × 2 taxels: its tables are short.
pub const PAD: &str = r#"name = "pad"
contact_points = 3
surface.grid = { rows = 2, cols = 2, pitch = "3 mm" }

[skin]
kind = "springs"
stiffness = "2 N/mm"
damping = "2 N s/m"
max_penetration = "3 mm"

[response]
force_per_count = "1 mN"
bits = 12
quantised = true

[[response.creep]]
amplitude = 0.2
time = "0.3 s"
"#;

/// Runs a command of the program with a table.
fn command(bytes: &[u8], folder: &Path, before: &[&str], after: &[OsString]) -> Result<(), String> {
    let path = folder.join("table.csv");
    std::fs::write(&path, bytes).map_err(said)?;
    skip_beyond();
    let mut words = vec!["dermis".into()];
    words.extend(before.iter().map(Into::into));
    words.push(path.into_os_string());
    words.extend(after.iter().cloned());
    words.push("--json".into());
    dermis_cli::try_command(words).map_err(|failed| failed.sentence)
}

pub fn stiffness(bytes: &[u8], folder: &Path) -> Result<(), String> {
    command(bytes, folder, &["calibrate", "stiffness"], &[])
}

pub fn friction(bytes: &[u8], folder: &Path) -> Result<(), String> {
    command(bytes, folder, &["calibrate", "friction"], &["--normal-force".into(), "5N".into()])
}

/// Fits the pad; an accepted table is fitted again into a folder, and the sensor there is one that can be used.
fn fit_pad(what: &str, bytes: &[u8], folder: &Path) -> Result<(), String> {
    let (pad, fit) = (folder.join("pad.toml"), folder.join("fit"));
    if !pad.exists() {
        std::fs::write(&pad, PAD).map_err(said)?;
    }
    let mut flags = vec!["--sensor".into(), pad.into_os_string()];
    command(bytes, folder, &["calibrate", what], &flags)?;
    let _ = std::fs::remove_dir_all(&fit);
    flags.extend(["--out".into(), fit.clone().into_os_string()]);
    command(bytes, folder, &["calibrate", what], &flags)?;
    let text = std::fs::read_to_string(fit.join("sensor.toml")).map_err(said)?;
    let spec = SensorSpec::parse("sensor.toml", &text).expect("a sensor of our own is read");
    let again = SensorSpec::parse("again.toml", &spec.to_toml()).expect("a sensor of our own is read");
    assert_eq!(again, spec, "a fitted sensor does not round-trip");
    spec.build(None).expect("a sensor of our own is built");
    Ok(())
}

pub fn taxels(bytes: &[u8], folder: &Path) -> Result<(), String> {
    fit_pad("taxels", bytes, folder)
}

pub fn creep(bytes: &[u8], folder: &Path) -> Result<(), String> {
    fit_pad("creep", bytes, folder)
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
