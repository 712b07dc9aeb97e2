//! The tests of `dermis-sensor` as one program, which saves linking time.

#[path = "common/ball.rs"]
mod ball;
mod bounded_light;
mod calibration_round_trip;
mod cells;
mod characterise;
mod common;
mod conservation;
mod contacts;
mod creep_fits;
mod damaged_states;
mod drift;
mod edge;
mod gaussian;
mod gel;
mod hydroelastic;
mod layer;
mod loaded_array;
mod magnetic;
mod metrics;
mod mount;
mod optics;
mod optics_calibration;
mod press;
mod rays;
mod resolution;
mod response;
mod shapes;
mod shear;
mod taxel_fits;
