//! The sensor of a command: a preset or a file, with overrides.

use crate::set::SetArguments;
use anyhow::Context;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dermis::sensor::{Sensor, SensorSpec, SkinKind};
use std::path::Path;

#[derive(clap::Args)]
pub struct SensorArguments {
    /// A preset (see `dermis sensors`) or a .toml file.
    #[arg(long, value_name = "NAME|FILE")]
    pub sensor: String,
    /// Replaces the skin by the closest one of another kind: for springs on a grid, `hydroelastic` gives a pad and `layer` an elastic
    /// layer of the same stiffness.
    #[arg(long, value_parser = PossibleValuesParser::new(SkinKind::NAMES).try_map(|name| name.parse::<SkinKind>()))]
    skin: Option<SkinKind>,
    #[command(flatten)]
    set: SetArguments,
}

impl SensorArguments {
    /// Builds the sensor.
    pub fn build(&self) -> anyhow::Result<Sensor> {
        let (spec, folder) = self.spec()?;
        let sensor = spec.build(folder);
        if folder.is_some() { sensor.with_context(|| self.sensor.clone()) } else { Ok(sensor?) }
    }

    /// The sensor's description with all overrides, and the folder of its file.
    pub fn spec(&self) -> anyhow::Result<(SensorSpec, Option<&Path>)> {
        let (mut spec, folder) = SensorSpec::find(&self.sensor)?;
        if let Some(folder) = folder {
            spec = spec.with_files_in(folder);
        }
        if let Some(kind) = self.skin {
            spec = spec.with_skin(kind)?;
        }
        Ok((self.set.of_sensor(&spec)?, folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(set: &[&str]) -> SensorArguments {
        SensorArguments { sensor: "uji-foam-14x6".to_owned(), skin: None, set: SetArguments::of(set) }
    }

    fn stiffness(set: &[&str]) -> f64 {
        arguments(set).build().unwrap().skin().fully_pressed()[0].tangent.stiffness_normal
    }

    /// Contact points of a texel.
    const POINTS: f64 = 25.0;

    #[test]
    fn entries_of_a_description_are_set() {
        assert!((POINTS * stiffness(&["skin.stiffness = '1000 N/m'"]) / 1000.0 - 1.0).abs() < 1e-12);
        assert_eq!(stiffness(&["skin.stiffness=1 N/mm", "contact_points = 1"]), 1000.0);
        let area_m2 = 3.85758e-3f64.powi(2);
        let per_area = stiffness(&["skin.stiffness_per_area = \"10 MPa/m\""]);
        assert!((POINTS * per_area / (10e6 * area_m2) - 1.0).abs() < 1e-9, "{per_area}");
    }

    #[test]
    fn wrong_entries_are_named() {
        let message = |set: &str| arguments(&[set]).build().unwrap_err().to_string();
        assert!(message("skin.stifness=1 N/m").contains("`skin.stifness`"));
        assert!(message("skin.stiffness").contains("KEY=VALUE"));
        assert!(message("skin.kind=sponge").contains("`skin.kind`"));
    }
}
