//! The tests of `dermis-cli` as one program: many would each take as long to link.

mod bad_input;
mod commands;
mod common;
#[cfg(unix)]
mod dataset;
mod metrics;
mod optics;
mod record;
mod view;
