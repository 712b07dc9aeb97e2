//! The sensors that ship with dermis: every TOML file under `crates/sensor/presets`.

use crate::{SensorError, SensorSpec};

/// Name and text of every file in `presets`, sorted by name; the build script writes the list.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/presets.rs"));

/// Names of the presets, in alphabetical order.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// TOML text of a preset.
pub fn text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Finds a preset by name.
pub fn find(name: &str) -> Result<SensorSpec, SensorError> {
    let unknown = || SensorError::Unknown {
        name: name.to_owned(),
        meant: crate::did_you_mean(name, names()),
        known: names().collect::<Vec<_>>().join(", "),
    };
    SensorSpec::parse(&format!("preset {name}"), text(name).ok_or_else(unknown)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_builds_and_has_its_own_name() {
        for name in names() {
            let spec = find(name).unwrap();
            assert_eq!(spec.name, name);
            let sensor = spec.build(None).unwrap();
            assert!(!sensor.taxels().is_empty());
            assert!(!spec.description.is_empty());
        }
    }

    /// A round trip through TOML, and through JSON, which overrides use.
    #[test]
    fn presets_survive_being_written_and_read() {
        for name in names() {
            let spec = find(name).unwrap();
            let text = spec.to_toml();
            assert_eq!(SensorSpec::parse("again", &text).unwrap(), spec);
            let same = serde_json::json!({ "name": name });
            assert_eq!(spec.with_overrides(same.as_object().unwrap()).unwrap().to_toml(), text);
        }
    }

    /// The body is not a measured one: the taxels are no farther from it than the description says, half of them on
    /// either side of the finger, and their normals are within 26° of the normals of the body.
    #[test]
    fn the_taxels_of_the_shadow_fingertip_lie_on_its_skin() {
        let sensor = find("shadow-fingertip").unwrap().build(None).unwrap();
        let taxels = sensor.taxels();
        assert_eq!(taxels.len(), 12);
        let skin = dermis_geometry::Surface::new(sensor.surface().clone());
        let (mut farthest, mut lean) = (0.0f64, 0.0f64);
        for (&center, normal) in taxels.centers().iter().zip(taxels.normals()) {
            let on_skin = skin.closest(center);
            farthest = farthest.max(on_skin.distance);
            lean = lean.max(on_skin.normal.dot(*normal).acos().to_degrees());
        }
        assert!(farthest < 0.3e-3, "{farthest} m");
        assert!(lean < 26.0, "{lean} degrees");
        assert!(taxels.areas_m2().iter().all(|&area| area > 1e-5), "{:?}", taxels.areas_m2());
    }

    /// Kappassov 2020, Fig. 5: raw 0 up to 0.2 N and 3840 at 1.8 N under an indenter, whose load the paper spreads over
    /// the neighbours; here all tactels are loaded equally, so the spread has no effect.
    #[test]
    fn the_wts0614_has_the_papers_line() {
        let sensor = find("wts0614").unwrap().build(None).unwrap();
        assert_eq!(sensor.taxels().size(), Some((14, 6)));
        let middle = 7 * 6 + 3;
        let raw = |newton: f64| sensor.chain().respond_at_once(&[newton; 84]).raw[middle];
        assert_eq!(raw(0.2), 0);
        assert!((f64::from(raw(1.8)) / 3840.0 - 1.0).abs() < 0.01, "{}", raw(1.8));
        assert_eq!(raw(5.0), 4095);
    }

    /// Eq. (18) with the parameters of the paper gives 58.4 N/m; the preset holds the printed value.
    #[test]
    fn the_foam_has_the_papers_numbers() {
        let sensor = find("uji-foam-14x6").unwrap().build(None).unwrap();
        assert_eq!(sensor.taxels().size(), Some((14, 6)));
        let area: f64 = sensor.taxels().areas_m2().iter().sum();
        assert!((area - 1.25e-3).abs() < 1e-8, "{area}");
    }
}
