//! One number of an episode: fixed, one of several grid values, or drawn from a distribution.

use dermis_geometry::Random;
use dermis_geometry::limits::MAX_AXIS_VALUES;
use dermis_geometry::quantity::{Kind, Quantity};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// The value type of an axis: a number with or without a unit.
///
/// ```
/// use dermis::dataset::Measure;
/// use dermis::geometry::quantity::Length;
/// let depth: Length = "2.5 mm".parse()?;
/// assert_eq!((depth.number(), depth.with(1e-3).number()), (2.5e-3, 1e-3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Measure: Clone + DeserializeOwned + JsonSchema {
    /// An example for error messages.
    const EXAMPLE: &'static str;
    /// The number.
    fn number(&self) -> f64;
    /// Another number in the same unit.
    fn with(&self, number: f64) -> Self;
    /// Whether two values have the same unit.
    fn same_unit(&self, _other: &Self) -> bool {
        true
    }
}

impl<K: Kind> Measure for Quantity<K> {
    const EXAMPLE: &'static str = "\"2.5 mm\"";
    fn number(&self) -> f64 {
        self.si()
    }
    fn with(&self, number: f64) -> Self {
        Self::new(number)
    }
}

impl Measure for f64 {
    const EXAMPLE: &'static str = "0.5";
    fn number(&self) -> f64 {
        *self
    }
    fn with(&self, number: f64) -> Self {
        number
    }
}

/// A number of an episode, written in a file as
///
/// - a constant: `"1 mm"`;
/// - grid values: `{ values = ["1 mm", "2 mm"] }` or `{ from = "0 mm", to = "2 mm", steps = 5 }`;
/// - a distribution, drawn for every episode: `{ uniform = ["0 mm", "2 mm"] }` or
///   `{ normal = ["1 mm", "0.2 mm"], within = ["0 mm", "2 mm"] }`.
///
/// ```
/// use dermis::dataset::Axis;
/// use dermis::geometry::quantity::Length;
/// let axis: Axis<Length> = dermis::sensor::parse_toml("a.toml", "from = '0 mm'\nto = '2 mm'\nsteps = 5")?;
/// assert_eq!((axis.steps(), axis.bounds()), (5, [0.0, 2e-3]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis<T> {
    /// Grid values.
    Values(Vec<T>),
    /// A uniform distribution between two bounds.
    Uniform([T; 2]),
    /// A constant.
    #[serde(untagged)]
    Fixed(T),
    /// A normal distribution, truncated to the bounds if given.
    #[serde(untagged)]
    Normal {
        /// Mean and standard deviation.
        #[serde(rename = "normal")]
        law: [T; 2],
        /// Lower and upper bound.
        within: Option<[T; 2]>,
    },
}

impl<T: Measure> JsonSchema for Axis<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("axis-{}", T::schema_name().trim_start_matches("quantity-")).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "title": "axis",
            "description": "One value, a grid of values, or a distribution from which each episode draws.",
            "anyOf": [generator.subschema_for::<T>(), generator.subschema_for::<Table<T>>()],
        })
    }
}

/// The TOML table of an axis: exactly one of `values`, `from` with `to` and `steps`, `uniform`, and `normal`.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "AxisTable")]
#[serde(deny_unknown_fields, bound = "T: DeserializeOwned")]
struct Table<T> {
    /// Grid values.
    values: Option<Vec<T>>,
    /// First of evenly spaced grid values.
    from: Option<T>,
    /// Last of evenly spaced grid values.
    to: Option<T>,
    /// Number of evenly spaced grid values.
    steps: Option<usize>,
    /// Bounds of a uniform distribution.
    uniform: Option<[T; 2]>,
    /// Mean and standard deviation of a normal distribution.
    normal: Option<[T; 2]>,
    /// Bounds to which a normal distribution is truncated.
    within: Option<[T; 2]>,
}

/// Maximum number of draws outside the bounds before a normal axis falls back to its clamped mean.
const MAX_DRAWS: usize = 1000;

