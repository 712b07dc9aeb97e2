//! Quantities with units, for files and command-line flags.
//!
//! Internally dermis uses SI units; quantities in files and flags are written with their unit: `"58.5 N/m"`, `"0.1
//! ms"`, `"10 deg"`. A missing, unknown or wrong unit is refused with a list of the allowed units.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// Error when parsing a quantity.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum QuantityError {
    /// A number without a unit.
    #[error("{text:?} has no unit; write {} {kind} as for example {example:?}", article(kind))]
    NoUnit { text: String, kind: &'static str, example: String },
    /// An unknown unit, or the unit of another quantity.
    #[error("{text:?}: {unit:?} is no unit of {kind}; use one of {allowed}")]
    WrongUnit { text: String, unit: String, kind: &'static str, allowed: String },
    /// Not a number, NaN or infinite.
    #[error("{text:?} is not a number with a unit; write {} {kind} as for example {example:?}", article(kind))]
    NotANumber { text: String, kind: &'static str, example: String },
    /// A number that no sensor has, by many orders of magnitude.
    #[error("{text:?} is out of range: {} {kind} is 0 or has a size from {min:e} to {max:e} {unit}", article(kind))]
    OutOfRange { text: String, kind: &'static str, min: f64, max: f64, unit: &'static str },
}

/// A physical quantity and its units.
pub trait Kind: 'static {
    /// Name of the quantity, for messages.
    const NAME: &'static str;
    /// Units and their sizes in SI; the first is used for output.
    const UNITS: &'static [(&'static str, f64)];
    /// Smallest and largest size in SI that files and flags may ask for, besides 0: far beyond what any sensor has, and
    /// near enough that products of several quantities stay finite.
    const RANGE: [f64; 2];
}

/// The indefinite article of a word.
fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

/// A number in SI that is read and written with its unit.
pub struct Quantity<K: Kind> {
    si: f64,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind> Quantity<K> {
    /// Creates a quantity from a number in SI.
    pub const fn new(si: f64) -> Self {
        Self { si, kind: PhantomData }
    }

    /// The number in SI.
    pub const fn si(self) -> f64 {
        self.si
    }
}

impl<K: Kind> Clone for Quantity<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K: Kind> Copy for Quantity<K> {}
impl<K: Kind> PartialEq for Quantity<K> {
    fn eq(&self, other: &Self) -> bool {
        self.si == other.si
    }
}
impl<K: Kind> fmt::Debug for Quantity<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl<K: Kind> fmt::Display for Quantity<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, size) = K::UNITS[0];
        write!(f, "{} {unit}", self.si / size)
    }
}

impl<K: Kind> From<Quantity<K>> for f64 {
    fn from(quantity: Quantity<K>) -> Self {
        quantity.si
    }
}

impl<K: Kind> FromStr for Quantity<K> {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Units::of::<K>().parse(text).map(Self::new)
    }
}

/// A [`Kind`] as a value, so that what does not depend on the type is compiled once.
#[derive(Clone, Copy)]
struct Units {
    kind: &'static str,
    units: &'static [(&'static str, f64)],
    range: [f64; 2],
}

impl Units {
    const fn of<K: Kind>() -> Self {
        Self { kind: K::NAME, units: K::UNITS, range: K::RANGE }
    }

    fn parse(self, text: &str) -> Result<f64, QuantityError> {
        let Self { kind, units, range: [min, max] } = self;
        let trimmed = text.trim();
        let not_a_number = || QuantityError::NotANumber { text: text.into(), kind, example: self.example() };
        // The longest prefix that parses as a number, so that both "1e-3 m" and "1mm" are split correctly.
        let split = (1..=trimmed.len())
            .rev()
            .filter(|&end| trimmed.is_char_boundary(end))
            .find(|&end| trimmed[..end].trim_end().parse::<f64>().is_ok())
            .ok_or_else(not_a_number)?;
        let (number, unit) = (trimmed[..split].trim_end(), trimmed[split..].trim());
        // "inf" and "NaN" parse as numbers; "1e400" is too large for one.
        if !number.contains(|c: char| c.is_ascii_digit()) {
            return Err(not_a_number());
        }
        if unit.is_empty() {
            return Err(self.no_unit(text));
        }
        let size = units.iter().find(|(name, _)| *name == unit).map(|&(_, size)| size).ok_or_else(|| {
            QuantityError::WrongUnit {
                text: text.into(),
                unit: unit.into(),
                kind,
                allowed: units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
            }
        })?;
        let mut si = number.parse().unwrap_or(f64::NAN) * size;
        // The rounding error of a computed zero.
        if si.abs() < ROUNDING * min {
            si = 0.0;
        }
        if si != 0.0 && !(min..=max).contains(&si.abs()) {
            let unit = units.iter().find(|(_, size)| *size == 1.0).map_or("in SI", |(name, _)| name);
            return Err(QuantityError::OutOfRange { text: text.into(), kind, min, max, unit });
        }
        Ok(si)
    }

