//! Comparing dermis with results that others have computed.

pub mod hydroelastic;
pub mod layer;
