//! Compares the skins on a GPU with those on the CPU. Tests that need a GPU are ignored by default; with a GPU run
//! `cargo test --release -p dermis-gpu --test cuda -- --include-ignored`, or `cargo xtask validate cuda`.

mod arrays;
mod environments;
mod gel;
mod goals;
mod gradients;
mod layer;
mod layers_in_time;
mod motion;
mod objects;
mod pads_in_time;
mod relaxation;
mod single;
mod warnings;

use dermis_gpu::Gpu;
use std::sync::Arc;

fn gpu() -> Arc<Gpu> {
    Gpu::open().expect("these tests need a GPU")
}
