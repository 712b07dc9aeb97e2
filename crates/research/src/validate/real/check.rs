//! Checks a new data set and says what is missing: `dermis validate real --new DIR`.

use super::find::{DESCRIPTION, Found, set_of, shipped};
use super::{Data, Options, RealError, Setting};
use serde::Serialize;
use std::path::Path;

/// One finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// True if this part is complete.
    pub ok: bool,
    /// What was found, or what is missing.
    pub text: String,
}

/// A description to start from.
pub const TEMPLATE: &str = r#"name = "my-sensor"
source = "who measured it, where it is published, its licence"
get = "how others get the data"

[[row]]
sensor = "gelsight"            # a preset (`dermis sensors`) or a .toml file in this folder
fit = 10                       # samples to fit; the others are kept out

[row.data]
kind = "ball-images"
background = "background.png"  # image without contact
labels = "labels.csv"          # file,center_x_px,center_y_px,contact_radius_px
ball = "4 mm"                  # diameter
pixel = "0.03 mm"
"#;

/// Checks a folder: its description, the sensors, the files, and that every row can be compared.
pub fn check(folder: &Path) -> Result<Vec<Finding>, RealError> {
    let good = |text: String| Finding { ok: true, text };
    let missing = |text: String| Finding { ok: false, text };
    let mut findings = Vec::new();
    if !folder.is_dir() {
        return Ok(vec![missing(format!("{}: is no folder", folder.display()))]);
    }
    let has_own = folder.join(DESCRIPTION).is_file();
    let set = match set_of(folder, &shipped()?) {
        Err(error) => return Ok(vec![missing(error.to_string())]),
        Ok(None) => {
            let text =
                format!("{DESCRIPTION} is missing; start from this one (keys: docs/real-sensors.md):\n\n{TEMPLATE}");
            return Ok(vec![missing(text)]);
        }
        Ok(Some(set)) => set,
    };
    findings.push(good(match has_own {
        true => format!("{DESCRIPTION} describes {:?} with {} rows", set.name, set.row.len()),
        false => Found::in_folder(set.clone(), folder)
            .note
            .unwrap_or_else(|| format!("no {DESCRIPTION}, but the files of the public data set {:?}", set.name)),
    }));
    if has_own && set.source.is_empty() {
        findings.push(missing("`source` is missing: who measured it, and its licence".into()));
    }
    for row in &set.row {
        let name = row.name();
        let setting = Setting { folder, sensor: &row.sensor, skin: row.skin.as_deref(), fit: row.fit };
        let has_model = !matches!(row.data, Data::NoModel { .. });
        if let (true, Err(error)) = (has_model, setting.spec()) {
            findings.push(missing(format!("{name}: {error}")));
            continue;
        }
        let absent: Vec<String> = row
            .data
            .files()
            .into_iter()
            .filter(|file| !folder.join(file).is_file())
            .map(|file| file.display().to_string())
            .collect();
        if !absent.is_empty() {
            findings.push(missing(format!("{name}: files are missing: {}", absent.join(", "))));
            continue;
        }
        findings.push(match row.compare(folder, &Options::default()) {
            Err(error) => missing(format!("{name}: {error}")),
            Ok(done) => {
                let kept_out = done.kept_out.len();
                let counts = format!("{} samples, {} fitted, {kept_out} kept out", done.samples, done.fitted_on);
                let parts: Vec<String> = std::iter::once(counts).chain(done.clipped(row.fit)).collect();
                good(format!("{name}: {}", parts.join("; ")))
            }
        });
    }
    Ok(findings)
}
