//! Magnets in the skin and magnetometers under it.
//!
//! Magnets move and rotate with the material at their depth ([`Carrier`]); the chips are fixed to the base. The flux density
//! is the sum of closed forms ([`cuboid`], [`Cylinder`], [`dipole`]) and of a uniform field and dipoles in the world frame.
//! Chips have gains, offsets, axes, noise, a range, bits, a rate and a drift with temperature. Soft iron, forces between
//! magnets and their own stiffness are not modelled.

mod array;
mod carrier;
mod chip;
mod cylinder;
mod elastomer;
mod elliptic;
mod field;
mod gradient;
mod inverse;
mod motion_table;
mod spec;

pub(crate) use array::each;
pub use array::{MagneticReading, Magnetics};
pub use carrier::{Carrier, Footprint};
pub use chip::MagneticMemory;
pub use cylinder::Cylinder;
pub use field::{MU_0, cuboid, dipole};
pub use gradient::MagneticGradient;
pub use inverse::{MagneticEstimate, MagneticInverse};
pub use motion_table::{
    Freedoms, MotionHysteresisSpec, MotionResidualSpec, MotionTable, MotionTableSpec, TableGrid, follow_play, motion_of,
};
pub use spec::{
    DipoleSpec, DriftSpec, ElastomerSpec, LatticeSpec, MagnetShapeSpec, MagneticNoiseSpec, MagnetometersSpec,
    MagnetsSpec,
};
