//! The tests of `dermis-cli` as one program, to link only once.

mod bad_input;
mod claims;
mod commands;
mod common;
#[cfg(unix)]
mod dataset;
mod design;
mod endings;
#[cfg(target_os = "linux")]
mod hostile;
mod magnetic;
mod material;
mod metrics;
mod optics;
mod press;
mod record;
mod view;
