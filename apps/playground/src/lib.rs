//! The skins and sensors of dermis for a web page, compiled to WebAssembly.
//!
//! The page sends requests in JSON and receives JSON with arrays (images, meshes) in one block of bytes:
//! [`Engine::answer`]. There is no generated glue code: `src/wasm.rs` is the boundary in Rust, `web/engine.js` in
//! JavaScript. Everything also runs natively, for tests.

mod arrays;
mod catalogue;
mod controls;
mod engine;
mod error;
mod render;
mod request;
mod wasm;

pub use arrays::Arrays;
pub use catalogue::{OFFERS, Offer};
pub use controls::{Control, ControlValues};
pub use engine::Engine;
pub use error::PlayError;
pub use request::{ObjectRequest, PressRequest, Request, SensorRequest};
