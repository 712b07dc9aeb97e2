//! What an instance is asked to be.

use crate::PluginError;
use crate::channel::Channel;
use crate::layout::table;
use crate::model::{Model, Place};
use dermis::sensor::{Sensor, SensorSpec, from_table, merge};
use serde_json::{Map, Value};
use std::ffi::CStr;

/// The keys of `<config key="…" value="…"/>`.
pub const KEYS: [&CStr; 9] =
    [c"preset", c"skin", c"parameters", c"mode", c"objects", c"output", c"site", c"body", c"geom"];

/// What the forces are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// They are reported.
    Sense,
    /// They also move the bodies, in place of MuJoCo's contact.
    Couple,
}

/// The configuration of an instance, read but not yet looked up in the model.
#[derive(Clone, Debug)]
pub struct Config {
    preset: Option<String>,
    skin: Option<String>,
    parameters: Option<String>,
    /// What the forces are for.
    pub mode: Mode,
    /// Names of what may be touched; empty: everything that takes part in contacts.
    pub objects: Vec<String>,
    /// What is reported.
    pub channels: Vec<Channel>,
}

impl Config {
    /// Reads the keys of an instance.
    pub fn read(model: &Model<'_>, instance: i32) -> Result<Self, PluginError> {
        let key = |key: &CStr| model.config(instance, key);
        let words = |text: Option<String>| -> Vec<String> {
            let text = text.unwrap_or_default();
            text.split([' ', ',', '\t', '\n']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        let mode = match key(c"mode").as_deref() {
            None | Some("sense") => Mode::Sense,
            Some("couple") => Mode::Couple,
            Some(got) => {
                return Err(PluginError::UnknownWord { key: "mode", known: "sense, couple", got: got.to_owned() });
            }
        };
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
            objects: words(key(c"objects")),
            channels,
        })
    }

    /// Builds the sensor: the preset or file, its skin replaced by `skin`, then overridden by `parameters`. Without a preset the two
    /// are the whole description.
    pub fn sensor(&self) -> Result<Sensor, PluginError> {
        let read = |key, text: &Option<String>| text.as_deref().map(|text| toml_of(key, text)).transpose();
        let parameters = read("parameters", &self.parameters)?;
        let skin = read("skin", &self.skin)?;
        let Some(preset) = &self.preset else {
            let mut table = Map::from_iter(skin.map(|skin| ("skin".to_owned(), Value::Object(skin))));
            merge(&mut table, &parameters.ok_or(PluginError::NoSensor)?);
            return Ok(from_table::<SensorSpec>("", "parameters", &table)?.build(None)?);
        };
        let (mut spec, folder) = SensorSpec::find(preset)?;
        if let Some(skin) = skin {
            spec.skin = from_table(&spec.name, "skin", &skin)?;
        }
        Ok(spec.with_overrides(&parameters.unwrap_or_default())?.build(folder)?)
    }
}

/// Where an instance's sensor is: said by its `<sensor>` elements or by a key, once.
pub fn place(model: &Model<'_>, instance: i32) -> Result<Place, PluginError> {
    let mut places: Vec<Place> = Vec::new();
    for sensor in model.sensors(instance) {
        let (kind, id) = model.sensor_object(sensor);
        let Ok(id) = usize::try_from(id) else { continue };
        let place = match kind {
            table::OBJ_SITE => Place::Site(id),
            table::OBJ_BODY | table::OBJ_XBODY => Place::Body(id),
            table::OBJ_GEOM => Place::Geom(id),
            _ => return Err(PluginError::BadPlace),
        };
        if !places.contains(&place) {
            places.push(place);
        }
    }
    for (key, name, what, kind) in [
        (c"site", "site", "site", table::OBJ_SITE),
        (c"body", "body", "body", table::OBJ_BODY),
        (c"geom", "geom", "geom", table::OBJ_GEOM),
    ] {
        let Some(given) = model.config(instance, key) else { continue };
        let id = model.find(kind, &given).ok_or(PluginError::NoSuch { key: name, what, name: given })?;
        places.push(match kind {
            table::OBJ_SITE => Place::Site(id),
            table::OBJ_BODY => Place::Body(id),
            _ => Place::Geom(id),
        });
    }
    match places[..] {
        [place] => Ok(place),
        _ => Err(PluginError::WhereOnce { found: places.len() }),
    }
}

/// TOML in an XML attribute, where line ends are lost: `;` stands for them, outside quotes.
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
    toml::from_str(&lines)
        .map_err(|error: toml::de::Error| PluginError::BadToml { key, error: error.message().to_owned() })
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
            objects: Vec::new(),
            channels: Vec::new(),
        }
    }

    #[test]
    fn parameters_change_a_preset_and_leave_the_rest() {
        let stiff = config(Some("uji-foam-14x6"), None, Some("skin.stiffness = '1000 N/m'; surface.grid.rows = 7"));
        let sensor = stiff.sensor().unwrap();
        assert_eq!(sensor.taxels().size(), Some((7, 6)));
        assert_eq!(sensor.skin().fully_pressed()[0].tangent.stiffness_normal, 1000.0);
        assert_eq!(sensor.skin().max_depth_m(), 0.012);
    }

    /// The rules of scenes: an alternative key removes the old one, a kind alone converts the skin, another kind replaces it.
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
        let own = stiffness("skin = { kind = 'hydroelastic', modulus = '60 kPa', thickness = '6 mm' }");
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
    fn what_is_wrong_is_named() {
        let said = |config: Config| config.sensor().unwrap_err().to_string();
        assert!(said(config(None, None, None)).contains("`preset`"));
        assert!(said(config(Some("uji"), None, None)).contains("\"uji\""));
        assert!(said(config(Some("wts0614"), None, Some("skin.stifness='1 N/m'"))).contains("stifness"));
        assert!(said(config(Some("wts0614"), None, Some("skin = "))).contains("`parameters`"));
    }
}
