//! Checks the claims of the papers and of dermis: experiments, benchmarks and comparisons with other programs.
//!
//! - [`experiments`]: the papers' experiments, as `dermis reproduce` runs them;
//! - [`report`]: one HTML page with every claim and its result;
//! - [`mod@bench`]: measured speeds, as `dermis bench` runs them;
//! - [`validate`]: errors against reference solutions and measurements, as `dermis validate` runs them;
//! - [`ball_presses`]: labelled images of ball presses on real optical sensors.
//!
//! Programs that simulate sensors need only the crate `dermis`.

pub mod ball_presses;
pub mod bench;
pub mod experiments;
pub mod magnetic_recording;
pub mod report;
pub mod validate;