impl<T: Measure> Table<T> {
    fn axis(self) -> Result<Axis<T>, String> {
        let ranged = self.from.is_some() || self.to.is_some() || self.steps.is_some();
        let given = [self.values.is_some(), ranged, self.uniform.is_some(), self.normal.is_some()];
        if given.iter().filter(|given| **given).count() != 1 {
            let ways = "`values`, `from` with `to` and `steps`, `uniform`, `normal`";
            return Err(format!("give exactly one of {ways}, or a single value such as {}", T::EXAMPLE));
        }
        if self.within.is_some() && self.normal.is_none() {
            return Err("`within` goes with `normal` only".to_owned());
        }
        let ordered = |[low, high]: &[T; 2], key: &str| match low.number() <= high.number() && low.same_unit(high) {
            true => Ok(()),
            false => Err(format!("`{key}` must be two values of one unit, the smaller first")),
        };
        if let Some(values) = self.values {
            return match values.len() {
                1..=MAX_AXIS_VALUES => Ok(Axis::Values(values)),
                count => Err(format!("`values` must have 1 to {MAX_AXIS_VALUES} entries, got {count}")),
            };
        }
        if let Some(ends) = self.uniform {
            return ordered(&ends, "uniform").map(|()| Axis::Uniform(ends));
        }
        if let Some(law) = self.normal {
            self.within.as_ref().map_or(Ok(()), |ends| ordered(ends, "within"))?;
            return match law[1].number() >= 0.0 && law[0].same_unit(&law[1]) {
                true => Ok(Axis::Normal { law, within: self.within }),
                false => Err("`normal` must be a mean and a standard deviation that is not negative".to_owned()),
            };
        }
        let (Some(from), Some(to), Some(steps)) = (self.from, self.to, self.steps) else {
            return Err("`from`, `to` and `steps` go together".to_owned());
        };
        if !(2..=MAX_AXIS_VALUES).contains(&steps) || !from.same_unit(&to) {
            return Err(format!("`steps` must be 2 to {MAX_AXIS_VALUES} between two values of one unit, got {steps}"));
        }
        let (a, b, last) = (from.number(), to.number(), (steps - 1) as f64);
        Ok(Axis::Values((0..steps).map(|i| from.with(a + (b - a) * i as f64 / last)).collect()))
    }
}

impl<T: Measure> Axis<T> {
    /// Number of values on the grid.
    pub fn steps(&self) -> usize {
        match self {
            Self::Values(values) => values.len(),
            _ => 1,
        }
    }

    /// The value at a grid index, or a drawn value.
    pub fn at(&self, place: usize, random: &mut Random) -> T {
        match self {
            Self::Fixed(value) => value.clone(),
            Self::Values(values) => values[place % values.len()].clone(),
            Self::Uniform([low, high]) => low.with(random.between(low.number(), high.number())),
            Self::Normal { law: [mean, sd], within } => {
                let mut draw = || mean.number() + sd.number() * random.normal();
                let Some([low, high]) = within else { return mean.with(draw()) };
                let (low, high) = (low.number(), high.number());
                let inside = (0..MAX_DRAWS).map(|_| draw()).find(|value| (low..=high).contains(value));
                mean.with(inside.unwrap_or_else(|| mean.number().clamp(low, high)))
            }
        }
    }

    /// The smallest and the largest possible number.
    pub fn bounds(&self) -> [f64; 2] {
        match self {
            Self::Fixed(value) => [value.number(); 2],
            Self::Values(values) => {
                let numbers = values.iter().map(Measure::number);
                numbers.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
            }
            Self::Uniform([low, high]) => [low.number(), high.number()],
            Self::Normal { within: Some([low, high]), .. } => [low.number(), high.number()],
            Self::Normal { within: None, .. } => [f64::NEG_INFINITY, f64::INFINITY],
        }
    }

    /// The variance of its numbers; that of a truncated normal distribution without the truncation, or that of a uniform one
    /// between its bounds if that is smaller.
    pub fn variance(&self) -> f64 {
        let uniform = |low: &T, high: &T| (high.number() - low.number()).powi(2) / 12.0;
        match self {
            Self::Fixed(_) => 0.0,
            Self::Values(values) => {
                let mean = |f: &dyn Fn(f64) -> f64| {
                    values.iter().map(|value| f(value.number())).sum::<f64>() / values.len() as f64
                };
                let middle = mean(&|x| x);
                mean(&|x| (x - middle).powi(2))
            }
            Self::Uniform([low, high]) => uniform(low, high),
            Self::Normal { law: [_, sd], within } => {
                let bounded = within.as_ref().map_or(f64::INFINITY, |[low, high]| uniform(low, high));
                sd.number().powi(2).min(bounded)
            }
        }
    }
}

