//! Defects of an object's surface, as described in a scene or a flag.

use super::{ObjectError, ObjectSpec};
use dermis_geometry::quantity::Length;
use dermis_geometry::{Bounds, Roughness, TriMesh, Vec3};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::str::FromStr;

/// Distance from the tip (m) within which an indenter is scratched: the region in contact.
const SCRATCHED_FROM_TIP_M: f64 = 1e-3;

/// A surface that is rough and scratched: `{ rms = "20 um", wavelength = "0.5 mm", scratches = 5, seed = 1 }`. As a
/// flag, `rms=20um,wavelength=0.5mm,scratches=5,seed=1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoughnessSpec {
    /// Root mean square of the height over the whole surface.
    pub rms: Length,
    /// Distance from crest to crest.
    pub wavelength: Length,
    /// Number of scratches; on an indenter all within 1 mm of its tip, on other shapes anywhere.
    #[serde(default)]
    pub scratches: usize,
    /// Width of a scratch; its length is twenty times the width.
    #[serde(default = "scratch_width")]
    pub scratch_width: Length,
    /// Depth of a scratch.
    #[serde(default = "scratch_depth")]
    pub scratch_depth: Length,
    /// Seed of the random defects.
    #[serde(default)]
    pub seed: u64,
}

fn scratch_width() -> Length {
    Length::new(Roughness::default().scratch_width_m)
}

fn scratch_depth() -> Length {
    Length::new(Roughness::default().scratch_depth_m)
}

impl RoughnessSpec {
    /// Returns the roughened mesh of a shape.
    pub fn apply(&self, shape: &ObjectSpec, mesh: &TriMesh) -> Result<TriMesh, ObjectError> {
        let bounds = mesh.bounds();
        let tip = Vec3::new(bounds.max.x, bounds.max.y, bounds.min.z + SCRATCHED_FROM_TIP_M);
        let rough = Roughness {
            rms_m: self.rms.si(),
            wavelength_m: self.wavelength.si(),
            scratches: self.scratches,
            scratch_width_m: self.scratch_width.si(),
            scratch_depth_m: self.scratch_depth.si(),
            scratched: matches!(shape, ObjectSpec::Indenter { .. }).then_some(Bounds { min: bounds.min, max: tip }),
            seed: self.seed,
        };
        Ok(rough.apply(mesh)?)
    }
}

impl FromStr for RoughnessSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut fields = Map::new();
        for piece in text.split(',').map(str::trim) {
            let (key, value) = piece
                .split_once('=')
                .ok_or_else(|| format!("{piece:?} is no key with a value; write rms=20um,wavelength=0.5mm,seed=1"))?;
            let (key, value) = (key.trim(), value.trim());
            let value = match key {
                "scratches" | "seed" => {
                    json!(value.parse::<u64>().map_err(|_| format!("`{key}` must be a whole number, got {value:?}"))?)
                }
                _ => json!(value),
            };
            fields.insert(key.to_owned(), value);
        }
        serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_and_files_say_the_same() {
        let flag: RoughnessSpec = "rms=20um, wavelength=0.5mm,scratches=5,seed=1".parse().unwrap();
        let file = r#"{"rms": "20 um", "wavelength": "0.5 mm", "scratches": 5, "seed": 1}"#;
        assert_eq!(flag, serde_json::from_str(file).unwrap());
        assert!((flag.rms.si() - 20e-6).abs() < 1e-18);
        assert_eq!((flag.scratches, flag.seed), (5, 1));
    }

    #[test]
    fn slips_are_named() {
        let message = |text: &str| text.parse::<RoughnessSpec>().unwrap_err();
        assert!(message("rms=20um").contains("wavelength"), "{}", message("rms=20um"));
        assert!(message("rms=20,wavelength=1mm").contains("unit"), "{}", message("rms=20,wavelength=1mm"));
        assert!(message("rms=20um,wavelength=1mm,depth=1mm").contains("`depth`"));
        assert!(message("rms=20um,wavelength=1mm,seed=one").contains("\"one\""));
        assert!(message("20um").contains("\"20um\""));
    }

    /// All scratches of an indenter lie in its contact region.
    #[test]
    fn an_indenter_is_scratched_at_its_tip() {
        let spec = ObjectSpec::Indenter { name: "hexagon".into() };
        let rough = |scratches| {
            let text = format!("rms=0.001um,wavelength=2mm,scratch_width=0.8mm,scratches={scratches},seed=1");
            spec.object(None, Some(&text.parse().unwrap())).unwrap().surface.mesh().clone()
        };
        let taken = |scratches| rough(0).volume_m3() - rough(scratches).volume_m3();
        // 8 w² d for a whole scratch; at the edge of an 8 mm hexagon a part of each is lost.
        let whole = 8.0 * 0.8e-3 * 0.8e-3 * 50e-6;
        assert!(taken(4) > 0.25 * 4.0 * whole && taken(4) < 4.0 * whole, "{} of {whole}", taken(4));
    }
}
