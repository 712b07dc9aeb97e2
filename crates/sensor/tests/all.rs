//! The tests of `dermis-sensor` as one program, which saves linking time.

#[path = "common/ball.rs"]
mod ball;
mod characterise;
mod common;
mod conservation;
mod contacts;
mod edge;
mod gaussian;
mod gel;
mod hydroelastic;
mod layer;
mod metrics;
mod optics;
mod optics_calibration;
mod press;
mod rays;
mod response;
mod shear;
