//! Flux densities of magnets against golden values.

use super::{ValidateError, read_json};
use dermis::geometry::Vec3;
use dermis::sensor::magnetic::{Cylinder, cuboid, dipole};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Instant;

/// Errors of one magnet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MagnetErrors {
    /// Name of the case.
    pub name: String,
    /// Number of places.
    pub places: usize,
    /// Largest error of the flux density, relative to its size.
    pub worst_rel: f64,
    /// Time (ns) of one place.
    pub ns_per_place: f64,
}

/// The comparison with a golden file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MagneticReport {
    /// The cases, in the order of the file.
    pub cases: Vec<MagnetErrors>,
}

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    moment_am2: Option<f64>,
    diameter_m: Option<f64>,
    height_m: Option<f64>,
    size_m: Option<[f64; 3]>,
    remanence_t: Option<f64>,
    direction: [f64; 3],
    at_m: Vec<[f64; 3]>,
    field_t: Vec<[f64; 3]>,
}

impl Case {
    /// The fields at all places; `None` if the magnet is not described.
    fn fields(&self) -> Option<Vec<Vec3>> {
        let direction = Vec3::from_array(self.direction);
        let places = self.at_m.iter().map(|&at| Vec3::from_array(at));
        if let Some(moment) = self.moment_am2 {
            return Some(places.map(|at| dipole(direction * moment, at)).collect());
        }
        let polarisation = direction * self.remanence_t?;
        if let Some(size) = self.size_m.map(Vec3::from_array) {
            return Some(places.map(|at| cuboid(size, polarisation, at)).collect());
        }
        let cylinder = Cylinder::new(self.diameter_m?, self.height_m?);
        Some(places.map(|at| cylinder.field(polarisation, at)).collect())
    }
}

/// Reads a golden file and compares every case.
pub fn run(path: &Path) -> Result<MagneticReport, ValidateError> {
    let golden: Golden = read_json(path)?;
    let mut cases = Vec::new();
    for case in &golden.cases {
        let bad = |reason: &str| ValidateError::BadCase {
            place: format!("{}: {:?}", path.display(), case.name),
            reason: reason.to_owned(),
        };
        if case.at_m.is_empty() || case.at_m.len() != case.field_t.len() {
            return Err(bad("`at_m` and `field_t` must be of one length"));
        }
        let missing = || bad("needs `moment_am2`, or `remanence_t` with `size_m` or with `diameter_m` and `height_m`");
        let start = Instant::now();
        let found = case.fields();
        let ns_per_place = start.elapsed().as_secs_f64() * 1e9 / case.at_m.len() as f64;
        let errors = found.ok_or_else(missing)?.into_iter().zip(&case.field_t).map(|(found, &truth)| {
            let truth = Vec3::from_array(truth);
            (found - truth).length() / truth.length()
        });
        let worst_rel = errors.fold(0.0, |worst: f64, error| if error.is_nan() { f64::NAN } else { worst.max(error) });
        cases.push(MagnetErrors { name: case.name.clone(), places: case.at_m.len(), worst_rel, ns_per_place });
    }
    Ok(MagneticReport { cases })
}
