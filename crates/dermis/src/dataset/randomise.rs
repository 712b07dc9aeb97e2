//! What differs from device to device: any number in a sensor's description.

use super::axis::{Axis, Measure};
use dermis_geometry::Random;
use serde::Deserialize;
use serde_json::Value;

/// One key of a sensor's description (`response.noise.sd`, `skin.young`, `camera.exposure`, `light.sources.0.azimuth`) that is drawn: exactly one
/// of `value`, which replaces it, `scale`, a factor on it, and `seed = true`, a seed of its own. Keys of the skin and of the surface are drawn
/// once for every material, all others for every episode.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomiseSpec {
    /// Which key.
    pub key: String,
    /// What takes its place.
    #[serde(default)]
    pub value: Option<Axis<Loose>>,
    /// A factor on it.
    #[serde(default)]
    pub scale: Option<Axis<f64>>,
    /// A seed takes its place.
    #[serde(default)]
    pub seed: bool,
}

/// A number with any unit or none: the key that it is for decides what fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Loose {
    number: f64,
    unit: String,
}

impl Measure for Loose {
    const EXAMPLE: &'static str = "\"2.5 mN\"";
    fn number(&self) -> f64 {
        self.number
    }
    fn with(&self, number: f64) -> Self {
        Self { number, unit: self.unit.clone() }
    }
    fn same_unit(&self, other: &Self) -> bool {
        self.unit == other.unit
    }
}

impl Loose {
    fn parse(text: &str) -> Option<Self> {
        let trimmed = text.trim();
        // The longest start that reads as a number, as for every quantity.
        let ends = (1..=trimmed.len()).rev().filter(|&end| trimmed.is_char_boundary(end));
        let split = ends.into_iter().find_map(|end| {
            let number = trimmed[..end].trim_end().parse::<f64>().ok().filter(|number| number.is_finite())?;
            Some((number, trimmed[end..].trim().to_owned()))
        });
        split.map(|(number, unit)| Self { number, unit })
    }

    fn to_value(&self) -> Value {
        match self.unit.is_empty() {
            // Counts and the numbers of taxels are whole; other keys take a whole number as well.
            true if self.number.fract() == 0.0 && self.number.abs() < 1e15 => Value::from(self.number as i64),
            true => Value::from(self.number),
            false => Value::from(format!("{} {}", self.number, self.unit)),
        }
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = |value: &Value| {
            serde::de::Error::custom(format!(
                "{value} is no number; write one with its unit, such as {}",
                Self::EXAMPLE
            ))
        };
        let value = Value::deserialize(deserializer)?;
        match &value {
            Value::String(text) => {
                Self::parse(text).filter(|loose| !loose.unit.is_empty()).ok_or_else(|| wrong(&value))
            }
            Value::Number(number) => {
                let number = number.as_f64().ok_or_else(|| wrong(&value))?;
                Ok(Self { number, unit: String::new() })
            }
            _ => Err(wrong(&value)),
        }
    }
}

impl RandomiseSpec {
    /// Whether a change of it needs another skin.
    pub fn is_material(&self) -> bool {
        ["skin", "surface", "contact_points", "reading"].contains(&self.key.split('.').next().unwrap_or_default())
    }

    /// Refuses what means nothing.
    pub fn check(&self) -> Result<(), String> {
        let given = [self.value.is_some(), self.scale.is_some(), self.seed];
        if given.iter().filter(|given| **given).count() != 1 {
            return Err("give exactly one of `value`, `scale` and `seed = true`".to_owned());
        }
        let known = ["skin", "surface", "contact_points", "reading", "response", "camera", "light", "markers"];
        match self.key.split('.').next() {
            Some(first) if known.contains(&first) => Ok(()),
            _ => Err(format!("the key must start with one of {}", known.join(", "))),
        }
    }