/// An axis of any unit, as a plain number.
pub(crate) trait GridAxis {
    /// Number of values on the grid.
    fn steps(&self) -> usize;
    /// The value at a grid index, or a drawn value, in SI units.
    fn number(&self, place: usize, random: &mut Random) -> f64;
    /// The variance of its numbers, in SI units.
    fn variance(&self) -> f64;
}

impl<T: Measure> GridAxis for Axis<T> {
    fn steps(&self) -> usize {
        self.steps()
    }

    fn number(&self, place: usize, random: &mut Random) -> f64 {
        self.at(place, random).number()
    }

    fn variance(&self) -> f64 {
        self.variance()
    }
}

impl<'de, T: Measure> Deserialize<'de> for Axis<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<'de, T: Measure> Visitor<'de> for Reader<T> {
            type Value = Axis<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a value such as {0}, or a table such as {{ uniform = [{0}, {0}] }}", T::EXAMPLE)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Axis<T>, E> {
                T::deserialize(serde::de::value::StrDeserializer::new(text)).map(Axis::Fixed)
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Axis<T>, E> {
                T::deserialize(serde::de::value::F64Deserializer::new(number)).map(Axis::Fixed)
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Axis<T>, E> {
                self.visit_f64(number as f64)
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Axis<T>, E> {
                self.visit_f64(number as f64)
            }
            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Axis<T>, M::Error> {
                let table = Table::<T>::deserialize(MapAccessDeserializer::new(map))?;
                table.axis().map_err(Error::custom)
            }
        }
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::quantity::Length;

    fn axis(text: &str) -> Result<Axis<Length>, String> {
        #[derive(Deserialize)]
        struct Holder {
            x: Axis<Length>,
        }
        let holder = dermis_sensor::parse_toml::<Holder>("a.toml", &format!("x = {text}"));
        holder.map(|holder| holder.x).map_err(|error| error.to_string())
    }

    #[test]
    fn every_form_of_an_axis_is_read() {
        let mut random = Random::new(1);
        assert_eq!(axis("\"2 mm\"").unwrap().at(5, &mut random).si(), 2e-3);
        let grid = axis("{ from = \"0 mm\", to = \"2 mm\", steps = 5 }").unwrap();
        assert_eq!(grid.steps(), 5);
        assert!((grid.at(3, &mut random).si() - 1.5e-3).abs() < 1e-18);
        assert!((grid.variance() - 0.5e-6).abs() < 1e-18);
        let uniform = axis("{ uniform = [\"-1 mm\", \"1 mm\"] }").unwrap();
        let normal = axis("{ normal = [\"0 mm\", \"1 mm\"], within = [\"-1 mm\", \"1 mm\"] }").unwrap();
        for drawn in [&uniform, &normal] {
            assert!((0..1000).all(|_| drawn.at(0, &mut random).si().abs() <= 1e-3));
            assert_eq!(drawn.bounds(), [-1e-3, 1e-3]);
            assert!((drawn.variance() / 1e-6 * 3.0 - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn invalid_axes_are_refused_with_the_line() {
        for (text, said) in [
            ("2", "no unit"),
            ("{ uniform = [\"2 mm\", \"1 mm\"] }", "the smaller first"),
            ("{ values = [] }", "1 to 1000000 entries"),
            ("{ from = \"1 mm\", to = \"2 mm\" }", "go together"),
            ("{ uniform = [\"1 mm\", \"2 mm\"], values = [\"1 mm\"] }", "exactly one of"),
            ("{ uniform = [\"1 N\", \"2 N\"] }", "no unit of length"),
            ("{ unifrom = [\"1 mm\", \"2 mm\"] }", "unifrom"),
            ("true", "a value such as"),
        ] {
            let message = axis(text).unwrap_err();
            assert!(message.contains(said) && message.contains("a.toml, line 1"), "{text}: {message}");
        }
    }
}
