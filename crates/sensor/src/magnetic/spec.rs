//! The description of magnets and magnetometers in a file.

use super::motion_table::MotionTableSpec;
use crate::response::Sampling;
use dermis_geometry::quantity::{Angle, FluxDensity, Length, MagneticMoment, TemperatureDifference, Time};
use serde::{Deserialize, Serialize};

/// Magnets in the skin, all of one shape. They need `magnetometers`, and a skin of kind "layer" without relaxation, a block of
/// kind "gel", of kind "springs" with `base`, or any skin with `motion`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MagnetsSpec {
    /// Centres in the sensor frame: x, y, z; z is negative below the surface. Give this, `lattice` or `elastomer`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<[Length; 3]>,
    /// Magnets in rows and columns at one depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lattice: Option<LatticeSpec>,
    /// A magnetised elastomer: a block that is divided into dipoles; it takes no `shape`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elastomer: Option<ElastomerSpec>,
    /// Directions of magnetisation, from south to north: one for all magnets, or one for each. Default: +z.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directions: Vec<[f64; 3]>,
    /// Shape and strength of each magnet; edges and axes are those of the sensor frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<MagnetShapeSpec>,
    /// Depth of the rigid base below the surface of springs, which have no thickness of their own. Between surface and
    /// base the displacement of a spring decreases linearly with depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Length>,
    /// Measured motion of the magnets, which replaces that of the skin: for lattices and foams (`dermis calibrate
    /// magnetic`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motion: Option<MotionTableSpec>,
}

/// A block of magnetised elastomer about the centre of the sensor: point dipoles `pitch` apart along x and y, and along z in
/// two levels more than thickness / `pitch`, at the points of Gauss and Legendre. The moment per area is remanence ×
/// thickness / μ₀.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElastomerSpec {
    /// Extents along x, y and z.
    pub size: [Length; 3],
    /// Depth of the middle of the block below the surface.
    pub depth: Length,
    /// Largest distance of the dipoles along x and y; a chip must be at least twice as far from the block.
    pub pitch: Length,
    /// Remanence.
    pub remanence: FluxDensity,
}

/// Places of magnets in rows and columns about the centre of the sensor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatticeSpec {
    /// Number of rows along y.
    pub rows: usize,
    /// Number of columns along x.
    pub cols: usize,
    /// Distance of neighbours.
    pub pitch: Length,
    /// Depth below the surface.
    pub depth: Length,
}

/// Shape and strength of a magnet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum MagnetShapeSpec {
    /// A point dipole.
    Dipole {
        /// Magnetic moment.
        moment: MagneticMoment,
    },
    /// A cylinder with its axis along z.
    Cylinder {
        /// Diameter.
        diameter: Length,
        /// Height.
        height: Length,
        /// Remanence.
        remanence: FluxDensity,
    },
    /// A cuboid.
    Cuboid {
        /// Edges along x, y and z.
        size: [Length; 3],
        /// Remanence.
        remanence: FluxDensity,
    },
}

/// Magnetometers of three axes, fixed to the base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MagnetometersSpec {
    /// Places in the sensor frame: x, y, z; z is negative below the surface.
    pub positions: Vec<[Length; 3]>,
    /// Rotations of the chips about z: one for all chips, or one for each. Default: 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rotations: Vec<Angle>,
    /// Rotations of the chips about x, then y, then z, besides `rotations`, for chips that are not mounted exactly: one
    /// for all chips, or one for each. Default: 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub misalignments: Vec<[Angle; 3]>,
    /// Factors of the axes x, y and z: one for all chips, or one for each. Default: 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gains: Vec<[f64; 3]>,
    /// Offsets of the axes x, y and z: one for all chips, or one for each. Default: 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offsets: Vec<[FluxDensity; 3]>,
    /// Largest flux density of either sign; larger ones are cut off, with a warning. Default: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<FluxDensity>,
    /// Number of bits over the range of both signs; needs `range`. Default: not quantised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits: Option<u32>,
    /// Noise of the readings in time; a single press has none. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<MagneticNoiseSpec>,
    /// Sampling at the rate of the chips, all at once (`scan = "global"`) or chip by chip ("taxels"). Default: at every step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    /// Drift with temperature. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<DriftSpec>,
    /// A uniform field in the world frame, such as the Earth's. In a press the sensor frame is the world frame. Default:
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uniform: Option<[FluxDensity; 3]>,
    /// Dipoles fixed in the world, such as another magnet or a magnetised table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dipoles: Vec<DipoleSpec>,
}

/// Gaussian noise of magnetometers. Seed, step and channel determine each draw.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MagneticNoiseSpec {
    /// Standard deviation of the axes x, y and z.
    pub sd: [FluxDensity; 3],
    /// Seed of the draws.
    #[serde(default)]
    pub seed: u64,
}

/// Change of magnets and chips with temperature.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriftSpec {
    /// Temperature above that at which remanence, gains and offsets hold.
    pub rise: TemperatureDifference,
    /// Time constant in which the temperature rises from zero, such as that of warming up. Default: it has risen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// Relative change of the remanence per kelvin; about -0.0011 for neodymium magnets.
    #[serde(default)]
    pub remanence_per_kelvin: f64,
    /// Relative change of the gains per kelvin.
    #[serde(default)]
    pub gain_per_kelvin: f64,
    /// Change of the offsets of the axes x, y and z per kelvin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_per_kelvin: Option<[FluxDensity; 3]>,
}

/// A dipole fixed in the world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DipoleSpec {
    /// Place in the world frame.
    pub at: [Length; 3],
    /// Magnetic moment in the world frame: x, y, z.
    pub moment: [MagneticMoment; 3],
}