    fn example(self) -> String {
        format!("2.5 {}", self.units[0].0)
    }

    fn no_unit(self, text: &str) -> QuantityError {
        QuantityError::NoUnit { text: text.into(), kind: self.kind, example: self.example() }
    }

    fn schema(self) -> schemars::Schema {
        let units: Vec<&str> = self.units.iter().map(|(unit, _)| *unit).collect();
        let pattern = units.join("|").replace('^', "\\^");
        schemars::json_schema!({
            "type": "string",
            "title": self.kind,
            "description": format!("A number with its unit: {}.", units.join(", ")),
            "pattern": format!("^\\s*[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?\\s*({pattern})\\s*$"),
            "examples": [self.example()],
            "x-unit": units,
        })
    }
}

/// A quantity below this fraction of its smallest size is zero.
const ROUNDING: f64 = 1e-3;

impl<K: Kind> Serialize for Quantity<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, K: Kind> Deserialize<'de> for Quantity<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<K>(PhantomData<K>);
        impl<K: Kind> serde::de::Visitor<'_> for Visitor<K> {
            type Value = Quantity<K>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} {} with its unit, such as {:?}", article(K::NAME), K::NAME, Units::of::<K>().example())
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Quantity<K>, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Quantity<K>, E> {
                Err(E::custom(Units::of::<K>().no_unit(&number.to_string())))
            }
            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Quantity<K>, E> {
                self.visit_f64(number as f64)
            }
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Quantity<K>, E> {
                self.visit_f64(number as f64)
            }
        }
        deserializer.deserialize_any(Visitor(PhantomData))
    }
}

impl<K: Kind> schemars::JsonSchema for Quantity<K> {
    fn schema_name() -> Cow<'static, str> {
        format!("quantity-{}", K::NAME.replace(' ', "-")).into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Units::of::<K>().schema()
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $alias:ident, $marker:ident, $name:literal, $min:literal..$max:literal, [$($unit:literal = $size:expr),+ $(,)?];)+) => {$(
        #[doc = concat!("Marker of a ", $name, ".")]
        pub enum $marker {}
        impl Kind for $marker {
            const NAME: &'static str = $name;
            const UNITS: &'static [(&'static str, f64)] = &[$(($unit, $size)),+];
            const RANGE: [f64; 2] = [$min, $max];
        }
        $(#[$doc])*
        pub type $alias = Quantity<$marker>;
    )+};
}

