//! Objects on a command line: `cuboid:size=20mm,20mm,10mm`.

use super::{ObjectError, ObjectSpec};
use dermis_geometry::files::LengthUnit;
use dermis_geometry::quantity::Length;
use dermis_geometry::shapes::indenters;
use serde_json::{Map, Value, json};

/// The kind of value of a key.
#[derive(Clone, Copy)]
enum Takes {
    Length,
    Lengths,
    Count,
    Indenter,
}

/// A shape, and its keys with the kinds of their values and their defaults.
type Shape = (&'static str, &'static [(&'static str, Takes, &'static str)]);

const EDGE: (&str, Takes, &str) = ("edge", Takes::Length, "");

const SHAPES: &[Shape] = &[
    ("sphere", &[("radius", Takes::Length, "10mm"), EDGE]),
    ("ellipsoid", &[("semi_axes", Takes::Lengths, "15mm,10mm,8mm"), EDGE]),
    ("cuboid", &[("size", Takes::Lengths, "20mm,20mm,10mm")]),
    ("cylinder", &[("radius", Takes::Length, "8mm"), ("length", Takes::Length, "30mm"), EDGE]),
    ("capsule", &[("radius", Takes::Length, "6mm"), ("length", Takes::Length, "20mm"), EDGE]),
    ("cone", &[("radius", Takes::Length, "8mm"), ("height", Takes::Length, "15mm"), EDGE]),
    ("torus", &[("major", Takes::Length, "8mm"), ("minor", Takes::Length, "3mm"), EDGE]),
    ("prism", &[("sides", Takes::Count, "6"), ("radius", Takes::Length, "8mm"), ("length", Takes::Length, "30mm")]),
    ("spray-bottle", &[EDGE]),
    ("fingertip", &[EDGE]),
    ("indenter", &[("name", Takes::Indenter, "sphere")]),
];

/// Names of the shapes that need no file.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHAPES.iter().map(|(name, _)| *name)
}

pub fn parse(text: &str, unit: Option<LengthUnit>) -> Result<ObjectSpec, ObjectError> {
    let (name, sizes) = text.split_once(':').unwrap_or((text, ""));
    if name.trim() == "points" {
        return points(text, sizes, unit);
    }
    let Some(&(shape, keys)) = SHAPES.iter().find(|(known, _)| *known == name.trim()) else {
        if text.contains(['/', '\\', '.']) {
            return Ok(ObjectSpec::Mesh { file: text.into(), unit, repair: false });
        }
        return Err(ObjectError::Unknown {
            name: name.to_owned(),
            meant: crate::did_you_mean(name.trim(), names()),
            known: names().collect::<Vec<_>>().join(", "),
        });
    };
    if unit.is_some() {
        let (key, _, default) = keys[0];
        let default = if default.is_empty() { "1mm" } else { default };
        return Err(ObjectError::UnitOfShape { given: text.to_owned(), example: format!("{shape}:{key}={default}") });
    }
    let mut fields = Map::new();
    for (key, takes, default) in keys.iter().filter(|(_, _, default)| !default.is_empty()) {
        fields.insert((*key).to_owned(), value(*takes, default).unwrap_or_default());
    }
    // The name is the only key of an indenter and may be omitted.
    let named = shape == "indenter" && !sizes.trim().is_empty() && !sizes.contains('=');
    let given = if named { vec![("name".to_owned(), sizes.trim().to_owned())] } else { pairs(sizes) };
    for (key, written) in given {
        let unknown = || ObjectError::UnknownKey {
            given: text.to_owned(),
            shape,
            key: key.clone(),
            meant: crate::did_you_mean(&key, keys.iter().map(|(known, ..)| *known)),
            known: keys.iter().map(|(key, ..)| format!("`{key}`")).collect::<Vec<_>>().join(", "),
        };
        let &(_, takes, default) = keys.iter().find(|(known, ..)| *known == key).ok_or_else(unknown)?;
        let read = value(takes, &written).map_err(|reason| ObjectError::BadValue {
            given: text.to_owned(),
            shape,
            key: key.clone(),
            reason,
            example: format!("{shape}:{key}={}", if default.is_empty() { "1mm" } else { default }),
        })?;
        fields.insert(key, read);
    }
    serde_json::from_value(json!({ shape: fields })).map_err(|error| ObjectError::BadValue {
        given: text.to_owned(),
        shape,
        key: keys[0].0.to_owned(),
        reason: error.to_string(),
        example: format!("{shape}:{}={}", keys[0].0, keys[0].2),
    })
}

