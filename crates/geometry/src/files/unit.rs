//! Length units of mesh files.

use crate::Vec3;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Length unit of a mesh file; written `m`, `cm`, `mm` or `in`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub enum LengthUnit {
    /// 1 m.
    #[serde(rename = "m")]
    Metre,
    /// 0.01 m.
    #[serde(rename = "cm")]
    Centimetre,
    /// 0.001 m.
    #[serde(rename = "mm")]
    Millimetre,
    /// 0.0254 m.
    #[serde(rename = "in")]
    Inch,
}

/// Error: the text is not a known unit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no unit of mesh files; write m, cm, mm or in")]
pub struct UnknownUnit {
    /// The text.
    pub text: String,
}

impl LengthUnit {
    /// Converts from this unit to metres. Divides for decimal fractions of the metre, so that 5 mm is the number
    /// nearest to 0.005.
    pub(super) fn in_metres(self, v: Vec3) -> Vec3 {
        match self {
            Self::Metre => v,
            Self::Centimetre => v / 100.0,
            Self::Millimetre => v / 1000.0,
            Self::Inch => v * 0.0254,
        }
    }

    /// Converts from metres to this unit.
    pub(super) fn in_unit(self, v: Vec3) -> Vec3 {
        match self {
            Self::Metre => v,
            Self::Centimetre => v * 100.0,
            Self::Millimetre => v * 1000.0,
            Self::Inch => v / 0.0254,
        }
    }
}

impl FromStr for LengthUnit {
    type Err = UnknownUnit;

    fn from_str(text: &str) -> Result<Self, UnknownUnit> {
        match text {
            "m" => Ok(Self::Metre),
            "cm" => Ok(Self::Centimetre),
            "mm" => Ok(Self::Millimetre),
            "in" => Ok(Self::Inch),
            _ => Err(UnknownUnit { text: text.into() }),
        }
    }
}

impl fmt::Display for LengthUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Metre => "m",
            Self::Centimetre => "cm",
            Self::Millimetre => "mm",
            Self::Inch => "in",
        })
    }
}
