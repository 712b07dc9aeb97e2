//! Compares the skins on a GPU with those on the CPU. Without a GPU each test prints SKIPPED.

mod arrays;
mod gel;
mod layer;

use dermis_gpu::Gpu;
use std::io::Write;
use std::sync::Arc;

/// The GPU; without one prints SKIPPED straight to the terminal, since the test runner captures what tests print.
fn gpu(test: &str) -> Option<Arc<Gpu>> {
    let say = |error| drop(writeln!(std::io::stderr(), "SKIPPED: {test} ran nothing: {error}"));
    Gpu::open().map_err(say).ok()
}
