//! Quantities with units, for files and command-line flags.
//!
//! Internally dermis uses SI units; quantities in files and flags are written with their unit: `"58.5 N/m"`, `"0.1
//! ms"`, `"10 deg"`. A missing, unknown or wrong unit is refused with a list of the allowed units.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// Error when parsing a quantity.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum QuantityError {
    /// A number without a unit.
    #[error("{text:?} has no unit; write a {kind} as for example {example:?}")]
    NoUnit { text: String, kind: &'static str, example: String },
    /// An unknown unit, or the unit of another quantity.
    #[error("{text:?}: {unit:?} is no unit of {kind}; use one of {allowed}")]
    WrongUnit { text: String, unit: String, kind: &'static str, allowed: String },
    /// Not a number, NaN or infinite.
    #[error("{text:?} is not a number with a unit; write a {kind} as for example {example:?}")]
    NotANumber { text: String, kind: &'static str, example: String },
}

/// A physical quantity and its units.
pub trait Kind: 'static {
    /// Name of the quantity, for messages.
    const NAME: &'static str;
    /// Units and their sizes in SI; the first is used for output.
    const UNITS: &'static [(&'static str, f64)];
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
        let trimmed = text.trim();
        // The longest prefix that parses as a number, so that both "1e-3 m" and "1mm" are split correctly.
        let split = (1..=trimmed.len())
            .rev()
            .filter(|&end| trimmed.is_char_boundary(end))
            .find(|&end| trimmed[..end].trim_end().parse::<f64>().is_ok_and(f64::is_finite))
            .ok_or_else(|| QuantityError::NotANumber { text: text.into(), kind: K::NAME, example: example::<K>() })?;
        let (number, unit) = (trimmed[..split].trim_end(), trimmed[split..].trim());
        if unit.is_empty() {
            return Err(QuantityError::NoUnit { text: text.into(), kind: K::NAME, example: example::<K>() });
        }
        let size = K::UNITS.iter().find(|(name, _)| *name == unit).map(|&(_, size)| size).ok_or_else(|| {
            QuantityError::WrongUnit {
                text: text.into(),
                unit: unit.into(),
                kind: K::NAME,
                allowed: K::UNITS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
            }
        })?;
        let value: f64 = number.parse().unwrap_or(f64::NAN);
        Ok(Self::new(value * size))
    }
}

fn example<K: Kind>() -> String {
    format!("2.5 {}", K::UNITS[0].0)
}

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
                write!(f, "a {} with its unit, such as {:?}", K::NAME, example::<K>())
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Quantity<K>, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Quantity<K>, E> {
                Err(E::custom(QuantityError::NoUnit {
                    text: number.to_string(),
                    kind: K::NAME,
                    example: example::<K>(),
                }))
            }
            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Quantity<K>, E> {
                self.visit_f64(number as f64)
            }
        }
        deserializer.deserialize_any(Visitor(PhantomData))
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $alias:ident, $marker:ident, $name:literal, [$($unit:literal = $size:expr),+ $(,)?];)+) => {$(
        #[doc = concat!("Marker of a ", $name, ".")]
        pub enum $marker {}
        impl Kind for $marker {
            const NAME: &'static str = $name;
            const UNITS: &'static [(&'static str, f64)] = &[$(($unit, $size)),+];
        }
        $(#[$doc])*
        pub type $alias = Quantity<$marker>;
    )+};
}

