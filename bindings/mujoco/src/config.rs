//! Reads the configuration of a plugin instance.

use crate::PluginError;
use crate::channel::Channel;
use dermis::sensor::{Sensor, SensorSpec, from_table, merge, parse_toml};
use dermis_mujoco_coupling::layout::table;
use dermis_mujoco_coupling::{Coupling, CouplingError, FrameId, Mode, Model};
use serde_json::{Map, Value};
use std::ffi::{CStr, CString};

/// The keys of `<config key="…" value="…"/>`.
pub const KEYS: [&CStr; 10] =
    [c"preset", c"skin", c"parameters", c"mode", c"coupling", c"objects", c"output", c"site", c"body", c"geom"];

/// The configuration of an instance. Names are not looked up in the model yet.
#[derive(Clone, Debug)]
pub struct Config {
    preset: Option<String>,
    skin: Option<String>,
    parameters: Option<String>,
    /// Use of the forces.
    pub mode: Mode,
    /// The instant of the forces in mode `couple`.
    pub coupling: Coupling,
    /// Names of geoms and bodies that the sensor may touch; empty: all that collide.
    pub objects: Vec<String>,
    /// Output channels, in order.
    pub channels: Vec<Channel>,
}

impl Config {
    /// Reads the keys of an instance.
    pub fn read(model: &Model<'_>, instance: i32) -> Result<Self, PluginError> {
        Self::from_keys(|key| model.config(instance, key))
    }

