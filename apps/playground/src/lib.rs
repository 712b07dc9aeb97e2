//! The skins and sensors of dermis for a web page, compiled to WebAssembly.
//!
//! The page asks in JSON and gets JSON back, with arrays (images, meshes) beside it in one block of bytes: [`Engine::answer`]. There is no
//! generated glue; `src/wasm.rs` is the whole boundary, and `web/engine.js` the other side of it. Everything here also runs natively, where it is tested.

mod arrays;
mod catalogue;
mod engine;
mod error;
mod knobs;
mod look;
mod request;
mod wasm;

pub use arrays::Arrays;
pub use catalogue::{OFFERS, Offer};
pub use engine::Engine;
pub use error::PlayError;
pub use knobs::{Knob, Knobs};
pub use request::{Build, Press, Request, Thing};
