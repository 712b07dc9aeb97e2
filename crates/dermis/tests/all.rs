//! The tests of `dermis` as one program, to link only once.

mod compare;
mod dataset;
mod estimate;
mod light_error;
mod limits;
mod material;
mod rolling;
mod scene;
