//! The skins on a GPU against those on the CPU. Without a GPU nothing is compared, and each test says so.

mod arrays;
mod gel;
mod layer;

use dermis_gpu::Gpu;
use std::io::Write;
use std::sync::Arc;

/// The GPU, or a loud line: straight to the terminal, since what tests print is kept from it.
fn gpu(test: &str) -> Option<Arc<Gpu>> {
    let say = |error| drop(writeln!(std::io::stderr(), "SKIPPED: {test} ran nothing: {error}"));
    Gpu::open().map_err(say).ok()
}