    /// Reads the value of every key from a function.
    pub fn from_keys(key: impl Fn(&CStr) -> Option<String>) -> Result<Self, PluginError> {
        let words = |text: Option<String>| -> Vec<String> {
            let text = text.unwrap_or_default();
            text.split([' ', ',', '\t', '\n']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        let mode = key(c"mode").unwrap_or_else(|| "contacts".into());
        let unknown_mode =
            || PluginError::UnknownWord { key: "mode", known: "sense, couple, contacts", got: mode.clone() };
        let mode = Mode::parse(&mode).ok_or_else(unknown_mode)?;
        let coupling = key(c"coupling").unwrap_or_else(|| "implicit".into());
        let unknown =
            || PluginError::UnknownWord { key: "coupling", known: "implicit, explicit", got: coupling.clone() };
        let coupling = Coupling::parse(&coupling).ok_or_else(unknown)?;
        let mut channels =
            words(key(c"output")).iter().map(|word| Channel::parse(word)).collect::<Result<Vec<_>, _>>()?;
        if channels.is_empty() {
            channels.push(Channel::Normal);
        }
        Ok(Self {
            preset: key(c"preset"),
            skin: key(c"skin"),
            parameters: key(c"parameters"),
            mode,
            coupling,
            objects: words(key(c"objects")),
            channels,
        })
    }

    /// Builds the sensor: the preset or file, its skin replaced by `skin`, then overridden by `parameters`. Without a
    /// preset, `skin` and `parameters` are the whole description.
    pub fn sensor(&self) -> Result<Sensor, PluginError> {
        let read = |key, text: &Option<String>| text.as_deref().map(|text| toml_of(key, text)).transpose();
        let parameters = read("parameters", &self.parameters)?;
        let skin = read("skin", &self.skin)?;
        let Some(preset) = &self.preset else {
            let mut table = Map::from_iter(skin.map(|skin| ("skin".to_owned(), Value::Object(skin))));
            let parameters = parameters.ok_or(PluginError::NoSensor)?;
            merge(&mut table, &parameters).map_err(|bad| bad.of_sensor("", "parameters"))?;
            return Ok(from_table::<SensorSpec>("", "parameters", &table)?.build(None)?);
        };
        let (mut spec, folder) = SensorSpec::find(preset)?;
        if let Some(skin) = skin {
            spec.skin = from_table(&spec.name, "skin", &skin)?;
        }
        Ok(spec.with_overrides(&parameters.unwrap_or_default())?.build(folder)?)
    }
}

/// The frame that the sensor is attached to. It must be given exactly once: by the `<sensor>` elements or by a key.
pub fn frame(model: &Model<'_>, instance: i32) -> Result<FrameId, PluginError> {
    let mut frames: Vec<FrameId> = Vec::new();
    for sensor in model.sensors(instance) {
        let (kind, id) = model.sensor_object(sensor);
        let Ok(id) = usize::try_from(id) else { continue };
        let frame = match kind {
            table::OBJ_SITE => FrameId::Site(id),
            table::OBJ_BODY | table::OBJ_XBODY => FrameId::Body(id),
            table::OBJ_GEOM => FrameId::Geom(id),
            _ => return Err(PluginError::BadFrame),
        };
        if !frames.contains(&frame) {
            frames.push(frame);
        }
    }
    for kind in ["site", "body", "geom"] {
        let key = CString::new(kind).unwrap_or_default();
        if let Some(name) = model.config(instance, &key) {
            let frame = FrameId::find(model, kind, &name);
            frames.push(frame.ok_or(CouplingError::UnknownName { key: kind, kind, name })?);
        }
    }
    match frames[..] {
        [frame] => Ok(frame),
        _ => Err(PluginError::FrameCount { found: frames.len() }),
    }
}

/// Parses TOML in an XML attribute. Attributes lose line ends, so `;` outside quotes separates lines.
fn toml_of(key: &'static str, text: &str) -> Result<Map<String, Value>, PluginError> {
    let mut quote = None;
    let lines: String = text
        .chars()
        .map(|c| {
            match quote {
                None if c == '\'' || c == '"' => quote = Some(c),
                Some(open) if open == c => quote = None,
                _ => {}
            }
            if c == ';' && quote.is_none() { '\n' } else { c }
        })
        .collect();
    parse_toml(key, &lines).map_err(|error| PluginError::BadToml { key, error: error.message })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(preset: Option<&str>, skin: Option<&str>, parameters: Option<&str>) -> Config {
        Config {
            preset: preset.map(str::to_owned),
            skin: skin.map(str::to_owned),
            parameters: parameters.map(str::to_owned),
            mode: Mode::Sense,
            coupling: Coupling::default(),
            objects: Vec::new(),
            channels: Vec::new(),
        }
    }

    #[test]
    fn parameters_change_a_preset_and_leave_the_rest() {
        let stiff = config(Some("uji-foam-14x6"), None, Some("skin.stiffness = '1000 N/m'; surface.grid.rows = 7"));
        let sensor = stiff.sensor().unwrap();
        assert_eq!(sensor.taxels().size(), Some((7, 6)));
        // A texel has 5 × 5 contact points.
        assert!((25.0 * sensor.skin().fully_pressed()[0].tangent.stiffness_normal / 1000.0 - 1.0).abs() < 1e-12);
        assert_eq!(sensor.skin().max_depth_m(), 0.012);
    }

    /// As in scenes: an alternative key removes the old key, a kind alone converts the skin, another kind replaces it.
    #[test]
    fn parameters_follow_the_rules_of_overrides() {
        let stiffness = |parameters: &str| {
            let sensor = config(Some("uji-foam-14x6"), None, Some(parameters)).sensor().unwrap();
            sensor.skin().fully_pressed().iter().map(|support| support.tangent.stiffness_normal).sum::<f64>()
        };
        let area_m2 = 84.0 * 3.85758e-3f64.powi(2);
        let per_area = stiffness("skin.stiffness_per_area = '10 MPa/m'");
        assert!((per_area / (10e6 * area_m2) - 1.0).abs() < 1e-9, "{per_area}");
        let pad = stiffness("skin.kind = 'hydroelastic'");
        assert!((pad / (84.0 * 58.5) - 1.0).abs() < 1e-9, "{pad}");
        let own = stiffness("skin = { kind = 'hydroelastic', hydroelastic_modulus = '60 kPa', thickness = '6 mm' }");
        assert!((own / (10e6 * area_m2) - 1.0).abs() < 1e-9, "{own}");
    }

    #[test]
    fn a_skin_replaces_that_of_a_preset() {
        let soft =
            config(Some("uji-foam-14x6"), Some("kind='springs'; stiffness='5 N/m'; max_penetration='2 mm'"), None);
        assert_eq!(soft.sensor().unwrap().skin().max_depth_m(), 2e-3);
    }

    #[test]
    fn a_sensor_may_be_written_out_in_full() {
        let all = "name = 'pad'; surface.grid = { rows = 2, cols = 3, pitch = '1 mm' }; \
                   skin = { kind = 'springs', stiffness = '5 N/m', max_penetration = '2 mm' }";
        assert_eq!(config(None, None, Some(all)).sensor().unwrap().taxels().len(), 6);
    }

    #[test]
    fn errors_name_the_wrong_value() {
        let message = |config: Config| config.sensor().unwrap_err().to_string();
        assert!(message(config(None, None, None)).contains("`preset`"));
        assert!(message(config(Some("uji"), None, None)).contains("\"uji\""));
        assert!(message(config(Some("wts0614"), None, Some("skin.stifness='1 N/m'"))).contains("stifness"));
        assert!(message(config(Some("wts0614"), None, Some("skin = "))).contains("`parameters`"));
    }
}
