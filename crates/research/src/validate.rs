//! Comparing dermis with results that others have computed.

pub mod feats;
pub mod hydroelastic;
pub mod layer;
