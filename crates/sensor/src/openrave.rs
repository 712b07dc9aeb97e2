//! The sensor definition of Moisio et al. 2013, Table 2 (OpenRAVE's `AttachedSensor`).

use crate::{FrictionSpec, SensorError, SensorSpec, SkinSpec, SpringsSpec, SurfaceSpec};
use dermis_geometry::quantity::{Damping, Length, Speed, Stiffness};

/// Errors of a definition.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum OpenraveError {
    /// The file is not XML.
    #[error("{file}: not well-formed XML: {reason}")]
    NotXml { file: String, reason: String },
    /// A number that no sensor has.
    #[error("{file}: sensor {sensor:?}: {reason}")]
    OutOfRange { file: String, sensor: String, reason: String },
    /// The file holds no tactile sensor.
    #[error("{file}: holds no <sensor type=\"SimTactileSensor\">")]
    NoSensor { file: String },
    /// A parameter is missing.
    #[error("{file}: sensor {sensor:?} has no <{key}>")]
    Missing { file: String, sensor: String, key: &'static str },
    /// A parameter is not a number.
    #[error("{file}: sensor {sensor:?}: <{key}> must be a finite number in SI units, got {got:?}")]
    NotANumber { file: String, sensor: String, key: &'static str, got: String },
    /// An unknown element.
    #[error(
        "{file}: sensor {sensor:?}: unknown element <{got}>; known are thickness, k, cn, sigma0, sigma1, x0, ct, mus, mud"
    )]
    UnknownElement { file: String, sensor: String, got: String },
}

/// Smallest size of a number in SI, besides 0.
const MIN_NUMBER: f64 = 1e-30;
const KEYS: [&str; 9] = ["thickness", "k", "cn", "sigma0", "sigma1", "x0", "ct", "mus", "mud"];

/// Parses all tactile sensors of a definition. It does not contain the positions of the texels (in OpenRAVE, the
/// vertices of the link's mesh), so the caller gives the `surface`. The maximum depth is twice the thickness (section
/// 3.3.3). Numbers are SI, as in OpenRAVE.
pub fn parse(file: &str, text: &str, surface: &SurfaceSpec) -> Result<Vec<SensorSpec>, OpenraveError> {
    let document = roxmltree::Document::parse(text)
        .map_err(|error| OpenraveError::NotXml { file: file.to_owned(), reason: error.to_string() })?;
    let is_tactile = |node: &roxmltree::Node<'_, '_>| {
        node.tag_name().name().eq_ignore_ascii_case("sensor")
            && node.attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("SimTactileSensor"))
    };
    let sensors: Vec<SensorSpec> =
        document.descendants().filter(is_tactile).map(|node| sensor(file, &node, surface)).collect::<Result<_, _>>()?;
    if sensors.is_empty() { Err(OpenraveError::NoSensor { file: file.to_owned() }) } else { Ok(sensors) }
}

