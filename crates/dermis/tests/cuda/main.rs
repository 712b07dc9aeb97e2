//! The skins on a graphics card against those on the processor. Without a card nothing is compared, and each test says so.

mod arrays;
mod gel;
mod layer;

use dermis::device::Gpu;
use std::io::Write;
use std::sync::Arc;

/// The card, or a loud line: straight to the terminal, since what tests print is kept from it.
fn card(test: &str) -> Option<Arc<Gpu>> {
    let say = |error| drop(writeln!(std::io::stderr(), "SKIPPED: {test} ran nothing: {error}"));
    Gpu::open().map_err(say).ok()
}
