//! Randomises numbers in a sensor's description.

use super::axis::{Axis, Measure};
use dermis_geometry::Random;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

/// One key of a sensor's description (`response.noise.sd`, `skin.young`, `camera.exposure`, `light.sources.0.azimuth`)
/// to randomise, with exactly one of `value`, which replaces it, `scale`, which multiplies it, and `seed = true`, which
/// draws a seed. Keys of the skin and of the surface are drawn once per material, all others once per episode.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::dataset::RandomiseSpec;
let text = "key = 'skin.stiffness'\nscale = { uniform = [0.8, 1.25] }";
let randomise: RandomiseSpec = dermis::sensor::parse_toml("a.toml", text)?;
assert!(randomise.is_material() && randomise.check().is_ok());
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Debug, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomiseSpec {
    /// The key, with dots between levels.
    pub key: String,
    /// The new value.
    pub value: Option<Axis<AnyQuantity>>,
    /// A factor.
    pub scale: Option<Axis<f64>>,
    /// Whether to draw a seed.
    #[serde(default)]
    pub seed: bool,
}

/// A number with any unit or none; the key decides which units are valid.
///
/// ```
/// use dermis::dataset::{AnyQuantity, Measure};
/// let noise: AnyQuantity = serde_json::from_str(r#""2.5 mN""#)?;
/// assert_eq!(noise.number(), 2.5); // the key decides which units are valid
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AnyQuantity {
    number: f64,
    unit: String,
}

impl JsonSchema for AnyQuantity {
    fn schema_name() -> Cow<'static, str> {
        "any-quantity".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "type": ["string", "number"],
            "title": "number or quantity",
            "description": "A number, or one with a unit that suits the key.",
            "pattern": "^\\s*[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?\\s*[^\\s0-9].*$",
        })
    }
}

impl Measure for AnyQuantity {
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

impl AnyQuantity {
    /// Reads a number with or without a unit.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let trimmed = text.trim();
        // The longest prefix that parses as a number, as for every quantity.
        let ends = (1..=trimmed.len()).rev().filter(|&end| trimmed.is_char_boundary(end));
        let split = ends.into_iter().find_map(|end| {
            let number = trimmed[..end].trim_end().parse::<f64>().ok().filter(|number| number.is_finite())?;
            Some((number, trimmed[end..].trim().to_owned()))
        });
        split.map(|(number, unit)| Self { number, unit })
    }

    /// Its unit; empty if it has none.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// As it is written in a description.
    pub(crate) fn to_value(&self) -> Value {
        match self.unit.is_empty() {
            // Counts must be integers; other keys accept integers too.
            true if self.number.fract() == 0.0 && self.number.abs() < 1e15 => Value::from(self.number as i64),
            true => Value::from(self.number),
            false => Value::from(format!("{} {}", self.number, self.unit)),
        }
    }
}

impl<'de> Deserialize<'de> for AnyQuantity {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = |value: &Value| {
            serde::de::Error::custom(format!(
                "{value} is not a number; write one with its unit, such as {}",
                Self::EXAMPLE
            ))
        };
        let value = Value::deserialize(deserializer)?;
        match &value {
            Value::String(text) => {
                Self::parse(text).filter(|quantity| !quantity.unit.is_empty()).ok_or_else(|| wrong(&value))
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
    /// Whether the key changes the skin, which must then be rebuilt.
    pub fn is_material(&self) -> bool {
        ["skin", "surface", "contact_points", "reading"].contains(&self.key.split('.').next().unwrap_or_default())
    }

    /// Whether every drawn number is an integer: a seed, or grid values that are integers without a unit.
    pub fn is_integer(&self) -> bool {
        let integer = |value: &AnyQuantity| value.to_value().is_i64();
        match &self.value {
            Some(Axis::Fixed(value)) => integer(value),
            Some(Axis::Values(values)) => values.iter().all(integer),
            _ => self.seed,
        }
    }

    /// Checks the key and the combination of entries.
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

    /// Draws a value and writes it into a description. Returns the new number, in the unit of `value`, or for `scale`
    /// in the unit of the description (SI). Grids (`values`) are sampled uniformly.
    pub fn apply(&self, description: &mut Value, random: &mut Random) -> Result<f64, String> {
        if self.seed {
            // A seed of 32 bits fits the integers of other programs.
            let seed = u64::from(random.next_u32());
            *entry(description, &self.key)? = Value::from(seed);
            return Ok(seed as f64);
        }
        if let Some(axis) = &self.value {
            let value = pick(axis, random);
            *entry(description, &self.key)? = value.to_value();
            return Ok(value.number);
        }
        let Some(axis) = &self.scale else { return Err("give one of `value`, `scale` and `seed = true`".to_owned()) };
        let factor = pick(axis, random);
        let place = entry(description, &self.key)?;
        let base = match &*place {
            Value::Number(number) => number.as_f64().map(|number| AnyQuantity { number, unit: String::new() }),
            Value::String(text) => AnyQuantity::parse(text),
            _ => None,
        };
        let base = base.ok_or("it is not a number and cannot be scaled; give `value`")?;
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

/// The entry of a key. Missing tables are created; list entries must exist.
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
                let at =
                    at.ok_or_else(|| format!("{part:?} is not an index of a list of {len} entries, counted from 0"))?;
                &mut list[at]
            }
            other => return Err(format!("{other} has no entry {part:?}")),
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
    fn seeds_and_grids_of_integers_are_integers() {
        let is_integer = |text: &str| randomise(&format!("key = \"response.bits\"\n{text}")).is_integer();
        assert!(["seed = true", "value = 3", "value = { values = [7, 8] }"].into_iter().all(is_integer));
        assert!(is_integer("value = { from = 0, to = 4, steps = 5 }"));
        for real in ["value = 0.5", "value = \"3 mN\"", "value = { values = [1, 1.5] }", "value = { uniform = [1, 2] }"]
        {
            assert!(!is_integer(real), "{real}");
        }
        assert!(!is_integer("scale = 2"));
    }

    #[test]
    fn invalid_randomisations_are_refused() {
        let spec = |text: &str| dermis_sensor::parse_toml::<RandomiseSpec>("a.toml", text);
        assert!(spec("key = \"skin.young\"").unwrap().check().unwrap_err().contains("exactly one"));
        assert!(spec("key = \"skim.young\"\nseed = true").unwrap().check().unwrap_err().contains("skin"));
        assert!(spec("key = \"a\"\nvalue = \"five\"").unwrap_err().to_string().contains("not a number"));
        let mut random = Random::new(0);
        let scale = randomise("key = \"skin.young\"\nscale = 2.0");
        assert!(scale.apply(&mut json!({}), &mut random).unwrap_err().contains("not a number"));
        let far = randomise("key = \"light.sources.5\"\nvalue = 1.0");
        assert!(far.apply(&mut json!({"light": {"sources": []}}), &mut random).unwrap_err().contains("list of 0"));
    }
}