    /// Draws and puts it into a description; returns the number that is there now, in the unit it was given in (SI is what the description
    /// itself is written with where it is scaled). Grids (`values`) are drawn from as well.
    pub fn apply(&self, description: &mut Value, random: &mut Random) -> Result<f64, String> {
        if self.seed {
            // Seeds are whole numbers that fit where other programs keep integers.
            let seed = u64::from(random.next_u32());
            *entry(description, &self.key)? = Value::from(seed);
            return Ok(seed as f64);
        }
        if let Some(axis) = &self.value {
            let value = pick(axis, random);
            *entry(description, &self.key)? = value.to_value();
            return Ok(value.number);
        }
        let Some(axis) = &self.scale else { return Err("there is nothing to draw".to_owned()) };
        let factor = pick(axis, random);
        let place = entry(description, &self.key)?;
        let base = match &*place {
            Value::Number(number) => number.as_f64().map(|number| Loose { number, unit: String::new() }),
            Value::String(text) => Loose::parse(text),
            _ => None,
        };
        let base = base.ok_or("it is no number that could be scaled; give `value`")?;
        let scaled = base.with(base.number * factor);
        *place = scaled.to_value();
        Ok(scaled.number)
    }
}

pub(super) fn pick<T: Measure>(axis: &Axis<T>, random: &mut Random) -> T {
    let place = match axis.steps() {
        1 => 0,
        steps => (random.uniform() * steps as f64) as usize,
    };
    axis.at(place, random)
}

/// The place of a key; tables on the way are made, entries of lists must be there.
fn entry<'a>(description: &'a mut Value, key: &str) -> Result<&'a mut Value, String> {
    let mut place = description;
    for part in key.split('.') {
        if place.is_null() {
            *place = Value::Object(serde_json::Map::new());
        }
        place = match place {
            Value::Object(table) => table.entry(part.to_owned()).or_insert(Value::Null),
            Value::Array(list) => {
                let len = list.len();
                let at = part.parse::<usize>().ok().filter(|at| *at < len);
                let at = at.ok_or_else(|| format!("{part:?} is no place in a list of {len}, counted from 0"))?;
                &mut list[at]
            }
            other => return Err(format!("there is nothing under {other}, where {part:?} is looked for")),
        };
    }
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn randomise(text: &str) -> RandomiseSpec {
        let spec: RandomiseSpec = dermis_sensor::parse_toml("a.toml", text).unwrap();
        spec.check().unwrap();
        spec
    }

    #[test]
    fn numbers_are_replaced_scaled_and_seeded() {
        let mut random = Random::new(3);
        let mut description = json!({"skin": {"young": "145000 Pa"}, "light": {"sources": [{"diffuse": [1.0, 2.0]}]}});
        let mut apply = |text: &str| randomise(text).apply(&mut description, &mut random).unwrap();
        let young = apply("key = \"skin.young\"\nscale = { uniform = [0.8, 1.2] }");
        let noise = apply("key = \"response.noise.sd\"\nvalue = { uniform = [\"1 mN\", \"2 mN\"] }");
        let lamp = apply("key = \"light.sources.0.diffuse.1\"\nvalue = { values = [7, 8] }");
        let seed = apply("key = \"response.noise.seed\"\nseed = true");
        assert!((116e3..174e3).contains(&young) && (1.0..2.0).contains(&noise) && [7.0, 8.0].contains(&lamp));
        assert_eq!(description["skin"]["young"], format!("{young} Pa"));
        assert_eq!(description["response"]["noise"]["sd"], format!("{noise} mN"));
        assert_eq!(description["response"]["noise"]["seed"], seed as u64);
        assert_eq!(description["light"]["sources"][0]["diffuse"][1], lamp as i64);
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let spec = |text: &str| dermis_sensor::parse_toml::<RandomiseSpec>("a.toml", text);
        assert!(spec("key = \"skin.young\"").unwrap().check().unwrap_err().contains("exactly one"));
        assert!(spec("key = \"skim.young\"\nseed = true").unwrap().check().unwrap_err().contains("skin"));
        assert!(spec("key = \"a\"\nvalue = \"five\"").unwrap_err().to_string().contains("no number"));
        let mut random = Random::new(0);
        let scale = randomise("key = \"skin.young\"\nscale = 2.0");
        assert!(scale.apply(&mut json!({}), &mut random).unwrap_err().contains("no number"));
        let far = randomise("key = \"light.sources.5\"\nvalue = 1.0");
        assert!(far.apply(&mut json!({"light": {"sources": []}}), &mut random).unwrap_err().contains("list of 0"));
    }
}