kinds! {
    /// A length (m).
    Length, OfLength, "length", ["mm" = 1e-3, "m" = 1.0, "cm" = 1e-2, "um" = 1e-6, "µm" = 1e-6, "in" = 0.0254];
    /// An angle (rad).
    Angle, OfAngle, "angle", ["deg" = std::f64::consts::PI / 180.0, "°" = std::f64::consts::PI / 180.0, "rad" = 1.0];
    /// A time (s).
    Time, OfTime, "time", ["s" = 1.0, "ms" = 1e-3, "us" = 1e-6, "µs" = 1e-6, "min" = 60.0];
    /// A mass (kg).
    Mass, OfMass, "mass", ["kg" = 1.0, "g" = 1e-3];
    /// A density (kg/m³).
    Density, OfDensity, "density", ["kg/m^3" = 1.0, "kg/m³" = 1.0, "g/cm^3" = 1e3, "g/cm³" = 1e3];
    /// A force (N).
    Force, OfForce, "force", ["N" = 1.0, "mN" = 1e-3, "kN" = 1e3];
    /// A stiffness (N/m).
    Stiffness, OfStiffness, "stiffness", ["N/m" = 1.0, "N/mm" = 1e3, "kN/m" = 1e3];
    /// A stiffness per area (Pa/m).
    AreaStiffness, OfAreaStiffness, "stiffness per area", ["Pa/m" = 1.0, "kPa/mm" = 1e6, "MPa/m" = 1e6, "N/mm^3" = 1e9];
    /// A damping coefficient (N s/m).
    Damping, OfDamping, "damping coefficient", ["N s/m" = 1.0, "Ns/m" = 1.0, "N·s/m" = 1.0];
    /// A damping coefficient per area (Pa s/m).
    AreaDamping, OfAreaDamping, "damping per area", ["Pa s/m" = 1.0, "kPa s/m" = 1e3];
    /// A speed (m/s).
    Speed, OfSpeed, "speed", ["m/s" = 1.0, "mm/s" = 1e-3, "um/s" = 1e-6, "µm/s" = 1e-6];
    /// The inverse of a speed (s/m): the dissipation of Hunt and Crossley.
    InverseSpeed, OfInverseSpeed, "dissipation", ["s/m" = 1.0, "s/mm" = 1e3, "ms/mm" = 1.0];
    /// An angular speed (rad/s).
    AngularSpeed, OfAngularSpeed, "angular speed", ["rad/s" = 1.0, "deg/s" = std::f64::consts::PI / 180.0];
    /// An acceleration (m/s²).
    Acceleration, OfAcceleration, "acceleration", ["m/s^2" = 1.0, "m/s²" = 1.0];
    /// A pressure (Pa).
    Pressure, OfPressure, "pressure", ["Pa" = 1.0, "kPa" = 1e3, "MPa" = 1e6];
    /// An area (m²).
    Area, OfArea, "area", ["mm^2" = 1e-6, "mm²" = 1e-6, "cm^2" = 1e-4, "m^2" = 1.0, "m²" = 1.0];
    /// A frequency (1/s).
    Frequency, OfFrequency, "frequency", ["Hz" = 1.0, "kHz" = 1e3];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_units_with_and_without_a_space() {
        assert_eq!("1 mm".parse::<Length>().unwrap().si(), 1e-3);
        assert_eq!("1e-3m".parse::<Length>().unwrap().si(), 1e-3);
        assert_eq!(" -2.5 N/mm ".parse::<Stiffness>().unwrap().si(), -2500.0);
        assert!(("90 deg".parse::<Angle>().unwrap().si() - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
    }

    #[test]
    fn refuses_what_has_no_unit_or_the_wrong_one() {
        assert!(matches!("3".parse::<Length>(), Err(QuantityError::NoUnit { .. })));
        assert!(matches!("3 N".parse::<Length>(), Err(QuantityError::WrongUnit { .. })));
        assert!(matches!("NaN mm".parse::<Length>(), Err(QuantityError::NotANumber { .. })));
        assert!(matches!("inf mm".parse::<Length>(), Err(QuantityError::NotANumber { .. })));
        assert!(matches!("".parse::<Length>(), Err(QuantityError::NotANumber { .. })));
    }

    #[test]
    fn writes_what_it_reads() {
        let length: Length = "2.5 mm".parse().unwrap();
        assert_eq!(length.to_string().parse::<Length>().unwrap(), length);
    }
}