/// Parses a point cloud: a file and a radius.
fn points(text: &str, rest: &str, unit: Option<LengthUnit>) -> Result<ObjectSpec, ObjectError> {
    let bad = |what: &str| ObjectError::Points { given: text.to_owned(), what: what.to_owned() };
    let (mut file, mut radius) = (None, None);
    for piece in rest.split(',').map(str::trim).filter(|piece| !piece.is_empty()) {
        match piece.split_once('=') {
            Some(("radius", value)) => {
                radius = Some(value.parse::<Length>().map_err(|error| bad(&format!("a radius that is one: {error}")))?);
            }
            Some((key, _)) => return Err(bad(&format!("no `{key}`"))),
            None => file = Some(piece.into()),
        }
    }
    Ok(ObjectSpec::Points {
        file: file.ok_or_else(|| bad("a file"))?,
        unit: unit.ok_or_else(|| bad("a unit (`--unit`)"))?,
        radius: radius.ok_or_else(|| bad("a `radius`"))?,
    })
}

/// Splits `a=1,b=2,3` into a → `1` and b → `2,3`.
fn pairs(sizes: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for piece in sizes.split(',').map(str::trim).filter(|piece| !piece.is_empty()) {
        match (piece.split_once('='), pairs.last_mut()) {
            (Some((key, value)), _) => pairs.push((key.trim().to_owned(), value.trim().to_owned())),
            (None, Some((_, value))) => *value = format!("{value},{piece}"),
            (None, None) => pairs.push((piece.to_owned(), String::new())),
        }
    }
    pairs
}

fn value(takes: Takes, text: &str) -> Result<Value, String> {
    let length = |text: &str| text.parse::<Length>().map_err(|error| error.to_string()).map(|length| json!(length));
    match takes {
        Takes::Length => length(text),
        Takes::Count => text.parse::<usize>().map_err(|_| format!("{text:?} is not a whole number")).map(|n| json!(n)),
        Takes::Indenter => match indenters::NAMES.contains(&text) {
            true => Ok(json!(text)),
            false => Err(format!("{text:?} is none of {}", indenters::NAMES.join(", "))),
        },
        Takes::Lengths => {
            let all: Vec<Value> = text.split(',').map(length).collect::<Result<_, _>>()?;
            if all.len() == 3 { Ok(Value::Array(all)) } else { Err(format!("{text:?} is not three lengths")) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_shapes() {
        let sphere = ObjectSpec::Sphere { radius: Length::new(5e-3), edge: None };
        assert_eq!(parse("sphere:radius=5mm", None).unwrap(), sphere);
        let size = [0.02, 0.03, 0.01].map(Length::new);
        assert_eq!(parse("cuboid:size=20mm,30 mm,1cm", None).unwrap(), ObjectSpec::Cuboid { size });
        let mesh = parse("parts/ball.stl", Some(LengthUnit::Millimetre)).unwrap();
        assert!(matches!(mesh, ObjectSpec::Mesh { unit: Some(LengthUnit::Millimetre), repair: false, .. }));
        // An omitted size keeps its default.
        let Ok(ObjectSpec::Cylinder { radius, length, .. }) = parse("cylinder:radius=1mm", None) else { panic!() };
        assert_eq!((radius.si(), length.si()), (1e-3, 0.03));
    }

    #[test]
    fn slips_are_named() {
        let message = |text| parse(text, None).unwrap_err().to_string();
        assert!(
            message("ball").contains("\"ball\"") && message("ball").contains("spray-bottle"),
            "{}",
            message("ball")
        );
        assert!(message("sphere:radius=5").contains("has no unit"), "{}", message("sphere:radius=5"));
        assert!(message("sphere:diameter=5mm").contains("`diameter`"));
        assert!(message("cuboid:size=5mm,4mm").contains("three lengths"));
        assert!(message("prism:sides=six").contains("\"six\"") && message("prism:sides=six").contains("prism:sides=6"));
        assert!(message("sphere:5mm").contains("`5mm`"));
        for text in ["sphere:radius=5mm", "spray-bottle", "indenter:moon"] {
            let message = parse(text, Some(LengthUnit::Millimetre)).unwrap_err().to_string();
            assert!(message.contains(text) && message.contains("leave out the unit"), "{message}");
        }
    }
}
