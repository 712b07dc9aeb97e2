//! The tests of `dermis-research` as one program, to link only once.

mod bench;
mod experiments;
mod validate_gradients;
mod validate_hydroelastic;
mod validate_inverse;
mod validate_layer;
mod validate_real;
