//! Compares the skins on a GPU with those on the CPU. Without a GPU each test prints SKIPPED.

mod arrays;
mod gel;
mod layer;

use dermis_gpu::Gpu;
use std::io::Write;
use std::sync::Arc;

/// The GPU. Without one, prints SKIPPED directly to the terminal, because the test runner captures the output of tests.
fn gpu(test: &str) -> Option<Arc<Gpu>> {
    let say = |error| drop(writeln!(std::io::stderr(), "SKIPPED: {test} ran nothing: {error}"));
    Gpu::open().map_err(say).ok()
}
