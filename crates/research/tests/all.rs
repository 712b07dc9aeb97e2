//! The tests of `dermis-research` as one program: many would each take as long to link.

mod bench;
mod experiments;
mod validate_hydroelastic;
mod validate_layer;