kinds! {
    /// A length (m).
    Length, OfLength, "length", 1e-12..1e4, ["mm" = 1e-3, "m" = 1.0, "cm" = 1e-2, "um" = 1e-6, "µm" = 1e-6, "in" = 0.0254];
    /// An angle (rad).
    Angle, OfAngle, "angle", 1e-30..1e6, ["deg" = std::f64::consts::PI / 180.0, "°" = std::f64::consts::PI / 180.0, "rad" = 1.0];
    /// A time (s).
    Time, OfTime, "time", 1e-12..1e8, ["s" = 1.0, "ms" = 1e-3, "us" = 1e-6, "µs" = 1e-6, "min" = 60.0];
    /// A mass (kg).
    Mass, OfMass, "mass", 1e-30..1e9, ["kg" = 1.0, "g" = 1e-3];
    /// A density (kg/m³).
    Density, OfDensity, "density", 1e-30..1e9, ["kg/m^3" = 1.0, "kg/m³" = 1.0, "g/cm^3" = 1e3, "g/cm³" = 1e3];
    /// A force (N).
    Force, OfForce, "force", 1e-30..1e9, ["N" = 1.0, "mN" = 1e-3, "uN" = 1e-6, "µN" = 1e-6, "kN" = 1e3];
    /// A stiffness (N/m).
    Stiffness, OfStiffness, "stiffness", 1e-30..1e15, ["N/m" = 1.0, "N/mm" = 1e3, "kN/m" = 1e3];
    /// A stiffness per area (Pa/m).
    AreaStiffness, OfAreaStiffness, "stiffness per area", 1e-30..1e21, ["Pa/m" = 1.0, "kPa/mm" = 1e6, "MPa/m" = 1e6, "N/mm^3" = 1e9];
    /// A damping coefficient (N s/m).
    Damping, OfDamping, "damping coefficient", 1e-30..1e12, ["N s/m" = 1.0, "Ns/m" = 1.0, "N·s/m" = 1.0];
    /// A damping coefficient per area (Pa s/m).
    AreaDamping, OfAreaDamping, "damping per area", 1e-30..1e18, ["Pa s/m" = 1.0, "kPa s/m" = 1e3];
    /// A speed (m/s).
    Speed, OfSpeed, "speed", 1e-30..1e6, ["m/s" = 1.0, "mm/s" = 1e-3, "um/s" = 1e-6, "µm/s" = 1e-6];
    /// The inverse of a speed (s/m): the dissipation of Hunt and Crossley.
    InverseSpeed, OfInverseSpeed, "dissipation", 1e-30..1e9, ["s/m" = 1.0, "s/mm" = 1e3, "ms/mm" = 1.0];
    /// An angular speed (rad/s).
    AngularSpeed, OfAngularSpeed, "angular speed", 1e-30..1e6, ["rad/s" = 1.0, "deg/s" = std::f64::consts::PI / 180.0];
    /// An acceleration (m/s²).
    Acceleration, OfAcceleration, "acceleration", 1e-30..1e6, ["m/s^2" = 1.0, "m/s²" = 1.0];
    /// A magnetic flux density (T).
    FluxDensity, OfFluxDensity, "flux density", 1e-18..1e6, ["T" = 1.0, "mT" = 1e-3, "uT" = 1e-6, "µT" = 1e-6, "G" = 1e-4];
    /// A magnetic moment (A m²).
    MagneticMoment, OfMagneticMoment, "magnetic moment", 1e-24..1e9, ["A m^2" = 1.0, "A m²" = 1.0, "mA m^2" = 1e-3, "mA m²" = 1e-3];
    /// A difference of temperatures (K).
    TemperatureDifference, OfTemperatureDifference, "difference of temperatures", 1e-12..1e6, ["K" = 1.0];
    /// A pressure (Pa).
    Pressure, OfPressure, "pressure", 1e-30..1e15, ["Pa" = 1.0, "kPa" = 1e3, "MPa" = 1e6, "GPa" = 1e9];
    /// An area (m²).
    Area, OfArea, "area", 1e-30..1e8, ["mm^2" = 1e-6, "mm²" = 1e-6, "cm^2" = 1e-4, "m^2" = 1.0, "m²" = 1.0];
    /// A frequency (1/s).
    Frequency, OfFrequency, "frequency", 1e-30..1e12, ["Hz" = 1.0, "kHz" = 1e3];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_units_with_and_without_a_space() {
        assert_eq!("1 mm".parse::<Length>().unwrap().si(), 1e-3);
        assert_eq!("1e-3m".parse::<Length>().unwrap().si(), 1e-3);
        assert_eq!(" -2.5 N/mm ".parse::<Stiffness>().unwrap().si(), -2500.0);
        for micro in ["2 uN", "2 µN"] {
            assert_eq!(micro.parse::<Force>().unwrap().si(), 2e-6);
        }
        assert_eq!("2 GPa".parse::<Pressure>().unwrap().si(), 2e9);
        assert!(("90 deg".parse::<Angle>().unwrap().si() - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
    }

    #[test]
    fn refuses_what_has_no_unit_or_the_wrong_one() {
        assert!(matches!("3".parse::<Length>(), Err(QuantityError::NoUnit { .. })));
        assert!(matches!("3 N".parse::<Length>(), Err(QuantityError::WrongUnit { .. })));
        assert!(matches!("NaN mm".parse::<Length>(), Err(QuantityError::NotANumber { .. })));
        assert!(matches!("inf mm".parse::<Length>(), Err(QuantityError::NotANumber { .. })));
        assert!(matches!("".parse::<Length>(), Err(QuantityError::NotANumber { .. })));
        assert_eq!(
            "3".parse::<Angle>().unwrap_err().to_string(),
            "\"3\" has no unit; write an angle as for example \"2.5 deg\""
        );
    }

    /// Numbers too large or too small for any sensor, and for an `f64`, are refused with the range.
    #[test]
    fn numbers_out_of_range_are_refused_with_the_range() {
        for text in ["1e400mm", "1e77 mm", "-1e77 mm", "1e-11 mm", "1e-30 mm", "1e-400 m"] {
            match text.parse::<Length>() {
                // Rounding errors, and numbers below the smallest f64: zero.
                Ok(zero) => assert!(["1e-30 mm", "1e-400 m"].contains(&text) && zero.si() == 0.0, "{text}"),
                Err(error) => assert!(error.to_string().ends_with("size from 1e-12 to 1e4 m"), "{error}"),
            }
        }
        assert_eq!("0 mm".parse::<Length>().unwrap().si(), 0.0);
    }

    #[test]
    fn writes_what_it_reads() {
        let length: Length = "2.5 mm".parse().unwrap();
        assert_eq!(length.to_string().parse::<Length>().unwrap(), length);
    }
}
