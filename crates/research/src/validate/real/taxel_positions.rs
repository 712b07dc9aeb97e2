//! Published positions and normals of taxels against those of a sensor, whatever the frame.

use super::row::{Comparison, Measure, NULL, PRESET};
use super::score::{Sample, Statistic};
use super::table::text_of;
use super::{RealError, Setting};
use dermis::geometry::Vec3;
use std::path::Path;

/// Compares distances between taxels and angles between normals.
pub fn compare(setting: &Setting<'_>, file: &Path) -> Result<Comparison, RealError> {
    let path = setting.folder.join(file);
    let text = text_of(&path)?;
    let shown = path.display().to_string();
    let (centers, normals) = (triples(&text, "taxels"), triples(&text, "normals"));
    let bad = |rule: String| RealError::Bad { what: shown.clone(), rule };
    if centers.len() < 2 || normals.len() != centers.len() {
        return Err(bad(format!(
            "needs lists `taxels` and `normals` of the same length, found {} and {}",
            centers.len(),
            normals.len()
        )));
    }
    let sensor = setting.spec()?.build(None)?;
    let (own_centers, own_normals) = (sensor.taxels().centers(), sensor.taxels().normals());
    if own_centers.len() != centers.len() {
        let sensor = sensor.name().to_owned();
        return Err(RealError::OtherSensor { path: shown, found: centers.len(), sensor, taxels: own_centers.len() });
    }
    let n = centers.len();
    let pairs: Vec<(usize, usize)> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect();
    let distance = |points: &[Vec3], (i, j): (usize, usize)| 1e3 * (points[i] - points[j]).length();
    let angle = |normals: &[Vec3], (i, j): (usize, usize)| {
        normals[i].normalize().dot(normals[j].normalize()).clamp(-1.0, 1.0).acos().to_degrees()
    };
    let per_taxel = |off: &dyn Fn((usize, usize)) -> f64| -> Vec<Sample> {
        let of = |taxel: usize| {
            let own = pairs.iter().filter(|pair| pair.0 == taxel || pair.1 == taxel);
            Sample { error: own.map(|&pair| off(pair).powi(2)).sum(), weight: (n - 1) as f64 }
        };
        (0..n).map(of).collect()
    };
    let mut places = Measure::new("places", "distances between taxels: rms error (mm)", Statistic::Rms);
    places.add(PRESET, &per_taxel(&|pair| distance(own_centers, pair) - distance(&centers, pair)));
    places.add(NULL, &per_taxel(&|pair| distance(&centers, pair)));
    let mut angles = Measure::new("normals", "angles between normals: rms error (°)", Statistic::Rms);
    angles.add(PRESET, &per_taxel(&|pair| angle(own_normals, pair) - angle(&normals, pair)));
    angles.add(NULL, &per_taxel(&|pair| angle(&normals, pair)));
    let notes = vec!["geometry only: no readings are published; the null model has all taxels at one place".to_owned()];
    Ok(Comparison {
        samples: n,
        fitted: "nothing".into(),
        measures: vec![places, angles],
        notes,
        ..Comparison::default()
    })
}

/// Lists of three numbers after a key.
fn triples(text: &str, key: &str) -> Vec<Vec3> {
    let Some((_, after)) = text.split_once(&format!("{key}:")) else { return Vec::new() };
    let mut found = Vec::new();
    for part in after.split('[').skip(1) {
        let Some((inside, rest)) = part.split_once(']') else { continue };
        let numbers: Vec<f64> = inside.split(',').filter_map(|number| number.trim().parse().ok()).collect();
        if let [x, y, z] = numbers[..] {
            found.push(Vec3::new(x, y, z));
        }
        // Another bracket ends the list.
        if rest.trim_start_matches([',', ' ', '\n', '\r', '\t']).starts_with(']') {
            break;
        }
    }
    found
}
