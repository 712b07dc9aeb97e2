//! A key of a sensor's description with its range.

use crate::dataset::{AnyQuantity, Measure};
use dermis_sensor::{BadEntry, merge};
use serde_json::{Map, Value};
use std::str::FromStr;

/// A number of a sensor's description that a design may choose, between two bounds of one unit.
///
/// ```
/// use dermis::design::VariedKey;
/// let pitch: VariedKey = "surface.grid.pitch = 2 mm .. 6 mm".parse()?;
/// assert_eq!((pitch.key(), pitch.shown(0.5)), ("surface.grid.pitch", "4 mm".to_owned()));
/// let rows: VariedKey = "surface.grid.rows=4..8".parse()?;
/// assert_eq!(rows.shown(0.6), "6"); // bounds without a fraction or a unit are counts
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VariedKey {
    key: String,
    low: AnyQuantity,
    high: AnyQuantity,
}

/// Ratio of the bounds from which a key is searched on a logarithmic scale.
const LOGARITHMIC: f64 = 10.0;
/// Significant digits of a value.
const DIGITS: i32 = 4;

impl FromStr for VariedKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rule = |rule: &str| format!("{text:?} {rule}; write KEY=LOW..HIGH, such as skin.thickness=1mm..4mm");
        let (key, range) = text.split_once('=').ok_or_else(|| rule("has no `=`"))?;
        let (low, high) = range.split_once("..").ok_or_else(|| rule("has no `..` between two bounds"))?;
        let bound = |text: &str| {
            AnyQuantity::parse(text)
                .ok_or_else(|| rule(&format!("has a bound that is not a number: {:?}", text.trim())))
        };
        let (low, high) = (bound(low)?, bound(high)?);
        if !low.same_unit(&high) {
            return Err(rule(&format!("has bounds of two units, {:?} and {:?}", low.unit(), high.unit())));
        }
        if low.number() >= high.number() {
            return Err(rule("must have the smaller bound first"));
        }
        Ok(Self { key: key.trim().to_owned(), low, high })
    }
}

impl VariedKey {
    /// The key, with dots between levels.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The unit of the bounds; empty if they have none.
    pub fn unit(&self) -> &str {
        self.low.unit()
    }

    /// Whether it is searched on a logarithmic scale, because its bounds differ by a factor of ten or more.
    pub fn is_logarithmic(&self) -> bool {
        self.low.number() > 0.0 && self.high.number() >= LOGARITHMIC * self.low.number()
    }

    fn is_count(&self) -> bool {
        let whole = |bound: &AnyQuantity| bound.number().fract() == 0.0;
        self.unit().is_empty() && whole(&self.low) && whole(&self.high)
    }

    /// The number at a part of its range, from 0 to 1, in its unit and rounded.
    pub fn number(&self, part: f64) -> f64 {
        let [low, high] = [self.low.number(), self.high.number()];
        let exact = match self.is_logarithmic() {
            true => low * (high / low).powf(part),
            false => low + (high - low) * part,
        };
        if self.is_count() {
            return exact.round();
        }
        let size = exact.abs().max(1e-3 * (high - low));
        let digits = 10f64.powi(DIGITS - 1 - size.log10().floor() as i32);
        ((exact * digits).round() / digits).clamp(low, high)
    }

    /// The value at a part of its range, with its unit.
    pub fn shown(&self, part: f64) -> String {
        format!("{} {}", self.number(part), self.unit()).trim_end().to_owned()
    }

    /// Adds the value at a part of its range to changes of a description.
    pub(super) fn insert(&self, part: f64, changes: &mut Map<String, Value>) -> Result<(), BadEntry> {
        let value = self.low.with(self.number(part)).to_value();
        merge(changes, &Map::from_iter([(self.key.clone(), value)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_one_table_are_merged() {
        let mut changes = Map::new();
        for text in ["surface.grid.pitch=2mm..6mm", "surface.grid.rows=4..8", "contact_points=1..3"] {
            text.parse::<VariedKey>().unwrap().insert(0.5, &mut changes).unwrap();
        }
        let expected =
            serde_json::json!({ "surface": { "grid": { "pitch": "4 mm", "rows": 6 } }, "contact_points": 2 });
        assert_eq!(Value::Object(changes), expected);
    }

    #[test]
    fn wide_ranges_are_logarithmic_and_wrong_ones_are_refused() {
        let young: VariedKey = "skin.young=10kPa..1000kPa".parse().unwrap();
        assert_eq!((young.number(0.0), young.number(0.5), young.number(1.0)), (10.0, 100.0, 1000.0));
        for (text, said) in [
            ("skin.young", "no `=`"),
            ("skin.young=10kPa", "no `..`"),
            ("skin.young=10kPa..1MPa", "two units"),
            ("skin.young=2kPa..1kPa", "smaller bound first"),
            ("skin.young=ten..20kPa", "not a number"),
        ] {
            let error = text.parse::<VariedKey>().unwrap_err();
            assert!(error.contains(said) && error.contains(text), "{error}");
        }
    }
}
