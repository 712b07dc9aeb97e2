//! The description of magnets and magnetometers in a file.

use dermis_geometry::quantity::{Angle, FluxDensity, Length, MagneticMoment};
use serde::{Deserialize, Serialize};

/// Magnets in the skin, all of one shape. They need `magnetometers` and a skin of kind "layer" without relaxation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MagnetsSpec {
    /// Centres in the sensor frame: x, y, z; z is negative below the surface. Give this or `lattice`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<[Length; 3]>,
    /// Magnets on a lattice at one depth, as a model of a magnetised elastomer. Give this or `positions`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lattice: Option<LatticeSpec>,
    /// Directions of magnetisation, from south to north: one for all magnets, or one for each. Default: +z.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directions: Vec<[f64; 3]>,
    /// Shape and strength of each magnet; edges and axes are those of the sensor frame.
    pub shape: MagnetShapeSpec,
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
    /// Factors of the axes of all chips. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<[f64; 3]>,
    /// Largest flux density of either sign; larger ones are cut off. Default: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<FluxDensity>,
    /// Number of bits over the range of both signs; needs `range`. Default: not quantised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits: Option<u32>,
    /// A uniform field in the sensor frame, such as the Earth's. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uniform: Option<[FluxDensity; 3]>,
}