fn sensor(file: &str, node: &roxmltree::Node<'_, '_>, surface: &SurfaceSpec) -> Result<SensorSpec, OpenraveError> {
    let name = node.attribute("name").unwrap_or("sensor").to_owned();
    let known = |tag: &str| KEYS.iter().any(|key| key.eq_ignore_ascii_case(tag));
    if let Some(stranger) = node.children().find(|child| child.is_element() && !known(child.tag_name().name())) {
        let got = stranger.tag_name().name().to_owned();
        return Err(OpenraveError::UnknownElement { file: file.to_owned(), sensor: name, got });
    }
    let number = |key: &'static str| -> Result<f64, OpenraveError> {
        let text = node
            .children()
            .find(|child| child.tag_name().name().eq_ignore_ascii_case(key))
            .map(|child| child.text().unwrap_or_default().trim().to_owned())
            .ok_or_else(|| OpenraveError::Missing { file: file.to_owned(), sensor: name.clone(), key })?;
        let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
        // A number far below any unit would silently become 0 in the sensor file.
        if value.is_some_and(|value| value != 0.0 && value.abs() < MIN_NUMBER) {
            let reason = format!("<{key}> must be 0 or have a size from {MIN_NUMBER:e} on, got {text:?}");
            return Err(OpenraveError::OutOfRange { file: file.to_owned(), sensor: name.clone(), reason });
        }
        let (file, sensor) = (file.to_owned(), name.clone());
        value.ok_or(OpenraveError::NotANumber { file, sensor, key, got: text })
    };
    let link = node
        .parent()
        .and_then(|parent| parent.children().find(|child| child.tag_name().name().eq_ignore_ascii_case("link")))
        .and_then(|link| link.text())
        .map(|link| format!(", attached to link {}", link.trim()))
        .unwrap_or_default();
    let skin = SkinSpec::Springs(SpringsSpec {
        damping: Some(Damping::new(number("cn")?)),
        friction: FrictionSpec::Lugre {
            sigma0: Stiffness::new(number("sigma0")?),
            sigma1: Damping::new(number("sigma1")?),
            viscous: Damping::new(number("ct")?),
            mu_static: number("mus")?,
            mu_dynamic: number("mud")?,
            stribeck_speed: Speed::new(number("x0")?),
        },
        ..SpringsSpec::new(Stiffness::new(number("k")?), Length::new(2.0 * number("thickness")?))
    });
    let description = format!("imported from {file}{link}");
    let spec = SensorSpec { description, ..SensorSpec::new(name, surface.clone(), skin) };
    // The sensor is the one of the file that is written: numbers that it could not hold are refused here.
    match SensorSpec::parse(file, &spec.to_toml()) {
        Ok(read) => Ok(read),
        Err(error) => {
            let reason = match error {
                SensorError::Toml(error) => error.message,
                other => other.to_string(),
            };
            Err(OpenraveError::OutOfRange { file: file.to_owned(), sensor: spec.name, reason })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::quantity::Length;

    /// The values of Table 2, in a definition written for this test.
    const DEFINITION: &str = r#"<Robot><AttachedSensor><link>object1</link>
        <sensor name="T1" type="SimTactileSensor">
            <thickness>0.006</thickness><k>58.5</k><cn>0.0583</cn><sigma0>1.0</sigma0><sigma1>0.1</sigma1>
            <x0>0.3</x0><ct>0.01</ct><mus>0.435</mus><mud>0.23</mud>
        </sensor></AttachedSensor></Robot>"#;

    fn grid() -> SurfaceSpec {
        SurfaceSpec::Grid { rows: 14, cols: 6, pitch: Length::new(3.85758e-3) }
    }

    #[test]
    fn table_2_becomes_a_sensor() {
        let specs = parse("robot.xml", DEFINITION, &grid()).unwrap();
        assert_eq!(specs.len(), 1);
        assert_eq!(specs[0].name, "T1");
        assert!(specs[0].description.contains("object1"));
        let sensor = specs[0].build(None).unwrap();
        assert_eq!(sensor.taxels().len(), 84);
        assert!((sensor.skin().max_depth_m() - 0.012).abs() < 1e-15);
    }

    #[test]
    fn slips_are_named() {
        let without = DEFINITION.replace("<k>58.5</k>", "");
        let message = parse("robot.xml", &without, &grid()).unwrap_err().to_string();
        assert!(message.contains("robot.xml") && message.contains("<k>"), "{message}");
        let wrong = DEFINITION.replace("58.5", "soft");
        assert!(parse("robot.xml", &wrong, &grid()).unwrap_err().to_string().contains("\"soft\""));
        let huge = parse("robot.xml", &DEFINITION.replace("0.435", "1e14"), &grid()).unwrap_err().to_string();
        assert!(huge.contains("\"T1\"") && huge.contains("mu_static"), "{huge}");
        let tiny = parse("robot.xml", &DEFINITION.replace("0.006", "1e-261"), &grid()).unwrap_err().to_string();
        assert!(tiny.contains("\"T1\": <thickness>") && tiny.contains("1e-261"), "{tiny}");
        let stranger = DEFINITION.replace("<k>58.5</k>", "<k>58.5</k><kk>1</kk>");
        assert!(parse("robot.xml", &stranger, &grid()).unwrap_err().to_string().contains("<kk>"));
        assert!(matches!(parse("robot.xml", "<a>", &grid()), Err(OpenraveError::NotXml { .. })));
        assert!(matches!(parse("robot.xml", "<a/>", &grid()), Err(OpenraveError::NoSensor { .. })));
    }
}
