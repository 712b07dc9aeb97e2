//! Magnets in the skin and magnetometers under it.
//!
//! Magnets move and rotate with the material at their depth; the chips are fixed to the base. The flux density is the sum
//! of closed forms ([`cuboid`], [`cylinder`], [`dipole`]) and a uniform field. Soft iron, forces between magnets and their
//! own stiffness are not modelled.

mod array;
mod elliptic;
mod field;
mod spec;

pub use array::Magnetics;
pub use field::{MU_0, cuboid, cylinder, dipole};
pub use spec::{LatticeSpec, MagnetShapeSpec, MagnetometersSpec, MagnetsSpec};
